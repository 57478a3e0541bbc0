// Reverse-mode differentiation, recorded in ordinary ops through a builder.
#include "ir/error.h"
#include "passes/gradient_checkpoints.h"
#include "passes/graph_passes.h"
#include "passes/history.h"

namespace reprise {

namespace {

/// Which values depend on an x through differentiable ops. All others get no gradient recorded.
std::vector<bool> find_wanted(const Builder& builder, const History& history,
                              std::span<const Value> xs) {
  std::vector<bool> wanted(history.size());
  for (Value x : xs) {
    const uint32_t place = history.place_of(x);
    if (place != History::kOutside) wanted[place] = true;
  }
  for (uint32_t place = 0; place < history.size(); ++place) {
    if (wanted[place]) continue;
    const ValueView view = builder.view(history[place]);
    if (!is_differentiable(view.type.dtype) || op_def(view.op).gradient == nullptr) continue;
    for (uint32_t operand : history.operands(place)) {
      if (operand != History::kOutside && wanted[operand]) wanted[place] = true;
    }
  }
  return wanted;
}

void check_arguments(const Builder& builder, Value y, Value seed, std::span<const Value> xs) {
  const TensorType y_type = builder.type(y);
  if (!is_differentiable(y_type.dtype)) {
    throw DTypeError(
        str("the gradient of a value of ", y_type, ": it must be floating point or complex"));
  }
  if (builder.type(seed).dtype != y_type.dtype) {
    throw DTypeError(str("the cotangent is ", builder.type(seed), ", but the value is ", y_type));
  }
  if (builder.type(seed).shape != y_type.shape) {
    throw ShapeError(str("the cotangent is ", builder.type(seed), ", but the value is ", y_type));
  }
  for (size_t i = 0; i < xs.size(); ++i) {
    const TensorType& type = builder.type(xs[i]);
    if (is_differentiable(type.dtype)) continue;
    throw DTypeError(str("the gradient with respect to x", i, " of ", type,
                         ": it must be floating point or complex"));
  }
}

}  // namespace

std::vector<Value> gradient(Builder& builder, Value y, Value seed, std::span<const Value> xs) {
  check_arguments(builder, y, seed, xs);
  const History history(builder, y, xs);
  const std::vector<bool> wanted = find_wanted(builder, history, xs);
  const auto is_wanted = [&](uint32_t place) {
    return place != History::kOutside && wanted[place];
  };
  Recomputation recomputation(builder, history);
  std::vector<Value> cotangents(history.size());
  cotangents.back() = seed;
  std::vector<Value> gradients;
  for (uint32_t place = history.size(); place-- > 0;) {
    if (!wanted[place] || !cotangents[place].valid()) continue;
    const std::span<const uint32_t> operands = history.operands(place);
    gradients.clear();
    bool any = false;
    for (uint32_t operand : operands) {
      gradients.push_back(is_wanted(operand) ? Value{} : GradientContext::kUnwanted);
      any = any || is_wanted(operand);
    }
    const auto differentiate = op_def(builder.view(history[place]).op).gradient;
    if (!any || differentiate == nullptr) continue;
    recomputation.reach(place, cotangents[place]);
    GradientContext context(builder, recomputation.value(place), cotangents[place], gradients);
    differentiate(context);
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!is_wanted(operands[i]) || !gradients[i].valid()) continue;
      Value& sum = cotangents[operands[i]];
      sum = sum.valid() ? builder.add(sum, gradients[i]) : gradients[i];
    }
  }
  std::vector<Value> results;
  results.reserve(xs.size());
  for (Value x : xs) {
    const uint32_t place = history.place_of(x);
    const bool reached = place != History::kOutside && cotangents[place].valid();
    const TensorType type = builder.type(x);
    results.push_back(reached ? cotangents[place] : builder.zeros(type));
  }
  return results;
}

}  // namespace reprise
