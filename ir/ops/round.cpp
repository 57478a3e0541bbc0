// The nearest integer, ties to even.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& round_def() {
  static constexpr OpDef def{
      .name = "round",
      .doc =
          "The nearest integer, ties to even; integers pass. Signed zeros and NaN are kept. The "
          "gradient is 0.",
      .infer = elementwise<Accepts::Number>,
      .lower =
          [](ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
            return is_integer(b.dtype(x[0])) ? x[0] : b.unary(ScalarOp::Round, x[0]);
          },
      .samples = unary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
