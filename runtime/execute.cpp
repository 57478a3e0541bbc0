// Slots become addresses, launches run in order.
#include "runtime/execute.h"

#include <algorithm>
#include <cstring>

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

}  // namespace

void execute(const LoadedPlan& loaded, Execution& run) {
  Device& device = *loaded.device;
  const Plan& plan = loaded.plan;

  StoragePtr arena;
  if (plan.arenas[0] > 0)
    arena = device.allocator().allocate(static_cast<size_t>(plan.arenas[0]));
  std::vector<void*>& addresses = run.addresses;
  addresses.resize(plan.slots.size());
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    const Slot& slot = plan.slots[i];
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
    const int64_t shift = slot.kind == SlotKind::Input ? run.inputs[slot.index].shift : 0;
    run.results[alias.output] = {loaded.strides[alias.output],
                                 base.offset + shift + alias.offset * width, base.storage};
  }

  loaded.program->run(addresses, run.parameters,
                      run.times != nullptr ? run.times : loaded.times.get());
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
