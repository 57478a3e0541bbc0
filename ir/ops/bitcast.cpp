// The same bits as another dtype.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr AttrDef kAttrs[] = {{"dtype", AttrKind::Type}};

TensorType infer(const OpContext& ctx) {
  const TensorType& from = ctx.operands[0];
  const DType to = ctx.attrs.as_type(0);
  if (is_pair(to) != is_pair(from.dtype)) {
    throw DTypeError(str("bitcast: ", from, " and ", to, " have not as many parts"));
  }
  if (size_of(to) != size_of(from.dtype) || (to == DType::Bool) != (from.dtype == DType::Bool)) {
    throw DTypeError(str("bitcast: ", from, " has elements of ", size_of(from.dtype), " bytes, ",
                         to, " of ", size_of(to), "; they must agree, and bool has no other bits"));
  }
  return {to, from.shape};
}

std::vector<Sample> samples() {
  std::vector<Sample> all;
  struct Pair {
    DType from, to;
  };
  for (const auto& [from, to] :
       {Pair{DType::F32, DType::I32}, Pair{DType::F32, DType::U32}, Pair{DType::F64, DType::I64},
        Pair{DType::U64, DType::F64}, Pair{DType::U32, DType::F32}, Pair{DType::F16, DType::I16},
        Pair{DType::U16, DType::BF16}, Pair{DType::BF16, DType::F16}, Pair{DType::I8, DType::U8}}) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{17}, Shape{5, 13}}) {
      all.push_back({.operands = {{{from, shape}, Fill::Extremes}},
                     .attrs = Attrs().add_type(to),
                     .result = {}});
    }
  }
  return all;
}

}  // namespace

const OpDef& bitcast_def() {
  static constexpr OpDef def{
      .name = "bitcast",
      .attrs = kAttrs,
      .doc = "The same bits as `dtype`, which has elements of the same size.",
      .infer = infer,
      .lower = [](ScalarBuilder& b, std::span<const ScalarId> x,
                  const OpContext& ctx) { return b.bitcast(x[0], ctx.attrs.as_type(0)); },
      .pairs = OnPairs::EachPart,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
