// What ops share that give their first operand as it is; the others say when, or what of.
#pragma once

#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {

constexpr OpDef pass_through(std::string_view name, int min_operands, int max_operands,
                             std::string_view doc, std::vector<Sample> (*samples)()) {
  return {
      .name = name,
      .kind = OpKind::Movement,
      .min_operands = min_operands,
      .max_operands = max_operands,
      .doc = doc,
      .infer = [](const OpContext& ctx) { return ctx.operands[0]; },
      .movement = Movement::Reshape,
      .pairs = OnPairs::EachPart,
      .gradient =
          [](GradientContext& ctx) {
            if (ctx.wants(0)) ctx.accumulate(0, ctx.cotangent);
          },
      .samples = samples,
  };
}

/// A matrix, followed by operands of these shapes, all of normal numbers.
[[nodiscard]] inline Sample pass_through_sample(std::initializer_list<Shape> others) {
  Sample sample{.operands = {{{DType::F32, {5, 13}}, Fill::Normal}}, .attrs = {}, .result = {}};
  for (const Shape& shape : others) {
    sample.operands.push_back({{DType::F32, shape}, Fill::Normal});
  }
  return sample;
}

}  // namespace reprise
