"""Modules: parameters by name, and the layers and losses made of them."""

import math

from . import _core
from ._core import Tensor, cross_entropy, layer_norm, matmul, rms_norm, uniform
from ._tape import Tape

__all__ = [
    "LayerNorm",
    "Linear",
    "Module",
    "RMSNorm",
    "Sequential",
    "cross_entropy",
    "mse_loss",
    "value_and_grad",
]


class Module:
    """A tree of named parameters.

    Attributes that are float tensors are parameters, those that are modules, or lists, tuples and
    dicts of either, are looked into; names that begin with an underscore are the module's own
    business. Define `__call__`:

        class Mlp(nn.Module):
            def __init__(self):
                self.fc1 = nn.Linear(784, 256)
                self.fc2 = nn.Linear(256, 10)

            def __call__(self, x):
                return self.fc2(rp.relu(self.fc1(x)))

    An optimizer assigns to the tensors; the attributes stay the same objects.
    """

    def named_parameters(self):
        """A dict of every parameter by its dotted path ("fc1.weight"), in the order they were set.

        One that can be reached by several paths is there once, under the first.
        """
        found, seen = {}, set()
        _collect(self, "", found, seen)
        return found

    def parameters(self):
        """A list of every parameter, in the same order."""
        return list(self.named_parameters().values())

    def load_parameters(self, values):
        """Assigns to each parameter the value under its path: tensors or arrays, of its dtype.

        Error, and nothing is assigned, unless there is exactly one for each.
        """
        named = self.named_parameters()
        if named.keys() != values.keys():
            missing = sorted(named.keys() - values.keys())
            unknown = sorted(values.keys() - named.keys())
            raise _core.Error(f"load_parameters: missing {missing}, unknown {unknown}")
        for name, parameter in named.items():
            value = values[name]
            if tuple(value.shape) != parameter.shape or parameter.dtype != value.dtype:
                raise _core.ShapeError(
                    f"load_parameters: {name} is {parameter.dtype} {parameter.shape}, "
                    f"its value {value.dtype} {tuple(value.shape)}"
                )
        for name, parameter in named.items():
            parameter.assign_(values[name])


def _collect(value, path, found, seen):
    if isinstance(value, Tensor):
        if value.dtype.kind == "real floating" and id(value) not in seen:
            seen.add(id(value))
            found[path] = value
        return
    if isinstance(value, Module):
        if id(value) in seen:
            return
        seen.add(id(value))
        items = [(name, item) for name, item in vars(value).items() if not name.startswith("_")]
    elif isinstance(value, (list, tuple)):
        items = enumerate(value)
    elif isinstance(value, dict):
        items = value.items()
    else:
        return
    for name, item in items:
        _collect(item, f"{path}.{name}" if path else str(name), found, seen)


class Linear(Module):
    """x W + b over the last axis: x (.., in) gives (.., out); weight (in, out), bias (out) or None.

    Both start uniform between +-1/sqrt(in), drawn from the global random stream.
    """

    def __init__(self, in_features, out_features, bias=True, dtype=None):
        bound = 1 / math.sqrt(max(in_features, 1))
        self.weight = uniform((in_features, out_features), -bound, bound, dtype)
        self.bias = uniform((out_features,), -bound, bound, dtype) if bias else None

    def __call__(self, x):
        product = matmul(x, self.weight)
        return product if self.bias is None else product + self.bias


class LayerNorm(Module):
    """(x - mean) / sqrt(variance + eps) * weight + bias over the last axis, `features` long."""

    def __init__(self, features, eps=1e-5, dtype=None):
        self.weight = _core.ones((features,), dtype)
        self.bias = _core.zeros((features,), dtype)
        self._eps = eps

    def __call__(self, x):
        return layer_norm(x, -1, self.weight, self.bias, self._eps)


class RMSNorm(Module):
    """x / sqrt(mean(x * x) + eps) * weight over the last axis, of extent `features`."""

    def __init__(self, features, eps=1e-5, dtype=None):
        self.weight = _core.ones((features,), dtype)
        self._eps = eps

    def __call__(self, x):
        return rms_norm(x, -1, self.weight, self._eps)


class Sequential(Module):
    """One layer after the other: modules, or any functions of a tensor."""

    def __init__(self, *layers):
        self.layers = list(layers)

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def mse_loss(prediction, target, reduction="mean"):
    """(prediction - target)^2: their 'mean', 'sum', or 'none' for all of them."""
    squares = _core.square(_core.subtract(prediction, target))
    if reduction == "mean":
        return _core.mean(squares)
    if reduction == "sum":
        return _core.sum(squares)
    if reduction == "none":
        return squares
    raise _core.Error(f"reduction {reduction!r}: expected 'mean', 'sum' or 'none'")


def value_and_grad(module, function):
    """A function that returns function(...) and its gradients for module.parameters(), a list.

    `function` returns a tensor of rank 0, else ShapeError.
    """

    def with_gradients(*args, **kwargs):
        with Tape() as tape:
            y = function(*args, **kwargs)
            if not isinstance(y, Tensor) or y.ndim != 0:
                have = getattr(y, "shape", type(y).__name__)
                raise _core.ShapeError(
                    f"a function to differentiate returned {have}, expected a tensor of rank 0"
                )
            return y, tape.gradient(y, module.parameters())

    return with_gradients
