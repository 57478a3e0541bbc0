// Appending to a trace; all of it under the runtime's mutex.
#include "runtime/trace.h"

#include <atomic>

#include "ir/error.h"
#include "ir/op.h"

namespace reprise {

namespace {

/// A serial is never used twice.
std::atomic<uint64_t> next_serial{1};
/// Traces end without the mutex. To a trace that was always alone since it was cleared a node's
/// mark says all there is to know; else it may be another's, that of one that has ended included.
std::atomic<int> live_traces{0};
std::atomic<uint64_t> alone_from{0};  ///< serials from here on were given out after the last end

}  // namespace

Trace::TypeIs Trace::type_is(Op op) {
  switch (op_def(op).kind) {
    case OpKind::Leaf:
    case OpKind::Movement:
    case OpKind::Composite:
      return TypeIs::Given;
    case OpKind::Elementwise:
    case OpKind::Reduction:
    case OpKind::Scan:
    case OpKind::Contraction:
    case OpKind::Gather:
    case OpKind::Scatter:
    case OpKind::Sort:
      return TypeIs::Inferred;
  }
  return TypeIs::Given;
}

Trace::Trace(Slab<LiveNode>& nodes) : nodes_(nodes) {
  ++live_traces;
  clear();
}

Trace::~Trace() {
  alone_from = next_serial.load();
  --live_traces;
}

void Trace::clear() {
  serial_ = next_serial++;
  recorded_.clear();
  leaves_.clear();
  words_.clear();
  assigned.clear();
  aged = 0;
  key_ = 0;
  leaf_bytes_ = 0;
}

TraceRef Trace::find_unmarked(NodeId id, const LiveNode& node) const {
  if (node.mark_trace == 0 || (live_traces == 1 && serial_ >= alone_from)) return {};
  if (node.is_leaf()) {
    for (uint32_t i = 0; i < leaves_.size(); ++i) {
      if (leaves_[i] == id) return TraceRef::leaf(i);
    }
  } else {
    for (uint32_t i = 0; i < recorded_.size(); ++i) {
      if (recorded_[i].node == id && recorded_[i].sequence == node.sequence)
        return TraceRef::node(i);
    }
  }
  return {};
}

TraceRef Trace::known_unmarked(LiveNode& operand) {
  const TraceRef ref = find_unmarked(operand.id, operand);
  return ref.valid() || !operand.is_leaf() ? ref : add_leaf(operand);
}

TraceRef Trace::add_leaf(LiveNode& node) {
  // While another thread computes what the storage is given to, it may still come back: a realize
  // that meets what is in flight waits.
  if (node.consumed && !node.stored->storage) {
    throw Error(str("the value of type ", node.type,
                    " was replaced in place by an assign that has been computed; take gradients "
                    "before realizing the assign, or keep the old value with value()"));
  }
  const TraceRef ref = TraceRef::leaf(static_cast<uint32_t>(leaves_.size()));
  leaves_.push_back(node.id);
  ++node.refs;
  node.mark_trace = serial_;
  node.mark = ref.raw;
  const auto type_bits = static_cast<uint64_t>(node.type.dtype) << 8 | node.type.shape.rank();
  if (!node.stored) {
    word(static_cast<uint64_t>(TraceWord::Parameter) | type_bits);
    return ref;
  }
  word(static_cast<uint64_t>(TraceWord::Leaf) | type_bits);
  for (const int64_t extent : node.type.shape) word(static_cast<uint64_t>(extent));
  for (int axis = 0; axis < node.type.shape.rank(); ++axis) {
    word(static_cast<uint64_t>(node.stored->strides[axis]));
  }
  leaf_bytes_ += static_cast<int64_t>(node.stored->storage->bytes());
  return ref;
}

void Trace::append_refs(LiveNode& node, std::span<const uint32_t> operands, TypeIs type) {
  enter(node);
  const std::span<const int64_t> attrs = node.attrs.words();
  word(op_word(node.op, operands.size(), attrs.size()));
  for (size_t i = 0; i < operands.size(); i += 2) {
    word(operands[i] | static_cast<uint64_t>(i + 1 < operands.size() ? operands[i + 1] : 0) << 32);
  }
  for (const int64_t attr : attrs) word(static_cast<uint64_t>(attr));
  if (type == TypeIs::Given) {
    word(static_cast<uint64_t>(node.type.dtype) << 8 | node.type.shape.rank());
    for (const int64_t extent : node.type.shape) word(static_cast<uint64_t>(extent));
  }
}

void Trace::append(NodeId id, TypeIs type) {
  LiveNode& node = nodes_[id.index];
  const uint32_t count = node.operands.size();
  uint32_t few[4];
  std::vector<uint32_t> many(count > std::size(few) ? count : 0);
  uint32_t* const refs = many.empty() ? few : many.data();
  for (uint32_t i = 0; i < count; ++i) {
    const TraceRef ref = known(nodes_[node.operands[i].index]);
    if (!ref.valid()) {
      (void)reference(id);
      return;
    }
    refs[i] = ref.raw;
  }
  append_refs(node, {refs, count}, type);
}

TraceRef Trace::reference(NodeId id) {
  if (const TraceRef ref = find(id); ref.valid()) return ref;
  if (nodes_[id.index].is_leaf()) return add_leaf(nodes_[id.index]);
  // Depth first, without recursion: a node is appended once its operands are known here.
  struct Visit {
    NodeId node;
    uint32_t next = 0;
  };
  std::vector<Visit> stack{{id}};
  while (!stack.empty()) {
    Visit& top = stack.back();
    const LiveNode& node = nodes_[top.node.index];
    bool descended = false;
    while (top.next < node.operands.size()) {
      const NodeId operand = node.operands[top.next++];
      if (!nodes_[operand.index].is_leaf() && !find(operand).valid()) {
        stack.push_back({operand});
        descended = true;
        break;
      }
    }
    if (descended) continue;
    const NodeId done = stack.back().node;
    stack.pop_back();
    if (!find(done).valid()) append(done, type_is(nodes_[done.index].op));
  }
  return find(id);
}

}  // namespace reprise
