// Updates multiplied to slices of a tensor picked by indices.
#include "ir/ops/row.h"
#include "ir/ops/scattering.h"

namespace reprise {
namespace {

/// The product of the others at a place: the product of what is not 0 there, over the factor; of
/// one 0 all others; none beside two.
void gradient(GradientContext& ctx) {
  if (!ctx.wants(0) && !ctx.wants(2)) return;
  Builder& b = ctx.builder;
  const DType dtype = b.dtype(ctx.result), wide = wide_dtype(dtype);
  const Value zero = b.constant(0, wide), one = b.constant(1, wide);
  const Value x = b.cast(ctx.operand(0), wide), updates = b.cast(ctx.operand(2), wide);
  const auto is_zero = [&](Value v) { return b.binary(Op::Equal, v, zero); };
  const auto factors = [&](Value v) { return b.where(is_zero(v), one, v); };
  const auto written = [&](Op op, Value to, Value what) {
    return b.record(op, {to, ctx.operand(1), what}, ctx.attrs());
  };
  const Value product = written(Op::ScatterMultiply, factors(x), factors(updates));
  const Value zeros =
      written(Op::ScatterAdd, b.cast(is_zero(x), wide), b.cast(is_zero(updates), wide));
  const Value cotangent = b.cast(ctx.cotangent, wide);
  const auto accumulate = [&](int operand, Value factor, Value cotangent, Value product,
                              Value zeros) {
    const Value none = b.binary(Op::Equal, zeros, zero);
    const Value its_own =
        b.binary(Op::BitwiseAnd, b.binary(Op::Equal, zeros, one), is_zero(factor));
    const Value others =
        b.where(none, b.div(product, factors(factor)), b.where(its_own, product, zero));
    ctx.accumulate(operand, b.cast(guarded_mul(b, cotangent, others), dtype));
  };
  if (ctx.wants(0)) accumulate(0, x, cotangent, product, zeros);
  if (!ctx.wants(2)) return;
  accumulate(2, updates, gather_as_scattered(ctx, cotangent), gather_as_scattered(ctx, product),
             gather_as_scattered(ctx, zeros));
}

}  // namespace

const OpDef& scatter_multiply_def() {
  static constexpr OpDef def{
      .name = "scatter_multiply",
      .kind = OpKind::Scatter,
      .min_operands = 3,
      .max_operands = 3,
      .attrs = kScatterAttrs,
      .doc = "scatter_add with products in place of sums.",
      .infer = [](const OpContext& ctx) { return infer_scatter(ctx, Accepts::Number); },
      .lower = lower_binary<ScalarOp::Mul>,
      .gradient = gradient,
      .samples = scatter_samples,
  };
  return def;
}

}  // namespace reprise
