// Fusion's decisions as text.
#include "passes/fusion.h"

#include "ir/error.h"
#include "ir/op.h"

namespace reprise {

std::string_view text(FuseReason reason) {
  switch (reason) {
    case FuseReason::Epilogue:
      return "fused into the epilogue";
    case FuseReason::SeenThrough:
      return "seen through in the epilogue";
    case FuseReason::Sibling:
      return "fused beside a sibling that reads the same";
    case FuseReason::Recomputed:
      return "recomputed from stored values";
    case FuseReason::Prologue:
      return "fused into the operand of a product";
    case FuseReason::StoredAsOutput:
      return "stored: an output, or read through strides";
    case FuseReason::StoredForOther:
      return "stored: read by another kernel";
    case FuseReason::Dear:
      return "computed once: too dear to recompute for every reader";
    case FuseReason::Dependence:
      return "not fused: reads what may depend on the group";
    case FuseReason::OtherPlace:
      return "not fused: reads other elements of the group";
    case FuseReason::Full:
      return "not fused: the kernel is full";
  }
  return "";
}

std::string explain(const Fusion& fusion, const Graph& graph) {
  std::string lines;
  for (const FusionNote& note : fusion.notes) {
    const std::string where =
        note.group == FusionNote::kNoGroup ? "no group" : str("group ", note.group);
    lines +=
        str(note.value, " = ", graph[note.value].op, " in ", where, ": ", text(note.reason), "\n");
  }
  return lines;
}

std::string print(const Fusion& fusion, const Graph& graph) {
  std::string text;
  for (size_t g = 0; g < fusion.groups.size(); ++g) {
    const FusionGroup& group = fusion.groups[g];
    text += str("group ", g, " {");
    if (group.anchor.valid()) text += str(" anchor ", group.anchor, " = ", graph[group.anchor].op);
    text += " stores";
    for (size_t i = 0; i < group.stores.size(); ++i) {
      text += str(" ", group.stores[i], " : ", graph[group.stores[i]].type);
      if (group.places[i] != 0) text += str(" at place ", group.places[i]);
    }
    text += " }\n";
    for (const FusionView& view : group.views) {
      text += str("  place ", view.place, " is place ", view.from, " through ", view.node, "\n");
    }
  }
  const std::string notes = explain(fusion, graph);
  for (size_t begin = 0; begin < notes.size();) {
    const size_t end = notes.find('\n', begin) + 1;
    text += "; " + notes.substr(begin, end - begin);
    begin = end;
  }
  return text;
}

}  // namespace reprise
