// The same elements in row-major order under other extents.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

TensorType infer(const OpContext& ctx) {
  const TensorType& result = given_shape(ctx);
  const Shape& from = ctx.operands[0].shape;
  if (from.numel() != result.shape.numel()) {
    throw ShapeError(str("reshape: ", from, " has ", from.numel(), " elements, ", result.shape,
                         " has ", result.shape.numel()));
  }
  return result;
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  const Shape shape = ctx.builder.shape(ctx.operand(0));
  ctx.accumulate(0, ctx.builder.reshape(ctx.cotangent, shape));
}

std::vector<Sample> samples() {
  struct Pair {
    Shape from, to;
  };
  const Pair pairs[] = {
      {{}, {1}},        {{1}, {}},           {{6}, {2, 3}},      {{2, 3}, {3, 2}},
      {{0}, {2, 0}},    {{2, 0, 3}, {0, 7}}, {{5, 13}, {65}},    {{12, 5}, {3, 4, 5}},
      {{4, 6}, {8, 3}}, {{1009}, {1, 1009}}, {{2, 3, 5}, {6, 5}}};
  std::vector<Sample> all;
  for (const auto& [from, to] : pairs) {
    all.push_back({.operands = {{{DType::F32, from}, Fill::Normal}},
                   .attrs = {},
                   .result = {DType::F32, to}});
  }
  return all;
}

}  // namespace

const OpDef& reshape_def() {
  static constexpr OpDef def{
      .name = "reshape",
      .kind = OpKind::Movement,
      .doc =
          "The elements in row-major order under the extents of the given result, which must have "
          "as many.",
      .infer = infer,
      .movement = Movement::Reshape,
      .pairs = OnPairs::EachPart,
      .gradient = gradient,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
