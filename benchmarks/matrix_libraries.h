// Libraries that multiply matrices, where they are installed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace reprise::bench {

/// c = a b, row-major: (m, k) times (k, n), or either as its transpose lies in memory.
struct Product {
  int64_t m, n, k;
  bool a_is_transposed = false, b_is_transposed = false;
  /// c = alpha a b + beta c, of the libraries with `scales` alone.
  float alpha = 1, beta = 0;
};

struct MatrixLibrary {
  template <class T>
  using Multiply = std::function<void(const Product&, const T* a, const T* b, T* c)>;

  std::string name;
  Multiply<float> multiply = {};
  Multiply<double> multiply_f64 = {};  ///< empty: it has none
  bool scales = false;
  /// For the calls that follow; empty: a call runs on its own thread.
  std::function<void(int)> set_threads = {};
};

/// Found at run time, or compiled in where they were at configure time; none is required.
[[nodiscard]] std::vector<MatrixLibrary> find_matrix_libraries();
/// The same for products of at most `kSmallProduct` multiply-adds, for which code is made first.
[[nodiscard]] std::vector<MatrixLibrary> find_small_matrix_libraries();
constexpr int64_t kSmallProduct = int64_t{1} << 21;

/// Eigen's, compiled for the machine at hand; empty without it.
[[nodiscard]] std::vector<MatrixLibrary> eigen();

}  // namespace reprise::bench
