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

TEST(Conv, IsTheFunctionWithItsParameters) {
  set_seed(4);
  const nn::Conv2d layer(4, 6, {3, 2}, {.stride = 2, .padding = 1, .groups = 2});
  EXPECT_EQ(layer.weight.shape(), (Shape{6, 2, 3, 2}));
  const Tensor x = randn({2, 4, 7, 8}).realize();
  const Tensor expected =
      conv2d(x, layer.weight, layer.bias, {.stride = 2, .padding = 1, .groups = 2});
  expect_tensor(layer(x), expected.shape(), expected.to_vector<float>());
  float most = 0;
  for (const float w : layer.weight.to_vector<float>()) most = std::max(most, std::abs(w));
  EXPECT_LE(most, 1 / std::sqrt(12.f));
  EXPECT_GT(most, 0.8f / std::sqrt(12.f));
  const nn::ConvTranspose2d back(6, 4, 3, {.stride = 2, .output_padding = 1}, nn::Bias::No);
  EXPECT_EQ(back.weight.shape(), (Shape{6, 4, 3, 3}));
  EXPECT_EQ(back(layer(x)).shape(), (Shape{2, 4, 10, 12}));
  EXPECT_EQ(nn::Conv1d(2, 3, 5)(zeros({1, 2, 9})).shape(), (Shape{1, 3, 5}));
  EXPECT_EQ(nn::Conv3d(2, 3, 2)(zeros({1, 2, 3, 3, 3})).shape(), (Shape{1, 3, 2, 2, 2}));
  expect_error<ShapeError>([] { return nn::Conv2d(4, 6, 3, {.groups = 4}).weight; }, {"6", "4"});
  expect_error<ShapeError>([] { return nn::Conv2d(4, 6, {3, 3, 3}).weight; }, {"3", "2"});
}

TEST(Pool, IsTheFunction) {
  const Tensor x = reshape(arange(16.f), {1, 1, 4, 4});
  expect_tensor(nn::MaxPool2d{2}(x), Shape{1, 1, 2, 2}, F{5, 7, 13, 15});
  expect_tensor(nn::AvgPool2d{2}(x), Shape{1, 1, 2, 2}, F{2.5, 4.5, 10.5, 12.5});
  EXPECT_EQ(nn::Flatten{}(x).shape(), (Shape{1, 16}));
  EXPECT_EQ(nn::Flatten{-2}(x).shape(), (Shape{1, 1, 16}));
  expect_error<IndexError>([&] { return nn::Flatten{4}(x); }, {"4"});
}

struct Normed : nn::Module {
  nn::BatchNorm norm{*this, "norm", 3};
  nn::Dropout drop{*this, "drop", 0.5};
  Tensor operator()(const Tensor& x) const { return drop(norm(x)); }
};

TEST(Mode, DecidesWhatBatchNormAndDropoutDo) {
  set_seed(2);
  Normed net;
  EXPECT_EQ(net.parameters().size(), 2u);
  std::vector<std::string> buffers;
  for (const auto& [name, tensor] : net.named_buffers()) buffers.push_back(name);
  EXPECT_EQ(buffers, (std::vector<std::string>{"norm.running_mean", "norm.running_variance"}));
  const Tensor x = (randn({64, 3}) * 2 + 1).realize();
  const F trained = net(x).to_vector<float>();
  const auto zeros_in = [](const F& values) {
    return std::count(values.begin(), values.end(), 0.f);
  };
  EXPECT_NEAR(double(zeros_in(trained)), 96, 40);
  const F running = net.norm.running_mean.to_vector<float>();
  EXPECT_NEAR(running[0], 0.1, 0.1);
  EXPECT_NE(running[0], 0);
  net.set_mode(nn::Mode::Infer);
  EXPECT_EQ(net.drop.mode(), nn::Mode::Infer);
  const Tensor expected = batch_norm(x, net.norm.running_mean, net.norm.running_variance,
                                     net.norm.weight, net.norm.bias);
  expect_tensor(net(x), expected.shape(), expected.to_vector<float>());
  EXPECT_EQ(net.norm.running_mean.to_vector<float>(), running);
}

TEST(Layers, EmbedAndNormalize) {
  const nn::Embedding table(5, 3);
  expect_tensor(table(Tensor::of({4, 0})), Shape{2, 3},
                gather(table.weight, Tensor::of({4, 0})).to_vector<float>());
  const nn::LayerNorm norm(3);
  const Tensor x = randn({4, 3}).realize();
  expect_tensor(norm(x), Shape{4, 3}, layer_norm(x, -1, norm.weight, norm.bias).to_vector<float>());
}

/// Whether a bar in a small image stands or lies.
TEST(Training, AConvolutionalNetworkLearns) {
  set_seed(1);
  const Tensor y = randint({64}, 0, 2).realize();
  const Tensor at = randint({64, 1}, 0, 6).realize();
  const Tensor bar = one_hot(reshape(at, {64}), 6);
  const Tensor stands = broadcast_to(unsqueeze(bar, 1), Shape{64, 6, 6});
  const Tensor lies = broadcast_to(unsqueeze(bar, 2), Shape{64, 6, 6});
  const Tensor x =
      unsqueeze(where(reshape(y, {64, 1, 1}) == 1, stands, lies) + randn({64, 6, 6}) * 0.3f, 1)
          .realize();
  struct Small : nn::Module {
    nn::Conv2d conv{*this, "conv", 1, 4, 3};
    nn::BatchNorm norm{*this, "norm", 4};
    nn::Linear fc{*this, "fc", 16, 2};
    Tensor operator()(const Tensor& in) const {
      return fc(nn::Flatten{}(nn::MaxPool2d{2}(relu(norm(conv(in))))));
    }
  } net;
  const std::vector<Tensor> parameters = net.parameters();
  EXPECT_EQ(parameters.size(), 6u);
  optim::Adam optimizer(parameters, {.lr = 2e-2});
  float loss_value = 0;
  for (int i = 0; i < 80; ++i) {
    const Tape tape;
    const Tensor loss = cross_entropy(net(x), y);
    optimizer.step(tape.gradient(loss, parameters));
    tape.realize(loss);
    loss_value = loss.item<float>();
  }
  EXPECT_LT(loss_value, 0.1f);
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
