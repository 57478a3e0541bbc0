// Realization: find or compile the plan of what is pending, run it, store the values.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "compiler/pipeline.h"
#include "ir/error.h"
#include "ir/log.h"
#include "runtime/check.h"
#include "runtime/execute.h"
#include "runtime/explain_miss.h"
#include "runtime/runtime_impl.h"

namespace reprise {

namespace {

uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0xff51afd7ed558ccdu;
  return hash ^ hash >> 32;
}

/// What is asked of a trace, by trace number, ascending.
struct Request {
  std::vector<uint32_t> wanted;  ///< must be computed
  std::vector<uint32_t> kept;    ///< are stored if they are computed: a handle is alive
  std::vector<uint64_t> key;     ///< the trace's words, then both lists
  uint64_t hash = 0;
};

/// `places`: of what is wanted, by index, where that is not all on `device`.
void make_key(const Trace& trace, const Device& device, std::span<const uint32_t> places,
              Request& request) {
  request.key.assign(trace.words().begin(), trace.words().end());
  request.hash = trace.key();
  const auto add = [&](uint64_t word) {
    request.key.push_back(word);
    request.hash = mix(request.hash, word);
  };
  add(request.wanted.size());
  for (const uint32_t i : request.wanted) add(i);
  add(request.kept.size());
  for (const uint32_t i : request.kept) add(i);
  add(1 + places.size());
  add(static_cast<uint64_t>(device.index()));
  for (const uint32_t place : places) add(place);
}

/// By trace number: the index of the device that computes each of them, the first of them if any
/// may. Mutex held.
std::vector<uint32_t> find_places(const Slab<LiveNode>& nodes, const Trace& trace,
                                  std::span<const uint32_t> numbers, const Device& device) {
  std::vector<uint32_t> places;
  for (const uint32_t i : numbers) {
    const DeviceSet devices = nodes[trace.recorded()[i].node.index].devices;
    const Device& place = devices.contains(device) ? device : devices.first();
    places.push_back(static_cast<uint32_t>(place.index()));
  }
  return places;
}

std::shared_ptr<const PlanEntry> make_entry(Runtime::Impl& impl, TraceGraph traced, Device& device,
                                            std::span<const uint32_t> places) {
  auto entry = std::make_shared<PlanEntry>();
  entry->loaded = impl.load_plan(traced.graph, device, places);
  entry->inputs = std::move(traced.inputs);
  entry->parameters = std::move(traced.parameters);
  entry->outputs = std::move(traced.outputs);
  return entry;
}

/// The values of `trace` that a handle can reach, one of `devices` can compute and that need
/// something that was already pending when its thread last computed something. Mutex held.
std::vector<NodeId> find_aged(Runtime::Impl& impl, const Trace& trace, DeviceSet devices) {
  std::vector<NodeId> found;
  std::vector<char> old(trace.aged > 0 ? trace.recorded().size() : 0);
  for (uint32_t i = 0; i < old.size(); ++i) {
    const Trace::Recorded& r = trace.recorded()[i];
    if (!trace.alive(r)) continue;
    const LiveNode& node = impl.nodes[r.node.index];
    old[i] = i < trace.aged;
    for (const NodeId operand : node.operands) {
      const TraceRef ref = trace.at(operand);
      if (ref.valid() && !ref.is_leaf() && old[ref.index()]) old[i] = 1;
    }
    const bool here = !(node.devices & devices).empty();
    if (old[i] && node.bindings > 0 && !node.is_leaf() && here) found.push_back(r.node);
  }
  return found;
}

/// What stays pending when the nodes in flight are stored will still read some leaves: a flag for
/// each, or an empty list when nothing stays. None: it will need, of what the plan reads, something
/// that the plan computes without storing it. Mutex held.
std::optional<std::vector<char>> leaves_still_read(Runtime::Impl& impl, const Trace& trace) {
  const std::span<const Trace::Recorded> recorded = trace.recorded();
  const auto stays = [&](const Trace::Recorded& r) {
    const LiveNode& node = impl.nodes[r.node.index];
    return trace.alive(r) && node.bindings > 0 && !node.in_flight;
  };
  if (std::none_of(recorded.begin(), recorded.end(), stays)) return std::vector<char>();
  std::vector<char> leaves(trace.leaves().size());
  const auto count = static_cast<uint32_t>(recorded.size());
  std::vector<char> computed(count), left(count);
  for (uint32_t i = 0; i < count; ++i) {
    computed[i] = trace.alive(recorded[i]) && impl.nodes[recorded[i].node.index].in_flight;
    left[i] = stays(recorded[i]);
  }
  for (uint32_t i = count; i-- > 0;) {
    if (!computed[i] && !left[i]) continue;
    for (const NodeId operand : impl.nodes[recorded[i].node.index].operands) {
      const TraceRef ref = trace.at(operand);
      if (!ref.valid()) continue;
      if (ref.is_leaf()) {
        if (left[i]) leaves[ref.index()] = 1;
      } else if (!impl.nodes[operand.index].in_flight) {
        if (computed[i]) computed[ref.index()] = 1;
        if (left[i]) left[ref.index()] = 1;
        if (computed[ref.index()] && left[ref.index()]) return std::nullopt;
      }
    }
  }
  return leaves;
}

/// Takes the storage of a leaf that only this plan still reads, or null. Mutex held.
StoragePtr take_donation(Runtime::Impl& impl, const Trace& trace, const PlanEntry& entry,
                         const Donation& donation) {
  const PlanEntry::Input& input = entry.inputs[donation.input];
  LiveNode& leaf = impl.nodes[trace.leaves()[input.leaf].index];
  StoredValue& value = *leaf.stored;
  const TensorType& type = entry.loaded->types[donation.output];
  const auto bytes = static_cast<size_t>(type.shape.numel()) * size_of(type.dtype);
  if (leaf.bindings > 0 ||
      !can_donate(value, bytes, *entry.loaded->output_devices[donation.output])) {
    return nullptr;
  }
  // This plan computes the pending assigns of its own thread only.
  if (leaf.fallbacks > 0 && leaf.fallback_trace != &trace) return nullptr;
  uint32_t uses = 1 + leaf.fallbacks;  // the trace's own reference, and those
  for (const uint32_t user : input.users) {
    if (trace.alive(trace.recorded()[user])) ++uses;
  }
  if (leaf.refs != uses) return nullptr;
  leaf.consumed = true;
  return value.storage;
}

/// Devices that pending transfers lead to and from, a set each.
using Ways = SmallVector<DeviceSet, 4>;

/// Where what is wanted is to be computed, and what can be computed together with it because
/// transfers lead there; what cannot is left out of `wanted`. Mutex held.
Device& choose_device(const Slab<LiveNode>& nodes, std::vector<NodeId>& wanted, Ways& ways,
                      DeviceSet& together) {
  DeviceSet devices = DeviceSet::all();
  for (size_t i = 0; i < wanted.size() && devices.is_all(); ++i) {
    devices = nodes[wanted[i].index].devices;
  }
  Device& device = devices.is_all() ? default_device() : devices.first();
  together = DeviceSet::of(device);
  for (size_t round = 0; round < ways.size(); ++round) {
    for (const DeviceSet way : ways) {
      if (!(way & together).empty()) together = together | way;
    }
  }
  std::erase_if(wanted, [&](NodeId id) { return (nodes[id.index].devices & together).empty(); });
  return device;
}

/// The way of a transfer; every way once.
void note_way(const LiveNode& node, Ways& ways) {
  const DeviceSet way = node.devices | DeviceSet::of(*devices()[node.attrs.word(0)]);
  if (std::find(ways.begin(), ways.end(), way) == ways.end()) ways.push_back(way);
}

}  // namespace

void Runtime::Impl::realize(std::span<const TensorId> ids, What what) {
  ThreadState& state = thread();
  std::optional<Trace> imported;  // for values that another thread recorded
  Request request;
  std::shared_ptr<const PlanEntry> entry;
  TraceGraph traced;
  Execution& run = state.execution;
  std::vector<NodeId> outputs;  // in flight, a reference each
  Trace* trace = &state.trace;
  bool took_aged = false;
  Device* device = nullptr;
  DeviceSet together;            // the devices that compute it
  std::vector<uint32_t> places;  // of the outputs, where there are several
  bool more = false;             // some of it is for another device

  {
    Locked locked(*this);
    for (;;) {
      std::vector<NodeId> wanted;
      const auto want = [&](NodeId id) {
        if (!nodes[id.index].is_leaf()) wanted.push_back(id);
      };
      for (const TensorId id : ids) want(node_of(id));
      bool stale = false;
      Ways ways;
      for (const Trace::Recorded& r : state.trace.recorded()) {
        if (!state.trace.alive(r)) continue;
        const LiveNode& node = nodes[r.node.index];
        stale |= node.is_leaf();
        if (node.op == Op::Transfer && !node.is_leaf()) [[unlikely]]
          note_way(node, ways);
        if (what == What::AllLive && node.bindings > 0) want(r.node);
      }
      for (const Trace::Assigned& a : state.trace.assigned) {
        const NodeId id = a.value.node;
        if (what != What::Only && state.trace.alive(a.value) && nodes[id.index].bindings > 0)
          want(id);
      }
      if (wanted.empty()) {
        if (stale || what == What::AllLive) settle_trace(state.trace, locked);
        return;
      }
      if (stale) settle_trace(state.trace, locked);  // another thread computed some of it
      const size_t all = wanted.size();
      device = &choose_device(nodes, wanted, ways, together);
      more = wanted.size() < all;

      bool waiting = false;
      for (const NodeId id : wanted) waiting |= nodes[id.index].in_flight;
      if (!waiting) {
        trace = &state.trace;
        bool own = true;
        for (const NodeId id : wanted) own &= trace->contains(id);
        took_aged = false;
        if (!own) {
          trace = &imported.emplace(nodes);
        } else if ((what == What::Given || what == What::Read) && !state.aged_failed) {
          const std::vector<NodeId> aged = find_aged(*this, *trace, together);
          wanted.insert(wanted.end(), aged.begin(), aged.end());
          took_aged = !aged.empty();
        }
        request = {};
        try {
          for (const NodeId id : wanted) request.wanted.push_back(trace->reference(id).index());
        } catch (...) {  // a value it needs is gone; what was imported must not stay
          if (imported) reset_trace(*imported, locked);
          settle_trace(state.trace, locked);
          throw;
        }
        std::sort(request.wanted.begin(), request.wanted.end());
        request.wanted.erase(std::unique(request.wanted.begin(), request.wanted.end()),
                             request.wanted.end());
        for (uint32_t i = 0; i < trace->recorded().size(); ++i) {
          const Trace::Recorded& r = trace->recorded()[i];
          if (trace->alive(r) && nodes[r.node.index].bindings > 0) request.kept.push_back(i);
        }
        const bool spreads = !(together == DeviceSet::of(*device));
        places.clear();
        if (spreads) places = find_places(nodes, *trace, request.wanted, *device);
        make_key(*trace, *device, places, request);
        entry = plans.find(request.hash, request.key);
        if (!entry) {
          traced = build_graph(*trace, nodes, request.wanted, request.kept);
          places = find_places(nodes, *trace, traced.outputs, *device);
        }
        // Not even what is only passed through may be in flight: what it reads is given away.
        for (const Trace::Recorded& r : trace->recorded()) {
          waiting |= trace->alive(r) && nodes[r.node.index].in_flight;
        }
        const auto& numbers = entry ? entry->outputs : traced.outputs;
        if (!waiting) {
          for (const uint32_t i : numbers) {
            LiveNode& node = nodes[trace->recorded()[i].node.index];
            node.in_flight = true;
            ++node.refs;
            outputs.push_back(trace->recorded()[i].node);
          }
          break;
        }
      }
      if (imported) reset_trace(*imported, locked);
      imported.reset();
      computed.wait(locked.lock);
    }
    ++counters.realizes;
    if (entry) {
      ++counters.plan_hits;
      prepare(*trace, *entry, run);
    }
  }

  // Whatever happens from here on, the outputs are either stored or pending again.
  enum class Outcome : uint8_t { Done, TakenBack, Failed };
  const auto finish = [&](Outcome outcome, Trouble trouble = Trouble::Index) {
    const bool done = outcome == Outcome::Done;
    Locked locked(*this);
    for (size_t i = 0; i < outputs.size(); ++i) {
      LiveNode& node = nodes[outputs[i].index];
      node.in_flight = false;
      if (done) {
        node.stored = std::move(run.results[i]);
        if (!node.keeps_history) drop_operands(outputs[i], locked);
      }
    }
    if (!done) {
      for (const NodeId leaf : run.donated) nodes[leaf.index].consumed = false;
    } else {
      counters.launches += entry->loaded->plan.launches.size();
      for (const NodeId leaf : run.donated)
        locked.discard(std::move(nodes[leaf.index].stored->storage));
    }
    run.donated.clear();
    run.release();
    if (outcome == Outcome::TakenBack && what == What::Given) {
      take_back_assigns(*trace, trouble, state.trace, locked);
    }
    for (const NodeId id : outputs) drop(id, locked);
    if (imported) reset_trace(*imported, locked);
    // Both took over marks of this thread's own trace: recording it anew sets them right.
    if (settle_left_behind(locked) || done || imported) settle_trace(state.trace, locked);
    if (done) state.trace.aged = static_cast<uint32_t>(state.trace.recorded().size());
    if (state.trace.recorded().empty()) state.aged_failed = false;
    computed.notify_all();
  };

  /// Whether it is worth another try: perhaps what was not asked for now is to blame.
  const auto met = [&](Trouble trouble) {
    if (took_aged) {
      finish(Outcome::Failed);
      state.aged_failed = true;
      return true;
    }
    finish(Outcome::TakenBack, trouble);
    return false;
  };

  try {
    if (!entry) {
      bool made = false;
      const auto make = [&] {
        if (log_wants("cache")) log_line("cache", explain_miss(request.key, plans));
        return make_entry(*this, std::move(traced), *device, places);
      };
      entry = plans.get_or_make(request.hash, request.key, make, &made);
      Locked locked(*this);
      ++(made ? counters.plan_misses : counters.plan_hits);
      prepare(*trace, *entry, run);
    }
    std::optional<OpByOp> check;
    if (checking_plans()) {
      const Graph graph = graph_of(*trace, *entry, *device, places);
      check.emplace(*device, graph, run.inputs, run.parameters, places);
    }
    execute(*entry->loaded, run);
    if (check) check->compare(run.results);
  } catch (const IndexError&) {
    if (!met(Trouble::Index)) throw;
    return realize(ids, what);
  } catch (const DeviceError&) {
    if (!met(Trouble::Device)) throw;
    return realize(ids, what);
  } catch (...) {
    finish(Outcome::Failed);
    throw;
  }
  finish(Outcome::Done);
  if (more) realize(ids, what);
}

Graph Runtime::Impl::graph_of(const Trace& trace, const PlanEntry& entry, const Device& device,
                              std::vector<uint32_t>& places) {
  const Locked locked(*this);
  places = find_places(nodes, trace, entry.outputs, device);
  return build_graph(trace, nodes, entry.outputs, entry.outputs).graph;
}

void Runtime::Impl::prepare(const Trace& trace, const PlanEntry& entry, Execution& run) {
  run.clear(*entry.loaded);
  // A donated value is gone for good: only when nothing pending here could still ask for it. (What
  // was asked for may have lost its handles meanwhile, so numbers of nodes say nothing.)
  if (const auto still_read = leaves_still_read(*this, trace)) {
    for (const Donation& donation : entry.loaded->plan.donations) {
      const uint32_t leaf = entry.inputs[donation.input].leaf;
      if (run.donations[donation.output]) continue;
      if (!still_read->empty() && (*still_read)[leaf]) continue;
      if (StoragePtr storage = take_donation(*this, trace, entry, donation)) {
        run.donations[donation.output] = std::move(storage);
        run.donated.push_back(trace.leaves()[leaf]);
      }
    }
  }
  for (const PlanEntry::Input& input : entry.inputs) {
    run.inputs.push_back({&*nodes[trace.leaves()[input.leaf].index].stored, input.shift});
  }
  for (const uint32_t leaf : entry.parameters) {
    run.parameters.push_back(nodes[trace.leaves()[leaf].index].bits);
  }
}

// --- Public: values ----------------------------------------------------------------------------

void Runtime::realize(std::span<const TensorId> ids) {
  impl_->realize(ids, Impl::What::Given);
}

StoredValue Runtime::Impl::store_parameter(const LiveNode& parameter) {
  StoredValue value;
  value.storage = upload(cpu_device(), &parameter.bits, size_of(parameter.type.dtype));
  return value;
}

StoredValue Runtime::Impl::stored(TensorId id, TensorType& type) {
  for (;;) {
    {
      Locked locked(*this);
      LiveNode& node = live_node(id);
      if (node.stored || node.op == Op::Parameter) {
        type = node.type;
        return node.stored ? *node.stored : store_parameter(node);
      }
    }
    const TensorId ids[] = {id};
    // What an assign needs may be to blame that this value does not: that one stays pending, for
    // who reads it.
    const auto take_back = [&](Trouble trouble) {
      Trace& trace = thread().trace;
      Locked locked(*this);
      take_back_assigns(trace, trouble, trace, locked);
    };
    const auto only_this = [&] {
      try {
        realize(ids, What::Only);
      } catch (const IndexError&) {
        take_back(Trouble::Index);
        throw;
      } catch (const DeviceError&) {
        take_back(Trouble::Device);
        throw;
      }
    };
    try {
      realize(ids, What::Read);
    } catch (const IndexError&) {
      only_this();
    } catch (const DeviceError&) {
      only_this();
    }
  }
}

std::pair<StoragePtr, Layout> Runtime::storage(TensorId id) {
  TensorType type;
  const StoredValue value = impl_->stored(id, type);
  return {value.storage, {type.shape, value.strides, value.offset}};
}

std::pair<StoragePtr, Layout> Runtime::host_storage(TensorId id) {
  TensorType type;
  const StoredValue value = impl_->stored(id, type);
  if (!devices(id).contains(cpu_device())) {
    throw DeviceError(str("the ", type, " is on ", value.storage->device()->name(),
                          "; to have its elements in the CPU's memory, move it with to(\"cpu\")"));
  }
  const StoredValue here = on_host(value, type);
  return {here.storage, {type.shape, here.strides, here.offset}};
}

DeviceSet Runtime::devices(TensorId id) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->live_node(id).devices;
}

TensorId Runtime::to_device(TensorId id, Device& device) {
  const DeviceSet found = devices(id);
  if (found == DeviceSet::of(device)) return value(id);
  if (found.contains(device) || in_tape()) {  // no device's yet: it is this one's from now on
    ThreadState& thread = impl_->thread();
    Impl::Locked locked(*impl_);
    Recorder recorder(*impl_, locked, thread);
    const Value value = recorder.settle_on(device, recorder.values_of(std::array{id})[0]);
    return impl_->bind_recorded(thread, NodeId{value.index});
  }
  TensorType type;
  StoredValue value = impl_->stored(id, type);
  const int64_t dense = type.shape.numel() * static_cast<int64_t>(size_of(type.dtype));
  if (std::cmp_less(dense, value.storage->bytes())) {  // a part: only that
    const StoredValue here = on_host(value, type);
    value.strides = contiguous_byte_strides(type);
    value.offset = 0;
    value.storage = cpu_device().allocator().allocate(static_cast<size_t>(dense));
    copy_strided(here, type, static_cast<std::byte*>(value.storage->data()));
  }
  StoragePtr there = share_with(device, value.storage);
  if (!there) there = copy_to(device, value.storage);
  return from_storage(type.dtype, {type.shape, value.strides, value.offset}, std::move(there));
}

void Runtime::read(TensorId id, void* destination, size_t bytes) {
  TensorType type;
  const StoredValue value = impl_->stored(id, type);
  const size_t width = size_of(type.dtype);
  const auto count = static_cast<size_t>(type.shape.numel());
  if (bytes != count * width) {
    throw ShapeError(
        str("read: ", type, " has ", count * width, " bytes, the destination ", bytes));
  }
  if (count == 0) return;
  copy_strided(on_host(value, type), type, static_cast<std::byte*>(destination));
}

std::string Runtime::dump_graph(std::span<const TensorId> ids) {
  ThreadState& thread = impl_->thread();
  Impl::Locked locked(*impl_);
  Trace trace(impl_->nodes);
  std::vector<uint32_t> wanted;
  for (const TensorId id : ids) {
    const NodeId node = impl_->node_of(id);
    if (!impl_->nodes[node.index].is_leaf()) wanted.push_back(trace.reference(node).index());
  }
  std::sort(wanted.begin(), wanted.end());
  std::string text = print(build_graph(trace, impl_->nodes, wanted, wanted).graph);
  impl_->reset_trace(trace, locked);
  impl_->settle_trace(thread.trace, locked);  // its marks were taken over
  return text;
}

}  // namespace reprise
