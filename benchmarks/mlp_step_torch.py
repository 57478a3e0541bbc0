"""The peer of benchmarks/mlp_step.cpp: the same training step in PyTorch, from the same numbers.

Prints "LOSS MEDIAN_MS": the loss after the warm-up steps, then the median time of a timed step.
"""
import argparse
import time

import numpy
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--optimizer", choices=["sgd", "adam"], required=True)
parser.add_argument("--threads", type=int, required=True)
parser.add_argument("--warmup", type=int, required=True)
parser.add_argument("--steps", type=int, required=True)
options = parser.parse_args()
torch.set_num_threads(options.threads)


def pattern(count, scale, salt):
    """Numbers both programs can make exactly: a multiplicative sequence mapped to [-scale, scale)."""
    index = numpy.arange(count, dtype=numpy.uint64)
    word = ((index + numpy.uint64(salt)) * numpy.uint64(2654435761)) % numpy.uint64(2**32)
    word = ((word ^ (word >> numpy.uint64(15))) * numpy.uint64(2246822519)) % numpy.uint64(2**32)
    unit = (word >> numpy.uint64(8)).astype(numpy.float32) * numpy.float32(2.0**-24)
    return (unit * numpy.float32(2) - numpy.float32(1)) * numpy.float32(scale)


sizes = [784, 256, 128, 10]
weights, biases = [], []
for layer in range(3):
    inputs, outputs = sizes[layer], sizes[layer + 1]
    values = pattern(inputs * outputs, 1 / inputs**0.5, 1000 * (layer + 1))
    weights.append(torch.tensor(values.reshape(inputs, outputs), requires_grad=True))
    biases.append(torch.zeros(outputs, requires_grad=True))
x = torch.tensor(pattern(64 * 784, 1.0, 7).reshape(64, 784))
y = torch.arange(64) % 10
parameters = weights + biases
if options.optimizer == "adam":
    optimizer = torch.optim.Adam(parameters, lr=1e-3)
else:
    optimizer = torch.optim.SGD(parameters, lr=1e-2)


def step():
    optimizer.zero_grad(set_to_none=True)
    h = torch.relu(x @ weights[0] + biases[0])
    h = torch.relu(h @ weights[1] + biases[1])
    loss = torch.nn.functional.cross_entropy(h @ weights[2] + biases[2], y)
    loss.backward()
    optimizer.step()
    return loss.item()


for _ in range(options.warmup):
    last = step()
times = []
for _ in range(options.steps):
    start = time.perf_counter()
    step()
    times.append(time.perf_counter() - start)
print(f"{last:.6f} {1e3 * sorted(times)[len(times) // 2]:.4f}")
