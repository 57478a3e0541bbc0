// Replaces transcendental functions by their polynomials.
#include "ir/scalar_rewrite.h"
#include "passes/kernel_passes.h"

namespace reprise {

Kernel expand_math(const Kernel& kernel) {
  Kernel result = kernel;
  for (Phase& phase : result.phases) {
    for (Part& part : phase.parts) {
      for (Stage& stage : part.stages) {
        ScalarMap map;
        stage.body = expand_math(stage.body, &map);
        for (Reduction& reduction : stage.reductions) {
          reduction.value = map[reduction.value.index];
          if (reduction.value2.valid()) reduction.value2 = map[reduction.value2.index];
        }
        stage.post = expand_math(stage.post);
      }
    }
  }
  return result;
}

}  // namespace reprise
