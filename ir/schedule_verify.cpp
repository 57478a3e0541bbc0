// The rules of schedules.
#include <algorithm>
#include <bit>

#include "ir/error.h"
#include "ir/kernel.h"
#include "ir/schedule.h"

namespace reprise {

namespace {

void require(bool holds, const char* rule, const std::string& text) {
  if (!holds) throw InternalError(str(rule, ": ", text));
}

size_t count_contractions(const Part& part) {
  return static_cast<size_t>(
      std::count_if(part.stages.begin(), part.stages.end(),
                    [](const Stage& stage) { return stage.kind == StageKind::Contraction; }));
}

}  // namespace

void verify(const Schedule& schedule, const Kernel& kernel) {
  require(schedule.phases.size() == kernel.phases.size(), "S01",
          str("the schedule has ", schedule.phases.size(), " phases, the kernel ",
              kernel.phases.size()));
  for (size_t i = 0; i < kernel.phases.size(); ++i) {
    const std::vector<Part>& parts = kernel.phases[i].parts;
    require(schedule.phases[i].size() == parts.size(), "S01",
            str("phase ", i, " has ", schedule.phases[i].size(), " parts, the kernel's ",
                parts.size()));
    for (size_t k = 0; k < parts.size(); ++k) {
      const PartSchedule& part = schedule.phases[i][k];
      const std::string place = str("phase ", i, " part ", k, ": ");
      require(part.vector_lanes >= 1 && part.vector_lanes <= kReducePartials &&
                  std::has_single_bit(static_cast<unsigned>(part.vector_lanes)),
              "S02", str(place, part.vector_lanes, " lanes are no power of two up to 64"));
      require(part.vector_axis != VectorAxis::None || part.vector_lanes == 1, "S03",
              str(place, part.vector_lanes, " lanes along no axis"));
      require(part.vector_axis != VectorAxis::Grid || !parts[k].grid.empty(), "S04",
              str(place, "lanes along a grid without axes"));
      require(part.unroll >= 1, "S05", str(place, "unroll ", part.unroll));
      require(
          part.task_points >= 1 && part.task_columns >= 0, "S06",
          str(place, "tasks of ", part.task_points, " points, ", part.task_columns, " columns"));
      require(part.contractions.size() == count_contractions(parts[k]), "S08",
              str(place, part.contractions.size(), " of ", count_contractions(parts[k]),
                  " contractions scheduled"));
      for (const ContractionSchedule& each : part.contractions) {
        require(each.mr >= 1 && each.nr >= 1 && each.kc >= 0, "S07",
                str(place, "a contraction with tile ", each.mr, "x", each.nr, ", depth ", each.kc));
        require(each.sweep >= 1, "S09", str(place, "a sweep over ", each.sweep, " points"));
        require(each.ahead >= 0, "S10", str(place, "fetches ", each.ahead, " panels ahead"));
      }
    }
  }
}

}  // namespace reprise
