// Modules and the linear layer.
#include "frontend/nn.h"

#include <algorithm>
#include <cmath>

#include "frontend/create.h"
#include "frontend/ops.h"
#include "frontend/random.h"

namespace reprise::nn {

Module::Module(Module& parent, std::string_view name) {
  parent.enter(name, Kind::Module).module = this;
  parent_ = &parent;
  mode_ = parent.mode_;
}

Module::~Module() {
  // A submodule that goes first must not be visited again. Members of a module end after its own
  // destructor but before the base's, so the parent's entries are still there.
  if (parent_ != nullptr) {
    std::erase_if(parent_->entries_, [&](const Entry& entry) { return entry.module == this; });
  }
  for (Entry& entry : entries_) {
    if (entry.module != nullptr) entry.module->parent_ = nullptr;
  }
}

Module::Entry& Module::enter(std::string_view name, Kind kind) {
  if (name.empty() || name.find('.') != std::string_view::npos) {
    throw Error(
        str("\"", name, "\" cannot be a name in a module: it must not be empty or hold a dot"));
  }
  for (const Entry& entry : entries_) {
    if (entry.name == name) throw Error(str("the module has a \"", name, "\" already"));
  }
  return entries_.emplace_back(Entry{std::string(name), kind, {}, nullptr});
}

Tensor Module::enter_tensor(std::string_view name, Kind kind, Tensor value) {
  if (value.empty_handle()) {
    throw Error(str(kind == Kind::Parameter ? "parameter" : "buffer", " '", name,
                    "' of a module has no value"));
  }
  Entry& entry = enter(name, kind);
  entry.tensor = std::move(value);
  return entry.tensor;
}

Tensor Module::parameter(std::string_view name, Tensor value) {
  return enter_tensor(name, Kind::Parameter, std::move(value));
}

Tensor Module::buffer(std::string_view name, Tensor value) {
  return enter_tensor(name, Kind::Buffer, std::move(value));
}

void Module::collect(const std::string& prefix, Kind kind, NamedTensors& into) const {
  for (const Entry& entry : entries_) {
    if (entry.module != nullptr) {
      entry.module->collect(prefix + entry.name + ".", kind, into);
    } else if (entry.kind == kind) {
      into.emplace_back(prefix + entry.name, entry.tensor);
    }
  }
}

std::vector<std::pair<std::string, Tensor>> Module::named_parameters() const {
  NamedTensors named;
  collect("", Kind::Parameter, named);
  return named;
}

std::vector<std::pair<std::string, Tensor>> Module::named_buffers() const {
  NamedTensors named;
  collect("", Kind::Buffer, named);
  return named;
}

void Module::set_mode(Mode mode) {
  mode_ = mode;
  for (const Entry& entry : entries_) {
    if (entry.module != nullptr) entry.module->set_mode(mode);
  }
}

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> tensors;
  for (auto& [name, tensor] : named_parameters()) tensors.push_back(std::move(tensor));
  return tensors;
}

Linear::Linear(int64_t in, int64_t out, Bias bias, DType dtype) {
  initialize(in, out, bias, dtype);
}

Linear::Linear(Module& parent, std::string_view name, int64_t in, int64_t out, Bias bias,
               DType dtype)
    : Module(parent, name) {
  initialize(in, out, bias, dtype);
}

void Linear::initialize(int64_t in, int64_t out, Bias with_bias, DType dtype) {
  const double bound = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(in, 1)));
  weight = parameter("weight", uniform({in, out}, -bound, bound, dtype));
  if (with_bias == Bias::Yes) bias = parameter("bias", uniform({out}, -bound, bound, dtype));
}

Tensor Linear::operator()(const Tensor& x) const {
  const Tensor product = matmul(x, weight);
  return bias.empty_handle() ? product : product + bias;
}

}  // namespace reprise::nn
