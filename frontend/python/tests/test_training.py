"""Modules, optimizers, and a network that learns."""

import math

import numpy as np
import pytest

import reprise as rp
from reprise import nn, optim


class Mlp(nn.Module):
    def __init__(self, hidden=32):
        self.fc1 = nn.Linear(2, hidden)
        self.rest = [nn.Linear(hidden, hidden), nn.Linear(hidden, 2, bias=False)]
        self._seen = rp.zeros((1,))

    def __call__(self, x):
        x = rp.relu(self.fc1(x))
        return self.rest[1](rp.relu(self.rest[0](x)))


def spirals(count=128):
    """Two classes that no line divides."""
    generator = np.random.default_rng(0)
    angle = np.sqrt(generator.random(count)) * 3 * math.pi
    label = generator.integers(0, 2, count)
    radius = angle / (3 * math.pi)
    turn = angle + label * math.pi
    points = np.stack([radius * np.cos(turn), radius * np.sin(turn)], axis=1)
    return points.astype(np.float32), label


def train(steps, decorate, make=lambda p: optim.Adam(p, lr=1e-2)):
    rp.set_seed(1)
    net = Mlp()
    optimizer = make(net.parameters())
    points, labels = (rp.asarray(a) for a in spirals())

    def step(x, y):
        with rp.Tape() as tape:
            loss = rp.cross_entropy(net(x), y)
            optimizer.step(tape.gradient(loss, net.parameters()))
            tape.realize(loss)
        return loss

    step = decorate(step)
    losses = [step(points, labels).item() for _ in range(steps)]
    assert optimizer.steps == steps
    accuracy = rp.mean((rp.argmax(net(points), axis=1) == labels).astype(rp.float32)).item()
    return losses, accuracy


def test_a_network_learns():
    losses, accuracy = train(400, rp.jit)
    assert losses[-1] < 0.1 * losses[0] and accuracy > 0.95
    assert all(math.isfinite(loss) for loss in losses)


def test_jit_gives_the_same_bits():
    plain, _ = train(20, lambda f: f)
    jitted, _ = train(20, rp.jit)
    assert plain == jitted


def test_memory_of_training_is_flat():
    rp.set_seed(0)
    net = Mlp()
    optimizer = optim.AdamW(net.parameters())
    points, labels = spirals()

    @rp.jit
    def step(x, y, rate):
        loss, gradients = nn.value_and_grad(net, lambda: rp.cross_entropy(net(x), y) * rate)()
        optimizer.step(gradients)
        return loss

    seen = []
    for i in range(30):
        optimizer.lr = 1e-3 / (i + 1)
        step(points, labels, 1.0 + i).item()
        if i in (10, 29):
            seen.append(rp.stats())
    for name in ["live_tensors", "live_nodes", "live_bytes", "kernels_compiled", "plan_misses"]:
        assert seen[0][name] == seen[1][name], name
    assert step.recorded == 1


@pytest.mark.parametrize("make", [
    lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-4),
    lambda p: optim.Adam(p), lambda p: optim.AdamW(p, lr=0.01, betas=(0.8, 0.99), weight_decay=0.1),
])  # fmt: skip
def test_every_optimizer_descends(make):
    losses, _ = train(40, rp.jit, make)
    assert losses[-1] < losses[0]


def test_modules_name_their_parameters():
    net = Mlp(4)
    assert list(net.named_parameters()) == [
        "fc1.weight", "fc1.bias", "rest.0.weight", "rest.0.bias", "rest.1.weight",
    ]  # fmt: skip
    net.tied = net.fc1
    assert len(net.parameters()) == 5
    values = {name: p.numpy() * 0 + 2 for name, p in net.named_parameters().items()}
    weight = net.fc1.weight
    net.load_parameters(values)
    assert net.fc1.weight is weight and weight.tolist() == [[2] * 4] * 2
    with pytest.raises(rp.Error, match="missing"):
        net.load_parameters({})
    values["fc1.bias"] = np.zeros(3, np.float32)
    with pytest.raises(rp.ShapeError, match="fc1.bias"):
        net.load_parameters(values)


def test_layers_and_losses():
    x = rp.asarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    stack = nn.Sequential(nn.Linear(3, 4), rp.relu, nn.LayerNorm(4), nn.RMSNorm(4))
    assert stack(x).shape == (2, 4) and len(stack.parameters()) == 5
    assert nn.mse_loss(x, 1.0).item() == pytest.approx(np.mean((np.asarray(x) - 1) ** 2))
    assert nn.mse_loss(x, x, "none").shape == (2, 3) and nn.mse_loss(x, x, "sum").item() == 0
    bound = 1 / math.sqrt(3)
    assert rp.abs(stack.layers[0].weight).max().item() <= bound


def test_options_and_schedules():
    p = rp.ones((2,)).realize()
    with pytest.raises(rp.Error, match="learning rate"):
        optim.SGD([p], lr=-1)
    with pytest.raises(rp.Error, match="same tensor"):
        optim.Adam([p, p])
    with pytest.raises(rp.DTypeError):
        optim.Adam([rp.asarray([1])])
    adam = optim.Adam([p], lr=0.5)
    with pytest.raises(rp.ShapeError):
        adam.step([])
    assert adam.lr == 0.5 and adam.steps == 0 and len(adam.state) == 2
    cosine = optim.CosineSchedule(1.0, total=10, warmup=2)
    assert cosine(0) == 0.5 and cosine(10) == 0
    assert optim.StepSchedule(1.0, 0.5, every=3)(6) == 0.25


def test_loader():
    inputs, targets = np.arange(20, dtype=np.uint8).reshape(10, 2), np.arange(10)
    loader = rp.io.DataLoader(inputs, targets, batch=4, drop_last=False, normalize=(1.0, 0.5))
    assert len(loader) == 3 and loader.rows == 10
    seen = []
    for x, y in loader:
        assert x.dtype == rp.float32
        assert np.array_equal(np.asarray(x)[:, 0], (2 * np.asarray(y) - 1) * 0.5)
        seen += y.tolist()
    assert sorted(seen) == list(range(10)) and seen != list(range(10))
    assert [y.tolist() for _, y in loader] != [seen[:4], seen[4:8], seen[8:]]
    loader.epoch = 0
    assert [y.tolist() for _, y in loader] == [seen[:4], seen[4:8], seen[8:]]


def test_forward_mode():
    x, w = np.array([1.0, 2.0, -1.0]), np.array([0.5, -2.0, 3.0])
    y, change = rp.jvp(lambda x, w: x**3 * w, (x, w), (np.array([1.0, 0.5, 2.0]), np.ones(3)))
    assert np.asarray(y).tolist() == [0.5, -16, -3]
    assert np.allclose(np.asarray(change), [2.5, -4, 17])
    assert rp.jit(lambda x: rp.jvp(rp.sin, (x,), (x,))[1])(rp.asarray([0.0])).tolist() == [0]
    with pytest.raises(rp.Error):
        rp.jvp(rp.sin, (x,), ())
