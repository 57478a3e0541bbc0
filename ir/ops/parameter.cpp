// A scalar that the program may change from launch to launch.
#include "ir/ops/inference.h"

namespace reprise {
namespace {

constexpr AttrDef kAttrs[] = {{"index", AttrKind::Int}};

TensorType infer(const OpContext& ctx) {
  const TensorType& type = given_result(ctx);
  if (type.shape.rank() != 0) throw ShapeError(str("parameter: has rank 0, not ", type));
  if (is_pair(type.dtype)) {
    throw DTypeError(str("parameter: one for each part, not ", type));
  }
  return type;
}

}  // namespace

const OpDef& parameter_def() {
  static constexpr OpDef def{
      .name = "parameter",
      .kind = OpKind::Leaf,
      .min_operands = 0,
      .max_operands = 0,
      .attrs = kAttrs,
      .doc =
          "Scalar parameter `index` of the plan: its value is read at each launch and is no part "
          "of "
          "any key.",
      .infer = infer,
  };
  return def;
}

}  // namespace reprise
