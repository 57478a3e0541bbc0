// Matrix products in f32 beside OpenBLAS and oneDNN, in the same process where they are installed.
#include <dlfcn.h>

#include <functional>
#include <memory>

#include "frontend/reprise.h"
#include "rows.h"

namespace {

namespace rp = reprise;
using rp::bench::difference;
using rp::bench::numbers;

// The C interfaces, found at run time: a machine without them times us alone.
using CblasSgemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                            const float* a, int lda, const float* b, int ldb, float beta, float* c,
                            int ldc);
using DnnlSgemm = int (*)(char trans_a, char trans_b, int64_t m, int64_t n, int64_t k, float alpha,
                          const float* a, int64_t lda, const float* b, int64_t ldb, float beta,
                          float* c, int64_t ldc);
using SetThreads = void (*)(int);

template <class Function>
Function find(std::initializer_list<const char*> libraries, const char* name) {
  for (const char* library : libraries) {
    void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    void* const symbol = handle != nullptr ? dlsym(handle, name) : nullptr;
    if (symbol != nullptr) return reinterpret_cast<Function>(symbol);
  }
  return nullptr;
}

struct Problem {
  std::string name;
  int64_t m, n, k;
  bool a_is_transposed = false, b_is_transposed = false;
};

struct Library {
  std::string name;
  std::function<void(const Problem&, const float* a, const float* b, float* c)> multiply;
  SetThreads set_threads = nullptr;
};

std::vector<Library> find_libraries() {
  std::vector<Library> found;
  const auto blas = {"libopenblas.so.0"};
  if (const auto sgemm = find<CblasSgemm>(blas, "cblas_sgemm")) {
    const auto multiply = [sgemm](const Problem& p, const float* a, const float* b, float* c) {
      constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;
      const auto m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
      sgemm(kRowMajor, p.a_is_transposed ? kTransposed : kPlain,
            p.b_is_transposed ? kTransposed : kPlain, m, n, k, 1, a, p.a_is_transposed ? m : k, b,
            p.b_is_transposed ? k : n, 0, c, n);
    };
    found.push_back({"openblas", multiply, find<SetThreads>(blas, "openblas_set_num_threads")});
  }
  const auto dnnl = {"libdnnl.so.2", "libdnnl.so.3"};
  if (const auto sgemm = find<DnnlSgemm>(dnnl, "dnnl_sgemm")) {
    const auto multiply = [sgemm](const Problem& p, const float* a, const float* b, float* c) {
      sgemm(p.a_is_transposed ? 'T' : 'N', p.b_is_transposed ? 'T' : 'N', p.m, p.n, p.k, 1, a,
            p.a_is_transposed ? p.m : p.k, b, p.b_is_transposed ? p.k : p.n, 0, c, p.n);
    };
    found.push_back(
        {"onednn", multiply, find<SetThreads>({"libgomp.so.1"}, "omp_set_num_threads")});
  }
  return found;
}

void add_row(const Problem& problem, int threads, const std::vector<Library>& libraries) {
  const int64_t m = problem.m, n = problem.n, k = problem.k;
  const auto a = std::make_shared<std::vector<float>>(numbers(m * k, 1));
  const auto b = std::make_shared<std::vector<float>>(numbers(k * n, 2));
  const auto mine = std::make_shared<rp::Tensor>();
  const auto x = rp::Tensor::of(*a, problem.a_is_transposed ? rp::Shape{k, m} : rp::Shape{m, k});
  const auto y = rp::Tensor::of(*b, problem.b_is_transposed ? rp::Shape{n, k} : rp::Shape{k, n});
  rp::Frozen product;
  {
    const rp::Tape tape;
    product = tape.freeze({x, y}, {rp::matmul(problem.a_is_transposed ? x.transpose() : x,
                                              problem.b_is_transposed ? y.transpose() : y)});
  }
  rp::bench::Row row{.name = rp::str(problem.name, '_', threads, 't'),
                     .ours =
                         [=] {
                           rp::set_num_threads(threads);
                           *mine = product.replay(x, y)[0];
                         },
                     .amount = 2.0 * static_cast<double>(m * n * k),
                     .unit = "GFLOP/s"};
  for (const Library& library : libraries) {
    const auto theirs = std::make_shared<std::vector<float>>(m * n);
    row.peers.push_back({library.name,
                         [=] {
                           if (library.set_threads != nullptr) library.set_threads(threads);
                           library.multiply(problem, a->data(), b->data(), theirs->data());
                         },
                         [=] { return difference(mine->to_vector<float>(), *theirs, 1e-4); }});
  }
  rp::bench::add(std::move(row));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Library> libraries = find_libraries();
  const Problem problems[] = {
      {"gemm_64", 64, 64, 64},
      {"gemm_256", 256, 256, 256},
      {"gemm_1024", 1024, 1024, 1024},
      {"gemm_1024_ta", 1024, 1024, 1024, true, false},
      {"gemm_1024_tb", 1024, 1024, 1024, false, true},
      {"gemm_64x256x784", 64, 256, 784},
      {"gemm_784x256x64_ta", 784, 256, 64, true, false},
      {"gemm_64x784x256_tb", 64, 784, 256, false, true},
      {"gemm_128x3072x768", 128, 3072, 768},
      {"gemv_4096", 1, 4096, 4096},
      {"gemv_4096_tb", 1, 4096, 4096, false, true},
      {"gemm_4x4096x4096", 4, 4096, 4096},
      {"gemm_8x4096x4096", 8, 4096, 4096},
      {"gemm_16x4096x4096", 16, 4096, 4096},
  };
  for (const Problem& problem : problems) {
    for (const int threads : {1, 2}) add_row(problem, threads, libraries);
  }
  return rp::bench::run(argc, argv);
}
