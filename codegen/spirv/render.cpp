// One compiler of SPIRV-Cross's for each entry point.
#include "codegen/spirv/render.h"

#include <spirv_cross/spirv_cross_c.h>

#include <array>
#include <memory>

#include "ir/error.h"

namespace reprise::spirv {
namespace {

constexpr std::array<std::string_view, 3> kLanguages{"glsl", "msl", "hlsl"};

spvc_backend backend_of(std::string_view language) {
  if (language == "glsl") return SPVC_BACKEND_GLSL;
  if (language == "msl") return SPVC_BACKEND_MSL;
  REPRISE_ASSERT(language == "hlsl");
  return SPVC_BACKEND_HLSL;
}

/// Versions that know what our modules use: 64-bit addresses of buffers above all.
void set_versions(spvc_compiler compiler) {
  spvc_compiler_options options = nullptr;
  spvc_compiler_create_compiler_options(compiler, &options);
  spvc_compiler_options_set_uint(options, SPVC_COMPILER_OPTION_GLSL_VERSION, 450);
  spvc_compiler_options_set_bool(options, SPVC_COMPILER_OPTION_GLSL_VULKAN_SEMANTICS, SPVC_TRUE);
  spvc_compiler_options_set_uint(options, SPVC_COMPILER_OPTION_MSL_VERSION,
                                 SPVC_MAKE_MSL_VERSION(2, 3, 0));
  spvc_compiler_options_set_uint(options, SPVC_COMPILER_OPTION_HLSL_SHADER_MODEL, 60);
  spvc_compiler_install_compiler_options(compiler, options);
}

/// HLSL has no built-in for the number of workgroups: who dispatches has to fill in a constant.
void name_group_counts(spvc_compiler compiler) {
  const spvc_variable_id counts = spvc_compiler_hlsl_remap_num_workgroups_builtin(compiler);
  if (counts == 0) return;
  spvc_compiler_set_decoration(compiler, counts, SpvDecorationDescriptorSet, 0);
  spvc_compiler_set_decoration(compiler, counts, SpvDecorationBinding, 2);
}

std::string render_entry(spvc_context context, const Words& module, spvc_backend backend,
                         size_t entry, size_t& entries) {
  const auto failed = [&] {
    return str("// cannot be said in this language: ", spvc_context_get_last_error_string(context),
               '\n');
  };
  spvc_parsed_ir parsed = nullptr;
  spvc_compiler compiler = nullptr;
  if (spvc_context_parse_spirv(context, module.data(), module.size(), &parsed) != SPVC_SUCCESS ||
      spvc_context_create_compiler(context, backend, parsed, SPVC_CAPTURE_MODE_TAKE_OWNERSHIP,
                                   &compiler) != SPVC_SUCCESS) {
    return failed();
  }
  const spvc_entry_point* points = nullptr;
  spvc_compiler_get_entry_points(compiler, &points, &entries);
  if (entry >= entries) return {};
  spvc_compiler_set_entry_point(compiler, points[entry].name, points[entry].execution_model);
  set_versions(compiler);
  if (backend == SPVC_BACKEND_HLSL) name_group_counts(compiler);
  const char* text = nullptr;
  return spvc_compiler_compile(compiler, &text) == SPVC_SUCCESS ? std::string(text) : failed();
}

}  // namespace

std::span<const std::string_view> languages() {
  return kLanguages;
}

bool has_addresses(std::string_view language) {
  return backend_of(language) != SPVC_BACKEND_HLSL;
}

std::string render(const Words& module, std::string_view language) {
  spvc_context created = nullptr;
  if (spvc_context_create(&created) != SPVC_SUCCESS) {
    throw OutOfMemoryError("no memory for SPIRV-Cross");
  }
  const std::unique_ptr<spvc_context_s, void (*)(spvc_context)> context(created,
                                                                        spvc_context_destroy);
  std::string text;
  size_t entries = 1;
  for (size_t entry = 0; entry < entries; ++entry) {
    text += render_entry(context.get(), module, backend_of(language), entry, entries);
  }
  return text;
}

}  // namespace reprise::spirv
