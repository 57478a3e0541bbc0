// Kernels that graphs are really compiled to, as SPIR-V: valid for every op and dtype, and the
// interpreter's bits on a Vulkan device.
//
// A third of the dtypes of each sample is looked at, a few of them run on the device;
// REPRISE_TEST_FULL=1 runs all.
#include <gtest/gtest.h>

#include <cstdlib>

#include "compiler/pipeline.h"
#include "ir/builder.h"
#include "ir/error.h"
#include "ir/graph.h"
#include "ir/op.h"
#include "tests/random_program.h"
#include "tests/shader_kernel.h"

namespace reprise {
namespace {

/// The sample's op on inputs, with every F32 and I32 of it turned into `dtype`. Throws an Error
/// where the op does not take it.
Graph graph_of(Op op, const Sample& sample, DType dtype) {
  Graph graph;
  GraphBuilder builder(graph);
  std::vector<Value> operands;
  for (const SampleOperand& operand : sample.operands) {
    TensorType type = operand.type;
    if (type.dtype == DType::F32 || type.dtype == DType::I32) type.dtype = dtype;
    operands.push_back(builder.input(type, static_cast<uint32_t>(operands.size())));
  }
  TensorType result = sample.result;
  if (result.dtype == DType::F32) result.dtype = dtype;
  builder.output(builder.record(op, operands, sample.attrs, &result));
  return graph;
}

void expect_graph_like_interpreted(const Graph& graph, const ShaderRun& run) {
  const CompiledGraph compiled = compile(graph, plain_vulkan_target(), {});
  for (const Kernel& kernel : compiled.kernels) expect_shader_like_interpreted(kernel, run);
}

TEST(SpirvGraph, EveryOpAndDtype) {
  const bool full = std::getenv("REPRISE_TEST_FULL") != nullptr;
  constexpr int kRotation = 23;  // of 13 dtypes: about every second sample runs with one
  int cases = 0;
  for (int k = 0; k < num_ops(); ++k) {
    const Op op = static_cast<Op>(k);
    if (op_def(op).samples == nullptr) continue;
    int number = k;
    for (const Sample& sample : op_def(op).samples()) {
      ++number;
      ShaderRun run;
      for (const SampleOperand& operand : sample.operands) {
        if (operand.fill == SampleOperand::Fill::Index) run.index_bound = operand.bound;
      }
      for (int d = 0; d <= static_cast<int>(DType::F64); ++d) {
        run.validate_only = !full && d != number % kRotation;
        if (!full && run.validate_only && d % 3 != number % 3) continue;
        run.seed = static_cast<uint64_t>(number);
        Graph graph;
        try {
          graph = graph_of(op, sample, static_cast<DType>(d));
        } catch (const Error&) {
          continue;
        }
        SCOPED_TRACE(print(graph));
        expect_graph_like_interpreted(graph, run);
        ++cases;
        if (HasFatalFailure()) return;
      }
    }
  }
  EXPECT_GT(cases, 500);
}

TEST(SpirvGraph, RowsOfASoftmaxAndALayerNorm) {
  for (const int n : {7, 100, 1000}) {
    expect_graph_like_interpreted(
        parse_graph(str("graph {\n%0 = input {index=0, strides=[]} : f32[6,", n,
                        "]\n%1 = max %0 {axes=[1], keepdims=1} : f32[6,1]\n"
                        "%2 = subtract %0, %1 : f32[6,",
                        n, "]\n%3 = exp %2 : f32[6,", n,
                        "]\n%4 = sum %3 {axes=[1], keepdims=1} : f32[6,1]\n"
                        "%5 = divide %3, %4 : f32[6,",
                        n, "]\nreturn %5\n}")),
        {.plain = true});
    expect_graph_like_interpreted(
        parse_graph(str("graph {\n%0 = input {index=0, strides=[]} : f32[6,", n,
                        "]\n%1 = sum %0 {axes=[1], keepdims=1} : f32[6,1]\n"
                        "%2 = constant {value=",
                        n,
                        "} : f32[]\n%3 = divide %1, %2 : f32[6,1]\n"
                        "%4 = subtract %0, %3 : f32[6,",
                        n, "]\n%5 = multiply %4, %4 : f32[6,", n,
                        "]\n%6 = sum %5 {axes=[1], keepdims=1} : f32[6,1]\n"
                        "%7 = divide %6, %2 : f32[6,1]\n%8 = parameter {index=0} : f32[]\n"
                        "%9 = add %7, %8 : f32[6,1]\n%10 = sqrt %9 : f32[6,1]\n"
                        "%11 = divide %4, %10 : f32[6,",
                        n, "]\nreturn %11\n}")),
        {.plain = true, .params = {0x3727c5ac}});
  }
}

/// A layer with its loss: a contraction with a bias, rows of the cross entropy with a gather, a
/// reduction of everything; in f32 and in half types.
TEST(SpirvGraph, AClassifiersLoss) {
  for (const char* t : {"f32", "bf16"}) {
    expect_graph_like_interpreted(
        parse_graph(str(
            "graph {\n%0 = input {index=0, strides=[]} : ", t,
            "[40,50]\n%1 = input {index=1, strides=[]} : ", t, "[50,33]\n%2 = matmul %0, %1 : ", t,
            "[40,33]\n%3 = input {index=2, strides=[]} : ", t, "[33]\n%4 = add %2, %3 : ", t,
            "[40,33]\n%5 = cast %4 {dtype=f32} : f32[40,33]\n"
            "%6 = max %5 {axes=[1], keepdims=1} : f32[40,1]\n"
            "%7 = subtract %5, %6 : f32[40,33]\n%8 = exp %7 : f32[40,33]\n"
            "%9 = sum %8 {axes=[1], keepdims=0} : f32[40]\n%10 = log %9 : f32[40]\n"
            "%11 = iota {axis=0} : i64[33]\n%12 = input {index=3, strides=[]} : i64[40]\n"
            "%13 = check_index %12 {extent=33} : i64[40]\n"
            "%14 = reshape %13 : i64[40,1]\n%15 = equal %11, %14 : bool[40,33]\n"
            "%16 = constant {value=0} : f32[]\n%17 = where %15, %7, %16 : f32[40,33]\n"
            "%18 = sum %17 {axes=[1], keepdims=0} : f32[40]\n"
            "%19 = subtract %10, %18 : f32[40]\n"
            "%20 = sum %19 {axes=[0], keepdims=0} : f32[]\nreturn %20, %4\n}")),
        {.index_bound = 16, .plain = true});
  }
}

TEST(SpirvGraph, LongReductionsInBlocks) {
  expect_graph_like_interpreted(
      parse_graph("graph {\n%0 = input {index=0, strides=[]} : f32[40000]\n"
                  "%1 = sum %0 {axes=[0], keepdims=0} : f32[]\n"
                  "%2 = argmax %0 {axes=[0], keepdims=0} : i64[]\nreturn %1, %2\n}"),
      {.plain = true});
}

TEST(SpirvGraph, RandomGraphs) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const Graph graph = with_forward_strides(random_program(seed).graph);
    SCOPED_TRACE(print(graph));
    expect_graph_like_interpreted(graph,
                                  {.seed = seed, .index_bound = 3, .validate_only = seed >= 8});
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace reprise
