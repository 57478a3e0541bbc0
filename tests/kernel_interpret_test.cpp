// The kernel interpreter: orders of evaluation, locals, phases, contractions, the status.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "ir/error.h"
#include "ir/kernel.h"
#include "ir/target.h"

namespace reprise {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

void run(const std::string& text, std::vector<void*> buffers, std::vector<uint64_t> params = {},
         LaunchStatus* status = nullptr, bool fused = true) {
  const Kernel kernel = parse_kernel(text);
  verify(kernel);
  interpret(kernel, {fused}, buffers, params, status);
}

std::string reduce_text(const std::string& kind, const std::string& dtype, const std::string& to,
                        size_t rows, size_t n) {
  const std::string r = std::to_string(rows), c = std::to_string(n);
  return "kernel { input b0: " + dtype + "[" + std::to_string(rows * n) + "] output b1: " + to +
         "[" + r + "] phase { part grid [" + r + "] { loop parallel [] reduce [" + c +
         "] { %0 = load b0[g0*" + c + " + r0] : " + dtype + " reduce " + kind + " %0 : " + to +
         " } post { %0 = reduced 0 : " + to + " store b1[g0], %0 } } } }";
}

// 64 strided partials, then the halving tree: the order every backend follows.
float defined_sum(const std::vector<float>& values) {
  std::vector<float> partials;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i < 64) {
      partials.push_back(values[i]);
    } else {
      partials[i % 64] += values[i];
    }
  }
  for (size_t half = 32; half > 0; half /= 2) {
    for (size_t p = 0; p < half && p + half < partials.size(); ++p)
      partials[p] += partials[p + half];
    if (partials.size() > half) partials.resize(half);
  }
  return partials[0];
}

TEST(KernelInterpret, SumsInTheDefinedOrder) {
  for (const size_t n : {1, 2, 31, 32, 33, 63, 64, 65, 100, 128, 257, 1000, 16384}) {
    std::vector<float> in(3 * n);
    for (size_t i = 0; i < in.size(); ++i) in[i] = std::sin(static_cast<float>(i)) * 1e3f;
    std::vector<float> out(3);
    run(reduce_text("sum", "f32", "f32", 3, n), {in.data(), out.data()});
    for (size_t row = 0; row < 3; ++row) {
      const std::vector<float> part(in.begin() + row * n, in.begin() + (row + 1) * n);
      EXPECT_EQ(out[row], defined_sum(part)) << n;
    }
  }
}

TEST(KernelInterpret, ASumOfMinusZeroStaysMinusZero) {
  std::vector<float> in(5, -0.0f);
  float out = 1;
  run(reduce_text("sum", "f32", "f32", 1, 5), {in.data(), &out});
  EXPECT_EQ(out, 0);
  EXPECT_TRUE(std::signbit(out));
}

// FP-01: wherever the NaN stands.
TEST(KernelInterpret, MinAndMaxPropagateNan) {
  for (size_t n = 1; n < 67; ++n) {
    std::vector<float> in(n * n, 1);
    for (size_t p = 0; p < n; ++p) in[p * n + p] = kNan;
    std::vector<float> out(n);
    for (const char* kind : {"max", "min"}) {
      run(reduce_text(kind, "f32", "f32", n, n), {in.data(), out.data()});
      for (size_t p = 0; p < n; ++p) EXPECT_TRUE(std::isnan(out[p])) << n << ' ' << p;
    }
  }
}

// FP-02: first NaN, else the first extreme; always a valid index.
TEST(KernelInterpret, ArgumentsOfExtremes) {
  const auto argument = [](const char* kind, std::vector<float> in) {
    int64_t out = -1;
    run(reduce_text(kind, "f32", "i64", 1, in.size()), {in.data(), &out});
    return out;
  };
  EXPECT_EQ(argument("argmax", {kNan, 4.6151f}), 0);
  EXPECT_EQ(argument("argmax", {1, kNan, 3, kNan}), 1);
  EXPECT_EQ(argument("argmax", {3, 1, 3}), 0);
  EXPECT_EQ(argument("argmax", {kNan, kNan}), 0);
  EXPECT_EQ(argument("argmax", {-kInf, -kInf}), 0);
  EXPECT_EQ(argument("argmin", {1, kNan, 3}), 1);
  EXPECT_EQ(argument("argmin", {2, 1, 1, 3}), 1);
  EXPECT_EQ(argument("argmax", {-0.0f, 0.0f}), 0);
  std::vector<float> many(100000);
  many[7] = many[99993] = 5;
  EXPECT_EQ(argument("argmax", many), 7);
}

TEST(KernelInterpret, EmptyReductionsGiveTheIdentity) {
  const auto identity = [](const char* kind) {
    float in = 7;
    std::vector<float> out(3, 9);
    run(reduce_text(kind, "f32", "f32", 3, 0), {&in, out.data()});
    EXPECT_EQ(out[0], out[2]);
    return out[1];
  };
  EXPECT_EQ(identity("sum"), 0);
  EXPECT_EQ(identity("prod"), 1);
  EXPECT_EQ(identity("max"), -kInf);
  EXPECT_EQ(identity("min"), kInf);
}

TEST(KernelInterpret, IntegerSumsWrapAtTheirDtype) {
  std::vector<int64_t> in(3, INT64_MAX);
  int64_t out = 0;
  run(reduce_text("sum", "i64", "i64", 1, 3), {in.data(), &out});
  EXPECT_EQ(out, INT64_MAX - 2);
}

// Softmax of each row in one part: rows live in a local between the stages of a grid point.
TEST(KernelInterpret, StagesShareLocalsOfTheirGridPoint) {
  const char* text = R"(kernel {
    input b0: f32[5000]
    output b1: f32[5000]
    local b2: f32[1]
    local b3: f32[10]
    local b4: f32[1]
    phase { part grid [500] {
      loop parallel [] reduce [10] {
        %0 = load b0[g0*10 + r0] : f32
        reduce max %0 : f32
      } post {
        %0 = reduced 0 : f32
        store b2[0], %0
      }
      loop parallel [10] reduce [] {
        %0 = load b0[g0*10 + i0] : f32
        %1 = load b2[0] : f32
        %2 = sub %0, %1 : f32
        %3 = exp %2 : f32
        store b3[i0], %3
      }
      loop parallel [] reduce [10] {
        %0 = load b3[r0] : f32
        reduce sum %0 : f32
      } post {
        %0 = reduced 0 : f32
        store b4[0], %0
      }
      loop parallel [10] reduce [] {
        %0 = load b3[i0] : f32
        %1 = load b4[0] : f32
        %2 = div %0, %1 : f32
        store b1[g0*10 + i0], %2
      }
    } } })";
  std::vector<float> in(5000), out(5000);
  for (size_t i = 0; i < in.size(); ++i) in[i] = std::cos(static_cast<float>(i)) * 4;
  run(text, {in.data(), out.data()});
  for (size_t row = 0; row < 500; ++row) {
    double sum = 0, total = 0;
    for (size_t i = 0; i < 10; ++i) sum += std::exp(static_cast<double>(in[row * 10 + i]));
    for (size_t i = 0; i < 10; ++i) {
      EXPECT_NEAR(out[row * 10 + i], std::exp(static_cast<double>(in[row * 10 + i])) / sum, 1e-6);
      total += out[row * 10 + i];
    }
    EXPECT_NEAR(total, 1, 1e-6);
  }
}

// A later phase sees all that an earlier one wrote, whatever part wrote it.
TEST(KernelInterpret, PhasesAreOrdered) {
  const char* text = R"(kernel {
    output b0: i64[1]
    scratch b1: i64[8]
    phase {
      part grid [4] { loop parallel [] reduce [] { %0 = index g0 store b1[g0], %0 } }
      part grid [2] { loop parallel [] reduce [] { %0 = const 100 : i64 } }
    }
    phase {
      part grid [4] { loop parallel [] reduce [] { %0 = load b1[-g0 + 3] : i64 store b1[g0 + 4], %0 } }
    }
    phase {
      part grid [] {
        loop parallel [] reduce [4] { %0 = load b1[r0 + 4] : i64 %1 = index r0 %2 = mul %0, %1 : i64
          reduce sum %2 : i64 } post { %0 = reduced 0 : i64 store b0[0], %0 }
      }
    } })";
  std::vector<int64_t> scratch(8, -1);
  int64_t out = 0;
  // The second phase writes what it does not read: elements 4..7.
  const Kernel kernel = parse_kernel(text);
  interpret(kernel, {}, std::vector<void*>{&out, scratch.data()}, {});
  EXPECT_EQ(out, 0 * 3 + 1 * 2 + 2 * 1 + 3 * 0);
}

std::string contraction_text(int m, int n, int k, const char* dtype) {
  const auto s = [](int v) { return std::to_string(v); };
  return "kernel { input b0: " + std::string(dtype) + "[" + s(m * k) + "] input b1: " + dtype +
         "[" + s(k * n) + "] output b2: " + dtype + "[" + s(m * n) +
         "] phase { part grid [] { contraction " + "parallel [" + s(m) + ", " + s(n) +
         "] reduce [" + s(k) + "] { %0 = load b0[i0*" + s(k) + " + r0] : " + dtype +
         " %1 = load b1[r0*" + s(n) + " + i1] : " + dtype + " reduce dot %0, %1 : " + dtype +
         " } post { %0 = reduced 0 : " + dtype + " store b2[i0*" + s(n) + " + i1], %0 } } } }";
}

// A chain of multiply-adds over k ascending, from +0.
TEST(KernelInterpret, ContractionsChainOverK) {
  const int m = 5, n = 7, k = 300;
  std::vector<float> a(m * k), b(k * n), c(m * n);
  for (size_t i = 0; i < a.size(); ++i) a[i] = std::sin(static_cast<float>(i));
  for (size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<float>(3 * i));
  for (const bool fused : {true, false}) {
    run(contraction_text(m, n, k, "f32"), {a.data(), b.data(), c.data()}, {}, nullptr, fused);
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int l = 0; l < k; ++l) {
          const float x = a[i * k + l], y = b[l * n + j];
          sum = fused ? std::fma(x, y, sum) : sum + x * y;
        }
        EXPECT_EQ(c[i * n + j], sum);
      }
    }
  }
}

// MM-01: no elements give zeros, on dirtied memory too.
TEST(KernelInterpret, ContractionOfNothingGivesZero) {
  std::vector<float> c(16, 9);
  run(contraction_text(4, 4, 0, "f32"), {nullptr, nullptr, c.data()});
  for (const float v : c) EXPECT_EQ(v, 0);
}

TEST(KernelInterpret, IntegerContractionsWrap) {
  std::vector<int32_t> a(4, 2147483647), b(4, 2);
  int32_t c = 0;
  run(contraction_text(1, 1, 4, "i32"), {a.data(), b.data(), &c});
  EXPECT_EQ(c, -8);
}

TEST(KernelInterpret, ParametersAreReadAtLaunch) {
  const char* text = R"(kernel { input b0: f32[4] output b1: f32[4] param p0: f32
    phase { part grid [4] { loop parallel [] reduce [] {
      %0 = load b0[g0] : f32 %1 = param p0 : f32 %2 = mul %0, %1 : f32 store b1[g0], %2 } } } })";
  std::vector<float> in{1, 2, 3, 4}, out(4);
  run(text, {in.data(), out.data()}, {std::bit_cast<uint32_t>(2.5f)});
  EXPECT_EQ(out, (std::vector<float>{2.5f, 5, 7.5f, 10}));
}

TEST(KernelInterpret, GathersClampAndReport) {
  const char* text = R"(kernel { input b0: f32[10] input b1: i64[3] output b2: f32[3]
    phase { part grid [3] { loop parallel [] reduce [] {
      %0 = load b1[g0] : i64 %1 = check_index %0 below 10 : i64 %2 = load b0[%1] : f32
      store b2[g0], %2 } } } })";
  std::vector<float> table(10), out(3);
  std::iota(table.begin(), table.end(), 0.0f);
  std::vector<int64_t> indices{4, 11, -2};
  LaunchStatus status;
  run(text, {table.data(), indices.data(), out.data()}, {}, &status);
  EXPECT_EQ(out, (std::vector<float>{4, 9, 0}));
  EXPECT_EQ(status.failed, 1);
  EXPECT_EQ(status.index, 11);
  EXPECT_EQ(status.extent, 10);
}

// A sequence runs its steps in order; an index that comes again finds what was stored before.
TEST(KernelInterpret, SequencesStoreInOrder) {
  const char* text = R"(kernel { input b0: i64[5] input b1: f32[10] output b2: f32[6]
    phase { part grid [6] { loop parallel [] reduce [] { %0 = const 1 : f32 store b2[g0], %0 } } }
    phase { part grid [2] { sequence parallel [] reduce [5] {
      %0 = load b0[r0] : i64 %1 = check_index %0 below 3 : i64 %2 = const 2 : i64
      %3 = mul %1, %2 : i64 %4 = load b2[g0 + %3] : f32 %5 = load b1[g0 + r0*2] : f32
      %6 = mul %4, %5 : f32 %7 = add %6, %5 : f32 store b2[g0 + %3], %7 } } } })";
  std::vector<int64_t> rows{2, 0, 2, 7, 2};
  std::vector<float> updates(10), out(6);
  std::iota(updates.begin(), updates.end(), 1.0f);
  LaunchStatus status;
  run(text, {rows.data(), updates.data(), out.data()}, {}, &status);
  std::vector<float> expected(6, 1);
  for (int r = 0; r < 5; ++r) {
    for (int g = 0; g < 2; ++g) {
      float& place = expected[std::min<int64_t>(rows[r], 2) * 2 + g];
      place = place * updates[r * 2 + g] + updates[r * 2 + g];
    }
  }
  EXPECT_EQ(out, expected);
  EXPECT_EQ(status.index, 7);
}

// What a mask hides is neither read nor written.
TEST(KernelInterpret, MasksHideElements) {
  const char* text = R"(kernel { input b0: f32[4] output b1: f32[6]
    phase { part grid [6] { loop parallel [] reduce [] {
      %0 = index g0 - 1 %1 = const 0 : i64 %2 = le %1, %0 : bool %3 = const 3 : i64
      %4 = le %0, %3 : bool %5 = and %2, %4 : bool
      %6 = load b0[g0 - 1] where %5 : f32 store b1[g0], %6 } } } })";
  std::vector<float> in{1, 2, 3, 4}, out(6, 9);
  run(text, {in.data(), out.data()});
  EXPECT_EQ(out, (std::vector<float>{0, 1, 2, 3, 4, 0}));
}

// A kernel that computes a wrong offset is caught, not obeyed.
TEST(KernelInterpret, ComputedOffsetsAreChecked) {
  const Kernel kernel = parse_kernel(
      "kernel { input b0: f32[4] phase { part grid [] { loop parallel [] reduce [] { "
      "%0 = const 4 : i64 %1 = load b0[%0] : f32 } } } }");
  float in[4] = {};
  void* buffers[] = {in};
  EXPECT_THROW(interpret(kernel, {}, buffers, {}), InternalError);
}

// FP-11: products and sums of separate ops are never contracted.
TEST(KernelInterpret, SeparateOpsAreNotContracted) {
  const char* text = R"(kernel { input b0: f32[3] output b1: f32[1]
    phase { part grid [] { loop parallel [] reduce [] {
      %0 = load b0[0] : f32 %1 = load b0[1] : f32 %2 = load b0[2] : f32
      %3 = mul %0, %2 : f32 %4 = mul %1, %2 : f32 %5 = add %3, %4 : f32 store b1[0], %5 } } } })";
  float in[] = {1e20f, -1e20f, 1e10f};
  float out = 1;
  run(text, {in, &out});
  EXPECT_EQ(out, 0);
}

}  // namespace
}  // namespace reprise
