// SPIR-V of scalar operations and accesses is valid and gives the interpreter's bits on a Vulkan
// device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "compiler/pipeline.h"
#include "ir/error.h"
#include "tests/kernel_texts.h"
#include "tests/shader_kernel.h"
#include "tests/vulkan_device.h"

namespace reprise {
namespace {

const DType kFloats[] = {DType::F32, DType::F64};

/// Without a device every other test here emits and validates only.
TEST(Spirv, RunsOnADevice) {
  std::string why;
  Device* device = test_vulkan_device(&why);
  if (device == nullptr) GTEST_SKIP() << "kernels are validated but not run: " << why;
  RecordProperty("target", to_string(device->target()));
  expect_shader_like_interpreted(kernel_of_ops(DType::F32, {"add %0, %1"}, 3));
}

// For reading; HLSL has no addresses of buffers and gets what devices without them get.
TEST(Spirv, IsRenderedInShadingLanguages) {
  Kernel kernel = parse_kernel(kernel_of_ops(DType::F32, {"add %0, %1"}, 3));
  for (const KernelPass& pass : kernel_passes()) kernel = pass.run(kernel, {.fma = false});
  std::map<std::string, std::string> texts;
  static_cast<void>(spirv_backend().generate(
      kernel, {}, plain_vulkan_target(),
      [&](std::string_view name, std::string_view text) { texts.emplace(name, text); }));
  EXPECT_THAT(texts["spirv"], testing::HasSubstr("OpEntryPoint GLCompute"));
  EXPECT_THAT(texts["glsl"], testing::HasSubstr("void main()"));
  EXPECT_THAT(texts["msl"], testing::HasSubstr("kernel void phase0("));
  EXPECT_THAT(texts["hlsl"],
              testing::HasSubstr("RWByteAddressBuffer memory : register(u0, space0)"));
}

/// Kernels of each mapping as devices without addresses of buffers run them, in every language.
TEST(Spirv, KernelsOfBoundBuffersAreRenderedInShadingLanguages) {
  TargetInfo target = plain_vulkan_target();
  target.shader.buffer_addresses = target.shader.storage8 = target.shader.storage16 = false;
  target.shader.int64 = target.shader.float64 = false;
  for (const std::string& text :
       {kernel_of_ops(DType::F32, {"add %0, %1"}, 3), kernel_of_ops(DType::I8, {"add %0, %1"}, 70),
        kernel_of_ops(DType::Bool, {"and %0, %1"}, 70), kernel_of_rows(100),
        kernel_of_reduction("sum", DType::F32, DType::F32, 3, 300, 300, 1)}) {
    Kernel kernel = parse_kernel(text);
    for (const KernelPass& pass : kernel_passes()) kernel = pass.run(kernel, {.fma = false});
    std::map<std::string, std::string> texts;
    ASSERT_NO_THROW(static_cast<void>(spirv_backend().generate(
        kernel, {}, target,
        [&](std::string_view name, std::string_view text) { texts.emplace(name, text); })))
        << text;
    EXPECT_THAT(texts["spirv"], testing::HasSubstr("OpMemoryModel Logical GLSL450"));
    for (const char* language : {"glsl", "msl", "hlsl"}) {
      EXPECT_THAT(texts[language], testing::Not(testing::HasSubstr("cannot be said"))) << text;
    }
    EXPECT_THAT(texts["glsl"], testing::HasSubstr("layout(set = 0, binding = 0, std430)")) << text;
    EXPECT_THAT(texts["hlsl"], testing::HasSubstr("[numthreads(64, 1, 1)]")) << text;
  }
}

TEST(Spirv, Operations) {
  for (const std::string& kernel : kernels_of_operations()) expect_shader_like_interpreted(kernel);
}

/// What is true of finite numbers only, and what drivers make of it.
TEST(Spirv, OperationsWithZeroOneAndThemselves) {
  for (const DType dtype : kFloats) {
    std::string text = str("kernel {\ninput b0: ", dtype, "[500]\n"), body;
    int buffer = 1, next = 1;
    body += str("%0 = load b0[g0] : ", dtype, "\n");
    for (const char* constant : {"0", "-0", "1", "-1"}) {
      body += str("%", next++, " = const ", constant, " : ", dtype, "\n");
    }
    for (const char* op : {"add", "sub", "mul", "div"}) {
      for (const char* operands : {"%0, %0", "%0, %1", "%1, %0", "%0, %2", "%2, %0", "%0, %3",
                                   "%3, %0", "%0, %4", "%4, %0"}) {
        text += str("output b", buffer, ": ", dtype, "[500]\n");
        body += str("%", next, " = ", op, " ", operands, " : ", dtype, "\nstore b", buffer++,
                    "[g0], %", next, "\n");
        next += 2;
      }
    }
    expect_shader_like_interpreted(
        str(text, "phase { part grid [500] { loop parallel [] reduce [] {\n", body, "} } } }"));
  }
}

/// Drivers narrow comparisons of what was extended.
TEST(Spirv, ComparisonsOfExtendedIntegers) {
  for (const char* dtype : {"i8", "i32", "u32"}) {
    std::string text = str("kernel {\ninput b0: ", dtype, "[400]\n");
    std::string body = str("%0 = load b0[g0] : ", dtype, "\n%1 = cast %0 : i64\n");
    int buffer = 1, next = 2;
    for (const char* bound : {"0", "1", "-1", "7"}) {
      const int constant = next++;
      body += str("%", constant, " = const ", bound, " : i64\n");
      for (const char* op : {"lt", "le", "eq"}) {
        text += str("output b", buffer, ": bool[400]\n");
        body += str("%", next, " = ", op, " %1, %", constant, " : bool\nstore b", buffer++,
                    "[g0], %", next, "\n");
        next += 2;
      }
    }
    expect_shader_like_interpreted(
        str(text, "phase { part grid [400] { loop parallel [] reduce [] {\n", body, "} } } }"));
  }
}

TEST(Spirv, EverySizeAroundAWorkgroup) {
  for (const int count : {0, 1, 2, 63, 64, 65, 127, 1000, 4099}) {
    expect_shader_like_interpreted(kernel_of_ops(DType::F32, {"add %0, %1"}, count));
    expect_shader_like_interpreted(kernel_of_ops(DType::I8, {"add %0, %1"}, count));
  }
}

/// More workgroups than an axis takes; those that fill up the last row do nothing.
TEST(Spirv, FoldedDispatches) {
  for (const uint32_t most : {1u, 2u, 3u, 7u}) {
    expect_shader_like_interpreted(kernel_of_ops(DType::F32, {"mul %0, %1"}, 1500),
                                   {.groups_per_axis = most * 3});
  }
  expect_shader_like_interpreted(kernel_of_rows(77), {.plain = true, .groups_per_axis = 4});
}

TEST(Spirv, Accesses) {
  for (const int n : {1, 5, 19, 64, 203}) {
    expect_shader_like_interpreted(kernel_of_accesses(n), {.index_bound = 4});
  }
}

TEST(Spirv, IndexStatus) {
  const auto text = [](int64_t extent) {
    return str("kernel { input b0: i64[200] input b1: f32[5] output b2: f32[200]\n",
               "phase { part grid [200] { loop parallel [] reduce [] {\n",
               "%0 = load b0[g0] : i64 %1 = check_index %0 below ", extent,
               " : i64 %2 = load b1[%1] : f32 store b2[g0], %2 } } } }");
  };
  expect_shader_like_interpreted(text(5), {.index_bound = 4});
  expect_shader_like_interpreted(text(1), {.index_bound = 1000000});
  expect_shader_like_interpreted(
      "kernel { input b0: i64[200] input b1: f32[5] output b2: f32[200]\n"
      "phase { part grid [200] { loop parallel [] reduce [] {\n"
      "%0 = index g0*0 + 4 %1 = check_index %0 below 5 : i64 %2 = load b1[%1] : f32\n"
      "store b2[g0], %2 } } } }");
}

TEST(Spirv, Parameters) {
  std::string text = "kernel {\n", body;
  const DType all[] = {DType::Bool, DType::I8,  DType::I16, DType::I32, DType::I64,
                       DType::U8,   DType::U16, DType::U32, DType::U64, DType::F16,
                       DType::BF16, DType::F32, DType::F64};
  for (size_t i = 0; i < std::size(all); ++i) {
    text += str("output b", i, ": ", all[i], "[3]\n");
    body += str("%", 2 * i, " = param p", i, " : ", all[i], "\nstore b", i, "[g0], %", 2 * i, "\n");
  }
  for (size_t i = 0; i < std::size(all); ++i) text += str("param p", i, ": ", all[i], "\n");
  text += "phase { part grid [3] { loop parallel [] reduce [] {\n" + body + "} } } }";
  std::vector<uint64_t> params(std::size(all), 0x400921fb54442d18u);
  params[0] = 1;
  expect_shader_like_interpreted(text, {.params = params});
}

/// Elements and points that 32 bits do not count.
TEST(Spirv, HugeExtents) {
  const ShaderRun look{.validate_only = true};
  expect_shader_like_interpreted(kernel_of_ops(DType::F32, {"add %0, %1"}, int64_t{5} << 30), look);
  expect_shader_like_interpreted(
      kernel_of_reduction("sum", DType::F32, DType::F32, 1 << 20, 1 << 12, 1 << 12, 1), look);
  const auto emit = [](int64_t count) {
    static_cast<void>(spirv_backend().generate(
        parse_kernel(kernel_of_ops(DType::I32, {"neg %0"}, count)), {}, plain_vulkan_target()));
  };
  EXPECT_NO_THROW(emit(int64_t{1} << 36));
  EXPECT_THROW(emit(int64_t{1} << 38), UnsupportedError);
}

/// What the device cannot do is said, and names what is missing.
TEST(Spirv, RefusesWhatTheTargetLacks) {
  const auto emit = [](const TargetInfo& target, DType dtype, int64_t count = 8) {
    Kernel kernel = parse_kernel(
        kernel_of_ops(dtype, {dtype == DType::Bool ? "and %0, %1" : "add %0, %1"}, count));
    for (const KernelPass& pass : kernel_passes()) kernel = pass.run(kernel, {.fma = false});
    try {
      static_cast<void>(spirv_backend().generate(kernel, {}, target));
    } catch (const UnsupportedError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  TargetInfo target = plain_vulkan_target();
  target.shader.float64 = false;
  target.shader.storage8 = target.shader.storage16 = false;
  EXPECT_THAT(emit(target, DType::F64), testing::HasSubstr("no 64-bit floats"));
  for (const bool addresses : {true, false}) {
    target.shader.buffer_addresses = addresses;
    for (const DType dtype : {DType::F32, DType::I64, DType::Bool, DType::I8, DType::U8, DType::I16,
                              DType::U16, DType::F16, DType::BF16}) {
      EXPECT_EQ(emit(target, dtype), "") << dtype;
    }
  }
  EXPECT_EQ(emit(target, DType::F32, int64_t{1} << 25), "");
  EXPECT_THAT(emit(target, DType::F32, (int64_t{1} << 25) + 1), testing::HasSubstr("134217732"));
  target.shader.int64 = false;
  EXPECT_EQ(emit(target, DType::F32), "");
  EXPECT_EQ(emit(target, DType::BF16), "");
  EXPECT_THAT(emit(target, DType::U64), testing::HasSubstr("no 64-bit integers"));
  EXPECT_THAT(emit(TargetInfo{}, DType::F32), testing::HasSubstr("Vulkan"));
}

/// The end of a reduction's tree goes through the subgroup where the device can shuffle, and none
/// of it where not; the shader asks how many lanes there are.
TEST(Spirv, ReductionsShuffleWhereTheTargetCan) {
  for (const bool shuffle : {false, true}) {
    for (const DType dtype : {DType::F32, DType::F64, DType::I64}) {
      TargetInfo target = plain_vulkan_target();
      target.shader.shuffle = shuffle;
      std::map<std::string, std::string> texts;
      static_cast<void>(spirv_backend().generate(
          parse_kernel(kernel_of_reduction("sum", dtype, dtype, 3, 300, 300, 1)), {}, target,
          [&](std::string_view name, std::string_view text) { texts.emplace(name, text); }));
      for (const char* what : {"OpCapability GroupNonUniformShuffle", "OpGroupNonUniformShuffleXor",
                               "BuiltIn SubgroupSize", "BuiltIn NumSubgroups"}) {
        EXPECT_EQ(texts["spirv"].find(what) != std::string::npos, shuffle)
            << what << " of " << dtype;
      }
      EXPECT_EQ(texts["glsl"].find("subgroupShuffleXor") != std::string::npos, shuffle);
      if (dtype == DType::F64) continue;  // which Metal has not got
      EXPECT_THAT(texts["msl"], testing::Not(testing::HasSubstr("cannot be said")));
    }
  }
}

TEST(Spirv, DumpsItsText) {
  std::string text;
  static_cast<void>(spirv_backend().generate(parse_kernel(kernel_of_rows(100)), {},
                                             plain_vulkan_target(),
                                             [&](std::string_view what, std::string_view shown) {
                                               if (what == "spirv") text = shown;
                                             }));
  EXPECT_NE(text.find("OpEntryPoint GLCompute %phase0 \"phase0\""), std::string::npos) << text;
  EXPECT_NE(text.find("OpControlBarrier"), std::string::npos) << text;
}

TEST(Spirv, SameKernelSameBytes) {
  const Kernel kernel = parse_kernel(kernel_of_rows(100));
  const TargetInfo target = plain_vulkan_target();
  EXPECT_EQ(spirv_backend().generate(kernel, {}, target).bytes,
            spirv_backend().generate(kernel, {}, target).bytes);
}

}  // namespace
}  // namespace reprise
