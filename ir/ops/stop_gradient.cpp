// x, as a constant to gradients.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& stop_gradient_def() {
  static constexpr OpDef def{
      .name = "stop_gradient",
      .doc = "x itself; gradients treat it as a constant.",
      .infer = elementwise<Accepts::Any>,
      .lower =
          [](ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
            (void)b;
            return x[0];
          },
      .pairs = OnPairs::EachPart,
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
