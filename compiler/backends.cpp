// Loads the code generators, each a library of its own, when something must be compiled.
#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "compiler/pipeline.h"
#include "ir/error.h"

namespace reprise {
namespace {

/// The folder of the library that this function is in, unless REPRISE_LIB_DIR overrules it.
std::string library_folder() {
  if (const char* folder = std::getenv("REPRISE_LIB_DIR"); folder != nullptr && *folder != 0) {
    return folder;
  }
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&llvm_backend), &info) == 0 ||
      info.dli_fname == nullptr) {
    return {};
  }
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

/// libreprise_<name>.so, which exports reprise_<name>_backend.
const Backend* load_backend(const char* name) {
  const std::string folder = library_folder();
  const std::string file = str("libreprise_", name, ".so");
  const std::string path = folder.empty() ? file : folder + "/" + file;
  // Local: LLVM's symbols must not meet those of another LLVM in the process.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    throw DeviceError(str("cannot load the code generator ", path, ": ",
                          reason != nullptr ? reason : "unknown reason"));
  }
  using Entry = const Backend* (*)();
  const std::string symbol = str("reprise_", name, "_backend");
  const auto entry = reinterpret_cast<Entry>(dlsym(library, symbol.c_str()));
  if (entry == nullptr) {
    throw DeviceError(
        str("cannot load the code generator ", path, ": it does not export ", symbol));
  }
  const Backend* backend = entry();
  if (backend == nullptr) {
    throw DeviceError(str("the code generator ", path, " does not start on this machine"));
  }
  return backend;
}

}  // namespace

const Backend& llvm_backend() {
  // A failed load throws and leaves the static unset, so a later call tries again. The library
  // stays loaded for the life of the process: code may run in it until the end.
  static const Backend* const backend = load_backend("llvm");
  return *backend;
}

const Backend& spirv_backend() {
  static const Backend* const backend = load_backend("spirv");
  return *backend;
}

}  // namespace reprise
