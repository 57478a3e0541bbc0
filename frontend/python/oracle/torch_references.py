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
        "add": torch.add, "subtract": torch.sub, "multiply": torch.mul, "divide": torch.div,
        "remainder": torch.remainder, "pow": torch.pow, "maximum": torch.maximum,
        "minimum": torch.minimum, "copysign": torch.copysign,
        "where": lambda c, a, b: torch.where(c != 0, a, b),
        "clip": lambda x, low, high: torch.minimum(torch.maximum(x, low), high),
        "sum": axes(torch.sum), "mean": axes(torch.mean), "max": axes(torch.amax),
        "min": axes(torch.amin), "logsumexp": axes(torch.logsumexp),
        "prod": lambda x, axis, keepdims=False: torch.prod(x, axis, keepdims),
        "var": spread(torch.var), "std": spread(torch.std),
        "softmax": lambda x, axis=-1: torch.softmax(x, axis),
        "log_softmax": lambda x, axis=-1: torch.log_softmax(x, axis),
        "layer_norm": layer_norm, "rms_norm": rms_norm, "cross_entropy": cross_entropy,
        "matmul": torch.matmul,
        "take": lambda x, indices, axis=0: x.index_select(axis, indices % x.shape[axis]),
        "reshape": lambda x, shape: torch.reshape(x, shape),
        "permute_dims": lambda x, axes: torch.permute(x, axes),
        "flatten": lambda x: torch.flatten(x),
        "flip": flip,
        "broadcast_to": lambda x, shape: torch.broadcast_to(x, shape),
    }  # fmt: skip
