// Slots become addresses, launches run in order.
#include "runtime/execute.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ir/error.h"

namespace reprise {

namespace {

/// Where a launch finds an input. What depends on no data may lie on another device than the
/// plan's.
void* address_of(Execution& run, const Execution::Input& input, Device& device) {
  const StoredValue& value = *input.value;
  if (value.storage->device() == &device) [[likely]]
    return value.address() + input.shift;
  const StoragePtr& here = run.carried.emplace_back(copy_to(device, value.storage));
  return static_cast<std::byte*>(here->data()) + value.offset + input.shift;
}

/// Memory of the host for what passes between two other devices.
StoragePtr room_between(const LoadedPlan& loaded) {
  int64_t most = 0;
  for (const Transfer& transfer : loaded.plan.transfers) {
    const Slot& from = loaded.plan.slots[transfer.from.index];
    const Slot& to = loaded.plan.slots[transfer.to.index];
    if (loaded.devices[from.device] == &cpu_device() || loaded.devices[to.device] == &cpu_device())
      continue;
    most = std::max(most, to.bytes);
  }
  return most > 0 ? cpu_device().allocator().allocate(static_cast<size_t>(most)) : StoragePtr();
}

void run_transfer(const LoadedPlan& loaded, const Transfer& transfer,
                  std::span<void* const> addresses, const StoragePtr& between) {
  const Slot& to = loaded.plan.slots[transfer.to.index];
  Device& source = *loaded.devices[loaded.plan.slots[transfer.from.index].device];
  Device& target = *loaded.devices[to.device];
  const auto bytes = static_cast<size_t>(to.bytes);
  if (bytes == 0) return;
  const std::byte* const start =
      static_cast<const std::byte*>(addresses[transfer.from.index]) + transfer.offset;
  void* const end = addresses[transfer.to.index];
  if (&source == &cpu_device()) return target.upload(end, start, bytes);
  if (&target == &cpu_device()) return source.download(end, start, bytes);
  source.download(between->data(), start, bytes);
  target.upload(end, between->data(), bytes);
}

}  // namespace

void execute(const LoadedPlan& loaded, Execution& run) {
  const Plan& plan = loaded.plan;

  StoragePtr arena;
  std::vector<StoragePtr> others(plan.arenas.size() - 1);  // mostly none
  const auto arena_of = [&](size_t device) -> StoragePtr& {
    return device == 0 ? arena : others[device - 1];
  };
  for (size_t i = 0; i < plan.arenas.size(); ++i) {
    if (plan.arenas[i] == 0) continue;
    arena_of(i) = loaded.devices[i]->allocator().allocate(static_cast<size_t>(plan.arenas[i]));
  }
  std::vector<void*>& addresses = run.addresses;
  addresses.resize(plan.slots.size());
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    const Slot& slot = plan.slots[i];
    Device& device = *loaded.devices[slot.device];
    switch (slot.kind) {
      case SlotKind::Input:
        addresses[i] = address_of(run, run.inputs[slot.index], device);
        break;
      case SlotKind::Output: {
        StoragePtr storage = std::move(run.donations[slot.index]);
        if (!storage) storage = device.allocator().allocate(static_cast<size_t>(slot.bytes));
        addresses[i] = storage->data();
        StoredValue& result = run.results[slot.index];
        result.storage = std::move(storage);
        if (std::cmp_less(slot.index, loaded.strides.size())) {
          result.strides = loaded.strides[slot.index];
        }
        result.offset = 0;
        break;
      }
      case SlotKind::Arena:
        if (!arena_of(slot.device)) {  // nothing in it has elements
          addresses[i] = nullptr;
          break;
        }
        addresses[i] = static_cast<std::byte*>(arena_of(slot.device)->data()) + slot.offset;
        break;
    }
  }
  for (const Alias& alias : plan.aliases) {
    const Slot& slot = plan.slots[alias.slot.index];
    REPRISE_ASSERT(slot.kind != SlotKind::Arena);
    const StoredValue& base =
        slot.kind == SlotKind::Input ? *run.inputs[slot.index].value : run.results[slot.index];
    const auto width = static_cast<int64_t>(size_of(loaded.types[alias.output].dtype));
    const int64_t shift = slot.kind == SlotKind::Input ? run.inputs[slot.index].shift : 0;
    run.results[alias.output] = {loaded.strides[alias.output],
                                 base.offset + shift + alias.offset * width, base.storage};
  }

  LaunchTimes* const times = run.times != nullptr ? run.times : loaded.times.get();
  const StoragePtr between = plan.transfers.empty() ? StoragePtr() : room_between(loaded);
  for (const LoadedPlan::Step& step : loaded.steps) {
    if (step.program != nullptr) {
      step.program->run(addresses, run.parameters, times);
    } else {
      run_transfer(loaded, plan.transfers[step.transfer], addresses, between);
    }
  }
}

StoredValue on_host(const StoredValue& value, const TensorType& type) {
  if (value.storage->device() == &cpu_device()) return value;
  int64_t low = 0, high = static_cast<int64_t>(size_of(type.dtype));
  for (int axis = 0; axis < type.shape.rank(); ++axis) {
    const int64_t reach = value.strides[axis] * std::max<int64_t>(type.shape[axis] - 1, 0);
    (reach < 0 ? low : high) += reach;
  }
  if (type.shape.numel() == 0) low = high = 0;
  StoredValue copy{value.strides, -low,
                   cpu_device().allocator().allocate(static_cast<size_t>(high - low))};
  value.storage->device()->download(copy.storage->data(), value.address() + low,
                                    static_cast<size_t>(high - low));
  return copy;
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
