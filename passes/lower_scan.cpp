// Scans: blocks on their own, what the blocks before give, and both together.
#include "passes/lower_sequence.h"

namespace reprise {

namespace {

class ScanLowering : SequenceLowering {
 public:
  using SequenceLowering::SequenceLowering;

  KernelDraft run() {
    scan();
    return finished();
  }

 private:
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
};

}  // namespace

KernelDraft lower_scan(const Graph& graph, const FusionGroup& group, const StoredValues& stored,
                       uint32_t index) {
  return ScanLowering(graph, group, stored, index).run();
}

}  // namespace reprise
