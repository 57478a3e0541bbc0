// Which computed indices fit 32 bits, whatever the loop variables: arithmetic on them is cheaper.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/kernel.h"

namespace reprise::codegen {

/// The least and the greatest value of an i64 scalar; what is not known may be anything.
struct IndexRange {
  int64_t low = INT64_MIN, high = INT64_MAX;

  [[nodiscard]] bool fits_i32() const { return low >= INT32_MIN && high <= INT32_MAX; }
};

/// The ranges of what small numbers make: operands and results fit 32 bits, so products are exact.
[[nodiscard]] inline IndexRange range_of(const Instr& instr, const IndexRange& a,
                                         const IndexRange& x) {
  switch (instr.op) {
    case ScalarOp::Add:
      return {a.low + x.low, a.high + x.high};
    case ScalarOp::Sub:
      return {a.low - x.high, a.high - x.low};
    case ScalarOp::Mul: {
      const auto [low, high] =
          std::minmax({a.low * x.low, a.low * x.high, a.high * x.low, a.high * x.high});
      return {low, high};
    }
    case ScalarOp::Div: {
      if (x.low != x.high || x.low <= 0) return {};
      const auto floored = [&](int64_t value) {
        return value / x.low - (value % x.low < 0 ? 1 : 0);
      };
      return {floored(a.low), floored(a.high)};
    }
    case ScalarOp::Mod:
      if (x.low != x.high || x.low <= 0) return {};
      return {0, x.low - 1};
    case ScalarOp::Min:
      return {std::min(a.low, x.low), std::min(a.high, x.high)};
    case ScalarOp::Max:
      return {std::max(a.low, x.low), std::max(a.high, x.high)};
    case ScalarOp::Select:
      return {std::min(a.low, x.low), std::max(a.high, x.high)};
    default:
      return {};
  }
}

/// Per instruction of a body: if 32 bits hold and can compute it, its range, else anything.
/// `extents` are those of the variables in scope.
[[nodiscard]] inline std::vector<IndexRange> index_ranges(const Body& body,
                                                          std::span<const int64_t> extents) {
  std::vector<IndexRange> ranges(body.instrs.size());
  for (size_t i = 0; i < body.instrs.size(); ++i) {
    const Instr& instr = body.instrs[i];
    if (instr.dtype != DType::I64) continue;
    IndexRange& range = ranges[i];
    switch (instr.op) {
      case ScalarOp::Const:
        range.low = range.high = static_cast<int64_t>(instr.bits);
        break;
      case ScalarOp::Index: {
        const Affine& affine = body.affines[instr.access];
        range.low = range.high = affine.offset;
        for (size_t v = 0; v < affine.coefficients.size(); ++v) {
          const int64_t last = std::max<int64_t>(extents[v], 1) - 1;
          const int64_t most = affine.coefficients[v] * last;
          (most < 0 ? range.low : range.high) += most;
        }
        break;
      }
      case ScalarOp::Cast: {
        const DType from = body[instr.args[0]].dtype;
        if (from == DType::Bool) {
          range = {0, 1};
        } else if (is_integer(from) && size_of(from) < 4) {
          range = {min_integer(from), static_cast<int64_t>(max_integer(from))};
        } else if (from == DType::I32) {
          range = {INT32_MIN, INT32_MAX};
        }
        break;
      }
      case ScalarOp::Add:
      case ScalarOp::Sub:
      case ScalarOp::Mul:
      case ScalarOp::Div:
      case ScalarOp::Mod:
      case ScalarOp::Min:
      case ScalarOp::Max:
      case ScalarOp::Select: {
        const size_t first = instr.op == ScalarOp::Select ? 1 : 0;
        const IndexRange& a = ranges[instr.args[first].index];
        const IndexRange& x = ranges[instr.args[first + 1].index];
        if (a.fits_i32() && x.fits_i32()) range = range_of(instr, a, x);
        break;
      }
      default:
        break;
    }
    if (!range.fits_i32()) range = {};
  }
  return ranges;
}

}  // namespace reprise::codegen
