// The narrow waist: scalar SSA, the closed set of operations that every backend implements.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/dtype.h"
#include "ir/ids.h"

namespace reprise {

/// Semantics are those of the table in docs/SEMANTICS.md at the instruction's dtype: integers wrap,
/// Min and Max propagate NaN and order -0 below +0, comparisons give Bool. An instruction's dtype
/// is that of its result, except for comparisons, whose operands share the dtype of args[0].
enum class ScalarOp : uint8_t {
  // Leaves
  Const,    ///< `bits` holds the value, in the low bytes
  Param,    ///< scalar parameter `bits` of the kernel, read at launch
  Index,    ///< value of an affine form (`access`: index into Body::affines), as i64
  Load,     ///< element of a buffer (`access`); with args[0] valid, 0 where that Bool is false
  Reduced,  ///< result `bits` of the stage's reductions; only in `post`
  // Unary
  Neg,
  Abs,
  Sqrt,
  Floor,
  Ceil,
  Trunc,
  Round,  ///< to nearest, ties to even
  Not,    ///< bitwise; logical for Bool
  Exp,
  Log,
  Tanh,
  Erf,
  Sin,
  Cos,         ///< expanded by `expand_math` before any backend sees them
  Cast,        ///< value conversion by the table's rules
  Bitcast,     ///< same bits, same size
  CheckIndex,  ///< i64; wraps nothing: clamps args[0] to [0, bits) and reports when it had to
  // Binary
  Add,
  Sub,
  Mul,
  Div,  ///< floats: IEEE; integers: floor, by zero 0, MIN/-1 MIN
  Mod,  ///< sign of the divisor; x mod 0 = 0
  Min,
  Max,
  CopySign,
  And,
  Or,
  Xor,
  Shl,
  Shr,      ///< counts at or past the width give 0 (Shr of a signed value: the sign)
  MulHigh,  ///< high half of the full product; unsigned integers
  Eq,
  Ne,
  Lt,
  Le,
  // Ternary
  Select,  ///< args[0] ? args[1] : args[2]
  Fma,     ///< args[0]*args[1]+args[2], one rounding where the target has it, else two (numerics)
  Store,   ///< no result: writes args[0] to `access`; with args[1] valid, only where it is true
};
inline constexpr int kNumScalarOps = static_cast<int>(ScalarOp::Store) + 1;

[[nodiscard]] std::string_view name(ScalarOp op);
[[nodiscard]] std::optional<ScalarOp> parse_scalar_op(std::string_view name);
[[nodiscard]] bool is_comparison(ScalarOp op);  ///< Eq, Ne, Lt, Le
[[nodiscard]] int arity(
    ScalarOp op);  ///< value operands, the optional mask of Load/Store not counted

/// offset + sum of coefficient * variable, over the variables of a stage: the grid's axes first
/// (g0..), then the parallel loops (i0..), then the reduce loops (r0..). In elements.
struct Affine {
  int64_t offset = 0;
  std::vector<int64_t> coefficients;  ///< one per variable in scope
  friend bool operator==(const Affine&, const Affine&) = default;
};

/// One element of a buffer: affine part plus, when valid, a computed i64 offset in elements.
struct Access {
  BufferId buffer;
  Affine index;
  ScalarId dynamic;
  friend bool operator==(const Access&, const Access&) = default;
};

struct Instr {
  ScalarOp op;
  DType dtype = DType::F32;
  std::array<ScalarId, 3> args{};
  uint32_t access = UINT32_MAX;  ///< Load, Store: into Body::accesses; Index: into Body::affines
  uint64_t bits = 0;             ///< Const, Param, Reduced, CheckIndex
  friend bool operator==(const Instr&, const Instr&) = default;
};

/// A straight line of instructions; an instruction's id is its position.
struct Body {
  std::vector<Instr> instrs;
  std::vector<Access> accesses;
  std::vector<Affine> affines;
  [[nodiscard]] const Instr& operator[](ScalarId id) const { return instrs[id.index]; }
  friend bool operator==(const Body&, const Body&) = default;
};

/// Appends instructions to a body. Structurally equal pure instructions are emitted once.
/// The arithmetic of an op's `lower`, of the math expansions and of lowering itself.
class ScalarBuilder {
 public:
  /// Appends to what `body` already holds, which is known to the builder from then on.
  explicit ScalarBuilder(Body& body);

  [[nodiscard]] DType dtype(ScalarId v) const { return body_[v].dtype; }
  [[nodiscard]] Body& body() { return body_; }

  ScalarId emit(Instr instr);
  /// `value` converted to `dtype` by the cast rules.
  ScalarId constant(double value, DType dtype);
  ScalarId constant_bits(uint64_t bits, DType dtype);
  ScalarId integer(int64_t value, DType dtype);
  ScalarId param(uint32_t slot, DType dtype);
  ScalarId index(Affine affine);
  ScalarId load(Access access, DType dtype, ScalarId mask = {});
  void store(Access access, ScalarId value, ScalarId mask = {});
  ScalarId reduced(uint32_t which, DType dtype);
  ScalarId unary(ScalarOp op, ScalarId a);
  ScalarId binary(ScalarOp op, ScalarId a, ScalarId b);
  ScalarId select(ScalarId condition, ScalarId yes, ScalarId no);
  ScalarId fma(ScalarId a, ScalarId b, ScalarId c);
  ScalarId cast(ScalarId a, DType dtype);  ///< nothing is emitted when the dtype is the same
  ScalarId bitcast(ScalarId a, DType dtype);
  ScalarId check_index(ScalarId index, int64_t extent);
  /// check_index of an i64 that counts from the end when negative; reported as it was given.
  ScalarId check_index_from_end(ScalarId index, int64_t extent);

  ScalarId add(ScalarId a, ScalarId b) { return binary(ScalarOp::Add, a, b); }
  ScalarId sub(ScalarId a, ScalarId b) { return binary(ScalarOp::Sub, a, b); }
  ScalarId mul(ScalarId a, ScalarId b) { return binary(ScalarOp::Mul, a, b); }
  ScalarId div(ScalarId a, ScalarId b) { return binary(ScalarOp::Div, a, b); }
  ScalarId eq(ScalarId a, ScalarId b) { return binary(ScalarOp::Eq, a, b); }
  ScalarId lt(ScalarId a, ScalarId b) { return binary(ScalarOp::Lt, a, b); }
  ScalarId le(ScalarId a, ScalarId b) { return binary(ScalarOp::Le, a, b); }

 private:
  [[nodiscard]] uint64_t hash(const Instr& instr) const;
  [[nodiscard]] bool equal(const Instr& a, const Instr& b) const;
  void insert(uint32_t position);

  Body& body_;
  std::vector<uint32_t> table_;  ///< open hash of pure instructions: position + 1, or 0
  uint32_t entries_ = 0;
  uint32_t loads_valid_from_ = 0;  ///< loads before the last store may be stale
};

}  // namespace reprise
