// Convolution, its transpose and windows: values by hand, a loop as reference, gradients, launches,
// errors.
#include <cmath>
#include <functional>

#include "compiler/pipeline.h"
#include "expect_tensor.h"
#include "ir/builder.h"
#include "ir/target.h"
#include "plan_runner.h"

namespace reprise {
namespace {

using I = std::vector<int64_t>;
using F = std::vector<float>;
using D = std::vector<double>;

Tensor counted(const Shape& shape, DType dtype = DType::F32) {
  return cast(reshape(arange(shape.numel()), std::span<const int64_t>(shape.begin(), shape.end())),
              dtype);
}

uint64_t launches(const std::function<void()>& work) {
  const uint64_t before = Runtime::get().stats().launches;
  work();
  return Runtime::get().stats().launches - before;
}

/// Central differences of sum(f(x) * weights of its own) against the recorded gradient.
void expect_gradient(const std::function<Tensor(const Tensor&)>& f, const Shape& shape) {
  D values;
  for (int64_t i = 0; i < shape.numel(); ++i)
    values.push_back(std::sin(1.7 * static_cast<double>(i)));
  const auto loss = [&](const Tensor& x) {
    const Tensor y = f(x);
    return sum(y * sin(counted(y.shape(), DType::F64) + 1.0));
  };
  D gradient;
  {
    const Tensor x = Tensor::of(values, shape);
    const Tape tape;
    gradient = tape.gradient(loss(x), x).to_vector<double>();
  }
  const int64_t step = std::max<int64_t>(1, shape.numel() / 13);
  for (int64_t i = 0; i < shape.numel(); i += step) {
    D up = values, down = values;
    constexpr double kStep = 1e-4;
    up[static_cast<size_t>(i)] += kStep;
    down[static_cast<size_t>(i)] -= kStep;
    const double slope = (loss(Tensor::of(up, shape)).item<double>() -
                          loss(Tensor::of(down, shape)).item<double>()) /
                         (2 * kStep);
    EXPECT_NEAR(gradient[static_cast<size_t>(i)], slope, 1e-6 * (1 + std::abs(slope))) << i;
  }
}

TEST(Convolution, OfAVector) {
  const Tensor x = reshape(Tensor::of({1.f, 2.f, 4.f, 8.f}), {1, 1, 4});
  const Tensor w = reshape(Tensor::of({1.f, 10.f}), {1, 1, 2});
  expect_tensor(conv1d(x, w), {1, 1, 3}, F{21, 42, 84});
  expect_tensor(conv1d(x, w, {}, {.stride = 2}), {1, 1, 2}, F{21, 84});
  expect_tensor(conv1d(x, w, {}, {.dilation = 2}), {1, 1, 2}, F{41, 82});
  expect_tensor(conv1d(x, w, {}, {.padding = 1}), {1, 1, 5}, F{10, 21, 42, 84, 8});
  // The odd zero lies behind.
  expect_tensor(conv1d(x, w, {}, {.padding = ConvPadding::Rule::Same}), {1, 1, 4},
                F{21, 42, 84, 8});
  expect_tensor(conv1d(x, w, {}, {.padding = ConvPadding::Rule::Valid}), {1, 1, 3}, F{21, 42, 84});
  expect_tensor(conv1d(x, w, Tensor::of({0.5f})), {1, 1, 3}, F{21.5f, 42.5f, 84.5f});
  // Without an axis of images.
  expect_tensor(conv1d(squeeze(x, 0), w), {1, 3}, F{21, 42, 84});
  expect_tensor(conv1d(cast(x, DType::I32), cast(w, DType::I32)), {1, 1, 3},
                std::vector<int32_t>{21, 42, 84});
}

TEST(Convolution, InGroups) {
  const Tensor x = counted({1, 4, 1, 2}), w = Tensor::of({1.f, 2.f, 3.f, 4.f}, {2, 2, 1, 1});
  expect_tensor(conv2d(x, w, {}, {.groups = 2}), {1, 2, 1, 2}, F{4, 7, 36, 43});
  const Tensor depthwise =
      conv2d(counted({1, 4, 2, 2}), Tensor::of({1.f, 10.f, 100.f, 1000.f}, {4, 1, 1, 1}), {},
             {.groups = 4});
  expect_tensor(sum(depthwise, {0, 2, 3}), {4}, F{6, 220, 3800, 54000});
}

struct Case {
  Shape x, w;
  I stride, padding, dilation;
  int64_t groups = 1;
};
const Case kCases[] = {
    {{2, 3, 7, 9}, {4, 3, 3, 2}, {1, 1}, {0, 0}, {1, 1}},
    {{1, 2, 8, 8}, {3, 2, 3, 3}, {2, 1}, {1, 2}, {1, 2}},
    {{2, 6, 5, 17}, {4, 3, 2, 3}, {1, 2}, {1, 1}, {2, 1}, 2},
    {{1, 5, 6, 30}, {10, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 5},
    {{3, 4, 28, 28}, {33, 4, 3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {{2, 8, 1, 1}, {5, 8, 1, 1}, {1, 1}, {0, 0}, {1, 1}},
    {{2, 70, 6, 13}, {40, 70, 3, 3}, {2, 2}, {1, 1}, {1, 1}},
};

/// Small whole numbers, so that sums are exact in any order.
Tensor whole(const Shape& shape, DType dtype = DType::F32) {
  return cast(remainder(reshape(arange(shape.numel()) * 7,
                                std::span<const int64_t>(shape.begin(), shape.end())),
                        11) -
                  5,
              dtype);
}

F loop(const Case& c, const F& x, const F& w, const Shape& result) {
  F y(static_cast<size_t>(result.numel()));
  size_t at = 0;
  const int64_t members = c.x[1] / c.groups, outputs = c.w[0] / c.groups;
  for (int64_t n = 0; n < result[0]; ++n) {
    for (int64_t o = 0; o < result[1]; ++o) {
      for (int64_t i = 0; i < result[2]; ++i) {
        for (int64_t j = 0; j < result[3]; ++j, ++at) {
          for (int64_t m = 0; m < members; ++m) {
            for (int64_t k = 0; k < c.w[2]; ++k) {
              for (int64_t l = 0; l < c.w[3]; ++l) {
                const int64_t channel = o / outputs * members + m;
                const int64_t row = i * c.stride[0] + k * c.dilation[0] - c.padding[0];
                const int64_t column = j * c.stride[1] + l * c.dilation[1] - c.padding[1];
                if (row < 0 || row >= c.x[2] || column < 0 || column >= c.x[3]) continue;
                y[at] += x[static_cast<size_t>(((n * c.x[1] + channel) * c.x[2] + row) * c.x[3] +
                                               column)] *
                         w[static_cast<size_t>(((o * members + m) * c.w[2] + k) * c.w[3] + l)];
              }
            }
          }
        }
      }
    }
  }
  return y;
}

ConvOptions options(const Case& c) {
  return {.stride = c.stride,
          .padding = PerAxis(c.padding),
          .dilation = c.dilation,
          .groups = c.groups};
}

TEST(Convolution, IsTheLoop) {
  for (const Case& c : kCases) {
    const Tensor x = whole(c.x), w = whole(c.w);
    const Tensor y = conv2d(x, w, {}, options(c));
    expect_tensor(y, y.shape(), loop(c, x.to_vector<float>(), w.to_vector<float>(), y.shape()));
  }
}

TEST(Convolution, TransposedIsTheTranspose) {
  const Tensor x = reshape(Tensor::of({1.f, 2.f}), {1, 1, 2});
  const Tensor w = reshape(Tensor::of({1.f, 10.f, 100.f}), {1, 1, 3});
  expect_tensor(conv_transpose1d(x, w), {1, 1, 4}, F{1, 12, 120, 200});
  expect_tensor(conv_transpose1d(x, w, {}, {.stride = 2}), {1, 1, 5}, F{1, 10, 102, 20, 200});
  expect_tensor(conv_transpose1d(x, w, {}, {.stride = 2, .padding = 1, .output_padding = 1}),
                {1, 1, 4}, F{10, 102, 20, 200});
  expect_tensor(conv_transpose1d(x, w, {}, {.stride = 2, .output_padding = 1}), {1, 1, 6},
                F{1, 10, 102, 20, 200, 0});
  for (const Case& c : kCases) {
    // <conv(x), y> = <x, transpose(y)>, in whole numbers.
    const Tensor image = whole(c.x), weight = whole(c.w);
    const Tensor y = conv2d(image, weight, {}, options(c));
    const Tensor other = whole(y.shape());
    I rest;
    for (int i = 0; i < 2; ++i) {
      const int64_t reach = c.dilation[i] * (c.w[2 + i] - 1);
      rest.push_back((c.x[2 + i] + 2 * c.padding[i] - reach - 1) % c.stride[i]);
    }
    const Tensor back = conv_transpose2d(other, weight, {},
                                         {.stride = c.stride,
                                          .padding = c.padding,
                                          .output_padding = rest,
                                          .dilation = c.dilation,
                                          .groups = c.groups});
    ASSERT_EQ(back.shape(), image.shape());
    const auto dotted = [](const Tensor& a, const Tensor& b) {
      return sum(cast(a, DType::F64) * cast(b, DType::F64)).item<double>();
    };
    EXPECT_EQ(dotted(y, other), dotted(image, back));
  }
}

TEST(Convolution, Differentiates) {
  for (const Case& c : kCases) {
    const Tensor x = whole(c.x, DType::F64), w = whole(c.w, DType::F64);
    expect_gradient([&](const Tensor& v) { return conv2d(v, w, {}, options(c)); }, c.x);
    expect_gradient([&](const Tensor& v) { return conv2d(x, v, {}, options(c)); }, c.w);
  }
  const Tensor x = whole({1, 4, 5}, DType::F64), w = whole({4, 3, 3}, DType::F64);
  const ConvTransposeOptions up{.stride = 2, .padding = 1, .output_padding = 1, .groups = 2};
  expect_gradient([&](const Tensor& v) { return conv_transpose1d(v, w, {}, up); }, x.shape());
  expect_gradient([&](const Tensor& v) { return conv_transpose1d(x, v, {}, up); }, w.shape());
  // Twice: a penalty on the gradient.
  const auto penalty = [](const Tensor& image, const Tensor& weight) {
    const Tape tape;
    const Tensor y = sum(square(conv2d(image, weight, {}, {.padding = 1})));
    return square(tape.gradient(y, image));
  };
  const Tensor image = whole({1, 2, 4, 4}, DType::F64), weight = whole({2, 2, 3, 3}, DType::F64);
  expect_gradient([&](const Tensor& v) { return penalty(image * 0.1, v * 0.1); }, weight.shape());
}

// ---- Launches ----

/// conv(x, w) + bias through relu, and its gradients where asked, as a graph.
enum class What : uint8_t { Forward, Input, Weights };
Graph network(const Shape& x, const Shape& w, const I& stride, int64_t padding, What what) {
  Graph graph;
  GraphBuilder b(graph);
  const Value image = b.input({DType::F32, x}, 0), weight = b.input({DType::F32, w}, 1);
  const I widths{padding, padding}, ones{1, 1};
  const Value y = b.record(
      Op::Convolution, {image, weight},
      Attrs().add_int(1).add_ints(stride).add_ints(widths).add_ints(widths).add_ints(ones).add_ints(
          ones));
  if (what == What::Forward) {
    const Value bias = b.reshape(b.input({DType::F32, {w[0]}}, 2), {w[0], 1, 1});
    b.output(b.record(Op::Relu, {b.add(y, bias)}));
  } else {
    const Value seed = b.input(b.type(y), 2);
    const Value of = what == What::Input ? image : weight;
    b.output(gradient(b, y, seed, {&of, 1})[0]);
  }
  return graph;
}

/// The zeros around an image are laid down once, beside what reads it: in a local of each image, in
/// memory where the product adds up over images.
TEST(Convolution, IsOneLaunchWithoutColumns) {
  const Shape x{16, 16, 28, 28};
  for (const I& stride : {I{1, 1}, I{2, 2}}) {
    for (const What what : {What::Forward, What::Input, What::Weights}) {
      const Graph graph = optimize(network(x, {32, 16, 3, 3}, stride, 1, what));
      const Lowered lowered = lower_verified(graph);
      // What a stride skips lies in the channels of a product: weights are put together for it, and
      // its elements moved apart.
      const bool apart = stride[0] > 1 && what == What::Input;
      // A stride of 2 leaves too little overlap for that to pay.
      const bool lays_down = stride[0] == 1 && what == What::Weights;
      const size_t launches = apart ? 3 : lays_down ? 2 : 1;
      EXPECT_EQ(lowered.plan.launches.size(), launches) << print(graph);
      for (const Kernel& kernel : lowered.kernels) {
        for (const Buffer& buffer : kernel.buffers) {
          EXPECT_NE(buffer.kind, BufferKind::Scratch) << print(kernel);
          EXPECT_LT(buffer.extent, 3 * x.numel()) << print(kernel);  // columns: 9 times
        }
      }
    }
  }
}

TEST(Convolution, ReadsWindowsInPlace) {
  const Graph graph = optimize(network({20, 3, 20, 24}, {8, 3, 3, 3}, {1, 1}, 1, What::Forward));
  const Lowered lowered = lower_verified(graph);
  const Part& part = lowered.kernels[0].phases[0].parts[0];
  ASSERT_EQ(part.stages.size(), 2u) << print(lowered.kernels[0]);
  EXPECT_EQ(part.stages[0].parallel, (I{3, 22, 26})) << print(lowered.kernels[0]);
  const Stage& stage = part.stages[1];
  EXPECT_EQ(stage.kind, StageKind::Contraction);
  EXPECT_EQ(stage.reduce, (I{3, 3, 3})) << print(lowered.kernels[0]);
  EXPECT_EQ(stage.parallel.back(), 24) << print(lowered.kernels[0]);
  for (const Access& access : stage.body.accesses) EXPECT_FALSE(access.dynamic.valid());
  for (const Instr& instr : stage.body.instrs) EXPECT_EQ(instr.op, ScalarOp::Load);
}

TEST(Windows, AreViews) {
  const Tensor x = counted({3, 10}).realize();
  EXPECT_EQ(launches([&] {
              expect_tensor(slice(unfold(x, 1, 4, 3), 0, {1, 2}), {1, 3, 4},
                            F{10, 11, 12, 13, 13, 14, 15, 16, 16, 17, 18, 19});
            }),
            0u);
  expect_tensor(unfold(counted({3, 2}), 0, 2), {2, 2, 2}, F{0, 2, 1, 3, 2, 4, 3, 5});
  EXPECT_EQ(launches([&] {
              EXPECT_EQ(sum(unfold(x, 1, 3), -1).realize().shape(), (Shape{3, 8}));
            }),
            1u);
  expect_gradient([](const Tensor& v) { return unfold(v, 1, 3, 2); }, {2, 8, 3});
  expect_gradient([](const Tensor& v) { return unfold(v, 0, 2, 5); }, {11});
}

TEST(Windows, AsColumnsAndBack) {
  const Tensor x = counted({1, 1, 3, 3});
  expect_tensor(im2col(x, 2), {1, 4, 4}, F{0, 1, 3, 4, 1, 2, 4, 5, 3, 4, 6, 7, 4, 5, 7, 8});
  expect_tensor(col2im(im2col(x, 2), 3, 2), {1, 1, 3, 3}, F{0, 2, 2, 6, 16, 10, 6, 14, 8});
  const WindowOptions options{.dilation = {1, 2}, .padding = {1, 0}, .stride = {2, 1}};
  expect_gradient([&](const Tensor& v) { return im2col(v, {3, 2}, options); }, {2, 2, 4, 5});
  const Tensor columns = im2col(counted({2, 2, 4, 5}), {3, 2}, options);
  expect_gradient(
      [&](const Tensor& v) {
        return col2im(v, {4, 5}, {3, 2}, options);
      },
      columns.shape());
}

TEST(Windows, PixelsShuffle) {
  const Tensor x = counted({1, 4, 1, 2});
  expect_tensor(pixel_shuffle(x, 2), {1, 1, 2, 4}, F{0, 2, 1, 3, 4, 6, 5, 7});
  expect_tensor(pixel_unshuffle(pixel_shuffle(x, 2), 2), {1, 4, 1, 2}, F{0, 1, 2, 3, 4, 5, 6, 7});
  expect_error<ShapeError>([&] { return pixel_shuffle(x, 3); }, {"f32[1,4,1,2]", "9"});
  expect_error<ShapeError>([&] { return pixel_unshuffle(x, 2); }, {"f32[1,4,1,2]", "2"});
}

TEST(Convolution, RefusesWhatDoesNotFit) {
  const Tensor x = zeros({1, 4, 5, 5}), w = zeros({6, 4, 3, 3});
  expect_error<ShapeError>([&] { return conv2d(x, zeros({6, 3, 3, 3})); }, {"3", "4"});
  expect_error<ShapeError>([&] { return conv2d(x, w, {}, {.groups = 3}); }, {"4", "6", "3"});
  expect_error<ShapeError>([&] { return conv2d(x, zeros({6, 4, 6, 3})); }, {"6", "5"});
  expect_error<ShapeError>([&] { return conv2d(x, w, {}, {.dilation = 3}); }, {"dilation 3", "5"});
  expect_error<ShapeError>([&] { return conv2d(x, w, {}, {.stride = 0}); }, {"stride 0"});
  expect_error<ShapeError>([&] { return conv2d(x, w, {}, {.stride = {1, 1, 1}}); }, {"3", "2"});
  expect_error<ShapeError>([&] { return conv2d(x, w, {}, {.padding = -1}); }, {"-1"});
  expect_error<ShapeError>(
      [&] { return conv2d(x, w, {}, {.stride = 2, .padding = ConvPadding::Rule::Same}); },
      {"stride", "2"});
  expect_error<ShapeError>([&] { return conv2d(x, w, zeros({4})); }, {"f32[4]", "6"});
  expect_error<ShapeError>([&] { return conv1d(x, w); }, {"f32[6,4,3,3]", "3"});
  expect_error<ShapeError>([&] { return conv2d(zeros({4}), w); }, {"f32[4]", "4"});
  expect_error<ShapeError>([&] { return conv_transpose2d(x, w); }, {"4", "[6,4,3,3]"});
  expect_error<ShapeError>(
      [&] {
        return conv_transpose2d(x, zeros({4, 2, 3, 3}), {}, {.output_padding = 1});
      },
      {"1", "stride"});
  expect_error<ShapeError>([&] { return unfold(x, 2, 6); }, {"f32[1,4,5,5]", "6", "5"});
  expect_error<ShapeError>([&] { return im2col(zeros({5, 5}), 2); }, {"f32[5,5]", "4"});
  expect_error<ShapeError>([&] { return col2im(zeros({1, 4, 5}), 3, 2); }, {"f32[1,4,5]", "4"});
}

}  // namespace
}  // namespace reprise
