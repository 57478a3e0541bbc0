"""References for elementwise ops, casts and random bits, where NumPy has no function or leaves it open.

Written from docs/SEMANTICS.md; floats come as wide as the table says; nothing here is shared with
the library.
"""

import numpy as np


def frac(x):
    return x - np.trunc(x) if x.dtype.kind == "f" else x - x


def signbit(x):
    return np.signbit(x) if x.dtype.kind == "f" else x < 0


def nan_to_num(x, nan, posinf, neginf):
    return np.nan_to_num(x, True, nan, posinf, neginf) if x.dtype.kind == "f" else x


def bitcast(x, dtype):
    return np.ascontiguousarray(x).view(dtype).reshape(x.shape)


def relu6(x):
    return clip(x, x.dtype.type(0), x.dtype.type(6))


def leaky_relu(x, negative_slope):
    return np.where(x > 0, x, x * negative_slope)


def elu(x):
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def selu(x):
    scale, alpha = 1.05070098735548049341933498703, 1.67326324235437728481704297881
    return np.where(x > 0, scale * x, scale * alpha * np.expm1(np.minimum(x, 0)))


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def silu(x):
    return np.where(np.isneginf(x), 0, x * sigmoid(x))


def mish(x):
    return np.where(np.isneginf(x), 0, x * np.tanh(softplus(x)))


def softsign(x):
    return np.where(np.isinf(x), np.sign(x), x / (1 + np.abs(x)))


def hardsigmoid(x):
    """The value and the scale of its error."""
    value = np.clip(x + 3, 0, 6) / 6
    return value, np.where(np.isfinite(value), np.maximum(np.abs(value), 1), value)


def hardswish(x):
    value = np.where(np.isneginf(x), 0, x * hardsigmoid(x)[0])
    return value, np.where(np.isfinite(value), np.maximum(np.abs(x), 1), value)


def tanhshrink(x):
    return x - np.tanh(x), np.maximum(np.abs(x), np.abs(np.tanh(x)))


def threshold(x, bound, value):
    return np.where(x <= bound, value, x)


def glu(x, axis=-1):
    a, b = np.split(x, 2, axis)
    return a * sigmoid(b)


def ldexp(x, n):
    with np.errstate(all="ignore"):
        return x * np.exp2(np.clip(n.astype(np.longdouble), -16000, 16000))


def lerp(a, b, t):
    return a + t * (b - a), np.abs(a) + np.abs(b) * (1 + np.abs(t)) + np.abs(a * t)


def sigmoid(x):
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small) / (1 + small)


def ordered(larger):
    """maximum (or minimum) with NaN from either and -0 below +0."""

    def function(a, b):
        if a.dtype.kind != "f":
            return np.maximum(a, b) if larger else np.minimum(a, b)
        first = np.signbit(b) if larger else np.signbit(a)
        tie = np.where(first, a, b)
        pick = a > b if larger else a < b
        value = np.where(a == b, tie, np.where(pick, a, b))
        return np.where(np.isnan(a) | np.isnan(b), np.nan, value)

    return function


maximum, minimum = ordered(True), ordered(False)


def relu(x):
    return np.where(np.isnan(x) | (x > 0), x, x.dtype.type(0))


def clip(x, low, high):
    return minimum(maximum(x, low), high)


def power(a, b):
    if a.dtype.kind == "f":
        return np.power(a, b)
    if a.dtype.kind == "b":
        return a | ~b
    result = np.ones(np.broadcast_shapes(a.shape, b.shape), a.dtype)
    base, exponent = np.broadcast_arrays(a, b)
    # Of rank 0 a uint64 with a number of Python's would be a float.
    zero, one, two = (a.dtype.type(n) for n in (0, 1, 2))
    base, left = base.copy(), np.maximum(exponent, zero)
    while (left > 0).any():
        result = np.where(left % two == one, result * base, result)
        base, left = base * base, left // two
    if a.dtype.kind == "i":
        minus_one = np.where(exponent % 2 == 0, 1, -1).astype(a.dtype)
        inverse = np.where(a == 1, 1, np.where(a == -1, minus_one, 0)).astype(a.dtype)
        result = np.where(exponent < 0, inverse, result)
    return result


def left_shift(a, b):
    width = 8 * a.dtype.itemsize
    inside, zero = (b >= 0) & (b < width), a.dtype.type(0)
    return np.where(inside, np.left_shift(a, np.where(inside, b, zero)), zero)  # fmt: skip


def right_shift(a, b):
    width = 8 * a.dtype.itemsize
    inside = (b >= 0) & (b < width)
    count = np.where(inside, b, a.dtype.type(width - 1))
    shifted = np.right_shift(a, count)
    return shifted if a.dtype.kind == "i" else np.where(inside, shifted, a.dtype.type(0))


def divmod_edges(a, b):
    """Python's floor and modulo of floats, from fmod, which is exact."""
    r = np.fmod(a, b)
    r = np.where(r == 0, np.copysign(0.0, b), np.where((r < 0) != (b < 0), r + b, r))
    return r


def remainder(a, b):
    return divmod_edges(a, b) if a.dtype.kind == "f" else np.remainder(a, b)


def fmod(a, b):
    return np.fmod(a, b)


def floor_divide(a, b):
    if a.dtype.kind != "f":
        return np.floor_divide(a, b)
    return np.where((b == 0) | np.isinf(a), a / b, np.floor_divide(a, b))


def cast(x, dtype):
    """A cast by the table of casts; floats come exactly, as float64 or long double."""
    from samples import FLOATS, host, rounded

    if dtype == "bool":
        return x != 0
    if dtype in FLOATS:
        return rounded(x.astype(np.longdouble), dtype) if x.dtype.kind != "b" else x.astype(host(dtype))  # fmt: skip
    if x.dtype.kind != "f":
        return x.astype(dtype)
    info = np.iinfo(dtype)
    whole = np.trunc(np.where(np.isnan(x), 0, x)).astype(np.longdouble)
    low, high = whole < info.min, whole > info.max
    fits = np.where(low | high, 0, whole).astype(dtype)
    return np.where(low, info.min, np.where(high, info.max, fits)).astype(dtype)


def philox(key, counter, blocks):
    """Philox 4x32-10 of consecutive blocks: words in the order in which they are drawn."""
    mask = np.uint64(0xFFFFFFFF)
    low, high = np.uint64(key & 0xFFFFFFFF), np.uint64(key >> 32)
    counters = np.uint64(counter) + np.arange(blocks, dtype=np.uint64)
    c = [counters & mask, counters >> np.uint64(32), counters * np.uint64(0), counters * np.uint64(0)]  # fmt: skip
    with np.errstate(over="ignore"):
        for _ in range(10):
            p, q = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
            c = [(q >> np.uint64(32)) ^ c[1] ^ low, q & mask, (p >> np.uint64(32)) ^ c[3] ^ high, p & mask]  # fmt: skip
            low = (low + np.uint64(0x9E3779B9)) & mask
            high = (high + np.uint64(0xBB67AE85)) & mask
    return np.stack(c, -1).reshape(-1)
