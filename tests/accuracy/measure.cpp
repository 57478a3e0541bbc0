// Blocks of arguments through vector and scalar code of the same kernel, and their errors.
#include "tests/accuracy/measure.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>

#include "compiler/pipeline.h"
#include "ir/builder.h"
#include "ir/error.h"
#include "ir/float16.h"
#include "runtime/cpu/loader.h"

namespace reprise {
namespace {

/// Elements of one launch: no multiple of a vector, so that there is always a rest.
constexpr int64_t kBlock = (1 << 14) + 5;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// How a float dtype is stored, widened and rounded to.
template <DType dtype>
struct Format;
template <>
struct Format<DType::F64> {
  using Stored = double;
  using Wide = long double;
  static constexpr int kExponentBits = 11, kDigits = 53;
  static double widen(double x) { return x; }
  static double round(long double x) { return static_cast<double>(x); }
};
template <>
struct Format<DType::F32> {
  using Stored = float;
  using Wide = double;
  static constexpr int kExponentBits = 8, kDigits = 24;
  static double widen(float x) { return x; }
  static float round(double x) { return static_cast<float>(x); }
};
template <>
struct Format<DType::F16> {
  using Stored = uint16_t;
  using Wide = double;
  static constexpr int kExponentBits = 5, kDigits = 11;
  static double widen(uint16_t x) { return float_from_f16(x); }
  static uint16_t round(double x) { return f16_from_double(x); }
};
template <>
struct Format<DType::BF16> {
  using Stored = uint16_t;
  using Wide = double;
  static constexpr int kExponentBits = 8, kDigits = 8;
  static double widen(uint16_t x) { return float_from_bf16(x); }
  static uint16_t round(double x) { return bf16_from_double(x); }
};

/// Bits that look random and are the same for the same number.
uint64_t scatter(uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
  number = (number ^ number >> 27) * 0x94d049bb133111eb;
  return number ^ number >> 31;
}

/// In [0, 1).
double fraction(uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

template <class Stored>
using Take = std::function<void(Stored, Stored)>;

template <DType dtype>
void each_argument(const ArgumentChoice& choice, const Take<typename Format<dtype>::Stored>& take) {
  using F = Format<dtype>;
  using Stored = typename F::Stored;
  constexpr int kWidth = 8 * sizeof(Stored), kMantissa = F::kDigits - 1;
  using Word = std::conditional_t<kWidth == 64, uint64_t,
                                  std::conditional_t<kWidth == 32, uint32_t, uint16_t>>;
  const auto give = [&](uint64_t bits) {
    take(std::bit_cast<Stored>(static_cast<Word>(bits)), Stored{});
  };
  if constexpr (kWidth == 16) {
    for (uint64_t bits = 0; bits < 1 << 16; ++bits) give(bits);
    return;
  }
  for (const uint64_t sign : {uint64_t{0}, uint64_t{1} << (kWidth - 1)}) {
    for (int64_t exponent = 0; exponent < 1 << F::kExponentBits; ++exponent) {
      const uint64_t begin = sign | static_cast<uint64_t>(exponent) << kMantissa;
      for (uint64_t i = 0; i <= 8; ++i) give(begin + i);
      for (uint64_t i = 1; i <= 8; ++i) give(begin + ((uint64_t{1} << kMantissa) - i));
      if constexpr (kWidth == 64) {
        const int64_t times = std::abs(exponent - 1023) <= 10 ? 8 : 1;
        for (int64_t i = 0; i < choice.per_binade * times; ++i) {
          give(begin | scatter(begin + static_cast<uint64_t>(i)) >> (64 - kMantissa));
        }
      }
    }
  }
  if constexpr (kWidth == 32) {
    for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += choice.stride) give(bits);
  }
}

/// A quarter each: any two bit patterns; results of every size; the same with bases near 1; small
/// whole exponents.
template <DType dtype>
void each_pair(const ArgumentChoice& choice, const Take<typename Format<dtype>::Stored>& take) {
  using F = Format<dtype>;
  using Stored = typename F::Stored;
  const double largest = std::ldexp(1.0, F::kExponentBits - 1) + F::kDigits;
  for (int64_t i = 0; i < choice.pairs; ++i) {
    const uint64_t a = scatter(2 * static_cast<uint64_t>(i));
    const uint64_t b = scatter(2 * static_cast<uint64_t>(i) + 1);
    Stored x, y;
    std::memcpy(&x, &a, sizeof x);
    std::memcpy(&y, &b, sizeof y);
    if (i % 4 == 1 || i % 4 == 2) {
      if (i % 4 == 2) {
        const double gap = std::exp2(-static_cast<double>(a % F::kDigits)) * fraction(scatter(a));
        x = F::round(1 + (a & 64 ? gap : -gap / 2));
      }
      const double logarithm = std::log2(std::abs(F::widen(x)));
      y = F::round((2 * fraction(b) - 1) * largest / logarithm);
    } else if (i % 4 == 3) {
      y = F::round(static_cast<double>(b % 41) - 20);
    }
    take(x, y);
  }
}

/// One operation as code for one target, with vectors and without.
class Code {
 public:
  Code(const TrueFunction& function, DType dtype, const TargetInfo& target) {
    Graph graph;
    GraphBuilder builder(graph);
    std::vector<Value> operands;
    for (int i = 0; i < function.operands; ++i) {
      operands.push_back(builder.input({dtype, Shape({kBlock})}, static_cast<uint32_t>(i)));
    }
    builder.output(builder.record(function.op, operands, function.attrs));
    const CompiledGraph compiled = compile(graph, target, {});
    REPRISE_ASSERT(compiled.kernels.size() == 1);
    Schedule schedule = compiled.schedules[0];
    vector_ = Version(compiled.kernels[0], schedule, target);
    for (auto& phase : schedule.phases) {
      for (PartSchedule& part : phase) {
        part.vector_axis = VectorAxis::None;
        part.vector_lanes = part.unroll = 1;
      }
    }
    scalar_ = Version(compiled.kernels[0], schedule, target);
  }

  void run_vector(std::span<void* const> buffers) const { vector_.run(buffers); }
  void run_scalar(std::span<void* const> buffers) const { scalar_.run(buffers); }

 private:
  class Version {
   public:
    Version() = default;
    Version(const Kernel& kernel, const Schedule& schedule, const TargetInfo& target)
        : code_(llvm_backend().generate(kernel, schedule, target)),
          loaded_(load_code(code_.bytes, code_.phases.size())) {}
    void run(std::span<void* const> buffers) const {
      LaunchStatus status;
      const CpuLaunch launch{buffers.data(), nullptr, &status};
      for (size_t i = 0; i < code_.phases.size(); ++i) {
        REPRISE_ASSERT(code_.phases[i].scratch_bytes == 0);
        loaded_.phases[i](&launch, 0, code_.phases[i].tasks, nullptr);
      }
    }

   private:
    KernelCode code_;
    LoadedCode loaded_;
  };

  Version vector_, scalar_;
};

/// Units of the last place of `want`, whose spacing is that of the format. An overflow counts as
/// the number that would come after the largest.
template <DType dtype>
double units_off(typename Format<dtype>::Stored got, typename Format<dtype>::Wide want) {
  using F = Format<dtype>;
  using Wide = typename F::Wide;
  constexpr int kMaxExponent = 1 << (F::kExponentBits - 1);
  const double value = F::widen(got);
  if (std::isnan(want) || std::isnan(value)) {
    return std::isnan(want) && std::isnan(value) ? 0 : kInfinity;
  }
  if (want == 0 && value == 0) return std::signbit(want) == std::signbit(value) ? 0 : kInfinity;
  const Wide bound = std::ldexp(Wide{1}, kMaxExponent);
  const Wide nearby = std::clamp<Wide>(want, -bound, bound);
  const Wide given = std::clamp<Wide>(value, -bound, bound);
  if (given == nearby) return 0;
  int exponent = nearby == 0 ? INT32_MIN / 2 : std::ilogb(nearby) + 1;
  exponent = std::clamp(exponent, 3 - kMaxExponent, kMaxExponent);
  return static_cast<double>(std::ldexp(std::abs(given - nearby), F::kDigits - exponent));
}

template <DType dtype>
class Measurement {
 public:
  using F = Format<dtype>;
  using Stored = typename F::Stored;

  Measurement(const TrueFunction& function, std::span<const TargetInfo> targets)
      : function_(function),
        results_(targets.size()),
        sums_(targets.size()),
        counted_(targets.size()) {
    for (const TargetInfo& target : targets) codes_.emplace_back(function, dtype, target);
  }

  void take(Stored x, Stored y) {
    x_[static_cast<size_t>(filled_)] = x;
    y_[static_cast<size_t>(filled_)] = y;
    if (++filled_ == kBlock) flush();
  }

  std::vector<Accuracy> finish() {
    flush();
    for (size_t t = 0; t < results_.size(); ++t) {
      if (counted_[t] != 0) results_[t].mean = sums_[t] / static_cast<double>(counted_[t]);
    }
    return std::move(results_);
  }

 private:
  void flush() {
    for (int64_t i = 0; i < filled_; ++i) {
      const auto k = static_cast<size_t>(i);
      if constexpr (dtype == DType::F64) {
        want_[k] = function_.exact(x_[k], y_[k]);
      } else {
        want_[k] = function_.close(F::widen(x_[k]), F::widen(y_[k]));
      }
    }
    for (size_t t = 0; t < codes_.size(); ++t) compare(t);
    filled_ = 0;
  }

  void compare(size_t t) {
    std::vector<void*> buffers = {x_.data()};
    if (function_.operands == 2) buffers.push_back(y_.data());
    buffers.push_back(got_.data());
    codes_[t].run_vector(buffers);
    buffers.back() = scalar_.data();
    codes_[t].run_scalar(buffers);
    Accuracy& result = results_[t];
    for (int64_t i = 0; i < filled_; ++i) {
      const auto k = static_cast<size_t>(i);
      const double value = F::widen(got_[k]);
      const bool both_nan = std::isnan(value) && std::isnan(F::widen(scalar_[k]));
      if (!both_nan && std::memcmp(&got_[k], &scalar_[k], sizeof(Stored)) != 0) ++result.differing;
      const double off = units_off<dtype>(got_[k], want_[k]);
      if (off > result.most) {
        result.most = off;
        result.at = F::widen(x_[k]);
        result.at2 = F::widen(y_[k]);
      }
      if (off > 0.5) ++result.misrounded;
      if (std::isfinite(value) && want_[k] != 0) {
        sums_[t] += off;
        ++counted_[t];
      }
    }
    result.arguments += filled_;
  }

  const TrueFunction& function_;
  std::vector<Code> codes_;
  std::vector<Accuracy> results_;
  std::vector<double> sums_;
  std::vector<int64_t> counted_;
  int64_t filled_ = 0;
  std::vector<Stored> x_ = std::vector<Stored>(kBlock), y_ = x_, got_ = x_, scalar_ = x_;
  std::vector<typename F::Wide> want_ = std::vector<typename F::Wide>(kBlock);
};

template <DType dtype>
std::vector<Accuracy> measure_as(const TrueFunction& function, std::span<const TargetInfo> targets,
                                 const ArgumentChoice& choice) {
  Measurement<dtype> measurement(function, targets);
  const auto take = [&](auto x, auto y) { measurement.take(x, y); };
  if (function.operands == 1) {
    each_argument<dtype>(choice, take);
  } else {
    each_pair<dtype>(choice, take);
  }
  return measurement.finish();
}

}  // namespace

std::vector<Accuracy> measure(const TrueFunction& function, DType dtype,
                              std::span<const TargetInfo> targets, const ArgumentChoice& choice) {
  if (dtype == DType::F64) return measure_as<DType::F64>(function, targets, choice);
  if (dtype == DType::F32) return measure_as<DType::F32>(function, targets, choice);
  if (dtype == DType::F16) return measure_as<DType::F16>(function, targets, choice);
  REPRISE_ASSERT(dtype == DType::BF16);
  return measure_as<DType::BF16>(function, targets, choice);
}

}  // namespace reprise
