// Matrix products beside the libraries that multiply matrices, in the same process.
#include <omp.h>

#include <bit>
#include <functional>
#include <memory>

#include "frontend/reprise.h"
#include "matrix_libraries.h"
#include "onednn.h"
#include "rows.h"

namespace {

namespace rp = reprise;
using namespace rp::bench;

std::vector<float> read(const rp::Tensor& x) {
  return x.cast(rp::DType::F32).to_vector<float>();
}

rp::Frozen frozen_product(const rp::Tensor& x, const rp::Tensor& y, const Product& p) {
  const rp::Tape tape;
  return tape.freeze({x, y}, {rp::matmul(p.a_is_transposed ? x.transpose() : x,
                                         p.b_is_transposed ? y.transpose() : y)});
}

template <class T>
void add_row(const std::string& name, const Product& p, int threads,
             const std::vector<MatrixLibrary>& libraries) {
  constexpr bool kIsF64 = sizeof(T) == 8;
  const std::vector<float> left = numbers(p.m * p.k, 1), right = numbers(p.k * p.n, 2);
  const auto a = std::make_shared<std::vector<T>>(left.begin(), left.end());
  const auto b = std::make_shared<std::vector<T>>(right.begin(), right.end());
  const auto mine = std::make_shared<rp::Tensor>();
  const auto x = rp::Tensor::of(*a, p.a_is_transposed ? rp::Shape{p.k, p.m} : rp::Shape{p.m, p.k});
  const auto y = rp::Tensor::of(*b, p.b_is_transposed ? rp::Shape{p.n, p.k} : rp::Shape{p.k, p.n});
  const rp::Frozen product = frozen_product(x, y, p);
  const auto check = [=](const std::vector<float>& theirs) {
    return difference(read(*mine), theirs, 1e-4);
  };
  Row row{.name = rp::str(name, '_', threads, 't'),
          .ours =
              [=] {
                rp::set_num_threads(threads);
                *mine = product.replay(x, y)[0];
              },
          .python = {{.work = rp::str("gemm ", p.m, ' ', p.n, ' ', p.k, ' ', p.a_is_transposed, ' ',
                                      p.b_is_transposed, kIsF64 ? " float64" : " float32"),
                      .check = check}},
          .threads = threads,
          .flops = 2.0 * static_cast<double>(p.m * p.n * p.k),
          .factors = kIsF64 ? Row::Factors::F64 : Row::Factors::F32,
          .unit = "GFLOP/s"};
  // A matrix this large is read from memory each time: nothing reuses it.
  if (p.m < 8) row.bytes = static_cast<double>(p.k * p.n * sizeof(T));
  for (const MatrixLibrary& library : libraries) {
    MatrixLibrary::Multiply<T> multiply;
    if constexpr (kIsF64) {
      multiply = library.multiply_f64;
    } else {
      multiply = library.multiply;
    }
    if (!multiply) continue;
    const auto theirs = std::make_shared<std::vector<T>>(p.m * p.n);
    row.peers.push_back({.name = library.name,
                         .work =
                             [=] {
                               if (library.set_threads) library.set_threads(threads);
                               multiply(p, a->data(), b->data(), theirs->data());
                             },
                         .check =
                             [=] {
                               return check({theirs->begin(), theirs->end()});
                             }});
  }
  add(std::move(row));
}

/// So many products at once. A peer's threads share the products.
void add_batched_row(int64_t batch, const Product& p, int threads,
                     const std::vector<MatrixLibrary>& libraries) {
  const auto a = std::make_shared<std::vector<float>>(numbers(batch * p.m * p.k, 1));
  const auto b = std::make_shared<std::vector<float>>(numbers(batch * p.k * p.n, 2));
  const auto mine = std::make_shared<rp::Tensor>();
  const auto x = rp::Tensor::of(*a, {batch, p.m, p.k}), y = rp::Tensor::of(*b, {batch, p.k, p.n});
  const rp::Frozen product = frozen_product(x, y, p);
  const auto check = [=](const std::vector<float>& theirs) {
    return difference(read(*mine), theirs, 1e-4);
  };
  Row row{.name = rp::str("gemm_", batch, "_of_", p.m, 'x', p.n, 'x', p.k, '_', threads, 't'),
          .ours =
              [=] {
                rp::set_num_threads(threads);
                *mine = product.replay(x, y)[0];
              },
          .python = {{.work = rp::str("batched_gemm ", batch, ' ', p.m, ' ', p.n, ' ', p.k),
                      .check = check}},
          .threads = threads,
          .flops = 2.0 * static_cast<double>(batch * p.m * p.n * p.k),
          .unit = "GFLOP/s"};
  for (const MatrixLibrary& library : libraries) {
    const auto theirs = std::make_shared<std::vector<float>>(batch * p.m * p.n);
    row.peers.push_back({.name = library.name,
                         .work =
                             [=] {
                               if (library.set_threads) library.set_threads(1);
#pragma omp parallel for num_threads(threads) schedule(static)
                               for (int64_t i = 0; i < batch; ++i) {
                                 library.multiply(p, a->data() + i * p.m * p.k,
                                                  b->data() + i * p.k * p.n,
                                                  theirs->data() + i * p.m * p.n);
                               }
                             },
                         .check = [=] { return check(*theirs); }});
  }
  add(std::move(row));
}

/// bf16 giving bf16, and i8 cast to i32: several products an instruction where the machine has it.
template <class T, class Result>
void add_narrow_row(Narrow factors, int64_t size, int threads) {
  const bool half = factors == Narrow::BF16;
  // bf16 is made of the upper bits of f32.
  const auto operand = [&](uint64_t salt) {
    const auto bits = std::make_shared<std::vector<T>>();
    for (const float value : numbers(size * size, salt)) {
      bits->push_back(half ? static_cast<T>(std::bit_cast<uint32_t>(value) >> 16)
                           : static_cast<T>(value * 127));
    }
    return bits;
  };
  const auto tensor = [=](const auto& bits) {
    const rp::Tensor all = rp::Tensor::of(bits, {size, size});
    return half ? rp::bitcast(all, rp::DType::BF16) : all;
  };
  const auto a = operand(1), b = operand(2);
  const rp::Tensor x = tensor(*a), y = tensor(*b);
  const auto mine = std::make_shared<rp::Tensor>();
  const auto theirs = std::make_shared<std::vector<Result>>(size * size);
  const rp::Tape tape;
  const rp::Frozen product = tape.freeze(
      {x, y},
      {half ? rp::matmul(x, y) : rp::matmul(x.cast(rp::DType::I32), y.cast(rp::DType::I32))});
  const std::string name = half ? "bf16" : "i8";
  Row row{.name = rp::str("gemm_", name, '_', size, '_', threads, 't'),
          .ours =
              [=] {
                rp::set_num_threads(threads);
                *mine = product.replay(x, y)[0];
              },
          .threads = threads,
          .flops = 2.0 * static_cast<double>(size * size * size),
          .factors = half ? Row::Factors::BF16 : Row::Factors::I8,
          .unit = "GFLOP/s"};
  omp_set_num_threads(threads);  // its primitives share work as when they were made
  try {
    const auto work =
        onednn_matmul(factors, size, size, size, a->data(), b->data(), theirs->data());
    if (work) {
      row.peers.push_back({.name = "onednn",
                           .work =
                               [=, a = a, b = b] {
                                 omp_set_num_threads(threads);
                                 work();
                               },
                           .check =
                               [=] {
                                 const std::vector<float> wanted = read(tensor(*theirs));
                                 return difference(read(*mine), wanted, half ? 1e-2 : 0);
                               }});
    }
  } catch (const std::exception&) {
    // It has no such product for this machine.
  }
  add(std::move(row));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<MatrixLibrary> libraries = find_matrix_libraries();
  std::vector<MatrixLibrary> small = find_small_matrix_libraries();
  small.insert(small.end(), libraries.begin(), libraries.end());
  const std::pair<const char*, Product> products[] = {
      {"gemm_64", {64, 64, 64}},
      {"gemm_256", {256, 256, 256}},
      {"gemm_1024", {1024, 1024, 1024}},
      {"gemm_1024_ta", {1024, 1024, 1024, true, false}},
      {"gemm_1024_tb", {1024, 1024, 1024, false, true}},
      {"gemm_64x256x784", {64, 256, 784}},
      {"gemm_784x256x64_ta", {784, 256, 64, true, false}},
      {"gemm_64x784x256_tb", {64, 784, 256, false, true}},
      {"gemm_128x3072x768", {128, 3072, 768}},
      {"gemv_4096", {1, 4096, 4096}},
      {"gemv_4096_tb", {1, 4096, 4096, false, true}},
      {"gemm_4x4096x4096", {4, 4096, 4096}},
      {"gemm_8x4096x4096", {8, 4096, 4096}},
      {"gemm_16x4096x4096", {16, 4096, 4096}},
  };
  for (const auto& [name, product] : products) {
    const int64_t size = product.m * product.n * product.k;
    for (const int threads : {1, 2}) {
      // Code made for one product runs on one thread.
      const bool is_small = size <= kSmallProduct && threads == 1;
      add_row<float>(name, product, threads, is_small ? small : libraries);
    }
  }
  for (const int64_t size : {256, 1024}) {
    for (const int threads : {1, 2}) {
      add_row<double>(rp::str("gemm_f64_", size), {size, size, size}, threads, libraries);
    }
  }
  for (const Narrow factors : {Narrow::BF16, Narrow::I8}) {
    for (const int64_t size : {256, 1024}) {
      for (const int threads : {1, 2}) {
        factors == Narrow::BF16 ? add_narrow_row<uint16_t, uint16_t>(factors, size, threads)
                                : add_narrow_row<int8_t, int32_t>(factors, size, threads);
      }
    }
  }
  for (const int threads : {1, 2}) add_batched_row(32, {128, 64, 128}, threads, small);
  return run(argc, argv);
}
