"""Layers as modules: shapes, initial values, modes, and against PyTorch's where it is installed."""

import numpy as np
import pytest

import reprise as rp
from reprise import nn, optim


def test_layers_have_pytorch_shapes():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (python3-torch)")
    rng = np.random.default_rng(1)
    for name, args, options, shape in [
        ("Conv1d", (4, 6, 3), {"stride": 2, "padding": 1}, (2, 4, 9)),
        ("Conv2d", (4, 6, (3, 2)), {"groups": 2, "dilation": 2}, (2, 4, 9, 8)),
        ("Conv3d", (2, 3, 2), {"bias": False}, (1, 2, 4, 4, 4)),
        ("ConvTranspose1d", (4, 6, 3), {"stride": 2}, (2, 4, 5)),
        ("ConvTranspose2d", (4, 6, 3), {"stride": 2, "padding": 1, "output_padding": 1}, (2, 4, 5, 6)),
        ("MaxPool2d", (2,), {}, (2, 3, 7, 8)), ("AvgPool2d", (3, 2), {"padding": 1}, (2, 3, 7, 8)),
        ("MaxPool1d", (3, 2), {}, (2, 3, 9)), ("Flatten", (), {}, (2, 3, 4)),
        ("LayerNorm", (5,), {}, (2, 5)), ("Linear", (5, 3), {}, (2, 5)),
    ]:  # fmt: skip
        ours = getattr(nn, name)(*args, **options)
        theirs = getattr(torch.nn, name)(*args, **options)
        for own, parameter in theirs.named_parameters():
            value = parameter.detach().numpy()
            mine = getattr(ours, own)
            mine.assign_(rp.asarray(value.T.copy() if name == "Linear" and value.ndim == 2 else value))
        x = rng.normal(size=shape).astype(np.float32)
        want = theirs(torch.from_numpy(x)).detach().numpy()
        np.testing.assert_allclose(np.asarray(ours(rp.asarray(x))), want, rtol=1e-4, atol=1e-5, err_msg=name)


def test_batch_norm_and_dropout_have_modes():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (python3-torch)")
    rng = np.random.default_rng(2)
    ours, theirs = nn.BatchNorm(3), torch.nn.BatchNorm2d(3)
    for _ in range(3):
        x = rng.normal(1, 2, (4, 3, 5, 5)).astype(np.float32)
        np.testing.assert_allclose(np.asarray(ours(rp.asarray(x))), theirs(torch.from_numpy(x)).detach().numpy(), rtol=1e-4, atol=1e-5)  # fmt: skip
    ours.eval(), theirs.eval()
    np.testing.assert_allclose(np.asarray(ours(rp.asarray(x))), theirs(torch.from_numpy(x)).detach().numpy(), rtol=1e-4, atol=1e-5)  # fmt: skip
    net = nn.Sequential(nn.Conv2d(1, 2, 3), ours, nn.Dropout(0.5))
    assert list(net.named_parameters()) == ["layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"]  # fmt: skip
    assert list(net.named_buffers()) == ["layers.1.running_mean", "layers.1.running_var"]
    drop = net.layers[2]
    ones = rp.ones((100,))
    assert 0 in drop(ones).tolist()
    assert net.eval() is net and drop(ones).tolist() == [1] * 100
    net.train()
    assert 0 in drop(ones).tolist()


def test_a_convolutional_network_learns():
    rp.set_seed(0)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 64)
    images = rng.normal(0, 0.3, (64, 1, 8, 8)).astype(np.float32)
    for image, label in zip(images, labels):
        at = rng.integers(0, 8)
        image[0][(slice(None), at) if label else (at, slice(None))] += 1
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm(4), rp.relu, nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 2))  # fmt: skip
    optimizer = optim.Adam(net.parameters(), lr=2e-2)

    @rp.jit
    def step(x, y):
        with rp.Tape() as tape:
            loss = rp.cross_entropy(net(x), y)
            optimizer.step(tape.gradient(loss, net.parameters()))
        return loss

    losses = [step(images, labels).item() for _ in range(60)]
    assert losses[-1] < 0.1 * losses[0]
