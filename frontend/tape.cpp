// Tapes and gradients over the runtime's.
#include "frontend/tape.h"

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
  const TensorId cotangent = seed.empty_handle() ? TensorId{} : seed.id();
  const std::vector<TensorId> ids = Runtime::get().gradient(y.id(), cotangent, ids_of(xs));
  std::vector<Tensor> gradients;
  gradients.reserve(ids.size());
  for (const TensorId id : ids) gradients.emplace_back(id);
  return gradients;
}

std::vector<Tensor> Tape::gradient(const Tensor& y, std::initializer_list<Tensor> xs,
                                   const Tensor& seed) const {
  return gradient(y, std::span(xs.begin(), xs.size()), seed);
}

Tensor Tape::gradient(const Tensor& y, const Tensor& x, const Tensor& seed) const {
  return gradient(y, std::span(&x, 1), seed).front();
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
