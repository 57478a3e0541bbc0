// Modules: parameters by name, and the layers made of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/tensor.h"

namespace reprise::nn {

enum class Mode : uint8_t { Train, Infer };

/// A tree of named parameters. Submodules are members that name their parent:
///
///     struct Mlp : nn::Module {
///       nn::Linear fc1{*this, "fc1", 784, 256};
///       nn::Linear fc2{*this, "fc2", 256, 10};
///       Tensor operator()(const Tensor& x) const { return fc2(relu(fc1(x))); }
///     };
///
/// A module stays where it is made: its parent knows its address.
class Module {
 public:
  Module() = default;
  /// Becomes the submodule `name` of `parent`, which must outlive it.
  /// Throws Error when the parent has that name already, or when it is empty or holds a dot.
  Module(Module& parent, std::string_view name);
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module();

  /// Every parameter of this module and of those below, in the order they were made. The handles
  /// share the module's bindings: an optimizer that assigns to them changes the module.
  [[nodiscard]] std::vector<Tensor> parameters() const;
  /// The same with their dotted paths: "fc1.weight".
  [[nodiscard]] std::vector<std::pair<std::string, Tensor>> named_parameters() const;
  /// What a module keeps besides parameters, no optimizer's business: running statistics. A program
  /// that saves its modules saves these too.
  [[nodiscard]] std::vector<std::pair<std::string, Tensor>> named_buffers() const;

  /// Whether layers that train otherwise than they infer (dropout, batch norm) train; at first they
  /// do. Holds for the modules below too.
  void set_mode(Mode mode);
  [[nodiscard]] Mode mode() const { return mode_; }

 protected:
  /// Adds a parameter; returns a handle for the module's own use.
  Tensor parameter(std::string_view name, Tensor value);
  /// Adds a buffer likewise.
  Tensor buffer(std::string_view name, Tensor value);

 private:
  enum class Kind : uint8_t { Parameter, Buffer, Module };
  struct Entry {
    std::string name;
    Kind kind = Kind::Module;
    Tensor tensor;
    Module* module = nullptr;
  };
  Entry& enter(std::string_view name, Kind kind);
  Tensor enter_tensor(std::string_view name, Kind kind, Tensor value);
  using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
  void collect(const std::string& prefix, Kind kind, NamedTensors& into) const;

  std::vector<Entry> entries_;
  Module* parent_ = nullptr;
  Mode mode_ = Mode::Train;
};

enum class Bias : uint8_t { No, Yes };

/// x W + b over the last axis: x (.., in) gives (.., out); weight is (in, out), bias (out).
/// Both start uniform between +-1/sqrt(in) (Kaiming's for a leaky slope of sqrt 5), drawn from the
/// global random stream, so a seed fixes them.
class Linear : public Module {
 public:
  Linear(int64_t in, int64_t out, Bias bias = Bias::Yes, DType dtype = DType::F32);
  Linear(Module& parent, std::string_view name, int64_t in, int64_t out, Bias bias = Bias::Yes,
         DType dtype = DType::F32);
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

  Tensor weight;
  Tensor bias;  ///< empty without one

 private:
  void initialize(int64_t in, int64_t out, Bias bias, DType dtype);
};

}  // namespace reprise::nn
