// Reading and printing of the smallest parts of every textual form.
#include "ir/text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "ir/float16.h"

namespace reprise {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '.';
}

template <class Float>
std::string shortest(Float value) {
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, result.ptr);
}

std::string print_nan(uint64_t bits, int bytes) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "nan:0x%0*llx", 2 * bytes,
                static_cast<unsigned long long>(bits));
  return buffer;
}

/// Tries ever more digits until the text gives the same 16 bits.
template <class Round>
std::string shortest_half(uint16_t bits, float value, Round round) {
  if (std::isinf(value)) return shortest(value);
  for (int digits = 1; digits < 9; ++digits) {
    char buffer[64];
    const auto result =
        std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, digits);
    double back = 0;
    std::from_chars(buffer, result.ptr, back);
    if (round(back) == bits) return std::string(buffer, result.ptr);
  }
  return shortest(value);
}

}  // namespace

void Lexer::skip() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '#') {
      const size_t end = text_.find('\n', position_);
      position_ = end == std::string_view::npos ? text_.size() : end;
    } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++position_;
    } else {
      return;
    }
  }
}

std::string_view Lexer::word() const {
  if (position_ >= text_.size() || !is_letter(text_[position_])) return {};
  size_t end = position_ + 1;
  while (end < text_.size() && is_word(text_[end])) ++end;
  return text_.substr(position_, end - position_);
}

std::string_view Lexer::numeral() const {
  size_t end = position_;
  if (end < text_.size() && text_[end] == '-') ++end;
  if (end >= text_.size() || !is_digit(text_[end])) return {};
  while (end < text_.size()) {
    const char c = text_[end];
    const bool exponent_sign = (c == '-' || c == '+') && (text_[end - 1] == 'e');
    if (!is_word(c) && !exponent_sign) break;
    ++end;
  }
  return text_.substr(position_, end - position_);
}

void Lexer::take(size_t characters) {
  last_ = position_;
  position_ += characters;
}

std::string Lexer::place(size_t position) const {
  const std::string_view before = text_.substr(0, position);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t newline = before.rfind('\n');
  const size_t column = position - (newline == std::string_view::npos ? 0 : newline + 1) + 1;
  return str("line ", line, ", column ", column, ": ");
}

bool Lexer::at_end() {
  skip();
  return position_ >= text_.size();
}

bool Lexer::peek(std::string_view token) {
  skip();
  if (is_letter(token.front())) return word() == token;
  return text_.substr(position_).starts_with(token);
}

bool Lexer::accept(std::string_view token) {
  if (!peek(token)) return false;
  take(token.size());
  return true;
}

void Lexer::expect(std::string_view token) {
  if (!accept(token)) fail_expected(str("'", token, "'"));
}

void Lexer::expect_end() {
  if (!at_end()) fail_expected("the end of the text");
}

bool Lexer::peek_identifier() {
  skip();
  return !word().empty();
}

std::string_view Lexer::identifier(std::string_view what) {
  skip();
  const std::string_view result = word();
  if (result.empty()) fail_expected(what);
  take(result.size());
  return result;
}

bool Lexer::peek_id(std::string_view prefix) {
  skip();
  if (!text_.substr(position_).starts_with(prefix)) return false;
  size_t end = position_ + prefix.size();
  const size_t digits = end;
  while (end < text_.size() && is_digit(text_[end])) ++end;
  return end > digits && (end == text_.size() || !is_word(text_[end]));
}

std::optional<uint32_t> Lexer::accept_id(std::string_view prefix) {
  if (!peek_id(prefix)) return std::nullopt;
  const std::string_view rest = text_.substr(position_ + prefix.size());
  uint32_t value = 0;
  const auto result = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (result.ec != std::errc() || value == UINT32_MAX) {
    const std::string_view digits = rest.substr(0, rest.find_first_not_of("0123456789"));
    take(prefix.size() + digits.size());
    fail(str("expected an id below 4294967295, found '", prefix, digits, "'"));
  }
  take(prefix.size() + static_cast<size_t>(result.ptr - rest.data()));
  return value;
}

uint32_t Lexer::expect_id(std::string_view prefix) {
  const std::optional<uint32_t> value = accept_id(prefix);
  if (!value) fail_expected(str("'", prefix, "' and a number"));
  return *value;
}

bool Lexer::peek_number() {
  skip();
  if (!numeral().empty()) return true;
  return peek("inf") || text_.substr(position_).starts_with("-inf") || peek("nan");
}

int64_t Lexer::integer(std::string_view what) {
  skip();
  const std::string_view digits = numeral();
  int64_t value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || result.ec != std::errc() || result.ptr != digits.data() + digits.size()) {
    fail_expected(what);
  }
  take(digits.size());
  return value;
}

std::optional<uint64_t> Lexer::nan_bits(int bytes) {
  if (!accept("nan")) return std::nullopt;
  expect(":0x");
  size_t end = position_;
  while (end < text_.size() && is_word(text_[end])) ++end;
  const std::string_view digits = text_.substr(position_, end - position_);
  uint64_t value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.empty() || result.ec != std::errc() || result.ptr != digits.data() + digits.size() ||
      (bytes < 8 && value >> (8 * bytes) != 0)) {
    fail_expected("the bits of a NaN");
  }
  take(digits.size());
  return value;
}

double Lexer::number(std::string_view what) {
  skip();
  if (const auto bits = nan_bits(8)) {
    const double value = std::bit_cast<double>(*bits);
    if (!std::isnan(value)) fail("these are not the bits of a NaN");
    return value;
  }
  if (accept("inf")) return HUGE_VAL;
  if (text_.substr(position_).starts_with("-inf")) {
    take(4);
    return -HUGE_VAL;
  }
  const std::string_view digits = numeral();
  double value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || result.ec != std::errc() || result.ptr != digits.data() + digits.size()) {
    fail_expected(what);
  }
  take(digits.size());
  return value;
}

void Lexer::skip_number() {
  skip();
  if (nan_bits(8) || accept("inf")) return;
  if (text_.substr(position_).starts_with("-inf")) return take(4);
  if (numeral().empty()) fail_expected("a number");
  take(numeral().size());
}

uint64_t Lexer::element(DType dtype) {
  skip();
  if (is_float(dtype)) {
    const int bytes = static_cast<int>(size_of(dtype));
    if (const auto bits = nan_bits(bytes)) {
      const bool nan = bytes == 8            ? std::isnan(std::bit_cast<double>(*bits))
                       : bytes == 4          ? std::isnan(std::bit_cast<float>(uint32_t(*bits)))
                       : dtype == DType::F16 ? (*bits & 0x7fff) > 0x7c00
                                             : (*bits & 0x7fff) > 0x7f80;
      if (!nan) fail(str("these are not the bits of a NaN of ", name(dtype)));
      return *bits;
    }
    if (dtype == DType::F32 && !numeral().empty()) {
      // Straight to float: the shortest text of a float need not survive a detour through double.
      const std::string_view digits = numeral();
      float value = 0;
      const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (result.ec != std::errc() || result.ptr != digits.data() + digits.size()) {
        fail_expected("a number in the range of f32");
      }
      take(digits.size());
      return std::bit_cast<uint32_t>(value);
    }
    const double value = number();
    if (dtype == DType::F64) return std::bit_cast<uint64_t>(value);
    if (dtype == DType::F32) return std::bit_cast<uint32_t>(static_cast<float>(value));
    return dtype == DType::F16 ? f16_from_double(value) : bf16_from_double(value);
  }
  if (is_pair(dtype)) fail("a pair is written as its two parts");
  const std::string_view digits = numeral();
  const char* end = digits.data() + digits.size();
  const std::string what = str("an integer in the range of ", name(dtype));
  if (digits.empty()) fail_expected(what);
  uint64_t bits = 0;
  if (digits.front() == '-') {
    int64_t value = 0;
    const auto result = std::from_chars(digits.data(), end, value);
    if (result.ec != std::errc() || result.ptr != end || value < min_integer(dtype)) {
      fail_expected(what);
    }
    bits = static_cast<uint64_t>(value);
  } else {
    const auto result = std::from_chars(digits.data(), end, bits);
    if (result.ec != std::errc() || result.ptr != end || bits > max_integer(dtype)) {
      fail_expected(what);
    }
  }
  take(digits.size());
  const size_t width = 8 * size_of(dtype);
  return width == 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}

DType Lexer::dtype() {
  skip();
  const std::optional<DType> result = parse_dtype(word());
  if (!result) fail_expected("a dtype");
  take(word().size());
  return *result;
}

std::vector<int64_t> Lexer::integers() {
  std::vector<int64_t> values;
  expect("[");
  if (accept("]")) return values;
  do {
    values.push_back(integer());
  } while (accept(","));
  expect("]");
  return values;
}

void Lexer::fail_expected(std::string_view what) {
  skip();
  std::string found = "the end of the text";
  if (position_ < text_.size()) {
    std::string_view token = numeral().empty() ? word() : numeral();
    if (token.empty()) token = text_.substr(position_, 1);
    // The text may be any file: nothing is quoted that a terminal would obey.
    const auto byte = static_cast<unsigned char>(token.front());
    constexpr size_t kLongest = 40;
    if (byte < 0x20 || byte > 0x7e) {
      found = str("the byte ", static_cast<int>(byte));
    } else if (token.size() > kLongest) {
      found = str("'", token.substr(0, kLongest), "...'");
    } else {
      found = str("'", token, "'");
    }
  }
  throw ParseError(str(place(position_), "expected ", what, ", found ", found));
}

void Lexer::fail(std::string_view message) const {
  throw ParseError(str(place(last_), message));
}

std::string print_number(double value) {
  if (std::isnan(value)) return print_nan(std::bit_cast<uint64_t>(value), 8);
  return shortest(value);
}

std::string print_element(uint64_t bits, DType dtype) {
  const int width = 8 * static_cast<int>(size_of(dtype));
  if (dtype == DType::F64) return print_number(std::bit_cast<double>(bits));
  if (is_float(dtype)) {
    const uint16_t half = static_cast<uint16_t>(bits);
    const float value = dtype == DType::F32   ? std::bit_cast<float>(static_cast<uint32_t>(bits))
                        : dtype == DType::F16 ? float_from_f16(half)
                                              : float_from_bf16(half);
    if (std::isnan(value)) return print_nan(bits, width / 8);
    if (dtype == DType::F32) return shortest(value);
    return dtype == DType::F16 ? shortest_half(half, value, f16_from_double)
                               : shortest_half(half, value, bf16_from_double);
  }
  REPRISE_ASSERT(!is_pair(dtype));
  if (is_signed_integer(dtype)) {
    return std::to_string(static_cast<int64_t>(bits << (64 - width)) >> (64 - width));
  }
  return std::to_string(bits);
}

std::string print_integers(const std::vector<int64_t>& values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ", ";
    out += std::to_string(values[i]);
  }
  return out + "]";
}

}  // namespace reprise
