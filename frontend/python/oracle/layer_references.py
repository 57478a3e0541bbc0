"""References for layers and losses.

Written from docs/SEMANTICS.md; floats come as wide as the table says; nothing here is shared with
the library.
"""

import math

import numpy as np

from elementwise_references import softplus


def log_softmax(x, axis=-1):
    top = x.max(axis, keepdims=True, initial=-np.inf)
    shifted = x - top
    value = shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))
    return value, np.where(np.isfinite(value), np.abs(value) + 1, 0)


def softmax(x, axis=-1):
    top = x.max(axis, keepdims=True, initial=-np.inf)
    powers = np.exp(x - top)
    value = powers / powers.sum(axis, keepdims=True)
    # x - top is rounded before exp magnifies it.
    return value, np.where(np.isfinite(value), value * (2 + np.abs(np.nan_to_num(x - top))), 0)


def layer_norm(x, weight=None, bias=None, axis=-1, eps=1e-5):
    axes = axis if isinstance(axis, tuple) else (axis,)
    center = x.mean(axes, keepdims=True)
    deviation = np.sqrt(((x - center) ** 2).mean(axes, keepdims=True) + x.dtype.type(eps))
    value = (x - center) / deviation
    scale = (np.abs(x).max(axes, keepdims=True) + np.abs(x - center)) / deviation
    if weight is not None:
        value, scale = value * weight, scale * np.abs(weight)
    if bias is not None:
        value, scale = value + bias, scale + np.abs(bias)
    return value, scale


def rms_norm(x, weight=None, axis=-1, eps=1e-5):
    axes = axis if isinstance(axis, tuple) else (axis,)
    value = x / np.sqrt((x * x).mean(axes, keepdims=True) + x.dtype.type(eps))
    return value * weight if weight is not None else value


def cross_entropy(logits, labels, reduction="mean"):
    value, scale = log_softmax(logits)
    losses = -np.take_along_axis(value, labels[..., None].astype(np.int64), -1)[..., 0]
    scale = np.take_along_axis(scale, labels[..., None].astype(np.int64), -1)[..., 0]
    if reduction == "none":
        return losses, scale
    if reduction == "sum":
        return losses.sum(), scale.sum()
    return losses.mean(), scale.mean()


def reduced(losses, reduction):
    """The reduction, and the sum of the magnitudes as the scale of its error."""
    size = np.abs(losses)
    if reduction == "none":
        return losses, np.maximum(size, 1)
    total = losses.sum(), size.sum() + 1
    return tuple(v / losses.size for v in total) if reduction == "mean" else total


def smooth_l1(a, b, beta):
    d = np.abs(a - b)
    return np.where(d < beta, d * d * 0.5 / beta, d - 0.5 * beta)


def huber(a, b, delta):
    d = np.abs(a - b)
    return np.where(d <= delta, d * d * 0.5, delta * (d - 0.5 * delta))


def bce(p, t):
    return -(t * np.maximum(np.log(p), -100) + (1 - t) * np.maximum(np.log1p(-p), -100))


def bce_with_logits(x, t):
    return softplus(x) - x * t


def kl_div(x, t):
    return np.where(t == 0, 0, t * (np.log(t) - x))


def nll(x, labels, weight=None, reduction="mean", ignore_index=None):
    counts = labels != ignore_index
    label = np.where(counts, labels, 0).astype(np.int64)
    weights = np.where(counts, 1 if weight is None else weight[label], 0).astype(x.dtype)
    losses = -np.take_along_axis(x, label[..., None], -1)[..., 0] * weights
    if reduction != "mean":
        return reduced(losses, reduction)
    return losses.sum() / weights.sum(), np.abs(losses).sum() / weights.sum()


def cosine_similarity(a, b, axis=-1):
    length = np.maximum(np.sqrt((a * a).sum(axis)), 1e-8) * np.maximum(np.sqrt((b * b).sum(axis)), 1e-8)
    return (a * b).sum(axis) / length, np.abs(a * b).sum(axis) / length


def triplet_margin(anchor, near, far, margin=1.0, reduction="mean"):
    distance = lambda x: np.sqrt(((anchor - x) ** 2).sum(-1))  # noqa: E731
    value = np.maximum(distance(near) - distance(far) + margin, 0)
    scale = distance(near) + distance(far) + 1
    return (value, scale) if reduction == "none" else (value.mean(), scale.mean())


def by_channel(values, x):
    return values.reshape((-1,) + (1,) * (x.ndim - 2))


def group_norm(x, weight, bias, num_groups, eps=1e-5):
    rows = x.reshape(x.shape[0], num_groups, -1)
    value, scale = layer_norm(rows, axis=(-1,), eps=eps)
    value, scale = value.reshape(x.shape), scale.reshape(x.shape)
    weight, bias = by_channel(weight, x), by_channel(bias, x)
    return value * weight + bias, scale * np.abs(weight) + np.abs(bias)


def batch_norm(x, mean=None, var=None, weight=None, bias=None, eps=1e-5):
    if mean is None:  # every channel a row
        rows = np.moveaxis(x, 1, 0)
        parts = layer_norm(rows.reshape(len(rows), -1), axis=(-1,), eps=eps)
        return tuple(np.moveaxis(part.reshape(rows.shape), 0, 1) for part in parts)
    mean, var, weight, bias = (by_channel(v, x) for v in (mean, var, weight, bias))
    slope = weight / np.sqrt(var + eps)
    return (x - mean) * slope + bias, (np.abs(x) + np.abs(mean)) * np.abs(slope) + np.abs(bias)


def local_response_norm(x, size, alpha=1e-4, beta=0.75, k=1.0):
    around = [(0, 0)] * x.ndim
    around[1] = (size // 2, (size - 1) // 2)
    squares = np.pad(x * x, around)
    total = sum(squares[:, i : i + x.shape[1]] for i in range(size))
    return x / (total / size * alpha + k) ** beta


def attention(q, k, v, is_causal=False, scale=None):
    if q.ndim > 2 and q.shape[-3] != k.shape[-3]:
        times = q.shape[-3] // k.shape[-3]
        k, v = np.repeat(k, times, -3), np.repeat(v, times, -3)
    scores = q @ np.swapaxes(k, -1, -2) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    size = np.abs(scores).max(initial=0) + 1
    if is_causal:
        seen = np.tril(np.ones(scores.shape[-2:], bool), scores.shape[-1] - scores.shape[-2])
        scores = np.where(seen, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True)
    return weights @ v, (weights @ np.abs(v)) * size


def rope(x, offset=0, base=10000.0):
    half = x.shape[-1] // 2
    slope = base ** (-np.arange(half) / half)
    angle = (np.arange(x.shape[-2]) + offset)[:, None] * slope
    c, s = np.cos(angle), np.sin(angle)
    a, b = x[..., :half], x[..., half:]
    size = np.abs(a) + np.abs(b)
    return np.concatenate([a * c - b * s, b * c + a * s], -1), np.concatenate([size, size], -1)
