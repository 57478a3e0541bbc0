// What one thread has recorded and not yet computed, as words: the structural key of a plan.
//
// Recording an op appends its words and mixes them into a rolling key; a step that comes round
// again is found by that key and confirmed by comparing the words, without walking its graph.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "runtime/growing_list.h"
#include "runtime/live_node.h"
#include "runtime/slab.h"

namespace reprise {

/// First word of an entry: a leaf with data, a scalar parameter, or an op (its number in the low
/// bits).
enum class TraceWord : uint64_t { Leaf = 1ull << 62, Parameter = 2ull << 62, Op = 3ull << 62 };

/// A reference inside a trace: node number or leaf number.
struct TraceRef {
  uint32_t raw = UINT32_MAX;
  [[nodiscard]] static TraceRef node(uint32_t i) { return {i << 1}; }
  [[nodiscard]] static TraceRef leaf(uint32_t i) { return {i << 1 | 1}; }
  [[nodiscard]] bool is_leaf() const { return raw & 1; }
  [[nodiscard]] uint32_t index() const { return raw >> 1; }
  [[nodiscard]] bool valid() const { return raw != UINT32_MAX; }
};

class Trace {
 public:
  struct Recorded {
    NodeId node;
    uint64_t sequence;  ///< the node is gone when the slot's sequence differs
  };

  explicit Trace(Slab<LiveNode>& nodes);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// Whether a node's type is data of its own rather than a consequence of operands and attributes.
  enum class TypeIs : uint8_t { Inferred, Given };
  [[nodiscard]] static TypeIs type_is(Op op);
  /// Appends a pending node whose operands are leaves or pending; brings in what is missing of
  /// them.
  void append(NodeId id, TypeIs type);
  /// The same, in line, for an op without attributes whose operands these are and whose type
  /// follows from them.
  template <class... Operands>
  void append(LiveNode& node, Operands&... operands) {
    static_assert(sizeof...(Operands) <= 2);
    const std::array<TraceRef, sizeof...(Operands)> refs{known(operands)...};  // in this order
    if (!std::all_of(refs.begin(), refs.end(), [](TraceRef ref) { return ref.valid(); }))
        [[unlikely]]
      return append(node.id, TypeIs::Inferred);
    enter(node);
    word(op_word(node.op, refs.size(), 0));
    uint64_t pair = refs.front().raw;
    if constexpr (refs.size() == 2) pair |= static_cast<uint64_t>(refs.back().raw) << 32;
    word(pair);
  }
  /// The number of a node in this trace; imports it, and what it needs, when it is not there yet.
  TraceRef reference(NodeId id);
  /// Whether a pending node was appended here; does not import.
  [[nodiscard]] bool contains(NodeId id) const { return find(id).valid(); }
  /// The number of a node that is known here.
  [[nodiscard]] TraceRef at(NodeId id) const { return find(id); }
  /// Forgets everything. References held on leaves are the caller's to drop (see leaves()).
  void clear();

  [[nodiscard]] std::span<const Recorded> recorded() const { return recorded_; }
  [[nodiscard]] std::span<const NodeId> leaves() const { return leaves_; }
  [[nodiscard]] std::span<const uint64_t> words() const { return words_; }
  [[nodiscard]] uint64_t key() const { return key_; }
  [[nodiscard]] bool alive(const Recorded& r) const {
    return nodes_[r.node.index].sequence == r.sequence;
  }
  [[nodiscard]] int64_t leaf_bytes() const { return leaf_bytes_; }

  /// A tensor that was assigned a pending value.
  struct Assigned {
    Recorded value;
    TensorId target;
    uint32_t version;  ///< of the target's binding: another one was assigned again, or is gone
    NodeId fallback;   ///< what the target was before, a reference; invalid: a later assign has it
    std::shared_ptr<AssignWatch> watch;  ///< told when it is taken back; null: nobody asks
  };
  std::vector<Assigned> assigned;
  /// So many of the first entries were there, pending, when this thread last computed something.
  uint32_t aged = 0;

 private:
  void append_refs(LiveNode& node, std::span<const uint32_t> operands, TypeIs type);
  void enter(LiveNode& node) {
    node.mark_trace = serial_;
    node.mark = TraceRef::node(static_cast<uint32_t>(recorded_.size())).raw;
    recorded_.push_back({node.id, node.sequence});
  }
  [[nodiscard]] static uint64_t op_word(Op op, size_t operands, size_t attrs) {
    return static_cast<uint64_t>(TraceWord::Op) | static_cast<uint64_t>(op) |
           static_cast<uint64_t>(operands) << 16 | static_cast<uint64_t>(attrs) << 40;
  }
  [[nodiscard]] TraceRef find(NodeId id) const {  ///< invalid when absent
    const LiveNode& node = nodes_[id.index];
    return node.mark_trace == serial_ ? TraceRef{node.mark} : find_unmarked(id, node);
  }
  [[nodiscard]] TraceRef find_unmarked(NodeId id, const LiveNode& node) const;
  TraceRef add_leaf(LiveNode& node);
  /// The number of an operand, a leaf's if need be; invalid when it is pending and not known here.
  [[nodiscard]] TraceRef known(LiveNode& operand) {
    return operand.mark_trace == serial_ ? TraceRef{operand.mark} : known_unmarked(operand);
  }
  [[nodiscard]] TraceRef known_unmarked(LiveNode& operand);
  void word(uint64_t w) {
    words_.push_back(w);
    key_ = (key_ ^ w) * 0x9e3779b97f4a7c15u;
    key_ ^= key_ >> 29;
  }

  Slab<LiveNode>& nodes_;
  uint64_t serial_ = 0;
  GrowingList<Recorded> recorded_;
  GrowingList<NodeId> leaves_;  ///< each holds a reference
  GrowingList<uint64_t> words_;
  uint64_t key_ = 0;
  int64_t leaf_bytes_ = 0;
};

}  // namespace reprise
