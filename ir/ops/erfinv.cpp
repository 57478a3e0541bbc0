// The inverse of the error function.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {
TensorType infer(const OpContext& ctx) {
  return infer_elementwise(ctx, Accepts::Float);
}
ScalarId lower(ScalarBuilder&, std::span<const ScalarId>, const OpContext&) {
  throw UnsupportedError("erfinv");
}
}  // namespace
const OpDef& erfinv_def() {
  static constexpr OpDef def{.name = "erfinv",
                             .doc = "The inverse of the error function.",
                             .infer = infer,
                             .lower = lower};
  return def;
}
}  // namespace reprise
