// Reductions and what is made of them: axes as masks, then one recorded node.
#include <algorithm>
#include <bit>
#include <cmath>

#include "frontend/complex.h"
#include "frontend/ops.h"
#include "frontend/record.h"

namespace reprise {

uint32_t AxisList::mask(int rank) const {
  if (all_) return (uint32_t{1} << rank) - 1;
  uint32_t mask = 0;
  for (const int64_t axis : axes_) {
    const uint32_t bit = uint32_t{1} << normalize_axis(axis, rank);
    if ((mask & bit) != 0) throw Error(str("axis ", axis, " occurs twice"));
    mask |= bit;
  }
  return mask;
}

namespace {

Tensor reduce(Op op, const Tensor& x, const AxisList& axes, KeepDims keep) {
  const uint32_t mask = axes.mask(x.rank());
  const bool each_part = op == Op::Sum || op == Op::Any || op == Op::All;
  if (!each_part && is_pair(x.dtype())) return complex_reduction(op, x, mask, keep);
  return record(op, x, Attrs().add_int(mask).add_int(keep == KeepDims::Yes ? 1 : 0));
}

}  // namespace

#define REPRISE_REDUCTION(function, Name)                                 \
  Tensor function(const Tensor& x, const AxisList& axes, KeepDims keep) { \
    return reduce(Op::Name, x, axes, keep);                               \
  }
REPRISE_REDUCTION(max, Max)
REPRISE_REDUCTION(min, Min)
REPRISE_REDUCTION(any, Any)
REPRISE_REDUCTION(all, All)
REPRISE_REDUCTION(argmax, ArgMax)
REPRISE_REDUCTION(argmin, ArgMin)
#undef REPRISE_REDUCTION

#define REPRISE_TOTAL(function, Name)                                                \
  Tensor function(const Tensor& x, const AxisList& axes, KeepDims keep,              \
                  std::optional<DType> dtype) {                                      \
    const Tensor result = reduce(Op::Name, dtype ? cast(x, *dtype) : x, axes, keep); \
    return dtype ? cast(result, *dtype) : result;                                    \
  }
REPRISE_TOTAL(sum, Sum)
REPRISE_TOTAL(prod, Prod)
REPRISE_TOTAL(mean, Mean)
#undef REPRISE_TOTAL

Tensor logsumexp(const Tensor& x, const AxisList& axes, KeepDims keep) {
  return reduce(Op::LogSumExp, as_float(x), axes, keep);
}

namespace {

/// An op of one axis over several: they become one, the last, and go back where they were.
Tensor over(Op op, const Tensor& x, const AxisList& axes) {
  using Extents = SmallVector<int64_t, kMaxDims>;
  const Tensor value = as_float(x);
  const int rank = value.rank();
  const uint32_t mask = axes.mask(rank);
  if (std::has_single_bit(mask)) return record(op, value, Attrs().add_int(std::countr_zero(mask)));
  Extents order, back, extents;
  for (const bool folded : {false, true}) {
    for (int axis = 0; axis < rank; ++axis) {
      if ((mask >> axis & 1) != (folded ? 1 : 0)) continue;
      order.push_back(axis);
      if (!folded) extents.push_back(value.size(axis));
    }
  }
  int64_t together = 1;
  for (size_t i = extents.size(); i < order.size(); ++i) together *= value.size(order[i]);
  extents.push_back(together);
  for (int axis = 0; axis < rank; ++axis)
    back.push_back(std::ranges::find(order, axis) - order.begin());
  const Tensor permuted = permute(value, order);
  const Shape apart = permuted.shape();
  const Tensor row = reshape(permuted, extents);
  const Tensor result = record(op, row, Attrs().add_int(row.rank() - 1));
  return permute(reshape(result, std::span<const int64_t>(apart.begin(), apart.end())), back);
}

}  // namespace

Tensor softmax(const Tensor& x, const AxisList& axes) {
  return over(Op::Softmax, x, axes);
}

Tensor log_softmax(const Tensor& x, const AxisList& axes) {
  return over(Op::LogSoftmax, x, axes);
}

namespace {

/// Records a normalization of x with what scales and shifts it, as far as it is given.
Tensor normalize(Op op, const Tensor& x, const AxisList& axes, Number eps,
                 std::initializer_list<const Tensor*> affine) {
  const Tensor value = as_float(x);
  const DType dtype = value.dtype();
  const bool half = dtype == DType::F16 || dtype == DType::BF16;
  const Tensor epsilon = parameter(eps, half ? DType::F32 : dtype);
  SmallVector<TensorId, 4> operands{value.id(), epsilon.id()};
  bool ended = false;
  for (const Tensor* operand : affine) {
    if (!operand->empty_handle() && ended) throw Error(str(op, ": a shift without a scale"));
    ended |= operand->empty_handle();
    if (!ended) operands.push_back(operand->id());
  }
  return record(op, std::span<const TensorId>(operands.data(), operands.size()),
                Attrs().add_int(axes.mask(value.rank())));
}

Tensor variance(Op op, const Tensor& x, const AxisList& axes, KeepDims keep, double correction) {
  const uint32_t mask = axes.mask(x.rank());
  constexpr double limit = 1e15;  // far past any count, and each below is a double
  if (!(std::abs(correction) < limit)) {
    throw Error(str(op, " of ", x.type(), ": a correction of ", correction));
  }
  const auto ddof = static_cast<int64_t>(correction);
  if (static_cast<double>(ddof) != correction) {  // a part of an element
    double count = 1;
    for (int i = 0; i < x.rank(); ++i) {
      if ((mask >> i & 1) != 0) count *= static_cast<double>(x.size(i));
    }
    const Tensor spread = variance(Op::Var, x, axes, keep, 0);
    const Tensor scaled = spread * (count / std::max(0.0, count - correction));
    return op == Op::Var ? scaled : sqrt(scaled);
  }
  if (is_pair(x.dtype())) return complex_reduction(op, x, mask, keep, ddof);
  return record(op, x, Attrs().add_int(mask).add_int(keep == KeepDims::Yes ? 1 : 0).add_int(ddof));
}

}  // namespace

Tensor var(const Tensor& x, const AxisList& axes, KeepDims keep, double ddof) {
  return variance(Op::Var, x, axes, keep, ddof);
}

Tensor std(const Tensor& x, const AxisList& axes, KeepDims keep, double ddof) {
  return variance(Op::Std, x, axes, keep, ddof);
}

Tensor layer_norm(const Tensor& x, const AxisList& axes, const Tensor& gamma, const Tensor& beta,
                  Number eps) {
  return normalize(Op::LayerNorm, x, axes, eps, {&gamma, &beta});
}

Tensor rms_norm(const Tensor& x, const AxisList& axes, const Tensor& gamma, Number eps) {
  return normalize(Op::RmsNorm, x, axes, eps, {&gamma});
}

Tensor cross_entropy(const Tensor& logits, const Tensor& labels, LossReduction reduction) {
  const DType dtype = labels.dtype();
  if (!is_integer(dtype)) {
    throw DTypeError(str("cross_entropy: labels must be integers, they are ", labels.type()));
  }
  return record(Op::CrossEntropy, {as_float(logits).id(), cast(labels, DType::I64).id()},
                Attrs().add_int(static_cast<int64_t>(reduction)));
}

}  // namespace reprise
