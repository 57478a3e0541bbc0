// One step of each optimizer, recorded as ordinary ops whose numbers are parameters.
#include "frontend/optim.h"

#include <cmath>
#include <map>
#include <utility>

#include "frontend/create.h"
#include "frontend/ops.h"
#include "frontend/tape.h"

namespace reprise::optim {

namespace {

void require_not_negative(const char* name, double value) {
  if (!(value >= 0 && std::isfinite(value))) {
    throw Error(str("an optimizer's ", name, " is ", value, ", expected a finite number >= 0"));
  }
}

void require_share(const char* name, double value) {
  if (!(value >= 0 && value < 1)) {
    throw Error(str("an optimizer's ", name, " is ", value, ", expected 0 <= ", name, " < 1"));
  }
}

}  // namespace

class Optimizer::StepScalars {
 public:
  explicit StepScalars(std::span<const Scalar> values) : values_(values) {}
  /// Number `i` in `dtype`.
  const Tensor& get(size_t i, DType dtype) {
    for (Made& made : made_) {
      if (made.dtype == dtype) return made.tensors[i];
    }
    Made& made = made_.emplace_back(Made{dtype, {}});
    for (const Scalar& value : values_) made.tensors.push_back(Tensor::scalar(value, dtype));
    return made.tensors[i];
  }

 private:
  struct Made {
    DType dtype;
    std::vector<Tensor> tensors;
  };
  std::span<const Scalar> values_;
  std::vector<Made> made_;
};

int64_t Optimizer::Numbers::settled_steps() {
  const std::lock_guard lock(mutex);
  std::erase_if(watches, [&](const std::shared_ptr<AssignWatch>& watch) {
    const bool settled = watch.use_count() == 1;  // before it is read: nobody writes it any more
    if (watch->taken_back.exchange(false)) --steps;
    return settled;
  });
  return steps;
}

void Optimizer::Numbers::next() {
  static_cast<void>(settled_steps());
  std::vector<double> present(values.size());
  formula(lr, ++steps, present);
  for (size_t i = 0; i < values.size(); ++i) values[i].set(present[i]);
}

void Optimizer::Numbers::on_replay(ReplayEvent event) {
  switch (event) {
    case ReplayEvent::Begins:
      next();
      break;
    case ReplayEvent::Failed:
      --steps;  // the values are written anew before they are read
      break;
  }
}

Optimizer::Optimizer(std::span<const Tensor> parameters, double lr, size_t num_values,
                     Formula formula)
    : parameters_(parameters.begin(), parameters.end()), numbers_(std::make_shared<Numbers>()) {
  set_lr(lr);
  numbers_->formula = std::move(formula);
  for (size_t i = 0; i < num_values; ++i) numbers_->values.emplace_back(0.0);
  std::map<TensorId, size_t> places;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const TensorType type = parameters_[i].type();
    if (!is_float(type.dtype)) {
      throw DTypeError(str("an optimizer's parameters must be floats, one is ", type));
    }
    const auto [place, is_new] = places.emplace(parameters_[i].id(), i);
    if (!is_new) {
      throw Error(str("an optimizer's parameters ", place->second, " and ", i,
                      " are the same tensor of type ", type));
    }
  }
  if (!Runtime::get().in_tape()) realize(parameters_);
}

void Optimizer::set_lr(double lr) {
  require_not_negative("learning rate", lr);
  numbers_->lr = lr;
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
  numbers_->next();
  Runtime::get().at_replay([numbers = numbers_](ReplayEvent event) { numbers->on_replay(event); });
  StepScalars scalars(numbers_->values);
  watch_ = std::make_shared<AssignWatch>();
  record_step(gradients, scalars);
  const std::lock_guard lock(numbers_->mutex);
  numbers_->watches.push_back(std::move(watch_));
}

void Optimizer::update(size_t i, const Tensor& value) {
  Runtime::get().assign(parameters_[i].id(), value.id(), watch_);
}

namespace {
enum { kSgdLr, kSgdMomentum, kSgdDecay, kSgdNumbers };
enum { kBeta1, kRest1, kBeta2, kRest2, kRate, kCorrection2, kEps, kDecay, kAdamNumbers };
}  // namespace

Sgd::Sgd(std::span<const Tensor> parameters, const SgdOptions& options)
    : Optimizer(parameters, options.lr, kSgdNumbers,
                [momentum = options.momentum, decay = options.weight_decay](
                    double lr, int64_t, std::span<double> values) {
                  values[kSgdLr] = lr;
                  values[kSgdMomentum] = momentum;
                  values[kSgdDecay] = decay;
                }),
      options_(options) {
  require_not_negative("momentum", options.momentum);
  require_not_negative("weight decay", options.weight_decay);
  if (options.nesterov && options.momentum == 0) {
    throw Error("Nesterov's step needs a momentum, it is 0");
  }
  if (options_.momentum != 0) make_state(1);
}

void Sgd::record_step(std::span<const Tensor> gradients, StepScalars& scalars) {
  for (size_t i = 0; i < gradients.size(); ++i) {
    const Tensor& p = parameters_[i];
    const DType dtype = p.dtype();
    const auto number = [&](int which) -> const Tensor& { return scalars.get(which, dtype); };
    Tensor g = gradients[i];
    if (options_.weight_decay != 0) g = g + number(kSgdDecay) * p;
    if (options_.momentum != 0) {
      const Tensor v = number(kSgdMomentum) * state_[i] + g;
      state_[i].assign_(v);
      g = options_.nesterov ? g + number(kSgdMomentum) * v : v;
    }
    update(i, p - number(kSgdLr) * g);
  }
}

Adam::Adam(std::span<const Tensor> parameters, const AdamOptions& options, Decay decay)
    : Optimizer(parameters, options.lr, kAdamNumbers,
                [options, decay](double lr, int64_t step, std::span<double> values) {
                  const auto t = static_cast<double>(step);
                  values[kBeta1] = options.beta1;
                  values[kRest1] = 1 - options.beta1;
                  values[kBeta2] = options.beta2;
                  values[kRest2] = 1 - options.beta2;
                  values[kRate] = lr / (1 - std::pow(options.beta1, t));
                  values[kCorrection2] = 1 / std::sqrt(1 - std::pow(options.beta2, t));
                  values[kEps] = options.eps;
                  values[kDecay] =
                      decay == Decay::Coupled ? options.weight_decay : lr * options.weight_decay;
                }),
      options_(options),
      decay_(decay) {
  require_share("beta1", options.beta1);
  require_share("beta2", options.beta2);
  require_not_negative("eps", options.eps);
  require_not_negative("weight decay", options.weight_decay);
  make_state(2);
}

void Adam::record_step(std::span<const Tensor> gradients, StepScalars& scalars) {
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
    update(i, next);
  }
}

}  // namespace reprise::optim
