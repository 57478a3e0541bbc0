// Numbers, shapes and options that make no sense: an error that names both values, at the call.
#include "expect_tensor.h"

namespace reprise {
namespace {

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

}  // namespace
}  // namespace reprise
