"""The oracle's entries of ops whose data say where elements go: indexing and sorting."""

import numpy as np

import order_references as order
from compare import EXACT
from entry import SHAPE, Gradient, Op, indexed_gradient, kinked, same, smooth, to_int64
from inputs import by_rank, lines, positions, sampled
from samples import BOOL, INTEGERS, LAYOUTS, NUMERIC, REAL, SIGNED, Input, laid_out, of_values


def takes(rng, dtype, full):
    cases = []
    for shape in sampled(rng, [(7,), (1,), (5, 4), (3, 33), (2, 3, 17), (257, 3)], 3, full):
        axis = int(rng.integers(-len(shape), len(shape)))
        places = [(), (0,), (5,), (2, 3), (65,)][rng.integers(5)]
        x = laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)))
        cases.append(([x, positions(rng, places, shape[axis])], {"axis": axis}))
    return cases


def index_writes(rng, dtype, full):
    """x, positions of an axis, and as many updates; repeated ones in most."""
    cases = []
    for shape in sampled(rng, [(7,), (1,), (5, 4), (3, 33), (2, 3, 17), (257, 3)], 3, full):
        axis = int(rng.integers(-len(shape), len(shape)))
        places = [(), (0,), (5,), (2, 3), (65,)][rng.integers(5)]
        at = axis % len(shape)
        x = laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)), "moderate")
        updates = laid_out(rng, dtype, shape[:at] + places + shape[at + 1 :], str(rng.choice(LAYOUTS)), "moderate")  # fmt: skip
        cases.append(([x, positions(rng, places, shape[at]), updates], {"axis": axis}))
    return cases


def along_indices(updates):
    """x, an index for each element, and where asked for an update for each."""

    def make(rng, dtype, full):
        cases = []
        for shape in sampled(rng, [(7,), (1,), (5, 4), (3, 33), (2, 3, 17), (65, 3)], 3, full):
            axis = int(rng.integers(-len(shape), len(shape)))
            own = list(shape)
            own[axis] = int(rng.choice([0, 1, 5, 40]))
            kind = "moderate" if updates else "any"
            x = laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)), kind)
            operands = [x, positions(rng, tuple(own), shape[axis])]
            if updates:
                operands.append(laid_out(rng, dtype, tuple(own), str(rng.choice(LAYOUTS)), kind))
            cases.append((operands, {"axis": axis}))
        return cases

    return make


def fills(rng, dtype, full):
    cases = []
    for shape, own in sampled(rng, [((4, 33), (33,)), ((7,), (7,)), ((2, 3), (2, 1)), ((0, 3), (3,))], 2, full):  # fmt: skip
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


INDEXING = {
    # Indexing
    "one_hot": Op(order.one_hot, INTEGERS, EXACT, hots, lambda dtype: "float32", kept=(0,)),
    "take": Op(lambda x, i, axis=0: np.take(x, i.astype(np.int64), axis), REAL, EXACT, takes, gradient=indexed_gradient(lambda rng: ([rng.normal(size=(4, 3)), np.array([0, 2, 0, -1])], {}))),  # fmt: skip
    "index_select": Op(lambda x, i, axis=0: np.take(x, i.astype(np.int64), axis), REAL, EXACT, lambda rng, dtype, full: [c for c in takes(rng, dtype, full) if c[0][1].array.ndim == 1] or [([laid_out(rng, dtype, (7,), "plain"), positions(rng, (5,), 7)], {})], gradient=indexed_gradient(lambda rng: ([rng.normal(size=(4, 3)), np.array([0, 2, 0, -1])], {}))),  # fmt: skip
    "embedding": Op(lambda i, table: table[i.astype(np.int64)], REAL, EXACT, lambda rng, dtype, full: [([positions(rng, s, 5), laid_out(rng, dtype, (5, 3), str(rng.choice(LAYOUTS)))], {}) for s in ((), (7,), (2, 9))], result=same, gradient=Gradient(lambda rng: ([np.array([[0, 2], [0, -1]]), rng.normal(size=(4, 3))], {}), of=(1,))),  # fmt: skip
    "take_along_axis": Op(lambda x, i, axis=-1: np.take_along_axis(x, i.astype(np.int64), axis), REAL, EXACT, along_indices(False), gradient=indexed_gradient(lambda rng: ([rng.normal(size=(4, 3)), rng.integers(-3, 3, (4, 5))], {}))),  # fmt: skip
    "index_add": Op(order.index_add, NUMERIC, EXACT, index_writes, gradient=Gradient(lambda rng: ([rng.normal(size=(4, 3)), np.array([0, 2, 0, -1]), rng.normal(size=(4, 3))], {}), of=(0, 2))),  # fmt: skip
    "index_put": Op(order.index_put, REAL, EXACT, index_writes, gradient=Gradient(lambda rng: ([rng.normal(size=(4, 3)), np.array([0, 2, 0, -1]), rng.normal(size=(4, 3))], {}), of=(0, 2))),  # fmt: skip
    "scatter_add": Op(order.scatter_add, NUMERIC, EXACT, along_indices(True), gradient=Gradient(lambda rng: ([rng.normal(size=(4, 3)), rng.integers(-3, 3, (4, 5)), rng.normal(size=(4, 5))], {}), of=(0, 2))),  # fmt: skip
    "scatter": Op(order.scatter, REAL, EXACT, along_indices(True), gradient=Gradient(lambda rng: ([rng.normal(size=(4, 3)), rng.integers(-3, 3, (4, 5)), rng.normal(size=(4, 5))], {}), of=(0, 2))),  # fmt: skip
    "scatter_reduce": Op(order.scatter_reduce, NUMERIC, EXACT, reduced_writes, left_out=BOOL, gradient=reduced_gradient("prod", True)),  # fmt: skip
    "masked_fill": Op(lambda x, mask, value: np.where(mask, x.dtype.type(value), x), REAL, EXACT, fills, gradient=Gradient(lambda rng: ([rng.normal(size=SHAPE), rng.random(SHAPE) < 0.5], {"value": 2.0}), of=(0,)), also=("Tensor.masked_fill",)),  # fmt: skip
    "set_slice": Op(order.set_slice, REAL, EXACT, by_rank(((7,), {"key": slice(2, None, 2), "value": 1}), ((4, 33), {"key": (1, slice(None, 5)), "value": 0}), ((2, 3, 17), {"key": (Ellipsis, slice(None, None, -3)), "value": 1}), ((0, 3), {"key": slice(None), "value": 1})), gradient=smooth((3, 4), key=(slice(0, 2), 1), value=0.5)),  # fmt: skip
    # Sorting
    "bucketize": Op(lambda v, a, right=False: np.searchsorted(a, v, "right" if right else "left"), REAL, EXACT, buckets, to_int64),  # fmt: skip
    "sort": Op(order.sort, REAL, EXACT, lines(extra=orders), gradient=kinked((3, 5), axis=1)),
    "argsort": Op(order.argsort, REAL, EXACT, lines(extra=orders), to_int64),
    "topk": Op(order.topk, REAL, EXACT, lines(extra=leading), many=True, found=True, gradient=kinked((3, 5), axis=1, k=2)),  # fmt: skip
    "searchsorted": Op(lambda a, v, side="left": np.searchsorted(a, v, side), REAL, EXACT, searches, to_int64),  # fmt: skip
}
