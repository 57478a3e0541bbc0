// Ranges, dependences and dtypes of one body.
#include "ir/kernel_checks.h"

#include <algorithm>
#include <unordered_set>

#include "ir/error.h"

namespace reprise {
namespace {

__extension__ typedef __int128 Wide;

int64_t clamp(Wide value) {
  return static_cast<int64_t>(std::clamp<Wide>(value, INT64_MIN, INT64_MAX));
}

bool is_logical(ScalarOp op) {
  return op == ScalarOp::And || op == ScalarOp::Or || op == ScalarOp::Xor || op == ScalarOp::Not ||
         op == ScalarOp::Min || op == ScalarOp::Max;
}

enum class Domain { Float, Integer, Unsigned, Number, Any };

/// What an operation computes on. Bool counts as Any only where the operation is logical.
Domain domain(ScalarOp op) {
  switch (op) {
    case ScalarOp::Sqrt:
    case ScalarOp::Exp:
    case ScalarOp::Log:
    case ScalarOp::Tanh:
    case ScalarOp::Erf:
    case ScalarOp::Sin:
    case ScalarOp::Cos:
    case ScalarOp::CopySign:
      return Domain::Float;
    case ScalarOp::Shl:
    case ScalarOp::Shr:
      return Domain::Integer;
    case ScalarOp::MulHigh:
      return Domain::Unsigned;
    case ScalarOp::Neg:
    case ScalarOp::Abs:
    case ScalarOp::Floor:
    case ScalarOp::Ceil:
    case ScalarOp::Trunc:
    case ScalarOp::Round:
    case ScalarOp::Add:
    case ScalarOp::Sub:
    case ScalarOp::Mul:
    case ScalarOp::Div:
    case ScalarOp::Mod:
    case ScalarOp::Fma:
      return Domain::Number;
    default:
      return Domain::Any;
  }
}

}  // namespace

std::optional<Interval> affine_range(const Affine& affine, std::span<const int64_t> extents) {
  Wide low = affine.offset;
  Wide high = affine.offset;
  for (size_t v = 0; v < extents.size(); ++v) {
    if (extents[v] == 0) return std::nullopt;
    const Wide reach = static_cast<Wide>(affine.coefficients[v]) * (extents[v] - 1);
    (reach < 0 ? low : high) += reach;
  }
  return Interval{clamp(low), clamp(high)};
}

bool is_injective(const Affine& affine, std::span<const int64_t> extents, size_t first) {
  struct Axis {
    int64_t step, extent;
  };
  std::vector<Axis> axes;
  int64_t points = 1;
  for (size_t v = 0; v < extents.size(); ++v) {
    if (extents[v] == 0) return true;
    if (v < first || extents[v] == 1) continue;
    const int64_t c = affine.coefficients[v];
    if (c == 0) return false;
    axes.push_back({c < 0 ? -c : c, extents[v]});
    points = clamp(static_cast<Wide>(points) * extents[v]);
  }
  std::sort(axes.begin(), axes.end(), [](Axis a, Axis b) { return a.step < b.step; });
  Wide reach = 0;
  bool mixed_radix = true;
  for (const Axis& axis : axes) {
    mixed_radix = mixed_radix && axis.step > reach;
    reach += static_cast<Wide>(axis.step) * (axis.extent - 1);
  }
  if (mixed_radix) return true;
  constexpr int64_t kSearched = 1 << 16;
  if (points > kSearched) return false;
  std::unordered_set<int64_t> seen;
  for (int64_t p = 0; p < points; ++p) {
    int64_t rest = p;
    int64_t value = 0;
    for (const Axis& axis : axes) {
      value += axis.step * (rest % axis.extent);
      rest /= axis.extent;
    }
    if (!seen.insert(value).second) return false;
  }
  return true;
}

std::optional<ComputedAxis> computed_axis(const Body& body, ScalarId offset) {
  const Instr* instr = &body[offset];
  ComputedAxis axis{.step = 1, .extent = 0};
  if (instr->op == ScalarOp::Mul) {
    const Instr& a = body[instr->args[0]];
    const Instr& b = body[instr->args[1]];
    if (a.op != ScalarOp::Const && b.op != ScalarOp::Const) return std::nullopt;
    const bool first = a.op == ScalarOp::Const;
    axis.step = static_cast<int64_t>((first ? a : b).bits);
    instr = first ? &b : &a;
  }
  if (instr->op != ScalarOp::CheckIndex) return std::nullopt;
  axis.extent = static_cast<int64_t>(instr->bits);
  return axis;
}

std::optional<SequenceAccess> sequence_access(const Body& body, const Access& access,
                                              std::span<const int64_t> scope, size_t outer) {
  SequenceAccess result{.index = access.index, .extents = {scope.begin(), scope.end()}};
  for (size_t v = outer; v < scope.size(); ++v) {
    if (access.index.coefficients[v] == 0) result.extents[v] = std::min<int64_t>(scope[v], 1);
  }
  if (access.dynamic.valid()) {
    const std::optional<ComputedAxis> axis = computed_axis(body, access.dynamic);
    if (!axis) return std::nullopt;
    result.index.coefficients.push_back(axis->step);
    result.extents.push_back(axis->extent);
  }
  return result;
}

std::string dtype_error(const Body& body, const Instr& instr) {
  const auto dtype = [&](int a) { return body[instr.args[a]].dtype; };
  const auto differ = [](std::string_view what, DType found, DType wanted) {
    return str(what, " is ", name(found), ", not ", name(wanted));
  };
  if (is_pair(instr.dtype)) return "complex scalars do not exist";
  switch (instr.op) {
    case ScalarOp::Const: {
      const size_t width = 8 * size_of(instr.dtype);
      if (width < 64 && instr.bits >> width != 0) return "bits past the dtype's width";
      return instr.dtype == DType::Bool && instr.bits > 1 ? "a bool other than 0 and 1" : "";
    }
    case ScalarOp::Param:
    case ScalarOp::Reduced:
      return "";
    case ScalarOp::Index:
      return instr.dtype == DType::I64 ? "" : "an index is not i64";
    case ScalarOp::Load:
      if (!instr.args[0].valid() || dtype(0) == DType::Bool) return "";
      return differ("the mask", dtype(0), DType::Bool);
    case ScalarOp::Store:
      if (dtype(0) != instr.dtype) return differ("the value", dtype(0), instr.dtype);
      if (!instr.args[1].valid() || dtype(1) == DType::Bool) return "";
      return differ("the mask", dtype(1), DType::Bool);
    case ScalarOp::Cast:
      return "";
    case ScalarOp::Bitcast:
      if (size_of(dtype(0)) == size_of(instr.dtype)) return "";
      return str("bits of ", name(dtype(0)), " as ", name(instr.dtype));
    case ScalarOp::CheckIndex:
      if (dtype(0) != DType::I64) return differ("the index", dtype(0), DType::I64);
      return instr.dtype == DType::I64 ? "" : "a checked index is not i64";
    case ScalarOp::Select:
      if (dtype(0) != DType::Bool) return differ("the condition", dtype(0), DType::Bool);
      for (int a = 1; a < 3; ++a) {
        if (dtype(a) != instr.dtype) return differ("a branch", dtype(a), instr.dtype);
      }
      return "";
    default:
      break;
  }
  if (is_comparison(instr.op)) {
    if (instr.dtype != DType::Bool) return "a comparison is not bool";
    return dtype(0) == dtype(1) ? "" : differ("the second argument", dtype(1), dtype(0));
  }
  for (int a = 0; a < arity(instr.op); ++a) {
    if (dtype(a) != instr.dtype) return differ("an argument", dtype(a), instr.dtype);
  }
  const DType d = instr.dtype;
  const Domain wanted = domain(instr.op);
  const bool fits =
      (wanted == Domain::Float && is_float(d)) || (wanted == Domain::Integer && is_integer(d)) ||
      (wanted == Domain::Unsigned && is_unsigned_integer(d)) ||
      (wanted == Domain::Number && (is_integer(d) || is_float(d))) ||
      (is_logical(instr.op) && (d == DType::Bool || is_integer(d) || instr.op == ScalarOp::Min ||
                                instr.op == ScalarOp::Max));
  return fits ? "" : str("no ", name(instr.op), " of ", name(d));
}

std::string reduction_error(const Reduction& reduction, DType value) {
  const bool half = reduction.dtype == DType::F16 || reduction.dtype == DType::BF16;
  switch (reduction.kind) {
    case ReduceKind::ArgMin:
    case ReduceKind::ArgMax:
      if (reduction.dtype == DType::I64) return "";
      return str("an ", name(reduction.kind), " gives i64, not ", name(reduction.dtype));
    case ReduceKind::Sum:
    case ReduceKind::Prod:
    case ReduceKind::Dot:
      if (half) return str("a ", name(reduction.kind), " accumulates in ", name(reduction.dtype));
      if (reduction.dtype == DType::Bool) return str("a ", name(reduction.kind), " of bool");
      break;
    case ReduceKind::Min:
    case ReduceKind::Max:
      break;
  }
  if (value == reduction.dtype) return "";
  const bool dot_of_bf16 = reduction.kind == ReduceKind::Dot && value == DType::BF16;
  if (dot_of_bf16 && reduction.dtype == DType::F32) return "";
  return str("a ", name(reduction.kind), " in ", name(reduction.dtype), " of ", name(value));
}

std::vector<bool> variables_of(const Body& body, ScalarId value) {
  std::vector<bool> needed(body.instrs.size());
  std::vector<bool> variables;
  const auto add = [&](const Affine& affine) {
    variables.resize(std::max(variables.size(), affine.coefficients.size()));
    for (size_t v = 0; v < affine.coefficients.size(); ++v) {
      if (affine.coefficients[v] != 0) variables[v] = true;
    }
  };
  needed[value.index] = true;
  for (size_t i = value.index + 1; i-- > 0;) {
    if (!needed[i]) continue;
    const Instr& instr = body.instrs[i];
    for (const ScalarId arg : instr.args) {
      if (arg.valid()) needed[arg.index] = true;
    }
    if (instr.op == ScalarOp::Index) add(body.affines[instr.access]);
    if (instr.op != ScalarOp::Load) continue;
    const Access& access = body.accesses[instr.access];
    add(access.index);
    if (access.dynamic.valid()) needed[access.dynamic.index] = true;
  }
  return variables;
}

}  // namespace reprise
