// SPIR-V of reductions, rows, contractions, parts and phases is valid and gives the interpreter's
// bits on a Vulkan device.
#include <gtest/gtest.h>

#include "ir/error.h"
#include "tests/kernel_texts.h"
#include "tests/shader_kernel.h"

namespace reprise {
namespace {

TEST(SpirvStages, ReductionsOfRowsAndColumns) {
  for (const DType dtype : {DType::F32, DType::F64, DType::I64, DType::U8}) {
    for (const std::string_view kind : {"sum", "prod", "min", "max", "argmin", "argmax"}) {
      if (kind != "argmin" && kind != "argmax" && dtype == DType::U8) continue;
      const DType result = kind.starts_with("arg") ? DType::I64 : dtype;
      for (const int extent : {3, 65, 1031}) {
        const ShaderRun run{.plain = kind == "sum" || kind == "prod"};
        expect_shader_like_interpreted(
            kernel_of_reduction(kind, dtype, result, 5, extent, extent, 1), run);
      }
    }
  }
}

/// So many neighbouring points that each is left to one invocation.
TEST(SpirvStages, WideColumnReductions) {
  for (const std::string_view kind : {"sum", "max", "argmin"}) {
    const DType result = kind == "argmin" ? DType::I64 : DType::F32;
    for (const int extent : {33, 150}) {
      expect_shader_like_interpreted(
          kernel_of_reduction(kind, DType::F32, result, 4100, extent, 1, 4100));
    }
  }
}

TEST(SpirvStages, EmptyReductionsGiveTheIdentity) {
  for (const std::string_view kind : {"sum", "prod", "min", "max"}) {
    for (const DType dtype : {DType::F32, DType::I64, DType::I32}) {
      expect_shader_like_interpreted(kernel_of_reduction(kind, dtype, dtype, 5, 0, 0, 1));
    }
  }
}

TEST(SpirvStages, SpecialValuesInReductions) {
  for (const int extent : {1, 2, 5, 17, 31, 63, 64, 67}) {
    for (const std::string_view kind : {"sum", "min", "max", "argmin", "argmax"}) {
      const DType result = kind.starts_with("arg") ? DType::I64 : DType::F32;
      expect_shader_like_interpreted(
          kernel_of_reduction(kind, DType::F32, result, 40, extent, extent, 1),
          {.seed = static_cast<uint64_t>(extent)});
    }
  }
}

TEST(SpirvStages, ReductionsOverSeveralLoops) {
  for (const auto& [a, c] : {std::pair{3, 5}, {7, 64}, {9, 33}}) {
    expect_shader_like_interpreted(kernel_of_loops(a, c), {.plain = true});
  }
}

/// Rows in workgroup memory; the longest one of them does not fit there.
TEST(SpirvStages, StagesThatShareLocalBuffers) {
  for (const int n : {1, 3, 10, 64, 77, 300, 20000}) {
    expect_shader_like_interpreted(kernel_of_rows(n), {.plain = true});
  }
}

/// Two groups at a time have room for their locals in the scratch and take turns over five points.
TEST(SpirvStages, GroupsThatShareScratch) {
  expect_shader_like_interpreted(R"(kernel {
    input b0: f32[5]
    output b1: f32[350]
    local b2: f32[6000000]
    local b3: f64[3]
    phase { part grid [5] {
      loop parallel [70] reduce [] {
        %0 = load b0[g0] : f32
        %1 = index i0
        %2 = cast %1 : f32
        %3 = mul %0, %2 : f32
        store b2[i0*80000 + 1], %3
      }
      loop parallel [3] reduce [70] {
        %0 = load b2[r0*80000 + 1] : f32
        %1 = cast %0 : f64
        reduce sum %1 : f64
      } post {
        %0 = reduced 0 : f64
        store b3[i0], %0
      }
      loop parallel [70] reduce [] {
        %0 = load b2[-i0*80000 + 5520001] : f32
        %1 = load b3[2] : f64
        %2 = cast %1 : f32
        %3 = sub %0, %2 : f32
        store b1[g0*70 + i0], %3
      }
    } }
  })",
                                 {.plain = true});
}

TEST(SpirvStages, StagesWithLoopsOfTheirOwn) {
  for (const int m : {1, 5, 70}) {
    for (const int n : {2, 9, 100}) {
      expect_shader_like_interpreted(
          str("kernel {\ninput b0: f32[", 3 * m * n, "]\noutput b1: f32[", 3 * m * n,
              "]\nlocal b2: f32[", m, "]\nlocal b3: i64[", m, "]\nphase { part grid [3] {\n",
              "loop parallel [", m, "] reduce [", n, "] {\n%0 = load b0[g0*", m * n, " + i0*", n,
              " + r0] : f32\nreduce sum %0 : f32\nreduce argmax %0 : i64\n} post {\n",
              "%0 = reduced 0 : f32\nstore b2[i0], %0\n%2 = reduced 1 : i64\nstore b3[i0], %2\n}\n",
              "loop parallel [", m, ", ", n, "] reduce [] {\n%0 = load b2[i0] : f32\n",
              "%1 = load b3[i0] : i64\n%2 = cast %1 : f32\n%3 = mul %0, %2 : f32\n%4 = load b0[g0*",
              m * n, " + i0*", n, " + i1] : f32\n%5 = sub %4, %3 : f32\nstore b1[g0*", m * n,
              " + i0*", n, " + i1], %5\n} } } }"));
    }
  }
}

TEST(SpirvStages, Sequences) {
  for (const auto& [columns, rows, steps] :
       {std::tuple{1, 4, 50}, {5, 4, 3}, {19, 3, 33}, {64, 4, 7}}) {
    expect_shader_like_interpreted(kernel_of_sequences(columns, rows, steps),
                                   {.index_bound = 4, .plain = true});
  }
}

TEST(SpirvStages, PartsAndPhases) {
  expect_shader_like_interpreted(kernel_of_parts_and_phases(),
                                 {.plain = true, .params = {0x40400000}});
}

std::string contraction(DType dtype, int batch, int m, int n, int k, bool turned_a, bool turned_b) {
  const int a = m * k, b = k * n, c = m * n;
  return str(
      "kernel {\ninput b0: ", dtype, "[", batch * a, "]\ninput b1: ", dtype, "[", batch * b,
      "]\ninput b2: ", dtype, "[", n, "]\noutput b3: ", dtype, "[", batch * c,
      "]\nphase { part grid [", batch, "] { contraction parallel [", m, ", ", n, "] reduce [", k,
      "] {\n%0 = load b0[g0*", a, turned_a ? " + i0 + r0*" : " + r0 + i0*", turned_a ? m : k,
      "] : ", dtype, "\n%1 = load b1[g0*", b, turned_b ? " + r0 + i1*" : " + i1 + r0*",
      turned_b ? k : n, "] : ", dtype, "\n%2 = neg %1 : ", dtype, "\nreduce dot %0, %2 : ", dtype,
      "\n} post {\n%0 = reduced 0 : ", dtype, "\n%1 = load b2[i1] : ", dtype,
      "\n%2 = add %0, %1 : ", dtype, "\nstore b3[g0*", c, " + i0*", n, " + i1], %2\n} } } }");
}

TEST(SpirvStages, Contractions) {
  struct Shape {
    int batch, m, n, k;
  };
  for (const Shape& s : {Shape{1, 1, 1, 1},
                         {1, 32, 32, 16},
                         {1, 33, 31, 17},
                         {2, 8, 70, 40},
                         {1, 65, 64, 3},
                         {3, 5, 100, 9},
                         {1, 40, 40, 0},
                         {0, 16, 16, 4}}) {
    for (const bool turned : {false, true}) {
      expect_shader_like_interpreted(
          contraction(DType::F32, s.batch, s.m, s.n, s.k, turned, !turned), {.plain = true});
    }
    expect_shader_like_interpreted(contraction(DType::F32, s.batch, s.m, s.n, s.k, false, false));
  }
  for (const DType dtype : {DType::F64, DType::I32, DType::U8, DType::I64}) {
    expect_shader_like_interpreted(contraction(dtype, 2, 35, 37, 21, false, false));
  }
}

}  // namespace
}  // namespace reprise
