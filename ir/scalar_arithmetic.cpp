// Reference semantics of the scalar operations, element by element.
#include "ir/scalar_arithmetic.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ir/error.h"
#include "ir/float16.h"
#include "ir/math.h"
#include "ir/scalar_interpreter.h"
#include "ir/visit_dtype.h"

namespace reprise {
namespace {

// Bool lanes are bytes of their own type, so that casts to them compare instead of truncating.
enum class Truth : uint8_t {};
enum class F16 : uint16_t {};
enum class BF16 : uint16_t {};

template <class T>
using Tag = std::type_identity<T>;

template <class F>
void with_integer(DType dtype, F f) {
  if (visit_integer(dtype, f)) return;
  throw InternalError(str("internal error: no integer arithmetic on ", dtype));
}

template <class F>
void with_any(DType dtype, F f) {
  if (dtype == DType::Bool) return f(Tag<Truth>{});
  if (dtype == DType::F16) return f(Tag<F16>{});
  if (dtype == DType::BF16) return f(Tag<BF16>{});
  if (visit_number(dtype, f)) return;
  throw UnsupportedError(str("scalar arithmetic on ", dtype));
}

// Casts: a half type is first the float it stands for, exactly.
template <class T>
auto exact_value(T value) {
  if constexpr (std::is_same_v<T, F16>) {
    return float_from_f16(static_cast<uint16_t>(value));
  } else if constexpr (std::is_same_v<T, BF16>) {
    return float_from_bf16(static_cast<uint16_t>(value));
  } else if constexpr (std::is_same_v<T, Truth>) {
    return static_cast<uint8_t>(value);
  } else {
    return value;
  }
}

/// A double that rounds to a 16-bit format as `value` itself would: when a 64-bit integer does not
/// fit, the lowest kept bit takes in all that fell away.
template <class T>
double rounding_proxy(T value) {
  if constexpr (sizeof(T) == 8 && !std::is_floating_point_v<T>) {
    constexpr T kExact = T{1} << 53;
    bool exact = value <= kExact;
    if constexpr (std::is_signed_v<T>) exact = exact && value >= -kExact;
    if (!exact) {
      const T low = value & T{0xfff};
      return static_cast<double>(value - low) + (low != 0 ? 2048.0 : 0.0);
    }
  }
  return static_cast<double>(value);
}

template <class To, class From>
To convert(From from) {
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else {
    const auto value = exact_value(from);
    using Value = std::remove_const_t<decltype(value)>;
    if constexpr (std::is_same_v<To, Truth>) {
      return static_cast<Truth>(value != 0);
    } else if constexpr (std::is_same_v<To, F16>) {
      if constexpr (std::is_same_v<Value, float>) return static_cast<F16>(f16_from_float(value));
      return static_cast<F16>(f16_from_double(rounding_proxy(value)));
    } else if constexpr (std::is_same_v<To, BF16>) {
      if constexpr (std::is_same_v<Value, float>) return static_cast<BF16>(bf16_from_float(value));
      return static_cast<BF16>(bf16_from_double(rounding_proxy(value)));
    } else if constexpr (std::is_floating_point_v<Value> && std::is_integral_v<To>) {
      constexpr int kDigits = std::numeric_limits<To>::digits;
      const Value bound = std::ldexp(Value{1}, kDigits);
      if (value != value) return 0;
      if (value >= bound) return std::numeric_limits<To>::max();
      if constexpr (std::is_signed_v<To>) {
        if (value < -bound) return std::numeric_limits<To>::min();
      } else {
        if (value <= 0) return 0;
      }
      return static_cast<To>(value);
    } else {
      return static_cast<To>(value);
    }
  }
}

template <class R, class A, class F>
void map1(const void* const args[3], void* out, int lanes, F f) {
  const A* a = static_cast<const A*>(args[0]);
  R* r = static_cast<R*>(out);
  for (int l = 0; l < lanes; ++l) r[l] = f(a[l]);
}

template <class R, class A, class F>
void map2(const void* const args[3], void* out, int lanes, F f) {
  const A* a = static_cast<const A*>(args[0]);
  const A* b = static_cast<const A*>(args[1]);
  R* r = static_cast<R*>(out);
  for (int l = 0; l < lanes; ++l) r[l] = f(a[l], b[l]);
}

template <class T>
void select(const void* const args[3], void* out, int lanes) {
  const uint8_t* c = static_cast<const uint8_t*>(args[0]);
  const T* yes = static_cast<const T*>(args[1]);
  const T* no = static_cast<const T*>(args[2]);
  T* r = static_cast<T*>(out);
  for (int l = 0; l < lanes; ++l) r[l] = c[l] ? yes[l] : no[l];
}

[[noreturn]] void fail_dtype(ScalarOp op, DType dtype) {
  throw InternalError(str("internal error: no scalar ", name(op), " of ", dtype));
}

template <class T>
void compare(ScalarOp op, const void* const args[3], void* out, int lanes) {
  switch (op) {
    case ScalarOp::Eq:
      return map2<uint8_t, T>(args, out, lanes, [](T a, T b) -> uint8_t { return a == b; });
    case ScalarOp::Ne:
      return map2<uint8_t, T>(args, out, lanes, [](T a, T b) -> uint8_t { return a != b; });
    case ScalarOp::Lt:
      return map2<uint8_t, T>(args, out, lanes, [](T a, T b) -> uint8_t { return a < b; });
    default:
      return map2<uint8_t, T>(args, out, lanes, [](T a, T b) -> uint8_t { return a <= b; });
  }
}

template <class T>
T floor_div(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    using U = std::make_unsigned_t<T>;
    if (b == -1) return static_cast<T>(U{0} - static_cast<U>(a));
    const T quotient = static_cast<T>(a / b);
    return static_cast<T>(a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient);
  } else {
    return static_cast<T>(a / b);
  }
}

template <class T>
T floor_mod(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
    const T rest = static_cast<T>(a % b);
    return static_cast<T>(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
  } else {
    return static_cast<T>(a % b);
  }
}

template <class T>
T shift(ScalarOp op, T a, T b) {
  using U = std::make_unsigned_t<T>;
  constexpr U kWidth = 8 * sizeof(T);
  const bool past = static_cast<U>(b) >= kWidth;
  if (op == ScalarOp::Shl) return past ? T{0} : static_cast<T>(static_cast<U>(a) << b);
  if (past) return a < 0 ? static_cast<T>(-1) : T{0};
  return static_cast<T>(a >> b);
}

template <class T>
T multiply_high(T a, T b) {
  if constexpr (sizeof(T) < 8) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b) >> (8 * sizeof(T)));
  } else {
    const uint64_t x = a, y = b, low = 0xffffffff;
    const uint64_t middle = (x >> 32) * (y & low) + ((x & low) * (y & low) >> 32);
    const uint64_t cross = (x & low) * (y >> 32) + (middle & low);
    return static_cast<T>((x >> 32) * (y >> 32) + (middle >> 32) + (cross >> 32));
  }
}

template <class T>
void integer_op(ScalarOp op, DType dtype, const void* const args[3], void* out, int lanes) {
  // Unsigned arithmetic at 64 bits wraps; narrowing it wraps at the dtype.
  using W = uint64_t;
  const auto two = [&](auto f) { map2<T, T>(args, out, lanes, f); };
  const auto one = [&](auto f) { map1<T, T>(args, out, lanes, f); };
  switch (op) {
    case ScalarOp::Neg:
      return one([](T a) { return static_cast<T>(W{0} - static_cast<W>(a)); });
    case ScalarOp::Abs:
      return one([](T a) { return a < 0 ? static_cast<T>(W{0} - static_cast<W>(a)) : a; });
    case ScalarOp::Not:
      return one([](T a) { return static_cast<T>(~static_cast<W>(a)); });
    case ScalarOp::Floor:
    case ScalarOp::Ceil:
    case ScalarOp::Trunc:
    case ScalarOp::Round:
      return one([](T a) { return a; });
    case ScalarOp::Add:
      return two([](T a, T b) { return static_cast<T>(static_cast<W>(a) + static_cast<W>(b)); });
    case ScalarOp::Sub:
      return two([](T a, T b) { return static_cast<T>(static_cast<W>(a) - static_cast<W>(b)); });
    case ScalarOp::Mul:
      return two([](T a, T b) { return static_cast<T>(static_cast<W>(a) * static_cast<W>(b)); });
    case ScalarOp::Div:
      return two([](T a, T b) { return floor_div(a, b); });
    case ScalarOp::Mod:
      return two([](T a, T b) { return floor_mod(a, b); });
    case ScalarOp::Min:
      return two([](T a, T b) { return b < a ? b : a; });
    case ScalarOp::Max:
      return two([](T a, T b) { return a < b ? b : a; });
    case ScalarOp::And:
      return two([](T a, T b) { return static_cast<T>(a & b); });
    case ScalarOp::Or:
      return two([](T a, T b) { return static_cast<T>(a | b); });
    case ScalarOp::Xor:
      return two([](T a, T b) { return static_cast<T>(a ^ b); });
    case ScalarOp::Shl:
    case ScalarOp::Shr:
      return two([op](T a, T b) { return shift(op, a, b); });
    case ScalarOp::MulHigh:
      if constexpr (std::is_unsigned_v<T>) {
        return two([](T a, T b) { return multiply_high(a, b); });
      }
      break;
    case ScalarOp::Fma: {
      const T* c = static_cast<const T*>(args[2]);
      T* r = static_cast<T*>(out);
      const T* a = static_cast<const T*>(args[0]);
      const T* b = static_cast<const T*>(args[1]);
      for (int l = 0; l < lanes; ++l) {
        r[l] = static_cast<T>(static_cast<W>(a[l]) * static_cast<W>(b[l]) + static_cast<W>(c[l]));
      }
      return;
    }
    default:
      break;
  }
  fail_dtype(op, dtype);
}

void bool_op(ScalarOp op, const void* const args[3], void* out, int lanes) {
  using T = uint8_t;
  const auto two = [&](auto f) { map2<T, T>(args, out, lanes, f); };
  switch (op) {
    case ScalarOp::Not:
      return map1<T, T>(args, out, lanes, [](T a) { return static_cast<T>(a ^ 1); });
    case ScalarOp::Min:
    case ScalarOp::And:
      return two([](T a, T b) { return static_cast<T>(a & b); });
    case ScalarOp::Max:
    case ScalarOp::Or:
      return two([](T a, T b) { return static_cast<T>(a | b); });
    case ScalarOp::Xor:
      return two([](T a, T b) { return static_cast<T>(a ^ b); });
    default:
      fail_dtype(op, DType::Bool);
  }
}

template <class T>
T float_min(T a, T b) {
  if (a != a) return a;
  if (b != b) return b;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

template <class T>
T float_max(T a, T b) {
  if (a != a) return a;
  if (b != b) return b;
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}

template <class T>
T float_mod(T a, T b) {
  const T rest = std::fmod(a, b);
  if (rest != 0 && (rest < 0) != (b < 0)) return rest + b;
  return rest == 0 ? std::copysign(rest, b) : rest;
}

template <class T>
void float_fma(const void* const args[3], void* out, int lanes, const Numerics& numerics) {
  const T* a = static_cast<const T*>(args[0]);
  const T* b = static_cast<const T*>(args[1]);
  const T* c = static_cast<const T*>(args[2]);
  T* r = static_cast<T*>(out);
  if (numerics.fma) {
    for (int l = 0; l < lanes; ++l) r[l] = std::fma(a[l], b[l], c[l]);
  } else {
    for (int l = 0; l < lanes; ++l) r[l] = a[l] * b[l] + c[l];
  }
}

template <class T>
void float_op(ScalarOp op, DType dtype, const void* const args[3], void* out, int lanes,
              const Numerics& numerics) {
  const auto two = [&](auto f) { map2<T, T>(args, out, lanes, f); };
  const auto one = [&](auto f) { map1<T, T>(args, out, lanes, f); };
  switch (op) {
    case ScalarOp::Neg:
      return one([](T a) { return -a; });
    case ScalarOp::Abs:
      return one([](T a) { return std::fabs(a); });
    case ScalarOp::Sqrt:
      return one([](T a) { return std::sqrt(a); });
    case ScalarOp::Floor:
      return one([](T a) { return std::floor(a); });
    case ScalarOp::Ceil:
      return one([](T a) { return std::ceil(a); });
    case ScalarOp::Trunc:
      return one([](T a) { return std::trunc(a); });
    case ScalarOp::Round:
      return one([](T a) { return std::nearbyint(a); });
    case ScalarOp::Add:
      return two([](T a, T b) { return a + b; });
    case ScalarOp::Sub:
      return two([](T a, T b) { return a - b; });
    case ScalarOp::Mul:
      return two([](T a, T b) { return a * b; });
    case ScalarOp::Div:
      return two([](T a, T b) { return a / b; });
    case ScalarOp::Mod:
      return two([](T a, T b) { return float_mod(a, b); });
    case ScalarOp::Min:
      return two([](T a, T b) { return float_min(a, b); });
    case ScalarOp::Max:
      return two([](T a, T b) { return float_max(a, b); });
    case ScalarOp::CopySign:
      return two([](T a, T b) { return std::copysign(a, b); });
    case ScalarOp::Fma:
      return float_fma<T>(args, out, lanes, numerics);
    case ScalarOp::Exp:
    case ScalarOp::Log:
    case ScalarOp::Tanh:
    case ScalarOp::Erf:
    case ScalarOp::Sin:
    case ScalarOp::Cos: {
      Body body;
      ScalarBuilder builder(body);
      const ScalarId x = builder.load({BufferId{0}, {0, {1}}, {}}, dtype);
      const ScalarId y = expand_math(builder, op, x);
      const int64_t extent = lanes;
      evaluate_elementwise(body, numerics, y, {&extent, 1}, {args, 1}, out);
      return;
    }
    default:
      fail_dtype(op, dtype);
  }
}

}  // namespace

void convert_lanes(DType from, DType to, const void* in, void* out, int lanes) {
  with_any(from, [&]<class From>(Tag<From>) {
    with_any(to, [&]<class To>(Tag<To>) {
      const From* source = static_cast<const From*>(in);
      To* target = static_cast<To*>(out);
      for (int l = 0; l < lanes; ++l) target[l] = convert<To>(source[l]);
    });
  });
}

void evaluate_lanes(ScalarOp op, DType dtype, DType operand, const void* const args[3], void* out,
                    int lanes, const Numerics& numerics) {
  if (op == ScalarOp::Cast) return convert_lanes(operand, dtype, args[0], out, lanes);
  if (op == ScalarOp::Bitcast) {
    std::memcpy(out, args[0], lanes * size_of(dtype));
    return;
  }
  if (op == ScalarOp::Select) {
    switch (size_of(dtype)) {
      case 1:
        return select<uint8_t>(args, out, lanes);
      case 2:
        return select<uint16_t>(args, out, lanes);
      case 4:
        return select<uint32_t>(args, out, lanes);
      default:
        return select<uint64_t>(args, out, lanes);
    }
  }
  if (operand == DType::F16 || operand == DType::BF16) {
    // As widen_halves has it: in f32, then one rounding.
    REPRISE_ASSERT(lanes <= kLanes);
    std::array<std::array<float, kLanes>, 3> wide;
    const void* const wide_args[3] = {wide[0].data(), wide[1].data(), wide[2].data()};
    for (int a = 0; a < arity(op); ++a) {
      convert_lanes(operand, DType::F32, args[a], wide[a].data(), lanes);
    }
    if (is_comparison(op)) return compare<float>(op, wide_args, out, lanes);
    std::array<float, kLanes> result;
    float_op<float>(op, DType::F32, wide_args, result.data(), lanes, numerics);
    return convert_lanes(DType::F32, dtype, result.data(), out, lanes);
  }
  if (operand == DType::Bool) {
    if (is_comparison(op)) return compare<uint8_t>(op, args, out, lanes);
    return bool_op(op, args, out, lanes);
  }
  if (operand == DType::F32) {
    if (is_comparison(op)) return compare<float>(op, args, out, lanes);
    return float_op<float>(op, dtype, args, out, lanes, numerics);
  }
  if (operand == DType::F64) {
    if (is_comparison(op)) return compare<double>(op, args, out, lanes);
    return float_op<double>(op, dtype, args, out, lanes, numerics);
  }
  with_integer(operand, [&]<class T>(Tag<T>) {
    if (is_comparison(op)) return compare<T>(op, args, out, lanes);
    integer_op<T>(op, dtype, args, out, lanes);
  });
}

uint64_t convert_bits(uint64_t value, DType from, DType to) {
  uint64_t result = 0;
  convert_lanes(from, to, &value, &result, 1);
  return result;
}

uint64_t evaluate_bits(ScalarOp op, DType dtype, DType operand, uint64_t a, uint64_t b, uint64_t c,
                       const Numerics& numerics) {
  const void* const args[3] = {&a, &b, &c};
  uint64_t result = 0;
  evaluate_lanes(op, dtype, operand, args, &result, 1, numerics);
  return result;
}

uint64_t combine_bits(ReduceKind kind, DType dtype, uint64_t accumulator, uint64_t value) {
  switch (kind) {
    case ReduceKind::Sum:
      return evaluate_bits(ScalarOp::Add, dtype, dtype, accumulator, value);
    case ReduceKind::Prod:
      return evaluate_bits(ScalarOp::Mul, dtype, dtype, accumulator, value);
    case ReduceKind::Min:
      return evaluate_bits(ScalarOp::Min, dtype, dtype, accumulator, value);
    case ReduceKind::Max:
      return evaluate_bits(ScalarOp::Max, dtype, dtype, accumulator, value);
    case ReduceKind::ArgMin:
    case ReduceKind::ArgMax:
    case ReduceKind::Dot:
      break;
  }
  throw InternalError("internal error: argument and dot reductions do not combine two values");
}

uint64_t reduce_identity(ReduceKind kind, DType dtype) {
  const auto extreme = [&](double infinity, uint64_t integer) {
    if (is_float(dtype)) return convert_bits(std::bit_cast<uint64_t>(infinity), DType::F64, dtype);
    const size_t width = 8 * size_of(dtype);
    return width == 64 ? integer : integer & ((uint64_t{1} << width) - 1);
  };
  switch (kind) {
    case ReduceKind::Sum:
    case ReduceKind::Dot:
    case ReduceKind::ArgMin:
    case ReduceKind::ArgMax:
      return 0;
    case ReduceKind::Prod:
      return convert_bits(1, DType::U64, dtype);
    case ReduceKind::Min:
      return extreme(std::numeric_limits<double>::infinity(), max_integer(dtype));
    case ReduceKind::Max:
      return extreme(-std::numeric_limits<double>::infinity(),
                     static_cast<uint64_t>(min_integer(dtype)));
  }
  return 0;
}

}  // namespace reprise
