// A tensor from outside.
#include "ir/ops/inference.h"

namespace reprise {
namespace {

constexpr AttrDef kAttrs[] = {{"index", AttrKind::Int}, {"strides", AttrKind::Ints}};

TensorType infer(const OpContext& ctx) {
  const TensorType& type = given_result(ctx);
  const size_t strides = ctx.attrs.ints(1).size();
  if (strides != 0 && strides != static_cast<size_t>(type.shape.rank())) {
    throw ShapeError(str("input: ", strides, " strides for ", type));
  }
  return type;
}

}  // namespace

const OpDef& input_def() {
  static constexpr OpDef def{
      .name = "input",
      .kind = OpKind::Leaf,
      .min_operands = 0,
      .max_operands = 0,
      .attrs = kAttrs,
      .doc =
          "Input `index` of the plan. `strides` in elements, outermost axis first; none: "
          "row-major.",
      .infer = infer,
  };
  return def;
}

}  // namespace reprise
