"""Reprise: tensors whose operations are recorded, compiled and replayed.

    import numpy as np
    import reprise as rp

    x = rp.asarray(np.arange(6.0).reshape(2, 3))   # no copy
    y = rp.softmax(x @ x.T * 0.5)                  # recorded, nothing has run
    print(np.asarray(y))                           # compiled, computed, no copy

Names are the array API standard's where it has one, PyTorch's where it has not. Numbers are weak:
``x * 0.1`` has x's dtype, a uint8 tensor + 300 raises. Errors are `reprise.Error` and at once what
Python programs catch for that kind of mistake: `ShapeError` is a ValueError, `DTypeError` a
TypeError, `IndexError` an IndexError, `OutOfMemoryError` a MemoryError.
"""

import math as _math

from ._core import *  # noqa: F401, F403: every name of the compiled module without an underscore
from ._core import bool_
from . import io, nn, optim
from ._array import asarray, finfo, iinfo, isdtype, result_type, tensor
from ._dump import dump
from ._jit import jit
from ._tape import Tape, checkpoint, eval, grad, jvp, value_and_grad

__version__ = "0.1.0"

bool = bool_
pi = _math.pi
e = _math.e
inf = _math.inf
nan = _math.nan
newaxis = None
