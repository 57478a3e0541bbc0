// What a kernel's loops and accesses look like: shared by schedules, cost estimates and backends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/kernel.h"
#include "ir/schedule.h"
#include "ir/target.h"

namespace reprise::codegen {

[[nodiscard]] inline int64_t product(std::span<const int64_t> extents) {
  int64_t result = 1;
  for (const int64_t extent : extents) result *= extent;
  return result;
}

[[nodiscard]] inline int64_t divide_up(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

[[nodiscard]] inline int64_t coefficient(const Affine& affine, int variable) {
  return variable >= 0 && static_cast<size_t>(variable) < affine.coefficients.size()
             ? affine.coefficients[variable]
             : 0;
}

/// Iterations of the innermost loop that lanes take together with the loop around it, where alone
/// it would leave most of them empty; 0: it runs alone.
[[nodiscard]] inline int64_t folded_loop(std::span<const int64_t> extents, int lanes) {
  if (extents.size() < 2) return 0;
  const int64_t inner = extents.back();
  const bool folds = inner >= 2 && inner < lanes && lanes % inner == 0;
  return folds && extents[extents.size() - 2] > 1 ? inner : 0;
}

/// Iterations that lanes run over: those of the innermost loop, or of the two innermost together.
[[nodiscard]] inline int64_t lane_extent(std::span<const int64_t> extents, int lanes) {
  const int64_t fold = folded_loop(extents, lanes);
  return fold == 0 ? extents.back() : fold * extents[extents.size() - 2];
}

/// The variables, as bits, that each instruction of a body depends on.
[[nodiscard]] inline std::vector<uint64_t> dependences(const Body& body) {
  std::vector<uint64_t> result(body.instrs.size(), 0);
  const auto of_affine = [](const Affine& affine) {
    uint64_t bits = 0;
    for (size_t v = 0; v < affine.coefficients.size(); ++v) {
      if (affine.coefficients[v] != 0) bits |= uint64_t{1} << v;
    }
    return bits;
  };
  for (size_t i = 0; i < body.instrs.size(); ++i) {
    const Instr& instr = body.instrs[i];
    for (const ScalarId arg : instr.args) {
      if (arg.valid()) result[i] |= result[arg.index];
    }
    if (instr.op == ScalarOp::Index) result[i] |= of_affine(body.affines[instr.access]);
    if (instr.op == ScalarOp::Load || instr.op == ScalarOp::Store) {
      const Access& access = body.accesses[instr.access];
      result[i] |= of_affine(access.index);
      if (access.dynamic.valid()) result[i] |= result[access.dynamic.index];
    }
  }
  return result;
}

/// The instructions that `root` needs, itself included.
[[nodiscard]] inline std::vector<bool> needed_by(const Body& body, ScalarId root) {
  std::vector<bool> needed(root.index + 1);
  needed[root.index] = true;
  for (uint32_t i = root.index + 1; i-- > 0;) {
    if (!needed[i]) continue;
    const Instr& instr = body.instrs[i];
    for (const ScalarId arg : instr.args) {
      if (arg.valid()) needed[arg.index] = true;
    }
    if (instr.op == ScalarOp::Load && body.accesses[instr.access].dynamic.valid()) {
      needed[body.accesses[instr.access].dynamic.index] = true;
    }
  }
  return needed;
}

/// Which loops of a contraction become the rows and the columns of a tile of C, and which factor is
/// read as vectors along the columns.
struct ContractionLoops {
  ContractionLoops(const Stage& stage, int grid_rank) {
    const Reduction& dot = stage.reductions[0];
    const std::vector<uint64_t> depends = dependences(stage.body);
    const int count = static_cast<int>(stage.parallel.size());
    // How good vectors of them are.
    enum Loads : uint8_t { Computed = 0, Strided = 2, Contiguous = 3 };
    const auto loads = [&](ScalarId root, int variable) {
      const std::vector<bool> needed = needed_by(stage.body, root);
      Loads worst = Contiguous;
      for (size_t i = 0; i < needed.size(); ++i) {
        const Instr& instr = stage.body.instrs[i];
        if (!needed[i] || instr.op != ScalarOp::Load) continue;
        const Access& access = stage.body.accesses[instr.access];
        if (access.dynamic.valid() && (depends[access.dynamic.index] >> variable & 1) != 0) {
          return Computed;
        }
        const int64_t stride = coefficient(access.index, variable);
        if (stride != 0 && stride != 1) worst = Strided;
      }
      return worst;
    };
    const auto contiguous_loads = [&](ScalarId root, int variable) {
      return loads(root, variable) == Contiguous;
    };
    const auto contiguous_stores = [&](int variable) {
      for (const Instr& instr : stage.post.instrs) {
        if (instr.op != ScalarOp::Store) continue;
        if (coefficient(stage.post.accesses[instr.access].index, variable) != 1) return false;
      }
      return true;
    };
    // The innermost loop of a factor, a contiguous one if there is one.
    const auto pick = [&](ScalarId root) {
      int best = -1;
      for (int p = 0; p < count; ++p) {
        const int variable = grid_rank + p;
        if ((depends[root.index] >> variable & 1) == 0 || stage.parallel[p] <= 1) continue;
        if (best < 0 || contiguous_loads(root, variable) || !contiguous_loads(root, best)) {
          best = variable;
        }
      }
      return best;
    };
    const int first = pick(dot.value);
    const int second = pick(dot.value2);
    // A store is once per sum, a load for each of its terms.
    depth = product(stage.reduce);
    const int store = depth < kDeep ? 4 : 1;
    const auto quality = [&](int variable, ScalarId root) {
      if (variable < 0) return -1;
      return loads(root, variable) + (contiguous_stores(variable) ? store : 0);
    };
    columns_from_second = quality(second, dot.value2) >= quality(first, dot.value);
    column = columns_from_second ? second : first;
    row = columns_from_second ? first : second;
    direct = column < 0 || contiguous_loads(vector_root(dot), column);
    scalars_direct = row < 0 || contiguous_loads(scalar_root(dot), row);
    for (int p = 0; p < count; ++p) {
      const int variable = grid_rank + p;
      if (variable == row) {
        rows = stage.parallel[p];
      } else if (variable == column) {
        columns = stage.parallel[p];
      } else {
        outer.push_back(variable);
        outer_extents.push_back(stage.parallel[p]);
        repeats_scalars &= (depends[scalar_root(dot).index] >> variable & 1) == 0;
      }
    }
  }

  [[nodiscard]] ScalarId vector_root(const Reduction& dot) const {
    return columns_from_second ? dot.value2 : dot.value;
  }
  [[nodiscard]] ScalarId scalar_root(const Reduction& dot) const {
    return columns_from_second ? dot.value : dot.value2;
  }

  /// Terms of a sum beside which storing it is nothing.
  static constexpr int64_t kDeep = 256;

  bool columns_from_second = true;  ///< value2 is read as vectors, else value
  bool direct = true;               ///< that factor lies contiguous along the columns
  bool scalars_direct = true;       ///< the other one does along the rows
  bool repeats_scalars = true;      ///< and is the same at all outer points
  int row = -1, column = -1;        ///< variables; -1: extent 1
  std::vector<int> outer;           ///< the other parallel variables
  std::vector<int64_t> outer_extents;
  int64_t rows = 1, columns = 1, depth = 1;
};

/// Rough cost of one instruction in vector operations; accesses are counted by access_cost.
[[nodiscard]] inline double instr_cost(const Instr& instr) {
  switch (instr.op) {
    case ScalarOp::Const:
    case ScalarOp::Param:
    case ScalarOp::Index:
    case ScalarOp::Reduced:
    case ScalarOp::Load:
    case ScalarOp::Store:
    case ScalarOp::Bitcast:
      return 0;
    case ScalarOp::CheckIndex:
      return 10;
    case ScalarOp::Sqrt:
      return 6;
    case ScalarOp::Div:
      return is_float(instr.dtype) ? 5 : 40;
    case ScalarOp::Mod:
      return is_float(instr.dtype) ? 20 : 60;
    case ScalarOp::Min:
    case ScalarOp::Max:
      return is_float(instr.dtype) ? 4 : 1;
    default:
      return 1;
  }
}

/// Cost of all of a body for one vector of `lanes` elements along `variable` (-1: scalar).
[[nodiscard]] inline double body_cost(const Body& body, int variable, int lanes) {
  const std::vector<uint64_t> depends = dependences(body);
  double cost = 0;
  for (size_t i = 0; i < body.instrs.size(); ++i) {
    const Instr& instr = body.instrs[i];
    const double wide =
        instr.op == ScalarOp::Store || instr.op == ScalarOp::Load ? 1 : instr_cost(instr);
    if (instr.op != ScalarOp::Load && instr.op != ScalarOp::Store) {
      cost += wide;
      continue;
    }
    const Access& access = body.accesses[instr.access];
    const int64_t stride = coefficient(access.index, variable);
    const bool dynamic = access.dynamic.valid() && variable >= 0 &&
                         (depends[access.dynamic.index] >> variable & 1) != 0;
    const bool cheap = variable < 0 || (!dynamic && (stride == 0 || stride == 1));
    cost += cheap ? 1 : 1.5 * lanes;
  }
  return cost;
}

/// Cost of folding one vector of values into a stage's accumulators.
[[nodiscard]] inline double reduction_cost(const Stage& stage) {
  double cost = 0;
  for (const Reduction& reduction : stage.reductions) {
    switch (reduction.kind) {
      case ReduceKind::Sum:
      case ReduceKind::Prod:
      case ReduceKind::Dot:
        cost += 1;
        break;
      case ReduceKind::Min:
      case ReduceKind::Max:
        cost += is_float(reduction.dtype) ? 5 : 1;
        break;
      case ReduceKind::ArgMin:
      case ReduceKind::ArgMax:
        cost += 16;
        break;
    }
  }
  return cost;
}

/// Whether lanes along the innermost loop are different results of a stage that folds only a few
/// elements into each.
[[nodiscard]] inline bool folds_across_lanes(const Stage& stage, int lanes) {
  constexpr int64_t kFewElements = 16;
  const bool folds = stage.kind == StageKind::Loop && !stage.reductions.empty();
  return folds && lanes > 1 && !stage.parallel.empty() && product(stage.reduce) <= kFewElements &&
         lane_extent(stage.parallel, lanes) >= lanes;
}

/// Estimated time of a part on one core, for deciding how to share it.
[[nodiscard]] inline double estimate_ns(const Part& part, const PartSchedule& schedule,
                                        const TargetInfo& target) {
  constexpr double kOperationsPerNs = 5;  // vector operations: two ports at 2.5 GHz
  const int grid_rank = static_cast<int>(part.grid.size());
  const int lanes = std::max(1, schedule.vector_lanes);
  const double points = static_cast<double>(product(part.grid));
  if (points == 0) return 0;
  double total = 0;
  for (const Stage& stage : part.stages) {
    const double parallel = static_cast<double>(product(stage.parallel));
    const double reduce = static_cast<double>(product(stage.reduce));
    if (stage.kind == StageKind::Contraction) {
      const double per_vector = target.numerics.fma ? 1.1 : 2.2;
      total += points * parallel * (reduce * per_vector / lanes + 2);
      continue;
    }
    const int variables = grid_rank + static_cast<int>(stage.parallel.size());
    int variable = -1;
    double vectors = points * parallel * reduce;
    const auto shorten = [&](std::span<const int64_t> extents) {
      const int64_t extent = lane_extent(extents, lanes);
      vectors = extent == 0 ? 0
                            : vectors / static_cast<double>(extent) *
                                  static_cast<double>(divide_up(extent, lanes));
    };
    if (schedule.vector_axis == VectorAxis::Grid && grid_rank > 0) {
      variable = grid_rank - 1;
      shorten(part.grid);
    } else if (schedule.vector_axis == VectorAxis::Loop) {
      if (folds_across_lanes(stage, lanes)) {
        variable = variables - 1;
        shorten(stage.parallel);
      } else if (!stage.reduce.empty() && stage.kind != StageKind::Sequence) {
        const bool fits = stage.reduce.back() == product(stage.reduce) ||
                          stage.reduce.back() % kReducePartials == 0;
        if (fits) {
          variable = variables + static_cast<int>(stage.reduce.size()) - 1;
          shorten({&stage.reduce.back(), 1});
        }
      } else if (!stage.parallel.empty()) {
        variable = variables - 1;
        shorten(stage.parallel);
      }
    }
    const int width = variable < 0 ? 1 : lanes;
    double per_vector = body_cost(stage.body, variable, width) + 1;
    const bool in_memory = !stage.reductions.empty() &&
                           variable != variables + static_cast<int>(stage.reduce.size()) - 1;
    per_vector +=
        reduction_cost(stage) + static_cast<double>(stage.reductions.size()) * (in_memory ? 2 : 0);
    total += vectors * per_vector;
    if (!stage.reductions.empty()) {
      // The tree and `post`, once per result.
      const bool across = schedule.vector_axis == VectorAxis::Grid && grid_rank > 0;
      const double results = points * parallel / (across ? lanes : 1);
      const double partials = std::min(reduce, static_cast<double>(kReducePartials));
      const double tree =
          static_cast<double>(stage.reductions.size()) * (across ? partials : partials / lanes + 8);
      total += results * (tree + body_cost(stage.post, across ? grid_rank - 1 : -1, lanes));
    }
  }
  return total / kOperationsPerNs;
}

}  // namespace reprise::codegen
