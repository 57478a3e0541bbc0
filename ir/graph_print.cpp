// The textual form of graphs: one node a line, its type at the end.
#include <sstream>

#include "ir/graph.h"
#include "ir/graph_text.h"
#include "ir/text.h"

namespace reprise {

namespace {

void print_list(std::ostream& out, std::span<const int64_t> values) {
  out << '[';
  for (size_t i = 0; i < values.size(); ++i) out << (i > 0 ? "," : "") << values[i];
  out << ']';
}

void print_axes(std::ostream& out, uint64_t mask) {
  const char* separator = "";
  out << '[';
  for (int axis = 0; axis < kMaxDims; ++axis) {
    if ((mask >> axis & 1) == 0) continue;
    out << separator << axis;
    separator = ",";
  }
  out << ']';
}

void print_attrs(std::ostream& out, const Attrs& attrs, std::span<const AttrDef> schema) {
  int word = 0;
  const char* separator = " {";
  for (const AttrDef& def : schema) {
    out << separator << def.name << '=';
    separator = ", ";
    switch (def.kind) {
      case AttrKind::Int:
        out << attrs.word(word++);
        break;
      case AttrKind::Float:
        out << print_number(attrs.as_float(word++));
        break;
      case AttrKind::Type:
        out << attrs.as_type(word++);
        break;
      case AttrKind::Ints:
        print_list(out, attrs.ints(word));
        word += 1 + static_cast<int>(attrs.ints(word).size());
        break;
      case AttrKind::Axes:
        print_axes(out, static_cast<uint64_t>(attrs.word(word++)));
        break;
    }
  }
  if (!schema.empty()) out << '}';
}

void print_node(std::ostream& out, NodeId id, const Node& node) {
  out << id << " = ";
  if (static_cast<int>(node.op) >= num_ops()) {
    out << "op#" << static_cast<int>(node.op);
    return;
  }
  const OpDef& def = op_def(node.op);
  out << def.name;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    out << (i > 0 ? ", " : " ") << node.operands[i];
  }
  if (matches_schema(node.attrs, def.attrs)) {
    print_attrs(out, node.attrs, def.attrs);
  } else {  // only in the message of the verifier's rule about it
    out << " {?";
    print_list(out, node.attrs.words());
    out << '}';
  }
  out << " : " << node.type;
}

}  // namespace

std::string print_node(const Graph& graph, NodeId id) {
  std::ostringstream out;
  print_node(out, id, graph[id]);
  return std::move(out).str();
}

std::string print(const Graph& graph) {
  std::ostringstream out;
  out << "graph {\n";
  for (uint32_t i = 0; i < graph.size(); ++i) {
    out << "  ";
    print_node(out, NodeId{i}, graph[NodeId{i}]);
    out << '\n';
  }
  out << "  return";
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    out << (i > 0 ? ", " : " ") << graph.outputs()[i];
  }
  out << "\n}\n";
  return std::move(out).str();
}

}  // namespace reprise
