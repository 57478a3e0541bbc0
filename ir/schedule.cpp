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
  visit("streaming", part.streaming_stores);
}
template <class Contraction, class Visit>
void visit_contraction(Contraction& contraction, Visit visit) {
  visit("mr", contraction.mr);
  visit("nr", contraction.nr);
  visit("kc", contraction.kc);
  visit("pack_a", contraction.pack_a);
  visit("pack_b", contraction.pack_b);
  visit("sweep", contraction.sweep);
  visit("ahead", contraction.ahead);
}

}  // namespace

std::string print(const Schedule& schedule) {
  std::string out = "schedule {\n";
  for (const std::vector<PartSchedule>& phase : schedule.phases) {
    out += "  phase {\n";
    for (const PartSchedule& part : phase) {
      out += str("    part vector=", axis_name(part.vector_axis));
      const auto field = [&](std::string_view name, auto value) {
        out += str(' ', name, '=', static_cast<int64_t>(value));
      };
      visit_fields(part, field);
      out += '\n';
      for (const ContractionSchedule& contraction : part.contractions) {
        out += "      contraction";
        visit_contraction(contraction, field);
        out += '\n';
      }
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
      const auto field = [&](std::string_view name, auto& value) {
        lexer.expect(name);
        lexer.expect("=");
        const int64_t read = lexer.integer();
        value = static_cast<std::remove_reference_t<decltype(value)>>(read);
        if (static_cast<int64_t>(value) != read) lexer.fail(str(read, " is out of range"));
      };
      visit_fields(part, field);
      while (lexer.accept("contraction")) {
        visit_contraction(part.contractions.emplace_back(), field);
      }
    }
    lexer.expect("}");
  }
  lexer.expect("}");
  lexer.expect_end();
  return schedule;
}

}  // namespace reprise
