// A query pool of timestamps.
#include "runtime/vulkan/timestamps.h"

#include <algorithm>

namespace reprise::vulkan {
namespace {

/// Bits of a timestamp that mean something on the queue that runs our work; 0: it keeps no time.
uint32_t valid_bits(const Context& context) {
  const VkPhysicalDevice physical = context.hardware().physical;
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families.data());
  return families[context.hardware().queue_family].timestampValidBits;
}

double nanoseconds_per_tick(const Context& context) {
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(context.hardware().physical, &properties);
  return static_cast<double>(properties.limits.timestampPeriod);
}

}  // namespace

bool Timestamps::are_kept(const Context& context) {
  return valid_bits(context) > 0 && nanoseconds_per_tick(context) > 0;
}

Timestamps::Timestamps(const Context& context, uint32_t marks) : context_(context), marks_(marks) {
  auto info = structure<VkQueryPoolCreateInfo>(VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
  info.queryType = VK_QUERY_TYPE_TIMESTAMP;
  info.queryCount = marks;
  context.check(context.api().vkCreateQueryPool(context.device(), &info, nullptr, &pool_),
                "vkCreateQueryPool");
}

Timestamps::~Timestamps() {
  context_.api().vkDestroyQueryPool(context_.device(), pool_, nullptr);
}

void Timestamps::reset(const Context::Commands& commands) const {
  context_.api().vkCmdResetQueryPool(commands.buffer, pool_, 0, marks_);
}

void Timestamps::mark(const Context::Commands& commands, uint32_t number) const {
  context_.api().vkCmdWriteTimestamp(commands.buffer, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool_,
                                     number);
}

std::vector<double> Timestamps::read() const {
  std::vector<uint64_t> ticks(marks_);
  context_.check(
      context_.api().vkGetQueryPoolResults(
          context_.device(), pool_, 0, marks_, ticks.size() * sizeof(uint64_t), ticks.data(),
          sizeof(uint64_t), VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
      "vkGetQueryPoolResults");
  const uint32_t bits = valid_bits(context_);
  const uint64_t mask = bits >= 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
  const double period = nanoseconds_per_tick(context_);
  std::vector<double> times;
  for (size_t i = 1; i < ticks.size(); ++i) {
    times.push_back(static_cast<double>((ticks[i] - ticks[i - 1]) & mask) * period);
  }
  return times;
}

}  // namespace reprise::vulkan
