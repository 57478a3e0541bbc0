// The op table: everything there is to say about an op, in one place.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <span>
#include <string_view>
#include <vector>

#include "ir/attrs.h"
#include "ir/kernel.h"
#include "ir/scalar.h"
#include "ir/shape.h"

namespace reprise {

/// Number of an op in the table. Built-in ops are enumerators, registered ones come after them.
enum class Op : uint16_t {
#define REPRISE_OP(Name, file) Name,
#include "ir/ops/ops.def"
#undef REPRISE_OP
};

enum class OpKind : uint8_t {
  Leaf,         ///< no data operands; a value from outside, a constant, an index, random bits
  Elementwise,  ///< one element of the result from the elements at its place, operands broadcast
  Reduction,    ///< folds the axes of attribute 0
  Scan,         ///< keeps what folding gives on the way along attribute 0
  Movement,     ///< an index map; moves no data
  Contraction,  ///< sums of products
  Gather,       ///< an index map that reads data
  Scatter,      ///< operand 0 with operand 2 put where operand 1 says along attribute 0
  Sort,         ///< the order of unsigned keys along attribute 0
  Composite,    ///< recorded as other ops; no such node exists
};
/// Ops whose loops store on their way: no element of the result is there before all are.
[[nodiscard]] constexpr bool is_sequential(OpKind kind) {
  return kind == OpKind::Scan || kind == OpKind::Scatter || kind == OpKind::Sort;
}

/// How a movement op's result index maps to its operand's. Lowering knows these six and no more.
enum class Movement : uint8_t { Reshape, Permute, Broadcast, Slice, Pad, Window };

/// What an op does with pairs (complex numbers, complex integers). Lowering sees their parts.
enum class OnPairs : uint8_t {
  Refused,   ///< takes none, or says itself what becomes of them (`split_pairs`)
  EachPart,  ///< the same to both parts; operands that are no pairs serve both
};

class Builder;
class GradientContext;
struct Value;

/// What `infer` and `lower` may look at.
struct OpContext {
  Op op;
  std::span<const TensorType> operands;
  const Attrs& attrs;
  /// The result's type: known in `lower`; in `infer` only when the recorder gave one (leaves,
  /// reshape, broadcast_to, slice, whose target shape is their type rather than an attribute).
  const TensorType* result = nullptr;
};

/// One input of an op's test samples: a type, and what its values should be like.
struct SampleOperand {
  TensorType type;
  enum class Fill : uint8_t {
    Normal,
    Positive,
    Unit,
    Extremes,
    Index,
    Binary,
    Nonzero
  } fill = Fill::Normal;
  int64_t bound = 0;  ///< Fill::Index: values in [0, bound)
};
struct Sample {
  std::vector<SampleOperand> operands;
  Attrs attrs;
  TensorType result;  ///< only for ops whose result type is given
};

struct OpDef {
  std::string_view name;
  OpKind kind = OpKind::Elementwise;
  int min_operands = 1;
  int max_operands = 1;  ///< -1: any number
  std::span<const AttrDef> attrs{};
  std::string_view doc;  ///< one paragraph: shapes, dtypes, semantics at the edges

  /// Type of the result; throws ShapeError, DTypeError, IndexError with both values in the text.
  TensorType (*infer)(const OpContext&) = nullptr;
  /// Elementwise: the scalar program of one element. Operands are scalars of the operands' dtypes.
  /// Half types arrive as they are; `legalize` widens and rounds around each op. Null where pairs
  /// are taken apart or made.
  /// Scan and scatter: one step, of the value so far and what comes next (a scan's first value is
  /// its last operand's), half types widened. A scatter without one replaces.
  ScalarId (*lower)(ScalarBuilder&, std::span<const ScalarId>, const OpContext&) = nullptr;
  /// Leaves that are computed (iota, random_bits): the scalar program of the element at
  /// `axis_indices`, its i64 index along each axis of the result. Null for constants and for values
  /// that come from outside.
  ScalarId (*lower_leaf)(ScalarBuilder&, std::span<const ScalarId> operands,
                         std::span<const ScalarId> axis_indices, const OpContext&) = nullptr;
  ReduceKind reduce = ReduceKind::Sum;    ///< Reduction
  Movement movement = Movement::Reshape;  ///< Movement
  OnPairs pairs = OnPairs::Refused;
  /// Records its definition; the context's result is the inferred type. Of a composite when it is
  /// recorded. Of a contraction that has one later, in `expand`: it stays a node until gradients,
  /// which know it as a whole, have been taken.
  Value (*compose)(Builder&, std::span<const Value>, const OpContext&) = nullptr;
  /// Adds to the operands' gradients, in ordinary ops. Null: not differentiable (zero gradient).
  void (*gradient)(GradientContext&) = nullptr;
  /// Inputs the oracle tests run; dtypes are varied by the tests over `dtypes`.
  std::vector<Sample> (*samples)() = nullptr;
};

[[nodiscard]] const OpDef& op_def(Op op);
[[nodiscard]] const OpDef* find_op(std::string_view name, Op* op = nullptr);
/// Number of ops in the table, registered ones included.
[[nodiscard]] int num_ops();
/// Adds an op while the program runs; `def` must outlive it. Throws Error if the name is taken.
Op register_op(const OpDef& def);

inline std::ostream& operator<<(std::ostream& out, Op op) {
  return out << op_def(op).name;
}

}  // namespace reprise
