// The two buffers that shaders have bound on devices without addresses of buffers.
#pragma once

#include "runtime/vulkan/context.h"

namespace reprise::vulkan {

/// A descriptor set: the memory for shaders, and that of a launch's words.
class Bindings {
 public:
  Bindings(const Context& context, VkBuffer words);
  ~Bindings();
  Bindings(const Bindings&) = delete;
  Bindings& operator=(const Bindings&) = delete;

  /// For all that is dispatched after it.
  void record(const Context::Commands& commands) const;

 private:
  const Context& context_;
  VkDescriptorPool pool_ = VK_NULL_HANDLE;
  VkDescriptorSet set_ = VK_NULL_HANDLE;
};

}  // namespace reprise::vulkan
