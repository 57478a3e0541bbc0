"""An entry of the oracle's table: an op's reference, its dtypes, its tolerance, how its inputs are
made and how it is differentiated."""

import dataclasses
import math
from typing import Any, Callable, Optional

from samples import FLOATS


def same(dtype):
    return dtype


def to_bool(dtype):
    return "bool"


def to_int64(dtype):
    return "int64"


def to_float(dtype):
    """Integers are cast to float32 first."""
    return dtype if dtype in FLOATS else "float32"


def widened(dtype):
    if dtype in FLOATS:
        return dtype
    return "uint64" if dtype.startswith("uint") else "int64"


@dataclasses.dataclass
class Gradient:
    """How an op is differentiated: `make` gives float64 arrays for its operands (and keyword
    arguments); those whose number stands in `of` are differentiated."""

    make: Callable
    of: Any = None  # all operands unless told
    second: bool = True  # whether the second derivative is checked as well
    tolerance: float = 1e-6


@dataclasses.dataclass
class Op:
    reference: Callable
    dtypes: tuple
    tolerance: Any  # one of compare.py's, or a function of the operands' dtype that gives one
    make: Callable  # (rng, dtype, full) -> list of (list of Input, keyword arguments)
    result: Callable = same
    #: What the reference is given for floats: "own" dtype (float32 for the narrow ones), "wide"
    #: (float64; long double for float64), or "double" (float64 for all).
    width: str = "own"
    call: Optional[Callable] = None  # of the function, the tensors and the keyword arguments
    gradient: Optional[Gradient] = None
    many: bool = False  # a list of results
    found: bool = False  # of two results the second is where the first were found, in int64
    #: Operands that are integers for good; where the result is a float, others become float32 first.
    kept: tuple = ()
    left_out: tuple = ()  # dtypes that the reference cannot do; the op's own tests have them
    also: tuple = ()  # names under which the same function stands: operators, methods


SHAPE = (2, 3)
PAIR_SUM = "partial sums are rounded in another order than the reference's"


def smooth(*shapes, low=-2.0, high=2.0, second=True, **keywords):
    """Operands drawn evenly from [low, high]."""

    def make(rng):
        return [rng.uniform(low, high, s) for s in shapes], keywords

    return Gradient(make, second=second)


def kinked(*shapes, **keywords):
    """Operands whose elements are all different, and none near 0 or a half: away from the kinks."""

    def make(rng):
        arrays = []
        for i, s in enumerate(shapes):
            count = math.prod(s)
            places = rng.permutation(count) - count // 2 + 0.13 + 0.21 * i
            arrays.append((places * 0.7).reshape(s))
        return arrays, keywords

    return Gradient(make, second=False)


def indexed_gradient(make):
    return Gradient(make, of=(0,))
