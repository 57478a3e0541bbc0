// Words in, one submission, status out.
#include "runtime/vulkan/program.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <mutex>
#include <utility>

#include "runtime/launch_times.h"

namespace reprise::vulkan {

PlanProgram::PlanProgram(Context& context, Allocator& allocator, Blocks& words, const Plan& plan,
                         LaunchRange range,
                         std::span<const std::shared_ptr<Executable>> executables)
    : context_(context),
      allocator_(allocator),
      words_(words),
      first_(range.first),
      launches_(plan.launches.begin() + static_cast<ptrdiff_t>(range.first),
                plan.launches.begin() + static_cast<ptrdiff_t>(range.first + range.count)) {
  for (const Launch& launch : launches_) {
    auto kernel = std::static_pointer_cast<const Kernel>(executables[launch.kernel]);
    scratch_bytes_ = std::max(scratch_bytes_, kernel->scratch_bytes());
    forms_.push_back({std::move(kernel), launch.buffers.size(), launch.params.size()});
  }
}

std::unique_ptr<Recording> PlanProgram::take_idle() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return nullptr;
  std::unique_ptr<Recording> recording = std::move(idle_.back());
  idle_.pop_back();
  return recording;
}

void PlanProgram::run(Recording& recording, size_t first, size_t count,
                      std::span<void* const> addresses, std::span<const uint64_t> parameters,
                      const void* scratch) {
  for (size_t i = 0; i < count; ++i) {
    const Launch& launch = launches_[first + i];
    auto word = recording.words(i).begin();
    for (const SlotId slot : launch.buffers)
      *word++ = std::bit_cast<uint64_t>(addresses[slot.index]);
    for (const uint32_t param : launch.params) *word++ = parameters[param];
  }
  const LaunchStatus status = recording.run(scratch);
  if (status.failed) throw_bad_index(status);
}

void PlanProgram::run_timed(std::span<void* const> addresses, std::span<const uint64_t> parameters,
                            const void* scratch, LaunchTimes& times) {
  if (Timestamps::are_kept(context_)) {
    const Timestamps timestamps(context_, static_cast<uint32_t>(launches_.size()) + 1);
    Recording all(context_, words_, forms_, &timestamps);
    run(all, 0, launches_.size(), addresses, parameters, scratch);
    const std::vector<double> took = timestamps.read();
    for (size_t i = 0; i < took.size(); ++i) {
      times.add(first_ + i, std::chrono::nanoseconds(static_cast<int64_t>(took[i])));
    }
    return;
  }
  for (size_t i = 0; i < launches_.size(); ++i) {  // each alone, by the host's clock
    Recording alone(context_, words_, std::span(forms_).subspan(i, 1));
    const auto start = LaunchTimes::Clock::now();
    run(alone, i, 1, addresses, parameters, scratch);
    times.add(first_ + i, LaunchTimes::Clock::now() - start);
  }
}

void PlanProgram::run(std::span<void* const> addresses, std::span<const uint64_t> parameters,
                      LaunchTimes* times) {
  if (launches_.empty()) return;
  StoragePtr scratch;
  if (scratch_bytes_ > 0) scratch = allocator_.allocate(scratch_bytes_);
  const void* const scratch_at = scratch ? scratch->data() : nullptr;
  if (times != nullptr) return run_timed(addresses, parameters, scratch_at, *times);
  std::unique_ptr<Recording> recording = take_idle();
  if (!recording) recording = std::make_unique<Recording>(context_, words_, forms_);
  const auto give_back = [&] {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(recording));
  };
  try {
    run(*recording, 0, launches_.size(), addresses, parameters, scratch_at);
  } catch (...) {
    give_back();
    throw;
  }
  give_back();
}

}  // namespace reprise::vulkan
