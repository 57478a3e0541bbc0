"""How results are compared: bit for bit, by units in the last place, or relative to a scale."""

import numpy as np

from samples import FLOATS, from_bfloat16_bits, host, limits, rounded

EXACT = ("exact",)


def ulp(n, denormal=None, below=0):
    """At most n units in the last place of the result's dtype; another number for denormal ones, and
    for those less than 2^below times the least normal one: what they are made of may be denormal."""
    return ("ulp", n, n if denormal is None else denormal, below)


def relative(n, reason):
    """At most n epsilons of the scale that the reference gives beside its value (without one: of
    the value); the reason says why units in the last place do not do."""
    return ("relative", n, reason)


def bits(tensor):
    """A tensor's elements as NumPy can hold them; bfloat16 as its bits, one for all NaN."""
    import reprise as rp

    if tensor.dtype != rp.bfloat16:
        return np.asarray(tensor)
    words = np.asarray(tensor.view(rp.uint16))
    return np.where((words & 0x7FFF) > 0x7F80, np.uint16(0x7FC0), words)


def elements(tensor):
    """A tensor's values; bfloat16 as float32."""
    import reprise as rp

    array = bits(tensor)
    return from_bfloat16_bits(array) if tensor.dtype == rp.bfloat16 else array


def same_bits(a, b):
    """Whether two arrays are the same, all NaN being one."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return np.zeros(1, bool)
    if a.dtype.kind == "c":
        return same_bits(a.real, b.real) & same_bits(a.imag, b.imag)
    if a.dtype.kind == "b":  # any byte that is not 0 is true
        return np.logical_not(a) == np.logical_not(b)
    if a.dtype.kind == "f":
        return (np.isnan(a) & np.isnan(b)) | ((a == b) & (np.signbit(a) == np.signbit(b)))
    return a == b


def spacing(wide, dtype):
    """The distance of neighbors of `dtype` where the wide values lie."""
    digits, least, _ = limits(dtype)
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(np.abs(wide))
    return np.ldexp(np.ones_like(wide), np.maximum(exponent, least + 1) - digits)


def check(actual, expected, dtype, tolerance, context, scale=None):
    """Asserts that `actual` (values of `dtype`) is what the reference says.

    `expected` is in the result's dtype for exact comparisons, else as wide as the reference is.
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    where = lambda bad: tuple(int(i) for i in np.argwhere(bad)[0])  # noqa: E731
    assert actual.shape == expected.shape, f"{context}: shape {actual.shape}, not {expected.shape}"
    kind = tolerance[0]
    if dtype not in FLOATS or kind == "exact":
        if dtype in FLOATS:
            expected = rounded(expected, dtype)
        else:
            expected = expected.astype(host(dtype))
        bad = ~same_bits(actual, expected)
        if bad.any():
            at = where(bad)
            raise AssertionError(
                f"{context}: element {list(at)} is {actual[at]!r}, the reference says "
                f"{expected[at]!r}; {int(bad.sum())} of {bad.size} differ"
            )
        return 0.0
    wide = expected.astype(np.longdouble)
    near = rounded(expected, dtype)
    got = actual.astype(np.longdouble)
    digits, least, largest = limits(dtype)
    allowed = tolerance[1]
    with np.errstate(all="ignore"):
        if kind == "ulp":
            unit = spacing(wide, dtype)
            allowed = np.where(np.abs(wide) < 2.0 ** (least + tolerance[3]), tolerance[2], allowed)
        else:
            of = np.abs(wide) if scale is None else np.abs(np.asarray(scale, np.longdouble))
            unit = np.maximum(np.nan_to_num(of * 2.0 ** (1 - digits)), spacing(wide * 0, dtype))
        error = np.abs(got - wide) / unit
    error = np.where(same_bits(actual, near), 0, error)
    # At the end of the range infinity is the neighbor of the largest value.
    end = largest * (1 - 2.0 ** (3 - digits))
    beyond = (np.abs(wide) >= end) & (np.abs(got) >= end) & (np.isinf(got) | np.isinf(near))
    error = np.where(beyond & (np.sign(got) == np.sign(wide)), 0, error)
    bad = ~(error <= allowed)
    if bad.any():
        at = where(bad)
        raise AssertionError(
            f"{context}: element {list(at)} is {actual[at]!r}, the reference says {near[at]!r} "
            f"({float(error[at]):.3g} {kind}, allowed {tolerance[1]}); {int(bad.sum())} of "
            f"{bad.size} differ"
        )
    return float(error.max()) if error.size else 0.0
