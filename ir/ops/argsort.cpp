// The order of keys.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::Int}};

TensorType infer(const OpContext& ctx) {
  (void)checked_axis(ctx, 0);
  const TensorType& keys = ctx.operands[0];
  if (!is_unsigned_integer(keys.dtype)) {
    throw DTypeError(str("argsort: keys are unsigned integers, they are ", keys));
  }
  return {DType::I64, keys.shape};
}

std::vector<Sample> samples() {
  struct Row {
    Shape shape;
    int64_t axis;
  };
  const Row rows[] = {{{1}, 0},      {{7}, 0},     {{5, 13}, 1}, {{5, 13}, 0}, {{2, 3, 5}, 1},
                      {{3, 129}, 1}, {{2, 0}, 1},  {{0, 4}, 1},  {{3, 1}, 1},  {{1009}, 0},
                      {{257, 3}, 0}, {{64, 2}, 0}, {{2, 65}, 1}};
  std::vector<Sample> samples;
  for (const DType dtype : {DType::U8, DType::U16, DType::U32, DType::U64}) {
    for (const auto& [shape, axis] : rows) {
      samples.push_back({.operands = {{{dtype, shape}, Fill::Extremes}},
                         .attrs = Attrs().add_int(axis),
                         .result = {}});
    }
  }
  return samples;
}

}  // namespace

const OpDef& argsort_def() {
  static constexpr OpDef def{
      .name = "argsort",
      .kind = OpKind::Sort,
      .attrs = kAttrs,
      .doc =
          "The indices that put unsigned integers along `axis` in ascending order; equal ones stay "
          "in theirs. Values of other dtypes are ordered through keys made of them.",
      .infer = infer,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
