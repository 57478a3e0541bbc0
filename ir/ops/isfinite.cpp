// Whether x is neither NaN nor an infinity.
#include <limits>

#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& isfinite_def() {
  static constexpr OpDef def{
      .name = "isfinite",
      .doc = "Whether x is neither NaN nor an infinity; true for integers and bool.",
      .infer = predicate<Accepts::Real>,
      .lower =
          [](ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
            if (!is_float(b.dtype(x[0]))) return b.integer(1, DType::Bool);
            const ScalarId infinity =
                b.constant(std::numeric_limits<double>::infinity(), b.dtype(x[0]));
            return b.lt(b.unary(ScalarOp::Abs, x[0]), infinity);
          },
      .samples = unary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
