// Loads the LLVM code generator, a library of its own, when something must be compiled.
#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "compiler/pipeline.h"
#include "ir/error.h"

namespace reprise {
namespace {

constexpr const char* kLibrary = "libreprise_llvm.so";

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

const Backend* load_backend() {
  const std::string folder = library_folder();
  const std::string path = folder.empty() ? std::string(kLibrary) : folder + "/" + kLibrary;
  // Local: LLVM's symbols must not meet those of another LLVM in the process.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    throw DeviceError(str("cannot load the code generator ", path, ": ",
                          reason != nullptr ? reason : "unknown reason"));
  }
  using Entry = const Backend* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "reprise_llvm_backend"));
  if (entry == nullptr) {
    throw DeviceError(
        str("cannot load the code generator ", path, ": it does not export reprise_llvm_backend"));
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
  static const Backend* const backend = load_backend();
  return *backend;
}

}  // namespace reprise
