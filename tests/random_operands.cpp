// Draws dtypes, shapes, leaves and earlier values.
#include "random_operands.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir/error.h"

namespace reprise {

namespace {

// 0, 1, odd, prime, a vector's width and one more, more than a block of any kind.
constexpr int64_t kExtents[] = {0, 1, 2, 3, 4, 5, 7, 8, 16, 17, 31, 33, 64, 65, 257};
/// Elements of one value, at most: in most programs, and in one of kLargeEvery.
constexpr int64_t kSmall = 600;
constexpr int64_t kLarge = 20000;
constexpr int64_t kLargeEvery = 12;

}  // namespace

RandomOperands::RandomOperands(uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 1) {
  max_numel_ = below(kLargeEvery) == 0 ? kLarge : kSmall;
  for (int64_t& extent : extents_) extent = kExtents[below(std::size(kExtents))];
  if (below(8) != 0) {
    for (int64_t& extent : extents_) extent = std::max<int64_t>(extent, 2);
  }
  for (DType& dtype : dtypes_) dtype = any_dtype();
}

int64_t RandomOperands::below(int64_t bound) {
  return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound));
}

DType RandomOperands::any_dtype() {
  static constexpr DType kOften[] = {DType::F32, DType::F32,  DType::F32, DType::F64,
                                     DType::F16, DType::BF16, DType::I32, DType::I64};
  if (one_in(24)) return one_in(2) ? DType::C64 : any_pair();
  return one_in(3) ? static_cast<DType>(below(static_cast<int>(DType::F64) + 1))
                   : kOften[below(std::size(kOften))];
}

DType RandomOperands::any_pair() {
  constexpr int kFirst = static_cast<int>(DType::C64);
  return static_cast<DType>(kFirst + below(kNumDTypes - kFirst));
}

Shape RandomOperands::random_shape() {
  for (;;) {
    const int64_t rank = one_in(10) ? below(6) : 1 + below(3);
    std::vector<int64_t> extents(static_cast<size_t>(rank));
    for (int64_t& e : extents) e = extent();
    const Shape shape(extents);
    if (shape.numel() <= max_numel_) return shape;
  }
}

Value RandomOperands::any() {
  const auto size = static_cast<int64_t>(values_.size());
  const int64_t back = one_in(3) ? below(size) : below(std::min<int64_t>(3, size));
  return values_[static_cast<size_t>(size - 1 - back)];
}

Value RandomOperands::any_of_rank(int rank) {
  for (int tries = 0; tries < 10; ++tries) {
    const Value x = any();
    if (b_.shape(x).rank() >= rank) return x;
  }
  throw Error("no value has the rank");
}

bool RandomOperands::keep(Value v) {
  if (b_.shape(v).numel() > max_numel_) return false;
  values_.push_back(v);
  return true;
}

Value RandomOperands::new_leaf(TensorType type) {
  const int rank = type.shape.rank();
  if (rank == 0 && one_in(2) && !is_pair(type.dtype)) return parameter(type.dtype);
  if (one_in(8)) {
    static constexpr double kConstants[] = {0,   -0.0,  1,        -1,        2,   0.5,   3,
                                            255, -1e10, HUGE_VAL, -HUGE_VAL, NAN, 1e-40, 1e-310};
    const double value = kConstants[below(std::size(kConstants))];
    return b_.broadcast_to(b_.constant(value, type.dtype), type.shape);
  }
  if (rank > 0 && type.dtype != DType::Bool && !is_pair(type.dtype) && one_in(8))
    return b_.iota(type, static_cast<int>(below(rank)));
  std::vector<int64_t> strides;
  if (one_in(4)) strides = random_strides(type.shape);
  return b_.input(type, num_inputs_++, strides);
}

std::vector<int64_t> RandomOperands::random_strides(const Shape& shape) {
  std::vector<int> order = shuffled(shape.rank());
  std::vector<int64_t> strides(static_cast<size_t>(shape.rank()));
  int64_t stride = 1 + (one_in(4) ? below(3) : 0);
  for (const int axis : order) {
    if (one_in(12)) continue;
    strides[static_cast<size_t>(axis)] = one_in(5) ? -stride : stride;
    stride *= std::max<int64_t>(1, shape[axis]) + (one_in(6) ? below(3) : 0);
  }
  return strides;
}

std::vector<int> RandomOperands::shuffled(int count) {
  std::vector<int> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<size_t>(below(static_cast<int64_t>(i)))]);
  }
  return order;
}

Value RandomOperands::fitting(Value v, const Shape& shape, DType dtype) {
  try {
    if (broadcast_shapes(b_.shape(v), shape).numel() <= max_numel_) return b_.cast(v, dtype);
  } catch (const ShapeError&) {
  }
  const int64_t dropped = one_in(3) ? below(shape.rank() + 1) : 0;
  std::vector<int64_t> extents;
  for (int axis = static_cast<int>(dropped); axis < shape.rank(); ++axis) {
    extents.push_back(one_in(4) ? 1 : shape[axis]);
  }
  return new_leaf({dtype, Shape(extents)});
}

Value RandomOperands::indices_below(int64_t extent, const Shape& shape, int64_t lowest) {
  static constexpr DType kTypes[] = {DType::I64, DType::I32, DType::U32, DType::I16};
  const DType dtype = kTypes[below(std::size(kTypes))];
  const Value raw = new_leaf({dtype, shape});
  const Value index =
      b_.record(Op::Remainder, {raw, b_.constant(static_cast<double>(extent), dtype)});
  if (lowest == 0 || !is_signed_integer(dtype) || one_in(2)) return index;
  return b_.sub(index, b_.constant(static_cast<double>(-lowest), dtype));
}

}  // namespace reprise
