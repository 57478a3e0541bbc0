// What a checkpoint returns: x, whose gradient computes anew what x was computed from.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

TensorType infer(const OpContext& ctx) {
  return ctx.operands[0];
}

void gradient(GradientContext& ctx) {
  // The gradient pass looks at the operands after the first (passes/gradient.cpp).
  if (ctx.wants(0)) ctx.accumulate(0, ctx.cotangent);
}

std::vector<Sample> samples() {
  const SampleOperand x{{DType::F32, {5, 13}}, Fill::Normal};
  const SampleOperand of{{DType::F32, {7}}, Fill::Normal};
  return {{.operands = {x}, .attrs = {}, .result = {}},
          {.operands = {x, of, x}, .attrs = {}, .result = {}}};
}

}  // namespace

const OpDef& checkpoint_def() {
  static constexpr OpDef def{
      .name = "checkpoint",
      .kind = OpKind::Movement,
      .max_operands = -1,
      .doc =
          "Operand 0 itself. Gradients do not read what lies between it and the other operands: "
          "they compute it anew from those.",
      .infer = infer,
      .movement = Movement::Reshape,
      .pairs = OnPairs::EachPart,
      .gradient = gradient,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
