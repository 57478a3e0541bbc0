// Internal interface of the LLVM code generator: functions, scalars, bodies, parts.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "codegen/analysis.h"
#include "codegen/backend.h"
#include "codegen/dot_units.h"
#include "codegen/index_ranges.h"
#include "ir/error.h"
#include "ir/kernel.h"
#include "ir/schedule.h"
#include "ir/target.h"

namespace reprise::codegen {

/// What the instruction set offers, read off TargetInfo.
struct Features {
  explicit Features(const TargetInfo& target);
  bool sse41 = false, avx = false, avx2 = false, f16c = false, fma = false, avx512 = false,
       avx512dq = false, vnni = false;
  int vector_bytes = 16;
};

/// Values are lanes of `lanes` elements each, `copies` of them; the last copy has `last` elements
/// that count: only memory operations care, registers are always full.
struct VectorShape {
  int lanes = 1;
  int copies = 1;
  int last = 1;

  [[nodiscard]] static VectorShape scalar() { return {}; }
  [[nodiscard]] static VectorShape full(int lanes, int copies) { return {lanes, copies, lanes}; }
  /// The fewest copies that hold `count` elements.
  [[nodiscard]] static VectorShape holding(int lanes, int64_t count) {
    const int copies = static_cast<int>((count + lanes - 1) / lanes);
    return {lanes, copies, static_cast<int>(count - int64_t{copies - 1} * lanes)};
  }
  [[nodiscard]] int elements() const { return (copies - 1) * lanes + last; }
  [[nodiscard]] int active(int copy) const { return copy + 1 == copies ? last : lanes; }
};

/// One scalar of a body: the same in every lane (one LLVM scalar) or one LLVM value per copy.
struct Lanes {
  llvm::SmallVector<llvm::Value*, 4> parts;
  bool uniform = true;
  llvm::Value* splatted = nullptr;  ///< of a uniform one, once somebody needed it

  Lanes() = default;
  explicit Lanes(llvm::Value* value) : parts{value} {}
  [[nodiscard]] llvm::Value* scalar() const { return parts[0]; }
};

/// Where the lanes of a per-point (local) buffer lie: element e of lane l at e * stride + l.
struct LocalLayout {
  std::vector<int64_t> byte_offset;  ///< into scratch, by BufferId
  int64_t stride = 1;
  int64_t scratch_bytes = 0;
};

/// A function being written: loops, buffers, the arithmetic of scalar ops on values of any shape.
class FunctionEmitter {
 public:
  FunctionEmitter(llvm::Module& module, const Kernel& kernel, const TargetInfo& target,
                  const Features& features, llvm::StringRef name);

  llvm::IRBuilder<> b;
  bool streaming_stores = false;  ///< as PartSchedule's; set before anything is emitted
  const Kernel& kernel;
  const TargetInfo& target;
  const Features& features;

  /// The extents of the variables that a body of the part sees; from then on it is computed with
  /// them in mind.
  void set_extents(const Body& body, std::span<const int64_t> extents);
  /// Per instruction, see index_ranges.
  [[nodiscard]] std::span<const IndexRange> ranges(const Body& body) const;

  llvm::Function* function() { return function_; }
  llvm::Value* begin() { return function_->getArg(1); }
  llvm::Value* end() { return function_->getArg(2); }
  llvm::Value* scratch() { return function_->getArg(3); }
  llvm::Value* status();
  /// Ends the function: the caller's last block returns.
  void finish();

  // Constants and types. Half types are held as their 16 bits, bool as i1.
  llvm::Type* type_of(DType dtype);
  llvm::Type* memory_type(DType dtype);
  llvm::Value* i64(int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); }
  llvm::Constant* constant(DType dtype, uint64_t bits);
  /// Reserves 64-byte aligned scratch of the running task.
  int64_t reserve_scratch(int64_t bytes);
  [[nodiscard]] int64_t scratch_bytes() const { return scratch_bytes_; }
  void reserve_at_least(int64_t bytes) { scratch_bytes_ = std::max(scratch_bytes_, bytes); }
  llvm::Value* scratch_at(int64_t byte_offset);

  llvm::Value* buffer(BufferId id);
  llvm::Value* param(uint32_t slot, DType dtype);
  /// Zeros for a whole vector, and eight bytes nobody reads: where masked-out accesses go.
  static constexpr int kCellBytes = 128;
  llvm::Value* zero_cell();
  llvm::Value* sink_cell();

  // Control flow.
  using Values = llvm::SmallVector<llvm::Value*, 16>;
  void loop(llvm::Value* begin, llvm::Value* end, int64_t step,
            const std::function<void(llvm::Value*)>& body);
  Values loop(llvm::Value* begin, llvm::Value* end, int64_t step, const Values& init,
              const std::function<Values(llvm::Value*, const Values&)>& body);
  void if_then(llvm::Value* condition, const std::function<void()>& body);
  Values if_then(llvm::Value* condition, const Values& otherwise,
                 const std::function<Values()>& body);
  /// The smaller or larger (smin, smax) of two bounds of loops, a constant where both are.
  llvm::Value* bound(llvm::Intrinsic::ID id, llvm::Value* a, llvm::Value* x);
  /// Row-major coordinates of a linear index.
  Values delinearize(llvm::Value* linear, std::span<const int64_t> extents);

  // Arithmetic at any shape: all operands scalars, or all vectors of one lane count.
  llvm::Value* splat(llvm::Value* scalar, int lanes);
  llvm::Value* unary(ScalarOp op, DType dtype, llvm::Value* a);
  llvm::Value* binary(ScalarOp op, DType operand, llvm::Value* a, llvm::Value* x);
  llvm::Value* fma(DType dtype, llvm::Value* a, llvm::Value* x, llvm::Value* c);
  llvm::Value* cast(DType from, DType to, llvm::Value* a);
  llvm::Value* bitcast(DType from, DType to, llvm::Value* a);
  llvm::Type* shaped(llvm::Type* scalar, llvm::Value* like);
  llvm::Constant* like(llvm::Value* value, DType dtype, uint64_t bits);

  // Folding. A state is the accumulator: a value, and for argument kinds its i64 index.
  Values neutral(const Reduction& reduction, DType value_dtype, int lanes);
  Values combine(const Reduction& reduction, DType value_dtype, const Values& a, const Values& x);

  // Memory, `active` of `lanes` elements, contiguous at `pointer`; registers come out full.
  llvm::Value* load(DType dtype, llvm::Value* pointer, int lanes, int active);
  void store(DType dtype, llvm::Value* value, llvm::Value* pointer, int active);
  /// A full vector to a pointer aligned to its size, past the caches.
  void stream(DType dtype, llvm::Value* value, llvm::Value* pointer);
  llvm::Value* element(DType dtype, llvm::Value* pointer, llvm::Value* index);

 private:
  llvm::Value* in_entry(const std::function<llvm::Value*()>& make);
  llvm::Value* divide(ScalarOp op, DType dtype, llvm::Value* a, llvm::Value* x);
  llvm::Value* float_mod(DType dtype, llvm::Value* a, llvm::Value* x);
  llvm::Value* shift(ScalarOp op, DType dtype, llvm::Value* a, llvm::Value* x);
  llvm::Value* round(ScalarOp op, DType dtype, llvm::Value* a);
  llvm::Value* extremum(ScalarOp op, DType dtype, llvm::Value* a, llvm::Value* x);
  llvm::Value* f32_from_f16(llvm::Value* a);
  llvm::Value* f16_from_f32(llvm::Value* a);
  llvm::Value* bf16_from_f32(llvm::Value* a);
  llvm::Value* f32_round_to_odd(llvm::Value* a);
  llvm::Value* intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> args);
  llvm::Function* remainder_function(DType dtype);
  llvm::Function* remainder_function(DType dtype, llvm::FixedVectorType* vector);
  llvm::Value* small_remainder(DType dtype, llvm::Value* a, llvm::Value* x, llvm::Value*& small);

  llvm::Function* function_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr;  ///< what is computed once per call
  llvm::BasicBlock* start_ = nullptr;  ///< where the body began
  llvm::SmallVector<llvm::Value*, 16> buffers_;
  llvm::SmallVector<llvm::Value*, 16> params_;
  llvm::Value* status_ = nullptr;
  llvm::Value* zero_ = nullptr;
  llvm::Value* sink_ = nullptr;
  int64_t scratch_bytes_ = 0;
  std::unordered_map<const Body*, std::vector<IndexRange>> ranges_;
};

/// A loop variable's value: a computed part (null: none) plus a constant, which ends up in the
/// displacement of addresses.
struct Variable {
  llvm::Value* value = nullptr;
  int64_t offset = 0;

  Variable() = default;
  Variable(llvm::Value* computed, int64_t constant = 0) : value(computed), offset(constant) {
    if (auto* known = llvm::dyn_cast_or_null<llvm::ConstantInt>(computed)) {
      value = nullptr;
      offset += known->getSExtValue();
    }
  }
  [[nodiscard]] Variable plus(int64_t more) const {
    Variable result = *this;
    result.offset += more;
    return result;
  }
};

/// The variables a body sees, at lane 0 of copy 0; `vector` is the one whose lanes are consecutive.
struct Scope {
  llvm::SmallVector<Variable, 8> variables;
  int vector = -1;
  /// Not 0: lanes take so many values of `vector`, all of its loop, then the next value of the
  /// variable before it.
  int64_t fold = 0;
  struct Ahead {
    int variable;
    llvm::Value* by;
  };
  /// Not empty: vectors are fetched ahead that will be read when these variables are so much
  /// larger.
  llvm::SmallVector<Ahead, 2> ahead;
};

/// Emits a body once, at one shape and in one scope.
class BodyEmitter {
 public:
  BodyEmitter(FunctionEmitter& f, const Body& body, const LocalLayout& locals, Scope scope,
              VectorShape shape);

  /// Results of the stage's reductions, for `post`.
  void set_reduced(std::span<const Lanes> reduced) { reduced_ = reduced; }
  /// Everything, stores included.
  void emit_all();
  /// What `root` needs (no stores).
  Lanes& emit(ScalarId root);
  /// `copy` of a value as a vector of the shape's lanes.
  llvm::Value* vector(Lanes& value, int copy);

 private:
  void emit_instr(uint32_t index);
  Lanes load(const Instr& instr);
  void store(const Instr& instr);
  Lanes check_index(const Instr& instr);
  Lanes affine(const Affine& affine, bool narrow);
  using Operation = llvm::function_ref<llvm::Value*(llvm::ArrayRef<llvm::Value*>)>;
  /// `narrow`: operands that are i64 come as i32.
  Lanes map(std::span<const ScalarId> args, Operation operation, bool narrow = false);
  /// From here on an i64 value that was computed in 32 bits is one of 64.
  Lanes& widen(ScalarId id);
  struct Address;
  Address address(const Access& access);
  [[nodiscard]] int64_t lane_offset(const Affine& affine, int64_t lane) const;
  llvm::Value* shuffled_load(const Address& address, int copy);
  void fetch_ahead(const Access& access, const Address& address);
  std::pair<llvm::Value*, llvm::Value*> terms(const Affine& affine, int64_t& constant);
  llvm::Value* pointer_at(const Address& address, int64_t lane);
  llvm::Value* lane_pointer(const Address& address, int copy, int lane);
  llvm::Value* active_mask(llvm::Value* mask, int copy);
  [[nodiscard]] bool has_masked_access(DType dtype) const;
  [[nodiscard]] bool may_stream(const Access& access) const;

  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  const Body& body_;
  const LocalLayout& locals_;
  Scope scope_;
  VectorShape shape_;
  std::span<const Lanes> reduced_;
  std::span<const IndexRange> ranges_;
  std::vector<Lanes> values_;
  std::vector<bool> done_;
  std::vector<bool> narrow_;  ///< i64 values that are held in 32 bits
};

/// Folds the elements of one stage's reductions, in whichever way suits the shape.
class ReduceEmitter {
 public:
  /// `lanes`, `unroll`: vectors along the innermost loop. `width`: elements that lie side by side
  /// where partials are kept in memory (all lanes of the grid's vectors, else 1).
  ReduceEmitter(FunctionEmitter& f, const Stage& stage, const LocalLayout& locals, int lanes,
                int unroll, int64_t width);

  /// For every lane of `shape` on its own: the reduce loops are scalar.
  std::vector<Lanes> in_order(Scope& scope, const VectorShape& shape);
  /// Whether lanes may lie along the innermost reduce loop.
  [[nodiscard]] bool rows_fit() const;
  std::vector<Lanes> rows(Scope& scope);

 private:
  using Values = FunctionEmitter::Values;
  using State = std::vector<Values>;                  ///< per reduction: field by field, all copies
  enum class Spread : uint8_t { Same, Consecutive };  ///< the linear index along the lanes
  struct Field {
    size_t reduction;
    DType dtype;
    mutable int64_t scratch;
  };

  [[nodiscard]] DType value_dtype(size_t k) const;
  [[nodiscard]] double element_cost(const Scope& scope, const VectorShape& shape) const;
  Values neutral_fields(size_t k, int lanes);
  State neutral(const VectorShape& shape);
  State evaluate(const Scope& scope, const VectorShape& shape, llvm::Value* linear, Spread spread);
  State combine(int copies, const State& a, const State& x);
  State read(llvm::Value* element, int lanes, int copies);
  void write(llvm::Value* element, int lanes, int copies, const State& state);
  llvm::Value* cells(const Field& field);
  std::vector<Lanes> results(const VectorShape& shape, const State& state);
  std::vector<Lanes> identities();
  std::vector<Lanes> unrolled(Scope& scope, const VectorShape& shape);
  std::vector<Lanes> in_chains(Scope& scope, const VectorShape& shape, int chains);
  std::vector<Lanes> in_memory(Scope& scope, const VectorShape& shape);
  std::vector<Lanes> halve_in_memory(const VectorShape& shape, int64_t partials);
  void nest(size_t level, Scope& scope, llvm::Value* linear,
            const std::function<void(Scope&, llvm::Value*)>& body);
  State rows_level(Scope& scope, size_t level, llvm::Value* linear, const State& init);
  std::vector<Lanes> rows_in_memory(Scope& scope);
  void take_in(State& sums, int copies, int first, const Scope& scope, const VectorShape& shape,
               llvm::Value* linear);
  std::vector<Lanes> halve(const State& sums, int copies);
  llvm::Value* value_of(const Variable& variable);

  /// Vector operations that unrolled code may repeat: more costs compile time and gains nothing.
  static constexpr double kUnrolledCost = 160;
  static constexpr double kChainsCost = 64;

  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  const Stage& stage_;
  const LocalLayout& locals_;
  int lanes_, unroll_;
  int64_t width_, extent_;
  DType index_dtype_;  ///< of the index beside an argument reduction's value
  std::vector<Field> fields_;
};

/// What one part became.
struct PartCode {
  llvm::Function* function = nullptr;
  int64_t tasks = 0;
  int64_t scratch_bytes = 0;
  double cost_ns = 0;
};

/// Emits `void name(launch, begin, end, scratch)` that runs tasks [begin, end) of a part.
PartCode emit_part(llvm::Module& module, const Kernel& kernel, const Part& part,
                   const PartSchedule& schedule, const TargetInfo& target, const Features& features,
                   llvm::StringRef name);

/// How the loops of a contraction tile, and which tiles a task takes.
struct ContractionTiling : ContractionLoops {
  ContractionTiling(const Stage& stage, int grid_rank, const PartSchedule& part,
                    const ContractionSchedule& schedule, const TargetInfo& target);

  DotUnits units;  ///< where they hold several steps of the depth, both factors are packed
  int lanes = 1;
  // Row tiles: `tall_count` of `tall` rows, then `low_count` of `low` rows. Exact.
  int tall = 1, low = 1;
  int64_t tall_count = 0, low_count = 0;
  // Column panels: `panel_count` of `panel` columns, then one of `panel_rest` (if not 0).
  int64_t panel = 1, panel_count = 0, panel_rest = 0;
  // Depth: blocks of `block`, the last one shorter.
  int64_t block = 1, block_count = 1;
  bool pack_scalars = false;  ///< copy the factor that is broadcast, tile by tile
  bool pack_vectors = false;  ///< copy the factor that is read as vectors, panel by panel
  int64_t task_tiles = 1, task_panels = 1;
  /// Outer points of one run: a row tile passes over all of them before the next one does.
  int64_t sweep = 1;
  int64_t ahead = 0;  ///< panels by which vectors that are read in place are fetched ahead

  [[nodiscard]] int64_t row_tiles() const { return tall_count + low_count; }
  [[nodiscard]] int64_t panels() const { return panel_count + (panel_rest != 0 ? 1 : 0); }
  [[nodiscard]] int64_t outer_count() const { return product(outer_extents); }
  [[nodiscard]] int64_t runs() const { return divide_up(outer_count(), sweep); }
};

/// Runs row tiles [row_begin, row_end) and panels [panel_begin, panel_end) of a contraction (at
/// most what one task takes), at one point of the grid and one run of points of the outer parallel
/// loops.
void emit_contraction(FunctionEmitter& f, const Stage& stage, const ContractionTiling& tiling,
                      const LocalLayout& locals, const Scope& grid, llvm::Value* run,
                      llvm::Value* row_begin, llvm::Value* row_end, llvm::Value* panel_begin,
                      llvm::Value* panel_end);

}  // namespace reprise::codegen
