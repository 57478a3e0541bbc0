// Realization: find or compile the plan of what is pending, run it, store the values.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>

#include "compiler/pipeline.h"
#include "ir/error.h"
#include "runtime/dump.h"
#include "runtime/execute.h"
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

void make_key(const Trace& trace, Request& request) {
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
}

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
void keep_safe_donations(Plan& plan, std::span<const Kernel> kernels) {
  size_t checked = 0;  // launches up to the last one that checks
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    if (checks_indices(kernels[plan.launches[i].kernel])) checked = i + 1;
  }
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

std::shared_ptr<const PlanEntry> compile_entry(Runtime::Impl& impl, TraceGraph traced) {
  Device& device = cpu_device();
  const StageObserver observer = dump_observer();
  const CompiledGraph compiled = compile(traced.graph, device.target(), impl.options, observer);
  auto entry = std::make_shared<PlanEntry>();
  entry->plan = compiled.plan;
  for (const auto& code : impl.kernels.get_all(device.backend(), compiled, device.target(),
                                               impl.options, num_threads(), observer)) {
    entry->executables.push_back(device.load(*code));
  }
  keep_safe_donations(entry->plan, compiled.kernels);
  for (const NodeId output : traced.graph.outputs()) {
    entry->types.push_back(traced.graph[output].type);
  }
  entry->inputs = std::move(traced.inputs);
  entry->parameters = std::move(traced.parameters);
  entry->outputs = std::move(traced.outputs);
  return entry;
}

/// Takes the storage of a leaf that only this plan still reads, or null. Mutex held.
StoragePtr take_donation(Runtime::Impl& impl, const Trace& trace, const PlanEntry& entry,
                         const Donation& donation) {
  const PlanEntry::Input& input = entry.inputs[donation.input];
  LiveNode& leaf = impl.nodes[trace.leaves()[input.leaf].index];
  StoredValue& value = *leaf.stored;
  const TensorType& type = entry.types[donation.output];
  const auto bytes = static_cast<size_t>(type.shape.numel()) * size_of(type.dtype);
  if (leaf.bindings > 0 || value.storage->borrowed() || value.storage.use_count() != 1 ||
      value.offset != 0 || value.storage->bytes() < bytes) {
    return nullptr;
  }
  uint32_t uses = 1;  // the trace's own reference
  for (const uint32_t user : input.users) {
    if (trace.alive(trace.recorded()[user])) ++uses;
  }
  if (leaf.refs != uses) return nullptr;
  leaf.consumed = true;
  return value.storage;
}

}  // namespace

void Runtime::Impl::realize(std::span<const TensorId> ids, What what) {
  ThreadState& state = thread();
  std::optional<Trace> imported;  // for values that another thread recorded
  Request request;
  std::shared_ptr<const PlanEntry> entry;
  TraceGraph traced;
  Execution run;
  std::vector<NodeId> outputs;  // in flight, a reference each
  Trace* trace = &state.trace;

  {
    Locked locked(*this);
    for (;;) {
      std::vector<NodeId> wanted;
      const auto want = [&](NodeId id) {
        if (!nodes[id.index].is_leaf()) wanted.push_back(id);
      };
      for (const TensorId id : ids) want(node_of(id));
      bool stale = false;
      for (const Trace::Recorded& r : state.trace.recorded()) {
        if (!state.trace.alive(r)) continue;
        const LiveNode& node = nodes[r.node.index];
        stale |= node.is_leaf();
        if (what == What::AllLive && node.bindings > 0) want(r.node);
      }
      for (const Trace::Recorded& r : state.trace.assigned) {
        if (what != What::Only && state.trace.alive(r) && nodes[r.node.index].bindings > 0)
          want(r.node);
      }
      if (wanted.empty()) {
        if (stale || what == What::AllLive) settle_trace(state.trace, locked);
        return;
      }
      if (stale) settle_trace(state.trace, locked);  // another thread computed some of it

      bool waiting = false;
      for (const NodeId id : wanted) waiting |= nodes[id.index].in_flight;
      if (!waiting) {
        trace = &state.trace;
        bool own = true;
        for (const NodeId id : wanted) own &= trace->contains(id);
        if (!own) trace = &imported.emplace(nodes);
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
        make_key(*trace, request);
        entry = plans.find(request.hash, request.key);
        if (!entry) traced = build_graph(*trace, nodes, request.wanted, request.kept);
        const auto& numbers = entry ? entry->outputs : traced.outputs;
        for (const uint32_t i : numbers) {
          waiting |= nodes[trace->recorded()[i].node.index].in_flight;
        }
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
  const auto finish = [&](bool done) {
    Locked locked(*this);
    for (size_t i = 0; i < outputs.size(); ++i) {
      LiveNode& node = nodes[outputs[i].index];
      node.in_flight = false;
      if (done) {
        node.stored = std::make_unique<StoredValue>(std::move(run.results[i]));
        if (!node.keeps_history) drop_operands(outputs[i], locked);
      }
    }
    if (!done) {
      for (const NodeId leaf : run.donated) nodes[leaf.index].consumed = false;
    } else {
      counters.launches += entry->plan.launches.size();
      for (const NodeId leaf : run.donated)
        locked.garbage.push_back(std::move(nodes[leaf.index].stored->storage));
    }
    run.donated.clear();
    for (const NodeId id : outputs) drop(id, locked);
    if (imported) reset_trace(*imported, locked);
    // An import took over marks of this thread's own trace: recording it anew sets them right.
    if (done || imported) settle_trace(state.trace, locked);
    computed.notify_all();
  };

  try {
    if (!entry) {
      bool made = false;
      const auto start = std::chrono::steady_clock::now();
      entry = plans.get_or_make(
          request.hash, request.key, [&] { return compile_entry(*this, std::move(traced)); },
          &made);
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      Locked locked(*this);
      if (made) counters.compile_seconds += elapsed.count();
      ++(made ? counters.plans_compiled : counters.plan_hits);
      prepare(*trace, *entry, run);
    }
    execute(*entry, run);
  } catch (...) {
    finish(false);
    throw;
  }
  finish(true);
}

void Runtime::Impl::prepare(const Trace& trace, const PlanEntry& entry, Execution& run) {
  run.donations.resize(entry.outputs.size());
  // A donated value is gone for good: only when nothing pending here could still ask for it.
  size_t live = 0;
  for (const Trace::Recorded& r : trace.recorded()) {
    const LiveNode& node = nodes[r.node.index];
    if (trace.alive(r) && node.bindings > 0) ++live;
  }
  if (live <= entry.outputs.size()) {
    for (const Donation& donation : entry.plan.donations) {
      if (run.donations[donation.output]) continue;
      if (StoragePtr storage = take_donation(*this, trace, entry, donation)) {
        run.donations[donation.output] = std::move(storage);
        run.donated.push_back(trace.leaves()[entry.inputs[donation.input].leaf]);
      }
    }
  }
  for (const PlanEntry::Input& input : entry.inputs) {
    run.inputs.push_back(*nodes[trace.leaves()[input.leaf].index].stored);
  }
  for (const uint32_t leaf : entry.parameters) {
    run.parameters.push_back(nodes[trace.leaves()[leaf].index].bits);
  }
}

// --- Public: values ----------------------------------------------------------------------------

void Runtime::realize(std::span<const TensorId> ids) {
  impl_->realize(ids, Impl::What::Given);
}

StoredValue Runtime::Impl::stored(TensorId id, TensorType& type) {
  for (;;) {
    {
      Locked locked(*this);
      LiveNode& node = nodes[node_of(id).index];
      if (node.stored || node.op == Op::Parameter) {
        type = node.type;
        if (node.stored) return *node.stored;
        StoredValue value{cpu_device().allocator().allocate(size_of(type.dtype)), {}, 0};
        std::memcpy(value.storage->data(), &node.bits, size_of(type.dtype));
        return value;
      }
    }
    const TensorId ids[] = {id};
    try {
      realize(ids, What::Given);
    } catch (const IndexError&) {
      realize(ids,
              What::Only);  // the index may have been an assign's that this value does not need
    }
  }
}

std::pair<StoragePtr, Layout> Runtime::storage(TensorId id) {
  TensorType type;
  const StoredValue value = impl_->stored(id, type);
  return {value.storage, {type.shape, value.strides, value.offset}};
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
  copy_strided(value, type, static_cast<std::byte*>(destination));
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
  const std::string text = print(build_graph(trace, impl_->nodes, wanted, wanted).graph);
  impl_->reset_trace(trace, locked);
  impl_->settle_trace(thread.trace, locked);  // its marks were taken over
  return text;
}

}  // namespace reprise
