// What the ops that write by indices share.
#include "ir/ops/scattering.h"

#include <algorithm>

namespace reprise {

TensorType infer_scatter(const OpContext& ctx, Accepts accepts) {
  const int axis = checked_axis(ctx, 0);
  require_dtype(ctx, 0, accepts);
  require_dtype(ctx, 1, Accepts::Integer);
  const TensorType& x = ctx.operands[0];
  const Shape& indices = ctx.operands[1].shape;
  const TensorType& updates = ctx.operands[2];
  if (updates.dtype != x.dtype) {
    throw DTypeError(str(name_of(ctx), ": updates ", updates, " for ", x));
  }
  SmallVector<int64_t, 2 * kMaxDims> wanted;
  for (int i = 0; i < axis; ++i) wanted.push_back(x.shape[i]);
  for (const int64_t extent : indices.extents()) wanted.push_back(extent);
  for (int i = axis + 1; i < x.shape.rank(); ++i) wanted.push_back(x.shape[i]);
  if (!std::equal(wanted.begin(), wanted.end(), updates.shape.extents().begin(),
                  updates.shape.extents().end())) {
    throw ShapeError(str(name_of(ctx), ": updates ", updates.shape, " for ", x.shape,
                         " by indices ", indices, " along axis ", axis));
  }
  if (x.shape[axis] == 0 && updates.shape.numel() != 0) {
    throw IndexError(str(name_of(ctx), ": axis ", axis, " of ", x.shape,
                         " has no element for indices ", indices));
  }
  return x;
}

std::vector<Sample> scatter_samples() {
  struct Case {
    Shape x, indices, updates;
    int64_t axis;
  };
  const Case cases[] = {{{7}, {}, {}, 0},
                        {{7}, {5}, {5}, 0},
                        {{5, 13}, {3}, {5, 3}, 1},
                        {{5, 13}, {2, 3}, {2, 3, 13}, 0},
                        {{2, 3, 5}, {4}, {2, 4, 5}, 1},
                        {{5, 13}, {0}, {0, 13}, 0},
                        {{0, 3}, {2}, {0, 2}, 1},
                        {{0, 3}, {0}, {0, 3}, 0},
                        {{17, 65}, {129}, {129, 65}, 0},
                        {{1}, {9}, {9}, 0}};
  std::vector<Sample> all;
  for (const auto& [x, indices, updates, axis] : cases) {
    all.push_back({.operands = {{{DType::F32, x}, Fill::Normal},
                                {{DType::I64, indices}, Fill::Index, x[static_cast<int>(axis)]},
                                {{DType::F32, updates}, Fill::Normal}},
                   .attrs = Attrs().add_int(axis),
                   .result = {}});
  }
  return all;
}

void scattered_extremum_gradient(GradientContext& ctx) {
  if (!ctx.wants(0) && !ctx.wants(2)) return;
  Builder& b = ctx.builder;
  const DType dtype = b.dtype(ctx.result);
  const Value kept = chosen_as(b, ctx.operand(0), ctx.result);
  const Value put = chosen_as(b, ctx.operand(2), gather_as_scattered(ctx, ctx.result));
  const Value ties =
      b.record(Op::ScatterAdd, {b.cast(kept, DType::F32), ctx.operand(1), b.cast(put, DType::F32)},
               ctx.attrs());
  const Value share = guarded_div(b, ctx.cotangent, b.cast(ties, dtype));
  const Value zero = b.constant(0, dtype);
  if (ctx.wants(0)) ctx.accumulate(0, b.where(kept, share, zero));
  if (ctx.wants(2)) ctx.accumulate(2, b.where(put, gather_as_scattered(ctx, share), zero));
}

Value gather_as_scattered(GradientContext& ctx, Value x) {
  return ctx.builder.record(Op::Gather, {x, ctx.operand(1)}, ctx.attrs());
}

}  // namespace reprise
