// What a part reads and writes: buffers by address, workgroup memory, parameters, the status.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/spirv/function.h"
#include "codegen/spirv/layout.h"
#include "ir/kernel.h"

namespace reprise::spirv {

/// An integer of 32 bits or, `wide`, of 64. Value 0 stands for the number 0.
struct Variable {
  Value value = 0;
  bool wide = false;
};

/// The arguments that every entry of a module takes, as the ABI in codegen/backend.h has them.
/// Buffers named by descriptors instead of addresses would be another one of these.
class Arguments {
 public:
  /// `coherent`, by BufferId: invocations load what others of their group stored.
  Arguments(Module& module, const Kernel& kernel, const std::vector<bool>& coherent);

  /// The address of everything, loaded once in a function.
  [[nodiscard]] Value load_block(Function& f) const;
  [[nodiscard]] Value load_buffer(Function& f, Value block, BufferId buffer) const;
  [[nodiscard]] Value load_param(Function& f, Value block, uint32_t param, DType dtype) const;
  [[nodiscard]] Value load_status(Function& f, Value block) const;
  /// As a pointer to elements of `dtype`.
  [[nodiscard]] Value load_scratch(Function& f, Value block, DType dtype) const;
  [[nodiscard]] bool is_coherent(BufferId buffer) const { return coherent_[buffer.index]; }

 private:
  Value load_member(Function& f, Value block, uint32_t member) const;

  std::vector<bool> coherent_;
  std::vector<Value> members_;       ///< types
  std::vector<Value> buffer_types_;  ///< what a buffer's member stands for
  uint32_t first_param_ = 0;
  Value block_pointer_ = 0;
  Value push_ = 0;
};

/// The workgroup memory of one entry.
struct SharedMemory {
  Value narrow = 0, wide = 0;  ///< arrays of words
  SharedMemory(Module& module, const SharedWords& words);
};

class PartMemory {
 public:
  PartMemory(Function& f, const Kernel& kernel, const Arguments& arguments,
             const SharedMemory& shared, const PartPlan& plan);

  /// `group`: which piece of the scratch is this part's; `scratch_begin`: where the pieces begin.
  void use_scratch(Value group, int64_t scratch_begin);
  /// Whether an element of the buffer is named by 64 bits.
  [[nodiscard]] bool is_wide(BufferId buffer) const;
  Value load(BufferId buffer, Value index);
  void store(BufferId buffer, Value index, Value value);
  Value param(uint32_t param, DType dtype);
  /// Says that `index`, of 64 bits, is not below `extent`; the first to say so is heard.
  void report(Value index, int64_t extent);

  /// Element `index` of workgroup memory from word `at`, of the words that hold `dtype`.
  Value load_shared(DType dtype, int64_t at, Value index);
  void store_shared(DType dtype, int64_t at, Value index, Value value);

 private:
  Value pointer(BufferId buffer, Value index);
  Value shared_pointer(DType dtype, int64_t at, Value index);

  Function& f_;
  const Kernel& kernel_;
  const Arguments& arguments_;
  const SharedMemory& shared_;
  const PartPlan& plan_;
  Value block_ = 0;
  std::vector<Value> pointers_;  ///< by BufferId: block pointers, or variables
  Value scratch_offset_ = 0;     ///< bytes, of 64 bits
};

}  // namespace reprise::spirv
