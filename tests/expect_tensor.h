// Expectations on tensors and errors: exact bits, all NaNs equal.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "frontend/reprise.h"

namespace reprise {

template <class T>
[[nodiscard]] bool same_bits(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return a == b && std::signbit(a) == std::signbit(b);
  } else {
    return a == b;
  }
}

/// The dtype must be T's, the shape and every element must match.
template <class T>
void expect_tensor(const Tensor& tensor, const Shape& shape, const std::vector<T>& expected) {
  ASSERT_EQ(tensor.type(), (TensorType{dtype_of<T>, shape}));
  const std::vector<T> actual = tensor.to_vector<T>();
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const T a = actual[i];
    const T e = expected[i];
    EXPECT_TRUE(same_bits(a, e)) << "element " << i << ": " << +a << ", expected " << +e;
  }
}
template <class T>
void expect_values(const Tensor& tensor, const std::vector<T>& expected) {
  expect_tensor(tensor, Shape{static_cast<int64_t>(expected.size())}, expected);
}
template <class T>
void expect_scalar(const Tensor& tensor, T expected) {
  expect_tensor(tensor, Shape{}, std::vector<T>{expected});
}
template <class T>
void expect_near(const Tensor& tensor, const Shape& shape, const std::vector<T>& expected,
                 double tolerance) {
  ASSERT_EQ(tensor.type(), (TensorType{dtype_of<T>, shape}));
  const std::vector<T> actual = tensor.to_vector<T>();
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << "element " << i;
  }
}

/// `call` throws an E whose text holds every one of `parts`.
template <class E, class Call>
void expect_error(Call call, std::initializer_list<const char*> parts) {
  try {
    static_cast<void>(call());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const E& error) {
    const std::string text = error.what();
    for (const char* part : parts) {
      EXPECT_NE(text.find(part), std::string::npos)
          << "\"" << text << "\" lacks \"" << part << "\"";
    }
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another error: " << error.what();
  }
}

}  // namespace reprise
