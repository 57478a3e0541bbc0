// Reverse-mode differentiation, recorded in ordinary ops through a builder.
#include <algorithm>
#include <unordered_map>

#include "ir/error.h"
#include "passes/graph_passes.h"

namespace reprise {

namespace {

/// The values `y` was computed from, as far back as the first of `xs`, in an order in which
/// operands precede their users.
class History {
 public:
  static constexpr uint32_t kOutside = UINT32_MAX;

  History(const Builder& builder, Value y, std::span<const Value> xs) : builder_(builder) {
    uint64_t first_x = UINT64_MAX;
    for (const Value x : xs) first_x = std::min(first_x, builder.order(x));
    struct Visit {
      Value value;
      uint32_t first;  ///< where its operands begin in `pending`
      uint32_t next;
    };
    // Operands of all values on the path, back to back: views die with the next recording, and a
    // vector a value would cost an allocation each.
    std::vector<Value> pending;
    std::vector<Visit> path;
    const auto open = [&](Value value) {
      places_.emplace(value.index, kOpen);
      const auto first = static_cast<uint32_t>(pending.size());
      for (NodeId operand : builder_.view(value).operands) pending.push_back(Value{operand.index});
      path.push_back({value, first, first});
    };
    open(y);
    while (!path.empty()) {
      Visit& visit = path.back();
      if (visit.next < pending.size()) {
        const Value operand = pending[visit.next++];
        const bool is_older = builder_.order(operand) < first_x;
        if (!is_older && !places_.contains(operand.index)) open(operand);
        continue;
      }
      const auto place = static_cast<uint32_t>(values_.size());
      values_.push_back(visit.value);
      first_operand_.push_back(static_cast<uint32_t>(operands_.size()));
      for (uint32_t i = visit.first; i < pending.size(); ++i) {
        operands_.push_back(place_of(pending[i]));
      }
      places_[visit.value.index] = place;
      pending.resize(visit.first);
      path.pop_back();
    }
    first_operand_.push_back(static_cast<uint32_t>(operands_.size()));
  }

  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(values_.size()); }
  [[nodiscard]] Value operator[](uint32_t place) const { return values_[place]; }
  /// Places of a value's operands; kOutside for those older than every x.
  [[nodiscard]] std::span<const uint32_t> operands(uint32_t place) const {
    return std::span(operands_).subspan(first_operand_[place],
                                        first_operand_[place + 1] - first_operand_[place]);
  }
  /// kOutside for values that are not in it.
  [[nodiscard]] uint32_t place_of(Value value) const {
    const auto found = places_.find(value.index);
    return found == places_.end() ? kOutside : found->second;
  }

 private:
  static constexpr uint32_t kOpen = UINT32_MAX - 1;
  const Builder& builder_;
  std::unordered_map<uint32_t, uint32_t> places_;
  std::vector<Value> values_;
  std::vector<uint32_t> operands_;
  std::vector<uint32_t> first_operand_;
};

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
    GradientContext context(builder, history[place], cotangents[place], gradients);
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
