// Schedules follow from shapes and the target: which axis is vectorized, what is packed, how much
// work a task is.
#include "compiler/schedule.h"

#include <gtest/gtest.h>

#include "ir/error.h"
#include "tests/compiled_kernel.h"

namespace reprise {
namespace {

TargetInfo avx2() {
  TargetInfo target;
  target.triple = "x86_64-unknown-linux-gnu";
  target.features = "+avx2,+fma";
  target.vector_bytes = 32;
  target.vector_registers = 16;
  return target;
}

PartSchedule only_part(const std::string& text, const TargetInfo& target) {
  const Schedule schedule = choose_schedule(parse_kernel(text), target);
  EXPECT_EQ(schedule, choose_schedule(parse_kernel(text), target));
  EXPECT_EQ(schedule, parse_schedule(print(schedule)));
  return schedule.phases.at(0).at(0);
}

std::string copy_kernel(DType dtype, int64_t count) {
  return str("kernel {\ninput b0: ", dtype, "[", count, "]\noutput b1: ", dtype, "[", count,
             "]\nphase { part grid [", count,
             "] { loop parallel [] reduce [] {\n%0 = load b0[g0] : ", dtype,
             "\nstore b1[g0], %0\n} } } }");
}

std::string sum_kernel(int64_t rows, int64_t extent, int64_t row_stride, int64_t stride) {
  return str(
      "kernel {\ninput b0: f32[", rows * extent, "]\noutput b1: f32[", rows,
      "]\nphase { part grid [", rows, "] { loop parallel [] reduce [", extent,
      "] {\n%0 = load b0[g0*", row_stride, " + r0*", stride,
      "] : f32\nreduce sum %0 : f32\n} post {\n%0 = reduced 0 : f32\nstore b1[g0], %0\n} } } }");
}

std::string product_kernel(int64_t m, int64_t n, int64_t k, bool transposed) {
  return str("kernel {\ninput b0: f32[", m * k, "]\ninput b1: f32[", k * n, "]\noutput b2: f32[",
             m * n, "]\nphase { part grid [] { contraction parallel [", m, ", ", n, "] reduce [", k,
             "] {\n%0 = load b0[i0*", k, " + r0] : f32\n%1 = load b1[r0*", transposed ? 1 : n,
             " + i1*", transposed ? k : 1,
             "] : f32\nreduce dot %0, %1 : f32\n} post {\n%0 = reduced 0 : f32\nstore b2[i0*", n,
             " + i1], %0\n} } } }");
}

TEST(Schedule, LanesFillAVectorOfTheWidestElement) {
  EXPECT_EQ(only_part(copy_kernel(DType::F32, 10000), avx2()).vector_lanes, 8);
  EXPECT_EQ(only_part(copy_kernel(DType::F64, 10000), avx2()).vector_lanes, 4);
  EXPECT_EQ(only_part(copy_kernel(DType::U8, 10000), avx2()).vector_lanes, 32);
  EXPECT_EQ(only_part(copy_kernel(DType::F32, 10000), avx512_target()).vector_lanes, 16);
}

TEST(Schedule, VectorsFollowTheContiguousAxis) {
  EXPECT_EQ(only_part(sum_kernel(100, 1000, 1000, 1), avx2()).vector_axis, VectorAxis::Loop);
  EXPECT_EQ(only_part(sum_kernel(1000, 100, 1, 1000), avx2()).vector_axis, VectorAxis::Grid);
}

TEST(Schedule, LargeWorkIsCutIntoTasksAndSmallWorkIsNot) {
  const PartSchedule large = only_part(copy_kernel(DType::F32, 1 << 24), avx2());
  EXPECT_LT(large.task_points, 1 << 20);
  EXPECT_GE(large.task_points, 4096);
  EXPECT_GE(only_part(copy_kernel(DType::F32, 1000), avx2()).task_points, 1000);
}

/// A panel is copied where it would be read with gaps, where it does not fit the cache, or where
/// narrow pieces of it lie far apart.
TEST(Schedule, PacksWhatDoesNotLieWell) {
  EXPECT_FALSE(only_part(product_kernel(64, 64, 64, false), avx2()).contractions[0].pack_b);
  EXPECT_TRUE(only_part(product_kernel(256, 256, 256, false), avx2()).contractions[0].pack_b);
  EXPECT_FALSE(
      only_part(product_kernel(256, 256, 256, false), avx512_target()).contractions[0].pack_b);
  EXPECT_TRUE(only_part(product_kernel(256, 256, 256, true), avx2()).contractions[0].pack_b);
  EXPECT_TRUE(only_part(product_kernel(1024, 1024, 1024, false), avx2()).contractions[0].pack_b);
}

/// What one tile alone passes over is read once, from memory: not copied, and few long rows of it
/// at a time.
TEST(Schedule, AMatrixThatAVectorPassesOverIsStreamed) {
  const PartSchedule plain = only_part(product_kernel(1, 4096, 4096, false), avx2());
  EXPECT_FALSE(plain.contractions[0].pack_b);
  EXPECT_EQ(plain.contractions[0].kc, 8);
  EXPECT_GE(plain.task_columns, 2048);
  const PartSchedule transposed = only_part(product_kernel(1, 4096, 4096, true), avx2());
  EXPECT_FALSE(transposed.contractions[0].pack_b);
  EXPECT_EQ(transposed.contractions[0].kc, 0);
  EXPECT_EQ(transposed.contractions[0].nr, transposed.vector_lanes);
}

TEST(Schedule, WhatTheCachesCannotHoldIsStoredPastThem) {
  EXPECT_TRUE(only_part(copy_kernel(DType::F32, 1 << 24), avx2()).streaming_stores);
  EXPECT_FALSE(only_part(copy_kernel(DType::F32, 1 << 20), avx2()).streaming_stores);
  EXPECT_FALSE(only_part(sum_kernel(1000, 100000, 1, 1000), avx2()).streaming_stores);
}

TEST(Schedule, TilesFitTheRegisters) {
  for (const TargetInfo& target : {avx2(), avx512_target()}) {
    for (const int64_t m : {1, 2, 3, 4, 5, 64, 1000}) {
      for (const int64_t n : {1, 8, 10, 64, 96, 1000}) {
        const PartSchedule part = only_part(product_kernel(m, n, 64, false), target);
        const int sums = part.contractions[0].mr * part.contractions[0].nr / part.vector_lanes;
        EXPECT_GE(sums, 1);
        EXPECT_LE(sums, target.vector_registers * 3 / 4) << m << " x " << n;
      }
    }
  }
}

}  // namespace
}  // namespace reprise
