// Compares compiled kernels with the kernel interpreter, bit for bit.
#include "tests/compiled_kernel.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "codegen/backend.h"
#include "compiler/pipeline.h"
#include "compiler/schedule.h"
#include "ir/error.h"
#include "runtime/cpu/loader.h"
#include "runtime/cpu/target.h"
#include "tests/kernel_values.h"

namespace reprise {
namespace {

/// Memory whose end lies against an unreadable page; the bytes before it are watched.
class GuardedBlock {
 public:
  explicit GuardedBlock(size_t bytes) : bytes_(bytes) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    total_ = (bytes + kBefore + page - 1) / page * page + page;
    void* mapped =
        mmap(nullptr, total_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REPRISE_ASSERT(mapped != MAP_FAILED);
    base_ = static_cast<std::byte*>(mapped);
    mprotect(base_ + total_ - page, page, PROT_NONE);
    data_ = base_ + total_ - page - bytes;
    std::memset(data_ - kBefore, 0x5a, kBefore);
  }
  GuardedBlock(const GuardedBlock&) = delete;
  ~GuardedBlock() { munmap(base_, total_); }
  [[nodiscard]] std::byte* data() { return data_; }
  [[nodiscard]] size_t bytes() const { return bytes_; }
  [[nodiscard]] bool clean_before() const {
    for (size_t i = 1; i <= kBefore; ++i) {
      if (data_[-static_cast<std::ptrdiff_t>(i)] != std::byte{0x5a}) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kBefore = 64;
  size_t bytes_ = 0, total_ = 0;
  std::byte* base_ = nullptr;
  std::byte* data_ = nullptr;
};

using Blocks = std::vector<std::unique_ptr<GuardedBlock>>;

std::vector<void*> pointers(const Blocks& blocks) {
  std::vector<void*> result;
  for (const auto& block : blocks) result.push_back(block->data());
  return result;
}

/// Half types and transcendentals have passes of their own; here the kernel must be legal already.
Blocks make_blocks(const Kernel& kernel, const KernelRun& run) {
  std::mt19937_64 random(run.seed);
  Blocks blocks;
  for (const Buffer& buffer : kernel.buffers) {
    if (buffer.kind == BufferKind::Local) continue;
    auto block =
        std::make_unique<GuardedBlock>(static_cast<size_t>(buffer.extent) * size_of(buffer.dtype));
    if (buffer.kind == BufferKind::Input) {
      fill_elements(block->data(), buffer.dtype, buffer.extent, random,
                    {.index_bound = run.index_bound, .plain = run.plain});
    } else {
      std::memset(block->data(), 0x7b, block->bytes());
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace

std::vector<TargetInfo> runnable_targets() {
  std::vector<TargetInfo> targets = {cpu_target(CpuLevel::Sse2)};
  for (const CpuLevel level : {CpuLevel::Avx2, CpuLevel::Avx512}) {
    if (detected_cpu_level() >= level) targets.push_back(cpu_target(level));
  }
  return targets;
}

TargetInfo avx512_target() {
  TargetInfo target = cpu_target(CpuLevel::Sse2);
  target.features =
      "+sse2,+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt,"
      "+avx512f,+avx512cd,+avx512bw,+avx512dq,+avx512vl";
  target.vector_bytes = 64;
  target.vector_registers = 32;
  target.numerics.fma = true;
  return target;
}

void expect_compiled_like_interpreted(const Kernel& kernel, const TargetInfo& target,
                                      const KernelRun& run) {
  const Schedule schedule = run.schedule ? *run.schedule : choose_schedule(kernel, target);
  SCOPED_TRACE(str("features ", target.features, "\n", print(schedule), print(kernel)));
  KernelCode code;
  ASSERT_NO_THROW(code = llvm_backend().generate(kernel, schedule, target));
  const LoadedCode loaded = load_code(code.bytes, code.phases.size());

  const Blocks expected = make_blocks(kernel, run);
  LaunchStatus expected_status;
  interpret(kernel, target.numerics, pointers(expected), run.params, &expected_status);

  int64_t most_tasks = 1;
  for (const PhaseCode& phase : code.phases) most_tasks = std::max(most_tasks, phase.tasks);
  for (const int64_t cut : {most_tasks, int64_t{1}, int64_t{3}}) {
    const Blocks actual = make_blocks(kernel, run);
    const std::vector<void*> buffers = pointers(actual);
    LaunchStatus status;
    const CpuLaunch launch{buffers.data(), run.params.data(), &status};
    for (size_t i = 0; i < code.phases.size(); ++i) {
      const PhaseCode& phase = code.phases[i];
      const size_t room = static_cast<size_t>(phase.scratch_bytes + 63) / 64 * 64;
      GuardedBlock scratch(room);
      std::memset(scratch.data(), 0x33, room);
      for (int64_t begin = 0; begin < phase.tasks; begin += cut) {
        loaded.phases[i](&launch, begin, std::min(begin + cut, phase.tasks), scratch.data());
      }
      EXPECT_TRUE(scratch.clean_before()) << "scratch is written before its beginning";
    }
    EXPECT_EQ(expected_status.failed, status.failed);
    size_t index = 0;
    for (const Buffer& buffer : kernel.buffers) {
      if (buffer.kind == BufferKind::Local) continue;
      EXPECT_TRUE(actual[index]->clean_before()) << "b" << index << " is written before its begin";
      for (int64_t e = 0; e < buffer.extent; ++e) {
        const size_t offset = static_cast<size_t>(e) * size_of(buffer.dtype);
        const std::byte* want = expected[index]->data() + offset;
        const std::byte* got = actual[index]->data() + offset;
        if (same_element(buffer.dtype, want, got)) continue;
        std::string inputs;
        for (size_t k = 0; k < kernel.buffers.size(); ++k) {
          const Buffer& other = kernel.buffers[k];
          if (other.kind != BufferKind::Input || e >= other.extent) continue;
          inputs += str(" b", k, "[", e, "]=",
                        element_text(other.dtype, actual[k]->data() + static_cast<size_t>(e) *
                                                                          size_of(other.dtype)));
        }
        FAIL() << "b" << index << "[" << e << "] is " << element_text(buffer.dtype, got)
               << ", interpreted " << element_text(buffer.dtype, want) << "; tasks by " << cut
               << ";" << inputs;
      }
      ++index;
    }
  }
}

void expect_compiled_like_interpreted(std::string_view text, const KernelRun& run) {
  const Kernel kernel = parse_kernel(text);
  for (const TargetInfo& target : runnable_targets()) {
    expect_compiled_like_interpreted(kernel, target, run);
    if (testing::Test::HasFatalFailure()) return;
  }
  if (run.schedule) return;
  const TargetInfo wide = avx512_target();
  // With somebody looking, the generator verifies what it made.
  EXPECT_NO_THROW(static_cast<void>(
      llvm_backend().generate(kernel, choose_schedule(kernel, wide), wide, [](auto, auto) {})))
      << text;
}

}  // namespace reprise
