// The canonical text of a target.
#include "ir/target.h"

#include "ir/error.h"

namespace reprise {

std::string to_string(const TargetInfo& target) {
  return str("target {kind=", target.kind == TargetKind::Cpu ? "cpu" : "vulkan",
             ", triple=", target.triple, ", features=", target.features,
             ", vector_bytes=", target.vector_bytes, ", vector_registers=", target.vector_registers,
             ", l1=", target.l1_bytes, ", l2=", target.l2_bytes, ", l3=", target.l3_bytes,
             ", fma=", target.numerics.fma ? 1 : 0, "}");
}

}  // namespace reprise
