// Loads the relocatable ELF objects that the CPU's code generator makes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "codegen/backend.h"

namespace reprise {

/// Pages that hold loaded code; unmapped with it.
class CodeMapping {
 public:
  CodeMapping() = default;
  CodeMapping(std::byte* data, size_t bytes) : data_(data), bytes_(bytes) {}
  ~CodeMapping();
  CodeMapping(CodeMapping&& other) noexcept;
  CodeMapping& operator=(CodeMapping&& other) noexcept;
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

struct LoadedCode {
  CodeMapping mapping;
  std::vector<CpuPhase> phases;  ///< the functions phase0, phase1, ..
};

/// Maps an x86-64 ELF object, relocates it and finds the entries of its `phases` phases. The pages
/// are written first and executable after: never both at once. Every offset and index in the bytes
/// is checked; throws DeviceError that says what is wrong with them.
[[nodiscard]] LoadedCode load_code(std::span<const std::byte> object, size_t phases);

}  // namespace reprise
