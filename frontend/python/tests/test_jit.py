"""Tapes, gradients and functions that are recorded once."""

import math
import threading

import numpy as np
import pytest

import reprise as rp


def test_gradients():
    x = rp.asarray([1.0, 2.0, 3.0])
    with rp.Tape() as tape:
        y = (x * x).sum()
        assert tape.gradient(y, x).tolist() == [2, 4, 6]
        gradients = tape.gradient(y, {"a": x, "b": [x, (x,)]}, seed=rp.asarray(2.0))
        unrelated = tape.gradient(y, rp.ones((2,)))
    assert gradients["b"][1][0].tolist() == [4, 8, 12]
    assert unrelated.tolist() == [0, 0]
    with pytest.raises(rp.Error, match="not open"):
        tape.gradient(y, x)
    with rp.Tape() as tape, pytest.raises(rp.DTypeError):
        tape.gradient(y, rp.asarray([1]))
    with rp.Tape() as tape:
        y = (x * 2).sum()
        x.assign_(x + 1)
        with pytest.raises(rp.Error, match="assigned"):
            tape.gradient(y, x)


def test_tapes_nest_and_stay_on_their_thread():
    outer, inner = rp.Tape(), rp.Tape()
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(rp.Error, match="inside"):
        outer.__exit__()
    inner.__exit__()
    outer.__exit__()
    failures = []
    with rp.Tape() as tape:
        def use():
            try:
                tape.realize(rp.ones((1,)))
            except rp.Error as error:
                failures.append(str(error))
        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
    assert "thread" in failures[0]
    with pytest.raises(ZeroDivisionError), rp.Tape():
        raise ZeroDivisionError
    assert not rp._core._in_tape()
    rp.Tape().__enter__()  # never left
    assert not rp._core._in_tape()


def test_grad():
    def cube(x):
        return x**3

    assert rp.grad(cube)(3.0).item() == 27
    assert rp.grad(rp.grad(cube))(3.0).item() == 18
    assert rp.grad(rp.grad(rp.grad(cube)))(3.0).item() == 6
    value, gradient = rp.value_and_grad(cube)(rp.asarray(2.0))
    assert value.item() == 8 and gradient.item() == 12

    def f(x, y, scale=1):
        return (x * x * y).sum() * scale

    x = rp.asarray([1.0, 2.0])
    assert rp.grad(f)(x, x).tolist() == [2, 8], "the same tensor twice is two arguments"
    assert rp.grad(f, argnums=1)(x, x, scale=2).tolist() == [2, 8]
    dx, dy = rp.grad(f, argnums=(0, 1))(x, x)
    assert (dx.tolist(), dy.tolist()) == ([2, 8], [1, 4])
    assert rp.grad(lambda a: (a * x).sum())(x).tolist() == [1, 2], "x itself is a constant here"
    tree = rp.grad(lambda p: (p["w"] * p["b"][0]).sum())({"w": x, "b": [x]})
    assert tree["w"].tolist() == tree["b"][0].tolist() == [1, 2]
    gradient, aux = rp.grad(lambda a: (a.sum(), "aux"), has_aux=True)(x)
    assert gradient.tolist() == [1, 1] and aux == "aux"
    with pytest.raises(rp.ShapeError, match="rank 0"):
        rp.grad(lambda a: a)(x)
    with pytest.raises(rp.DTypeError):
        rp.grad(lambda a: 1.0)(x)
    with pytest.raises(rp.DTypeError):
        rp.grad(lambda a: a.sum() * 1.0)(rp.asarray([1, 2]))
    with pytest.raises(rp.IndexError):
        rp.grad(cube, argnums=1)(x)


def test_jit_records_once_for_each_kind_of_arguments():
    calls = []

    @rp.jit
    def f(x, n, *, options=None):
        """Doc."""
        calls.append(x.shape)
        return [x * n, {"sum": x.sum()}, options, None]

    x = rp.asarray([1.0, 2.0])
    for value in [1.0, 2.0, 3.0]:
        scaled, sums, options, nothing = f(x * value, 2, options="a")
        assert scaled.tolist() == [2 * value, 4 * value]
        assert sums["sum"].item() == 3 * value and options == "a" and nothing is None
    assert len(calls) == f.recorded == 1 and f.__doc__ == "Doc."
    f(x, 3, options="a")  # another constant
    f(x, True, options="a")
    f(x, 2, options="b")
    f(rp.ones((3,)), 2, options="a")  # another shape
    f(x.astype(rp.float64), 2, options="a")  # another dtype
    assert len(calls) == 6
    f(np.array([5.0, 6.0], np.float32), np.int64(2), options="a")
    assert len(calls) == 6


def test_jit_floats_are_inputs():
    @rp.jit
    def f(x, rate):
        return x * rate + rate

    x = rp.asarray([1.0], dtype=rp.float16)
    for rate in [0.5, 1.0, 0.0, float("inf"), np.float32(2.0)]:
        y = f(x, rate)
        assert y.dtype == rp.float16 and y.tolist() == [2 * float(rate)]
    assert f.recorded == 1

    @rp.jit
    def decides(x, rate):
        return x if rate else -x

    with pytest.raises(rp.Error, match="static"):
        decides(x, 0.5)
    decides = rp.jit(lambda x, rate: x if rate > 1 else -x, static_argnames="rate")
    assert decides(x, 0.5).tolist() == [-1] and decides(x, 2.0).tolist() == [1]
    assert decides(x, rate=0.5).tolist() == [-1] and decides(x, rate=2.0).tolist() == [1]
    decides = rp.jit(lambda x, rate: x if rate > 1 else -x, static_argnums=1)
    assert decides(x, 0.5).tolist() == [-1]
    with pytest.raises(rp.DTypeError, match="static"):
        decides(x, x)


def test_jit_reads_and_assigns_what_it_captures():
    total = rp.zeros((2,))

    @rp.jit
    def add(x):
        total.assign_(total + x)
        return total * 10

    x = rp.asarray([1.0, 2.0])
    results = [add(x) for _ in range(3)]
    assert [r.tolist() for r in results] == [[10, 20], [20, 40], [30, 60]]
    total.assign_(rp.asarray([100.0, 100.0]))
    assert add(x).tolist() == [1010, 1020]
    assert add(total).tolist() == [2020, 2040]  # an argument that is captured as well
    assert total.tolist() == [202, 204] and add.recorded == 1


def test_jit_inputs_are_told_apart():
    f = rp.jit(lambda a, b: a - b)
    x, y = rp.asarray([5.0]), rp.asarray([3.0])
    assert f(x, x).tolist() == [0] and f(x, y).tolist() == [2] and f(y, y).tolist() == [0]
    same = rp.jit(lambda a: a)
    assert same(x).tolist() == [5] and same(y).tolist() == [3]
    reversed_array = np.array([9, 1, 7, 1], np.float32)[::-2]
    assert f(rp.asarray(reversed_array), rp.ones((2,))).tolist() == [0, 0]
    assert f(rp.asarray([4.0, 5.0]), rp.asarray(reversed_array)).tolist() == [3, 4]


def test_jit_refuses_to_read_values():
    for read in [
        lambda x: x * x.sum().item(), lambda x: x if x.sum() > 0 else -x, lambda x: np.asarray(x),
        lambda x: x[x > 0], lambda x: float(x[0]) * x, lambda x: x.tolist(),
        np.from_dlpack,
    ]:  # fmt: skip
        with pytest.raises(rp.Error, match="recorded for jit"):
            rp.jit(read)(rp.asarray([1.0]))
    assert not rp._core._in_tape()
    shown = []
    rp.jit(lambda x: shown.append(repr(x)) or x)(rp.ones((2,)))
    assert shown == ["<tensor of float32 (2,), being recorded>"]
    with pytest.raises(rp.DTypeError, match="hashable"):
        rp.jit(lambda x: x)({1, 2})
    with pytest.raises(rp.Error, match="assigned"):
        rp.jit(lambda x: x.assign_(x + 1))(rp.ones((2,)))
    with pytest.raises(rp.ShapeError):
        rp.jit(lambda x: x + rp.ones((3,)))(rp.ones((2,)))


def test_jit_and_gradients():
    f = rp.jit(lambda x: (x * x).sum())
    x = rp.asarray([1.0, 2.0])
    assert f(x).item() == 5
    assert rp.grad(f)(x).tolist() == [2, 4], "inside a tape it is simply called"
    g = rp.jit(rp.value_and_grad(lambda x: (x * x).sum()))
    for scale in [1.0, 3.0]:
        value, gradient = g(x * scale)
        assert value.item() == 5 * scale**2 and gradient.tolist() == [2 * scale, 4 * scale]
    assert g.recorded == 1
    nested = rp.jit(lambda x: f(x) + 1)
    assert nested(x).item() == 6 and nested(x * 2).item() == 21


def test_jit_draws_fresh_numbers():
    f = rp.jit(lambda x: x + rp.rand((4,)))
    draws = [tuple(f(rp.zeros((4,))).tolist()) for _ in range(4)]
    assert len(set(draws)) == 4


def test_jit_methods():
    class Scale:
        def __init__(self, by):
            self.by = by

        @rp.jit
        def __call__(self, x):
            return x * self.by

        @rp.jit
        def twice(self, x):
            return x * (2 * self.by)

    a, b = Scale(2), Scale(3)
    x = rp.ones((1,))
    assert a(x).tolist() == [2] and b(x).tolist() == [3] and b.twice(x).tolist() == [6]


def test_jit_does_not_compile_again():
    @rp.jit
    def f(x, rate):
        return rp.tanh(x @ x) * rate

    x = rp.rand((8, 8))
    f(x, 0.1)
    f(x, 0.2)
    before = rp.stats()
    for i in range(20):
        f(x, 0.1 * i)
    after = rp.stats()
    assert after["kernels_compiled"] == before["kernels_compiled"]
    assert after["plan_misses"] == before["plan_misses"]
    assert after["replays"] == before["replays"] + 20


def test_freeze():
    x = rp.asarray([1.0, 2.0])
    with rp.Tape() as tape:
        y = x * 2
        step = tape.freeze([x], [y])
    assert step.num_inputs == 1 and step.num_launches == 1 and "launch" in step.plan()
    assert step.replay([rp.asarray([5.0, 6.0])])[0].tolist() == [10, 12]
    with pytest.raises(rp.ShapeError, match="input 0"):
        step.replay([rp.ones((3,))])


def test_eval_stats_and_dump(tmp_path):
    rp.reset_stats()
    x, y = rp.ones((4,)) * 3, rp.ones((4,)) * 5
    assert not x.is_realized
    rp.eval([x], {"y": y})
    assert x.is_realized and y.is_realized and rp.stats()["realizes"] == 1
    with rp.dump(tmp_path):
        ((rp.ones((3, 7)) * 3.5).sum(axis=1) - 2).realize()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names
    ((rp.ones((3, 9)) * 3.5).sum(axis=1) - 2).realize()
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert "multiply" in rp.dump_graph(rp.asarray([1.0]) * 2)
    threads = rp.num_threads()
    rp.set_num_threads(1)
    assert rp.num_threads() == 1
    rp.set_num_threads(threads)


def test_scalar():
    rate = rp.Scalar(0.5)
    x = rp.asarray([2.0])
    with rp.Tape() as tape:
        step = tape.freeze([x], [x * rate])
    rate.set(4)
    assert rate.value == 4.0 and step.replay([x])[0].tolist() == [8]
    with pytest.raises(rp.DTypeError):
        rp.Scalar(1).set(0.5)


def test_floats_compute():
    """A float stays weak, and what is computed from it follows it."""
    x = np.array([1.0, -2.0, 4.0], np.float16)

    def function(x, s, t):
        half = -(abs(s - 1) * 2 + t / s) // 0.25 % 3 + 2**t
        return x * half, np.ones(3, np.float16) * s, s * np.ones(3, np.float16), s + 1 - x

    jitted = rp.jit(function)
    for s, t in [(2.0, 0.5), (0.75, 3.0), (-1.5, -2.25)]:
        for actual, expected in zip(jitted(x, s, t), function(x, s, t)):
            assert np.asarray(actual).dtype == np.float16
            np.testing.assert_allclose(np.asarray(actual), expected, rtol=2e-3)
    assert jitted.recorded == 1

    drawn = rp.jit(lambda low, high: rp.uniform((9,), low, high * 2))
    for low, high in [(0.0, 1.0), (-3.0, 0.1), (5.0, 40.0)]:
        rp.set_seed(3)
        actual = drawn(low, high).tolist()
        rp.set_seed(3)
        assert actual == rp.uniform((9,), low, high * 2).tolist()
    assert drawn.recorded == 1

    norm = rp.jit(lambda x, eps: rp.layer_norm(x, eps=eps * 2))
    rows = rp.asarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    for eps in [1e-5, 0.5, 4.0]:
        assert norm(rows, eps).tolist() == rp.layer_norm(rows, eps=eps * 2).tolist()
    assert norm.recorded == 1


@pytest.mark.parametrize(
    "function",
    [
        lambda x, s: x if s > 1 else -x, lambda x, s: x if 1 <= s else -x,
        lambda x, s: x if s == 2 else -x, lambda x, s: x if s else -x, lambda x, s: x * float(s),
        lambda x, s: x * round(s), lambda x, s: x[s], lambda x, s: rp.vector_norm(x, ord=s),
        lambda x, s: rp.rope(x[None], base=s), lambda x, s: x * math.sqrt(s),
        lambda x, s: rp.sum(x, axis=s), lambda x, s: x[:1] + rp.arange(s),
        lambda x, s: x[:1] + rp.arange(0, 4, s), lambda x, s: x[:1] + rp.linspace(0, s, 3),
        lambda x, s: x[:1] + rp.logspace(0, s, 3), lambda x, s: rp.truncated_normal((4,), high=s),
    ],
)  # fmt: skip
def test_what_needs_a_floats_value_says_so(function):
    jitted = rp.jit(function)
    with pytest.raises(rp.Error, match="static_argnums"):
        jitted(rp.ones((4,)), 2.0)


def test_a_scalar_computes_outside_of_jit():
    rate = rp.Scalar(2.0)
    x = rp.asarray([3.0])
    with rp.Tape() as tape:
        step = tape.freeze([x], [x * (rate * 2 + 1), rate < x])
    rate.set(4.0)
    assert [y.tolist() for y in step.replay([x])] == [[27.0], [False]]
    assert (rate * 2).value == 8 and (1 / rate).value == 0.25
    with pytest.raises(rp.UnsupportedError, match="float"):
        rp.Scalar(2) * 3
    with pytest.raises(TypeError):
        rate + "a"
    with pytest.raises(rp.Error, match="value of a Scalar"):
        rp.jit(lambda x, s: x * s.value)(x, 1.5)
