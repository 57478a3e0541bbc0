// Sorting: short lines by comparing each key with each, long ones by digits.
#include <array>
#include <limits>

#include "passes/lower_sequence.h"

namespace reprise {

namespace {

/// A line of no more keys is ordered by comparing each with each.
constexpr int64_t kMaxCompared = 64;
constexpr int kDigitBits = 8;
constexpr int64_t kDigits = 1 << kDigitBits;

class SortLowering : SequenceLowering {
 public:
  using SequenceLowering::SequenceLowering;

  KernelDraft run() {
    extent_ <= kMaxCompared ? sort_by_comparing() : sort_by_digits();
    return finished();
  }

 private:
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
    const Nest nest{.grid = LoopAxes(all_of(extent_)),
                    .parallel = {},
                    .reduce = LoopAxes(std::span(&extent_, 1))};
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
};

}  // namespace

KernelDraft lower_sort(const Graph& graph, const FusionGroup& group, const StoredValues& stored,
                       uint32_t index) {
  return SortLowering(graph, group, stored, index).run();
}

}  // namespace reprise
