// Contractions of bf16 and of narrow integers, which some targets multiply several at a time.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ir/error.h"
#include "ir/reduce.h"
#include "passes/kernel_passes.h"
#include "tests/compiled_kernel.h"

namespace reprise {
namespace {

struct Product {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  bool transpose_a = false, transpose_b = false;
  DType a = DType::BF16, b = DType::BF16, sum = DType::F32;
};

/// Integers are cast to the dtype of the sums, bf16 is multiplied as it is.
std::string text_of(const Product& p) {
  const auto matrix = [&](int buffer, const char* first, const char* second, int64_t rows,
                          int64_t columns, bool transposed) {
    return str("b", buffer, "[g0*", rows * columns, " + ", first, "*", transposed ? 1 : columns,
               " + ", second, "*", transposed ? rows : 1, "]");
  };
  const std::string cast_a =
      p.a == p.sum || p.a == DType::BF16 ? "" : str("%2 = cast %0 : ", p.sum);
  const int next = cast_a.empty() ? 2 : 3;
  const std::string cast_b =
      p.b == p.sum || p.b == DType::BF16 ? "" : str("%", next, " = cast %1 : ", p.sum);
  return str("kernel {\ninput b0: ", p.a, "[", p.batch * p.m * p.k, "]\ninput b1: ", p.b, "[",
             p.batch * p.k * p.n, "]\noutput b2: ", p.sum, "[", p.batch * p.m * p.n,
             "]\nphase { part grid [", p.batch, "] { contraction parallel [", p.m, ", ", p.n,
             "] reduce [", p.k, "] {\n%0 = load ", matrix(0, "i0", "r0", p.m, p.k, p.transpose_a),
             " : ", p.a, "\n%1 = load ", matrix(1, "r0", "i1", p.k, p.n, p.transpose_b), " : ", p.b,
             "\n", cast_a, "\n", cast_b, "\nreduce dot %", cast_a.empty() ? 0 : 2, ", %",
             cast_b.empty() ? 1 : next, " : ", p.sum, "\n} post {\n%0 = reduced 0 : ", p.sum,
             "\nstore ", matrix(2, "i0", "i1", p.m, p.n, false), ", %0\n} } } }");
}

void expect_like_interpreted(const std::string& text, const KernelRun& run = {}) {
  for (const TargetInfo& target : runnable_targets()) {
    const Kernel kernel = simplify_kernel(legalize(parse_kernel(text), target.numerics));
    expect_compiled_like_interpreted(kernel, target, run);
    if (testing::Test::HasFatalFailure()) return;
  }
}

constexpr struct {
  DType a, b, sum;
} kKinds[] = {
    {DType::BF16, DType::BF16, DType::F32}, {DType::I8, DType::I8, DType::I32},
    {DType::I8, DType::U8, DType::I32},     {DType::U8, DType::I8, DType::I32},
    {DType::U8, DType::U8, DType::U32},     {DType::I16, DType::I16, DType::I32},
    {DType::I16, DType::U8, DType::I32},    {DType::I8, DType::I8, DType::I8},
    {DType::U8, DType::U8, DType::U8},      {DType::U16, DType::U16, DType::U16},
    {DType::I8, DType::I8, DType::I16},     {DType::I8, DType::U16, DType::I32},
};

TEST(NarrowGemm, EveryKindAndLayout) {
  for (const auto& kind : kKinds) {
    for (int layout = 0; layout < 4; ++layout) {
      for (const auto& [m, n, k] : {std::tuple{13, 19, 21}, {3, 5, 200}, {20, 33, 64}}) {
        expect_like_interpreted(text_of({.batch = 2,
                                         .m = m,
                                         .n = n,
                                         .k = k,
                                         .transpose_a = (layout & 1) != 0,
                                         .transpose_b = (layout & 2) != 0,
                                         .a = kind.a,
                                         .b = kind.b,
                                         .sum = kind.sum}));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(NarrowGemm, EverySizeAroundATile) {
  for (const auto& kind : {kKinds[0], kKinds[1]}) {
    for (const int64_t m : {1, 7, 32}) {
      for (const int64_t n : {1, 10, 49}) {
        for (const int64_t k : {0, 1, 2, 3, 5, 66}) {
          expect_like_interpreted(
              text_of({.m = m, .n = n, .k = k, .a = kind.a, .b = kind.b, .sum = kind.sum}));
        }
      }
    }
  }
}

TEST(NarrowGemm, LargerThanEveryBlock) {
  for (const auto& kind : {kKinds[0], kKinds[1], kKinds[5]}) {
    for (const bool transposed : {false, true}) {
      expect_like_interpreted(text_of({.m = 20,
                                       .n = 70,
                                       .k = 1091,
                                       .transpose_b = transposed,
                                       .a = kind.a,
                                       .b = kind.b,
                                       .sum = kind.sum}),
                              {.plain = true});
    }
  }
}

TEST(NarrowGemm, EverySchedule) {
  std::mt19937 random(11);
  const auto pick = [&](std::initializer_list<int> values) {
    return values.begin()[random() % values.size()];
  };
  for (int round = 0; round < 60; ++round) {
    const auto& kind = kKinds[random() % std::size(kKinds)];
    const Product product{.batch = pick({1, 2}),
                          .m = pick({1, 5, 13, 26}),
                          .n = pick({7, 16, 37, 70}),
                          .k = pick({3, 16, 29, 50, 130}),
                          .transpose_a = pick({0, 1}) != 0,
                          .transpose_b = pick({0, 1}) != 0,
                          .a = kind.a,
                          .b = kind.b,
                          .sum = kind.sum};
    PartSchedule part;
    part.vector_axis = VectorAxis::Loop;
    part.vector_lanes = pick({1, 2, 4, 8, 16});
    ContractionSchedule& own = part.contractions.emplace_back();
    own.mr = pick({1, 2, 3, 6, 8});
    own.nr = part.vector_lanes * pick({1, 2, 3});
    own.kc = pick({0, 4, 8, 20});
    own.pack_a = pick({0, 1}) != 0;
    own.pack_b = pick({0, 1}) != 0;
    part.task_points = pick({1, 6, 100});
    part.task_columns = pick({0, 8, 30});
    expect_like_interpreted(text_of(product), {.schedule = Schedule{{{part}}}});
    if (HasFatalFailure()) return;
  }
}

/// Windows of an image: three loops along the depth, of which units know only one after another.
TEST(NarrowGemm, SeveralLoopsAlongTheDepth) {
  for (const DType dtype : {DType::BF16, DType::I8}) {
    const bool half = dtype == DType::BF16;
    const DType sum = half ? DType::F32 : DType::I32;
    const std::string casts =
        half ? "" : str("%2 = cast %0 : ", sum, "\n%3 = cast %1 : ", sum, "\n");
    const std::string text = str(
        "kernel {\ninput b0: ", dtype, "[365]\ninput b1: ", dtype, "[1296]\noutput b2: ", sum,
        "[3432]\nphase { part grid [2] {\ncontraction parallel [13, 12, 11] reduce [7, 3, 3] {\n",
        "%0 = load b0[i0*28 + r0*4 + r1 + r2] : ", dtype,
        "\n%1 = load b1[g0*61 + i1*11 + i2 + r0*143 + r1*13 + r2] : ", dtype, "\n", casts,
        "reduce dot ", half ? "%0, %1" : "%2, %3", " : ", sum, "\n} post {\n%0 = reduced 0 : ", sum,
        "\nstore b2[g0*1716 + i0*132 + i1*11 + i2], %0\n}\n} } }");
    for (const int64_t kc : {0, 9, 20}) {
      PartSchedule part{.vector_axis = VectorAxis::Loop,
                        .vector_lanes = 4,
                        .task_points = 7,
                        .contractions = {{.mr = 3, .nr = 8, .kc = kc}}};
      expect_like_interpreted(text, {.schedule = Schedule{{{part}}}, .plain = true});
    }
    expect_like_interpreted(text);
  }
}

/// What is multiplied may be computed: it is rounded to bf16 first.
TEST(NarrowGemm, ComputedFactors) {
  expect_like_interpreted(R"(kernel {
    input b0: bf16[611]
    input b1: bf16[1316]
    output b2: bf16[364]
    phase { part grid [] {
      contraction parallel [13, 28] reduce [47] {
        %0 = load b0[i0*47 + r0] : bf16
        %1 = mul %0, %0 : bf16
        %2 = load b1[r0*28 + i1] : bf16
        %3 = neg %2 : bf16
        reduce dot %1, %3 : f32
      } post {
        %0 = reduced 0 : f32
        %1 = cast %0 : bf16
        store b2[i0*28 + i1], %1
      }
    } }
  })");
}

TEST(NarrowGemm, APairIsAddedLaterProductFirst) {
  // 1 is lost beside 2^24, then not: the order shows.
  EXPECT_EQ(add_bf16_pair(0, 1, 1, 0x1p12F, 0x1p12F), 0x1p24F);
  EXPECT_EQ(add_bf16_pair(0, 0x1p12F, 0x1p12F, 1, 1), 0x1p24F);
  EXPECT_EQ(add_bf16_pair(-0x1p24F, 1, 1, 0x1p12F, 0x1p12F), 1);
  EXPECT_EQ(add_bf16_pair(-0x1p24F, 0x1p12F, 0x1p12F, 1, 1), 1);
  // One rounding a product, none between: 3 * 2^-24 is not representable beside 1.
  EXPECT_EQ(add_bf16_pair(1, 0x1p-12F, 0x1p-12F, 0x1p-12F, 0x1p-12F), 1);
  // Denormal numbers are zeros, of factors, of the sum before and of what comes out.
  EXPECT_EQ(add_bf16_pair(0x1p-130F, 0x1p-130F, 0x1p100F, 0, 0), 0);
  EXPECT_TRUE(std::signbit(add_bf16_pair(-0.0F, -0x1p-70F, 0x1p-70F, -0x1p-70F, 0x1p-70F)));
}

}  // namespace
}  // namespace reprise
