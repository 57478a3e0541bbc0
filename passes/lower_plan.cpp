// Builds the plan: which memory stands behind every buffer, and which outputs need no launch.
#include "passes/lower_plan.h"

#include <map>
#include <optional>
#include <unordered_map>

#include "ir/error.h"
#include "ir/hash.h"
#include "passes/fuse_costs.h"
#include "passes/index_map.h"

namespace reprise {

namespace {

class PlanBuilder {
 public:
  PlanBuilder(const Graph& graph, const StoredValues& stored)
      : graph_(graph), stored_(stored), value_slots_(graph.size()) {}

  Lowered run(std::vector<KernelDraft> drafts) {
    add_inputs();
    add_outputs();
    for (KernelDraft& draft : drafts) add_launch(std::move(draft));
    Plan& plan = lowered_.plan;
    plan.num_kernels = static_cast<uint32_t>(lowered_.kernels.size());
    plan.donations = find_donations(plan, lowered_.kernels);
    return std::move(lowered_);
  }

 private:
  SlotId add_slot(SlotKind kind, DType dtype, int64_t elements, int64_t index) {
    auto& slots = lowered_.plan.slots;
    slots.push_back({.kind = kind,
                     .dtype = dtype,
                     .bytes = elements * static_cast<int64_t>(size_of(dtype)),
                     .index = index,
                     .offset = 0,
                     .device = 0});
    return SlotId{static_cast<uint32_t>(slots.size() - 1)};
  }

  void add_inputs() {
    std::map<int64_t, const Node*> inputs;
    lowered_.plan.params.assign(num_parameters(graph_), DType::F32);
    for (const Node& node : graph_.nodes()) {
      if (node.op == Op::Input) inputs.emplace(node.attrs.word(0), &node);
      if (node.op == Op::Parameter) lowered_.plan.params[node.attrs.word(0)] = node.type.dtype;
    }
    for (const auto& [index, node] : inputs) {
      input_slots_[index] =
          add_slot(SlotKind::Input, node->type.dtype, storage_extent(*node), index);
    }
  }

  /// The first output of a stored value is its memory; further ones and views of inputs are
  /// aliases.
  void add_outputs() {
    for (uint32_t i = 0; i < graph_.outputs().size(); ++i) {
      const NodeId output = graph_.outputs()[i];
      OutputView view{.base = output, .offset = 0, .strides = {}};
      if (!output_view(graph_, output, &view)) {
        const Shape& shape = graph_[output].type.shape;
        const auto strides = shape.contiguous_strides();
        view.strides.assign(strides.begin(), strides.begin() + shape.rank());
      }
      const Node& base = graph_[view.base];
      if (base.op == Op::Input) {
        const SlotId slot = input_slots_.at(base.attrs.word(0));
        lowered_.plan.aliases.push_back({i, slot, view.offset, view.strides});
        continue;
      }
      REPRISE_ASSERT(stored_.is_stored(view.base));
      SlotId& slot = value_slots_[view.base.index];
      if (slot.valid()) {
        lowered_.plan.aliases.push_back({i, slot, view.offset, view.strides});
      } else {
        slot = add_slot(SlotKind::Output, base.type.dtype, base.type.shape.numel(), i);
      }
    }
  }

  void add_launch(KernelDraft draft) {
    Launch launch;
    for (size_t i = 0; i < draft.sources.size(); ++i) {
      const BufferSource source = draft.sources[i];
      const Buffer& buffer = draft.kernel.buffers[i];
      switch (source.kind) {
        case BufferSource::Kind::Input:
          launch.buffers.push_back(input_slots_.at(source.index));
          break;
        case BufferSource::Kind::Value: {
          SlotId& slot = value_slots_[source.index];
          if (!slot.valid()) slot = add_slot(SlotKind::Arena, buffer.dtype, buffer.extent, 0);
          launch.buffers.push_back(slot);
          break;
        }
        case BufferSource::Kind::Scratch:
          launch.buffers.push_back(add_slot(SlotKind::Arena, buffer.dtype, buffer.extent, 0));
          break;
        case BufferSource::Kind::Local:
          break;
      }
    }
    launch.params = std::move(draft.params);
    launch.kernel = add_kernel(std::move(draft.kernel));
    lowered_.plan.launches.push_back(std::move(launch));
  }

  uint32_t add_kernel(Kernel kernel) {
    const Hash128 key = hash(kernel);
    for (auto [it, end] = kernels_.equal_range(key); it != end; ++it) {
      if (lowered_.kernels[it->second] == kernel) return it->second;
    }
    const auto number = static_cast<uint32_t>(lowered_.kernels.size());
    lowered_.kernels.push_back(std::move(kernel));
    kernels_.emplace(key, number);
    return number;
  }

  const Graph& graph_;
  const StoredValues& stored_;
  Lowered lowered_;
  std::unordered_map<int64_t, SlotId> input_slots_;
  std::vector<SlotId> value_slots_;
  std::unordered_multimap<Hash128, uint32_t> kernels_;
};

}  // namespace

Lowered build_plan(const Graph& graph, const StoredValues& stored,
                   std::vector<KernelDraft> drafts) {
  return PlanBuilder(graph, stored).run(std::move(drafts));
}

}  // namespace reprise
