// Attributes of a node: a flat list of words, laid out by the op's own schema.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

#include "ir/dtype.h"
#include "ir/small_vector.h"

namespace reprise {

enum class AttrKind : uint8_t {
  Int,    ///< one word
  Float,  ///< one word, the bits of a double
  Type,   ///< one word, a DType
  Ints,   ///< a count word, then that many words
  Axes,   ///< one word, a bit mask of axes; prints as [0,2]
};

/// One attribute of an op's schema. All attributes are structural: they are part of every key.
/// What varies from call to call (a slope, an eps, a rate) is a rank-0 operand instead.
struct AttrDef {
  std::string_view name;
  AttrKind kind;
};

/// Attributes in schema order; appended in that order, read back by position.
class Attrs {
 public:
  Attrs() = default;

  Attrs& add_int(int64_t value) {
    words_.push_back(value);
    return *this;
  }
  Attrs& add_float(double value) {
    words_.push_back(std::bit_cast<int64_t>(value));
    return *this;
  }
  Attrs& add_type(DType value) {
    words_.push_back(static_cast<int64_t>(value));
    return *this;
  }
  Attrs& add_ints(std::span<const int64_t> values) {
    words_.push_back(static_cast<int64_t>(values.size()));
    words_.append(values);
    return *this;
  }

  /// The `word`-th word. Schemas put single words before lists, so that positions are fixed.
  [[nodiscard]] int64_t word(int word) const { return words_[word]; }
  [[nodiscard]] double as_float(int word) const { return std::bit_cast<double>(words_[word]); }
  [[nodiscard]] DType as_type(int word) const { return static_cast<DType>(words_[word]); }
  /// The list whose count stands at `word`.
  [[nodiscard]] std::span<const int64_t> ints(int word) const {
    return {words_.data() + word + 1, static_cast<size_t>(words_[word])};
  }
  [[nodiscard]] std::span<const int64_t> words() const { return words_; }

  friend bool operator==(const Attrs&, const Attrs&) = default;

 private:
  SmallVector<int64_t, 3> words_;
};

/// Whether the words are exactly what the schema says: as many, known dtypes, axes below kMaxDims.
[[nodiscard]] bool matches_schema(const Attrs& attrs, std::span<const AttrDef> schema);

}  // namespace reprise
