// Reads every #include of the project and fails on an arrow that the layering does not have.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Include {
  std::string file;    // relative to the source tree
  std::string header;  // as written, without quotes
  int line = 0;
};

std::string top_folder(const std::string& path) {
  return path.substr(0, path.find('/'));
}

bool starts_with(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

std::vector<Include> includes_of(const std::vector<std::string>& folders) {
  static const std::regex directive(R"(^\s*#\s*include\s*[<"]([^">]+)[">])");
  const fs::path root = REPRISE_SOURCE_DIR;
  std::vector<Include> found;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp" && extension != ".def") continue;
      std::ifstream in(entry.path());
      std::string text;
      for (int line = 1; std::getline(in, text); ++line) {
        std::smatch match;
        if (std::regex_search(text, match, directive)) {
          found.push_back({fs::relative(entry.path(), root), match[1], line});
        }
      }
    }
  }
  return found;
}

const std::vector<std::string> kFolders = {"ir",       "passes",  "codegen",
                                           "compiler", "runtime", "frontend"};

// A lower level that includes a higher one cannot be reused, tested or replaced alone.
TEST(Layering, FoldersIncludeOnlyWhatTheyMay) {
  const std::map<std::string, std::set<std::string>> may = {
      {"ir", {"ir"}},
      {"passes", {"passes", "ir"}},
      {"codegen", {"codegen", "ir"}},
      {"compiler", {"compiler", "ir", "passes", "codegen"}},
      {"runtime", {"runtime", "ir", "compiler"}},
      {"frontend", {"frontend", "ir", "passes", "codegen", "compiler", "runtime"}},
  };
  const std::vector<Include> includes = includes_of(kFolders);
  ASSERT_GT(includes.size(), 50u) << "the scan found too few includes to mean anything";
  for (const Include& include : includes) {
    const std::string from = top_folder(include.file);
    const std::string to = top_folder(include.header);
    if (!may.contains(to) || include.header.find('/') == std::string::npos) continue;
    // Devices run what backends make; the interface between them is one header.
    if (from == "runtime" && include.header == "codegen/backend.h") continue;
    EXPECT_TRUE(may.at(from).contains(to))
        << include.file << ":" << include.line << " includes " << include.header << ", but " << from
        << "/ may not include " << to << "/";
  }
}

// Nobody but a code generator knows LLVM or SPIR-V, nobody but its device knows Vulkan: so each can
// be left out or replaced.
TEST(Layering, OutsideLibrariesStayInTheirFolder) {
  struct Owner {
    std::string prefix, folder, test;
  };
  const std::vector<Owner> owners = {
      {"llvm/", "codegen/llvm/", ""},
      {"llvm-c/", "codegen/llvm/", ""},
      {"spirv", "codegen/spirv/", "tests/shader_kernel.cpp"},
      {"vulkan/", "runtime/vulkan/", ""},
      {"volk.h", "runtime/vulkan/", ""},
  };
  std::vector<std::string> folders = kFolders;
  folders.insert(folders.end(), {"tests", "tools", "examples", "benchmarks"});
  for (const Include& include : includes_of(folders)) {
    for (const Owner& owner : owners) {
      if (!starts_with(include.header, owner.prefix)) continue;
      EXPECT_TRUE(starts_with(include.file, owner.folder) || include.file == owner.test)
          << include.file << ":" << include.line << " includes " << include.header
          << ", which belongs in " << owner.folder;
    }
  }
}

// Only a backend's own files see its internals; everybody else asks through codegen/backend.h.
TEST(Layering, BackendsAndDevicesAreReachedThroughTheirInterfaces) {
  for (const Include& include : includes_of(kFolders)) {
    for (const char* inside : {"codegen/llvm/", "codegen/spirv/", "runtime/vulkan/"}) {
      if (!starts_with(include.header, inside)) continue;
      EXPECT_TRUE(starts_with(include.file, inside))
          << include.file << ":" << include.line << " includes " << include.header;
    }
  }
}

// Data structures and passes are plain: no threads, no memory mapping.
TEST(Layering, IrAndPassesKnowNeitherThreadsNorMemory) {
  const std::set<std::string> banned = {"thread",     "future",    "condition_variable",
                                        "sys/mman.h", "pthread.h", "dlfcn.h"};
  for (const Include& include : includes_of({"ir", "passes"})) {
    EXPECT_FALSE(banned.contains(include.header))
        << include.file << ":" << include.line << " includes " << include.header;
  }
}

}  // namespace
