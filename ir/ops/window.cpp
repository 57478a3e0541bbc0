// Sliding windows over the last axes.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr AttrDef kAttrs[] = {
    {"sizes", AttrKind::Ints}, {"strides", AttrKind::Ints}, {"dilations", AttrKind::Ints}};

/// More would leave no axes for the gradient.
constexpr int kMaxWindows = 3;

struct Windows {
  explicit Windows(const Attrs& attrs)
      : sizes(attrs.ints(0)),
        strides(attrs.ints(1 + static_cast<int>(sizes.size()))),
        dilations(attrs.ints(2 + static_cast<int>(sizes.size() + strides.size()))) {}
  std::span<const int64_t> sizes, strides, dilations;
};

TensorType infer(const OpContext& ctx) {
  const TensorType& x = ctx.operands[0];
  const Windows windows(ctx.attrs);
  const auto count = static_cast<int>(windows.sizes.size());
  if (windows.strides.size() != windows.sizes.size() ||
      windows.dilations.size() != windows.sizes.size()) {
    throw ShapeError(str("window: ", count, " sizes, ", windows.strides.size(), " strides and ",
                         windows.dilations.size(), " dilations"));
  }
  const int rank = x.shape.rank();
  if (count < 1 || count > kMaxWindows || count > rank) {
    throw ShapeError(str("window: ", count, " windows over ", x.shape, "; it takes 1 to ",
                         kMaxWindows, ", and no more than the rank, ", rank));
  }
  if (rank + count > kMaxDims) {
    throw ShapeError(str("window: ", count, " windows over ", x.shape, ": rank ", rank + count,
                         " exceeds kMaxDims=", kMaxDims));
  }
  std::array<int64_t, kMaxDims> extents;
  std::copy(x.shape.begin(), x.shape.end(), extents.begin());
  for (int w = 0; w < count; ++w) {
    const auto i = static_cast<size_t>(w);
    const int axis = rank - count + w;
    const int64_t size = windows.sizes[i], extent = x.shape[axis];
    if (size < 1 || windows.strides[i] < 1 || windows.dilations[i] < 1) {
      throw ShapeError(str("window: size ", size, ", stride ", windows.strides[i], " and dilation ",
                           windows.dilations[i], " along axis ", axis, "; none may be below 1"));
    }
    int64_t reach;
    if (__builtin_mul_overflow(size - 1, windows.dilations[i], &reach) || reach >= extent) {
      throw ShapeError(str("window: size ", size, " with dilation ", windows.dilations[i],
                           " does not fit extent ", extent, " of axis ", axis, " of ", x.shape));
    }
    extents[static_cast<size_t>(axis)] = (extent - reach - 1) / windows.strides[i] + 1;
    extents[static_cast<size_t>(rank + w)] = size;
  }
  return {x.dtype,
          Shape(std::span<const int64_t>(extents.data(), static_cast<size_t>(rank + count)))};
}

/// Every element of the operand gets the sum over the windows that hold it.
void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const TensorType type = b.type(ctx.operand(0));
  if (b.shape(ctx.result).numel() == 0) return ctx.accumulate(0, b.zeros(type));
  const Attrs attrs = ctx.attrs();
  const Windows windows(attrs);
  ctx.accumulate(0, b.record(Op::OverlapAdd, {ctx.cotangent},
                             Attrs().add_ints(windows.strides).add_ints(windows.dilations), &type));
}

std::vector<Sample> samples() {
  struct Case {
    Shape shape;
    std::vector<int64_t> sizes, strides, dilations;
  };
  const Case cases[] = {{{7}, {3}, {1}, {1}},
                        {{7}, {1}, {1}, {1}},
                        {{7}, {7}, {1}, {1}},
                        {{1}, {1}, {3}, {2}},
                        {{0, 5}, {2}, {1}, {1}},
                        {{13}, {3}, {2}, {3}},
                        {{2, 13}, {2}, {5}, {4}},
                        {{5, 8, 6}, {2, 2}, {2, 2}, {1, 1}},
                        {{3, 9, 11}, {3, 2}, {1, 3}, {2, 4}},
                        {{2, 17, 37}, {3, 3}, {1, 1}, {1, 1}},
                        {{2, 5, 6, 7}, {2, 3, 1}, {1, 2, 3}, {2, 1, 1}}};
  std::vector<Sample> all;
  for (const auto& [shape, sizes, strides, dilations] : cases) {
    all.push_back({.operands = {{{DType::F32, shape}, Fill::Normal}},
                   .attrs = Attrs().add_ints(sizes).add_ints(strides).add_ints(dilations),
                   .result = {}});
  }
  return all;
}

}  // namespace

const OpDef& window_def() {
  static constexpr OpDef def{
      .name = "window",
      .kind = OpKind::Movement,
      .attrs = kAttrs,
      .doc =
          "The last axes seen through sliding windows, as many as there are sizes: each becomes "
          "the "
          "windows that fit, and their positions become as many new last axes. Position k of "
          "window i is element i * strides + k * dilations.",
      .infer = infer,
      .movement = Movement::Window,
      .pairs = OnPairs::EachPart,
      .gradient = gradient,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
