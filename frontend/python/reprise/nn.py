"""Modules: parameters by name, and the layers and losses made of them."""

import math

from . import _core
from ._core import Tensor, cross_entropy, layer_norm, matmul, rms_norm, uniform
from ._tape import Tape

__all__ = [
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BatchNorm",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "Dropout",
    "Embedding",
    "Flatten",
    "LayerNorm",
    "Linear",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
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

    An optimizer assigns to the tensors; the attributes stay the same objects. Attributes named in
    `buffers` are tensors that are no parameters, running statistics: `named_buffers`.
    """

    #: Names of attributes that are kept but not trained.
    buffers = ()
    #: Whether layers that train otherwise than they infer train: see `train` and `eval`.
    _training = True

    def named_parameters(self):
        """A dict of every parameter by its dotted path ("fc1.weight"), in the order they were set.

        One that can be reached by several paths is there once, under the first.
        """
        found, seen = {}, set()
        _collect(self, "", found, seen)
        return found

    def named_buffers(self):
        """A dict of every buffer by its dotted path."""
        found = {}
        for path, module in _modules(self, "", set()):
            for name in module.buffers:
                found[f"{path}.{name}" if path else name] = getattr(module, name)
        return found

    def train(self, mode=True):
        """Layers that train otherwise than they infer (Dropout, BatchNorm) train from now on."""
        for _, module in _modules(self, "", set()):
            module._training = mode
        return self

    def eval(self):
        """They infer from now on."""
        return self.train(False)

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
    for name, item in _items(value):
        _collect(item, f"{path}.{name}" if path else str(name), found, seen)


def _items(value):
    """What a module or a collection holds, with names."""
    if isinstance(value, Module):
        own = vars(value).items()
        return [(n, v) for n, v in own if not n.startswith("_") and n not in value.buffers]
    if isinstance(value, (list, tuple)):
        return list(enumerate(value))
    return list(value.items()) if isinstance(value, dict) else []


def _modules(value, path, seen):
    """The modules of a tree with their paths, each once."""
    if isinstance(value, Module):
        if id(value) in seen:
            return
        seen.add(id(value))
        yield path, value
    for name, item in _items(value):
        yield from _modules(item, f"{path}.{name}" if path else str(name), seen)


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


def _per_axis(value, axes):
    return tuple(value) if isinstance(value, (list, tuple)) else (value,) * axes


class _Conv(Module):
    _axes = 0

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1,
                 groups=1, bias=True, dtype=None):  # fmt: skip
        _require_groups(in_channels, out_channels, groups)
        kernel = _per_axis(kernel_size, self._axes)
        shape = (out_channels, in_channels // groups, *kernel)
        bound = 1 / math.sqrt(max(math.prod(shape[1:]), 1))
        self.weight = uniform(shape, -bound, bound, dtype)
        self.bias = uniform((out_channels,), -bound, bound, dtype) if bias else None
        self._options = dict(stride=stride, padding=padding, dilation=dilation, groups=groups)

    def __call__(self, x):
        return getattr(_core, f"conv{self._axes}d")(x, self.weight, self.bias, **self._options)


class _ConvTranspose(Module):
    _axes = 0

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0,
                 output_padding=0, groups=1, bias=True, dilation=1, dtype=None):  # fmt: skip
        _require_groups(in_channels, out_channels, groups)
        kernel = _per_axis(kernel_size, self._axes)
        shape = (in_channels, out_channels // groups, *kernel)
        bound = 1 / math.sqrt(max(math.prod(shape[1:]), 1))
        self.weight = uniform(shape, -bound, bound, dtype)
        self.bias = uniform((out_channels,), -bound, bound, dtype) if bias else None
        self._options = dict(stride=stride, padding=padding, output_padding=output_padding,
                             groups=groups, dilation=dilation)  # fmt: skip

    def __call__(self, x):
        function = getattr(_core, f"conv_transpose{self._axes}d")
        return function(x, self.weight, self.bias, **self._options)


def _require_groups(in_channels, out_channels, groups):
    if groups < 1 or in_channels % groups or out_channels % groups:
        raise _core.ShapeError(
            f"a convolution's {in_channels} and {out_channels} channels do not come out even in "
            f"{groups} groups"
        )


class Conv1d(_Conv):
    """conv1d: x (N, in, L) gives (N, out, ..); weight (out, in / groups, kernel), bias (out) or None.

    Both start uniform between +-1/sqrt(in / groups * kernel).
    """

    _axes = 1


class Conv2d(_Conv):
    """conv2d: x (N, in, H, W); weight (out, in / groups, kernel..), bias (out) or None.

    Both start uniform between +-1/sqrt(in / groups * kernel elements).
    """

    _axes = 2


class Conv3d(_Conv):
    """conv3d: x (N, in, D, H, W); weight (out, in / groups, kernel..), bias (out) or None."""

    _axes = 3


class ConvTranspose1d(_ConvTranspose):
    """conv_transpose1d; weight (in, out / groups, kernel), bias (out) or None."""

    _axes = 1


class ConvTranspose2d(_ConvTranspose):
    """conv_transpose2d; weight (in, out / groups, kernel..), bias (out) or None."""

    _axes = 2


class ConvTranspose3d(_ConvTranspose):
    """conv_transpose3d; weight (in, out / groups, kernel..), bias (out) or None."""

    _axes = 3


class _Pool(Module):
    _function = None

    def __init__(self, kernel_size, stride=None, padding=0, **options):
        options.update(kernel_size=kernel_size, padding=padding)
        if stride is not None:
            options["stride"] = stride
        self._options = options

    def __call__(self, x):
        return type(self)._function(x, **self._options)


class MaxPool1d(_Pool):
    """max_pool1d with these arguments."""

    _function = staticmethod(_core.max_pool1d)


class MaxPool2d(_Pool):
    """max_pool2d with these arguments."""

    _function = staticmethod(_core.max_pool2d)


class MaxPool3d(_Pool):
    """max_pool3d with these arguments."""

    _function = staticmethod(_core.max_pool3d)


class AvgPool1d(_Pool):
    """avg_pool1d with these arguments."""

    _function = staticmethod(_core.avg_pool1d)


class AvgPool2d(_Pool):
    """avg_pool2d with these arguments."""

    _function = staticmethod(_core.avg_pool2d)


class AvgPool3d(_Pool):
    """avg_pool3d with these arguments."""

    _function = staticmethod(_core.avg_pool3d)


class Flatten(Module):
    """The axes from `start_dim` on as one."""

    def __init__(self, start_dim=1):
        self._start = start_dim

    def __call__(self, x):
        start = self._start + x.ndim if self._start < 0 else self._start
        if not 0 <= start < x.ndim:
            raise _core.IndexError(f"Flatten: axis {self._start} is out of range for {x.shape}")
        return x.reshape(*x.shape[:start], math.prod(x.shape[start:]))


class BatchNorm(Module):
    """batch_norm of x (N, features, ..): by the batch's statistics while it trains, by the running
    ones when it infers."""

    buffers = ("running_mean", "running_var")

    def __init__(self, features, eps=1e-5, momentum=0.1, dtype=None):
        self.weight = _core.ones((features,), dtype)
        self.bias = _core.zeros((features,), dtype)
        self.running_mean = _core.zeros((features,), dtype)
        self.running_var = _core.ones((features,), dtype)
        self._eps, self._momentum = eps, momentum

    def __call__(self, x):
        return _core.batch_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias,
            training=self._training, momentum=self._momentum, eps=self._eps,
        )  # fmt: skip


class Embedding(Module):
    """Rows of a table (count, features), standard normal at first, at integer indices."""

    def __init__(self, count, features, dtype=None):
        self.weight = _core.randn((count, features), dtype)

    def __call__(self, indices):
        return _core.take(self.weight, indices, 0)


class Dropout(Module):
    """dropout while it trains, x itself when it infers."""

    def __init__(self, p=0.5):
        self._p = p

    def __call__(self, x):
        return _core.dropout(x, self._p) if self._training else x


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
