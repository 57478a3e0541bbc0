// One step of each optimizer, recorded as ordinary ops whose numbers are parameters.
#include "frontend/optim.h"

#include <cmath>
#include <utility>

#include "frontend/create.h"
#include "frontend/ops.h"
#include "frontend/tape.h"

namespace reprise::optim {

namespace {

/// The step's numbers as rank-0 parameters, one of each for all tensors of a dtype.
class Scalars {
 public:
  explicit Scalars(std::span<const double> values) : values_(values) {}
  /// Number `i` in `dtype`.
  const Tensor& get(size_t i, DType dtype) {
    for (Made& made : made_) {
      if (made.dtype == dtype) return made.tensors[i];
    }
    Made& made = made_.emplace_back(Made{dtype, {}});
    for (const double value : values_) made.tensors.push_back(Tensor::scalar(value, dtype));
    return made.tensors[i];
  }

 private:
  struct Made {
    DType dtype;
    std::vector<Tensor> tensors;
  };
  std::span<const double> values_;
  std::vector<Made> made_;
};

}  // namespace

Optimizer::Optimizer(std::span<const Tensor> parameters, double lr)
    : parameters_(parameters.begin(), parameters.end()), lr_(lr) {
  for (const Tensor& parameter : parameters_) {
    const TensorType type = parameter.type();
    if (!is_float(type.dtype)) {
      throw DTypeError(str("an optimizer's parameters must be floats, one is ", type));
    }
  }
  if (!Runtime::get().in_tape()) realize(parameters_);
}

void Optimizer::make_state(int count) {
  for (const Tensor& parameter : parameters_) {
    const TensorType type = parameter.type();
    for (int i = 0; i < count; ++i) state_.push_back(stored_zeros(type));
  }
}

void Optimizer::step(std::span<const Tensor> gradients) {
  if (gradients.size() != parameters_.size()) {
    throw ShapeError(str("a step with ", gradients.size(), " gradients for ", parameters_.size(),
                         " parameters"));
  }
  for (size_t i = 0; i < gradients.size(); ++i) {
    const TensorType want = parameters_[i].type();
    const TensorType have = gradients[i].type();
    if (want.shape != have.shape) {
      throw ShapeError(str("gradient ", i, " is ", have, ", its parameter ", want));
    }
    if (want.dtype != have.dtype) {
      throw DTypeError(str("gradient ", i, " is ", have, ", its parameter ", want));
    }
  }
  // Nothing has been assigned when one of the checks above throws.
  ++steps_;
  record_step(gradients);
}

Sgd::Sgd(std::span<const Tensor> parameters, const SgdOptions& options)
    : Optimizer(parameters, options.lr), options_(options) {
  if (options.nesterov && options.momentum == 0) {
    throw Error("Nesterov's step needs a momentum, it is 0");
  }
  if (options_.momentum != 0) make_state(1);
}

void Sgd::record_step(std::span<const Tensor> gradients) {
  enum { kLr, kMomentum, kDecay };
  const double values[] = {lr(), options_.momentum, options_.weight_decay};
  Scalars scalars(values);
  for (size_t i = 0; i < gradients.size(); ++i) {
    const Tensor& p = parameters_[i];
    const DType dtype = p.dtype();
    const auto number = [&](int which) -> const Tensor& { return scalars.get(which, dtype); };
    Tensor g = gradients[i];
    if (options_.weight_decay != 0) g = g + number(kDecay) * p;
    if (options_.momentum != 0) {
      const Tensor v = number(kMomentum) * state_[i] + g;
      state_[i].assign_(v);
      g = options_.nesterov ? g + number(kMomentum) * v : v;
    }
    p.assign_(p - number(kLr) * g);
  }
}

Adam::Adam(std::span<const Tensor> parameters, const AdamOptions& options, Decay decay)
    : Optimizer(parameters, options.lr), options_(options), decay_(decay) {
  make_state(2);
}

void Adam::record_step(std::span<const Tensor> gradients) {
  enum { kBeta1, kRest1, kBeta2, kRest2, kRate, kCorrection2, kEps, kDecay };
  const auto t = static_cast<double>(steps());
  const double values[] = {
      options_.beta1,
      1 - options_.beta1,
      options_.beta2,
      1 - options_.beta2,
      lr() / (1 - std::pow(options_.beta1, t)),
      1 / std::sqrt(1 - std::pow(options_.beta2, t)),
      options_.eps,
      decay_ == Decay::Coupled ? options_.weight_decay : lr() * options_.weight_decay,
  };
  Scalars scalars(values);
  for (size_t i = 0; i < gradients.size(); ++i) {
    const Tensor& p = parameters_[i];
    const DType dtype = p.dtype();
    const auto number = [&](int which) -> const Tensor& { return scalars.get(which, dtype); };
    Tensor g = gradients[i];
    Tensor decayed = p;
    if (options_.weight_decay != 0) {
      if (decay_ == Decay::Coupled) {
        g = g + number(kDecay) * p;
      } else {
        decayed = p - number(kDecay) * p;
      }
    }
    const Tensor m = number(kBeta1) * state_[2 * i] + number(kRest1) * g;
    const Tensor v = number(kBeta2) * state_[2 * i + 1] + number(kRest2) * square(g);
    const Tensor scale = sqrt(v) * number(kCorrection2) + number(kEps);
    // `decayed` may share p's binding: read before p is assigned.
    const Tensor next = decayed - number(kRate) * m / scale;
    state_[2 * i].assign_(m);
    state_[2 * i + 1].assign_(v);
    p.assign_(next);
  }
}

}  // namespace reprise::optim
