// NumPy's .npy files: a type and its elements in row-major order.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ir/shape.h"

namespace reprise {

struct NpyArray {
  TensorType type;
  std::vector<std::byte> elements;  ///< row-major, this machine's byte order
};

/// Reads formats 1 to 3, either byte order, C or Fortran layout. Two-byte void elements ('V2') are
/// bf16, which NumPy has no name for. Throws IoError naming the file and what is wrong with it.
[[nodiscard]] NpyArray read_npy(const std::string& path);
/// Writes format 1. Throws IoError when the file cannot be written, ShapeError when the number of
/// bytes is not the type's.
void write_npy(const std::string& path, const TensorType& type,
               std::span<const std::byte> elements);

}  // namespace reprise
