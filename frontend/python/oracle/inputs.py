"""How the inputs of entries are made, for kinds of ops: (rng, dtype, full) -> the cases."""

import math

import numpy as np

import fold_references as fold
from samples import FLOATS, LAYOUTS, SHAPES, Input, laid_out, of_values, pairs


def sampled(rng, items, count, full):
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
        shapes = sampled(rng, SHAPES, 2, full)
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


def told(make, **keywords):
    """The same inputs, called with keyword arguments."""
    return lambda rng, dtype, full: [(operands, keywords) for operands, _ in make(rng, dtype, full)]


def axis_choices(rng, rank, several):
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
        for shape in sampled(rng, shapes, 4, full):
            options = axis_choices(rng, len(shape), several)
            for axis in sampled(rng, options, 2 if full and len(options) > 1 else 1, False):
                rows, _ = fold.rows_of(np.zeros(shape), axis)
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


def along(kind="some", shapes=((1,), (7,), (33,), (5, 1), (4, 33), (33, 4), (2, 3, 17), (3, 257), (0, 4)), several=False):  # fmt: skip
    def make(rng, dtype, full):
        cases = []
        for shape in sampled(rng, shapes, 3, full):
            axis = int(rng.integers(-len(shape), len(shape)))
            if several and rng.random() < 0.3:
                count = int(rng.integers(1, len(shape) + 1))
                axis = tuple(int(a) for a in rng.permutation(len(shape))[:count])
            operand = laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)), kind)
            cases.append(([operand], {"axis": axis}))
        return cases

    return make


def lines(kind="any", operands=1, extra=None, shapes=((7,), (1,), (5, 13), (33, 4), (2, 3, 17), (65, 3), (0, 3), (130,))):  # fmt: skip
    """Operands of one shape, and one of their axes."""

    def make(rng, dtype, full):
        cases = []
        for shape in sampled(rng, shapes, 3, full):
            axis = int(rng.integers(-len(shape), len(shape)))
            own = [laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)), kind) for _ in range(operands)]  # fmt: skip
            cases.append((own, {"axis": axis, **(extra(rng, shape[axis]) if extra else {})}))
        return cases

    return make


def shaped(*rows, layouts=True):
    """Rows of (operands' shapes, keyword arguments) for ops that move elements."""

    def make(rng, dtype, full):
        cases = []
        for shapes, keywords in sampled(rng, rows, min(4, len(rows)), full):
            operands = [laid_out(rng, dtype, s, str(rng.choice(LAYOUTS))) for s in shapes]
            cases.append((operands, keywords))
        return cases

    return make


def by_rank(*rows):
    return shaped(*[((s,), k) for s, k in rows])


def moderate_shapes(*rows):
    """Operands' shapes and keyword arguments, with values about 3."""

    def make(rng, dtype, full):
        cases = []
        for shapes, keywords in sampled(rng, rows, min(3, len(rows)), full):
            operands = [laid_out(rng, dtype, s, str(rng.choice(LAYOUTS)), "moderate") for s in shapes]
            cases.append((operands, keywords))
        return cases

    return make


def positions(rng, shape, extent, low=None):
    dtype = str(rng.choice(["int32", "int64", "uint8", "int16"]))
    low = (0 if dtype == "uint8" else -extent) if low is None else low
    return Input(dtype, rng.integers(low, extent, shape).astype(dtype))
