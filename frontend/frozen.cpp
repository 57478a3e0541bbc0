// Frozen steps, with handles in place of ids.
#include "frontend/frozen.h"

#include "ir/error.h"
#include "runtime/frozen_step.h"

namespace reprise {

FrozenStep& Frozen::step() const {
  if (!step_) throw Error("an empty Frozen was used; Tape::freeze makes one");
  return *step_;
}

std::vector<Tensor> Frozen::replay_ids(std::span<const TensorId> inputs) const {
  SmallVector<TensorId, 8> ids;
  ids.resize(static_cast<uint32_t>(step().num_results()));
  step().replay(inputs, {ids.data(), ids.size()});
  return {ids.begin(), ids.end()};
}

std::vector<Tensor> Frozen::replay(std::span<const Tensor> inputs) const {
  SmallVector<TensorId, 8> ids;
  for (const Tensor& input : inputs) ids.push_back(input.id());
  return replay_ids(ids);
}

size_t Frozen::num_inputs() const {
  return step().num_inputs();
}

size_t Frozen::num_launches() const {
  return step().plan()->plan.launches.size();
}

std::string Frozen::plan() const {
  return print(step().plan()->plan);
}

}  // namespace reprise
