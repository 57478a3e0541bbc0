// Conversion to another dtype.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr AttrDef kAttrs[] = {{"dtype", AttrKind::Type}};

TensorType infer(const OpContext& ctx) {
  const TensorType& from = ctx.operands[0];
  const DType to = ctx.attrs.as_type(0);
  if (is_pair(from.dtype) && !is_pair(to) && to != DType::Bool) {
    throw DTypeError(str("cast: ", from, " to ", to,
                         " would lose the imaginary part; take real, imag or abs of it"));
  }
  return {to, from.shape};
}

std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (const DType to :
       {DType::Bool, DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16,
        DType::U32, DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64}) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{17}, Shape{5, 13}}) {
      all.push_back({.operands = {{{DType::F32, shape}, Fill::Extremes}},
                     .attrs = Attrs().add_type(to),
                     .result = {}});
    }
  }
  return all;
}

}  // namespace

const OpDef& cast_def() {
  static constexpr OpDef def{
      .name = "cast",
      .attrs = kAttrs,
      .doc =
          "Converts to `dtype`. Float to integer truncates and saturates (to unsigned at 0 too), "
          "NaN "
          "gives 0; integer narrowing wraps; to bool: whether x is not 0; to a narrower float: to "
          "nearest even, overflow to infinity. To complex dtypes: with an imaginary part of 0, or "
          "each part; from them to bool: whether a part is not 0, to other real dtypes it is a "
          "DTypeError. The gradient is cast back.",
      .infer = infer,
      .lower = [](ScalarBuilder& b, std::span<const ScalarId> x,
                  const OpContext& ctx) { return b.cast(x[0], ctx.attrs.as_type(0)); },
      .gradient =
          [](GradientContext& ctx) {
            if (!ctx.wants(0)) return;
            Builder& b = ctx.builder;
            const DType dtype = b.dtype(ctx.operand(0));
            const bool drops = is_pair(b.dtype(ctx.cotangent)) && !is_pair(dtype);
            ctx.accumulate(0,
                           b.cast(drops ? b.unary(Op::Real, ctx.cotangent) : ctx.cotangent, dtype));
          },
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
