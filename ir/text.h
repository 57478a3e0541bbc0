// The shared lexer and number printing of the textual forms of graphs, kernels, schedules and
// plans.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dtype.h"
#include "ir/error.h"

namespace reprise {

/// Reads words, numbers and punctuation from left to right. White space separates and `#` starts a
/// comment that runs to the end of the line. Whatever does not fit throws
/// ParseError("line L, column C: expected X, found Y").
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  /// Whether nothing but white space and comments is left.
  [[nodiscard]] bool at_end();
  /// Whether `token` comes next. A token that starts with a letter must match a whole word.
  [[nodiscard]] bool peek(std::string_view token);
  bool accept(std::string_view token);
  void expect(std::string_view token);
  void expect_end();

  /// A word: a letter or `_`, then letters, digits, `_` and `.`.
  [[nodiscard]] bool peek_identifier();
  [[nodiscard]] std::string_view identifier(std::string_view what = "a name");
  /// A number with its prefix, as ids print: `%12` (prefix "%"), `b3` (prefix "b").
  [[nodiscard]] bool peek_id(std::string_view prefix);
  [[nodiscard]] std::optional<uint32_t> accept_id(std::string_view prefix);
  [[nodiscard]] uint32_t expect_id(std::string_view prefix);

  [[nodiscard]] bool peek_number();
  [[nodiscard]] int64_t integer(std::string_view what = "an integer");
  /// A double: decimal, `inf`, `-inf`, or `nan:0x..` with the 64 bits of the NaN.
  [[nodiscard]] double number(std::string_view what = "a number");
  /// Passes over a number of any kind.
  void skip_number();
  /// An element as print_element() writes it, as raw bits. Out of the dtype's range is an error.
  [[nodiscard]] uint64_t element(DType dtype);
  [[nodiscard]] DType dtype();
  /// `[1, 2, -3]`, possibly empty.
  [[nodiscard]] std::vector<int64_t> integers();

  /// Throws for what comes next.
  [[noreturn]] void fail_expected(std::string_view what);
  /// Throws with a message of its own, placed at the last token read.
  [[noreturn]] void fail(std::string_view message) const;

 private:
  void skip();
  [[nodiscard]] std::string_view word() const;
  [[nodiscard]] std::string_view numeral() const;
  [[nodiscard]] std::optional<uint64_t> nan_bits(int bytes);
  void take(size_t characters);
  [[nodiscard]] std::string place(size_t position) const;

  std::string_view text_;
  size_t position_ = 0;
  size_t last_ = 0;  ///< where the last token read began
};

/// Shortest decimal that reads back as the same double; `inf`, `-inf`, `nan:0x7ff8000000000000`.
[[nodiscard]] std::string print_number(double value);
/// Shortest text that Lexer::element reads back as the same bits of this (real) dtype; bool: 0
/// or 1.
[[nodiscard]] std::string print_element(uint64_t bits, DType dtype);
/// `[1, 2, -3]`.
[[nodiscard]] std::string print_integers(const std::vector<int64_t>& values);

}  // namespace reprise
