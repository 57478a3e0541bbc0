// Slices of a tensor picked by indices, replaced.
#include "ir/ops/scattering.h"

namespace reprise {
namespace {

/// What was overwritten has no influence: zero where an index points, and for updates that a later
/// one replaced.
void gradient(GradientContext& ctx) {
  Builder& b = ctx.builder;
  const Value indices = ctx.operand(1);
  const auto put = [&](Value x, Value updates) {
    return b.record(Op::Scatter, {x, indices, updates}, ctx.attrs());
  };
  const TensorType updates = b.type(ctx.operand(2));
  if (ctx.wants(0)) ctx.accumulate(0, put(ctx.cotangent, b.zeros(updates)));
  if (!ctx.wants(2)) return;
  const auto axis = static_cast<int>(ctx.attrs().word(0));
  const Shape picked = b.shape(indices);
  // Along the axis alone: which index is the last at its place.
  const int64_t extent = b.shape(ctx.operand(0))[axis];
  const Shape places{extent};
  const Value order = b.reshape(b.iota({DType::I64, {picked.numel()}}, 0), picked);
  const Attrs first = Attrs().add_int(0);
  const Value winners =
      b.record(Op::Scatter, {b.zeros({DType::I64, places}), indices, order}, first);
  Value wins = b.binary(Op::Equal, b.record(Op::Gather, {winners, indices}, first), order);
  SmallVector<int64_t, kMaxDims> extents(picked.extents());
  for (int i = axis + picked.rank(); i < updates.shape.rank(); ++i) extents.push_back(1);
  wins = b.reshape(wins, Shape(extents));
  const Value zero = b.constant(0, updates.dtype);
  ctx.accumulate(2, b.where(wins, gather_as_scattered(ctx, ctx.cotangent), zero));
}

}  // namespace

const OpDef& scatter_def() {
  static constexpr OpDef def{
      .name = "scatter",
      .kind = OpKind::Scatter,
      .min_operands = 3,
      .max_operands = 3,
      .attrs = kScatterAttrs,
      .doc =
          "scatter(x, indices, updates): x with x[.., indices[j], ..] replaced by "
          "updates[.., j, ..]; of repeated indices the last one counts. Updates have the shape of "
          "gather(x, indices). A negative index counts from the end; one out of range is clamped "
          "and reported, the next read throws IndexError.",
      .infer = [](const OpContext& ctx) { return infer_scatter(ctx, Accepts::Any); },
      .pairs = OnPairs::EachPart,
      .gradient = gradient,
      .samples = scatter_samples,
  };
  return def;
}

}  // namespace reprise
