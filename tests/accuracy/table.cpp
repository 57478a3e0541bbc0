// The page's text, there and back.
#include "tests/accuracy/table.h"

#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>

#include "ir/error.h"

namespace reprise {
namespace {

constexpr std::string_view kIntroduction =
    R"(# Accuracy

How far from the true value the functions of floats can be, measured: kernels compiled for a target
that fuses multiply and add (AVX2) and for one that does not (SSE2), each as vector code with a rest
and as scalar code, which must give the same bits. Written by `./dev accuracy`, which takes some ten
minutes and says with `--help` what else it tries; `accuracy_test` holds a sample of the same
arguments against this page.

*most* is the largest error in units of the last place of the true result (0.5: always the nearest
float), *at* where it was found, *mean* over all, *misrounded* how many results are more than half a
unit off. Specials count: NaN where a number is due, or a zero of the wrong sign, would be `inf`.
The true values are the C library's one precision up: `double` for f32 and less, `long double` of 64
bits for f64, and of 113 bits where those lose digits. Their own error is below 0.01 units.
)";

std::string arguments_text(DType dtype, const ArgumentChoice& choice) {
  const std::string around = " and the 17 around each power of 2";
  if (dtype == DType::F32) return str("One f32 of every ", choice.stride, around);
  if (dtype == DType::F64) {
    return str(choice.per_binade,
               " random f64 of each sign and exponent, eight times as many from 2^-10 to 2^11,",
               around);
  }
  return str("Every ", dtype);
}

std::string most_text(double most) {
  if (std::isinf(most)) return "inf";
  std::ostringstream text;
  text << std::fixed << std::setprecision(3) << std::ceil(most * 1000) / 1000;
  return text.str();
}

std::string at_text(const Accuracy& accuracy, DType dtype, int operands) {
  if (accuracy.most == 0) return "";
  std::ostringstream text;
  text << std::setprecision(dtype == DType::F64 ? 17 : 9) << accuracy.at;
  if (operands == 2) text << ", " << accuracy.at2;
  return text.str();
}

std::string misrounded_text(const Accuracy& accuracy) {
  if (accuracy.arguments <= 1 << 16) return str(accuracy.misrounded);
  std::ostringstream text;
  text << std::setprecision(2)
       << 100.0 * static_cast<double>(accuracy.misrounded) / static_cast<double>(accuracy.arguments)
       << " %";
  return text.str();
}

std::string cells(const Accuracy& accuracy, DType dtype, int operands) {
  std::ostringstream mean;
  mean << std::fixed << std::setprecision(3) << accuracy.mean;
  return str(" ", most_text(accuracy.most), " | ", at_text(accuracy, dtype, operands), " | ",
             mean.str(), " | ", misrounded_text(accuracy), " |");
}

std::vector<std::string> split_row(std::string_view line) {
  std::vector<std::string> result;
  size_t begin = 1;
  for (size_t bar = line.find('|', begin); bar != std::string_view::npos;
       bar = line.find('|', begin)) {
    std::string_view cell = line.substr(begin, bar - begin);
    while (!cell.empty() && (cell.front() == ' ' || cell.front() == '`')) cell.remove_prefix(1);
    while (!cell.empty() && (cell.back() == ' ' || cell.back() == '`')) cell.remove_suffix(1);
    result.emplace_back(cell);
    begin = bar + 1;
  }
  return result;
}

}  // namespace

std::string render(const std::vector<MeasuredRow>& rows, const ArgumentChoice& choice) {
  std::ostringstream page;
  page << kIntroduction;
  std::optional<DType> section;
  for (const MeasuredRow& row : rows) {
    if (section != row.dtype) {
      section = row.dtype;
      page << "\n## " << row.dtype << "\n\n"
           << arguments_text(row.dtype, choice) << "; " << choice.pairs
           << " random pairs for functions of two arguments.\n\n"
           << "| op | most, fused | at | mean | misrounded | most, unfused | at | mean | "
              "misrounded |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    }
    page << "| `" << row.op << "` |" << cells(row.fused, row.dtype, row.operands)
         << cells(row.unfused, row.dtype, row.operands) << '\n';
  }
  return page.str();
}

std::vector<PromisedRow> parse_accuracy(std::string_view page) {
  std::vector<PromisedRow> rows;
  std::istringstream lines{std::string(page)};
  std::optional<DType> section;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) section = parse_dtype(line.substr(3));
    if (!line.starts_with("| `")) continue;
    const std::vector<std::string> row = split_row(line);
    if (!section || row.size() != 9) throw Error(str("not a row of the accuracy table: ", line));
    rows.push_back({row[0], *section, std::strtod(row[1].c_str(), nullptr),
                    std::strtod(row[5].c_str(), nullptr)});
  }
  return rows;
}

}  // namespace reprise
