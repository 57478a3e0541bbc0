"""The oracle's entries of ops that fold: reductions, scans and contractions."""

import math

import numpy as np

import fold_references as fold
import order_references as order
from compare import EXACT, relative
from entry import PAIR_SUM, Op, kinked, smooth, to_bool, to_float, to_int64, widened
from inputs import by_rank, lines, moderate_shapes, reduction, sampled, shaped
from samples import BOOL, LAYOUTS, NUMERIC, REAL, laid_out


def products(rng, dtype, full):
    rows = [
        ((5,), (5,)), ((3,), (3, 4)), ((4, 3), (3,)), ((1, 1), (1, 1)), ((7, 9), (9, 5)),
        ((33, 17), (17, 31)), ((2, 0), (0, 3)), ((0, 3), (3, 2)), ((2, 1, 4, 5), (3, 5, 2)),
        ((65, 130), (130, 33)), ((1, 257), (257, 1)), ((130, 1), (1, 67)), ((3, 8, 8), (3, 8, 8)),
        ((4, 5), (2, 5, 3)),
    ]  # fmt: skip
    return [
        ([laid_out(rng, dtype, s, str(rng.choice(LAYOUTS)), "moderate") for s in pair], {})
        for pair in sampled(rng, rows, 4, full)
    ]


equations = moderate_shapes(
    (((2, 3),), {"equation": "ij->ji"}), (((5, 5),), {"equation": "ii"}),
    (((2, 3, 2),), {"equation": "iji->j"}), (((4, 3), (3, 5)), {"equation": "ij,jk"}),
    (((2, 4, 3), (2, 5, 3)), {"equation": "bij,bkj->bik"}), (((7,), (7,)), {"equation": "i,i->"}),
    (((2, 1, 4, 3), (5, 3, 2)), {"equation": "...ij,...jk->...ik"}),
    (((3, 4), (4, 5), (5, 3)), {"equation": "ij,jk,ki->"}), (((4,), (5,)), {"equation": "i,j->ji"}),
    (((2, 3, 4), (4, 2)), {"equation": "ijk,ki->j"}), (((3, 4), (3, 4)), {"equation": "ij,ij->i"}),
)  # fmt: skip


def norms(rng, dtype, full):
    cases = []
    for shape in [(7,), (4, 33), (2, 3, 17)]:
        for ord in sampled(rng, [2, 1, math.inf, -math.inf, 0], 3, full):
            x = laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)), "moderate")
            axis = None if rng.random() < 0.3 else int(rng.integers(-len(shape), len(shape)))
            keywords = {"ord": ord, "axis": axis, "keepdims": bool(rng.integers(2))}
            cases.append(([x], keywords))
    return cases


FOLDS = {
    # Reductions
    "sum": Op(fold.total, REAL, EXACT, reduction(), widened, gradient=smooth((3, 4), axis=0)),
    "prod": Op(fold.product, REAL, EXACT, reduction("product"), widened, gradient=smooth((3, 4), low=0.5, axis=1)),  # fmt: skip
    "mean": Op(fold.mean, REAL, EXACT, reduction(), to_float, kept=(0,), gradient=smooth((3, 4), axis=0)),
    "var": Op(fold.variance, REAL, relative(2, PAIR_SUM), reduction(extra=lambda rng: {"correction": int(rng.integers(0, 3))}), to_float, "wide", kept=(0,), gradient=smooth((3, 4), axis=1)),  # fmt: skip
    "std": Op(fold.deviation, REAL, relative(6, "of equal elements, what the mean was rounded by remains"), reduction(extra=lambda rng: {"correction": int(rng.integers(0, 3))}), to_float, "wide", kept=(0,), gradient=smooth((3, 4), axis=1)),  # fmt: skip
    "max": Op(fold.extreme(True), REAL, EXACT, reduction("any", empty=False), gradient=kinked((3, 4), axis=1)),  # fmt: skip
    "min": Op(fold.extreme(False), REAL, EXACT, reduction("any", empty=False), gradient=kinked((3, 4), axis=1)),  # fmt: skip
    "argmax": Op(fold.position(True), REAL, EXACT, reduction("any", empty=False), to_int64),
    "argmin": Op(fold.position(False), REAL, EXACT, reduction("any", empty=False), to_int64),
    "any": Op(fold.truth(np.any), REAL, EXACT, reduction("some"), to_bool),
    "all": Op(fold.truth(np.all), REAL, EXACT, reduction("some"), to_bool),
    "logsumexp": Op(fold.logsumexp, REAL, relative(2, "the logarithm of a sum near 1 cancels with the maximum that was taken out"), reduction(), to_float, "wide", gradient=smooth((3, 4), axis=1)),  # fmt: skip
    # Scans
    "cumsum": Op(order.cumsum, REAL, EXACT, lines("moderate"), widened, gradient=smooth((3, 4), axis=1)),
    "cumprod": Op(order.cumprod, REAL, EXACT, lines("moderate"), widened, gradient=smooth((3, 4), axis=0)),
    "cumulative_sum": Op(order.cumsum, REAL, EXACT, lines("moderate"), widened, gradient=smooth((3, 4), axis=1)),  # fmt: skip
    "cumulative_prod": Op(order.cumprod, REAL, EXACT, lines("moderate"), widened, gradient=smooth((3, 4), axis=0)),  # fmt: skip
    "cummax": Op(order.running_extreme(True), REAL, EXACT, lines(), many=True, found=True, gradient=kinked((3, 4), axis=1)),  # fmt: skip
    "cummin": Op(order.running_extreme(False), REAL, EXACT, lines(), many=True, found=True, gradient=kinked((3, 4), axis=1)),  # fmt: skip
    "logcumsumexp": Op(order.logcumsumexp, REAL, relative(4, "each sum is rounded"), lines("moderate"), to_float, "wide", gradient=smooth((3, 4), axis=1)),  # fmt: skip
    "diff": Op(np.diff, REAL, EXACT, lines(), gradient=smooth((3, 4), n=2, axis=1)),
    "linear_recurrence": Op(order.linear_recurrence, NUMERIC, EXACT, lines("moderate", 2), gradient=smooth((3, 4), (3, 4), axis=1)),  # fmt: skip
    # Contractions
    "matmul": Op(fold.matmul, REAL, relative(1, "sums cancel"), products, width="wide", gradient=smooth((2, 3, 4), (4, 2)), also=("__matmul__", "__rmatmul__")),  # fmt: skip
    "einsum": Op(dtypes=NUMERIC, left_out=BOOL, tolerance=relative(2, "sums cancel"), make=equations, width="wide", reference=fold.einsum, call=lambda f, tensors, k: f(k["equation"], *tensors), gradient=smooth((2, 3, 3), (3, 2), equation="bij,jk->ki")),  # fmt: skip
    "tensordot": Op(fold.tensordot, REAL, relative(2, "sums cancel"), moderate_shapes((((2, 3, 4), (3, 4, 5)), {}), (((5,), (7,)), {"axes": 0}), (((4, 3), (3, 4)), {"axes": (0, 1)}), (((2, 3, 4), (4, 5, 3)), {"axes": ((1, 2), (2, 0))})), width="wide", gradient=smooth((2, 3), (3, 2), axes=1)),  # fmt: skip
    "dot": Op(fold.matmul, REAL, relative(2, "sums cancel"), moderate_shapes((((5,), (5,)), {}), (((257,), (257,)), {}), (((0,), (0,)), {})), width="wide", gradient=smooth((3,), (3,))),  # fmt: skip
    "vdot": Op(lambda a, b: fold.matmul(a.ravel(), b.ravel()), REAL, relative(2, "sums cancel"), moderate_shapes((((4, 5), (4, 5)), {}), (((7,), (7,)), {})), width="wide", gradient=smooth((2, 3), (2, 3))),  # fmt: skip
    "vecdot": Op(fold.vecdot, REAL, relative(2, "sums cancel"), moderate_shapes((((4, 5), (4, 5)), {}), (((7, 3), (7, 1)), {"axis": 0}), (((2, 1, 33), (4, 33)), {}), (((3, 0), (3, 0)), {})), width="wide", gradient=smooth((2, 3), (1, 3))),  # fmt: skip
    "outer": Op(np.outer, REAL, EXACT, shaped((((5,), (7,)), {}), (((2, 3), (33,)), {}), (((0,), (3,)), {})), gradient=smooth((2,), (3,))),  # fmt: skip
    "kron": Op(np.kron, REAL, EXACT, moderate_shapes((((5,), (7,)), {}), (((2, 3), (4, 5)), {}), (((3,), (2, 2)), {})), gradient=smooth((2,), (2, 2))),  # fmt: skip
    "cross": Op(fold.cross, NUMERIC, relative(2, "the difference of two products cancels"), moderate_shapes((((3,), (3,)), {}), (((5, 3), (5, 3)), {}), (((3, 4), (3, 4)), {"axis": 0})), width="wide", gradient=smooth((2, 3), (2, 3))),  # fmt: skip
    "trace": Op(lambda x, offset=0: fold.total(np.diagonal(x, offset, -2, -1), -1), REAL, EXACT, by_rank(((4, 33), {}), ((2, 5, 5), {"offset": -1})), widened, gradient=smooth((3, 3))),  # fmt: skip
    "vector_norm": Op(fold.vector_norm, REAL, relative(6, PAIR_SUM), norms, width="wide", gradient=smooth((3, 4), axis=1), result=to_float),  # fmt: skip
    "matrix_norm": Op(fold.matrix_norm, REAL, relative(4, PAIR_SUM), moderate_shapes((((4, 5),), {}), (((2, 33, 4),), {"ord": 1}), (((7, 9),), {"ord": math.inf, "keepdims": True})), width="wide", gradient=smooth((3, 4)), result=to_float),  # fmt: skip
    "count_nonzero": Op(lambda x, axis=None, keepdims=False: np.count_nonzero(x, axis=axis, keepdims=keepdims), REAL, EXACT, reduction(), to_int64),  # fmt: skip
}
