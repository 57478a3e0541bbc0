"""Every optimizer against PyTorch's on the same gradients, in float64."""

import numpy as np
import pytest

import reprise as rp
from reprise import optim

torch = pytest.importorskip("torch", reason="PyTorch is not installed (python3-torch)")

CASES = [
    ("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.05, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.05, "momentum": 0.8, "nesterov": True}),
    ("SGD", {"lr": 0.05, "momentum": 0.8, "nesterov": True, "weight_decay": 0.01}),
    ("Adam", {"lr": 0.02}), ("Adam", {"lr": 0.02, "betas": (0.7, 0.95), "eps": 1e-3}),
    ("Adam", {"lr": 0.02, "weight_decay": 0.1}), ("AdamW", {"lr": 0.02}),
    ("AdamW", {"lr": 0.02, "betas": (0.7, 0.95), "weight_decay": 0.2}),
]  # fmt: skip


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("name,options", CASES)
def test_steps(name, options, jit):
    rng = np.random.default_rng(0)
    start = [rng.normal(size=(3, 4)), rng.normal(size=4)]
    targets = rng.normal(size=(12, 5, 4))
    inputs = rng.normal(size=(12, 5, 3))

    theirs = [torch.from_numpy(a.copy()).requires_grad_() for a in start]
    reference = getattr(torch.optim, name)(theirs, **options)
    ours = [rp.tensor(a) for a in start]
    optimizer = getattr(optim, name)(ours, **options)

    def step(x, y):
        with rp.Tape() as tape:
            loss = rp.sum((rp.tanh(x @ ours[0] + ours[1]) - y) ** 2)
            optimizer.step(tape.gradient(loss, ours))
        return loss

    run = rp.jit(step) if jit else step
    for i, (x, y) in enumerate(zip(inputs, targets)):
        if i == 6:  # a rate that changes on the way
            optimizer.lr = options["lr"] / 2
            reference.param_groups[0]["lr"] = options["lr"] / 2
        reference.zero_grad()
        loss = ((torch.tanh(torch.from_numpy(x) @ theirs[0] + theirs[1]) - torch.from_numpy(y)) ** 2).sum()  # fmt: skip
        loss.backward()
        reference.step()
        own = run(rp.asarray(x), rp.asarray(y))
        np.testing.assert_allclose(own.item(), loss.item(), rtol=1e-11)
        for a, b in zip(ours, theirs):
            np.testing.assert_allclose(np.asarray(a), b.detach().numpy(), rtol=1e-10, atol=1e-12)
