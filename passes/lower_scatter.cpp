// Scatters: a phase that copies operand 0, one that walks the indices: repeated ones always come in
// the same order.
#include "passes/lower_sequence.h"

namespace reprise {

namespace {

class ScatterLowering : SequenceLowering {
 public:
  using SequenceLowering::SequenceLowering;

  KernelDraft run() {
    scatter();
    return finished();
  }

 private:
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
};

}  // namespace

KernelDraft lower_scatter(const Graph& graph, const FusionGroup& group, const StoredValues& stored,
                          uint32_t index) {
  return ScatterLowering(graph, group, stored, index).run();
}

}  // namespace reprise
