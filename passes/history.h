// What a value was computed from, as the gradient pass walks through it.
#pragma once

#include <algorithm>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/builder.h"

namespace reprise {

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
      const ValueView view = builder_.view(value);
      for (NodeId operand : view.operands) {
        pending.push_back(Value{operand.index});
        if (view.op == Op::Checkpoint) break;  // the others say what it is computed anew from
      }
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

}  // namespace reprise
