"""Checkpoints from Python: trees, closures, the same bits."""

import numpy as np

import reprise as rp
from reprise import nn


def both(function, *arrays):
    """The results with and without checkpoints, as bytes."""
    results = []
    for call in (lambda f, *args: f(*args), rp.checkpoint):
        rp.set_seed(3)
        results.append([np.asarray(r).tobytes() for r in function(call, *map(rp.asarray, arrays))])
    return results


def test_gradients_are_the_same_bits():
    rng = np.random.default_rng(0)
    weights = [rp.asarray(rng.normal(size=(8, 8))) for _ in range(3)]

    def run(call, x):
        def loss(x):
            for w in weights:
                x = call(lambda h: {"out": rp.tanh(h @ w) + rp.dropout(h, 0.5)}, x)["out"]
            return rp.sum(x * x)

        with rp.Tape() as tape:
            y = loss(x)
            return [y, *tape.gradient(y, [x, *weights])]

    kept, anew = both(run, rng.normal(size=(4, 8)))
    assert kept == anew


def test_a_tree_keeps_what_is_no_tensor():
    tree = rp.checkpoint(lambda a, b=2: {"x": [a * b, "text"], "n": (b, None)}, rp.asarray([1.0, 2.0]))
    assert tree["x"][0].tolist() == [2.0, 4.0]
    assert tree["x"][1] == "text" and tree["n"] == (2, None)


def test_the_graph_shows_it():
    x = rp.asarray(np.arange(4.0))
    with rp.Tape() as tape:
        y = rp.checkpoint(lambda a: rp.exp(rp.sin(a)), x)
        text = rp.dump_graph(tape.gradient(rp.sum(y * y), x))
    assert "checkpoint" in text and "after" in text


def test_it_differentiates_twice_and_jits():
    net = nn.Linear(3, 3)
    f = lambda x: rp.sum(rp.checkpoint(lambda a: rp.sin(net(a)), x) ** 2)  # noqa: E731
    g = lambda x: rp.sum(rp.sin(net(x)) ** 2)  # noqa: E731
    x = rp.asarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    second = lambda h: rp.grad(lambda x: rp.sum(rp.grad(h)(x) ** 2))  # noqa: E731
    for one, other in [(f, g), (rp.grad(f), rp.grad(g)), (rp.jit(rp.grad(f)), rp.grad(g))]:
        assert np.asarray(one(x)).tobytes() == np.asarray(other(x)).tobytes()
    np.testing.assert_allclose(np.asarray(second(f)(x)), np.asarray(second(g)(x)), rtol=1e-5)
