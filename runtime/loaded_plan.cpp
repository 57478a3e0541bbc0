// From a graph to a plan with its code loaded, or the one that an equal graph got before.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <thread>

#include "compiler/partitioned.h"
#include "ir/error.h"
#include "ir/hash.h"
#include "ir/log.h"
#include "ir/placement.h"
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

/// What can make a plan end early once it has begun, by launch.
struct Hazards {
  std::vector<char> checks;            ///< an index may be out of range
  std::vector<const Device*> devices;  ///< those other than the CPU may be lost
};

/// Behind a launch that a plan may stop in, what was donated must still hold its old value: only
/// outputs written after the last launch that checks an index may take over storage, and none of a
/// device when another one, which may be lost, has something to do later.
void keep_safe_donations(Plan& plan, const Hazards& hazards) {
  const size_t count = plan.launches.size();
  size_t checked = 0;  // launches up to the last one that checks
  for (size_t i = 0; i < count; ++i) {
    if (hazards.checks[i] == 0) continue;
    // What is submitted together runs to its end.
    checked = hazards.devices[i]->stops_at_bad_index() ? i + 1 : count;
  }
  std::erase_if(plan.donations, [&](const Donation& donation) {
    for (size_t i = 0; i < plan.slots.size(); ++i) {
      const Slot& slot = plan.slots[i];
      if (slot.kind != SlotKind::Output || slot.index != donation.output) continue;
      bool written = false;
      for (size_t l = 0; l < count; ++l) {
        const auto& buffers = plan.launches[l].buffers;
        const SlotId id{static_cast<uint32_t>(i)};
        const bool writes = std::find(buffers.begin(), buffers.end(), id) != buffers.end();
        if (writes && l < checked) return true;
        const bool elsewhere =
            plan.slots[buffers.empty() ? i : buffers[0].index].device != slot.device;
        if (written && elsewhere && hazards.devices[l] != &cpu_device()) return true;
        written |= writes;
      }
    }
    return false;
  });
}

std::vector<uint64_t> key_of(const Device& device, std::span<const uint32_t> output_devices,
                             std::span<const std::byte> graph) {
  std::vector<uint64_t> words(2 + (graph.size() + 7) / 8);
  words[0] = static_cast<uint64_t>(device.index());
  words[1] = graph.size();
  std::memcpy(words.data() + 2, graph.data(), graph.size());
  words.insert(words.end(), output_devices.begin(), output_devices.end());
  return words;
}

/// Loads kernels, several at once where that takes long.
std::vector<std::shared_ptr<Executable>> load_all(
    Device& device, std::span<const std::shared_ptr<const KernelCode>> codes, int threads) {
  std::vector<std::shared_ptr<Executable>> executables(codes.size());
  std::vector<std::exception_ptr> errors(codes.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i; (i = next++) < codes.size();) {
      try {
        executables[i] = device.load(*codes[i]);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  };
  std::vector<std::jthread> others;
  const size_t most = device.translates_code() ? static_cast<size_t>(threads) : 1;
  for (size_t i = 1; i < std::min(codes.size(), most); ++i) others.emplace_back(work);
  work();
  others.clear();  // joins
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return executables;
}

/// Launches of one device that follow each other become one program.
std::vector<LoadedPlan::Step> make_steps(const LoadedPlan& loaded,
                                         std::span<const std::shared_ptr<Executable>> executables) {
  const Plan& plan = loaded.plan;
  std::vector<LoadedPlan::Step> made;
  LaunchRange range;
  const auto flush = [&] {
    if (range.count == 0) return;
    Device& device = *loaded.devices[device_of(plan, plan.launches[range.first])];
    made.push_back({device.make_program(plan, range, executables), 0});
    range = {range.first + range.count, 0};
  };
  for (const PlanStep step : steps(plan)) {
    if (step.kind == PlanStep::Kind::Transfer) {
      flush();
      made.push_back({nullptr, step.index});
      continue;
    }
    if (range.count > 0 &&
        device_of(plan, plan.launches[step.index]) != device_of(plan, plan.launches[range.first])) {
      flush();
    }
    ++range.count;
  }
  flush();
  return made;
}

/// Nobody looks for other devices for the CPU's sake.
Device& device_at(uint32_t index) {
  if (index == 0) return cpu_device();
  if (index >= devices().size()) throw DeviceError(str("there is no device ", index));
  return *devices()[index];
}

const TargetInfo& target_info(uint32_t device) {
  return device_at(device).target();
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

std::shared_ptr<LoadedPlan> Runtime::Impl::make_plan(const Graph& graph, PartitionedGraph compiled,
                                                     const StageObserver& observer) {
  auto loaded = std::make_shared<LoadedPlan>();
  loaded->plan = std::move(compiled.plan);
  for (const uint32_t device : compiled.devices) loaded->devices.push_back(&device_at(device));
  std::vector<std::shared_ptr<Executable>> executables;
  std::vector<char> checks;
  const bool is_whole = compiled.pieces.size() == 1;
  size_t number = 0;
  for (const PartitionedGraph::Piece& piece : compiled.pieces) {
    DumpText dump = observer;
    if (observer && !is_whole) {
      dump = [&observer, number](std::string_view what, std::string_view text) {
        observer(str("piece", number, '.', what), text);
      };
    }
    ++number;
    Device& device = device_at(piece.device);
    const int threads = num_threads();
    const auto codes = generate(kernels, piece.compiled, device, options, dump);
    for (auto& executable : load_all(device, codes, threads)) {
      executables.push_back(std::move(executable));
    }
    for (const Kernel& kernel : piece.compiled.kernels) checks.push_back(checks_indices(kernel));
  }
  loaded->kernels = executables.size();
  Hazards hazards;
  for (const Launch& launch : loaded->plan.launches) {
    hazards.checks.push_back(checks[launch.kernel]);
    hazards.devices.push_back(loaded->devices[device_of(loaded->plan, launch)]);
  }
  keep_safe_donations(loaded->plan, hazards);
  loaded->steps = make_steps(*loaded, executables);
  for (const NodeId output : graph.outputs()) {
    loaded->types.push_back(graph[output].type);
    loaded->strides.push_back(contiguous_byte_strides(graph[output].type));
  }
  loaded->results = std::max<size_t>(num_outputs(loaded->plan), loaded->types.size());
  loaded->output_devices.resize(loaded->results, loaded->devices.front());
  for (const Slot& slot : loaded->plan.slots) {
    if (slot.kind != SlotKind::Output) continue;
    loaded->output_devices[slot.index] = loaded->devices[slot.device];
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
}

std::shared_ptr<const LoadedPlan> Runtime::Impl::load_plan(
    const Graph& graph, Device& device, std::span<const uint32_t> output_devices) {
  const StageObserver observer = dump_observer();
  const auto index = static_cast<uint32_t>(device.index());
  const std::vector<uint32_t> all_here(output_devices.empty() ? graph.outputs().size() : 0, index);
  if (output_devices.empty()) output_devices = all_here;
  const bool passes =
      has_transfers(graph) || std::any_of(output_devices.begin(), output_devices.end(),
                                          [&](uint32_t output) { return output != index; });
  const Graph optimized = passes ? graph : optimize(graph, observer);
  const std::vector<std::byte> bytes = key_bytes(optimized);
  if (!passes) output_devices = {};
  bool made = false;
  const auto start = std::chrono::steady_clock::now();
  auto plan = loaded_plans.get_or_make(
      hash_bytes(bytes).low + index, key_of(device, output_devices, bytes),
      [&] {
        PartitionedGraph compiled;
        if (passes) {
          compiled = compile_partitioned(optimized, output_devices, target_info, options, observer);
        } else {
          compiled.devices = {index};
          compiled.pieces.push_back(
              {index, compile_optimized(optimized, device.target(), options, observer)});
          compiled.plan = std::move(compiled.pieces[0].compiled.plan);
        }
        auto loaded = make_plan(optimized, std::move(compiled), observer);
        loaded->device = &device;
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

std::shared_ptr<const LoadedPlan> Runtime::load_plan(const Graph& graph, Device& device,
                                                     std::span<const uint32_t> output_devices) {
  return impl_->load_plan(graph, device, output_devices);
}

}  // namespace reprise
