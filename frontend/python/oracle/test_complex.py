"""Complex tensors against NumPy in long double and, where it is installed, PyTorch; gradients
against central differences. Eagerly and replayed the bits are the same."""

import math

import numpy as np
import pytest

import reprise as rp
from compare import bits, same_bits
from complex_table import MOVES, PREDICATES, ROWS
from samples import COMPLEX, FULL, SEED, generator, specials, values
from table import OPS
from test_values import call

try:
    import torch
except ImportError:
    torch = None

PART = {"complex64": "float32", "complex128": "float64"}


def distance(actual, expected, dtype, least=0):
    """The largest error, in epsilons of the parts, of the magnitude of each number."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    if not actual.size:
        return 0.0
    info = np.finfo(dtype)
    unit = np.maximum(np.maximum(np.abs(expected), info.tiny), least) * np.longdouble(info.eps)
    return float(np.max(np.abs(actual.astype(np.clongdouble) - expected) / unit))


def left_of_equal(name, expected, operands, part):
    """Of equal elements, what the mean was rounded by remains of a deviation."""
    power = {"std": 1, "var": 2}.get(name)
    if power is None or expected.size == 0:
        return 0
    scale = np.max(np.abs(wide(operands[0])), initial=0) ** power
    return np.where(np.abs(expected) < np.sqrt(np.finfo(part).eps) * scale, scale, 0)


def wide(operand):
    return operand.array.astype(np.clongdouble)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", ROWS)
def test_value(name, dtype):
    row = ROWS[name]
    cases = row.make(generator(SEED, name, dtype), dtype)
    eager = []
    for operands, keywords in cases:
        actual = call(name, OPS.get(name) or PLAIN, [x.tensor() for x in operands], keywords)
        expected = np.asarray(row.reference(*map(wide, operands), **keywords))
        real = expected.dtype.kind != "c"
        assert str(actual.dtype) == (PART[dtype] if real else dtype)
        assert actual.shape == expected.shape, f"{name}({operands}, {keywords})"
        least = left_of_equal(name, expected, operands, PART[dtype])
        error = distance(actual, expected, PART[dtype], least)
        assert error <= row.tolerance, f"{name}({operands}, {keywords}): {error} eps"
        eager.append(bits(actual))

    @rp.jit
    def all_cases(groups):
        return [call(name, OPS.get(name) or PLAIN, group, k) for group, (_, k) in zip(groups, cases)]  # fmt: skip

    tensors = [[x.tensor() for x in operands] for operands, _ in cases]
    all_cases([[x * 0 + 1 for x in group] for group in tensors])
    for result, before in zip(all_cases(tensors), eager):
        assert same_bits(bits(result), before).all(), f"{name} replayed"


class PLAIN:
    call = None


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", MOVES)
def test_movement(name, dtype):
    op = OPS[name]
    for operands, keywords in op.make(generator(SEED, name, dtype), dtype, FULL):
        actual = call(name, op, [x.tensor() for x in operands], keywords)
        expected = op.reference(*[x.array for x in operands], **keywords)
        for a, e in zip(actual, expected) if op.many else [(actual, expected)]:
            e = np.asarray(e, dtype)
            assert same_bits(bits(a), e).all(), f"{name}({operands}, {keywords})"


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", PREDICATES)
def test_predicate(name, dtype):
    reference = getattr(np, name, None) or (lambda x: np.count_nonzero(x))
    flat = specials(dtype)
    few = [flat, flat[::-1].copy()][: 2 if name.startswith(("logical_a", "logical_o", "logical_x", "equal", "not_e")) else 1]  # fmt: skip
    actual = getattr(rp, name)(*[rp.asarray(x) for x in few])
    assert np.array_equal(np.asarray(actual), reference(*few)), name


#: Functions whose values at NaN, the infinities and signed zeros are C's, as NumPy's are.
EDGES = ("sqrt", "exp", "log", "sinh", "cosh", "tanh", "abs", "conj", "negative", "angle", "add", "subtract")  # fmt: skip


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", EDGES)
def test_edges(name, dtype):
    parts = [0.0, -0.0, 1.5, -1.5, math.inf, -math.inf, math.nan]
    flat = np.array([complex(a, b) for a in parts for b in parts], dtype)
    operands = [flat] if name not in ("add", "subtract") else [np.repeat(flat, 49), np.tile(flat, 49)]  # fmt: skip
    actual = np.asarray(getattr(rp, name)(*[rp.asarray(x) for x in operands]))
    expected = getattr(np, name)(*operands)
    for a, e, at in zip(actual, expected, zip(*operands)):
        for x, y in zip((a.real, a.imag), (e.real, e.imag)):
            if np.isnan(y) or np.isnan(x):
                assert np.isnan(x) and np.isnan(y), f"{name}{at} is {a}, NumPy says {e}"
            elif np.isinf(y) or np.isinf(x):  # C leaves some signs open
                assert np.isinf(x) and np.isinf(y), f"{name}{at} is {a}, NumPy says {e}"
            else:
                assert abs(x - y) <= 1e-6 * abs(y), f"{name}{at} is {a}, NumPy says {e}"


def point(name, seed):
    """Complex arrays whose parts are not near 0, and weights for the parts of the result."""
    row = ROWS[name]
    rng = generator(seed, name, "gradient")
    shapes = {"cross": ((2, 3), (2, 3)), "trace": ((3, 3),), "matrix_norm": ((2, 3),),
              "dot": ((3,), (3,)), "vdot": ((3,), (3,)), "vecdot": ((2, 3), (2, 3)),
              "outer": ((2,), (3,)),
              "matmul": ((2, 3), (3, 2)), "tensordot": ((2, 3), (3, 2)), "kron": ((2, 1), (1, 2)),
              "einsum": ((2, 3), (3, 2))}  # fmt: skip
    keywords = {"einsum": {"equation": "ij,jk->ik"}, "tensordot": {"axes": 1}, "prod": {"axis": 0}, "cumsum": {"axis": 0},
                "cumprod": {"axis": 0}}.get(name, {})  # fmt: skip
    binary = name in ("add", "subtract", "multiply", "divide", "pow")
    own = shapes.get(name, ((2, 2),) * (2 if binary else 1))
    arrays = []
    for shape in own:
        parts = [rng.uniform(row.apart + 0.05, 1.4, shape) * rng.choice([-1, 1], shape) for _ in range(2)]  # fmt: skip
        arrays.append(parts[0] + 1j * parts[1])
    return row, rng, arrays, keywords


def weighted(result, weights):
    if np.dtype(str(result.dtype)).kind == "c":
        return rp.sum(result.real * rp.asarray(weights.real) + result.imag * rp.asarray(weights.imag))  # fmt: skip
    return rp.sum(result * rp.asarray(weights.real))


DIFFERENTIABLE = [name for name, row in ROWS.items() if row.gradient]


def loss_of(name, keywords, rng, arrays):
    op = OPS.get(name) or PLAIN
    shape = call(name, op, [rp.asarray(a) for a in arrays], keywords).shape
    weights = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    return weights, lambda *xs: weighted(call(name, op, list(xs), keywords), weights)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradient(name, seed):
    """dL/dx + i dL/dy, by central differences along both parts."""
    _, rng, arrays, keywords = point(name, seed)
    _, loss = loss_of(name, keywords, rng, arrays)
    of = tuple(range(len(arrays)))
    actual = rp.grad(loss, argnums=of)(*[rp.asarray(a) for a in arrays])
    function = rp.jit(loss)
    step = 6e-6
    for i in of:
        expected = np.zeros(arrays[i].shape, complex)
        for at in np.ndindex(arrays[i].shape):
            for unit in (1, 1j):
                sides = []
                for sign in (1, -1):
                    moved = [a.copy() for a in arrays]
                    moved[i][at] += sign * step * unit
                    sides.append(function(*moved).item())
                expected[at] += unit * (sides[0] - sides[1]) / (2 * step)
        got = np.asarray(actual[i])
        assert got.dtype == np.complex128
        scale = max(1.0, float(np.abs(expected).max(initial=0)))
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-7 * scale, err_msg=f"{name}, {i}")


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed (python3-torch)")
@pytest.mark.parametrize("name", [n for n in DIFFERENTIABLE if ROWS[n].torch])
def test_torch(name, seed):
    """Value, gradient and second derivative are PyTorch's."""
    row, rng, arrays, keywords = point(name, seed)
    weights, loss = loss_of(name, keywords, rng, arrays)
    of = tuple(range(len(arrays)))
    theirs = [torch.from_numpy(a.copy()).requires_grad_() for a in arrays]
    if callable(row.torch):
        value = row.torch(torch, *theirs, **keywords)
    else:
        more = {("dim" if k == "axis" else k): v for k, v in keywords.items()}
        value = getattr(torch, row.torch)(*theirs, **more)
    ours = call(name, OPS.get(name) or PLAIN, [rp.asarray(a) for a in arrays], keywords)
    np.testing.assert_allclose(np.asarray(ours), value.detach().resolve_conj().numpy(), rtol=1e-12, atol=1e-13)  # fmt: skip
    if value.is_complex():
        total = (value.real * torch.from_numpy(np.asarray(weights.real)) + value.imag * torch.from_numpy(np.asarray(weights.imag))).sum()  # fmt: skip
    else:
        total = (value * torch.from_numpy(np.asarray(weights.real))).sum()
    first = torch.autograd.grad(total, theirs, create_graph=True)
    tensors = [rp.asarray(a) for a in arrays]
    for a, e in zip(rp.grad(loss, argnums=of)(*tensors), first):
        np.testing.assert_allclose(np.asarray(a), e.detach().resolve_conj().numpy(), rtol=1e-9, atol=1e-10)  # fmt: skip

    others = [rng.normal(size=a.shape) + 1j * rng.normal(size=a.shape) for a in arrays]

    def slope(*xs):
        gradients = rp.grad(loss, argnums=of)(*xs)
        terms = [weighted(g, w) for g, w in zip(gradients, others)]
        return sum(terms[1:], terms[0])

    total = sum((g.real * torch.from_numpy(w.real) + g.imag * torch.from_numpy(w.imag)).sum() for g, w in zip(first, others))  # fmt: skip
    if not total.requires_grad:
        return
    second = torch.autograd.grad(total, theirs, allow_unused=True)
    for a, e, own in zip(rp.grad(slope, argnums=of)(*tensors), second, arrays):
        e = np.zeros(own.shape) if e is None else e.resolve_conj().numpy()
        np.testing.assert_allclose(np.asarray(a), e, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", [n for n in MOVES if OPS[n].gradient and n not in ("index_put", "stop_gradient")])  # fmt: skip
def test_movement_gradient(name, seed):
    """A movement's gradient of a complex tensor is that of each part."""
    op = OPS[name]
    rng = generator(seed, name, "complex gradient")
    arrays, keywords = op.gradient.make(rng)
    of = tuple(range(len(arrays)) if op.gradient.of is None else op.gradient.of)
    imag = [rng.normal(size=np.shape(a)) for a in arrays]
    tensors = [rp.asarray(np.asarray(a) + 1j * b if i in of else np.asarray(a)) for i, (a, b) in enumerate(zip(arrays, imag))]  # fmt: skip
    results = call(name, op, list(tensors), keywords)
    shapes = [r.shape for r in (results if op.many else [results])]
    weights = [rng.normal(size=s) + 1j * rng.normal(size=s) for s in shapes]

    def loss(weights):
        def of_tensors(*xs):
            found = call(name, op, list(xs), keywords)
            terms = [weighted(r, w) for r, w in zip(found if op.many else [found], weights)]
            return sum(terms[1:], terms[0])

        return of_tensors

    both = rp.grad(loss(weights), argnums=of)(*tensors)
    parts = []
    for pick, source in ((np.real, arrays), (np.imag, imag)):
        own = [rp.asarray(np.asarray(s if i in of else a)) for i, (s, a) in enumerate(zip(source, arrays))]  # fmt: skip
        parts.append(rp.grad(loss([pick(w).astype(complex) for w in weights]), argnums=of)(*own))
    for g, re, im in zip(both, *parts):
        np.testing.assert_allclose(np.asarray(g), np.asarray(re) + 1j * np.asarray(im), rtol=1e-13)


def test_index_writes_and_sums(seed):
    rng = generator(seed, "complex writes")
    x, updates = (values(rng, "complex128", n, "moderate") for n in (7, 5))
    places = np.array([1, 1, -1, 0, 3])
    expected = x.copy()
    np.add.at(expected, places, updates)
    actual = rp.index_add(rp.asarray(x), rp.asarray(places), rp.asarray(updates), axis=0)
    np.testing.assert_allclose(np.asarray(actual), expected, rtol=1e-15)
    assert rp.nan_to_num(rp.asarray([complex(math.nan, math.inf)], dtype="complex128"), posinf=3.0).tolist() == [3j]  # fmt: skip


def test_mixed_operands(seed):
    """A real operand is not multiplied by as a complex number with an imaginary part of 0."""
    rng = generator(seed, "complex mixed")
    z = values(rng, "complex64", 33, "moderate")
    for other, result in (("float32", "complex64"), ("float64", "complex128"), ("int8", "complex64"), ("bool", "complex64"), ("float16", "complex64")):  # fmt: skip
        x = values(rng, other, 33, "positive") if other != "bool" else rng.random(33) < 0.5
        x = np.asarray(x) + (x == 0).astype(x.dtype)
        for function in ("add", "subtract", "multiply", "divide"):
            for pair in ((z, x), (x, z)):
                actual = getattr(rp, function)(*[rp.asarray(a) for a in pair])
                assert str(actual.dtype) == result, (function, other)
                wide = [a.astype(np.complex128) for a in pair]
                assert distance(actual, getattr(np, function)(*wide), "float32") < 8
    infinite = rp.asarray(np.array([complex(math.inf, 1)]))
    assert (infinite * 2).tolist() == [complex(math.inf, 2)]
    assert rp.matmul(rp.asarray(z.reshape(3, 11)), rp.asarray(np.ones((11, 2), np.float32))).shape == (3, 2)  # fmt: skip
