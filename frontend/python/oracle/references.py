"""References for what NumPy has no function for, or leaves open: written from docs/SEMANTICS.md.

Floats come as wide as the table says; nothing here is shared with the library.
"""

import math
from fractions import Fraction

import numpy as np

BLOCK, PARTIALS = 16384, 64
ROOT_2 = Fraction(math.isqrt(2 * 10**80), 10**40)


def apply(function, x):
    """A function of Python's floats, element by element."""
    flat = [function(float(v)) for v in np.ravel(x)]
    return np.array(flat, np.float64).reshape(np.shape(x))


def erf(x):
    return apply(math.erf, x)


def erfinv(x):
    """Newton's steps on erf, on erfc toward the ends, where 1 - |x| is exact."""

    def one(v):
        a = abs(v)
        if not a < 1:
            return math.copysign(math.inf, v) if a == 1 else math.nan
        if a == 0:
            return v
        w = -math.log((1 - a) * (1 + a))
        y = math.sqrt(w) if w > 3 else a * math.sqrt(math.pi) / 2
        for _ in range(60):
            error = math.erf(y) - a if a < 0.5 else (1 - a) - math.erfc(y)
            slope = 2 / math.sqrt(math.pi) * math.exp(-y * y)
            step = error / slope
            step /= 1 + y * step  # Halley's: the second derivative is -2 y times the first
            y -= step
            if abs(step) <= 1e-17 * abs(y):
                break
        return math.copysign(y, v)

    return apply(one, x)


def gelu(x):
    """x erfc(z) / 2, z = -x / sqrt(2): what z's rounding loses counts 2 z^2 times."""

    def one(v):
        z = -v / math.sqrt(2)
        if not abs(z) < 40:
            return 0.0 if z > 0 else v
        lost = float(-Fraction(v) / ROOT_2 - Fraction(z)) if z > 0 else 0.0
        return v * 0.5 * math.erfc(z) * math.exp(-2 * z * lost)

    return apply(one, x)


def erfc(x):
    return apply(math.erfc, x)


#: B(2k) / (2k)!, k = 1 ..
BERNOULLI = [
    float(b / math.factorial(2 * k))
    for k, b in enumerate(
        [Fraction(1, 6), Fraction(-1, 30), Fraction(1, 42), Fraction(-1, 30), Fraction(5, 66),
         Fraction(-691, 2730), Fraction(7, 6), Fraction(-3617, 510), Fraction(43867, 798),
         Fraction(-174611, 330)], 1)
]  # fmt: skip


def _long(x):
    return np.asarray(x, np.longdouble)


PI = np.longdouble(math.pi) + np.longdouble(1.2246467991473532e-16)


def _off(x):
    """x less the nearest integer."""
    return x - np.rint(x)


def _cot(x):
    """Of pi x, exactly 0 between the integers."""
    off = _off(x)
    return np.sin(PI * (0.5 - np.abs(off))) / np.sin(PI * off)


def quiet(function):
    """Infinities on the way are meant."""

    def quietly(*args):
        with np.errstate(all="ignore"):
            return function(*args)

    return quietly


def _lgamma_above(x):
    """For x > 0: by the recurrence up to 25, from there by Stirling's series."""
    product, y = np.ones_like(x), np.array(x)
    for _ in range(25):
        small = y < 25
        product, y = np.where(small, product * y, product), np.where(small, y + 1, y)
    series = sum(_long(b) * math.factorial(2 * k - 2) / y ** (2 * k - 1) for k, b in enumerate(BERNOULLI, 1))
    logarithm = np.log(y)
    big = (y - _long(0.5)) * (logarithm - 1) + (np.log(2 * PI) - 1) / 2 + series
    return big, np.log(product)


@quiet
def lgamma(x):
    """The value, and the largest of the terms that make it."""
    kept, x = np.shape(x), np.atleast_1d(_long(x))
    a = np.abs(x)
    big, less = _lgamma_above(a)
    sine = np.log(PI / np.abs(a * np.sin(PI * _off(a))))
    value = np.where(x > 0, big - less, sine - (big - less))
    value = np.where(np.isinf(x) | (x == 0) | ((x < 0) & (x == np.rint(x))), np.inf, value)
    scale = np.where(x < -2, np.maximum(np.abs(value), np.abs(sine) + np.abs(big - less)), value)
    # Around the zeros at 1 and 2 this reference loses digits.
    scale = np.where((x > 0.75) & (x < 2.5), np.maximum(np.abs(value), 0.125), scale)
    return value.reshape(kept), scale.reshape(kept)


@quiet
def digamma(x):
    """The value, and the largest of the terms that make it."""
    kept, x = np.shape(x), np.atleast_1d(_long(x))
    a = np.abs(x)
    lost, y = np.zeros_like(a), np.array(a)
    for _ in range(25):
        small = y < 25
        lost, y = np.where(small, lost + 1 / y, lost), np.where(small, y + 1, y)
    series = sum(_long(b) * math.factorial(2 * k - 1) / y ** (2 * k) for k, b in enumerate(BERNOULLI, 1))
    above = np.log(y) - 1 / (2 * y) - series - lost
    cot = PI * _cot(a)
    value = np.where(x > 0, above, above + 1 / a + cot)
    value = np.where((x < 0) & ((x == np.rint(x)) | np.isinf(x)), np.nan, value)
    value = np.where(x == 0, np.copysign(np.inf, -x), np.where(x == np.inf, np.inf, value))
    scale = np.where(x < 0, np.maximum(np.abs(value), np.abs(above) + np.abs(cot)), value)
    scale = np.where((x > 1.25) & (x < 1.75), np.maximum(np.abs(value), 0.125), scale)
    return value.reshape(kept), scale.reshape(kept)


@quiet
def polygamma(x, n):
    """The sum of its first terms and the series of Euler and Maclaurin for the others."""
    kept, x = np.shape(x), np.atleast_1d(_long(x))
    a, s = np.abs(x), n + 1
    total = sum(1 / (a + k) ** s for k in range(1, 25))
    y = a + 25
    total = total + y ** (1 - s) / _long(n) + y**-s / 2
    rising = _long(s)
    for k, b in enumerate(BERNOULLI, 1):
        total = total + _long(b) * rising * y ** (1 - s - 2 * k)
        rising = rising * (s + 2 * k - 1) * (s + 2 * k)
    factorial = _long(math.factorial(n))
    sign = -1 if n % 2 == 0 else 1
    p = [np.longdouble(0), np.longdouble(1)]  # of pi cot(pi x): the derivative of c is -(pi^2 + c^2)
    for _ in range(n):
        q = [np.longdouble(0)] * (len(p) + 1)
        for k in range(1, len(p)):
            q[k - 1] -= k * p[k] * PI * PI
            q[k + 1] -= k * p[k]
        p = q
    c = -PI * _cot(a)
    slope = sum(coefficient * c**k for k, coefficient in enumerate(p))
    value = np.where(x > 0, sign * factorial * (total + a**-s), -slope - factorial * total)
    value = np.where(x == np.inf, sign * _long(0), np.where(x == -np.inf, np.nan, value))
    pole = np.where(n % 2 == 0, np.where(x == 0, np.copysign(np.inf, -x), np.nan), np.inf)
    value = np.where((x <= 0) & (x == np.rint(x)) & np.isfinite(x), pole, value)
    scale = np.where(x < 0, np.maximum(np.abs(value), np.abs(slope) + factorial * total), value)
    return value.reshape(kept), scale.reshape(kept)


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
    base, left = base.copy(), np.maximum(exponent, 0)
    while (left > 0).any():
        result = np.where(left % 2 == 1, result * base, result)
        base, left = base * base, left // 2
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


def log_softmax(x, axis=-1):
    top = x.max(axis, keepdims=True, initial=-np.inf)
    shifted = x - top
    value = shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))
    return value, np.where(np.isfinite(value), np.abs(value) + 1, 0)


def softmax(x, axis=-1):
    top = x.max(axis, keepdims=True, initial=-np.inf)
    powers = np.exp(x - top)
    value = powers / powers.sum(axis, keepdims=True)
    # x - top is rounded before exp magnifies it.
    return value, np.where(np.isfinite(value), value * (2 + np.abs(np.nan_to_num(x - top))), 0)


def layer_norm(x, weight=None, bias=None, axis=-1, eps=1e-5):
    axes = axis if isinstance(axis, tuple) else (axis,)
    center = x.mean(axes, keepdims=True)
    deviation = np.sqrt(((x - center) ** 2).mean(axes, keepdims=True) + x.dtype.type(eps))
    value = (x - center) / deviation
    scale = (np.abs(x).max(axes, keepdims=True) + np.abs(x - center)) / deviation
    if weight is not None:
        value, scale = value * weight, scale * np.abs(weight)
    if bias is not None:
        value, scale = value + bias, scale + np.abs(bias)
    return value, scale


def rms_norm(x, weight=None, axis=-1, eps=1e-5):
    axes = axis if isinstance(axis, tuple) else (axis,)
    value = x / np.sqrt((x * x).mean(axes, keepdims=True) + x.dtype.type(eps))
    return value * weight if weight is not None else value


def cross_entropy(logits, labels, reduction="mean"):
    value, scale = log_softmax(logits)
    losses = -np.take_along_axis(value, labels[..., None].astype(np.int64), -1)[..., 0]
    scale = np.take_along_axis(scale, labels[..., None].astype(np.int64), -1)[..., 0]
    if reduction == "none":
        return losses, scale
    if reduction == "sum":
        return losses.sum(), scale.sum()
    return losses.mean(), scale.mean()


def matmul(a, b):
    """The value and the scale of its error, the sum of the products' magnitudes."""
    value = np.matmul(a, b)
    if a.dtype.kind != "f":
        return value
    with np.errstate(all="ignore"):
        return value, np.matmul(np.abs(a), np.abs(b)) * max(1, a.shape[-1] / 2)


def one_hot(indices, num_classes, dtype="float32"):
    return (indices[..., None] == np.arange(num_classes)).astype(dtype)


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


def reduced(losses, reduction):
    """The reduction, and the sum of the magnitudes as the scale of its error."""
    size = np.abs(losses)
    if reduction == "none":
        return losses, np.maximum(size, 1)
    total = losses.sum(), size.sum() + 1
    return tuple(v / losses.size for v in total) if reduction == "mean" else total


def smooth_l1(a, b, beta):
    d = np.abs(a - b)
    return np.where(d < beta, d * d * 0.5 / beta, d - 0.5 * beta)


def huber(a, b, delta):
    d = np.abs(a - b)
    return np.where(d <= delta, d * d * 0.5, delta * (d - 0.5 * delta))


def bce(p, t):
    return -(t * np.maximum(np.log(p), -100) + (1 - t) * np.maximum(np.log1p(-p), -100))


def bce_with_logits(x, t):
    return softplus(x) - x * t


def kl_div(x, t):
    return np.where(t == 0, 0, t * (np.log(t) - x))


def nll(x, labels, weight=None, reduction="mean", ignore_index=None):
    counts = labels != ignore_index
    label = np.where(counts, labels, 0).astype(np.int64)
    weights = np.where(counts, 1 if weight is None else weight[label], 0).astype(x.dtype)
    losses = -np.take_along_axis(x, label[..., None], -1)[..., 0] * weights
    if reduction != "mean":
        return reduced(losses, reduction)
    return losses.sum() / weights.sum(), np.abs(losses).sum() / weights.sum()


def cosine_similarity(a, b, axis=-1):
    length = np.maximum(np.sqrt((a * a).sum(axis)), 1e-8) * np.maximum(np.sqrt((b * b).sum(axis)), 1e-8)
    return (a * b).sum(axis) / length, np.abs(a * b).sum(axis) / length


def triplet_margin(anchor, near, far, margin=1.0, reduction="mean"):
    distance = lambda x: np.sqrt(((anchor - x) ** 2).sum(-1))  # noqa: E731
    value = np.maximum(distance(near) - distance(far) + margin, 0)
    scale = distance(near) + distance(far) + 1
    return (value, scale) if reduction == "none" else (value.mean(), scale.mean())


def by_channel(values, x):
    return values.reshape((-1,) + (1,) * (x.ndim - 2))


def group_norm(x, weight, bias, num_groups, eps=1e-5):
    rows = x.reshape(x.shape[0], num_groups, -1)
    value, scale = layer_norm(rows, axis=(-1,), eps=eps)
    value, scale = value.reshape(x.shape), scale.reshape(x.shape)
    weight, bias = by_channel(weight, x), by_channel(bias, x)
    return value * weight + bias, scale * np.abs(weight) + np.abs(bias)


def batch_norm(x, mean, var, weight, bias, eps=1e-5):
    mean, var, weight, bias = (by_channel(v, x) for v in (mean, var, weight, bias))
    slope = weight / np.sqrt(var + eps)
    return (x - mean) * slope + bias, (np.abs(x) + np.abs(mean)) * np.abs(slope) + np.abs(bias)


def local_response_norm(x, size, alpha=1e-4, beta=0.75, k=1.0):
    around = [(0, 0)] * x.ndim
    around[1] = (size // 2, (size - 1) // 2)
    squares = np.pad(x * x, around)
    total = sum(squares[:, i : i + x.shape[1]] for i in range(size))
    return x / (total / size * alpha + k) ** beta


def attention(q, k, v, is_causal=False, scale=None):
    if q.ndim > 2 and q.shape[-3] != k.shape[-3]:
        times = q.shape[-3] // k.shape[-3]
        k, v = np.repeat(k, times, -3), np.repeat(v, times, -3)
    scores = q @ np.swapaxes(k, -1, -2) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    size = np.abs(scores).max(initial=0) + 1
    if is_causal:
        seen = np.tril(np.ones(scores.shape[-2:], bool), scores.shape[-1] - scores.shape[-2])
        scores = np.where(seen, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True)
    return weights @ v, (weights @ np.abs(v)) * size


def rope(x, offset=0, base=10000.0):
    half = x.shape[-1] // 2
    slope = base ** (-np.arange(half) / half)
    angle = (np.arange(x.shape[-2]) + offset)[:, None] * slope
    c, s = np.cos(angle), np.sin(angle)
    a, b = x[..., :half], x[..., half:]
    size = np.abs(a) + np.abs(b)
    return np.concatenate([a * c - b * s, b * c + a * s], -1), np.concatenate([size, size], -1)
