// The CPU as a device: blocks, loaded code, and launches over the thread pool.
#include "runtime/device.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "compiler/pipeline.h"
#include "ir/error.h"
#include "ir/small_vector.h"
#include "runtime/block_allocator.h"
#include "runtime/cpu/blocks.h"
#include "runtime/cpu/loader.h"
#include "runtime/cpu/target.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/launch_times.h"

namespace reprise {
namespace {

class CpuExecutable final : public Executable {
 public:
  CpuExecutable(LoadedCode code, std::vector<PhaseCode> phases)
      : code_(std::move(code)), phases_(std::move(phases)) {
    for (const PhaseCode& phase : phases_) scratch_ = std::max(scratch_, phase.scratch_bytes);
  }

  void launch(const CpuLaunch& launch) const {
    ThreadPool& pool = ThreadPool::get();
    for (size_t i = 0; i < phases_.size(); ++i) {
      // All phases ask for the most scratch, so that the first is where memory may run out.
      // Returning from one phase is the barrier before the next.
      const PhaseCode& phase = phases_[i];
      const CpuPhase entry = code_.phases[i];
      pool.parallel_for(phase.tasks, phase.cost_ns, scratch_,
                        [&launch, entry](int64_t begin, int64_t end, void* scratch) {
                          entry(&launch, begin, end, scratch);
                        });
    }
  }

 private:
  LoadedCode code_;
  std::vector<PhaseCode> phases_;
  int64_t scratch_ = 0;
};

/// Launches one after another, each shared by the pool's threads.
class CpuProgram final : public DeviceProgram {
 public:
  CpuProgram(const Plan& plan, LaunchRange range,
             std::span<const std::shared_ptr<Executable>> executables)
      : first_(range.first) {
    for (size_t i = 0; i < range.count; ++i) {
      launches_.push_back(plan.launches[range.first + i]);
      executables_.push_back(executables[launches_.back().kernel]);
    }
  }

  void run(std::span<void* const> addresses, std::span<const uint64_t> parameters,
           LaunchTimes* times) override {
    LaunchStatus status;
    SmallVector<void*, 32> buffers;
    SmallVector<uint64_t, 16> params;
    LaunchTimes::Clock::time_point start;
    for (size_t i = 0; i < launches_.size(); ++i) {
      const Launch& launch = launches_[i];
      if (times != nullptr) start = LaunchTimes::Clock::now();
      buffers.clear();
      for (const SlotId slot : launch.buffers) buffers.push_back(addresses[slot.index]);
      params.clear();
      for (const uint32_t param : launch.params) params.push_back(parameters[param]);
      static_cast<const CpuExecutable&>(*executables_[i])
          .launch({buffers.data(), params.data(), &status});
      if (times != nullptr) times->add(first_ + i, LaunchTimes::Clock::now() - start);
      if (status.failed) throw_bad_index(status);
    }
  }

 private:
  const size_t first_;  ///< of the plan's launches
  std::vector<Launch> launches_;
  std::vector<std::shared_ptr<Executable>> executables_;  ///< by launch
};

class CpuDevice final : public Device {
 public:
  CpuDevice() : target_(cpu_target()), allocator_(this, cpu_blocks(), cpu_cache_limit()) {}

  [[nodiscard]] std::string_view name() const override { return "cpu"; }
  [[nodiscard]] std::string description() const override { return cpu_name(); }
  [[nodiscard]] int index() const override { return 0; }
  [[nodiscard]] const TargetInfo& target() const override { return target_; }
  [[nodiscard]] const Backend& backend() override { return llvm_backend(); }
  [[nodiscard]] Allocator& allocator() override { return allocator_; }

  [[nodiscard]] std::shared_ptr<Executable> load(const KernelCode& code) override {
    for (const PhaseCode& phase : code.phases) {
      if (phase.tasks < 0 || phase.scratch_bytes < 0) {
        throw DeviceError(str("cannot load code for the CPU: a phase with ", phase.tasks,
                              " tasks and ", phase.scratch_bytes, " bytes of scratch"));
      }
    }
    return std::make_shared<CpuExecutable>(load_code(code.bytes, code.phases.size()), code.phases);
  }

  void launch(const Executable& executable, std::span<void* const> buffers,
              std::span<const uint64_t> params, LaunchStatus* status) override {
    LaunchStatus ignored;
    const CpuLaunch launch{buffers.data(), params.data(), status != nullptr ? status : &ignored};
    static_cast<const CpuExecutable&>(executable).launch(launch);
  }

  [[nodiscard]] std::unique_ptr<DeviceProgram> make_program(
      const Plan& plan, LaunchRange launches,
      std::span<const std::shared_ptr<Executable>> executables) override {
    return std::make_unique<CpuProgram>(plan, launches, executables);
  }
  [[nodiscard]] bool stops_at_bad_index() const override { return true; }
  void upload(void* to, const void* from, size_t bytes) override { copy(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes) override { copy(to, from, bytes); }
  [[nodiscard]] std::unique_ptr<Mapping> map(const Storage& storage) override {
    void* const here = storage.device()->host_address(storage.data());
    return here != nullptr ? std::make_unique<Mapping>(here) : nullptr;
  }
  [[nodiscard]] void* host_address(void* address) override { return address; }

 private:
  static void copy(void* to, const void* from, size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }

  TargetInfo target_;
  BlockAllocator allocator_;
};

}  // namespace

Device& cpu_device() {
  // Never destroyed: storage may outlive every other static.
  static CpuDevice& device = *new CpuDevice;
  return device;
}

void set_num_threads(int threads) {
  ThreadPool::get().set_threads(threads);
}
int num_threads() {
  return ThreadPool::get().threads();
}

}  // namespace reprise
