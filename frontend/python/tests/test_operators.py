"""Operators, weak numbers, promotion, indexing, and what a tensor is to Python."""

import operator
import os
import re

import numpy as np
import pytest

import reprise as rp


def equal(tensor, array):
    """Same dtype, shape and elements, NaNs alike."""
    actual = np.asarray(tensor)
    assert actual.dtype == array.dtype and actual.shape == array.shape
    np.testing.assert_array_equal(actual, array)


ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv,
              operator.mod, operator.pow]  # fmt: skip
BITWISE = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


@pytest.mark.parametrize("op", ARITHMETIC + COMPARISONS)
def test_float_operators(op):
    a = np.array([1.0, 2.5, 3.0, 4.0], dtype=np.float64)
    b = np.array([2.0, 2.5, 0.5, 3.0], dtype=np.float64)
    x, y = rp.asarray(a), rp.asarray(b)
    for actual, expected in [
        (op(x, y), op(a, b)), (op(x, 2), op(a, 2)), (op(2.0, x), op(2.0, a)),
        (op(x, b), op(a, b)), (op(a, y), op(a, b)), (op(x, np.float64(2)), op(a, 2.0)),
    ]:  # fmt: skip
        np.testing.assert_allclose(np.asarray(actual), expected, rtol=1e-15)
        assert np.asarray(actual).dtype == expected.dtype


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul] + BITWISE + COMPARISONS)
def test_integer_operators(op):
    a = np.array([1, 5, 7, 100], dtype=np.int32)
    b = np.array([3, 5, 2, 4], dtype=np.int32)
    equal(op(rp.asarray(a), rp.asarray(b)), op(a, b))
    equal(op(rp.asarray(a), 3), op(a, np.int32(3)))
    equal(op(3, rp.asarray(b)), op(np.int32(3), b))


def test_unary_operators_and_matmul():
    x = rp.asarray(np.array([[1.0, -2.0], [3.0, 4.0]], dtype=np.float32))
    a = np.asarray(x)
    equal(-x, -a)
    equal(+x, a)
    equal(abs(x), abs(a))
    equal(x @ x, a @ a)
    equal(a @ x, a @ a)
    equal(x @ a, a @ a)
    equal(x @ x[0], a @ a[0])
    equal(~rp.asarray([True, False]), np.array([False, True]))
    y = x
    y += 1
    equal(y, a + 1)
    equal(x, a)


def test_weak_numbers():  # DT-01
    u8 = rp.asarray([1, 2], dtype=rp.uint8)
    assert (u8 + 1).dtype == rp.uint8
    with pytest.raises(rp.DTypeError, match="300.*u8"):
        u8 + 300
    with pytest.raises(rp.DTypeError, match="-1"):
        u8 + -1
    assert (rp.asarray([1], dtype=rp.float16) * 2.0).dtype == rp.float16
    assert (rp.asarray([1], dtype=rp.bfloat16) + 10).dtype == rp.bfloat16
    assert (rp.asarray(np.array([1.0])) * 0.1).tolist() == [0.1]
    assert (rp.asarray([2], dtype=rp.int32) * 2.5).dtype == rp.float32
    assert (rp.asarray([True]) + 1).dtype == rp.int64
    assert (u8 + True).dtype == rp.uint8
    assert (rp.asarray(np.array([1], np.uint64)) + (2**64 - 2)).tolist() == [2**64 - 1]
    with pytest.raises(rp.DTypeError, match="64 bits"):
        u8 + 2**64
    # A wider NumPy scalar is a number like any other.
    assert (rp.asarray([1], dtype=rp.float32) * np.float64(0.5)).dtype == rp.float32


def test_promotion():  # DT-02
    table = [
        ("uint8", "int8", "int16"), ("uint16", "int8", "int32"), ("uint32", "int32", "int64"),
        ("uint64", "int64", "float64"), ("bool", "uint8", "uint8"), ("float16", "int8", "float16"),
        ("float32", "int64", "float32"), ("float16", "bfloat16", "float32"),
        ("float32", "float64", "float64"), ("complex64", "float64", "complex128"),
    ]  # fmt: skip
    for a, b, result in table:
        assert rp.promote_types(a, b) == rp.promote_types(b, a) == getattr(rp, result)
        x, y = rp.zeros((1,), a), rp.ones((1,), b)
        assert (x + y).dtype == (y + x).dtype == result
    assert (rp.asarray([True, False]) + rp.asarray([True, False])).tolist() == [True, False]
    assert rp.result_type(rp.zeros((1,), "float16"), 2.0, rp.int8) == rp.float16
    assert rp.result_type(rp.int32, 2.5) == rp.float32
    assert rp.result_type(1, 2.5) == rp.float32


def test_dtypes():
    assert rp.DType("f32") == rp.DType(np.float32) == rp.DType("float32") == rp.float32
    assert rp.float32 == "float32" and rp.float32 != rp.float64 and rp.float32 != 3
    assert repr(rp.bfloat16) == "reprise.bfloat16" and str(rp.bool) == "bool"
    assert {rp.int8: 1}[rp.int8] == 1
    assert rp.float16.itemsize == 2
    assert rp.isdtype(rp.int8, "integral") and not rp.isdtype(rp.bool, "numeric")
    assert rp.finfo(rp.bfloat16).eps == 2**-7 and rp.iinfo(rp.uint8).max == 255
    with pytest.raises(TypeError):
        rp.zeros((1,), dtype="float33")


def test_properties():
    x = rp.zeros((2, 3, 4), dtype=rp.float16)
    assert rp.devices()[0] == "cpu"
    assert x.shape == (2, 3, 4) and x.ndim == 3 and x.size == 24 and x.nbytes == 48
    assert x.T.shape == (4, 3, 2) and x.mT.shape == (2, 4, 3) and x.device == "cpu"
    assert len(x) == 2 and [row.shape for row in x] == [(3, 4)] * 2
    with pytest.raises(TypeError):
        len(rp.zeros(()))
    with pytest.raises(TypeError):
        iter(rp.zeros(()))


def test_conversions():
    assert float(rp.asarray([2.5])) == 2.5 and int(rp.asarray(7)) == 7
    assert type(int(rp.asarray(True))) is int
    assert bool(rp.asarray(1)) is True and complex(rp.asarray(1.5)) == 1.5
    assert [10, 20, 30][rp.asarray(1)] == 20
    assert type(rp.asarray(1).item()) is int and type(rp.asarray(1.0).item()) is float
    assert rp.asarray(np.complex64(1 + 2j)).item() == 1 + 2j
    assert rp.asarray(2**64 - 1).item() == 2**64 - 1
    for bad in [bool, float, int]:
        with pytest.raises(ValueError):
            bad(rp.zeros((2,)))
    with pytest.raises(TypeError):
        [1][rp.asarray(0.0)]
    with pytest.raises(TypeError):
        rp.zeros((2,))[0] = 1
    assert f"{rp.asarray(0.125):.2f}" == "0.12" and str(rp.asarray([1, 2])) == "[1 2]"
    assert repr(rp.asarray([[1, 2]])) == "tensor([[1, 2]], dtype=int64)"
    assert repr(rp.zeros((2, 0, 3))) == "tensor([], shape=(2, 0, 3), dtype=float32)"
    assert repr(rp.zeros((0,))) == "tensor([], dtype=float32)"
    assert 2 in rp.asarray([1, 2]) and 2.5 not in rp.asarray([[1.0], [2.0]])


def test_comparison_with_anything_else():
    x = rp.asarray([1])
    assert (x == "a") is False and (x != None) is True  # noqa: E711
    assert {x: 1}[x] == 1
    with pytest.raises(TypeError):
        x + "a"
    with pytest.raises(TypeError):
        x < None


A = np.arange(120).reshape(4, 5, 6)
I = np.array([0, -1, 2])
M = A % 3 == 0
KEYS = [
    0, -1, (1, 2), (1, 2, 3), ..., (..., 0), (0, ...), (slice(None), 1), slice(1, 3),
    slice(None, None, -1), slice(3, 0, -2), slice(-100, 3), slice(2, 100), slice(3, 1),
    slice(2**70, None), (slice(None), slice(None, None, 2), slice(4, 1, -1)), None,
    (None, 0, None), (..., None), (1, None, ..., None, 2), np.int64(2), (), (slice(0, 0),),
    I, (slice(None), I), (0, slice(None), I), (I, slice(None), I), (I, I), (I, I, I),
    (slice(None), I, I), (..., None, I), (I[:, None], I), (0, I), (I, 1), (0, I, 1),
    (0, None, I), (None, 0, I), (slice(None), I, None, 0), (..., I, slice(1, 3)),
    M, (M[:, :, 0],), (0, M[0]), (slice(None), M[0]), (M[:, 0, 0], slice(1, 2)), (..., M[0, 0]),
    [0, 1], [], (slice(None), [True, False, True, False, True]), np.array([0, 3], np.uint8),
    np.array(2), (np.array(2), I), (I[:0], I[:0]),
    # An ellipsis parts its neighbours even where it stands for no axis.
    (slice(None), I, ..., I), (I, ..., 0, I), (..., slice(None), I, I), (0, ..., I, I),
    (None, I, I, ..., I), (..., M), (A[:, :, 0] == 30, ..., I), (I, ..., A[0] == 4), (M, ...),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=lambda k: str(k)[:40].replace("\n", " "))
def test_indexing_is_numpys(key):
    equal(rp.asarray(A)[key], A[key])
    if isinstance(key, np.ndarray):
        equal(rp.asarray(A)[rp.asarray(key)], A[key])


def test_index_errors():
    x = rp.asarray(A)
    for key in [4, -5, (0, 5), (0, 0, 0, 0), (..., ...), 1.5, "a", M[:2], rp.asarray(1.5)]:
        with pytest.raises(IndexError):
            x[key]
    for key in [np.array([4]), (0, np.array([1, -6])), (np.array([0]), np.array([9]))]:
        with pytest.raises(rp.IndexError, match="out of range"):
            x[key].tolist()
    assert x[0, 0].tolist() == [0, 1, 2, 3, 4, 5]  # all is as it was


# The axes that a mask covers: those after an ellipsis or a new axis are counted from there.
def test_a_mask_of_another_shape():
    x = rp.asarray(np.zeros((5, 3, 4)))
    for key, axes in [
        (lambda m: m((2,)), "[2] from axis 0"),
        (lambda m: (..., m((2,))), "[2] from axis 2"),
        (lambda m: (..., m((6,))), "[6] from axis 2"),
        (lambda m: (..., m((3, 3))), "[3,3] from axis 1"),
        (lambda m: (None, ..., m((3,))), "[3] from axis 2"),
        (lambda m: (None, m((4,))), "[4] from axis 0"),
        (lambda m: (..., m((3,)), None, 0), None),
        (lambda m: (..., m((4,)), None, 0), "[4] from axis 1"),
        (lambda m: (..., m((5, 3)), 0), None),
        (lambda m: (m((5, 3)), ..., m((3,))), "[3] from axis 2"),
        (lambda m: (0, ..., m((3, 4))), None),
    ]:
        for mask in [lambda s: np.ones(s, bool), lambda s: rp.ones(s, dtype=bool)]:
            if axes is None:
                x[key(mask)].tolist()
                continue
            with pytest.raises(rp.IndexError, match=re.escape(f"a mask of shape {axes} of f64")):
                x[key(mask)]


def random_key(random, shape):
    """Entries that fit the axes, most of the time, with new axes and an ellipsis among them."""
    key, axis = [], 0
    common = int(random.integers(1, 4))  # extent of what broadcasts together
    ellipsis = random.random() < 0.5
    while axis < len(shape):
        kind = random.choice(["int", "slice", "none", "dots", "positions", "scalar", "mask", "end"])
        extent = shape[axis]
        if kind == "none":
            if sum(k is None for k in key) < 2:
                key.append(None)
            continue
        if kind == "end":
            break
        if kind == "dots":
            if ellipsis:
                ellipsis = False
                key.append(...)
                axis += int(random.integers(0, len(shape) - axis + 1))
            continue
        if kind == "int":
            key.append(int(random.integers(-extent, extent)))
        elif kind == "scalar":
            key.append(np.array(random.integers(-extent, extent)))
        elif kind == "slice":
            step = int(random.choice([-2, -1, 1, 2]))
            key.append(slice(*(int(n) for n in random.integers(-5, 6, 2)), step))
        elif kind == "positions":
            form = [(common,), (1,), (2, common), (2, 1)][random.integers(4)]
            key.append(random.integers(-extent, extent, form))
        else:
            rank = int(random.integers(1, len(shape) - axis + 1))
            extents = list(shape[axis : axis + rank])
            if random.random() < 0.1:
                extents[-1] += 1
            mask = np.zeros(extents, bool)
            mask.reshape(-1)[random.permutation(mask.size)[:common]] = True
            key.append(mask)
            axis += rank - 1
        axis += 1
    if ellipsis and random.random() < 0.3:
        key.append(...)
    return tuple(key)


def test_random_keys_are_numpys():
    random = np.random.default_rng(7)
    for _ in range(int(os.environ.get("REPRISE_RANDOM_KEYS", 400))):
        shape = tuple(int(n) for n in random.integers(1, 5, random.integers(1, 5)))
        a = np.arange(np.prod(shape)).reshape(shape)
        x, key = rp.asarray(a), random_key(random, shape)
        try:
            expected = a[key]
        except IndexError:
            try:
                result = np.asarray(x[key])
            except (IndexError, rp.ShapeError):
                continue
            assert result.size == 0, f"shape {shape}, key {key}"  # nothing was looked up
            continue
        if expected.ndim > 8:
            continue
        ours = tuple(rp.asarray(k) if isinstance(k, np.ndarray) else k for k in key)
        try:
            equal(x[key], np.asarray(expected))
            equal(x[ours], np.asarray(expected))
        except (AssertionError, rp.Error) as error:
            raise AssertionError(f"shape {shape}, key {key}") from error


def test_nonzero():
    for actual, expected in zip(rp.nonzero(rp.asarray(M)), np.nonzero(M)):
        equal(actual, expected)


SET_KEYS = {
    "mask": np.arange(12).reshape(3, 4) % 3 == 0,
    "mask of rows": np.array([True, False, True]),
    "positions": np.array([2, 0, -1]),
    "pairs": (np.array([0, 2]), np.array([1, -1])),
    "column positions": (slice(None, None, -1), np.array([[3], [1]])),
    "mask of columns": (slice(1, None), np.array([True, False, True, False])),
    "new axis": (None, 1, slice(None, None, 2)),
}


@pytest.mark.parametrize("name", SET_KEYS)
def test_set_slice_by_any_key(name):
    key, x = SET_KEYS[name], np.arange(12.0).reshape(3, 4)
    ours = tuple(rp.asarray(k) if isinstance(k, np.ndarray) else k for k in key) \
        if isinstance(key, tuple) else rp.asarray(key)  # fmt: skip
    for value in [-1, np.float64(7), -1.0 - np.arange(x[key].size).reshape(x[key].shape)]:
        expected = x.copy()
        expected[key] = value
        assert np.array_equal(rp.set_slice(x, ours, value), expected)
        assert np.array_equal(rp.set_slice(x, key, value), expected)


def test_set_slice_by_positions_and_masks():
    x = rp.asarray(np.arange(3))
    assert rp.set_slice(x, rp.asarray([0, 0]), rp.asarray([7, 8])).tolist() == [8, 1, 2]
    with pytest.raises(rp.IndexError):
        rp.set_slice(x, rp.asarray([3]), 0).realize()
    with pytest.raises(rp.DTypeError):
        rp.set_slice(x, rp.asarray([0]), 0.5)
    with pytest.raises(rp.DTypeError):
        rp.set_slice(x, x > 1, rp.asarray(0.5))
    with pytest.raises(rp.IndexError):
        rp.set_slice(x, rp.asarray([True, False]), 0)
    assert rp.jit(lambda y: rp.set_slice(y, y > 1, 0))(x).tolist() == [0, 1, 0]  # no read
    rows = rp.grad(lambda y: rp.sum(rp.set_slice(y, rp.asarray([1]), 3.0) * y))(rp.ones((3,)))
    assert rows.tolist() == [2, 3, 2]
