"""Every op that is bound, against NumPy; what it is called and how its arguments are written."""

import numpy as np
import pytest

import reprise as rp

X = np.linspace(-2.0, 2.5, 24, dtype=np.float64).reshape(2, 3, 4)
P = np.abs(X) + 0.5


def close(tensor, array, rtol=1e-12):
    actual = np.asarray(tensor)
    assert actual.shape == np.shape(array)
    np.testing.assert_allclose(actual, array, rtol=rtol, atol=1e-12)


UNARY = {
    "negative": (X, np.negative), "abs": (X, np.abs), "sign": (X, np.sign),
    "square": (X, np.square),
    "floor": (X, np.floor), "ceil": (X, np.ceil), "trunc": (X, np.trunc), "round": (X, np.round),
    "relu": (X, lambda x: np.maximum(x, 0)), "isnan": (X, np.isnan), "isinf": (X, np.isinf),
    "isfinite": (X, np.isfinite), "sqrt": (P, np.sqrt), "rsqrt": (P, lambda x: x**-0.5),
    "reciprocal": (P, np.reciprocal), "exp": (X, np.exp), "log": (P, np.log), "sin": (X, np.sin),
    "cos": (X, np.cos), "tanh": (X, np.tanh), "sigmoid": (X, lambda x: 1 / (1 + np.exp(-x))),
    "stop_gradient": (X, lambda x: x), "positive": (X, lambda x: x),
    "logical_not": (X, np.logical_not),
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    array, expected = UNARY[name]
    close(getattr(rp, name)(rp.asarray(array)), expected(array))
    close(getattr(rp, name)(array), expected(array))
    if hasattr(rp.Tensor, name):
        close(getattr(rp.asarray(array), name)(), expected(array))


def test_erf_and_gelu():
    x = rp.asarray([0.0, 0.5, -1.0], dtype=rp.float64)
    close(rp.erf(x), [0, 0.5204998778130465, -0.8427007929497149], 1e-9)
    close(rp.erfinv(rp.erf(x)), [0, 0.5, -1], 1e-6)
    close(rp.gelu(x), np.asarray(x) * 0.5 * (1 + np.asarray(rp.erf(x / 2**0.5))), 1e-9)


BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
    "floor_divide": np.floor_divide, "remainder": np.remainder, "pow": np.power,
    "maximum": np.maximum, "minimum": np.minimum, "copysign": np.copysign, "equal": np.equal,
    "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
    "greater": np.greater, "greater_equal": np.greater_equal, "logical_and": np.logical_and,
    "logical_or": np.logical_or, "logical_xor": np.logical_xor,
}  # fmt: skip


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    function, expected = getattr(rp, name), BINARY[name]
    close(function(rp.asarray(P), rp.asarray(P[0])), expected(P, P[0]))
    close(function(rp.asarray(P), 2), expected(P, 2))
    close(function(2.0, rp.asarray(P)), expected(2.0, P))


def test_bitwise():
    a, b = np.array([12, 10, 255], np.uint8), np.array([10, 3, 1], np.uint8)
    x, y = rp.asarray(a), rp.asarray(b)
    for name, expected in [
        ("bitwise_and", a & b), ("bitwise_or", a | b), ("bitwise_xor", a ^ b),
        ("bitwise_left_shift", a << b), ("bitwise_right_shift", a >> b),
    ]:  # fmt: skip
        close(getattr(rp, name)(x, y), expected)
    close(rp.bitwise_invert(x), ~a)


def test_where_clip_astype():
    x = rp.asarray(X)
    close(rp.where(x > 0, x, 0.5), np.where(X > 0, X, 0.5))
    close(rp.where(x > 0, 1, 2), np.where(X > 0, 1, 2))
    close(rp.clip(x, -1, 1), np.clip(X, -1, 1))
    close(x.clip(min=0.5), np.clip(X, 0.5, None))
    close(rp.clip(x, max=0.5), np.clip(X, None, 0.5))
    assert rp.astype(x, rp.int8).dtype == x.astype("int8").dtype == rp.int8


REDUCTIONS = {
    "sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "mean": np.mean, "var": np.var,
    "std": np.std, "any": np.any, "all": np.all, "argmax": np.argmax, "argmin": np.argmin,
    "logsumexp": lambda x, axis, keepdims: np.log(np.sum(np.exp(x), axis, keepdims=keepdims)),
}  # fmt: skip


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(name, keepdims):
    expected = REDUCTIONS[name]
    for axis in [None, 0, -1, (0, 2), ()]:
        if name.startswith("arg") and isinstance(axis, tuple):
            continue
        array = np.isfinite(X) if name in ("any", "all") else X
        actual = getattr(rp, name)(rp.asarray(array), axis=axis, keepdims=keepdims)
        close(actual, expected(array, axis=axis, keepdims=keepdims))
        close(getattr(rp.asarray(array), name)(axis), expected(array, axis=axis, keepdims=False))


def test_reduction_options():
    close(rp.var(rp.asarray(X), correction=1), np.var(X, ddof=1))
    close(rp.std(rp.asarray(X), 0, 1), np.std(X, 0, ddof=1))
    assert rp.sum(rp.full((300,), 255, rp.uint8)).item() == 76500
    assert rp.sum(rp.ones((3,), rp.int32), dtype=rp.float32).dtype == rp.float32
    for name, wrapped in [("sum", 44), ("prod", 64), ("mean", 100), ("cumsum", [100, -56, 44])]:
        result = getattr(rp, name)(rp.full((3,), 100), dtype=rp.int8)
        assert result.dtype == rp.int8 and result.tolist() == wrapped
    assert rp.cumulative_prod(rp.asarray([True, False]), dtype=rp.bool).tolist() == [True, False]
    close(rp.var(rp.asarray(X), axis=1, correction=0.5), X.var(1) * 3 / 2.5)
    close(rp.std(rp.asarray(X), correction=1.0), np.std(X, ddof=1))
    with pytest.raises(rp.Error):
        rp.var(rp.asarray(X), correction=float("nan"))
    with pytest.raises(rp.ShapeError):
        rp.max(rp.zeros((2, 0)), axis=1)
    assert rp.max(rp.zeros((0, 4)), axis=1).shape == (0,)


def test_arrays_as_optional_operands():
    x = rp.asarray(X)
    high = np.linspace(-1, 1, 4)
    close(rp.clip(x, -1, high), np.clip(X, -1, high))
    close(x.clip(max=high), np.clip(X, None, high))
    close(rp.clip(x, high, None), np.clip(X, high, None))
    holes = rp.asarray([np.nan, np.inf, -np.inf])
    close(rp.nan_to_num(holes, 1, np.float64(2), 3), [1, 2, 3])
    with pytest.raises(TypeError):  # rather than read a 0 for it
        rp.nan_to_num(holes, rp.asarray(1.0))


def test_shapes():
    x = rp.asarray(X)
    close(rp.reshape(x, (4, -1)), X.reshape(4, -1))
    close(x.reshape(4, -1), X.reshape(4, -1))
    close(x.reshape((24,)), X.reshape(24))
    close(x.reshape(-1), X.reshape(-1))
    close(rp.permute_dims(x, (2, 0, 1)), X.transpose(2, 0, 1))
    close(x.permute_dims(2, 0, 1), X.transpose(2, 0, 1))
    close(x.T, X.T)
    close(x.mT, X.swapaxes(-1, -2))
    close(rp.matrix_transpose(x), X.swapaxes(-1, -2))
    close(x.transpose(0, 1), X.swapaxes(0, 1))
    close(rp.moveaxis(x, 0, -1), np.moveaxis(X, 0, -1))
    close(rp.flatten(x), X.ravel())
    close(rp.expand_dims(x, axis=1), X[:, None])
    close(rp.squeeze(rp.expand_dims(x, axis=-1), axis=-1), X)
    close(rp.expand_dims(x, axis=(-1, 0)), np.expand_dims(X, (-1, 0)))
    with pytest.raises(rp.Error):
        rp.expand_dims(x, axis=(0, -5))
    close(rp.expand_dims(x[:1]).squeeze(), X[0])
    close(rp.broadcast_to(x, (5, 2, 3, 4)), np.broadcast_to(X, (5, 2, 3, 4)))
    a, b = rp.broadcast_arrays(x[0], x[:, :1])
    close(a, np.broadcast_to(X[0], (2, 3, 4)))
    close(b, np.broadcast_to(X[:, :1], (2, 3, 4)))
    close(rp.flip(x, axis=(0, 2)), np.flip(X, (0, 2)))
    close(rp.flip(x), np.flip(X))
    close(rp.pad(x, 1), np.pad(X, 1))
    close(rp.pad(x, ((1, 0), (0, 2), (1, 1))), np.pad(X, ((1, 0), (0, 2), (1, 1))))
    close(rp.pad(x, (1, 2), constant_values=7), np.pad(X, (1, 2), constant_values=7))
    for ours, numpys in [("replicate", "edge"), ("circular", "wrap"), ("edge", "edge")]:
        close(rp.pad(x, 1, mode=ours), np.pad(X, 1, mode=numpys))
    flags = rp.pad(rp.asarray([False]), 1, constant_values=1)
    assert flags.dtype == rp.bool and flags.tolist() == [True, False, True]
    with pytest.raises(rp.DTypeError):
        rp.pad(rp.ones((2,), rp.int8), 1, constant_values=0.5)
    close(rp.concat([x, X]), np.concatenate([X, X]))
    close(rp.concat([x, x[:, :1]], axis=None), np.concatenate([X, X[:, :1]], axis=None))
    close(rp.stack([x, x], axis=-1), np.stack([X, X], -1))
    for parts, expected in [
        (rp.split(x, 2, axis=2), np.split(X, 2, 2)),
        (rp.split(x, [1, 3], 2), np.split(X, [1, 3], 2)),
    ]:  # fmt: skip
        assert len(parts) == len(expected)
        for part, array in zip(parts, expected):
            close(part, array)
    for parts in [3, 2**62]:
        with pytest.raises(rp.ShapeError):
            rp.split(x[..., :0] if parts > 3 else x, parts, axis=2)


def test_options():
    x = rp.asarray([3, 1, 2])
    assert rp.sort(x, stable=True).tolist() == [1, 2, 3]
    assert rp.argsort(x, stable=False, descending=True).tolist() == [0, 2, 1]
    assert rp.searchsorted(x, rp.asarray([2, 4]), sorter=rp.argsort(x)).tolist() == [1, 3]
    close(rp.matrix_norm(rp.asarray(X), ord=-1), np.linalg.norm(X, -1, axis=(1, 2)))
    close(rp.matrix_norm(rp.asarray(X), ord=-np.inf), np.linalg.norm(X, -np.inf, axis=(1, 2)))
    flags = np.array([[True, False], [True, True]])
    for equation, operands in [("ij,jk->ik", (flags, flags)), ("ij->j", (flags,)), ("ii", (flags,))]:
        result = rp.einsum(equation, *operands)
        assert result.dtype == rp.bool
        close(result, np.einsum(equation, *operands))
    close(
        rp.kl_div(rp.asarray(X[0]), rp.asarray(P[0]), reduction="batchmean"),
        np.sum(P[0] * (np.log(P[0]) - X[0])) / 3,
    )
    y = rp.asarray(X)
    close(rp.diff(y, n=2, axis=1), np.diff(X, 2, 1))
    close(rp.diff(y, prepend=0, append=y[..., :2]), np.diff(X, prepend=0, append=X[..., :2]))
    assert rp.diff(rp.asarray(np.uint8([3, 1])), prepend=7).dtype == rp.uint8
    for counts in [[2, 0, 1], (2, 0, 1), np.array([2, 0, 1]), rp.asarray([2, 0, 1])]:
        close(rp.repeat(y, counts, axis=1), np.repeat(X, [2, 0, 1], 1))
        close(y.repeat(counts, 1), np.repeat(X, [2, 0, 1], 1))
    with pytest.raises(rp.ShapeError, match="3 counts.*4"):
        rp.repeat(y, [2, 0, 1], axis=2)
    with pytest.raises(TypeError, match="repeat"):
        rp.repeat(y, 1.5)
    close(rp.softmax(y, axis=None), np.exp(X) / np.exp(X).sum())
    normal = (X - X.mean((0, 2), keepdims=True)) / np.sqrt(X.var((0, 2), keepdims=True) + 1e-5)
    close(rp.batch_norm(y), normal)
    close(rp.batch_norm(y, training=True, weight=np.full(3, 2.0)), 2 * normal)
    with pytest.raises(rp.Error, match="mean without a variance"):
        rp.batch_norm(y, np.zeros(3))
    close(rp.dropout(y, 0.5, training=False), X)
    first, second = (rp.dropout(y, generator=rp.Generator(3)) for _ in range(2))
    close(first, second)


def test_products_and_layers():
    x = rp.asarray(X)
    close(rp.matmul(x, x.mT), X @ X.swapaxes(-1, -2))
    close(rp.take(x, rp.asarray([2, -1]), axis=1), np.take(X, [2, -1], 1))
    close(rp.one_hot(rp.asarray([0, 2]), 3), [[1, 0, 0], [0, 0, 1]])
    soft = np.exp(X) / np.exp(X).sum(-1, keepdims=True)
    close(rp.softmax(x), soft)
    close(rp.softmax(x, axis=0), np.exp(X) / np.exp(X).sum(0))
    close(rp.log_softmax(x), np.log(soft))
    centered = X - X.mean(-1, keepdims=True)
    normal = centered / np.sqrt(X.var(-1, keepdims=True) + 1e-5)
    weight, bias = np.arange(4.0), np.ones(4)
    close(rp.layer_norm(x), normal)
    close(rp.layer_norm(x, weight=weight, bias=bias), normal * weight + bias)
    close(rp.rms_norm(x, weight=weight, eps=0.1),
          X / np.sqrt((X * X).mean(-1, keepdims=True) + 0.1) * weight)  # fmt: skip
    labels = np.array([[0, 1, 2], [3, 3, 0]])
    losses = -np.log(np.take_along_axis(soft, labels[..., None], -1))[..., 0]
    close(rp.cross_entropy(x, labels), losses.mean())
    close(rp.cross_entropy(x, labels, reduction="sum"), losses.sum())
    close(rp.cross_entropy(x, labels, "none"), losses)


def test_creation():
    assert rp.zeros(3).tolist() == [0, 0, 0] and rp.zeros(3).dtype == rp.float32
    assert rp.ones((2, 1), dtype=int).tolist() == [[1], [1]]
    assert rp.full((2,), 7).dtype == rp.int64 and rp.full((), 0.5).dtype == rp.float32
    assert rp.full((2,), 7, "int8").dtype == rp.int8
    like = rp.zeros((2, 3), dtype=rp.int16)
    for made in [rp.zeros_like(like), rp.ones_like(like), rp.full_like(like, 3)]:
        assert made.shape == (2, 3) and made.dtype == rp.int16
    assert rp.ones_like(like, dtype=rp.bool).dtype == rp.bool
    assert rp.eye(2, 3).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert rp.arange(4).tolist() == [0, 1, 2, 3]
    assert rp.arange(1, 8, 3).tolist() == [1, 4, 7]
    assert rp.arange(0, 1, 0.25).tolist() == [0, 0.25, 0.5, 0.75]
    assert rp.arange(3, dtype=rp.float64).dtype == rp.float64


def test_random():
    rp.set_seed(3)
    first = rp.rand((1000,))
    assert 0 <= first.min().item() and first.max().item() < 1
    rp.set_seed(3)
    assert np.array_equal(rp.rand((1000,)), first)
    assert not np.array_equal(rp.rand((1000,)), first)
    assert abs(rp.randn((10000,)).std().item() - 1) < 0.05
    drawn = rp.randint(-2, 3, (1000,))
    assert set(drawn.tolist()) == {-2, -1, 0, 1, 2}
    assert 2 <= rp.uniform((), 2, 4, dtype=rp.float64).item() < 4


def test_every_name_is_documented():
    undocumented = [
        name for name, item in vars(rp).items()
        if not name.startswith("_") and callable(item) and not item.__doc__
    ]  # fmt: skip
    assert undocumented == []
