// a > b, as bool.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& greater_def() {
  static constexpr OpDef def{
      .name = "greater",
      .min_operands = 2,
      .max_operands = 2,
      .doc = "a > b; false where either is NaN.",
      .infer = predicate<Accepts::Real>,
      .lower = [](ScalarBuilder& b, std::span<const ScalarId> x,
                  const OpContext&) { return b.lt(x[1], x[0]); },
      .samples = binary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
