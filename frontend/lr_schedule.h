// Learning-rate schedules: plain functions of the step, passed to Optimizer::set_lr.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace reprise::optim {

/// Rises linearly over `warmup` steps, then falls along half a cosine from `peak` to `floor`, which
/// it reaches at step `total` and keeps.
struct CosineSchedule {
  double peak = 1e-3;
  double floor = 0;
  int64_t total = 1;
  int64_t warmup = 0;

  [[nodiscard]] double operator()(int64_t step) const {
    if (step < warmup) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup);
    const double span = static_cast<double>(std::max<int64_t>(total - warmup, 1));
    const double done = std::min(static_cast<double>(step - warmup) / span, 1.0);
    return floor + (peak - floor) * 0.5 * (1 + std::cos(std::numbers::pi * done));
  }
};

/// Multiplied by `factor` after every `every` steps.
struct StepSchedule {
  double base = 1e-3;
  double factor = 0.1;
  int64_t every = 1;

  [[nodiscard]] double operator()(int64_t step) const {
    const int64_t falls = step / std::max<int64_t>(every, 1);
    return base * std::pow(factor, static_cast<double>(falls));
  }
};

}  // namespace reprise::optim
