// Convolution over one to three spatial axes: a product of the weights with windows of the input.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr AttrDef kAttrs[] = {{"groups", AttrKind::Int},    {"strides", AttrKind::Ints},
                              {"low", AttrKind::Ints},      {"high", AttrKind::Ints},
                              {"spacings", AttrKind::Ints}, {"dilations", AttrKind::Ints}};
constexpr size_t kMaxSpatial = 3;

using Extents = SmallVector<int64_t, kMaxDims>;

struct Geometry {
  explicit Geometry(const Attrs& attrs)
      : groups(attrs.word(0)),
        strides(attrs.ints(1)),
        low(attrs.ints(2 + static_cast<int>(strides.size()))),
        high(attrs.ints(3 + static_cast<int>(strides.size() + low.size()))),
        spacings(attrs.ints(4 + static_cast<int>(strides.size() + low.size() + high.size()))),
        dilations(attrs.ints(
            5 + static_cast<int>(strides.size() + low.size() + high.size() + spacings.size()))) {}
  [[nodiscard]] int spatial() const { return static_cast<int>(strides.size()); }

  int64_t groups;
  std::span<const int64_t> strides, low, high, spacings, dilations;
};

int64_t product(const Shape& shape, int first) {
  int64_t n = 1;
  for (int axis = first; axis < shape.rank(); ++axis) n *= shape[axis];
  return n;
}

/// Extent of an axis with zeros between its elements.
int64_t spread_extent(int64_t extent, int64_t spacing) {
  return extent == 0 ? 0 : (extent - 1) * spacing + 1;
}

TensorType infer(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Number);
  const DType dtype = common_dtype(ctx);
  const Shape& x = ctx.operands[0].shape;
  const Shape& w = ctx.operands[1].shape;
  const Geometry g(ctx.attrs);
  const size_t spatial = g.strides.size();
  if (spatial < 1 || spatial > kMaxSpatial || g.low.size() != spatial || g.high.size() != spatial ||
      g.spacings.size() != spatial || g.dilations.size() != spatial) {
    throw ShapeError(str("convolution: ", spatial, " strides, ", g.low.size(), " and ",
                         g.high.size(), " widths of padding, ", g.spacings.size(), " spacings and ",
                         g.dilations.size(), " dilations; 1 to ", kMaxSpatial,
                         " of each are needed"));
  }
  const int rank = 2 + g.spatial();
  if (x.rank() != rank || w.rank() != rank) {
    throw ShapeError(str("convolution: input ", x, " and weights ", w, " must have rank ", rank,
                         " for ", spatial, " spatial axes"));
  }
  if (g.groups < 1 || x[1] % g.groups != 0 || w[0] % g.groups != 0) {
    throw ShapeError(str("convolution: ", x[1], " channels of ", x, " to ", w[0], " of ", w,
                         " do not divide into ", g.groups, " groups"));
  }
  if (w[1] * g.groups != x[1]) {
    throw ShapeError(str("convolution: weights ", w, " in ", g.groups, " groups take ",
                         w[1] * g.groups, " channels, the input ", x, " has ", x[1]));
  }
  std::array<int64_t, kMaxDims> extents{x[0], w[0]};
  for (size_t i = 0; i < spatial; ++i) {
    const int axis = 2 + static_cast<int>(i);
    const int64_t kernel = w[axis];
    if (g.strides[i] < 1 || g.spacings[i] < 1 || g.dilations[i] < 1) {
      throw ShapeError(str("convolution: stride ", g.strides[i], ", spacing ", g.spacings[i],
                           " and dilation ", g.dilations[i], " along axis ", axis,
                           "; none may be below 1"));
    }
    int64_t padded = 0, reach = 0;
    if (x[axis] > 0 && (__builtin_mul_overflow(x[axis] - 1, g.spacings[i], &padded) ||
                        __builtin_add_overflow(padded, 1, &padded))) {
      throw ShapeError(
          str("convolution: axis ", axis, " of ", x, " spaced by ", g.spacings[i], " is too long"));
    }
    if (__builtin_add_overflow(padded, g.low[i], &padded) ||
        __builtin_add_overflow(padded, g.high[i], &padded)) {
      throw ShapeError(str("convolution: axis ", axis, " of ", x, " with padding of ", g.low[i],
                           " and ", g.high[i], " is too long"));
    }
    if (kernel < 1 || __builtin_mul_overflow(kernel - 1, g.dilations[i], &reach) ||
        reach >= padded) {
      throw ShapeError(str("convolution: a kernel of ", kernel, " with dilation ", g.dilations[i],
                           " does not fit the padded extent ", padded, " of axis ", axis, " of ",
                           x));
    }
    extents[static_cast<size_t>(axis)] = (padded - reach - 1) / g.strides[i] + 1;
  }
  return {dtype, Shape(std::span<const int64_t>(extents.data(), static_cast<size_t>(rank)))};
}

/// The input with its zeros: (N, C, windows.., positions..), a view.
Value windows(Builder& b, Value x, const Shape& weights, const Geometry& g) {
  Extents low{0, 0}, high{0, 0}, starts{0, 0}, ones{1, 1}, sizes;
  bool pads = false, cuts = false;
  for (int i = 0; i < g.spatial(); ++i) {
    const auto at = static_cast<size_t>(i);
    x = b.spread(x, 2 + i, g.spacings[at] - 1);
    low.push_back(std::max<int64_t>(g.low[at], 0));
    high.push_back(std::max<int64_t>(g.high[at], 0));
    starts.push_back(std::max<int64_t>(-g.low[at], 0));
    ones.push_back(1);
    sizes.push_back(weights[2 + i]);
    pads |= g.low[at] > 0 || g.high[at] > 0;
    cuts |= g.low[at] < 0 || g.high[at] < 0;
  }
  // Padding first: an axis may be cut by more than it has, and be padded at the other end.
  if (pads) x = b.pad(x, low, high);
  if (cuts) {
    const Shape shape = b.shape(x);
    Extents extents{shape[0], shape[1]};
    for (int i = 0; i < g.spatial(); ++i) {
      const auto at = static_cast<size_t>(i);
      extents.push_back(shape[2 + i] + std::min<int64_t>(g.low[at], 0) +
                        std::min<int64_t>(g.high[at], 0));
    }
    x = b.slice(x, starts, ones, Shape(extents));
  }
  return b.window(x, sizes, g.strides, g.dilations);
}

/// One product of the weights with windows of the input, for a result of that shape.
Value product_with_windows(Builder& b, Value x, Value w, const Geometry& g, const Shape& result) {
  const Shape weights = b.shape(w);
  const int n = g.spatial();
  const int64_t images = result[0], places = product(result, 2);
  const int64_t depth = product(weights, 1), outputs = weights[0];
  const Value seen = windows(b, x, weights, g);
  Extents order{0, 1};
  for (int i = 0; i < n; ++i) order.push_back(2 + n + i);
  for (int i = 0; i < n; ++i) order.push_back(2 + i);
  const Value columns = b.permute(seen, order);
  if (g.groups == 1) {
    return b.reshape(b.matmul(b.reshape(w, Shape{outputs, depth}),
                              b.reshape(columns, Shape{images, depth, places})),
                     result);
  }
  return b.reshape(b.matmul(b.reshape(w, Shape{g.groups, outputs / g.groups, depth}),
                            b.reshape(columns, Shape{images, g.groups, depth, places})),
                   result);
}

/// Whether the zeros between elements need not be multiplied: see `by_phases`.
bool has_phases(const Geometry& g) {
  bool spaced = false;
  for (size_t i = 0; i < g.spacings.size(); ++i) {
    if (g.spacings[i] == 1) continue;
    spaced = true;
    if (g.strides[i] != 1 || g.dilations[i] != 1) return false;
  }
  return spaced;
}

int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

/// Of an input with z - 1 zeros between its elements, elements z apart of the result read the same
/// taps of the kernel: every z-th. So the phases of the result are channels of a convolution
/// without zeros, whose kernels hold T = ceil(k / z) taps, the first of them zeros where z does not
/// divide k. With the kernel counted backward, place o is place j of phase q where o + k - 1 - low
/// = z j + q, and its tap t, counted backward too, meets element j - t.
Value by_phases(Builder& b, Value x, Value w, const Geometry& g, const Shape& result) {
  const Shape weights = b.shape(w), shape = b.shape(x);
  const int n = g.spatial();
  struct Axis {
    int64_t z, taps, places, low, high, start;
  };
  SmallVector<Axis, kMaxSpatial> axes;
  int64_t phases = 1;
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t z = g.spacings[at], k = weights[2 + i], extent = result[2 + i];
    phases *= z;
    if (z == 1) {
      axes.push_back({1, k, extent, g.low[at], g.high[at], 0});
      continue;
    }
    const int64_t taps = (k + z - 1) / z, shift = k - 1 - g.low[at];
    const int64_t first = floor_div(shift, z);
    const int64_t places = floor_div(shift + extent - 1, z) - first + 1;
    const int64_t low = taps - 1 - first;
    axes.push_back(
        {z, taps, places, low, places + taps - 1 - shape[2 + i] - low, shift - z * first});
  }
  // The weights: (O, C, taps, phases, ..) to (O * phases, C, taps..).
  Extents front{0, 0}, none{0, 0}, digits{weights[0], weights[1]}, order{0};
  Extents by_phase{weights[0] * phases, weights[1]}, low, high, dense;
  uint32_t phase_axes = 0;
  for (int i = 0; i < n; ++i) {
    const Axis& axis = axes[i];
    front.push_back(axis.z * axis.taps - weights[2 + i]);
    none.push_back(0);
    digits.push_back(axis.taps);
    digits.push_back(axis.z);
    order.push_back(3 + 2 * i);
    phase_axes |= 1u << (3 + 2 * i);
    by_phase.push_back(axis.taps);
    low.push_back(axis.low);
    high.push_back(axis.high);
    dense.push_back(1);
  }
  order.push_back(1);
  for (int i = 0; i < n; ++i) order.push_back(2 + 2 * i);
  w = b.flip(b.reshape(b.pad(w, front, none), Shape(digits)), phase_axes);
  w = b.reshape(b.permute(w, order), Shape(by_phase));

  // The result: (N * O, phases.., places..) to (N, O, places * phases..), of which a part counts.
  Extents channels{shape[0], weights[0] * phases}, apart{shape[0] * weights[0]}, back{0};
  Extents joined{shape[0], weights[0]}, starts{0, 0}, ones{1, 1};
  for (int i = 0; i < n; ++i) apart.push_back(axes[i].z);
  for (int i = 0; i < n; ++i) {
    const Axis& axis = axes[i];
    channels.push_back(axis.places);
    apart.push_back(axis.places);
    back.push_back(1 + n + i);
    back.push_back(1 + i);
    joined.push_back(axis.places * axis.z);
    starts.push_back(axis.start);
    ones.push_back(1);
  }
  const Attrs attrs = Attrs()
                          .add_int(g.groups)
                          .add_ints(g.strides)  // 1 along the axes that have phases
                          .add_ints(low)
                          .add_ints(high)
                          .add_ints(dense)
                          .add_ints(g.dilations);
  const Value y = product_with_windows(b, x, w, Geometry(attrs), Shape(channels));
  const Value together = b.reshape(b.permute(b.reshape(y, Shape(apart)), back), Shape(joined));
  return b.slice(together, starts, ones, result);
}

Value compose(Builder& b, std::span<const Value> operands, const OpContext& ctx) {
  const Geometry g(ctx.attrs);
  const Shape result = ctx.result->shape;
  const bool empty = result.numel() == 0 || b.shape(operands[1]).numel() == 0;
  return has_phases(g) && !empty ? by_phases(b, operands[0], operands[1], g, result)
                                 : product_with_windows(b, operands[0], operands[1], g, result);
}

/// The cotangent, spread by the strides and padded, convolved with the weights turned around and
/// their channels exchanged.
Value input_gradient(GradientContext& ctx, const Geometry& g) {
  Builder& b = ctx.builder;
  const Shape x = b.shape(ctx.operand(0)), w = b.shape(ctx.operand(1));
  const Shape taken = b.shape(ctx.result);
  const int n = g.spatial();
  const int64_t outputs = w[0] / g.groups, inputs = w[1], taps = product(w, 2);
  const int64_t swap[] = {0, 2, 1, 3};
  Value turned = b.permute(b.reshape(ctx.operand(1), Shape{g.groups, outputs, inputs, taps}), swap);
  Extents extents{g.groups * inputs, outputs};
  uint32_t spatial_axes = 0;
  Extents low, high;
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t reach = (w[2 + i] - 1) * g.dilations[at];
    extents.push_back(w[2 + i]);
    spatial_axes |= 1u << (2 + i);
    low.push_back(reach - g.low[at]);
    high.push_back(spread_extent(x[2 + i], g.spacings[at]) + reach - low.back() -
                   spread_extent(taken[2 + i], g.strides[at]));
  }
  turned = b.flip(b.reshape(turned, Shape(extents)), spatial_axes);
  return b.record(Op::Convolution, {ctx.cotangent, turned},
                  Attrs()
                      .add_int(g.groups)
                      .add_ints(g.spacings)
                      .add_ints(low)
                      .add_ints(high)
                      .add_ints(g.strides)
                      .add_ints(g.dilations));
}

/// One product over all places of all images.
Value weight_gradient(GradientContext& ctx, const Geometry& g) {
  Builder& b = ctx.builder;
  const Shape w = b.shape(ctx.operand(1)), taken = b.shape(ctx.result);
  const int n = g.spatial();
  const int64_t images = taken[0], places = product(taken, 2), depth = product(w, 1);
  const int64_t outputs = w[0] / g.groups;
  const Value seen = windows(b, ctx.operand(0), w, g);
  Extents order{1};
  for (int i = 0; i < n; ++i) order.push_back(2 + n + i);
  order.push_back(0);
  for (int i = 0; i < n; ++i) order.push_back(2 + i);
  const Value columns = b.reshape(b.permute(seen, order), Shape{g.groups, depth, images * places});
  const int64_t front[] = {1, 0, 2};
  const Value cotangent =
      b.reshape(b.permute(b.reshape(ctx.cotangent, Shape{images, w[0], places}), front),
                Shape{g.groups, outputs, images * places});
  const auto matrix = [&](Value stack) {
    const Shape shape = b.shape(stack);
    return g.groups == 1 ? b.reshape(stack, Shape{shape[1], shape[2]}) : stack;
  };
  return b.reshape(b.matmul(matrix(cotangent), b.transpose(matrix(columns))), w);
}

void gradient(GradientContext& ctx) {
  const Attrs attrs = ctx.attrs();
  const Geometry g(attrs);
  Builder& b = ctx.builder;
  const bool empty = b.shape(ctx.result).numel() == 0 || b.shape(ctx.operand(0)).numel() == 0 ||
                     b.shape(ctx.operand(1)).numel() == 0;
  if (ctx.wants(0)) {
    ctx.accumulate(0, empty ? b.zeros(b.type(ctx.operand(0))) : input_gradient(ctx, g));
  }
  if (ctx.wants(1)) {
    ctx.accumulate(1, empty ? b.zeros(b.type(ctx.operand(1))) : weight_gradient(ctx, g));
  }
}

std::vector<Sample> samples() {
  struct Case {
    Shape x, w;
    int64_t groups;
    std::vector<int64_t> strides, low, high, spacings, dilations;
  };
  const Case cases[] = {
      {{1, 1, 3}, {1, 1, 2}, 1, {1}, {0}, {0}, {1}, {1}},
      {{2, 3, 11}, {4, 3, 3}, 1, {2}, {1}, {2}, {1}, {2}},
      {{2, 4, 7}, {6, 2, 2}, 2, {3}, {0}, {1}, {2}, {1}},
      {{1, 2, 5, 7}, {3, 2, 3, 3}, 1, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {{2, 6, 9, 8}, {6, 1, 3, 2}, 6, {2, 1}, {1, 0}, {1, 0}, {1, 1}, {1, 3}},
      {{2, 3, 4, 3}, {2, 3, 3, 2}, 1, {1, 2}, {-1, 1}, {2, -1}, {3, 2}, {1, 1}},
      {{2, 4, 3, 5}, {4, 2, 2, 1}, 2, {1, 2}, {2, 2}, {1, -1}, {2, 1}, {1, 1}},
      {{1, 5, 16, 18}, {33, 5, 3, 3}, 1, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {{3, 2, 1, 1}, {5, 2, 1, 1}, 1, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}},
      {{0, 2, 3, 3}, {2, 2, 2, 2}, 1, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}},
      {{1, 2, 3, 4, 5}, {2, 2, 2, 3, 2}, 1, {1, 1, 2}, {0, 1, 1}, {0, 1, 0}, {1, 1, 1}, {1, 1, 1}}};
  std::vector<Sample> all;
  for (const Case& c : cases) {
    all.push_back(
        {.operands = {{{DType::F32, c.x}, Fill::Normal}, {{DType::F32, c.w}, Fill::Normal}},
         .attrs = Attrs()
                      .add_int(c.groups)
                      .add_ints(c.strides)
                      .add_ints(c.low)
                      .add_ints(c.high)
                      .add_ints(c.spacings)
                      .add_ints(c.dilations),
         .result = {}});
  }
  return all;
}

}  // namespace

const OpDef& convolution_def() {
  static constexpr OpDef def{
      .name = "convolution",
      .kind = OpKind::Contraction,
      .min_operands = 2,
      .max_operands = 2,
      .attrs = kAttrs,
      .doc =
          "convolution(x, weights): (N, C, spatial..) with (O, C/groups, kernel..) gives (N, O, "
          "spatial..), each group of channels by itself. The input has spacings - 1 zeros between "
          "its elements, then low and high zeros around (negative: as many elements less). A sum "
          "goes over channels, then the kernel's positions, as in matmul.",
      .infer = infer,
      .compose = compose,
      .gradient = gradient,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
