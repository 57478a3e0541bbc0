// Slots become addresses, launches run in order.
#include "runtime/execute.h"

#include <cstring>

#include "ir/error.h"

namespace reprise {

void execute(const LoadedPlan& loaded, Execution& run) {
  Device& device = cpu_device();
  const Plan& plan = loaded.plan;

  StoragePtr arena;
  if (plan.arena_bytes > 0)
    arena = device.allocator().allocate(static_cast<size_t>(plan.arena_bytes));
  std::vector<void*>& addresses = run.addresses;
  addresses.resize(plan.slots.size());
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    const Slot& slot = plan.slots[i];
    switch (slot.kind) {
      case SlotKind::Input:
        addresses[i] = run.inputs[slot.index].value->address() + run.inputs[slot.index].shift;
        break;
      case SlotKind::Output: {
        StoragePtr storage = std::move(run.donations[slot.index]);
        if (!storage) storage = device.allocator().allocate(static_cast<size_t>(slot.bytes));
        addresses[i] = storage->data();
        StoredValue& result = run.results[slot.index];
        result.storage = std::move(storage);
        result.strides = loaded.strides[slot.index];
        result.offset = 0;
        break;
      }
      case SlotKind::Arena:
        addresses[i] = static_cast<std::byte*>(arena->data()) + slot.offset;
        break;
    }
  }
  for (const Alias& alias : plan.aliases) {
    const Slot& slot = plan.slots[alias.slot.index];
    REPRISE_ASSERT(slot.kind != SlotKind::Arena);
    const StoredValue& base =
        slot.kind == SlotKind::Input ? *run.inputs[slot.index].value : run.results[slot.index];
    const auto width = static_cast<int64_t>(size_of(loaded.types[alias.output].dtype));
    const auto start = static_cast<std::byte*>(addresses[alias.slot.index]) + alias.offset * width;
    run.results[alias.output] = {loaded.strides[alias.output],
                                 start - static_cast<std::byte*>(base.storage->data()),
                                 base.storage};
  }

  LaunchStatus status;
  SmallVector<void*, 32> buffers;
  SmallVector<uint64_t, 16> params;
  LaunchTimes* const times = run.times != nullptr ? run.times : loaded.times.get();
  LaunchTimes::Clock::time_point start;
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    const Launch& launch = plan.launches[i];
    if (times != nullptr) start = LaunchTimes::Clock::now();
    buffers.clear();
    for (const SlotId slot : launch.buffers) buffers.push_back(addresses[slot.index]);
    params.clear();
    for (const uint32_t param : launch.params) params.push_back(run.parameters[param]);
    device.launch(*loaded.executables[launch.kernel],
                  std::span<void* const>(buffers.data(), buffers.size()), params, &status);
    if (times != nullptr) times->add(i, LaunchTimes::Clock::now() - start);
    if (status.failed) {
      throw IndexError(
          str("index ", status.index, " is out of range for an axis of extent ", status.extent));
    }
  }
}

void copy_strided(const StoredValue& value, const TensorType& type, std::byte* destination) {
  const auto width = static_cast<int64_t>(size_of(type.dtype));
  const Shape& shape = type.shape;
  if (shape.numel() == 0) return;
  // Trailing axes that lie densely are copied as one run.
  int axes = shape.rank();
  int64_t run = width;
  while (axes > 0 && (shape[axes - 1] == 1 || value.strides[axes - 1] == run)) run *= shape[--axes];
  std::array<int64_t, kMaxDims> index{};
  const std::byte* source = value.address();
  for (;;) {
    std::memcpy(destination, source, static_cast<size_t>(run));
    destination += run;
    int axis = axes - 1;
    for (; axis >= 0; --axis) {
      source += value.strides[axis];
      if (++index[axis] < shape[axis]) break;
      source -= value.strides[axis] * shape[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

}  // namespace reprise
