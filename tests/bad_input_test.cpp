// Numbers, shapes and options that make no sense: an error that names both values, at the call.
#include "expect_tensor.h"

namespace reprise {
namespace {

const double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kHuge = int64_t{1} << 57;

TEST(BadIndices, NegativeOnesAreNamedAsGiven) {
  const Tensor x = Tensor::of({0.f, 1.f, 2.f});
  const auto pick = [&](int64_t index) {
    return gather(x, Tensor::of({int64_t{0}, index})).to_vector<float>();
  };
  EXPECT_EQ(pick(-3), (std::vector<float>{0.f, 0.f}));
  expect_error<IndexError>([&] { return pick(-4); }, {"index -4 ", "extent 3"});
  expect_error<IndexError>([&] { return pick(3); }, {"index 3 ", "extent 3"});
  expect_error<IndexError>([&] { return pick(INT64_MIN); }, {"index -9223372036854775808 "});
  expect_error<IndexError>([&] { return pick(INT64_MAX); }, {"index 9223372036854775807 "});
  const Tensor narrow = Tensor::of<int8_t>({-7});
  expect_error<IndexError>([&] { return gather(x, narrow).to_vector<float>(); }, {"index -7 "});
  const Tensor logits = zeros({1, 3});
  expect_error<IndexError>([&] { return cross_entropy(logits, Tensor::of({-1})).item<float>(); },
                           {"index -1 ", "extent 3"});
  expect_error<IndexError>([&] { return x[-4]; }, {"index -4 ", "extent 3"});
  expect_error<IndexError>([&] { return sum(x, -2); }, {"axis -2 ", "rank 1"});
}

TEST(BadNumbers, WhatADTypeDoesNotHold) {
  expect_error<DTypeError>([] { return full({2}, 300, DType::U8); }, {"300", "u8"});
  expect_error<DTypeError>([] { return full({2}, -1, DType::U64); }, {"-1", "u64"});
  expect_error<DTypeError>([] { return full({2}, 2, DType::Bool); }, {"2", "bool"});
  expect_error<DTypeError>([] { return full_like(zeros({2}, DType::I8), 128); }, {"128", "i8"});
  expect_error<DTypeError>([] { return Tensor::scalar(1.5, DType::I32); }, {"1.5", "i32"});

  expect_error<DTypeError>([] { return arange(0, 257, 1, DType::U8); }, {"256", "u8"});
  expect_values(arange(0, 256, 255, DType::U8), std::vector<uint8_t>{0, 255});
  expect_error<DTypeError>([] { return arange(-1, 3, 1, DType::U8); }, {"-1", "u8"});
  expect_error<DTypeError>([] { return arange(127, -130, -1, DType::I8); }, {"-129", "i8"});
  expect_error<DTypeError>([] { return arange(0, 3, 1, DType::Bool); }, {"2", "bool"});
  expect_error<DTypeError>([] { return arange(0.0, 200.0, 1.0, DType::I8); }, {"199", "i8"});
  expect_values(arange(0.0, 128.0, 127.0, DType::I8), std::vector<int8_t>{0, 127});

  expect_error<DTypeError>([] { return randint({2}, 0, 257, DType::U8); }, {"256", "u8"});
  EXPECT_EQ(randint({2}, 0, 256, DType::U8).dtype(), DType::U8);
  expect_error<DTypeError>([] { return randint({2}, -1, 3, DType::U32); }, {"-1", "u32"});
  expect_error<DTypeError>([] { return randint({2}, 0, 3, DType::Bool); }, {"2", "bool"});
}

TEST(BadNumbers, Ranges) {
  expect_error<ShapeError>([] { return arange(INT64_MIN, INT64_MAX); },
                           {"-9223372036854775808", "9223372036854775807"});
  expect_error<ShapeError>([] { return arange(INT64_MAX); }, {"9223372036854775807"});
  expect_error<ShapeError>([] { return arange(0, kInf); }, {"inf", "not finite"});
  expect_error<ShapeError>([] { return arange(0, kNaN); }, {"nan", "not finite"});
  expect_error<ShapeError>([] { return arange(0.0, 1.0, 1e-300); }, {"1e-300"});
  expect_error<Error>([] { return arange(0, 3, 0); }, {"step of 0"});
  expect_values(arange(INT64_MAX - 1, INT64_MAX, 5), std::vector<int64_t>{INT64_MAX - 1});
  expect_values(arange(-3), std::vector<int64_t>{});

  expect_error<ShapeError>([] { return eye(3, -5); }, {"3", "-5"});
  expect_error<ShapeError>([] { return eye(3, -1); }, {"3", "-1"});
  expect_error<ShapeError>([] { return eye(-2); }, {"-2"});
  expect_tensor(eye(2), {2, 2}, std::vector<float>{1, 0, 0, 1});

  expect_error<Error>([] { return uniform({2}, 2, 1); }, {"2", "1"});
  expect_error<Error>([] { return uniform({2}, 0, kNaN); }, {"0", "nan"});
  expect_error<Error>([] { return uniform({2}, 0, kInf); }, {"0", "inf"});
  expect_error<Error>([] { return uniform({2}, -3e38, 3e38); }, {"-3e+38", "3e+38", "f32"});
  expect_error<Error>([] { return uniform({2}, 0, 1e5, DType::F16); }, {"100000", "f16"});
  expect_values(uniform({2}, 2, 2), std::vector<float>{2, 2});
  expect_error<Error>([] { return randint({2}, 3, -3); }, {"3", "-3"});
}

TEST(BadNumbers, RandomNumbersAreFloats) {
  expect_error<DTypeError>([] { return uniform({2}, 0, 10, DType::I32); }, {"uniform", "i32"});
  expect_error<DTypeError>([] { return rand({2}, DType::Bool); }, {"rand", "bool"});
  expect_error<DTypeError>([] { return randn({2}, DType::I64); }, {"randn", "i64"});
}

TEST(BadShapes, MemoryThatNobodyHas) {
  const Shape large{int64_t{1} << 40};
  const char* out_of_memory = "out of memory";
// Under these a vector that is too long ends the program.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  expect_error<OutOfMemoryError>([&] { return zeros(large).to_vector<float>(); },
                                 {out_of_memory, "f32[1099511627776]", "4398046511104"});
  expect_error<OutOfMemoryError>([&] { return zeros(large, DType::Bool).to_vector<bool>(); },
                                 {out_of_memory, "1099511627776"});
  expect_error<OutOfMemoryError>([&] { return zeros({kHuge}).to_vector<double>(); },
                                 {out_of_memory, "f32[144115188075855872]"});
#endif
  expect_error<OutOfMemoryError>([&] { return zeros(large).realize(); }, {out_of_memory});
  expect_error<OutOfMemoryError>([] { return (rand({kHuge}) + 1.f).realize(); }, {"out of memory"});
  expect_error<OutOfMemoryError>(
      [] {
        return stored_zeros({DType::F64, {kHuge}});
      },
      {"out of memory"});
  // Bytes of any dtype fit 64 bits, for several such values at once too.
  expect_error<OutOfMemoryError>(
      [] {
        const Tensor x = rand({kHuge / 2}, DType::F64);
        const Tensor y = sum(x * softmax(x, 0));
        const Tensor z = matmul(reshape(x, {kHuge / 4, 2}), ones({2, 2}, DType::F64));
        realize(std::vector{y, z});
        return 0;
      },
      {"out of memory"});
  expect_error<ShapeError>([] { return zeros({kHuge, 2}); }, {"[144115188075855872,2]"});
  expect_error<ShapeError>([] { return zeros({-1}); }, {"-1"});
  expect_error<ShapeError>([] { return matmul(ones({kHuge, 1}), ones({1, kHuge})); }, {"2^58"});
  // What needs no memory may be as large as it likes, and the next call finds all in order.
  expect_scalar(sum(zeros({kHuge, 0})), 0.f);
  EXPECT_EQ(to_string(zeros({kHuge, 0})),
            "[[],\n [],\n [],\n ...,\n [],\n [],\n []] : f32[144115188075855872,0]");
  expect_values(zeros({2}) + 1.f, std::vector<float>{1, 1});
}

TEST(BadOptions, OfOptimizers) {
  const Tensor w = Tensor::of({1.f, 2.f});
  const Tensor v = Tensor::of({1.f, 2.f});
  const std::vector<Tensor> parameters = {w};
  expect_error<Error>([&] { return optim::Sgd({w, v, w}), 0; }, {"0", "2", "f32[2]"});
  EXPECT_NO_THROW(optim::Sgd({w, v, w.value()}));
  for (const double bad : {-0.1, kNaN, kInf}) {
    const std::string text = str(bad);
    const auto refused = [&](auto make) { expect_error<Error>(make, {text.c_str()}); };
    refused([&] { return optim::Sgd(parameters, {.lr = bad}), 0; });
    refused([&] { return optim::Sgd(parameters, {.momentum = bad}), 0; });
    refused([&] { return optim::Sgd(parameters, {.weight_decay = bad}), 0; });
    refused([&] { return optim::Adam(parameters, {.lr = bad}), 0; });
    refused([&] { return optim::Adam(parameters, {.beta1 = bad}), 0; });
    refused([&] { return optim::Adam(parameters, {.beta2 = bad}), 0; });
    refused([&] { return optim::Adam(parameters, {.eps = bad}), 0; });
    refused([&] { return optim::AdamW(parameters, {.weight_decay = bad}), 0; });
    optim::Sgd sgd(parameters, {.lr = 0.5});
    refused([&] { return sgd.set_lr(bad), 0; });
    EXPECT_EQ(sgd.lr(), 0.5);
  }
  expect_error<Error>([&] { return optim::Adam(parameters, {.beta1 = 1}), 0; }, {"beta1", "1"});
  EXPECT_NO_THROW(optim::Adam(parameters, {.lr = 0, .beta1 = 0, .beta2 = 0, .eps = 0}));
}

TEST(BadOptions, OfLayersAndLoaders) {
  expect_error<ShapeError>([] { return nn::Linear(-1, 2), 0; }, {"-1"});
  expect_error<ShapeError>([] { return one_hot(Tensor::of({0}), -1); }, {"-1"});
  const Tensor x = zeros({5, 2}), y = zeros({5}, DType::I64);
  expect_error<Error>([&] { return io::DataLoader(x, y, {.batch = 0}), 0; }, {"0"});
  const io::DataLoader whole(x, y, {.batch = INT64_MAX, .drop_last = false});
  EXPECT_EQ(whole.batches(), 1);
  EXPECT_EQ(io::DataLoader(x, y, {.batch = INT64_MAX, .drop_last = true}).batches(), 0);
}

TEST(Gradients, OfLogSumExpIsSoftmax) {
  const auto gradient = [](const std::vector<float>& values) {
    const Tensor x = Tensor::of(values);
    const Tape tape;
    return tape.gradient(logsumexp(x), x);
  };
  const auto inf = std::numeric_limits<float>::infinity();
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  expect_values(gradient({inf, 0}), std::vector<float>{nan, nan});
  expect_values(gradient({inf, inf}), std::vector<float>{nan, nan});
  expect_values(gradient({-inf, -inf}), std::vector<float>{nan, nan});
  expect_values(gradient({-inf, 0}), std::vector<float>{0, 1});
  expect_values(gradient({1000, 1000}), std::vector<float>{0.5f, 0.5f});
  const Tensor rows = Tensor::of({inf, 0.f, 3.f, 3.f}).reshape({2, 2});
  const Tape tape;
  expect_tensor(tape.gradient(sum(logsumexp(rows, 1)), rows), {2, 2},
                std::vector<float>{nan, nan, 0.5f, 0.5f});
}

}  // namespace
}  // namespace reprise
