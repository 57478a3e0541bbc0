// Graphs with transfers: what they are cut into, and that the joined plan computes what they say.
#include "passes/partition.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "compiler/partitioned.h"
#include "ir/error.h"
#include "ir/kernel.h"
#include "tests/graph_samples.h"
#include "tests/plan_runner.h"
#include "tests/program.h"
#include "tests/random_program.h"

namespace reprise {
namespace {

const TargetInfo& any_target(uint32_t) {
  static const TargetInfo target;
  return target;
}

/// Compiles a graph and compares what its plan computes with what `meaning` gives.
PartitionedGraph expect_computed(const Graph& graph, std::span<const uint32_t> output_devices,
                                 const Graph& meaning) {
  verify(graph);
  PartitionedGraph compiled = compile_partitioned(graph, output_devices, any_target, {});
  std::vector<Kernel> kernels;
  for (const auto& piece : compiled.pieces) {
    kernels.insert(kernels.end(), piece.compiled.kernels.begin(), piece.compiled.kernels.end());
  }
  verify(compiled.plan, kernels);
  EXPECT_EQ(parse_plan(print(compiled.plan)), compiled.plan);

  const GraphInputs inputs = sample_inputs(meaning, 1);
  const std::vector<Bytes> expected = interpret(meaning, inputs);
  std::vector<Bytes> outputs = unwritten_outputs(graph);
  outputs.resize(std::max<size_t>(outputs.size(), num_outputs(compiled.plan)));
  for (const Slot& slot : compiled.plan.slots) {
    if (slot.kind == SlotKind::Output) outputs[slot.index].resize(static_cast<size_t>(slot.bytes));
  }
  std::vector<void*> input_pointers, output_pointers;
  for (const void* pointer : inputs.pointers) {
    input_pointers.push_back(const_cast<void*>(pointer));
  }
  for (Bytes& output : outputs) output_pointers.push_back(output.data());
  interpret(compiled.plan, kernels, Numerics{}, input_pointers, output_pointers, inputs.parameters);
  copy_aliases(graph, compiled.plan, inputs, outputs);
  for (uint32_t o = 0; o < graph.outputs().size(); ++o) {
    const std::string found =
        difference(graph[graph.outputs()[o]].type.dtype, expected[o], outputs[o]);
    EXPECT_EQ(found, "") << "output " << o << " of\n" << print(graph) << print(compiled.plan);
  }
  return compiled;
}

PartitionedGraph expect_computed(std::string_view text, std::vector<uint32_t> output_devices) {
  const Graph graph = parse_graph(text);
  return expect_computed(graph, output_devices, graph);
}

/// The same values, each computed on some device, with the transfers that this takes.
Graph scattered(const Graph& graph, std::mt19937& random, std::vector<uint32_t>& output_devices) {
  constexpr uint32_t kDevices = 3;
  Graph result;
  std::vector<std::array<NodeId, kDevices>> places(graph.size());
  std::vector<uint32_t> homes(graph.size());
  const auto on = [&](NodeId node, uint32_t device) {
    NodeId& place = places[node.index][device];
    if (place.valid()) return place;
    const uint32_t home = homes[node.index];
    return place = result.add({Op::Transfer,
                               graph[node].type,
                               {places[node.index][home]},
                               Attrs().add_int(home).add_int(device)});
  };
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph[NodeId{i}];
    // Neighbours are often together.
    homes[i] = random() % 3 == 0 || i == 0 ? random() % kDevices : homes[i - 1];
    Node copy = node;
    for (NodeId& operand : copy.operands) operand = on(operand, homes[i]);
    places[i][homes[i]] = result.add(std::move(copy));
  }
  output_devices.clear();
  for (const NodeId output : graph.outputs()) {
    output_devices.push_back(homes[output.index]);
    result.add_output(places[output.index][homes[output.index]]);
  }
  return result;
}

TEST(Partition, RandomProgramsOverThreeDevicesMeanTheSame) {
  std::mt19937 random(7);
  size_t pieces = 0, transfers = 0;
  for (uint64_t seed = 0; seed < 500 && !::testing::Test::HasFailure(); ++seed) {
    const Graph graph = with_forward_strides(random_program(seed).graph);
    std::vector<uint32_t> devices;
    const Graph cut = scattered(graph, random, devices);
    const PartitionedGraph compiled = expect_computed(cut, devices, graph);
    pieces += compiled.pieces.size();
    transfers += compiled.plan.transfers.size();
  }
  EXPECT_GT(pieces, 1000u);
  EXPECT_GT(transfers, 1000u);
}

TEST(Partition, CutsWhereTransfersAre) {
  const Graph graph = parse_graph(R"(graph {
    %0 = input {index=0, strides=[]} : f32[4]
    %1 = exp %0 : f32[4]
    %2 = transfer %1 {from=0, to=1} : f32[4]
    %3 = exp %2 : f32[4]
    return %1, %3
  })");
  EXPECT_TRUE(has_transfers(graph));
  const std::vector<uint32_t> devices = {0, 1};
  const Partition parts = partition(graph, devices);
  ASSERT_EQ(parts.pieces.size(), 2u);
  EXPECT_EQ(parts.pieces[0].device, 0u);
  EXPECT_EQ(parts.pieces[1].device, 1u);
  EXPECT_EQ(print(parts.pieces[1].graph), R"(graph {
  %0 = input {index=0, strides=[]} : f32[4]
  %1 = exp %0 : f32[4]
  return %1
}
)");
  ASSERT_EQ(parts.transfers.size(), 1u);
  EXPECT_EQ(parts.transfers[0].after, 1u);
}

TEST(Partition, ThePlanSaysWhatIsWhere) {
  const PartitionedGraph compiled = expect_computed(R"(graph {
    %0 = input {index=0, strides=[]} : f32[4]
    %1 = negative %0 : f32[4]
    %2 = transfer %1 {from=0, to=1} : f32[4]
    %3 = square %2 : f32[4]
    return %3
  })",
                                                    {1});
  EXPECT_EQ(compiled.devices, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(print(compiled.plan), R"(plan {
  kernels 2
  arena 64, 64
  s0 = input 0: f32, 16 bytes
  s1 = arena at 0: f32, 16 bytes
  s2 = arena at 0: f32, 16 bytes on 1
  s3 = output 0: f32, 16 bytes on 1
  launch k0 [s0, s1] params []
  transfer s1 offset 0 to s2
  launch k1 [s2, s3] params []
}
)");
}

// An input passes without a launch, from where it begins.
TEST(Partition, DenseViewsOfInputsAreTransferredAsTheyLie) {
  const PartitionedGraph compiled = expect_computed(R"(graph {
    %0 = input {index=0, strides=[]} : f32[4,6]
    %1 = slice %0 {starts=[2,0], steps=[1,1]} : f32[2,6]
    %2 = transfer %1 {from=0, to=1} : f32[2,6]
    %3 = exp %2 : f32[2,6]
    return %3
  })",
                                                    {1});
  EXPECT_EQ(compiled.plan.launches.size(), 1u);
  ASSERT_EQ(compiled.plan.transfers.size(), 1u);
  EXPECT_EQ(compiled.plan.transfers[0].offset, 48);
}

TEST(Partition, OtherViewsAreMadeDenseFirst) {
  for (const std::string_view view : {
           "permute %0 {order=[1,0]} : f32[6,4]",
           "slice %0 {starts=[3,5], steps=[-1,-2]} : f32[3,2]",
           "broadcast_to %0 : f32[2,4,6]",
       }) {
    const std::string type(view.substr(view.rfind("f32")));
    expect_computed(str("graph { %0 = input {index=0, strides=[]} : f32[4,6] %1 = ", view,
                        " %2 = transfer %1 {from=0, to=1} : ", type, " %3 = exp %2 : ", type,
                        " return %3, %2, %1 }"),
                    {1, 1, 0});
  }
}

// There and back: what both passes over the first device need is stored once and not transferred.
TEST(Partition, ValuesCrossAnExcursion) {
  const PartitionedGraph compiled = expect_computed(R"(graph {
    %0 = input {index=0, strides=[]} : f32[5,3]
    %1 = input {index=1, strides=[]} : f32[5,3]
    %2 = parameter {index=0} : f32[]
    %3 = exp %0 : f32[5,3]
    %4 = sum %3 {axes=[1], keepdims=1} : f32[5,1]
    %5 = transfer %4 {from=1, to=0} : f32[5,1]
    %6 = multiply %5, %1 : f32[5,3]
    %7 = multiply %6, %2 : f32[5,3]
    %8 = transfer %7 {from=0, to=1} : f32[5,3]
    %9 = permute %3 {order=[1,0]} : f32[3,5]
    %10 = permute %8 {order=[1,0]} : f32[3,5]
    %11 = add %9, %10 : f32[3,5]
    %12 = multiply %11, %2 : f32[3,5]
    return %12, %7
  })",
                                                    {1, 0});
  EXPECT_EQ(compiled.pieces.size(), 3u);
  EXPECT_EQ(compiled.plan.transfers.size(), 2u);
}

TEST(Partition, OutputsMayBeViewsOfWhatPassed) {
  expect_computed(R"(graph {
    %0 = input {index=0, strides=[]} : f32[4,6]
    %1 = transfer %0 {from=0, to=1} : f32[4,6]
    %2 = permute %1 {order=[1,0]} : f32[6,4]
    %3 = transfer %1 {from=1, to=2} : f32[4,6]
    %4 = exp %3 : f32[4,6]
    %5 = transfer %4 {from=2, to=0} : f32[4,6]
    return %1, %2, %3, %4, %5, %0
  })",
                  {1, 1, 2, 2, 0, 0});
}

// What reads no data has no device: every piece that needs it computes it.
TEST(Partition, ConstantsAreEverywhere) {
  expect_computed(R"(graph {
    %0 = input {index=0, strides=[]} : f32[8]
    %1 = iota {axis=0} : f32[8]
    %2 = constant {value=2} : f32[]
    %3 = multiply %1, %2 : f32[8]
    %4 = add %0, %3 : f32[8]
    %5 = transfer %4 {from=0, to=1} : f32[8]
    %6 = add %5, %3 : f32[8]
    %7 = transfer %3 {from=0, to=1} : f32[8]
    %8 = add %6, %7 : f32[8]
    return %8
  })",
                  {1});
}

TEST(Partition, NothingAtAllPassesToo) {
  expect_computed(R"(graph {
    %0 = input {index=0, strides=[]} : f32[0,3]
    %1 = exp %0 : f32[0,3]
    %2 = transfer %1 {from=0, to=1} : f32[0,3]
    %3 = sum %2 {axes=[0], keepdims=0} : f32[3]
    return %3, %2
  })",
                  {1, 1});
}

// An input that a later piece reads too is not overwritten by an earlier one.
TEST(Partition, OnlyTheLastReaderTakesOverStorage) {
  const PartitionedGraph kept = expect_computed(R"(graph {
    %0 = input {index=0, strides=[]} : f32[16]
    %1 = exp %0 : f32[16]
    %2 = transfer %1 {from=0, to=1} : f32[16]
    %3 = exp %2 : f32[16]
    %4 = transfer %3 {from=1, to=0} : f32[16]
    %5 = add %4, %0 : f32[16]
    return %1, %5
  })",
                                                {0, 0});
  ASSERT_EQ(kept.plan.donations.size(), 1u);
  EXPECT_EQ(kept.plan.donations[0], (Donation{0, 1}));
}

TEST(Partition, CheckpointsAndWhatComesAfterThemAreCut) {
  expect_computed(R"(graph {
    %0 = input {index=0, strides=[]} : f32[4]
    %1 = exp %0 : f32[4]
    %2 = checkpoint %1, %0 : f32[4]
    %3 = transfer %2 {from=0, to=1} : f32[4]
    %4 = exp %3 : f32[4]
    %5 = transfer %4 {from=1, to=0} : f32[4]
    %6 = after %0, %5 : f32[4]
    %7 = exp %6 : f32[4]
    %8 = after %7, %1 : f32[4]
    %9 = multiply %8, %5 : f32[4]
    return %9
  })",
                  {0});
}

TEST(Partition, AValueIsWhereItsTransferBringsIt) {
  const Graph graph = parse_graph(R"(graph {
    %0 = input {index=0, strides=[]} : f32[4]
    %1 = transfer %0 {from=0, to=1} : f32[4]
    return %1
  })");
  const std::vector<uint32_t> elsewhere = {0};
  EXPECT_THROW(static_cast<void>(partition(graph, elsewhere)), DeviceError);
  const Graph nowhere = parse_graph(R"(graph {
    %0 = input {index=0, strides=[]} : f32[4]
    %1 = transfer %0 {from=0, to=99} : f32[4]
    return %1
  })");
  EXPECT_THROW(static_cast<void>(partition(nowhere, elsewhere)), DeviceError);
}

}  // namespace
}  // namespace reprise
