// The SPIR-V backend: one module a kernel, one entry a phase, each part a range of workgroups.
#include <cstring>
#include <memory>
#include <spirv-tools/libspirv.hpp>

#include "codegen/spirv/part.h"
#include "codegen/spirv/render.h"
#include "ir/error.h"

namespace reprise {
namespace {

using spirv::Function;
using spirv::Mapping;
using spirv::Module;
using spirv::PartPlan;
using spirv::PhasePlan;
using spirv::Value;

/// Buffers through which the invocations of a group hand each other values.
std::vector<bool> coherent_buffers(const Kernel& kernel, const std::vector<PhasePlan>& phases) {
  std::vector<bool> result(kernel.buffers.size());
  for (const PhasePlan& phase : phases) {
    for (const PartPlan& plan : phase.parts) {
      if (plan.mapping != Mapping::Rows) continue;
      std::vector<bool> loaded(result.size()), stored(result.size());
      for (const Stage& stage : plan.part.stages) {
        for (const Body* body : {&stage.body, &stage.post}) {
          for (const Instr& instr : body->instrs) {
            if (instr.op != ScalarOp::Load && instr.op != ScalarOp::Store) continue;
            const uint32_t buffer = body->accesses[instr.access].buffer.index;
            (instr.op == ScalarOp::Load ? loaded : stored)[buffer] = true;
          }
        }
      }
      for (size_t b = 0; b < result.size(); ++b) {
        if (loaded[b] && stored[b]) result[b] = true;
      }
    }
  }
  return result;
}

/// The workgroup's number, whatever the dispatch was folded into.
Value group_number(Function& f) {
  Module& m = f.m;
  const Value vector = m.vector_type(m.u32(), 3);
  const Value place = f.load(vector, m.built_in(spv::BuiltInWorkgroupId, vector));
  const Value counts = f.load(vector, m.built_in(spv::BuiltInNumWorkgroups, vector));
  const auto axis = [&](Value v, uint32_t i) {
    return f.op(spv::OpCompositeExtract, m.u32(), {v, i});
  };
  const Value plane = f.add(f.mul(axis(place, 2), axis(counts, 1)), axis(place, 1));
  return f.add(f.mul(plane, axis(counts, 0)), axis(place, 0));
}

void emit_phase(Module& m, const Kernel& kernel, const spirv::Arguments& arguments,
                const PhasePlan& phase, std::string_view name) {
  const spirv::SharedMemory shared(m, phase.shared);
  Function f(m, m.void_type());
  m.name(f.id(), name);
  const Value group = group_number(f);
  const Value invocation = f.load(m.u32(), m.built_in(spv::BuiltInLocalInvocationIndex, m.u32()));
  int64_t first = 0, scratch = 0;
  for (const PartPlan& plan : phase.parts) {
    if (plan.tasks == 0) continue;
    // Unsigned: a group before the part's first counts as one far behind its last.
    const Value own =
        first == 0 ? group
                   : f.op(spv::OpISub, m.u32(), {group, m.constant(static_cast<uint32_t>(first))});
    f.if_then(f.below(own, m.constant(static_cast<uint32_t>(plan.tasks))), [&] {
      spirv::PartMemory memory(f, kernel, arguments, shared, plan);
      emit_part(f, memory, plan, {own, invocation}, scratch);
    });
    first += plan.tasks;
    scratch += plan.scratch_stride * plan.tasks;
  }
  f.finish();
  m.add_entry(f.id(), name, kGroupInvocations);
}

/// Throws InternalError with what SPIRV-Tools has to say and the module's text.
std::string text_of(const spirv::Words& words) {
  const spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_1);
  std::string text;
  tools.Disassemble(words, &text,
                    SPV_BINARY_TO_TEXT_OPTION_INDENT | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES);
  return text;
}

void check(const spirv::Words& words) {
  spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_1);
  std::string message;
  tools.SetMessageConsumer(
      [&](spv_message_level_t, const char*, const spv_position_t& at, const char* what) {
        message += str("\n  word ", at.index, ": ", what);
      });
  if (!tools.Validate(words)) {
    throw InternalError(str("internal error: invalid SPIR-V: ", message, "\n", text_of(words)));
  }
}

struct Emitted {
  spirv::Words words;
  std::vector<PhaseCode> phases;
  bool matrices = false;  ///< there are matrix instructions, or what stands in for them
};

Emitted emit(const Kernel& kernel, const TargetInfo& target) {
  Emitted result;
  std::vector<PhasePlan> phases;
  bool uses_scratch = false;
  for (const Phase& phase : kernel.phases) {
    phases.push_back(spirv::plan_phase(kernel, phase, target));
    uses_scratch = uses_scratch || phases.back().scratch_bytes > 0;
    for (const PartPlan& plan : phases.back().parts) {
      result.matrices = result.matrices || plan.matrix.has_value();
    }
  }
  Module module(target, result.matrices);
  const spirv::Arguments arguments(module, kernel, coherent_buffers(kernel, phases), uses_scratch);
  for (size_t i = 0; i < phases.size(); ++i) {
    emit_phase(module, kernel, arguments, phases[i], str("phase", i));
    result.phases.push_back(
        {.tasks = phases[i].tasks, .scratch_bytes = phases[i].scratch_bytes, .cost_ns = 0});
  }
  result.words = module.finish();
  return result;
}

/// Whether SPIRV-Tools know SPV_KHR_cooperative_matrix, which is younger than they may be.
bool tools_know_matrices() {
  static const bool known = [] {
    std::vector<uint32_t> words;
    return spvtools::SpirvTools(SPV_ENV_VULKAN_1_1)
        .Assemble("OpCapability CooperativeMatrixKHR", &words);
  }();
  return known;
}

/// The module for SPIRV-Tools to read: with the instructions of the older extension where they do
/// not know the newer. Everything around them is the same.
spirv::Words words_for_tools(const Emitted& emitted, const Kernel& kernel,
                             const TargetInfo& target) {
  const bool newer = emitted.matrices && target.shader.matrices.form == MatrixForm::Khr;
  if (!newer || tools_know_matrices()) return emitted.words;
  TargetInfo older = target;
  older.shader.matrices.form = MatrixForm::Nv;
  return emit(kernel, older).words;
}

/// SPIRV-Cross has no matrix instructions. A language without addresses of buffers gets the kernel
/// as a device without them does; it has no name for the number of subgroups either.
std::string render(const Emitted& emitted, std::string_view language, const Kernel& kernel,
                   const TargetInfo& target) {
  TargetInfo shown = target;
  if (emitted.matrices) shown.shader.matrices = {};
  if (!spirv::has_addresses(language)) {
    shown.shader.shuffle = false;
    shown.shader.buffer_addresses = false;
  }
  const std::string note =
      emitted.matrices ? "// shown without matrix instructions, which the code for the device has\n"
                       : "";
  try {
    return note +
           spirv::render(shown == target ? emitted.words : emit(kernel, shown).words, language);
  } catch (const UnsupportedError& error) {
    return str("// cannot be said in this language: ", error.what(), '\n');
  }
}

class SpirvBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "spirv"; }
  [[nodiscard]] std::string_view version() const override { return "spirv 10"; }

  /// The schedule is a CPU's; the mapping onto workgroups follows from the kernel and the target.
  [[nodiscard]] KernelCode generate(const Kernel& kernel, const Schedule&, const TargetInfo& target,
                                    const DumpText& dump) const override {
    if (target.kind != TargetKind::Vulkan) {
      throw UnsupportedError(
          str("the SPIR-V backend makes code for Vulkan devices, not ", target.triple));
    }
    Emitted emitted = emit(kernel, target);
    if (dump) {
      const spirv::Words words = words_for_tools(emitted, kernel, target);
      dump("spirv", str(words == emitted.words
                            ? ""
                            : "; shown with the instructions of SPV_NV_cooperative_matrix, as "
                              "SPIRV-Tools do not know\n; those of SPV_KHR_cooperative_matrix, "
                              "which the code for the device has\n",
                        text_of(words)));
      check(words);
      for (const std::string_view language : spirv::languages()) {
        dump(language, render(emitted, language, kernel, target));
      }
    }
#ifndef NDEBUG
    check(words_for_tools(emitted, kernel, target));
#endif
    KernelCode code;
    code.phases = std::move(emitted.phases);
    code.bytes.resize(4 * emitted.words.size());
    std::memcpy(code.bytes.data(), emitted.words.data(), code.bytes.size());
    return code;
  }
};

}  // namespace
}  // namespace reprise

extern "C" __attribute__((visibility("default"))) const reprise::Backend* reprise_spirv_backend() {
  static const reprise::SpirvBackend backend;
  return &backend;
}
