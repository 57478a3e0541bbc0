// The networks whose training steps are timed: the same as in torch_steps.py, from the same
// numbers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "frontend/reprise.h"

namespace reprise::bench {

/// A network, its loss on one batch, an optimizer.
class Training {
 public:
  /// Throws Error for a name that is none of a network or of an optimizer.
  Training(const std::string& net, const std::string& optimizer);

  /// One step; returns its loss.
  float step();

 private:
  class Net;
  std::shared_ptr<Net> net_;
  std::vector<Tensor> parameters_;
  std::unique_ptr<optim::Optimizer> optimizer_;
};

}  // namespace reprise::bench
