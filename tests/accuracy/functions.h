// The functions whose accuracy is measured: each as the op table has it, and as it truly is.
#pragma once

#include <span>
#include <string_view>

#include "ir/attrs.h"
#include "ir/op.h"

namespace reprise {

/// The second argument of functions of one is not looked at.
struct TrueFunction {
  std::string_view name;
  Op op;
  Attrs attrs;
  int operands;
  /// Far below a unit in the last place of f32, and of f64.
  double (*close)(double, double);
  long double (*exact)(long double, long double);
};

[[nodiscard]] std::span<const TrueFunction> true_functions();

}  // namespace reprise
