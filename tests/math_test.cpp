// Edges of the transcendental expansions and hard arguments, through the scalar interpreter; how
// close they are everywhere is accuracy_test's.
#include "ir/math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "ir/scalar_interpreter.h"

namespace reprise {
namespace {

template <class T>
std::vector<T> evaluate(ScalarOp op, const std::vector<T>& in, bool fused) {
  Body body;
  ScalarBuilder builder(body);
  const ScalarId x = builder.load({BufferId{0}, {0, {1}}, {}}, dtype_of<T>);
  const ScalarId y = expand_math(builder, op, x);
  std::vector<T> out(in.size());
  const int64_t extent = static_cast<int64_t>(in.size());
  const void* operand = in.data();
  evaluate_elementwise(body, {fused}, y, {&extent, 1}, {&operand, 1}, out.data());
  return out;
}

/// Distance in units of the last place of T at `want`; huge when only one of them is NaN or
/// infinite.
template <class T>
double ulps(T got, long double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e9;
  const T rounded = static_cast<T>(want);
  if (got == rounded) return 0;
  if (std::isinf(rounded) || std::isinf(got)) return 1e9;
  int exponent = 0;
  std::frexp(want, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  const long double unit = std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits);
  return static_cast<double>(std::fabs((static_cast<long double>(got) - want) / unit));
}

template <class T>
void expect_edges() {
  const T inf = std::numeric_limits<T>::infinity();
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const auto one = [](ScalarOp op, T x) { return evaluate<T>(op, {x}, true)[0]; };
  EXPECT_EQ(one(ScalarOp::Exp, -inf), 0);
  EXPECT_EQ(one(ScalarOp::Exp, inf), inf);
  EXPECT_EQ(one(ScalarOp::Exp, 0), 1);
  EXPECT_EQ(one(ScalarOp::Exp, T(1e4)), inf);
  EXPECT_EQ(one(ScalarOp::Exp, T(-1e4)), 0);
  EXPECT_EQ(one(ScalarOp::Log, 0), -inf);
  EXPECT_EQ(one(ScalarOp::Log, T(-0.0)), -inf);
  EXPECT_EQ(one(ScalarOp::Log, inf), inf);
  EXPECT_EQ(one(ScalarOp::Log, 1), 0);
  EXPECT_TRUE(std::isnan(one(ScalarOp::Log, -1)));
  EXPECT_TRUE(std::isnan(one(ScalarOp::Log, -inf)));
  EXPECT_EQ(one(ScalarOp::Tanh, inf), 1);
  EXPECT_EQ(one(ScalarOp::Tanh, -inf), -1);
  EXPECT_EQ(one(ScalarOp::Erf, inf), 1);
  EXPECT_EQ(one(ScalarOp::Erf, -inf), -1);
  EXPECT_EQ(one(ScalarOp::Cos, 0), 1);
  EXPECT_TRUE(std::isnan(one(ScalarOp::Sin, inf)));
  EXPECT_TRUE(std::isnan(one(ScalarOp::Cos, -inf)));
  for (const ScalarOp op : {ScalarOp::Tanh, ScalarOp::Erf, ScalarOp::Sin}) {
    EXPECT_EQ(one(op, T(-0.0)), 0) << name(op);
    EXPECT_TRUE(std::signbit(one(op, T(-0.0)))) << name(op);
    EXPECT_FALSE(std::signbit(one(op, 0))) << name(op);
    const T tiny = std::numeric_limits<T>::denorm_min();
    EXPECT_EQ(one(op, tiny), tiny) << name(op);
  }
  for (const ScalarOp op : {ScalarOp::Exp, ScalarOp::Log, ScalarOp::Tanh, ScalarOp::Erf,
                            ScalarOp::Sin, ScalarOp::Cos}) {
    EXPECT_TRUE(std::isnan(one(op, nan))) << name(op);
  }
}

TEST(Math, EdgesOfSingle) {
  expect_edges<float>();
}
TEST(Math, EdgesOfDouble) {
  expect_edges<double>();
}

// FP-09: denormals are arguments and results like any other.
TEST(Math, Denormals) {
  const std::vector<float> logs = evaluate<float>(ScalarOp::Log, {1e-45f, 1e-40f}, true);
  EXPECT_NEAR(logs[0], -103.27893, 1e-5);
  EXPECT_NEAR(logs[1], -92.10340, 1e-5);
  const std::vector<float> exps = evaluate<float>(ScalarOp::Exp, {-100.0f, -103.9f, -104.5f}, true);
  EXPECT_EQ(exps[0], static_cast<float>(std::exp(-100.0)));
  EXPECT_EQ(exps[1], std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(exps[2], 0);
  const std::vector<double> wide = evaluate<double>(ScalarOp::Exp, {-745.0, -746.0}, true);
  EXPECT_EQ(wide[0], std::exp(-745.0));
  EXPECT_EQ(wide[1], 0);
}

// Arguments so close to a multiple of pi/2 that nearly all bits cancel, at every magnitude.
TEST(Math, ReductionNearMultiplesOfHalfPi) {
  const std::vector<double> in = {0x1.6ac5b262ca1ffp+849,
                                  0x1.921fb54442d18p+0,
                                  0x1.921fb54442d18p+1,
                                  0x1.7da1c00000000p+20,
                                  0x1.fffffffffffffp+1023,
                                  22.0,
                                  355.0,
                                  1e22,
                                  -3.1415926535897931};
  for (const ScalarOp op : {ScalarOp::Sin, ScalarOp::Cos}) {
    const std::vector<double> out = evaluate(op, in, true);
    for (size_t i = 0; i < in.size(); ++i) {
      const long double x = in[i];  // the C library's double cosine is 8 ulp off at the first
      const long double want = op == ScalarOp::Sin ? std::sin(x) : std::cos(x);
      EXPECT_LE(ulps(out[i], want), 1.01) << name(op) << ' ' << in[i];
    }
  }
  std::vector<float> multiples;
  for (int i = 1; i < 3000; ++i) {
    multiples.push_back(static_cast<float>(i * 1.5707963267948966));
    multiples.push_back(static_cast<float>(std::ldexp(i * 1.5707963267948966, i % 110)));
  }
  const std::vector<float> out = evaluate(ScalarOp::Cos, multiples, true);
  for (size_t i = 0; i < multiples.size(); ++i) {
    EXPECT_LE(ulps(out[i], std::cos(static_cast<double>(multiples[i]))), 0.51) << multiples[i];
  }
}

}  // namespace
}  // namespace reprise
