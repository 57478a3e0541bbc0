// The canonical text of a target.
#include "ir/target.h"

#include "ir/error.h"

namespace reprise {

namespace {

std::string to_string(const MatrixInfo& matrices) {
  std::string text;
  switch (matrices.form) {
    case MatrixForm::None:
      return "none";
    case MatrixForm::Khr:
      text = "khr";
      break;
    case MatrixForm::Nv:
      text = "nv";
      break;
    case MatrixForm::Emulated:
      text = "emulated";
      break;
  }
  text += str(" by ", matrices.subgroup);
  for (const MatrixShape& shape : matrices.shapes) {
    text += str(' ', shape.factors, "->", shape.sums, ' ', shape.m, 'x', shape.n, 'x', shape.k);
  }
  return text;
}

std::string to_string(const ShaderInfo& shader) {
  return str(", int64=", shader.int64, ", float64=", shader.float64, ", storage8=", shader.storage8,
             ", storage16=", shader.storage16, ", buffer_addresses=", shader.buffer_addresses,
             ", round_even=", shader.round_even32, shader.round_even64,
             ", keep_denormals=", shader.keep_denormals32, shader.keep_denormals64,
             ", keep_specials=", shader.keep_specials32, shader.keep_specials64,
             ", shared=", shader.shared_bytes, ", max_groups=", shader.max_groups,
             ", bound=", shader.bound_bytes, ", shuffle=", shader.shuffle,
             ", loop_iterations=", shader.loop_iterations,
             ", matrices=", to_string(shader.matrices));
}

}  // namespace

std::string to_string(const TargetInfo& target) {
  const bool cpu = target.kind == TargetKind::Cpu;
  return str(
      "target {kind=", cpu ? "cpu" : "vulkan", ", triple=", target.triple,
      ", features=", target.features, ", vector_bytes=", target.vector_bytes,
      ", vector_registers=", target.vector_registers, ", l1=", target.l1_bytes,
      ", l2=", target.l2_bytes, ", l3=", target.l3_bytes, ", fma=", target.numerics.fma ? 1 : 0,
      ", bf16_pairs=", target.numerics.bf16_pairs ? 1 : 0,
      cpu ? "" : str(", matrix_f16=", target.numerics.matrix_f16 ? 1 : 0, to_string(target.shader)),
      "}");
}

TargetInfo plain_vulkan_target() {
  TargetInfo target;
  target.kind = TargetKind::Vulkan;
  target.triple = "spirv";
  target.numerics.fma = false;
  target.shader.int64 = target.shader.float64 = true;
  target.shader.storage8 = target.shader.storage16 = true;
  target.shader.buffer_addresses = true;
  target.shader.shared_bytes = 16384;
  target.shader.max_groups = 65535;
  target.shader.bound_bytes = int64_t{1} << 27;
  return target;
}

}  // namespace reprise
