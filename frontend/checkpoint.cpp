// The marks of checkpoints.
#include "frontend/checkpoint.h"

#include <algorithm>
#include <unordered_set>

#include "ir/builder.h"

namespace reprise {

namespace {

/// What `outputs` were computed from that had been recorded before `order`, in order.
std::vector<Value> boundary_of(const Builder& builder, std::span<const Value> outputs,
                               uint64_t order) {
  std::vector<Value> pending(outputs.begin(), outputs.end()), boundary;
  std::unordered_set<uint32_t> seen;
  while (!pending.empty()) {
    const Value value = pending.back();
    pending.pop_back();
    if (!seen.insert(value.index).second) continue;
    const ValueView view = builder.view(value);
    if (builder.order(value) < order) {
      // A number is no value that could be differentiated, nor one that takes memory.
      if (view.op != Op::Parameter) boundary.push_back(value);
      continue;
    }
    for (const NodeId operand : view.operands) pending.push_back(Value{operand.index});
  }
  std::ranges::sort(boundary, {}, [&](Value value) { return builder.order(value); });
  return boundary;
}

}  // namespace

std::vector<Tensor> checkpoint_since(uint64_t order, std::vector<Tensor> outputs) {
  if (!Runtime::get().in_tape()) return outputs;  // nothing will be differentiated
  std::vector<TensorId> ids;
  for (const Tensor& output : outputs) ids.push_back(output.id());
  const auto record = [&](Builder& builder, std::span<const Value> values) {
    std::vector<Value> operands{Value{}};
    for (const Value value : boundary_of(builder, values, order)) operands.push_back(value);
    std::vector<Value> marked;
    for (const Value value : values) {
      operands[0] = value;
      const bool is_new = builder.order(value) >= order && operands.size() > 1;
      marked.push_back(is_new ? builder.record(Op::Checkpoint, operands) : value);
    }
    return marked;
  };
  std::vector<Tensor> marked;
  for (const TensorId id : Runtime::get().build(ids, record)) marked.emplace_back(id);
  return marked;
}

}  // namespace reprise
