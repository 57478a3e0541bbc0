"""What ops make of complex tensors: their references, how close they come, where their gradients
are taken. Of complex numbers an error is measured against the magnitude of the whole number."""

import dataclasses
from typing import Any, Callable

import numpy as np

import fold_references as fold
from samples import LAYOUTS, SHAPES, laid_out

#: Ops of the table whose own references and inputs do: they only move or choose elements.
MOVES = (
    "positive", "stop_gradient", "where", "take", "index_select", "embedding", "take_along_axis",
    "index_put", "scatter", "masked_fill", "set_slice", "unfold", "im2col", "pixel_shuffle",
    "pixel_unshuffle", "reshape", "permute_dims", "matrix_transpose", "expand", "roll", "repeat",
    "tile", "chunk", "unstack", "diagonal", "diag", "triu", "tril", "meshgrid", "moveaxis",
    "flatten", "squeeze", "expand_dims", "broadcast_to", "broadcast_arrays", "flip", "pad",
    "concat", "stack", "split",
)  # fmt: skip
#: Ops of real results that are exact, and those that add in a fixed order of their own.
PREDICATES = ("isnan", "isinf", "isfinite", "logical_not", "logical_and", "logical_or",
              "logical_xor", "equal", "not_equal", "any", "all", "count_nonzero")  # fmt: skip


@dataclasses.dataclass
class Row:
    reference: Callable  # of long double arrays
    tolerance: float  # in epsilons of the parts, of the magnitude
    make: Callable  # (rng, dtype) -> list of (operands, keyword arguments)
    torch: Any = None  # the name or function of PyTorch's; None: its own differences only
    gradient: bool = True
    apart: float = 0  # where gradients are taken, parts are this far from 0: from cuts and poles


def elementwise(arity):
    def make(rng, dtype):
        cases = []
        for at in rng.choice(len(SHAPES), 3, replace=False):
            shape = SHAPES[at]
            operands = []
            for j in range(arity):
                own = shape[rng.integers(0, len(shape) + 1) :] if j and rng.random() < 0.4 else shape
                operands.append(laid_out(rng, dtype, own, str(rng.choice(LAYOUTS)), "moderate"))
            cases.append((operands, {}))
        return cases

    return make


def shaped(*rows):
    def make(rng, dtype):
        return [([laid_out(rng, dtype, s, str(rng.choice(LAYOUTS)), "moderate") for s in shapes], k) for shapes, k in rows]  # fmt: skip

    return make


def unary(reference, tolerance, torch="", **more):
    return Row(reference, tolerance, elementwise(1), torch or reference.__name__, **more)


def binary(reference, tolerance, torch, **more):
    return Row(reference, tolerance, elementwise(2), torch, **more)


def reduced(reference, tolerance, torch, **more):
    rows = [(((7,),), {}), (((4, 33),), {"axis": 0}), (((2, 3, 17),), {"axis": (0, 2), "keepdims": True}), (((65, 2),), {"axis": -2})]  # fmt: skip
    return Row(reference, tolerance, shaped(*rows), torch, **more)


def sign(x):
    magnitude = np.abs(x)
    return np.where(magnitude == 0, 0, x / np.where(magnitude == 0, 1, magnitude))


def variance(x, axis=None, keepdims=False, correction=0):
    mean = np.mean(x, axis, keepdims=True)
    count = x.size // max(mean.size, 1)
    return np.sum(np.abs(x - mean) ** 2, axis, keepdims=keepdims) / (count - correction)


PRODUCTS = shaped(
    (((5,), (5,)), {}), (((3,), (3, 4)), {}), (((7, 9), (9, 5)), {}), (((2, 0), (0, 3)), {}),
    (((2, 1, 4, 5), (3, 5, 2)), {}), (((33, 17), (17, 31)), {}),
)  # fmt: skip
VECTORS = shaped((((7,), (7,)), {}), (((1,), (1,)), {}))
EINSUMS = shaped((((3, 4), (4, 5)), {"equation": "ij,jk->ik"}), (((4, 4),), {"equation": "ii"}), (((2, 3), (3,), (2,)), {"equation": "ij,j,i->"}))  # fmt: skip

ROWS = {
    "negative": unary(np.negative, 0, "neg"),
    "square": unary(np.square, 3),
    "reciprocal": unary(np.reciprocal, 6, apart=0.2),
    "sign": unary(sign, 4, "sgn", apart=0.2),
    "abs": unary(np.abs, 2, "abs"),
    "angle": unary(np.angle, 4, "angle", apart=0.2),
    "conj": unary(np.conj, 0, "conj"),
    "real": unary(np.real, 0, "real"),
    "imag": unary(np.imag, 0, "imag"),
    "sqrt": unary(np.sqrt, 5, apart=0.2),
    "rsqrt": unary(lambda x: 1 / np.sqrt(x), 8, "rsqrt", apart=0.2),
    "exp": unary(np.exp, 6),
    "exp2": unary(lambda x: np.exp(x * np.log(np.longdouble(2))), 16, lambda t, x: t.exp(x * np.log(2))),  # fmt: skip
    "expm1": unary(np.expm1, 8, lambda t, x: t.exp(x) - 1),
    "log": unary(np.log, 6, apart=0.2),
    "log1p": unary(np.log1p, 8, lambda t, x: t.log(x + 1), apart=0.2),
    "log2": unary(lambda x: np.log(x) / np.log(np.longdouble(2)), 8, "log2", apart=0.2),
    "log10": unary(lambda x: np.log(x) / np.log(np.longdouble(10)), 8, "log10", apart=0.2),
    "sin": unary(np.sin, 8), "cos": unary(np.cos, 8),
    "tan": unary(np.tan, 16, apart=0.2),
    "sinh": unary(np.sinh, 8), "cosh": unary(np.cosh, 8),
    "tanh": unary(np.tanh, 16, apart=0.2),
    "asin": unary(np.arcsin, 24, "asin", apart=0.2),
    "acos": unary(np.arccos, 24, "acos", apart=0.2),
    "atan": unary(np.arctan, 24, "atan", apart=0.2),
    "asinh": unary(np.arcsinh, 24, "asinh", apart=0.2),
    "acosh": unary(np.arccosh, 24, "acosh", apart=0.2),
    "atanh": unary(np.arctanh, 24, "atanh", apart=0.2),
    "sigmoid": unary(lambda x: 1 / (1 + np.exp(-x)), 24, "sigmoid"),
    "round": unary(np.round, 0, lambda t, x: t.complex(t.round(x.real), t.round(x.imag)), gradient=False),  # fmt: skip
    "add": binary(np.add, 1, "add"),
    "subtract": binary(np.subtract, 1, "sub"),
    "multiply": binary(np.multiply, 3, "mul"),
    "divide": binary(np.divide, 8, "div", apart=0.2),
    "pow": binary(np.power, 400, "pow", apart=0.2),
    "sum": reduced(np.sum, 16, "sum"),
    "mean": reduced(np.mean, 16, "mean"),
    "prod": Row(np.prod, 64, shaped((((7,),), {"axis": 0}), (((4, 9),), {"axis": 0}), (((2, 3, 5),), {"axis": -1})), "prod"),  # fmt: skip
    "var": reduced(variance, 32, lambda t, x, **k: t.var(x, unbiased=False, **k)),
    "std": reduced(lambda x, **k: np.sqrt(variance(x, **k)), 32, lambda t, x, **k: t.std(x, unbiased=False, **k)),  # fmt: skip
    "cumsum": Row(np.cumsum, 32, shaped((((7,),), {"axis": 0}), (((4, 33),), {"axis": 1})), lambda t, x, axis: t.cumsum(x, axis)),  # fmt: skip
    "cumprod": Row(np.cumprod, 128, shaped((((7,),), {"axis": 0}), (((4, 9),), {"axis": 1})), lambda t, x, axis: t.cumprod(x, axis)),  # fmt: skip
    "matmul": Row(fold.matmul, 64, PRODUCTS, "matmul"),
    "dot": Row(lambda a, b: np.sum(a * b), 32, VECTORS, lambda t, a, b: (a * b).sum()),
    "vdot": Row(lambda a, b: np.sum(np.conj(a) * b), 32, VECTORS, lambda t, a, b: (a.conj() * b).sum()),
    "vecdot": Row(lambda a, b, axis=-1: np.sum(np.conj(a) * b, axis), 32, shaped((((4, 3), (4, 3)), {}), (((5, 2), (5, 1)), {"axis": 0})), lambda t, a, b, axis=-1: (a.conj() * b).sum(axis)),  # fmt: skip
    "outer": Row(np.outer, 3, shaped((((7,), (5,)), {})), "outer"),
    "kron": Row(np.kron, 3, shaped((((2, 3), (3, 2)), {})), "kron"),
    "cross": Row(lambda a, b: np.cross(a, b), 8, shaped((((4, 3), (4, 3)), {})), None),
    "trace": Row(np.trace, 16, shaped((((5, 5),), {})), "trace"),
    "einsum": Row(lambda *xs, equation: np.einsum(equation, *xs), 64, EINSUMS, lambda t, *xs, equation: t.einsum(equation, *xs)),  # fmt: skip
    "tensordot": Row(np.tensordot, 64, shaped((((4, 3), (3, 5)), {"axes": 1})), lambda t, a, b, axes: t.tensordot(a, b, axes)),  # fmt: skip
    "vector_norm": Row(lambda x: np.sqrt(np.sum(np.abs(x) ** 2)), 16, shaped((((7,),), {}), (((4, 3),), {})), lambda t, x: t.linalg.vector_norm(x)),  # fmt: skip
    "matrix_norm": Row(lambda x: np.sqrt(np.sum(np.abs(x) ** 2)), 16, shaped((((4, 3),), {})), lambda t, x: t.linalg.matrix_norm(x)),  # fmt: skip
}

#: Other ops of the table that take complex tensors: sums of elements, and what is made of them.
ALSO = (
    "diff", "index_add", "scatter_add", "col2im", "cumulative_sum", "cumulative_prod", "nan_to_num",
    "bitcast", "glu", "scatter_reduce", "lp_pool1d", "lp_pool2d", "lp_pool3d",
)  # fmt: skip
TAKES = set(MOVES) | set(PREDICATES) | set(ROWS) | set(ALSO)
