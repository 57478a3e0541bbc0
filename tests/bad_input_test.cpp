// Numbers, shapes and options that make no sense: an error that names both values, at the call.
#include "expect_tensor.h"

namespace reprise {
namespace {

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

TEST(BadShapes, MemoryThatNobodyHas) {
  const Shape large{int64_t{1} << 40};
  const char* out_of_memory = "out of memory";
#ifndef __SANITIZE_ADDRESS__  // under which a vector that is too long ends the program
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

}  // namespace
}  // namespace reprise
