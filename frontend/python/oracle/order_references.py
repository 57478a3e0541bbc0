"""References of what goes along an axis in order: writing by indices, scans, sorting."""

import numpy as np

from elementwise_references import maximum, minimum


def _written(x, indices, updates, axis, put, reach):
    """Update by update in the order of the indices; `reach` gives the place of each."""
    narrow = x.dtype
    result = x.astype(np.float32 if narrow == np.float16 else narrow)
    for place, value in reach(x, indices.astype(np.int64), updates, axis):
        with np.errstate(all="ignore"):
            result[place] = value if put else result[place] + value
    return result.astype(narrow)


def _slices(x, indices, updates, axis):
    axis %= x.ndim
    for j in np.ndindex(indices.shape):
        before = (slice(None),) * axis
        yield before + (indices[j],), updates[before + j]


def _elements(x, indices, updates, axis):
    axis %= x.ndim
    for j in np.ndindex(indices.shape):
        yield j[:axis] + (indices[j],) + j[axis + 1 :], updates[j]


def index_add(x, indices, updates, axis=0):
    return _written(x, indices, updates, axis, False, _slices)


def index_put(x, indices, updates, axis=0):
    return _written(x, indices, updates, axis, True, _slices)


def scatter_add(x, indices, updates, axis=-1):
    return _written(x, indices, updates, axis, False, _elements)


def scatter(x, indices, updates, axis=-1):
    return _written(x, indices, updates, axis, True, _elements)


def set_slice(x, key, value):
    result = np.array(x)
    result[key] = value
    return result


def _scanned(x, axis, step, dtype=None, *others):
    """step(so far, element of x and of the others) along an axis, in float32 for float16."""
    narrow = x.dtype if dtype is None else dtype
    wide = np.float32 if narrow == np.float16 else narrow
    rows = [np.moveaxis(v, axis, 0).astype(wide) for v in (x, *others)]
    result = np.array(rows[-1])
    with np.errstate(all="ignore"):
        for i in range(1, len(result)):
            result[i] = step(result[i - 1], *(row[i] for row in rows))
    return np.moveaxis(result, 0, axis).astype(narrow)


def _widened(dtype):
    return dtype if dtype.kind == "f" else np.dtype(np.uint64 if dtype.kind == "u" else np.int64)


def cumsum(x, axis):
    return _scanned(x, axis, np.add, _widened(x.dtype))


def cumprod(x, axis):
    return _scanned(x, axis, np.multiply, _widened(x.dtype))


def logcumsumexp(x, axis):
    return _scanned(x, axis, np.logaddexp)


def linear_recurrence(a, b, axis):
    return _scanned(a, axis, lambda so_far, factor, term: factor * so_far + term, None, b)


def running_extreme(larger):
    one = maximum if larger else minimum

    def function(x, axis):
        values = _scanned(x, axis, one)
        rows, hits = np.moveaxis(x, axis, 0), np.moveaxis(values, axis, 0)
        last = np.zeros(rows.shape, np.int64)
        for i in range(len(rows)):
            hit = (rows[i] == hits[i]) | (rows[i] != rows[i])
            last[i] = np.where(hit, i, last[i - 1] if i else 0)
        return [values, np.moveaxis(last, 0, axis)]

    return function


def argsort(x, axis=-1, descending=False):
    keys = x + x.dtype.type(0) if x.dtype.kind == "f" else x
    if not descending:
        return np.argsort(keys, axis, "stable")
    turned = np.flip(np.argsort(np.flip(keys, axis), axis, "stable"), axis)
    return x.shape[axis] - 1 - turned


def sort(x, axis=-1, descending=False):
    return np.take_along_axis(x, argsort(x, axis, descending), axis)


def topk(x, k, axis=-1, largest=True):
    order = np.take(argsort(x, axis, largest), np.arange(k), axis)
    return [np.take_along_axis(x, order, axis), order]


def scatter_reduce(x, indices, updates, reduce, axis=-1, include_self=True):
    narrow = x.dtype
    step = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": maximum, "amin": minimum}[reduce]  # fmt: skip
    result = x.astype(np.float32 if narrow == np.float16 else narrow)
    seen = np.full(x.shape, int(include_self))
    with np.errstate(all="ignore"):
        for place, value in _elements(x, indices.astype(np.int64), updates, axis):
            place = tuple(place)
            value = result.dtype.type(value)
            result[place] = step(result[place], value) if seen[place] else value
            seen[place] += 1
        result = result.astype(narrow)
        if reduce == "mean":
            counts = np.maximum(seen, 1)
            result = result // counts if narrow.kind != "f" else result / counts.astype(narrow)
    return result.astype(narrow)


def one_hot(indices, num_classes, dtype="float32"):
    return (indices[..., None] == np.arange(num_classes)).astype(dtype)
