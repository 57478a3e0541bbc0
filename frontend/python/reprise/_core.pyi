"""The compiled module, as its own docstrings describe it. Written by stubs.py."""

import builtins
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union, overload

import numpy

_Number = Union[int, float, "Scalar"]
_TensorLike = Union["Tensor", numpy.ndarray]
_DTypeLike = Union["DType", str, type, numpy.dtype]

class Adam(Optimizer):
    'Adam; weight_decay is added to the gradient.'
    def __init__(self, parameters: List[_TensorLike], lr: float=0.001, betas: Tuple[float, float]=(0.9, 0.999), eps: float=1e-08, weight_decay: float=0.0) -> None:
        ...

class AdamW(Optimizer):
    'Adam whose weight decay does not pass through the moments.'
    def __init__(self, parameters: List[_TensorLike], lr: float=0.001, betas: Tuple[float, float]=(0.9, 0.999), eps: float=1e-08, weight_decay: float=0.01) -> None:
        ...

class CosineSchedule:
    'Rises linearly over `warmup` steps, then falls along half a cosine to `floor` at step `total`.'
    def __call__(self, step: int) -> float:
        ...
    def __init__(self, peak: float, floor: float=0.0, total: int=1, warmup: int=0) -> None:
        ...

class DType:
    "The type of a tensor's elements: reprise.float32 and so on."
    def __eq__(self, arg0: _DTypeLike) -> bool:
        ...
    def __hash__(self) -> int:
        ...
    def __init__(self, like: _DTypeLike) -> None:
        "From a name, NumPy's dtype, or Python's bool, int and float."
    def __ne__(self, arg0: _DTypeLike) -> bool:
        ...
    def __reduce__(self) -> tuple:
        ...
    def __repr__(self) -> str:
        ...
    def __str__(self) -> str:
        ...
    @property
    def itemsize(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...

class DTypeError(Error, builtins.TypeError):
    'A dtype or a number does not fit.'

class DataLoader:
    'Shuffled batches (x, y) of rows that stay in memory: each iteration is an epoch, whose order depends on the seed and its number alone.'
    def __init__(self, inputs: _TensorLike, targets: _TensorLike, batch: int=64, shuffle: bool=True, seed: int=0, drop_last: bool=True, normalize: Optional[Tuple[float, float]]=None) -> None:
        'normalize=(mean, scale): inputs become float32, (x - mean) * scale. ShapeError unless both have equally many rows.'
    def __iter__(self) -> _Epoch:
        ...
    def __len__(self) -> int:
        ...
    @property
    def epoch(self) -> int: ...
    @property
    def rows(self) -> int: ...

class DeviceError(Error, builtins.RuntimeError):
    'A device failed or cannot do it.'

class Error(builtins.Exception):
    'What Reprise raises when a call cannot do what it was asked; the library stays usable and every tensor is as it was.'

class Frozen:
    'A recorded step as a function that runs without recording.'
    def __init__(self, *args: Any, **kwargs: Any) -> Any: ...
    @property
    def num_inputs(self) -> int: ...
    @property
    def num_launches(self) -> int: ...
    def plan(self) -> str:
        'The plan as text: slots, launches, donations.'
    def replay(self, inputs: List[_TensorLike]) -> List[Tensor]:
        "The step's outputs for these inputs; its assigns are done too. DTypeError or ShapeError for an input of another type than it was frozen with."

class Generator:
    'A stream of random numbers of its own. A jitted function that draws from it goes on at each call.'
    def __init__(self, seed: int) -> None:
        ...

class IndexError(Error, builtins.IndexError):
    'An axis or an index is out of range.'

class InternalError(builtins.RuntimeError):
    "A bug of Reprise's own: please report it."

class IoError(Error, builtins.OSError):
    'A file is missing, damaged or cannot be written.'

class Optimizer:
    'Gradients in, parameters assigned. Changing the rate never recompiles.'
    def __init__(self, *args: Any, **kwargs: Any) -> Any: ...
    @property
    def lr(self) -> float: ...
    @property
    def state(self) -> List[Tensor]: ...
    def step(self, gradients: List[_TensorLike]) -> None:
        'Records one step, the gradients in the order of the parameters; it is computed with the next realize. ShapeError or DTypeError for a gradient that does not fit.'
    @property
    def steps(self) -> int: ...

class OutOfMemoryError(Error, builtins.MemoryError):
    'There is not enough memory.'

class ParseError(Error, builtins.ValueError):
    'A text is not what it should be.'

class SGD(Optimizer):
    'v = momentum * v + g; p -= lr * v, or with Nesterov p -= lr * (g + momentum * v).'
    def __init__(self, parameters: List[_TensorLike], lr: float=0.01, momentum: float=0.0, weight_decay: float=0.0, nesterov: bool=False) -> None:
        ...

class Scalar:
    'A number that may change between the replays of a recorded step: an op recorded with it reads its value then, a replay reads it again. What is computed from it and numbers is a Scalar too, which follows it at each replay.'
    def __abs__(self) -> Scalar:
        ...
    @overload
    def __add__(self, arg0: _Number) -> Scalar:
        ...
    @overload
    def __add__(self, arg0: _TensorLike) -> Tensor:
        ...
    def __bool__(self, *args) -> bool:
        ...
    def __ceil__(self, *args) -> bool:
        ...
    def __eq__(self, arg0: _Number) -> bool:
        ...
    def __float__(self, *args) -> bool:
        ...
    def __floor__(self, *args) -> bool:
        ...
    @overload
    def __floordiv__(self, arg0: _Number) -> Scalar:
        ...
    @overload
    def __floordiv__(self, arg0: _TensorLike) -> Tensor:
        ...
    def __ge__(self, arg0: _Number) -> bool:
        ...
    def __gt__(self, arg0: _Number) -> bool:
        ...
    def __hash__(self) -> int:
        ...
    def __index__(self, *args) -> bool:
        ...
    def __init__(self, value: _Number) -> None:
        ...
    def __int__(self, *args) -> bool:
        ...
    def __le__(self, arg0: _Number) -> bool:
        ...
    def __lt__(self, arg0: _Number) -> bool:
        ...
    @overload
    def __mod__(self, arg0: _Number) -> Scalar:
        ...
    @overload
    def __mod__(self, arg0: _TensorLike) -> Tensor:
        ...
    @overload
    def __mul__(self, arg0: _Number) -> Scalar:
        ...
    @overload
    def __mul__(self, arg0: _TensorLike) -> Tensor:
        ...
    def __ne__(self, arg0: _Number) -> bool:
        ...
    def __neg__(self) -> Scalar:
        ...
    def __pos__(self) -> Scalar:
        ...
    @overload
    def __pow__(self, arg0: _Number) -> Scalar:
        ...
    @overload
    def __pow__(self, arg0: _TensorLike) -> Tensor:
        ...
    @overload
    def __radd__(self, arg0: _Number) -> Scalar:
        ...
    @overload
    def __radd__(self, arg0: _TensorLike) -> Tensor:
        ...
    def __repr__(self) -> str:
        ...
    @overload
    def __rfloordiv__(self, arg0: _Number) -> Scalar:
        ...
    @overload
    def __rfloordiv__(self, arg0: _TensorLike) -> Tensor:
        ...
    @overload
    def __rmod__(self, arg0: _Number) -> Scalar:
        ...
    @overload
    def __rmod__(self, arg0: _TensorLike) -> Tensor:
        ...
    @overload
    def __rmul__(self, arg0: _Number) -> Scalar:
        ...
    @overload
    def __rmul__(self, arg0: _TensorLike) -> Tensor:
        ...
    def __round__(self, *args) -> bool:
        ...
    @overload
    def __rpow__(self, arg0: _Number) -> Scalar:
        ...
    @overload
    def __rpow__(self, arg0: _TensorLike) -> Tensor:
        ...
    @overload
    def __rsub__(self, arg0: _Number) -> Scalar:
        ...
    @overload
    def __rsub__(self, arg0: _TensorLike) -> Tensor:
        ...
    @overload
    def __rtruediv__(self, arg0: _Number) -> Scalar:
        ...
    @overload
    def __rtruediv__(self, arg0: _TensorLike) -> Tensor:
        ...
    @overload
    def __sub__(self, arg0: _Number) -> Scalar:
        ...
    @overload
    def __sub__(self, arg0: _TensorLike) -> Tensor:
        ...
    @overload
    def __truediv__(self, arg0: _Number) -> Scalar:
        ...
    @overload
    def __truediv__(self, arg0: _TensorLike) -> Tensor:
        ...
    def __trunc__(self, *args) -> bool:
        ...
    def set(self, value: _Number) -> None:
        'DTypeError for a number of another category; a float takes any.'
    @property
    def value(self) -> Any: ...

class ShapeError(Error, builtins.ValueError):
    'Extents, ranks or counts do not fit.'

class StepSchedule:
    'Multiplied by `factor` after every `every` steps.'
    def __call__(self, step: int) -> float:
        ...
    def __init__(self, base: float, factor: float=0.1, every: int=1) -> None:
        ...

class Tensor:
    'An immutable value, recorded or stored. Made by asarray, zeros and the like, and by operations on tensors; computed when it is read.'
    @property
    def T(self) -> Tensor: ...
    def __abs__(self) -> Tensor:
        ...
    def __add__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __and__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __array__(self, dtype: Any=None, copy: Any=None) -> Any:
        ...
    def __bool__(self) -> bool:
        ...
    def __complex__(self) -> Any:
        ...
    def __contains__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __copy__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __dlpack__(self, stream: Any=None) -> Any:
        'A copy: whoever takes it may write to it.'
    def __dlpack_device__(self) -> tuple:
        ...
    def __eq__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __float__(self) -> float:
        ...
    def __floordiv__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __format__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __ge__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __getitem__(self, key: Any) -> Tensor:
        "NumPy's indexing: ints, slices, None, an ellipsis, integer tensors (whose shapes broadcast), and masks, which are read at once. IndexError for a position out of range; where a tensor holds it, when a result is read."
    def __gt__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __hash__(self) -> int:
        'By identity: comparing tensors gives a tensor.'
    def __index__(self) -> Any:
        ...
    def __init__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __int__(self) -> int:
        ...
    def __invert__(self) -> Tensor:
        ...
    def __iter__(self) -> Any:
        'Over the first axis.'
    def __le__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __len__(self) -> int:
        ...
    def __lshift__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __lt__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __matmul__(self, arg0: _TensorLike) -> Tensor:
        ...
    def __mod__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __mul__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __ne__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __neg__(self) -> Tensor:
        ...
    def __or__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __pos__(self) -> Tensor:
        ...
    def __pow__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __radd__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __rand__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __reduce__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __repr__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __rfloordiv__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __rlshift__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __rmatmul__(self, arg0: _TensorLike) -> Tensor:
        ...
    def __rmod__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __rmul__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __ror__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __rpow__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __rrshift__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __rshift__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __rsub__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __rtruediv__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __rxor__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __str__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __sub__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __truediv__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def __xor__(self, arg0: _TensorLike | _Number) -> Tensor:
        ...
    def abs(self) -> Tensor:
        'Magnitude, of complex numbers a real one. The least integer stays what it is.'
    def acos(self) -> Tensor:
        'Arc cosine, NaN outside [-1, 1]; integers become float32.'
    def acosh(self) -> Tensor:
        'Inverse of cosh, NaN below 1; integers become float32.'
    def all(self, axis: int | tuple[int, ...] | None=None, keepdims: bool=False) -> Tensor:
        'Whether all are not 0.'
    def angle(self) -> Tensor:
        'atan2(imag, real); of real numbers 0 or pi.'
    def any(self, axis: int | tuple[int, ...] | None=None, keepdims: bool=False) -> Tensor:
        'Whether any is not 0.'
    def argmax(self, axis: int | tuple[int, ...] | None=None, keepdims: bool=False) -> Tensor:
        'Position, int64, of the first NaN, else of the first largest; over several axes in their row-major order.'
    def argmin(self, axis: int | tuple[int, ...] | None=None, keepdims: bool=False) -> Tensor:
        'Position, int64, of the first NaN, else of the first smallest.'
    def argsort(self, axis: int=-1, descending: bool=False, stable: bool=True) -> Tensor:
        'The indices that sort an axis.'
    def asin(self) -> Tensor:
        'Arc sine, NaN outside [-1, 1]; integers become float32.'
    def asinh(self) -> Tensor:
        'Inverse of sinh; integers become float32.'
    def assign_(self, other: _TensorLike) -> Any:
        'Rebinds this tensor, and all that share it, to the value of `other`, of the same dtype and shape (else DTypeError, ShapeError). What was recorded before keeps the old value.'
    def astype(self, dtype: _DTypeLike) -> Tensor:
        'Converts: float to integer saturates and NaN gives 0, integers wrap. A pair of casts is never left out.'
    def atan(self) -> Tensor:
        'Arc tangent; integers become float32.'
    def atanh(self) -> Tensor:
        'Inverse of tanh, NaN outside [-1, 1]; integers become float32.'
    def bitcast(self, dtype: _DTypeLike) -> Tensor:
        'The same bits as another dtype of the same size.'
    def bitwise_invert(self) -> Tensor:
        '~x of integers, not x of bools.'
    def cbrt(self) -> Tensor:
        'Cube root, of negative numbers too; integers become float32.'
    def ceil(self) -> Tensor:
        'Toward +inf; integers stay.'
    def clip(self, min: Optional[_TensorLike | _Number]=None, max: Optional[_TensorLike | _Number]=None) -> Tensor:
        'min(max(x, low), high).'
    def conj(self) -> Tensor:
        'The complex conjugate; a real x itself.'
    def cos(self) -> Tensor:
        'Cosine; integers become float32.'
    def cosh(self) -> Tensor:
        'Hyperbolic cosine; integers become float32.'
    def cummax(self, axis: int) -> Tuple[Tensor, Tensor]:
        'Running maxima, and where the last of each stands.'
    def cummin(self, axis: int) -> Tuple[Tensor, Tensor]:
        'Running minima, and where the last of each stands.'
    def cumprod(self, axis: Optional[int]=None, dtype: Optional[_DTypeLike]=None) -> Tensor:
        'Running products along an axis; bools and integers are multiplied in 64 bits.'
    def cumsum(self, axis: Optional[int]=None, dtype: Optional[_DTypeLike]=None) -> Tensor:
        'Running sums along an axis; bools and integers are summed in 64 bits.'
    @property
    def device(self) -> str: ...
    def digamma(self) -> Tensor:
        'The derivative of lgamma; integers become float32.'
    @property
    def dtype(self) -> DType: ...
    def erf(self) -> Tensor:
        'Error function; integers become float32.'
    def erfc(self) -> Tensor:
        '1 - erf(x), accurate in its tail; integers become float32.'
    def erfinv(self) -> Tensor:
        'Inverse of erf; integers become float32.'
    def exp(self) -> Tensor:
        'e to the x; integers become float32.'
    def exp2(self) -> Tensor:
        '2 to the x, exact for whole x; integers become float32.'
    def expm1(self) -> Tensor:
        'exp(x) - 1, accurate near 0; integers become float32.'
    def flatten(self) -> Tensor:
        'One axis of all elements, row-major.'
    def floor(self) -> Tensor:
        'Toward -inf; integers stay.'
    def frac(self) -> Tensor:
        "x - trunc(x), of x's sign; of integers 0."
    def gelu(self, approximate: str='none') -> Tensor:
        'x * Phi(x), by erf or tanh; integers become float32.'
    def hardsigmoid(self) -> Tensor:
        'relu6(x + 3) / 6.'
    def hardswish(self) -> Tensor:
        'x * hardsigmoid(x); 0 at -inf.'
    @property
    def imag(self) -> Tensor: ...
    @property
    def is_realized(self) -> bool: ...
    def isfinite(self) -> Tensor:
        'Whether it is neither NaN nor an infinity.'
    def isinf(self) -> Tensor:
        'Whether it is an infinity.'
    def isnan(self) -> Tensor:
        'Whether it is NaN.'
    def item(self) -> Any:
        "The single element as Python's number; ShapeError if there are others."
    @property
    def itemsize(self) -> int: ...
    def lgamma(self) -> Tensor:
        'log |gamma(x)|; inf at 0 and negative integers; integers become float32.'
    def log(self) -> Tensor:
        'Natural logarithm; integers become float32.'
    def log10(self) -> Tensor:
        'Logarithm to the base 10; integers become float32.'
    def log1p(self) -> Tensor:
        'log(1 + x), accurate near 0; integers become float32.'
    def log2(self) -> Tensor:
        'Logarithm to the base 2; integers become float32.'
    def logcumsumexp(self, axis: int) -> Tensor:
        'log(exp(x[0]) + .. + exp(x[i])) along an axis, without overflow.'
    def logical_not(self) -> Tensor:
        'Whether x is 0.'
    def logsigmoid(self) -> Tensor:
        'log(sigmoid(x)), accurate at both ends.'
    def logsumexp(self, axis: int | tuple[int, ...] | None=None, keepdims: bool=False) -> Tensor:
        'log(sum(exp(x))) without overflow; of rows of -inf: -inf.'
    @property
    def mT(self) -> Tensor: ...
    def masked_fill(self, mask: _TensorLike, value: _TensorLike | _Number) -> Tensor:
        'x with a value where the mask holds.'
    def masked_select(self, mask: _TensorLike) -> Tensor:
        'The elements where a mask holds, row-major.'
    def max(self, axis: int | tuple[int, ...] | None=None, keepdims: bool=False) -> Tensor:
        'Largest; NaN if any is. ShapeError for an empty axis of a result that is not.'
    def mean(self, axis: int | tuple[int, ...] | None=None, keepdims: bool=False, dtype: Optional[_DTypeLike]=None) -> Tensor:
        'Arithmetic mean; of nothing NaN.'
    def min(self, axis: int | tuple[int, ...] | None=None, keepdims: bool=False) -> Tensor:
        'Smallest; NaN if any is. ShapeError for an empty axis of a result that is not.'
    def mish(self) -> Tensor:
        'x * tanh(softplus(x)); 0 at -inf.'
    def nan_to_num(self, nan: _Number=0.0, posinf: Optional[_Number]=None, neginf: Optional[_Number]=None) -> Tensor:
        'x with NaN and the infinities replaced: by 0 and the largest finite values unless told.'
    @property
    def nbytes(self) -> int: ...
    @property
    def ndim(self) -> int: ...
    def negative(self) -> Tensor:
        '-x. Integers wrap; DTypeError for bool.'
    def numpy(self) -> numpy.ndarray:
        'The elements as a read-only NumPy array, without a copy. Realizes. DTypeError for bfloat16, which NumPy does not have.'
    def permute_dims(self, *args) -> Tensor:
        'Axis i of the result is axis axes[i] of x.'
    def prod(self, axis: int | tuple[int, ...] | None=None, keepdims: bool=False, dtype: Optional[_DTypeLike]=None) -> Tensor:
        'Bools and integers are multiplied in 64 bits.'
    @property
    def real(self) -> Tensor: ...
    def realize(self) -> Any:
        'Computes this tensor now.'
    def reciprocal(self) -> Tensor:
        '1 / x; integers become float32.'
    def relu(self) -> Tensor:
        'max(x, 0); NaN stays.'
    def relu6(self) -> Tensor:
        'min(max(x, 0), 6); NaN stays.'
    def repeat(self, repeats: Any, axis: Optional[int]=None) -> Tensor:
        'Each element so many times in a row, along an axis or of all elements: one count, or one for each (a tensor of them is read at once).'
    def reshape(self, *args) -> Tensor:
        'The same elements in another shape; one extent may be -1.'
    def roll(self, shift: int | tuple[int, ...], axis: Optional[int | tuple[int, ...]]=None) -> Tensor:
        'Elements move along axes, or through all of them; what leaves at the end comes in front.'
    def round(self) -> Tensor:
        'To the nearest integer, ties to even.'
    def rsqrt(self) -> Tensor:
        '1 / sqrt(x); integers become float32.'
    def selu(self) -> Tensor:
        'The scaled exponential linear unit.'
    @property
    def shape(self) -> int | tuple[int, ...]: ...
    def sigmoid(self) -> Tensor:
        '1 / (1 + exp(-x)); integers become float32.'
    def sign(self) -> Tensor:
        '-1, 0 or 1; of NaN NaN; of complex x x / |x|.'
    def signbit(self) -> Tensor:
        'Whether the sign bit is set, of -0 and NaN too.'
    def silu(self) -> Tensor:
        'x * sigmoid(x); 0 at -inf.'
    def sin(self) -> Tensor:
        'Sine; integers become float32.'
    def sinh(self) -> Tensor:
        'Hyperbolic sine; integers become float32.'
    @property
    def size(self) -> int: ...
    def softplus(self) -> Tensor:
        'log(1 + exp(x)), accurate in its tail.'
    def softsign(self) -> Tensor:
        'x / (1 + |x|); -1 and 1 at the infinities.'
    def sort(self, axis: int=-1, descending: bool=False, stable: bool=True) -> Tensor:
        'The elements of an axis in order; NaN is above all numbers. Equal ones stay in order, asked for or not.'
    def sqrt(self) -> Tensor:
        'Square root; integers become float32.'
    def square(self) -> Tensor:
        'x * x.'
    def squeeze(self, axis: Optional[int | tuple[int, ...]]=None) -> Tensor:
        'Drops axes of extent 1: those given (ShapeError if longer), or all.'
    def std(self, axis: int | tuple[int, ...] | None=None, correction: float=0, keepdims: bool=False) -> Tensor:
        'The root of var; its gradient at 0 is 0.'
    def stop_gradient(self) -> Tensor:
        'The value, through which no gradient flows.'
    def sum(self, axis: int | tuple[int, ...] | None=None, keepdims: bool=False, dtype: Optional[_DTypeLike]=None) -> Tensor:
        'Bools and integers are summed in 64 bits, float16 and bfloat16 in float32.'
    def tan(self) -> Tensor:
        'Tangent; integers become float32.'
    def tanh(self) -> Tensor:
        'Hyperbolic tangent; integers become float32.'
    def tanhshrink(self) -> Tensor:
        'x - tanh(x).'
    def to(self, device: str) -> Tensor:
        'The value on a device, by its name: this tensor where it is there, else a copy. Recorded inside a tape, where gradients pass back; else it realizes.'
    def to_device(self, device: str) -> Tensor:
        "The array API's name of to()."
    def tolist(self, *args: Any, **kwargs: Any) -> Any: ...
    def topk(self, k: int, axis: int=-1, largest: bool=True) -> Tuple[Tensor, Tensor]:
        'The k largest or smallest elements of an axis in order, and their indices.'
    def transpose(self, axis1: int=-2, axis2: int=-1) -> Tensor:
        'Swaps two axes, the last two unless told.'
    def trunc(self) -> Tensor:
        'Toward 0; integers stay.'
    def unfold(self, axis: int, size: int, step: int=1) -> Tensor:
        'All slices of `size` elements of an axis, each `step` further, as a new last axis; a view.'
    def value(self) -> Tensor:
        'A tensor of its own on the present value: later assigns to this one do not reach it.'
    def var(self, axis: int | tuple[int, ...] | None=None, correction: float=0, keepdims: bool=False) -> Tensor:
        'sum((x - mean)^2) / (n - correction).'
    def view(self, dtype: _DTypeLike) -> Tensor:
        'The same bits as another dtype of the same width, without a copy or a gradient. Realizes.'

class UnsupportedError(Error, builtins.NotImplementedError):
    'Not supported, or not yet.'

class _Epoch:
    def __init__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __iter__(self) -> Any:
        ...
    def __next__(self) -> tuple:
        ...

class _Tape:
    def __init__(self) -> None:
        ...
    def enter(self) -> None:
        ...
    def exit(self) -> None:
        ...
    def freeze(self, arg0: List[_TensorLike], arg1: List[_TensorLike]) -> Frozen:
        ...
    def gradient(self, arg0: _TensorLike, arg1: List[_TensorLike], arg2: Optional[_TensorLike]) -> List[Tensor]:
        ...
    def jvp(self, arg0: _TensorLike, arg1: List[_TensorLike], arg2: List[_TensorLike]) -> Tensor:
        ...
    def realize(self, arg0: List[_TensorLike]) -> None:
        ...

class device:
    'with device("vulkan:0"): the default device of this thread inside.'
    def __enter__(self) -> device:
        ...
    def __exit__(self, *args) -> None:
        ...
    def __init__(self, name: str) -> None:
        ...
    def __repr__(self) -> str:
        ...
    @property
    def description(self) -> str: ...
    @property
    def name(self) -> str: ...

def _checkpoint_since(arg0: int, arg1: List[_TensorLike]) -> List[Tensor]:
    ...
def _dump_directory() -> str:
    ...
def _enter_recording() -> None:
    ...
def _identity(arg0: Tensor) -> Tensor:
    ...
def _in_call() -> bool:
    'Whether Python is asked something by a function of this module.'
def _in_tape() -> bool:
    ...
def _is_recording() -> bool:
    ...
def _leave_recording() -> None:
    ...
def _next_order() -> int:
    ...
def _realize(arg0: List[_TensorLike]) -> None:
    ...
def _set_dump_directory(arg0: str) -> None:
    ...
def _shown(arg0: Tensor) -> numpy.ndarray:
    ...
def _types(arg0: List[_TensorLike]) -> bytes:
    "The tensors' devices, dtypes and shapes as a key."
def abs(x: _TensorLike) -> Tensor:
    'Magnitude, of complex numbers a real one. The least integer stays what it is.'
def acos(x: _TensorLike) -> Tensor:
    'Arc cosine, NaN outside [-1, 1]; integers become float32.'
def acosh(x: _TensorLike) -> Tensor:
    'Inverse of cosh, NaN below 1; integers become float32.'
def adaptive_avg_pool1d(x: _TensorLike, output_size: Any) -> Tensor:
    'avg_pool to a size; None keeps an extent.'
def adaptive_avg_pool2d(x: _TensorLike, output_size: Any) -> Tensor:
    'avg_pool to a size; None keeps an extent.'
def adaptive_avg_pool3d(x: _TensorLike, output_size: Any) -> Tensor:
    'avg_pool to a size; None keeps an extent.'
def adaptive_max_pool1d(x: _TensorLike, output_size: Any, return_indices: bool=False) -> Any:
    'max_pool to a size; None keeps an extent.'
def adaptive_max_pool2d(x: _TensorLike, output_size: Any, return_indices: bool=False) -> Any:
    'max_pool to a size; None keeps an extent.'
def adaptive_max_pool3d(x: _TensorLike, output_size: Any, return_indices: bool=False) -> Any:
    'max_pool to a size; None keeps an extent.'
def add(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'a + b; of bools: or.'
def all(x: _TensorLike, axis: int | tuple[int, ...] | None=None, keepdims: bool=False) -> Tensor:
    'Whether all are not 0.'
def angle(x: _TensorLike) -> Tensor:
    'atan2(imag, real); of real numbers 0 or pi.'
def any(x: _TensorLike, axis: int | tuple[int, ...] | None=None, keepdims: bool=False) -> Tensor:
    'Whether any is not 0.'
def arange(start: _Number, stop: Optional[_Number]=None, step: _Number=1, dtype: Optional[_DTypeLike]=None, device: Optional[str]=None) -> Tensor:
    'start, start + step, .. short of stop; one number is the stop. int64 when all are integers, else float32.'
def argmax(x: _TensorLike, axis: int | tuple[int, ...] | None=None, keepdims: bool=False) -> Tensor:
    'Position, int64, of the first NaN, else of the first largest; over several axes in their row-major order.'
def argmin(x: _TensorLike, axis: int | tuple[int, ...] | None=None, keepdims: bool=False) -> Tensor:
    'Position, int64, of the first NaN, else of the first smallest.'
def argsort(x: _TensorLike, axis: int=-1, descending: bool=False, stable: bool=True) -> Tensor:
    'The indices that sort an axis.'
def asin(x: _TensorLike) -> Tensor:
    'Arc sine, NaN outside [-1, 1]; integers become float32.'
def asinh(x: _TensorLike) -> Tensor:
    'Inverse of sinh; integers become float32.'
def astype(x: _TensorLike, dtype: _DTypeLike) -> Tensor:
    'Converts: float to integer saturates and NaN gives 0, integers wrap. A pair of casts is never left out.'
def atan(x: _TensorLike) -> Tensor:
    'Arc tangent; integers become float32.'
def atan2(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'The angle of the point (x2, x1); integers become float32.'
def atanh(x: _TensorLike) -> Tensor:
    'Inverse of tanh, NaN outside [-1, 1]; integers become float32.'
def avg_pool1d(x: _TensorLike, kernel_size: int | tuple[int, ...], stride: Optional[int | tuple[int, ...]]=None, padding: int | tuple[int, ...]=0, ceil_mode: bool=False, count_include_pad: bool=True, divisor_override: Optional[int]=None) -> Tensor:
    'The sum of each window divided by how many elements it has.'
def avg_pool2d(x: _TensorLike, kernel_size: int | tuple[int, ...], stride: Optional[int | tuple[int, ...]]=None, padding: int | tuple[int, ...]=0, ceil_mode: bool=False, count_include_pad: bool=True, divisor_override: Optional[int]=None) -> Tensor:
    'The sum of each window divided by how many elements it has.'
def avg_pool3d(x: _TensorLike, kernel_size: int | tuple[int, ...], stride: Optional[int | tuple[int, ...]]=None, padding: int | tuple[int, ...]=0, ceil_mode: bool=False, count_include_pad: bool=True, divisor_override: Optional[int]=None) -> Tensor:
    'The sum of each window divided by how many elements it has.'
def batch_norm(x: _TensorLike, running_mean: Optional[_TensorLike]=None, running_var: Optional[_TensorLike]=None, weight: Optional[_TensorLike]=None, bias: Optional[_TensorLike]=None, training: bool=False, momentum: _Number=0.1, eps: _Number=1e-05) -> Tensor:
    "x (N, C, ..) normalized by each channel's statistics: the running ones, or in training the batch's, of which the running ones then remember a part. Without running ones always the batch's."
def bernoulli(p: _TensorLike, generator: Generator=None) -> Tensor:
    '1 with each probability, else 0.'
bfloat16: DType
def binary_cross_entropy(input: _TensorLike, target: _TensorLike, reduction: str='mean') -> Tensor:
    '-(t log p + (1 - t) log(1 - p)) of probabilities p, the logarithms no less than -100.'
def binary_cross_entropy_with_logits(input: _TensorLike, target: _TensorLike, reduction: str='mean', pos_weight: Optional[_TensorLike]=None) -> Tensor:
    'binary_cross_entropy of sigmoid(input), without loss at either end.'
def bitcast(x: _TensorLike, dtype: _DTypeLike) -> Tensor:
    'The same bits as another dtype of the same size.'
def bitwise_and(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'a & b of integers or bools.'
def bitwise_invert(x: _TensorLike) -> Tensor:
    '~x of integers, not x of bools.'
def bitwise_left_shift(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'a << b; counts outside the width shift all out.'
def bitwise_or(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'a | b of integers or bools.'
def bitwise_right_shift(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'a >> b; counts outside the width shift all out.'
def bitwise_xor(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'a ^ b of integers or bools.'
bool_: DType
def broadcast_arrays(*args) -> List[Tensor]:
    'All in their common shape.'
def broadcast_to(x: _TensorLike, shape: int | tuple[int, ...]) -> Tensor:
    'Repeats axes of extent 1 without moving data.'
def bucketize(x: _TensorLike, boundaries: _TensorLike, right: bool=False) -> Tensor:
    'The number of the bucket that each value lies in; right: a boundary belongs to the bucket above it.'
def cbrt(x: _TensorLike) -> Tensor:
    'Cube root, of negative numbers too; integers become float32.'
def ceil(x: _TensorLike) -> Tensor:
    'Toward +inf; integers stay.'
def celu(x: _TensorLike | _Number, alpha: _TensorLike | _Number=1.0) -> Tensor:
    'x above 0, else alpha * (exp(x / alpha) - 1).'
def chunk(x: _TensorLike, chunks: int, axis: int=0) -> List[Tensor]:
    'So many parts of equal length but perhaps for the last, or fewer where that comes out even.'
ci16: DType
ci32: DType
ci64: DType
ci8: DType
def clip(x: _TensorLike, min: Optional[_TensorLike | _Number]=None, max: Optional[_TensorLike | _Number]=None) -> Tensor:
    'min(max(x, low), high).'
def col2im(x: _TensorLike, output_size: int | tuple[int, ...], kernel_size: int | tuple[int, ...], dilation: int | tuple[int, ...]=1, padding: int | tuple[int, ...]=0, stride: int | tuple[int, ...]=1) -> Tensor:
    'Windows (N, C * kernel elements, places) summed where they overlap.'
def complex(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    're + 1j * im: of float32 complex64, of float64 complex128, of integers complex integers.'
complex128: DType
complex64: DType
def concat(tensors: List[_TensorLike], axis: Optional[int]=0) -> Tensor:
    'One after the other along an axis; axis=None flattens them first.'
def conj(x: _TensorLike) -> Tensor:
    'The complex conjugate; a real x itself.'
def conv1d(x: _TensorLike, weight: _TensorLike, bias: Optional[_TensorLike]=None, stride: int | tuple[int, ...]=1, padding: Any=0, dilation: int | tuple[int, ...]=1, groups: int=1) -> Tensor:
    'x (N, C, ..) with weights (O, C/groups, ..) gives (N, O, ..); padding is a width, one for each spatial axis, "same" or "valid".'
def conv2d(x: _TensorLike, weight: _TensorLike, bias: Optional[_TensorLike]=None, stride: int | tuple[int, ...]=1, padding: Any=0, dilation: int | tuple[int, ...]=1, groups: int=1) -> Tensor:
    'x (N, C, ..) with weights (O, C/groups, ..) gives (N, O, ..); padding is a width, one for each spatial axis, "same" or "valid".'
def conv3d(x: _TensorLike, weight: _TensorLike, bias: Optional[_TensorLike]=None, stride: int | tuple[int, ...]=1, padding: Any=0, dilation: int | tuple[int, ...]=1, groups: int=1) -> Tensor:
    'x (N, C, ..) with weights (O, C/groups, ..) gives (N, O, ..); padding is a width, one for each spatial axis, "same" or "valid".'
def conv_transpose1d(x: _TensorLike, weight: _TensorLike, bias: Optional[_TensorLike]=None, stride: int | tuple[int, ...]=1, padding: int | tuple[int, ...]=0, output_padding: int | tuple[int, ...]=0, groups: int=1, dilation: int | tuple[int, ...]=1) -> Tensor:
    'The transpose of a convolution: x (N, C, ..) with weights (C, O/groups, ..).'
def conv_transpose2d(x: _TensorLike, weight: _TensorLike, bias: Optional[_TensorLike]=None, stride: int | tuple[int, ...]=1, padding: int | tuple[int, ...]=0, output_padding: int | tuple[int, ...]=0, groups: int=1, dilation: int | tuple[int, ...]=1) -> Tensor:
    'The transpose of a convolution: x (N, C, ..) with weights (C, O/groups, ..).'
def conv_transpose3d(x: _TensorLike, weight: _TensorLike, bias: Optional[_TensorLike]=None, stride: int | tuple[int, ...]=1, padding: int | tuple[int, ...]=0, output_padding: int | tuple[int, ...]=0, groups: int=1, dilation: int | tuple[int, ...]=1) -> Tensor:
    'The transpose of a convolution: x (N, C, ..) with weights (C, O/groups, ..).'
def copysign(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    "a's magnitude with b's sign."
def cos(x: _TensorLike) -> Tensor:
    'Cosine; integers become float32.'
def cosh(x: _TensorLike) -> Tensor:
    'Hyperbolic cosine; integers become float32.'
def cosine_similarity(x1: _TensorLike, x2: _TensorLike, axis: int=-1, eps: _Number=1e-08) -> Tensor:
    'sum(x1 * x2) / max(|x1| |x2|, eps) over an axis.'
def count_nonzero(x: _TensorLike, axis: int | tuple[int, ...] | None=None, keepdims: bool=False) -> Tensor:
    'How many elements are not 0, int64.'
def cross(x1: _TensorLike, x2: _TensorLike, axis: int=-1) -> Tensor:
    'The vector product along an axis of extent 3.'
def cross_entropy(logits: _TensorLike, labels: _TensorLike, reduction: str='mean', weight: Optional[_TensorLike]=None, ignore_index: Optional[int]=None, label_smoothing: float=0.0) -> Tensor:
    "-log_softmax(logits) at each row's label: logits (.., C), integer labels (..), or probabilities (.., C). 'mean' (divided by the classes' weights), 'sum', or 'none' for all of them. A label out of range raises IndexError when a result is read."
cu16: DType
cu32: DType
cu64: DType
cu8: DType
def cummax(x: _TensorLike, axis: int) -> Tuple[Tensor, Tensor]:
    'Running maxima, and where the last of each stands.'
def cummin(x: _TensorLike, axis: int) -> Tuple[Tensor, Tensor]:
    'Running minima, and where the last of each stands.'
def cumprod(x: _TensorLike, axis: Optional[int]=None, dtype: Optional[_DTypeLike]=None) -> Tensor:
    'Running products along an axis; bools and integers are multiplied in 64 bits.'
def cumsum(x: _TensorLike, axis: Optional[int]=None, dtype: Optional[_DTypeLike]=None) -> Tensor:
    'Running sums along an axis; bools and integers are summed in 64 bits.'
def cumulative_prod(x: _TensorLike, axis: Optional[int]=None, *, dtype: Optional[_DTypeLike]=None, include_initial: bool=False) -> Tensor:
    'Running products along an axis; bools and integers are multiplied in 64 bits.'
def cumulative_sum(x: _TensorLike, axis: Optional[int]=None, *, dtype: Optional[_DTypeLike]=None, include_initial: bool=False) -> Tensor:
    'Running sums along an axis; bools and integers are summed in 64 bits.'
def default_device() -> str:
    'Name of the device that data goes to and that computes what depends on no data.'
def devices() -> List[str]:
    'Names of the devices that tensors can be on, the CPU first.'
def diag(x: _TensorLike, k: int=0) -> Tensor:
    'The matrix with x on a diagonal, or the diagonal of a matrix.'
def diagonal(x: _TensorLike, offset: int=0, axis1: int=-2, axis2: int=-1) -> Tensor:
    'The diagonals of the matrices in two axes, as a new last axis; a view.'
def diff(x: _TensorLike, n: int=1, axis: int=-1, prepend: Optional[_TensorLike | _Number]=None, append: Optional[_TensorLike | _Number]=None) -> Tensor:
    'x[i + 1] - x[i] along an axis, n times over, of what is prepended and appended too; of bools whether the two differ.'
def digamma(x: _TensorLike) -> Tensor:
    'The derivative of lgamma; integers become float32.'
def divide(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'a / b; integers become float32.'
def dot(x1: _TensorLike, x2: _TensorLike) -> Tensor:
    'The sum of the products of two vectors.'
def dropout(x: _TensorLike, p: _Number=0.5, training: bool=True, generator: Generator=None) -> Tensor:
    'Each element 0 with probability p, else divided by 1 - p; every replay draws anew. Without training x itself.'
def dump_graph(x: Tensor) -> str:
    'Text of the graph that computing x would compile.'
def einsum(equation: str, *args) -> Tensor:
    'Sums of products by labels: "ij,jk->ik".'
def elu(x: _TensorLike | _Number, alpha: _TensorLike | _Number=1.0) -> Tensor:
    'x above 0, else alpha * (exp(x) - 1).'
def embedding(indices: _TensorLike, table: _TensorLike) -> Tensor:
    'Rows of a table at indices of any shape.'
def empty(shape: int | tuple[int, ...], dtype: Optional[_DTypeLike]=None, device: Optional[str]=None) -> Tensor:
    'Zeros: nothing can be written into a tensor, so none is without values.'
def empty_like(x: _TensorLike, dtype: Optional[_DTypeLike]=None, device: Optional[str]=None) -> Tensor:
    "Zeros of x's shape, and dtype unless told."
def equal(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'a == b, as bools.'
def erf(x: _TensorLike) -> Tensor:
    'Error function; integers become float32.'
def erfc(x: _TensorLike) -> Tensor:
    '1 - erf(x), accurate in its tail; integers become float32.'
def erfinv(x: _TensorLike) -> Tensor:
    'Inverse of erf; integers become float32.'
def exp(x: _TensorLike) -> Tensor:
    'e to the x; integers become float32.'
def exp2(x: _TensorLike) -> Tensor:
    '2 to the x, exact for whole x; integers become float32.'
def expand(x: _TensorLike, shape: int | tuple[int, ...]) -> Tensor:
    "broadcast_to in which -1 keeps x's own extent."
def expand_dims(x: _TensorLike, axis: int | tuple[int, ...]=0) -> Tensor:
    'New axes of extent 1, at these places of the result.'
def expm1(x: _TensorLike) -> Tensor:
    'exp(x) - 1, accurate near 0; integers become float32.'
def exponential(shape: int | tuple[int, ...]=(), rate: _Number=1.0, dtype: Optional[_DTypeLike]=None, generator: Generator=None) -> Tensor:
    'Waiting times with mean 1 / rate.'
def eye(n_rows: int, n_cols: Optional[int]=None, k: int=0, dtype: Optional[_DTypeLike]=None, device: Optional[str]=None) -> Tensor:
    'Ones on diagonal k.'
def flatten(x: _TensorLike) -> Tensor:
    'One axis of all elements, row-major.'
def flip(x: _TensorLike, axis: int | tuple[int, ...] | None=None) -> Tensor:
    'Reverses axes, all unless told.'
float16: DType
float32: DType
float64: DType
def floor(x: _TensorLike) -> Tensor:
    'Toward -inf; integers stay.'
def floor_divide(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'floor(a / b); of integers by 0: 0.'
def fmod(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    "a - trunc(a / b) * b, of a's sign; of integers by 0: 0."
def frac(x: _TensorLike) -> Tensor:
    "x - trunc(x), of x's sign; of integers 0."
def from_dlpack(source: Any) -> Tensor:
    'A tensor on the memory of whatever has __dlpack__ on the CPU, without a copy.'
def from_numpy(array: numpy.ndarray, copy: Optional[bool]=None) -> Tensor:
    "A tensor on the array's memory: without a copy where elements are aligned and of this machine's byte order, or always (copy=False: else Error), or never (copy=True)."
def full(shape: int | tuple[int, ...], fill_value: _Number, dtype: Optional[_DTypeLike]=None, device: Optional[str]=None) -> Tensor:
    'The number everywhere, in its own dtype (int64, float32, bool) unless told.'
def full_like(x: _TensorLike, fill_value: _Number, dtype: Optional[_DTypeLike]=None, device: Optional[str]=None) -> Tensor:
    "The number everywhere, in x's shape, and dtype unless told."
def gelu(x: _TensorLike, approximate: str='none') -> Tensor:
    'x * Phi(x), by erf or tanh; integers become float32.'
def glu(x: _TensorLike, axis: int=-1) -> Tensor:
    'The first half of an axis times the sigmoid of the second.'
def greater(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'a > b, as bools.'
def greater_equal(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'a >= b, as bools.'
def group_norm(x: _TensorLike, num_groups: int, weight: Optional[_TensorLike]=None, bias: Optional[_TensorLike]=None, eps: _Number=1e-05) -> Tensor:
    'x (N, C, ..) normalized over each group of channels and all that follows.'
def hardsigmoid(x: _TensorLike) -> Tensor:
    'relu6(x + 3) / 6.'
def hardswish(x: _TensorLike) -> Tensor:
    'x * hardsigmoid(x); 0 at -inf.'
def hardtanh(x: _TensorLike, min_val: _TensorLike | _Number=-1.0, max_val: _TensorLike | _Number=1.0) -> Tensor:
    'min(max(x, min_val), max_val).'
def hinge_loss(input: _TensorLike, target: _TensorLike, reduction: str='mean') -> Tensor:
    'max(0, 1 - input * target) for targets of -1 and 1.'
def huber_loss(input: _TensorLike, target: _TensorLike, reduction: str='mean', delta: _Number=1.0) -> Tensor:
    'Of the difference d: d^2 / 2 where |d| <= delta, else delta * (|d| - delta / 2).'
def hypot(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'sqrt(a*a + b*b) without overflow; integers become float32.'
def im2col(x: _TensorLike, kernel_size: int | tuple[int, ...], dilation: int | tuple[int, ...]=1, padding: int | tuple[int, ...]=0, stride: int | tuple[int, ...]=1) -> Tensor:
    'x (N, C, H, W) as its windows: (N, C * kernel elements, places).'
def imag(x: _TensorLike) -> Tensor:
    'The imaginary part; of real numbers 0.'
def index_add(x: _TensorLike, indices: _TensorLike, updates: _TensorLike, axis: int=0) -> Tensor:
    'x with updates added at the places that take(x, indices, axis) reads. Repeated indices add up in their order.'
def index_put(x: _TensorLike, indices: _TensorLike, updates: _TensorLike, axis: int=0) -> Tensor:
    'x with updates at the places that take(x, indices, axis) reads. Of repeated indices the last one counts.'
def index_select(x: _TensorLike, indices: _TensorLike, axis: int=0) -> Tensor:
    "x's entries along an axis at indices of rank 1."
def instance_norm(x: _TensorLike, weight: Optional[_TensorLike]=None, bias: Optional[_TensorLike]=None, eps: _Number=1e-05) -> Tensor:
    'group_norm with every channel a group.'
int16: DType
int32: DType
int64: DType
int8: DType
def interpolate(x: _TensorLike, size: Optional[int | tuple[int, ...]]=None, scale_factor: Any=None, mode: str='nearest', align_corners: Optional[bool]=None) -> Tensor:
    'x (N, C, ..) resampled to a size, or by a factor.'
def isfinite(x: _TensorLike) -> Tensor:
    'Whether it is neither NaN nor an infinity.'
def isinf(x: _TensorLike) -> Tensor:
    'Whether it is an infinity.'
def isnan(x: _TensorLike) -> Tensor:
    'Whether it is NaN.'
def kl_div(input: _TensorLike, target: _TensorLike, reduction: str='mean', log_target: bool=False) -> Tensor:
    'target * (log(target) - input), 0 where the target is. "batchmean" divides the sum by the rows.'
def kron(x1: _TensorLike, x2: _TensorLike) -> Tensor:
    'The Kronecker product.'
def l1_loss(input: _TensorLike, target: _TensorLike, reduction: str='mean') -> Tensor:
    '|input - target|.'
def layer_norm(x: _TensorLike, axis: int | tuple[int, ...] | None=-1, weight: Optional[_TensorLike]=None, bias: Optional[_TensorLike]=None, eps: _Number=1e-05) -> Tensor:
    "(x - mean) / sqrt(variance + eps) * weight + bias over the axes; weight and bias have x's extents there."
def ldexp(x1: _TensorLike, x2: _TensorLike) -> Tensor:
    'x1 * 2**x2 for integers x2.'
def leaky_relu(x: _TensorLike | _Number, negative_slope: _TensorLike | _Number=0.01) -> Tensor:
    'x above 0, else x times the slope.'
def lerp(start: _TensorLike | _Number, end: _TensorLike | _Number, weight: _TensorLike | _Number) -> Tensor:
    'start + weight * (end - start), exactly the ends at weights 0 and 1.'
def less(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'a < b, as bools.'
def less_equal(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'a <= b, as bools.'
def lgamma(x: _TensorLike) -> Tensor:
    'log |gamma(x)|; inf at 0 and negative integers; integers become float32.'
def linear_recurrence(a: _TensorLike, b: _TensorLike, axis: int=-1) -> Tensor:
    'y[i] = a[i] * y[i-1] + b[i] along an axis, y[0] = b[0].'
def linspace(start: float, stop: float, num: int=50, endpoint: bool=True, dtype: Optional[_DTypeLike]=None, device: Optional[str]=None) -> Tensor:
    'Values at equal distances.'
def local_response_norm(x: _TensorLike, size: int, alpha: _Number=0.0001, beta: float=0.75, k: _Number=1.0) -> Tensor:
    'x / (k + alpha * mean of the squares of the channels around)^beta.'
def log(x: _TensorLike) -> Tensor:
    'Natural logarithm; integers become float32.'
def log10(x: _TensorLike) -> Tensor:
    'Logarithm to the base 10; integers become float32.'
def log1p(x: _TensorLike) -> Tensor:
    'log(1 + x), accurate near 0; integers become float32.'
def log2(x: _TensorLike) -> Tensor:
    'Logarithm to the base 2; integers become float32.'
def log_softmax(x: _TensorLike, axis: int | tuple[int, ...] | None=-1) -> Tensor:
    'log(softmax(x)) without overflow.'
def logaddexp(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'log(exp(a) + exp(b)) without overflow; integers become float32.'
def logcumsumexp(x: _TensorLike, axis: int) -> Tensor:
    'log(exp(x[0]) + .. + exp(x[i])) along an axis, without overflow.'
def logical_and(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'Whether both are not 0.'
def logical_not(x: _TensorLike) -> Tensor:
    'Whether x is 0.'
def logical_or(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'Whether either is not 0.'
def logical_xor(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'Whether exactly one is not 0.'
def logsigmoid(x: _TensorLike) -> Tensor:
    'log(sigmoid(x)), accurate at both ends.'
def logspace(start: float, stop: float, num: int=50, endpoint: bool=True, base: float=10.0, dtype: Optional[_DTypeLike]=None, device: Optional[str]=None) -> Tensor:
    'base to the power of linspace.'
def logsumexp(x: _TensorLike, axis: int | tuple[int, ...] | None=None, keepdims: bool=False) -> Tensor:
    'log(sum(exp(x))) without overflow; of rows of -inf: -inf.'
def lp_pool1d(x: _TensorLike, norm_type: float, kernel_size: int | tuple[int, ...], stride: Optional[int | tuple[int, ...]]=None, ceil_mode: bool=False) -> Tensor:
    'The norm of each window.'
def lp_pool2d(x: _TensorLike, norm_type: float, kernel_size: int | tuple[int, ...], stride: Optional[int | tuple[int, ...]]=None, ceil_mode: bool=False) -> Tensor:
    'The norm of each window.'
def lp_pool3d(x: _TensorLike, norm_type: float, kernel_size: int | tuple[int, ...], stride: Optional[int | tuple[int, ...]]=None, ceil_mode: bool=False) -> Tensor:
    'The norm of each window.'
def masked_fill(x: _TensorLike, mask: _TensorLike, value: _TensorLike | _Number) -> Tensor:
    'x with a value where the mask holds.'
def masked_select(x: _TensorLike, mask: _TensorLike) -> Tensor:
    'The elements where a mask holds, row-major.'
def matmul(x1: _TensorLike, x2: _TensorLike) -> Tensor:
    "NumPy's matmul: vectors are rows on the left and columns on the right, leading axes broadcast."
def matrix_norm(x: _TensorLike, keepdims: bool=False, ord: Any='fro') -> Tensor:
    'Of the last two axes: "fro", or the largest sum of magnitudes of a column (1) or row (inf), or the least (-1, -inf).'
def matrix_transpose(x: _TensorLike) -> Tensor:
    'The last two axes swapped.'
def max(x: _TensorLike, axis: int | tuple[int, ...] | None=None, keepdims: bool=False) -> Tensor:
    'Largest; NaN if any is. ShapeError for an empty axis of a result that is not.'
def max_pool1d(x: _TensorLike, kernel_size: int | tuple[int, ...], stride: Optional[int | tuple[int, ...]]=None, padding: int | tuple[int, ...]=0, dilation: int | tuple[int, ...]=1, ceil_mode: bool=False, return_indices: bool=False) -> Any:
    'The largest element of each window; with return_indices also where it lies in its plane.'
def max_pool2d(x: _TensorLike, kernel_size: int | tuple[int, ...], stride: Optional[int | tuple[int, ...]]=None, padding: int | tuple[int, ...]=0, dilation: int | tuple[int, ...]=1, ceil_mode: bool=False, return_indices: bool=False) -> Any:
    'The largest element of each window; with return_indices also where it lies in its plane.'
def max_pool3d(x: _TensorLike, kernel_size: int | tuple[int, ...], stride: Optional[int | tuple[int, ...]]=None, padding: int | tuple[int, ...]=0, dilation: int | tuple[int, ...]=1, ceil_mode: bool=False, return_indices: bool=False) -> Any:
    'The largest element of each window; with return_indices also where it lies in its plane.'
def maximum(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'The larger; NaN if either is.'
def mean(x: _TensorLike, axis: int | tuple[int, ...] | None=None, keepdims: bool=False, dtype: Optional[_DTypeLike]=None) -> Tensor:
    'Arithmetic mean; of nothing NaN.'
def meshgrid(*args, indexing: str='xy') -> List[Tensor]:
    'Coordinates of a grid from those of its axes.'
def min(x: _TensorLike, axis: int | tuple[int, ...] | None=None, keepdims: bool=False) -> Tensor:
    'Smallest; NaN if any is. ShapeError for an empty axis of a result that is not.'
def minimum(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'The smaller; NaN if either is.'
def mish(x: _TensorLike) -> Tensor:
    'x * tanh(softplus(x)); 0 at -inf.'
def moveaxis(x: _TensorLike, source: int | tuple[int, ...], destination: int | tuple[int, ...]) -> Tensor:
    'Moves axes to other places; the others keep their order.'
def mse_loss(input: _TensorLike, target: _TensorLike, reduction: str='mean') -> Tensor:
    '(input - target)^2.'
def multinomial(weights: _TensorLike, num_samples: int, replacement: bool=False, generator: Generator=None) -> Tensor:
    'Positions of rows of weights, as likely as they weigh; none twice without replacement. Reading them is an IndexError where weights are negative, not finite or too few positive.'
def multiply(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'a * b; of bools: and.'
def nan_to_num(x: _TensorLike, nan: _Number=0.0, posinf: Optional[_Number]=None, neginf: Optional[_Number]=None) -> Tensor:
    'x with NaN and the infinities replaced: by 0 and the largest finite values unless told.'
def negative(x: _TensorLike) -> Tensor:
    '-x. Integers wrap; DTypeError for bool.'
def nextafter(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'The next float after a toward b; integers become float32.'
def nll_loss(input: _TensorLike, target: _TensorLike, reduction: str='mean', weight: Optional[_TensorLike]=None, ignore_index: Optional[int]=None) -> Tensor:
    "-input at each row's label, by the class's weight; the mean divides by the weights."
def nonzero(x: Tensor) -> tuple:
    'Where x is not 0: a tensor of positions for each axis, row-major. Read at once.'
def not_equal(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'a != b, as bools.'
def num_threads() -> int:
    'Threads that share a launch, the caller included.'
def one_hot(indices: _TensorLike, num_classes: int, dtype: Optional[_DTypeLike]=None) -> Tensor:
    '1 at each index along a new last axis; an index out of range gives zeros.'
def ones(shape: int | tuple[int, ...], dtype: Optional[_DTypeLike]=None, device: Optional[str]=None) -> Tensor:
    'Ones, float32 unless told.'
def ones_like(x: _TensorLike, dtype: Optional[_DTypeLike]=None, device: Optional[str]=None) -> Tensor:
    "Ones of x's shape, and dtype unless told."
def outer(x1: _TensorLike, x2: _TensorLike) -> Tensor:
    'The products of each element of x1 with each of x2.'
def pad(x: _TensorLike, pad_width: Any, mode: str='constant', constant_values: _Number=0) -> Tensor:
    'A border around x: one width, one (before, after), or one such pair for each axis. The mode is "constant" (the number must fit x\'s dtype, which stays), "reflect", "replicate" or "circular" (NumPy\'s "edge" and "wrap" too).'
@overload
def permutation(n: int, generator: Generator=None) -> Tensor:
    '0 to n - 1 in random order.'
@overload
def permutation(x: _TensorLike, axis: int=0, generator: Generator=None) -> Tensor:
    "x's positions along an axis in random order."
def permute_dims(x: _TensorLike, axes: int | tuple[int, ...]) -> Tensor:
    'Axis i of the result is axis axes[i] of x.'
def pixel_shuffle(x: _TensorLike, upscale_factor: int) -> Tensor:
    '(.., C * factor^2, H, W) to (.., C, H * factor, W * factor).'
def pixel_unshuffle(x: _TensorLike, downscale_factor: int) -> Tensor:
    '(.., C, H * factor, W * factor) to (.., C * factor^2, H, W).'
def polar(abs: _TensorLike, angle: _TensorLike) -> Tensor:
    'Complex numbers of these magnitudes and angles.'
def polygamma(n: int, x: _TensorLike) -> Tensor:
    'The n-th derivative of digamma, n up to 64; integers become float32.'
def positive(x: _TensorLike) -> Tensor:
    'x itself.'
def pow(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'a to the b. A number as exponent is compiled in; integers wrap, negative exponents give 0.'
def prelu(x: _TensorLike, weight: _TensorLike) -> Tensor:
    'leaky_relu with one slope, or one for each channel of axis 1.'
def prod(x: _TensorLike, axis: int | tuple[int, ...] | None=None, keepdims: bool=False, dtype: Optional[_DTypeLike]=None) -> Tensor:
    'Bools and integers are multiplied in 64 bits.'
def promote_types(a: _DTypeLike, b: _DTypeLike) -> DType:
    'The dtype in which tensors of these dtypes are computed together.'
def rand(shape: int | tuple[int, ...]=(), dtype: Optional[_DTypeLike]=None, generator: Generator=None) -> Tensor:
    'Uniform in [0, 1).'
def randint(low: int, high: int, shape: int | tuple[int, ...]=(), dtype: Optional[_DTypeLike]=None, generator: Generator=None) -> Tensor:
    'Integers in [low, high), int64 unless told.'
def randn(shape: int | tuple[int, ...]=(), dtype: Optional[_DTypeLike]=None, generator: Generator=None) -> Tensor:
    'Standard normal.'
def read_idx(path: str) -> Tensor:
    "A whole IDX file, the format of the MNIST family, gzip'd or plain. IoError when it is missing or damaged."
def real(x: _TensorLike) -> Tensor:
    'The real part; a real x itself.'
def reciprocal(x: _TensorLike) -> Tensor:
    '1 / x; integers become float32.'
def relu(x: _TensorLike) -> Tensor:
    'max(x, 0); NaN stays.'
def relu6(x: _TensorLike) -> Tensor:
    'min(max(x, 0), 6); NaN stays.'
def remainder(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    "a - floor(a / b) * b, of b's sign; of integers by 0: 0."
def repeat(x: _TensorLike, repeats: Any, axis: Optional[int]=None) -> Tensor:
    'Each element so many times in a row, along an axis or of all elements: one count, or one for each (a tensor of them is read at once).'
def reset_stats() -> None:
    'Counters start from 0.'
def reshape(x: _TensorLike, shape: int | tuple[int, ...]) -> Tensor:
    'The same elements in another shape; one extent may be -1.'
def rms_norm(x: _TensorLike, axis: int | tuple[int, ...] | None=-1, weight: Optional[_TensorLike]=None, eps: _Number=1e-05) -> Tensor:
    'x / sqrt(mean(x * x) + eps) * weight over the axes.'
def roll(x: _TensorLike, shift: int | tuple[int, ...], axis: Optional[int | tuple[int, ...]]=None) -> Tensor:
    'Elements move along axes, or through all of them; what leaves at the end comes in front.'
def rope(x: _TensorLike, offset: _Number=0, base: float=10000.0) -> Tensor:
    'Rotary positions: pairs (i, i + D / 2) turned by (offset + t) * base^(-2 i / D).'
def round(x: _TensorLike) -> Tensor:
    'To the nearest integer, ties to even.'
def rsqrt(x: _TensorLike) -> Tensor:
    '1 / sqrt(x); integers become float32.'
def scaled_dot_product_attention(query: _TensorLike, key: _TensorLike, value: _TensorLike, attn_mask: Optional[_TensorLike]=None, is_causal: bool=False, scale: Optional[_Number]=None) -> Tensor:
    'softmax(q k^T scale) v over the last two axes. Heads share keys and values in groups where there are fewer of those; a position that sees nothing gives 0; with fewer queries than keys is_causal takes them for the last ones.'
def scatter(x: _TensorLike, indices: _TensorLike, updates: _TensorLike, axis: int=-1) -> Tensor:
    'x with updates[.., j, ..] at x[.., indices[.., j, ..], ..]; the last one counts.'
def scatter_add(x: _TensorLike, indices: _TensorLike, updates: _TensorLike, axis: int=-1) -> Tensor:
    'x with updates[.., j, ..] added at x[.., indices[.., j, ..], ..].'
def scatter_reduce(x: _TensorLike, indices: _TensorLike, updates: _TensorLike, reduce: str, axis: int=-1, include_self: bool=True) -> Tensor:
    'x with updates folded in at x[.., indices[.., j, ..], ..]: "sum", "prod", "mean", "amax" or "amin".'
def searchsorted(x1: _TensorLike, x2: _TensorLike, side: str='left', sorter: Optional[_TensorLike]=None) -> Tensor:
    'Where values would be inserted into an ascending x1: before its equals or behind them. sorter: the indices that sort x1.'
def selu(x: _TensorLike) -> Tensor:
    'The scaled exponential linear unit.'
def set_default_device(name: str) -> None:
    'The default device of every thread that is in no `with device(..)`. DeviceError when no device is called so.'
def set_num_threads(threads: int) -> None:
    '0 asks for one per core. Results do not depend on it.'
def set_seed(seed: int) -> None:
    'Starts the global stream of random numbers anew.'
def set_slice(x: _TensorLike, key: Any, value: _TensorLike | _Number) -> Tensor:
    'x with a value, broadcast to x[key], in place of x[key]. Where positions repeat the last one counts; a mask is read at once, but for a single value.'
def sigmoid(x: _TensorLike) -> Tensor:
    '1 / (1 + exp(-x)); integers become float32.'
def sign(x: _TensorLike) -> Tensor:
    '-1, 0 or 1; of NaN NaN; of complex x x / |x|.'
def signbit(x: _TensorLike) -> Tensor:
    'Whether the sign bit is set, of -0 and NaN too.'
def silu(x: _TensorLike) -> Tensor:
    'x * sigmoid(x); 0 at -inf.'
def sin(x: _TensorLike) -> Tensor:
    'Sine; integers become float32.'
def sinh(x: _TensorLike) -> Tensor:
    'Hyperbolic sine; integers become float32.'
def smooth_l1_loss(input: _TensorLike, target: _TensorLike, reduction: str='mean', beta: _Number=1.0) -> Tensor:
    'Of the difference d: d^2 / (2 beta) where |d| < beta, else |d| - beta / 2.'
def softmax(x: _TensorLike, axis: int | tuple[int, ...] | None=-1) -> Tensor:
    'exp(x) / sum(exp(x)) over one axis or several; NaN for a row of -inf.'
def softplus(x: _TensorLike) -> Tensor:
    'log(1 + exp(x)), accurate in its tail.'
def softsign(x: _TensorLike) -> Tensor:
    'x / (1 + |x|); -1 and 1 at the infinities.'
def sort(x: _TensorLike, axis: int=-1, descending: bool=False, stable: bool=True) -> Tensor:
    'The elements of an axis in order; NaN is above all numbers. Equal ones stay in order, asked for or not.'
def split(x: _TensorLike, indices_or_sections: Any, axis: int=0) -> List[Tensor]:
    'Equal parts (ShapeError when they do not come out even), or parts that end at positions.'
def sqrt(x: _TensorLike) -> Tensor:
    'Square root; integers become float32.'
def square(x: _TensorLike) -> Tensor:
    'x * x.'
def squeeze(x: _TensorLike, axis: Optional[int | tuple[int, ...]]=None) -> Tensor:
    'Drops axes of extent 1: those given (ShapeError if longer), or all.'
def stack(tensors: List[_TensorLike], axis: int=0) -> Tensor:
    'Along a new axis.'
def stats() -> dict:
    'Counters since the start or reset_stats(); live figures are as of now.'
def std(x: _TensorLike, axis: int | tuple[int, ...] | None=None, correction: float=0, keepdims: bool=False) -> Tensor:
    'The root of var; its gradient at 0 is 0.'
def stop_gradient(x: _TensorLike) -> Tensor:
    'The value, through which no gradient flows.'
def subtract(x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'a - b. DTypeError for bools.'
def sum(x: _TensorLike, axis: int | tuple[int, ...] | None=None, keepdims: bool=False, dtype: Optional[_DTypeLike]=None) -> Tensor:
    'Bools and integers are summed in 64 bits, float16 and bfloat16 in float32.'
def take(x: _TensorLike, indices: _TensorLike, axis: int=0) -> Tensor:
    "x's entries along an axis: shape x[:axis] + indices + x[axis+1:]. Negative indices count from the end; one out of range raises IndexError when a result is read."
def take_along_axis(x: _TensorLike, indices: _TensorLike, axis: int=-1) -> Tensor:
    'x[.., indices[.., j, ..], ..]: one index for each element; other axes broadcast.'
def tan(x: _TensorLike) -> Tensor:
    'Tangent; integers become float32.'
def tanh(x: _TensorLike) -> Tensor:
    'Hyperbolic tangent; integers become float32.'
def tanhshrink(x: _TensorLike) -> Tensor:
    'x - tanh(x).'
def tensordot(x1: _TensorLike, x2: _TensorLike, axes: Any=2) -> Tensor:
    'Sums over the last axes of x1 and the first of x2, or over pairs of axes.'
def threshold(x: _TensorLike, threshold: _TensorLike | _Number, value: _TensorLike | _Number) -> Tensor:
    'x above the threshold, else the value.'
def tile(x: _TensorLike, repetitions: int | tuple[int, ...]) -> Tensor:
    'x itself, repeated along its axes and before them.'
def topk(x: _TensorLike, k: int, axis: int=-1, largest: bool=True) -> Tuple[Tensor, Tensor]:
    'The k largest or smallest elements of an axis in order, and their indices.'
def trace(x: _TensorLike, offset: int=0) -> Tensor:
    'The sum of a diagonal of the last two axes.'
def tri(n_rows: int, n_cols: Optional[int]=None, k: int=0, dtype: Optional[_DTypeLike]=None, device: Optional[str]=None) -> Tensor:
    'Ones on diagonal k and below it.'
def tril(x: _TensorLike, k: int=0) -> Tensor:
    'Matrices with 0 above a diagonal.'
def triplet_margin_loss(anchor: _TensorLike, positive: _TensorLike, negative: _TensorLike, margin: _Number=1.0, reduction: str='mean') -> Tensor:
    'max(0, |anchor - positive| - |anchor - negative| + margin) of the rows.'
def triu(x: _TensorLike, k: int=0) -> Tensor:
    'Matrices with 0 below a diagonal.'
def trunc(x: _TensorLike) -> Tensor:
    'Toward 0; integers stay.'
def truncated_normal(shape: int | tuple[int, ...]=(), low: float=-2.0, high: float=2.0, dtype: Optional[_DTypeLike]=None, generator: Generator=None) -> Tensor:
    'Standard normal between low and high, its tails cut off.'
uint16: DType
uint32: DType
uint64: DType
uint8: DType
def unfold(x: _TensorLike, axis: int, size: int, step: int=1) -> Tensor:
    'All slices of `size` elements of an axis, each `step` further, as a new last axis; a view.'
def uniform(shape: int | tuple[int, ...]=(), low: _Number=0.0, high: _Number=1.0, dtype: Optional[_DTypeLike]=None, generator: Generator=None) -> Tensor:
    'Uniform between low and high.'
def unique(x: _TensorLike, return_index: bool=False, return_inverse: bool=False, return_counts: bool=False, axis: Optional[int]=None) -> Any:
    "The different elements in ascending order, or the different slices along an axis; and where asked for their first indices, the inverse, the counts, as NumPy's."
def unique_all(x: _TensorLike) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    'The different elements, their first indices, the inverse, the counts.'
def unique_counts(x: _TensorLike) -> Tuple[Tensor, Tensor]:
    'The different elements, and how often each one occurs.'
def unique_inverse(x: _TensorLike) -> Tuple[Tensor, Tensor]:
    'The different elements, and which of them each element of x is.'
def unique_values(x: _TensorLike) -> Tensor:
    'The different elements in ascending order; each NaN is one of its own.'
def unstack(x: _TensorLike, axis: int=0) -> List[Tensor]:
    'The positions of an axis, which they drop.'
def var(x: _TensorLike, axis: int | tuple[int, ...] | None=None, correction: float=0, keepdims: bool=False) -> Tensor:
    'sum((x - mean)^2) / (n - correction).'
def vdot(x1: _TensorLike, x2: _TensorLike) -> Tensor:
    'The sum of the products of all elements.'
def vecdot(x1: _TensorLike, x2: _TensorLike, axis: int=-1) -> Tensor:
    "dot along an axis of equal extents, of x1's conjugate; the other axes broadcast."
def vector_norm(x: _TensorLike, axis: int | tuple[int, ...] | None=None, keepdims: bool=False, ord: float=2.0) -> Tensor:
    'sum(|x|^ord)^(1/ord); inf: the largest magnitude, -inf: the smallest, 0: how many are not 0.'
def where(condition: _TensorLike, x1: _TensorLike | _Number, x2: _TensorLike | _Number) -> Tensor:
    'x1 where the condition (as bools) holds, else x2; the branch not taken gives a gradient no NaN.'
def zeros(shape: int | tuple[int, ...], dtype: Optional[_DTypeLike]=None, device: Optional[str]=None) -> Tensor:
    'Zeros, float32 unless told.'
def zeros_like(x: _TensorLike, dtype: Optional[_DTypeLike]=None, device: Optional[str]=None) -> Tensor:
    "Zeros of x's shape, and dtype unless told."
