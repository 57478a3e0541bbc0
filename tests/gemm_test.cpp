// Compiled contractions give the interpreter's bits: every layout, tile tail, dtype and epilogue.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ir/error.h"
#include "tests/compiled_kernel.h"

namespace reprise {
namespace {

struct Product {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  bool transpose_a = false, transpose_b = false, transpose_c = false;
  DType dtype = DType::F32;
};

std::string text_of(const Product& p) {
  const auto matrix = [&](int buffer, const char* first, const char* second, int64_t rows,
                          int64_t columns, bool transposed) {
    return str("b", buffer, "[g0*", rows * columns, " + ", first, "*", transposed ? 1 : columns,
               " + ", second, "*", transposed ? rows : 1, "]");
  };
  return str("kernel {\ninput b0: ", p.dtype, "[", p.batch * p.m * p.k, "]\ninput b1: ", p.dtype,
             "[", p.batch * p.k * p.n, "]\ninput b2: ", p.dtype, "[", p.n,
             "]\noutput b3: ", p.dtype, "[", p.batch * p.m * p.n, "]\nphase { part grid [", p.batch,
             "] { contraction parallel [", p.m, ", ", p.n, "] reduce [", p.k, "] {\n%0 = load ",
             matrix(0, "i0", "r0", p.m, p.k, p.transpose_a), " : ", p.dtype, "\n%1 = load ",
             matrix(1, "r0", "i1", p.k, p.n, p.transpose_b), " : ", p.dtype,
             "\nreduce dot %0, %1 : ", p.dtype, "\n} post {\n%0 = reduced 0 : ", p.dtype,
             "\n%1 = load b2[i1] : ", p.dtype, "\n%2 = add %0, %1 : ", p.dtype, "\nstore ",
             matrix(3, "i0", "i1", p.m, p.n, p.transpose_c), ", %2\n} } } }");
}

TEST(Gemm, EverySizeAroundATile) {
  for (const int64_t m : {1, 5, 7, 32}) {
    for (const int64_t n : {1, 3, 10, 16, 49}) {
      for (const int64_t k : {0, 1, 9}) {
        expect_compiled_like_interpreted(text_of({.m = m, .n = n, .k = k}), {.plain = true});
      }
    }
  }
}

TEST(Gemm, EveryLayout) {
  for (int layout = 0; layout < 8; ++layout) {
    for (const auto& [m, n, k] : {std::tuple{7, 9, 5}, {20, 33, 70}, {64, 48, 31}}) {
      expect_compiled_like_interpreted(text_of({.batch = 2,
                                                .m = m,
                                                .n = n,
                                                .k = k,
                                                .transpose_a = (layout & 1) != 0,
                                                .transpose_b = (layout & 2) != 0,
                                                .transpose_c = (layout & 4) != 0}),
                                       {.plain = true});
    }
  }
}

TEST(Gemm, EveryDtype) {
  for (const DType dtype : {DType::F64, DType::I64, DType::I32, DType::U8, DType::I16}) {
    for (int layout = 0; layout < 4; ++layout) {
      expect_compiled_like_interpreted(text_of({.m = 13,
                                                .n = 19,
                                                .k = 21,
                                                .transpose_a = (layout & 1) != 0,
                                                .transpose_b = (layout & 2) != 0,
                                                .dtype = dtype}));
    }
  }
}

/// NaN, infinities, denormals and signed zeros go through the same chain.
TEST(Gemm, SpecialValues) {
  for (const uint64_t seed : {1, 2, 3}) {
    expect_compiled_like_interpreted(text_of({.m = 11, .n = 21, .k = 7}), {.seed = seed});
  }
}

TEST(Gemm, LargerThanEveryBlock) {
  expect_compiled_like_interpreted(text_of({.m = 130, .n = 530, .k = 1030}), {.plain = true});
  expect_compiled_like_interpreted(text_of({.m = 130, .n = 200, .k = 1030, .transpose_b = true}),
                                   {.plain = true});
}

/// Tiles, packing, blocks of the depth and tasks change speed, never a bit.
TEST(Gemm, EverySchedule) {
  std::mt19937 random(7);
  const auto pick = [&](std::initializer_list<int> values) {
    return values.begin()[random() % values.size()];
  };
  for (int round = 0; round < 40; ++round) {
    const Product product{.batch = pick({1, 2}),
                          .m = pick({1, 5, 13, 26}),
                          .n = pick({7, 16, 37, 70}),
                          .k = pick({3, 16, 29, 50}),
                          .transpose_a = pick({0, 1}) != 0,
                          .transpose_b = pick({0, 1}) != 0};
    PartSchedule part;
    part.vector_axis = VectorAxis::Loop;
    part.vector_lanes = pick({1, 4, 8});
    ContractionSchedule& own = part.contractions.emplace_back();
    own.mr = pick({1, 2, 3, 6, 8});
    own.nr = part.vector_lanes * pick({1, 2, 3});
    own.kc = pick({0, 4, 8, 20});
    own.pack_a = pick({0, 1}) != 0;
    own.pack_b = pick({0, 1}) != 0;
    own.ahead = pick({0, 1, 4});
    part.task_points = pick({1, 6, 100});
    part.task_columns = pick({0, 8, 30});
    expect_compiled_like_interpreted(text_of(product),
                                     {.schedule = Schedule{{{part}}}, .plain = true});
    if (HasFatalFailure()) return;
  }
}

/// With either factor packed or not, in one block of the depth or several; all contractions of the
/// kernel's only part alike.
void expect_every_packing(const std::string& text, int64_t task_points, ContractionSchedule own) {
  const Kernel kernel = parse_kernel(text);
  const std::vector<Stage>& stages = kernel.phases[0].parts[0].stages;
  const auto contractions = std::count_if(stages.begin(), stages.end(), [](const Stage& stage) {
    return stage.kind == StageKind::Contraction;
  });
  own.nr = 8;
  own.ahead = 2;
  for (const int64_t kc : {0, 8}) {
    for (const bool pack_a : {false, true}) {
      for (const bool pack_b : {false, true}) {
        own.kc = kc;
        own.pack_a = pack_a;
        own.pack_b = pack_b;
        PartSchedule part{.vector_axis = VectorAxis::Loop,
                          .vector_lanes = 4,
                          .unroll = 2,
                          .task_points = task_points,
                          .contractions = {}};
        part.contractions.assign(contractions, own);
        KernelRun run;
        run.schedule = Schedule{{{part}}};
        expect_compiled_like_interpreted(text, run);
      }
    }
  }
}

/// Outer loops that only one factor knows: windows of images, the weights the same for all.
TEST(Gemm, EverySweep) {
  const std::string text = R"(kernel {
    input b0: f32[364]
    input b1: f32[1296]
    output b2: f32[3432]
    phase { part grid [2] {
      contraction parallel [13, 12, 11] reduce [7, 2, 2] {
        %0 = load b0[i0*28 + r0*4 + r1*2 + r2] : f32
        %1 = load b1[g0*91 + i1*12 + i2 + r0*169 + r1*13 + r2] : f32
        reduce dot %0, %1 : f32
      } post {
        %0 = reduced 0 : f32
        store b2[g0*1716 + i0*132 + i1*11 + i2], %0
      }
    } }
  })";
  for (const int64_t sweep : {1, 5, 12, 100}) {
    expect_every_packing(text, 7, {.mr = 3, .sweep = sweep});
  }
}

TEST(Gemm, VectorTimesMatrix) {
  for (const bool transposed : {false, true}) {
    expect_compiled_like_interpreted(
        text_of({.m = 1, .n = 301, .k = 77, .transpose_b = transposed}), {.plain = true});
    expect_compiled_like_interpreted(
        text_of({.m = 301, .n = 1, .k = 77, .transpose_a = transposed}), {.plain = true});
  }
}

/// Products that are stages of one grid: every point packs for all rows of its tile.
TEST(Gemm, StagesOfOneGrid) {
  const std::string text = R"(kernel {
    input b0: f32[2220]
    input b1: f32[3219]
    input b2: f32[2001]
    output b3: f32[1380]
    local b4: f32[580]
    local b5: f32[20]
    phase { part grid [3] {
      contraction parallel [20, 29] reduce [37] {
        %0 = load b0[g0*740 + i0*37 + r0] : f32
        %1 = load b1[g0*1073 + i1*37 + r0] : f32
        reduce dot %0, %1 : f32
      } post {
        %0 = reduced 0 : f32
        store b4[i0*29 + i1], %0
      }
      loop parallel [20] reduce [29] {
        %0 = load b4[i0*29 + r0] : f32
        reduce sum %0 : f32
      } post {
        %0 = reduced 0 : f32
        store b5[i0], %0
      }
      contraction parallel [20, 23] reduce [29] {
        %0 = load b4[i0*29 + r0] : f32
        %1 = load b5[i0] : f32
        %2 = div %0, %1 : f32
        %3 = load b2[g0*667 + i1 + r0*23] : f32
        reduce dot %2, %3 : f32
      } post {
        %0 = reduced 0 : f32
        store b3[g0*460 + i0*23 + i1], %0
      }
    } }
  })";
  expect_compiled_like_interpreted(text);
  expect_every_packing(text, 1, {.mr = 4});
}

}  // namespace
}  // namespace reprise
