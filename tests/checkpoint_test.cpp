// Checkpoints: the bits of a gradient without them, and less memory between.
#include "frontend/checkpoint.h"

#include <cmath>

#include "compiler/pipeline.h"
#include "expect_tensor.h"
#include "runtime/cpu/target.h"

namespace reprise {
namespace {

using F = std::vector<float>;

enum class Keep : uint8_t { All, Checkpoints };

/// function(x), checkpointed or not.
template <class Function, std::same_as<Tensor>... Inputs>
auto call(Keep keep, const Function& function, const Inputs&... inputs) {
  return keep == Keep::All ? function(inputs...) : checkpoint(function, inputs...);
}

std::vector<F> values_of(std::span<const Tensor> tensors) {
  realize(tensors);
  std::vector<F> values;
  for (const Tensor& tensor : tensors) values.push_back(tensor.to_vector<float>());
  return values;
}

/// What the two ways compute, which are the same bits.
template <class Function>
void expect_same(const Function& run) {
  const std::vector<F> all = run(Keep::All);
  EXPECT_EQ(run(Keep::Checkpoints), all);
  for (const F& values : all) {
    for (const float value : values) EXPECT_TRUE(std::isfinite(value));
  }
}

/// Blocks of three layers with everything that tends to be kept for a gradient.
struct DeepMlp {
  explicit DeepMlp(int blocks, int64_t width) {
    set_seed(7);
    for (int i = 0; i < 3 * blocks; ++i) {
      weights.push_back((randn({width, width}) * (1 / std::sqrt(double(width)))).realize());
    }
  }
  Tensor operator()(Tensor x, Keep keep) const {
    for (size_t i = 0; i < weights.size(); i += 3) {
      x = call(
          keep,
          [&](const Tensor& in) {
            const Tensor a = gelu(matmul(in, weights[i]));
            const Tensor b = gelu(matmul(a, weights[i + 1]));
            return in + gelu(matmul(b, weights[i + 2]));
          },
          x);
    }
    return x;
  }
  std::vector<Tensor> weights;
};

TEST(Checkpoint, ADeepNetworkHasTheSameGradients) {
  expect_same([](Keep keep) {
    const DeepMlp net(4, 24);
    const Tensor x = randn({10, 24}).realize();
    const Tape tape;
    const Tensor loss = mean(square(net(x, keep)));
    std::vector<Tensor> results = tape.gradient(loss, net.weights);
    results.push_back(tape.gradient(loss, x));
    results.push_back(loss);
    return values_of(results);
  });
}

/// Of the plan that computes a training step's gradients.
ArenaUse arena_of(Keep keep, int blocks, int64_t rows, int64_t width) {
  const DeepMlp net(blocks, width);
  const Tensor x = randn({rows, width}).realize();
  const Tape tape;
  const Tensor loss = mean(square(net(x, keep)));
  std::vector<Tensor> results = tape.gradient(loss, net.weights);
  std::vector<TensorId> ids;
  for (const Tensor& result : results) ids.push_back(result.id());
  const Graph graph = parse_graph(Runtime::get().dump_graph(ids));
  return arena_use(compile(graph, cpu_target(), {}).plan);
}

TEST(Checkpoint, LessIsKept) {
  // Of each block the input remains rather than six values of its size, and one block is alive.
  const int64_t value = 512 * 64 * sizeof(float);
  const int64_t all = arena_of(Keep::All, 8, 512, 64).arena;
  const int64_t some = arena_of(Keep::Checkpoints, 8, 512, 64).arena;
  RecordProperty("kept", std::to_string(all / value));
  RecordProperty("checkpointed", std::to_string(some / value));
  EXPECT_GE(all, 8 * 3 * value);
  EXPECT_LE(some, (8 + 12) * value);
  // Another block costs its input alone.
  EXPECT_LE(arena_of(Keep::Checkpoints, 16, 512, 64).arena, some + 9 * value);
}

TEST(Checkpoint, RandomNumbersAreTheSame) {
  expect_same([](Keep keep) {
    set_seed(3);
    const Tensor x = randn({40, 30}).realize();
    const Tape tape;
    const auto noisy = [](const Tensor& in) { return exp(dropout(in, 0.5) * rand({40, 30})); };
    const Tensor y = call(keep, noisy, x);
    return values_of({{y, tape.gradient(sum(y), x), rand({5})}});
  });
}

TEST(Checkpoint, Nests) {
  expect_same([](Keep keep) {
    set_seed(5);
    const Tensor x = randn({6, 8}).realize(), w = randn({8, 8}).realize();
    const Tape tape;
    const Tensor y = call(
        keep,
        [&](const Tensor& in) {
          const Tensor h = tanh(matmul(in, w));
          const Tensor inner = call(
              keep, [&](const Tensor& a) { return sin(exp(a) + matmul(a, w)); }, h);
          return sigmoid(inner * h);
        },
        x);
    const Tensor loss = sum(y * y);
    return values_of(tape.gradient(loss, {x, w}));
  });
}

TEST(Checkpoint, SeveralInputsAndResults) {
  expect_same([](Keep keep) {
    set_seed(6);
    const Tensor a = randn({7}).realize(), b = randn({7}).realize();
    const Tensor index = Tensor::of({0, 2, 4, 6, 1, 3, 5});  // needs no gradient, and has none
    const Tape tape;
    const auto function = [](const Tensor& x, const Tensor& y, const Tensor& i) {
      const Tensor shared = exp(x) * y;
      return std::vector<Tensor>{tanh(shared), take(shared, i) + x, y};
    };
    const std::vector<Tensor> ys = call(keep, function, a, b, index);
    const Tensor loss = sum(ys[0] * ys[1]) + sum(ys[2] * ys[0]) + sum(a);
    std::vector<Tensor> results = tape.gradient(loss, {a, b});
    for (const Tensor& y : ys) results.push_back(y);
    return values_of(results);
  });
}

/// They add up in another order: what was computed first and what was computed anew are two values.
TEST(Checkpoint, SecondDerivatives) {
  const auto run = [](Keep keep) {
    set_seed(8);
    const Tensor x = cast(randn({9}), DType::F64).realize();
    const Tape tape;
    const Tensor y = call(
        keep, [](const Tensor& in) { return sin(exp(in)) * in; }, x);
    const Tensor first = tape.gradient(sum(y * y), x);
    const Tensor second = tape.gradient(sum(first * first), x);
    tape.realize(first, second);
    return std::pair(first.to_vector<double>(), second.to_vector<double>());
  };
  const auto all = run(Keep::All), some = run(Keep::Checkpoints);
  EXPECT_EQ(some.first, all.first);
  for (size_t i = 0; i < 9; ++i) EXPECT_NEAR(some.second[i], all.second[i], 1e-12) << i;
}

TEST(Checkpoint, AFrozenStepDrawsAnew) {
  const Tensor x = full({64}, 1.f).realize();
  std::vector<F> runs[2];
  for (const Keep keep : {Keep::All, Keep::Checkpoints}) {
    set_seed(11);
    std::optional<Frozen> frozen;
    {
      const Tape tape;
      const Tensor y = call(
          keep, [](const Tensor& in) { return exp(dropout(in, 0.5)); }, x);
      frozen = tape.freeze({x}, {y, tape.gradient(sum(y), x)});
    }
    for (int i = 0; i < 3; ++i) {
      for (const Tensor& result : frozen->replay({x})) {
        runs[keep == Keep::All ? 0 : 1].push_back(result.to_vector<float>());
      }
    }
  }
  EXPECT_EQ(runs[1], runs[0]);
  EXPECT_NE(runs[0][0], runs[0][2]);
}

TEST(Checkpoint, OutsideOfATapeItIsACall) {
  const Tensor x = Tensor::of({1.f, 4.f});
  expect_values(checkpoint([](const Tensor& in) { return sqrt(in); }, x), F{1, 2});
}

TEST(Checkpoint, WhatWasThereBeforeIsGivenBack) {
  const Tensor x = Tensor::of({1.f, 4.f});
  const Tape tape;
  const Tensor y = checkpoint([](const Tensor& in) { return in; }, x);
  expect_values(tape.gradient(sum(y * y), x), F{2, 8});
}

}  // namespace
}  // namespace reprise
