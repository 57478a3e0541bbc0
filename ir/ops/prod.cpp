// The product over axes.
#include <bit>

#include "ir/ops/inference.h"
#include "ir/ops/row.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

TensorType infer(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Real);
  return infer_reduction(ctx, sum_dtype(ctx.operands[0].dtype));
}

/// The first and the second half of the last axis.
struct Halves {
  Halves(Builder& b, Value x) {
    std::vector<int64_t> extents(b.shape(x).begin(), b.shape(x).end());
    const int64_t half = extents.back() /= 2;
    std::vector<int64_t> starts(extents.size(), 0);
    const std::vector<int64_t> steps(extents.size(), 1);
    first = b.slice(x, starts, steps, Shape(extents));
    starts.back() = half;
    second = b.slice(x, starts, steps, Shape(extents));
  }
  Value first, second;
};

/// The elements of the last axis multiplied in pairs, half with half, until one is left: every
/// level of the tree, whose last axes have 2^k elements.
std::vector<Value> product_tree(Builder& b, Value leaves) {
  std::vector<Value> levels{leaves};
  for (int axis = b.shape(leaves).rank() - 1; b.shape(levels.back())[axis] > 1;) {
    const Halves halves(b, levels.back());
    levels.push_back(b.mul(halves.first, halves.second));
  }
  return levels;
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  // The product of the other elements, down the tree of products: no division, so that zeros are
  // elements like others, in derivatives of any order.
  Builder& b = ctx.builder;
  const TensorType type = b.type(ctx.operand(0));
  const auto axes = static_cast<uint32_t>(ctx.attrs().word(0));
  std::vector<int64_t> order, back(static_cast<size_t>(type.shape.rank())), kept, moved;
  int64_t count = 1;
  for (const bool folded : {false, true}) {
    for (int axis = 0; axis < type.shape.rank(); ++axis) {
      if (((axes >> axis & 1) != 0) != folded) continue;
      back[static_cast<size_t>(axis)] = static_cast<int64_t>(order.size());
      order.push_back(axis);
      moved.push_back(type.shape[axis]);
      if (folded) {
        count *= type.shape[axis];
      } else {
        kept.push_back(type.shape[axis]);
      }
    }
  }
  if (type.shape.numel() == 0) return;  // nothing to be the gradient of
  const auto rows = [&](int64_t extent) {
    std::vector<int64_t> extents = kept;
    extents.push_back(extent);
    return Shape(extents);
  };
  const size_t rank = kept.size() + 1;

  const DType dtype = wide_dtype(type.dtype);
  Value x = b.cast(ctx.operand(0), dtype);
  x = b.reshape(b.permute(x, order), rows(count));
  const auto width = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(count)));
  if (width > count) {
    std::vector<int64_t> low(rank, 0), high(rank, 0);
    high.back() = width - count;
    const Value index = b.iota({DType::I64, Shape{width}}, 0);
    const Value inside =
        b.binary(Op::Less, index, b.constant(static_cast<double>(count), DType::I64));
    x = b.where(inside, b.pad(x, low, high), b.constant(1, dtype));
  }
  const std::vector<Value> levels = product_tree(b, x);
  Value others = b.ones({dtype, rows(1)});
  for (size_t level = levels.size() - 1; level-- > 0;) {
    const Halves halves(b, levels[level]);
    others = b.record(Op::Concat, {b.mul(others, halves.second), b.mul(others, halves.first)},
                      Attrs().add_int(static_cast<int64_t>(rank) - 1));
  }
  const std::vector<int64_t> zeros(rank, 0), steps(rank, 1);
  if (width > count) others = b.slice(others, zeros, steps, rows(count));
  others = b.permute(b.reshape(others, Shape(moved)), back);
  const Value cotangent = b.reshape(ctx.cotangent, keep_axes(type.shape, axes));
  ctx.accumulate(0, guarded_mul(b, cotangent, b.cast(others, type.dtype)));
}

}  // namespace

const OpDef& prod_def() {
  static constexpr OpDef def{
      .name = "prod",
      .kind = OpKind::Reduction,
      .attrs = kReductionAttrs,
      .doc =
          "The product over `axes`; 1 over no element. Bool and integers are multiplied in 64 bits "
          "and give i64 or u64; f16 and bf16 accumulate in f32. The gradient of an element is the "
          "product of the others, zeros included.",
      .infer = infer,
      .reduce = ReduceKind::Prod,
      .gradient = gradient,
      .samples = [] { return reduction_samples(Fill::Unit, EmptyFold::Allowed); },
  };
  return def;
}

}  // namespace reprise
