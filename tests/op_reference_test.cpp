// docs/OPS.md says what the op table says. REPRISE_BLESS=1 writes it.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "ir/op.h"

namespace reprise {
namespace {

std::string_view title_of(OpKind kind) {
  switch (kind) {
    case OpKind::Leaf:
      return "Leaves";
    case OpKind::Elementwise:
      return "Elementwise";
    case OpKind::Reduction:
      return "Reductions";
    case OpKind::Movement:
      return "Movement";
    case OpKind::Contraction:
      return "Contractions";
    case OpKind::Scan:
      return "Scans";
    case OpKind::Gather:
      return "Reading by indices";
    case OpKind::Scatter:
      return "Writing by indices";
    case OpKind::Sort:
      return "Sorting";
    case OpKind::Composite:
      return "Composites";
  }
  return "";
}

std::string_view type_of(AttrKind kind) {
  switch (kind) {
    case AttrKind::Int:
      return "int";
    case AttrKind::Float:
      return "float";
    case AttrKind::Type:
      return "dtype";
    case AttrKind::Ints:
      return "ints";
    case AttrKind::Axes:
      return "axes";
  }
  return "";
}

void print_op(std::ostream& out, const OpDef& def) {
  out << "### " << def.name << "\n\n";
  out << (def.max_operands < 0 ? "Any number of" : std::to_string(def.max_operands)) << " operand"
      << (def.max_operands == 1 ? "" : "s");
  for (size_t i = 0; i < def.attrs.size(); ++i) {
    out << (i == 0 ? "; attributes " : ", ") << '`' << def.attrs[i].name << "` ("
        << type_of(def.attrs[i].kind) << ')';
  }
  out << (def.gradient || def.kind == OpKind::Composite ? "; differentiable" : "") << ".\n\n";
  out << def.doc << "\n\n";
}

void print_reference(std::ostream& out) {
  out << "# Ops\n\nWritten from the op table by `REPRISE_BLESS=1 op_reference_test`. What ops "
         "share stands in "
         "SEMANTICS.md.\n\n";
  for (int kind = 0; kind <= static_cast<int>(OpKind::Composite); ++kind) {
    out << "## " << title_of(static_cast<OpKind>(kind)) << "\n\n";
    for (int number = 0; number < num_ops(); ++number) {
      const OpDef& def = op_def(static_cast<Op>(number));
      if (static_cast<int>(def.kind) == kind) print_op(out, def);
    }
  }
}

TEST(OpReference, IsUpToDate) {
  const std::string path = REPRISE_SOURCE_DIR "/docs/OPS.md";
  std::ostringstream fresh;
  print_reference(fresh);
  if (std::getenv("REPRISE_BLESS")) std::ofstream(path) << fresh.str();
  std::ostringstream stored;
  stored << std::ifstream(path).rdbuf();
  EXPECT_EQ(stored.str(), fresh.str());
}

}  // namespace
}  // namespace reprise
