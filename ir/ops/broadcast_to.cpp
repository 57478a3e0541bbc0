// Values repeated along new axes and along axes of extent 1.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

TensorType infer(const OpContext& ctx) {
  const TensorType& result = given_shape(ctx);
  const Shape& from = ctx.operands[0].shape;
  const int added = result.shape.rank() - from.rank();
  for (int axis = 0; axis < from.rank(); ++axis) {
    if (added >= 0 && (from[axis] == 1 || from[axis] == result.shape[axis + added])) continue;
    throw ShapeError(str("broadcast_to: ", from, " does not broadcast to ", result.shape));
  }
  return result;
}

void gradient(GradientContext& ctx) {
  ctx.accumulate(0, ctx.cotangent);
}

std::vector<Sample> samples() {
  struct Pair {
    Shape from, to;
  };
  const Pair pairs[] = {{{}, {}},
                        {{}, {7}},
                        {{1}, {5}},
                        {{1}, {0}},
                        {{13}, {5, 13}},
                        {{5, 1}, {5, 13}},
                        {{1, 3, 1}, {2, 3, 5}},
                        {{0}, {3, 0}},
                        {{1}, {1009}},
                        {{65}, {64, 65}}};
  std::vector<Sample> all;
  for (const auto& [from, to] : pairs) {
    all.push_back({.operands = {{{DType::F32, from}, Fill::Normal}},
                   .attrs = {},
                   .result = {DType::F32, to}});
  }
  return all;
}

}  // namespace

const OpDef& broadcast_to_def() {
  static constexpr OpDef def{
      .name = "broadcast_to",
      .kind = OpKind::Movement,
      .doc =
          "Repeats the operand along new leading axes and along axes of extent 1, up to the "
          "extents "
          "of the given result.",
      .infer = infer,
      .movement = Movement::Broadcast,
      .pairs = OnPairs::EachPart,
      .gradient = gradient,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
