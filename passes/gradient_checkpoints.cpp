// Regions of checkpoints, found and recorded again.
#include "passes/gradient_checkpoints.h"

#include <algorithm>

namespace reprise {

void Recomputation::reach(uint32_t place, Value cotangent) {
  const ValueView view = builder_.view(history_[place]);
  if (view.op != Op::Checkpoint || view.operands.size() < 2) return;
  std::vector<uint32_t> boundary;
  for (const NodeId operand : view.operands.subspan(1)) boundary.push_back(operand.index);
  Region& own = region(boundary, regions_of_[place], cotangent);
  std::vector<uint32_t> pending(history_.operands(place).begin(), history_.operands(place).end());
  while (!pending.empty()) {
    const uint32_t inner = pending.back();
    pending.pop_back();
    if (inner == History::kOutside || regions_of_[inner] == &own ||
        own.anew.contains(history_[inner].index)) {
      continue;
    }
    regions_of_[inner] = &own;
    const auto operands = history_.operands(inner);
    pending.insert(pending.end(), operands.begin(), operands.end());
  }
}

Recomputation::Region& Recomputation::region(std::span<const uint32_t> boundary, Region* outer,
                                             Value cotangent) {
  // Results of one checkpoint share what is computed anew.
  for (const auto& known : regions_) {
    if (known->outer == outer && std::ranges::equal(known->boundary, boundary)) return *known;
  }
  Region& own = *regions_.emplace_back(std::make_unique<Region>());
  own.boundary.assign(boundary.begin(), boundary.end());
  own.outer = outer;
  own.cotangent = cotangent;
  for (const uint32_t number : boundary) {
    const Value known = outer == nullptr ? Value{number} : anew(*outer, Value{number});
    own.anew[number] = builder_.record(Op::After, {known, cotangent});
  }
  return own;
}

Value Recomputation::value(uint32_t place) {
  const Value value = history_[place];
  Region* const region = regions_of_[place];
  // Of a checkpoint nothing is read but its type.
  if (region == nullptr || builder_.view(value).op == Op::Checkpoint) return value;
  return anew(*region, value);
}

Value Recomputation::anew(Region& region, Value value) {
  std::vector<Value> pending{value};
  while (!pending.empty()) {
    const Value last = pending.back();
    if (region.anew.contains(last.index)) {
      pending.pop_back();
      continue;
    }
    const ValueView view = builder_.view(last);
    bool ready = true;
    for (const NodeId operand : view.operands) {
      if (region.anew.contains(operand.index)) continue;
      pending.push_back(Value{operand.index});
      ready = false;
    }
    if (!ready) continue;
    region.anew[last.index] = record_anew(region, last);
    pending.pop_back();
  }
  return region.anew.at(value.index);
}

Value Recomputation::record_anew(Region& region, Value value) {
  const ValueView view = builder_.view(value);
  // Nothing to compute: inputs, and numbers, random keys and counters, which so stay what they
  // were.
  if (view.operands.empty()) return value;
  std::vector<Value> operands;
  bool changed = false;
  for (const NodeId operand : view.operands) {
    operands.push_back(region.anew.at(operand.index));
    changed |= operands.back().index != operand.index;
  }
  // Copies: what a view refers to may move with the recording.
  const Op op = view.op;
  const Attrs attrs = view.attrs;
  const TensorType type = view.type;
  if (!changed) {
    // Made of constants. Only random bits are worth the time and not the memory.
    if (op != Op::RandomBits) return value;
    operands[0] = builder_.record(Op::After, {operands[0], region.cotangent});
  }
  return builder_.record(op, operands, attrs, &type);
}

}  // namespace reprise
