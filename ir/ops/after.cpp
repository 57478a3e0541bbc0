// x, as a value that is not there before another one is.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

TensorType infer(const OpContext& ctx) {
  return ctx.operands[0];
}

void gradient(GradientContext& ctx) {
  if (ctx.wants(0)) ctx.accumulate(0, ctx.cotangent);
}

std::vector<Sample> samples() {
  const SampleOperand x{{DType::F32, {5, 13}}, Fill::Normal};
  return {{.operands = {x, {{DType::F32, {}}, Fill::Normal}}, .attrs = {}, .result = {}},
          {.operands = {x, {{DType::F32, {7}}, Fill::Normal}}, .attrs = {}, .result = {}}};
}

}  // namespace

const OpDef& after_def() {
  static constexpr OpDef def{
      .name = "after",
      .kind = OpKind::Movement,
      .min_operands = 2,
      .max_operands = 2,
      .doc =
          "Operand 0 itself, but another value to the compiler, and computed from only once "
          "operand "
          "1 is known: what a checkpoint computes anew is neither merged with what it computed "
          "first nor moved there.",
      .infer = infer,
      .movement = Movement::Reshape,
      .pairs = OnPairs::EachPart,
      .gradient = gradient,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
