"""Arrays in and out, and what tensors show of themselves."""

import numpy as np

from . import _core
from ._core import DType, Tensor

# Python's numbers have these dtypes where nothing else says; NumPy's wide ones are not meant.
_WEAK = {"float64": _core.float32, "complex128": _core.complex64}


def asarray(obj, dtype=None, *, copy=None, device=None):
    """A tensor of what `obj` holds: an array, a number, nested lists, or another library's tensor.

    An array's memory is used as it is, whatever its strides, where elements are aligned and of this
    machine's byte order; the tensor keeps the array alive and shows what is written to it later.
    copy=True copies always, copy=False raises Error where a copy is needed. Python's floats become
    float32 and its integers int64; arrays keep their dtype; `dtype` casts. DTypeError for elements
    that have no dtype here. `device` names where it is to be: the default device unless told.
    """
    if device is not None:
        with _core.device(device):
            return asarray(obj, dtype, copy=copy).to(device)
    if isinstance(obj, Tensor):
        result = _copy(obj) if copy else obj
    elif isinstance(obj, np.ndarray):
        result = _core.from_numpy(obj, copy)
    elif hasattr(obj, "__dlpack__") and not isinstance(obj, np.generic):
        result = _core.from_dlpack(obj)
        if copy:
            result = asarray(result, copy=True)
    else:
        result = _of_python(obj, dtype, copy)
    if dtype is None or result.dtype == dtype:
        return result
    if copy is False:
        raise _core.Error(f"asarray with copy=False: {result.dtype} as {DType(dtype)} is a copy")
    return _core.astype(result, dtype)


def tensor(obj, dtype=None):
    """A tensor with a copy of what `obj` holds: asarray(obj, dtype, copy=True)."""
    return asarray(obj, dtype, copy=True)


def _of_python(obj, dtype, copy):
    if isinstance(obj, (list, tuple)) and _holds_tensor(obj):
        return _core.stack([asarray(item, dtype) for item in obj])
    array = np.asarray(obj)
    if array.dtype == object:
        raise _core.DTypeError(f"a tensor cannot be made of {type(obj).__name__}: {obj!r:.80}")
    if copy is False and not hasattr(obj, "__array__") and not _is_buffer(obj):
        raise _core.Error(f"asarray with copy=False: a {type(obj).__name__} must be copied")
    if dtype is not None and DType(dtype) != _core.bfloat16:
        _check_range(array, DType(dtype), obj)
        # At once from Python's numbers: through float32 they would round twice.
        if DType(dtype).kind in ("real floating", "complex floating") and array.dtype.kind in "iufc":
            if array.dtype.kind == "c" and DType(dtype).kind == "real floating":
                raise _core.DTypeError(f"complex numbers do not fit {DType(dtype)}")
            array = array.astype(DType(dtype).name)
    elif dtype is None and _is_weak(obj):
        weak = _WEAK.get(array.dtype.name)
        if weak is not None:
            array = array.astype(weak.name)
    return _core.from_numpy(array, copy=copy if copy is not False else None)


def _check_range(array, dtype, obj):
    """Python's integers must fit: 300 is no uint8, in a list as in `x + 300`."""
    if dtype.kind not in _KINDS["integral"] or array.dtype.kind not in "iu" or not array.size:
        return
    limits = np.iinfo(dtype.name)
    low, high = int(array.min()), int(array.max())
    if _is_weak(obj) and not limits.min <= low <= high <= limits.max:
        number = low if low < limits.min else high
        raise _core.DTypeError(
            f"the number {number} does not fit {dtype}, which holds {limits.min} to {limits.max}"
        )


def _holds_tensor(items):
    for item in items:
        if isinstance(item, Tensor):
            return True
        if isinstance(item, (list, tuple)) and _holds_tensor(item):
            return True
    return False


def _is_weak(obj):
    """Whether the numbers are Python's: NumPy's, in arrays at least, mean their dtype."""
    while isinstance(obj, (list, tuple)):
        if not obj:
            return True
        obj = obj[0]
    return isinstance(obj, (bool, int, float, complex)) and not isinstance(obj, np.generic)


def _is_buffer(obj):
    try:
        memoryview(obj)
    except TypeError:
        return False
    return True


def _copy(x):
    with _core.device(x.device):
        return _core.from_numpy(_bits(x), copy=True).view(x.dtype)


def _bits(x):
    """The elements as NumPy can hold them: bfloat16 as uint16."""
    return _elements(x.view(_core.uint16) if x.dtype == _core.bfloat16 else x)


def _shown(x):
    """The elements as NumPy can print them: bfloat16 as float32."""
    return _elements(x.astype(_core.float32) if x.dtype == _core.bfloat16 else x)


def _elements(x):
    return x.numpy() if x.device == "cpu" else _core._shown(x)


def _is_recording():
    return _core._is_recording()


def _repr(self):
    if _is_recording():
        return f"<tensor of {self.dtype} {self.shape}, being recorded>"
    if _core._in_call():  # to say which arguments it cannot take
        return f"<tensor of {self.dtype} {self.shape}>"
    text = np.array2string(_shown(self), separator=", ", prefix="tensor(")
    # Brackets do not tell the other extents of what has no element.
    shape = f"shape={self.shape}, " if self.size == 0 and self.shape != (0,) else ""
    return f"tensor({text}, {shape}dtype={self.dtype})"


def _str(self):
    return repr(self) if _is_recording() else str(_shown(self))


def _contains(self, value):
    return bool(_core.any(self == value))


def _format(self, spec):
    return format(self.item(), spec) if spec else str(self)


def _tolist(self):
    """Nested lists of Python's numbers; of rank 0 the number. Realizes."""
    return _shown(self).tolist()


def _rebuild(array, dtype):
    return _core.from_numpy(array, copy=True).view(dtype)


def _reduce(self):
    return _rebuild, (_bits(self), self.dtype)


Tensor.__repr__ = _repr
Tensor.__str__ = _str
Tensor.__contains__ = _contains
Tensor.__format__ = _format
Tensor.__reduce__ = _reduce
Tensor.__copy__ = lambda self: self.value()
Tensor.tolist = _tolist


def result_type(*operands):
    """The dtype in which tensors, dtypes and weak Python numbers are computed together."""
    weak = [x for x in operands if isinstance(x, (bool, int, float, complex))]
    strong = [x for x in operands if not isinstance(x, (bool, int, float, complex))]
    if not operands:
        raise _core.Error("result_type of nothing")
    result = None
    for x in strong:
        dtype = x.dtype if isinstance(x, (Tensor, np.ndarray)) else x
        result = DType(dtype) if result is None else _core.promote_types(result, dtype)
    order = ["bool", "integer", "real floating", "complex floating"]
    for x in weak:
        own = _core.full((), x).dtype
        rank = order.index(own.kind.replace("signed ", "").replace("un", ""))
        if result is None:
            result = own
        elif rank > order.index(result.kind.replace("signed ", "").replace("un", "")):
            wide = own == _core.complex64 and result == _core.float64
            result = _core.complex128 if wide else own
    return result


_KINDS = {
    "bool": ("bool",),
    "signed integer": ("signed integer",),
    "unsigned integer": ("unsigned integer",),
    "integral": ("signed integer", "unsigned integer"),
    "real floating": ("real floating",),
    "complex floating": ("complex floating",),
    "complex integer": ("complex integer",),
    "numeric": ("signed integer", "unsigned integer", "real floating", "complex floating"),
}


def isdtype(dtype, kind):
    """Whether a dtype is another, of a kind of the array API standard, or any of a tuple."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return DType(dtype).kind in _KINDS[kind]
    return DType(dtype) == DType(kind)


class finfo:
    """Limits of a float dtype, or of a complex one's parts: bits, eps, max, min, smallest_normal,
    dtype."""

    def __init__(self, dtype):
        self.dtype = dtype.dtype if isinstance(dtype, Tensor) else DType(dtype)
        if self.dtype.kind == "complex floating":
            self.dtype = _core.float32 if self.dtype == _core.complex64 else _core.float64
        if self.dtype.kind != "real floating":
            raise _core.DTypeError(f"finfo of {self.dtype}, which is not a float")
        if self.dtype == _core.bfloat16:
            self.bits, self.eps, self.max = 16, 2.0**-7, float.fromhex("0x1.fep127")
            self.min, self.smallest_normal = -self.max, 2.0**-126
            return
        limits = np.finfo(self.dtype.name)
        self.bits = limits.bits
        self.eps, self.max, self.min = float(limits.eps), float(limits.max), float(limits.min)
        self.smallest_normal = float(limits.tiny)


class iinfo:
    """Limits of an integer dtype: bits, max, min, dtype."""

    def __init__(self, dtype):
        self.dtype = dtype.dtype if isinstance(dtype, Tensor) else DType(dtype)
        if self.dtype.kind not in _KINDS["integral"]:
            raise _core.DTypeError(f"iinfo of {self.dtype}, which is not an integer")
        limits = np.iinfo(self.dtype.name)
        self.bits, self.max, self.min = limits.bits, int(limits.max), int(limits.min)
