// The Gaussian error linear unit.
#include <limits>

#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr AttrDef kAttrs[] = {{"approximate", AttrKind::Int}};
constexpr double kRootHalf = 0.70710678118654752440;
constexpr double kDensityAtZero = 0.39894228040143267794;  // 1 / sqrt(2 pi)
constexpr double kTanhScale = 0.79788456080286535588;      // sqrt(2 / pi)
constexpr double kCubic = 0.044715;

TensorType infer(const OpContext& ctx) {
  const int64_t approximate = ctx.attrs.word(0);
  if (approximate != 0 && approximate != 1) {
    throw Error(str("gelu: approximate is 0 (erf) or 1 (tanh), not ", approximate));
  }
  return infer_elementwise(ctx, Accepts::Float);
}

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> operands, const OpContext& ctx) {
  const ScalarId x = operands[0];
  const DType dtype = b.dtype(x);
  const auto constant = [&](double value) { return b.constant(value, dtype); };
  ScalarId odd;  // -1 .. 1
  if (ctx.attrs.word(0) == 0) {
    odd = b.unary(ScalarOp::Erf, b.mul(x, constant(kRootHalf)));
  } else {
    const ScalarId cubic = b.mul(b.mul(b.mul(x, x), x), constant(kCubic));
    odd = b.unary(ScalarOp::Tanh, b.mul(b.add(x, cubic), constant(kTanhScale)));
  }
  // -inf * 0 would be NaN: the limit there is 0.
  const double lowest = dtype == DType::F64 ? std::numeric_limits<double>::lowest()
                                            : std::numeric_limits<float>::lowest();
  const ScalarId finite = b.binary(ScalarOp::Max, x, constant(lowest));
  return b.mul(b.mul(finite, constant(0.5)), b.add(constant(1), odd));
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const Value x = ctx.operand(0);
  const DType dtype = b.dtype(x);
  const Value one = b.constant(1, dtype);
  const Value squared = b.mul(x, x);
  Value slope;
  if (ctx.attrs().word(0) == 0) {
    // The distribution function, plus x times the density.
    const Value below = scaled(b, b.add(one, b.unary(Op::Erf, scaled(b, x, kRootHalf))), 0.5);
    const Value density = scaled(b, b.unary(Op::Exp, scaled(b, squared, -0.5)), kDensityAtZero);
    slope = b.add(below, guarded_mul(b, density, x));
  } else {
    const Value inner = scaled(b, b.add(x, scaled(b, b.mul(squared, x), kCubic)), kTanhScale);
    const Value odd = b.unary(Op::Tanh, inner);
    const Value below = scaled(b, b.add(one, odd), 0.5);
    const Value inner_slope =
        scaled(b, b.add(one, scaled(b, squared, 3 * kCubic)), 0.5 * kTanhScale);
    const Value odd_slope = guarded_mul(b, b.sub(one, b.mul(odd, odd)), b.mul(x, inner_slope));
    slope = b.add(below, odd_slope);
  }
  ctx.accumulate(0, guarded_mul(b, ctx.cotangent, slope));
}

std::vector<Sample> samples() {
  std::vector<Sample> all = unary_samples(Fill::Normal, DType::F32, Attrs().add_int(0));
  for (Sample& sample : unary_samples(Fill::Normal, DType::F32, Attrs().add_int(1))) {
    all.push_back(std::move(sample));
  }
  return all;
}

}  // namespace

const OpDef& gelu_def() {
  static constexpr OpDef def{
      .name = "gelu",
      .attrs = kAttrs,
      .doc =
          "x times the normal distribution function at x: 0.5 x (1 + erf(x / sqrt(2))), or with "
          "approximate = 1 the form 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). 0 at "
          "-infinity.",
      .infer = infer,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
