// First and second derivatives of every op against finite differences, over the op's own samples.
#include <gtest/gtest.h>

#include <cmath>

#include "graph_samples.h"
#include "ir/builder.h"
#include "ir/error.h"
#include "passes/graph_passes.h"

namespace reprise {
namespace {

using D = std::vector<double>;
using Fill = SampleOperand::Fill;

/// Values in the middle of where the op is smooth: no zeros, no ties, no edges.
D smooth_values(Fill fill, int64_t count, std::mt19937& random) {
  std::uniform_real_distribution<double> magnitude(0.3, 1.9);
  D values(static_cast<size_t>(count));
  for (double& value : values) {
    value = magnitude(random);
    if (fill == Fill::Unit) value /= 2;
    if (fill != Fill::Positive && random() % 2 != 0) value = -value;
  }
  return values;
}

/// An op on one of its samples, floats in f64: its inputs' data and the recorded value.
struct Trial {
  Graph graph;
  std::vector<Bytes> data;
  std::vector<Value> inputs;
  Value result;
};

std::optional<Trial> make_trial(Op op, const Sample& sample, std::mt19937& random) {
  Trial trial;
  GraphBuilder b(trial.graph);
  for (const SampleOperand& operand : sample.operands) {
    const int64_t count = operand.type.shape.numel();
    TensorType type = operand.type;
    if (type.dtype == DType::F32) {
      type.dtype = DType::F64;
      trial.data.push_back(bytes_of(smooth_values(operand.fill, count, random)));
    } else if (operand.fill == Fill::Index && size_of(type.dtype) == 8) {
      std::vector<int64_t> indices(static_cast<size_t>(count));
      for (int64_t& index : indices)
        index = static_cast<int64_t>(random() % static_cast<uint64_t>(operand.bound));
      trial.data.push_back(bytes_of(indices));
    } else {
      std::vector<uint8_t> bits(static_cast<size_t>(count) * size_of(type.dtype));
      for (uint8_t& bit : bits) bit = random() % 2;
      trial.data.push_back(bytes_of(bits));
    }
    trial.inputs.push_back(b.input(type, static_cast<uint32_t>(trial.inputs.size())));
  }
  const TensorType result{sample.result.dtype == DType::F32 ? DType::F64 : sample.result.dtype,
                          sample.result.shape};
  trial.result = b.record(op, trial.inputs, sample.attrs, &result);
  if (b.dtype(trial.result) != DType::F64) return std::nullopt;
  return trial;
}

double evaluate(const Graph& graph, Value scalar, const std::vector<Bytes>& data) {
  Graph copy = graph;
  copy.add_output(NodeId{scalar.index});
  return values_of<double>(interpret(dce(copy), data)[0])[0];
}

/// A sum of y with weights that differ, so that misplaced gradients show.
Value weighted_sum(GraphBuilder& b, Value y) {
  const TensorType type = b.type(y);
  const Shape flat{type.shape.numel()};
  const Value weights =
      b.add(b.unary(Op::Sin, b.iota({DType::F64, flat}, 0)), b.constant(1.3, DType::F64));
  return b.reduce(Op::Sum, b.mul(b.reshape(y, flat), weights), 1, false);
}

/// Compares the gradient of `scalar` with central differences, a few elements of each input.
void check_gradient(Trial& trial, Value scalar, const std::vector<Value>& gradients,
                    double tolerance) {
  Graph with_gradients = trial.graph;
  for (Value gradient : gradients) {
    if (gradient.valid()) with_gradients.add_output(NodeId{gradient.index});
  }
  const std::vector<Bytes> all = interpret(dce(with_gradients), trial.data);
  size_t at = 0;
  constexpr double kStep = 1e-5;
  // What a difference loses of a sum that other elements make large.
  const double rounding = 32 * std::numeric_limits<double>::epsilon() *
                          std::abs(evaluate(trial.graph, scalar, trial.data)) / kStep;
  for (size_t i = 0; i < trial.inputs.size(); ++i) {
    if (!gradients[i].valid()) continue;
    const D got = values_of<double>(all[at++]);
    const D values = values_of<double>(trial.data[i]);
    const size_t stride = std::max<size_t>(1, values.size() / 7);
    for (size_t element = 0; element < values.size(); element += stride) {
      const auto moved_by = [&](double step) {
        std::vector<Bytes> moved = trial.data;
        D shifted = values;
        shifted[element] = values[element] + step;
        moved[i] = bytes_of(shifted);
        return evaluate(trial.graph, scalar, moved);
      };
      const auto difference = [&](double step) {
        return (moved_by(step) - moved_by(-step)) / (2 * step);
      };
      // Extrapolated from two steps: near a pole one bends too much.
      const double coarse = difference(kStep), fine = difference(kStep / 2);
      if (std::abs(coarse - fine) > 1e-4 * std::abs(fine) + rounding) continue;  // hard by a pole
      const double slope = (4 * fine - coarse) / 3;
      if (std::isnan(slope)) continue;  // a negative base of pow
      EXPECT_NEAR(got[element], slope, tolerance * std::max(1.0, std::abs(slope)) + rounding)
          << "operand " << i << ", element " << element;
    }
  }
}

std::vector<Value> gradients_of(Trial& trial, GraphBuilder& b, Value scalar) {
  std::vector<Value> floats;
  for (Value input : trial.inputs) {
    if (is_float(b.dtype(input))) floats.push_back(input);
  }
  const std::vector<Value> found = gradient(b, scalar, b.constant(1, DType::F64), floats);
  std::vector<Value> by_input(trial.inputs.size());
  size_t next = 0;
  for (size_t i = 0; i < trial.inputs.size(); ++i) {
    if (is_float(b.dtype(trial.inputs[i]))) by_input[i] = found[next++];
  }
  return by_input;
}

class OpGradients : public testing::TestWithParam<int> {};

TEST_P(OpGradients, MatchFiniteDifferences) {
  const Op op = static_cast<Op>(GetParam());
  const OpDef& def = op_def(op);
  std::mt19937 random(41);
  for (const Sample& sample : def.samples()) {
    int64_t elements = 0;
    bool differentiable = false;
    for (const SampleOperand& operand : sample.operands) {
      elements = std::max(elements, operand.type.shape.numel());
      differentiable |= operand.type.dtype == DType::F32;
    }
    if (elements > 400 || !differentiable) continue;
    std::optional<Trial> trial;
    try {
      trial = make_trial(op, sample, random);
    } catch (const DTypeError&) {
      continue;
    }
    if (!trial) continue;
    SCOPED_TRACE(testing::Message() << def.name << " of " << sample.operands[0].type);
    GraphBuilder b(trial->graph);
    const Value scalar = weighted_sum(b, trial->result);
    const std::vector<Value> first = gradients_of(*trial, b, scalar);
    check_gradient(*trial, scalar, first, 2e-7);
    if (elements > 40) continue;
    for (Value gradient : first) {
      if (!gradient.valid()) continue;
      const Value again = weighted_sum(b, gradient);
      check_gradient(*trial, again, gradients_of(*trial, b, again), 2e-6);
    }
  }
}

std::vector<int> differentiable_ops() {
  std::vector<int> ops;
  for (int number = 0; number < num_ops(); ++number) {
    const OpDef& def = op_def(static_cast<Op>(number));
    if (def.samples && (def.gradient || def.kind == OpKind::Composite)) ops.push_back(number);
  }
  return ops;
}

INSTANTIATE_TEST_SUITE_P(, OpGradients, testing::ValuesIn(differentiable_ops()),
                         [](const auto& info) {
                           return std::string(op_def(static_cast<Op>(info.param)).name);
                         });

}  // namespace
}  // namespace reprise
