// The inverse of the error function.
//
// With w = -log((1 - x)(1 + x)), erfinv(x) / x is smooth in w near 0 and in sqrt(w) beyond. The
// coefficients, leading one first, interpolate it at Chebyshev points, computed to 50 digits.
#include <limits>
#include <span>

#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

// f32: w in [0, 5], then sqrt(w) in [2.236, 4.1]: minimax fits of relative errors 2^-27.4 and
// 2^-26.5, about centers where the two leading coefficients round well.
constexpr double kCenter32 = 2.28125;
constexpr double kCentral32[] = {-0x1.2e0b0cp-27, 0x1.5c3afep-25, 0x1.b89fe8p-22,  -0x1.15ac8p-18,
                                 0x1.221432p-25,  0x1.cfb98p-13,  -0x1.7ae79cp-10, -0x1.af8394p-9,
                                 0x1.fc79a2p-3,   0x1.728052p+0};
constexpr double kTailCenter32 = 2.953125;
constexpr double kTail32[] = {0x1.dce416p-14, -0x1.7520fap-12, 0x1.2857aap-14, 0x1.842bfp-10,
                              -0x1.073dc2p-8, 0x1.af3d94p-8,   -0x1.1fe26ap-7, 0x1.5b460ep-7,
                              0x1.003048p+0,  0x1.649d1ep+1};
// f64: w in [0, 6.25], then sqrt(w) in [2.5, 4] and [4, 6.0625]; relative errors 2e-16 and less.
constexpr double kCentral64[] = {
    -3.5932028927020695337e-22, 3.1940155481362710879e-21,   1.9992599888615348823e-20,
    -3.4734793888538034974e-19, 6.0750507020724138821e-19,   1.5510787009902524519e-17,
    -1.2215637192404172343e-16, -3.9401881223043201366e-17,  6.5213335115022384649e-15,
    -4.0020031087558495144e-14, -8.0719259389900406752e-14,  2.6305268312595183063e-12,
    -1.29788053699325656e-11,   -5.4143032839195044137e-11,  1.0512233770504290202e-9,
    -4.1126604371632181965e-9,  -2.9070391275641319496e-8,   4.2347881682224595796e-7,
    -1.3654691758785657117e-6,  -0.000013882523393957482189, 0.00018673420801981186737,
    -0.00074070253415464312197, -0.00603367087142685108,     0.24015818242558834244,
    1.653654562683102712};
constexpr double kMiddle64[] = {
    -3.8310399460724113797e-10, 9.0719505710299225305e-8,   -2.6860975725571460947e-7,
    1.8323999881328577679e-8,   1.4958263152984917443e-6,   -4.0139463981902918841e-6,
    2.9273722115986925899e-6,   0.000012475343474376930773, -0.000047319529183371890164,
    0.000068284840522929233718, 0.000024031363245440548101, -0.00035503751863069760148,
    0.00095328935211181777561,  -0.0016882755561681802984,  0.0024914420976198812115,
    -0.0037512085075638537904,  0.0053709145535581983223,   1.0052589676941592026,
    3.0838856104922206763};
constexpr double kTail64[] = {
    3.2182800214342438042e-11,   -6.5824259578158142222e-12, -3.9990496470272984635e-10,
    1.3080221281043152191e-9,    -2.9369327691831269358e-9,  6.3227962229471813116e-9,
    -1.2572759508088764047e-8,   2.4373084542160257146e-8,   -5.9257725544361587165e-8,
    2.1120977085788707982e-7,    -9.380390665818115431e-7,   4.3149321072484061394e-6,
    -0.000018853117291784802954, 0.00007298525445655319348,  -0.00020572018513159566729,
    -0.00015843904951402311492,  1.0102911741198123437,      4.8814781489772106759};

ScalarId polynomial(ScalarBuilder& b, ScalarId x, std::span<const double> coefficients) {
  const DType dtype = b.dtype(x);
  ScalarId sum = b.constant(coefficients[0], dtype);
  for (double coefficient : coefficients.subspan(1)) {
    sum = b.fma(sum, x, b.constant(coefficient, dtype));
  }
  return sum;
}

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> operands, const OpContext&) {
  const ScalarId x = operands[0];
  const DType dtype = b.dtype(x);
  const auto constant = [&](double value) { return b.constant(value, dtype); };
  const ScalarId one = constant(1);
  const ScalarId w =
      b.unary(ScalarOp::Neg, b.unary(ScalarOp::Log, b.mul(b.sub(one, x), b.add(one, x))));
  const ScalarId root = b.unary(ScalarOp::Sqrt, w);
  const auto fit = [&](ScalarId variable, double center, std::span<const double> coefficients) {
    return polynomial(b, b.sub(variable, constant(center)), coefficients);
  };
  ScalarId ratio;
  if (dtype == DType::F64) {
    ratio =
        b.select(b.lt(root, constant(4)), fit(root, 3.25, kMiddle64), fit(root, 5.03125, kTail64));
    ratio = b.select(b.lt(w, constant(6.25)), fit(w, 3.125, kCentral64), ratio);
  } else {
    ratio = b.select(b.lt(w, constant(5)), fit(w, kCenter32, kCentral32),
                     fit(root, kTailCenter32, kTail32));
  }
  // At the ends w is infinite, and the polynomials say nothing of their sign there.
  const ScalarId infinity = constant(std::numeric_limits<double>::infinity());
  ratio = b.select(b.eq(w, infinity), infinity, ratio);
  return b.mul(ratio, x);
}

void gradient(GradientContext& ctx) {
  constexpr double kHalfRootPi = 0.88622692545275801365;
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const Value y = ctx.result;
  const Value slope = scaled(b, b.unary(Op::Exp, b.mul(y, y)), kHalfRootPi);
  ctx.accumulate(0, guarded_mul(b, ctx.cotangent, slope));
}

}  // namespace

const OpDef& erfinv_def() {
  static constexpr OpDef def{
      .name = "erfinv",
      .doc =
          "The inverse of the error function: infinities at -1 and 1, NaN beyond. f16 and bf16 are "
          "computed in f32.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = unary_samples_of<Fill::Unit>,
  };
  return def;
}

}  // namespace reprise
