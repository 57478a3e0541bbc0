// Widens f16 and bf16 arithmetic and accumulators to f32, but for what a target multiplies itself.
#include "ir/scalar_rewrite.h"
#include "passes/kernel_passes.h"

namespace reprise {
namespace {

bool is_half(DType dtype) {
  return dtype == DType::F16 || dtype == DType::BF16;
}

/// Min and Max of half values become those of the floats they stand for, which is exact.
void widen_reduction(Stage& stage, Reduction& reduction, const Numerics& numerics) {
  if (reduction.kind == ReduceKind::Dot && stage.body[reduction.value].dtype == DType::BF16 &&
      numerics.bf16_pairs) {
    return;
  }
  ScalarBuilder body(stage.body);
  if (is_half(stage.body[reduction.value].dtype)) {
    reduction.value = body.cast(reduction.value, DType::F32);
  }
  if (reduction.value2.valid() && is_half(stage.body[reduction.value2].dtype)) {
    reduction.value2 = body.cast(reduction.value2, DType::F32);
  }
  if (is_half(reduction.dtype)) reduction.dtype = DType::F32;
}

/// Reads of results whose accumulator was widened, rounded back (exactly) to what `post` expects.
Body narrow_reduced(const Stage& stage) {
  Body result;
  ScalarBuilder builder(result);
  ScalarMap map;
  for (const Instr& instr : stage.post.instrs) {
    if (instr.op == ScalarOp::Reduced) {
      const DType accumulated = stage.reductions[instr.bits].dtype;
      const ScalarId wide = builder.reduced(static_cast<uint32_t>(instr.bits), accumulated);
      map.push_back(builder.cast(wide, instr.dtype));
    } else {
      map.push_back(copy_instr(builder, stage.post, instr, map));
    }
  }
  return result;
}

}  // namespace

Kernel legalize(const Kernel& kernel, const Numerics& numerics) {
  Kernel result = kernel;
  for (Phase& phase : result.phases) {
    for (Part& part : phase.parts) {
      for (Stage& stage : part.stages) {
        ScalarMap map;
        stage.body = widen_halves(stage.body, &map);
        for (Reduction& reduction : stage.reductions) {
          reduction.value = map[reduction.value.index];
          if (reduction.value2.valid()) reduction.value2 = map[reduction.value2.index];
          widen_reduction(stage, reduction, numerics);
        }
        stage.post = widen_halves(narrow_reduced(stage));
      }
    }
  }
  return result;
}

}  // namespace reprise
