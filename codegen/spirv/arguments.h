// What every entry of a module is given: where its buffers are, parameters, the status, scratch.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/spirv/function.h"
#include "ir/kernel.h"

namespace reprise::spirv {

/// Elements of one type that are reached from `pointer`, a struct { T data[]; }: T is the type in
/// memory or, where the device has no accesses of that size, words of 32 bits.
struct Place {
  Value pointer = 0;
  spv::StorageClass storage = spv::StorageClassPhysicalStorageBuffer;
  bool words = false;
  Value first = 0;        ///< of the elements; 0: the array's first
  bool wide = false;      ///< `first` has 64 bits
  bool coherent = false;  ///< invocations load what others of their group stored
};

/// The arguments as the ABI in codegen/backend.h has them: addresses, or, where the target has no
/// such, offsets into one buffer of words that holds all of the device's memory.
class Arguments {
 public:
  /// `coherent`, by BufferId: invocations load what others of their group stored.
  Arguments(Module& module, const Kernel& kernel, const std::vector<bool>& coherent,
            bool uses_scratch);

  /// Where all the rest is, loaded once in a function.
  [[nodiscard]] Value load_block(Function& f) const;
  [[nodiscard]] Place load_buffer(Function& f, Value block, BufferId buffer) const;
  [[nodiscard]] Value load_param(Function& f, Value block, uint32_t param, DType dtype) const;
  /// As words.
  [[nodiscard]] Place load_status(Function& f, Value block) const;
  /// As elements of `dtype`; `offset` is in bytes, of 64 bits where there are addresses, else 32.
  [[nodiscard]] Place load_scratch(Function& f, Value block, DType dtype, Value offset) const;

 private:
  void declare_addresses(const Kernel& kernel);
  void declare_bindings(const Kernel& kernel, bool uses_scratch);
  /// Whether elements of `dtype` are cut out of words.
  [[nodiscard]] bool in_words(DType dtype) const;
  /// Member `member` of the block of addresses, as it was declared.
  Value load_member(Function& f, Value block, uint32_t member) const;
  /// Half of a word of 8 bytes.
  Value load_half(Function& f, Value block, uint32_t member, uint32_t half) const;

  Module& m_;
  const std::vector<bool> coherent_;
  const std::vector<Buffer>& buffers_;
  bool addresses_ = false;
  uint32_t first_param_ = 0, num_members_ = 0;
  Value push_ = 0;
  // With addresses:
  std::vector<Value> members_;  ///< types
  Value block_pointer_ = 0;
  // Without:
  Value memory_ = 0, arguments_ = 0;  ///< the buffers that are bound
  bool coherent_memory_ = false;      ///< the first of them is
};

/// A pointer to word `index` of a place of words.
[[nodiscard]] Value word_pointer(Function& f, const Place& place, Value index);
/// From device memory that no other invocation writes.
[[nodiscard]] Value aligned_load(Function& f, Value type, Value pointer, uint32_t bytes);
/// From and to the memory of `place`.
[[nodiscard]] Value load_from(Function& f, const Place& place, Value type, Value pointer,
                              uint32_t bytes);
void store_to(Function& f, const Place& place, Value pointer, Value value, uint32_t bytes);

}  // namespace reprise::spirv
