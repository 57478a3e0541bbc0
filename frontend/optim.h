// Optimizers: gradients in, parameters assigned.
//
// Every number a step uses is a parameter of the compiled step: a learning rate may take any value
// at any step and nothing recompiles. Which terms a step has (momentum, weight decay, Nesterov) is
// fixed when the optimizer is made.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "frontend/tensor.h"

namespace reprise::optim {

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Records one step: `gradients` in the order of the parameters. The assigns are computed with
  /// the next realize. Throws ShapeError when there are not as many gradients as parameters.
  void step(std::span<const Tensor> gradients);
  void step(const std::vector<Tensor>& gradients) { step(std::span<const Tensor>(gradients)); }

  /// Holds from the next step on, recorded or replayed. Throws Error unless the rate is finite and
  /// not negative.
  void set_lr(double lr);
  [[nodiscard]] double lr() const { return numbers_->lr; }
  /// Steps recorded, and replayed without an error, so far; one that an error took back does not
  /// count.
  [[nodiscard]] int64_t steps() const { return numbers_->settled_steps(); }
  /// The parameters' companions (momenta), which a program that stops and resumes must keep.
  [[nodiscard]] const std::vector<Tensor>& state() const { return state_; }

 protected:
  /// Writes the numbers that step `step` (counted from 1) uses.
  using Formula = std::function<void(double lr, int64_t step, std::span<double> values)>;
  /// Computes the parameters if they are not yet, so that the first step is like every other.
  /// Throws DTypeError for one that is not a float, Error for one that is given twice.
  Optimizer(std::span<const Tensor> parameters, double lr, size_t num_values, Formula formula);

  /// The step's numbers as rank-0 tensors, one of each for all parameters of a dtype.
  class StepScalars;

  /// `count` zeros beside every parameter: state()[i * count ..] belongs to parameter i.
  void make_state(int count);
  virtual void record_step(std::span<const Tensor> gradients, StepScalars& scalars) = 0;
  /// Assigns parameter `i`. When that is taken back, so is the count of the step.
  void update(size_t i, const Tensor& value);

  std::vector<Tensor> parameters_;
  std::vector<Tensor> state_;

 private:
  /// Shared with the steps that were frozen: each replay asks for the next numbers.
  struct Numbers {
    std::atomic<double> lr{0};
    std::atomic<int64_t> steps{0};
    std::vector<Scalar> values;
    Formula formula;
    std::mutex mutex;                                   ///< of what follows
    std::vector<std::shared_ptr<AssignWatch>> watches;  ///< of the steps that may be taken back

    /// Without the steps that have been taken back.
    [[nodiscard]] int64_t settled_steps();
    void next();
    void on_replay(ReplayEvent event);
  };
  std::shared_ptr<Numbers> numbers_;
  std::shared_ptr<AssignWatch> watch_;  ///< of the step that is being recorded
};

struct SgdOptions {
  double lr = 1e-2;
  double momentum = 0;
  double weight_decay = 0;  ///< added to the gradient: weight_decay * parameter
  bool nesterov = false;
};

/// Throws Error for an option that is negative or not finite.
/// v = momentum * v + g; p -= lr * v, or with Nesterov p -= lr * (g + momentum * v).
class Sgd final : public Optimizer {
 public:
  explicit Sgd(std::span<const Tensor> parameters, const SgdOptions& options = {});
  explicit Sgd(const std::vector<Tensor>& parameters, const SgdOptions& options = {})
      : Sgd(std::span<const Tensor>(parameters), options) {}

 private:
  void record_step(std::span<const Tensor> gradients, StepScalars& scalars) override;
  SgdOptions options_;
};

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;  ///< Adam: added to the gradient; AdamW: p -= lr * weight_decay * p
};

/// Throws Error for an option that is negative or not finite, and for a beta that is not below 1.
/// m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
/// p -= lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps).
class Adam : public Optimizer {
 public:
  explicit Adam(std::span<const Tensor> parameters, const AdamOptions& options = {})
      : Adam(parameters, options, Decay::Coupled) {}
  explicit Adam(const std::vector<Tensor>& parameters, const AdamOptions& options = {})
      : Adam(std::span<const Tensor>(parameters), options) {}

 protected:
  enum class Decay : uint8_t { Coupled, Decoupled };
  Adam(std::span<const Tensor> parameters, const AdamOptions& options, Decay decay);

 private:
  void record_step(std::span<const Tensor> gradients, StepScalars& scalars) override;
  AdamOptions options_;
  Decay decay_;
};

/// Adam whose weight decay does not pass through the moments.
class AdamW final : public Adam {
 public:
  /// Decays by 0.01 unless told.
  explicit AdamW(std::span<const Tensor> parameters,
                 const AdamOptions& options = {.weight_decay = 1e-2})
      : Adam(parameters, options, Decay::Decoupled) {}
  explicit AdamW(const std::vector<Tensor>& parameters,
                 const AdamOptions& options = {.weight_decay = 1e-2})
      : AdamW(std::span<const Tensor>(parameters), options) {}
};

}  // namespace reprise::optim
