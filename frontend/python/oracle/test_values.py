"""Every op against its reference: eagerly, and recorded once and replayed with these inputs."""

import os

import numpy as np
import pytest

import reprise as rp
from compare import bits, check, elements, same_bits
from complex_table import TAKES
from samples import ALL, COMPLEX, FLOATS, FULL, SEED, Input, generator, rounded
from table import METHODS, OPS

#: Where the greatest error of each op and dtype is written, when asked for.
ERRORS = os.environ.get("REPRISE_ORACLE_ERRORS")


def sampled(name, dtypes):
    """Three of an op's dtypes, others each day, a float among them; or all."""
    if FULL:
        return dtypes
    order = list(generator(SEED, name, "dtypes").permutation(dtypes))
    first = [d for d in order if d in FLOATS][:1]
    return first + [d for d in order if d not in first][: 3 - len(first)]


CASES = [(name, str(dtype)) for name, op in OPS.items() for dtype in sampled(name, op.dtypes)]


def call(name, op, tensors, keywords):
    function = getattr(rp, name)
    if op.call:
        return op.call(function, tensors, keywords)
    return function(*tensors, **keywords)


def widened(array, dtype, width):
    """An operand as the reference is given it."""
    if dtype not in FLOATS:
        return array
    if width == "own" and dtype == "float16":  # every op computes in float32 and rounds once
        return array.astype(np.float32)
    if width == "wide":
        return array.astype(np.longdouble if dtype == "float64" else np.float64)
    if width == "double":
        return array.astype(np.float64)
    return array


def expected_of(op, operands, keywords):
    """The reference's results: a list of (value, scale or None)."""
    arrays = []
    for i, x in enumerate(operands):
        array = x.array
        if op.result(x.dtype) in FLOATS and x.dtype not in FLOATS and i not in op.kept:
            array = rounded(array.astype(np.float64 if array.dtype.itemsize < 8 else np.longdouble), "float32")  # fmt: skip
            array = widened(array, "float32", op.width)
        else:
            array = widened(array, x.dtype, op.width)
        arrays.append(array)
    value = op.reference(*arrays, **keywords)
    if op.many:
        return [(v, None) for v in value]
    return [value if isinstance(value, tuple) else (value, None)]


def shuffled(rng, operand):
    """Other values for the same place: the operand's own, moved about, in another layout."""
    view = operand.view
    return Input(operand.dtype, rng.permutation(np.array(view).ravel()).reshape(view.shape))


@pytest.mark.parametrize("name,dtype", CASES)
def test_op(name, dtype, seed, full):
    op = OPS[name]
    rng = generator(seed, name, dtype)
    cases = op.make(rng, dtype, full)
    worst = 0.0
    eager = []
    for operands, keywords in cases:
        context = f"{name}({operands}, {keywords})"
        results = call(name, op, [x.tensor() for x in operands], keywords)
        results = list(results) if op.many else [results]
        eager.append([bits(r) for r in results])
        wanted = expected_of(op, operands, keywords)
        assert len(results) == len(wanted), context
        for j, (result, (value, scale)) in enumerate(zip(results, wanted)):
            own = "int64" if op.found and j == 1 else op.result(dtype)
            assert str(result.dtype) == own, f"{context} gives {result.dtype}"
            actual = elements(result)
            error = check(actual, value, own, tolerance_of(op, dtype), context, scale)
            worst = max(worst, error)
    if ERRORS:
        with open(ERRORS, "a") as file:
            file.write(f"{name} {dtype} {worst:.4g}\n")

    @rp.jit
    def all_cases(groups):
        return [call(name, op, group, keywords) for group, (_, keywords) in zip(groups, cases)]

    all_cases([[shuffled(rng, x).tensor() for x in operands] for operands, _ in cases])
    replayed = all_cases([[x.tensor() for x in operands] for operands, _ in cases])
    assert all_cases.recorded == 1
    for results, before, (operands, keywords) in zip(replayed, eager, cases):
        results = list(results) if op.many else [results]
        for result, bit in zip(results, before):
            bad = ~same_bits(bits(result), bit)
            assert not bad.any(), (
                f"{name}({operands}, {keywords}): replayed at {np.argwhere(bad)[0].tolist()} "
                f"{bits(result)[bad][:4]}, eagerly {bit[bad][:4]}"
            )


def tolerance_of(op, dtype):
    return op.tolerance(dtype) if callable(op.tolerance) else op.tolerance


@pytest.mark.parametrize("name", OPS)
def test_other_dtypes_throw(name, seed):
    """The table names every dtype that an op computes: the others are errors, not other values."""
    op = OPS[name]
    for dtype in ALL:
        if dtype in op.dtypes + op.left_out or (dtype in COMPLEX and name in TAKES):
            continue  # test_complex.py has those
        operands, keywords = op.make(generator(seed, name, dtype), dtype, False)[0]
        with pytest.raises((rp.DTypeError, rp.UnsupportedError)):
            call(name, op, [x.tensor() for x in operands], keywords)


@pytest.mark.parametrize("name", sorted(a for op in OPS.values() for a in op.also if a[0] == "_"))
def test_operator(name, seed):
    """An operator is the function under its name."""
    function, op = next((n, o) for n, o in OPS.items() if name in o.also)
    dtype = "int32" if "int32" in op.dtypes and "float32" not in op.dtypes else "float32"
    operands, keywords = op.make(generator(seed, name), dtype, False)[0]
    tensors = [x.tensor() for x in operands]
    swapped = name.startswith("__r") and name not in ("__rshift__",) and len(tensors) == 2
    if name == "__rmatmul__":
        square = rp.asarray(np.arange(9, dtype=np.float32).reshape(3, 3))
        tensors = [square, square + 1]
    expected = getattr(rp, function)(*(tensors[::-1] if swapped else tensors))
    assert same_bits(bits(getattr(tensors[0], name)(*tensors[1:])), bits(expected)).all()


@pytest.mark.parametrize("name", METHODS)
def test_method(name):
    array = np.arange(12.0).reshape(3, 4)
    actual, expected = METHODS[name](rp.asarray(array))
    assert same_bits(np.asarray(actual), np.asarray(expected(array))).all()
