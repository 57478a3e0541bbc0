// The same random inputs for the device and for the interpreter.
#include "tests/shader_kernel.h"

#include <gtest/gtest.h>

#include <random>
#include <spirv-tools/libspirv.hpp>

#include "compiler/pipeline.h"
#include "ir/error.h"
#include "tests/kernel_values.h"
#include "tests/vulkan_device.h"

namespace reprise {
namespace {

using Bytes = std::vector<std::vector<std::byte>>;

Bytes make_buffers(const Kernel& kernel, const ShaderRun& run) {
  std::mt19937_64 random(run.seed);
  Bytes result;
  for (const Buffer& buffer : kernel.buffers) {
    if (buffer.kind == BufferKind::Local) continue;
    std::vector<std::byte> bytes(static_cast<size_t>(buffer.extent) * size_of(buffer.dtype),
                                 std::byte{0x7b});
    if (buffer.kind == BufferKind::Input) {
      fill_elements(bytes.data(), buffer.dtype, buffer.extent, random,
                    {.index_bound = run.index_bound, .plain = run.plain});
    }
    result.push_back(std::move(bytes));
  }
  return result;
}

/// SPIRV-Tools' complaints about a module; empty: it is valid.
std::string complaints(const KernelCode& code) {
  spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_1);
  std::string message;
  tools.SetMessageConsumer(
      [&](spv_message_level_t, const char*, const spv_position_t& at, const char* what) {
        message += str("word ", at.index, ": ", what, '\n');
      });
  const bool valid = tools.Validate(reinterpret_cast<const uint32_t*>(code.bytes.data()),
                                    code.bytes.size() / sizeof(uint32_t));
  return valid ? "" : "invalid: " + message;
}

}  // namespace

void expect_shader_like_interpreted(const Kernel& original, const ShaderRun& run) {
  Kernel kernel = original;
  verify(kernel);
  std::string why;
  Device* device = run.validate_only ? nullptr : test_vulkan_device(&why);
  if (device != nullptr && run.groups_per_axis != 0) {
    device = &narrow_vulkan_device(*device, run.groups_per_axis);
  }
  if (run.matrices != nullptr && device != nullptr) {
    const bool runs = run.matrices->form == MatrixForm::Emulated;
    device = runs ? matrix_vulkan_device(*device) : nullptr;
  }
  TargetInfo target = device == nullptr ? plain_vulkan_target() : device->target();
  if (run.matrices != nullptr) {
    target.shader.matrices = *run.matrices;
    target.numerics.matrix_f16 = true;
  }
  for (const KernelPass& pass : kernel_passes()) kernel = pass.run(kernel, target.numerics);
  SCOPED_TRACE(print(kernel));
  KernelCode code;
  try {
    code = spirv_backend().generate(kernel, {}, target);
  } catch (const UnsupportedError& error) {
    // A device that lacks the type says so, and that is all that can be had of it.
    ASSERT_TRUE(names_missing_type(target, error.what())) << error.what();
    return;
  }
  ASSERT_EQ(complaints(code), "");
  if (device == nullptr) return;

  std::vector<uint64_t> params = run.params;
  std::mt19937_64 random(run.seed);
  while (params.size() < kernel.params.size()) {
    uint64_t word = 0;
    fill_elements(reinterpret_cast<std::byte*>(&word), kernel.params[params.size()], 1, random,
                  {.index_bound = 10, .plain = true});
    params.push_back(word);
  }
  Bytes expected = make_buffers(kernel, run);
  std::vector<void*> pointers;
  for (auto& bytes : expected) pointers.push_back(bytes.data());
  LaunchStatus expected_status;
  interpret(kernel, device->target().numerics, pointers, params, &expected_status);

  Bytes actual = make_buffers(kernel, run);
  const std::vector<std::span<std::byte>> spans(actual.begin(), actual.end());
  LaunchStatus status;
  run_watched(*device, code, spans, params, &status);
  EXPECT_EQ(status.failed, expected_status.failed);
  if (status.failed != 0) {
    EXPECT_TRUE(status.index < 0 || status.index >= status.extent)
        << "reported index " << status.index << " of " << status.extent;
  }
  size_t b = 0;
  for (const Buffer& buffer : kernel.buffers) {
    if (buffer.kind == BufferKind::Local) continue;
    for (int64_t e = 0; e < buffer.extent; ++e) {
      const size_t offset = static_cast<size_t>(e) * size_of(buffer.dtype);
      const std::byte* want = expected[b].data() + offset;
      const std::byte* got = actual[b].data() + offset;
      if (same_element(buffer.dtype, want, got)) continue;
      std::string inputs;
      for (size_t k = 0; k < actual.size(); ++k) {
        const Buffer& other = kernel.buffers[k];
        if (other.kind != BufferKind::Input || e >= other.extent) continue;
        inputs += str(" b", k, "[", e, "]=",
                      element_text(other.dtype, actual[k].data() +
                                                    static_cast<size_t>(e) * size_of(other.dtype)));
      }
      FAIL() << "b" << b << "[" << e << "] is " << element_text(buffer.dtype, got)
             << ", interpreted " << element_text(buffer.dtype, want) << ";" << inputs;
    }
    ++b;
  }
}

void expect_shader_like_interpreted(std::string_view text, const ShaderRun& run) {
  expect_shader_like_interpreted(parse_kernel(text), run);
}

}  // namespace reprise
