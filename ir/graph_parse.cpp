// Reads the textual form of graphs. What is well-formed but wrong is left to the verifier.
#include "ir/graph.h"
#include "ir/text.h"

namespace reprise {

namespace {

class GraphParser {
 public:
  explicit GraphParser(std::string_view text) : lexer_(text) {}

  Graph parse() {
    lexer_.expect("graph");
    lexer_.expect("{");
    while (!lexer_.accept("return")) parse_node();
    if (lexer_.peek_id("%")) {
      do {
        graph_.add_output(parse_value());
      } while (lexer_.accept(","));
    }
    lexer_.expect("}");
    lexer_.expect_end();
    return std::move(graph_);
  }

 private:
  void parse_node() {
    if (!lexer_.peek_id("%")) lexer_.fail_expected("a value '%N' or 'return'");
    const uint32_t id = lexer_.expect_id("%");
    if (id != graph_.size()) {
      lexer_.fail(str("values are numbered in order: expected %", graph_.size(), ", found %", id));
    }
    lexer_.expect("=");
    Node node;
    const std::string_view name = lexer_.identifier("an op");
    const OpDef* def = find_op(name, &node.op);
    if (def == nullptr) lexer_.fail(str("unknown op '", name, "'"));
    if (lexer_.peek_id("%")) {
      do {
        node.operands.push_back(parse_value());
      } while (lexer_.accept(","));
    }
    if (!def->attrs.empty()) parse_attrs(*def, node.attrs);
    lexer_.expect(":");
    node.type = parse_type();
    graph_.add(std::move(node));
  }

  NodeId parse_value() {
    const uint32_t index = lexer_.expect_id("%");
    if (index >= graph_.size()) lexer_.fail(str("%", index, " is not defined yet"));
    return NodeId{index};
  }

  TensorType parse_type() {
    const DType dtype = lexer_.dtype();
    const std::vector<int64_t> extents = lexer_.integers();
    try {
      return {dtype, Shape(extents)};
    } catch (const ShapeError& error) {
      lexer_.fail(error.what());
    }
  }

  void parse_attrs(const OpDef& op, Attrs& attrs) {
    std::string_view opening = "{";
    for (const AttrDef& def : op.attrs) {
      const bool is_missing = opening == "{" ? !lexer_.peek("{") : lexer_.peek("}");
      if (is_missing) lexer_.fail_expected(str("the attribute '", def.name, "' of ", op.name));
      lexer_.expect(opening);
      opening = ",";
      if (!lexer_.peek(def.name)) {
        lexer_.fail_expected(str("the attribute '", def.name, "' of ", op.name));
      }
      lexer_.expect(def.name);
      lexer_.expect("=");
      switch (def.kind) {
        case AttrKind::Int:
          attrs.add_int(lexer_.integer());
          break;
        case AttrKind::Float:
          attrs.add_float(lexer_.number());
          break;
        case AttrKind::Type:
          attrs.add_type(lexer_.dtype());
          break;
        case AttrKind::Ints:
          attrs.add_ints(lexer_.integers());
          break;
        case AttrKind::Axes:
          attrs.add_int(parse_axes());
          break;
      }
    }
    lexer_.expect("}");
  }

  int64_t parse_axes() {
    int64_t mask = 0;
    int64_t last = -1;
    for (int64_t axis : lexer_.integers()) {
      if (axis < 0 || axis >= kMaxDims) lexer_.fail(str("axis ", axis, " is not in [0,8)"));
      if (axis <= last) lexer_.fail("axes are listed in ascending order");
      last = axis;
      mask |= int64_t{1} << axis;
    }
    return mask;
  }

  Lexer lexer_;
  Graph graph_;
};

}  // namespace

Graph parse_graph(std::string_view text) {
  return GraphParser(text).parse();
}

}  // namespace reprise
