"""What PyTorch computes for the ops that it has: functions of its tensors, with the table's keyword
arguments. Used where PyTorch is installed."""


def table(torch):
    """name -> function of PyTorch's tensors."""
    f = torch.nn.functional

    def axes(function):
        def reduced(x, axis=None, keepdims=False):
            if axis is None:
                axis = tuple(range(x.ndim))
            return function(x, axis, keepdims)

        return reduced

    def layer_norm(x, weight=None, bias=None, axis=(-1,), eps=1e-5):
        rank = 1 if isinstance(axis, int) else len(axis)
        return f.layer_norm(x, x.shape[-rank:], weight, bias, eps)

    def rms_norm(x, weight=None, axis=(-1,), eps=1e-5):
        value = x * torch.rsqrt((x * x).mean(axis, keepdim=True) + eps)
        return value if weight is None else value * weight

    def cross_entropy(x, labels, reduction="mean"):
        losses = f.cross_entropy(x.reshape(-1, x.shape[-1]), labels.reshape(-1).long(), reduction=reduction)  # fmt: skip
        return losses.reshape(labels.shape) if reduction == "none" else losses

    def as_one(function):
        """Of several axes, as if they were one."""

        def folded(x, axis=-1):
            if isinstance(axis, int):
                return function(x, axis)
            last = tuple(range(-len(axis), 0))
            row = torch.movedim(x, axis, last)
            result = function(row.reshape(*row.shape[: row.ndim - len(axis)], -1), -1)
            return torch.movedim(result.reshape(row.shape), last, axis)

        return folded

    def spread(function):
        def reduced(x, axis=None, correction=0, keepdims=False):
            axis = tuple(range(x.ndim)) if axis is None else axis
            return function(x, axis, correction=correction, keepdim=keepdims)

        return reduced

    def flip(x, axis=None):
        axes = tuple(range(x.ndim)) if axis is None else axis
        return torch.flip(x, axes if isinstance(axes, tuple) else (axes,))

    return {
        "negative": torch.neg, "abs": torch.abs, "square": torch.square, "relu": torch.relu,
        "sqrt": torch.sqrt, "rsqrt": torch.rsqrt, "reciprocal": torch.reciprocal, "exp": torch.exp,
        "log": torch.log, "sin": torch.sin, "cos": torch.cos, "tanh": torch.tanh,
        "sigmoid": torch.sigmoid, "erf": torch.erf, "erfinv": torch.erfinv, "gelu": f.gelu,
        "lgamma": torch.lgamma, "digamma": torch.digamma,
        # Its own first one, trigamma, has errors of 5e-10.
        "polygamma": lambda x, n: torch.polygamma(n, x) if n > 1 else torch.special.zeta(2.0, x),
        "erfc": torch.erfc, "exp2": torch.exp2, "expm1": torch.expm1, "log2": torch.log2,
        "log10": torch.log10, "log1p": torch.log1p, "tan": torch.tan, "asin": torch.asin,
        "acos": torch.acos, "atan": torch.atan, "sinh": torch.sinh, "cosh": torch.cosh,
        "asinh": torch.asinh, "acosh": torch.acosh, "atanh": torch.atanh, "frac": torch.frac,
        "relu6": f.relu6, "leaky_relu": f.leaky_relu, "prelu": f.prelu, "elu": f.elu,
        "celu": f.celu, "selu": f.selu, "silu": f.silu, "mish": f.mish, "softplus": f.softplus,
        "softsign": f.softsign, "hardswish": f.hardswish,
        "hardtanh": f.hardtanh, "logsigmoid": f.logsigmoid, "tanhshrink": f.tanhshrink,
        "glu": lambda x, axis=-1: f.glu(x, axis), "atan2": torch.atan2, "hypot": torch.hypot,
        "logaddexp": torch.logaddexp, "lerp": torch.lerp,
        "einsum": lambda *xs, equation: torch.einsum(equation, *xs),
        "roll": lambda x, shift, axis=None: torch.roll(x, shift, axis),
        "triu": lambda x, k=0: torch.triu(x, k), "tril": lambda x, k=0: torch.tril(x, k),
        "diagonal": lambda x, offset=0, axis1=-2, axis2=-1: torch.diagonal(x, offset, axis1, axis2),
        "kron": lambda a, b: torch.kron(a.contiguous(), b.contiguous()), "cross": lambda a, b, axis=-1: torch.linalg.cross(a, b, dim=axis),
        "add": torch.add, "subtract": torch.sub, "multiply": torch.mul, "divide": torch.div,
        "remainder": torch.remainder, "pow": torch.pow, "maximum": torch.maximum,
        "minimum": torch.minimum, "copysign": torch.copysign,
        "where": lambda c, a, b: torch.where(c != 0, a, b),
        "clip": lambda x, low, high: torch.minimum(torch.maximum(x, low), high),
        "sum": axes(torch.sum), "mean": axes(torch.mean), "max": axes(torch.amax),
        "min": axes(torch.amin), "logsumexp": axes(torch.logsumexp),
        "prod": lambda x, axis, keepdims=False: torch.prod(x, axis, keepdims),
        "var": spread(torch.var), "std": spread(torch.std),
        "softmax": as_one(torch.softmax), "log_softmax": as_one(torch.log_softmax),
        "layer_norm": layer_norm, "rms_norm": rms_norm, "cross_entropy": cross_entropy,
        "matmul": torch.matmul,
        "conv1d": f.conv1d, "conv2d": f.conv2d, "conv3d": f.conv3d,
        "conv_transpose1d": f.conv_transpose1d, "conv_transpose2d": f.conv_transpose2d,
        "conv_transpose3d": f.conv_transpose3d,
        "unfold": lambda x, axis, size, step=1: x.unfold(axis, size, step),
        "im2col": f.unfold, "col2im": f.fold, "pixel_shuffle": f.pixel_shuffle,
        "pixel_unshuffle": f.pixel_unshuffle, "max_pool1d": f.max_pool1d,
        "max_pool2d": f.max_pool2d, "max_pool3d": f.max_pool3d, "avg_pool1d": f.avg_pool1d,
        "avg_pool2d": f.avg_pool2d, "avg_pool3d": f.avg_pool3d, "lp_pool1d": f.lp_pool1d,
        "lp_pool2d": f.lp_pool2d, "adaptive_avg_pool1d": f.adaptive_avg_pool1d,
        "adaptive_avg_pool2d": f.adaptive_avg_pool2d, "adaptive_avg_pool3d": f.adaptive_avg_pool3d,
        "adaptive_max_pool1d": f.adaptive_max_pool1d, "adaptive_max_pool2d": f.adaptive_max_pool2d,
        "adaptive_max_pool3d": f.adaptive_max_pool3d, "interpolate": f.interpolate,
        "take": lambda x, indices, axis=0: x.index_select(axis, indices % x.shape[axis]),
        "reshape": lambda x, shape: torch.reshape(x, shape),
        "permute_dims": lambda x, axes: torch.permute(x, axes),
        "flatten": lambda x: torch.flatten(x),
        "flip": flip,
        "broadcast_to": lambda x, shape: torch.broadcast_to(x, shape),
    }  # fmt: skip
