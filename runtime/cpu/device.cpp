// The CPU as a device: blocks, loaded code, and launches over the thread pool.
#include "runtime/device.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "compiler/pipeline.h"
#include "ir/error.h"
#include "runtime/cpu/allocator.h"
#include "runtime/cpu/loader.h"
#include "runtime/cpu/target.h"
#include "runtime/cpu/thread_pool.h"

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

class CpuDevice final : public Device {
 public:
  CpuDevice() : target_(cpu_target()), allocator_(this, BlockAllocator::default_cache_limit()) {}

  [[nodiscard]] std::string_view name() const override { return "cpu"; }
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

 private:
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
