// Kernel passes: what they leave for backends, and that they never change a bit.
#include "passes/kernel_passes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "ir/float16.h"
#include "ir/target.h"

namespace reprise {
namespace {

std::string wrap(const std::string& body, const std::string& dtype = "f32") {
  return "kernel {\n  input b0: " + dtype + "[600]\n  output b1: " + dtype +
         "[600]\n  phase {\n    part grid [600] {\n      loop parallel [] reduce [] {\n" + body +
         "      }\n    }\n  }\n}\n";
}

const Body& body_of(const Kernel& kernel) {
  return kernel.phases[0].parts[0].stages[0].body;
}

template <class T>
std::vector<T> run(const Kernel& kernel, std::vector<T> in, size_t outputs, bool fused) {
  verify(kernel);
  std::vector<T> out(outputs);
  void* buffers[] = {in.data(), out.data()};
  interpret(kernel, {fused}, buffers, {});
  return out;
}

template <class T>
void expect_same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(T)), 0);
}

// After legalize only data movement and casts from and to f32 are left of the half types.
TEST(Legalize, LeavesNoHalfArithmetic) {
  for (const char* dtype : {"f16", "bf16"}) {
    const std::string d = dtype;
    const Kernel kernel = parse_kernel(wrap(
        "%0 = load b0[g0] : " + d + " %1 = mul %0, %0 : " + d + " %2 = exp %1 : " + d +
            " %3 = const 2 : " + d + " %4 = lt %2, %3 : bool %5 = select %4, %2, %1 : " + d +
            " %6 = cast %5 : f64 %7 = cast %6 : " + d + " %8 = cast %7 : i64 %9 = cast %8 : " + d +
            " %10 = neg %9 : " + d + " store b1[g0], %10 ",
        d));
    const Kernel legal = expand_math(legalize(kernel, {}));
    verify(legal);
    for (const Instr& instr : body_of(legal).instrs) {
      const bool half = instr.dtype == DType::F16 || instr.dtype == DType::BF16;
      const auto argument = [&](int a) { return body_of(legal)[instr.args[a]].dtype; };
      switch (instr.op) {
        case ScalarOp::Load:
        case ScalarOp::Store:
        case ScalarOp::Const:
        case ScalarOp::Select:
          break;
        case ScalarOp::Cast:
          EXPECT_TRUE(!half || argument(0) == DType::F32);
          EXPECT_TRUE(size_of(argument(0)) != 2 || instr.dtype == DType::F32);
          break;
        default:
          EXPECT_FALSE(half) << name(instr.op);
      }
      EXPECT_NE(instr.op, ScalarOp::Exp);
    }
    std::vector<uint16_t> in(600);
    for (size_t i = 0; i < in.size(); ++i) {
      const float value = std::sin(static_cast<float>(i)) * 3;
      in[i] = d == "f16" ? f16_from_float(value) : bf16_from_float(value);
    }
    expect_same_bits(run(kernel, in, 600, true), run(legal, in, 600, true));
  }
}

TEST(Legalize, WidensExtremesOfHalves) {
  const Kernel kernel = parse_kernel(R"(kernel { input b0: f16[600] output b1: f16[20]
    phase { part grid [20] { loop parallel [] reduce [30] {
      %0 = load b0[g0*30 + r0] : f16 reduce max %0 : f16 } post {
      %0 = reduced 0 : f16 store b1[g0], %0 } } } })");
  const Kernel legal = legalize(kernel, {});
  EXPECT_EQ(legal.phases[0].parts[0].stages[0].reductions[0].dtype, DType::F32);
  std::vector<uint16_t> in(600);
  for (size_t i = 0; i < in.size(); ++i) {
    in[i] = f16_from_float(std::cos(static_cast<float>(i * i)));
  }
  in[100] = 0x7e00;
  expect_same_bits(run(kernel, in, 20, true), run(legal, in, 20, true));
}

TEST(ExpandMath, GivesTheInterpretersBits) {
  for (const char* op : {"exp", "log", "tanh", "erf", "sin", "cos"}) {
    const Kernel kernel = parse_kernel(
        wrap("%0 = load b0[g0] : f32 %1 = " + std::string(op) + " %0 : f32 store b1[g0], %1 "));
    const Kernel expanded = expand_math(kernel);
    for (const Instr& instr : body_of(expanded).instrs) {
      EXPECT_FALSE(instr.op >= ScalarOp::Exp && instr.op <= ScalarOp::Cos);
    }
    std::vector<float> in(600);
    for (size_t i = 0; i < in.size(); ++i) in[i] = std::ldexp(1.37f, static_cast<int>(i % 40) - 20);
    for (const bool fused : {true, false}) {
      expect_same_bits(run(kernel, in, 600, fused), run(expanded, in, 600, fused));
    }
  }
}

// A value that a reduction reads is found again after the expansion shifted every number.
TEST(ExpandMath, FollowsReductions) {
  const Kernel kernel = parse_kernel(R"(kernel { input b0: f32[600] output b1: f32[20]
    phase { part grid [20] { loop parallel [] reduce [30] {
      %0 = load b0[g0*30 + r0] : f32 %1 = exp %0 : f32 %2 = mul %1, %0 : f32
      reduce sum %2 : f32 reduce max %1 : f32 } post {
      %0 = reduced 0 : f32 %1 = reduced 1 : f32 %2 = log %1 : f32 %3 = add %0, %2 : f32
      store b1[g0], %3 } } } })");
  std::vector<float> in(600);
  for (size_t i = 0; i < in.size(); ++i) in[i] = std::sin(static_cast<float>(i));
  const std::vector<float> want = run(kernel, in, 20, true);
  expect_same_bits(want, run(expand_math(legalize(kernel, {})), in, 20, true));
  expect_same_bits(want, run(simplify_kernel(expand_math(legalize(kernel, {}))), in, 20, true));
}

std::string simplified(const std::string& body) {
  const std::string text = print(simplify_kernel(parse_kernel(wrap(body))));
  const size_t begin = text.find("reduce [] {\n") + 12;
  return text.substr(begin, text.find("      }\n    }\n") - begin);
}

TEST(SimplifyKernel, FoldsExactConstantsOnly) {
  // INT-07: folding wraps as run time does.
  EXPECT_EQ(simplified("%0 = const 2147483647 : i32 %1 = const 1 : i32 %2 = add %0, %1 : i32 "
                       "%3 = cast %2 : f32 store b1[g0], %3"),
            "        %0 = const -2147483648 : f32\n        store b1[g0], %0\n");
  const std::string kept =
      "        %0 = const 0.1 : f32\n        %1 = mul %0, %0 : f32\n        store b1[g0], %1\n";
  EXPECT_EQ(simplified(kept), kept);
}

TEST(SimplifyKernel, MergesAndDrops) {
  EXPECT_EQ(simplified("%0 = load b0[g0] : f32 %1 = load b0[g0] : f32 %2 = add %0, %1 : f32 "
                       "%3 = exp %0 : f32 store b1[g0], %2"),
            "        %0 = load b0[g0] : f32\n        %1 = add %0, %0 : f32\n"
            "        store b1[g0], %1\n");
}

// FP-04: none of these floats may go away.
TEST(SimplifyKernel, KeepsFloatIdentities) {
  const std::string kept =
      "        %0 = load b0[g0] : f32\n        %1 = const 0 : f32\n"
      "        %2 = add %0, %1 : f32\n        %3 = mul %2, %1 : f32\n"
      "        %4 = sub %3, %3 : f32\n        store b1[g0], %4\n";
  EXPECT_EQ(simplified(kept), kept);
}

TEST(SimplifyKernel, DropsIntegerIdentities) {
  EXPECT_EQ(simplified("%0 = load b0[g0] : f32 %1 = bitcast %0 : i32 %2 = const 0 : i32 "
                       "%3 = add %1, %2 : i32 %4 = const 1 : i32 %5 = mul %4, %3 : i32 "
                       "%6 = bitcast %5 : f32 store b1[g0], %6"),
            "        %0 = load b0[g0] : f32\n        %1 = bitcast %0 : i32\n"
            "        %2 = bitcast %1 : f32\n        store b1[g0], %2\n");
}

// A failing index must be reported even when nobody uses the element.
TEST(SimplifyKernel, KeepsIndexChecks) {
  EXPECT_EQ(simplified("%0 = index g0 %1 = check_index %0 below 5 : i64"),
            "        %0 = index g0\n        %1 = check_index %0 below 5 : i64\n");
}

TEST(SimplifyKernel, ResolvesSelects) {
  EXPECT_EQ(simplified("%0 = load b0[g0] : f32 %1 = neg %0 : f32 %2 = const 1 : bool "
                       "%3 = select %2, %1, %0 : f32 store b1[g0], %3"),
            "        %0 = load b0[g0] : f32\n        %1 = neg %0 : f32\n"
            "        store b1[g0], %1\n");
}

}  // namespace
}  // namespace reprise
