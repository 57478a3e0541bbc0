// PyTorch as a peer: a process that stays up and does named work on request.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "child.h"

namespace reprise::bench {

/// Tuned: freed memory is kept, its BLAS shares its threads, AVX-512 is used where there is.
enum class Torch : uint8_t { Stock, Tuned };
[[nodiscard]] std::vector<std::string> torch_environment(Torch flavour);
/// The words that start torch_peer.py.
[[nodiscard]] std::vector<std::string> torch_command(const std::string& python);

class TorchPeer {
 public:
  /// Null where this interpreter has no torch.
  [[nodiscard]] static std::unique_ptr<TorchPeer> start(const std::string& python, Torch flavour);

  /// Both throw std::runtime_error with what Python says.
  [[nodiscard]] double seconds(const std::string& work, int threads, double at_least);
  [[nodiscard]] std::vector<float> result(const std::string& work, int threads);

 private:
  TorchPeer(const std::string& python, Torch flavour)
      : child_(torch_command(python), torch_environment(flavour)) {}
  /// The number it answers.
  double ask(const std::string& request);

  Child child_;
};

}  // namespace reprise::bench
