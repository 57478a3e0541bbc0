// The smallest integer not below x.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& ceil_def() {
  static constexpr OpDef def{
      .name = "ceil",
      .doc =
          "The smallest integer not below x; integers pass. Signed zeros and NaN are kept. The "
          "gradient is 0.",
      .infer = elementwise<Accepts::Number>,
      .lower =
          [](ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
            return is_integer(b.dtype(x[0])) ? x[0] : b.unary(ScalarOp::Ceil, x[0]);
          },
      .samples = unary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
