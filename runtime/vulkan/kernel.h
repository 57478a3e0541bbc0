// A kernel's pipelines, and launches of kernels recorded once to be run often.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "codegen/backend.h"
#include "runtime/device.h"
#include "runtime/vulkan/bindings.h"
#include "runtime/vulkan/context.h"
#include "runtime/vulkan/memory.h"
#include "runtime/vulkan/timestamps.h"

namespace reprise::vulkan {

/// One pipeline a phase.
class Kernel final : public Executable {
 public:
  /// Throws DeviceError when the bytes are no module or the driver refuses it.
  Kernel(const Context& context, const KernelCode& code);
  ~Kernel() override;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  /// Binds and dispatches every phase, a barrier behind each.
  void record(const Context::Commands& commands) const;
  /// The most that a phase asks for.
  [[nodiscard]] size_t scratch_bytes() const { return scratch_bytes_; }

 private:
  void destroy() noexcept;

  const Context& context_;
  std::vector<PhaseCode> phases_;
  std::vector<VkPipeline> pipelines_;  ///< by phase
  size_t scratch_bytes_ = 0;
};

/// A launch's form: what changes from run to run are the words it reads.
struct LaunchForm {
  std::shared_ptr<const Kernel> kernel;
  size_t buffers = 0, params = 0;
};

/// Launches in one command buffer, recorded when it is made. Not for several threads at once.
class Recording {
 public:
  /// `words` is memory that the host sees too. `timestamps`: marks one more than launches, which
  /// must outlive it; null: nobody asks when they are done.
  Recording(Context& context, Blocks& words, std::span<const LaunchForm> launches,
            const Timestamps* timestamps = nullptr);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Where launch `i` reads its words: buffers' addresses, then parameters.
  [[nodiscard]] std::span<uint64_t> words(size_t i);
  /// Runs all of them; `scratch` is the address of as many bytes as any kernel asks for.
  [[nodiscard]] LaunchStatus run(const void* scratch);

 private:
  void release() noexcept;
  /// Tells the next dispatches where launch `i` reads its words.
  void push(size_t i) const;

  Context& context_;
  std::vector<LaunchForm> launches_;
  std::vector<size_t> starts_;  ///< bytes into the words' memory, by launch; then the status's
  Blocks& blocks_;
  size_t bytes_ = 0;
  uint64_t address_ = 0;                ///< of the words, for shaders
  std::byte* host_ = nullptr;           ///< and here
  std::unique_ptr<Bindings> bindings_;  ///< where buffers have no addresses
  Context::Commands commands_;
};

}  // namespace reprise::vulkan
