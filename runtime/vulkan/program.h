// A plan's launches on a Vulkan device.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "ir/plan.h"
#include "runtime/device.h"
#include "runtime/vulkan/kernel.h"

namespace reprise::vulkan {

/// All launches in one submission, recorded at the first run and run again from then on: one
/// recording for each thread that runs it at the same time.
class PlanProgram final : public DeviceProgram {
 public:
  PlanProgram(Context& context, Allocator& allocator, Blocks& words, const Plan& plan,
              LaunchRange range, std::span<const std::shared_ptr<Executable>> executables);

  void run(std::span<void* const> addresses, std::span<const uint64_t> parameters,
           LaunchTimes* times) override;

 private:
  [[nodiscard]] std::unique_ptr<Recording> take_idle();
  /// Fills in the words of launches [first, first + as many as it has) and runs them.
  void run(Recording& recording, size_t first, size_t count, std::span<void* const> addresses,
           std::span<const uint64_t> parameters, const void* scratch);

  /// Runs it with a note of each launch's time.
  void run_timed(std::span<void* const> addresses, std::span<const uint64_t> parameters,
                 const void* scratch, LaunchTimes& times);

  Context& context_;
  Allocator& allocator_;
  Blocks& words_;
  const size_t first_;  ///< of the plan's launches
  const std::vector<Launch> launches_;
  std::vector<LaunchForm> forms_;
  size_t scratch_bytes_ = 0;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Recording>> idle_;
};

}  // namespace reprise::vulkan
