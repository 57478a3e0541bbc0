"""Where the package means something else than NumPy, PyTorch or Python, and on purpose: each with a
sentence, an example, and what either side gives. docs/ORACLES.md shows them; a test runs them."""

import dataclasses
import warnings
from typing import Callable

import numpy as np

import reprise as rp

inf, nan = np.inf, np.nan


@dataclasses.dataclass
class Difference:
    op: str
    peer: str  # "NumPy", "PyTorch" or "Python"
    sentence: str
    example: str  # an expression in rp, np, torch's names
    ours: Callable
    gives: object  # nested lists, a dtype's name, or an error
    theirs: Callable  # of the peer's module
    they_give: object


def t(values, dtype):
    return rp.asarray(np.array(values, dtype))


def gradient(function, *values):
    """The gradient of the sum of the function's results, in float64."""
    arrays = [rp.asarray(np.array(v, np.float64)) for v in values]
    result = rp.grad(lambda *xs: rp.sum(function(*xs)), argnums=tuple(range(len(arrays))))(*arrays)
    return [g.tolist() for g in result] if len(result) > 1 else result[0].tolist()


def torch_gradient(torch, function, *values):
    tensors = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in values]
    function(*tensors).sum().backward()
    result = [x.grad.tolist() for x in tensors]
    return result if len(result) > 1 else result[0]


def quietly(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


def dtype_of(x):
    return str(x.dtype).replace("torch.", "")


DIFFERENCES = [
    Difference(
        "add", "NumPy", "An integer with a float is computed in the float's dtype, not in one that holds both.",
        "int32 + float32", lambda: dtype_of(t([1], "int32") + t([1], "float32")), "float32",
        lambda np: dtype_of(np.ones(1, "int32") + np.ones(1, "float32")), "float64",
    ),
    Difference(
        "sqrt", "NumPy", "Functions of floats make float32 of every integer; NumPy takes the narrowest float that fits.",
        "sqrt(int64)", lambda: dtype_of(rp.sqrt(t([4], "int64"))), "float32",
        lambda np: dtype_of(np.sqrt(np.array([4], "int64"))), "float64",
    ),
    Difference(
        "divide", "NumPy", "Integers are divided in float32.",
        "int32 / int32", lambda: dtype_of(t([1], "int32") / t([2], "int32")), "float32",
        lambda np: dtype_of(np.ones(1, "int32") / np.ones(1, "int32")), "float64",
    ),
    Difference(
        "mean", "NumPy", "The mean of integers is computed in float64 and given as float32.",
        "mean(int64)", lambda: dtype_of(rp.mean(t([1, 2], "int64"))), "float32",
        lambda np: dtype_of(np.mean(np.array([1, 2], "int64"))), "float64",
    ),
    Difference(
        "floor_divide", "Python", "Integers divided by 0 give 0, as in NumPy but without a warning; Python raises.",
        "7 // 0", lambda: (t([7, -7], "int32") // t([0, 0], "int32")).tolist(), [0, 0],
        lambda python: 7 // 0, ZeroDivisionError,
    ),
    Difference(
        "remainder", "PyTorch", "Integers modulo 0 give 0; PyTorch raises.",
        "7 % 0", lambda: (t([7, -7], "int32") % t([0, 0], "int32")).tolist(), [0, 0],
        lambda torch: torch.tensor([7]) % torch.tensor([0]), RuntimeError,
    ),
    Difference(
        "floor_divide", "NumPy", "An infinity divided by a finite number stays an infinity.",
        "inf // 2.0", lambda: (t([inf, -inf], "float64") // t([2, 2], "float64")).tolist(), [inf, -inf],
        lambda np: np.floor_divide(np.array([inf, -inf]), 2.0).tolist(), [nan, nan],
    ),
    Difference(
        "pow", "NumPy", "A negative exponent of integers gives 0, but for the bases 1 and -1; NumPy raises.",
        "2 ** -1", lambda: rp.pow(t([2, 1, -1], "int32"), t([-1, -1, -1], "int32")).tolist(), [0, 1, -1],
        lambda np: np.power(np.array([2]), np.array([-1])), ValueError,
    ),
    Difference(
        "bitwise_left_shift", "PyTorch", "Counts below 0 or past the width shift everything out; C and PyTorch leave them undefined.",
        "1 << 32 in int32", lambda: rp.bitwise_left_shift(t([1, 1], "int32"), t([32, -1], "int32")).tolist(), [0, 0],
        None, None,
    ),
    Difference(
        "astype", "NumPy", "Floats past an integer dtype's ends become its ends, and NaN 0; NumPy leaves them undefined.",
        "astype([3e9, -inf, nan], int32)", lambda: rp.astype(t([3e9, -inf, nan], "float32"), rp.int32).tolist(), [2**31 - 1, -(2**31), 0],
        None, None,
    ),
    Difference(
        "astype", "NumPy", "Negative floats become 0 in unsigned dtypes rather than wrap.",
        "astype(-1.0, uint8)", lambda: rp.astype(t([-1, 300], "float32"), rp.uint8).tolist(), [0, 255],
        None, None,
    ),
    Difference(
        "maximum", "NumPy", "-0 orders below +0; NumPy gives either.",
        "maximum(+0, -0)", lambda: np.signbit(np.asarray(rp.maximum(t([0.0, -0.0], "float32"), t([-0.0, 0.0], "float32")))).tolist(), [False, False],
        None, None,
    ),
    Difference(
        "floor", "NumPy", "Booleans stay booleans under floor, ceil, trunc, round and abs; NumPy makes floor's float16.",
        "floor(True)", lambda: dtype_of(rp.floor(t([True], "bool"))), "bool",
        lambda np: dtype_of(np.floor(np.array([True]))), "float16",
    ),
    Difference(
        "var", "PyTorch", "correction is 0 unless told, as in NumPy and the array API standard; PyTorch's is 1.",
        "var([1, 3])", lambda: rp.var(t([1, 3], "float64")).item(), 1.0,
        lambda torch: torch.var(torch.tensor([1.0, 3.0])).item(), 2.0,
    ),
    Difference(
        "var", "NumPy", "With more correction than elements what is left counts as 0, so that the result is not negative.",
        "var([1, 3], correction=3)", lambda: rp.var(t([1, 3], "float64"), correction=3).item(), inf,
        None, None,
    ),
    Difference(
        "sqrt", "PyTorch", "The gradient of sqrt at 0 is 0.",
        "gradient of sqrt(0)", lambda: gradient(rp.sqrt, [0, 4]), [0, 0.25],
        lambda torch: torch_gradient(torch, torch.sqrt, [0.0, 4.0]), [inf, 0.25],
    ),
    Difference(
        "pow", "PyTorch", "x ** 0.5 is C's pow, +0 at -0, and so is its gradient's sign; PyTorch takes the square root.",
        "gradient of x ** 0.5 at 0 and -0", lambda: gradient(lambda x: x**0.5, [0.0, -0.0]), [inf, inf],
        lambda torch: torch_gradient(torch, lambda x: x**0.5, [0.0, -0.0]), [inf, -inf],
    ),
    Difference(
        "pow", "PyTorch", "Where the power is 0 it stays so: its gradient by the exponent is 0, although the logarithm is infinite.",
        "gradient of inf ** y at -1", lambda: gradient(lambda y: rp.pow(inf, y), [-1.0]), [0],
        lambda torch: torch_gradient(torch, lambda y: torch.pow(inf, y), [-1.0]), [nan],
    ),
    Difference(
        "where", "PyTorch", "The branch that is not taken contributes nothing to a gradient, whatever it computes.",
        "gradient of where(x > 0, log(x), x)", lambda: gradient(lambda x: rp.where(x > 0, rp.log(x), x), [0, 2]), [1, 0.5],
        lambda torch: torch_gradient(torch, lambda x: torch.where(x > 0, torch.log(x), x), [0.0, 2.0]), [nan, 0.5],
    ),
    Difference(
        "clip", "PyTorch", "Bounds that are tensors get the gradient of what they cut off; at the ends of the interval it is x's alone.",
        "gradient of clip(x, low, high) at x == low", lambda: gradient(rp.clip, [1, 0], [1, 1], [5, 5]), [[1, 0], [0, 1], [0, 0]],
        lambda torch: torch_gradient(torch, lambda x, a, b: torch.minimum(torch.maximum(x, a), b), [1.0, 0.0], [1.0, 1.0], [5.0, 5.0]), [[0.5, 0], [0.5, 1], [0, 0]],
    ),
    Difference(
        "max", "PyTorch", "Ties share the gradient in equal parts; PyTorch's max over all elements does too, over one axis it picks one.",
        "gradient of max([2, 2, 1])", lambda: gradient(lambda x: rp.max(x, 0), [2, 2, 1]), [0.5, 0.5, 0],
        lambda torch: torch_gradient(torch, lambda x: torch.max(x, 0).values, [2.0, 2.0, 1.0]), [1, 0, 0],
    ),
    Difference(
        "maximum", "PyTorch", "Of a number and NaN the gradient goes to NaN, which was chosen, alone; PyTorch gives it to both.",
        "gradient of maximum(1, nan)", lambda: gradient(rp.maximum, [1, nan], [nan, nan]), [[0, 0.5], [1, 0.5]],
        lambda torch: torch_gradient(torch, torch.maximum, [1.0, nan], [nan, nan]), [[1, 1], [1, 1]],
    ),
    Difference(
        "atan2", "PyTorch", "The gradient of atan2 and hypot at (0, 0) is 0.",
        "gradient of atan2(0, 0)", lambda: gradient(rp.atan2, [0], [0]), [[0], [0]],
        lambda torch: torch_gradient(torch, torch.atan2, [0.0], [0.0]), [[nan], [nan]],
    ),
    Difference(
        "scaled_dot_product_attention", "PyTorch", "is_causal takes queries for the last positions of the keys; PyTorch takes them for the first.",
        "what one query sees of two keys", lambda: rp.scaled_dot_product_attention(t([[0]], "float32"), t([[0], [0]], "float32"), t([[2], [4]], "float32"), is_causal=True).tolist(), [[3]],
        # By its formula: versions that have the function are not everywhere.
        lambda torch: (torch.softmax(torch.where(torch.ones(1, 2).tril() > 0, 0.0, -inf), -1) @ torch.tensor([[2.0], [4.0]])).tolist(), [[2]],
    ),
    Difference(
        "logsumexp", "NumPy", "It is -inf over no element; NumPy has none, and the maximum of nothing raises.",
        "logsumexp([])", lambda: rp.logsumexp(rp.zeros((0,))).item(), -inf,
        lambda np: np.max(np.zeros(0)), ValueError,
    ),
    Difference(
        "one_hot", "PyTorch", "An index out of range gives a row of zeros, and the rows are float32 unless told; PyTorch raises.",
        "one_hot([3, -1], 3)", lambda: rp.one_hot(t([3, -1], "int64"), 3).tolist(), [[0, 0, 0], [0, 0, 0]],
        lambda torch: torch.nn.functional.one_hot(torch.tensor([3, -1]), 3), RuntimeError,
    ),
    Difference(
        "take", "PyTorch", "Negative positions count from the end, as in NumPy.",
        "take(x, -1)", lambda: rp.take(t([1, 2, 3], "float64"), t([-1], "int64")).tolist(), [3],
        lambda torch: torch.tensor([1, 2, 3]).index_select(0, torch.tensor([-1])), (IndexError, RuntimeError),
    ),
    Difference(
        "silu", "PyTorch", "silu, mish and hardswish are 0 at -infinity, softsign is -1 and 1 at the infinities.",
        "silu(-inf)", lambda: rp.silu(t([-inf], "float64")).item(), 0.0,
        lambda torch: torch.nn.functional.silu(torch.tensor([-inf])).item(), nan,
    ),
    Difference(
        "relu6", "PyTorch", "At the ends of what is let through the gradient is 1: of relu6, hardtanh and, by slope, hardsigmoid and hardswish.",
        "gradient of relu6 at 0 and 6", lambda: gradient(rp.relu6, [0, 6]), [1, 1],
        lambda torch: torch_gradient(torch, torch.nn.functional.relu6, [0.0, 6.0]), [0, 0],
    ),
    Difference(
        "nll_loss", "PyTorch", "No label is ignored unless told; PyTorch ignores -100.",
        "nll_loss([[0]], [-100])", lambda: rp.nll_loss(t([[0]], "float64"), t([-100], "int64")).item(), rp.IndexError,
        lambda torch: torch.nn.functional.nll_loss(torch.zeros(1, 1), torch.tensor([-100]), reduction="sum").item(), 0.0,
    ),
    Difference(
        "chunk", "PyTorch", "An empty axis is one part.",
        "len(chunk([], 3))", lambda: len(rp.chunk(rp.zeros((0,)), 3)), 1,
        lambda torch: len(torch.chunk(torch.zeros(0), 3)), 3,
    ),
    Difference(
        "einsum", "NumPy", "An extent of 1 is broadcast against another of the same label.",
        "einsum('ii', x of (1, 3))", lambda: rp.einsum("ii", rp.ones((1, 3))).item(), 3.0,
        lambda np: np.einsum("ii", np.ones((1, 3))), ValueError,
    ),
    Difference(
        "log1p", "PyTorch", "log1p keeps denormals and is finite for finite numbers.",
        "log1p(5e-324)", lambda: rp.log1p(t([5e-324], "float64")).item(), 5e-324,
        lambda torch: torch.log1p(torch.full((8,), 5e-324, dtype=torch.float64))[0].item(), 0.0,
    ),
    Difference(
        "pad", "NumPy", "A number that does not fit the dtype raises; NumPy casts it.",
        "pad(int8, 1, constant_values=300)", lambda: rp.pad(t([1], "int8"), 1, constant_values=300), rp.DTypeError,
        lambda np: np.pad(np.array([1], "int8"), 1, constant_values=300).tolist(), [44, 1, 44],
    ),
    Difference(
        "max_pool1d", "PyTorch", "Ties in a window share the gradient in equal parts; PyTorch gives it to the first.",
        "gradient of max_pool1d([2, 2], 2)", lambda: gradient(lambda x: rp.max_pool1d(x, 2), [[[2, 2]]]), [[[0.5, 0.5]]],
        lambda torch: torch_gradient(torch, lambda x: torch.nn.functional.max_pool1d(x, 2), [[[2.0, 2.0]]]), [[[1, 0]]],
    ),
    Difference(
        "max_pool1d", "PyTorch", "The index of a window with NaN is the first NaN's; PyTorch's is the last one's.",
        "index of max_pool1d([nan, nan], 2)", lambda: rp.max_pool1d(t([[[nan, nan]]], "float64"), 2, return_indices=True)[1].tolist(), [[[0]]],
        lambda torch: torch.nn.functional.max_pool1d(torch.tensor([[[nan, nan]]]), 2, return_indices=True)[1].tolist(), [[[1]]],
    ),
    Difference(
        "multiply", "NumPy", "A real operand beside a complex one has no imaginary part that could meet an infinity.",
        "(inf + 1j) * 2.0", lambda: str((t([complex(inf, 1)], "complex128") * 2.0).item()), "(inf+2j)",
        lambda np: str((np.array([complex(inf, 1)]) * 2.0)[0].item()), "(inf+nanj)",
    ),
    Difference(
        "astype", "NumPy", "A complex number becomes no real one by a cast: real, imag and abs say what is meant.",
        "astype(1j, float64)", lambda: rp.astype(t([1j], "complex128"), "float64"), rp.DTypeError,
        lambda np: quietly(lambda: np.array([1j]).astype("float64").tolist()), [0],
    ),
    Difference(
        "sign", "NumPy", "The sign of a complex number is the number divided by its magnitude, as in the array API standard; NumPy's before 2.0 is that of the real part.",
        "sign(3 + 4j)", lambda: str(rp.sign(t([3 + 4j], "complex128")).item()), "(0.6+0.8j)", None, None,
    ),
    Difference(
        "less", "NumPy", "Complex numbers have no order; NumPy compares real parts first.",
        "1j < 2j", lambda: t([1j], "complex128") < t([2j], "complex128"), rp.DTypeError,
        lambda np: (np.array([1j]) < np.array([2j])).tolist(), [True],
    ),
    Difference(
        "lp_pool1d", "PyTorch", "lp_pool is the norm of a window: of magnitudes, so that odd powers do not cancel.",
        "lp_pool1d([-1, -1], 1, 2)", lambda: rp.lp_pool1d(t([[[-1, -1]]], "float64"), 1.0, 2).tolist(), [[[2]]],
        lambda torch: torch.nn.functional.lp_pool1d(torch.tensor([[[-1.0, -1.0]]]), 1.0, 2).tolist(), [[[-2]]],
    ),
    Difference(
        "lp_pool1d", "PyTorch", "With ceil_mode it is the norm of what the last window has; PyTorch counts each element for the ones that are missing.",
        "lp_pool1d([0, 0, 1], 1, 2, ceil_mode=True)", lambda: rp.lp_pool1d(t([[[0, 0, 1]]], "float64"), 1.0, 2, ceil_mode=True).tolist(), [[[0, 1]]],
        lambda torch: torch.nn.functional.lp_pool1d(torch.tensor([[[0.0, 0.0, 1.0]]]), 1.0, 2, ceil_mode=True).tolist(), [[[0, 2]]],
    ),
]  # fmt: skip
