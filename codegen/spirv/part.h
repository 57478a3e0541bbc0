// One part of a kernel as code of one workgroup.
#pragma once

#include "codegen/spirv/body.h"
#include "codegen/spirv/layout.h"
#include "codegen/spirv/memory.h"

namespace reprise::spirv {

struct Workgroup {
  Value group = 0;       ///< which of the part's workgroups, below PartPlan::tasks
  Value invocation = 0;  ///< which of its invocations
};

/// `scratch_begin`: of the phase's scratch, the part's first byte.
void emit_part(Function& f, PartMemory& memory, const PartPlan& plan, const Workgroup& workgroup,
               int64_t scratch_begin);

/// A tile of a contraction: both factors go through workgroup memory, sums stay in registers.
void emit_tile(Function& f, PartMemory& memory, const PartPlan& plan, const Workgroup& workgroup);

}  // namespace reprise::spirv
