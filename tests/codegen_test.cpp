// Compiled scalar operations, loops and accesses give the interpreter's bits on every target.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "compiler/pipeline.h"
#include "compiler/schedule.h"
#include "ir/error.h"
#include "tests/compiled_kernel.h"
#include "tests/kernel_texts.h"

namespace reprise {
namespace {

TEST(Codegen, Operations) {
  for (const std::string& kernel : kernels_of_operations())
    expect_compiled_like_interpreted(kernel);
}

TEST(Codegen, EverySizeAroundAVector) {
  for (const int count :
       {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 1000, 4099}) {
    expect_compiled_like_interpreted(kernel_of_ops(DType::F32, {"add %0, %1"}, count));
    expect_compiled_like_interpreted(kernel_of_ops(DType::I8, {"add %0, %1"}, count));
  }
}

/// Each stride along the vector axis: contiguous, broadcast, reversed, strided, computed, masked.
TEST(Codegen, Accesses) {
  for (const int n : {1, 5, 19, 64, 203}) {
    expect_compiled_like_interpreted(kernel_of_accesses(n), {.index_bound = 4});
  }
}

TEST(Codegen, ReductionsOfRowsAndColumns) {
  for (const DType dtype : {DType::F32, DType::F64, DType::I64, DType::U8}) {
    for (const std::string_view kind : {"sum", "prod", "min", "max", "argmin", "argmax"}) {
      if (kind != "argmin" && kind != "argmax" && dtype == DType::U8) continue;
      const DType result = kind.starts_with("arg") ? DType::I64 : dtype;
      for (const int extent : {3, 65, 1031}) {
        const KernelRun run{.plain = kind == "sum" || kind == "prod"};
        expect_compiled_like_interpreted(
            kernel_of_reduction(kind, dtype, result, 5, extent, extent, 1), run);
        expect_compiled_like_interpreted(
            kernel_of_reduction(kind, dtype, result, 37, extent, 1, 37), run);
      }
    }
  }
}

TEST(Codegen, EmptyReductionsGiveTheIdentity) {
  for (const std::string_view kind : {"sum", "prod", "min", "max"}) {
    for (const DType dtype : {DType::F32, DType::I64, DType::I32}) {
      expect_compiled_like_interpreted(kernel_of_reduction(kind, dtype, dtype, 5, 0, 0, 1));
    }
  }
}

/// Case FP-01: a NaN is found in every lane and at every length.
TEST(Codegen, SpecialValuesInReductions) {
  for (const int extent : {1, 2, 5, 8, 17, 31, 63, 64, 67}) {
    for (const std::string_view kind : {"sum", "min", "max", "argmin", "argmax"}) {
      const DType result = kind.starts_with("arg") ? DType::I64 : DType::F32;
      expect_compiled_like_interpreted(
          kernel_of_reduction(kind, DType::F32, result, 40, extent, extent, 1),
          {.seed = static_cast<uint64_t>(extent)});
    }
  }
}

TEST(Codegen, ReductionsOverSeveralLoops) {
  for (const auto& [a, c] : {std::pair{3, 5}, {7, 64}, {9, 33}, {2, 128}}) {
    expect_compiled_like_interpreted(kernel_of_loops(a, c), {.plain = true});
  }
}

/// Axes, lanes, vectors in flight and tasks change speed, never a bit.
TEST(Codegen, EveryScheduleOfReductions) {
  std::mt19937 random(11);
  const auto pick = [&](std::initializer_list<int> values) {
    return values.begin()[random() % values.size()];
  };
  const std::string_view kinds[] = {"sum", "max", "argmax", "prod", "min"};
  for (int round = 0; round < 60; ++round) {
    const std::string_view kind = kinds[round % 5];
    const int rows = pick({1, 6, 19, 40});
    const int extent = pick({1, 7, 64, 100, 321});
    const bool across = pick({0, 1}) != 0;
    const DType dtype = pick({0, 1}) != 0 ? DType::F32 : DType::F64;
    PartSchedule part;
    part.vector_axis = across ? VectorAxis::Grid : VectorAxis::Loop;
    part.vector_lanes = pick({1, 2, 4, 8});
    part.unroll = pick({1, 2, 4});
    part.task_points = pick({1, 5, 16, 1000});
    const std::string text =
        kernel_of_reduction(kind, dtype, kind == "argmax" ? DType::I64 : dtype, rows, extent,
                            across ? 1 : extent, across ? rows : 1);
    expect_compiled_like_interpreted(text, {.schedule = Schedule{{{part}}},
                                            .seed = static_cast<uint64_t>(round),
                                            .plain = kind == "prod"});
    if (HasFatalFailure()) return;
  }
}

/// Softmax: stages of one grid point share rows in local memory.
TEST(Codegen, StagesThatShareLocalBuffers) {
  for (const int n : {1, 10, 64, 77, 300}) {
    const std::string text = kernel_of_rows(n);
    expect_compiled_like_interpreted(text, {.plain = true});
    for (const VectorAxis axis : {VectorAxis::None, VectorAxis::Grid, VectorAxis::Loop}) {
      KernelRun run{.plain = true};
      run.schedule =
          Schedule{{{{.vector_axis = axis, .vector_lanes = 4, .unroll = 2, .task_points = 2}}}};
      expect_compiled_like_interpreted(text, run);
    }
  }
}

/// Repeated rows add up in one order, whatever runs side by side.
TEST(Codegen, Sequences) {
  for (const auto& [columns, rows, steps] :
       {std::tuple{1, 1, 1}, {1, 4, 50}, {5, 4, 3}, {19, 3, 33}, {64, 4, 7}}) {
    const std::string text = kernel_of_sequences(columns, rows, steps);
    expect_compiled_like_interpreted(text, {.index_bound = 4});
    for (const VectorAxis axis : {VectorAxis::None, VectorAxis::Grid, VectorAxis::Loop}) {
      const PartSchedule part{
          .vector_axis = axis, .vector_lanes = 4, .unroll = 2, .task_points = 2};
      expect_compiled_like_interpreted(
          text, {.schedule = Schedule{{{part}, {part, part}}}, .index_bound = 4});
    }
  }
}

TEST(Codegen, PartsAndPhases) {
  expect_compiled_like_interpreted(kernel_of_parts_and_phases(), {.params = {0x40400000}});
}

/// Stores past the caches, where rows begin on whole vectors and where they do not.
TEST(Codegen, StreamingStores) {
  for (const std::string_view dtype : {"f32", "f64", "i32", "i16", "u8", "bool"}) {
    for (const int64_t columns : {64, 37, 40}) {
      for (const VectorAxis axis : {VectorAxis::Grid, VectorAxis::Loop}) {
        const int64_t count = 64 * columns;  // outputs begin at 64 bytes
        const bool grid = axis == VectorAxis::Grid;
        const std::string text =
            str("kernel {\ninput b0: ", dtype, "[", count, "]\noutput b1: ", dtype, "[", count,
                "]\nphase { part grid [64", grid ? str(", ", columns) : "", "] { loop parallel [",
                grid ? "" : str(columns), "] reduce [] {\n%0 = load b0[g0*", columns, " + ",
                grid ? "g1" : "i0", "] : ", dtype, "\nstore b1[g0*", columns, " + ",
                grid ? "g1" : "i0", "], %0\n} } } }");
        const PartSchedule part{.vector_axis = axis,
                                .vector_lanes = 8,
                                .unroll = 2,
                                .task_points = 5,
                                .streaming_stores = true};
        expect_compiled_like_interpreted(text, {.schedule = Schedule{{{part}}}});
      }
    }
  }
}

/// The disk cache compares bytes, and several threads compile at once.
TEST(Codegen, SameKernelSameBytesFromEveryThread) {
  const Kernel kernel =
      parse_kernel(kernel_of_reduction("sum", DType::F32, DType::F32, 40, 100, 100, 1));
  const TargetInfo target = runnable_targets().back();
  const Schedule schedule = choose_schedule(kernel, target);
  const KernelCode expected = llvm_backend().generate(kernel, schedule, target);
  std::vector<KernelCode> codes(4);
  std::vector<std::thread> threads;
  for (KernelCode& code : codes) {
    threads.emplace_back([&] { code = llvm_backend().generate(kernel, schedule, target); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const KernelCode& code : codes) EXPECT_EQ(code.bytes, expected.bytes);
}

/// A code generator is used again; what it made before leaves no trace in what it makes.
TEST(Codegen, SameKernelSameBytesAfterOthers) {
  const TargetInfo target = runnable_targets().back();
  const auto bytes_of = [&](const Kernel& kernel) {
    return llvm_backend().generate(kernel, choose_schedule(kernel, target), target).bytes;
  };
  std::vector<Kernel> kernels{parse_kernel(kernel_of_parts_and_phases())};
  for (const char* kind : {"sum", "max", "prod"}) {
    for (const int64_t rows : {1, 40}) {
      kernels.push_back(
          parse_kernel(kernel_of_reduction(kind, DType::F32, DType::F32, rows, 100, 100, 1)));
    }
  }
  std::vector<std::vector<std::byte>> first;
  for (const Kernel& kernel : kernels) first.push_back(bytes_of(kernel));
  for (size_t i = kernels.size(); i-- > 0;) EXPECT_EQ(bytes_of(kernels[i]), first[i]) << i;
}

/// Without the instruction a fused multiply-add would be a call, and two roundings another result.
TEST(Codegen, RefusesFusedMultiplyAddWithoutTheInstruction) {
  TargetInfo target = runnable_targets().front();
  ASSERT_EQ(target.features.find("+fma"), std::string::npos);
  target.numerics.fma = true;
  const Kernel kernel = parse_kernel(kernel_of_ops(DType::F32, {"fma %0, %1, %2"}, 8));
  EXPECT_THROW(
      static_cast<void>(llvm_backend().generate(kernel, choose_schedule(kernel, target), target)),
      UnsupportedError);
}

}  // namespace
}  // namespace reprise
