"""Values and gradients against PyTorch, where it is installed; in float64, so that only what is
meant differently differs."""

import numpy as np
import pytest

import reprise as rp
import torch_references
from compare import elements
from samples import generator
from table import OPS
from test_gradients import DIFFERENTIABLE, point
from test_values import call

torch = pytest.importorskip("torch", reason="PyTorch is not installed (python3-torch)")
TABLE = torch_references.table(torch)


def moderate(name, array):
    """The operand without what means something else to PyTorch: differences.py says what."""
    if array.dtype.kind != "f" or name not in OTHERWISE:
        return array
    return np.asarray(OTHERWISE[name](np.nan_to_num(array)))


def _off(x):
    return x - np.rint(x)


OTHERWISE = {
    "remainder": lambda x: np.where(np.abs(x) < 0.25, 0.25, np.clip(x, -8, 8)),
    "lp_pool1d": np.abs,
    "lp_pool2d": np.abs,
    "lgamma": lambda x: np.where(np.abs(_off(x)) < 0.05, x + 0.1, np.clip(x, -8, 1e3)),
    "digamma": lambda x: np.where(np.abs(_off(x)) < 0.05, 0.3, np.clip(x, 0.01, 1e3)),
    "polygamma": lambda x: np.where(np.abs(_off(x)) < 0.05, 0.3, np.clip(x, 0.01, 30)),
    "erfinv": lambda x: np.clip(x, -0.99, 0.99),  # PyTorch's has errors of 6e-5 near 1
} | {
    name: lambda x: np.clip(x, -8, 8)
    for name in ("pow", "gelu", "clip", "softmax", "log_softmax", "logsumexp", "log1p", "silu",
                 "mish", "softsign", "hardswish")
}  # fmt: skip


#: Derivatives by way of PyTorch's trigamma, whose errors are 5e-10.
LOOSE = ("lgamma", "digamma")


@pytest.mark.parametrize("name", [n for n in TABLE if n not in ("take",)])
def test_value(name, seed):
    op = OPS[name]
    rng = generator(seed, name, "torch")
    for operands, keywords in op.make(rng, "float64", False):
        arrays = [moderate(name, np.array(x.array)) for x in operands]
        if name == "prod" and not isinstance(keywords["axis"], int):
            continue
        if not arrays[0].ndim or not arrays[0].size or keywords.get("axis", 0) == ():
            continue
        actual = elements(call(name, op, [rp.asarray(a) for a in arrays], keywords))
        expected = TABLE[name](*[torch.from_numpy(a) for a in arrays], **keywords).numpy()
        np.testing.assert_allclose(actual, expected, rtol=2e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", [n for n in DIFFERENTIABLE if n in TABLE])
def test_gradient(name, seed):
    """The first and, of smooth ops, the second derivative, both by PyTorch's autograd."""
    op, rng, arrays, of, loss = point(name, seed)
    _, keywords = op.gradient.make(generator(seed, name, "gradient"))
    weights = [rng.normal(size=arrays[i].shape) for i in of]

    theirs = [torch.from_numpy(a.copy()).requires_grad_(i in of) for i, a in enumerate(arrays)]
    value = TABLE[name](*theirs, **keywords)
    shape = tuple(value.shape)
    seeds = rng.normal(size=shape)
    first = torch.autograd.grad(
        (value * torch.from_numpy(np.asarray(seeds))).sum(), [theirs[i] for i in of],
        create_graph=op.gradient.second, allow_unused=True,
    )  # fmt: skip

    def ours_loss(*tensors):
        return rp.sum(call(name, op, list(tensors), keywords) * rp.asarray(seeds))

    tensors = [rp.asarray(a) for a in arrays]
    ours = rp.grad(ours_loss, argnums=of)(*tensors)
    for a, e in zip(ours, first):
        rtol = 1e-8 if name in LOOSE else 1e-10
        np.testing.assert_allclose(np.asarray(a), e.detach().numpy(), rtol=rtol, atol=rtol / 10)
    if not op.gradient.second:
        return

    def slope(*inner):
        gradients = rp.grad(ours_loss, argnums=of)(*inner)
        terms = [rp.sum(g * rp.asarray(w)) for g, w in zip(gradients, weights)]
        return sum(terms[1:], terms[0])

    total = sum((g * torch.from_numpy(np.asarray(w))).sum() for g, w in zip(first, weights))
    if total.requires_grad:
        second = torch.autograd.grad(total, [theirs[i] for i in of], allow_unused=True)
    else:
        second = [None] * len(of)
    for a, e, i in zip(rp.grad(slope, argnums=of)(*tensors), second, of):
        e = np.zeros(arrays[i].shape) if e is None else e.numpy()
        rtol = 1e-8 if name in LOOSE else 1e-9
        np.testing.assert_allclose(np.asarray(a), e, rtol=rtol, atol=rtol / 10)
