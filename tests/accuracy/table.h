// docs/ACCURACY.md: written from measurements, and read back by the test that holds it true.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/accuracy/measure.h"

namespace reprise {

struct MeasuredRow {
  std::string op;  ///< a TrueFunction's name
  DType dtype;
  int operands = 1;
  Accuracy fused;    ///< where the target fuses multiply and add
  Accuracy unfused;  ///< where it does not
};

/// What the page promises of one op.
struct PromisedRow {
  std::string op;
  DType dtype;
  double fused, unfused;  ///< the most, in units of the last place
};

[[nodiscard]] std::string render(const std::vector<MeasuredRow>& rows,
                                 const ArgumentChoice& choice);
/// The rows of a page that render() wrote. Throws Error with the line that it cannot read.
[[nodiscard]] std::vector<PromisedRow> parse_accuracy(std::string_view page);

}  // namespace reprise
