"""The oracle's entries of ops that compute each element from those at its place."""

import numpy as np

import elementwise_references as ref
import special_references as special
from compare import EXACT, relative, ulp
from entry import SHAPE, Gradient, Op, kinked, smooth, to_bool, to_float
from inputs import along, elementwise, sampled, shaped, told
from samples import (
    BOOL, FLOATS, INTEGERS, LAYOUTS, NUMERIC, REAL, SHAPES, Input, laid_out, of_values,
)  # fmt: skip


def unary(reference, dtypes, tolerance=EXACT, gradient=None, kinds="any", **more):
    return Op(reference, dtypes, tolerance, elementwise(1, kinds), gradient=gradient, **more)


def binary(reference, dtypes, tolerance=EXACT, gradient=None, kinds="any", **more):
    return Op(reference, dtypes, tolerance, elementwise(2, kinds), gradient=gradient, **more)


def transcendental(reference, n, gradient=None, kinds="any", **more):
    """An op of floats, for which integers become float32; n ulp."""
    more.setdefault("width", "wide")
    return unary(reference, NUMERIC + BOOL, n, gradient, kinds, result=to_float, **more)


def comparison(reference, *also):
    return binary(reference, REAL, result=to_bool, also=also)


def wheres(rng, dtype, full):
    cases = elementwise(3)(rng, dtype, full)
    for operands, _ in cases:
        operands[0] = laid_out(rng, "bool", operands[0].view.shape, str(rng.choice(LAYOUTS)))
    return cases


BITCASTS = {
    "int8": "uint8", "uint8": "int8", "int16": "uint16", "uint16": "int16", "int32": "float32",
    "uint32": "int32", "int64": "float64", "uint64": "int64", "float32": "int32",
    "float64": "uint64",
}  # fmt: skip


def bitcasts(rng, dtype, full):
    cases = elementwise(1)(rng, dtype, full)
    return [(operands, {"dtype": BITCASTS.get(dtype, "uint8")}) for operands, _ in cases]


def orders_of_gamma(rng, dtype, full):
    cases = elementwise(1)(rng, dtype, full)
    return [(operands, {"n": int(rng.integers(1, 6))}) for operands, _ in cases]


def scalings(rng, dtype, full):
    """Exponents that keep normal numbers normal, and some that do not."""
    cases = []
    for shape in sampled(rng, SHAPES, 3, full):
        x = laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)), "moderate")
        cases.append(([x, Input("int32", rng.integers(-9, 10, shape).astype("int32"))], {}))
    x = of_values(dtype, np.array([1, -1, 0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1]))
    n = np.array([4, 3, 9, 9, -9, 9, 0, 2**31 - 1, -(2**31)], "int32")
    return cases + [([x, Input("int32", n)], {})]


ELEMENTWISE = {
    # Exact
    "negative": unary(np.negative, NUMERIC, gradient=smooth(SHAPE), also=("__neg__",)),
    "abs": unary(lambda x: x if x.dtype.kind == "b" else np.abs(x), REAL, gradient=kinked(SHAPE), also=("__abs__",)),
    "sign": unary(np.sign, NUMERIC),
    "square": unary(np.square, NUMERIC, gradient=smooth(SHAPE)),
    "floor": unary(lambda x: np.floor(x) if x.dtype.kind == "f" else x, REAL),
    "ceil": unary(lambda x: np.ceil(x) if x.dtype.kind == "f" else x, REAL),
    "trunc": unary(lambda x: np.trunc(x) if x.dtype.kind == "f" else x, REAL),
    "round": unary(lambda x: np.rint(x) if x.dtype.kind == "f" else x, REAL),
    "relu": unary(ref.relu, REAL, gradient=kinked(SHAPE)),
    "isnan": unary(np.isnan, REAL, result=to_bool),
    "isinf": unary(np.isinf, REAL, result=to_bool),
    "isfinite": unary(np.isfinite, REAL, result=to_bool),
    "bitwise_invert": unary(np.invert, INTEGERS + BOOL, also=("__invert__",)),
    "logical_not": unary(lambda x: x == 0, REAL, result=to_bool),
    "positive": unary(lambda x: x, REAL, gradient=smooth(SHAPE), also=("__pos__",)),
    "stop_gradient": unary(lambda x: x, REAL),
    "sqrt": transcendental(np.sqrt, EXACT, smooth(SHAPE, low=0.5), width="own"),
    "reciprocal": transcendental(lambda x: 1 / x, EXACT, smooth(SHAPE, low=0.5), width="own"),
    # Rounded
    "rsqrt": transcendental(lambda x: 1 / np.sqrt(x), ulp(1.5), smooth(SHAPE, low=0.5)),
    "exp": transcendental(np.exp, ulp(0.9), smooth(SHAPE)),
    "log": transcendental(np.log, ulp(0.9), smooth(SHAPE, low=0.5)),
    "sin": transcendental(np.sin, ulp(1.5), smooth(SHAPE)),
    "cos": transcendental(np.cos, ulp(1.5), smooth(SHAPE)),
    "tanh": transcendental(np.tanh, ulp(1.4), smooth(SHAPE)),
    "sigmoid": transcendental(ref.sigmoid, ulp(2.5), smooth(SHAPE)),
    "erf": transcendental(special.erf, ulp(1.2), smooth(SHAPE)),
    "erfinv": transcendental(special.erfinv, ulp(3), smooth(SHAPE, low=-0.9, high=0.9), kinds="unit"),
    "gelu": transcendental(special.gelu, ulp(6), smooth(SHAPE)),
    "erfc": transcendental(special.erfc, ulp(6, denormal=6), smooth(SHAPE)),
    "lgamma": transcendental(special.lgamma, relative(4, "below -2 it has zeros, where two terms cancel"), smooth(SHAPE, low=0.3, high=4.0)),  # fmt: skip
    "digamma": transcendental(special.digamma, relative(5, "below 0 it has zeros, where two terms cancel"), smooth(SHAPE, low=0.3, high=4.0)),  # fmt: skip
    "polygamma": Op(lambda x, n: special.polygamma(x, n), NUMERIC + BOOL, relative(12, "even orders have zeros below 0, where two terms cancel"), orders_of_gamma, width="wide", result=to_float, call=lambda f, tensors, k: f(k["n"], *tensors), gradient=smooth(SHAPE, low=0.5, high=4.0, n=2)),  # fmt: skip
    "exp2": transcendental(np.exp2, ulp(1.5), smooth(SHAPE)),
    "expm1": transcendental(np.expm1, ulp(2), smooth(SHAPE)),
    "log2": transcendental(np.log2, ulp(2), smooth(SHAPE, low=0.5)),
    "log10": transcendental(np.log10, ulp(1.8), smooth(SHAPE, low=0.5)),
    "log1p": transcendental(np.log1p, ulp(2), smooth(SHAPE, low=-0.5)),
    "cbrt": transcendental(np.cbrt, ulp(1.5), smooth(SHAPE, low=0.5)),
    "tan": transcendental(np.tan, ulp(4), smooth(SHAPE, low=-1.2, high=1.2)),
    "asin": transcendental(np.arcsin, ulp(2.7), smooth(SHAPE, low=-0.9, high=0.9), kinds="unit"),
    "acos": transcendental(np.arccos, ulp(2.5), smooth(SHAPE, low=-0.9, high=0.9), kinds="unit"),
    "atan": transcendental(np.arctan, ulp(2.5), smooth(SHAPE)),
    "sinh": transcendental(np.sinh, ulp(2.5), smooth(SHAPE)),
    "cosh": transcendental(np.cosh, ulp(2.5), smooth(SHAPE)),
    "asinh": transcendental(np.arcsinh, ulp(3), smooth(SHAPE)),
    "acosh": transcendental(np.arccosh, ulp(3), smooth(SHAPE, low=1.5, high=3.0)),
    "atanh": transcendental(np.arctanh, ulp(3), smooth(SHAPE, low=-0.9, high=0.9), kinds="unit"),
    "frac": unary(ref.frac, NUMERIC, gradient=kinked(SHAPE)),
    "signbit": unary(ref.signbit, REAL, result=to_bool),
    "nan_to_num": Op(ref.nan_to_num, REAL, EXACT, told(elementwise(1), nan=1.0, posinf=2.0, neginf=-3.0), gradient=smooth(SHAPE)),  # fmt: skip
    "bitcast": Op(ref.bitcast, tuple(BITCASTS), EXACT, bitcasts, lambda dtype: BITCASTS[dtype], kept=(0,), left_out=("float16", "bfloat16")),
    # Activations
    "relu6": unary(ref.relu6, REAL, gradient=kinked(SHAPE), result=to_float),
    "leaky_relu": Op(ref.leaky_relu, REAL, ulp(1.1), told(elementwise(1), negative_slope=0.25), width="wide", gradient=kinked(SHAPE, negative_slope=0.25), result=to_float),  # fmt: skip
    "prelu": Op(lambda x, w: ref.leaky_relu(x, w[:, None]), REAL, ulp(1.1), shaped((((2, 3, 5), (3,)), {}), (((1, 33, 2), (33,)), {})), width="wide", gradient=kinked((2, 3, 2), (3,)), result=to_float),  # fmt: skip
    "elu": Op(ref.elu, REAL, ulp(2.5), elementwise(1), width="wide", gradient=kinked(SHAPE), result=to_float),
    "celu": Op(ref.elu, REAL, ulp(2.5), elementwise(1), width="wide", gradient=kinked(SHAPE), result=to_float),
    "selu": Op(ref.selu, REAL, ulp(3), elementwise(1), width="wide", gradient=kinked(SHAPE), result=to_float),
    "silu": transcendental(ref.silu, ulp(3, denormal=1000, below=7), smooth(SHAPE)),
    "mish": transcendental(ref.mish, ulp(5, denormal=1000, below=7), smooth(SHAPE)),
    "softplus": transcendental(ref.softplus, ulp(2.2), smooth(SHAPE)),
    "softsign": transcendental(ref.softsign, ulp(1.5), kinked(SHAPE)),
    "hardsigmoid": transcendental(ref.hardsigmoid, relative(2, "x + 3 cancels"), kinked(SHAPE)),
    "hardswish": transcendental(ref.hardswish, relative(2, "x + 3 cancels"), kinked(SHAPE)),
    "hardtanh": unary(lambda x: ref.clip(x, x.dtype.type(-1), x.dtype.type(1)), REAL, gradient=kinked(SHAPE), result=to_float),  # fmt: skip
    "logsigmoid": transcendental(lambda x: -ref.softplus(-x), ulp(2.2), smooth(SHAPE)),
    "tanhshrink": transcendental(ref.tanhshrink, relative(2, "near 0 two numbers of one size cancel"), smooth(SHAPE)),  # fmt: skip
    "threshold": Op(ref.threshold, REAL, EXACT, elementwise(3), gradient=Gradient(kinked(SHAPE, SHAPE, SHAPE).make, of=(0, 2), second=False), result=to_float),  # fmt: skip
    "glu": Op(ref.glu, REAL, ulp(3), along("moderate", ((2,), (4, 34), (34, 4), (2, 6, 18))), width="wide", gradient=smooth((2, 4)), result=to_float),  # fmt: skip
    # Of two
    "add": binary(np.add, REAL, gradient=smooth(SHAPE, (3,)), also=("__add__", "__radd__")),
    "subtract": binary(np.subtract, NUMERIC, gradient=smooth(SHAPE, (3,)), also=("__sub__", "__rsub__")),  # fmt: skip
    "multiply": binary(np.multiply, REAL, gradient=smooth(SHAPE, (3,)), also=("__mul__", "__rmul__")),  # fmt: skip
    "divide": binary(np.divide, REAL, result=to_float, gradient=smooth(SHAPE, (3,), low=0.5), also=("__truediv__", "__rtruediv__")),  # fmt: skip
    "floor_divide": binary(ref.floor_divide, NUMERIC, width="double", also=("__floordiv__", "__rfloordiv__")),  # fmt: skip
    "remainder": binary(ref.remainder, NUMERIC, width="double", gradient=kinked(SHAPE, (3,)), also=("__mod__", "__rmod__")),  # fmt: skip
    "fmod": binary(ref.fmod, NUMERIC, width="double", gradient=kinked(SHAPE, (3,))),
    "pow": binary(ref.power, NUMERIC, ulp(0.6, denormal=0.8), gradient=smooth(SHAPE, (3,), low=0.5), width="wide", also=("__pow__", "__rpow__")),  # fmt: skip
    "maximum": binary(ref.maximum, REAL, gradient=kinked(SHAPE, (3,))),
    "minimum": binary(ref.minimum, REAL, gradient=kinked(SHAPE, (3,))),
    "copysign": binary(np.copysign, REAL, result=to_float, gradient=Gradient(kinked(SHAPE, (3,)).make, of=(0,), second=False)),  # fmt: skip
    "atan2": binary(np.arctan2, REAL, ulp(3), smooth(SHAPE, (3,), low=0.5), result=to_float, width="wide"),  # fmt: skip
    "hypot": binary(np.hypot, REAL, ulp(1.5), smooth(SHAPE, (3,), low=0.5), result=to_float, width="wide"),  # fmt: skip
    "logaddexp": binary(np.logaddexp, REAL, relative(2, "log1p of an exponential cancels with the larger operand"), smooth(SHAPE, (3,)), result=to_float, width="wide"),  # fmt: skip
    "nextafter": binary(np.nextafter, BOOL + INTEGERS + ("float32", "float64"), result=to_float, left_out=("float16", "bfloat16")),
    "ldexp": Op(ref.ldexp, FLOATS, EXACT, scalings, width="wide", kept=(1,), left_out=BOOL + INTEGERS, gradient=Gradient(lambda rng: ([rng.normal(size=SHAPE), rng.integers(-3, 4, SHAPE)], {}), of=(0,))),  # fmt: skip
    "lerp": Op(ref.lerp, REAL, relative(4, "the ends may cancel"), elementwise(3, "moderate"), width="wide", gradient=smooth(SHAPE, SHAPE, (3,), low=0.1, high=0.4), result=to_float),  # fmt: skip
    "bitwise_and": binary(np.bitwise_and, INTEGERS + BOOL, also=("__and__", "__rand__")),
    "bitwise_or": binary(np.bitwise_or, INTEGERS + BOOL, also=("__or__", "__ror__")),
    "bitwise_xor": binary(np.bitwise_xor, INTEGERS + BOOL, also=("__xor__", "__rxor__")),
    "bitwise_left_shift": Op(ref.left_shift, INTEGERS, EXACT, elementwise(2, counts=(1,)), also=("__lshift__", "__rlshift__")),  # fmt: skip
    "bitwise_right_shift": Op(ref.right_shift, INTEGERS, EXACT, elementwise(2, counts=(1,)), also=("__rshift__", "__rrshift__")),  # fmt: skip
    "logical_and": comparison(lambda a, b: (a != 0) & (b != 0)),
    "logical_or": comparison(lambda a, b: (a != 0) | (b != 0)),
    "logical_xor": comparison(lambda a, b: (a != 0) ^ (b != 0)),
    "equal": comparison(np.equal, "__eq__"),
    "not_equal": comparison(np.not_equal, "__ne__"),
    "less": comparison(np.less, "__lt__"),
    "less_equal": comparison(np.less_equal, "__le__"),
    "greater": comparison(np.greater, "__gt__"),
    "greater_equal": comparison(np.greater_equal, "__ge__"),
    "where": Op(np.where, REAL, EXACT, wheres, gradient=Gradient(lambda rng: ([rng.random(SHAPE) < 0.5, rng.normal(size=SHAPE), rng.normal(size=3)], {}), of=(1, 2))),  # fmt: skip
    "clip": Op(ref.clip, NUMERIC, EXACT, elementwise(3), gradient=Gradient(lambda rng: ([np.array([-3.1, -1.2, 0.3, 0.8, 1.9, 4.0]), np.full(6, -2.0), np.full(6, 1.5)], {}), second=False)),  # fmt: skip
}
