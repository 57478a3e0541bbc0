// Places and parts of kernels that go along an axis in order.
#include "passes/lower_sequence.h"

namespace reprise {

namespace {

void append(std::vector<SplitRequest>& requests, const ValueLowering& body) {
  const std::span<const SplitRequest> more = body.split_requests();
  requests.insert(requests.end(), more.begin(), more.end());
}

}  // namespace

SequenceLowering::SequenceLowering(const Graph& graph, const FusionGroup& group,
                                   const StoredValues& stored, uint32_t index)
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

IndexMap SequenceLowering::place(std::span<const IndexExpr> kept, const IndexExpr& along) const {
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

Access SequenceLowering::in_line(ValueLowering& body, BufferId buffer,
                                 std::span<const IndexExpr> kept, int64_t width,
                                 const IndexExpr& along) const {
  IndexSpace& space = body.space();
  return body.access(buffer, space.add(space.scale(space.linearize(kept, kept_), width), along));
}

Stage SequenceLowering::sequence(const Nest& nest, std::vector<SplitRequest>& requests,
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

Stage SequenceLowering::loop(const Nest& nest, std::vector<SplitRequest>& requests,
                             const EachPoint& each) {
  Stage stage;
  ValueLowering body = values(stage.body, nest.grid.num_loops());
  each(body, nest.grid.coordinates(body.space(), 0));
  append(requests, body);
  return stage;
}

Part SequenceLowering::loop_part(std::span<const int64_t> grid, const EachPoint& each) {
  return build_stages({.grid = LoopAxes(grid), .parallel = {}, .reduce = {}},
                      [&](const Nest& nest, std::vector<Stage>& stages) {
                        std::vector<SplitRequest> requests;
                        stages.push_back(loop(nest, requests, each));
                        return requests;
                      });
}

Part SequenceLowering::sequence_part(std::span<const int64_t> steps, const EachStep& each) {
  return build_stages({.grid = LoopAxes(kept_), .parallel = {}, .reduce = LoopAxes(steps)},
                      [&](const Nest& nest, std::vector<Stage>& stages) {
                        std::vector<SplitRequest> requests;
                        stages.push_back(sequence(nest, requests, each));
                        return requests;
                      });
}

Part SequenceLowering::carrying_part(std::span<const int64_t> grid, int64_t steps, DType dtype,
                                     const First& first, const Next& each) {
  const std::span<const int64_t> reduce(&steps, steps == 0 ? 0 : 1);
  int64_t points = 1;
  for (const int64_t extent : grid) points *= extent;
  return build_stages(
      {.grid = LoopAxes(grid), .parallel = {}, .reduce = LoopAxes(reduce)},
      [&](const Nest& nest, std::vector<Stage>& stages) {
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
        stages.push_back(sequence(
            nest, requests,
            [&](ValueLowering& body, const Coordinates& point, const Coordinates& step) {
              const Access at = own(body, point);
              const ScalarId value = each(body, point, step, body.builder().load(at, dtype));
              body.builder().store(at, value);
            }));
        return requests;
      });
}

ScalarId SequenceLowering::step(ScalarBuilder& builder, ScalarId so_far,
                                std::span<const ScalarId> next) const {
  const DType dtype = accumulator_dtype(anchor());
  const std::vector<TensorType> types(next.size(), {dtype, {}});
  std::vector<ScalarId> operands{so_far};
  operands.insert(operands.end(), next.begin(), next.end());
  return op_def(anchor().op)
      .lower(builder, operands, {.op = anchor().op, .operands = types, .attrs = anchor().attrs});
}

}  // namespace reprise
