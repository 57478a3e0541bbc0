// Partials in registers, in a variable or in workgroup memory; the same tree over each.
#include "codegen/spirv/fold.h"

#include <bit>
#include <limits>
#include <optional>

#include "codegen/spirv/layout.h"
#include "codegen/spirv/subgroup.h"
#include "ir/error.h"
#include "ir/scalar_interpreter.h"

namespace reprise::spirv {

using codegen::product;

namespace {

/// Folds of up to this many emitted instructions are written out.
constexpr int64_t kUnrolledInstructions = 256;

uint64_t float_bits(DType dtype, double value) {
  return dtype == DType::F32 ? std::bit_cast<uint32_t>(static_cast<float>(value))
                             : std::bit_cast<uint64_t>(value);
}

}  // namespace

FoldEmitter::FoldEmitter(Function& f, PartMemory& memory, const Stage& stage)
    : f_(f), memory_(memory), stage_(stage), extent_(product(stage.reduce)) {
  for (const Reduction& reduction : stage.reductions) {
    dtypes_.push_back(accumulator(stage, reduction));
  }
}

// What changes no value it is combined with, bit for bit: -0 for a float sum.
FoldEmitter::Accumulator FoldEmitter::neutral(const Reduction& reduction) const {
  const DType dtype = accumulator(stage_, reduction)[0];
  const auto constant = [&](uint64_t bits) { return f_.m.constant_bits(dtype, bits); };
  switch (reduction.kind) {
    case ReduceKind::Sum:
      return {constant(is_float(dtype) ? float_bits(dtype, -0.0) : 0)};
    case ReduceKind::Dot:
      return {f_.start_of_sum(dtype)};
    case ReduceKind::Prod:
    case ReduceKind::Min:
    case ReduceKind::Max:
      return {constant(reduce_identity(reduction.kind, dtype))};
    case ReduceKind::ArgMin:
      return {constant(reduce_identity(ReduceKind::Min, dtype)), f_.m.constant(UINT32_MAX)};
    case ReduceKind::ArgMax:
      return {constant(reduce_identity(ReduceKind::Max, dtype)), f_.m.constant(UINT32_MAX)};
  }
  return {};
}

FoldEmitter::Accumulator FoldEmitter::combined(const Reduction& reduction, const Accumulator& a,
                                               const Accumulator& b) {
  const DType dtype = accumulator(stage_, reduction)[0];
  switch (reduction.kind) {
    case ReduceKind::Sum:
      return {f_.binary(ScalarOp::Add, dtype, a[0], b[0])};
    case ReduceKind::Prod:
      return {f_.binary(ScalarOp::Mul, dtype, a[0], b[0])};
    case ReduceKind::Min:
      return {f_.binary(ScalarOp::Min, dtype, a[0], b[0])};
    case ReduceKind::Max:
      return {f_.binary(ScalarOp::Max, dtype, a[0], b[0])};
    case ReduceKind::Dot:
      break;
    case ReduceKind::ArgMin:
    case ReduceKind::ArgMax: {
      // The total order behind "first NaN, else first extreme": NaN beats all, ties go to the
      // smaller index.
      const bool maximum = reduction.kind == ReduceKind::ArgMax;
      const Value truth = f_.m.bool_type();
      const auto both = [&](Value x, Value y) { return f_.op(spv::OpLogicalAnd, truth, {x, y}); };
      const auto either = [&](Value x, Value y) { return f_.op(spv::OpLogicalOr, truth, {x, y}); };
      Value better = f_.binary(ScalarOp::Lt, dtype, maximum ? a[0] : b[0], maximum ? b[0] : a[0]);
      Value tie = f_.binary(ScalarOp::Eq, dtype, a[0], b[0]);
      if (is_float(dtype)) {
        const Value nan_a = f_.binary(ScalarOp::Ne, dtype, a[0], a[0]);
        const Value nan_b = f_.binary(ScalarOp::Ne, dtype, b[0], b[0]);
        better = either(better, both(nan_b, f_.op(spv::OpLogicalNot, truth, {nan_a})));
        tie = either(tie, both(nan_a, nan_b));
      }
      const Value take = either(better, both(tie, f_.below(b[1], a[1])));
      return {f_.select(f_.m.register_type(dtype), take, b[0], a[0]),
              f_.select(f_.m.u32(), take, b[1], a[1])};
    }
  }
  throw InternalError("internal error: a dot reduction outside a contraction");
}

FoldEmitter::Accumulator FoldEmitter::taken(const Reduction& reduction, const BodyEmitter& body,
                                            Value index) const {
  Accumulator result{body.value(reduction.value)};
  if (accumulator(stage_, reduction).size() > 1) result.push_back(index);
  return result;
}

// Argument kinds give their index, as an i64.
Value FoldEmitter::result(const Accumulator& accumulator) {
  return accumulator.size() == 1 ? accumulator[0] : f_.widened(accumulator[1]);
}

std::vector<Value> FoldEmitter::identities() {
  std::vector<Value> results;
  for (const Reduction& reduction : stage_.reductions) {
    results.push_back(
        f_.m.constant_bits(reduction.dtype, reduce_identity(reduction.kind, reduction.dtype)));
  }
  return results;
}

void FoldEmitter::nest(size_t level, Scope& scope, Value linear,
                       const std::function<void(const Scope&, Value)>& body) {
  if (level == stage_.reduce.size()) return body(scope, linear);
  const int64_t extent = stage_.reduce[level];
  const Value row = linear == 0 ? 0 : f_.mul(linear, f_.m.constant(static_cast<uint32_t>(extent)));
  f_.loop(extent, [&](Value i) {
    scope.push_back({i, false});
    nest(level + 1, scope, row == 0 ? i : f_.add(row, i), body);
    scope.pop_back();
  });
}

Value FoldEmitter::chain(const Scope& scope) {
  const Reduction& dot = stage_.reductions[0];
  if (extent_ == 0) return f_.m.constant_bits(dot.dtype, 0);
  const Value type = f_.m.register_type(dot.dtype);
  const Value sum = f_.variable(type);
  f_.store(sum, f_.start_of_sum(dot.dtype));
  Scope inner = scope;
  nest(0, inner, 0, [&](const Scope& at, Value) {
    BodyEmitter body(f_, memory_, stage_.body, at);
    const Value a = body.emit(dot.value);
    const Value b = body.emit(dot.value2);
    f_.store(sum, f_.fma(dot.dtype, a, b, f_.load(type, sum)));
  });
  return f_.load(type, sum);
}

/// All elements as values, each in code of its own.
std::vector<Value> FoldEmitter::unrolled(const Scope& scope) {
  std::vector<std::vector<Accumulator>> partials(stage_.reductions.size());
  for (int64_t r = 0; r < extent_; ++r) {
    Scope at = scope;
    int64_t rest = r;
    at.resize(scope.size() + stage_.reduce.size());
    for (size_t axis = stage_.reduce.size(); axis-- > 0;) {
      const uint32_t coordinate = static_cast<uint32_t>(rest % stage_.reduce[axis]);
      at[scope.size() + axis] = {coordinate == 0 ? 0 : f_.m.constant(coordinate), false};
      rest /= stage_.reduce[axis];
    }
    BodyEmitter body(f_, memory_, stage_.body, at);
    body.emit_all();
    for (size_t i = 0; i < partials.size(); ++i) {
      const Reduction& reduction = stage_.reductions[i];
      partials[i].push_back(taken(reduction, body, f_.m.constant(static_cast<uint32_t>(r))));
    }
  }
  std::vector<Value> results;
  for (size_t i = 0; i < partials.size(); ++i) {
    std::vector<Accumulator>& values = partials[i];
    for (size_t half = kReducePartials / 2; half > 0; half /= 2) {
      for (size_t p = 0; p + half < values.size() && p < half; ++p) {
        values[p] = combined(stage_.reductions[i], values[p], values[p + half]);
      }
      if (values.size() > half) values.resize(half);
    }
    results.push_back(result(values[0]));
  }
  return results;
}

std::vector<Value> FoldEmitter::serial(const Scope& scope) {
  if (stage_.kind == StageKind::Contraction) return {chain(scope)};
  if (extent_ == 0) return identities();
  const int64_t size = static_cast<int64_t>(stage_.body.instrs.size() + stage_.reductions.size());
  if (extent_ <= kReducePartials && extent_ * size <= kUnrolledInstructions) return unrolled(scope);

  // Partials in variables of the invocation.
  const int64_t active = std::min<int64_t>(extent_, kReducePartials);
  std::vector<std::vector<Value>> arrays(dtypes_.size());
  const auto pointer = [&](size_t i, size_t k, Value index) {
    return f_.element(spv::StorageClassFunction, f_.m.register_type(dtypes_[i][k]), arrays[i][k],
                      index);
  };
  const auto get = [&](size_t i, Value index) {
    Accumulator all;
    for (size_t k = 0; k < dtypes_[i].size(); ++k) {
      all.push_back(f_.load(f_.m.register_type(dtypes_[i][k]), pointer(i, k, index)));
    }
    return all;
  };
  const auto put = [&](size_t i, Value index, const Accumulator& all) {
    for (size_t k = 0; k < all.size(); ++k) f_.store(pointer(i, k, index), all[k]);
  };
  for (size_t i = 0; i < dtypes_.size(); ++i) {
    for (const DType dtype : dtypes_[i]) {
      arrays[i].push_back(f_.variable(f_.m.array_type(f_.m.register_type(dtype), active)));
    }
  }
  f_.loop(active, [&](Value p) {
    for (size_t i = 0; i < dtypes_.size(); ++i) put(i, p, neutral(stage_.reductions[i]));
  });
  Scope inner = scope;
  nest(0, inner, 0, [&](const Scope& at, Value linear) {
    BodyEmitter body(f_, memory_, stage_.body, at);
    body.emit_all();
    const Value p =
        f_.op(spv::OpBitwiseAnd, f_.m.u32(), {linear, f_.m.constant(kReducePartials - 1)});
    for (size_t i = 0; i < dtypes_.size(); ++i) {
      const Reduction& reduction = stage_.reductions[i];
      put(i, p, combined(reduction, get(i, p), taken(reduction, body, linear)));
    }
  });
  int64_t left = active;
  for (int64_t half = kReducePartials / 2; half > 0; half /= 2) {
    if (left <= half) continue;
    f_.loop(left - half, [&](Value p) {
      const Value other = f_.add(p, f_.m.constant(static_cast<uint32_t>(half)));
      for (size_t i = 0; i < dtypes_.size(); ++i) {
        put(i, p, combined(stage_.reductions[i], get(i, p), get(i, other)));
      }
    });
    left = half;
  }
  std::vector<Value> results;
  for (size_t i = 0; i < dtypes_.size(); ++i) {
    results.push_back(result(get(i, f_.m.constant(0))));
  }
  return results;
}

std::vector<Value> FoldEmitter::shared(const Scope& scope, Value invocation) {
  if (extent_ == 0) return identities();
  std::vector<std::vector<Value>> variables(dtypes_.size());
  std::vector<std::vector<int64_t>> trees(dtypes_.size());
  SharedWords words;
  for (size_t i = 0; i < dtypes_.size(); ++i) {
    const Accumulator start = neutral(stage_.reductions[i]);
    for (size_t k = 0; k < start.size(); ++k) {
      trees[i].push_back(words.take(dtypes_[i][k], kReducePartials));
      variables[i].push_back(f_.variable(f_.m.register_type(dtypes_[i][k])));
      f_.store(variables[i].back(), start[k]);
    }
  }
  const auto partial = [&](size_t i) {
    Accumulator all;
    for (size_t k = 0; k < dtypes_[i].size(); ++k) {
      all.push_back(f_.load(f_.m.register_type(dtypes_[i][k]), variables[i][k]));
    }
    return all;
  };
  const auto keep = [&](size_t i, const Accumulator& all) {
    for (size_t k = 0; k < all.size(); ++k) f_.store(variables[i][k], all[k]);
  };
  f_.loop(invocation, extent_, kReducePartials, [&](Value r) {
    Scope at = scope;
    append_coordinates(f_, {r, false}, stage_.reduce, at);
    BodyEmitter body(f_, memory_, stage_.body, at);
    body.emit_all();
    for (size_t i = 0; i < dtypes_.size(); ++i) {
      const Reduction& reduction = stage_.reductions[i];
      keep(i, combined(reduction, partial(i), taken(reduction, body, r)));
    }
  });
  const auto put = [&](size_t i) {
    const Accumulator all = partial(i);
    for (size_t k = 0; k < all.size(); ++k) {
      memory_.store_shared(dtypes_[i][k], trees[i][k], invocation, all[k]);
    }
  };
  const auto get = [&](size_t i, Value index) {
    Accumulator all;
    for (size_t k = 0; k < dtypes_[i].size(); ++k) {
      all.push_back(memory_.load_shared(dtypes_[i][k], trees[i][k], index));
    }
    return all;
  };
  for (size_t i = 0; i < dtypes_.size(); ++i) put(i);
  f_.barrier();
  std::optional<Subgroup> subgroup;
  if (f_.m.target().shader.shuffle) subgroup.emplace(f_);
  const auto is_in_subgroup = [&](int64_t half) {
    return f_.below(f_.m.constant(static_cast<uint32_t>(half)), subgroup->width());
  };
  const auto for_halves = [&](const auto& step) {
    int64_t left = std::min<int64_t>(extent_, kReducePartials);
    for (int64_t half = kReducePartials / 2; half > 0; half /= 2) {
      if (left <= half) continue;
      step(half, left);
      left = half;
    }
  };
  for_halves([&](int64_t half, int64_t left) {
    const auto step = [&] {
      const Value count = f_.m.constant(static_cast<uint32_t>(left - half));
      f_.if_then(f_.below(invocation, count), [&] {
        const Value other = f_.add(invocation, f_.m.constant(static_cast<uint32_t>(half)));
        for (size_t i = 0; i < dtypes_.size(); ++i) {
          keep(i, combined(stage_.reductions[i], partial(i), get(i, other)));
          put(i);
        }
      });
      f_.barrier();
    };
    if (!subgroup) return step();
    f_.if_then(f_.op(spv::OpLogicalNot, f_.m.bool_type(), {is_in_subgroup(half)}), step);
  });
  // The rest of the tree without barriers, by every subgroup for itself: lane p has partial p.
  for (size_t i = 0; i < dtypes_.size(); ++i) {
    keep(i, get(i, subgroup ? subgroup->lane() : f_.m.constant(0)));
  }
  if (subgroup) {
    for_halves([&](int64_t half, int64_t left) {
      f_.if_then(is_in_subgroup(half), [&] {
        const Value count = f_.m.constant(static_cast<uint32_t>(left - half));
        const Value takes = f_.below(subgroup->lane(), count);
        for (size_t i = 0; i < dtypes_.size(); ++i) {
          const Accumulator own = partial(i);
          Accumulator other, sum;
          for (size_t k = 0; k < own.size(); ++k) {
            other.push_back(
                subgroup->exchanged(dtypes_[i][k], own[k], static_cast<uint32_t>(half)));
          }
          sum = combined(stage_.reductions[i], own, other);
          for (size_t k = 0; k < own.size(); ++k) {
            sum[k] = f_.select(f_.m.register_type(dtypes_[i][k]), takes, sum[k], own[k]);
          }
          keep(i, sum);
        }
      });
    });
    f_.if_then(is_in_subgroup(1), [&] {
      for (size_t i = 0; i < dtypes_.size(); ++i) {
        Accumulator all = partial(i);
        for (size_t k = 0; k < all.size(); ++k) all[k] = subgroup->first(dtypes_[i][k], all[k]);
        keep(i, all);
      }
    });
  }
  std::vector<Value> results;
  for (size_t i = 0; i < dtypes_.size(); ++i) results.push_back(result(partial(i)));
  return results;
}

}  // namespace reprise::spirv
