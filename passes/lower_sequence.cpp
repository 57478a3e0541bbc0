// Kernels that store on their way along an axis. Points of their grids are the other axes, each of
// which goes through the axis in order.
#include "passes/lower_sequence.h"

#include <limits>

#include "ir/error.h"
#include "passes/lower_kernel.h"
#include "passes/lower_nest.h"

namespace reprise {

namespace {

/// A line of no more keys is ordered by comparing each with each.
constexpr int64_t kMaxCompared = 64;
constexpr int kDigitBits = 8;
constexpr int64_t kDigits = 1 << kDigitBits;

class SequenceLowering : NestLowering {
 public:
  SequenceLowering(const Graph& graph, const FusionGroup& group, const StoredValues& stored,
                   uint32_t index)
      : NestLowering(graph, group, stored, index),
        shape_(anchor().type.shape),
        axis_(static_cast<int>(anchor().attrs.word(0))),
        extent_(shape_[axis_]) {
    for (int i = 0; i < shape_.rank(); ++i) {
      if (i != axis_ && shape_[i] != 1) kept_.push_back(shape_[i]);
    }
    for (const int64_t extent : kept_) lines_ *= extent;
    result_ = draft_.write(group.anchor, anchor().type.dtype, shape_.numel());
  }

  KernelDraft run() {
    switch (op_def(anchor().op).kind) {
      case OpKind::Scan:
        scan();
        break;
      case OpKind::Scatter:
        scatter();
        break;
      case OpKind::Sort:
        extent_ <= kMaxCompared ? sort_by_comparing() : sort_by_digits();
        break;
      case OpKind::Leaf:
      case OpKind::Elementwise:
      case OpKind::Reduction:
      case OpKind::Movement:
      case OpKind::Contraction:
      case OpKind::Gather:
      case OpKind::Composite:
        REPRISE_ASSERT(!"goes through no axis in order");
    }
    order_buffers(draft_);
    return std::move(draft_);
  }

 private:
  using Coordinates = std::vector<IndexExpr>;

  // Places

  /// Of the anchor's shape: `kept` along the other axes, `along` on this one.
  [[nodiscard]] IndexMap place(std::span<const IndexExpr> kept, IndexExpr along) const {
    IndexMap map;
    size_t next = 0;
    for (int i = 0; i < shape_.rank(); ++i) {
      if (i == axis_) {
        map.coordinates.push_back(extent_ == 1 ? IndexExpr{} : along);
      } else {
        map.coordinates.push_back(shape_[i] == 1 ? IndexExpr{} : kept[next++]);
      }
    }
    return map;
  }
  /// In a buffer of the anchor's shape.
  [[nodiscard]] Access element(ValueLowering& body, BufferId buffer, const IndexMap& at) const {
    return body.access(buffer, body.space().linearize(at.coordinates, shape_));
  }
  /// In a buffer that holds `width` values for each line.
  [[nodiscard]] Access in_line(ValueLowering& body, BufferId buffer,
                               std::span<const IndexExpr> kept, int64_t width,
                               const IndexExpr& along) const {
    IndexSpace& space = body.space();
    return body.access(buffer, space.add(space.scale(space.linearize(kept, kept_), width), along));
  }
  [[nodiscard]] static IndexExpr constant(int64_t value) { return IndexSpace::constant(value); }

  // Parts

  /// What a line does for each of `steps` in order.
  using EachStep =
      std::function<void(ValueLowering&, const Coordinates& kept, const Coordinates& step)>;
  [[nodiscard]] Stage sequence(const Nest& nest, std::vector<SplitRequest>& requests,
                               const EachStep& each) {
    Stage stage;
    stage.kind = StageKind::Sequence;
    stage.reduce = nest.reduce.loops();
    const uint32_t grid_loops = nest.grid.num_loops();
    ValueLowering body = values(stage.body, grid_loops + nest.reduce.num_loops());
    each(body, nest.grid.coordinates(body.space(), 0),
         nest.reduce.coordinates(body.space(), grid_loops));
    append(requests, body);
    return stage;
  }
  using EachPoint = std::function<void(ValueLowering&, const Coordinates& point)>;
  [[nodiscard]] Stage loop(const Nest& nest, std::vector<SplitRequest>& requests,
                           const EachPoint& each) {
    Stage stage;
    ValueLowering body = values(stage.body, nest.grid.num_loops());
    each(body, nest.grid.coordinates(body.space(), 0));
    append(requests, body);
    return stage;
  }
  static void append(std::vector<SplitRequest>& requests, const ValueLowering& body) {
    const std::span<const SplitRequest> more = body.split_requests();
    requests.insert(requests.end(), more.begin(), more.end());
  }
  [[nodiscard]] static Nest nest_of(std::span<const int64_t> grid,
                                    std::span<const int64_t> steps = {}) {
    return {.grid = LoopAxes(grid), .parallel = {}, .reduce = LoopAxes(steps)};
  }

  [[nodiscard]] Part loop_part(std::span<const int64_t> grid, const EachPoint& each) {
    return build_stages(nest_of(grid), [&](const Nest& nest, std::vector<Stage>& stages) {
      std::vector<SplitRequest> requests;
      stages.push_back(loop(nest, requests, each));
      return requests;
    });
  }
  [[nodiscard]] Part sequence_part(std::span<const int64_t> steps, const EachStep& each) {
    return build_stages(nest_of(kept_, steps), [&](const Nest& nest, std::vector<Stage>& stages) {
      std::vector<SplitRequest> requests;
      stages.push_back(sequence(nest, requests, each));
      return requests;
    });
  }
  /// A value of `dtype` for each line that changes on the way: `first` gives it before the first
  /// step, `each` (which gets it) after each one.
  using First = std::function<ScalarId(ValueLowering&, const Coordinates& point)>;
  using Next = std::function<ScalarId(ValueLowering&, const Coordinates& point,
                                      const Coordinates& step, ScalarId so_far)>;
  [[nodiscard]] Part carrying_part(std::span<const int64_t> grid, int64_t steps, DType dtype,
                                   const First& first, const Next& each) {
    const std::span<const int64_t> reduce(&steps, steps == 0 ? 0 : 1);
    int64_t points = 1;
    for (const int64_t extent : grid) points *= extent;
    return build_stages(nest_of(grid, reduce), [&](const Nest& nest, std::vector<Stage>& stages) {
      // Of the point alone: it becomes a local where the kernel is this part.
      const BufferId carried = draft_.scratch(dtype, points);
      const auto own = [&](ValueLowering& body, const Coordinates& point) {
        return body.access(carried, body.space().linearize(point, grid));
      };
      std::vector<SplitRequest> requests;
      stages.push_back(loop(nest, requests, [&](ValueLowering& body, const Coordinates& point) {
        const ScalarId value = first(body, point);
        body.builder().store(own(body, point), value);
      }));
      if (steps == 0) return requests;
      stages.push_back(
          sequence(nest, requests,
                   [&](ValueLowering& body, const Coordinates& point, const Coordinates& step) {
                     const Access at = own(body, point);
                     const ScalarId value = each(body, point, step, body.builder().load(at, dtype));
                     body.builder().store(at, value);
                   }));
      return requests;
    });
  }

  /// The op's own step, in its accumulator's dtype.
  [[nodiscard]] ScalarId step(ScalarBuilder& builder, ScalarId so_far,
                              std::span<const ScalarId> next) const {
    const DType dtype = accumulator_dtype(anchor());
    const std::vector<TensorType> types(next.size(), {dtype, {}});
    std::vector<ScalarId> operands{so_far};
    operands.insert(operands.end(), next.begin(), next.end());
    return op_def(anchor().op)
        .lower(builder, operands, {.op = anchor().op, .operands = types, .attrs = anchor().attrs});
  }
  [[nodiscard]] ScalarId operand(ValueLowering& body, size_t i, const IndexMap& at,
                                 DType dtype) const {
    return body.builder().cast(body.value(anchor().operands[i], at), dtype);
  }

  // Scans

  void scan() {
    const DType dtype = accumulator_dtype(anchor());
    const bool in_blocks = anchor().operands.size() == 1 && extent_ > kScanBlock;
    if (!in_blocks) return add_phase({scan_part(result_, 0, 1, extent_)});
    const BufferId sums =
        dtype == anchor().type.dtype ? result_ : draft_.scratch(dtype, shape_.numel());
    // The last, shorter block has a phase of its own: unordered parts may not write one buffer.
    const int64_t full = extent_ / kScanBlock, rest = extent_ % kScanBlock;
    add_phase({scan_part(sums, 0, full, kScanBlock)});
    if (rest > 0) add_phase({scan_part(sums, full, 1, rest)});
    const int64_t blocks = full + (rest > 0 ? 1 : 0);
    const BufferId carries = draft_.scratch(dtype, lines_ * blocks);
    add_phase({carry_part(sums, carries, blocks)});
    add_phase({join_part(sums, carries, blocks)});
  }

  /// The scans of `blocks` blocks of `length`, each on its own.
  [[nodiscard]] Part scan_part(BufferId to, int64_t first_block, int64_t blocks, int64_t length) {
    const DType dtype = accumulator_dtype(anchor());
    const DType stored = draft_.kernel.buffers[to.index].dtype;
    // Blocks outside: where the kept axes are contiguous, lanes run over them.
    std::vector<int64_t> grid{blocks};
    grid.insert(grid.end(), kept_.begin(), kept_.end());
    const auto at = [&](ValueLowering& body, const Coordinates& point, const IndexExpr& inside) {
      IndexSpace& space = body.space();
      const IndexExpr block = space.add(point[0], constant(first_block));
      return place(std::span(point).subspan(1), space.add(space.scale(block, kScanBlock), inside));
    };
    return carrying_part(
        grid, length - 1, dtype,
        [&](ValueLowering& body, const Coordinates& point) {
          const IndexMap here = at(body, point, constant(0));
          const ScalarId value = operand(body, anchor().operands.size() - 1, here, dtype);
          body.builder().store(element(body, to, here), body.builder().cast(value, stored));
          return value;
        },
        [&](ValueLowering& body, const Coordinates& point, const Coordinates& r, ScalarId so_far) {
          const IndexMap here = at(body, point, body.space().add(r[0], constant(1)));
          std::vector<ScalarId> next;
          for (size_t i = 0; i < anchor().operands.size(); ++i) {
            next.push_back(operand(body, i, here, dtype));
          }
          const ScalarId value = step(body.builder(), so_far, next);
          body.builder().store(element(body, to, here), body.builder().cast(value, stored));
          return value;
        });
  }

  /// For each block but the first what the blocks before it give.
  [[nodiscard]] Part carry_part(BufferId sums, BufferId carries, int64_t blocks) {
    const DType dtype = accumulator_dtype(anchor());
    const auto total = [&](ValueLowering& body, const Coordinates& kept, const IndexExpr& block) {
      IndexSpace& space = body.space();
      const IndexExpr end = space.scale(block, kScanBlock);
      const IndexMap last = place(kept, space.add(end, constant(kScanBlock - 1)));
      return body.builder().load(element(body, sums, last), dtype);
    };
    return carrying_part(
        kept_, blocks - 2, dtype,
        [&](ValueLowering& body, const Coordinates& kept) {
          const ScalarId value = total(body, kept, constant(0));
          // The first block has none; something is read for it.
          for (const int64_t block : {0, 1}) {
            body.builder().store(in_line(body, carries, kept, blocks, constant(block)), value);
          }
          return value;
        },
        [&](ValueLowering& body, const Coordinates& kept, const Coordinates& r, ScalarId so_far) {
          const IndexExpr block = body.space().add(r[0], constant(1));
          const ScalarId next[] = {total(body, kept, block)};
          const ScalarId value = step(body.builder(), so_far, next);
          const IndexExpr behind = body.space().add(block, constant(1));
          body.builder().store(in_line(body, carries, kept, blocks, behind), value);
          return value;
        });
  }

  [[nodiscard]] Part join_part(BufferId sums, BufferId carries, int64_t blocks) {
    const DType dtype = accumulator_dtype(anchor());
    return loop_part(squeezed(shape_), [&](ValueLowering& body, const Coordinates& point) {
      const IndexMap at = place_in(shape_, point);
      const IndexExpr block = body.space().div(at.coordinates[axis_], kScanBlock);
      Coordinates kept;
      for (int i = 0; i < shape_.rank(); ++i) {
        if (i != axis_ && shape_[i] != 1) kept.push_back(at.coordinates[i]);
      }
      ScalarBuilder& builder = body.builder();
      const Access here = element(body, sums, at);
      const ScalarId inside[] = {builder.load(here, dtype)};
      const ScalarId before = builder.load(in_line(body, carries, kept, blocks, block), dtype);
      const ScalarId is_first = builder.eq(body.scalar(block), builder.integer(0, DType::I64));
      const ScalarId value = builder.select(is_first, inside[0], step(builder, before, inside));
      builder.store(element(body, result_, at), builder.cast(value, anchor().type.dtype));
    });
  }

  // Scatters: a phase that copies operand 0, one that walks the indices: repeated ones always come
  // in the same order.

  void scatter() {
    const Node& node = anchor();
    const DType dtype = node.type.dtype;
    const bool replaces = op_def(node.op).lower == nullptr;
    const DType sums = replaces ? dtype : accumulator_dtype(node);
    const bool wide = sums != dtype;
    const BufferId buffer = wide ? draft_.scratch(sums, shape_.numel()) : result_;
    const std::vector<int64_t> grid = squeezed(shape_);
    add_phase({loop_part(grid, [&](ValueLowering& body, const Coordinates& point) {
      const IndexMap at = place_in(shape_, point);
      const ScalarId value = operand(body, 0, at, sums);
      body.builder().store(element(body, buffer, at), value);
    })});
    if (graph_[node.operands[2]].type.shape.numel() != 0) {
      add_phase({update_part(buffer, sums, replaces)});
    }
    if (!wide) return;
    add_phase({loop_part(grid, [&](ValueLowering& body, const Coordinates& point) {
      const IndexMap at = place_in(shape_, point);
      ScalarBuilder& builder = body.builder();
      const ScalarId value = builder.load(element(body, buffer, at), sums);
      builder.store(element(body, result_, at), builder.cast(value, dtype));
    })});
  }

  [[nodiscard]] Part update_part(BufferId buffer, DType sums, bool replaces) {
    const Shape& picked = graph_[anchor().operands[1]].type.shape;
    std::vector<int64_t> steps = squeezed(picked);
    if (steps.empty()) steps.push_back(1);
    return sequence_part(
        steps, [&](ValueLowering& body, const Coordinates& kept, const Coordinates& loops) {
          Coordinates step_at = loops;
          if (picked.numel() == 1) step_at.clear();
          const IndexMap at_index = place_in(picked, step_at);
          ScalarBuilder& builder = body.builder();
          const ScalarId index = operand(body, 1, at_index, DType::I64);
          const ScalarId row = builder.check_index_from_end(index, extent_);

          IndexMap from;
          size_t next = 0;
          for (int i = 0; i < shape_.rank(); ++i) {
            if (i == axis_) {
              from.coordinates.insert(from.coordinates.end(), at_index.coordinates.begin(),
                                      at_index.coordinates.end());
            } else {
              from.coordinates.push_back(shape_[i] == 1 ? IndexExpr{} : kept[next++]);
            }
          }
          ScalarId value = operand(body, 2, from, sums);
          const IndexMap to = place(kept, body.space().scalar(row, extent_));
          const Access there = element(body, buffer, to);
          if (!replaces) {
            const ScalarId update[] = {value};
            value = step(builder, builder.load(there, sums), update);
          }
          builder.store(there, value);
        });
  }

  // Sorting

  [[nodiscard]] DType key_dtype() const { return graph_[anchor().operands[0]].type.dtype; }
  /// Of positions in a line.
  [[nodiscard]] DType position_dtype() const {
    return extent_ <= std::numeric_limits<int32_t>::max() ? DType::I32 : DType::I64;
  }
  [[nodiscard]] std::vector<int64_t> all_of(int64_t width) const {
    std::vector<int64_t> grid = kept_;
    grid.push_back(width);
    return grid;
  }
  [[nodiscard]] static Coordinates without_last(const Coordinates& point) {
    return {point.begin(), point.end() - 1};
  }

  /// The keys line by line, which are read several times.
  [[nodiscard]] Part key_part(BufferId keys) {
    return loop_part(all_of(extent_), [&, keys](ValueLowering& body, const Coordinates& point) {
      const Coordinates kept = without_last(point);
      const ScalarId key = operand(body, 0, place(kept, point.back()), key_dtype());
      body.builder().store(in_line(body, keys, kept, extent_, point.back()), key);
    });
  }

  /// Stores `index` as the one that comes at `position`.
  void store_order(ValueLowering& body, const Coordinates& kept, ScalarId position,
                   ScalarId index) {
    ScalarBuilder& builder = body.builder();
    const ScalarId checked = builder.check_index(builder.cast(position, DType::I64), extent_);
    const IndexMap to = place(kept, body.space().scalar(checked, extent_));
    builder.store(element(body, result_, to), builder.cast(index, DType::I64));
  }

  /// A key comes behind all that are smaller, and behind its equals before it.
  void sort_by_comparing() {
    const BufferId keys = draft_.scratch(key_dtype(), lines_ * extent_);
    const BufferId ranks = draft_.scratch(position_dtype(), lines_ * extent_);
    add_phase({key_part(keys)});
    const Nest nest = nest_of(all_of(extent_), std::span(&extent_, 1));
    add_phase({build_part(nest, [&](const Nest& nest, Stage& stage) {
      const uint32_t grid_loops = nest.grid.num_loops();
      ValueLowering body = values(stage.body, grid_loops + 1);
      const Coordinates point = nest.grid.coordinates(body.space(), 0);
      const IndexExpr other = nest.reduce.coordinates(body.space(), grid_loops)[0];
      ScalarBuilder& builder = body.builder();
      const auto key = [&](const IndexExpr& at) {
        return builder.load(in_line(body, keys, without_last(point), extent_, at), key_dtype());
      };
      const ScalarId mine = key(point.back()), theirs = key(other);
      const ScalarId earlier = builder.lt(body.scalar(other), body.scalar(point.back()));
      const ScalarId before =
          builder.binary(ScalarOp::Or, builder.lt(theirs, mine),
                         builder.binary(ScalarOp::And, builder.eq(theirs, mine), earlier));
      stage.reductions.push_back(
          {ReduceKind::Sum, DType::I64, builder.cast(before, DType::I64), {}});

      ValueLowering post = values(stage.post, grid_loops);
      const Coordinates at = nest.grid.coordinates(post.space(), 0);
      const ScalarId rank =
          post.builder().cast(post.builder().reduced(0, DType::I64), position_dtype());
      post.builder().store(in_line(post, ranks, without_last(at), extent_, at.back()), rank);
      return requests_of({&body, &post});
    })});
    add_phase(
        {sequence_part(std::span(&extent_, 1),
                       [&](ValueLowering& body, const Coordinates& kept, const Coordinates& i) {
                         const Access at = in_line(body, ranks, kept, extent_, i[0]);
                         const ScalarId rank = body.builder().load(at, position_dtype());
                         store_order(body, kept, rank, body.scalar(i[0]));
                       })});
  }

  /// From the lowest digit to the highest: a key goes behind all of smaller digits and those of the
  /// same digit before it.
  void sort_by_digits() {
    const auto digits = static_cast<size_t>(size_of(key_dtype()));
    const int64_t elements = lines_ * extent_;
    std::array<BufferId, 2> keys, order;
    keys[0] = draft_.scratch(key_dtype(), elements);
    if (digits > 1) {
      keys[1] = draft_.scratch(key_dtype(), elements);
      for (BufferId& buffer : order) buffer = draft_.scratch(position_dtype(), elements);
    }
    std::vector<BufferId> counts;
    std::vector<Part> parts{key_part(keys[0])}, starts;
    for (size_t d = 0; d < digits; ++d) {
      counts.push_back(draft_.scratch(position_dtype(), lines_ * kDigits));
      parts.push_back(zero_part(counts[d]));
      starts.push_back(start_part(counts[d]));
    }
    add_phase(std::move(parts));
    add_phase({count_part(keys[0], counts)});
    add_phase(std::move(starts));
    for (size_t d = 0; d < digits; ++d) {
      const Pass pass{.digit = d,
                      .is_last = d + 1 == digits,
                      .counts = counts[d],
                      .keys = {keys[d % 2], keys[(d + 1) % 2]},
                      .order = {order[d % 2], order[(d + 1) % 2]}};
      add_phase({move_part(pass)});
    }
  }

  [[nodiscard]] Part zero_part(BufferId counts) {
    return loop_part(all_of(kDigits), [&, counts](ValueLowering& body, const Coordinates& point) {
      const Access at = in_line(body, counts, without_last(point), kDigits, point.back());
      body.builder().store(at, body.builder().integer(0, position_dtype()));
    });
  }

  /// Where a digit of `key` is counted.
  [[nodiscard]] Access count_of(ValueLowering& body, const Coordinates& kept, BufferId counts,
                                ScalarId key, size_t digit) {
    ScalarBuilder& builder = body.builder();
    const auto shift = static_cast<int64_t>(digit) * kDigitBits;
    key = builder.binary(ScalarOp::Shr, key, builder.integer(shift, key_dtype()));
    key = builder.binary(ScalarOp::And, key, builder.integer(kDigits - 1, key_dtype()));
    const ScalarId value = builder.check_index(builder.cast(key, DType::I64), kDigits);
    return in_line(body, counts, kept, kDigits, body.space().scalar(value, kDigits));
  }
  /// Reads a position and leaves the next one.
  [[nodiscard]] ScalarId count_up(ValueLowering& body, const Access& count) {
    ScalarBuilder& builder = body.builder();
    const ScalarId old = builder.load(count, position_dtype());
    builder.store(count, builder.add(old, builder.integer(1, position_dtype())));
    return old;
  }

  [[nodiscard]] Part count_part(BufferId keys, const std::vector<BufferId>& counts) {
    return sequence_part(std::span(&extent_, 1),
                         [&](ValueLowering& body, const Coordinates& kept, const Coordinates& i) {
                           const ScalarId key = body.builder().load(
                               in_line(body, keys, kept, extent_, i[0]), key_dtype());
                           for (size_t d = 0; d < counts.size(); ++d) {
                             (void)count_up(body, count_of(body, kept, counts[d], key, d));
                           }
                         });
  }

  /// Counts become the positions at which each digit starts.
  [[nodiscard]] Part start_part(BufferId counts) {
    const auto count = [&, counts](ValueLowering& body, const Coordinates& kept,
                                   const IndexExpr& digit, const ScalarId* so_far) {
      ScalarBuilder& builder = body.builder();
      const Access at = in_line(body, counts, kept, kDigits, digit);
      const ScalarId number = builder.load(at, position_dtype());
      builder.store(at, so_far ? *so_far : builder.integer(0, position_dtype()));
      return so_far ? builder.add(*so_far, number) : number;
    };
    return carrying_part(
        kept_, kDigits - 1, position_dtype(),
        [&](ValueLowering& body, const Coordinates& kept) {
          return count(body, kept, constant(0), nullptr);
        },
        [&](ValueLowering& body, const Coordinates& kept, const Coordinates& r, ScalarId so_far) {
          return count(body, kept, body.space().add(r[0], constant(1)), &so_far);
        });
  }

  struct Pass {
    size_t digit = 0;
    bool is_last = false;
    BufferId counts;
    std::array<BufferId, 2> keys, order;  ///< as they come and as they go
  };
  [[nodiscard]] Part move_part(const Pass& pass) {
    return sequence_part(std::span(&extent_, 1), [&](ValueLowering& body, const Coordinates& kept,
                                                     const Coordinates& i) {
      ScalarBuilder& builder = body.builder();
      const auto here = [&](BufferId buffer) { return in_line(body, buffer, kept, extent_, i[0]); };
      const ScalarId key = builder.load(here(pass.keys[0]), key_dtype());
      const ScalarId index = pass.digit == 0 ? builder.cast(body.scalar(i[0]), position_dtype())
                                             : builder.load(here(pass.order[0]), position_dtype());
      const ScalarId position = count_up(body, count_of(body, kept, pass.counts, key, pass.digit));
      if (pass.is_last) return store_order(body, kept, position, index);
      const ScalarId checked = builder.check_index(builder.cast(position, DType::I64), extent_);
      const IndexExpr to = body.space().scalar(checked, extent_);
      builder.store(in_line(body, pass.keys[1], kept, extent_, to), key);
      builder.store(in_line(body, pass.order[1], kept, extent_, to), index);
    });
  }

  const Shape shape_;  ///< the anchor's
  const int axis_;
  const int64_t extent_;
  std::vector<int64_t> kept_;  ///< extents of the other axes
  int64_t lines_ = 1;
  BufferId result_;
};

}  // namespace

KernelDraft lower_sequence(const Graph& graph, const FusionGroup& group, const StoredValues& stored,
                           uint32_t index) {
  return SequenceLowering(graph, group, stored, index).run();
}

}  // namespace reprise
