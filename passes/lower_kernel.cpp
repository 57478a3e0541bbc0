// Loop nests of fusion groups: elementwise, reduction (in blocks where long), contraction.
#include "passes/lower_kernel.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "ir/error.h"
#include "passes/lower_nest.h"
#include "passes/lower_sequence.h"

namespace reprise {

namespace {

bool is_half(DType dtype) {
  return dtype == DType::F16 || dtype == DType::BF16;
}

bool is_argument(ReduceKind kind) {
  return kind == ReduceKind::ArgMin || kind == ReduceKind::ArgMax;
}

ScalarId identity(ScalarBuilder& builder, ReduceKind kind, DType dtype) {
  switch (kind) {
    case ReduceKind::Sum:
    case ReduceKind::Dot:
    case ReduceKind::ArgMin:
    case ReduceKind::ArgMax:
      return builder.constant_bits(0, dtype);
    case ReduceKind::Prod:
      return builder.constant(1, dtype);
    case ReduceKind::Min:
      if (is_float(dtype)) return builder.constant(std::numeric_limits<double>::infinity(), dtype);
      return builder.constant_bits(max_integer(dtype), dtype);
    case ReduceKind::Max:
      if (is_float(dtype)) return builder.constant(-std::numeric_limits<double>::infinity(), dtype);
      return builder.integer(min_integer(dtype), dtype);
  }
  return {};
}

class GroupLowering : NestLowering {
 public:
  using NestLowering::NestLowering;

  KernelDraft run() {
    if (!group_.anchor.valid()) {
      elementwise();
    } else if (op_def(anchor().op).kind == OpKind::Contraction) {
      const Shape& a = graph_[anchor().operands[0]].type.shape;
      a[a.rank() - 1] == 0 ? elementwise() : contraction(a[a.rank() - 1]);
    } else {
      reduction();
    }
    order_buffers(draft_);
    return std::move(draft_);
  }

 private:
  /// Computes and writes what the group stores; `coordinates` are those of the anchor's result
  /// along axes longer than 1.
  void store_all(ValueLowering& values, std::vector<IndexExpr> coordinates) {
    std::vector<std::vector<IndexExpr>> places{std::move(coordinates)};
    for (const FusionView& view : group_.views) {
      const Node& node = graph_[view.node];
      const Shape& operand = graph_[node.operands[0]].type.shape;
      const IndexMap from = place_in(operand, places[view.from]);
      IndexMap map = values.space().forward(node, operand, from);
      if (places.size() <= view.place) places.resize(view.place + 1);
      if (places[view.place].empty()) places[view.place] = squeezed(node.type.shape, map);
      // Bound rather than found by going back through the movement: what is the same element need
      // not be the same expression.
      values.bind(view.node, place_in(node.type.shape, places[view.place]),
                  values.value(node.operands[0], from));
    }
    const auto place = [&](size_t i) {
      return place_in(graph_[group_.stores[i]].type.shape, places[group_.places[i]]);
    };
    std::vector<SmallVector<ScalarId, 2>> results;
    for (size_t i = 0; i < group_.stores.size(); ++i) {
      results.push_back(values.scalars(group_.stores[i], place(i)));
    }
    for (size_t i = 0; i < results.size(); ++i) {
      values.store(group_.stores[i], place(i), results[i]);
    }
  }

  /// No anchor, or one that folds nothing: its value is then the identity.
  void elementwise() {
    const NodeId shaped = group_.anchor.valid() ? group_.anchor : group_.stores[0];
    const Nest nest{
        .grid = LoopAxes(squeezed(graph_[shaped].type.shape)), .parallel = {}, .reduce = {}};
    Part part = build_part(nest, [&](const Nest& nest, Stage& stage) {
      ValueLowering values = this->values(stage.body, nest.grid.num_loops());
      const std::vector<IndexExpr> coordinates = nest.grid.coordinates(values.space(), 0);
      if (group_.anchor.valid()) {
        const OpDef& def = op_def(anchor().op);
        const ReduceKind kind = def.kind == OpKind::Contraction ? ReduceKind::Dot : def.reduce;
        values.bind(group_.anchor, place_in(anchor().type.shape, coordinates),
                    identity(values.builder(), kind, anchor().type.dtype));
      }
      store_all(values, coordinates);
      return requests_of({&values});
    });
    add_phase({std::move(part)});
  }

  void contraction(int64_t k) {
    const Shape& shape = anchor().type.shape;
    const int rank = shape.rank();
    const NodeId a = anchor().operands[0], b = anchor().operands[1];
    find_row_axes();
    std::vector<int64_t> batch, tile;
    for (int i = 0; i < rank; ++i) {
      if (i >= rank - 2 || row_axes_[i]) {
        tile.push_back(shape[i]);
      } else if (shape[i] != 1) {
        batch.push_back(shape[i]);
      }
    }
    const Nest nest{.grid = LoopAxes(batch),
                    .parallel = LoopAxes(tile, LoopAxes::Splitting::Long),
                    .reduce = LoopAxes(std::span(&k, 1))};
    Part part = build_part(nest, [&](const Nest& nest, Stage& stage) {
      stage.kind = StageKind::Contraction;
      const uint32_t outer_loops = nest.grid.num_loops() + nest.parallel.num_loops();
      const DType dtype = accumulator_dtype(anchor());

      ValueLowering body = values(stage.body, outer_loops + nest.reduce.num_loops());
      const IndexMap point = tile_point(body.space(), nest);
      const IndexExpr depth = nest.reduce.coordinates(body.space(), outer_loops)[0];
      IndexMap in_a = point, in_b = point;
      in_a.coordinates[rank - 1] = depth;
      in_b.coordinates[rank - 2] = depth;
      ScalarBuilder& builder = body.builder();
      Reduction dot{.kind = ReduceKind::Dot, .dtype = dtype, .value = {}, .value2 = {}};
      // A target may have its own way to multiply bf16.
      const DType factor = anchor().type.dtype == DType::BF16 ? DType::BF16 : dtype;
      dot.value = builder.cast(body.value(a, operand_map(a, in_a)), factor);
      dot.value2 = builder.cast(body.value(b, operand_map(b, in_b)), factor);
      stage.reductions.push_back(dot);

      ValueLowering post = values(stage.post, outer_loops);
      IndexMap result = tile_point(post.space(), nest);
      post.bind(group_.anchor, result,
                post.builder().cast(post.builder().reduced(0, dtype), anchor().type.dtype));
      std::vector<IndexExpr> coordinates;
      for (int i = 0; i < rank; ++i) {
        if (shape[i] != 1) coordinates.push_back(result.coordinates[i]);
      }
      store_all(post, coordinates);
      return requests_of({&body, &post});
    });
    add_phase({std::move(part)});
  }

  /// Batch axes along which only the first operand advances are more rows of one product, not
  /// products of their own.
  void find_row_axes() {
    const int rank = anchor().type.shape.rank();
    row_axes_.assign(rank, false);
    StridedView a, b;
    const auto is_stored = [&](NodeId node) { return stored_.is_stored(node); };
    if (!strided_view(graph_, anchor().operands[0], &a, is_stored) ||
        !strided_view(graph_, anchor().operands[1], &b, is_stored)) {
      return;
    }
    const auto stride = [&](const StridedView& view, int axis) {
      const int own = axis - (rank - static_cast<int>(view.strides.size()));
      return own < 0 ? 0 : view.strides[own];
    };
    for (int i = 0; i < rank - 2; ++i) row_axes_[i] = stride(a, i) != 0 && stride(b, i) == 0;
  }

  /// The contraction's result at the nest's point.
  [[nodiscard]] IndexMap tile_point(IndexSpace& space, const Nest& nest) const {
    const Shape& shape = anchor().type.shape;
    const std::vector<IndexExpr> batch = nest.grid.coordinates(space, 0);
    const std::vector<IndexExpr> tile = nest.parallel.coordinates(space, nest.grid.num_loops());
    IndexMap map{.coordinates = std::vector<IndexExpr>(shape.rank()), .conditions = {}};
    size_t next_batch = 0, next_tile = 0;
    for (int i = 0; i < shape.rank(); ++i) {
      if (i >= shape.rank() - 2 || row_axes_[i]) {
        map.coordinates[i] = tile[next_tile++];
      } else if (shape[i] != 1) {
        map.coordinates[i] = batch[next_batch++];
      }
    }
    return map;
  }

  [[nodiscard]] IndexMap operand_map(NodeId operand, const IndexMap& map) const {
    return IndexSpace::broadcast(graph_[operand].type.shape, map);
  }

  // Reductions. A level folds runs of `length` values for each kept place and leaves `blocks` of
  // them; the first level reads the operand, each next one the level before.
  struct Level {
    int64_t length = 0;  ///< values of the level for each kept place
    int64_t covers = 1;  ///< elements of the operand behind each value
    BufferId values;     ///< scratch; invalid for the first level
    BufferId positions;  ///< scratch, for argument kinds: position inside what is covered
  };

  void reduction() {
    const Node& node = anchor();
    const Shape& operand = graph_[node.operands[0]].type.shape;
    const auto mask = static_cast<uint64_t>(node.attrs.word(0));
    kept_.clear();
    for (int i = 0; i < operand.rank(); ++i) {
      if (operand[i] == 1) continue;
      (mask >> i & 1 ? reduced_ : kept_).push_back(operand[i]);
    }
    Level level{.length = 1, .covers = 1, .values = {}, .positions = {}};
    for (int64_t extent : reduced_) level.length *= extent;
    if (level.length == 0) return elementwise();
    while (level.length > kReduceBlock) level = reduce_blocks(level);
    finish(level);
  }

  /// Leaves a value for every block of kReduceBlock values. The last, shorter block has a phase of
  /// its own: unordered parts may not write one buffer.
  Level reduce_blocks(const Level& from) {
    const int64_t full = from.length / kReduceBlock, rest = from.length % kReduceBlock;
    Level to{.length = full + (rest != 0),
             .covers = from.covers * kReduceBlock,
             .values = {},
             .positions = {}};
    const bool argument = is_argument(op_def(anchor().op).reduce);
    to.values = draft_.scratch(value_dtype(), num_places() * to.length);
    if (argument) to.positions = draft_.scratch(DType::I64, num_places() * to.length);

    const auto add_block_phase = [&](int64_t first, int64_t blocks, int64_t length) {
      // Blocks outside: where the kept axes are contiguous, lanes run over them.
      std::vector<int64_t> grid{blocks};
      grid.insert(grid.end(), kept_.begin(), kept_.end());
      // Blocks of whole axes stay the loops they are; others are one loop over a linear index.
      const Nest nest{
          .grid = LoopAxes(grid), .parallel = {}, .reduce = LoopAxes(std::span(&length, 1))};
      Part part = build_part(nest, [&](const Nest& nest, Stage& stage) {
        const uint32_t grid_loops = nest.grid.num_loops();
        ValueLowering body = values(stage.body, grid_loops + nest.reduce.num_loops());
        std::vector<IndexExpr> kept = nest.grid.coordinates(body.space(), 0);
        IndexExpr block = body.space().add(kept.front(), IndexSpace::constant(first));
        kept.erase(kept.begin());
        const IndexExpr element = nest.reduce.coordinates(body.space(), grid_loops)[0];
        const IndexExpr linear = body.space().add(body.space().scale(block, kReduceBlock), element);
        fold(stage, level_value(body, from, kept, linear));

        ValueLowering post = values(stage.post, grid_loops);
        kept = nest.grid.coordinates(post.space(), 0);
        block = post.space().add(kept.front(), IndexSpace::constant(first));
        kept.erase(kept.begin());
        const IndexExpr out = level_element(post.space(), kept, block);
        const IndexExpr start = post.space().scale(block, kReduceBlock);
        const ScalarId value = post.builder().reduced(argument ? 1 : 0, value_dtype());
        if (argument) {
          const ScalarId position = inner_position(post, from, kept, start);
          post.builder().store(post.access(to.positions, out), position);
        }
        post.builder().store(post.access(to.values, out), value);
        return requests_of({&body, &post});
      });
      add_phase({std::move(part)});
    };
    if (full > 0) add_block_phase(0, full, kReduceBlock);
    if (rest > 0) add_block_phase(full, 1, rest);
    return to;
  }

  /// The last phase: folds what is left and runs the epilogue.
  void finish(const Level& from) {
    const bool direct = !from.values.valid();
    const Nest nest{
        .grid = LoopAxes(kept_),
        .parallel = {},
        .reduce = direct ? LoopAxes(reduced_or_one()) : LoopAxes(std::span(&from.length, 1))};
    Part part = build_part(nest, [&](const Nest& nest, Stage& stage) {
      const uint32_t grid_loops = nest.grid.num_loops();
      ValueLowering body = values(stage.body, grid_loops + nest.reduce.num_loops());
      std::vector<IndexExpr> kept = nest.grid.coordinates(body.space(), 0);
      const std::vector<IndexExpr> loops = nest.reduce.coordinates(body.space(), grid_loops);
      fold(stage,
           direct ? operand_value(body, kept, loops) : level_value(body, from, kept, loops[0]));
      // Only blocks need the value beside its position.
      if (is_argument(op_def(anchor().op).reduce)) stage.reductions.resize(1);

      ValueLowering post = values(stage.post, grid_loops);
      kept = nest.grid.coordinates(post.space(), 0);
      ScalarId result;
      if (is_argument(op_def(anchor().op).reduce)) {
        result = inner_position(post, from, kept, IndexSpace::constant(0));
      } else {
        result = post.builder().reduced(0, value_dtype());
      }
      post.bind(group_.anchor, place_in(anchor().type.shape, kept),
                post.builder().cast(result, anchor().type.dtype));
      store_all(post, kept);
      return requests_of({&body, &post});
    });
    add_phase({std::move(part)});
  }

  [[nodiscard]] std::vector<int64_t> reduced_or_one() const {
    return reduced_.empty() ? std::vector<int64_t>{1} : reduced_;
  }

  /// The dtype of the folded values: halves widen, which for Min and Max is exact.
  [[nodiscard]] DType value_dtype() const {
    const OpDef& def = op_def(anchor().op);
    if (!is_argument(def.reduce)) return accumulator_dtype(anchor());
    const DType dtype = graph_[anchor().operands[0]].type.dtype;
    return is_half(dtype) ? DType::F32 : dtype;
  }

  void fold(Stage& stage, ScalarId value) const {
    const ReduceKind kind = op_def(anchor().op).reduce;
    if (is_argument(kind)) {
      stage.reductions.push_back({kind, DType::I64, value, {}});
      stage.reductions.push_back({kind == ReduceKind::ArgMax ? ReduceKind::Max : ReduceKind::Min,
                                  value_dtype(),
                                  value,
                                  {}});
    } else {
      stage.reductions.push_back({kind, value_dtype(), value, {}});
    }
  }

  /// Where a level keeps value `position` of a kept place.
  [[nodiscard]] IndexExpr level_element(IndexSpace& space, std::span<const IndexExpr> kept,
                                        const IndexExpr& position) const {
    return space.add(space.scale(position, num_places()), space.linearize(kept, kept_));
  }
  [[nodiscard]] int64_t num_places() const {
    int64_t places = 1;
    for (int64_t extent : kept_) places *= extent;
    return places;
  }

  [[nodiscard]] ScalarId level_value(ValueLowering& body, const Level& level,
                                     std::span<const IndexExpr> kept, const IndexExpr& linear) {
    if (level.values.valid()) {
      return body.builder().load(
          body.access(level.values, level_element(body.space(), kept, linear)), value_dtype());
    }
    return operand_value(body, kept, body.space().delinearize(linear, reduced_));
  }

  [[nodiscard]] ScalarId operand_value(ValueLowering& body, std::span<const IndexExpr> kept,
                                       std::span<const IndexExpr> reduced) {
    const NodeId operand = anchor().operands[0];
    const Shape& shape = graph_[operand].type.shape;
    const auto mask = static_cast<uint64_t>(anchor().attrs.word(0));
    IndexMap map;
    size_t next_kept = 0, next_reduced = 0;
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape[i] == 1) {
        map.coordinates.emplace_back();
      } else {
        map.coordinates.push_back(mask >> i & 1 ? reduced[next_reduced++] : kept[next_kept++]);
      }
    }
    return body.builder().cast(body.value(operand, std::move(map)), value_dtype());
  }

  /// For an argument reduction's epilogue: the position of the element that won, relative to the
  /// operand's element number (`start` values of the level) * covers.
  [[nodiscard]] ScalarId inner_position(ValueLowering& post, const Level& from,
                                        std::span<const IndexExpr> kept, const IndexExpr& start) {
    ScalarBuilder& builder = post.builder();
    const ScalarId winner = builder.reduced(0, DType::I64);
    if (!from.values.valid()) return winner;
    Access access = post.access(from.positions, level_element(post.space(), kept, start));
    const ScalarId step = builder.mul(winner, builder.integer(num_places(), DType::I64));
    access.dynamic = access.dynamic.valid() ? builder.add(access.dynamic, step) : step;
    const ScalarId inside = builder.load(access, DType::I64);
    return builder.add(inside, builder.mul(winner, builder.integer(from.covers, DType::I64)));
  }

  std::vector<int64_t> kept_, reduced_;  ///< reductions: extents of the operand's axes
  std::vector<bool> row_axes_;           ///< contractions, per axis of the result
};

}  // namespace

DType accumulator_dtype(const Node& anchor) {
  return is_half(anchor.type.dtype) ? DType::F32 : anchor.type.dtype;
}

KernelDraft lower_group(const Graph& graph, const Fusion& fusion, const StoredValues& stored,
                        uint32_t group) {
  const FusionGroup& lowered = fusion.groups[group];
  if (lowered.anchor.valid()) {
    const OpKind kind = op_def(graph[lowered.anchor].op).kind;
    if (kind == OpKind::Scan) return lower_scan(graph, lowered, stored, group);
    if (kind == OpKind::Scatter) return lower_scatter(graph, lowered, stored, group);
    if (kind == OpKind::Sort) return lower_sort(graph, lowered, stored, group);
  }
  return GroupLowering(graph, lowered, stored, group).run();
}

}  // namespace reprise
