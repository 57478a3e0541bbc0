// Pipelines from a module; command buffers from pipelines.
#include "runtime/vulkan/kernel.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <string>

#include "ir/error.h"

namespace reprise::vulkan {
namespace {

constexpr uint32_t kSpirvMagic = 0x07230203;
constexpr size_t kWordsAlignment = 64;

/// Workgroups folded into three axes; those too many do nothing.
struct Groups {
  Groups(int64_t tasks, int64_t most) {
    x = std::min(tasks, most);
    y = std::min((tasks + x - 1) / x, most);
    z = (tasks + x * y - 1) / (x * y);
  }
  int64_t x, y, z;
};

}  // namespace

Kernel::Kernel(const Context& context, const KernelCode& code)
    : context_(context), phases_(code.phases) {
  const auto fail = [&](const std::string& what) {
    throw DeviceError(str("cannot load code for ", context.name(), ": ", what));
  };
  uint32_t magic = 0;
  if (code.bytes.size() >= sizeof magic) std::memcpy(&magic, code.bytes.data(), sizeof magic);
  if (magic != kSpirvMagic || code.bytes.size() % sizeof magic != 0) {
    fail(str("its ", code.bytes.size(), " bytes are no SPIR-V module"));
  }
  for (const PhaseCode& phase : phases_) {
    if (phase.tasks < 0 || phase.scratch_bytes < 0) {
      fail(str("a phase with ", phase.tasks, " tasks and ", phase.scratch_bytes,
               " bytes of scratch"));
    }
    scratch_bytes_ = std::max(scratch_bytes_, static_cast<size_t>(phase.scratch_bytes));
  }
  std::vector<uint32_t> words(code.bytes.size() / sizeof(uint32_t));
  std::memcpy(words.data(), code.bytes.data(), code.bytes.size());
  auto source = structure<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
  source.codeSize = code.bytes.size();
  source.pCode = words.data();
  const VolkDeviceTable& api = context.api();
  VkShaderModule module = VK_NULL_HANDLE;
  context.check(api.vkCreateShaderModule(context.device(), &source, nullptr, &module),
                "vkCreateShaderModule");
  VkResult result = VK_SUCCESS;
  for (size_t i = 0; i < phases_.size() && result == VK_SUCCESS; ++i) {
    pipelines_.push_back(VK_NULL_HANDLE);
    if (phases_[i].tasks == 0) continue;
    const std::string entry = str("phase", i);
    auto info =
        structure<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
    info.stage = structure<VkPipelineShaderStageCreateInfo>(
        VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO);
    if (context.target().shader.matrices.form == MatrixForm::Khr) {
      info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT;
    }
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = entry.c_str();
    info.layout = context.layout();
    result = api.vkCreateComputePipelines(context.device(), context.pipelines().handle(), 1, &info,
                                          nullptr, &pipelines_.back());
  }
  api.vkDestroyShaderModule(context.device(), module, nullptr);
  if (result == VK_SUCCESS) {
    context.pipelines().note();
    return;
  }
  destroy();
  context.check(result, "vkCreateComputePipelines");
}

Kernel::~Kernel() {
  destroy();
}

void Kernel::destroy() noexcept {
  for (const VkPipeline pipeline : pipelines_) {
    context_.api().vkDestroyPipeline(context_.device(), pipeline, nullptr);
  }
}

void Kernel::record(const Context::Commands& commands) const {
  const VolkDeviceTable& api = context_.api();
  for (size_t i = 0; i < phases_.size(); ++i) {
    if (phases_[i].tasks == 0) continue;
    api.vkCmdBindPipeline(commands.buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipelines_[i]);
    const Groups groups(phases_[i].tasks, context_.target().shader.max_groups);
    api.vkCmdDispatch(commands.buffer, static_cast<uint32_t>(groups.x),
                      static_cast<uint32_t>(groups.y), static_cast<uint32_t>(groups.z));
    context_.barrier(commands);
  }
}

Recording::Recording(Context& context, Blocks& words, std::span<const LaunchForm> launches,
                     const Timestamps* timestamps)
    : context_(context), launches_(launches.begin(), launches.end()), blocks_(words) {
  const auto reserve = [&](size_t bytes) {
    starts_.push_back(bytes_);
    bytes_ += (bytes + kWordsAlignment - 1) / kWordsAlignment * kWordsAlignment;
  };
  for (const LaunchForm& launch : launches_) {
    reserve(sizeof(uint64_t) * (launch.buffers + launch.params + 2));
  }
  reserve(sizeof(LaunchStatus));
  void* const memory = blocks_.allocate(bytes_);
  if (memory == nullptr) {
    throw OutOfMemoryError(str(context_.name(), ": no memory for the words of a launch"));
  }
  address_ = std::bit_cast<uint64_t>(memory);
  try {
    const Blocks::Place place = blocks_.find(memory);
    if (place.region.host == nullptr) {
      throw DeviceError(str(context_.name(), " has no memory that the host can write"));
    }
    host_ = place.region.host + place.offset;
    commands_ = context_.make_commands();
    context_.begin(commands_);
    if (!context_.target().shader.uses_addresses()) {
      bindings_ = std::make_unique<Bindings>(context_, place.region.buffer);
      bindings_->record(commands_);
    }
    if (timestamps != nullptr) {
      timestamps->reset(commands_);
      timestamps->mark(commands_, 0);
    }
    for (size_t i = 0; i < launches_.size(); ++i) {
      push(i);
      launches_[i].kernel->record(commands_);
      if (timestamps != nullptr) timestamps->mark(commands_, static_cast<uint32_t>(i) + 1);
    }
    context_.end(commands_);
  } catch (...) {
    release();
    throw;
  }
}

Recording::~Recording() {
  release();
}

void Recording::release() noexcept {
  if (commands_.pool != VK_NULL_HANDLE) context_.destroy(commands_);
  bindings_.reset();
  blocks_.free(std::bit_cast<void*>(address_), bytes_);
}

void Recording::push(size_t i) const {
  uint64_t word = address_ + starts_[i];
  // Where the buffer is bound: how many words of 32 bits into it, and zeros that nobody reads.
  if (bindings_) word = static_cast<uint32_t>(word) / sizeof(uint32_t);
  context_.api().vkCmdPushConstants(commands_.buffer, context_.layout(),
                                    VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof word, &word);
}

std::span<uint64_t> Recording::words(size_t i) {
  // A mapping starts aligned, and so does every launch in it.
  return {reinterpret_cast<uint64_t*>(host_ + starts_[i]),
          launches_[i].buffers + launches_[i].params};
}

LaunchStatus Recording::run(const void* scratch) {
  const size_t status_at = starts_.back();
  for (size_t i = 0; i < launches_.size(); ++i) {
    uint64_t* const last = words(i).data() + words(i).size();
    last[0] = address_ + status_at;
    last[1] = reinterpret_cast<uint64_t>(scratch);
  }
  LaunchStatus status;
  std::memcpy(host_ + status_at, &status, sizeof status);
  context_.run(commands_);
  std::memcpy(&status, host_ + status_at, sizeof status);
  return status;
}

}  // namespace reprise::vulkan
