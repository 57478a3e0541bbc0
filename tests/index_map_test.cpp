// Index maps: expressions stay affine wherever ranges show that they are, and always name the right
// element.
#include "passes/index_map.h"

#include <gtest/gtest.h>

#include <random>

#include "ir/builder.h"

namespace reprise {
namespace {

/// The value of an expression for given variables.
int64_t evaluate(const IndexSpace& space, const IndexExpr& e, std::span<const int64_t> variables) {
  int64_t sum = e.offset;
  for (const IndexTerm& term : e.terms) {
    const IndexAtom& atom = space.atom(term.atom);
    int64_t value = 0;
    switch (atom.kind) {
      case IndexAtom::Kind::Variable:
        value = variables[atom.number];
        break;
      case IndexAtom::Kind::Scalar:
        ADD_FAILURE() << "no scalars here";
        break;
      case IndexAtom::Kind::Div:
      case IndexAtom::Kind::Mod: {
        const int64_t of = evaluate(space, atom.of, variables);
        const int64_t mod = (of % atom.divisor + atom.divisor) % atom.divisor;
        value = atom.kind == IndexAtom::Kind::Mod ? mod : (of - mod) / atom.divisor;
        break;
      }
    }
    EXPECT_GE(value, atom.low);
    EXPECT_LE(value, atom.high);
    sum += term.coefficient * value;
  }
  return sum;
}

bool is_affine(const IndexSpace& space, const IndexExpr& e) {
  for (const IndexTerm& term : e.terms) {
    if (space.atom(term.atom).kind != IndexAtom::Kind::Variable) return false;
  }
  return true;
}

TEST(IndexMap, SplittingALinearIndexGivesTheLoopsBack) {
  IndexSpace space;
  const IndexExpr i = space.variable(0, 6), j = space.variable(1, 4);
  const IndexExpr linear = space.add(space.scale(i, 4), j);
  EXPECT_EQ(space.div(linear, 4), i);
  EXPECT_EQ(space.mod(linear, 4), j);
  EXPECT_TRUE(is_affine(space, space.mod(linear, 4)));
}

TEST(IndexMap, WhatAReshapeTakesApartAnotherPutsTogether) {
  IndexSpace space;
  const IndexExpr i = space.variable(0, 30);
  const int64_t extents[] = {6, 5};
  const std::vector<IndexExpr> parts = space.delinearize(i, extents);
  EXPECT_FALSE(is_affine(space, parts[0]));
  EXPECT_EQ(space.linearize(parts, extents), i);
}

TEST(IndexMap, AFlippedAxisSplitsToo) {
  IndexSpace space;
  const IndexExpr i = space.variable(0, 3), j = space.variable(1, 4);
  const IndexExpr flipped =
      space.add(IndexSpace::constant(11), space.scale(space.add(space.scale(i, 4), j), -1));
  EXPECT_TRUE(is_affine(space, space.div(flipped, 4)));
  EXPECT_TRUE(is_affine(space, space.mod(flipped, 4)));
}

TEST(IndexMap, AxesOfExtentOneAreTheConstantZero) {
  IndexSpace space;
  EXPECT_EQ(space.variable(0, 1), IndexSpace::constant(0));
}

TEST(IndexMap, EqualMapsHaveOneNumber) {
  IndexSpace space;
  IndexMap a{.coordinates = {space.variable(0, 4)}, .conditions = {}};
  IndexMap b{.coordinates = {space.variable(0, 4)}, .conditions = {}};
  IndexMap c{.coordinates = {space.variable(1, 4)}, .conditions = {}};
  EXPECT_EQ(space.intern(a), space.intern(b));
  EXPECT_NE(space.intern(a), space.intern(c));
}

// Whatever the simplifications do, quotient and remainder are those of the value.
TEST(IndexMap, DivisionsOfRandomExpressionsAreExact) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
    IndexSpace space;
    std::vector<int64_t> extents;
    IndexExpr e = IndexSpace::constant(below(30) - 10);
    for (uint32_t v = 0; v < 3; ++v) {
      extents.push_back(1 + below(6));
      e = space.add(e, space.scale(space.variable(v, extents.back()), below(25) - 8));
    }
    const int64_t first = 2 + below(11), second = 2 + below(5);
    IndexExpr quotient = space.div(e, first), rest = space.mod(e, first);
    const IndexExpr nested = space.div(quotient, second), nested_rest = space.mod(rest, second);
    const IndexExpr together = space.add(space.scale(quotient, first), rest);
    std::vector<int64_t> at(3);
    for (at[0] = 0; at[0] < extents[0]; ++at[0]) {
      for (at[1] = 0; at[1] < extents[1]; ++at[1]) {
        for (at[2] = 0; at[2] < extents[2]; ++at[2]) {
          const int64_t value = evaluate(space, e, at);
          const int64_t mod = (value % first + first) % first;
          const int64_t div = (value - mod) / first;
          ASSERT_EQ(evaluate(space, rest, at), mod) << "seed " << seed;
          ASSERT_EQ(evaluate(space, quotient, at), div) << "seed " << seed;
          ASSERT_EQ(evaluate(space, together, at), value) << "seed " << seed;
          ASSERT_EQ(evaluate(space, nested_rest, at), mod % second) << "seed " << seed;
          const int64_t div_mod = (div % second + second) % second;
          ASSERT_EQ(evaluate(space, nested, at), (div - div_mod) / second) << "seed " << seed;
        }
      }
    }
  }
}

TEST(IndexMap, ViewsThatStridesExpress) {
  Graph graph;
  GraphBuilder b(graph);
  const Value x = b.input({DType::F32, {4, 6}}, 0);
  const int64_t starts[] = {3, 1}, steps[] = {-1, 2};
  const Value view = b.transpose(b.slice(x, starts, steps, {4, 2}));
  StridedView found;
  ASSERT_TRUE(strided_view(graph, NodeId{view.index}, &found));
  EXPECT_EQ(found.base, NodeId{x.index});
  EXPECT_EQ(found.offset, 19);
  EXPECT_EQ(found.strides, (std::vector<int64_t>{2, -6}));
  // Rows of 3 of a transposed matrix cross its columns.
  EXPECT_FALSE(strided_view(graph, NodeId{b.reshape(b.transpose(x), {8, 3}).index}, &found));
  const int64_t low[] = {1, 0}, high[] = {0, 0};
  EXPECT_FALSE(strided_view(graph, NodeId{b.pad(x, low, high).index}, &found));
}

}  // namespace
}  // namespace reprise
