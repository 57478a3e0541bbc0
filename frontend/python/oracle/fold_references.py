"""References for reductions, in the documented order, and for contractions and norms.

Written from docs/SEMANTICS.md; floats come as wide as the table says; nothing here is shared with
the library.
"""

import math

import numpy as np

from elementwise_references import ordered

BLOCK, PARTIALS = 16384, 64


def rows_of(x, axis):
    """x as (kept extents, rows): the folded axes last, in one, row-major."""
    rank = x.ndim
    axes = range(rank) if axis is None else [axis] if isinstance(axis, int) else axis
    axes = sorted(a % rank for a in axes) if rank else []
    kept = [a for a in range(rank) if a not in axes]
    moved = x.transpose(kept + axes)
    extents = tuple(x.shape[a] for a in kept)
    count = math.prod(x.shape[a] for a in axes)
    expanded = tuple(1 if a in axes else x.shape[a] for a in range(rank))
    return moved.reshape((*extents, count)), expanded


def fold(rows, combine):
    """The documented order: 64 strided partials, then halves; blocks of 16384 likewise."""
    count = rows.shape[-1]
    if count > BLOCK:
        blocks = [fold(rows[..., at : at + BLOCK], combine) for at in range(0, count, BLOCK)]
        return fold(np.stack(blocks, -1), combine)
    partials = rows[..., :PARTIALS].copy()
    for at in range(PARTIALS, count, PARTIALS):
        chunk = rows[..., at : at + PARTIALS]
        width = chunk.shape[-1]
        partials[..., :width] = combine(partials[..., :width], chunk)
    half = PARTIALS // 2
    while half:
        width = min(partials.shape[-1] - half, half)
        if width > 0:
            partials[..., :width] = combine(partials[..., :width], partials[..., half : half + width])  # fmt: skip
        half //= 2
    return partials[..., 0]


def folding(combine, empty):
    """A reduction in the documented order, in 64 bits for integers."""

    def function(x, axis=None, keepdims=False):
        if x.dtype.kind in "bi":
            x = x.astype(np.int64)
        elif x.dtype.kind == "u":
            x = x.astype(np.uint64)
        rows, expanded = rows_of(x, axis)
        if rows.shape[-1] == 0:
            result = np.full(rows.shape[:-1], empty, x.dtype)
        else:
            result = fold(rows, combine)
        return result.reshape(expanded) if keepdims else result

    return function


total, product = folding(np.add, 0), folding(np.multiply, 1)


def mean(x, axis=None, keepdims=False):
    if x.dtype.kind != "f":
        x = x.astype(np.float64)
    rows, _ = rows_of(x, axis)
    return total(x, axis, keepdims) / x.dtype.type(rows.shape[-1])


def variance(x, axis=None, correction=0, keepdims=False):
    """The value and the scale of its error: means of large values leave what they round off."""
    if x.dtype.kind != "f":
        x = x.astype(np.longdouble)
    rows, expanded = rows_of(x, axis)
    count = rows.shape[-1]
    center = rows.sum(-1, keepdims=True) / count
    squares = ((rows - center) ** 2).sum(-1)
    left = max(count - correction, 0)
    value = squares / x.dtype.type(left)
    scale = np.abs(value) * max(1, math.log2(count + 1))
    if keepdims:
        return value.reshape(expanded), scale.reshape(expanded)
    return value, scale


def deviation(x, axis=None, correction=0, keepdims=False):
    value, _ = variance(x, axis, correction, keepdims)
    return np.sqrt(value)


def extreme(larger):
    one = ordered(larger)

    def function(x, axis=None, keepdims=False):
        rows, expanded = rows_of(x, axis)
        result = fold(rows, one) if rows.shape[-1] else np.zeros(rows.shape[:-1], x.dtype)
        return result.reshape(expanded) if keepdims else result

    return function


def position(larger):
    def function(x, axis=None, keepdims=False):
        rows, expanded = rows_of(x, axis)
        pick = np.argmax if larger else np.argmin
        result = pick(rows, -1) if rows.shape[-1] else np.zeros(rows.shape[:-1], np.int64)
        return result.reshape(expanded) if keepdims else result

    return function


def truth(of):
    def function(x, axis=None, keepdims=False):
        return of(x != 0, axis=axis, keepdims=keepdims)

    return function


def logsumexp(x, axis=None, keepdims=False):
    rows, expanded = rows_of(x, axis)
    top = rows.max(-1, initial=-np.inf)
    shift = np.where(np.isfinite(top), top, 0)
    value = np.log(np.exp(rows - shift[..., None]).sum(-1)) + shift
    # log of a sum near 1 cancels with what was taken out.
    scale = np.abs(value) + np.abs(shift) + 1
    scale = np.where(np.isfinite(value), scale, 0)
    return (value.reshape(expanded), scale.reshape(expanded)) if keepdims else (value, scale)


def matmul(a, b):
    """The value and the scale of its error, the sum of the products' magnitudes."""
    value = np.matmul(a, b)
    if a.dtype.kind != "f":
        return value
    with np.errstate(all="ignore"):
        return value, np.matmul(np.abs(a), np.abs(b)) * max(1, a.shape[-1] / 2)


def vecdot(a, b, axis=-1):
    row, column = np.moveaxis(a, axis, -1)[..., None, :], np.moveaxis(b, axis, -1)[..., None]
    product = matmul(row, column)
    return tuple(p[..., 0, 0] for p in product) if isinstance(product, tuple) else product[..., 0, 0]


def einsum(*operands, equation):
    """The value, and the sum of the magnitudes as the scale of its error."""
    scale = np.einsum(equation, *[np.abs(x) for x in operands])
    return np.einsum(equation, *operands), scale


def tensordot(a, b, axes=2):
    return np.tensordot(a, b, axes), np.tensordot(np.abs(a), np.abs(b), axes)


def cross(a, b, axis=-1):
    a, b = np.moveaxis(a, axis, -1), np.moveaxis(b, axis, -1)
    first = np.roll(a, -1, -1) * np.roll(b, -2, -1)
    second = np.roll(a, -2, -1) * np.roll(b, -1, -1)
    back = lambda x: np.moveaxis(x, -1, axis)  # noqa: E731
    return back(first - second), back(np.abs(first) + np.abs(second))


def vector_norm(x, axis=None, keepdims=False, ord=2):
    magnitude = np.abs(x)
    if ord == math.inf:
        return magnitude.max(axis, keepdims=keepdims)
    if ord == -math.inf:
        return magnitude.min(axis, keepdims=keepdims)
    if ord == 0:
        return (x != 0).sum(axis, keepdims=keepdims).astype(x.dtype)
    return (magnitude**ord).sum(axis, keepdims=keepdims) ** (x.dtype.type(1) / ord)


def matrix_norm(x, keepdims=False, ord="fro"):
    if ord == "fro":
        return np.sqrt((x * x).sum((-2, -1), keepdims=keepdims))
    sums = np.abs(x).sum(-2 if ord == 1 else -1, keepdims=True)
    return sums.max((-2, -1), keepdims=keepdims)
