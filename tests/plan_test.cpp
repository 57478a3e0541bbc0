// Schedules and plans: text forms, a rejecting case for every rule, and running a plan.
#include "ir/plan.h"

#include <gtest/gtest.h>

#include "compiler/pipeline.h"
#include "ir/error.h"
#include "ir/kernel.h"
#include "ir/schedule.h"
#include "ir/target.h"

namespace reprise {
namespace {

constexpr const char* kPlan = R"(plan {
  kernels 2
  arena 128
  param p0: f32
  param p1: i64
  s0 = input 0: f32, 16 bytes
  s1 = arena at 0: f32, 16 bytes
  s2 = arena at 64: f32, 16 bytes
  s3 = output 0: f32, 16 bytes
  launch k0 [s0, s1] params [p0]
  launch k0 [s1, s2] params [p0]
  launch k1 [s2, s3] params []
  donate input 0 to output 0
  alias output 1 = s0 offset 2 strides [1, -2]
}
)";

/// Over two devices.
constexpr const char* kPassing = R"(plan {
  kernels 2
  arena 64, 128
  param p0: f32
  s0 = input 0: f32, 16 bytes
  s1 = arena at 0: f32, 16 bytes
  s2 = arena at 64: f32, 16 bytes on 1
  s3 = arena at 0: f32, 16 bytes on 1
  s4 = output 0: f32, 16 bytes
  launch k0 [s0, s1] params [p0]
  transfer s1 offset 0 to s2
  launch k1 [s2, s3] params []
  transfer s3 offset 0 to s4
}
)";

constexpr const char* kScale = R"(kernel { input b0: f32[4] output b1: f32[4] param p0: f32
  phase { part grid [4] { loop parallel [] reduce [] {
    %0 = load b0[g0] : f32 %1 = param p0 : f32 %2 = mul %0, %1 : f32 store b1[g0], %2 } } } })";
constexpr const char* kNegate = R"(kernel { input b0: f32[4] output b1: f32[4]
  phase { part grid [4] { loop parallel [] reduce [] {
    %0 = load b0[g0] : f32 %1 = neg %0 : f32 store b1[g0], %1 } } } })";

std::string verdict(const Plan& plan, std::span<const Kernel> kernels = {}) {
  try {
    verify(plan);
    if (!kernels.empty()) verify(plan, kernels);
  } catch (const InternalError& error) {
    const std::string prefix = "internal error: plan breaks ";
    EXPECT_TRUE(std::string(error.what()).starts_with(prefix)) << error.what();
    return std::string(error.what()).substr(prefix.size());
  }
  return "passes";
}

std::string verdict_of(std::string_view body) {
  return verdict(parse_plan(str("plan { kernels 1 arena 128 param p0: f32 ", body, "}")));
}

TEST(Plan, PrintsWhatItParsed) {
  const Plan plan = parse_plan(kPlan);
  EXPECT_EQ(print(plan), kPlan);
  EXPECT_EQ(parse_plan(print(plan)), plan);
  const std::string empty = "plan {\n  kernels 0\n  arena 0\n}\n";
  EXPECT_EQ(print(parse_plan(empty)), empty);
}

TEST(Plan, ParseErrorsNameThePlace) {
  const auto message = [](std::string_view text) -> std::string {
    try {
      static_cast<void>(parse_plan(text));
    } catch (const ParseError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message("plan { kernels x"), "line 1, column 16: expected an integer, found 'x'");
  EXPECT_EQ(message("plan { kernels -1 arena 0 }"), "line 1, column 16: -1 is out of range");
  EXPECT_EQ(message("plan { kernels 0 arena 0 s1 = input 0: f32, 4 bytes }"),
            "line 1, column 26: expected s0, the next slot");
  EXPECT_EQ(message("plan { kernels 0 arena 0 s0 = heap 0: f32, 4 bytes }"),
            "line 1, column 31: expected 'input', 'output' or 'arena', found 'heap'");
}

TEST(Plan, EveryRuleRejects) {
  EXPECT_EQ(verdict(parse_plan(kPlan)), "passes");
  EXPECT_TRUE(verdict_of("s0 = input 0: f32, -1 bytes").starts_with("P01"));
  EXPECT_TRUE(
      verdict_of("s0 = output 0: f32, 4 bytes s1 = output 0: f32, 4 bytes").starts_with("P02"));
  EXPECT_TRUE(verdict_of("s0 = input 0: f32, 4 bytes s1 = output 0: f32, 4 bytes "
                         "alias output 0 = s0 offset 0 strides []")
                  .starts_with("P02"));
  EXPECT_TRUE(verdict_of("launch k1 [] params []").starts_with("P03"));
  EXPECT_TRUE(verdict_of("launch k0 [s0] params []").starts_with("P04"));
  EXPECT_TRUE(verdict_of("launch k0 [] params [p1]").starts_with("P04"));
  EXPECT_TRUE(
      verdict_of("s0 = arena at 65: f32, 4 bytes launch k0 [s0] params []").starts_with("P05"));
  EXPECT_TRUE(
      verdict_of("s0 = arena at 64: f32, 65 bytes launch k0 [s0] params []").starts_with("P05"));
  EXPECT_EQ(verdict_of("s0 = arena at 0: f32, 65 bytes s1 = arena at 64: f32, 64 bytes "
                       "launch k0 [s0, s1] params []"),
            "P06: s0 and s1 are alive at once and share bytes");
  EXPECT_EQ(verdict_of("s0 = arena at 0: f32, 64 bytes s1 = arena at 0: f32, 64 bytes "
                       "launch k0 [s0] params [] launch k0 [s1] params []"),
            "passes");
  EXPECT_TRUE(verdict_of("donate input 0 to output 0").starts_with("P07"));
  EXPECT_TRUE(verdict_of("s0 = input 0: f32, 4 bytes s1 = output 0: f32, 4 bytes "
                         "s2 = output 1: f32, 4 bytes "
                         "donate input 0 to output 0 donate input 0 to output 1")
                  .starts_with("P07"));
  EXPECT_TRUE(verdict_of("alias output 0 = s0 offset 0 strides []").starts_with("P08"));
  EXPECT_TRUE(verdict_of("s0 = arena at 0: f32, 4 bytes alias output 0 = s0 offset 0 strides []")
                  .starts_with("P08"));
  EXPECT_TRUE(verdict_of("s0 = input 0: f32, 4 bytes alias output 0 = s0 offset -1 strides []")
                  .starts_with("P08"));
}

TEST(Plan, EveryRuleAboutDevicesRejects) {
  const std::vector<Kernel> kernels = {parse_kernel(kScale), parse_kernel(kNegate)};
  const Plan plan = parse_plan(kPassing);
  EXPECT_EQ(print(plan), kPassing);
  EXPECT_EQ(verdict(plan, kernels), "passes");
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = kPassing;
    text.replace(text.find(from), from.size(), to);
    return verdict(parse_plan(text), kernels);
  };
  EXPECT_THROW(
      static_cast<void>(parse_plan("plan { kernels 0 arena 0 s0 = input 0: f32, 4 bytes on 1 }")),
      ParseError);
  EXPECT_TRUE(with("[s2, s3]", "[s2, s4]").starts_with("P14"));
  EXPECT_TRUE(with("transfer s1 offset 0 to s2", "transfer s1 offset 0 to s9").starts_with("P04"));
  EXPECT_TRUE(with("transfer s1 offset 0 to s2", "transfer s0 offset 0 to s1").starts_with("P15"));
  EXPECT_TRUE(with("transfer s3 offset 0 to s4", "transfer s3 offset 0 to s0").starts_with("P15"));
  EXPECT_TRUE(with("transfer s1 offset 0", "transfer s1 offset 4").starts_with("P15"));
  EXPECT_TRUE(with("s1 = arena at 0: f32", "s1 = arena at 0: i32").starts_with("P15"));
  EXPECT_TRUE(with("launch k0 [s0, s1] params [p0]", "").starts_with("P12"));
  EXPECT_TRUE(with("transfer s1 offset 0 to s2", "").starts_with("P12"));
  EXPECT_TRUE(with("s3 = arena at 0", "s3 = arena at 64").starts_with("P06"));
  EXPECT_TRUE(with("arena 64, 128", "arena 64, 64").starts_with("P05"));
  EXPECT_TRUE(
      with("s4 = output 0: f32, 16 bytes", "s4 = output 0: f32, 16 bytes on 1").starts_with("P15"));
  const std::string donated = str("s5 = output 1: f32, 16 bytes on 1\n  launch k0 [s0, s1]");
  std::string text = kPassing;
  text.replace(text.find("launch k0 [s0, s1]"), 18, donated);
  text.replace(text.rfind('}'), 1, "donate input 0 to output 1 }");
  EXPECT_TRUE(verdict(parse_plan(text)).starts_with("P07"));
}

// A transfer keeps what it reads alive until then, and fills what is read later.
TEST(Plan, MemoryIsPlannedForEachDevice) {
  Plan plan = parse_plan(kPassing);
  plan.arenas = {0, 0};
  plan = plan_memory(plan);
  EXPECT_EQ(plan.arenas, (std::vector<int64_t>{64, 128}));
  EXPECT_NE(plan.slots[2].offset, plan.slots[3].offset);
  verify(plan);
}

TEST(Plan, TransfersCopy) {
  const std::vector<Kernel> kernels = {parse_kernel(kScale), parse_kernel(kNegate)};
  float in[4] = {1, 2, 3, 4};
  float out[4] = {};
  void* inputs[] = {in};
  void* outputs[] = {out};
  const uint64_t params[] = {std::bit_cast<uint32_t>(3.0f)};
  interpret(parse_plan(kPassing), kernels, Numerics{}, inputs, outputs, params);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(out[i], -3 * in[i]);
}

TEST(Plan, EveryRuleAboutKernelsRejects) {
  const std::vector<Kernel> kernels = {parse_kernel(kScale), parse_kernel(kNegate)};
  EXPECT_EQ(verdict(parse_plan(kPlan), kernels), "passes");
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = kPlan;
    text.replace(text.find(from), from.size(), to);
    return verdict(parse_plan(text), kernels);
  };
  EXPECT_TRUE(with("kernels 2", "kernels 3").starts_with("P03"));
  EXPECT_TRUE(
      with("launch k0 [s0, s1] params [p0]", "launch k0 [s0] params [p0]").starts_with("P09"));
  EXPECT_TRUE(
      with("launch k0 [s0, s1] params [p0]", "launch k0 [s0, s1] params []").starts_with("P09"));
  EXPECT_TRUE(
      with("launch k0 [s0, s1] params [p0]", "launch k0 [s0, s1] params [p1]").starts_with("P10"));
  EXPECT_TRUE(with("s0 = input 0: f32, 16", "s0 = input 0: f32, 15").starts_with("P10"));
  EXPECT_TRUE(with("s0 = input 0: f32", "s0 = input 0: f64").starts_with("P10"));
  EXPECT_TRUE(with("launch k0 [s0, s1]", "launch k0 [s0, s0]").starts_with("P11"));
  EXPECT_TRUE(with("launch k0 [s0, s1]", "launch k0 [s2, s1]").starts_with("P12"));
  EXPECT_TRUE(with("launch k0 [s1, s2]", "launch k0 [s1, s1]").starts_with("P13"));
}

TEST(Plan, RunsItsLaunchesInOrder) {
  const std::vector<Kernel> kernels = {parse_kernel(kScale), parse_kernel(kNegate)};
  float in[4] = {1, 2, 3, 4};
  float out[4] = {};
  void* inputs[] = {in};
  void* outputs[] = {out, nullptr};
  const uint64_t params[] = {std::bit_cast<uint32_t>(3.0f), 0};
  Plan plan = parse_plan(kPlan);
  for (const int64_t arena : {plan.arenas[0], int64_t{0}}) {  // planned, and not yet planned
    plan.arenas[0] = arena;
    std::fill(out, out + 4, 0.0f);
    interpret(plan, kernels, Numerics{}, inputs, outputs, params);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(out[i], -9 * in[i]);
  }
}

TEST(Schedule, PrintsWhatItParsed) {
  const std::string text =
      "schedule {\n  phase {\n"
      "    part vector=grid lanes=8 unroll=4 task=4096 columns=0 streaming=1\n"
      "    part vector=none lanes=1 unroll=1 task=1 columns=0 streaming=0\n"
      "      contraction mr=6 nr=16 kc=256 pack_a=1 pack_b=1 sweep=16 ahead=8\n"
      "      contraction mr=8 nr=32 kc=0 pack_a=0 pack_b=0 sweep=1 ahead=0\n"
      "  }\n  phase {\n  }\n}\n";
  const Schedule schedule = parse_schedule(text);
  EXPECT_EQ(print(schedule), text);
  EXPECT_EQ(parse_schedule(print(schedule)), schedule);
  EXPECT_EQ(schedule.phases[0][1].contractions[0].nr, 16);
  EXPECT_THROW(static_cast<void>(parse_schedule("schedule { phase { part vector=rows } }")),
               ParseError);
  EXPECT_THROW(static_cast<void>(
                   parse_schedule("schedule { phase { part vector=none lanes=99999999999 } }")),
               ParseError);
}

TEST(Target, TextHoldsEveryField) {
  TargetInfo target;
  target.triple = "x86_64";
  target.features = "+avx2,+fma";
  const std::string text = to_string(target);
  EXPECT_EQ(text,
            "target {kind=cpu, triple=x86_64, features=+avx2,+fma, vector_bytes=16, "
            "vector_registers=16, l1=32768, l2=524288, l3=8388608, fma=1, bf16_pairs=0}");
  target.numerics.fma = false;
  EXPECT_NE(to_string(target), text);
}

TEST(Target, TextHoldsWhatShadersMayUse) {
  const TargetInfo target = plain_vulkan_target();
  const auto differs = [&](auto change) {
    TargetInfo other = target;
    change(other.shader);
    return to_string(other) != to_string(target) && other != target;
  };
  EXPECT_TRUE(differs([](ShaderInfo& s) { s.int64 = false; }));
  EXPECT_TRUE(differs([](ShaderInfo& s) { s.float64 = false; }));
  EXPECT_TRUE(differs([](ShaderInfo& s) { s.storage8 = false; }));
  EXPECT_TRUE(differs([](ShaderInfo& s) { s.storage16 = false; }));
  EXPECT_TRUE(differs([](ShaderInfo& s) { s.buffer_addresses = false; }));
  EXPECT_TRUE(differs([](ShaderInfo& s) { s.round_even32 = true; }));
  EXPECT_TRUE(differs([](ShaderInfo& s) { s.round_even64 = true; }));
  EXPECT_TRUE(differs([](ShaderInfo& s) { s.keep_denormals32 = true; }));
  EXPECT_TRUE(differs([](ShaderInfo& s) { s.keep_denormals64 = true; }));
  EXPECT_TRUE(differs([](ShaderInfo& s) { s.keep_specials32 = true; }));
  EXPECT_TRUE(differs([](ShaderInfo& s) { s.keep_specials64 = true; }));
  EXPECT_TRUE(differs([](ShaderInfo& s) { s.shared_bytes = 32768; }));
  EXPECT_TRUE(differs([](ShaderInfo& s) { s.max_groups = 1 << 20; }));
}

}  // namespace
}  // namespace reprise
