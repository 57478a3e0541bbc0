// Tapes and gradients.
#include "frontend/tape.h"

#include "frontend/create.h"
#include "frontend/ops.h"
#include "ir/error.h"
#include "passes/graph_passes.h"

namespace reprise {

namespace {

std::vector<TensorId> ids_of(std::span<const Tensor> tensors) {
  std::vector<TensorId> ids;
  ids.reserve(tensors.size());
  for (const Tensor& tensor : tensors) ids.push_back(tensor.id());
  return ids;
}

}  // namespace

void Tape::realize(std::span<const Tensor> tensors) const {
  reprise::realize(tensors);
}

std::vector<Tensor> Tape::gradient(const Tensor& y, std::span<const Tensor> xs,
                                   const Tensor& seed) const {
  for (const Tensor& x : xs) {
    if (!is_differentiable(x.dtype())) {
      throw DTypeError(str("gradient: cannot differentiate with respect to a tensor of type ",
                           TensorType{x.dtype(), x.shape()}));
    }
  }
  const TensorType target{y.dtype(), y.shape()};
  if (!is_differentiable(target.dtype)) {
    throw DTypeError(str("gradient: the target is of type ", target, ", which has no gradient"));
  }
  if (seed.empty_handle() && is_complex(target.dtype)) {
    throw DTypeError(str("gradient: the target is ", target,
                         ", whose gradient needs a cotangent: a loss is real"));
  }
  if (!seed.empty_handle()) {
    const TensorType type{seed.dtype(), seed.shape()};
    const std::string text = str("gradient: the target is ", target, ", the cotangent is ", type);
    if (type.shape != target.shape) throw ShapeError(text);
    if (type.dtype != target.dtype) throw DTypeError(text);
  }
  std::vector<TensorId> ids = ids_of(xs);
  Runtime::get().check_history(y.id(), ids);
  ids.push_back(y.id());
  if (!seed.empty_handle()) ids.push_back(seed.id());
  const auto record = [&](Builder& builder, std::span<const Value> values) {
    const Value cotangent = seed.empty_handle() ? builder.ones(target) : values.back();
    return reprise::gradient(builder, values[xs.size()], cotangent, values.first(xs.size()));
  };
  std::vector<Tensor> gradients;
  for (const TensorId id : Runtime::get().build(ids, record)) gradients.emplace_back(id);
  return gradients;
}

std::vector<Tensor> Tape::gradient(const Tensor& y, std::initializer_list<Tensor> xs,
                                   const Tensor& seed) const {
  return gradient(y, std::span(xs.begin(), xs.size()), seed);
}

Tensor Tape::gradient(const Tensor& y, const Tensor& x, const Tensor& seed) const {
  return gradient(y, std::span(&x, 1), seed).front();
}

Tensor Tape::jvp(const Tensor& y, std::span<const Tensor> xs,
                 std::span<const Tensor> tangents) const {
  if (xs.size() != tangents.size()) {
    throw Error(str("jvp: ", xs.size(), " tensors and ", tangents.size(), " tangents"));
  }
  for (size_t i = 0; i < xs.size(); ++i) {
    const TensorType primal = xs[i].type(), tangent = tangents[i].type();
    const std::string text = str("jvp: tensor ", i, " is ", primal, ", its tangent ", tangent);
    if (primal.shape != tangent.shape) throw ShapeError(text);
    if (primal.dtype != tangent.dtype) throw DTypeError(text);
  }
  // Gradients are linear in the seed: what they change by along it is the derivative's transpose
  // transposed. The seed's own value does not matter.
  const Tensor seed = zeros_like(y);
  const std::vector<Tensor> gradients = gradient(y, xs, seed);
  Tensor result = zeros_like(y);
  for (size_t i = 0; i < xs.size(); ++i) {
    result = result + gradient(gradients[i], seed, tangents[i]);
  }
  return result;
}

Frozen Tape::freeze(std::span<const Tensor> inputs, std::span<const Tensor> outputs) const {
  if (Runtime::get().open_tapes() > depth_) {
    throw Error("freeze: a tape inside this one is still open");
  }
  return Frozen(Runtime::get().freeze(ids_of(inputs), ids_of(outputs)));
}

void realize(std::span<const Tensor> tensors) {
  Runtime::get().realize(ids_of(tensors));
}

std::vector<Tensor> grad(const std::function<Tensor()>& function, std::span<const Tensor> xs) {
  const Tape tape;
  return tape.gradient(function(), xs);
}

Tensor grad(const std::function<Tensor(const Tensor&)>& function, const Tensor& x) {
  const Tape tape;
  return tape.gradient(function(x), x);
}

}  // namespace reprise
