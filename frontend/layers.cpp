// What layers compute: normalization by groups and batches, attention, dropout.
#include "frontend/layers.h"

#include <cmath>
#include <limits>

#include "frontend/create.h"
#include "frontend/random.h"
#include "frontend/record.h"
#include "ir/elementwise.h"

namespace reprise {

namespace {

using Extents = SmallVector<int64_t, kMaxDims>;

Shape channels_first(std::string_view what, const Tensor& x) {
  const TensorType type = x.type();
  if (type.shape.rank() < 2) {
    throw ShapeError(str(what, " of ", type, ": channels are axis 1, and it has none"));
  }
  return type.shape;
}

/// A value of each channel beside x: (C) as (C, 1, ..).
Tensor by_channel(std::string_view what, const Tensor& values, const Shape& shape) {
  if (values.shape() != Shape{shape[1]}) {
    throw ShapeError(str(what, " of ", shape, ": a value for each of its ", shape[1],
                         " channels, got ", values.type()));
  }
  Extents extents{shape[1]};
  for (int axis = 2; axis < shape.rank(); ++axis) extents.push_back(1);
  return reshape(values, extents);
}

/// x scaled and shifted by channel, as far as that is given.
Tensor affine(std::string_view what, Tensor x, const Shape& shape, const Tensor& weight,
              const Tensor& bias) {
  if (!weight.empty_handle()) x = x * by_channel(what, weight, shape);
  if (!bias.empty_handle()) x = x + by_channel(what, bias, shape);
  return x;
}

/// All axes but the channels'.
AxisList beside_channels(int rank) {
  std::vector<int64_t> axes{0};
  for (int axis = 2; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

}  // namespace

Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& weight, const Tensor& bias,
                  Number eps) {
  const Shape shape = channels_first("group_norm", x);
  if (groups <= 0 || shape[1] % groups != 0) {
    throw ShapeError(str("group_norm of ", x.type(), ": ", shape[1],
                         " channels do not come out even in ", groups, " groups"));
  }
  const int64_t members = groups * shape[0] == 0 ? 0 : shape.numel() / (groups * shape[0]);
  const Tensor normal = layer_norm(reshape(x, {shape[0], groups, members}), -1, {}, {}, eps);
  return affine("group_norm", reshape(normal, shape), shape, weight, bias);
}

Tensor instance_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, Number eps) {
  return group_norm(x, channels_first("instance_norm", x)[1], weight, bias, eps);
}

Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& weight,
                  const Tensor& bias, Number eps) {
  const Shape shape = channels_first("batch_norm", x);
  const Tensor scale = rsqrt(by_channel("batch_norm", variance, shape) + eps);
  const Tensor normal = (as_float(x) - by_channel("batch_norm", mean, shape)) * scale;
  return affine("batch_norm", normal, shape, weight, bias);
}

Tensor batch_norm_training(const Tensor& x, const Tensor& running_mean,
                           const Tensor& running_variance, const Tensor& weight, const Tensor& bias,
                           Number momentum, Number eps) {
  const Shape shape = channels_first("batch_norm", x);
  const Tensor value = as_float(x);
  const AxisList axes = beside_channels(shape.rank());
  const Tensor average = mean(value, axes), variance = var(value, axes);
  const int64_t count = shape[1] == 0 ? 0 : shape.numel() / shape[1];
  const Tensor unbiased =
      count > 1 ? variance * (static_cast<double>(count) / (count - 1)) : variance;
  const auto blend = [&](const Tensor& running, const Tensor& batch) {
    const Tensor next = running + momentum * (stop_gradient(batch) - running);
    running.assign_(cast(next, running.dtype()));
  };
  if (running_mean.empty_handle() != running_variance.empty_handle()) {
    throw Error(
        str("batch_norm of ", x.type(), ": a running ",
            running_mean.empty_handle() ? "variance without a mean" : "mean without a variance"));
  }
  if (!running_mean.empty_handle()) {
    blend(running_mean, average);
    blend(running_variance, unbiased);
  }
  return batch_norm(value, average, variance, weight, bias, eps);
}

Tensor local_response_norm(const Tensor& x, int64_t size, Number alpha, double beta, Number k) {
  const Shape shape = channels_first("local_response_norm", x);
  if (size <= 0)
    throw ShapeError(str("local_response_norm of ", x.type(), " over ", size, " channels"));
  const Tensor value = as_float(x);
  Extents low, high;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    low.push_back(axis == 1 ? size / 2 : 0);
    high.push_back(axis == 1 ? (size - 1) / 2 : 0);
  }
  const Tensor squares = pad(square(value), low, high);
  Tensor total = slice(squares, 1, {0, shape[1]});
  for (int64_t i = 1; i < size; ++i) total = total + slice(squares, 1, {i, i + shape[1]});
  return value / pow(total * (1.0 / static_cast<double>(size)) * alpha + k, beta);
}

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const Tensor& mask, Causal causal,
                                    std::optional<Number> scale) {
  const TensorType queries = q.type(), keys = k.type(), values = v.type();
  const int rank = queries.shape.rank();
  const auto mismatch = [&](const char* what) {
    throw ShapeError(
        str("attention: ", what, ": queries ", queries, ", keys ", keys, ", values ", values));
  };
  if (rank < 2 || keys.shape.rank() != rank || values.shape.rank() != rank) {
    mismatch("all have one rank, 2 at least");
  }
  const int64_t tokens = queries.shape[rank - 2], sources = keys.shape[rank - 2];
  const int64_t width = queries.shape[rank - 1];
  if (keys.shape[rank - 1] != width) mismatch("queries and keys differ in width");
  if (values.shape[rank - 2] != sources) mismatch("keys and values differ in number");
  // Heads in groups: an axis more, along which keys and values are broadcast.
  Tensor query = as_float(q), key = as_float(k), value = as_float(v);
  const int64_t heads = rank > 2 ? queries.shape[rank - 3] : 1;
  const int64_t kv_heads = rank > 2 ? keys.shape[rank - 3] : 1;
  const bool grouped = heads != kv_heads && kv_heads != 1;
  if (grouped) {
    if (kv_heads <= 0 || heads % kv_heads != 0)
      mismatch("heads are no multiple of the keys' heads");
    Extents extents(queries.shape.extents().first(static_cast<size_t>(rank - 3)));
    for (const int64_t extent : {kv_heads, heads / kv_heads, tokens, width})
      extents.push_back(extent);
    query = reshape(query, extents);
    key = unsqueeze(key, -3);
    value = unsqueeze(value, -3);
  }
  // What can be done to each query or to each result is not done to each score: scaling before, and
  // division by the sum after the product.
  const Number factor = scale.value_or(1 / std::sqrt(static_cast<double>(width)));
  Tensor scores = matmul(query * factor, transpose(key));
  const double nothing = -std::numeric_limits<double>::infinity();
  const auto in_groups = [&](const Tensor& x) {
    if (!grouped || x.rank() < 3) return x.value();
    const Shape own = x.shape();
    if (own[own.rank() - 3] == 1) return unsqueeze(x, -3);
    Extents extents(own.extents().first(static_cast<size_t>(own.rank() - 3)));
    for (const int64_t extent :
         {kv_heads, heads / kv_heads, own[own.rank() - 2], own[own.rank() - 1]}) {
      extents.push_back(extent);
    }
    return reshape(x, extents);
  };
  if (!mask.empty_handle()) {
    const Shape seen = mask.shape();
    for (int i = 1; i <= 2 && i <= seen.rank(); ++i) {
      const int64_t wanted = i == 1 ? sources : tokens, given = seen[seen.rank() - i];
      if (given != wanted && given != 1) {
        throw ShapeError(str("attention: a mask ", mask.type(), " for ", tokens, " queries and ",
                             sources, " keys"));
      }
    }
    scores = mask.dtype() == DType::Bool ? where(in_groups(mask), scores, nothing)
                                         : scores + cast(in_groups(mask), scores.dtype());
  }
  if (causal == Causal::Yes) {
    const Tensor last = unsqueeze(arange(tokens), 1) + (sources - tokens);
    scores = where(arange(sources) <= last, scores, nothing);
  }
  const bool may_be_empty = !mask.empty_handle() || (causal == Causal::Yes && sources < tokens);
  const DType wide = scores.dtype() == DType::F64 ? DType::F64 : DType::F32;
  scores = cast(scores, wide);
  // The result does not depend on what is subtracted, so no gradient flows there.
  Tensor largest = stop_gradient(max(scores, -1, KeepDims::Yes));
  if (may_be_empty) largest = where(largest == nothing, 0, largest);
  const Tensor shares = exp(scores - largest);
  Tensor total = sum(shares, -1, KeepDims::Yes);
  if (may_be_empty) total = where(total == 0, 1, total);
  const Tensor sums = matmul(cast(shares, value.dtype()), value);
  const Tensor mixed = cast(cast(sums, wide) / total, value.dtype());
  if (!grouped) return mixed;
  Extents extents(queries.shape.extents().first(static_cast<size_t>(rank - 1)));
  extents.push_back(values.shape[rank - 1]);
  return reshape(mixed, extents);
}

Tensor rope(const Tensor& x, Number offset, double base) {
  const Tensor value = as_float(x);
  const Shape shape = value.shape();
  const int rank = shape.rank();
  if (rank < 2 || shape[rank - 1] % 2 != 0) {
    throw ShapeError(str("rope of ", x.type(), ": needs (.., T, D) with an even D"));
  }
  const int64_t half = shape[rank - 1] / 2;
  // Angles of long texts need more digits than f32 has.
  const Tensor place = unsqueeze(cast(arange(shape[rank - 2]), DType::F64) + offset, 1);
  const Tensor slope =
      exp(cast(arange(half), DType::F64) * (-std::log(base) / static_cast<double>(half)));
  const Tensor angle = place * slope;
  const Tensor c = cast(cos(angle), value.dtype()), s = cast(sin(angle), value.dtype());
  const Tensor first = slice(value, -1, {.stop = half}), second = slice(value, -1, {.start = half});
  return concat({first * c - second * s, second * c + first * s}, -1);
}

Tensor dropout(const Tensor& x, Number p, Generator* generator) {
  const double probability = p.as_double();
  if (!(probability >= 0 && probability <= 1)) {
    throw Error(str("dropout: a probability of ", probability, " is not in [0, 1]"));
  }
  const Tensor value = as_float(x);
  const Tensor kept = rand(value.shape(), DType::F32, generator) >= p;
  return where(kept, value / (1 - parameter(p, value.dtype())), 0);
}

}  // namespace reprise
