"""References for functions of floats that NumPy does not have.

Written from docs/SEMANTICS.md; floats come as wide as the table says; nothing here is shared with
the library.
"""

import math
from fractions import Fraction

import numpy as np

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
