// The hyperbolic sine.
#include "ir/ops/elementary.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

// (sinh(s)/s - 1) / s^2 in s^2 for |s| <= 1: 2^-32 and 2^-61 of sinh(s)/s.
constexpr double kSingle[] = {0x1.5555554e858c9p-3, 0x1.11111eaff05ecp-7, 0x1.a008ffbc060dap-13,
                              0x1.78a70e32a02ebp-19};
constexpr double kDouble[] = {0x1.5555555555555p-3,  0x1.11111111110fdp-7,  0x1.a01a01a01ee70p-13,
                              0x1.71de3a4e14f40p-19, 0x1.ae6460fae3728p-26, 0x1.611cb330c1fe8p-33,
                              0x1.b41232cf9950fp-41};

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  FloatBuilder f(b, b.dtype(x[0]));
  const ScalarId a = b.unary(ScalarOp::Abs, x[0]);
  const ScalarId square = b.mul(a, a);
  const ScalarId p = f.single() ? f.polynomial(square, kSingle) : f.polynomial(square, kDouble);
  const ScalarId near = b.fma(b.mul(p, square), a, a);
  const ScalarId half = half_exp(b, a);
  const ScalarId far = b.sub(half, b.div(f.value(0.25), half));
  return b.binary(ScalarOp::CopySign, b.select(b.lt(a, f.value(1)), near, far), x[0]);
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  ctx.accumulate(0, guarded_mul(b, ctx.cotangent, b.unary(Op::Cosh, ctx.operand(0))));
}

}  // namespace

const OpDef& sinh_def() {
  static constexpr OpDef def{
      .name = "sinh",
      .doc = "The hyperbolic sine, accurate near 0 too; infinite past the ends.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
