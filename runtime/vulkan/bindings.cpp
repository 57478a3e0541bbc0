// One pool for one set.
#include "runtime/vulkan/bindings.h"

namespace reprise::vulkan {

Bindings::Bindings(const Context& context, VkBuffer words) : context_(context) {
  const VolkDeviceTable& api = context.api();
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2};
  auto info = structure<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
  info.maxSets = 1;
  info.poolSizeCount = 1;
  info.pPoolSizes = &size;
  context.check(api.vkCreateDescriptorPool(context.device(), &info, nullptr, &pool_),
                "vkCreateDescriptorPool");
  const VkDescriptorSetLayout layout = context.bindings();
  auto allocate =
      structure<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
  allocate.descriptorPool = pool_;
  allocate.descriptorSetCount = 1;
  allocate.pSetLayouts = &layout;
  const VkResult result = api.vkAllocateDescriptorSets(context.device(), &allocate, &set_);
  if (result != VK_SUCCESS) {
    api.vkDestroyDescriptorPool(context.device(), pool_, nullptr);
    context.check(result, "vkAllocateDescriptorSets");
  }
  // As long as nothing is in memory no kernel reads it: something must be bound.
  const VkBuffer memory = context.memory() != VK_NULL_HANDLE ? context.memory() : words;
  const VkDescriptorBufferInfo buffers[] = {{memory, 0, VK_WHOLE_SIZE}, {words, 0, VK_WHOLE_SIZE}};
  auto write = structure<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
  write.dstSet = set_;
  write.descriptorCount = 2;
  write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  write.pBufferInfo = buffers;
  api.vkUpdateDescriptorSets(context.device(), 1, &write, 0, nullptr);
}

Bindings::~Bindings() {
  context_.api().vkDestroyDescriptorPool(context_.device(), pool_, nullptr);
}

void Bindings::record(const Context::Commands& commands) const {
  context_.api().vkCmdBindDescriptorSets(commands.buffer, VK_PIPELINE_BIND_POINT_COMPUTE,
                                         context_.layout(), 0, 1, &set_, 0, nullptr);
}

}  // namespace reprise::vulkan
