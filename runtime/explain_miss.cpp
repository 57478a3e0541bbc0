// Trace words back into something to read.
#include "runtime/explain_miss.h"

#include <algorithm>
#include <vector>

#include "ir/error.h"
#include "ir/op.h"

namespace reprise {

namespace {

/// Reads a key from its beginning, one entry at a time (see Trace for how they are written).
class KeyReader {
 public:
  explicit KeyReader(std::span<const uint64_t> key) : key_(key) {}

  [[nodiscard]] std::vector<std::string> read() {
    std::vector<std::string> entries;
    while (at_ < key_.size()) entries.push_back(entry());
    return entries;
  }

 private:
  static constexpr uint64_t kTag = 3ull << 62;

  uint64_t next() { return at_ < key_.size() ? key_[at_++] : 0; }

  std::string entry() {
    const uint64_t word = next();
    switch (static_cast<TraceWord>(word & kTag)) {
      case TraceWord::Leaf:
        return leaf(word);
      case TraceWord::Parameter:
        return str('$', leaves_++, " = parameter ", static_cast<DType>(word >> 8 & 0xff));
      case TraceWord::Op:
        return op(word);
    }
    // Without a tag: the lists at the end.
    constexpr const char* kLists[] = {"asked for", "held by a handle", "on device"};
    std::string text = kLists[std::min<uint32_t>(lists_++, 2)];
    const char* const mark = lists_ <= 2 ? " %" : " ";
    for (uint64_t i = 0; i < word; ++i) text += str(mark, next());
    return text;
  }

  TensorType type(uint64_t word) {
    std::vector<int64_t> extents(std::min<uint64_t>(word & 0xff, kMaxDims));
    for (int64_t& extent : extents) extent = static_cast<int64_t>(next());
    return {static_cast<DType>(word >> 8 & 0xff), Shape(extents)};
  }

  std::string leaf(uint64_t word) {
    const TensorType type = this->type(word);
    std::string text = str('$', leaves_++, " = ", type, " with strides [");
    for (int axis = 0; axis < type.shape.rank(); ++axis) {
      text += str(axis > 0 ? "," : "", static_cast<int64_t>(next()));
    }
    return text + "]";
  }

  std::string op(uint64_t word) {
    const Op op{static_cast<uint16_t>(word)};
    std::string text = str('%', nodes_++, " = ", op, '(');
    const uint64_t operands = word >> 16 & 0xffffff;
    for (uint64_t i = 0, pair = 0; i < operands; ++i) {
      pair = i % 2 == 0 ? next() : pair >> 32;
      const TraceRef ref{static_cast<uint32_t>(pair)};
      text += str(i > 0 ? ", " : "", ref.is_leaf() ? '$' : '%', ref.index());
    }
    text += ')';
    const uint64_t attrs = word >> 40 & 0x3fffff;
    for (uint64_t i = 0; i < attrs; ++i)
      text += str(i > 0 ? ',' : ' ', static_cast<int64_t>(next()));
    if (Trace::type_is(op) == Trace::TypeIs::Given) text += str(": ", type(next()));
    return text;
  }

  std::span<const uint64_t> key_;
  size_t at_ = 0;
  uint32_t leaves_ = 0, nodes_ = 0, lists_ = 0;
};

}  // namespace

std::string explain_miss(std::span<const uint64_t> key, const OnceCache<PlanEntry>& plans) {
  const std::vector<uint64_t> nearest = plans.nearest(key);
  if (nearest.empty()) return "plan miss: no plan is cached yet";
  const std::vector<std::string> have = KeyReader(key).read();
  const std::vector<std::string> other = KeyReader(nearest).read();
  const auto [mine, theirs] = std::mismatch(have.begin(), have.end(), other.begin(), other.end());
  const auto text = [](auto it, const auto& entries) {
    return it == entries.end() ? std::string("nothing") : '`' + *it + '`';
  };
  return str("plan miss: ", text(mine, have), " where the nearest of the cached plans has ",
             text(theirs, other), ", after ", mine - have.begin(), " equal entries");
}

}  // namespace reprise
