// A SPIR-V function being written: structured control flow and the arithmetic of scalar operations.
#pragma once

#include <spirv/unified1/GLSL.std.450.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "codegen/spirv/module.h"
#include "ir/kernel.h"
#include "ir/scalar.h"

namespace reprise::spirv {

class Function {
 public:
  /// Begins a function; `parameters` are types.
  Function(Module& module, Value result, std::span<const Value> parameters = {});
  Function(const Function&) = delete;

  Module& m;
  [[nodiscard]] Value id() const { return id_; }
  [[nodiscard]] Value parameter(size_t i) const { return parameters_[i]; }
  /// Ends it and adds it to the module; `result` 0: none.
  void finish(Value result = 0);

  // ---- Instructions ----
  Value op(spv::Op code, Value type, std::initializer_list<Value> operands);
  /// The same, never fused with another operation.
  Value exact(spv::Op code, Value type, std::initializer_list<Value> operands);
  Value extended(GLSLstd450 code, Value type, std::initializer_list<Value> operands);
  void effect(spv::Op code, std::initializer_list<uint32_t> operands);

  /// A variable of this function (of this invocation), undefined at first.
  Value variable(Value type);
  Value load(Value type, Value pointer) { return op(spv::OpLoad, type, {pointer}); }
  /// The same from memory that other invocations write.
  Value load_shared(Value type, Value pointer) {
    const Value id = m.has_vulkan_memory()
                         ? op(spv::OpLoad, type, {pointer, spv::MemoryAccessNonPrivatePointerMask})
                         : load(type, pointer);
    opaque_.insert(id);
    return id;
  }
  void store(Value pointer, Value value) { effect(spv::OpStore, {pointer, value}); }
  /// The same to memory that other invocations read.
  void store_shared(Value pointer, Value value) {
    if (!m.has_vulkan_memory()) return store(pointer, value);
    effect(spv::OpStore, {pointer, value, spv::MemoryAccessNonPrivatePointerMask});
  }
  /// Element of a variable that is an array.
  Value element(spv::StorageClass storage, Value type, Value array, Value index);

  // ---- Control flow ----
  template <class F>
  void if_then(Value condition, const F& body) {
    const Value inside = m.new_id(), after = m.new_id();
    effect(spv::OpSelectionMerge, {after, 0});
    effect(spv::OpBranchConditional, {condition, inside, after});
    label(inside);
    body();
    branch(after);
    label(after);
  }
  /// What `body` gives, or `otherwise` without running it.
  template <class F>
  Value if_value(Value condition, Value type, Value otherwise, const F& body) {
    const Value inside = m.new_id(), after = m.new_id();
    const Value before = block_;
    effect(spv::OpSelectionMerge, {after, 0});
    effect(spv::OpBranchConditional, {condition, inside, after});
    label(inside);
    const Value value = body();
    const Value last = block_;
    branch(after);
    label(after);
    return op(spv::OpPhi, type, {value, last, otherwise, before});
  }
  /// body(i) for i = begin, begin + step, .. below end, unsigned: `most` times at most.
  template <class F>
  void loop(Value begin, Value end, Value step, int64_t most, const F& body) {
    const double before = std::exchange(iterations_, 0);
    const Value counter = variable(m.u32());
    store(counter, begin);
    loop_while(
        [&] {
          return op(spv::OpULessThan, m.bool_type(), {load(m.u32(), counter), end});
        },
        [&] { body(load(m.u32(), counter)); },
        [&] {
          store(counter, op(spv::OpIAdd, m.u32(), {load(m.u32(), counter), step}));
        });
    iterations_ = before + static_cast<double>(most) * (1 + iterations_) + 1;
  }
  template <class F>
  void loop(Value begin, int64_t end, int64_t step, const F& body) {
    loop(begin, m.constant(static_cast<uint32_t>(end)), m.constant(static_cast<uint32_t>(step)),
         (end + step - 1) / step, body);
  }
  template <class F>
  void loop(int64_t extent, const F& body) {
    loop(m.constant(0), extent, 1, body);
  }
  /// So many rounds through loops an invocation makes at most, ended ones counted once more, since
  /// this was last asked.
  [[nodiscard]] double take_iterations() { return std::exchange(iterations_, 0); }
  template <class C, class B, class N>
  void loop_while(const C& condition, const B& body, const N& next) {
    const Value header = m.new_id(), test = m.new_id(), inside = m.new_id();
    const Value again = m.new_id(), after = m.new_id();
    branch(header);
    label(header);
    effect(spv::OpLoopMerge, {after, again, 0});
    branch(test);
    label(test);
    effect(spv::OpBranchConditional, {condition(), inside, after});
    label(inside);
    body();
    branch(again);
    label(again);
    next();
    branch(header);
    label(after);
  }
  /// All invocations of the workgroup meet, and see what the others stored before.
  void barrier();

  // ---- Shorthands ----
  Value add(Value a, Value b, int width = 32) {
    return op(spv::OpIAdd, m.integer_type(width), {a, b});
  }
  Value mul(Value a, Value b, int width = 32) {
    return op(spv::OpIMul, m.integer_type(width), {a, b});
  }
  Value select(Value type, Value condition, Value yes, Value no) {
    return op(spv::OpSelect, type, {condition, yes, no});
  }
  Value below(Value a, Value b) { return op(spv::OpULessThan, m.bool_type(), {a, b}); }
  Value widened(Value a) { return op(spv::OpUConvert, m.u64(), {a}); }
  Value narrowed(Value a) { return op(spv::OpUConvert, m.u32(), {a}); }

  /// 64 bits of two words.
  Value wide_word(Value low, Value high) {
    return op(
        spv::OpBitwiseOr, m.u64(),
        {widened(low), op(spv::OpShiftLeftLogical, m.u64(), {widened(high), m.constant(32)})});
  }

  // ---- Scalar operations, on values as Module::register_type has them ----
  Value unary(ScalarOp op, DType dtype, Value a);
  /// `dtype` is the operands'.
  Value binary(ScalarOp op, DType dtype, Value a, Value b);
  Value fma(DType dtype, Value a, Value b, Value c);
  Value choose(DType dtype, Value condition, Value yes, Value no);
  Value cast(DType from, DType to, Value a);
  Value bitcast(DType from, DType to, Value a);
  /// To what memory holds, and back.
  Value to_memory(DType dtype, Value a);
  Value from_memory(DType dtype, Value a);
  /// A float, hidden where a driver might find out that it is 0.
  Value guarded(DType dtype, Value a);
  /// The 0 that a sum of products begins with, in a form that no driver knows anything about.
  Value start_of_sum(DType dtype);
  /// As an integer of 32 bits, or of 64 for 64-bit types, and back: what workgroup memory holds.
  Value to_word(DType dtype, Value a);
  Value from_word(DType dtype, Value a);

 private:
  void label(Value id);
  void branch(Value target) { effect(spv::OpBranch, {target}); }
  [[nodiscard]] int word_width(DType dtype) const { return size_of(dtype) == 8 ? 64 : 32; }
  Value word_type(DType dtype) { return m.integer_type(word_width(dtype)); }
  /// A constant of the integer type that holds `dtype`.
  Value word(DType dtype, uint64_t value);
  /// The float `a`, in a form that no driver knows anything about.
  Value hidden(DType dtype, Value a);
  /// Whether a driver cannot find out at compile time what an instruction gives.
  [[nodiscard]] bool is_opaque(spv::Op code, Value type,
                               std::initializer_list<Value> operands) const;
  Value real(DType dtype, double value);
  Value bits_of(DType dtype, Value a);    ///< of a float
  Value with_bits(DType dtype, Value a);  ///< the float
  Value normalized(DType dtype, Value a);
  Value is_nan(DType dtype, Value bits);
  Value copy_sign(DType dtype, Value magnitude, Value sign);
  Value rounded(ScalarOp op, DType dtype, Value a);
  Value divide(ScalarOp op, DType dtype, Value a, Value b);
  Value shift(ScalarOp op, DType dtype, Value a, Value b);
  Value extremum(ScalarOp op, DType dtype, Value a, Value b);
  Value multiply_high(DType dtype, Value a, Value b);
  Value compare(ScalarOp op, DType dtype, Value a, Value b);
  Value truth_op(ScalarOp op, Value a, Value b);
  Value float_mod(DType dtype, Value a, Value b);
  Value integer_from_float(DType from, DType to, Value a);
  Value f32_from_f16(Value a);
  Value f16_from_f32(Value a);
  Value bf16_from_f32(Value a);

  Value id_, type_;
  std::vector<Value> parameters_;
  Words variables_;  ///< the head, the first block's label, the variables
  Words prologue_;   ///< the rest of the first block
  Words words_;      ///< from its branch on
  Value opaque_zero_ = 0;
  std::unordered_set<Value> opaque_;  ///< what depends on memory in a way that does not fall out
  Value block_ = 0;
  Value first_block_ = 0;
  double iterations_ = 0;
};

}  // namespace reprise::spirv
