// The textual form of schedules.
#include "ir/schedule.h"

#include "ir/error.h"
#include "ir/text.h"

namespace reprise {
namespace {

std::string_view axis_name(VectorAxis axis) {
  switch (axis) {
    case VectorAxis::None:
      return "none";
    case VectorAxis::Grid:
      return "grid";
    case VectorAxis::Loop:
      return "loop";
  }
  return "";
}

/// Names every field in order, for printing as well as for parsing.
template <class Part, class Visit>
void visit_fields(Part& part, Visit visit) {
  visit("lanes", part.vector_lanes);
  visit("unroll", part.unroll);
  visit("task", part.task_points);
  visit("columns", part.task_columns);
  visit("mr", part.mr);
  visit("nr", part.nr);
  visit("kc", part.kc);
  visit("pack_a", part.pack_a);
  visit("pack_b", part.pack_b);
  visit("sweep", part.sweep);
  visit("streaming", part.streaming_stores);
}

}  // namespace

std::string print(const Schedule& schedule) {
  std::string out = "schedule {\n";
  for (const std::vector<PartSchedule>& phase : schedule.phases) {
    out += "  phase {\n";
    for (const PartSchedule& part : phase) {
      out += str("    part vector=", axis_name(part.vector_axis));
      visit_fields(part, [&](std::string_view name, auto value) {
        out += str(' ', name, '=', static_cast<int64_t>(value));
      });
      out += '\n';
    }
    out += "  }\n";
  }
  return out + "}\n";
}

Schedule parse_schedule(std::string_view text) {
  Lexer lexer(text);
  Schedule schedule;
  lexer.expect("schedule");
  lexer.expect("{");
  while (lexer.accept("phase")) {
    lexer.expect("{");
    std::vector<PartSchedule>& phase = schedule.phases.emplace_back();
    while (lexer.accept("part")) {
      PartSchedule& part = phase.emplace_back();
      lexer.expect("vector");
      lexer.expect("=");
      bool found = false;
      for (const VectorAxis axis : {VectorAxis::None, VectorAxis::Grid, VectorAxis::Loop}) {
        if (!lexer.accept(axis_name(axis))) continue;
        part.vector_axis = axis;
        found = true;
        break;
      }
      if (!found) lexer.fail_expected("'none', 'grid' or 'loop'");
      visit_fields(part, [&](std::string_view name, auto& value) {
        lexer.expect(name);
        lexer.expect("=");
        const int64_t read = lexer.integer();
        value = static_cast<std::remove_reference_t<decltype(value)>>(read);
        if (static_cast<int64_t>(value) != read) lexer.fail(str(read, " is out of range"));
      });
    }
    lexer.expect("}");
  }
  lexer.expect("}");
  lexer.expect_end();
  return schedule;
}

}  // namespace reprise
