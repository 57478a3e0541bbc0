"""The oracle's table: for every op of the package its reference, its dtypes, its tolerance and how
its inputs are made. A name of the package that stands neither here nor in NOT_OPS fails a test. Long
because it is one table."""

import dataclasses
import math
from typing import Any, Callable, Optional

import numpy as np

import order_references as order
import references as ref
import window_references as win
from compare import EXACT, relative, ulp
from samples import (
    BOOL, FLOATS, INTEGERS, LAYOUTS, NUMERIC, REAL, SHAPES, SIGNED, Input, laid_out, of_values,
    pairs,
)  # fmt: skip


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


# Inputs


def _sampled(rng, items, count, full):
    if full:
        return items
    return [items[i] for i in rng.choice(len(items), count, replace=False)]


def elementwise(arity, kinds="any", counts=()):
    """All specials against each other in one, then shapes that broadcast in all layouts."""

    def make(rng, dtype, full):
        cases = []
        if kinds == "any":
            flat = pairs(rng, dtype, arity, 64)
            cases.append(([of_values(dtype, f) for f in flat], {}))
        else:
            cases.append(([laid_out(rng, dtype, (515,), "offset", kinds) for _ in range(arity)], {}))
        shapes = _sampled(rng, SHAPES, 2, full)
        for shape in shapes:
            layouts = rng.permutation(LAYOUTS)[: 2 if full else 1]
            for layout in layouts:
                operands = []
                for j in range(arity):
                    own = shape
                    if j and rng.random() < 0.4:  # broadcast against the first
                        own = tuple(1 if rng.random() < 0.5 else n for n in shape)
                        own = own[rng.integers(0, len(own) + 1) :]
                    operands.append(laid_out(rng, dtype, own, str(layout), kinds))
                    layout = rng.choice(LAYOUTS)
                cases.append((operands, {}))
        if counts:
            for operands, _ in cases:
                for j in counts:
                    operands[j] = laid_out(rng, dtype, operands[j].view.shape, "plain", "count")
        return cases

    return make


def _axes(rng, rank, several):
    choices = [None] + list(range(-rank, rank))
    if several and rank:
        choices += [(), (0,), tuple(range(rank))]
        if rank > 1:
            choices += [(0, -1), (-1, -2)]
    return choices


REDUCED = (
    (), (0,), (1,), (7,), (63,), (64,), (65,), (257,), (3, 0), (0, 3), (1, 5), (5, 1), (4, 33),
    (33, 4), (2, 3, 17), (17, 3, 2), (129, 9), (9, 130), (16385,), (2, 16390), (16400, 2), (40000,),
)  # fmt: skip


def reduction(kind="some", empty=True, several=True, extra=None, least=0):
    def make(rng, dtype, full):
        cases = []
        shapes = [s for s in REDUCED if len(s) >= least]
        for shape in _sampled(rng, shapes, 4, full):
            options = _axes(rng, len(shape), several)
            for axis in _sampled(rng, options, 2 if full and len(options) > 1 else 1, False):
                rows, _ = ref.rows_of(np.zeros(shape), axis)
                if not empty and rows.shape[-1] == 0 and rows.size == 0 and math.prod(rows.shape[:-1]):  # fmt: skip
                    continue
                keywords = {"axis": axis, "keepdims": bool(rng.random() < 0.5)}
                if extra:
                    keywords.update(extra(rng))
                own = "near_one" if kind == "product" else kind
                layout = str(rng.choice(LAYOUTS))
                if own == "near_one":
                    operand = laid_out(rng, dtype, shape, layout, "some")
                    if dtype in FLOATS:
                        near = np.exp(0.02 * np.nan_to_num(operand.array.astype(np.float64), posinf=2, neginf=-2))  # fmt: skip
                        near = np.where(np.isfinite(operand.array), near * rng.choice([-1, 1], shape), operand.array)  # fmt: skip
                        operand = of_values(dtype, near)
                else:
                    operand = laid_out(rng, dtype, shape, layout, own)
                cases.append(([operand], keywords))
        return cases

    return make


def along(kind="some", shapes=((1,), (7,), (33,), (5, 1), (4, 33), (33, 4), (2, 3, 17), (3, 257), (0, 4))):  # fmt: skip
    def make(rng, dtype, full):
        cases = []
        for shape in _sampled(rng, shapes, 3, full):
            axis = int(rng.integers(-len(shape), len(shape)))
            operand = laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)), kind)
            cases.append(([operand], {"axis": axis}))
        return cases

    return make


def shaped(*rows, layouts=True):
    """Rows of (operands' shapes, keyword arguments) for ops that move elements."""

    def make(rng, dtype, full):
        cases = []
        for shapes, keywords in _sampled(rng, rows, min(4, len(rows)), full):
            operands = [laid_out(rng, dtype, s, str(rng.choice(LAYOUTS))) for s in shapes]
            cases.append((operands, keywords))
        return cases

    return make


def products(rng, dtype, full):
    rows = [
        ((5,), (5,)), ((3,), (3, 4)), ((4, 3), (3,)), ((1, 1), (1, 1)), ((7, 9), (9, 5)),
        ((33, 17), (17, 31)), ((2, 0), (0, 3)), ((0, 3), (3, 2)), ((2, 1, 4, 5), (3, 5, 2)),
        ((65, 130), (130, 33)), ((1, 257), (257, 1)), ((130, 1), (1, 67)), ((3, 8, 8), (3, 8, 8)),
        ((4, 5), (2, 5, 3)),
    ]  # fmt: skip
    return [
        ([laid_out(rng, dtype, s, str(rng.choice(LAYOUTS)), "moderate") for s in pair], {})
        for pair in _sampled(rng, rows, 4, full)
    ]


def _places(rng, shape, extent, low=None):
    dtype = str(rng.choice(["int32", "int64", "uint8", "int16"]))
    low = (0 if dtype == "uint8" else -extent) if low is None else low
    return Input(dtype, rng.integers(low, extent, shape).astype(dtype))


def takes(rng, dtype, full):
    cases = []
    for shape in _sampled(rng, [(7,), (1,), (5, 4), (3, 33), (2, 3, 17), (257, 3)], 3, full):
        axis = int(rng.integers(-len(shape), len(shape)))
        places = [(), (0,), (5,), (2, 3), (65,)][rng.integers(5)]
        x = laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)))
        cases.append(([x, _places(rng, places, shape[axis])], {"axis": axis}))
    return cases


def index_writes(rng, dtype, full):
    """x, positions of an axis, and as many updates; repeated ones in most."""
    cases = []
    for shape in _sampled(rng, [(7,), (1,), (5, 4), (3, 33), (2, 3, 17), (257, 3)], 3, full):
        axis = int(rng.integers(-len(shape), len(shape)))
        places = [(), (0,), (5,), (2, 3), (65,)][rng.integers(5)]
        at = axis % len(shape)
        x = laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)), "moderate")
        updates = laid_out(rng, dtype, shape[:at] + places + shape[at + 1 :], str(rng.choice(LAYOUTS)), "moderate")  # fmt: skip
        cases.append(([x, _places(rng, places, shape[at]), updates], {"axis": axis}))
    return cases


def along_indices(updates):
    """x, an index for each element, and where asked for an update for each."""

    def make(rng, dtype, full):
        cases = []
        for shape in _sampled(rng, [(7,), (1,), (5, 4), (3, 33), (2, 3, 17), (65, 3)], 3, full):
            axis = int(rng.integers(-len(shape), len(shape)))
            own = list(shape)
            own[axis] = int(rng.choice([0, 1, 5, 40]))
            kind = "moderate" if updates else "any"
            x = laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)), kind)
            operands = [x, _places(rng, tuple(own), shape[axis])]
            if updates:
                operands.append(laid_out(rng, dtype, tuple(own), str(rng.choice(LAYOUTS)), kind))
            cases.append((operands, {"axis": axis}))
        return cases

    return make


def fills(rng, dtype, full):
    cases = []
    for shape, own in _sampled(rng, [((4, 33), (33,)), ((7,), (7,)), ((2, 3), (2, 1)), ((0, 3), (3,))], 2, full):  # fmt: skip
        x = laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)))
        cases.append(([x, Input("bool", rng.random(own) < 0.4)], {"value": 1}))
    return cases


def searches(rng, dtype, full):
    cases = []
    for count, shape in [(33, (4, 5)), (1, (7,)), (0, (3,))]:
        values = np.sort(laid_out(rng, dtype, (count,), "plain").array)
        wanted = laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)))
        cases.append(([of_values(dtype, values), wanted], {"side": str(rng.choice(["left", "right"]))}))
    return cases


def buckets(rng, dtype, full):
    return [([wanted, edges], {"right": k["side"] == "left"}) for (edges, wanted), k in searches(rng, dtype, full)]  # fmt: skip


def lines(kind="any", operands=1, extra=None, shapes=((7,), (1,), (5, 13), (33, 4), (2, 3, 17), (65, 3), (0, 3), (130,))):  # fmt: skip
    """Operands of one shape, and one of their axes."""

    def make(rng, dtype, full):
        cases = []
        for shape in _sampled(rng, shapes, 3, full):
            axis = int(rng.integers(-len(shape), len(shape)))
            own = [laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)), kind) for _ in range(operands)]  # fmt: skip
            cases.append((own, {"axis": axis, **(extra(rng, shape[axis]) if extra else {})}))
        return cases

    return make


def orders(rng, extent):
    return {"descending": bool(rng.random() < 0.5)}


def leading(rng, extent):
    return {"k": int(rng.integers(0, extent + 1)), "largest": bool(rng.random() < 0.5)}


def reduced_writes(rng, dtype, full):
    cases = along_indices(True)(rng, dtype, full)
    for _, keywords in cases:
        keywords["reduce"] = str(rng.choice(["sum", "prod", "mean", "amax", "amin"]))
        keywords["include_self"] = bool(rng.random() < 0.5)
    return cases


def reduced_gradient(reduce, include_self):
    def make(rng):
        operands = [rng.normal(size=(4, 3)), rng.integers(-3, 3, (4, 5)), rng.normal(size=(4, 5))]
        return operands, {"reduce": reduce, "include_self": include_self}

    return Gradient(make, of=(0, 2))


def hots(rng, dtype, full):
    out = []
    for shape in [(), (7,), (0,), (3, 5)]:
        count = int(rng.integers(1, 9))
        places = rng.integers(-2 if dtype in SIGNED else 0, count + 2, shape)
        out.append(([of_values(dtype, places)], {"num_classes": count}))
    return out


def logits(rng, dtype, full):
    cases = []
    for shape in _sampled(rng, [(1, 1), (4, 3), (33, 10), (2, 5, 7), (3, 257), (5,)], 3, full):
        x = laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)), "moderate")
        reduction = str(rng.choice(["mean", "sum", "none"]))
        cases.append(([x, _places(rng, shape[:-1], shape[-1], 0)], {"reduction": reduction}))
    return cases


def normalized(operands):
    def make(rng, dtype, full):
        cases = []
        for shape in _sampled(rng, [(1, 8), (4, 33), (7, 5, 3), (2, 257), (3, 2, 2)], 3, full):
            axis = (-1,) if rng.random() < 0.6 else (-2, -1)
            inner = tuple(shape[a] for a in axis)
            count = int(rng.integers(1, operands + 1))
            xs = [laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)), "moderate")]
            xs += [laid_out(rng, to_float(dtype), inner, str(rng.choice(LAYOUTS)), "moderate") for _ in range(count - 1)]  # fmt: skip
            keywords = {"axis": axis, "eps": float(rng.choice([1e-5, 0.1]))}
            cases.append((xs, keywords))
        return cases

    return make


def norm_call(function, tensors, keywords):
    return function(tensors[0], **dict(zip(["weight", "bias"], tensors[1:])), **keywords)


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


def told(make, **keywords):
    """The same inputs, called with keyword arguments."""
    return lambda rng, dtype, full: [(operands, keywords) for operands, _ in make(rng, dtype, full)]


def bitcasts(rng, dtype, full):
    cases = elementwise(1)(rng, dtype, full)
    return [(operands, {"dtype": BITCASTS.get(dtype, "uint8")}) for operands, _ in cases]


def orders_of_gamma(rng, dtype, full):
    cases = elementwise(1)(rng, dtype, full)
    return [(operands, {"n": int(rng.integers(1, 6))}) for operands, _ in cases]


def scalings(rng, dtype, full):
    """Exponents that keep normal numbers normal, and some that do not."""
    cases = []
    for shape in _sampled(rng, SHAPES, 3, full):
        x = laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)), "moderate")
        cases.append(([x, Input("int32", rng.integers(-9, 10, shape).astype("int32"))], {}))
    x = of_values(dtype, np.array([1, -1, 0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1]))
    n = np.array([4, 3, 9, 9, -9, 9, 0, 2**31 - 1, -(2**31)], "int32")
    return cases + [([x, Input("int32", n)], {})]


def moderate_shapes(*rows):
    """Operands' shapes and keyword arguments, with values about 3."""

    def make(rng, dtype, full):
        cases = []
        for shapes, keywords in _sampled(rng, rows, min(3, len(rows)), full):
            operands = [laid_out(rng, dtype, s, str(rng.choice(LAYOUTS)), "moderate") for s in shapes]
            cases.append((operands, keywords))
        return cases

    return make


equations = moderate_shapes(
    (((2, 3),), {"equation": "ij->ji"}), (((5, 5),), {"equation": "ii"}),
    (((2, 3, 2),), {"equation": "iji->j"}), (((4, 3), (3, 5)), {"equation": "ij,jk"}),
    (((2, 4, 3), (2, 5, 3)), {"equation": "bij,bkj->bik"}), (((7,), (7,)), {"equation": "i,i->"}),
    (((2, 1, 4, 3), (5, 3, 2)), {"equation": "...ij,...jk->...ik"}),
    (((3, 4), (4, 5), (5, 3)), {"equation": "ij,jk,ki->"}), (((4,), (5,)), {"equation": "i,j->ji"}),
    (((2, 3, 4), (4, 2)), {"equation": "ijk,ki->j"}), (((3, 4), (3, 4)), {"equation": "ij,ij->i"}),
)  # fmt: skip


def class_labels(*more):
    """Scores (.., C), labels (..) of which some are ignored, and weights (C)."""

    def make(rng, dtype, full):
        cases = []
        for shape in _sampled(rng, [(1, 1), (4, 3), (33, 10), (2, 5, 7)], 3, full):
            x = laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)), "moderate")
            labels = _places(rng, shape[:-1], shape[-1], 0)
            operands = [x, labels]
            if rng.random() < 0.6:
                operands.append(laid_out(rng, dtype, shape[-1:], "plain", "positive"))
            cases.append((operands, {"reduction": str(rng.choice(["mean", "sum", "none"])), "ignore_index": 0 if shape[-1] > 1 and labels.view.any() else -1}))  # fmt: skip
        return cases

    return make


def weighted_call(function, tensors, keywords):
    return function(*tensors[:2], **dict(zip(["weight"], tensors[2:])), **keywords)


def loss(reference, kinds=("moderate", "moderate"), gradient=None, **keywords):
    """A loss of two operands of one shape, its reduction among the keyword arguments."""

    def make(rng, dtype, full):
        cases = []
        for shape in _sampled(rng, [(7,), (4, 33), (2, 3, 17), (1,)], 3, full):
            operands = [laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)), k) for k in kinds]
            reduction = str(rng.choice(["mean", "sum", "none"]))
            cases.append((operands, {"reduction": reduction, **keywords}))
        return cases

    of = lambda a, b, reduction="mean", **more: ref.reduced(reference(a, b, **more), reduction)  # noqa: E731
    return Op(of, FLOATS, relative(6, PAIR_SUM), make, width="wide", left_out=BOOL + INTEGERS, gradient=gradient or smooth(SHAPE, SHAPE))  # fmt: skip


def norms(rng, dtype, full):
    cases = []
    for shape in [(7,), (4, 33), (2, 3, 17)]:
        for ord in _sampled(rng, [2, 1, math.inf, -math.inf, 0], 3, full):
            x = laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)), "moderate")
            axis = None if rng.random() < 0.3 else int(rng.integers(-len(shape), len(shape)))
            keywords = {"ord": ord, "axis": axis, "keepdims": bool(rng.integers(2))}
            cases.append(([x], keywords))
    return cases


def batches(rng, dtype, full):
    cases = []
    for shape in [(4, 3), (2, 5, 7), (1, 2, 3, 3)]:
        channels = shape[1:2]
        operands = [laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)), "moderate")]
        for kind in ("moderate", "positive", "moderate", "moderate"):
            operands.append(laid_out(rng, dtype, channels, "plain", kind))
        cases.append((operands, {}))
    return cases


def chunked(x, chunks, axis=0):
    length = max(1, -(-x.shape[axis] // chunks))
    return np.split(x, range(length, x.shape[axis], length), axis)


# Gradients


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


SHAPE = (2, 3)
PAIR_SUM = "partial sums are rounded in another order than the reference's"


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


def by_rank(*rows):
    return shaped(*[((s,), k) for s, k in rows])


def np_pad(x, pad_width, constant_values=0):
    return np.pad(x, pad_width, constant_values=constant_values)


def listed(function):
    """For functions of a list of tensors."""
    return dict(call=lambda f, tensors, keywords: f(list(tensors), **keywords), reference=lambda *xs, **keywords: function(list(xs), **keywords))  # fmt: skip


OPS = {
    # Elementwise, exact
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
    # Elementwise, rounded
    "rsqrt": transcendental(lambda x: 1 / np.sqrt(x), ulp(1.5), smooth(SHAPE, low=0.5)),
    "exp": transcendental(np.exp, ulp(0.9), smooth(SHAPE)),
    "log": transcendental(np.log, ulp(0.9), smooth(SHAPE, low=0.5)),
    "sin": transcendental(np.sin, ulp(1.5), smooth(SHAPE)),
    "cos": transcendental(np.cos, ulp(1.5), smooth(SHAPE)),
    "tanh": transcendental(np.tanh, ulp(1.4), smooth(SHAPE)),
    "sigmoid": transcendental(ref.sigmoid, ulp(2.5), smooth(SHAPE)),
    "erf": transcendental(ref.erf, ulp(1.2), smooth(SHAPE)),
    "erfinv": transcendental(ref.erfinv, ulp(3), smooth(SHAPE, low=-0.9, high=0.9), kinds="unit"),
    "gelu": transcendental(ref.gelu, ulp(6), smooth(SHAPE)),
    "erfc": transcendental(ref.erfc, ulp(6, denormal=6), smooth(SHAPE)),
    "lgamma": transcendental(ref.lgamma, relative(4, "below -2 it has zeros, where two terms cancel"), smooth(SHAPE, low=0.3, high=4.0)),  # fmt: skip
    "digamma": transcendental(ref.digamma, relative(5, "below 0 it has zeros, where two terms cancel"), smooth(SHAPE, low=0.3, high=4.0)),  # fmt: skip
    "polygamma": Op(lambda x, n: ref.polygamma(x, n), NUMERIC + BOOL, relative(12, "even orders have zeros below 0, where two terms cancel"), orders_of_gamma, width="wide", result=to_float, call=lambda f, tensors, k: f(k["n"], *tensors), gradient=smooth(SHAPE, low=0.5, high=4.0, n=2)),  # fmt: skip
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
    # Elementwise, of two
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
    # Reductions
    "sum": Op(ref.total, REAL, EXACT, reduction(), widened, gradient=smooth((3, 4), axis=0)),
    "prod": Op(ref.product, REAL, EXACT, reduction("product"), widened, gradient=smooth((3, 4), low=0.5, axis=1)),  # fmt: skip
    "mean": Op(ref.mean, REAL, EXACT, reduction(), to_float, kept=(0,), gradient=smooth((3, 4), axis=0)),
    "var": Op(ref.variance, REAL, relative(2, PAIR_SUM), reduction(extra=lambda rng: {"correction": int(rng.integers(0, 3))}), to_float, "wide", kept=(0,), gradient=smooth((3, 4), axis=1)),  # fmt: skip
    "std": Op(ref.deviation, REAL, relative(6, "of equal elements, what the mean was rounded by remains"), reduction(extra=lambda rng: {"correction": int(rng.integers(0, 3))}), to_float, "wide", kept=(0,), gradient=smooth((3, 4), axis=1)),  # fmt: skip
    "max": Op(ref.extreme(True), REAL, EXACT, reduction("any", empty=False), gradient=kinked((3, 4), axis=1)),  # fmt: skip
    "min": Op(ref.extreme(False), REAL, EXACT, reduction("any", empty=False), gradient=kinked((3, 4), axis=1)),  # fmt: skip
    "argmax": Op(ref.position(True), REAL, EXACT, reduction("any", empty=False), to_int64),
    "argmin": Op(ref.position(False), REAL, EXACT, reduction("any", empty=False), to_int64),
    "any": Op(ref.truth(np.any), REAL, EXACT, reduction("some"), to_bool),
    "all": Op(ref.truth(np.all), REAL, EXACT, reduction("some"), to_bool),
    "logsumexp": Op(ref.logsumexp, REAL, relative(2, "the logarithm of a sum near 1 cancels with the maximum that was taken out"), reduction(), to_float, "wide", gradient=smooth((3, 4), axis=1)),  # fmt: skip
    # Layers
    "softmax": Op(ref.softmax, REAL, relative(2, "exp magnifies the rounding of x - max"), along(), to_float, "wide", gradient=smooth((3, 4), axis=1)),  # fmt: skip
    "log_softmax": Op(ref.log_softmax, REAL, relative(2, "near 0 two numbers of size 1 cancel"), along(), to_float, "wide", gradient=smooth((3, 4), axis=0)),  # fmt: skip
    "layer_norm": Op(ref.layer_norm, REAL, relative(4, "x - mean cancels"), normalized(3), to_float, "wide", call=norm_call, gradient=smooth((3, 4), (4,), (4,))),  # fmt: skip
    "rms_norm": Op(ref.rms_norm, REAL, relative(4, PAIR_SUM), normalized(2), to_float, "wide", call=norm_call, gradient=smooth((3, 4), (4,))),  # fmt: skip
    "cross_entropy": Op(ref.cross_entropy, REAL, relative(4, "near 0 two numbers of size 1 cancel"), logits, to_float, "wide", kept=(1,), gradient=indexed_gradient(lambda rng: ([rng.normal(size=(4, 3)), rng.integers(0, 3, 4)], {"reduction": "none"}))),  # fmt: skip
    "one_hot": Op(ref.one_hot, INTEGERS, EXACT, hots, lambda dtype: "float32", kept=(0,)),
    "matmul": Op(ref.matmul, REAL, relative(1, "sums cancel"), products, width="wide", gradient=smooth((2, 3, 4), (4, 2)), also=("__matmul__", "__rmatmul__")),  # fmt: skip
    "take": Op(lambda x, i, axis=0: np.take(x, i.astype(np.int64), axis), REAL, EXACT, takes, gradient=indexed_gradient(lambda rng: ([rng.normal(size=(4, 3)), np.array([0, 2, 0, -1])], {}))),  # fmt: skip
    "group_norm": Op(ref.group_norm, FLOATS, relative(8, "x - mean cancels"), moderate_shapes((((2, 4, 5), (4,), (4,)), {"num_groups": 2}), (((3, 6), (6,), (6,)), {"num_groups": 3}), (((1, 33, 2, 3), (33,), (33,)), {"num_groups": 1})), width="wide", call=norm_call, left_out=BOOL + INTEGERS, gradient=smooth((2, 4, 3), (4,), (4,), num_groups=2)),  # fmt: skip
    "instance_norm": Op(lambda x, w, b: ref.group_norm(x, w, b, x.shape[1]), FLOATS, relative(8, "x - mean cancels"), moderate_shapes((((2, 4, 5), (4,), (4,)), {}), (((1, 3, 2, 7), (3,), (3,)), {})), width="wide", call=norm_call, left_out=BOOL + INTEGERS, gradient=smooth((2, 3, 4), (3,), (3,))),  # fmt: skip
    "batch_norm": Op(ref.batch_norm, FLOATS, relative(8, "x - mean cancels"), batches, width="wide", left_out=BOOL + INTEGERS, gradient=smooth((3, 2), (2,), (2,), (2,), (2,), low=0.5)),  # fmt: skip
    "local_response_norm": Op(ref.local_response_norm, FLOATS, relative(8, PAIR_SUM), moderate_shapes((((2, 7, 3),), {"size": 3}), (((1, 4),), {"size": 2, "alpha": 0.5})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth((2, 4), size=3, alpha=0.5)),  # fmt: skip
    "scaled_dot_product_attention": Op(ref.attention, FLOATS, relative(12, "exp magnifies the rounding of the scores"), moderate_shapes((((3, 4), (5, 4), (5, 2)), {}), (((2, 2, 7, 4), (2, 2, 7, 4), (2, 2, 7, 3)), {"is_causal": True}), (((2, 4, 3, 8), (2, 2, 5, 8), (2, 2, 5, 6)), {"scale": 0.5})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth((3, 2), (4, 2), (4, 3))),  # fmt: skip
    "rope": Op(ref.rope, FLOATS, relative(4, "two products cancel"), moderate_shapes((((5, 8),), {}), (((2, 3, 6),), {"offset": 7, "base": 100.0})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth((3, 4))),  # fmt: skip
    "index_select": Op(lambda x, i, axis=0: np.take(x, i.astype(np.int64), axis), REAL, EXACT, lambda rng, dtype, full: [c for c in takes(rng, dtype, full) if c[0][1].array.ndim == 1] or [([laid_out(rng, dtype, (7,), "plain"), _places(rng, (5,), 7)], {})], gradient=indexed_gradient(lambda rng: ([rng.normal(size=(4, 3)), np.array([0, 2, 0, -1])], {}))),  # fmt: skip
    "embedding": Op(lambda i, table: table[i.astype(np.int64)], REAL, EXACT, lambda rng, dtype, full: [([_places(rng, s, 5), laid_out(rng, dtype, (5, 3), str(rng.choice(LAYOUTS)))], {}) for s in ((), (7,), (2, 9))], result=same, gradient=Gradient(lambda rng: ([np.array([[0, 2], [0, -1]]), rng.normal(size=(4, 3))], {}), of=(1,))),  # fmt: skip
    "take_along_axis": Op(lambda x, i, axis=-1: np.take_along_axis(x, i.astype(np.int64), axis), REAL, EXACT, along_indices(False), gradient=indexed_gradient(lambda rng: ([rng.normal(size=(4, 3)), rng.integers(-3, 3, (4, 5))], {}))),  # fmt: skip
    "index_add": Op(order.index_add, NUMERIC, EXACT, index_writes, gradient=Gradient(lambda rng: ([rng.normal(size=(4, 3)), np.array([0, 2, 0, -1]), rng.normal(size=(4, 3))], {}), of=(0, 2))),  # fmt: skip
    "index_put": Op(order.index_put, REAL, EXACT, index_writes, gradient=Gradient(lambda rng: ([rng.normal(size=(4, 3)), np.array([0, 2, 0, -1]), rng.normal(size=(4, 3))], {}), of=(0, 2))),  # fmt: skip
    "scatter_add": Op(order.scatter_add, NUMERIC, EXACT, along_indices(True), gradient=Gradient(lambda rng: ([rng.normal(size=(4, 3)), rng.integers(-3, 3, (4, 5)), rng.normal(size=(4, 5))], {}), of=(0, 2))),  # fmt: skip
    "scatter": Op(order.scatter, REAL, EXACT, along_indices(True), gradient=Gradient(lambda rng: ([rng.normal(size=(4, 3)), rng.integers(-3, 3, (4, 5)), rng.normal(size=(4, 5))], {}), of=(0, 2))),  # fmt: skip
    "scatter_reduce": Op(order.scatter_reduce, NUMERIC, EXACT, reduced_writes, left_out=BOOL, gradient=reduced_gradient("prod", True)),  # fmt: skip
    "bucketize": Op(lambda v, a, right=False: np.searchsorted(a, v, "right" if right else "left"), REAL, EXACT, buckets, to_int64),  # fmt: skip
    "cumsum": Op(order.cumsum, REAL, EXACT, lines("moderate"), widened, gradient=smooth((3, 4), axis=1)),
    "cumprod": Op(order.cumprod, REAL, EXACT, lines("moderate"), widened, gradient=smooth((3, 4), axis=0)),
    "cumulative_sum": Op(order.cumsum, REAL, EXACT, lines("moderate"), widened, gradient=smooth((3, 4), axis=1)),  # fmt: skip
    "cumulative_prod": Op(order.cumprod, REAL, EXACT, lines("moderate"), widened, gradient=smooth((3, 4), axis=0)),  # fmt: skip
    "cummax": Op(order.running_extreme(True), REAL, EXACT, lines(), many=True, found=True, gradient=kinked((3, 4), axis=1)),  # fmt: skip
    "cummin": Op(order.running_extreme(False), REAL, EXACT, lines(), many=True, found=True, gradient=kinked((3, 4), axis=1)),  # fmt: skip
    "logcumsumexp": Op(order.logcumsumexp, REAL, relative(4, "each sum is rounded"), lines("moderate"), to_float, "wide", gradient=smooth((3, 4), axis=1)),  # fmt: skip
    "linear_recurrence": Op(order.linear_recurrence, NUMERIC, EXACT, lines("moderate", 2), gradient=smooth((3, 4), (3, 4), axis=1)),  # fmt: skip
    "sort": Op(order.sort, REAL, EXACT, lines(extra=orders), gradient=kinked((3, 5), axis=1)),
    "argsort": Op(order.argsort, REAL, EXACT, lines(extra=orders), to_int64),
    "topk": Op(order.topk, REAL, EXACT, lines(extra=leading), many=True, found=True, gradient=kinked((3, 5), axis=1, k=2)),  # fmt: skip
    "masked_fill": Op(lambda x, mask, value: np.where(mask, x.dtype.type(value), x), REAL, EXACT, fills, gradient=Gradient(lambda rng: ([rng.normal(size=SHAPE), rng.random(SHAPE) < 0.5], {"value": 2.0}), of=(0,)), also=("Tensor.masked_fill",)),  # fmt: skip
    "set_slice": Op(order.set_slice, REAL, EXACT, by_rank(((7,), {"key": slice(2, None, 2), "value": 1}), ((4, 33), {"key": (1, slice(None, 5)), "value": 0}), ((2, 3, 17), {"key": (Ellipsis, slice(None, None, -3)), "value": 1}), ((0, 3), {"key": slice(None), "value": 1})), gradient=smooth((3, 4), key=(slice(0, 2), 1), value=0.5)),  # fmt: skip
    "searchsorted": Op(lambda a, v, side="left": np.searchsorted(a, v, side), REAL, EXACT, searches, to_int64),  # fmt: skip
    # Convolution and windows
    "conv1d": Op(win.conv(1), NUMERIC, relative(1, "sums cancel"), moderate_shapes((((2, 3, 9), (4, 3, 3), (4,)), {"padding": 1, "stride": 2}), (((1, 4, 33), (6, 2, 5), (6,)), {"groups": 2, "dilation": 3}), (((2, 2, 7), (3, 2, 4)), {"padding": "same"}), (((1, 5, 70), (17, 5, 1)), {})), width="wide", left_out=BOOL, gradient=smooth((1, 2, 6), (2, 2, 3), (2,), padding=1, stride=2)),  # fmt: skip
    "conv2d": Op(win.conv(2), NUMERIC, relative(1, "sums cancel"), moderate_shapes((((2, 3, 7, 9), (4, 3, 3, 2), (4,)), {"padding": (1, 0), "stride": (2, 1)}), (((1, 6, 8, 20), (6, 1, 3, 3), (6,)), {"groups": 6, "padding": 1}), (((1, 4, 9, 9), (4, 2, 2, 3)), {"groups": 2, "dilation": (2, 3)}), (((2, 16, 17, 30), (33, 16, 3, 3)), {"padding": 1}), (((1, 2, 5, 6), (3, 2, 4, 3)), {"padding": "same"}), (((2, 70, 5, 5), (9, 70, 1, 1)), {"stride": 2})), width="wide", left_out=BOOL, gradient=smooth((1, 2, 4, 5), (2, 2, 3, 2), (2,), padding=1, stride=(2, 1))),  # fmt: skip
    "conv3d": Op(win.conv(3), NUMERIC, relative(1, "sums cancel"), moderate_shapes((((1, 2, 4, 5, 6), (3, 2, 2, 3, 2), (3,)), {"padding": 1}), (((2, 4, 3, 7, 5), (4, 1, 1, 3, 3), (4,)), {"groups": 4, "stride": (1, 2, 2)}), (((1, 3, 3, 4, 20), (5, 3, 3, 3, 3)), {"padding": (1, 1, 1)})), width="wide", left_out=BOOL, gradient=smooth((1, 2, 3, 3, 4), (2, 2, 2, 2, 2), (2,), stride=(1, 1, 2))),  # fmt: skip
    "conv_transpose1d": Op(win.conv_transpose(1), FLOATS, relative(1, "sums cancel"), moderate_shapes((((2, 4, 5), (4, 3, 3), (3,)), {"stride": 2, "padding": 1, "output_padding": 1}), (((1, 4, 9), (4, 3, 4), (6,)), {"groups": 2, "dilation": 2})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth((1, 2, 4), (2, 2, 3), (2,), stride=2, padding=1)),  # fmt: skip
    "conv_transpose2d": Op(win.conv_transpose(2), FLOATS, relative(1, "sums cancel"), moderate_shapes((((2, 4, 5, 6), (4, 3, 3, 2), (3,)), {"stride": (2, 1), "padding": (1, 0)}), (((1, 6, 4, 4), (6, 1, 3, 3), (6,)), {"groups": 6, "stride": 2, "padding": 1, "output_padding": 1}), (((1, 3, 4, 17), (3, 5, 2, 2)), {"stride": 2})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth((1, 2, 3, 3), (2, 2, 2, 3), (2,), stride=2)),  # fmt: skip
    "conv_transpose3d": Op(win.conv_transpose(3), FLOATS, relative(1, "sums cancel"), moderate_shapes((((1, 2, 3, 3, 4), (2, 3, 2, 2, 2), (3,)), {"stride": 2}), (((1, 2, 2, 4, 3), (2, 2, 3, 3, 3)), {"padding": 1})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth((1, 2, 2, 2, 3), (2, 1, 2, 2, 2), (1,), stride=(1, 2, 1))),  # fmt: skip
    "unfold": Op(win.unfold, REAL, EXACT, by_rank(((9,), {"axis": 0, "size": 3}), ((4, 9), {"axis": -1, "size": 2, "step": 3}), ((3, 7, 2), {"axis": 1, "size": 7}), ((33, 4), {"axis": 0, "size": 5, "step": 2})), gradient=smooth((2, 7), axis=1, size=3, step=2), also=("Tensor.unfold",)),  # fmt: skip
    "im2col": Op(win.im2col, REAL, EXACT, by_rank(((2, 3, 5, 6), {"kernel_size": (2, 3)}), ((1, 2, 7, 9), {"kernel_size": 3, "padding": (1, 2), "stride": (2, 1), "dilation": (1, 2)}), ((1, 1, 33, 4), {"kernel_size": 1, "stride": 2})), gradient=smooth((1, 2, 4, 4), kernel_size=2, padding=1)),  # fmt: skip
    "col2im": Op(win.col2im, NUMERIC, relative(4, PAIR_SUM), moderate_shapes((((2, 18, 16),), {"output_size": (5, 6), "kernel_size": (2, 3)}), (((1, 18, 44),), {"output_size": (7, 9), "kernel_size": 3, "padding": (1, 3), "stride": (2, 1), "dilation": (1, 2)}), (((1, 4, 4),), {"output_size": 4, "kernel_size": 2, "stride": 2})), width="wide", left_out=BOOL, gradient=smooth((1, 4, 9), output_size=4, kernel_size=2)),  # fmt: skip
    "pixel_shuffle": Op(win.pixel_shuffle, REAL, EXACT, by_rank(((2, 12, 3, 4), {"upscale_factor": 2}), ((9, 5, 7), {"upscale_factor": 3}), ((1, 2, 3, 1, 1), {"upscale_factor": 1})), gradient=smooth((1, 4, 2, 2), upscale_factor=2)),  # fmt: skip
    "pixel_unshuffle": Op(win.pixel_unshuffle, REAL, EXACT, by_rank(((2, 3, 6, 8), {"downscale_factor": 2}), ((1, 9, 6), {"downscale_factor": 3})), gradient=smooth((1, 1, 4, 4), downscale_factor=2)),  # fmt: skip
    # Pooling
    "max_pool1d": Op(win.max_pool(1), REAL, EXACT, by_rank(((2, 3, 9), {"kernel_size": 2}), ((2, 3, 2), {"kernel_size": 3, "ceil_mode": True}), ((1, 2, 17), {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True}), ((3, 33), {"kernel_size": 4, "dilation": 3, "stride": 1})), gradient=kinked((1, 2, 7), kernel_size=3, stride=2)),  # fmt: skip
    "max_pool2d": Op(win.max_pool(2), REAL, EXACT, by_rank(((2, 3, 6, 8), {"kernel_size": 2}), ((1, 2, 9, 17), {"kernel_size": 3, "stride": 2, "padding": 1}), ((2, 7, 8), {"kernel_size": (3, 2), "stride": 1, "ceil_mode": True}), ((1, 1, 5, 5), {"kernel_size": 2, "ceil_mode": True})), gradient=kinked((1, 2, 4, 5), kernel_size=3, stride=1, padding=1)),  # fmt: skip
    "max_pool3d": Op(win.max_pool(3), REAL, EXACT, by_rank(((1, 2, 4, 4, 6), {"kernel_size": 2}), ((1, 1, 5, 4, 7), {"kernel_size": (3, 1, 2), "stride": (1, 2, 2), "padding": (1, 0, 1)})), gradient=kinked((1, 1, 2, 4, 4), kernel_size=2)),  # fmt: skip
    "avg_pool1d": Op(win.avg_pool(1), FLOATS, relative(4, PAIR_SUM), moderate_shapes((((2, 3, 9),), {"kernel_size": 2}), (((2, 3, 2),), {"kernel_size": 3, "ceil_mode": True}), (((1, 2, 17),), {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True}), (((1, 3, 8),), {"kernel_size": 4, "padding": 2, "count_include_pad": False})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth((1, 2, 7), kernel_size=3, stride=2, padding=1)),  # fmt: skip
    "avg_pool2d": Op(win.avg_pool(2), FLOATS, relative(4, PAIR_SUM), moderate_shapes((((2, 3, 6, 8),), {"kernel_size": 2}), (((1, 2, 9, 17),), {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False}), (((2, 7, 8),), {"kernel_size": (3, 2), "ceil_mode": True}), (((1, 1, 5, 5),), {"kernel_size": 2, "divisor_override": 3})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth((1, 2, 4, 5), kernel_size=3, stride=1, padding=1, count_include_pad=False)),  # fmt: skip
    "avg_pool3d": Op(win.avg_pool(3), FLOATS, relative(4, PAIR_SUM), moderate_shapes((((1, 2, 4, 4, 6),), {"kernel_size": 2}), (((1, 1, 5, 4, 7),), {"kernel_size": (3, 1, 2), "stride": (1, 2, 2), "padding": (1, 0, 1)})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth((1, 1, 2, 4, 4), kernel_size=2)),  # fmt: skip
    "lp_pool1d": Op(win.lp_pool(1), FLOATS, relative(4, PAIR_SUM), moderate_shapes((((2, 3, 9),), {"norm_type": 2.0, "kernel_size": 3, "stride": 1}), (((1, 2, 8),), {"norm_type": 3.0, "kernel_size": 2})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth((1, 2, 6), norm_type=2.0, kernel_size=2, low=0.5)),  # fmt: skip
    "lp_pool2d": Op(win.lp_pool(2), FLOATS, relative(4, PAIR_SUM), moderate_shapes((((2, 3, 6, 8),), {"norm_type": 2.0, "kernel_size": 2}), (((1, 2, 5, 7),), {"norm_type": 1.0, "kernel_size": 3, "stride": 2})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth((1, 1, 4, 4), norm_type=2.0, kernel_size=2, low=0.5)),  # fmt: skip
    "lp_pool3d": Op(win.lp_pool(3), FLOATS, relative(4, PAIR_SUM), moderate_shapes((((1, 2, 4, 4, 6),), {"norm_type": 2.0, "kernel_size": 2}), (((1, 1, 5, 4, 7),), {"norm_type": 1.0, "kernel_size": (3, 1, 2), "stride": 2})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth((1, 1, 2, 4, 2), norm_type=2.0, kernel_size=2, low=0.5)),  # fmt: skip
    "adaptive_avg_pool1d": Op(win.adaptive_avg_pool(1), FLOATS, relative(4, PAIR_SUM), moderate_shapes((((2, 3, 9),), {"output_size": 3}), (((1, 2, 7),), {"output_size": 4}), (((1, 3, 2),), {"output_size": 5})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth((1, 2, 2), output_size=5)),  # fmt: skip
    "adaptive_max_pool1d": Op(win.adaptive_max_pool(1), REAL, EXACT, by_rank(((2, 3, 9), {"output_size": 3}), ((1, 2, 7), {"output_size": 4}), ((2, 3), {"output_size": 5}), ((3, 2), {"output_size": 7})), gradient=kinked((1, 2, 5), output_size=2)),  # fmt: skip
    "adaptive_avg_pool2d": Op(win.adaptive_avg_pool(2), FLOATS, relative(4, PAIR_SUM), moderate_shapes((((2, 3, 6, 8),), {"output_size": 2}), (((1, 2, 7, 5),), {"output_size": (3, None)}), (((4, 9, 10),), {"output_size": 1})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth((1, 1, 4, 5), output_size=2)),  # fmt: skip
    "adaptive_max_pool2d": Op(win.adaptive_max_pool(2), REAL, EXACT, by_rank(((2, 3, 6, 8), {"output_size": 2}), ((1, 2, 7, 5), {"output_size": (3, None)}), ((2, 5, 5), {"output_size": (7, 2)})), gradient=kinked((1, 1, 4, 5), output_size=2)),  # fmt: skip
    "adaptive_avg_pool3d": Op(win.adaptive_avg_pool(3), FLOATS, relative(4, PAIR_SUM), moderate_shapes((((1, 2, 4, 6, 4),), {"output_size": 2}), (((1, 1, 3, 5, 4),), {"output_size": (2, 3, 4)})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth((1, 1, 2, 3, 2), output_size=2)),  # fmt: skip
    "adaptive_max_pool3d": Op(win.adaptive_max_pool(3), REAL, EXACT, by_rank(((1, 2, 4, 6, 4), {"output_size": 2}), ((1, 1, 3, 5, 4), {"output_size": (2, 3, 4)})), gradient=kinked((1, 1, 2, 3, 2), output_size=2)),  # fmt: skip
    "interpolate": Op(win.interpolate, FLOATS, relative(4, "neighbours cancel"), moderate_shapes((((1, 2, 5),), {"size": 8}), (((1, 2, 4, 6),), {"scale_factor": 2.0}), (((1, 2, 4, 6),), {"size": (3, 9), "mode": "bilinear"}), (((2, 1, 5),), {"size": 9, "mode": "linear", "align_corners": True}), (((1, 1, 3, 4, 2),), {"size": (5, 2, 4), "mode": "trilinear"}), (((1, 1, 6, 5),), {"scale_factor": (0.5, 1.6), "mode": "bilinear"}), (((1, 2, 7),), {"size": 3, "mode": "area"}), (((1, 2, 4, 6),), {"size": (7, 9), "mode": "bicubic"}), (((1, 2, 5, 4),), {"size": (3, 8), "mode": "bicubic", "align_corners": True}), (((1, 1, 6, 5),), {"scale_factor": (0.5, 1.6), "mode": "bicubic"}), (((2, 1, 5),), {"size": 9, "mode": "cubic"}), (((1, 2, 7),), {"size": 4, "mode": "nearest-exact"})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth((1, 1, 3, 4), size=(5, 3), mode="bilinear")),  # fmt: skip
    # Losses
    "mse_loss": loss(lambda a, b: (a - b) ** 2),
    "l1_loss": loss(lambda a, b: np.abs(a - b), gradient=kinked(SHAPE, SHAPE)),
    "smooth_l1_loss": loss(ref.smooth_l1, beta=0.5, gradient=kinked(SHAPE, SHAPE, beta=0.5)),
    "huber_loss": loss(ref.huber, delta=0.5, gradient=kinked(SHAPE, SHAPE, delta=0.5)),
    "binary_cross_entropy": loss(ref.bce, kinds=("unit", "unit"), gradient=smooth(SHAPE, SHAPE, low=0.2, high=0.8)),  # fmt: skip
    "binary_cross_entropy_with_logits": loss(ref.bce_with_logits),
    "hinge_loss": loss(lambda a, b: np.maximum(1 - a * b, 0), gradient=kinked(SHAPE, SHAPE)),
    "kl_div": loss(ref.kl_div, kinds=("moderate", "positive"), gradient=smooth(SHAPE, SHAPE, low=0.5)),
    "nll_loss": Op(ref.nll, FLOATS, relative(4, "sums cancel"), class_labels("weight"), width="wide", kept=(1,), left_out=BOOL + INTEGERS, call=weighted_call, gradient=indexed_gradient(lambda rng: ([rng.normal(size=(4, 3)), rng.integers(0, 3, 4)], {}))),  # fmt: skip
    "cosine_similarity": Op(ref.cosine_similarity, FLOATS, relative(6, "sums cancel"), moderate_shapes((((4, 33), (4, 33)), {}), (((2, 3, 5), (2, 3, 5)), {"axis": 1})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth(SHAPE, SHAPE)),  # fmt: skip
    "triplet_margin_loss": Op(ref.triplet_margin, FLOATS, relative(8, "distances cancel"), moderate_shapes((((4, 33),) * 3, {"reduction": "none"}), (((7, 5),) * 3, {"margin": 0.5})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth(SHAPE, SHAPE, SHAPE, margin=9.0)),  # fmt: skip
    # Contractions
    "einsum": Op(dtypes=NUMERIC, tolerance=relative(2, "sums cancel"), make=equations, width="wide", reference=ref.einsum, call=lambda f, tensors, k: f(k["equation"], *tensors), gradient=smooth((2, 3, 3), (3, 2), equation="bij,jk->ki")),  # fmt: skip
    "tensordot": Op(ref.tensordot, REAL, relative(2, "sums cancel"), moderate_shapes((((2, 3, 4), (3, 4, 5)), {}), (((5,), (7,)), {"axes": 0}), (((4, 3), (3, 4)), {"axes": (0, 1)}), (((2, 3, 4), (4, 5, 3)), {"axes": ((1, 2), (2, 0))})), width="wide", gradient=smooth((2, 3), (3, 2), axes=1)),  # fmt: skip
    "dot": Op(ref.matmul, REAL, relative(2, "sums cancel"), moderate_shapes((((5,), (5,)), {}), (((257,), (257,)), {}), (((0,), (0,)), {})), width="wide", gradient=smooth((3,), (3,))),  # fmt: skip
    "vdot": Op(lambda a, b: ref.matmul(a.ravel(), b.ravel()), REAL, relative(2, "sums cancel"), moderate_shapes((((4, 5), (4, 5)), {}), (((7,), (7,)), {})), width="wide", gradient=smooth((2, 3), (2, 3))),  # fmt: skip
    "outer": Op(np.outer, REAL, EXACT, shaped((((5,), (7,)), {}), (((2, 3), (33,)), {}), (((0,), (3,)), {})), gradient=smooth((2,), (3,))),  # fmt: skip
    "kron": Op(np.kron, REAL, EXACT, moderate_shapes((((5,), (7,)), {}), (((2, 3), (4, 5)), {}), (((3,), (2, 2)), {})), gradient=smooth((2,), (2, 2))),  # fmt: skip
    "cross": Op(ref.cross, NUMERIC, relative(2, "the difference of two products cancels"), moderate_shapes((((3,), (3,)), {}), (((5, 3), (5, 3)), {}), (((3, 4), (3, 4)), {"axis": 0})), width="wide", gradient=smooth((2, 3), (2, 3))),  # fmt: skip
    "trace": Op(lambda x, offset=0: ref.total(np.diagonal(x, offset, -2, -1), -1), REAL, EXACT, by_rank(((4, 33), {}), ((2, 5, 5), {"offset": -1})), widened, gradient=smooth((3, 3))),  # fmt: skip
    "vector_norm": Op(ref.vector_norm, REAL, relative(6, PAIR_SUM), norms, width="wide", gradient=smooth((3, 4), axis=1), result=to_float),  # fmt: skip
    "matrix_norm": Op(ref.matrix_norm, REAL, relative(4, PAIR_SUM), moderate_shapes((((4, 5),), {}), (((2, 33, 4),), {"ord": 1}), (((7, 9),), {"ord": math.inf, "keepdims": True})), width="wide", gradient=smooth((3, 4)), result=to_float),  # fmt: skip
    "count_nonzero": Op(lambda x, axis=None, keepdims=False: np.count_nonzero(x, axis=axis, keepdims=keepdims), REAL, EXACT, reduction(), to_int64),  # fmt: skip
    # Movement
    "reshape": Op(lambda x, shape: np.reshape(x, shape), REAL, EXACT, by_rank(((24,), {"shape": (4, -1)}), ((4, 33), {"shape": (33, 4)}), ((2, 3, 17), {"shape": (6, 17)}), ((1,), {"shape": ()}), ((0, 3), {"shape": (5, 0)})), gradient=smooth((2, 6), shape=(3, 4)), call=lambda f, t, k: f(t[0], k["shape"]), also=("Tensor.reshape",)),  # fmt: skip
    "permute_dims": Op(np.transpose, REAL, EXACT, by_rank(((4, 33), {"axes": (1, 0)}), ((2, 3, 17), {"axes": (2, 0, 1)}), ((2, 3, 17), {"axes": (0, 2, 1)}), ((7,), {"axes": (0,)})), gradient=smooth((2, 3), axes=(1, 0)), also=("Tensor.permute_dims",)),  # fmt: skip
    "matrix_transpose": Op(lambda x: np.swapaxes(x, -1, -2), REAL, EXACT, by_rank(((4, 33), {}), ((2, 3, 17), {}), ((1, 5), {}), ((3, 0), {})), gradient=smooth(SHAPE), also=("Tensor.mT", "Tensor.transpose")),  # fmt: skip
    "expand": Op(np.broadcast_to, REAL, EXACT, by_rank(((5, 1), {"shape": (2, 5, 4)}), ((33,), {"shape": (4, 33)})), gradient=smooth((3, 1), shape=(2, 3, 2))),  # fmt: skip
    "roll": Op(np.roll, REAL, EXACT, by_rank(((7,), {"shift": 3}), ((4, 33), {"shift": -50, "axis": 1}), ((2, 3, 17), {"shift": (1, 20), "axis": (0, 2)}), ((0, 3), {"shift": 1})), gradient=smooth((2, 3), shift=2)),  # fmt: skip
    "repeat": Op(np.repeat, REAL, EXACT, by_rank(((7,), {"repeats": 2}), ((4, 33), {"repeats": 3, "axis": 1}), ((2, 3, 17), {"repeats": 2, "axis": 0}), ((5,), {"repeats": 0})), gradient=smooth((2, 3), repeats=2, axis=0)),  # fmt: skip
    "tile": Op(lambda x, repetitions: np.tile(x, repetitions), REAL, EXACT, by_rank(((7,), {"repetitions": (2,)}), ((4, 33), {"repetitions": (2, 1, 3)}), ((), {"repetitions": (3, 2)}), ((2, 3), {"repetitions": (2,)})), gradient=smooth((2, 3), repetitions=(2, 2))),  # fmt: skip
    "chunk": Op(chunked, REAL, EXACT, by_rank(((8,), {"chunks": 3}), ((4, 33), {"chunks": 5, "axis": 1}), ((5,), {"chunks": 9})), many=True, gradient=smooth((5, 2), chunks=2)),  # fmt: skip
    "unstack": Op(lambda x, axis=0: list(np.moveaxis(x, axis, 0)), REAL, EXACT, by_rank(((4, 33), {}), ((4, 3), {"axis": -1}), ((3,), {})), many=True, gradient=smooth((2, 3), axis=1)),  # fmt: skip
    "diagonal": Op(lambda x, offset=0, axis1=-2, axis2=-1: np.diagonal(x, offset, axis1, axis2), REAL, EXACT, by_rank(((4, 33), {}), ((33, 4), {"offset": -3}), ((2, 3, 17), {"offset": 2}), ((2, 3, 17), {"axis1": 0, "axis2": 1}), ((3, 3), {"offset": 5})), gradient=smooth((3, 4), offset=1)),  # fmt: skip
    "diag": Op(np.diag, REAL, EXACT, by_rank(((7,), {}), ((4, 33), {"k": 2}), ((5,), {"k": -2}), ((0,), {"k": 1})), gradient=smooth((3,), k=1)),  # fmt: skip
    "triu": Op(np.triu, REAL, EXACT, by_rank(((4, 33), {}), ((2, 3, 17), {"k": 2}), ((33, 4), {"k": -3})), gradient=smooth((3, 4), k=1)),  # fmt: skip
    "tril": Op(np.tril, REAL, EXACT, by_rank(((4, 33), {}), ((2, 3, 17), {"k": 2}), ((33, 4), {"k": -3})), gradient=smooth((3, 4), k=1)),  # fmt: skip
    "meshgrid": Op(np.meshgrid, REAL, EXACT, shaped((((4,), (3,)), {}), (((4,), (3,), (2,)), {"indexing": "ij"}), (((5,),), {})), many=True, gradient=smooth((2,), (3,))),  # fmt: skip
    "moveaxis": Op(np.moveaxis, REAL, EXACT, by_rank(((2, 3, 17), {"source": 0, "destination": -1}), ((2, 3, 17), {"source": -1, "destination": 1})), gradient=smooth((2, 3, 2), source=0, destination=-1)),  # fmt: skip
    "flatten": Op(np.ravel, REAL, EXACT, by_rank(((), {}), ((7,), {}), ((4, 33), {}), ((2, 3, 17), {}), ((3, 0), {})), gradient=smooth(SHAPE)),  # fmt: skip
    "squeeze": Op(np.squeeze, REAL, EXACT, by_rank(((1, 5), {}), ((5, 1), {"axis": 1}), ((1, 3, 1), {"axis": (0, 2)}), ((1, 1), {})), gradient=smooth((1, 3, 1))),  # fmt: skip
    "expand_dims": Op(np.expand_dims, REAL, EXACT, by_rank(((), {"axis": 0}), ((7,), {"axis": -1}), ((4, 33), {"axis": 1}), ((0,), {"axis": 0})), gradient=smooth(SHAPE, axis=1)),  # fmt: skip
    "broadcast_to": Op(np.broadcast_to, REAL, EXACT, by_rank(((), {"shape": (3,)}), ((5, 1), {"shape": (2, 5, 4)}), ((1, 5), {"shape": (9, 5)}), ((33,), {"shape": (4, 33)}), ((1,), {"shape": (0,)})), gradient=smooth((3, 1), shape=(2, 3, 2))),  # fmt: skip
    "broadcast_arrays": Op(np.broadcast_arrays, REAL, EXACT, shaped((((5, 1), (1, 4)), {}), (((33,), (4, 33)), {}), (((), (7,)), {}), (((1,), (0, 3)), {})), many=True, gradient=smooth((3, 1), (2,))),  # fmt: skip
    "flip": Op(np.flip, REAL, EXACT, by_rank(((7,), {}), ((4, 33), {"axis": 0}), ((4, 33), {"axis": (0, 1)}), ((2, 3, 17), {"axis": -1}), ((0,), {})), gradient=smooth(SHAPE)),  # fmt: skip
    "pad": Op(np_pad, REAL, EXACT, by_rank(((7,), {"pad_width": 1}), ((4, 33), {"pad_width": (1, 2)}), ((2, 3, 17), {"pad_width": ((0, 0), (1, 0), (0, 9))}), ((0, 2), {"pad_width": 2}), ((5,), {"pad_width": 3, "constant_values": 1})), gradient=smooth(SHAPE, pad_width=(1, 2))),  # fmt: skip
    "concat": Op(dtypes=REAL, tolerance=EXACT, make=shaped((((7,), (8,)), {}), (((4, 33), (1, 33), (0, 33)), {"axis": 0}), (((3, 1), (3, 17)), {"axis": -1}), (((2, 2), (3,)), {"axis": None})), gradient=smooth((2, 3), (1, 3)), **listed(np.concatenate)),  # fmt: skip
    "stack": Op(dtypes=REAL, tolerance=EXACT, make=shaped((((7,), (7,)), {}), (((4, 3), (4, 3), (4, 3)), {"axis": 1}), (((), ()), {"axis": -1}), (((2, 0), (2, 0)), {"axis": 2})), gradient=smooth((2, 3), (2, 3), axis=-1), **listed(np.stack)),  # fmt: skip
    "split": Op(np.split, REAL, EXACT, by_rank(((8,), {"indices_or_sections": 4}), ((4, 33), {"indices_or_sections": 11, "axis": 1}), ((17, 2), {"indices_or_sections": [1, 8]}), ((5,), {"indices_or_sections": [2, 9]})), many=True, gradient=smooth((4, 2), indices_or_sections=[1, 3])),  # fmt: skip
}

#: Tensor's methods and properties that are an op under another name, given what they are called with.
METHODS = {
    "Tensor.T": lambda x: (x.T, lambda a: a.T),
    "Tensor.mT": lambda x: (x.mT, lambda a: np.swapaxes(a, -1, -2)),
    "Tensor.transpose": lambda x: (x.transpose(0, -1), lambda a: np.swapaxes(a, 0, -1)),
    "Tensor.reshape": lambda x: (x.reshape(-1), np.ravel),
    "Tensor.permute_dims": lambda x: (x.permute_dims(1, 0), lambda a: a.T),
    "Tensor.value": lambda x: (x.value(), lambda a: a),
}

#: Names that compute nothing from tensors, and where they are tested.
NOT_OPS = {
    "elsewhere in this folder": (
        "real", "imag", "conj", "angle", "complex", "polar",
        "astype", "arange", "empty", "empty_like", "eye", "full", "full_like", "ones", "ones_like",
        "zeros", "zeros_like", "tri", "linspace", "logspace", "rand", "exponential", "truncated_normal", "bernoulli",
        "permutation", "multinomial", "randint", "randn", "uniform", "dropout", "set_seed", "promote_types",
        "result_type", "nonzero", "masked_select", "unique", "unique_values", "unique_counts",
        "unique_inverse", "unique_all", "grad", "jvp", "checkpoint", "value_and_grad", "jit", "asarray", "__getitem__",
        "Tensor.astype", "Tensor.view",
    ),
    "../tests": (
        "from_dlpack", "from_numpy", "tensor", "eval", "dump", "dump_graph", "devices", "stats",
        "reset_stats", "num_threads", "set_num_threads", "read_idx", "isdtype", "Tensor.assign_",
        "Tensor.item", "Tensor.numpy", "Tensor.realize", "Tensor.tolist",
    ),
}  # fmt: skip
