// Every op of the table on its samples against the graph interpreter, bit for bit: computed alone
// (eager), between other ops in one kernel (fused), again with other data (cached), and frozen and
// replayed with other data.
//
// A third of the dtypes of each sample runs, one on a Vulkan device; REPRISE_TEST_FULL=1 runs all.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "frontend/tape.h"
#include "graph_samples.h"
#include "ir/builder.h"
#include "ir/error.h"
#include "runtime/runtime.h"
#include "tests/vulkan_device.h"

namespace reprise {
namespace {

using Fill = SampleOperand::Fill;

// Every so many samples of an op run: sanitizers make compiling several times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kSampleStep = 4;
#else
constexpr int kSampleStep = 1;
#endif

struct OracleCase {
  Op op;
  Sample sample;  ///< with the dtypes of this case
};

/// The sample with every F32 and I32 of it turned into `dtype`.
OracleCase with_dtype(Op op, const Sample& sample, DType dtype) {
  OracleCase result{op, sample};
  for (SampleOperand& operand : result.sample.operands) {
    DType& d = operand.type.dtype;
    if (d == DType::F32 || d == DType::I32) d = dtype;
    if (d == DType::C64 && is_pair(dtype)) d = dtype;
  }
  if (result.sample.result.dtype == DType::F32) result.sample.result.dtype = dtype;
  return result;
}

bool can_double(DType dtype) {
  return is_float(dtype) || is_integer(dtype) || is_complex(dtype);
}

enum class Around : uint8_t { Nothing, Ops };

/// The op on its operands; with ops around it they are doubled first, and the result is.
Value record(Builder& builder, const OracleCase& c, std::vector<Value> operands, Around around) {
  if (around == Around::Ops) {
    for (size_t i = 0; i < operands.size(); ++i) {
      const bool plain = c.sample.operands[i].fill != Fill::Index;
      if (plain && can_double(builder.dtype(operands[i]))) {
        operands[i] = builder.add(operands[i], operands[i]);
      }
    }
  }
  const Value result = builder.record(c.op, operands, c.sample.attrs, &c.sample.result);
  if (around == Around::Nothing || !can_double(builder.dtype(result))) return result;
  return builder.add(result, result);
}

Bytes operand_bytes(const SampleOperand& operand, std::mt19937& random) {
  const int64_t count = operand.type.shape.numel();
  if (operand.fill != Fill::Index) {
    const Draw draw = operand.fill == Fill::Extremes ? Draw::Anything : Draw::Small;
    return sample_elements(operand.type.dtype, count, draw, random);
  }
  const size_t width = size_of(operand.type.dtype);
  Bytes bytes(static_cast<size_t>(count) * width);
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t index = random() % static_cast<uint64_t>(std::max<int64_t>(1, operand.bound));
    std::memcpy(bytes.data() + static_cast<size_t>(i) * width, &index, width);
  }
  return bytes;
}

/// What the runtime gives.
Bytes compute(const OracleCase& c, const std::vector<Bytes>& data, Around around) {
  Runtime& runtime = Runtime::get();
  std::vector<Tensor> tensors;  // released where something throws too
  std::vector<TensorId> ids;
  for (size_t i = 0; i < data.size(); ++i) {
    tensors.emplace_back(runtime.from_host(c.sample.operands[i].type, data[i].data()));
    ids.push_back(tensors.back().id());
  }
  const Tensor result(runtime.build(ids, [&](Builder& builder, std::span<const Value> operands) {
    return std::vector{record(builder, c, {operands.begin(), operands.end()}, around)};
  })[0]);
  const TensorType type = runtime.type(result.id());
  Bytes bytes(static_cast<size_t>(type.shape.numel()) * size_of(type.dtype));
  runtime.read(result.id(), bytes.data(), bytes.size());
  return bytes;
}

/// What a step gives that was frozen with `first` and is replayed with `data`.
Bytes replay(const OracleCase& c, const std::vector<Bytes>& first, const std::vector<Bytes>& data) {
  const auto tensors = [&](const std::vector<Bytes>& from) {
    std::vector<Tensor> made;
    for (size_t i = 0; i < from.size(); ++i) {
      made.emplace_back(Runtime::get().from_host(c.sample.operands[i].type, from[i].data()));
    }
    return made;
  };
  const std::vector<Tensor> inputs = tensors(first);
  std::vector<TensorId> ids;
  for (const Tensor& input : inputs) ids.push_back(input.id());
  Frozen frozen;
  {
    const Tape tape;
    const std::vector<TensorId> results = Runtime::get().build(ids, [&](Builder& builder,
                                                                        std::span<const Value>
                                                                            operands) {
      return std::vector{record(builder, c, {operands.begin(), operands.end()}, Around::Nothing)};
    });
    const Tensor result(results[0]);
    frozen = tape.freeze(inputs, std::vector{result});
  }
  const Tensor result = frozen.replay(tensors(data))[0];
  const TensorType type = result.type();
  Bytes bytes(static_cast<size_t>(type.shape.numel()) * size_of(type.dtype));
  Runtime::get().read(result.id(), bytes.data(), bytes.size());
  return bytes;
}

/// Runs one case in every mode. False when the op does not take this dtype.
bool check(const OracleCase& c, std::mt19937& random, std::initializer_list<Around> arounds) {
  for (const Around around : arounds) {
    Graph graph;
    GraphBuilder builder(graph);
    std::vector<Value> operands;
    DType dtype;
    try {
      for (const SampleOperand& operand : c.sample.operands) {
        operands.push_back(builder.input(operand.type, static_cast<uint32_t>(operands.size())));
      }
      const Value result = record(builder, c, operands, around);
      dtype = builder.dtype(result);
      builder.output(result);
    } catch (const Error&) {
      return false;
    }
    uint64_t compiled = 0;
    std::vector<Bytes> other;
    for (const char* mode : {"computed", "cached"}) {
      std::vector<Bytes> data;
      for (const SampleOperand& operand : c.sample.operands) {
        data.push_back(operand_bytes(operand, random));
      }
      const Bytes expected = interpret(graph, data)[0];
      const std::string differs = difference(dtype, expected, compute(c, data, around));
      EXPECT_EQ(differs, "") << mode << (around == Around::Ops ? ", fused" : ", alone") << "\n"
                             << print(graph);
      const uint64_t now = Runtime::get().stats().plans_compiled;
      if (compiled != 0) {
        EXPECT_EQ(now, compiled) << "the plan was not found again\n" << print(graph);
      }
      compiled = now;
      if (around == Around::Nothing && !other.empty()) {
        EXPECT_EQ(difference(dtype, expected, replay(c, other, data)), "") << "frozen\n"
                                                                           << print(graph);
      }
      other = data;
    }
  }
  return true;
}

bool is_full_run() {
  return std::getenv("REPRISE_TEST_FULL") != nullptr;
}

/// Gives every sample of every op to `run`, which returns how many cases it made of it.
template <class Run>
int for_every_sample(const Run& run) {
  std::mt19937 random(1);
  int cases = 0;
  for (int k = 0; k < num_ops(); ++k) {
    const Op op = static_cast<Op>(k);
    if (op_def(op).samples == nullptr) continue;
    int number = 0, ran = 0;
    for (const Sample& sample : op_def(op).samples()) {
      if (number++ % kSampleStep == 0 || is_full_run()) ran += run(op, sample, k + number, random);
    }
    EXPECT_GT(ran, 0) << op << " was never run";
    cases += ran;
  }
  ::testing::Test::RecordProperty("cases", cases);
  return cases;
}

TEST(OpOracle, EveryOpAndDtypeInEveryMode) {
  const auto run = [](Op op, const Sample& sample, int number, std::mt19937& random) {
    int ran = 0;
    for (int d = 0; d < kNumDTypes; ++d) {
      if (!is_full_run() && d % 3 != number % 3) continue;
      ran += check(with_dtype(op, sample, static_cast<DType>(d)), random,
                   {Around::Nothing, Around::Ops});
    }
    return ran;
  };
  EXPECT_GT(for_every_sample(run), 500 / kSampleStep);
}

// A driver takes its time to compile, so every sample runs with one dtype that its op takes,
// another for each sample.
TEST(OpOracle, EveryOpOnVulkan) {
  std::string why;
  Device* const vulkan = test_vulkan_device(&why);
  if (vulkan == nullptr) GTEST_SKIP() << why;
  const DeviceScope scope(*vulkan);
  int refused = 0;
  const auto run = [&](Op op, const Sample& sample, int number, std::mt19937& random) {
    int ran = 0, missing = 0;
    for (int d = 0; d < kNumDTypes && (ran == 0 || is_full_run()); ++d) {
      const auto dtype = static_cast<DType>((d + 5 * number) % kNumDTypes);
      try {
        ran += check(with_dtype(op, sample, dtype), random, {Around::Nothing});
      } catch (const UnsupportedError& error) {
        EXPECT_TRUE(names_missing_type(vulkan->target(), error.what()))
            << op << " of " << dtype << ": " << error.what();
        EXPECT_NE(std::string_view(error.what()).find(vulkan->name()), std::string_view::npos);
        missing = 1;
      }
    }
    // Counted where no dtype could be run.
    refused += ran == 0 ? missing : 0;
    return ran > 0 ? ran : missing;
  };
  EXPECT_GT(for_every_sample(run) - refused, 300 / kSampleStep);
  RecordProperty("refused", refused);
}

}  // namespace
}  // namespace reprise
