// Shapes: what is refused, and how two of them combine.
#include "ir/shape.h"

#include <gmock/gmock.h>

#include "ir/error.h"

namespace reprise {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Shapes, SizesAndStrides) {
  EXPECT_EQ(Shape{}.numel(), 1);
  EXPECT_EQ((Shape{2, 3, 5}.numel()), 30);
  EXPECT_EQ((Shape{2, 0, 5}.numel()), 0);
  const auto strides = Shape{2, 3, 5}.contiguous_strides();
  EXPECT_EQ(strides[0], 15);
  EXPECT_EQ(strides[1], 5);
  EXPECT_EQ(strides[2], 1);
  EXPECT_EQ(to_string(Shape{2, 3}), "[2,3]");
  EXPECT_EQ(to_string(Shape{}), "[]");
}

TEST(Shapes, RankIsBounded) {
  EXPECT_EQ((Shape{1, 1, 1, 1, 1, 1, 1, 1}.rank()), 8);
  EXPECT_THAT(([] { return Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}; }),
              ThrowsMessage<ShapeError>("rank 9 exceeds kMaxDims=8"));
}

TEST(Shapes, NegativeExtentNamesTheAxis) {
  EXPECT_THAT((([] {
                return Shape{2, -1};
              })),
              ThrowsMessage<ShapeError>("shape [2,-1] has a negative extent -1 at axis 1"));
}

TEST(Shapes, ElementCountMustNotWrap) {
  // 2^33 * 2^31 wraps to 0 in 64 bits.
  EXPECT_THAT((([] {
                return Shape{int64_t{1} << 33, int64_t{1} << 31};
              })),
              ThrowsMessage<ShapeError>(HasSubstr("2^58 elements or more")));
  // An empty axis does not excuse the others: strides are computed from them.
  EXPECT_THROW((Shape{0, int64_t{1} << 33, int64_t{1} << 31}), ShapeError);
  EXPECT_EQ((Shape{int64_t{1} << 57}.numel()), int64_t{1} << 57);
}

TEST(Broadcasting, FollowsNumPyWithEmptyAxesToo) {
  EXPECT_EQ(broadcast_shapes({0, 3}, {1, 3}), (Shape{0, 3}));
  EXPECT_EQ(broadcast_shapes({0}, {1}), (Shape{0}));
  EXPECT_EQ(broadcast_shapes({0}, {}), (Shape{0}));
  EXPECT_EQ(broadcast_shapes({3, 1}, {1, 11}), (Shape{3, 11}));
  EXPECT_EQ(broadcast_shapes({2, 3, 1}, {5}), (Shape{2, 3, 5}));
  EXPECT_THAT(([] { return broadcast_shapes({0}, {3}); }),
              ThrowsMessage<ShapeError>("shapes [0] and [3] do not broadcast (0 vs 3 at axis 0)"));
  EXPECT_THROW((void)broadcast_shapes({2, 3}, {2}), ShapeError);
}

TEST(Axes, CountFromBothEnds) {
  EXPECT_EQ(normalize_axis(-1, 3), 2);
  EXPECT_EQ(normalize_axis(0, 1), 0);
  EXPECT_THAT(([] { return normalize_axis(3, 3); }),
              ThrowsMessage<IndexError>("axis 3 is out of range for rank 3"));
  EXPECT_THROW((void)normalize_axis(-1, 0), IndexError);
}

TEST(Types, PrintAsDtypeAndShape) {
  EXPECT_EQ(str(TensorType{DType::F32, {2, 3}}), "f32[2,3]");
  EXPECT_EQ(str(TensorType{DType::Bool, {}}), "bool[]");
}

}  // namespace
}  // namespace reprise
