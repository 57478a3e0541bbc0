"""The oracle's entries of normalizations, attention and losses."""

import numpy as np

import layer_references as layer
from compare import relative
from entry import PAIR_SUM, SHAPE, Op, indexed_gradient, kinked, smooth, to_float
from inputs import along, moderate_shapes, positions, sampled
from samples import BOOL, FLOATS, INTEGERS, LAYOUTS, REAL, laid_out


def logits(rng, dtype, full):
    cases = []
    for shape in sampled(rng, [(1, 1), (4, 3), (33, 10), (2, 5, 7), (3, 257), (5,)], 3, full):
        x = laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)), "moderate")
        reduction = str(rng.choice(["mean", "sum", "none"]))
        cases.append(([x, positions(rng, shape[:-1], shape[-1], 0)], {"reduction": reduction}))
    return cases


def normalized(operands):
    def make(rng, dtype, full):
        cases = []
        for shape in sampled(rng, [(1, 8), (4, 33), (7, 5, 3), (2, 257), (3, 2, 2)], 3, full):
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


def batches(rng, dtype, full):
    cases = []
    for shape in [(4, 3), (2, 5, 7), (1, 2, 3, 3)]:
        channels = shape[1:2]
        operands = [laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)), "moderate")]
        for kind in ("moderate", "positive", "moderate", "moderate"):
            operands.append(laid_out(rng, dtype, channels, "plain", kind))
        cases.append((operands, {}))
        cases.append((operands[:1], {}))  # by its own statistics
    return cases


def class_labels(*more):
    """Scores (.., C), labels (..) of which some are ignored, and weights (C)."""

    def make(rng, dtype, full):
        cases = []
        for shape in sampled(rng, [(1, 1), (4, 3), (33, 10), (2, 5, 7)], 3, full):
            x = laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)), "moderate")
            labels = positions(rng, shape[:-1], shape[-1], 0)
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
        for shape in sampled(rng, [(7,), (4, 33), (2, 3, 17), (1,)], 3, full):
            operands = [laid_out(rng, dtype, shape, str(rng.choice(LAYOUTS)), k) for k in kinds]
            reduction = str(rng.choice(["mean", "sum", "none"]))
            cases.append((operands, {"reduction": reduction, **keywords}))
        return cases

    of = lambda a, b, reduction="mean", **more: layer.reduced(reference(a, b, **more), reduction)  # noqa: E731
    return Op(of, FLOATS, relative(6, PAIR_SUM), make, width="wide", left_out=BOOL + INTEGERS, gradient=gradient or smooth(SHAPE, SHAPE))  # fmt: skip


LAYERS = {
    # Layers
    "softmax": Op(layer.softmax, REAL, relative(2, "exp magnifies the rounding of x - max"), along(several=True), to_float, "wide", gradient=smooth((3, 4), axis=1)),  # fmt: skip
    "log_softmax": Op(layer.log_softmax, REAL, relative(2, "near 0 two numbers of size 1 cancel"), along(several=True), to_float, "wide", gradient=smooth((3, 4), axis=0)),  # fmt: skip
    "layer_norm": Op(layer.layer_norm, REAL, relative(4, "x - mean cancels"), normalized(3), to_float, "wide", call=norm_call, gradient=smooth((3, 4), (4,), (4,))),  # fmt: skip
    "rms_norm": Op(layer.rms_norm, REAL, relative(4, PAIR_SUM), normalized(2), to_float, "wide", call=norm_call, gradient=smooth((3, 4), (4,))),  # fmt: skip
    "cross_entropy": Op(layer.cross_entropy, REAL, relative(4, "near 0 two numbers of size 1 cancel"), logits, to_float, "wide", kept=(1,), gradient=indexed_gradient(lambda rng: ([rng.normal(size=(4, 3)), rng.integers(0, 3, 4)], {"reduction": "none"}))),  # fmt: skip
    "group_norm": Op(layer.group_norm, FLOATS, relative(8, "x - mean cancels"), moderate_shapes((((2, 4, 5), (4,), (4,)), {"num_groups": 2}), (((3, 6), (6,), (6,)), {"num_groups": 3}), (((1, 33, 2, 3), (33,), (33,)), {"num_groups": 1})), width="wide", call=norm_call, left_out=BOOL + INTEGERS, gradient=smooth((2, 4, 3), (4,), (4,), num_groups=2)),  # fmt: skip
    "instance_norm": Op(lambda x, w, b: layer.group_norm(x, w, b, x.shape[1]), FLOATS, relative(8, "x - mean cancels"), moderate_shapes((((2, 4, 5), (4,), (4,)), {}), (((1, 3, 2, 7), (3,), (3,)), {})), width="wide", call=norm_call, left_out=BOOL + INTEGERS, gradient=smooth((2, 3, 4), (3,), (3,))),  # fmt: skip
    "batch_norm": Op(layer.batch_norm, FLOATS, relative(8, "x - mean cancels"), batches, width="wide", left_out=BOOL + INTEGERS, gradient=smooth((3, 2), (2,), (2,), (2,), (2,), low=0.5)),  # fmt: skip
    "local_response_norm": Op(layer.local_response_norm, FLOATS, relative(8, PAIR_SUM), moderate_shapes((((2, 7, 3),), {"size": 3}), (((1, 4),), {"size": 2, "alpha": 0.5})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth((2, 4), size=3, alpha=0.5)),  # fmt: skip
    "scaled_dot_product_attention": Op(layer.attention, FLOATS, relative(12, "exp magnifies the rounding of the scores"), moderate_shapes((((3, 4), (5, 4), (5, 2)), {}), (((2, 2, 7, 4), (2, 2, 7, 4), (2, 2, 7, 3)), {"is_causal": True}), (((2, 4, 3, 8), (2, 2, 5, 8), (2, 2, 5, 6)), {"scale": 0.5})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth((3, 2), (4, 2), (4, 3))),  # fmt: skip
    "rope": Op(layer.rope, FLOATS, relative(4, "two products cancel"), moderate_shapes((((5, 8),), {}), (((2, 3, 6),), {"offset": 7, "base": 100.0})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth((3, 4))),  # fmt: skip
    # Losses
    "mse_loss": loss(lambda a, b: (a - b) ** 2),
    "l1_loss": loss(lambda a, b: np.abs(a - b), gradient=kinked(SHAPE, SHAPE)),
    "smooth_l1_loss": loss(layer.smooth_l1, beta=0.5, gradient=kinked(SHAPE, SHAPE, beta=0.5)),
    "huber_loss": loss(layer.huber, delta=0.5, gradient=kinked(SHAPE, SHAPE, delta=0.5)),
    "binary_cross_entropy": loss(layer.bce, kinds=("unit", "unit"), gradient=smooth(SHAPE, SHAPE, low=0.2, high=0.8)),  # fmt: skip
    "binary_cross_entropy_with_logits": loss(layer.bce_with_logits),
    "hinge_loss": loss(lambda a, b: np.maximum(1 - a * b, 0), gradient=kinked(SHAPE, SHAPE)),
    "kl_div": loss(layer.kl_div, kinds=("moderate", "positive"), gradient=smooth(SHAPE, SHAPE, low=0.5)),
    "nll_loss": Op(layer.nll, FLOATS, relative(4, "sums cancel"), class_labels("weight"), width="wide", kept=(1,), left_out=BOOL + INTEGERS, call=weighted_call, gradient=indexed_gradient(lambda rng: ([rng.normal(size=(4, 3)), rng.integers(0, 3, 4)], {}))),  # fmt: skip
    "cosine_similarity": Op(layer.cosine_similarity, FLOATS, relative(6, "sums cancel"), moderate_shapes((((4, 33), (4, 33)), {}), (((2, 3, 5), (2, 3, 5)), {"axis": 1})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth(SHAPE, SHAPE)),  # fmt: skip
    "triplet_margin_loss": Op(layer.triplet_margin, FLOATS, relative(8, "distances cancel"), moderate_shapes((((4, 33),) * 3, {"reduction": "none"}), (((7, 5),) * 3, {"margin": 0.5})), width="wide", left_out=BOOL + INTEGERS, gradient=smooth(SHAPE, SHAPE, SHAPE, margin=9.0)),  # fmt: skip
}
