// Einsum: operands are brought to matrix products, two at a time.
#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "frontend/contractions.h"
#include "frontend/rearrange.h"
#include "frontend/record.h"

namespace reprise {

namespace {

using Extents = SmallVector<int64_t, kMaxDims>;

// A label is a letter; the axes of an ellipsis are labelled from the end, below all letters.
using Label = unsigned char;
constexpr Label kLastOfEllipsis = kMaxDims;  // then 7, 6, ..
using Labels = std::basic_string<Label>;

/// An operand on the way: its axes are its labels'.
struct Term {
  Tensor value;
  Labels labels;
};

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
  std::array<int64_t, 256> extents{};  ///< by label
};

bool has(const Labels& labels, Label label) {
  return labels.find(label) != Labels::npos;
}

/// The labels of one term of the text, its ellipsis as `dots` labels.
Labels labels_of(std::string_view text, int dots, std::string_view equation) {
  Labels labels;
  bool seen = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      if (seen || text.substr(i, 3) != "...") {
        throw Error(str("einsum: \"", equation, "\" has points that are no ellipsis"));
      }
      seen = true;
      i += 2;
      for (int k = dots; k-- > 0;) labels += static_cast<Label>(kLastOfEllipsis - k);
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      labels += static_cast<Label>(c);
    } else {
      throw Error(str("einsum: \"", equation, "\" has the label '", c, "', which is no letter"));
    }
  }
  return labels;
}

int letters(std::string_view text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return c != '.' && c != ' '; }));
}

Equation parse(std::string_view text, std::span<const Tensor> operands) {
  Equation equation;
  const size_t arrow = text.find("->");
  std::string_view left = text.substr(0, arrow);
  std::vector<std::string_view> terms;
  for (;;) {
    const size_t comma = left.find(',');
    terms.push_back(left.substr(0, comma));
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  if (terms.size() != operands.size()) {
    throw Error(str("einsum: \"", text, "\" is of ", terms.size(), " operands, ", operands.size(),
                    " were given"));
  }
  for (const std::string_view term : terms) (void)labels_of(term, 0, text);  // what is no label
  int most = 0;
  std::array<int, 256> count{};
  for (size_t i = 0; i < terms.size(); ++i) {
    const Shape shape = operands[i].shape();
    const bool has_ellipsis = terms[i].find('.') != std::string_view::npos;
    const int dots = shape.rank() - letters(terms[i]);
    if (dots < 0 || (dots > 0 && !has_ellipsis)) {
      throw ShapeError(str("einsum: \"", terms[i], "\" does not fit ", operands[i].type(),
                           ", which has rank ", shape.rank()));
    }
    if (has_ellipsis) most = std::max(most, dots);
    const Labels& labels = equation.inputs.emplace_back(labels_of(terms[i], dots, text));
    for (int axis = 0; axis < shape.rank(); ++axis) {
      int64_t& extent = equation.extents[labels[axis]];
      const bool first = count[labels[axis]]++ == 0;
      if (first || extent == 1) {
        extent = shape[axis];
      } else if (shape[axis] != 1 && shape[axis] != extent) {
        throw ShapeError(str("einsum: \"", text, "\": axis ", axis, " of ", operands[i].type(),
                             " has extent ", shape[axis], ", the same label has ", extent,
                             " elsewhere"));
      }
    }
  }
  if (arrow != std::string_view::npos) {
    equation.output = labels_of(text.substr(arrow + 2), most, text);
    for (const Label label : equation.output) {
      if (count[label] == 0 ||
          std::count(equation.output.begin(), equation.output.end(), label) > 1)
        throw Error(str("einsum: \"", text, "\": the result's label '", static_cast<char>(label),
                        count[label] == 0 ? "' occurs in no operand" : "' occurs twice"));
    }
    return equation;
  }
  for (int label = 0; label < 256; ++label) {
    const bool kept = label <= kLastOfEllipsis ? count[label] > 0 : count[label] == 1;
    if (kept) equation.output += static_cast<Label>(label);
  }
  return equation;
}

/// Takes the diagonal of axes with one label, and gives every axis its label's full extent.
Term prepared(const Tensor& operand, const Labels& given, const Equation& equation) {
  Term term{operand.value(), given};
  Extents full;
  for (const Label label : given) full.push_back(equation.extents[label]);
  term.value = broadcast_to(term.value, Shape(full));
  for (size_t i = 0; i < term.labels.size(); ++i) {
    for (size_t k = i + 1; k < term.labels.size();) {
      if (term.labels[k] != term.labels[i]) {
        ++k;
        continue;
      }
      const Label label = term.labels[i];
      term.value = diagonal(term.value, 0, static_cast<int64_t>(i), static_cast<int64_t>(k));
      term.labels.erase(k, 1);
      term.labels.erase(i, 1);
      term.labels += label;  // the diagonal is the last axis
      i = 0;
      k = 1;
    }
  }
  return term;
}

Tensor summed(const Tensor& x, const std::vector<int64_t>& axes) {
  return axes.empty() ? x.value() : cast(sum(x, AxisList(axes)), x.dtype());
}

/// Sums away the labels that nobody needs any more.
void sum_unneeded(Term& term, const Labels& needed) {
  std::vector<int64_t> axes;
  Labels left;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    if (has(needed, term.labels[i])) {
      left += term.labels[i];
    } else {
      axes.push_back(static_cast<int64_t>(i));
    }
  }
  term = {summed(term.value, axes), left};
}

/// The term with its axes in the order of these labels.
Tensor arranged(const Term& term, const Labels& order) {
  Extents axes;
  for (const Label label : order) axes.push_back(static_cast<int64_t>(term.labels.find(label)));
  return permute(term.value, axes);
}

int64_t product(const Labels& labels, const Equation& equation) {
  int64_t count = 1;
  for (const Label label : labels) count *= equation.extents[label];
  return count;
}

/// The product of two terms, summed over the labels that are in both and not needed.
Term contracted(const Term& a, const Term& b, const Labels& needed, const Equation& equation) {
  Labels batch, rows, columns, inner;
  for (const Label label : a.labels) {
    (!has(b.labels, label) ? rows : has(needed, label) ? batch : inner) += label;
  }
  for (const Label label : b.labels) {
    if (!has(a.labels, label)) columns += label;
  }
  const int64_t count = product(batch, equation), m = product(rows, equation),
                n = product(columns, equation), k = product(inner, equation);
  const Labels labels = batch + rows + columns;
  Extents extents;
  for (const Label label : labels) extents.push_back(equation.extents[label]);
  const Tensor left = arranged(a, batch + rows + inner),
               right = arranged(b, batch + inner + columns);
  const Tensor result = inner.empty()
                            ? reshape(left, {count, m, 1}) * reshape(right, {count, 1, n})
                            : matmul(reshape(left, {count, m, k}), reshape(right, {count, k, n}));
  return {reshape(result, extents), labels};
}

}  // namespace

Tensor einsum(std::string_view text, std::span<const Tensor> operands) {
  const Equation equation = parse(text, operands);
  DType dtype = operands[0].dtype();
  for (const Tensor& operand : operands) dtype = promote(dtype, operand.dtype());
  if (dtype == DType::Bool) {  // whether any product holds, as of matmul
    std::vector<Tensor> counted;
    for (const Tensor& operand : operands) counted.push_back(cast(operand, DType::I64));
    return einsum(text, counted) != 0;
  }
  // Half types round once, at the end.
  const bool half = dtype == DType::F16 || dtype == DType::BF16;
  const DType wide = half ? DType::F32 : dtype;
  std::vector<Term> terms;
  terms.reserve(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    terms.push_back(prepared(cast(operands[i], wide), equation.inputs[i], equation));
  }
  const auto needed_beside = [&](size_t i, size_t k) {
    Labels needed = equation.output;
    for (size_t other = 0; other < terms.size(); ++other) {
      if (other != i && other != k) needed += terms[other].labels;
    }
    return needed;
  };
  for (size_t i = 0; i < terms.size(); ++i) sum_unneeded(terms[i], needed_beside(i, i));
  // Next come the two whose product is smallest.
  while (terms.size() > 1) {
    size_t first = 0, second = 1;
    int64_t least = std::numeric_limits<int64_t>::max();
    for (size_t i = 0; i < terms.size(); ++i) {
      for (size_t k = i + 1; k < terms.size(); ++k) {
        const Labels needed = needed_beside(i, k);
        int64_t size = 1;
        for (const Label label : terms[i].labels) {
          if (has(needed, label)) size *= equation.extents[label];
        }
        for (const Label label : terms[k].labels) {
          if (has(needed, label) && !has(terms[i].labels, label)) size *= equation.extents[label];
        }
        if (size >= least) continue;
        least = size;
        first = i;
        second = k;
      }
    }
    const Labels needed = needed_beside(first, second);
    terms[first] = contracted(terms[first], terms[second], needed, equation);
    terms.erase(terms.begin() + static_cast<ptrdiff_t>(second));
  }
  return cast(arranged(terms[0], equation.output), dtype);
}

Tensor einsum(std::string_view equation, std::initializer_list<Tensor> operands) {
  return einsum(equation, std::span(operands.begin(), operands.size()));
}

Tensor tensordot(const Tensor& a, const Tensor& b, std::span<const int64_t> a_axes,
                 std::span<const int64_t> b_axes) {
  const TensorType left = a.type(), right = b.type();
  if (a_axes.size() != b_axes.size()) {
    throw ShapeError(str("tensordot: ", a_axes.size(), " axes of ", left, " and ", b_axes.size(),
                         " of ", right));
  }
  Extents a_order, b_order, extents, b_rest;
  uint32_t a_summed = 0, b_summed = 0;
  int64_t k = 1;
  for (size_t i = 0; i < a_axes.size(); ++i) {
    const int p = normalize_axis(a_axes[i], left.shape.rank());
    const int q = normalize_axis(b_axes[i], right.shape.rank());
    if (left.shape[p] != right.shape[q]) {
      throw ShapeError(str("tensordot: axis ", p, " of ", left, " has extent ", left.shape[p],
                           ", axis ", q, " of ", right, " has ", right.shape[q]));
    }
    if ((a_summed >> p & 1) != 0 || (b_summed >> q & 1) != 0) {
      throw Error(
          str("tensordot: axis ", p, " of ", left, " or ", q, " of ", right, " occurs twice"));
    }
    a_summed |= uint32_t{1} << p;
    b_summed |= uint32_t{1} << q;
    b_order.push_back(q);
    k *= left.shape[p];
  }
  int64_t m = 1, n = 1;
  for (int i = 0; i < left.shape.rank(); ++i) {
    if ((a_summed >> i & 1) != 0) continue;
    a_order.push_back(i);
    extents.push_back(left.shape[i]);
    m *= left.shape[i];
  }
  for (const int64_t axis : a_axes) a_order.push_back(normalize_axis(axis, left.shape.rank()));
  for (int i = 0; i < right.shape.rank(); ++i) {
    if ((b_summed >> i & 1) != 0) continue;
    b_order.push_back(i);
    extents.push_back(right.shape[i]);
    n *= right.shape[i];
  }
  const Tensor rows = reshape(permute(a, a_order), {m, k});
  return reshape(matmul(rows, reshape(permute(b, b_order), {k, n})), extents);
}

Tensor tensordot(const Tensor& a, const Tensor& b, int64_t axes) {
  const int rank = a.rank();
  if (axes < 0 || axes > rank || axes > b.rank()) {
    throw ShapeError(str("tensordot: ", axes, " axes of ", a.type(), " and ", b.type()));
  }
  Extents last, first;
  for (int64_t i = 0; i < axes; ++i) {
    last.push_back(rank - axes + i);
    first.push_back(i);
  }
  return tensordot(a, b, last, first);
}

}  // namespace reprise
