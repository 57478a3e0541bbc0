// Axes in another order.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr AttrDef kAttrs[] = {{"order", AttrKind::Ints}};

TensorType infer(const OpContext& ctx) {
  const TensorType& x = ctx.operands[0];
  const std::span<const int64_t> order = ctx.attrs.ints(0);
  if (order.size() != static_cast<size_t>(x.shape.rank())) {
    throw ShapeError(str("permute: an order of ", order.size(), " axes for ", x.shape, ", rank ",
                         x.shape.rank()));
  }
  std::array<int64_t, kMaxDims> extents;
  uint32_t seen = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t axis = order[i];
    if (axis < 0 || axis >= x.shape.rank()) {
      throw IndexError(
          str("permute: axis ", axis, " is out of range for ", x.shape, ", rank ", x.shape.rank()));
    }
    if (seen >> axis & 1) throw ShapeError(str("permute: axis ", axis, " of ", x.shape, " twice"));
    seen |= 1u << axis;
    extents[i] = x.shape[static_cast<int>(axis)];
  }
  return {x.dtype, Shape(std::span<const int64_t>(extents.data(), order.size()))};
}

void gradient(GradientContext& ctx) {
  const Attrs attrs = ctx.attrs();
  const std::span<const int64_t> order = attrs.ints(0);
  std::array<int64_t, kMaxDims> inverse;
  for (size_t i = 0; i < order.size(); ++i) {
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  if (ctx.wants(0)) {
    ctx.accumulate(0, ctx.builder.permute(ctx.cotangent, {inverse.data(), order.size()}));
  }
}

std::vector<Sample> samples() {
  struct Case {
    Shape shape;
    std::vector<int64_t> order;
  };
  const Case cases[] = {{{}, {}},
                        {{7}, {0}},
                        {{5, 13}, {1, 0}},
                        {{2, 3, 5}, {2, 0, 1}},
                        {{2, 3, 5}, {1, 0, 2}},
                        {{2, 0, 3}, {2, 1, 0}},
                        {{4, 1, 3, 2}, {3, 1, 0, 2}},
                        {{33, 129}, {1, 0}}};
  std::vector<Sample> all;
  for (const auto& [shape, order] : cases) {
    all.push_back({.operands = {{{DType::F32, shape}, Fill::Normal}},
                   .attrs = Attrs().add_ints(order),
                   .result = {}});
  }
  return all;
}

}  // namespace

const OpDef& permute_def() {
  static constexpr OpDef def{
      .name = "permute",
      .kind = OpKind::Movement,
      .attrs = kAttrs,
      .doc = "Axis i of the result is axis order[i] of the operand.",
      .infer = infer,
      .movement = Movement::Permute,
      .pairs = OnPairs::EachPart,
      .gradient = gradient,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
