// Greedy: tries smaller programs until none of them fails.
#include "tests/fuzz/reduce_program.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "ir/builder.h"
#include "ir/error.h"
#include "ir/npy.h"

namespace reprise {

namespace {

/// `count` elements of any old ones, repeated or cut.
Bytes resized(const Bytes& elements, DType dtype, int64_t count) {
  const size_t width = size_of(dtype);
  Bytes result(static_cast<size_t>(count) * width);
  for (size_t i = 0; i < result.size() && !elements.empty(); ++i) {
    result[i] = elements[i % (elements.size() / width * width)];
  }
  return result;
}

/// A program built anew from another one: nodes in order, dead ones left out, leaves renumbered.
class Rebuilt {
 public:
  explicit Rebuilt(const Program& from) : from_(from), values_(from.graph.size()) {}

  Program program;
  GraphBuilder b{program.graph};

  Value input(const TensorType& type, std::span<const int64_t> strides, const Bytes& elements) {
    program.data.inputs.push_back(elements);
    return b.input(type, static_cast<uint32_t>(program.data.inputs.size() - 1), strides);
  }
  Value parameter(DType dtype, uint64_t word) {
    program.data.parameters.push_back(word);
    return b.parameter(dtype, static_cast<uint32_t>(program.data.parameters.size() - 1));
  }
  /// The node with what its operands became, of type `wanted` where the op does not infer one.
  Value copy(uint32_t i, const TensorType& wanted, const Attrs& attrs) {
    const Node& node = from_.graph[NodeId{i}];
    const auto index = [&] { return static_cast<size_t>(node.attrs.word(0)); };
    if (node.op == Op::Parameter) return parameter(wanted.dtype, from_.data.parameters[index()]);
    if (node.op == Op::Input) {
      const Bytes& elements = from_.data.inputs[index()];
      const Value v =
          wanted == node.type
              ? input(wanted, node.attrs.ints(1), elements)
              : input(wanted, {}, resized(elements, wanted.dtype, wanted.shape.numel()));
      became_.emplace_back(static_cast<uint32_t>(index()),
                           static_cast<uint32_t>(program.data.inputs.size() - 1));
      return v;
    }
    std::vector<Value> operands;
    for (const NodeId operand : node.operands) operands.push_back(values_[operand.index]);
    return b.record(node.op, operands, attrs, &wanted);
  }
  Value copy(uint32_t i) {
    return copy(i, from_.graph[NodeId{i}].type, from_.graph[NodeId{i}].attrs);
  }
  void set(uint32_t i, Value value) { values_[i] = value; }
  [[nodiscard]] Value operator[](NodeId node) const { return values_[node.index]; }

  /// Outputs and assigns as they were, as far as they still have their types.
  Program finish() {
    for (const NodeId output : from_.graph.outputs()) b.output(values_[output.index]);
    for (const auto& [input, output] : from_.assigns) {
      for (const auto& [before, after] : became_) {
        if (before == input) program.assigns.push_back({after, output});
      }
    }
    const Graph& graph = program.graph;
    for (const auto& [input, output] : program.assigns) {
      for (const Node& node : graph.nodes()) {
        if (node.op == Op::Input && node.attrs.word(0) == input &&
            node.type != graph[graph.outputs()[output]].type) {
          throw ShapeError("an assign no longer fits");
        }
      }
    }
    verify(graph);
    return std::move(program);
  }

 private:
  const Program& from_;
  std::vector<Value> values_;
  std::vector<std::pair<uint32_t, uint32_t>> became_;  ///< indices of inputs
};

std::vector<char> needed_nodes(const Graph& graph) {
  std::vector<char> needed(graph.size());
  for (const NodeId output : graph.outputs()) needed[output.index] = 1;
  for (uint32_t i = graph.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const NodeId operand : graph[NodeId{i}].operands) needed[operand.index] = 1;
  }
  return needed;
}

/// Copies what is needed; `replace` may give another value for a node.
template <class Replace>
std::optional<Program> rebuild(const Program& from, Replace replace) {
  try {
    Rebuilt rebuilt(from);
    const std::vector<char> needed = needed_nodes(from.graph);
    for (uint32_t i = 0; i < from.graph.size(); ++i) {
      if (!needed[i]) continue;
      const Value other = replace(rebuilt, i);
      rebuilt.set(i, other.valid() ? other : rebuilt.copy(i));
    }
    return rebuilt.finish();
  } catch (const std::exception&) {
    return std::nullopt;  // ops that no longer fit together
  }
}
/// Twice: the first time some leaves lost their last user.
template <class Replace>
std::optional<Program> rebuilt_without_dead(const Program& from, Replace replace) {
  const std::optional<Program> once = rebuild(from, replace);
  if (!once) return std::nullopt;
  return rebuild(*once, [](Rebuilt&, uint32_t) { return Value{}; });
}

Program with_outputs(const Program& program, std::span<const NodeId> outputs) {
  Program result{.graph = {}, .assigns = {}, .data = program.data};
  for (const Node& node : program.graph.nodes()) result.graph.add(node);
  for (const NodeId output : outputs) result.graph.add_output(output);
  return result;
}

class Reducer {
 public:
  Reducer(Program program, const std::function<bool(const Program&)>& fails)
      : best_(std::move(program)), fails_(fails) {}

  Program run() {
    for (bool smaller = true; smaller && runs_ < kMaxRuns;) {
      smaller = false;
      smaller |= drop_assigns();
      smaller |= drop_outputs();
      smaller |= end_earlier();
      smaller |= replace_nodes();
      smaller |= shrink_types();
    }
    plain_data();
    return std::move(best_);
  }

 private:
  static constexpr int kMaxRuns = 1500;

  bool take(std::optional<Program> candidate) {
    if (!candidate || runs_ >= kMaxRuns) return false;
    ++runs_;
    if (!fails_(*candidate)) return false;
    best_ = std::move(*candidate);
    return true;
  }
  static Value keep(Rebuilt&, uint32_t) { return Value{}; }

  bool drop_assigns() {
    bool smaller = false;
    for (size_t i = best_.assigns.size(); i-- > 0;) {
      Program fewer = best_;
      fewer.assigns.erase(fewer.assigns.begin() + static_cast<ptrdiff_t>(i));
      smaller |= take(std::move(fewer));
    }
    return smaller;
  }

  bool drop_outputs() {
    bool smaller = false;
    for (size_t i = best_.graph.outputs().size(); i-- > 0 && best_.graph.outputs().size() > 1;) {
      std::vector<NodeId> outputs(best_.graph.outputs().begin(), best_.graph.outputs().end());
      outputs.erase(outputs.begin() + static_cast<ptrdiff_t>(i));
      Program fewer = with_outputs(best_, outputs);
      for (Program::Assign assign : best_.assigns) {
        if (assign.output == i) continue;
        if (assign.output > i) --assign.output;
        fewer.assigns.push_back(assign);
      }
      smaller |= take(rebuild(fewer, keep));
    }
    return smaller;
  }

  /// Only one output, and that an earlier node: the first that fails.
  bool end_earlier() {
    const uint32_t last = best_.graph.size();
    for (uint32_t i = 0; i < last; ++i) {
      const NodeId node{i};
      if (best_.graph.outputs().size() == 1 && best_.graph.outputs()[0] == node) return false;
      if (take(rebuild(with_outputs(best_, std::span(&node, 1)), keep))) return true;
    }
    return false;
  }

  bool replace_nodes() {
    bool smaller = false;
    for (uint32_t i = best_.graph.size(); i-- > 0;) {
      if (i >= best_.graph.size()) continue;
      smaller |= by_operand(i) || by_leaf(i);
    }
    return smaller;
  }
  bool by_operand(uint32_t i) {
    const Node node = best_.graph[NodeId{i}];
    for (const NodeId operand : node.operands) {
      if (best_.graph[operand].type != node.type) continue;
      if (take(rebuilt_without_dead(
              best_, [&](Rebuilt& r, uint32_t n) { return n == i ? r[operand] : Value{}; }))) {
        return true;
      }
    }
    return false;
  }
  /// An input that holds the node's value, contiguous.
  bool by_leaf(uint32_t i) {
    const Node node = best_.graph[NodeId{i}];
    if (node.op == Op::Parameter) return false;
    if (node.op == Op::Input && node.attrs.ints(1).empty()) return false;
    Bytes elements;
    try {
      // Alone: an index elsewhere may be out of range by now.
      const NodeId id{i};
      const std::optional<Program> alone = rebuild(with_outputs(best_, std::span(&id, 1)), keep);
      if (!alone) return false;
      elements = reference_outputs(alone->graph, alone->data)[0];
    } catch (const std::exception&) {
      return false;
    }
    return take(rebuilt_without_dead(best_, [&](Rebuilt& r, uint32_t n) {
      return n == i ? r.input(node.type, {}, elements) : Value{};
    }));
  }

  bool shrink_types() {
    std::vector<int64_t> extents;
    std::vector<DType> dtypes;
    for (const Node& node : best_.graph.nodes()) {
      extents.insert(extents.end(), node.type.shape.begin(), node.type.shape.end());
      dtypes.push_back(node.type.dtype);
    }
    const auto unique = [](auto& list) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    };
    unique(extents);
    unique(dtypes);
    bool smaller = false;
    for (size_t i = extents.size(); i-- > 0;) {
      for (const int64_t to : {int64_t{1}, int64_t{2}, extents[i] / 2, extents[i] - 1}) {
        if (to < extents[i] && to > 0 && take(with_extent(extents[i], to))) {
          smaller = true;
          break;
        }
      }
    }
    for (const DType dtype : dtypes) {
      const DType plain = is_float(dtype) ? DType::F32 : DType::I32;
      if (dtype != plain && dtype != DType::Bool) smaller |= take(with_dtype(dtype, plain));
    }
    return smaller;
  }
  /// `to` wherever an extent was `from`.
  std::optional<Program> with_extent(int64_t from, int64_t to) {
    const auto shrink = [&](const Shape& shape) {
      std::vector<int64_t> extents(shape.begin(), shape.end());
      std::replace(extents.begin(), extents.end(), from, to);
      return Shape(extents);
    };
    return rebuild(best_, [&](Rebuilt& r, uint32_t i) {
      const Node& node = best_.graph[NodeId{i}];
      Attrs attrs = node.attrs;
      TensorType type{node.type.dtype, shrink(node.type.shape)};
      if (node.op == Op::Slice) {  // from the near end
        std::vector<int64_t> starts, steps;
        const std::span<const int64_t> old =
            node.attrs.ints(1 + static_cast<int>(node.attrs.word(0)));
        for (int axis = 0; axis < type.shape.rank(); ++axis) {
          const int64_t step = old[static_cast<size_t>(axis)];
          steps.push_back(step);
          starts.push_back(std::min(
              node.attrs.ints(0)[static_cast<size_t>(axis)],
              step > 0 ? 0 : std::max<int64_t>(r.b.shape(r[node.operands[0]])[axis] - 1, 0)));
        }
        attrs = Attrs().add_ints(starts).add_ints(steps);
      }
      if (node.op == Op::CheckIndex && node.attrs.word(0) == from) attrs = Attrs().add_int(to);
      if (node.op == Op::Reshape && type.shape.numel() != r.b.shape(r[node.operands[0]]).numel()) {
        type.shape = Shape{r.b.shape(r[node.operands[0]]).numel()};
      }
      return r.copy(i, type, attrs);
    });
  }
  std::optional<Program> with_dtype(DType from, DType to) {
    return rebuild(best_, [&](Rebuilt& r, uint32_t i) {
      const Node& node = best_.graph[NodeId{i}];
      if (node.type.dtype != from) return Value{};
      const TensorType type{to, node.type.shape};
      if (node.op == Op::Cast) return r.copy(i, type, Attrs().add_type(to));
      if (node.op != Op::Input && node.op != Op::Parameter) return r.copy(i, type, node.attrs);
      // The values go along.
      Graph leaf;
      GraphBuilder b(leaf);
      const auto index = static_cast<size_t>(node.attrs.word(0));
      const Value x =
          node.op == Op::Input ? b.input({from, node.type.shape}, 0) : b.parameter(from, 0);
      b.output(b.cast(x, to));
      const Bytes elements =
          reference_outputs(leaf, {{node.op == Op::Input ? best_.data.inputs[index] : Bytes{}},
                                   {node.op == Op::Input ? 0 : best_.data.parameters[index]}})[0];
      if (node.op == Op::Input) return r.input(type, {}, elements);
      uint64_t word = 0;
      std::memcpy(&word, elements.data(), elements.size());
      return r.parameter(to, word);
    });
  }

  /// Zeros instead, or one of its elements everywhere.
  void plain_data() {
    for (const Node& node :
         std::vector<Node>(best_.graph.nodes().begin(), best_.graph.nodes().end())) {
      if (node.op != Op::Input) continue;
      const auto index = static_cast<size_t>(node.attrs.word(0));
      const Bytes old = best_.data.inputs[index];
      const size_t width = size_of(node.type.dtype);
      for (size_t e = 0; e <= std::min<size_t>(6, old.size() / width); ++e) {
        Program plain = best_;
        Bytes& elements = plain.data.inputs[index];
        for (size_t k = 0; k < elements.size(); ++k) {
          elements[k] = e == 0 ? std::byte{0} : old[(e - 1) * width + k % width];
        }
        if (elements == old || take(std::move(plain))) break;
      }
    }
  }

  Program best_;
  const std::function<bool(const Program&)>& fails_;
  int runs_ = 0;
};

}  // namespace

Program reduce_program(const Program& program, const std::function<bool(const Program&)>& fails) {
  return Reducer(program, fails).run();
}

std::string write_reproduction(const Program& program, std::string_view compare) {
  namespace fs = std::filesystem;
  static int number = 0;
  const fs::path folder = fs::temp_directory_path() / str("reprise-fuzz-", getpid(), '-', number++);
  fs::create_directories(folder);
  std::ofstream(folder / "graph.txt") << print(program);
  std::string command = str("reprise run ", (folder / "graph.txt").string());
  for (const Node& node : program.graph.nodes()) {
    if (node.op != Op::Input && node.op != Op::Parameter) continue;
    const auto index = static_cast<size_t>(node.attrs.word(0));
    const std::string name = str(node.op == Op::Input ? "input" : "parameter", index);
    const std::string path = (folder / (name + ".npy")).string();
    if (node.op == Op::Input) {
      write_npy(path, node.type, program.data.inputs[index]);
    } else {
      write_npy(path, node.type,
                std::as_bytes(std::span(&program.data.parameters[index], 1))
                    .first(size_of(node.type.dtype)));
    }
    command += str(" --input ", name, '=', path);
  }
  return command + (compare.empty() ? "" : str(" --compare ", compare));
}

}  // namespace reprise
