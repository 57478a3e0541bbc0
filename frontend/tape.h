// Tape: a stretch of a thread's recording, with its history for gradients.
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "frontend/frozen.h"
#include "frontend/tensor.h"

namespace reprise {

/// While a tape is open on this thread nothing launches before `realize` or the read of a value.
/// Tapes nest; each must end on the thread it began on. What is pending when one ends is computed
/// when it is needed.
class Tape {
 public:
  Tape() : depth_(Runtime::get().begin_tape()) {}
  /// While it is open `device` is this thread's default (see DeviceScope).
  explicit Tape(Device& device)
      : scope_(std::in_place, device), depth_(Runtime::get().begin_tape()) {}
  ~Tape() { Runtime::get().end_tape(); }
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// Computes these tensors and every pending assign of this thread, in as few launches as fusion
  /// allows; values with live handles among what is computed are stored too.
  template <std::same_as<Tensor>... Rest>
  void realize(const Tensor& first, const Rest&... rest) const {
    const TensorId ids[] = {first.id(), rest.id()...};
    Runtime::get().realize(ids);
  }
  void realize(std::span<const Tensor> tensors) const;
  /// Only the pending assigns.
  void realize() const { Runtime::get().realize({}); }

  /// Gradients of y, weighted by `seed` (ones unless given), with respect to each of xs, recorded
  /// as ordinary ops. Zeros where y does not depend on an x. Throws Error when an x was assigned
  /// after y read it, DTypeError for an x that is not a float.
  [[nodiscard]] std::vector<Tensor> gradient(const Tensor& y, std::span<const Tensor> xs,
                                             const Tensor& seed = {}) const;
  [[nodiscard]] std::vector<Tensor> gradient(const Tensor& y, std::initializer_list<Tensor> xs,
                                             const Tensor& seed = {}) const;
  [[nodiscard]] Tensor gradient(const Tensor& y, const Tensor& x, const Tensor& seed = {}) const;

  /// Forward mode: how y changes along `tangents`, which have the types of xs: the sum over xs of
  /// the derivative with respect to x times its tangent. Throws what gradient throws.
  [[nodiscard]] Tensor jvp(const Tensor& y, std::span<const Tensor> xs,
                           std::span<const Tensor> tangents) const;
  [[nodiscard]] Tensor jvp(const Tensor& y, const Tensor& x, const Tensor& tangent) const {
    return jvp(y, std::span(&x, 1), std::span(&tangent, 1));
  }

  /// What this tape recorded so far, as a function from `inputs` to `outputs` that also repeats the
  /// tape's assigns. Compiles it; computes nothing, and leaves what is pending pending: the
  /// recorded step itself still happens, once. Throws Error when an input was assigned inside the
  /// tape, or when a tape inside this one is still open.
  [[nodiscard]] Frozen freeze(std::span<const Tensor> inputs,
                              std::span<const Tensor> outputs) const;
  [[nodiscard]] Frozen freeze(std::initializer_list<Tensor> inputs,
                              std::initializer_list<Tensor> outputs) const {
    return freeze(std::span(inputs.begin(), inputs.size()),
                  std::span(outputs.begin(), outputs.size()));
  }

 private:
  std::optional<DeviceScope> scope_;
  size_t depth_;  ///< tapes of this thread that were open with it
};

/// Computes several tensors together.
void realize(std::span<const Tensor> tensors);

/// Gradients of what `function()` returns, with a tape of its own.
[[nodiscard]] std::vector<Tensor> grad(const std::function<Tensor()>& function,
                                       std::span<const Tensor> xs);
/// The derivative of a function of one tensor at x.
[[nodiscard]] Tensor grad(const std::function<Tensor(const Tensor&)>& function, const Tensor& x);

}  // namespace reprise
