#include "matrix_libraries.h"

#include <dlfcn.h>

#include <array>
#include <map>

#if BENCH_HAS_LIBXSMM
#include <libxsmm.h>
#endif

namespace reprise::bench {
namespace {

// The C interfaces of what is found at run time.
template <class T>
using CblasGemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, T alpha,
                           const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc);
using DnnlSgemm = int (*)(char trans_a, char trans_b, int64_t m, int64_t n, int64_t k, float alpha,
                          const float* a, int64_t lda, const float* b, int64_t ldb, float beta,
                          float* c, int64_t ldc);

template <class Function>
Function find(std::initializer_list<const char*> libraries, const char* name) {
  for (const char* library : libraries) {
    void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    void* const symbol = handle != nullptr ? dlsym(handle, name) : nullptr;
    if (symbol != nullptr) return reinterpret_cast<Function>(symbol);
  }
  return nullptr;
}

template <class T>
MatrixLibrary::Multiply<T> cblas(CblasGemm<T> gemm) {
  if (gemm == nullptr) return {};
  return [gemm](const Product& p, const T* a, const T* b, T* c) {
    constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;
    const auto m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
    gemm(kRowMajor, p.a_is_transposed ? kTransposed : kPlain,
         p.b_is_transposed ? kTransposed : kPlain, m, n, k, p.alpha, a, p.a_is_transposed ? m : k,
         b, p.b_is_transposed ? k : n, p.beta, c, n);
  };
}

}  // namespace

std::vector<MatrixLibrary> find_matrix_libraries() {
  std::vector<MatrixLibrary> found;
  const auto add_blas = [&](const char* name, const char* library, auto set_threads) {
    if (const auto sgemm = find<CblasGemm<float>>({library}, "cblas_sgemm")) {
      found.push_back({.name = name,
                       .multiply = cblas(sgemm),
                       .multiply_f64 = cblas(find<CblasGemm<double>>({library}, "cblas_dgemm")),
                       .scales = true,
                       .set_threads = set_threads});
    }
  };
  if (const auto set = find<void (*)(int)>({"libopenblas.so.0"}, "openblas_set_num_threads")) {
    add_blas("openblas", "libopenblas.so.0", set);
  }
  if (const auto set = find<void (*)(int64_t)>({"libblis.so.4"}, "bli_thread_set_num_threads")) {
    add_blas("blis", "libblis.so.4", set);
  }
  const auto dnnl = {"libdnnl.so.2", "libdnnl.so.3"};
  if (const auto sgemm = find<DnnlSgemm>(dnnl, "dnnl_sgemm")) {
    const auto multiply = [sgemm](const Product& p, const float* a, const float* b, float* c) {
      sgemm(p.a_is_transposed ? 'T' : 'N', p.b_is_transposed ? 'T' : 'N', p.m, p.n, p.k, p.alpha, a,
            p.a_is_transposed ? p.m : p.k, b, p.b_is_transposed ? p.k : p.n, p.beta, c, p.n);
    };
    found.push_back({.name = "onednn",
                     .multiply = multiply,
                     .scales = true,
                     .set_threads = find<void (*)(int)>({"libgomp.so.1"}, "omp_set_num_threads")});
  }
  for (MatrixLibrary& each : eigen()) found.push_back(std::move(each));
  return found;
}

std::vector<MatrixLibrary> find_small_matrix_libraries() {
  std::vector<MatrixLibrary> found;
#if BENCH_HAS_LIBXSMM
  // Its matrices are column-major: ours are their transposes, so c^T = b^T a^T.
  const auto multiply = [](const Product& p, const float* a, const float* b, float* c) {
    thread_local std::map<std::array<int64_t, 3>, libxsmm_smmfunction> kernels;
    libxsmm_smmfunction& kernel = kernels[{p.m, p.n, p.k}];
    if (kernel == nullptr) {
      const auto m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
      const float alpha = 1, beta = 0;
      const int flags = LIBXSMM_GEMM_FLAG_NONE, prefetch = LIBXSMM_GEMM_PREFETCH_NONE;
      kernel = libxsmm_smmdispatch(n, m, k, &n, &k, &n, &alpha, &beta, &flags, &prefetch);
    }
    kernel(b, a, c);
  };
  found.push_back({.name = "libxsmm", .multiply = multiply});
#endif
  return found;
}

}  // namespace reprise::bench
