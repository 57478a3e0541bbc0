// Scalar bodies at one point of their loops.
#pragma once

#include <span>
#include <vector>

#include "codegen/spirv/function.h"
#include "codegen/spirv/memory.h"
#include "ir/scalar.h"

namespace reprise::spirv {

/// Values of a stage's variables: grid, parallel loops, reduce loops.
using Scope = std::vector<Variable>;

[[nodiscard]] Value narrow_value(Function& f, Variable variable);
[[nodiscard]] Value wide_value(Function& f, Variable variable);
/// offset + sum of coefficient * variable, modulo 2^32, or modulo 2^64 when `wide`.
[[nodiscard]] Value affine_value(Function& f, const Affine& affine, const Scope& scope, bool wide);
/// Appends the coordinates of the row-major index `linear` among `extents` to `scope`.
void append_coordinates(Function& f, Variable linear, std::span<const int64_t> extents,
                        Scope& scope);

class BodyEmitter {
 public:
  BodyEmitter(Function& f, PartMemory& memory, const Body& body, const Scope& scope)
      : f_(f), memory_(memory), body_(body), scope_(scope), values_(body.instrs.size()) {}

  /// Results of the stage's reductions, for `post`.
  void set_reduced(std::vector<Value> values) { reduced_ = std::move(values); }
  void emit_all();
  /// What `root` needs, in order, and its value.
  Value emit(ScalarId root);
  [[nodiscard]] Value value(ScalarId id) const { return values_[id.index]; }

 private:
  Value emit_instr(const Instr& instr);
  Value index_of(const Access& access);
  Value emit_load(const Instr& instr);
  void emit_store(const Instr& instr);
  Value check_index(const Instr& instr);

  Function& f_;
  PartMemory& memory_;
  const Body& body_;
  const Scope& scope_;
  std::vector<Value> values_;  ///< 0: not emitted yet, or a store
  std::vector<Value> reduced_;
};

}  // namespace reprise::spirv
