// An index, checked against an extent.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr AttrDef kAttrs[] = {{"extent", AttrKind::Int}};

TensorType infer(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Integer);
  const TensorType& x = ctx.operands[0];
  const int64_t extent = ctx.attrs.word(0);
  if (extent < 1 && x.shape.numel() != 0) {
    throw IndexError(str("check_index: no index of ", x, " lies in extent ", extent));
  }
  return {DType::I64, x.shape};
}

std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{17}, Shape{5, 13}}) {
    all.push_back({.operands = {{{DType::I32, shape}, Fill::Index, 7}},
                   .attrs = Attrs().add_int(7),
                   .result = {}});
  }
  return all;
}

}  // namespace

const OpDef& check_index_def() {
  static constexpr OpDef def{
      .name = "check_index",
      .attrs = kAttrs,
      .doc =
          "x as i64, checked to lie in [0, extent): a kernel clamps what does not and reports it; "
          "the "
          "next read throws IndexError with the index and the extent.",
      .infer = infer,
      .lower =
          [](ScalarBuilder& b, std::span<const ScalarId> x, const OpContext& ctx) {
            return b.check_index(b.cast(x[0], DType::I64), ctx.attrs.word(0));
          },
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
