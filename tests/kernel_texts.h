// Kernels for the code generators' tests, as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dtype.h"

namespace reprise {

/// A kernel over `count` elements with three inputs of `dtype` that stores op(a[, b[, c]]) for
/// every op in the list, each to an output of its own.
[[nodiscard]] std::string kernel_of_ops(DType dtype, const std::vector<std::string>& ops,
                                        int64_t count);
/// Every scalar operation that code generators implement, in every dtype it is defined for, and the
/// casts between all of them.
[[nodiscard]] std::vector<std::string> kernels_of_operations();
/// `kind` over `extent` elements for each of `rows` grid points.
[[nodiscard]] std::string kernel_of_reduction(std::string_view kind, DType dtype, DType result,
                                              int64_t rows, int64_t extent, int64_t row_stride,
                                              int64_t stride);
/// Sum and maximum over two loops, of `outer` and `inner` iterations, for each of 2 x 3 elements.
[[nodiscard]] std::string kernel_of_loops(int outer, int inner);
/// Each way to reach an element of a 7 x n grid: contiguous, broadcast, reversed, strided,
/// computed, masked. Integer inputs are indices in [-4, 4).
[[nodiscard]] std::string kernel_of_accesses(int n);
/// Stages of one grid point that share rows of n elements in local memory.
[[nodiscard]] std::string kernel_of_rows(int n);
/// Sequences that add `steps` rows of updates to `rows` rows at indices, for 2 x `columns` points:
/// a grid's in an output, a stage's parallel loop's in local memory.
[[nodiscard]] std::string kernel_of_sequences(int columns, int rows, int steps);
/// Four parts of one phase, one of them empty, and a second phase that reads what the first wrote.
/// Takes one f32 parameter.
[[nodiscard]] std::string kernel_of_parts_and_phases();

}  // namespace reprise
