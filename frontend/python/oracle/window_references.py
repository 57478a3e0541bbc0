"""References of convolution, pooling and resampling: windows by NumPy, then plain sums and maxima."""

import itertools
import math

import numpy as np


def per_axis(value, axes):
    values = (value,) * axes if isinstance(value, int) else tuple(value)
    return values * axes if len(values) == 1 else values


def padded(x, axes, low, high, value=0):
    around = [(0, 0)] * (x.ndim - axes) + list(zip(low, high))
    return np.pad(x, around, constant_values=value)


def windows(x, kernel, stride, dilation):
    """(.., counts.., kernel..) over the last axes."""
    axes = len(kernel)
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation)]
    seen = np.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(-axes, 0)))
    at = [slice(None)] * (x.ndim - axes)
    at += [slice(None, None, s) for s in stride] + [slice(None, None, d) for d in dilation]
    return seen[tuple(at)]


def conv(axes):
    def function(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        stride, dilation = per_axis(stride, axes), per_axis(dilation, axes)
        kernel = weight.shape[2:]
        if padding == "same":
            total = [d * (k - 1) for k, d in zip(kernel, dilation)]
            low = [t // 2 for t in total]
            high = [t - l for t, l in zip(total, low)]
        else:
            low = high = per_axis(0 if padding == "valid" else padding, axes)
        seen = windows(padded(x, axes, low, high), kernel, stride, dilation)
        outputs, members = weight.shape[0] // groups, weight.shape[1]
        parts, scales = [], []
        for g in range(groups):
            own = seen[:, g * members : (g + 1) * members]
            w = weight[g * outputs : (g + 1) * outputs]
            over = [(1,) + tuple(range(own.ndim - axes, own.ndim)), tuple(range(1, w.ndim))]
            parts.append(np.moveaxis(np.tensordot(own, w, over), -1, 1))
            if x.dtype.kind == "f":
                scales.append(np.moveaxis(np.tensordot(np.abs(own), np.abs(w), over), -1, 1))
        value = np.concatenate(parts, 1)
        shift = 0 if bias is None else bias.reshape((-1,) + (1,) * axes)
        if x.dtype.kind != "f":
            return (value + shift).astype(value.dtype)
        depth = members * math.prod(kernel)
        return value + shift, np.concatenate(scales, 1) * max(2, depth / 2) + np.abs(shift)

    return function


def conv_transpose(axes):
    def function(x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        stride, dilation = per_axis(stride, axes), per_axis(dilation, axes)
        padding, more = per_axis(padding, axes), per_axis(output_padding, axes)
        kernel = weight.shape[2:]
        members, outputs = weight.shape[0] // groups, weight.shape[1]
        full = [(n - 1) * s + d * (k - 1) + 1 for n, s, d, k in zip(x.shape[2:], stride, dilation, kernel)]  # fmt: skip
        value = np.zeros((x.shape[0], groups * outputs, *(f + m for f, m in zip(full, more))), x.dtype)
        scale = np.zeros_like(value)
        for g in range(groups):
            own, w = x[:, g * members : (g + 1) * members], weight[g * members : (g + 1) * members]
            channels = slice(g * outputs, (g + 1) * outputs)
            for at in itertools.product(*(range(k) for k in kernel)):
                tap = w[(slice(None), slice(None), *at)]
                place = (slice(None), channels) + tuple(
                    slice(a * d, a * d + (n - 1) * s + 1, s)
                    for a, d, n, s in zip(at, dilation, x.shape[2:], stride)
                )
                value[place] += np.moveaxis(np.tensordot(own, tap, (1, 0)), -1, 1)
                scale[place] += np.moveaxis(np.tensordot(np.abs(own), np.abs(tap), (1, 0)), -1, 1)
        inside = (slice(None), slice(None)) + tuple(
            slice(p, f + m - p) for p, f, m in zip(padding, full, more)
        )
        shift = 0 if bias is None else bias.reshape((-1,) + (1,) * axes)
        depth = members * math.prod(kernel)
        return value[inside] + shift, scale[inside] * max(2, depth / 2) + np.abs(shift)

    return function


def unfold(x, axis, size, step=1):
    seen = np.lib.stride_tricks.sliding_window_view(x, size, axis)
    at = [slice(None)] * x.ndim
    at[axis] = slice(None, None, step)
    return seen[tuple(at) + (slice(None),)]


def im2col(x, kernel_size, dilation=1, padding=0, stride=1):
    around = per_axis(padding, 2)
    kernel = per_axis(kernel_size, 2)
    seen = windows(padded(x, 2, around, around), kernel, per_axis(stride, 2), per_axis(dilation, 2))
    seen = np.transpose(seen, (0, 1, 4, 5, 2, 3))
    return seen.reshape(x.shape[0], x.shape[1] * math.prod(kernel), -1)


def col2im(x, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The value and the sum of the magnitudes."""
    size, kernel, around = per_axis(output_size, 2), per_axis(kernel_size, 2), per_axis(padding, 2)
    step, spread = per_axis(stride, 2), per_axis(dilation, 2)
    channels = x.shape[1] // math.prod(kernel)
    full = [n + 2 * p for n, p in zip(size, around)]
    counts = [(f - d * (k - 1) - 1) // s + 1 for f, k, s, d in zip(full, kernel, step, spread)]
    columns = x.reshape(x.shape[0], channels, *kernel, *counts)
    value = np.zeros((x.shape[0], channels, *full), x.dtype)
    scale = np.zeros_like(value)
    with np.errstate(all="ignore"):
        for i, j in itertools.product(range(kernel[0]), range(kernel[1])):
            rows = slice(i * spread[0], i * spread[0] + (counts[0] - 1) * step[0] + 1, step[0])
            place = slice(j * spread[1], j * spread[1] + (counts[1] - 1) * step[1] + 1, step[1])
            value[:, :, rows, place] += columns[:, :, i, j]
            scale[:, :, rows, place] += np.abs(columns[:, :, i, j])
    inside = (slice(None), slice(None)) + tuple(slice(p, p + n) for p, n in zip(around, size))
    if x.dtype.kind != "f":
        return value[inside]
    return value[inside], scale[inside]


def pixel_shuffle(x, upscale_factor):
    r = upscale_factor
    *front, c, h, w = x.shape
    parts = x.reshape(*front, c // (r * r), r, r, h, w)
    n = len(front)
    order = tuple(range(n)) + (n, n + 3, n + 1, n + 4, n + 2)
    return parts.transpose(order).reshape(*front, c // (r * r), h * r, w * r)


def pixel_unshuffle(x, downscale_factor):
    r = downscale_factor
    *front, c, h, w = x.shape
    parts = x.reshape(*front, c, h // r, r, w // r, r)
    n = len(front)
    order = tuple(range(n)) + (n, n + 2, n + 4, n + 1, n + 3)
    return parts.transpose(order).reshape(*front, c * r * r, h // r, w // r)


# Pooling


def geometry(extents, kernel, stride, padding, dilation, ceil_mode):
    """The number of windows along each axis, and how far the last ones reach past the padding."""
    counts, beyond = [], []
    for n, k, s, p, d in zip(extents, kernel, stride, padding, dilation):
        room = n + 2 * p - d * (k - 1) - 1
        count = (-(-room // s) if ceil_mode else room // s) + 1
        if ceil_mode and (count - 1) * s >= n + p:
            count -= 1
        counts.append(count)
        beyond.append(max(0, (count - 1) * s - room))
    return counts, beyond


def least(dtype):
    if dtype.kind == "f":
        return -np.inf
    return False if dtype.kind == "b" else np.iinfo(dtype).min


def largest(rows):
    """Of the last axis: NaN if any is, +0 above -0."""
    if rows.dtype.kind != "f":
        return rows.max(-1)
    value = rows.max(-1)
    positive = ((rows == 0) & ~np.signbit(rows)).any(-1)
    return np.where((value == 0) & positive, np.zeros_like(value), value)


def max_pool(axes):
    def function(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):  # fmt: skip
        kernel, around = per_axis(kernel_size, axes), per_axis(padding, axes)
        step = kernel if stride is None else per_axis(stride, axes)
        spread = per_axis(dilation, axes)
        extents = x.shape[-axes:]
        _, beyond = geometry(extents, kernel, step, around, spread, ceil_mode)
        high = [p + b for p, b in zip(around, beyond)]
        seen = windows(padded(x, axes, around, high, least(x.dtype)), kernel, step, spread)
        rows = seen.reshape(*seen.shape[:-axes], -1)
        if not return_indices:
            return largest(rows)
        places = np.arange(math.prod(extents)).reshape(extents)
        places = windows(padded(places, axes, around, high, -1), kernel, step, spread)
        places = np.broadcast_to(places.reshape(*places.shape[:-axes], -1), rows.shape)
        # An element before padding of the same value.
        order = np.argsort(places < 0, -1, kind="stable")
        rows, places = np.take_along_axis(rows, order, -1), np.take_along_axis(places, order, -1)
        first = np.argmax(rows, -1)[..., None]
        return [largest(rows), np.take_along_axis(places, first, -1)[..., 0]]

    return function


def avg_pool(axes):
    def function(x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):  # fmt: skip
        kernel, around = per_axis(kernel_size, axes), per_axis(padding, axes)
        step = kernel if stride is None else per_axis(stride, axes)
        ones = (1,) * axes
        extents = x.shape[-axes:]
        _, beyond = geometry(extents, kernel, step, around, ones, ceil_mode)
        high = [p + b for p, b in zip(around, beyond)]
        inner = tuple(range(-axes, 0))
        seen = windows(padded(x, axes, around, high), kernel, step, ones)
        counted = np.ones(extents)
        if count_include_pad:
            counted = padded(counted, axes, around, around, 1)
            counted = padded(counted, axes, (0,) * axes, beyond)
        else:
            counted = padded(counted, axes, around, high)
        counts = windows(counted, kernel, step, ones).sum(inner)
        counts = divisor_override or counts.astype(x.dtype)
        return seen.sum(inner) / counts, np.abs(seen).sum(inner) / np.abs(counts)

    return function


def lp_pool(axes):
    def function(x, norm_type, kernel_size, stride=None, ceil_mode=False):
        kernel = per_axis(kernel_size, axes)
        step = kernel if stride is None else per_axis(stride, axes)
        none, ones = (0,) * axes, (1,) * axes
        _, beyond = geometry(x.shape[-axes:], kernel, step, none, ones, ceil_mode)
        seen = np.abs(windows(padded(x, axes, none, beyond), kernel, step, ones))
        inner = tuple(range(-axes, 0))
        return (seen**norm_type).sum(inner) ** (x.dtype.type(1) / x.dtype.type(norm_type))

    return function


def adaptive(axes, fold):
    """`fold` of the elements of each window, row-major, and of their places in the plane."""

    def function(x, output_size, return_indices=False):
        extents = x.shape[-axes:]
        sizes = output_size if isinstance(output_size, tuple) else (output_size,) * axes
        sizes = tuple(n if s is None else s for s, n in zip(sizes, extents))
        places = np.arange(math.prod(extents)).reshape(extents)
        results = []
        for at in itertools.product(*(range(s) for s in sizes)):
            part = tuple(
                slice(i * n // s, -(-(i + 1) * n // s)) for i, n, s in zip(at, extents, sizes)
            )
            rows = x[(...,) + part].reshape(*x.shape[:-axes], -1)
            results.append(fold(rows, places[part].ravel()))
        front = x.shape[:-axes]
        both = [np.stack(r, -1).reshape(*front, *sizes) for r in zip(*results)]
        return both if return_indices or fold is mean_and_size else both[0]

    return function


def mean_and_size(rows, _):
    return rows.mean(-1), np.abs(rows).mean(-1)


def largest_and_place(rows, places):
    return largest(rows), places[np.argmax(rows, -1)]


def adaptive_avg_pool(axes):
    function = adaptive(axes, mean_and_size)
    return lambda x, output_size: tuple(function(x, output_size))


def adaptive_max_pool(axes):
    return adaptive(axes, largest_and_place)


def cubic(value, bound, axis, place):
    """Keys' convolution with a = -3/4; beyond the ends the last elements go on."""
    a, n = -0.75, value.shape[axis]
    low = np.floor(place).astype(int)
    total = most = 0
    for i in range(-1, 3):
        d = np.abs(place - (low + i))
        near = (a + 2) * d**3 - (a + 3) * d**2 + 1
        far = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
        weight = np.where(d <= 1, near, far).reshape((-1,) + (1,) * (value.ndim - 1 - axis))
        at = np.clip(low + i, 0, n - 1)
        weight = weight.astype(value.dtype)
        total = total + np.take(value, at, axis) * weight
        most = most + np.take(bound, at, axis) * np.abs(weight)
    return total, most


def interpolate(x, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """The value and the largest magnitude that it lies between."""
    axes = x.ndim - 2
    scales = None if scale_factor is None else (
        (scale_factor,) * axes if isinstance(scale_factor, (int, float)) else tuple(scale_factor)
    )  # fmt: skip
    sizes = per_axis(size, axes) if scales is None else tuple(
        math.floor(n * s) for n, s in zip(x.shape[2:], scales)
    )  # fmt: skip
    if mode == "area":
        return adaptive_avg_pool(axes)(x, sizes)
    value, bound = x, np.abs(x)
    for i in range(axes):
        axis, n, m = 2 + i, x.shape[2 + i], sizes[i]
        step = n / m if scales is None else 1 / scales[i]
        if mode.startswith("nearest"):
            half = 0.5 if mode == "nearest-exact" else 0
            if scales is None:
                at = np.array([(2 * j + int(2 * half)) * n // (2 * m) for j in range(m)])
            else:
                at = np.minimum(np.floor((np.arange(m) + half) * step).astype(int), n - 1)
            value, bound = np.take(value, at, axis), np.take(bound, at, axis)
            continue
        if align_corners:
            place = np.arange(m) * ((n - 1) / (m - 1) if m > 1 else 0)
        else:
            place = (np.arange(m) + 0.5) * step - 0.5
        if mode.endswith("cubic"):
            if n == m and scales is None:
                continue
            value, bound = cubic(value, bound, axis, place)
            continue
        place = np.maximum(place, 0)
        low = np.minimum(np.floor(place).astype(int), n - 1)
        high = np.minimum(low + 1, n - 1)
        weight = np.minimum(place - low, 1).reshape((-1,) + (1,) * (x.ndim - 1 - axis))
        weight = weight.astype(x.dtype)
        value = np.take(value, low, axis) * (1 - weight) + np.take(value, high, axis) * weight
        bound = np.maximum(np.take(bound, low, axis), np.take(bound, high, axis))
    return (value, bound) if mode.endswith(("linear", "cubic")) else value
