// When a device was done with each part of a command buffer, by its own clock.
#pragma once

#include <vector>

#include "runtime/vulkan/context.h"

namespace reprise::vulkan {

class Timestamps {
 public:
  /// Room for the times of so many marks. Without a clock on the device's queue nothing is
  /// measured.
  Timestamps(const Context& context, uint32_t marks);
  ~Timestamps();
  Timestamps(const Timestamps&) = delete;
  Timestamps& operator=(const Timestamps&) = delete;

  [[nodiscard]] static bool are_kept(const Context& context);
  /// Before the first mark of a recording.
  void reset(const Context::Commands& commands) const;
  /// Notes when all that was recorded before is done.
  void mark(const Context::Commands& commands, uint32_t number) const;
  /// Nanoseconds between neighbouring marks, once the recording has run.
  [[nodiscard]] std::vector<double> read() const;

 private:
  const Context& context_;
  const uint32_t marks_;
  VkQueryPool pool_ = VK_NULL_HANDLE;
};

}  // namespace reprise::vulkan
