// libFuzzer's entry points; compiled once for each kind of text. The preset "fuzz" builds them.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "ir/error.h"
#include "tests/fuzz/parse_text.h"

using reprise::TextKind;

namespace {
constexpr TextKind kKind = TextKind::REPRISE_FUZZ_KIND;
}

/// The first folder named gets the good texts.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = (*argv)[i];
    if (argument.starts_with('-')) continue;
    const std::filesystem::path folder = argument;
    std::filesystem::create_directories(folder);
    int number = 0;
    for (const std::string& text : reprise::seed_texts(kKind)) {
      std::ofstream(folder / reprise::str("seed-", number++), std::ios::binary) << text;
    }
    break;
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    (void)reprise::check_text(kKind, {reinterpret_cast<const char*>(data), size});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::abort();
  }
  return 0;
}
