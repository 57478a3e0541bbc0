// What the larger and the smaller share: of two values, over axes, and running along an axis.
#pragma once

#include "ir/ops/inference.h"
#include "ir/ops/samples.h"
#include "ir/ops/scanning.h"

namespace reprise {

/// The one of two values that is `compare` (Greater or Less) to the other; `of_bools` gives it for
/// bool, `of_numbers` for all others.
template <Op compare, ScalarOp of_numbers, ScalarOp of_bools>
constexpr OpDef extremum_of_two(std::string_view name, std::string_view doc) {
  return {
      .name = name,
      .min_operands = 2,
      .max_operands = 2,
      .doc = doc,
      .infer = elementwise<Accepts::Real>,
      .lower =
          [](ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
            return b.binary(b.dtype(x[0]) == DType::Bool ? of_bools : of_numbers, x[0], x[1]);
          },
      .gradient =
          [](GradientContext& ctx) {
            Builder& b = ctx.builder;
            if (!ctx.wants(0) && !ctx.wants(1)) return;
            const Value zero = b.constant(0, b.dtype(ctx.result));
            // NaN is chosen over every number. Equal values both stay, NaN twice both yield.
            const auto yields = [&](int i) {
              const Value x = ctx.operand(i), other = ctx.operand(1 - i);
              return b.binary(Op::BitwiseOr, b.binary(compare, other, x),
                              b.unary(Op::IsNan, other));
            };
            const Value first = yields(0), second = yields(1);
            const Value tied = b.binary(Op::Equal, first, second);
            const Value half = scaled(b, ctx.cotangent, 0.5);
            for (int i = 0; i < 2; ++i) {
              if (!ctx.wants(i)) continue;
              const Value alone = b.where(i == 0 ? first : second, zero, ctx.cotangent);
              ctx.accumulate(i, b.where(tied, half, alone));
            }
          },
      .samples = binary_samples_of<Fill::Extremes>,
  };
}

/// Max or Min over axes. The gradient is shared equally among the elements that are equal to the
/// result, or NaN like it.
constexpr OpDef extremum_over_axes(std::string_view name, ReduceKind kind, std::string_view doc) {
  return {
      .name = name,
      .kind = OpKind::Reduction,
      .attrs = kReductionAttrs,
      .doc = doc,
      .infer =
          [](const OpContext& ctx) {
            require_dtype(ctx, 0, Accepts::Real);
            return infer_nonempty_reduction(ctx, ctx.operands[0].dtype);
          },
      .reduce = kind,
      .gradient =
          [](GradientContext& ctx) {
            if (!ctx.wants(0)) return;
            Builder& b = ctx.builder;
            const Value x = ctx.operand(0);
            const DType dtype = b.dtype(x);
            const uint32_t axes = static_cast<uint32_t>(ctx.attrs().word(0));
            const Shape kept = keep_axes(b.shape(x), axes);
            const Value chosen = chosen_as(b, x, b.reshape(ctx.result, kept));
            const Value ties = b.reduce(Op::Sum, b.cast(chosen, DType::F32), axes, true);
            const Value share = guarded_div(b, b.reshape(ctx.cotangent, kept), b.cast(ties, dtype));
            ctx.accumulate(0, b.where(chosen, share, b.constant(0, dtype)));
          },
      .samples = [] { return reduction_samples(Fill::Extremes, EmptyFold::Refused); },
  };
}

/// ArgMax or ArgMin.
constexpr OpDef extremum_position(std::string_view name, ReduceKind kind, std::string_view doc) {
  return {
      .name = name,
      .kind = OpKind::Reduction,
      .attrs = kReductionAttrs,
      .doc = doc,
      .infer =
          [](const OpContext& ctx) {
            require_dtype(ctx, 0, Accepts::Real);
            return infer_nonempty_reduction(ctx, DType::I64);
          },
      .reduce = kind,
      .samples = [] { return reduction_samples(Fill::Extremes, EmptyFold::Refused); },
  };
}

/// The extremum of the elements of `axis` up to each, by Max or Min.
template <ScalarOp op>
constexpr OpDef running_extremum(std::string_view name, std::string_view doc) {
  return {
      .name = name,
      .kind = OpKind::Scan,
      .attrs = kScanAttrs,
      .doc = doc,
      .infer =
          [](const OpContext& ctx) {
            require_dtype(ctx, 0, Accepts::Real);
            return infer_scan(ctx, ctx.operands[0].dtype);
          },
      .lower = lower_binary<op>,
      .gradient = running_extremum_gradient,
      .samples = [] { return scan_samples(Fill::Extremes); },
  };
}

}  // namespace reprise
