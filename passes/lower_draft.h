// A kernel under construction, and what its buffers and parameters are in the graph.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph.h"
#include "ir/kernel.h"

namespace reprise {

/// What stands behind a kernel's buffer.
struct BufferSource {
  enum class Kind : uint8_t {
    Input,    ///< the graph's input number `index`
    Value,    ///< the stored node number `index`
    Scratch,  ///< of this kernel alone
    Local,    ///< of each grid point; nothing is passed at launch
  };
  Kind kind = Kind::Scratch;
  uint32_t index = 0;
  friend bool operator==(const BufferSource&, const BufferSource&) = default;
};

/// `sources` is parallel to `kernel.buffers`, `params` to `kernel.params` (the graph's parameter).
struct KernelDraft {
  Kernel kernel;
  std::vector<BufferSource> sources;
  std::vector<uint32_t> params;
  /// Its only part runs block by block of an axis (passes/lower_blocks.h), which is still to be
  /// cut.
  bool in_blocks = false;

  [[nodiscard]] BufferId input(uint32_t index, DType dtype, int64_t extent) {
    return buffer({BufferSource::Kind::Input, index}, {BufferKind::Input, dtype, extent});
  }
  [[nodiscard]] BufferId read(NodeId value, DType dtype, int64_t extent) {
    return buffer({BufferSource::Kind::Value, value.index}, {BufferKind::Input, dtype, extent});
  }
  [[nodiscard]] BufferId write(NodeId value, DType dtype, int64_t extent) {
    return buffer({BufferSource::Kind::Value, value.index}, {BufferKind::Output, dtype, extent});
  }
  [[nodiscard]] BufferId scratch(DType dtype, int64_t extent);
  [[nodiscard]] uint32_t param(uint32_t index, DType dtype);

 private:
  [[nodiscard]] BufferId buffer(BufferSource source, const Buffer& buffer);
};

/// Puts buffers into launch order: inputs, outputs, scratch, locals, each in order of first use.
void order_buffers(KernelDraft& draft);

/// Whether the kernel writes a value larger than everything it reads together.
[[nodiscard]] bool is_expanding(const KernelDraft& draft);

/// Drops buffers that no body accesses.
void remove_unused_buffers(KernelDraft& draft);

/// Renumbers the parts of `from` for `into`, which gets the buffers and parameters it lacks. A
/// value that one writes and the other reads becomes one buffer.
void adopt_buffers(KernelDraft& into, KernelDraft& from);

/// Puts the parts of independent kernels side by side: phase i of the result holds the parts of all
/// phases i. Buffers of one source become one.
[[nodiscard]] KernelDraft merge_drafts(std::vector<KernelDraft> drafts);

/// Elements that accesses to a node's own storage may touch.
[[nodiscard]] int64_t storage_extent(const Node& node);

}  // namespace reprise
