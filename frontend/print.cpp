// Tensors as text, laid out as NumPy lays out arrays.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "frontend/tensor.h"

namespace reprise {

namespace {

constexpr int64_t kSummarizeAbove = 1000;
constexpr int64_t kEdgeItems = 3;

/// Shortest digits that read back as the same value, always with a point so that it reads as a
/// float.
template <class T>
std::string float_text(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  std::string digits(text, end);
  if (digits.find_first_of(".e") == std::string::npos) digits += '.';
  return digits;
}

/// The elements as text, each on its own.
class Elements {
 public:
  explicit Elements(const Tensor& tensor) : type_(tensor.type()) {
    switch (category(type_.dtype)) {
      case DTypeCategory::Bool:
        bools_ = tensor.to_vector<bool>();
        break;
      case DTypeCategory::Integer:
        if (type_.dtype == DType::U64) {
          unsigned_ = tensor.to_vector<uint64_t>();
        } else {
          signed_ = tensor.to_vector<int64_t>();
        }
        break;
      case DTypeCategory::Float:
        if (type_.dtype == DType::F64) {
          doubles_ = tensor.to_vector<double>();
        } else {
          floats_ = tensor.to_vector<float>();
        }
        break;
      case DTypeCategory::Complex:
        throw UnsupportedError(str("printing ", type_, " is not supported yet"));
    }
  }

  [[nodiscard]] const TensorType& type() const { return type_; }
  [[nodiscard]] std::string operator[](int64_t i) const {
    if (!bools_.empty()) return bools_[i] ? "true" : "false";
    if (!signed_.empty()) return std::to_string(signed_[i]);
    if (!unsigned_.empty()) return std::to_string(unsigned_[i]);
    if (!doubles_.empty()) return float_text(doubles_[i]);
    return float_text(floats_[i]);
  }

 private:
  TensorType type_;
  std::vector<bool> bools_;
  std::vector<int64_t> signed_;
  std::vector<uint64_t> unsigned_;
  std::vector<double> doubles_;
  std::vector<float> floats_;
};

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
void widest(const Elements& elements, bool summarize, int axis, int64_t base, size_t& width) {
  const Shape& shape = elements.type().shape;
  if (axis == shape.rank()) {
    width = std::max(width, elements[base].size());
    return;
  }
  shown(shape[axis], summarize, [&](int64_t i) {
    if (i >= 0) widest(elements, summarize, axis + 1, base * shape[axis] + i, width);
  });
}

void write(const Elements& elements, bool summarize, int axis, int64_t base, size_t width,
           std::string& out) {
  const Shape& shape = elements.type().shape;
  const int rank = shape.rank();
  if (axis == rank) {
    const std::string text = elements[base];
    out.append(width - text.size(), ' ').append(text);
    return;
  }
  out += '[';
  bool first = true;
  shown(shape[axis], summarize, [&](int64_t i) {
    if (!first) {
      out += ',';
      if (axis + 1 == rank) {
        out += ' ';
      } else {
        out.append(static_cast<size_t>(rank - axis - 1), '\n');
        out.append(static_cast<size_t>(axis) + 1, ' ');
      }
    }
    first = false;
    if (i < 0) {
      out += "...";
    } else {
      write(elements, summarize, axis + 1, base * shape[axis] + i, width, out);
    }
  });
  out += ']';
}

}  // namespace

std::string to_string(const Tensor& tensor) {
  const Elements elements(tensor);
  int64_t positions = 1;  // rows without elements are written too
  for (const int64_t extent : elements.type().shape) positions *= std::max<int64_t>(extent, 1);
  const bool summarize = positions > kSummarizeAbove;
  size_t width = 0;
  widest(elements, summarize, 0, 0, width);
  std::string out;
  write(elements, summarize, 0, 0, width, out);
  return out + " : " + str(elements.type());
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << to_string(tensor);
}

}  // namespace reprise
