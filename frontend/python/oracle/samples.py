"""Inputs for the oracle: values of every dtype with all that is special about it, and layouts in memory.

NumPy has no bfloat16: its values are held as float32 that bfloat16 can represent.
"""

import math
import os
import time
import zlib

import numpy as np

import reprise as rp

#: Another sample each day; the same for all tests of a run.
SEED = int(os.environ.get("REPRISE_TEST_SEED") or time.strftime("%Y%m%d"))
FULL = "REPRISE_TEST_FULL" in os.environ

FLOATS = ("float16", "bfloat16", "float32", "float64")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
BOOL = ("bool",)
REAL = BOOL + INTEGERS + FLOATS
NUMERIC = INTEGERS + FLOATS
COMPLEX = ("complex64", "complex128")
ALL = REAL + COMPLEX

SHAPES = (
    (), (0,), (1,), (7,), (8,), (17,), (33,), (257,), (1, 5), (5, 1), (3, 0, 2), (4, 33), (33, 4),
    (2, 3, 17), (1, 1, 1), (129, 9), (1031,),
)  # fmt: skip
LAYOUTS = ("plain", "reversed", "transposed", "strided", "offset", "broadcast")


def generator(seed, *names):
    """A generator of its own for each test, whatever else runs: the seed and the test's names."""
    return np.random.default_rng([seed, zlib.crc32("/".join(map(str, names)).encode())])


def host(dtype):
    """The NumPy dtype that holds values of `dtype`."""
    return np.dtype("float32" if dtype == "bfloat16" else dtype)


def to_bfloat16_bits(array):
    """Float64 or narrower to bfloat16, once, to nearest even; NaN stays NaN."""
    wide = np.asarray(array, np.float64)
    with np.errstate(all="ignore"):
        mantissa, exponent = np.frexp(wide)
        # bfloat16 has 8 bits, fewer below 2^-126: the quantum is exact, so rint rounds once.
        quantum = np.ldexp(1.0, np.maximum(exponent, -125) - 8)
        rounded = np.rint(wide / quantum) * quantum
    rounded = np.where(np.isfinite(wide) & (wide != 0), rounded, wide)
    rounded = np.copysign(rounded, wide)
    largest = math.ldexp(255, 120)
    rounded = np.where(np.abs(rounded) > largest, np.copysign(np.inf, wide), rounded)
    with np.errstate(all="ignore"):
        bits = np.atleast_1d(rounded.astype(np.float32)).view(np.uint32) >> 16
    bits = bits.astype(np.uint16).reshape(wide.shape)
    return np.where(np.isnan(wide), np.uint16(0x7FC0), bits).astype(np.uint16)


def from_bfloat16_bits(bits):
    return (np.atleast_1d(bits).astype(np.uint32) << 16).view(np.float32).reshape(np.shape(bits))


def rounded(array, dtype):
    """Wide floats as `dtype`'s values, rounded once."""
    if dtype == "bfloat16":
        return from_bfloat16_bits(to_bfloat16_bits(array))
    with np.errstate(all="ignore"):
        return np.asarray(array).astype(host(dtype))


def limits(dtype):
    """(digits, least exponent of a normal number, largest value) of a float dtype."""
    if dtype == "bfloat16":
        return 8, -126, math.ldexp(255, 120)
    info = np.finfo(dtype)
    return info.nmant + 1, int(info.minexp), float(info.max)


def specials(dtype):
    """Every value of a dtype at which something may go wrong."""
    if dtype == "bool":
        return np.array([False, True])
    if dtype in COMPLEX:
        parts = [0.0, -0.0, 1.5, -math.inf, math.nan]
        return np.array([complex(a, b) for a in parts for b in parts], dtype)
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        few = [0, 1, 2, 3, 7, 63, 64, info.max, info.max - 1, info.min, info.min + 1]
        if info.min < 0:
            few += [-1, -2, -3, -7]
        else:
            few += [info.max // 2 + 1]
        return np.array(few, dtype)
    digits, least, largest = limits(dtype)
    eps = 2.0 ** (1 - digits)
    few = [
        0.0, math.ldexp(1.0, least - digits + 1), math.ldexp(1.0, least) * (1 - eps),
        math.ldexp(1.0, least), math.ldexp(1.0, least - 1), 0.5, 0.5 - eps / 2, 1 - eps / 2, 1.0,
        1 + eps, 1.5, 2.0, 2.5, 3.0, math.pi / 2, 10.0, 2.0 ** (digits - 1) - 0.5,
        2.0 ** (digits - 1), 2.0**digits, largest / 2, largest, math.inf,
    ]  # fmt: skip
    return rounded(np.array(few + [-x for x in few] + [math.nan]), dtype)


def _numbers(rng, dtype, count, kind):
    """`count` values without what is special, of one kind (see `values`)."""
    if dtype == "bool":
        return rng.random(count) < 0.5
    if dtype in COMPLEX:
        return (rng.normal(size=count) + 1j * rng.normal(size=count)).astype(dtype)
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        if kind == "count":  # of bits to shift by: some are out of range
            low = -3 if info.min < 0 else 0
            return rng.integers(low, 8 * host(dtype).itemsize + 3, count).astype(dtype)
        if kind in ("any", "wide"):
            wide = rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
            small = rng.integers(max(info.min, -20), 20, count).astype(dtype)
            return np.where(rng.random(count) < 0.5, wide, small)
        return rng.integers(max(info.min, -9), 10, count).astype(dtype)
    digits, least, largest = limits(dtype)
    normal = rng.normal(size=count) * 3
    if kind == "any":
        top = math.log2(largest)
        wide = np.exp2(rng.uniform(least - digits, top, count)) * rng.choice([-1, 1], count)
        whole = np.rint(normal * 4) / 2
        which = rng.integers(0, 4, count)
        return rounded(np.select([which == 0, which == 1], [wide, whole], normal), dtype)
    if kind == "unit":
        near = 1 - np.exp2(-rng.uniform(1, digits + 1, count))
        inside = np.where(rng.random(count) < 0.3, near, rng.random(count))
        return rounded(inside * rng.choice([-1, 1], count), dtype)
    if kind == "positive":
        return rounded(np.abs(normal) + 0.25, dtype)
    return rounded(normal, dtype)


def values(rng, dtype, count, kind="any"):
    """`count` values: "any" (specials, the whole range, moderate ones), "moderate" (about 3),
    "some" (moderate, and now and then a NaN or an infinity), "unit", "positive", "count"."""
    flat = _numbers(rng, dtype, count, kind)
    if kind in ("any", "unit", "count") and count:
        few = specials(dtype)
        where = rng.random(count) < (0.7 if kind == "any" else 0.15)
        flat = np.where(where, rng.choice(few, count), flat)
    if kind == "some" and dtype in FLOATS and count:
        for special in (np.nan, np.inf, -np.inf, -0.0):
            flat[rng.random(count) < rng.choice([0, 0, 0.5 / count, 3 / count])] = special
    return flat.astype(host(dtype))


def pairs(rng, dtype, arity, extra):
    """Flat inputs in which all specials meet each other, and `extra` random values besides."""
    few = specials(dtype)
    if arity == 1:
        columns = [few]
    else:
        grid = np.meshgrid(few, few, indexing="ij")
        columns = [g.ravel() for g in grid]
        while len(columns) < arity:
            columns.append(rng.permutation(columns[0]))
    return [np.concatenate([c, values(rng, dtype, extra)]) for c in columns]


class Input:
    """One operand: a NumPy view in some layout, and the tensor that adopts the same memory."""

    def __init__(self, dtype, view):
        self.dtype = dtype
        self.view = view  # of bits for bfloat16

    @property
    def array(self):
        """The values, in the dtype that holds them; NumPy computes with bytes of bool as they are."""
        if self.dtype == "bool":
            return self.view.view(np.uint8) != 0
        return from_bfloat16_bits(self.view) if self.dtype == "bfloat16" else self.view

    def tensor(self):
        x = rp.asarray(self.view)
        return x.view(rp.bfloat16) if self.dtype == "bfloat16" else x

    def __repr__(self):
        return f"{self.dtype}{list(self.view.shape)} strides {list(self.view.strides)}"


def _base(rng, dtype, shape, kind):
    flat = values(rng, dtype, math.prod(shape), kind)
    if dtype == "bfloat16":
        flat = to_bfloat16_bits(flat)
    elif dtype == "bool" and rng.random() < 0.5:
        # Any byte that is not 0 is true, wherever it came from.
        flat = np.where(flat, rng.integers(1, 256, flat.size), 0).astype(np.uint8).view(bool)
    return flat.reshape(shape)


def laid_out(rng, dtype, shape, layout, kind="any"):
    """An Input of `shape` whose memory lies as `layout` says."""
    shape = tuple(shape)
    make = lambda extents: _base(rng, dtype, tuple(extents), kind)  # noqa: E731
    if layout == "reversed":
        view = make(shape)[tuple(slice(None, None, -1) for _ in shape)]
    elif layout == "transposed":
        view = make(shape[::-1]).transpose()
    elif layout == "strided":
        steps = [int(rng.integers(2, 4)) for _ in shape]
        view = make(n * s for n, s in zip(shape, steps))[tuple(slice(None, None, s) for s in steps)]
    elif layout == "offset":
        view = make(n + 1 for n in shape)[tuple(slice(1, None) for _ in shape)]
    elif layout == "broadcast":
        kept = [n if rng.random() < 0.5 else min(n, 1) for n in shape]
        view = np.broadcast_to(make(kept), shape)
    else:
        view = make(shape)
    return Input(dtype, view)


def of_values(dtype, array):
    """An Input that holds these values."""
    if dtype == "bfloat16":
        return Input(dtype, to_bfloat16_bits(array))
    return Input(dtype, np.asarray(array, host(dtype)))
