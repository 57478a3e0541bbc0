// a == b, as bool.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& equal_def() {
  static constexpr OpDef def{
      .name = "equal",
      .min_operands = 2,
      .max_operands = 2,
      .doc = "a == b; NaN equals nothing, -0 equals 0.",
      .infer = predicate<Accepts::Real>,
      .lower = [](ScalarBuilder& b, std::span<const ScalarId> x,
                  const OpContext&) { return b.eq(x[0], x[1]); },
      .samples = binary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
