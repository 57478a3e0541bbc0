"""Training steps in PyTorch, from the same numbers as those of training_steps.cpp."""
import torch
import torch.nn.functional as F

from torch_numbers import numbers

BATCH = 64


class Net:
    """Parameters in the order in which they are asked for."""

    def __init__(self):
        self.parameters = []

    def add(self, value):
        self.parameters.append(value.contiguous().requires_grad_())
        return self.parameters[-1]

    def drawn(self, shape, fan_in):
        """Uniform between +-1/sqrt(fan_in); the count of parameters chooses the numbers."""
        count = 1
        for extent in shape:
            count *= extent
        values = torch.from_numpy(numbers(count, len(self.parameters) + 1)) * fan_in**-0.5
        return values.reshape(shape)

    def linear(self, inputs, outputs):
        """Weights as PyTorch likes them, (out, in)."""
        weight = self.add(self.drawn((inputs, outputs), inputs).T)
        bias = self.add(torch.zeros(outputs))
        return lambda x: F.linear(x, weight, bias)

    def convolution(self, inputs, outputs, kernel, padding=0):
        weight = self.add(self.drawn((outputs, inputs, kernel, kernel), inputs * kernel * kernel))
        bias = self.add(torch.zeros(outputs))
        return lambda x: F.conv2d(x, weight, bias, padding=padding)

    def layer_norm(self, width):
        weight, bias = self.add(torch.ones(width)), self.add(torch.zeros(width))
        return lambda x: F.layer_norm(x, (width,), weight, bias)


def images(*shape):
    count = BATCH
    for extent in shape:
        count *= extent
    return torch.from_numpy(numbers(count, 1000)).reshape(BATCH, *shape)


def classes():
    return torch.arange(BATCH) % 10


def mlp():
    net = Net()
    layers = [net.linear(784, 256), net.linear(256, 128), net.linear(128, 10)]

    def loss(x, y):
        h = F.relu(layers[0](x))
        h = F.relu(layers[1](h))
        return F.cross_entropy(layers[2](h), y)

    return net.parameters, loss, (images(784), classes())


def lenet():
    net = Net()
    first, second = net.convolution(1, 6, 5, 2), net.convolution(6, 16, 5)
    layers = [net.linear(400, 120), net.linear(120, 84), net.linear(84, 10)]

    def loss(x, y):
        h = F.max_pool2d(F.relu(first(x)), 2)
        h = F.max_pool2d(F.relu(second(h)), 2).flatten(1)
        h = F.relu(layers[0](h))
        h = F.relu(layers[1](h))
        return F.cross_entropy(layers[2](h), y)

    return net.parameters, loss, (images(1, 28, 28), classes())


def cnn():
    net = Net()
    first, second = net.convolution(3, 32, 3, 1), net.convolution(32, 64, 3, 1)
    last = net.linear(64 * 8 * 8, 10)

    def loss(x, y):
        h = F.max_pool2d(F.relu(first(x)), 2)
        h = F.max_pool2d(F.relu(second(h)), 2)
        return F.cross_entropy(last(h.flatten(1)), y)

    return net.parameters, loss, (images(3, 32, 32), classes())


def gpt(layers=4, width=256, heads=4, tokens=128, batch=8, vocabulary=512):
    net = Net()
    words = net.add(net.drawn((vocabulary, width), width))
    places = net.add(net.drawn((tokens, width), width))

    def block():
        norms = net.layer_norm(width), net.layer_norm(width)
        inner, outer = net.linear(width, 3 * width), net.linear(width, width)
        up, down = net.linear(width, 4 * width), net.linear(4 * width, width)
        hidden = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)

        def run(x):
            parts = inner(norms[0](x)).reshape(batch, tokens, 3, heads, width // heads)
            q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
            scores = q @ k.transpose(-2, -1) * (width // heads) ** -0.5
            mixed = scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v
            x = x + outer(mixed.transpose(1, 2).reshape(batch, tokens, width))
            return x + down(F.gelu(up(norms[1](x)), approximate="tanh"))

        return run

    blocks = [block() for _ in range(layers)]
    norm, head = net.layer_norm(width), net.linear(width, vocabulary)

    def loss(x, y):
        h = F.embedding(x, words) + places
        for run in blocks:
            h = run(h)
        return F.cross_entropy(head(norm(h)).reshape(-1, vocabulary), y)

    text = torch.arange(batch * tokens + 1) * 7919 % 509 % vocabulary
    return net.parameters, loss, (text[:-1].reshape(batch, tokens), text[1:])


NETS = {"mlp": mlp, "lenet": lenet, "cnn": cnn, "gpt": gpt}
OPTIMIZERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=1e-2),
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=1e-3),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, lr=1e-3, weight_decay=1e-2),
}


def training(net, optimizer):
    """A function that makes one step and returns its loss."""
    parameters, loss_of, batch = NETS[net]()
    optimizer = OPTIMIZERS[optimizer](parameters)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(*batch)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def step(net, optimizer, steps):
    """Its result is the losses of the first steps."""
    run = training(net, optimizer)

    def call():
        return run()

    def losses():
        fresh = training(net, optimizer)
        return [fresh() for _ in range(steps)]

    call.result = losses
    return call


def first_step():
    """What this process has in memory, in MiB, after the perceptron's first step."""
    training("mlp", "sgd")()
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    raise OSError("/proc/self/status has no VmRSS")
