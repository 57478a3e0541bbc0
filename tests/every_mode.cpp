#include "every_mode.h"

#include <cmath>

#include "expect_tensor.h"
#include "frontend/record.h"
#include "runtime/check.h"

namespace reprise {
namespace {

template <class T>
void expect_same_elements(const Tensor& actual, const Tensor& expected, DType through) {
  const std::vector<T> a = actual.cast(through).to_vector<T>();
  const std::vector<T> e = expected.cast(through).to_vector<T>();
  for (size_t i = 0; i < e.size(); ++i) {
    EXPECT_TRUE(same_bits(a[i], e[i])) << "element " << i << ": " << a[i] << ", expected " << e[i];
  }
}

/// The values in memory of their own.
Tensor copied(const Tensor& x) {
  std::vector<std::byte> bytes(static_cast<size_t>(x.numel()) * size_of(x.dtype()));
  Runtime::get().read(x.id(), bytes.data(), bytes.size());
  return Tensor(Runtime::get().from_host(x.type(), bytes.data()));
}

Tensor repeated(const Tensor& x, int64_t length) {
  return copied(gather(x, arange(length) % x.numel()));
}

class CheckedPlans {
 public:
  CheckedPlans() { set_checking_plans(true); }
  ~CheckedPlans() { set_checking_plans(false); }
};

void expect_all_same(std::span<const Tensor> actual, std::span<const Tensor> expected,
                     const char* mode) {
  SCOPED_TRACE(mode);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    SCOPED_TRACE(str("result ", i));
    expect_same(actual[i], expected[i]);
  }
}

std::vector<Tensor> computed(const Function& function, std::span<const Tensor> inputs) {
  const Tape tape;
  std::vector<Tensor> results = function(inputs);
  tape.realize(results);
  return results;
}

Function several(const Function1& function) {
  return [function](std::span<const Tensor> inputs) { return std::vector{function(inputs)}; };
}

/// Whether `constant` holds every element.
bool holds_as_constants(const Tensor& x) {
  if (is_float(x.dtype()) || size_of(x.dtype()) < 8) return true;
  for (const int64_t value : x.cast(DType::I64).to_vector<int64_t>()) {
    if (value > int64_t{1} << 53 || value < -(int64_t{1} << 53)) return false;
  }
  return x.dtype() != DType::U64;
}

void expect_folded(const Function1& function, const std::vector<Tensor>& inputs,
                   const Tensor& expected) {
  SCOPED_TRACE("folded");
  for (int64_t i = 0; i < expected.numel(); ++i) {
    const Tape tape;
    std::vector<Tensor> constants;
    for (const Tensor& input : inputs) {
      const double value = input[i].cast(DType::F64).item<double>();
      constants.push_back(constant(value, input.dtype()));
    }
    SCOPED_TRACE(str("element ", i));
    expect_same(function(constants), expected[i]);
  }
}

}  // namespace

void expect_same(const Tensor& actual, const Tensor& expected) {
  ASSERT_EQ(actual.type(), expected.type());
  if (is_float(actual.dtype())) {
    expect_same_elements<double>(actual, expected, DType::F64);
  } else {
    expect_same_elements<int64_t>(actual, expected, DType::I64);
  }
}

void expect_in_every_mode(const Function& function, const std::vector<Tensor>& inputs,
                          const std::vector<Tensor>& expected) {
  expect_all_same(computed(function, inputs), expected, "as given");
  std::vector<Tensor> stored, others;
  for (const Tensor& input : inputs) {
    stored.push_back(copied(input));
    others.push_back(copied(input));
  }
  expect_all_same(computed(function, stored), expected, "fused");
  const uint64_t compiled = Runtime::get().stats().plans_compiled;
  expect_all_same(computed(function, others), expected, "cached");
  EXPECT_EQ(Runtime::get().stats().plans_compiled, compiled);
  {
    const CheckedPlans checked;
    expect_all_same(computed(function, stored), expected, "one op at a time");
  }
  Frozen frozen;
  {
    const Tape tape;
    frozen = tape.freeze(stored, function(stored));
  }
  const int threads = num_threads();
  for (const int count : {1, threads}) {
    set_num_threads(count);
    expect_all_same(frozen.replay(others), expected, "frozen");
  }
}

void expect_in_every_mode(const Function1& function, const std::vector<Tensor>& inputs,
                          const Tensor& expected) {
  expect_in_every_mode(several(function), inputs, std::vector{expected});
}

void expect_elementwise(const Function1& function, const std::vector<Tensor>& inputs,
                        const Tensor& expected) {
  expect_in_every_mode(function, inputs, expected);
  for (const int64_t length : {1, 7, 8, 17, 1000}) {
    SCOPED_TRACE(str("length ", length));
    std::vector<Tensor> longer;
    for (const Tensor& input : inputs) longer.push_back(repeated(input, length));
    expect_in_every_mode(function, longer, repeated(expected, length));
  }
  for (const Tensor& input : inputs) {
    if (!holds_as_constants(input)) return;
  }
  expect_folded(function, inputs, expected);
}

}  // namespace reprise
