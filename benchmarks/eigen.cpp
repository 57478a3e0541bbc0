// Eigen's matrix product, where its headers are.
#include "matrix_libraries.h"

#if BENCH_HAS_EIGEN
#include <Eigen/Core>
#endif

namespace reprise::bench {

#if BENCH_HAS_EIGEN
namespace {

template <class T>
void multiply(const Product& p, const T* a, const T* b, T* c) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto matrix = [](const T* data, int64_t rows, int64_t columns) {
    return Eigen::Map<const Matrix>(data, rows, columns);
  };
  Eigen::Map<Matrix> product(c, p.m, p.n);
  if (p.a_is_transposed) {
    product.noalias() = matrix(a, p.k, p.m).transpose() * matrix(b, p.k, p.n);
  } else if (p.b_is_transposed) {
    product.noalias() = matrix(a, p.m, p.k) * matrix(b, p.n, p.k).transpose();
  } else {
    product.noalias() = matrix(a, p.m, p.k) * matrix(b, p.k, p.n);
  }
}

}  // namespace

std::vector<MatrixLibrary> eigen() {
  return {{.name = "eigen",
           .multiply = multiply<float>,
           .multiply_f64 = multiply<double>,
           .set_threads = Eigen::setNbThreads}};
}
#else
std::vector<MatrixLibrary> eigen() {
  return {};
}
#endif

}  // namespace reprise::bench
