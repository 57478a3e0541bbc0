// What a part reads and writes: buffers by address, workgroup memory, parameters, the status.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/spirv/arguments.h"
#include "codegen/spirv/function.h"
#include "codegen/spirv/layout.h"
#include "ir/kernel.h"

namespace reprise::spirv {

/// An integer of 32 bits or, `wide`, of 64. Value 0 stands for the number 0.
struct Variable {
  Value value = 0;
  bool wide = false;
};

/// The workgroup memory of one entry.
struct SharedMemory {
  Value narrow = 0, wide = 0;  ///< arrays of words
  Value quads = 0;             ///< an array of vectors of 4 words
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
  /// The quads of workgroup memory, for instructions that take pointers; and their words.
  Value quad_pointer(Value quad);
  Value load_quad_word(Value word);
  void store_quad_word(Value word, Value value);

 private:
  /// Word `index` is where element `index` of a place of words begins, at bit `shift`.
  struct Cut {
    Value pointer = 0, next = 0;  ///< the word, and the one behind it for 8 bytes
    Value shift = 0;              ///< for less than a word
  };
  [[nodiscard]] Value element(BufferId buffer, Value index);
  [[nodiscard]] Value typed_pointer(BufferId buffer, Value index);
  [[nodiscard]] Cut cut(BufferId buffer, Value index);
  [[nodiscard]] Value load_cut(BufferId buffer, Value index);
  void store_cut(BufferId buffer, Value index, Value value);
  Value private_pointer(BufferId buffer, Value index);
  Value shared_pointer(DType dtype, int64_t at, Value index);
  Value quad_word_pointer(Value word);

  Function& f_;
  const Kernel& kernel_;
  const Arguments& arguments_;
  const SharedMemory& shared_;
  const PartPlan& plan_;
  Value block_ = 0;
  std::vector<Place> places_;     ///< by BufferId: in device memory
  std::vector<Value> variables_;  ///< by BufferId: of invocations
};

}  // namespace reprise::spirv
