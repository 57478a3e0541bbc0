// Elementwise chains, reductions and row kernels beside loops written by hand for this machine.
#include <memory>

#include "frontend/reprise.h"
#include "hand_loops.h"
#include "rows.h"

namespace {

namespace rp = reprise;
using namespace rp::bench;

using Function = std::function<rp::Tensor(const std::vector<rp::Tensor>&)>;
using Hand = std::function<void(const std::vector<const float*>&, float* y, int threads)>;

/// `function` of inputs of one shape, frozen, on 1 and 2 threads; `hand` writes as many elements.
/// PyTorch knows it by the name too.
void add_rows(const std::string& name, const rp::Shape& shape, int inputs, const Function& function,
              const Hand& hand, double tolerance = 1e-5) {
  std::string extents, size;
  for (const int64_t extent : shape) {
    extents += rp::str(' ', extent);
    size += rp::str(size.empty() ? "_" : "x", extent);
  }
  if (shape.rank() == 1) size = rp::str('_', shape[0] >> 20, 'M');
  std::vector<rp::Tensor> tensors;
  std::vector<const float*> addresses;
  for (int i = 0; i < inputs; ++i) {
    tensors.push_back(rp::Tensor::of(numbers(shape.numel(), i), shape));
    const auto [storage, layout] = rp::Runtime::get().storage(tensors.back().id());
    addresses.push_back(static_cast<const float*>(storage->data()));
  }
  rp::Frozen kernel;
  int64_t count = 0;
  {
    const rp::Tape tape;
    const rp::Tensor y = function(tensors);
    count = y.numel();
    kernel = tape.freeze(tensors, std::vector{y});
  }
  for (const int threads : {1, 2}) {
    const auto mine = std::make_shared<rp::Tensor>();
    const auto theirs = std::make_shared<std::vector<float>>(count);
    const auto check = [=](const std::vector<float>& expected) {
      return difference(mine->to_vector<float>(), expected, tolerance);
    };
    add({.name = rp::str(name, size, '_', threads, 't'),
         .ours =
             [=] {
               rp::set_num_threads(threads);
               *mine = kernel.replay(tensors)[0];
             },
         .peers = {{"hand", [=] { hand(addresses, theirs->data(), threads); },
                    [=] { return check(*theirs); }}},
         .python = {{.work = rp::str("rows ", name, extents), .check = check}},
         .threads = threads,
         .bytes = static_cast<double>(inputs * shape.numel() + count) * sizeof(float)});
  }
}

void add_elementwise() {
  const rp::Shape shape{16 << 20};
  const int64_t n = shape.numel();
  add_rows(
      "relu_tanh_scale", shape, 1, [](const auto& x) { return rp::tanh(rp::relu(x[0])) * 2 + 1; },
      [n](const auto& x, float* y, int t) { hand_scaled_tanh(x[0], y, n, t); });
  add_rows(
      "gelu", shape, 1,
      [](const auto& x) {
        return 0.5 * x[0] * (1 + rp::tanh(0.79788456 * (x[0] + 0.044715 * x[0] * x[0] * x[0])));
      },
      [n](const auto& x, float* y, int t) { hand_gelu(x[0], y, n, t); });
  add_rows(
      "exp", shape, 1, [](const auto& x) { return rp::exp(x[0]); },
      [n](const auto& x, float* y, int t) { hand_exp(x[0], y, n, t); });
  add_rows(
      "two_products", shape, 4, [](const auto& x) { return x[0] * x[1] + x[2] * x[3]; },
      [n](const auto& x, float* y, int t) { hand_two_products(x[0], x[1], x[2], x[3], y, n, t); });
  add_rows(
      "sum_of_squares", shape, 1, [](const auto& x) { return rp::sum(x[0] * x[0]); },
      [n](const auto& x, float* y, int t) { *y = hand_sum_of_squares(x[0], n, t); }, 1e-2);
}

void add_row_kernels() {
  const rp::Shape square{4096, 4096}, wide{4096, 1024};
  add_rows(
      "softmax", square, 1, [](const auto& x) { return rp::softmax(x[0]); },
      [](const auto& x, float* y, int t) { hand_softmax(x[0], y, 4096, 4096, t); });
  add_rows(
      "logsumexp", square, 1, [](const auto& x) { return rp::logsumexp(x[0], 1); },
      [](const auto& x, float* y, int t) { hand_logsumexp(x[0], y, 4096, 4096, t); });
  add_rows(
      "layer_norm", wide, 1, [](const auto& x) { return rp::layer_norm(x[0]); },
      [](const auto& x, float* y, int t) { hand_layer_norm(x[0], y, 4096, 1024, t); });
}

}  // namespace

int main(int argc, char** argv) {
  add_elementwise();
  add_row_kernels();
  return run(argc, argv);
}
