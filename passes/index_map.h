// Index maps: where an element of one value lies in another, in terms of a stage's variables.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "ir/scalar.h"

namespace reprise {

/// coefficient * atom.
struct IndexTerm {
  uint32_t atom = 0;
  int64_t coefficient = 0;
  friend bool operator==(const IndexTerm&, const IndexTerm&) = default;
};

/// offset + sum of terms; terms ascend by atom and have no zero coefficient.
struct IndexExpr {
  int64_t offset = 0;
  std::vector<IndexTerm> terms;
  friend bool operator==(const IndexExpr&, const IndexExpr&) = default;
};

/// What an index expression is linear in: a stage's variable, or a value that is not affine.
struct IndexAtom {
  enum class Kind : uint8_t {
    Variable,  ///< of the stage, in [0, high]
    Scalar,    ///< computed by the body (a gathered index), in [0, high]
    Div,
    Mod,  ///< floor division of `of` by `divisor`, and its remainder
  };
  Kind kind = Kind::Variable;
  uint32_t number = 0;  ///< Variable: position in scope; Scalar: the scalar's id
  int64_t low = 0, high = 0;
  IndexExpr of{};
  int64_t divisor = 1;
};

/// Holds where 0 <= value < extent; outside the element reads as zero.
struct IndexCondition {
  IndexExpr value;
  int64_t extent = 0;
  friend bool operator==(const IndexCondition&, const IndexCondition&) = default;
};

/// The element of a value that is wanted: an expression for each of its axes. Axes of extent 1 are
/// always the constant 0, so that equal places have equal maps.
struct IndexMap {
  std::vector<IndexExpr> coordinates;
  std::vector<IndexCondition> conditions;
  friend bool operator==(const IndexMap&, const IndexMap&) = default;
};

struct IndexRange {
  int64_t low = 0, high = 0;
};

/// Makes expressions and maps over one set of variables; equal maps get equal numbers.
class IndexSpace {
 public:
  /// A variable of extent 1 is the constant 0.
  [[nodiscard]] IndexExpr variable(uint32_t number, int64_t extent);
  [[nodiscard]] IndexExpr scalar(ScalarId id, int64_t extent);
  [[nodiscard]] static IndexExpr constant(int64_t value) { return {.offset = value, .terms = {}}; }

  [[nodiscard]] IndexExpr add(const IndexExpr& a, const IndexExpr& b) const;
  [[nodiscard]] IndexExpr scale(const IndexExpr& a, int64_t factor) const;
  /// Floor division and its remainder, affine wherever ranges and coefficients show that they are.
  [[nodiscard]] IndexExpr div(const IndexExpr& a, int64_t divisor);
  [[nodiscard]] IndexExpr mod(const IndexExpr& a, int64_t divisor);
  [[nodiscard]] IndexRange range(const IndexExpr& a) const;
  [[nodiscard]] const IndexAtom& atom(uint32_t id) const { return atoms_[id]; }

  /// Row-major position of `coordinates` in `extents`, and back.
  [[nodiscard]] IndexExpr linearize(std::span<const IndexExpr> coordinates,
                                    std::span<const int64_t> extents) const;
  [[nodiscard]] std::vector<IndexExpr> delinearize(IndexExpr linear,
                                                   std::span<const int64_t> extents);
  /// Sum of coordinate * stride.
  [[nodiscard]] IndexExpr dot(std::span<const IndexExpr> coordinates,
                              std::span<const int64_t> strides) const;

  /// Where the element of a movement's result comes from. A pad adds conditions.
  [[nodiscard]] IndexMap through(const Node& movement, const Shape& operand,
                                 const IndexMap& result);
  /// Where an operand's element lies in the result of a permutation or a reshape.
  [[nodiscard]] IndexMap forward(const Node& movement, const Shape& operand, const IndexMap& map);
  /// The operand's element that an elementwise op reads for the result's (NumPy broadcast).
  [[nodiscard]] static IndexMap broadcast(const Shape& operand, const IndexMap& result);

  [[nodiscard]] uint32_t intern(IndexMap map);
  [[nodiscard]] const IndexMap& map(uint32_t id) const { return maps_[id]; }

 private:
  struct Quotient {
    IndexExpr div, mod;
  };
  [[nodiscard]] Quotient divide(const IndexExpr& a, int64_t divisor);
  [[nodiscard]] uint32_t quotient_atoms(const IndexExpr& a, int64_t divisor);
  [[nodiscard]] IndexMap reshape(const Shape& result, const Shape& operand, const IndexMap& map);
  [[nodiscard]] static uint64_t hash(const IndexExpr& a, uint64_t seed);

  std::vector<IndexAtom> atoms_;
  std::vector<IndexMap> maps_;
  std::unordered_multimap<uint64_t, uint32_t> atom_table_;  ///< Div atoms by hash; Mod is the next
  std::unordered_multimap<uint64_t, uint32_t> map_table_;
  std::unordered_map<uint32_t, uint32_t> variables_;
  std::unordered_map<uint32_t, uint32_t> scalars_;
};

/// Whether a value of the operand's shape seen through the movement has the same elements in the
/// same row-major order: only axes of extent 1 differ.
[[nodiscard]] bool is_identity_movement(const Node& movement, const Shape& operand);
/// Extents without those that are 1.
[[nodiscard]] std::vector<int64_t> squeezed(const Shape& shape);

/// The element at `coordinates`, which are those of axes longer than 1, and back.
[[nodiscard]] IndexMap place_in(const Shape& shape, std::span<const IndexExpr> coordinates);
[[nodiscard]] std::vector<IndexExpr> squeezed(const Shape& shape, const IndexMap& map);

/// A value that is its base seen through strides, in elements. The base is the first value below
/// that is not a movement, stored as its own layout says (computed values: contiguous).
struct StridedView {
  NodeId base;
  int64_t offset = 0;
  std::vector<int64_t> strides;  ///< one per axis; 0 for axes of extent 1
};
/// Follows movements down from `node`, to the first that `is_stored` itself; false if strides
/// cannot express them.
[[nodiscard]] bool strided_view(const Graph& graph, NodeId node, StridedView* view,
                                const std::function<bool(NodeId)>& is_stored = {});
/// Strides in elements of a stored node's own layout: an input's as given, else row-major.
[[nodiscard]] std::vector<int64_t> storage_strides(const Node& node);

}  // namespace reprise
