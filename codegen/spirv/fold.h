// Reductions in the order that ir/kernel.h defines: 64 strided partials, then a halving tree.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "codegen/spirv/body.h"

namespace reprise::spirv {

/// The reductions of one stage. Results are values for BodyEmitter::set_reduced.
class FoldEmitter {
 public:
  FoldEmitter(Function& f, PartMemory& memory, const Stage& stage);

  /// One invocation folds everything. `scope` has all variables but the reduce loops'.
  std::vector<Value> serial(const Scope& scope);
  /// The workgroup folds together, each invocation one partial; all of them get the results. Trees
  /// lie in workgroup memory from its beginning; a barrier must follow before the next fold.
  std::vector<Value> shared(const Scope& scope, Value invocation);
  /// A chain over ascending k, of a contraction.
  Value chain(const Scope& scope);

 private:
  /// A value, for argument kinds its index of 32 bits too.
  using Accumulator = std::vector<Value>;

  Accumulator neutral(const Reduction& reduction) const;
  Accumulator combined(const Reduction& reduction, const Accumulator& a, const Accumulator& b);
  Accumulator taken(const Reduction& reduction, const BodyEmitter& body, Value index) const;
  Value result(const Accumulator& accumulator);
  std::vector<Value> identities();
  std::vector<Value> unrolled(const Scope& scope);
  /// body(scope with the reduce loops, row-major index among them), ascending.
  void nest(size_t level, Scope& scope, Value linear,
            const std::function<void(const Scope&, Value)>& body);

  Function& f_;
  PartMemory& memory_;
  const Stage& stage_;
  int64_t extent_;
  std::vector<std::vector<DType>> dtypes_;  ///< of the accumulators
};

}  // namespace reprise::spirv
