// The LLVM backend: kernels to relocatable objects, target machines kept for the next one.
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <cstring>
#include <map>
#include <mutex>

#include "codegen/llvm/emit.h"

namespace reprise {
namespace {

using codegen::Features;
using codegen::PartCode;

/// The code generator's passes, which take longer to put together than a small kernel to compile:
/// they are run again for each module.
class Emitter {
 public:
  Emitter(llvm::TargetMachine& machine, llvm::CodeGenFileType type) {
    if (machine.addPassesToEmitFile(passes_, stream_, nullptr, type)) {
      throw UnsupportedError("the target machine cannot emit this kind of file");
    }
  }

  [[nodiscard]] std::string_view emit(llvm::Module& module) {
    code_.clear();
    passes_.run(module);
    return {code_.data(), code_.size()};
  }

 private:
  llvm::SmallVector<char, 0> code_;
  llvm::raw_svector_ostream stream_{code_};
  llvm::legacy::PassManager passes_;
};

/// A target machine with its pass pipelines; expensive to make, so it is kept.
class Machine {
 public:
  explicit Machine(const TargetInfo& target) {
    std::string error;
    const llvm::Target* found = llvm::TargetRegistry::lookupTarget(target.triple, error);
    if (found == nullptr) {
      throw UnsupportedError(str("no code generator for ", target.triple, ": ", error));
    }
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
    machine_.reset(found->createTargetMachine(target.triple, "x86-64", target.features, options,
                                              llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                              llvm::CodeGenOptLevel::Default, false));
    if (machine_ == nullptr) throw UnsupportedError(str("no target machine for ", target.triple));
    llvm::PassBuilder builder(machine_.get());
    builder.registerModuleAnalyses(modules_);
    builder.registerCGSCCAnalyses(cgsccs_);
    builder.registerFunctionAnalyses(functions_);
    builder.registerLoopAnalyses(loops_);
    builder.crossRegisterProxies(loops_, functions_, cgsccs_, modules_);
    // What is emitted is in its final shape: instcombine would cost time and turn range checks of
    // floats into slower integer ones.
    passes_.addPass(llvm::EarlyCSEPass());
    passes_.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                          /*UseMemorySSA=*/true));
    passes_.addPass(llvm::SimplifyCFGPass());
  }

  [[nodiscard]] llvm::TargetMachine& target() { return *machine_; }

  void optimize(llvm::Module& module) {
    for (llvm::Function& function : module) {
      if (!function.isDeclaration()) passes_.run(function, functions_);
    }
    loops_.clear();
    functions_.clear();
    cgsccs_.clear();
    modules_.clear();
  }

  /// The module's code. What it refers to is valid until the next call.
  [[nodiscard]] std::string_view emit(llvm::Module& module, llvm::CodeGenFileType type) {
    std::unique_ptr<Emitter>& emitter =
        type == llvm::CodeGenFileType::ObjectFile ? objects_ : assembly_;
    if (emitter == nullptr) emitter = std::make_unique<Emitter>(*machine_, type);
    return emitter->emit(module);
  }

 private:
  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::LoopAnalysisManager loops_;
  llvm::FunctionAnalysisManager functions_;
  llvm::CGSCCAnalysisManager cgsccs_;
  llvm::ModuleAnalysisManager modules_;
  llvm::FunctionPassManager passes_;
  std::unique_ptr<Emitter> objects_, assembly_;
};

void set_option(llvm::StringRef name) {
  auto* option = static_cast<llvm::cl::opt<bool>*>(llvm::cl::getRegisteredOptions().lookup(name));
  REPRISE_ASSERT(option != nullptr);
  option->setValue(true);
}

void initialize_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    // Addresses come as a base, an index and a displacement already: loop strength reduction would
    // take most of the compile time to arrive at the same.
    set_option("disable-lsr");
  });
}

/// Machines that wait for their next kernel. Threads that compile come and go, machines stay.
struct MachinePool {
  std::mutex mutex;
  std::map<std::string, std::vector<std::unique_ptr<Machine>>> idle;

  // Never destroyed: a thread may still compile while the process ends.
  static MachinePool& get() {
    static MachinePool* const pool = new MachinePool;
    return *pool;
  }
};

/// A machine for one target, taken from the pool and given back.
class MachineLease {
 public:
  explicit MachineLease(const TargetInfo& target) : key_(target.triple + " " + target.features) {
    initialize_llvm();
    {
      MachinePool& pool = MachinePool::get();
      const std::lock_guard lock(pool.mutex);
      std::vector<std::unique_ptr<Machine>>& idle = pool.idle[key_];
      if (!idle.empty()) {
        machine_ = std::move(idle.back());
        idle.pop_back();
      }
    }
    if (machine_ == nullptr) machine_ = std::make_unique<Machine>(target);
  }
  MachineLease(const MachineLease&) = delete;
  ~MachineLease() {
    MachinePool& pool = MachinePool::get();
    const std::lock_guard lock(pool.mutex);
    pool.idle[key_].push_back(std::move(machine_));
  }
  [[nodiscard]] Machine& machine() { return *machine_; }

 private:
  std::string key_;
  std::unique_ptr<Machine> machine_;
};

std::string text_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

void check(const llvm::Module& module) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (llvm::verifyModule(module, &stream)) {
    throw InternalError(str("internal error: invalid LLVM IR: ", message, text_of(module)));
  }
}

/// The phase's entry: hands each part its share of [begin, end).
void emit_phase(llvm::Module& module, size_t number, std::span<const PartCode> parts) {
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> b(context);
  llvm::FunctionType* type = llvm::FunctionType::get(
      b.getVoidTy(), {b.getPtrTy(), b.getInt64Ty(), b.getInt64Ty(), b.getPtrTy()}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                          "phase" + llvm::Twine(number), module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  int64_t first = 0;
  for (const PartCode& part : parts) {
    if (part.tasks == 0) continue;
    const auto bound = [&](unsigned argument) {
      llvm::Value* shifted =
          b.CreateSub(function->getArg(argument), b.getInt64(static_cast<uint64_t>(first)));
      llvm::Value* low = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, shifted, b.getInt64(0));
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, low,
                                     b.getInt64(static_cast<uint64_t>(part.tasks)));
    };
    llvm::Value* begin = bound(1);
    llvm::Value* end = bound(2);
    llvm::BasicBlock* call = llvm::BasicBlock::Create(context, "part", function);
    llvm::BasicBlock* next = llvm::BasicBlock::Create(context, "next", function);
    b.CreateCondBr(b.CreateICmpSLT(begin, end), call, next);
    b.SetInsertPoint(call);
    b.CreateCall(part.function, {function->getArg(0), begin, end, function->getArg(3)});
    b.CreateBr(next);
    b.SetInsertPoint(next);
    first += part.tasks;
  }
  b.CreateRetVoid();
}

class LlvmBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "llvm"; }
  [[nodiscard]] std::string_view version() const override { return "llvm-19 11"; }

  [[nodiscard]] KernelCode generate(const Kernel& kernel, const Schedule& schedule,
                                    const TargetInfo& target, const DumpText& dump) const override {
    if (target.kind != TargetKind::Cpu) {
      throw UnsupportedError(str("the LLVM backend makes CPU code, not ", target.triple));
    }
    MachineLease lease(target);
    Machine& machine = lease.machine();
    const Features features(target);
    llvm::LLVMContext context;
    llvm::Module module("kernel", context);
    module.setTargetTriple(target.triple);
    module.setDataLayout(machine.target().createDataLayout());
    module.setPICLevel(llvm::PICLevel::SmallPIC);

    KernelCode code;
    for (size_t i = 0; i < kernel.phases.size(); ++i) {
      PhaseCode phase{.tasks = 0, .scratch_bytes = 0, .cost_ns = 0};
      std::vector<PartCode> parts;
      for (size_t j = 0; j < kernel.phases[i].parts.size(); ++j) {
        REPRISE_ASSERT(i < schedule.phases.size() && j < schedule.phases[i].size());
        parts.push_back(codegen::emit_part(module, kernel, kernel.phases[i].parts[j],
                                           schedule.phases[i][j], target, features,
                                           str("part", i, "_", j)));
        phase.tasks += parts.back().tasks;
        phase.scratch_bytes = std::max(phase.scratch_bytes, parts.back().scratch_bytes);
        phase.cost_ns += parts.back().cost_ns;
      }
      emit_phase(module, i, parts);
      code.phases.push_back(phase);
    }
    if (dump) {
      dump("llvm", text_of(module));
      check(module);
    }
#ifndef NDEBUG
    check(module);
#endif
    machine.optimize(module);
    if (dump) {
      dump("llvm optimized", text_of(module));
      const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
      dump("asm", machine.emit(*copy, llvm::CodeGenFileType::AssemblyFile));
    }
    const std::string_view object = machine.emit(module, llvm::CodeGenFileType::ObjectFile);
    code.bytes.resize(object.size());
    std::memcpy(code.bytes.data(), object.data(), object.size());
    return code;
  }
};

}  // namespace
}  // namespace reprise

extern "C" __attribute__((visibility("default"))) const reprise::Backend* reprise_llvm_backend() {
  static const reprise::LlvmBackend backend;
  return &backend;
}
