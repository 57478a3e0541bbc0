// Frozen: a recorded step as a function that runs without recording.
#pragma once

#include <concepts>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frontend/tensor.h"

namespace reprise {

/// What a tape recorded, made by `Tape::freeze`. Copies share it; any thread may replay.
///
/// A replay computes the step's outputs from its inputs, runs the assigns that the tape recorded,
/// and reads whatever else the step read through the tensors it read it from: a parameter that has
/// been assigned since is seen. Scalars are read anew, random ops without a key of their own draw
/// fresh numbers, optimizers count a step. Numbers written in the program stay as they were.
/// Replays that assign run one after another.
class Frozen {
 public:
  Frozen() = default;

  /// One tensor per output of the step; tensors of different replays never share memory that one of
  /// them could overwrite. Throws DTypeError or ShapeError naming the input and both types when an
  /// input is not of the type it was frozen with, ShapeError for another number of inputs, Error
  /// when tensors that were one value when the step was frozen are two now. Inside a tape a replay
  /// is not recorded: its outputs are values without history.
  [[nodiscard]] std::vector<Tensor> replay(std::span<const Tensor> inputs) const;
  [[nodiscard]] std::vector<Tensor> replay(const std::vector<Tensor>& inputs) const {
    return replay(std::span(inputs));
  }
  template <std::same_as<Tensor>... Inputs>
  [[nodiscard]] std::vector<Tensor> replay(const Inputs&... inputs) const {
    const std::array<TensorId, sizeof...(inputs)> ids{inputs.id()...};
    return replay_ids(ids);
  }

  [[nodiscard]] bool empty() const { return !step_; }
  [[nodiscard]] size_t num_inputs() const;
  /// Launches of one replay.
  [[nodiscard]] size_t num_launches() const;
  /// The plan as text: slots, launches, donations.
  [[nodiscard]] std::string plan() const;

 private:
  friend class Tape;
  explicit Frozen(std::shared_ptr<FrozenStep> step) : step_(std::move(step)) {}
  [[nodiscard]] std::vector<Tensor> replay_ids(std::span<const TensorId> inputs) const;
  [[nodiscard]] FrozenStep& step() const;
  std::shared_ptr<FrozenStep> step_;
};

}  // namespace reprise
