// The negative log-likelihood of class labels under softmax.
#include "ir/ops/row.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr AttrDef kAttrs[] = {{"reduction", AttrKind::Int}};
enum class LossReduction : int64_t { Mean, Sum, None };

TensorType infer(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Float);
  require_dtype(ctx, 1, Accepts::Integer);
  const TensorType& logits = ctx.operands[0];
  const TensorType& labels = ctx.operands[1];
  const Shape& shape = logits.shape;
  const int64_t reduction = ctx.attrs.word(0);
  if (reduction < 0 || reduction > 2) {
    throw ShapeError(
        str("cross_entropy: reduction is 0 (mean), 1 (sum) or 2 (none), not ", reduction));
  }
  if (shape.rank() < 1 ||
      labels.shape != Shape(shape.extents().first(static_cast<size_t>(shape.rank() - 1)))) {
    throw ShapeError(
        str("cross_entropy: logits [..., C] with labels [...], got ", logits, " and ", labels));
  }
  const bool kept = static_cast<LossReduction>(reduction) == LossReduction::None;
  return {logits.dtype, kept ? labels.shape : Shape{}};
}

Value compose(Builder& b, std::span<const Value> operands, const OpContext& ctx) {
  const TensorType& logits = ctx.operands[0];
  const Shape& rows = ctx.operands[1].shape;
  const DType dtype = wide_dtype(logits.dtype);
  const int axis = logits.shape.rank() - 1;
  const int64_t classes = logits.shape[axis];
  const uint32_t along = 1u << axis;
  if (classes == 0 && rows.numel() != 0) {
    throw ShapeError(str("cross_entropy: no class to choose from in ", logits));
  }

  // Written so that the gradient that follows needs no sum over classes of its own:
  // exp(x - max) * (g / sum) where the logarithm was, minus g at the label.
  const Value below_max = minus_max(b, b.cast(operands[0], dtype), axis);
  const Value sum = b.reduce(Op::Sum, b.unary(Op::Exp, below_max), along, false);
  const Value label = b.record(Op::CheckIndex, {operands[1]}, Attrs().add_int(classes));
  const Shape column = keep_axes(logits.shape, along);
  const Value is_label =
      b.binary(Op::Equal, b.iota({DType::I64, {classes}}, 0), b.reshape(label, column));
  const Value at_label =
      b.reduce(Op::Sum, b.where(is_label, below_max, b.constant(0, dtype)), along, false);
  Value loss = b.sub(b.unary(Op::Log, sum), at_label);
  const uint32_t all = (1u << rows.rank()) - 1;
  switch (static_cast<LossReduction>(ctx.attrs.word(0))) {
    case LossReduction::None:
      break;
    case LossReduction::Mean:
      loss = b.reduce(Op::Mean, loss, all, false);
      break;
    case LossReduction::Sum:
      loss = b.reduce(Op::Sum, loss, all, false);
      break;
  }
  return b.cast(loss, logits.dtype);
}

std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (const Shape& shape : {Shape{1, 1}, Shape{7, 10}, Shape{64, 10}, Shape{0, 5}, Shape{5, 13},
                             Shape{2, 3, 5}, Shape{129, 67}, Shape{11}}) {
    const Shape rows(shape.extents().first(static_cast<size_t>(shape.rank() - 1)));
    for (int64_t reduction : {0, 1, 2}) {
      all.push_back({.operands = {{{DType::F32, shape}, Fill::Normal},
                                  {{DType::I64, rows}, Fill::Index, shape[shape.rank() - 1]}},
                     .attrs = Attrs().add_int(reduction),
                     .result = {}});
    }
  }
  return all;
}

}  // namespace

const OpDef& cross_entropy_def() {
  static constexpr OpDef def{
      .name = "cross_entropy",
      .kind = OpKind::Composite,
      .min_operands = 2,
      .max_operands = 2,
      .attrs = kAttrs,
      .doc =
          "cross_entropy(logits [..., C], labels [...]): -log_softmax(logits) at the integer label "
          "of each row; reduction 0 takes their mean, 1 their sum, 2 keeps them. A label "
          "outside "
          "[0, C) is reported: the next read throws IndexError. f16 and bf16 are computed in f32.",
      .infer = infer,
      .compose = compose,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
