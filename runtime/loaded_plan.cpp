// From a graph to a plan with its code loaded, or the one that an equal graph got before.
#include <chrono>
#include <cstring>

#include "ir/hash.h"
#include "ir/log.h"
#include "runtime/dump.h"
#include "runtime/runtime_impl.h"

namespace reprise {

namespace {

bool checks_indices(const Kernel& kernel) {
  for (const Phase& phase : kernel.phases) {
    for (const Part& part : phase.parts) {
      for (const Stage& stage : part.stages) {
        for (const Body* body : {&stage.body, &stage.post}) {
          for (const Instr& instr : body->instrs) {
            if (instr.op == ScalarOp::CheckIndex) return true;
          }
        }
      }
    }
  }
  return false;
}

/// An index out of range stops a plan: what was donated must still hold its old value then, so only
/// outputs written after the last launch that checks an index may take over storage.
void keep_safe_donations(Plan& plan, std::span<const Kernel> kernels, const Device& device) {
  size_t checked = 0;  // launches up to the last one that checks
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    if (checks_indices(kernels[plan.launches[i].kernel])) checked = i + 1;
  }
  if (checked > 0 && !device.stops_at_bad_index()) checked = plan.launches.size();
  std::vector<char> early(plan.slots.size(), 0);
  for (size_t i = 0; i < checked; ++i) {
    for (const SlotId slot : plan.launches[i].buffers) early[slot.index] = 1;
  }
  std::erase_if(plan.donations, [&](const Donation& donation) {
    for (size_t i = 0; i < plan.slots.size(); ++i) {
      const Slot& slot = plan.slots[i];
      if (slot.kind == SlotKind::Output && slot.index == donation.output && early[i]) return true;
    }
    return false;
  });
}

std::vector<uint64_t> key_of(const Device& device, std::span<const std::byte> graph) {
  std::vector<uint64_t> words(2 + (graph.size() + 7) / 8);
  words[0] = static_cast<uint64_t>(device.index());
  words[1] = graph.size();
  std::memcpy(words.data() + 2, graph.data(), graph.size());
  return words;
}

}  // namespace

size_t bytes_of(std::span<const uint64_t> key, const PlanEntry& entry) {
  size_t bytes =
      key.size_bytes() + sizeof entry + 4 * entry.parameters.size() + 4 * entry.outputs.size();
  for (const PlanEntry::Input& input : entry.inputs) bytes += sizeof input + 4 * input.users.size();
  return bytes;
}

size_t bytes_of(std::span<const uint64_t> key, const LoadedPlan& loaded) {
  const Plan& plan = loaded.plan;
  size_t bytes = key.size_bytes() + sizeof loaded + plan.slots.size() * sizeof(Slot) +
                 loaded.types.size() * (sizeof(TensorType) + sizeof loaded.strides[0]);
  for (const Launch& launch : plan.launches) {
    bytes += sizeof launch + 4 * (launch.buffers.size() + launch.params.size());
  }
  constexpr size_t kMappedCode = 4096;  // at least a page each
  return bytes + kMappedCode * loaded.kernels;
}

/// Code of every kernel. A code generator knows no devices: who lacks what it could not do without
/// is said here.
std::vector<std::shared_ptr<const KernelCode>> generate(KernelCache& kernels,
                                                        const CompiledGraph& compiled,
                                                        Device& device,
                                                        const CompileOptions& options,
                                                        const StageObserver& observer) {
  try {
    return kernels.get_all(device.backend(), compiled, device.target(), options, num_threads(),
                           observer);
  } catch (const UnsupportedError& error) {
    throw UnsupportedError(str(device.name(), " (", device.description(), "): ", error.what()));
  }
}

std::shared_ptr<const LoadedPlan> Runtime::Impl::load_plan(const Graph& graph, Device& device) {
  const StageObserver observer = dump_observer();
  const Graph optimized = optimize(graph, observer);
  const std::vector<std::byte> bytes = key_bytes(optimized);
  bool made = false;
  const auto start = std::chrono::steady_clock::now();
  auto plan = loaded_plans.get_or_make(
      hash_bytes(bytes).low + static_cast<uint64_t>(device.index()), key_of(device, bytes),
      [&] {
        CompiledGraph compiled = compile_optimized(optimized, device.target(), options, observer);
        auto loaded = std::make_shared<LoadedPlan>();
        loaded->device = &device;
        std::vector<std::shared_ptr<Executable>> executables;
        for (const auto& code : generate(kernels, compiled, device, options, observer)) {
          executables.push_back(device.load(*code));
        }
        loaded->kernels = executables.size();
        loaded->plan = std::move(compiled.plan);
        keep_safe_donations(loaded->plan, compiled.kernels, device);
        loaded->program = device.make_program(loaded->plan, std::move(executables));
        for (const NodeId output : optimized.outputs()) {
          loaded->types.push_back(optimized[output].type);
          loaded->strides.push_back(contiguous_byte_strides(optimized[output].type));
        }
        for (const Alias& alias : loaded->plan.aliases) {
          auto& strides = loaded->strides[alias.output] = {};
          const auto width = static_cast<int64_t>(size_of(loaded->types[alias.output].dtype));
          for (size_t i = 0; i < alias.strides.size(); ++i) strides[i] = alias.strides[i] * width;
        }
        if (log_wants("time")) {
          loaded->times = std::make_shared<LaunchTimes>(loaded->plan);
          print_at_exit(loaded->times);
        }
        return loaded;
      },
      &made);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (log_wants("cache")) {
    log_line("cache", made ? str("graph miss: compiled ", plan->plan.launches.size(),
                                 " launches in ", 1e3 * elapsed.count(), " ms")
                           : str("graph hit: the trace was new, its optimized graph was not"));
  }
  Locked locked(*this);
  ++(made ? counters.plans_compiled : counters.graph_hits);
  if (made) counters.compile_seconds += elapsed.count();
  return plan;
}

std::shared_ptr<const LoadedPlan> Runtime::load_plan(const Graph& graph, Device& device) {
  return impl_->load_plan(graph, device);
}

}  // namespace reprise
