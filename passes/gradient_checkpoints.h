// Checkpoints in a gradient: what they computed is computed anew where its values are needed.
//
// The walk through the history is that of a gradient without checkpoints, in the same order, so
// that its sums have the same bits; only the values that gradients read are others.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "ir/builder.h"
#include "passes/history.h"

namespace reprise {

class Recomputation {
 public:
  Recomputation(Builder& builder, const History& history)
      : builder_(builder), history_(history), regions_of_(history.size()) {}

  /// The walk, which goes from users to operands, comes to `place` with its cotangent: a checkpoint
  /// there is computed anew from now on, once this cotangent is known.
  void reach(uint32_t place, Value cotangent);
  /// The value that a gradient at `place` reads as its result, and through it its operands.
  [[nodiscard]] Value value(uint32_t place);

 private:
  /// What lies between the results of checkpoints and the values that they were computed from.
  struct Region {
    std::vector<uint32_t> boundary;  ///< numbers of values
    Region* outer = nullptr;         ///< the region that this checkpoint lies in
    Value cotangent;                 ///< nothing is computed before it is known
    std::unordered_map<uint32_t, Value> anew;
  };

  [[nodiscard]] Region& region(std::span<const uint32_t> boundary, Region* outer, Value cotangent);
  [[nodiscard]] Value anew(Region& region, Value value);
  [[nodiscard]] Value record_anew(Region& region, Value value);

  Builder& builder_;
  const History& history_;
  std::vector<std::unique_ptr<Region>> regions_;
  std::vector<Region*> regions_of_;  ///< the innermost one of each place
};

}  // namespace reprise
