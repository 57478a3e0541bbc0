// Random tensors.
#include "frontend/random.h"

#include <cmath>
#include <numbers>

#include "frontend/contractions.h"
#include "frontend/create.h"
#include "frontend/indexing.h"
#include "frontend/record.h"
#include "frontend/sorting.h"

namespace reprise {

namespace {

/// One counter gives four 32-bit words.
Tensor drawn(Op op, const TensorType& type, int64_t words, Generator* generator) {
  const uint64_t counters = static_cast<uint64_t>(words + 3) / 4;
  if (generator) {
    const Generator::Draw draw = generator->take(counters);
    return record(op, {draw.key.id(), draw.counter.id()}, {}, &type);
  }
  Runtime& runtime = Runtime::get();
  const Tensor key(runtime.random_key());
  const Tensor counter(runtime.random_counter(counters));
  return record(op, {key.id(), counter.id()}, {}, &type);
}

Tensor drawn_floats(Op op, const char* what, const Shape& shape, DType dtype,
                    Generator* generator) {
  if (!is_float(dtype)) throw DTypeError(str(what, " makes floats, it was asked for ", dtype));
  // An f64 takes two words.
  return drawn(op, {dtype, shape}, shape.numel() * (dtype == DType::F64 ? 2 : 1), generator);
}

Tensor stored_u64(uint64_t value) {
  const Tensor x = stored_zeros({DType::U64, Shape()});
  x.assign_(full({}, value, DType::U64));
  return x;
}

/// As wide as draws are in f32: the narrow ones have few steps near 0.
DType wide(DType dtype) {
  return dtype == DType::F64 ? dtype : DType::F32;
}

}  // namespace

void set_seed(uint64_t seed) {
  Runtime::get().set_seed(seed);
}

Generator::Generator(uint64_t seed) : key_(stored_u64(seed)), counter_(stored_u64(0)) {}

Generator::Draw Generator::take(uint64_t count) {
  const Draw draw{.key = key_.value(), .counter = counter_.value()};
  counter_.assign_(draw.counter + full({}, count, DType::U64));
  return draw;
}

Tensor rand(const Shape& shape, DType dtype, Generator* generator) {
  return drawn_floats(Op::Uniform, "rand", shape, dtype, generator);
}

Tensor randn(const Shape& shape, DType dtype, Generator* generator) {
  return drawn_floats(Op::Normal, "randn", shape, dtype, generator);
}

Tensor uniform(const Shape& shape, Number low, Number high, DType dtype, Generator* generator) {
  if (!is_float(dtype)) throw DTypeError(str("uniform makes floats, it was asked for ", dtype));
  const double span = high.as_double() - low.as_double();
  if (!(low.as_double() <= high.as_double())) {
    throw Error(str("uniform from ", low, " to ", high, ": expected low <= high"));
  }
  for (const double value : {low.as_double(), high.as_double(), span}) {
    if (!(std::abs(value) <= largest_finite(dtype))) {
      throw Error(str("uniform from ", low, " to ", high, ": ", value, " overflows ", dtype));
    }
  }
  const Tensor u = rand(shape, dtype, generator);
  const bool varies = low.cell() != nullptr || high.cell() != nullptr;
  // Of Scalars each replay computes the span anew, rounded as here.
  const Tensor width = varies
                           ? cast(parameter(high, DType::F64) - parameter(low, DType::F64), dtype)
                           : parameter(span, dtype);
  return u * width + parameter(low, dtype);
}

Tensor randint(const Shape& shape, int64_t low, int64_t high, DType dtype, Generator* generator) {
  if (low >= high) throw Error(str("randint from ", low, " to ", high, ": no integers there"));
  require_fit("randint", low, high - 1, dtype);
  const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  const int64_t numel = shape.numel();
  Tensor offset;
  if (span <= uint64_t{1} << 24) {
    // The high word of word * span: off a uniform draw by less than span / 2^32.
    const Tensor word =
        cast(drawn(Op::RandomBits, {DType::U32, shape}, numel, generator), DType::U64);
    offset = (word * span) >> 32;
  } else {
    const Tensor words = drawn(Op::RandomBits, {DType::U32, Shape{2, numel}}, 2 * numel, generator);
    const Tensor wide = (cast(words[0], DType::U64) << 32) | cast(words[1], DType::U64);
    offset = reshape(wide % span, shape);
  }
  return cast(cast(offset, DType::I64) + low, dtype);
}

Tensor exponential(const Shape& shape, Number rate, DType dtype, Generator* generator) {
  if (!(rate.as_double() > 0)) throw Error(str("exponential: a rate of ", rate, " is not above 0"));
  if (!is_float(dtype)) {
    throw DTypeError(str("exponential makes floats, it was asked for ", dtype));
  }
  // 1 - u is never 0.
  const Tensor u = rand(shape, wide(dtype), generator);
  return cast(-log1p(-u) / parameter(rate, wide(dtype)), dtype);
}

namespace {

/// Where the inverse of erf no longer tells one place in a tail from the next.
constexpr double kTail = 5;

double literal(double value, const double&) {
  return value;
}
Tensor literal(double value, const Tensor&) {
  return constant(value, DType::F64);
}

/// exp(x * x / 2) erfc(x / sqrt(2)) of x past kTail: the first terms of a continued fraction.
template <class T>
T scaled_tail(const T& x) {
  const T y = x * literal(std::sqrt(0.5), x);
  T below = y;
  for (int term = 12; term > 0; --term) below = y + literal(term * 0.5, x) / below;
  return literal(1 / std::sqrt(std::numbers::pi), x) / below;
}

/// How far past `from` the normal distribution between there and `to` has passed the part u.
Tensor past_in_tail(double from, double to, const Tensor& u) {
  const double nearest = scaled_tail(from);
  const double rest =
      std::isinf(to) ? 0 : std::exp((from - to) * (from + to) / 2) * scaled_tail(to) / nearest;
  const Tensor logarithm = log1p(u * parameter(rest - 1, DType::F64));
  const Tensor start = parameter(from, DType::F64), scale = parameter(nearest, DType::F64);
  // Newton's steps from what a tail without curvature would give.
  Tensor past = -2 * logarithm / (sqrt(square(start) - 2 * logarithm) + start);
  for (int step = 0; step < 3; ++step) {
    const Tensor tail = scaled_tail(start + past);
    const Tensor off = log(tail / scale) - past * (start + past * 0.5) - logarithm;
    past = past + off * tail * std::sqrt(std::numbers::pi / 2);
  }
  return past;
}

}  // namespace

Tensor truncated_normal(const Shape& shape, double low, double high, DType dtype,
                        Generator* generator) {
  if (!(low < high))
    throw Error(str("truncated_normal from ", low, " to ", high, ": no numbers there"));
  if (!is_float(dtype)) {
    throw DTypeError(str("truncated_normal makes floats, it was asked for ", dtype));
  }
  const bool above = low > 0;
  const Tensor u = rand(shape, DType::F64, generator);
  if (low > kTail || high < -kTail) {
    const double nearest = above ? low : -high, farthest = above ? high : -low;
    const Tensor x = clamp(past_in_tail(nearest, farthest, u) + nearest, nearest, farthest);
    return cast(above ? x : -x, dtype);
  }
  // The inverse of the distribution at uniform places between those of the ends.
  const double from = above ? -high : low, to = above ? -low : high;
  const auto erf_at = [](double x) { return std::erf(x * std::sqrt(0.5)); };
  const Tensor place =
      parameter(erf_at(from), DType::F64) + u * parameter(erf_at(to) - erf_at(from), DType::F64);
  const Tensor x = clamp(erfinv(place) * std::sqrt(2.0), from, to);
  return cast(above ? -x : x, dtype);
}

Tensor bernoulli(const Tensor& p, Generator* generator) {
  const DType dtype = p.dtype();
  if (!is_float(dtype))
    throw DTypeError(str("bernoulli: probabilities are floats, not ", p.type()));
  const Tensor u = rand(p.shape(), wide(dtype), generator);
  return cast(u < cast(stop_gradient(p), wide(dtype)), dtype);
}

Tensor permutation(int64_t n, Generator* generator) {
  if (n < 0) throw ShapeError(str("permutation of ", n, " numbers"));
  // Two words: that two of 2^20 keys are equal, and in order, is 2^-25 likely.
  const Tensor words = drawn(Op::RandomBits, {DType::U32, Shape{2, n}}, 2 * n, generator);
  return argsort((cast(words[0], DType::U64) << 32) | cast(words[1], DType::U64));
}

Tensor permutation(const Tensor& x, int64_t axis, Generator* generator) {
  const int along = normalize_axis(axis, x.rank());
  return gather(x, permutation(x.shape()[along], generator), along);
}

namespace {

/// The positions drawn of rows of weights; out of range, which is told to who reads them, where a
/// weight is negative or not finite or fewer than `needed` are positive.
Tensor where_weights_allow(const Tensor& p, const Tensor& drawn, int64_t needed) {
  const int64_t kinds = p.size(-1);
  if (kinds == 0) return drawn;
  const Tensor good =
      logical_and(logical_and(min(p, -1, KeepDims::Yes) >= 0, max(p, -1, KeepDims::Yes) < HUGE_VAL),
                  count_nonzero(p, -1, KeepDims::Yes) >= needed);
  return record(Op::CheckIndex, where(good, drawn, -1), Attrs().add_int(kinds));
}

}  // namespace

Tensor multinomial(const Tensor& weights, int64_t count, Replacement replacement,
                   Generator* generator) {
  const TensorType type = weights.type();
  if (!is_float(type.dtype)) {
    throw DTypeError(str("multinomial: weights are floats, they are ", type));
  }
  const int last = normalize_axis(-1, type.shape.rank());
  const int64_t kinds = type.shape[last];
  const Tensor p = cast(stop_gradient(weights), wide(type.dtype));
  if (count < 0 || (replacement == Replacement::No && count > kinds) || (kinds == 0 && count > 0)) {
    throw Error(str("multinomial: ", count, " draws from ", type));
  }
  if (replacement == Replacement::No) {
    // The position whose exponential waiting time at the rate of its weight is over first.
    const Tensor wait = exponential(type.shape, 1.0, p.dtype(), generator) / p;
    const Tensor first = topk(where(p > 0, wait, HUGE_VAL), count, last, Order::Ascending).indices;
    return where_weights_allow(p, first, count);
  }
  SmallVector<int64_t, kMaxDims> extents(type.shape.extents());
  extents[static_cast<size_t>(last)] = count;
  const Tensor sums = unsqueeze(cumsum(p, last), -2);  // (.., 1, k)
  const Tensor u = unsqueeze(rand(Shape(extents), p.dtype(), generator), -1);
  const Tensor total = slice(sums, -1, {kinds - 1, kinds});
  // Rounding may bring u to the total itself: no further than the last that weighs something.
  const Tensor passed = logical_and(sums <= u * total, sums < total);
  return where_weights_allow(p, sum(cast(passed, DType::I64), -1), 1);
}

}  // namespace reprise
