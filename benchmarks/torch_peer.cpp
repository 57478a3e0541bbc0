#include "torch_peer.h"

#include <filesystem>
#include <stdexcept>

#include "ir/error.h"

namespace reprise::bench {

std::vector<std::string> torch_command(const std::string& python) {
  return {python, BENCHMARK_SOURCE_DIR "/torch_peer.py"};
}

std::vector<std::string> torch_environment(Torch flavour) {
  if (flavour == Torch::Stock) return {};
  // Blocks come from the heap, however large, and stay there.
  std::vector<std::string> environment{"MALLOC_MMAP_MAX_=0", "MALLOC_TRIM_THRESHOLD_=68719476736",
                                       "MALLOC_TOP_PAD_=67108864"};
  // Debian has the OpenMP build of OpenBLAS in a folder of its own.
  for (const auto& folder : std::filesystem::directory_iterator("/usr/lib")) {
    const std::filesystem::path blas = folder.path() / "openblas-openmp";
    std::error_code error;
    if (std::filesystem::is_directory(blas, error)) {
      environment.push_back("LD_LIBRARY_PATH=" + blas.string());
    }
  }
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq")) {
    environment.emplace_back("ATEN_CPU_CAPABILITY=avx512");
  }
  return environment;
}

std::unique_ptr<TorchPeer> TorchPeer::start(const std::string& python, Torch flavour) {
  std::unique_ptr<TorchPeer> peer(new TorchPeer(python, flavour));
  return peer->child_.line() == "ready" ? std::move(peer) : nullptr;
}

double TorchPeer::ask(const std::string& request) {
  child_.say(request);
  const std::string answer = child_.line();
  try {
    size_t used = 0;
    const double number = std::stod(answer, &used);
    if (used == answer.size()) return number;
  } catch (const std::logic_error&) {  // not a number: said below
  }
  throw std::runtime_error(str("'", request, "': ", answer.empty() ? "it has ended" : answer));
}

double TorchPeer::seconds(const std::string& work, int threads, double at_least) {
  return ask(str("time ", threads, ' ', at_least, ' ', work));
}

std::vector<float> TorchPeer::result(const std::string& work, int threads) {
  std::vector<float> values(static_cast<size_t>(ask(str("result ", threads, " 0 ", work))));
  if (!child_.read(values.data(), values.size() * sizeof(float))) {
    throw std::runtime_error(str("'", work, "': the result ends early"));
  }
  return values;
}

}  // namespace reprise::bench
