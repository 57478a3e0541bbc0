// A regular selection along each axis.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr AttrDef kAttrs[] = {{"starts", AttrKind::Ints}, {"steps", AttrKind::Ints}};

TensorType infer(const OpContext& ctx) {
  const TensorType& result = given_shape(ctx);
  const Shape& from = ctx.operands[0].shape;
  const size_t rank = static_cast<size_t>(from.rank());
  const std::span<const int64_t> starts = ctx.attrs.ints(0);
  const std::span<const int64_t> steps = ctx.attrs.ints(1 + static_cast<int>(starts.size()));
  if (starts.size() != rank || steps.size() != rank || result.shape.rank() != from.rank()) {
    throw ShapeError(str("slice: ", starts.size(), " starts and ", steps.size(), " steps from ",
                         from, " to ", result.shape));
  }
  for (int axis = 0; axis < from.rank(); ++axis) {
    const size_t a = static_cast<size_t>(axis);
    if (steps[a] == 0) throw ShapeError(str("slice: step 0 at axis ", axis, " of ", from));
    if (result.shape[axis] == 0) continue;
    int64_t last;
    if (__builtin_mul_overflow(result.shape[axis] - 1, steps[a], &last) ||
        __builtin_add_overflow(last, starts[a], &last) || starts[a] < 0 ||
        starts[a] >= from[axis] || last < 0 || last >= from[axis]) {
      throw IndexError(str("slice: ", result.shape[axis], " elements from ", starts[a], " by step ",
                           steps[a], " leave extent ", from[axis], " at axis ", axis, " of ",
                           from));
    }
  }
  return result;
}

/// Spreads `g` along `axis` by `step` (above 1): step - 1 zeros after each element.
Value dilate(Builder& b, Value g, int axis, int64_t step) {
  const Shape shape = b.shape(g);
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= shape[i];
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  const int64_t count = shape[axis];
  const Value columns = b.reshape(g, {outer, count, 1, inner});
  const int64_t low[] = {0, 0, 0, 0};
  const int64_t high[] = {0, 0, step - 1, 0};
  std::array<int64_t, kMaxDims> extents;
  std::copy(shape.begin(), shape.end(), extents.begin());
  extents[static_cast<size_t>(axis)] = count * step;
  return b.reshape(b.pad(columns, low, high),
                   Shape(std::span(extents.data(), static_cast<size_t>(shape.rank()))));
}

/// Puts every element back where the slice read it. Zeros elsewhere.
void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const TensorType type = b.type(ctx.operand(0));
  const Attrs attrs = ctx.attrs();
  const size_t rank = static_cast<size_t>(type.shape.rank());
  const std::span<const int64_t> starts = attrs.ints(0);
  const std::span<const int64_t> steps = attrs.ints(1 + static_cast<int>(rank));
  const Shape taken = b.shape(ctx.result);
  if (taken.numel() == 0) return ctx.accumulate(0, b.zeros(type));

  Value g = ctx.cotangent;
  std::array<int64_t, kMaxDims> flip_start{}, flip_step{}, low{}, high{}, zero{}, one{};
  one.fill(1);
  bool flips = false, cuts = false;
  for (size_t a = 0; a < rank; ++a) {
    const int axis = static_cast<int>(a);
    const bool backward = steps[a] < 0 && taken[axis] > 1;
    flip_start[a] = backward ? taken[axis] - 1 : 0;
    flip_step[a] = backward ? -1 : 1;
    low[a] = backward ? starts[a] + (taken[axis] - 1) * steps[a] : starts[a];
    flips |= backward;
  }
  if (flips) g = b.slice(g, {flip_start.data(), rank}, {flip_step.data(), rank}, taken);
  std::array<int64_t, kMaxDims> cut{};
  for (size_t a = 0; a < rank; ++a) {
    const int axis = static_cast<int>(a);
    const int64_t step = taken[axis] > 1 ? std::abs(steps[a]) : 1;
    if (step > 1) g = dilate(b, g, axis, step);
    // The zeros after the last element may reach past the operand's end.
    const int64_t length = taken[axis] * step;
    high[a] = std::max<int64_t>(type.shape[axis] - low[a] - length, 0);
    cut[a] = std::min(length, type.shape[axis] - low[a]);
    cuts |= cut[a] != length;
  }
  if (cuts)
    g = b.slice(g, {zero.data(), rank}, {one.data(), rank},
                Shape(std::span<const int64_t>(cut.data(), rank)));
  if (b.shape(g) != type.shape) g = b.pad(g, {low.data(), rank}, {high.data(), rank});
  ctx.accumulate(0, g);
}

std::vector<Sample> samples() {
  struct Case {
    Shape shape;
    std::vector<int64_t> starts, steps;
    Shape result;
  };
  const Case cases[] = {{{}, {}, {}, {}},
                        {{7}, {2}, {1}, {3}},
                        {{7}, {6}, {-1}, {7}},
                        {{7}, {1}, {3}, {2}},
                        {{7}, {5}, {-2}, {3}},
                        {{7}, {7}, {1}, {0}},
                        {{0}, {0}, {1}, {0}},
                        {{5, 13}, {1, 0}, {2, 1}, {2, 13}},
                        {{5, 13}, {4, 12}, {-1, -5}, {5, 3}},
                        {{2, 3, 5}, {0, 1, 4}, {1, 1, -1}, {2, 2, 4}},
                        {{33, 129}, {3, 64}, {1, 1}, {17, 65}},
                        {{1009}, {8}, {7}, {143}}};
  std::vector<Sample> all;
  for (const auto& [shape, starts, steps, result] : cases) {
    all.push_back({.operands = {{{DType::F32, shape}, Fill::Normal}},
                   .attrs = Attrs().add_ints(starts).add_ints(steps),
                   .result = {DType::F32, result}});
  }
  return all;
}

}  // namespace

const OpDef& slice_def() {
  static constexpr OpDef def{
      .name = "slice",
      .kind = OpKind::Movement,
      .attrs = kAttrs,
      .doc =
          "Element i of an axis is element starts + i * steps of the operand's; a negative step "
          "walks backward. The given result says how many.",
      .infer = infer,
      .movement = Movement::Slice,
      .pairs = OnPairs::EachPart,
      .gradient = gradient,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
