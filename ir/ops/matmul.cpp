// Matrix products over batches.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

TensorType infer(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Number);
  const DType dtype = common_dtype(ctx);
  const Shape& a = ctx.operands[0].shape;
  const Shape& b = ctx.operands[1].shape;
  if (a.rank() < 2 || b.rank() < 2) {
    throw ShapeError(str("matmul: operands need rank 2 or more, got ", a, " x ", b));
  }
  const int64_t k_a = a[a.rank() - 1];
  const int64_t k_b = b[b.rank() - 2];
  if (k_a != k_b) {
    throw ShapeError(
        str("matmul: inner extents differ: ", a, " x ", b, " (", k_a, " vs ", k_b, ")"));
  }
  const int rank = std::max(a.rank(), b.rank());
  std::array<int64_t, kMaxDims> extents;
  for (int axis = 0; axis < rank - 2; ++axis) {
    const int from_a = axis - (rank - a.rank());
    const int from_b = axis - (rank - b.rank());
    const int64_t batch_a = from_a < 0 ? 1 : a[from_a];
    const int64_t batch_b = from_b < 0 ? 1 : b[from_b];
    if (batch_a != batch_b && batch_a != 1 && batch_b != 1) {
      throw ShapeError(str("matmul: batch extents do not broadcast: ", a, " x ", b, " (", batch_a,
                           " vs ", batch_b, ")"));
    }
    extents[static_cast<size_t>(axis)] = batch_a == 1 ? batch_b : batch_a;
  }
  extents[static_cast<size_t>(rank - 2)] = a[a.rank() - 2];
  extents[static_cast<size_t>(rank - 1)] = b[b.rank() - 1];
  return {dtype, Shape(std::span<const int64_t>(extents.data(), static_cast<size_t>(rank)))};
}

/// All axes but the last as one.
Value as_rows(Builder& b, Value x) {
  const Shape shape = b.shape(x);
  const int64_t columns = shape[shape.rank() - 1];
  int64_t rows = 1;
  for (int axis = 0; axis + 1 < shape.rank(); ++axis) rows *= shape[axis];
  return b.reshape(x, {rows, columns});
}

/// Whether all products of the batch have one second factor.
bool shares_second(const Shape& a, const Shape& b) {
  for (int axis = 0; axis < b.rank() - 2; ++axis) {
    if (b[axis] != 1) return false;
  }
  return a.rank() > 2;
}

void gradient(GradientContext& ctx) {
  Builder& b = ctx.builder;
  if (ctx.wants(0)) ctx.accumulate(0, b.matmul(ctx.cotangent, b.transpose(ctx.operand(1))));
  if (!ctx.wants(1)) return;
  const Value left = ctx.operand(0);
  const Shape shape = b.shape(ctx.operand(1));
  if (shares_second(b.shape(left), shape)) {
    // The batch is more rows of one product: one chain over all of them instead of a sum of many.
    const Value rows = as_rows(b, left);
    const Value product = b.matmul(b.transpose(rows), as_rows(b, ctx.cotangent));
    ctx.accumulate(1, b.reshape(product, shape));
  } else {
    ctx.accumulate(1, b.matmul(b.transpose(left), ctx.cotangent));
  }
}

std::vector<Sample> samples() {
  struct Pair {
    Shape a, b;
  };
  const Pair pairs[] = {{{1, 1}, {1, 1}},      {{2, 3}, {3, 5}},          {{7, 13}, {13, 11}},
                        {{4, 0}, {0, 4}},      {{0, 3}, {3, 2}},          {{3, 2, 0}, {3, 0, 3}},
                        {{1, 17}, {17, 31}},   {{65, 33}, {33, 1}},       {{2, 5, 7}, {7, 3}},
                        {{5, 7}, {2, 7, 3}},   {{2, 1, 4, 6}, {3, 6, 5}}, {{64, 67}, {67, 129}},
                        {{8, 300}, {300, 48}}, {{100, 128}, {128, 10}}};
  std::vector<Sample> all;
  for (const auto& [a, b] : pairs) {
    all.push_back({.operands = {{{DType::F32, a}, Fill::Normal}, {{DType::F32, b}, Fill::Normal}},
                   .attrs = {},
                   .result = {}});
  }
  return all;
}

}  // namespace

const OpDef& matmul_def() {
  static constexpr OpDef def{
      .name = "matmul",
      .kind = OpKind::Contraction,
      .min_operands = 2,
      .max_operands = 2,
      .doc =
          "(..., M, K) x (..., K, N) gives (..., M, N); batch axes broadcast. Floats: a chain of "
          "fused multiply-adds over k ascending from +0, in f32 for f16 and bf16 with one rounding "
          "at the end; CPUs with an instruction for pairs of bf16 use it. Integers wrap in their dtype. K = 0 gives 0.",
      .infer = infer,
      .gradient = gradient,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
