// IDX files, the format of the MNIST family: a typed header, then big-endian elements.
#pragma once

#include <string>

#include "frontend/tensor.h"

namespace reprise::io {

/// Reads a whole file, gzip'd or plain. Throws IoError naming the path and what was expected when
/// it is missing, damaged, truncated, or followed by other bytes.
[[nodiscard]] Tensor read_idx(const std::string& path);
/// The same, and throws IoError unless elements and rank are these: what a data set's loader knows.
[[nodiscard]] Tensor read_idx(const std::string& path, DType dtype, int rank);

}  // namespace reprise::io
