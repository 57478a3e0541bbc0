// Reference semantics of the scalar operations: the values every backend must give.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "ir/float16.h"
#include "ir/scalar_interpreter.h"
#include "ir/scalar_rewrite.h"

namespace reprise {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr DType kIntegers[] = {DType::I8, DType::I16, DType::I32, DType::I64,
                               DType::U8, DType::U16, DType::U32, DType::U64};
constexpr DType kSigned[] = {DType::I8, DType::I16, DType::I32, DType::I64};
constexpr DType kReal[] = {DType::Bool, DType::I8,  DType::I16, DType::I32, DType::I64,
                           DType::U8,   DType::U16, DType::U32, DType::U64, DType::F16,
                           DType::BF16, DType::F32, DType::F64};

uint64_t raw(double value, DType dtype) {
  return convert_bits(std::bit_cast<uint64_t>(value), DType::F64, dtype);
}
uint64_t raw_int(int64_t value, DType dtype) {
  return convert_bits(static_cast<uint64_t>(value), DType::I64, dtype);
}
int64_t to_int(uint64_t bits, DType dtype) {
  return static_cast<int64_t>(convert_bits(bits, dtype, DType::I64));
}
double to_double(uint64_t bits, DType dtype) {
  return std::bit_cast<double>(convert_bits(bits, dtype, DType::F64));
}
int64_t int_op(ScalarOp op, DType dtype, int64_t a, int64_t b) {
  return to_int(evaluate_bits(op, dtype, dtype, raw_int(a, dtype), raw_int(b, dtype)), dtype);
}
double float_op(ScalarOp op, DType dtype, double a, double b = 0) {
  return to_double(evaluate_bits(op, dtype, dtype, raw(a, dtype), raw(b, dtype)), dtype);
}
/// -0 and 0 differ, NaNs are all the same.
::testing::AssertionResult same(double got, double want) {
  const bool equal = std::isnan(want)
                         ? std::isnan(got)
                         : std::bit_cast<uint64_t>(got) == std::bit_cast<uint64_t>(want);
  if (equal) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << got << " is not " << want;
}

TEST(Scalar, TableIsConsistent) {
  for (int i = 0; i < kNumScalarOps; ++i) {
    const ScalarOp op = static_cast<ScalarOp>(i);
    EXPECT_EQ(parse_scalar_op(name(op)), op);
  }
  EXPECT_EQ(parse_scalar_op("frobnicate"), std::nullopt);
  EXPECT_EQ(arity(ScalarOp::Select), 3);
  EXPECT_EQ(arity(ScalarOp::Lt), 2);
  EXPECT_EQ(arity(ScalarOp::CheckIndex), 1);
}

// INT-01, INT-04: division floors, never traps, and the pair reconstructs the dividend.
TEST(Scalar, IntegerDivisionFloors) {
  const int64_t a[] = {-7, 7, -7, 7, -8, 8, 0};
  const int64_t b[] = {2, -2, -2, 2, 3, -3, -5};
  const int64_t quotient[] = {-4, -4, 3, 3, -3, -3, 0};
  const int64_t modulo[] = {1, -1, -1, 1, 1, -1, 0};
  for (const DType dtype : kSigned) {
    for (int i = 0; i < 7; ++i) {
      EXPECT_EQ(int_op(ScalarOp::Div, dtype, a[i], b[i]), quotient[i]) << dtype;
      EXPECT_EQ(int_op(ScalarOp::Mod, dtype, a[i], b[i]), modulo[i]) << dtype;
    }
    const int64_t low = min_integer(dtype);
    EXPECT_EQ(int_op(ScalarOp::Div, dtype, low, -1), low);
    EXPECT_EQ(int_op(ScalarOp::Mod, dtype, low, -1), 0);
    EXPECT_EQ(int_op(ScalarOp::Neg, dtype, low, 0), low);
    EXPECT_EQ(int_op(ScalarOp::Abs, dtype, low, 0), low);
  }
  for (const DType dtype : kIntegers) {
    EXPECT_EQ(int_op(ScalarOp::Div, dtype, 5, 0), 0) << dtype;
    EXPECT_EQ(int_op(ScalarOp::Mod, dtype, 5, 0), 0) << dtype;
    EXPECT_EQ(int_op(ScalarOp::Div, dtype, 100, 7), 14) << dtype;
  }
}

// INT-05, INT-07: arithmetic wraps at the declared dtype, folded or not.
TEST(Scalar, IntegersWrap) {
  EXPECT_EQ(int_op(ScalarOp::Sub, DType::U8, 5, 10), 251);
  EXPECT_EQ(int_op(ScalarOp::Sub, DType::U8, 250, 10), 240);
  EXPECT_EQ(int_op(ScalarOp::Add, DType::I8, 100, 100), -56);
  EXPECT_EQ(int_op(ScalarOp::Add, DType::I8, 127, 1), -128);
  EXPECT_EQ(int_op(ScalarOp::Mul, DType::I8, 16, 8), -128);
  EXPECT_EQ(int_op(ScalarOp::Mul, DType::I8, 127, 127), 1);
  EXPECT_EQ(int_op(ScalarOp::Mul, DType::U16, 65535, 65535), 1);
  EXPECT_EQ(int_op(ScalarOp::Add, DType::I64, INT64_MAX, 1), INT64_MIN);
  EXPECT_EQ(int_op(ScalarOp::Mul, DType::I64, 3037000500, 3037000500), -9223372036709301616);
  EXPECT_EQ(int_op(ScalarOp::Mul, DType::I64, int64_t{1} << 62, 2), INT64_MIN);
  EXPECT_EQ(int_op(ScalarOp::Add, DType::I32, 2147483647, 1), -2147483648);
  const uint64_t sum = evaluate_bits(ScalarOp::Add, DType::U8, DType::U8, 200, 100);
  EXPECT_EQ(evaluate_bits(ScalarOp::Div, DType::U8, DType::U8, sum, 2), 22u);
}

TEST(Scalar, ShiftsPastTheWidthGiveZeroOrTheSign) {
  for (const DType dtype : kIntegers) {
    const int width = static_cast<int>(8 * size_of(dtype));
    EXPECT_EQ(int_op(ScalarOp::Shl, dtype, 1, width), 0) << dtype;
    EXPECT_EQ(int_op(ScalarOp::Shr, dtype, 64, width + 3), 0) << dtype;
    EXPECT_EQ(int_op(ScalarOp::Shl, dtype, 3, 2), 12) << dtype;
  }
  for (const DType dtype : kSigned) {
    EXPECT_EQ(int_op(ScalarOp::Shr, dtype, -64, 100), -1);
    EXPECT_EQ(int_op(ScalarOp::Shr, dtype, -64, 2), -16);
    EXPECT_EQ(int_op(ScalarOp::Shl, dtype, 1, -1), 0);  // a negative count is a huge one
  }
}

TEST(Scalar, MulHighIsTheUpperHalf) {
  const auto high = [](DType dtype, uint64_t a, uint64_t b) {
    return evaluate_bits(ScalarOp::MulHigh, dtype, dtype, a, b);
  };
  EXPECT_EQ(high(DType::U8, 255, 255), 254u);
  EXPECT_EQ(high(DType::U32, 0xffffffff, 0xffffffff), 0xfffffffeu);
  EXPECT_EQ(high(DType::U32, 0xd2511f53, 12345), uint64_t{0xd2511f53} * 12345 >> 32);
  EXPECT_EQ(high(DType::U64, ~uint64_t{0}, ~uint64_t{0}), ~uint64_t{0} - 1);
  EXPECT_EQ(high(DType::U64, uint64_t{1} << 63, 6), 3u);
}

// CAST-01: saturation and NaN, for every float and integer dtype.
TEST(Scalar, FloatToIntegerSaturates) {
  const double in[] = {kNan,         kInf,          -kInf,        3e9, -3e9,
                       2147483648.0, -2147483648.0, 2147483520.0, -0.9};
  const int64_t out[] = {0,          2147483647,  -2147483648, 2147483647, -2147483648,
                         2147483647, -2147483648, 2147483520,  0};
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(to_int(convert_bits(raw(in[i], DType::F32), DType::F32, DType::I32), DType::I32),
              out[i]);
  }
  for (const DType from : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    for (const DType to : kIntegers) {
      const auto cast = [&](double v) { return convert_bits(raw(v, from), from, to); };
      EXPECT_EQ(cast(kNan), 0u) << from << to;
      EXPECT_EQ(cast(kInf), max_integer(to)) << from << to;
      EXPECT_EQ(to_int(cast(-kInf), to), min_integer(to)) << from << to;
      EXPECT_EQ(cast(-0.9), 0u) << from << to;
      EXPECT_EQ(to_int(cast(-3), to), is_signed_integer(to) ? -3 : 0) << from << to;
      EXPECT_EQ(to_int(cast(20.75), to), 20) << from << to;
    }
    EXPECT_EQ(convert_bits(raw(kNan, from), from, DType::Bool), 1u);
    EXPECT_EQ(convert_bits(raw(-0.0, from), from, DType::Bool), 0u);
    EXPECT_EQ(convert_bits(raw(0.25, from), from, DType::Bool), 1u);
  }
}

// CAST-04, CAST-06: one rounding, to nearest even, overflow to infinity, NaN stays NaN.
TEST(Scalar, HalfTypesRoundToNearestEven) {
  const auto half = [](double v) {
    return to_double(convert_bits(raw(v, DType::F32), DType::F32, DType::F16), DType::F16);
  };
  EXPECT_EQ(half(65504), 65504);
  EXPECT_EQ(half(65519), 65504);
  EXPECT_EQ(half(65520), kInf);
  EXPECT_EQ(half(65536), kInf);
  EXPECT_EQ(half(-65520), -kInf);
  EXPECT_EQ(half(1e-8), 0);
  EXPECT_EQ(half(0x1p-24), 0x1p-24);
  EXPECT_EQ(half(0x1p-25), 0);
  EXPECT_EQ(half(0x1.8p-25), 0x1p-24);
  EXPECT_EQ(half(1.0004883), 1.0);
  const auto brain = [](uint32_t bits) {
    return static_cast<uint16_t>(convert_bits(bits, DType::F32, DType::BF16));
  };
  const auto brain_of = [&](float v) { return float_from_bf16(brain(std::bit_cast<uint32_t>(v))); };
  EXPECT_EQ(brain_of(0.26914087f), 0.26953125f);
  EXPECT_EQ(brain_of(1.00390625f), 1.0f);
  EXPECT_EQ(brain_of(1.01171875f), 1.015625f);
  EXPECT_TRUE(std::isinf(brain_of(3.4028235e38f)));
  EXPECT_TRUE(std::isnan(float_from_bf16(brain(0x7f800001))));
  EXPECT_TRUE(std::isnan(float_from_bf16(brain(0x7fffffff))));
}

// Every 16-bit value survives the way through f32 and f64, and every midpoint goes to even.
TEST(Scalar, HalfTypesAreExhaustivelyExact) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    for (const DType dtype : {DType::F16, DType::BF16}) {
      const double value = to_double(bits, dtype);
      if (std::isnan(value)) continue;
      EXPECT_EQ(convert_bits(std::bit_cast<uint64_t>(value), DType::F64, dtype), bits);
      const double next = to_double(bits + 1, dtype);
      if ((bits & 0x7fff) == 0x7fff || !std::isfinite(next) || !std::isfinite(value)) continue;
      const double middle = (value + next) / 2;
      const uint64_t even = (bits & 1) == 0 ? bits : bits + 1;
      EXPECT_EQ(raw(middle, dtype), even);
      // f64 rounds once: a hair above the middle must not become the middle first.
      EXPECT_EQ(raw(std::nextafter(middle, next), dtype), bits + 1);
      EXPECT_EQ(raw(std::nextafter(middle, value), dtype), bits);
    }
  }
}

// What legalize leaves for the backends must round as the direct conversion does.
TEST(Scalar, WidenedCastsRoundOnce) {
  std::vector<double> doubles = {0.0, -0.0, kInf, -kInf, kNan, 65519.999999, 1e300, 1e-300, 1e-40};
  std::vector<int64_t> integers = {
      0, 1, -1, INT64_MAX, INT64_MIN, 0x1008001, (int64_t{1} << 53) + 1};
  uint64_t state = 88172645463325252u;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    // Close to the middle of two half values: the hard cases.
    const uint64_t top = state & 0xfffc'0000'0000'0000u;
    const uint64_t near = (state & 3) == 0 ? 1 : (state & 3) == 1 ? 0 : uint64_t{1} << 30;
    doubles.push_back(std::bit_cast<double>(top | uint64_t{1} << 41 | near));
    doubles.push_back(
        std::ldexp(1 + static_cast<double>(state >> 53) / 2048 + ((state & 1) != 0 ? 0x1p-50 : 0),
                   static_cast<int>(state % 300) - 160));
    const int shift = static_cast<int>(state % 56);
    integers.push_back(static_cast<int64_t>((state >> 55 | 1) << shift) +
                       static_cast<int64_t>(state & 1));
  }
  const auto run = [](DType from, DType to, const void* values, size_t count) {
    Body body;
    ScalarBuilder builder(body);
    const ScalarId x = builder.load({BufferId{0}, {0, {1}}, {}}, from);
    const ScalarId y = builder.cast(x, to);
    std::vector<uint16_t> out(count);
    const int64_t extent = static_cast<int64_t>(count);
    evaluate_elementwise(body, {}, y, {&extent, 1}, {&values, 1}, out.data());
    return out;
  };
  const auto is_nan = [](uint64_t bits, DType dtype) { return std::isnan(to_double(bits, dtype)); };
  for (const DType to : {DType::F16, DType::BF16}) {
    const std::vector<uint16_t> got = run(DType::F64, to, doubles.data(), doubles.size());
    for (size_t i = 0; i < doubles.size(); ++i) {
      const uint64_t want = raw(doubles[i], to);
      if (is_nan(want, to) && is_nan(got[i], to)) continue;
      ASSERT_EQ(got[i], want) << doubles[i] << ' ' << to;
    }
    for (const DType from : {DType::I64, DType::U64}) {
      const std::vector<uint16_t> ints = run(from, to, integers.data(), integers.size());
      for (size_t i = 0; i < integers.size(); ++i) {
        ASSERT_EQ(ints[i], convert_bits(static_cast<uint64_t>(integers[i]), from, to))
            << integers[i] << ' ' << to;
      }
    }
  }
}

// FP-01, FP-06: NaN reaches the result whichever side it is on; -0 is below +0.
TEST(Scalar, MinMaxPropagateNanAndOrderZeros) {
  for (const DType dtype : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    for (const ScalarOp op : {ScalarOp::Min, ScalarOp::Max}) {
      EXPECT_TRUE(same(float_op(op, dtype, kNan, 1), kNan)) << dtype;
      EXPECT_TRUE(same(float_op(op, dtype, 1, kNan), kNan)) << dtype;
      EXPECT_TRUE(same(float_op(op, dtype, kNan, kNan), kNan)) << dtype;
    }
    EXPECT_TRUE(same(float_op(ScalarOp::Max, dtype, -0.0, 0.0), 0.0));
    EXPECT_TRUE(same(float_op(ScalarOp::Max, dtype, 0.0, -0.0), 0.0));
    EXPECT_TRUE(same(float_op(ScalarOp::Min, dtype, -0.0, 0.0), -0.0));
    EXPECT_TRUE(same(float_op(ScalarOp::Min, dtype, 0.0, -0.0), -0.0));
    EXPECT_TRUE(same(float_op(ScalarOp::Max, dtype, -kInf, 3), 3.0));
  }
}

TEST(Scalar, SignedZeroSurvives) {
  for (const DType dtype : {DType::F32, DType::F64}) {
    EXPECT_TRUE(same(float_op(ScalarOp::Neg, dtype, 0.0), -0.0));
    EXPECT_TRUE(
        same(float_op(ScalarOp::Div, dtype, 1, float_op(ScalarOp::Neg, dtype, 0.0)), -kInf));
    for (const double v : {-0.5, -0.1, -0.9}) {
      EXPECT_TRUE(same(float_op(ScalarOp::Ceil, dtype, v), -0.0));
      EXPECT_TRUE(
          same(float_op(ScalarOp::Add, dtype, float_op(ScalarOp::Ceil, dtype, v), 0.0), 0.0));
    }
    EXPECT_TRUE(same(float_op(ScalarOp::CopySign, dtype, 1, -0.0), -1.0));
    EXPECT_TRUE(same(float_op(ScalarOp::Mul, dtype, -2, 0.0), -0.0));
    EXPECT_TRUE(same(float_op(ScalarOp::Round, dtype, 2.5), 2.0));
    EXPECT_TRUE(same(float_op(ScalarOp::Round, dtype, -0.5), -0.0));
    EXPECT_TRUE(same(float_op(ScalarOp::Sqrt, dtype, -0.0), -0.0));
  }
}

TEST(Scalar, IntegerAndBoolConversions) {
  EXPECT_EQ(convert_bits(0x1ff, DType::I16, DType::U8), 0xffu);
  EXPECT_EQ(to_int(convert_bits(200, DType::U8, DType::I8), DType::I8), -56);
  EXPECT_EQ(convert_bits(raw_int(-1, DType::I8), DType::I8, DType::U64), ~uint64_t{0});
  for (const DType dtype : kReal) {
    EXPECT_EQ(convert_bits(convert_bits(1, DType::Bool, dtype), dtype, DType::Bool), 1u) << dtype;
    EXPECT_EQ(convert_bits(convert_bits(0, DType::Bool, dtype), dtype, DType::Bool), 0u) << dtype;
    EXPECT_EQ(to_double(convert_bits(1, DType::Bool, dtype), dtype), 1.0) << dtype;
  }
  // A multiple of 256 is true: casting to bool compares, it does not narrow.
  EXPECT_EQ(convert_bits(256, DType::I32, DType::Bool), 1u);
  EXPECT_EQ(evaluate_bits(ScalarOp::Not, DType::Bool, DType::Bool, 1), 0u);
  EXPECT_EQ(evaluate_bits(ScalarOp::Not, DType::Bool, DType::Bool, 0), 1u);
  EXPECT_EQ(int_op(ScalarOp::Not, DType::I16, 5, 0), -6);
}

TEST(Scalar, FmaRoundsOnceOnlyWithFusedNumerics) {
  const uint64_t x = raw(1 + 0x1p-12, DType::F32);
  const uint64_t minus = raw(-(1 + 0x1p-11), DType::F32);
  const auto fma = [&](bool fused) {
    return to_double(evaluate_bits(ScalarOp::Fma, DType::F32, DType::F32, x, x, minus, {fused}),
                     DType::F32);
  };
  EXPECT_EQ(fma(true), 0x1p-24);
  EXPECT_EQ(fma(false), 0);
}

TEST(ScalarBuilder, EmitsEqualPureInstructionsOnce) {
  Body body;
  ScalarBuilder builder(body);
  const ScalarId x = builder.load({BufferId{0}, {0, {1}}, {}}, DType::F32);
  EXPECT_EQ(x, builder.load({BufferId{0}, {0, {1}}, {}}, DType::F32));
  EXPECT_NE(x, builder.load({BufferId{0}, {1, {1}}, {}}, DType::F32));
  EXPECT_EQ(builder.add(x, x), builder.add(x, x));
  EXPECT_EQ(builder.constant(1, DType::F32), builder.constant(1, DType::F32));
  EXPECT_NE(builder.constant(0.0, DType::F32), builder.constant(-0.0, DType::F32));
  EXPECT_NE(builder.constant(1, DType::F32), builder.constant(1, DType::F64));
  EXPECT_EQ(builder.index({3, {2}}), builder.index({3, {2}}));
  EXPECT_EQ(body.accesses.size(), 2u);
  EXPECT_EQ(body.affines.size(), 1u);
}

// What a store may have changed must be loaded again.
TEST(ScalarBuilder, LoadsAgainAfterAStore) {
  Body body;
  ScalarBuilder builder(body);
  const Access access{BufferId{0}, {0, {1}}, {}};
  const ScalarId before = builder.load(access, DType::F32);
  const ScalarId sum = builder.add(before, before);
  builder.store(access, sum);
  const ScalarId after = builder.load(access, DType::F32);
  EXPECT_NE(before, after);
  EXPECT_EQ(after, builder.load(access, DType::F32));
  EXPECT_EQ(sum, builder.add(before, before));
}

TEST(ScalarBuilder, KnowsWhatTheBodyAlreadyHolds) {
  Body body;
  ScalarId one;
  {
    ScalarBuilder builder(body);
    one = builder.constant(1, DType::I32);
  }
  ScalarBuilder builder(body);
  EXPECT_EQ(builder.integer(1, DType::I32), one);
}

TEST(ScalarBuilder, ManyInstructionsStayFast) {
  Body body;
  ScalarBuilder builder(body);
  ScalarId sum = builder.constant(0, DType::F32);
  for (int i = 0; i < 20000; ++i) sum = builder.add(sum, builder.constant(i % 100, DType::F32));
  EXPECT_LE(body.instrs.size(), 20101u);
}

// Half arithmetic rounds after every op, so that fused and separate kernels agree.
TEST(ScalarProgram, HalfArithmeticRoundsEveryStep) {
  Body body;
  ScalarBuilder builder(body);
  const ScalarId x = builder.load({BufferId{0}, {0, {1}}, {}}, DType::F16);
  const ScalarId y = builder.sub(builder.add(x, x), x);
  const uint16_t in[] = {f16_from_float(65504), f16_from_float(1.5f)};
  const void* operand = in;
  uint16_t out[2];
  const int64_t extent = 2;
  evaluate_elementwise(body, {}, y, {&extent, 1}, {&operand, 1}, out);
  EXPECT_EQ(out[0], 0x7c00);  // 65504 + 65504 is infinite already
  EXPECT_EQ(out[1], in[1]);
}

TEST(ScalarProgram, ReadsAnyNonzeroByteAsTrue) {
  Body body;
  ScalarBuilder builder(body);
  const ScalarId x = builder.load({BufferId{0}, {0, {1}}, {}}, DType::Bool);
  const ScalarId y = builder.cast(x, DType::I32);
  const uint8_t in[] = {0, 1, 2, 255};
  const void* operand = in;
  int32_t out[4];
  const int64_t extent = 4;
  evaluate_elementwise(body, {}, y, {&extent, 1}, {&operand, 1}, out);
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[2], 1);
  EXPECT_EQ(out[3], 1);
}

TEST(ScalarProgram, CheckIndexClampsAndReportsTheFirst) {
  Body body;
  ScalarBuilder builder(body);
  const ScalarId x = builder.load({BufferId{0}, {0, {1}}, {}}, DType::I64);
  const ScalarId y = builder.check_index(x, 10);
  const int64_t in[] = {3, 12, -1, 9};
  const void* operand = in;
  int64_t out[4];
  const int64_t extent = 4;
  LaunchStatus status;
  evaluate_elementwise(body, {}, y, {&extent, 1}, {&operand, 1}, out, &status);
  EXPECT_EQ(out[0], 3);
  EXPECT_EQ(out[1], 9);
  EXPECT_EQ(out[2], 0);
  EXPECT_EQ(status.failed, 1);
  EXPECT_EQ(status.index, 12);
  EXPECT_EQ(status.extent, 10);
}

// Strides of the affine index broadcast and permute; blocks of lanes join seamlessly.
TEST(ScalarProgram, ElementwiseFollowsAffineLoads) {
  Body body;
  ScalarBuilder builder(body);
  const ScalarId row = builder.load({BufferId{0}, {0, {0, 1}}, {}}, DType::I32);
  const ScalarId column = builder.load({BufferId{1}, {0, {1, 0}}, {}}, DType::I32);
  const ScalarId sum = builder.add(row, column);
  std::vector<int32_t> a(37), b(29);
  for (int i = 0; i < 37; ++i) a[i] = i;
  for (int i = 0; i < 29; ++i) b[i] = 1000 * i;
  const void* operands[] = {a.data(), b.data()};
  const int64_t extents[] = {29, 37};
  std::vector<int32_t> out(29 * 37);
  evaluate_elementwise(body, {}, sum, extents, operands, out.data());
  for (int i = 0; i < 29; ++i) {
    for (int j = 0; j < 37; ++j) EXPECT_EQ(out[i * 37 + j], 1000 * i + j);
  }
}

TEST(Reduce, IdentitiesOfEmptyReductions) {
  EXPECT_EQ(reduce_identity(ReduceKind::Sum, DType::F32), 0u);
  EXPECT_EQ(reduce_identity(ReduceKind::Prod, DType::F32), raw(1, DType::F32));
  EXPECT_EQ(reduce_identity(ReduceKind::Max, DType::F32), raw(-kInf, DType::F32));
  EXPECT_EQ(reduce_identity(ReduceKind::Min, DType::I8), 127u);
  EXPECT_EQ(reduce_identity(ReduceKind::Max, DType::I8), 128u);
  EXPECT_EQ(reduce_identity(ReduceKind::Max, DType::Bool), 0u);
  EXPECT_EQ(reduce_identity(ReduceKind::Min, DType::Bool), 1u);
}

}  // namespace
}  // namespace reprise
