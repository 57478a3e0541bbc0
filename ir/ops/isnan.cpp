// Whether x is NaN.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& isnan_def() {
  static constexpr OpDef def{
      .name = "isnan",
      .doc = "Whether x is NaN; false for integers and bool.",
      .infer = predicate<Accepts::Real>,
      .lower =
          [](ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
            if (!is_float(b.dtype(x[0]))) return b.integer(0, DType::Bool);
            return b.binary(ScalarOp::Ne, x[0], x[0]);
          },
      .samples = unary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
