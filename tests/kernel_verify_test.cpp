// A rejecting case for every rule of the kernel verifier, and kernels that must pass.
#include <gtest/gtest.h>

#include "ir/error.h"
#include "ir/kernel.h"

namespace reprise {
namespace {

std::string verdict(const Kernel& kernel) {
  try {
    verify(kernel);
  } catch (const InternalError& error) {
    const std::string prefix = "internal error: kernel breaks ";
    EXPECT_TRUE(std::string(error.what()).starts_with(prefix)) << error.what();
    return std::string(error.what()).substr(prefix.size());
  }
  return "passes";
}

/// The verdict on one elementwise stage over b0..b2 with the given lines.
std::string elementwise(const std::string& body,
                        const std::string& loops = "parallel [] reduce []") {
  return verdict(parse_kernel(R"(kernel {
    input b0: f32[64]
    output b1: f32[64]
    scratch b2: i32[64]
    local b3: f32[8]
    param p0: f32
    phase { part grid [64] { loop )" +
                              loops + " {" + body + "} } } }"));
}

std::string reduction(const std::string& body, const std::string& post,
                      const std::string& head = "loop parallel [] reduce [8]") {
  return verdict(parse_kernel(R"(kernel {
    input b0: f32[64]
    input b1: f16[64]
    output b2: f32[64]
    phase { part grid [8] { )" +
                              head + " {" + body + "} post {" + post + "} } } }"));
}

TEST(KernelVerify, AcceptsSoundKernels) {
  EXPECT_EQ(elementwise("%0 = load b0[g0] : f32 %1 = exp %0 : f32 store b1[g0], %1"), "passes");
  EXPECT_EQ(elementwise("%0 = load b0[-g0 + 63] : f32 store b1[g0], %0"), "passes");
  // A masked access may point anywhere where the mask is false.
  EXPECT_EQ(
      elementwise("%0 = const 0 : bool %1 = load b0[g0 + 60] where %0 : f32 store b1[g0], %1"),
      "passes");
  // In place, element by element.
  EXPECT_EQ(elementwise("%0 = load b1[g0] : f32 %1 = neg %0 : f32 store b1[g0], %1"), "passes");
  EXPECT_EQ(reduction("%0 = load b0[g0*8 + r0] : f32 reduce sum %0 : f32",
                      "%0 = reduced 0 : f32 store b2[g0], %0"),
            "passes");
  // No elements, no point out of bounds.
  EXPECT_EQ(
      verdict(parse_kernel("kernel { output b0: f32[0] phase { part grid [0] { loop parallel "
                           "[5] reduce [] { %0 = const 1 : f32 store b0[g0*5 + i0], %0 } } } }")),
      "passes");
}

TEST(KernelVerify, K01ArgumentsAreDefinedBefore) {
  EXPECT_EQ(elementwise("%0 = neg %1 : f32 %1 = const 0 : f32"),
            "K01: %1 is not defined before its use in '%0 = neg %1 : f32' "
            "(phase 0 part 0 stage 0)");
  EXPECT_TRUE(elementwise("%0 = neg %0 : f32").starts_with("K01"));
  EXPECT_TRUE(elementwise("%0 = load b0[g0 + %3] : f32").starts_with("K01"));
  EXPECT_TRUE(reduction("%0 = load b0[r0] : f32 reduce sum %4 : f32", "").starts_with("K01"));
  // A store has no result.
  EXPECT_TRUE(
      elementwise("%0 = const 0 : f32 store b1[g0], %0 %2 = neg %1 : f32").starts_with("K01"));
}

TEST(KernelVerify, K02DtypesAgree) {
  EXPECT_EQ(elementwise("%0 = load b0[g0] : f32 %1 = const 1 : i32 %2 = add %0, %1 : f32"),
            "K02: an argument is i32, not f32 in '%2 = add %0, %1 : f32' (phase 0 part 0 stage 0)");
  const char* wrong[] = {
      "%0 = const 1 : i32 %1 = exp %0 : i32",
      "%0 = const 1 : bool %1 = add %0, %0 : bool",
      "%0 = const 1 : f32 %1 = and %0, %0 : f32",
      "%0 = const 1 : i32 %1 = mul_high %0, %0 : i32",
      "%0 = const 1 : f32 %1 = shl %0, %0 : f32",
      "%0 = const 1 : f32 %1 = lt %0, %0 : f32",
      "%0 = const 1 : f32 %1 = const 1 : f64 %2 = eq %0, %1 : bool",
      "%0 = const 1 : f32 %1 = select %0, %0, %0 : f32",
      "%0 = const 1 : f32 %1 = bitcast %0 : i64",
      "%0 = const 1 : i32 %1 = check_index %0 below 4 : i64",
      "%0 = const 1 : i32 %1 = load b0[%0] : f32",
      "%0 = const 1 : f32 %1 = load b0[g0] where %0 : f32",
      "%0 = const 1 : f32 store b1[g0], %0 where %0",
  };
  for (const char* body : wrong) EXPECT_TRUE(elementwise(body).starts_with("K02")) << body;
}

TEST(KernelVerify, K03AccessesStayInBounds) {
  EXPECT_EQ(elementwise("%0 = load b0[g0 + 1] : f32"),
            "K03: elements 1 to 64 of a buffer of 64 in '%0 = load b0[g0 + 1] : f32' "
            "(phase 0 part 0 stage 0)");
  EXPECT_TRUE(elementwise("%0 = load b0[-g0] : f32").starts_with("K03"));
  EXPECT_TRUE(elementwise("%0 = const 0 : f32 store b1[g0*2], %0").starts_with("K03"));
}

TEST(KernelVerify, K04InputsAreNotWritten) {
  EXPECT_TRUE(elementwise("%0 = const 0 : f32 store b0[g0], %0").starts_with("K04"));
}

TEST(KernelVerify, K05ResultsAreReadInPostOnly) {
  EXPECT_TRUE(reduction("%0 = reduced 0 : f32 reduce sum %0 : f32", "").starts_with("K05"));
  const char* body = "%0 = load b0[r0] : f32 reduce sum %0 : f32";
  EXPECT_TRUE(reduction(body, "%0 = reduced 1 : f32").starts_with("K05"));
  EXPECT_TRUE(reduction(body, "%0 = reduced 0 : f64").starts_with("K05"));
}

TEST(KernelVerify, K06AffineFormsFitTheirScope) {
  Kernel kernel = parse_kernel(
      "kernel { input b0: f32[4] phase { part grid [4] { loop parallel [] reduce [] { "
      "%0 = load b0[g0] : f32 %1 = index g0 } } } }");
  Body& body = kernel.phases[0].parts[0].stages[0].body;
  body.affines[0].coefficients.push_back(1);
  EXPECT_TRUE(verdict(kernel).starts_with("K06"));
  body.affines[0].coefficients.pop_back();
  body.accesses[0].index.coefficients.clear();
  EXPECT_TRUE(verdict(kernel).starts_with("K06"));
}

TEST(KernelVerify, K07BuffersExistAndHoldTheDtype) {
  EXPECT_TRUE(elementwise("%0 = load b9[g0] : f32").starts_with("K07"));
  EXPECT_TRUE(elementwise("%0 = load b0[g0] : f64").starts_with("K07"));
}

TEST(KernelVerify, K08BuffersComeInLaunchOrder) {
  EXPECT_EQ(verdict(parse_kernel("kernel { output b0: f32[4] input b1: f32[4] phase { part grid [] "
                                 "{ loop parallel [] reduce [] {} } } }")),
            "K08: input b1 after output b0");
}

TEST(KernelVerify, K09ExtentsCount) {
  EXPECT_TRUE(elementwise("", "parallel [-1] reduce []").starts_with("K09"));
  EXPECT_TRUE(elementwise("", "parallel [4611686018427387904] reduce []").starts_with("K09"));
  EXPECT_TRUE(
      verdict(parse_kernel("kernel { input b0: f32[-1] phase { part grid [] { loop parallel "
                           "[] reduce [] {} } } }"))
          .starts_with("K09"));
}

TEST(KernelVerify, K10ContractionsAreOneDot) {
  const std::string head = "contraction parallel [2, 4] reduce [2]";
  const char* post = "%0 = reduced 0 : f32 store b2[g0*8 + i0*4 + i1], %0";
  EXPECT_EQ(reduction("%0 = load b0[i0*2 + r0] : f32 %1 = load b0[r0*4 + i1] : f32 "
                      "reduce dot %0, %1 : f32",
                      post, head),
            "passes");
  EXPECT_TRUE(reduction("%0 = load b0[i0*2 + i1 + r0] : f32 %1 = load b0[r0*4 + i1] : f32 "
                        "reduce dot %0, %1 : f32",
                        post, head)
                  .starts_with("K10: both factors depend on i1"));
  // A broadcast factor depends on fewer loops.
  EXPECT_EQ(reduction("%0 = load b0[i0*2 + r0] : f32 %1 = load b0[r0*4] : f32 "
                      "reduce dot %0, %1 : f32",
                      post, head),
            "passes");
  EXPECT_TRUE(reduction("%0 = load b0[r0] : f32 reduce sum %0 : f32", "", head).starts_with("K10"));
  EXPECT_TRUE(reduction("%0 = load b0[r0] : f32 reduce dot %0, %0 : f32", "").starts_with("K10"));
  EXPECT_TRUE(reduction("%0 = load b0[r0] : f32 reduce sum %0, %0 : f32", "").starts_with("K10"));
}

TEST(KernelVerify, K11ReduceLoopsReduce) {
  EXPECT_TRUE(elementwise("%0 = load b0[g0] : f32 reduce sum %0 : f32").starts_with("K11"));
  EXPECT_TRUE(elementwise("%0 = load b0[g0] : f32", "parallel [] reduce [2]").starts_with("K11"));
  EXPECT_TRUE(reduction("", "%0 = const 1 : f32", "loop parallel [] reduce []").starts_with("K11"));
  EXPECT_TRUE(reduction("%0 = load b0[r0] : f32 store b2[g0], %0 reduce sum %0 : f32", "")
                  .starts_with("K11"));
}

TEST(KernelVerify, K12LocalsBelongToOnePart) {
  EXPECT_EQ(verdict(parse_kernel(R"(kernel { local b0: f32[4]
      phase { part grid [] { loop parallel [] reduce [] { %0 = const 1 : f32 store b0[0], %0 } } }
      phase { part grid [] { loop parallel [] reduce [] { %0 = load b0[0] : f32 } } } })")),
            "K12: two parts share the local b0 (phase 1 part 0)");
}

TEST(KernelVerify, K13PointsStoreDifferentElements) {
  EXPECT_TRUE(elementwise("%0 = const 0 : f32 store b1[0], %0").starts_with("K13"));
  EXPECT_TRUE(elementwise("%0 = const 0 : f32 store b1[g0], %0", "parallel [2] reduce []")
                  .starts_with("K13"));
  // Every grid point has a local of its own, but not every parallel iteration.
  EXPECT_EQ(elementwise("%0 = const 0 : f32 store b3[i0], %0", "parallel [8] reduce []"), "passes");
  EXPECT_TRUE(elementwise("%0 = const 0 : f32 store b3[0], %0", "parallel [8] reduce []")
                  .starts_with("K13"));
}

TEST(KernelVerify, K14PartsOfAPhaseAreIndependent) {
  const auto parts = [](const std::string& second, const std::string& between) {
    return verdict(parse_kernel(
        "kernel { output b0: f32[4] output b1: f32[4] phase { part grid [4] "
        "{ loop parallel [] reduce [] { %0 = const 1 : f32 store b0[g0], %0 "
        "} } " +
        between + " part grid [4] { loop parallel [] reduce [] { " + second + " } } } }"));
  };
  const std::string load = "%0 = load b0[g0] : f32 store b1[g0], %0";
  EXPECT_TRUE(parts(load, "").starts_with("K14"));
  EXPECT_TRUE(parts("%0 = const 2 : f32 store b0[g0], %0", "").starts_with("K14"));
  EXPECT_EQ(parts(load, "} phase {"), "passes");
}

TEST(KernelVerify, K15ReductionsAccumulateWide) {
  EXPECT_TRUE(reduction("%0 = load b1[r0] : f16 reduce sum %0 : f16", "").starts_with("K15"));
  EXPECT_TRUE(reduction("%0 = load b0[r0] : f32 reduce sum %0 : f64", "").starts_with("K15"));
  EXPECT_TRUE(reduction("%0 = load b0[r0] : f32 reduce argmax %0 : i32", "").starts_with("K15"));
  EXPECT_TRUE(reduction("%0 = const 1 : bool reduce sum %0 : bool", "").starts_with("K15"));
  EXPECT_EQ(reduction("%0 = load b1[r0] : f16 reduce max %0 : f16", ""), "passes");
}

TEST(KernelVerify, K16NothingIsEmpty) {
  EXPECT_TRUE(verdict(parse_kernel("kernel { }")).starts_with("K16"));
  EXPECT_TRUE(verdict(parse_kernel("kernel { phase { } }")).starts_with("K16"));
  EXPECT_TRUE(verdict(parse_kernel("kernel { phase { part grid [] { } } }")).starts_with("K16"));
}

TEST(KernelVerify, K17ParametersExist) {
  EXPECT_TRUE(elementwise("%0 = param p1 : f32").starts_with("K17"));
  EXPECT_TRUE(elementwise("%0 = param p0 : f64").starts_with("K17"));
}

TEST(KernelVerify, K18GridPointsKeepToTheirOwnElements) {
  EXPECT_TRUE(elementwise("%0 = load b1[-g0 + 63] : f32 store b1[g0], %0").starts_with("K18"));
  EXPECT_TRUE(elementwise("%0 = load b1[0] : f32 store b1[g0], %0").starts_with("K18"));
  const auto two_stages = [](const std::string& load) {
    return verdict(parse_kernel(
        "kernel { output b0: f32[32] output b1: f32[8] phase { part grid [8] { loop parallel [4] "
        "reduce [] { %0 = const 1 : f32 store b0[g0*4 + i0], %0 } loop parallel [] reduce [4] { %0 "
        "= "
        "load b0[" +
        load +
        "] : f32 reduce sum %0 : f32 } post { %0 = reduced 0 : f32 store b1[g0], %0 } } } }"));
  };
  EXPECT_EQ(two_stages("g0*4 + r0"), "passes");
  EXPECT_TRUE(two_stages("g0 + r0*8").starts_with("K18"));
  EXPECT_TRUE(two_stages("-g0*4 + r0 + 28").starts_with("K18"));
}

TEST(KernelVerify, K19SequencesKeepToTheirOwnElements) {
  const auto sequence = [](const std::string& body, const std::string& reduce = "[5]",
                           const std::string& rest = "") {
    return verdict(parse_kernel(
        "kernel { input b0: i64[5] output b1: f32[24] output b2: f32[40] local b3: f32[8] phase { "
        "part grid [8] { sequence parallel [] reduce " +
        reduce +
        " { %0 = load b0[r0] : i64 %1 = check_index %0 below 3 : i64 %2 = const 8 : i64 "
        "%3 = mul %1, %2 : i64 %4 = const 1 : f32 " +
        body + "} " + rest + "} } }"));
  };
  EXPECT_EQ(sequence("store b1[g0 + %3], %4"), "passes");
  EXPECT_EQ(sequence("%5 = load b1[g0 + %3] : f32 store b1[g0 + %3], %5"), "passes");
  EXPECT_EQ(sequence("store b1[g0], %4 store b3[2], %4"), "passes") << "one element, five times";
  EXPECT_EQ(sequence("store b2[g0*5 + r0], %4"), "passes");
  EXPECT_TRUE(sequence("store b1[%3], %4").starts_with("K19")) << "every point the same row";
  EXPECT_TRUE(sequence("store b1[g0 + %1], %4").starts_with("K19")) << "rows of neighbours";
  EXPECT_TRUE(sequence("store b1[0], %4").starts_with("K19"));
  EXPECT_TRUE(sequence("store b2[g0 + %0], %4").starts_with("K19")) << "unchecked";
  EXPECT_TRUE(sequence("store b1[g0 + 1 + %3], %4").starts_with("K03")) << "past the end";
  // What is loaded must be what the point itself stores.
  EXPECT_TRUE(sequence("%5 = load b1[g0] : f32 store b1[g0 + %3], %5").starts_with("K18"));
  EXPECT_TRUE(
      sequence("%5 = load b1[-g0 + 7 + %3] : f32 store b1[g0 + %3], %5").starts_with("K18"));
  EXPECT_TRUE(verdict(parse_kernel("kernel { output b0: f32[1] phase { part grid [] { sequence "
                                   "parallel [] reduce [] { %0 = const 1 : f32 store b0[0], %0 } } "
                                   "} }"))
                  .starts_with("K19"));
  EXPECT_TRUE(sequence("reduce sum %4 : f32").starts_with("K19"));
  EXPECT_TRUE(
      sequence("", "[5]", "post { %0 = const 1 : f32 store b1[g0], %0 }").starts_with("K19"));
}

}  // namespace
}  // namespace reprise
