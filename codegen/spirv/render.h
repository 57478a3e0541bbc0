// Modules in the languages that people read, through SPIRV-Cross.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "codegen/spirv/module.h"

namespace reprise::spirv {

/// The shading languages there are, as a stage of a dump is called.
[[nodiscard]] std::span<const std::string_view> languages();

/// Whether a shader in one of them can take buffers by their addresses.
[[nodiscard]] bool has_addresses(std::string_view language);

/// Every entry point of a module in one of languages(), one after another; where the language
/// cannot say something, a comment that says what.
[[nodiscard]] std::string render(const Words& module, std::string_view language);

}  // namespace reprise::spirv
