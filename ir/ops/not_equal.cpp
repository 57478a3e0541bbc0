// a != b, as bool.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& not_equal_def() {
  static constexpr OpDef def{
      .name = "not_equal",
      .min_operands = 2,
      .max_operands = 2,
      .doc = "a != b; true where either is NaN.",
      .infer = predicate<Accepts::Real>,
      .lower = [](ScalarBuilder& b, std::span<const ScalarId> x,
                  const OpContext&) { return b.binary(ScalarOp::Ne, x[0], x[1]); },
      .samples = binary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
