"""Gradients of every differentiable op against central differences in float64, and the second
derivatives of the smooth ones. The table says where each is evaluated; no element is near a kink."""

import numpy as np
import pytest

import reprise as rp
from samples import generator
from table import OPS
from test_values import call

DIFFERENTIABLE = [name for name, op in OPS.items() if op.gradient]
#: The step is STEP times the size of the element: the cube root of epsilon balances the error of
#: the difference's order with that of its cancellation; what is left is about 1e-10 of the value.
STEP = float(np.finfo(np.float64).eps) ** (1 / 3)


def differentiated(op, arrays):
    return tuple(range(len(arrays)) if op.gradient.of is None else op.gradient.of)


def loss_of(name, op, keywords, weights):
    """The op's results, weighted with numbers of our own, as one number of its operands."""

    def loss(*tensors):
        results = call(name, op, list(tensors), keywords)
        terms = [rp.sum(r * w) for r, w in zip(results if op.many else [results], weights)]
        return sum(terms[1:], terms[0])

    return loss


def point(name, seed):
    """Arrays, which of them are differentiated, and the loss at them."""
    op = OPS[name]
    rng = generator(seed, name, "gradient")
    arrays, keywords = op.gradient.make(rng)
    arrays = [np.asarray(a) for a in arrays]
    results = call(name, op, [rp.asarray(a) for a in arrays], keywords)
    shapes = [r.shape for r in (results if op.many else [results])]
    weights = [rp.asarray(rng.uniform(0.5, 1.5, s) * rng.choice([-1, 1], s)) for s in shapes]
    return op, rng, arrays, differentiated(op, arrays), loss_of(name, op, keywords, weights)


def differences(function, arrays, of):
    """The gradient of a jitted function of arrays, by central differences, one element at a time."""
    gradients = []
    for i in of:
        gradient = np.zeros(arrays[i].shape)
        for at in np.ndindex(arrays[i].shape):
            step = STEP * max(1.0, abs(arrays[i][at]))
            sides = []
            for sign in (1, -1):
                moved = [a.copy() for a in arrays]
                moved[i][at] += sign * step
                sides.append((moved[i][at], function(*moved).item()))
            gradient[at] = (sides[0][1] - sides[1][1]) / (sides[0][0] - sides[1][0])
        gradients.append(gradient)
    return gradients


def compare(actual, expected, arrays, of, what):
    for a, e, i in zip(actual, expected, of):
        a = np.asarray(a)
        assert a.shape == arrays[i].shape and a.dtype == arrays[i].dtype, f"{what}, operand {i}"
        scale = max(1.0, float(np.abs(e).max(initial=0)))
        np.testing.assert_allclose(a, e, rtol=0, atol=3e-8 * scale, err_msg=f"{what}, operand {i}")


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradient(name, seed):
    op, _, arrays, of, loss = point(name, seed)
    actual = rp.grad(loss, argnums=of)(*[rp.asarray(a) for a in arrays])
    compare(actual, differences(rp.jit(loss), arrays, of), arrays, of, f"gradient of {name}")


@pytest.mark.parametrize("name", [n for n in DIFFERENTIABLE if OPS[n].gradient.second])
def test_second_derivative(name, seed):
    """The gradient of the gradient, weighted, against differences of the gradient."""
    op, rng, arrays, of, loss = point(name, seed)
    weights = [rp.asarray(rng.uniform(0.5, 1.5, arrays[i].shape)) for i in of]

    def slope(*tensors):
        gradients = rp.grad(loss, argnums=of)(*tensors)
        terms = [rp.sum(g * w) for g, w in zip(gradients, weights)]
        return sum(terms[1:], terms[0])

    actual = rp.grad(slope, argnums=of)(*[rp.asarray(a) for a in arrays])
    compare(actual, differences(rp.jit(slope), arrays, of), arrays, of, f"second of {name}")


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_replayed_gradient(name, seed):
    """Recorded once and replayed with other data, a gradient is bit for bit the eager one."""
    op, rng, arrays, of, loss = point(name, seed)
    gradient = rp.grad(loss, argnums=of)
    replayed = rp.jit(gradient)
    others = [rng.permutation(a.ravel()).reshape(a.shape) for a in arrays]
    replayed(*[rp.asarray(a) for a in others])
    tensors = [rp.asarray(a) for a in arrays]
    for a, b in zip(replayed(*tensors), gradient(*tensors)):
        assert np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True)


#: Ops whose derivative is 0 wherever there is one.
FLAT = ("nextafter", "sign", "floor", "ceil", "trunc", "round", "floor_divide")


@pytest.mark.parametrize("name", FLAT + ("stop_gradient",))
def test_no_gradient(name):
    x = rp.asarray(np.array([-1.7, 0.3, 2.6]))
    arity = 2 if name in ("floor_divide", "nextafter") else 1
    gradients = rp.grad(lambda *xs: rp.sum(getattr(rp, name)(*xs)), argnums=tuple(range(arity)))
    for g in gradients(*[x] * arity):
        assert np.asarray(g).tolist() == [0, 0, 0]


def test_every_float_op_has_a_gradient_or_none():
    """The table says of every op that gives floats how it is differentiated, or that it is flat."""
    floats = {n for n, op in OPS.items() if op.result("float64") == "float64"}
    without = floats - set(DIFFERENTIABLE) - set(FLAT) - {"stop_gradient"}
    without -= {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_invert"}  # of integers
    without -= {"bitwise_left_shift", "bitwise_right_shift"}
    assert not without


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_cast_back(dtype):
    x = rp.asarray(np.array([1.25, -2.5]), dtype=dtype)
    gradient = rp.grad(lambda v: rp.sum(rp.astype(v, rp.float64) * 3))(x)
    assert str(gradient.dtype) == dtype and gradient.tolist() == [3, 3]


def test_indexing():
    x = rp.asarray(np.arange(12.0).reshape(3, 4))
    keys = [1, (slice(None), 2), (slice(None, None, -2),), (..., None), np.array([0, 2, 0]), (np.array([0, 1, 1]), np.array([3, 0, 0]))]  # fmt: skip
    for key in keys:
        weights = np.random.default_rng(0).normal(size=np.arange(12.0).reshape(3, 4)[key].shape)
        expected = np.zeros((3, 4))
        np.add.at(expected, key, weights)
        gradient = rp.grad(lambda v: rp.sum(v[key] * rp.asarray(weights)))(x)
        np.testing.assert_allclose(np.asarray(gradient), expected, rtol=1e-15, err_msg=str(key))


def test_nan_is_what_an_extremum_chose():
    nan = np.nan
    x = rp.asarray(np.array([[1, nan, 3, 4], [nan, 2, nan, 1.0]]))

    def gradient(function):
        return rp.grad(lambda x: rp.sum(function(x)))(x).tolist()

    for fold in (rp.max, rp.min):
        assert gradient(lambda x: fold(x, axis=1)) == [[0, 1, 0, 0], [0.5, 0, 0.5, 0]]
    assert gradient(lambda x: rp.max_pool1d(x[None], 2)) == [[0, 1, 0, 1], [1, 0, 1, 0]]
    places = rp.asarray(np.array([[0, 0, 1, 1]] * 2))
    for reduce in ("amax", "amin"):
        put = gradient(lambda x: rp.scatter_reduce(rp.zeros((2, 2), rp.float64) + nan, places, x, reduce, include_self=False))  # fmt: skip
        assert put == [[0, 1, 0, 1] if reduce == "amax" else [0, 1, 1, 0], [1, 0, 1, 0]]
