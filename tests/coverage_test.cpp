// docs/COVERAGE.md says what of each op of the table is checked, and against what. REPRISE_BLESS=1
// writes it.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "compiler/pipeline.h"
#include "ir/builder.h"
#include "ir/error.h"
#include "passes/graph_passes.h"

namespace reprise {
namespace {

/// The sample's op, recorded with every dtype that varies being `dtype`.
struct Recorded {
  Graph graph;
  std::vector<Value> operands;
  Value result;
};

enum class Operands : uint8_t { Inputs, Constants };

std::optional<Recorded> recorded(Op op, const Sample& sample, DType dtype, Operands kind) {
  Recorded r;
  GraphBuilder b(r.graph);
  try {
    TensorType result = sample.result;
    if (result.dtype == DType::F32) result.dtype = dtype;
    for (const SampleOperand& operand : sample.operands) {
      TensorType type = operand.type;
      if (type.dtype == DType::F32 || type.dtype == DType::I32) type.dtype = dtype;
      if (kind == Operands::Constants) {
        r.operands.push_back(b.broadcast_to(b.constant(1, type.dtype), type.shape));
      } else {
        r.operands.push_back(b.input(type, static_cast<uint32_t>(r.operands.size())));
      }
    }
    r.result = b.record(op, r.operands, sample.attrs, &result);
  } catch (const Error&) {
    return std::nullopt;
  }
  return r;
}

std::string dtypes_of(Op op) {
  using Set = std::set<DType>;
  const Set floats = {DType::F16, DType::BF16, DType::F32, DType::F64};
  const Set integers = {DType::I8, DType::I16, DType::I32, DType::I64,
                        DType::U8, DType::U16, DType::U32, DType::U64};
  Set found;
  for (const Sample& sample : op_def(op).samples()) {
    for (int d = 0; d < kNumDTypes; ++d) {
      const auto dtype = static_cast<DType>(d);
      if (recorded(op, sample, dtype, Operands::Inputs)) found.insert(dtype);
    }
  }
  std::vector<std::string> names;
  const auto take = [&](const Set& group, const char* name) {
    if (!std::ranges::includes(found, group)) return;
    for (const DType dtype : group) found.erase(dtype);
    names.emplace_back(name);
  };
  take(floats, "floats");
  take(integers, "integers");
  for (const DType dtype : found) names.push_back(str(dtype));
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Whether constants go in and a constant comes out.
bool folds(Op op) {
  for (const Sample& sample : op_def(op).samples()) {
    for (const DType dtype : {DType::F32, DType::I32}) {
      auto r = recorded(op, sample, dtype, Operands::Constants);
      if (!r || sample.operands.empty() ||
          r->graph[NodeId{r->result.index}].type.shape.numel() < 2) {
        continue;
      }
      r->graph.add_output(NodeId{r->result.index});
      const Graph optimized = optimize(r->graph);
      bool constant = true;
      for (const Node& node : optimized.nodes()) {
        constant &= node.op == Op::Constant || node.op == Op::BroadcastTo;
      }
      if (constant) return true;
    }
  }
  return false;
}

bool is_zero(Graph graph, Value value) {
  graph.add_output(NodeId{value.index});
  const Graph optimized = optimize(graph);
  const Node* node = &optimized[optimized.outputs()[0]];
  if (node->op == Op::BroadcastTo) node = &optimized[node->operands[0]];
  return node->op == Op::Constant && node->attrs.as_float(0) == 0;
}

/// 2 where the second derivative by some operand is not 0 as a matter of course, 1 where the first.
int derivatives_of(Op op) {
  int most = 0;
  for (const Sample& sample : op_def(op).samples()) {
    auto r = recorded(op, sample, DType::F64, Operands::Inputs);
    if (!r) continue;
    GraphBuilder b(r->graph);
    std::vector<Value> xs;
    for (const Value operand : r->operands) {
      if (is_float(b.dtype(operand))) xs.push_back(operand);
    }
    if (xs.empty() || !is_float(b.dtype(r->result)) || b.shape(r->result).numel() == 0) continue;
    const Value seed = b.ones(b.type(r->result));
    for (const Value first : gradient(b, r->result, seed, xs)) {
      if (is_zero(r->graph, first)) continue;
      most = std::max(most, 1);
      for (const Value second : gradient(b, first, b.ones(b.type(first)), xs)) {
        if (!is_zero(r->graph, second)) return 2;
      }
    }
  }
  return most;
}

/// Ops of the Python package that docs/ORACLES.md has a line for, with that line's last cell.
std::map<std::string, std::string> python_oracles() {
  std::map<std::string, std::string> found;
  std::ifstream file(REPRISE_SOURCE_DIR "/docs/ORACLES.md");
  bool begun = false;
  for (std::string line; std::getline(file, line);) {
    begun |= line.starts_with("## How close");
    if (!begun || !line.starts_with("| `")) continue;
    const size_t end = line.find('`', 3);
    const size_t last = line.rfind('|', line.size() - 2);
    found[line.substr(3, end - 3)] = line.substr(last + 1, line.size() - last - 2);
  }
  return found;
}

/// The package's name for an op, where it is another.
std::string python_name(std::string_view op) {
  if (op == "permute") return "permute_dims";
  if (op == "left_shift" || op == "right_shift") return "bitwise_" + std::string(op);
  if (op == "gather") return "take";
  if (op == "convolution") return "conv2d";
  if (op == "scatter_multiply" || op == "scatter_maximum" || op == "scatter_minimum") {
    return "scatter_reduce";
  }
  if (op == "window") return "unfold";
  if (op == "overlap_add") return "col2im";
  return std::string(op);
}

std::string page() {
  const auto python = python_oracles();
  std::ostringstream out;
  out << "# Coverage\n\nWhat of each op of the table is checked, written from the table's samples, "
         "what the graph passes make of\nthem, and docs/ORACLES.md by `REPRISE_BLESS=1 "
         "coverage_test`.\n\nEvery op with samples is computed alone (eager), between other ops in "
         "one kernel (fused), again from the\nplan cache, and frozen and replayed with other data, "
         "in every dtype given here, and compared with the\nreference interpreter bit for bit "
         "(`op_oracle_test`). *folded*: on constants it becomes one, to the same\nbits. "
         "*derivatives*: those that are not 0 as a matter of course, compared with finite "
         "differences\n(`op_gradient_test`). *peers*: what the Python package's op of that name "
         "is compared with besides\n(`oracle_test`).\n";
  const char* titles[] = {"Leaves",   "Elementwise",  "Reductions",         "Scans",
                          "Movement", "Contractions", "Reading by indices", "Writing by indices",
                          "Sorting",  "Composites"};
  for (int kind = 0; kind <= static_cast<int>(OpKind::Composite); ++kind) {
    out << "\n## " << titles[kind] << "\n\n| op | dtypes | folded | derivatives | peers |\n"
        << "| --- | --- | --- | --- | --- |\n";
    for (int number = 0; number < num_ops(); ++number) {
      const Op op = static_cast<Op>(number);
      const OpDef& def = op_def(op);
      if (static_cast<int>(def.kind) != kind || def.samples == nullptr) continue;
      const int order = derivatives_of(op);
      const auto peer = python.find(python_name(def.name));
      const bool in_torch = peer != python.end() && peer->second.size() > 2;
      out << "| `" << def.name << "` | " << dtypes_of(op) << " | " << (folds(op) ? "yes" : "")
          << " | "
          << (order == 2   ? "first, second"
              : order == 1 ? "first"
                           : "")
          << " | "
          << (peer == python.end() ? ""
              : in_torch           ? "NumPy, PyTorch"
                                   : "NumPy")
          << " |\n";
    }
  }
  return out.str();
}

TEST(Coverage, IsUpToDate) {
  const std::string path = REPRISE_SOURCE_DIR "/docs/COVERAGE.md";
  const std::string fresh = page();
  if (std::getenv("REPRISE_BLESS")) std::ofstream(path) << fresh;
  std::ostringstream stored;
  stored << std::ifstream(path).rdbuf();
  EXPECT_EQ(stored.str(), fresh);
}

}  // namespace
}  // namespace reprise
