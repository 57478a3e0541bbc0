// A SPIR-V module being written: sections of words, types and constants each made once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <spirv/unified1/spirv.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dtype.h"
#include "ir/target.h"

namespace reprise::spirv {

/// The result of an instruction; 0 is none.
using Value = uint32_t;
using Words = std::vector<uint32_t>;

/// Appends one instruction.
void append(Words& words, spv::Op op, std::span<const uint32_t> operands);
inline void append(Words& words, spv::Op op, std::initializer_list<uint32_t> operands) {
  append(words, op, std::span(operands.begin(), operands.size()));
}
/// `text` as zero-terminated words.
void append_text(Words& words, std::string_view text);

class Module {
 public:
  /// `matrices`: matrix instructions will turn up, which ask for Vulkan's memory model.
  explicit Module(const TargetInfo& target, bool matrices = false);

  [[nodiscard]] const TargetInfo& target() const { return target_; }
  /// Whether only accesses that say so see what other invocations do, and barriers show it to them;
  /// else all do, and buffers are decorated coherent.
  [[nodiscard]] bool has_vulkan_memory() const { return vulkan_memory_; }
  [[nodiscard]] Value new_id() { return next_++; }

  // ---- Types ----
  [[nodiscard]] Value void_type() { return type(spv::OpTypeVoid, {}); }
  [[nodiscard]] Value bool_type() { return type(spv::OpTypeBool, {}); }
  /// Integers carry no sign; operations do. 8 and 16 bits are for elements in memory only.
  [[nodiscard]] Value integer_type(int width);
  [[nodiscard]] Value float_type(int width);
  [[nodiscard]] bool is_float_type(Value type) const { return float_types_.contains(type); }
  [[nodiscard]] Value u32() { return integer_type(32); }
  [[nodiscard]] Value u64() { return integer_type(64); }
  [[nodiscard]] Value vector_type(Value element, uint32_t count);
  [[nodiscard]] Value array_type(Value element, int64_t count);
  [[nodiscard]] Value pointer_type(spv::StorageClass storage, Value pointee);
  [[nodiscard]] Value function_type(Value result, std::span<const Value> parameters);
  /// What a value of `dtype` is in registers: integers narrower than 32 bits are kept in 32,
  /// extended by their sign or zeros, half types are their bits.
  [[nodiscard]] Value register_type(DType dtype);
  /// The same in a buffer. Throws UnsupportedError where the target cannot access such elements.
  [[nodiscard]] Value memory_type(DType dtype);
  /// struct { T data[]; } in device memory. Coherent: what one invocation stores, others load.
  [[nodiscard]] Value block_type(DType dtype, bool coherent);
  /// A struct with the given members at the given byte offsets, for an interface.
  [[nodiscard]] Value struct_type(std::span<const Value> members,
                                  std::span<const uint32_t> offsets);

  /// What has no member of its own here.
  [[nodiscard]] Value type(spv::Op op, std::initializer_list<uint32_t> operands);

  // ---- Constants ----
  [[nodiscard]] Value constant(uint32_t value);
  [[nodiscard]] Value constant64(uint64_t value);
  [[nodiscard]] Value truth(bool value);
  /// Raw bits of an element, as a register holds it.
  [[nodiscard]] Value constant_bits(DType dtype, uint64_t bits);
  [[nodiscard]] Value zero(Value type);
  /// Of a composite whose elements are all `element`.
  [[nodiscard]] Value filled(Value type, Value element);
  /// Whether this is a constant that is 0, of either sign.
  [[nodiscard]] bool is_zero(Value value) const { return zeros_.contains(value); }
  /// Whether this is a float constant that is not 0.
  [[nodiscard]] bool is_nonzero_float(Value value) const { return nonzero_floats_.contains(value); }

  // ---- Globals ----
  [[nodiscard]] Value global(spv::StorageClass storage, Value pointee);
  /// A built-in input of type `type`; one variable each.
  [[nodiscard]] Value built_in(spv::BuiltIn which, Value type);

  void capability(spv::Capability capability) { capabilities_.insert(capability); }
  void extension(std::string_view name) { extensions_.emplace(name); }
  void decorate(Value target, spv::Decoration decoration,
                std::initializer_list<uint32_t> operands = {});
  void name(Value target, std::string_view text);
  /// The instruction set with sqrt, floor and the like.
  [[nodiscard]] Value extended_instructions();

  void add_function(const Words& words) {
    functions_.insert(functions_.end(), words.begin(), words.end());
  }
  /// A function that several others call, by name; 0 as long as nobody has set it.
  [[nodiscard]] Value& shared_function(std::string_view name) { return shared_[std::string(name)]; }
  /// A compute entry of one-dimensional workgroups.
  void add_entry(Value function, std::string_view name, uint32_t invocations);

  [[nodiscard]] Words finish();

 private:
  Value unique(spv::Op op, std::span<const uint32_t> operands, bool typed);
  void float_controls(Words& modes, Value entry);

  const TargetInfo& target_;
  const bool vulkan_memory_;
  Value next_ = 1;
  Value extended_ = 0;
  std::set<uint32_t> capabilities_;
  std::set<std::string> extensions_;
  Words names_, decorations_, declarations_, functions_;
  std::vector<std::pair<Value, std::string>> entries_;
  uint32_t invocations_ = 1;
  std::map<Words, Value> known_;
  std::map<std::pair<Value, bool>, Value> blocks_;
  std::map<uint32_t, Value> built_ins_;
  std::map<std::string, Value> shared_;
  std::set<Value> float_types_, zeros_, nonzero_floats_;
};

}  // namespace reprise::spirv
