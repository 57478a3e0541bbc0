// Reductions in the order ir/kernel.h fixes: 64 partials, then a halving tree.
//
// A partial that received no element is a neutral one here, which changes no bit of what it is
// combined with.
#include "codegen/llvm/emit.h"

namespace reprise::codegen {

using llvm::Value;
using Values = FunctionEmitter::Values;

namespace {

bool is_argument(const Reduction& reduction) {
  return reduction.kind == ReduceKind::ArgMin || reduction.kind == ReduceKind::ArgMax;
}

}  // namespace

ReduceEmitter::ReduceEmitter(FunctionEmitter& f, const Stage& stage, const LocalLayout& locals,
                             int lanes, int unroll, int64_t width)
    : f_(f),
      b_(f.b),
      stage_(stage),
      locals_(locals),
      lanes_(lanes),
      unroll_(unroll),
      width_(width),
      extent_(product(stage.reduce)),
      index_dtype_(extent_ < INT32_MAX ? DType::I32 : DType::I64) {
  for (size_t k = 0; k < stage.reductions.size(); ++k) {
    const Reduction& reduction = stage.reductions[k];
    const DType dtype =
        is_argument(reduction) ? stage.body[reduction.value].dtype : reduction.dtype;
    fields_.push_back({k, dtype, -1});
    if (is_argument(reduction)) fields_.push_back({k, index_dtype_, -1});
  }
}

DType ReduceEmitter::value_dtype(size_t k) const {
  const Reduction& reduction = stage_.reductions[k];
  return is_argument(reduction) ? stage_.body[reduction.value].dtype : reduction.dtype;
}

Values ReduceEmitter::neutral_fields(size_t k, int lanes) {
  Values fields = f_.neutral(stage_.reductions[k], value_dtype(k), lanes);
  if (fields.size() > 1) {
    fields[1] = f_.splat(f_.constant(index_dtype_, max_integer(index_dtype_)), lanes);
  }
  return fields;
}

// ---- States: per reduction, field by field, all copies ----

ReduceEmitter::State ReduceEmitter::neutral(const VectorShape& shape) {
  State state(stage_.reductions.size());
  for (size_t k = 0; k < state.size(); ++k) {
    for (Value* value : neutral_fields(k, shape.lanes)) {
      state[k].append(static_cast<size_t>(shape.copies), value);
    }
  }
  return state;
}

ReduceEmitter::State ReduceEmitter::evaluate(const Scope& scope, const VectorShape& shape,
                                             Value* linear, Spread spread) {
  BodyEmitter body(f_, stage_.body, locals_, scope, shape);
  body.emit_all();
  State state;
  for (const Reduction& reduction : stage_.reductions) {
    Lanes& lanes = body.emit(reduction.value);
    Values values;
    for (int copy = 0; copy < shape.copies; ++copy) values.push_back(body.vector(lanes, copy));
    if (is_argument(reduction)) {
      for (int copy = 0; copy < shape.copies; ++copy) {
        Value* index = f_.splat(f_.cast(DType::I64, index_dtype_, linear), shape.lanes);
        if (spread == Spread::Consecutive) {
          llvm::SmallVector<llvm::Constant*, 16> steps;
          for (int lane = 0; lane < shape.lanes; ++lane) {
            const int step = copy * shape.lanes + lane;
            steps.push_back(f_.constant(index_dtype_, static_cast<uint64_t>(step)));
          }
          index = b_.CreateAdd(index, llvm::ConstantVector::get(steps));
        }
        values.push_back(index);
      }
    }
    state.push_back(values);
  }
  return state;
}

ReduceEmitter::State ReduceEmitter::combine(int copies, const State& a, const State& x) {
  State result(a.size());
  for (size_t k = 0; k < a.size(); ++k) {
    result[k].resize(a[k].size());
    for (int copy = 0; copy < copies; ++copy) {
      Values left, right;
      for (size_t at = static_cast<size_t>(copy); at < a[k].size();
           at += static_cast<size_t>(copies)) {
        left.push_back(a[k][at]);
        right.push_back(x[k][at]);
      }
      const Values both = f_.combine(stage_.reductions[k], value_dtype(k), left, right);
      for (size_t field = 0; field < both.size(); ++field) {
        result[k][field * static_cast<size_t>(copies) + static_cast<size_t>(copy)] = both[field];
      }
    }
  }
  return result;
}

ReduceEmitter::State ReduceEmitter::read(Value* element, int lanes, int copies) {
  State state(stage_.reductions.size());
  for (const Field& field : fields_) {
    for (int copy = 0; copy < copies; ++copy) {
      Value* pointer = f_.element(field.dtype, cells(field), element);
      if (copy > 0) pointer = f_.element(field.dtype, pointer, f_.i64(int64_t{copy} * lanes));
      state[field.reduction].push_back(f_.load(field.dtype, pointer, lanes, lanes));
    }
  }
  return state;
}

void ReduceEmitter::write(Value* element, int lanes, int copies, const State& state) {
  std::vector<size_t> next(stage_.reductions.size(), 0);
  for (const Field& field : fields_) {
    for (int copy = 0; copy < copies; ++copy) {
      Value* pointer = f_.element(field.dtype, cells(field), element);
      if (copy > 0) pointer = f_.element(field.dtype, pointer, f_.i64(int64_t{copy} * lanes));
      f_.store(field.dtype, state[field.reduction][next[field.reduction]++], pointer, lanes);
    }
  }
}

Value* ReduceEmitter::cells(const Field& field) {
  if (field.scratch < 0) field.scratch = f_.reserve_scratch(kReducePartials * width_ * 8);
  return f_.scratch_at(field.scratch);
}

std::vector<Lanes> ReduceEmitter::results(const VectorShape& shape, const State& state) {
  std::vector<Lanes> result;
  for (size_t k = 0; k < state.size(); ++k) {
    const size_t field = is_argument(stage_.reductions[k]) ? 1 : 0;
    Lanes lanes;
    lanes.uniform = shape.lanes == 1;
    for (int copy = 0; copy < shape.copies; ++copy) {
      Value* value =
          state[k][field * static_cast<size_t>(shape.copies) + static_cast<size_t>(copy)];
      lanes.parts.push_back(field == 0 ? value : f_.cast(index_dtype_, DType::I64, value));
    }
    result.push_back(lanes);
  }
  return result;
}

std::vector<Lanes> ReduceEmitter::identities() {
  std::vector<Lanes> result;
  for (const Reduction& reduction : stage_.reductions) {
    const bool zero = is_argument(reduction) || reduction.kind == ReduceKind::Sum;
    result.emplace_back(zero ? f_.constant(reduction.dtype, 0)
                             : f_.neutral(reduction, reduction.dtype, 1)[0]);
  }
  return result;
}

double ReduceEmitter::element_cost(const Scope& scope, const VectorShape& shape) const {
  const double cost = body_cost(stage_.body, scope.vector, shape.lanes) + reduction_cost(stage_);
  return cost * shape.copies;
}

// ---- Any loops, any shape ----

std::vector<Lanes> ReduceEmitter::in_order(Scope& scope, const VectorShape& shape) {
  if (extent_ == 0) return identities();
  const double cost = element_cost(scope, shape);
  if (extent_ <= kReducePartials && static_cast<double>(extent_) * cost <= kUnrolledCost) {
    return unrolled(scope, shape);
  }
  if (stage_.reduce.size() == 1 && extent_ >= kReducePartials && cost <= kUnrolledCost) {
    return in_chains(scope, shape, cost * 4 <= kChainsCost ? 4 : cost * 2 <= kChainsCost ? 2 : 1);
  }
  return in_memory(scope, shape);
}

/// Few elements: the tree itself, visited so that at most seven partial results are alive.
std::vector<Lanes> ReduceEmitter::unrolled(Scope& scope, const VectorShape& shape) {
  const std::function<State(int64_t, int64_t)> node = [&](int64_t first, int64_t stride) {
    if (stride == kReducePartials) {
      Scope at = scope;
      for (Value* coordinate : f_.delinearize(f_.i64(first), stage_.reduce)) {
        at.variables.emplace_back(coordinate);
      }
      return evaluate(at, shape, f_.i64(first), Spread::Same);
    }
    State left = node(first, 2 * stride);
    if (first + stride >= extent_) return left;
    return combine(shape.copies, left, node(first + stride, 2 * stride));
  };
  return results(shape, node(0, 1));
}

/// One loop of at least 64 elements: partials p, p + 16, p + 32, p + 48 in registers together, the
/// first levels of the tree at once, then the 16 results from memory.
std::vector<Lanes> ReduceEmitter::in_chains(Scope& scope, const VectorShape& shape, int chains) {
  const int64_t apart = kReducePartials / chains;
  const int64_t full = extent_ / kReducePartials;
  const int64_t rest = extent_ % kReducePartials;
  const auto pack = [&](const std::vector<State>& states) {
    Values all;
    for (const State& state : states) {
      for (const Values& values : state) all.append(values.begin(), values.end());
    }
    return all;
  };
  const auto unpack = [&](const Values& all) {
    const State like = neutral(shape);
    std::vector<State> states;
    size_t at = 0;
    for (int chain = 0; chain < chains; ++chain) {
      State state(like.size());
      for (size_t k = 0; k < like.size(); ++k) {
        for (size_t i = 0; i < like[k].size(); ++i) state[k].push_back(all[at++]);
      }
      states.push_back(state);
    }
    return states;
  };
  const auto element = [&](const Variable& index) {
    Scope at = scope;
    at.variables.push_back(index);
    return evaluate(at, shape, value_of(index), Spread::Same);
  };
  f_.loop(f_.i64(0), f_.i64(apart), 1, [&](Value* first) {
    std::vector<State> states(static_cast<size_t>(chains), neutral(shape));
    states = unpack(f_.loop(f_.i64(0), f_.i64(full * kReducePartials), kReducePartials,
                            pack(states), [&](Value* base, const Values& carried) {
                              std::vector<State> sums = unpack(carried);
                              const Value* const zero = f_.i64(0);
                              Value* index = base == zero ? first : b_.CreateAdd(first, base);
                              for (int chain = 0; chain < chains; ++chain) {
                                sums[chain] = combine(shape.copies, sums[chain],
                                                      element(Variable(index, chain * apart)));
                              }
                              return pack(sums);
                            }));
    for (int chain = 0; chain < chains && rest > 0; ++chain) {
      const int64_t offset = chain * apart;
      if (offset >= rest) break;
      const auto take = [&] {
        const State sum = combine(shape.copies, states[chain],
                                  element(Variable(first, offset + full * kReducePartials)));
        return pack({sum});
      };
      const Values sum = offset + apart <= rest
                             ? take()
                             : f_.if_then(b_.CreateICmpSLT(first, f_.i64(rest - offset)),
                                          pack({states[chain]}), take);
      size_t at = 0;
      for (Values& values : states[chain]) {
        for (Value*& value : values) value = sum[at++];
      }
    }
    for (int half = chains / 2; half >= 1; half /= 2) {
      for (int chain = 0; chain < half; ++chain) {
        states[chain] = combine(shape.copies, states[chain], states[chain + half]);
      }
    }
    write(b_.CreateMul(first, f_.i64(width_)), shape.lanes, shape.copies, states[0]);
  });
  return halve_in_memory(shape, apart);
}

/// Any loops: every partial in memory.
std::vector<Lanes> ReduceEmitter::in_memory(Scope& scope, const VectorShape& shape) {
  const int64_t partials = std::min<int64_t>(extent_, kReducePartials);
  f_.loop(f_.i64(0), f_.i64(partials), 1, [&](Value* partial) {
    write(b_.CreateMul(partial, f_.i64(width_)), shape.lanes, shape.copies, neutral(shape));
  });
  nest(0, scope, f_.i64(0), [&](Scope& at, Value* linear) {
    Value* partial =
        b_.CreateMul(b_.CreateAnd(linear, f_.i64(kReducePartials - 1)), f_.i64(width_));
    const State value = evaluate(at, shape, linear, Spread::Same);
    write(partial, shape.lanes, shape.copies,
          combine(shape.copies, read(partial, shape.lanes, shape.copies), value));
  });
  return halve_in_memory(shape, partials);
}

void ReduceEmitter::nest(size_t level, Scope& scope, Value* linear,
                         const std::function<void(Scope&, Value*)>& body) {
  if (level == stage_.reduce.size()) {
    body(scope, linear);
    return;
  }
  f_.loop(f_.i64(0), f_.i64(stage_.reduce[level]), 1, [&](Value* i) {
    scope.variables.emplace_back(i);
    Value* next =
        level == 0 ? i : b_.CreateAdd(b_.CreateMul(linear, f_.i64(stage_.reduce[level])), i);
    nest(level + 1, scope, next, body);
    scope.variables.pop_back();
  });
}

std::vector<Lanes> ReduceEmitter::halve_in_memory(const VectorShape& shape, int64_t partials) {
  for (int64_t h = kReducePartials / 2; h >= 1; h /= 2) {
    f_.loop(f_.i64(0), f_.i64(std::min(h, partials - h)), 1, [&](Value* partial) {
      Value* at = b_.CreateMul(partial, f_.i64(width_));
      const State left = read(at, shape.lanes, shape.copies);
      const State right = read(b_.CreateAdd(at, f_.i64(h * width_)), shape.lanes, shape.copies);
      write(at, shape.lanes, shape.copies, combine(shape.copies, left, right));
    });
  }
  return results(shape, read(f_.i64(0), shape.lanes, shape.copies));
}

// ---- Lanes along the innermost loop: the 64 partials are 64 / lanes vectors ----

bool ReduceEmitter::rows_fit() const {
  if (lanes_ <= 1 || stage_.reduce.empty() || kReducePartials % lanes_ != 0) return false;
  // A row of partials must never straddle the end of the innermost loop.
  return extent_ == stage_.reduce.back() || stage_.reduce.back() % kReducePartials == 0;
}

std::vector<Lanes> ReduceEmitter::rows(Scope& scope) {
  if (extent_ == 0) return identities();
  Scope probe = scope;
  probe.vector = static_cast<int>(scope.variables.size() + stage_.reduce.size()) - 1;
  const int copies = kReducePartials / lanes_;
  const double cost = element_cost(probe, VectorShape::full(lanes_, copies));
  // A long body is not repeated for every vector of partials: those rest in memory instead.
  if (cost > kUnrolledCost && extent_ > int64_t{lanes_} * unroll_) return rows_in_memory(scope);
  const State sums = rows_level(scope, 0, f_.i64(0), neutral(VectorShape::full(lanes_, copies)));
  return halve(sums, copies);
}

ReduceEmitter::State ReduceEmitter::rows_level(Scope& scope, size_t level, Value* linear,
                                               const State& init) {
  const int64_t extent = stage_.reduce[level];
  const size_t variable = scope.variables.size();
  const auto flat = [](const State& state) {
    Values all;
    for (const Values& values : state) all.append(values.begin(), values.end());
    return all;
  };
  const auto deep = [&](const Values& all) {
    State state(init.size());
    size_t at = 0;
    for (size_t k = 0; k < init.size(); ++k) {
      for (size_t i = 0; i < init[k].size(); ++i) state[k].push_back(all[at++]);
    }
    return state;
  };
  if (level + 1 < stage_.reduce.size()) {
    const int64_t inner = product(std::span(stage_.reduce).subspan(level + 1));
    return deep(
        f_.loop(f_.i64(0), f_.i64(extent), 1, flat(init), [&](Value* i, const Values& carried) {
          scope.variables.emplace_back(i);
          Value* base = b_.CreateAdd(linear, b_.CreateMul(i, f_.i64(inner)));
          const State next = rows_level(scope, level + 1, base, deep(carried));
          scope.variables.pop_back();
          return flat(next);
        }));
  }
  scope.variables.emplace_back();
  scope.vector = static_cast<int>(variable);
  const int64_t group = int64_t{lanes_} * unroll_;
  const auto block = [&](Value* from, int64_t count, State sums) {
    for (int64_t at = 0; at < count; at += group) {
      scope.variables[variable] = Variable(from, at);
      const VectorShape shape = VectorShape::holding(lanes_, std::min(group, count - at));
      Value* index = b_.CreateAdd(linear, value_of(scope.variables[variable]));
      take_in(sums, kReducePartials / lanes_, static_cast<int>(at / lanes_), scope, shape, index);
    }
    return sums;
  };
  const int64_t main = extent / kReducePartials * kReducePartials;
  State sums = deep(f_.loop(f_.i64(0), f_.i64(main), kReducePartials, flat(init),
                            [&](Value* r, const Values& carried) {
                              return flat(block(r, kReducePartials, deep(carried)));
                            }));
  if (main < extent) sums = block(f_.i64(main), extent - main, sums);
  scope.variables.pop_back();
  scope.vector = -1;
  return sums;
}

/// Folds a group of vectors into vectors [first, ..) of `copies` accumulators.
void ReduceEmitter::take_in(State& sums, int copies, int first, const Scope& scope,
                            const VectorShape& shape, Value* linear) {
  const State values = evaluate(scope, shape, linear, Spread::Consecutive);
  for (size_t k = 0; k < values.size(); ++k) {
    const Reduction& reduction = stage_.reductions[k];
    const Values ignored = neutral_fields(k, lanes_);
    for (int copy = 0; copy < shape.copies; ++copy) {
      Values left, right;
      const auto place = [&](size_t field) -> Value*& {
        return sums[k][field * static_cast<size_t>(copies) + static_cast<size_t>(first + copy)];
      };
      for (size_t field = 0; field < ignored.size(); ++field) {
        Value* value =
            values[k][field * static_cast<size_t>(shape.copies) + static_cast<size_t>(copy)];
        if (const int active = shape.active(copy); active < lanes_) {
          llvm::SmallVector<llvm::Constant*, 16> mask;
          for (int lane = 0; lane < lanes_; ++lane) mask.push_back(b_.getInt1(lane < active));
          value = b_.CreateSelect(llvm::ConstantVector::get(mask), value, ignored[field]);
        }
        left.push_back(place(field));
        right.push_back(value);
      }
      const Values both = f_.combine(reduction, value_dtype(k), left, right);
      for (size_t field = 0; field < both.size(); ++field) place(field) = both[field];
    }
  }
}

std::vector<Lanes> ReduceEmitter::rows_in_memory(Scope& scope) {
  const int copies = kReducePartials / lanes_;
  const State initial = neutral(VectorShape::full(lanes_, copies));
  write(f_.i64(0), lanes_, copies, initial);
  const int64_t inner = stage_.reduce.back();
  const int64_t group = int64_t{lanes_} * unroll_;
  const std::function<void(size_t, Value*)> level = [&](size_t l, Value* linear) {
    const size_t variable = scope.variables.size();
    scope.variables.emplace_back();
    if (l + 1 < stage_.reduce.size()) {
      const int64_t below = product(std::span(stage_.reduce).subspan(l + 1));
      f_.loop(f_.i64(0), f_.i64(stage_.reduce[l]), 1, [&](Value* i) {
        scope.variables[variable] = i;
        level(l + 1, b_.CreateAdd(linear, b_.CreateMul(i, f_.i64(below))));
      });
    } else {
      scope.vector = static_cast<int>(variable);
      const auto vectors = [&](Value* r, const VectorShape& shape) {
        scope.variables[variable] = r;
        Value* at = b_.CreateAnd(r, f_.i64(kReducePartials - 1));
        State sums = read(at, lanes_, shape.copies);
        take_in(sums, shape.copies, 0, scope, shape, b_.CreateAdd(linear, r));
        write(at, lanes_, shape.copies, sums);
      };
      const int64_t main = inner / group * group;
      f_.loop(f_.i64(0), f_.i64(main), group,
              [&](Value* r) { vectors(r, VectorShape::full(lanes_, unroll_)); });
      if (main < inner) vectors(f_.i64(main), VectorShape::holding(lanes_, inner - main));
      scope.vector = -1;
    }
    scope.variables.pop_back();
  };
  level(0, f_.i64(0));
  // The upper levels of the tree, vectors against vectors; those without an element are left out.
  const int64_t used = std::min<int64_t>(copies, divide_up(extent_, lanes_));
  for (int64_t h = copies / 2; h >= 1; h /= 2) {
    f_.loop(f_.i64(0), f_.i64(std::min(h, used - h) * lanes_), lanes_, [&](Value* at) {
      const State right = read(b_.CreateAdd(at, f_.i64(h * lanes_)), lanes_, 1);
      write(at, lanes_, 1, combine(1, read(at, lanes_, 1), right));
    });
  }
  return halve(read(f_.i64(0), lanes_, 1), 1);
}

/// The halving tree over vectors, then inside the last one.
std::vector<Lanes> ReduceEmitter::halve(const State& sums, int copies) {
  std::vector<Lanes> result;
  for (size_t k = 0; k < sums.size(); ++k) {
    const Reduction& reduction = stage_.reductions[k];
    const size_t fields = is_argument(reduction) ? 2 : 1;
    std::vector<Values> state(static_cast<size_t>(copies));
    for (int copy = 0; copy < copies; ++copy) {
      for (size_t field = 0; field < fields; ++field) {
        state[copy].push_back(
            sums[k][field * static_cast<size_t>(copies) + static_cast<size_t>(copy)]);
      }
    }
    for (int step = copies / 2; step >= 1; step /= 2) {
      for (int copy = 0; copy < step; ++copy) {
        if (int64_t{copy + step} * lanes_ >= extent_) continue;  // neutral
        state[copy] = f_.combine(reduction, value_dtype(k), state[copy], state[copy + step]);
      }
    }
    Values last = state[0];
    for (int h = lanes_ / 2; h >= 1; h /= 2) {
      llvm::SmallVector<int, 16> low, high;
      for (int lane = 0; lane < h; ++lane) {
        low.push_back(lane);
        high.push_back(h + lane);
      }
      Values left, right;
      for (Value* value : last) {
        if (h > 1) {
          left.push_back(b_.CreateShuffleVector(value, low));
          right.push_back(b_.CreateShuffleVector(value, high));
        } else {
          left.push_back(b_.CreateExtractElement(value, uint64_t{0}));
          right.push_back(b_.CreateExtractElement(value, uint64_t{1}));
        }
      }
      last = h < extent_ ? f_.combine(reduction, value_dtype(k), left, right) : left;
    }
    result.emplace_back(fields == 1 ? last[0] : f_.cast(index_dtype_, DType::I64, last[1]));
  }
  return result;
}

Value* ReduceEmitter::value_of(const Variable& variable) {
  if (variable.value == nullptr) return f_.i64(variable.offset);
  return variable.offset == 0 ? variable.value
                              : b_.CreateAdd(variable.value, f_.i64(variable.offset));
}

}  // namespace reprise::codegen
