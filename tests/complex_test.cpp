// Complex numbers: parts, arithmetic, functions, reductions, products, gradients; complex integers.
#include <gtest/gtest.h>

#include <complex>
#include <random>

#include "expect_tensor.h"

namespace reprise {
namespace {

using C64 = std::complex<float>;
using C128 = std::complex<double>;
constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

bool same(C128 a, C128 b) {
  return same_bits(a.real(), b.real()) && same_bits(a.imag(), b.imag());
}

void expect_exactly(const Tensor& tensor, const std::vector<C128>& expected) {
  ASSERT_TRUE(is_complex(tensor.dtype())) << tensor.type();
  const std::vector<C128> actual = tensor.to_vector<C128>();
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(same(actual[i], expected[i])) << i << ": " << actual[i] << " not " << expected[i];
  }
}

void expect_close(const Tensor& tensor, const std::vector<C128>& expected, double tolerance) {
  ASSERT_TRUE(is_complex(tensor.dtype())) << tensor.type();
  const std::vector<C128> actual = tensor.to_vector<C128>();
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_LE(std::abs(actual[i] - expected[i]), tolerance * (std::abs(expected[i]) + 1e-300))
        << i << ": " << actual[i] << " not " << expected[i];
  }
}

std::vector<C128> random_values(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<C128> values(count);
  for (C128& z : values) z = {normal(random), normal(random)};
  return values;
}

Tensor random_complex(const Shape& shape, uint32_t seed) {
  return Tensor::of(random_values(static_cast<size_t>(shape.numel()), seed), shape);
}

TEST(Complex, ElementsComeAndGo) {
  const Tensor z = Tensor::of<C64>({{1, 2}, {-3, 0.5f}});
  EXPECT_EQ(z.dtype(), DType::C64);
  EXPECT_EQ(z[1].item<C64>(), C64(-3, 0.5f));
  EXPECT_EQ(z[0].item<C128>(), C128(1, 2));
  EXPECT_EQ(Tensor::of<float>({2.5f}).item<C128>(), C128(2.5, 0));
  EXPECT_EQ(Tensor::scalar(C128(1, -1)).dtype(), DType::C64);
  EXPECT_EQ(Tensor::scalar(C128(1, -1), DType::C128).item<C128>(), C128(1, -1));
  expect_error<DTypeError>([&] { return z[0].item<double>(); }, {"c64", "f64", "lose"});
  expect_exactly(full({2}, C128(0, 3), DType::C128), {{0, 3}, {0, 3}});
  expect_exactly(zeros({1}, DType::C64), {{0, 0}});
  expect_exactly(ones({1}, DType::C128), {{1, 0}});
}

TEST(Complex, PartsAndBack) {
  const Tensor z = Tensor::of<C128>({{1, 2}, {-3, 0.5}});
  expect_values<double>(real(z), {1, -3});
  expect_values<double>(imag(z), {2, 0.5});
  expect_exactly(conj(z), {{1, -2}, {-3, -0.5}});
  expect_exactly(complex(imag(z), real(z)), {{2, 1}, {0.5, -3}});
  expect_exactly(complex(real(z), 7), {{1, 7}, {-3, 7}});
  EXPECT_EQ(complex(ones({2}, DType::F16), 0).dtype(), DType::C64);
  EXPECT_EQ(complex(ones({2}), ones({1}, DType::F64)).type(), (TensorType{DType::C128, {2}}));
  expect_values<float>(imag(Tensor::of<float>({3})), {0});
  expect_values<float>(real(Tensor::of<float>({3})), {3});
  expect_near<double>(angle(z), {2}, {std::atan2(2, 1), std::atan2(0.5, -3)}, 1e-15);
  expect_near<float>(angle(Tensor::of<int>({-2, 0, 2})), {3}, {3.14159265f, 0, 0}, 1e-7);
  expect_error<DTypeError>([&] { return complex(ones({1}, DType::Bool), 1.5 < 2); }, {"complex"});
  expect_error<DTypeError>([&] { return complex(z, z); }, {"complex", "c128"});
}

TEST(Complex, ViewsStayViews) {
  const Tensor z = random_complex({3, 4}, 1);
  z.realize();
  const auto before = Runtime::get().stats().launches;
  const Tensor view = permute(slice(z, 1, {.start = 3, .step = -2}), {1, 0});
  const std::vector<C128> all = z.to_vector<C128>();
  expect_exactly(view, {all[3], all[7], all[11], all[1], all[5], all[9]});
  EXPECT_EQ(Runtime::get().stats().launches, before);
  expect_exactly(view + view,
                 {2. * all[3], 2. * all[7], 2. * all[11], 2. * all[1], 2. * all[5], 2. * all[9]});
}

TEST(Complex, PartsOfWhatIsStoredAreViews) {
  const Tensor z = random_complex({3, 4}, 2);
  z.realize();
  const auto before = Runtime::get().stats().launches;
  const std::vector<C128> all = z.to_vector<C128>();
  const Tensor re = real(z), im = flip(imag(z), 0);
  const std::vector<double> x = re.to_vector<double>(), y = im.to_vector<double>();
  EXPECT_EQ(Runtime::get().stats().launches, before);
  for (size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(x[i], all[i].real());
    EXPECT_EQ(y[i], all[(2 - i / 4) * 4 + i % 4].imag());
  }
  expect_exactly(complex(re, flip(im, 0)), all);
  // Of what lies otherwise they are copies.
  const Tensor column = slice(z, 1, {.start = 1, .stop = 2});
  column.realize();
  expect_tensor<double>(imag(column), {3, 1}, {all[1].imag(), all[5].imag(), all[9].imag()});
  // What a part shows stays when the whole is assigned.
  z.assign_(z * 2);
  z.realize();
  EXPECT_EQ(re.to_vector<double>(), x);
}

TEST(Complex, MovesLikeAnyOther) {
  const Tensor z = Tensor::of<C128>({{1, 2}, {3, 4}, {5, 6}});
  const int64_t one[] = {1};
  expect_exactly(pad(z, one, one), {{0, 0}, {1, 2}, {3, 4}, {5, 6}, {0, 0}});
  expect_exactly(concat({z, flip(z)}), {{1, 2}, {3, 4}, {5, 6}, {5, 6}, {3, 4}, {1, 2}});
  expect_exactly(reshape(stack({z, z}, 1), {-1}), {{1, 2}, {1, 2}, {3, 4}, {3, 4}, {5, 6}, {5, 6}});
  expect_exactly(gather(z, Tensor::of<int>({2, 0, -1})), {{5, 6}, {1, 2}, {5, 6}});
  expect_exactly(where(Tensor::of<bool>({true, false, true}), z, 9), {{1, 2}, {9, 0}, {5, 6}});
  expect_exactly(broadcast_to(z[1], {2}) + 0, {{3, 4}, {3, 4}});
  expect_exactly(scatter_add(z, Tensor::of<int>({1, 1}), Tensor::of<C128>({{1, 1}, {1, 0}})),
                 {{1, 2}, {5, 5}, {5, 6}});
  expect_exactly(repeat(z, 2, 0), {{1, 2}, {1, 2}, {3, 4}, {3, 4}, {5, 6}, {5, 6}});
  // Both outputs of one plan, one a view of the other.
  const Tensor w = z * z, seen = reshape(w, {3, 1});
  realize(std::vector{w, seen});
  expect_exactly(reshape(seen, {3}), w.to_vector<C128>());
}

TEST(Complex, Casts) {
  const Tensor z = Tensor::of<C128>({{1e300, 2}, {0, 0}, {0, -1}});
  expect_exactly(cast(z, DType::C64), {{kInf, 2}, {0, 0}, {0, -1}});
  expect_values<bool>(cast(z, DType::Bool), {true, false, true});
  expect_exactly(cast(Tensor::of<int>({2, -1}), DType::C64), {{2, 0}, {-1, 0}});
  expect_error<DTypeError>([&] { return cast(z, DType::F64); }, {"c128", "f64", "real"});
  expect_error<DTypeError>([&] { return cast(z, DType::I32); }, {"c128", "i32", "imag"});
  EXPECT_EQ((Tensor::of<C64>({1}) * Tensor::of<double>({1})).dtype(), DType::C128);
  EXPECT_EQ((Tensor::of<C64>({1}) * 1e300).dtype(), DType::C64);
  EXPECT_EQ((Tensor::of<double>({1}) * C64(1, 2)).dtype(), DType::C128);
  EXPECT_EQ((Tensor::of<float>({1}) + C128(1, 2)).dtype(), DType::C64);
  EXPECT_EQ((Tensor::of<int>({1}) - C128(1, 2)).dtype(), DType::C64);
}

TEST(Complex, ArithmeticAgreesWithTheLanguage) {
  for (const int64_t n : {0, 1, 7, 65, 1031}) {
    const std::vector<C128> a = random_values(static_cast<size_t>(n), 2),
                            b = random_values(static_cast<size_t>(n), 3);
    const Tensor x = Tensor::of(a), y = Tensor::of(b);
    std::vector<C128> sum, difference, product, quotient, real_scaled, square_of;
    for (size_t i = 0; i < a.size(); ++i) {
      sum.push_back(a[i] + b[i]);
      difference.push_back(a[i] - b[i]);
      product.push_back(a[i] * b[i]);
      quotient.push_back(a[i] / b[i]);
      real_scaled.push_back(b[i].real() / a[i]);
      square_of.push_back(a[i] * a[i]);
    }
    expect_exactly(x + y, sum);
    expect_exactly(x - y, difference);
    expect_close(x * y, product, 1e-15);
    expect_close(x / y, quotient, 2e-15);
    expect_close(real(y) / x, real_scaled, 2e-15);
    expect_close(square(x), square_of, 1e-15);
    expect_close(
        x * conj(x) / x,
        [&] {
          std::vector<C128> conjugates = a;
          for (C128& z : conjugates) z = std::conj(z);
          return conjugates;
        }(),
        3e-15);
  }
}

TEST(Complex, ARealOperandIsNoMoreThanThat) {
  const Tensor z = Tensor::of<C128>({{kInf, 1}, {-0., -0.}});
  expect_exactly(z * 2, {{kInf, 2}, {-0., -0.}});
  expect_exactly(2 * z, {{kInf, 2}, {-0., -0.}});
  expect_exactly(z / 2, {{kInf, 0.5}, {-0., -0.}});
  expect_exactly(z + 1, {{kInf, 1}, {1, -0.}});
  expect_exactly(1 - z, {{-kInf, -1}, {1, 0}});
  expect_exactly(z + C128(1, 1), {{kInf, 2}, {1, 1}});
  expect_exactly(-z, {{-kInf, -1}, {0, 0}});
}

TEST(Complex, DivisionNeitherOverflowsNorTraps) {
  const Tensor huge = Tensor::of<C128>({{1e300, 1e300}, {1e-300, 1e-300}});
  expect_close(huge / huge, {{1, 0}, {1, 0}}, 1e-15);
  expect_close(reciprocal(huge), {{5e-301, -5e-301}, {5e299, -5e299}}, 1e-15);
  const Tensor by_zero = Tensor::of<C128>({{1, -1}}) / Tensor::of<C128>({{0, 0}});
  expect_exactly(by_zero, {{kInf, -kInf}});
  const C128 nothing = (Tensor::of<C128>({{0, 0}}) / Tensor::of<C128>({{0, 0}})).item<C128>();
  EXPECT_TRUE(std::isnan(nothing.real()) && std::isnan(nothing.imag()));
  expect_exactly(Tensor::of<C128>({{1, 1}}) / Tensor::of<C128>({{kInf, 1}}), {{0, 0}});
  expect_near<double>(abs(Tensor::of<C128>({{3e300, 4e300}, {3e-310, 4e-310}})), {2},
                      {5e300, 5e-310}, 1e-15);
  expect_values<double>(abs(Tensor::of<C128>({{kInf, kNan}, {kNan, -kInf}})), {kInf, kInf});
}

TEST(Complex, ComparesForEqualityOnly) {
  const Tensor a = Tensor::of<C64>({{1, 2}, {1, 2}, {0, -0.f}}),
               b = Tensor::of<C64>({{1, 2}, {1, 3}, {-0.f, 0}});
  expect_values<bool>(a == b, {true, false, true});
  expect_values<bool>(a != b, {false, true, false});
  expect_values<bool>(a == 1, {false, false, false});
  expect_values<bool>(a == C64(1, 2), {true, true, false});
  expect_values<bool>(logical_and(a, true), {true, true, false});
  expect_values<bool>(isnan(Tensor::of<C128>({{kNan, 0}, {0, kNan}, {1, 1}})), {true, true, false});
  expect_values<bool>(isinf(Tensor::of<C128>({{kInf, kNan}, {0, 1}})), {true, false});
  expect_values<bool>(isfinite(Tensor::of<C128>({{kInf, 0}, {0, 1}})), {false, true});
  expect_error<DTypeError>([&] { return a < b; }, {"less", "c64"});
  expect_error<DTypeError>([&] { return maximum(a, b); }, {"maximum", "c64"});
  expect_error<DTypeError>([&] { return max(a); }, {"max", "c64"});
  expect_error<DTypeError>([&] { return argmax(a); }, {"argmax", "c64"});
  expect_error<DTypeError>([&] { return sort(a); }, {"sort", "c64"});
  expect_error<DTypeError>([&] { return floor(a); }, {"floor", "c64"});
  expect_error<DTypeError>([&] { return erf(a); }, {"erf", "c64"});
  expect_error<DTypeError>([&] { return a & b; }, {"bitwise_and", "c64"});
  expect_error<DTypeError>([&] { return a % 2; }, {"remainder", "c64"});
  expect_error<DTypeError>([&] { return clamp(a, 0, 1); }, {"clip", "c64"});
}

template <class Theirs>
void expect_function(Tensor (*ours)(const Tensor&), Theirs theirs, double tolerance = 1e-14) {
  std::vector<C128> values = random_values(500, 11), expected;
  for (size_t i = 0; i < values.size(); ++i)
    values[i] *= std::pow(10., static_cast<int>(i % 5) - 3);
  for (const C128& z : values) expected.push_back(theirs(z));
  expect_close(ours(Tensor::of(values)), expected, tolerance);
}

TEST(Complex, FunctionsAgreeWithTheLanguage) {
  using V = C128;
  expect_function(&sqrt, [](V z) { return std::sqrt(z); });
  expect_function(&exp, [](V z) { return std::exp(z); });
  expect_function(&log, [](V z) { return std::log(z); });
  expect_function(&log2, [](V z) { return std::log(z) / std::log(2.); });
  expect_function(&log10, [](V z) { return std::log10(z); });
  expect_function(&sin, [](V z) { return std::sin(z); });
  expect_function(&cos, [](V z) { return std::cos(z); });
  expect_function(&tan, [](V z) { return std::tan(z); });
  expect_function(&sinh, [](V z) { return std::sinh(z); });
  expect_function(&cosh, [](V z) { return std::cosh(z); });
  expect_function(&tanh, [](V z) { return std::tanh(z); });
  expect_function(
      &asin, [](V z) { return std::asin(z); }, 1e-12);
  expect_function(
      &acos, [](V z) { return std::acos(z); }, 1e-12);
  expect_function(
      &atan, [](V z) { return std::atan(z); }, 1e-12);
  expect_function(
      &asinh, [](V z) { return std::asinh(z); }, 1e-12);
  expect_function(
      &acosh, [](V z) { return std::acosh(z); }, 1e-12);
  expect_function(
      &atanh, [](V z) { return std::atanh(z); }, 1e-12);
  expect_function(&reciprocal, [](V z) { return 1. / z; });
  expect_function(&rsqrt, [](V z) { return 1. / std::sqrt(z); });
  expect_function(&sigmoid, [](V z) { return 1. / (1. + std::exp(-z)); });
  expect_function(&exp2, [](V z) { return std::exp(z * std::log(2.)); });
  expect_function(&sign, [](V z) { return z / std::abs(z); });
  // Near 0 better than what the plain ones give.
  const std::vector<C128> tiny{{1e-12, 1e-13}, {-1e-9, 2e-9}};
  expect_close(expm1(Tensor::of(tiny)),
               {tiny[0] + tiny[0] * tiny[0] / 2., tiny[1] + tiny[1] * tiny[1] / 2.}, 1e-15);
  expect_close(log1p(Tensor::of(tiny)),
               {tiny[0] - tiny[0] * tiny[0] / 2., tiny[1] - tiny[1] * tiny[1] / 2.}, 1e-15);
}

TEST(Complex, FunctionsAtTheirEdges) {
  const auto of = [](C128 z) { return Tensor::of<C128>({z}); };
  expect_exactly(sqrt(of({-4, 0.})), {{0, 2}});
  expect_exactly(sqrt(of({-4, -0.})), {{0, -2}});
  expect_exactly(sqrt(of({-0., -0.})), {{0, -0.}});
  expect_exactly(sqrt(of({kNan, kInf})), {{kInf, kInf}});
  expect_exactly(sqrt(of({-kInf, 1})), {{0, kInf}});
  expect_close(sqrt(of({0, 1e308})), {{7.0710678118654752e153, 7.0710678118654752e153}}, 1e-15);
  expect_close(sqrt(of({1.7e308, 1.7e308})), {std::sqrt(C128(1.7e308, 1.7e308))}, 1e-15);
  expect_exactly(exp(of({-kInf, kNan})), {{0, 0}});
  expect_exactly(exp(of({kInf, 0})), {{kInf, 0}});
  expect_exactly(exp(of({kInf, kInf})), {{kInf, kNan}});
  expect_exactly(exp(of({1, kInf})), {{kNan, kNan}});
  expect_close(exp(of({709.9, 0.8})), {std::exp(C128(709.9, 0.8))}, 1e-12);
  expect_exactly(log(of({0, 0})), {{-kInf, 0}});
  expect_close(log(of({-1, 0})), {{0, M_PI}}, 1e-15);
  expect_close(log(of({-1, -0.})), {{0, -M_PI}}, 1e-15);
  expect_close(log(of({1e308, 1.7e308})), {std::log(C128(1e308, 1.7e308))}, 1e-15);
  expect_close(tanh(of({300, 1})), {{1, 4 * std::sin(1) * std::cos(1) * std::exp(-600.)}}, 1e-15);
  expect_exactly(tanh(of({kInf, 1})), {{1, 0}});
  expect_exactly(sinh(of({kInf, 0})), {{kInf, 0}});
  expect_exactly(cosh(of({kInf, 0})), {{kInf, 0}});
  expect_close(asin(of({2, 0.})), {{M_PI / 2, 1.3169578969248167}}, 1e-15);
  expect_close(asin(of({2, -0.})), {{M_PI / 2, -1.3169578969248167}}, 1e-15);
  expect_close(acos(of({2, 0.})), {{0, -1.3169578969248167}}, 1e-15);
  expect_close(acosh(of({-2, 0.})), {{1.3169578969248167, M_PI}}, 1e-15);
  expect_exactly(sign(of({0, 0})), {{0, 0}});
}

TEST(Complex, Powers) {
  const std::vector<C128> a = random_values(50, 21), b = random_values(50, 22);
  const Tensor x = Tensor::of(a), y = Tensor::of(b);
  std::vector<C128> power, cube, root, inverse, real_base, fractional;
  for (size_t i = 0; i < a.size(); ++i) {
    power.push_back(std::pow(a[i], b[i]));
    cube.push_back(a[i] * a[i] * a[i]);
    root.push_back(std::sqrt(a[i]));
    inverse.push_back(1. / (a[i] * a[i]));
    real_base.push_back(std::pow(2., b[i]));
    fractional.push_back(std::pow(a[i], 1.3));
  }
  expect_close(pow(x, y), power, 1e-13);
  expect_close(pow(x, 3), cube, 1e-14);
  expect_close(pow(x, 0.5), root, 1e-14);
  expect_close(pow(x, -2), inverse, 1e-14);
  expect_close(pow(2, y), real_base, 1e-13);
  expect_close(pow(x, 1.3), fractional, 1e-13);
  expect_close(pow(x, C128(1.3, 0)), fractional, 1e-13);
  const Tensor zero = Tensor::of<C128>({{0, 0}});
  expect_exactly(pow(zero, 0), {{1, 0}});
  expect_exactly(pow(zero, zero), {{1, 0}});
  expect_exactly(pow(zero, Tensor::of<C128>({{2, 1}})), {{0, 0}});
  expect_exactly(pow(Tensor::of<C128>({{kNan, 1}}), zero), {{1, 0}});
}

TEST(Complex, Reductions) {
  for (const Shape& shape : {Shape{5, 7}, Shape{1, 3}, Shape{33, 40}, Shape{0, 3}}) {
    const Tensor z = random_complex(shape, 31);
    const std::vector<C128> a = z.to_vector<C128>();
    const int64_t rows = shape[0], columns = shape[1];
    std::vector<C128> total(static_cast<size_t>(columns)), factors(total.size(), 1);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        total[static_cast<size_t>(j)] += a[static_cast<size_t>(i * columns + j)];
        factors[static_cast<size_t>(j)] *= a[static_cast<size_t>(i * columns + j)];
      }
    }
    const auto near = [](const Tensor& x, const std::vector<C128>& expected) {
      const std::vector<C128> actual = x.to_vector<C128>();
      ASSERT_EQ(actual.size(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_LE(std::abs(actual[i] - expected[i]), 1e-12 * (1 + std::abs(expected[i])));
      }
    };
    near(sum(z, 0), total);
    near(prod(z, 0), factors);
    if (rows == 0) continue;
    for (C128& t : total) t /= static_cast<double>(rows);
    near(mean(z, 0), total);
    std::vector<double> spread(static_cast<size_t>(columns));
    for (size_t i = 0; i < a.size(); ++i) {
      const size_t j = i % static_cast<size_t>(columns);
      spread[j] += std::norm(a[i] - total[j]) / static_cast<double>(rows);
    }
    expect_near<double>(var(z, 0), {columns}, spread, 1e-12);
    EXPECT_EQ(prod(z, 0, KeepDims::Yes).shape(), (Shape{1, columns}));
    EXPECT_EQ(mean(z, {0, 1}).shape(), Shape{});
  }
  const Tensor z = Tensor::of<C128>({{1, 1}, {2, 0}, {0, 1}, {1, 0}, {0, 0}});
  expect_exactly(cumsum(z, 0), {{1, 1}, {3, 1}, {3, 2}, {4, 2}, {4, 2}});
  expect_exactly(cumprod(z, 0), {{1, 1}, {2, 2}, {-2, 2}, {-2, 2}, {0, 0}});
  expect_scalar<bool>(all(z), false);
  expect_scalar<bool>(any(z), true);
  expect_scalar<int64_t>(count_nonzero(z), 4);
  expect_near<double>(norm(z), {}, {std::sqrt(8)}, 1e-15);
  expect_near<double>(norm(z, 1), {}, {std::sqrt(2) + 4}, 1e-15);
  EXPECT_EQ(norm(Tensor::of<C64>({1})).dtype(), DType::F32);
}

TEST(Complex, Products) {
  const int64_t m = 9, k = 17, n = 5;
  const Tensor a = random_complex({m, k}, 41), b = random_complex({k, n}, 42);
  const std::vector<C128> x = a.to_vector<C128>(), y = b.to_vector<C128>();
  std::vector<C128> expected(static_cast<size_t>(m * n)), half_real(expected.size());
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t l = 0; l < k; ++l) {
        const C128 left = x[static_cast<size_t>(i * k + l)],
                   right = y[static_cast<size_t>(l * n + j)];
        expected[static_cast<size_t>(i * n + j)] += left * right;
        half_real[static_cast<size_t>(i * n + j)] += left.real() * right;
      }
    }
  }
  expect_close(matmul(a, b), expected, 1e-13);
  expect_close(matmul(real(a), b), half_real, 1e-13);
  expect_close(einsum("ik,kj->ij", {a, b}), expected, 1e-13);
  expect_close(tensordot(a, b, 1), expected, 1e-13);
  const Tensor u = Tensor::of<C128>({{1, 2}, {3, 4}}), v = Tensor::of<C128>({{5, 6}, {7, 8}});
  expect_exactly(dot(u, v), {C128(1, 2) * C128(5, 6) + C128(3, 4) * C128(7, 8)});
  expect_exactly(vdot(u, v), {C128(1, -2) * C128(5, 6) + C128(3, -4) * C128(7, 8)});
  expect_exactly(matmul(zeros({2, 0}, DType::C64), zeros({0, 1}, DType::C64)), {{0, 0}, {0, 0}});
}

/// dL/dx + i dL/dy of a real loss by central differences.
std::vector<C128> differences(const std::function<Tensor(const Tensor&)>& loss,
                              std::vector<C128> at, const Shape& shape) {
  constexpr double kStep = 1e-6;
  std::vector<C128> result(at.size());
  for (size_t i = 0; i < at.size(); ++i) {
    const auto slope = [&](C128 step) {
      const C128 old = at[i];
      at[i] = old + step;
      const double above = loss(Tensor::of(at, shape)).item<double>();
      at[i] = old - step;
      const double below = loss(Tensor::of(at, shape)).item<double>();
      at[i] = old;
      return (above - below) / (2 * kStep);
    };
    result[i] = {slope({kStep, 0}), slope({0, kStep})};
  }
  return result;
}

void expect_gradient(const std::function<Tensor(const Tensor&)>& function, const Shape& shape,
                     uint32_t seed) {
  const std::vector<C128> at = random_values(static_cast<size_t>(shape.numel()), seed);
  const auto loss = [&](const Tensor& z) {
    const Tensor y = function(z);
    if (!is_complex(y.dtype())) return sum(y);
    const Tensor weights = random_complex(y.shape(), seed + 1);  // no part is like another
    return sum(real(y) * real(weights) + imag(y) * imag(weights));
  };
  const Tensor z = Tensor::of(at, shape);
  const Tape tape;
  const Tensor gradient = tape.gradient(loss(z), z);
  EXPECT_EQ(gradient.type(), z.type());
  const std::vector<C128> expected = differences(loss, at, shape),
                          actual = gradient.to_vector<C128>();
  for (size_t i = 0; i < at.size(); ++i) {
    EXPECT_LE(std::abs(actual[i] - expected[i]), 1e-6 * (1 + std::abs(expected[i])))
        << i << ": " << actual[i] << " not " << expected[i];
  }
}

TEST(Complex, GradientsAreThoseOfDifferences) {
  using T = const Tensor&;
  expect_gradient([](T z) { return z * z * C128(1, 2) + conj(z); }, {5}, 51);
  expect_gradient([](T z) { return z / (z + C128(2, 1)); }, {5}, 52);
  expect_gradient([](T z) { return abs(z); }, {5}, 53);
  expect_gradient([](T z) { return angle(z); }, {5}, 54);
  expect_gradient([](T z) { return exp(z) + log(z) * sqrt(z); }, {5}, 55);
  expect_gradient([](T z) { return sin(z) + cosh(z) - tanh(z) + tan(z); }, {5}, 56);
  expect_gradient([](T z) { return asin(z) + acos(z) * atan(z); }, {5}, 57);
  expect_gradient([](T z) { return asinh(z) + acosh(z) * atanh(z); }, {5}, 58);
  expect_gradient([](T z) { return log1p(z) + expm1(z) + sigmoid(z) + sign(z); }, {5}, 59);
  expect_gradient([](T z) { return pow(z, 3) + pow(z, C128(0.5, 1)) + pow(z, z); }, {4}, 60);
  expect_gradient([](T z) { return matmul(z, transpose(conj(z))); }, {3, 4}, 61);
  expect_gradient([](T z) { return mean(z, 0) + prod(z, 0) * sum(z, 0); }, {3, 2}, 62);
  expect_gradient([](T z) { return cumsum(z, 0) + cumprod(z, 0); }, {5}, 63);
  expect_gradient([](T z) { return var(z) + norm(z) + std(z); }, {5}, 64);
  expect_gradient([](T z) { return vdot(z, z * z); }, {5}, 65);
  expect_gradient([](T z) { return where(real(z) < 0.2, z * z, conj(z)); }, {6}, 66);
  expect_gradient([](T z) { return einsum("ij,kj->ik", {z, z}); }, {2, 3}, 67);
}

TEST(Complex, GradientsOfMovement) {
  using T = const Tensor&;
  expect_gradient(
      [](T z) {
        return permute(reshape(z, {2, 3, 2}), {2, 0, 1}) * C128(1, 1);
      },
      {12}, 71);
  expect_gradient([](T z) { return flip(slice(z, 0, {.start = 1, .step = 2})); }, {7}, 72);
  expect_gradient([](T z) { return concat({z, z * z, slice(z, 0, {0, 1})}); }, {3}, 73);
  expect_gradient([](T z) { return gather(z, Tensor::of<int>({2, 2, 0})) * z; }, {3}, 74);
  expect_gradient([](T z) { return broadcast_to(z, {4, 3}); }, {3}, 75);
  expect_gradient(
      [](T z) {
        return scatter(z, Tensor::of<int>({1}), slice(z, 0, {0, 1}) * z[2]);
      },
      {3}, 76);
}

TEST(Complex, WhatAGradientIsOf) {
  const Tensor z = random_complex({3}, 81);
  const Tape tape;
  const Tensor y = z * z;
  expect_error<DTypeError>([&] { return tape.gradient(y, z); }, {"c128[3]", "cotangent"});
  // conj(dy/dz) g.
  const Tensor seed = random_complex({3}, 82);
  const std::vector<C128> at = z.to_vector<C128>(), g = seed.to_vector<C128>();
  std::vector<C128> expected;
  for (size_t i = 0; i < 3; ++i) expected.push_back(std::conj(2. * at[i]) * g[i]);
  expect_close(tape.gradient(y, z, seed), expected, 1e-14);
  for (size_t i = 0; i < 3; ++i) expected[i] = 2. * at[i] * g[i];
  expect_close(tape.jvp(y, std::vector{z}, std::vector{seed}), expected, 1e-14);
  // Of a real value beside a complex one.
  const Tensor x = Tensor::of<float>({1, 2, 3});
  const Tensor gradient = tape.gradient(sum(abs(x * z)), x);
  EXPECT_EQ(gradient.dtype(), DType::F32);
  std::vector<float> magnitudes;
  for (const C128& value : at) magnitudes.push_back(static_cast<float>(std::abs(value)));
  expect_near<float>(gradient, {3}, magnitudes, 1e-6);
  expect_exactly(tape.gradient(sum(abs(z * 0)), z), {{0, 0}, {0, 0}, {0, 0}});
}

TEST(Complex, ReplaysAndUpdates) {
  const Tensor w = random_complex({4}, 91), target = random_complex({4}, 92);
  double before = 0, loss = 0;
  for (int step = 0; step < 20; ++step) {
    const Tape tape;
    const Tensor error = sum(square(abs(w - target)));
    w.assign_(w - 0.25 * tape.gradient(error, w));
    tape.realize(error);
    loss = error.item<double>();
    if (step == 0) before = loss;
  }
  EXPECT_LT(loss, 1e-6 * before);
  const Tensor x = Tensor::of<C64>({{1, 2}, {3, 4}});
  Frozen frozen = [&] {
    const Tape tape;
    const Tensor y = x * x;
    return tape.freeze(std::vector{x}, std::vector{y, conj(x), x});
  }();
  const auto results = frozen.replay(std::vector{Tensor::of<C64>({{0, 1}, {2, 0}})});
  expect_exactly(results[0], {{-1, 0}, {4, 0}});
  expect_exactly(results[1], {{0, -1}, {2, -0.}});
  expect_exactly(results[2], {{0, 1}, {2, 0}});
}

TEST(Complex, PrintsAsNumPyDoes) {
  EXPECT_EQ(to_string(Tensor::of<C128>({{1, 2}, {1.5, -2.25}})),
            "[1. +2.j  , 1.5-2.25j] : c128[2]");
  EXPECT_EQ(to_string(Tensor::of<C128>({{kNan, -kInf}, {1, 0}})), "[nan-infj,  1. +0.j] : c128[2]");
  EXPECT_EQ(to_string(Tensor::scalar(C128(0, -1))), "0.-1.j : c64[]");
  EXPECT_EQ(to_string(complex(Tensor::of<int8_t>({1, -20}), Tensor::of<int8_t>({-3, 4}))),
            "[  1-3j, -20+4j] : ci8[2]");
}

TEST(ComplexIntegers, AreStoredMovedAndConverted) {
  for (const DType part : {DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16,
                           DType::U32, DType::U64}) {
    const Tensor re = cast(Tensor::of<int>({1, 2, 3}), part),
                 im = cast(Tensor::of<int>({4, 5, 6}), part);
    const Tensor z = complex(re, im);
    const TensorType type{*pair_of(part), {3}};
    EXPECT_EQ(z.type(), type);
    EXPECT_EQ(real(z).dtype(), part);
    const auto whole = [](const Tensor& x) { return cast(x, DType::I64).to_vector<int64_t>(); };
    EXPECT_EQ(whole(real(z)), (std::vector<int64_t>{1, 2, 3}));
    EXPECT_EQ(whole(imag(z)), (std::vector<int64_t>{4, 5, 6}));
    expect_exactly(cast(flip(z), DType::C128), {{3, 6}, {2, 5}, {1, 4}});
    EXPECT_EQ(cast(cast(z, DType::C64), type.dtype).type(), type);
    EXPECT_EQ(whole(imag(concat({z, gather(z, Tensor::of<int>({0}))}))),
              (std::vector<int64_t>{4, 5, 6, 4}));
    for (const auto& call : {std::function<Tensor()>([&] { return z + z; }),
                             std::function<Tensor()>([&] { return z * 2; }),
                             std::function<Tensor()>([&] { return z == z; }),
                             std::function<Tensor()>([&] { return abs(z); }),
                             std::function<Tensor()>([&] { return sum(z); }),
                             std::function<Tensor()>([&] { return -z; }),
                             std::function<Tensor()>([&] { return matmul(z, z); }),
                             std::function<Tensor()>([&] { return z + ones({3}); })}) {
      expect_error<DTypeError>(call, {std::string(name(type.dtype)).c_str()});
    }
  }
  // Saturating, as casts of their parts do.
  const Tensor z = cast(Tensor::of<C64>({{300, -300}, {2.9f, -2.9f}}), DType::CI8);
  EXPECT_EQ(real(z).to_vector<int8_t>(), (std::vector<int8_t>{127, 2}));
  EXPECT_EQ(imag(z).to_vector<int8_t>(), (std::vector<int8_t>{-128, -2}));
  expect_exactly(cast(conj(z), DType::C64), {{127, -128}, {2, 2}});
}

TEST(ComplexIntegers, AdoptMemory) {
  const std::vector<int16_t> samples{1, 2, 3, 4, 5, 6};
  const Tensor z = from_memory({DType::CI16, {3}}, samples.data(), [] {});
  expect_exactly(cast(z, DType::C64), {{1, 2}, {3, 4}, {5, 6}});
  expect_exactly(cast(slice(z, 0, {.start = 2, .step = -2}), DType::C64), {{5, 6}, {1, 2}});
}

}  // namespace
}  // namespace reprise
