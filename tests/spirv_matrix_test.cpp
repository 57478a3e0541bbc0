// Contractions by matrix instructions: emulated they give the interpreter's bits, in the form of
// NVIDIA's extension they are valid, in that of Khronos' the words are those of its specification.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "ir/error.h"
#include "ir/graph.h"
#include "tests/shader_kernel.h"
#include "tests/vulkan_device.h"

namespace reprise {
namespace {

constexpr MatrixForm kForms[] = {MatrixForm::Emulated, MatrixForm::Nv};

/// Shapes of real devices.
MatrixInfo matrices(MatrixForm form, int subgroup = 32) {
  return {.form = form,
          .subgroup = subgroup,
          .shapes = {{DType::I8, DType::I32, 16, 16, 32},
                     {DType::U8, DType::U32, 16, 16, 32},
                     {DType::F16, DType::F32, 16, 16, 16}}};
}

struct Product {
  int batch = 1, m = 1, n = 1, k = 1;
  bool turned_a = false, turned_b = false;
  DType factors = DType::I8, sums = DType::I32;
};

/// Products of what is cast from `factors` to `sums`, with a row added to each.
std::string text_of(const Product& p) {
  const int a = p.m * p.k, b = p.k * p.n, c = p.m * p.n;
  const bool casts = p.factors != p.sums;
  return str(
      "kernel {\ninput b0: ", p.factors, "[", p.batch * a, "]\ninput b1: ", p.factors, "[",
      p.batch * b, "]\ninput b2: ", p.sums, "[", p.n, "]\noutput b3: ", p.sums, "[", p.batch * c,
      "]\nphase { part grid [", p.batch, "] { contraction parallel [", p.m, ", ", p.n, "] reduce [",
      p.k, "] {\n%0 = load b0[g0*", a, p.turned_a ? " + i0 + r0*" : " + r0 + i0*",
      p.turned_a ? p.m : p.k, "] : ", p.factors, "\n%1 = load b1[g0*", b,
      p.turned_b ? " + r0 + i1*" : " + i1 + r0*", p.turned_b ? p.k : p.n, "] : ", p.factors, "\n",
      casts ? str("%2 = cast %0 : ", p.sums, "\n%3 = cast %1 : ", p.sums, "\n") : "", "reduce dot ",
      casts ? "%2, %3" : "%0, %1", " : ", p.sums, "\n} post {\n%0 = reduced 0 : ", p.sums,
      "\n%1 = load b2[i1] : ", p.sums, "\n%2 = add %0, %1 : ", p.sums, "\nstore b3[g0*", c,
      " + i0*", p.n, " + i1], %2\n} } } }");
}

constexpr struct {
  DType factors, sums;
} kKinds[] = {{DType::I8, DType::I32},  {DType::U8, DType::U32}, {DType::U8, DType::I32},
              {DType::F16, DType::F32}, {DType::I8, DType::I8},  {DType::I8, DType::I16}};

TargetInfo target_with(const MatrixInfo& has) {
  TargetInfo target = plain_vulkan_target();
  target.shader.matrices = has;
  target.numerics.matrix_f16 = true;
  return target;
}

std::map<std::string, std::string> texts_of(const std::string& text, const TargetInfo& target) {
  std::map<std::string, std::string> texts;
  Kernel kernel = parse_kernel(text);
  for (const KernelPass& pass : kernel_passes()) kernel = pass.run(kernel, target.numerics);
  static_cast<void>(spirv_backend().generate(
      kernel, {}, target,
      [&](std::string_view name, std::string_view shown) { texts.emplace(name, shown); }));
  return texts;
}

bool uses_matrices(const std::string& text, const TargetInfo& target) {
  return texts_of(text, target)["spirv"].find("OpCooperativeMatrixMulAdd") != std::string::npos;
}

bool uses_matrices(const Product& product) {
  return uses_matrices(text_of(product), target_with(matrices(MatrixForm::Nv)));
}

/// Without such a device what is emulated is validated only.
TEST(SpirvMatrix, RunsOnADevice) {
  std::string why;
  Device* const device = test_vulkan_device(&why);
  if (device == nullptr) GTEST_SKIP() << why;
  if (matrix_vulkan_device(*device) == nullptr) GTEST_SKIP() << "no Vulkan memory model";
  RecordProperty("target", to_string(matrix_vulkan_device(*device)->target()));
}

TEST(SpirvMatrix, EveryKindAndLayout) {
  for (const MatrixForm form : kForms) {
    const MatrixInfo has = matrices(form);
    for (const auto& kind : kKinds) {
      for (int layout = 0; layout < 4; ++layout) {
        for (const auto& [batch, m, n, k] : {std::tuple{2, 33, 37, 21}, {1, 9, 70, 131}}) {
          const Product product{.batch = batch,
                                .m = m,
                                .n = n,
                                .k = k,
                                .turned_a = (layout & 1) != 0,
                                .turned_b = (layout & 2) != 0,
                                .factors = kind.factors,
                                .sums = kind.sums};
          EXPECT_TRUE(uses_matrices(product));
          expect_shader_like_interpreted(text_of(product), {.matrices = &has});
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

/// Other shapes and subgroups: a subgroup owns a fragment, rows of them, or all of the tile.
TEST(SpirvMatrix, EveryShapeAndSubgroup) {
  for (const MatrixForm form : kForms) {
    for (const int subgroup : {4, 8, 32, 64}) {
      for (const auto& [m, n, k] :
           {std::tuple{16, 16, 16}, {8, 16, 32}, {16, 8, 64}, {32, 8, 32}, {32, 32, 32}}) {
        MatrixInfo has{.form = form, .subgroup = subgroup, .shapes = {}};
        has.shapes.push_back({DType::I8, DType::I32, m, n, k});
        has.shapes.push_back({DType::F16, DType::F32, m, n, k / 2});
        const bool shared_evenly = 1024 / (m * n) % (64 / subgroup) == 0;
        for (const DType factors : {DType::I8, DType::F16}) {
          const Product product{.m = 35,
                                .n = 40,
                                .k = 70,
                                .factors = factors,
                                .sums = factors == DType::I8 ? DType::I32 : DType::F32};
          if (form == MatrixForm::Nv) {
            EXPECT_EQ(uses_matrices(text_of(product), target_with(has)), shared_evenly)
                << m << 'x' << n << 'x' << k << " by " << subgroup;
          } else if (shared_evenly) {
            expect_shader_like_interpreted(text_of(product), {.matrices = &has});
          }
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

/// Sums that might not fit 32 bits, were all factors as large as they can be, are left alone.
TEST(SpirvMatrix, SumsThatCannotOverflow) {
  EXPECT_TRUE(uses_matrices({.m = 8, .n = 8, .k = 131071}));
  EXPECT_FALSE(uses_matrices({.m = 8, .n = 8, .k = 131072}));
  const auto unsigned_of = [](int k) {
    return Product{.m = 8, .n = 8, .k = k, .factors = DType::U8, .sums = DType::U32};
  };
  EXPECT_TRUE(uses_matrices(unsigned_of(66051)));
  EXPECT_FALSE(uses_matrices(unsigned_of(66052)));
  MatrixInfo has{.form = MatrixForm::Nv, .subgroup = 32, .shapes = {}};
  has.shapes.push_back({DType::U8, DType::I32, 16, 16, 32});
  EXPECT_TRUE(uses_matrices(text_of(unsigned_of(33025)), target_with(has)));
  EXPECT_FALSE(uses_matrices(text_of(unsigned_of(33026)), target_with(has)));
}

/// What tensors are multiplied by: half types through f32, narrow integers as they are, windows.
TEST(SpirvMatrix, WhatGraphsAreCompiledTo) {
  const auto product = [](std::string_view t) {
    return str("graph {\n%0 = input {index=0, strides=[]} : ", t,
               "[2,40,50]\n%1 = input {index=1, strides=[]} : ", t,
               "[50,33]\n%2 = matmul %0, %1 : ", t,
               "[2,40,33]\n%3 = input {index=2, strides=[]} : ", t, "[33]\n%4 = add %2, %3 : ", t,
               "[2,40,33]\nreturn %4\n}");
  };
  const auto windows = [](std::string_view t) {
    return str(
        "graph {\n%0 = input {index=0, strides=[]} : ", t,
        "[1,8,12,12]\n%1 = input {index=1, strides=[]} : ", t,
        "[16,8,3,3]\n%2 = convolution %0, %1 {groups=1, strides=[1,1], low=[1,1], high=[1,1], "
        "spacings=[1,1], dilations=[1,1]} : ",
        t, "[1,16,12,12]\nreturn %2\n}");
  };
  for (const std::string& text : {product("i8"), product("u8"), product("f16"), windows("f16")}) {
    SCOPED_TRACE(text);
    int multiplied = 0;
    const CompiledGraph compiled =
        compile(parse_graph(text), target_with(matrices(MatrixForm::Nv)), {});
    for (const Kernel& kernel : compiled.kernels) {
      multiplied += uses_matrices(print(kernel), target_with(matrices(MatrixForm::Nv))) ? 1 : 0;
      for (const MatrixForm form : kForms) {
        const MatrixInfo has = matrices(form);
        expect_shader_like_interpreted(kernel, {.plain = true, .matrices = &has});
      }
    }
    EXPECT_GT(multiplied, 0);
  }
}

/// Devices without addresses of buffers and small elements multiply so too.
TEST(SpirvMatrix, WithBoundBuffers) {
  TargetInfo target = target_with(matrices(MatrixForm::Nv));
  target.shader.buffer_addresses = target.shader.storage8 = target.shader.storage16 = false;
  for (const DType factors : {DType::I8, DType::F16}) {
    const DType sums = factors == DType::I8 ? DType::I32 : DType::F32;
    EXPECT_TRUE(uses_matrices(text_of({.m = 40, .n = 40, .k = 9, .factors = factors, .sums = sums}),
                              target));
  }
}

/// What is multiplied may be computed, the depth may be several loops, and parts of other kinds run
/// under the same memory model.
TEST(SpirvMatrix, ComputedFactorsAndOtherPhases) {
  const std::string text = R"(kernel {
    input b0: i8[365]
    input b1: i8[1296]
    output b2: i32[3432]
    output b3: i32[2]
    output b4: i32[200]
    local b5: i32[100]
    phase { part grid [2] {
      contraction parallel [13, 12, 11] reduce [7, 3, 3] {
        %0 = load b0[i0*28 + r0*4 + r1 + r2] : i8
        %1 = load b1[g0*61 + i1*11 + i2 + r0*143 + r1*13 + r2] : i8
        %2 = neg %0 : i8
        %3 = cast %2 : i32
        %4 = cast %1 : i32
        reduce dot %3, %4 : i32
      } post {
        %0 = reduced 0 : i32
        %1 = abs %0 : i32
        store b2[g0*1716 + i0*132 + i1*11 + i2], %1
      }
    } }
    phase {
      part grid [2] {
        loop parallel [] reduce [1716] {
          %0 = load b2[g0*1716 + r0] : i32
          reduce sum %0 : i32
        } post {
          %0 = reduced 0 : i32
          store b3[g0], %0
        }
      }
      part grid [2] {
        loop parallel [100] reduce [] {
          %0 = load b2[g0*1716 + i0*3] : i32
          store b5[i0], %0
        }
        loop parallel [100] reduce [] {
          %0 = load b5[-i0 + 99] : i32
          store b4[g0*100 + i0], %0
        }
      }
    }
  })";
  for (const MatrixForm form : kForms) {
    const MatrixInfo has = matrices(form);
    EXPECT_TRUE(uses_matrices(text, target_with(matrices(MatrixForm::Nv))));
    expect_shader_like_interpreted(text, {.matrices = &has});
  }
}

/// Invocations hand each other values through the scratch, in a module with matrices.
TEST(SpirvMatrix, ScratchUnderTheSameMemoryModel) {
  const Product product{.m = 8, .n = 8, .k = 8};
  std::string text = text_of(product);
  const std::string more = R"(
    output b4: f32[70]
    local b5: f32[6000000]
  phase {)";
  text.replace(text.find("\nphase {"), std::strlen("\nphase {"), more);
  text.replace(text.rfind('}'), 1, R"(
    phase { part grid [1] {
      loop parallel [70] reduce [] {
        %0 = index i0
        %1 = cast %0 : f32
        store b5[i0*80000 + 1], %1
      }
      loop parallel [70] reduce [] {
        %0 = load b5[-i0*80000 + 5520001] : f32
        store b4[i0], %0
      }
    } }
  })");
  for (const MatrixForm form : kForms) {
    const MatrixInfo has = matrices(form);
    expect_shader_like_interpreted(text, {.matrices = &has});
  }
  EXPECT_THAT(texts_of(text, target_with(matrices(MatrixForm::Nv)))["spirv"],
              testing::Not(testing::HasSubstr("Coherent")));
}

TEST(SpirvMatrix, OthersAreMultipliedAsBefore) {
  EXPECT_TRUE(uses_matrices({.m = 8, .n = 8, .k = 1}));
  EXPECT_FALSE(uses_matrices({.m = 7, .n = 8, .k = 40}));
  for (const auto& [factors, sums] : {std::pair{DType::F32, DType::F32},
                                      {DType::BF16, DType::F32},
                                      {DType::F16, DType::F64},
                                      {DType::I8, DType::I64},
                                      {DType::I8, DType::F32},
                                      {DType::I8, DType::U32},
                                      {DType::I16, DType::I32},
                                      {DType::I32, DType::I32}}) {
    const Product product{.m = 40, .n = 40, .k = 40, .factors = factors, .sums = sums};
    EXPECT_FALSE(uses_matrices(product)) << factors << ' ' << sums;
  }
  std::string mixed = text_of({.m = 40, .n = 40, .k = 40});
  for (const char* part : {"input b1: i8", "%1 = load b1[g0*1600 + i1 + r0*40] : i8"}) {
    const size_t at = mixed.find(part);
    ASSERT_NE(at, std::string::npos);
    mixed[at + std::strlen(part) - 2] = 'u';
  }
  EXPECT_FALSE(uses_matrices(mixed, target_with(matrices(MatrixForm::Nv))));

  // f16 only by the user's leave; a device without the shape; no room for the blocks.
  const std::string half =
      text_of({.m = 40, .n = 40, .k = 40, .factors = DType::F16, .sums = DType::F32});
  TargetInfo target = target_with(matrices(MatrixForm::Nv));
  EXPECT_TRUE(uses_matrices(half, target));
  target.numerics.matrix_f16 = false;
  EXPECT_FALSE(uses_matrices(half, target));
  EXPECT_TRUE(uses_matrices(text_of({.m = 40, .n = 40, .k = 40}), target));
  target.shader.shared_bytes = 5119;
  EXPECT_FALSE(uses_matrices(text_of({.m = 40, .n = 40, .k = 40}), target));
  target.shader.shared_bytes = 5120;
  EXPECT_TRUE(uses_matrices(text_of({.m = 40, .n = 40, .k = 40}), target));
  target.shader.matrices.shapes.erase(target.shader.matrices.shapes.begin());
  EXPECT_FALSE(uses_matrices(text_of({.m = 40, .n = 40, .k = 40}), target));
}

/// Instructions of a module by opcode, each without its first word.
std::multimap<uint32_t, std::vector<uint32_t>> instructions(const KernelCode& code) {
  std::vector<uint32_t> words(code.bytes.size() / sizeof(uint32_t));
  std::memcpy(words.data(), code.bytes.data(), code.bytes.size());
  std::multimap<uint32_t, std::vector<uint32_t>> result;
  for (size_t at = 5; at < words.size(); at += words[at] >> 16) {
    result.emplace(
        words[at] & 0xffff,
        std::vector<uint32_t>(words.begin() + at + 1, words.begin() + at + (words[at] >> 16)));
  }
  return result;
}

/// Numbers and operands as SPV_KHR_cooperative_matrix has them: validators here may not know it.
TEST(SpirvMatrix, WordsOfTheKhronosExtension) {
  constexpr uint32_t kCapability = 17, kExtension = 10, kMemoryModel = 14, kConstant = 43,
                     kTypeInt = 21, kTypeFloat = 22;
  for (const auto& kind : kKinds) {
    if (kind.sums == DType::I16 || kind.sums == DType::I8) continue;
    SCOPED_TRACE(str(kind.factors, " to ", kind.sums));
    const bool is_signed = kind.factors == DType::I8, half = kind.factors == DType::F16;
    Kernel kernel = parse_kernel(
        text_of({.m = 40, .n = 40, .k = 90, .factors = kind.factors, .sums = kind.sums}));
    const TargetInfo target = target_with(matrices(MatrixForm::Khr));
    for (const KernelPass& pass : kernel_passes()) kernel = pass.run(kernel, target.numerics);
    const auto all = instructions(spirv_backend().generate(kernel, {}, target));
    const auto each = [&](uint32_t op) {
      std::vector<std::vector<uint32_t>> found;
      for (auto [at, end] = all.equal_range(op); at != end; ++at) found.push_back(at->second);
      return found;
    };
    std::map<uint32_t, uint32_t> constants;
    for (const auto& words : each(kConstant)) constants[words[1]] = words[2];
    std::vector<uint32_t> capabilities;
    for (const auto& words : each(kCapability)) capabilities.push_back(words[0]);
    EXPECT_THAT(capabilities, testing::IsSupersetOf({6022u, 5345u, 5346u, 61u, half ? 9u : 39u}));
    std::vector<std::string> extensions;
    for (const auto& words : each(kExtension)) {
      extensions.emplace_back(reinterpret_cast<const char*>(words.data()));
    }
    EXPECT_THAT(extensions, testing::IsSupersetOf({std::string("SPV_KHR_cooperative_matrix"),
                                                   std::string("SPV_KHR_vulkan_memory_model")}));
    ASSERT_EQ(each(kMemoryModel).size(), 1u);
    EXPECT_EQ(each(kMemoryModel)[0][1], 3u);

    // Component type, scope (subgroup), rows, columns, use.
    std::map<uint32_t, std::vector<uint32_t>> types;
    for (const auto& words : each(4456)) {
      ASSERT_EQ(words.size(), 6u);
      for (int i = 2; i < 6; ++i) types[words[0]].push_back(constants[words[i]]);
      std::vector<uint32_t> element;
      for (const uint32_t op : {kTypeInt, kTypeFloat}) {
        for (const auto& type : each(op)) {
          if (type[0] == words[1]) element.assign(type.begin() + 1, type.end());
        }
      }
      const bool factor = types[words[0]][3] != 2;
      const std::vector<uint32_t> integer{factor ? 8u : 32u, is_signed ? 1u : 0u};
      EXPECT_EQ(element, half ? std::vector<uint32_t>{factor ? 16u : 32u} : integer);
    }
    const uint32_t k = half ? 16 : 32;
    using Type = std::vector<uint32_t>;
    EXPECT_THAT(types,
                testing::UnorderedElementsAre(testing::Pair(testing::_, Type{3, 16, k, 0}),
                                              testing::Pair(testing::_, Type{3, k, 16, 1}),
                                              testing::Pair(testing::_, Type{3, 16, 16, 2})));
    // Pointer, layout, stride, NonPrivatePointer: rows row by row, columns column by column.
    const uint32_t steps = 2;
    ASSERT_EQ(each(4457).size(), 3 * steps);
    for (const auto& words : each(4457)) {
      ASSERT_EQ(words.size(), 6u);
      EXPECT_EQ(constants[words[3]], types[words[0]][3]);
      EXPECT_EQ(constants[words[4]], 5u);
      EXPECT_EQ(words[5], 0x20u);
    }
    // A, B, C, which of them are signed.
    ASSERT_EQ(each(4459).size(), 2 * steps);
    for (const auto& words : each(4459)) {
      ASSERT_EQ(words.size(), 6u);
      EXPECT_EQ(words[5], is_signed ? 15u : 0u);
    }
    ASSERT_EQ(each(4458).size(), 2u);
    for (const auto& words : each(4458)) {
      ASSERT_EQ(words.size(), 5u);
      EXPECT_EQ(constants[words[2]], 0u);
      EXPECT_EQ(constants[words[3]], 8u);
      EXPECT_EQ(words[4], 0x20u);
    }
  }
}

/// Tools that do not know the extension are given what they can read, and it says so.
TEST(SpirvMatrix, IsShown) {
  const std::string text = text_of({.m = 40, .n = 40, .k = 90});
  auto texts = texts_of(text, target_with(matrices(MatrixForm::Khr)));
  EXPECT_THAT(texts["spirv"], testing::HasSubstr("OpCooperativeMatrixMulAdd"));
  for (const char* language : {"glsl", "msl", "hlsl"}) {
    EXPECT_THAT(texts[language], testing::StartsWith("// shown without matrix instructions"));
    EXPECT_THAT(texts[language], testing::Not(testing::HasSubstr("cannot be said")));
  }
  texts = texts_of(text_of({.m = 3, .n = 40, .k = 90}), target_with(matrices(MatrixForm::Khr)));
  EXPECT_THAT(texts["glsl"], testing::Not(testing::HasSubstr("shown without")));
}

TEST(SpirvMatrix, TheTargetNamesThem) {
  EXPECT_THAT(to_string(plain_vulkan_target()), testing::HasSubstr(", matrices=none}"));
  EXPECT_THAT(to_string(target_with(matrices(MatrixForm::Khr))),
              testing::HasSubstr("matrix_f16=1"));
  EXPECT_THAT(to_string(target_with(matrices(MatrixForm::Khr))),
              testing::HasSubstr(", matrices=khr by 32 i8->i32 16x16x32 u8->u32 16x16x32 "
                                 "f16->f32 16x16x16}"));
}

}  // namespace
}  // namespace reprise
