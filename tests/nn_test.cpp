// Modules: names, initial values, the linear layer; and a small network that learns.
#include "expect_tensor.h"

namespace reprise {
namespace {

using F = std::vector<float>;

struct Mlp : nn::Module {
  nn::Linear fc1{*this, "fc1", 4, 16};
  nn::Linear fc2{*this, "fc2", 16, 3};
  Tensor operator()(const Tensor& x) const { return fc2(relu(fc1(x))); }
};

TEST(Module, NamesItsParameters) {
  const Mlp net;
  std::vector<std::string> names;
  for (const auto& [name, tensor] : net.named_parameters()) {
    names.push_back(str(name, " ", tensor.type()));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"fc1.weight f32[4,16]", "fc1.bias f32[16]",
                                             "fc2.weight f32[16,3]", "fc2.bias f32[3]"}));
  EXPECT_EQ(net.parameters().size(), 4u);
}

TEST(Module, HandsOutItsOwnBindings) {
  const nn::Linear layer(1, 1);
  layer.parameters()[0].assign_(full({1, 1}, 3.f));
  layer.parameters()[1].assign_(full({1}, 1.f));
  expect_values(layer(Tensor::of({2.f})), F{7});
}

TEST(Module, RefusesNamesThatDoNotIdentify) {
  struct Bad : nn::Module {
    explicit Bad(std::string_view second) : b(*this, second, 1, 1) {}
    nn::Linear a{*this, "a", 1, 1};
    nn::Linear b;
  };
  expect_error<Error>(
      [] {
        Bad bad("a");
        return 0;
      },
      {"\"a\"", "already"});
  expect_error<Error>(
      [] {
        Bad bad("a.b");
        return 0;
      },
      {"\"a.b\"", "dot"});
  expect_error<Error>(
      [] {
        Bad bad("");
        return 0;
      },
      {"empty"});
}

TEST(Linear, StartsFromTheSeed) {
  set_seed(3);
  const nn::Linear a(100, 50);
  set_seed(3);
  const nn::Linear b(100, 50);
  const F weight = a.weight.to_vector<float>();
  EXPECT_EQ(weight, b.weight.to_vector<float>());
  float least = 0, most = 0;
  for (const float w : weight) {
    least = std::min(least, w);
    most = std::max(most, w);
  }
  EXPECT_GE(least, -0.1f);
  EXPECT_LE(most, 0.1f);
  EXPECT_LT(least, -0.095f);
  EXPECT_GT(most, 0.095f);
}

TEST(Linear, ActsOnTheLastAxis) {
  const nn::Linear layer(3, 2, nn::Bias::No);
  EXPECT_TRUE(layer.bias.empty_handle());
  EXPECT_EQ(layer.parameters().size(), 1u);
  EXPECT_EQ(layer(zeros({5, 4, 3})).shape(), (Shape{5, 4, 2}));
  EXPECT_EQ(layer(zeros({3})).shape(), (Shape{2}));
  expect_error<ShapeError>([&] { return layer(zeros({5, 4})); }, {"4", "3"});
}

/// Points around three centres, labelled by the nearest.
struct Problem {
  Tensor x;
  Tensor y;
};
Problem blobs(int64_t rows) {
  const Tensor y = randint({rows}, 0, 3);
  const Tensor centres = one_hot(y, 4) * 3;
  return {(centres + randn({rows, 4}) * 0.5f).realize(), y.value().realize()};
}

/// Losses of a short training from a seed.
F train(uint64_t seed, int steps) {
  set_seed(seed);
  const Problem problem = blobs(128);
  const Mlp net;
  const std::vector<Tensor> parameters = net.parameters();
  optim::Adam optimizer(parameters, {.lr = 1e-2});
  F losses;
  for (int i = 0; i < steps; ++i) {
    const Tape tape;
    const Tensor loss = cross_entropy(net(problem.x), problem.y);
    optimizer.step(tape.gradient(loss, parameters));
    tape.realize(loss);
    losses.push_back(loss.item<float>());
  }
  return losses;
}

TEST(Training, TheLossFalls) {
  const F losses = train(0, 200);
  EXPECT_GT(losses.front(), 0.8f);
  EXPECT_LT(losses.back(), 0.15f);
}

TEST(Training, TheBitsRepeat) {
  const F once = train(5, 30);
  EXPECT_EQ(train(5, 30), once);
  EXPECT_NE(train(6, 30), once);
  const int threads = num_threads();
  for (const int count : {1, 2, 3}) {
    set_num_threads(count);
    EXPECT_EQ(train(5, 30), once) << count << " threads";
  }
  set_num_threads(threads);
}

TEST(Training, CompilesOnlyAtTheStart) {
  set_seed(1);
  const Problem problem = blobs(64);
  const Mlp net;
  const std::vector<Tensor> parameters = net.parameters();
  optim::AdamW optimizer(parameters, {.lr = 1e-2, .weight_decay = 1e-2});
  const optim::CosineSchedule schedule{.peak = 1e-2, .total = 100};
  Stats settled;
  for (int i = 0; i < 100; ++i) {
    optimizer.set_lr(schedule(i));
    {
      const Tape tape;
      const Tensor loss = cross_entropy(net(problem.x), problem.y);
      optimizer.step(tape.gradient(loss, parameters));
      tape.realize(loss);
    }
    if (i == 2) settled = Runtime::get().stats();
  }
  const Stats now = Runtime::get().stats();
  EXPECT_EQ(now.kernels_compiled, settled.kernels_compiled);
  EXPECT_EQ(now.plans_compiled, settled.plans_compiled);
  EXPECT_EQ(now.live_nodes, settled.live_nodes);
  EXPECT_EQ(now.live_bytes, settled.live_bytes);
}

}  // namespace
}  // namespace reprise
