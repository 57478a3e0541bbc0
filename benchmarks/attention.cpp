// Attention, forward and with its gradients, beside the matrix products that it is made of alone.
#include <functional>
#include <memory>
#include <vector>

#include "frontend/reprise.h"
#include "rows.h"

namespace {

namespace rp = reprise;
using rp::bench::numbers;

struct Heads {
  int64_t batch, heads, tokens, width;
};

rp::Tensor filled(const rp::Shape& shape, uint32_t seed) {
  return rp::Tensor::of(numbers(shape.numel(), seed), shape);
}

/// A frozen program of its inputs, as work on some threads.
rp::bench::Work replay(rp::Frozen program, std::vector<rp::Tensor> inputs, int threads) {
  const auto results = std::make_shared<std::vector<rp::Tensor>>();
  return [=] {
    rp::set_num_threads(threads);
    *results = program.replay(inputs);
  };
}

void add_row(const Heads& s, rp::Causal causal, int threads) {
  const rp::Shape shape{s.batch, s.heads, s.tokens, s.width};
  const rp::Tensor q = filled(shape, 1), k = filled(shape, 2), v = filled(shape, 3);
  const rp::Tensor cotangent = filled(shape, 4);
  const std::string name = rp::str(s.batch, 'x', s.heads, 'x', s.tokens, 'x', s.width,
                                   causal == rp::Causal::Yes ? "_causal_" : "_", threads, 't');
  rp::Frozen forward, step, two, six;
  {
    const rp::Tape tape;
    const rp::Tensor mixed = rp::scaled_dot_product_attention(q, k, v, {}, causal);
    forward = tape.freeze({q, k, v}, {mixed});
  }
  {
    const rp::Tape tape;
    const rp::Tensor mixed = rp::scaled_dot_product_attention(q, k, v, {}, causal);
    const std::vector<rp::Tensor> back = tape.gradient(mixed, {q, k, v}, cotangent);
    step = tape.freeze({q, k, v, cotangent}, {mixed, back[0], back[1], back[2]});
  }
  // The products alone: each reads and writes memory, and there is nothing between them.
  const rp::Tensor weights = filled({s.batch, s.heads, s.tokens, s.tokens}, 5);
  {
    const rp::Tape tape;
    two = tape.freeze({q, k, v, weights}, {rp::matmul(q, k.transpose()), rp::matmul(weights, v)});
  }
  {
    const rp::Tape tape;
    six = tape.freeze(
        {q, k, v, cotangent, weights},
        {rp::matmul(q, k.transpose()), rp::matmul(weights, v), rp::matmul(cotangent, v.transpose()),
         rp::matmul(weights, k), rp::matmul(weights.transpose(), q),
         rp::matmul(weights.transpose(), cotangent)});
  }
  rp::bench::add({.name = "attention_" + name,
                  .ours = replay(forward, {q, k, v}, threads),
                  .peers = {{"two_products", replay(two, {q, k, v, weights}, threads),
                             [] { return std::string(); }}}});
  rp::bench::add({.name = "attention_step_" + name,
                  .ours = replay(step, {q, k, v, cotangent}, threads),
                  .peers = {{"six_products", replay(six, {q, k, v, cotangent, weights}, threads),
                             [] { return std::string(); }}}});
}

}  // namespace

int main(int argc, char** argv) {
  const Heads shapes[] = {{8, 4, 128, 64}, {4, 8, 512, 64}, {1, 8, 2048, 64}, {1, 1, 4096, 64}};
  for (const Heads& shape : shapes) {
    for (const rp::Causal causal : {rp::Causal::No, rp::Causal::Yes}) {
      for (const int threads : {1, 2}) add_row(shape, causal, threads);
    }
  }
  return rp::bench::run(argc, argv);
}
