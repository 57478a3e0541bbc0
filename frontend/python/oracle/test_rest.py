"""What is no op of one table line: promotion, casts, weak numbers, indexing, creation, random
numbers, and that the table is complete."""

import inspect
import math

import numpy as np
import pytest

import reprise as rp
import elementwise_references as ref
import special_references as special
from compare import bits, elements, same_bits
from samples import (
    BOOL, FLOATS, INTEGERS, LAYOUTS, REAL, SIGNED, generator, host, laid_out, of_values,
    rounded, specials, values,
)  # fmt: skip
from table import METHODS, NOT_OPS, OPS

# The table is complete


def public_names():
    """Every function of the package, and of Tensor what is no function too."""
    names = {
        n for n, item in vars(rp).items()
        if not n.startswith("_") and callable(item) and not inspect.isclass(item)
    }  # fmt: skip
    own = {n for n in vars(rp.Tensor) if not n.startswith("_")}
    plain = {"shape", "ndim", "size", "dtype", "itemsize", "nbytes", "device", "is_realized"}
    names |= {f"Tensor.{n}" for n in own - plain if not hasattr(rp, n)}
    operators = {"__getitem__", "__matmul__", "__rmatmul__"}
    operators |= {n for n in vars(rp.Tensor) if n.strip("_") in OPERATORS}
    return names | operators


OPERATORS = set(
    "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow and rand or "
    "ror xor rxor lshift rlshift rshift rrshift eq ne lt le gt ge neg pos abs invert".split()
)


def test_every_name_has_a_line():
    known = set(OPS) | set(METHODS) | {n for names in NOT_OPS.values() for n in names}
    known |= {name for op in OPS.values() for name in op.also}
    public = public_names()
    assert not public - known, "without a line in table.py"
    for name in known - public:
        owner, _, own = name.rpartition(".")
        assert hasattr(rp.Tensor if owner or own.startswith("_") else rp, own), f"{name} is gone"


# Dtypes


def promoted(a, b):
    """The lattice of docs/SEMANTICS.md, written anew."""
    if a == b:
        return a
    category = lambda d: 0 if d in BOOL else 1 if d in INTEGERS else 2  # noqa: E731
    if category(a) != category(b):
        return a if category(a) > category(b) else b
    if a in FLOATS:
        if {a, b} == {"float16", "bfloat16"}:
            return "float32"
        order = {"float16": 1, "bfloat16": 1, "float32": 2, "float64": 3}
        return max(a, b, key=order.get)
    width = lambda d: host(d).itemsize  # noqa: E731
    if (a in SIGNED) == (b in SIGNED):
        return max(a, b, key=width)
    signed, unsigned = (a, b) if a in SIGNED else (b, a)
    if width(unsigned) < width(signed):
        return signed
    return {1: "int16", 2: "int32", 4: "int64", 8: "float64"}[width(unsigned)]


@pytest.mark.parametrize("a", REAL)
def test_promotion(a, seed):
    rng = generator(seed, "promotion", a)
    results = []
    for b in REAL:
        x, y = (laid_out(rng, d, (17,), "plain", "moderate") for d in (a, b))
        want = promoted(a, b)
        assert str(rp.promote_types(a, b)) == str(rp.result_type(rp.DType(a), rp.DType(b))) == want
        results.append((b, x, y, want, x.tensor() + y.tensor(), rp.maximum(x.tensor(), y.tensor())))
    rp.eval([r[4:] for r in results])
    for b, x, y, want, added, larger in results:
        left, right = (ref.cast(v.array, want) for v in (x, y))
        expected = rounded(left.astype(np.float64) + right, want) if want in ("float16", "bfloat16") else left + right  # fmt: skip
        assert str(added.dtype) == str(larger.dtype) == want, f"{a} + {b}"
        assert same_bits(elements(added), expected).all(), f"{a} + {b}"
        assert same_bits(elements(larger), ref.maximum(left, right).astype(host(want))).all()


@pytest.mark.parametrize("source", REAL)
def test_cast(source, seed, full):
    """Every pair of dtypes, the specials of both."""
    rng = generator(seed, "cast", source)
    for target in REAL:
        many = [specials(source), values(rng, source, 100)]
        if source in FLOATS and target in INTEGERS:
            info = np.iinfo(target)
            edges = np.array([info.min, info.max], np.float64)
            near = [edges + d for d in (-1, -0.5, 0, 0.5, 1)]
            many += [rounded(np.nextafter(n, t), source) for n in near for t in (-np.inf, np.inf)]
        elif source in FLOATS and target in FLOATS:
            some = specials(target).astype(np.float64)
            many += [rounded(some * f, source) for f in (1, 1 + 2.0**-12, 1 - 2.0**-9, 1.5)]
        array = np.concatenate([np.asarray(m, host(source)) for m in many])
        x = of_values(source, array)
        strided = laid_out(rng, source, (7, 9), str(rng.choice(LAYOUTS)))
        for operand in (x, strided):
            actual = rp.astype(operand.tensor(), target)
            assert str(actual.dtype) == target
            expected = ref.cast(operand.array, target)
            bad = ~same_bits(elements(actual), expected)
            assert not bad.any(), f"{source} {operand.array[bad][:3]} to {target}: {elements(actual)[bad][:3]}, not {expected[bad][:3]}"  # fmt: skip


@pytest.mark.parametrize("dtype", REAL)
def test_weak_numbers(dtype):
    x = of_values(dtype, np.array([0, 1, 1])).tensor()
    whole = "int64" if dtype == "bool" else dtype
    real = dtype if dtype in FLOATS else "float32"
    for actual, want, expected in [
        (x + True, dtype, None if dtype == "bool" else [1, 2, 2]), (x + 2, whole, [2, 3, 3]),
        (2 + x, whole, [2, 3, 3]), (x * 0.5, real, [0, 0.5, 0.5]), (1 / (x + 1.0), real, [1, 0.5, 0.5]),
        (rp.where(x, x, 7), whole, [7, 1, 1]), (rp.where(x, 0.5, x), real, [0, 0.5, 0.5]),
    ]:  # fmt: skip
        assert str(actual.dtype) == want
        if expected:
            assert elements(actual).tolist() == expected
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        assert (x * 0 + info.max).tolist() == [info.max] * 3
        for number in (info.max + 1, info.min - 1):
            with pytest.raises(rp.DTypeError):
                x + number


# Indexing


def random_key(rng, shape):
    """A key of NumPy's: positions, ranges, new axes, an ellipsis, arrays of positions, masks."""
    key, ellipsis = [], rng.random() < 0.3
    for n in shape:
        if rng.random() < 0.15:
            key.append(None)
        kind = rng.integers(0, 6)
        if kind == 0 and n:
            key.append(int(rng.integers(-n, n)))
        elif kind == 1:
            bound = lambda: None if rng.random() < 0.3 else int(rng.integers(-n - 3, n + 4))  # noqa: E731
            key.append(slice(bound(), bound(), int(rng.choice([-3, -2, -1, 1, 2, 3]))))
        elif kind == 2 and n:
            key.append(rng.integers(-n, n, (3,)))
        elif kind == 3 and n:
            key.append(rng.integers(-n, n, (2, 1)))
        elif kind == 4 and ellipsis:
            key.append(...)
            ellipsis = False
            break
        else:
            key.append(slice(None))
    return tuple(key)


def test_indexing(seed, full):
    rng = generator(seed, "indexing")
    cases = []
    for _ in range(600 if full else 120):
        shape = tuple(int(n) for n in rng.choice([1, 2, 3, 5, 8], rng.integers(1, 5)))
        x = laid_out(rng, str(rng.choice(["float32", "int8", "bool", "bfloat16"])), shape, str(rng.choice(LAYOUTS)))  # fmt: skip
        key = random_key(rng, shape)
        cases.append((x, key, x.tensor()[key]))
    rp.eval([r for _, _, r in cases])
    for x, key, result in cases:
        expected = x.array[key]
        actual = elements(result)
        assert actual.shape == expected.shape, f"{x}[{key}]: {actual.shape}, not {expected.shape}"
        assert same_bits(actual, np.asarray(expected)).all(), f"{x}[{key}]"


def test_masks(seed):
    rng = generator(seed, "masks")
    for shape in [(1,), (17,), (4, 33), (2, 3, 5)]:
        x = laid_out(rng, "float32", shape, str(rng.choice(LAYOUTS)))
        for rank in range(1, len(shape) + 1):
            mask = rng.random(shape[:rank]) < 0.4
            assert same_bits(np.asarray(x.tensor()[rp.asarray(mask)]), x.array[mask]).all()
        mask = rng.random(shape) < 0.4
        for a, e in zip(rp.nonzero(rp.asarray(mask)), np.nonzero(mask)):
            assert np.asarray(a).tolist() == e.tolist()


def test_selected(seed):
    rng = generator(seed, "selected")
    for shape, own in [((17,), (17,)), ((4, 33), (33,)), ((1, 5), (3, 1)), ((0, 3), (3,)), ((2, 3), ())]:
        x = laid_out(rng, "float32", shape, str(rng.choice(LAYOUTS)))
        mask = rng.random(own) < 0.4
        both = np.broadcast_arrays(x.array, mask)
        selected = rp.masked_select(x.tensor(), rp.asarray(np.asarray(mask)))
        assert same_bits(np.asarray(selected), both[0][both[1]]).all()


@pytest.mark.parametrize("dtype", REAL)
def test_unique(dtype, seed):
    rng = generator(seed, "unique", dtype)
    for shape in [(), (0,), (1,), (50,), (3, 40), (400,)]:
        x = laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)))
        own = x.array != 0 if dtype == "bool" else x.array  # NumPy sorts bytes other than 0 and 1
        x = of_values(dtype, rng.choice(own.ravel(), shape) if own.size else own)
        values, indices, inverse, counts = rp.unique_all(x.tensor())
        wanted = np.unique(x.array, True, True, True, equal_nan=False)
        assert same_bits(elements(values), rounded(wanted[0], dtype)).all()
        assert np.asarray(indices).tolist() == wanted[1].tolist()
        assert np.asarray(inverse).tolist() == wanted[2].reshape(shape).tolist()
        assert np.asarray(counts).tolist() == wanted[3].tolist()
        assert same_bits(elements(rp.unique_values(x.tensor())), elements(values)).all()
        for other, of in [("unique_counts", counts), ("unique_inverse", inverse)]:
            assert np.asarray(getattr(rp, other)(x.tensor())[1]).tolist() == np.asarray(of).tolist()


@pytest.mark.parametrize("dtype", REAL)
def test_unique_slices(dtype, seed):
    rng = generator(seed, "unique slices", dtype)
    for shape in [(1, 1), (6, 2), (40, 3), (5, 4, 3), (3, 17, 2), (7,)]:
        few = laid_out(rng, dtype, (3,), "plain", "moderate").array
        x = of_values(dtype, rng.choice(few, shape) if dtype != "bool" else rng.random(shape) < 0.5)
        axis = int(rng.integers(-len(shape), len(shape)))
        all_four = dict(return_index=True, return_inverse=True, return_counts=True, axis=axis)
        actual = rp.unique(x.tensor(), **all_four)
        wanted = np.unique(x.array, **all_four)
        assert same_bits(elements(actual[0]), rounded(wanted[0], dtype) if dtype in FLOATS else wanted[0]).all()
        for a, w in zip(actual[1:], wanted[1:]):
            assert np.asarray(a).tolist() == w.ravel().tolist()
        assert same_bits(elements(rp.unique(x.tensor(), axis=axis)), elements(actual[0])).all()
    nan = rp.asarray(np.array([[np.nan, 1], [np.nan, 1], [0, 2], [-0.0, 2]]))
    values, counts = rp.unique(nan, return_counts=True, axis=0)
    assert values.shape == (3, 2) and counts.tolist() == [2, 1, 1]
    assert rp.unique(rp.zeros((0, 3)), axis=0).shape == (0, 3)
    assert rp.unique(rp.zeros((4, 0)), axis=0).shape == (1, 0)


def test_positions_out_of_range():
    x = rp.asarray(np.arange(6.0).reshape(2, 3))
    for key in [2, -3, (0, 3), (slice(None), -4)]:
        with pytest.raises(IndexError):
            np.asarray(x[key])
    for places in [[2], [-3]]:
        with pytest.raises(IndexError):
            np.asarray(x[np.array(places)])


# Creation


@pytest.mark.parametrize("dtype", REAL)
def test_creation(dtype):
    for shape in [(), (0,), (3,), (2, 33)]:
        for name, value in [("zeros", 0), ("ones", 1), ("empty", 0)]:
            like = getattr(rp, name)(shape, dtype=dtype)
            for made in (like, getattr(rp, name + "_like")(like)):
                assert str(made.dtype) == dtype and made.shape == shape
                assert (elements(made) == value).all()
        for value in [True, 1] + ([2.5, -math.inf, math.nan] if dtype in FLOATS else []):
            expected = np.full(shape, value, host(dtype))
            for made in (rp.full(shape, value, dtype), rp.full_like(rp.zeros(shape, dtype), value)):
                assert same_bits(elements(made), expected).all()
    for n, m in [(1, 1), (3, 5), (5, 3), (0, 2)]:
        assert (elements(rp.eye(n, m, dtype=dtype)) == np.eye(n, m)).all()


def test_arange(seed):
    rng = generator(seed, "arange")
    for _ in range(30):
        start, stop = (int(v) for v in rng.integers(-40, 40, 2))
        step = int(rng.choice([-7, -2, -1, 1, 2, 3, 11]))
        assert rp.arange(start, stop, step).tolist() == list(range(start, stop, step))
        half = rp.arange(start / 2, stop / 2, step / 4, dtype=rp.float64)
        assert half.tolist() == np.arange(start / 2, stop / 2, step / 4).tolist()


# Random numbers


def words(seed, counter, count):
    return ref.philox(seed, counter, -(-count // 4))[:count]


@pytest.mark.parametrize("dtype", FLOATS)
def test_uniform_is_philox(dtype):
    """The documented words under the documented scaling, and counters that run on."""
    key = 0x0123456789ABCDEF
    rp.set_seed(key)
    counter = 0
    for shape in [(5,), (), (3, 33), (1000,)]:
        drawn = elements(rp.rand(shape, dtype=dtype))
        count = math.prod(shape)
        width = 2 if dtype == "float64" else 1
        w = words(key, counter, count * width).astype(np.uint64)
        counter += -(-count * width // 4)
        if dtype == "float64":
            expected = [(int(a) >> 5) << 26 | int(b) >> 6 for a, b in w.reshape(-1, 2)]
            expected = np.array([math.ldexp(v, -53) for v in expected])
        else:
            top = {"float16": 11, "bfloat16": 8, "float32": 24}[dtype]
            expected = (w >> np.uint64(32 - top)).astype(np.float64) * 2.0**-top
        assert drawn.ravel().tolist() == expected.tolist(), shape


@pytest.mark.parametrize("dtype", FLOATS)
def test_normal_is_erfinv_of_philox(dtype):
    rp.set_seed(77)
    drawn = elements(rp.randn((513,), dtype=dtype)).astype(np.float64)
    if dtype == "float64":
        pairs = words(77, 0, 1026).reshape(-1, 2)
        steps = np.array([(int(a) >> 5) << 26 | int(b) >> 6 for a, b in pairs], np.longdouble)
        x = (steps + np.longdouble(0.5)) / 2.0**52 - 1
    else:
        x = ((words(77, 0, 513) >> np.uint64(8)).astype(np.float64) + 0.5) / 2.0**23 - 1
    expected = math.sqrt(2) * special.erfinv(x)
    digits = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 50}[dtype]
    np.testing.assert_allclose(drawn, expected, rtol=2.0 ** (3 - digits), atol=0)


def test_spaces():
    for start, stop, num in [(0, 1, 5), (-2.5, 7, 33), (3, 3, 4), (1, 2, 1), (0, 1, 0), (5, -5, 11)]:
        for endpoint in (True, False):
            actual = rp.linspace(start, stop, num, endpoint, dtype="float64")
            assert same_bits(np.asarray(actual), np.linspace(start, stop, num, endpoint)).all()
            actual = rp.logspace(start, stop, num, endpoint, 2.0, dtype="float64")
            assert np.allclose(np.asarray(actual), np.logspace(start, stop, num, endpoint, 2.0), 1e-14)
    for n, m, k in [(3, None, 0), (2, 5, 1), (4, 2, -1), (0, 3, 0)]:
        assert (np.asarray(rp.tri(n, m, k)) == np.tri(n, m, k)).all()
        assert (np.asarray(rp.eye(n, m, k)) == np.eye(n, m, k)).all()


def test_generators():
    one, other = rp.Generator(5), rp.Generator(5)
    draws = [
        lambda g: rp.rand((3,), generator=g), lambda g: rp.randn((3,), "float64", g),
        lambda g: rp.uniform((3,), -1, 1, generator=g), lambda g: rp.randint(0, 9, (5,), generator=g),
        lambda g: rp.exponential((3,), 2.0, generator=g), lambda g: rp.truncated_normal((3,), generator=g),
        lambda g: rp.bernoulli(np.full(9, 0.5), g), lambda g: rp.permutation(7, g),
        lambda g: rp.permutation(np.arange(7), generator=g),
        lambda g: rp.multinomial(np.ones(5), 3, generator=g),
    ]  # fmt: skip
    for draw in draws:
        first = np.asarray(draw(one))
        rp.rand((4,))
        assert same_bits(np.asarray(draw(other)), first).all()
    step = rp.jit(lambda x: x + rp.rand((3,), generator=one))
    zero = np.zeros(3, np.float32)
    for _ in range(3):
        assert np.asarray(step(zero)).tolist() == np.asarray(draws[0](other)).tolist()


def test_randint_and_ranges():
    rp.set_seed(5)
    for low, high in [(0, 1), (-3, 4), (0, 2**40), (-(2**62), 2**62)]:
        drawn = np.asarray(rp.randint(low, high, (2000,)))
        assert drawn.min() >= low and drawn.max() < high
        middle = (low + high - 1) / 2
        assert abs(drawn.astype(float).mean() - middle) <= (high - low) * 0.05
    drawn = np.asarray(rp.uniform((5000,), -2.0, 6.0))
    assert drawn.min() >= -2 and drawn.max() < 6 and abs(drawn.mean() - 2) < 0.2
    assert not bits(rp.rand((0,))).size


def test_dropout():
    rp.set_seed(3)
    x = rp.ones((4097,), dtype=rp.float64)
    first, second = (np.asarray(rp.dropout(x, 0.25)) for _ in range(2))
    assert set(np.unique(first)) == {0, 1 / 0.75} and abs(first.mean() - 1) < 0.05
    assert (first != second).any()
    gradient = rp.grad(lambda v: rp.sum(rp.dropout(v, 0.25)))(x)
    assert set(np.unique(np.asarray(gradient))) == {0, 1 / 0.75}
    with pytest.raises(rp.Error, match="1.5"):
        rp.dropout(x, 1.5)
