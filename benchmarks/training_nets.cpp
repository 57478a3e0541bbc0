#include "training_nets.h"

#include <cmath>

#include "rows.h"

namespace reprise::bench {

using Layer = std::function<Tensor(const Tensor&)>;

/// Parameters in the order in which they are asked for.
class Training::Net : public nn::Module {
 public:
  explicit Net(const std::string& name) {
    if (name == "mlp") {
      make_mlp();
    } else if (name == "lenet") {
      make_lenet();
    } else if (name == "cnn") {
      make_cnn();
    } else if (name == "gpt") {
      make_gpt();
    } else {
      throw Error(str("no network is called ", name));
    }
  }
  [[nodiscard]] Tensor loss() const { return loss_(); }

 private:
  static constexpr int64_t kBatch = 64;

  Tensor add(Tensor value) { return parameter(str('p', count_++), std::move(value)); }
  /// Uniform between +-1/sqrt(fan_in); the count of parameters chooses the numbers.
  Tensor drawn(const Shape& shape, int64_t fan_in) {
    std::vector<float> values = numbers(shape.numel(), count_ + 1);
    const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(fan_in)));
    for (float& value : values) value *= scale;
    return add(Tensor::of(values, shape));
  }
  Layer linear(int64_t inputs, int64_t outputs) {
    const Tensor weight = drawn({inputs, outputs}, inputs), bias = add(zeros({outputs}));
    return [=](const Tensor& x) { return matmul(x, weight) + bias; };
  }
  Layer convolution(int64_t inputs, int64_t outputs, int64_t kernel, int64_t padding) {
    const Tensor weight = drawn({outputs, inputs, kernel, kernel}, inputs * kernel * kernel);
    const Tensor bias = add(zeros({outputs}));
    return [=](const Tensor& x) { return conv2d(x, weight, bias, {.padding = padding}); };
  }
  Layer norm(int64_t width) {
    const Tensor weight = add(ones({width})), bias = add(zeros({width}));
    return [=](const Tensor& x) { return layer_norm(x, -1, weight, bias); };
  }
  static Tensor images(const Shape& shape) {
    return Tensor::of(numbers(shape.numel(), 1000), shape);
  }
  static Tensor classes() {
    std::vector<int64_t> labels(kBatch);
    for (int64_t i = 0; i < kBatch; ++i) labels[i] = i % 10;
    return Tensor::of(labels);
  }

  /// 784-256-128-10.
  void make_mlp() {
    const Layer first = linear(784, 256), second = linear(256, 128), third = linear(128, 10);
    loss_ = [=, x = images({kBatch, 784}), y = classes()] {
      return cross_entropy(third(relu(second(relu(first(x))))), y);
    };
  }

  /// 28x28 images; 6 and 16 channels, both 5x5; then 400-120-84-10.
  void make_lenet() {
    const Layer one = convolution(1, 6, 5, 2), two = convolution(6, 16, 5, 0);
    const Layer first = linear(400, 120), second = linear(120, 84), third = linear(84, 10);
    loss_ = [=, x = images({kBatch, 1, 28, 28}), y = classes()] {
      Tensor h = max_pool2d(relu(one(x)), 2);
      h = max_pool2d(relu(two(h)), 2).reshape({kBatch, 400});
      return cross_entropy(third(relu(second(relu(first(h))))), y);
    };
  }

  /// 32x32 images; 32 and 64 channels, both 3x3; then 4096-10.
  void make_cnn() {
    const Layer one = convolution(3, 32, 3, 1), two = convolution(32, 64, 3, 1);
    const Layer last = linear(64 * 8 * 8, 10);
    loss_ = [=, x = images({kBatch, 3, 32, 32}), y = classes()] {
      Tensor h = max_pool2d(relu(one(x)), 2);
      h = max_pool2d(relu(two(h)), 2).reshape({kBatch, 64 * 8 * 8});
      return cross_entropy(last(h), y);
    };
  }

  static constexpr int64_t kLayers = 4, kWidth = 256, kHeads = 4, kTokens = 128, kTexts = 8;
  static constexpr int64_t kWords = 512;

  /// Norms before, causal attention, a gelu of four times the width.
  Layer block() {
    const Layer norm1 = norm(kWidth), norm2 = norm(kWidth);
    const Layer inner = linear(kWidth, 3 * kWidth), outer = linear(kWidth, kWidth);
    const Layer up = linear(kWidth, 4 * kWidth), down = linear(4 * kWidth, kWidth);
    return [=](const Tensor& x) {
      const Tensor parts = inner(norm1(x))
                               .reshape({kTexts, kTokens, 3, kHeads, kWidth / kHeads})
                               .permute({2, 0, 3, 1, 4});
      const Tensor mixed =
          scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, Causal::Yes);
      const Tensor seen = x + outer(mixed.permute({0, 2, 1, 3}).reshape({kTexts, kTokens, kWidth}));
      return seen + down(gelu(up(norm2(seen)), Gelu::Tanh));
    };
  }

  void make_gpt() {
    const Tensor words = drawn({kWords, kWidth}, kWidth), places = drawn({kTokens, kWidth}, kWidth);
    std::vector<Layer> blocks;
    for (int64_t i = 0; i < kLayers; ++i) blocks.push_back(block());
    const Layer last_norm = norm(kWidth), head = linear(kWidth, kWords);
    constexpr int64_t kLength = kTexts * kTokens;
    std::vector<int64_t> text(kLength + 1);
    for (int64_t i = 0; i <= kLength; ++i) text[i] = i * 7919 % 509 % kWords;
    const Tensor x = Tensor::of(std::vector(text.begin(), text.end() - 1), {kTexts, kTokens});
    const Tensor y = Tensor::of(std::vector(text.begin() + 1, text.end()), {kLength});
    loss_ = [=] {
      Tensor h = embedding(x, words) + places;
      for (const Layer& run : blocks) h = run(h);
      return cross_entropy(head(last_norm(h)).reshape({kLength, kWords}), y);
    };
  }

  std::function<Tensor()> loss_;
  int64_t count_ = 0;
};

Training::Training(const std::string& net, const std::string& optimizer)
    : net_(std::make_shared<Net>(net)), parameters_(net_->parameters()) {
  if (optimizer == "sgd") {
    optimizer_ = std::make_unique<optim::Sgd>(parameters_, optim::SgdOptions{.lr = 1e-2});
  } else if (optimizer == "adam") {
    optimizer_ = std::make_unique<optim::Adam>(parameters_, optim::AdamOptions{.lr = 1e-3});
  } else if (optimizer == "adamw") {
    optimizer_ = std::make_unique<optim::AdamW>(
        parameters_, optim::AdamOptions{.lr = 1e-3, .weight_decay = 1e-2});
  } else {
    throw Error(str("no optimizer is called ", optimizer));
  }
}

float Training::step() {
  const Tape tape;
  const Tensor loss = net_->loss();
  optimizer_->step(tape.gradient(loss, parameters_));
  tape.realize(loss);
  return loss.item<float>();
}

}  // namespace reprise::bench
