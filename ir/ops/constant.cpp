// A scalar that is part of the structure.
#include "ir/ops/inference.h"

namespace reprise {
namespace {

constexpr AttrDef kAttrs[] = {{"value", AttrKind::Float}};

TensorType infer(const OpContext& ctx) {
  const TensorType& type = given_result(ctx);
  if (type.shape.rank() != 0) throw ShapeError(str("constant: has rank 0, not ", type));
  return type;
}

}  // namespace

const OpDef& constant_def() {
  static constexpr OpDef def{
      .name = "constant",
      .kind = OpKind::Leaf,
      .min_operands = 0,
      .max_operands = 0,
      .attrs = kAttrs,
      .doc =
          "`value` converted to the dtype by the cast rules. Part of the structure and of every "
          "key: "
          "for what an op's definition needs, not for numbers that the program computes.",
      .infer = infer,
  };
  return def;
}

}  // namespace reprise
