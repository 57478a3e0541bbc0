// The index along an axis.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::Int}};

TensorType infer(const OpContext& ctx) {
  const TensorType& type = given_result(ctx);
  const int64_t axis = ctx.attrs.word(0);
  if (axis < 0 || axis >= type.shape.rank()) {
    throw IndexError(str("iota: axis ", axis, " is out of range for ", type));
  }
  if (!is_integer(type.dtype) && !is_float(type.dtype)) {
    throw DTypeError(str("iota: needs an integer or float dtype, got ", type));
  }
  return type;
}

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId>, std::span<const ScalarId> axis_indices,
               const OpContext& ctx) {
  return b.cast(axis_indices[static_cast<size_t>(ctx.attrs.word(0))], ctx.result->dtype);
}

std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (const Shape& shape :
       {Shape{0}, Shape{1}, Shape{7}, Shape{5, 13}, Shape{2, 3, 5}, Shape{1009}}) {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      all.push_back(
          {.operands = {}, .attrs = Attrs().add_int(axis), .result = {DType::F32, shape}});
    }
  }
  return all;
}

}  // namespace

const OpDef& iota_def() {
  static constexpr OpDef def{
      .name = "iota",
      .kind = OpKind::Leaf,
      .min_operands = 0,
      .max_operands = 0,
      .attrs = kAttrs,
      .doc = "Each element's index along `axis`, converted to the dtype by the cast rules.",
      .infer = infer,
      .lower_leaf = lower,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
