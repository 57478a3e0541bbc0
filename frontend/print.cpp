// Tensors as text, laid out as NumPy lays out arrays.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <complex>
#include <span>

#include "frontend/ops.h"
#include "frontend/tensor.h"
#include "ir/scalar_interpreter.h"

namespace reprise {

namespace {

constexpr int64_t kSummarizeAbove = 1000;
constexpr int64_t kEdgeItems = 3;
constexpr int kPrecision = 8;  ///< digits behind the point, at most
constexpr size_t kLineWidth = 75;

/// The fewest significant digits that read back as the same value of `dtype`: "-d.ddde-xx".
std::string shortest(double value, DType dtype) {
  char text[64];
  const auto written = [&](auto... how) {
    return std::string(text, std::to_chars(text, text + sizeof text, how...).ptr);
  };
  if (dtype == DType::F64) return written(value, std::chars_format::scientific);
  const auto narrow = static_cast<float>(value);
  if (dtype == DType::F32) return written(narrow, std::chars_format::scientific);
  const auto bits = [&](float v) {
    return convert_bits(std::bit_cast<uint32_t>(v), DType::F32, dtype);
  };
  for (int digits = 0;; ++digits) {
    std::string some = written(narrow, std::chars_format::scientific, digits);
    float back = 0;
    std::from_chars(some.data(), some.data() + some.size(), back);
    if (digits == kPrecision || bits(back) == bits(narrow)) return some;
  }
}

/// A number around its point: "-12" "." "5" "e+03".
struct NumberText {
  std::string whole, fraction, exponent;
};

void drop_zeros(std::string& fraction) {
  fraction.erase(fraction.find_last_not_of('0') + 1);
}

NumberText scientific(double value, DType dtype) {
  std::string text = shortest(value, dtype);
  const size_t e = text.find('e');
  const auto split = [](const std::string& text) {
    const size_t e = text.find('e'), point = std::min(text.find('.'), e);
    return NumberText{text.substr(0, point), point < e ? text.substr(point + 1, e - point - 1) : "",
                      text.substr(e)};
  };
  NumberText parts = split(text);
  if (e != std::string::npos && parts.fraction.size() > kPrecision) {
    char rounded[64];
    const auto end = std::to_chars(rounded, rounded + sizeof rounded, value,
                                   std::chars_format::scientific, kPrecision);
    parts = split(std::string(rounded, end.ptr));
  }
  drop_zeros(parts.fraction);
  return parts;
}

NumberText positional(double value, DType dtype) {
  const std::string text = shortest(value, dtype);
  const int exponent = std::stoi(text.substr(text.find('e') + 1));
  const std::string mantissa = text.substr(0, text.find('e'));
  const auto digits =
      std::count_if(mantissa.begin(), mantissa.end(), [](char c) { return c >= '0' && c <= '9'; });
  const int fraction = std::clamp(static_cast<int>(digits) - 1 - exponent, 0, kPrecision);
  double decimal = value;
  std::from_chars(text.data(), text.data() + text.size(), decimal);
  char fixed[400];
  const auto end =
      std::to_chars(fixed, fixed + sizeof fixed, decimal, std::chars_format::fixed, fraction);
  const std::string_view all(fixed, static_cast<size_t>(end.ptr - fixed));
  const size_t point = std::min(all.find('.'), all.size());
  NumberText parts{std::string(all.substr(0, point)),
                   point < all.size() ? std::string(all.substr(point + 1)) : "", ""};
  drop_zeros(parts.fraction);
  return parts;
}

/// How NumPy writes floats: all with as many digits as one of them needs, with exponents where they
/// are very large, very small or far apart.
class FloatFormat {
 public:
  enum class Sign : uint8_t { OfNegative, Always };
  FloatFormat(std::span<const double> values, DType dtype, Sign sign = Sign::OfNegative)
      : dtype_(dtype), sign_(sign) {
    double largest = 0, smallest = HUGE_VAL;
    for (const double value : values) {
      if (!std::isfinite(value) || value == 0) continue;
      largest = std::max(largest, std::abs(value));
      smallest = std::min(smallest, std::abs(value));
    }
    exponents_ = largest != 0 && (largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1000);
    size_t longest_special = 0;
    for (const double value : values) {
      if (!std::isfinite(value)) {
        longest_special = std::max(longest_special, special(value).size());
        continue;
      }
      const NumberText parts = text_of(value);
      whole_ = std::max(whole_, parts.whole.size());
      fraction_ = std::max(fraction_, parts.fraction.size());
      exponent_ = std::max(exponent_, parts.exponent.size());
      any_ = true;
    }
    if (width() < longest_special) whole_ += longest_special - width();
  }

  [[nodiscard]] std::string operator()(double value) const {
    std::string out;
    if (!std::isfinite(value)) {
      out = special(value);
      return std::string(width() - out.size(), ' ') + out;
    }
    const NumberText parts = text_of(value);
    out.append(whole_ - parts.whole.size(), ' ').append(parts.whole).append(1, '.');
    out.append(parts.fraction);
    out.append(fraction_ - parts.fraction.size(), exponents_ ? '0' : ' ');
    return out + parts.exponent;
  }

 private:
  [[nodiscard]] std::string special(double value) const {
    const std::string_view text = std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    return (sign_ == Sign::Always && !(value < 0) ? "+" : "") + std::string(text);
  }
  [[nodiscard]] NumberText text_of(double value) const {
    NumberText text = exponents_ ? scientific(value, dtype_) : positional(value, dtype_);
    if (sign_ == Sign::Always && !std::signbit(value)) text.whole.insert(0, 1, '+');
    return text;
  }
  [[nodiscard]] size_t width() const { return whole_ + (any_ ? 1 : 0) + fraction_ + exponent_; }

  DType dtype_;
  Sign sign_;
  bool exponents_ = false;
  bool any_ = false;  ///< a finite one
  size_t whole_ = 0, fraction_ = 0, exponent_ = 0;
};

/// The imaginary part's text with its unit behind the last digit, before what fills it up.
std::string with_unit(std::string text) {
  text.insert(text.find_last_not_of(' ') + 1, "j");
  return text;
}

/// Calls `visit` for each position that is shown along an axis, -1 standing for the ellipsis.
template <class Visit>
void shown(int64_t extent, bool summarize, Visit visit) {
  for (int64_t i = 0; i < extent; ++i) {
    if (summarize && extent > 2 * kEdgeItems && i == kEdgeItems) {
      visit(-1);
      i = extent - kEdgeItems;
    }
    visit(i);
  }
}

// Recursion here is over axes, at most kMaxDims.
template <class Visit>
void each_shown(const Shape& shape, bool summarize, int axis, int64_t base, const Visit& visit) {
  if (axis == shape.rank()) return visit(base);
  shown(shape[axis], summarize, [&](int64_t i) {
    if (i >= 0) each_shown(shape, summarize, axis + 1, base * shape[axis] + i, visit);
  });
}

/// What is shown, each element as text of the same width, in the order of each_shown.
std::vector<std::string> texts_of(const Tensor& tensor, bool summarize) {
  const TensorType type = tensor.type();
  std::vector<std::string> texts;
  const auto collect = [&](const auto& values, const auto& text) {
    each_shown(type.shape, summarize, 0, 0,
               [&](int64_t i) { texts.push_back(text(values[static_cast<size_t>(i)])); });
  };
  switch (category(type.dtype)) {
    case DTypeCategory::Bool:
      collect(tensor.to_vector<bool>(), [](bool b) { return std::string(b ? "true" : "false"); });
      break;
    case DTypeCategory::Integer:
      if (type.dtype == DType::U64) {
        collect(tensor.to_vector<uint64_t>(), [](uint64_t i) { return std::to_string(i); });
      } else {
        collect(tensor.to_vector<int64_t>(), [](int64_t i) { return std::to_string(i); });
      }
      break;
    case DTypeCategory::Float: {
      std::vector<double> visible;
      const std::vector<double> values = tensor.to_vector<double>();
      each_shown(type.shape, summarize, 0, 0,
                 [&](int64_t i) { visible.push_back(values[static_cast<size_t>(i)]); });
      collect(values, FloatFormat(visible, type.dtype));
      break;
    }
    case DTypeCategory::Complex: {
      const auto values = tensor.to_vector<std::complex<double>>();
      std::vector<double> real, imag;
      each_shown(type.shape, summarize, 0, 0, [&](int64_t i) {
        real.push_back(values[static_cast<size_t>(i)].real());
        imag.push_back(values[static_cast<size_t>(i)].imag());
      });
      const FloatFormat format_real(real, part_of(type.dtype));
      const FloatFormat format_imag(imag, part_of(type.dtype), FloatFormat::Sign::Always);
      collect(values, [&](std::complex<double> z) {
        return format_real(z.real()) + with_unit(format_imag(z.imag()));
      });
      break;
    }
    case DTypeCategory::ComplexInteger: {
      const auto parts = [](const Tensor& x) {
        std::vector<std::string> texts;
        const bool wide = x.dtype() == DType::U64;
        if (wide) {
          for (const uint64_t i : x.to_vector<uint64_t>()) texts.push_back(std::to_string(i));
        } else {
          for (const int64_t i : x.to_vector<int64_t>()) texts.push_back(std::to_string(i));
        }
        return texts;
      };
      const std::vector<std::string> real = parts(reprise::real(tensor));
      const std::vector<std::string> imag = parts(reprise::imag(tensor));
      each_shown(type.shape, summarize, 0, 0, [&](int64_t at) {
        const auto i = static_cast<size_t>(at);
        texts.push_back(real[i] + (imag[i][0] == '-' ? "" : "+") + imag[i] + "j");
      });
      break;
    }
  }
  size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, text.size());
  for (std::string& text : texts) text.insert(0, width - text.size(), ' ');
  return texts;
}

class Writer {
 public:
  Writer(const Shape& shape, bool summarize, std::span<const std::string> texts)
      : shape_(shape), summarize_(summarize), texts_(texts) {}

  std::string run() {
    if (shape_.rank() == 0) return texts_.front();
    axis(0);
    return std::move(out_);
  }

 private:
  void axis(int number) {
    const int rank = shape_.rank();
    const size_t indent = static_cast<size_t>(number) + 1;
    const bool innermost = number + 1 == rank;
    out_ += '[';
    size_t line = indent;  // characters in it
    bool first = true;
    shown(shape_[number], summarize_, [&](int64_t i) {
      const std::string_view text = i < 0       ? std::string_view("...")
                                    : innermost ? std::string_view(texts_[next_++])
                                                : std::string_view();
      if (!first) {
        out_ += ',';
        // Innermost elements go on while a line lasts, closing brackets included.
        const bool fits = line + 2 + text.size() + static_cast<size_t>(rank) <= kLineWidth;
        if (innermost && fits) {
          out_ += ' ';
          line += 2;
        } else {
          out_.append(innermost ? 1 : static_cast<size_t>(rank - number - 1), '\n');
          out_.append(indent, ' ');
          line = indent;
        }
      }
      first = false;
      if (i >= 0 && !innermost) return axis(number + 1);
      out_ += text;
      line += text.size();
    });
    out_ += ']';
  }

  const Shape& shape_;
  bool summarize_;
  std::span<const std::string> texts_;
  size_t next_ = 0;
  std::string out_;
};

}  // namespace

std::string to_string(const Tensor& tensor) {
  const TensorType type = tensor.type();
  int64_t positions = 1;  // rows without elements are written too
  for (const int64_t extent : type.shape) positions *= std::max<int64_t>(extent, 1);
  const bool summarize = positions > kSummarizeAbove;
  const std::vector<std::string> texts = texts_of(tensor, summarize);
  return Writer(type.shape, summarize, texts).run() + " : " + str(type);
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << to_string(tensor);
}

}  // namespace reprise
