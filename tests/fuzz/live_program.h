// Programs recorded through the runtime, step by step, beside what the interpreter makes of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/reprise.h"
#include "tests/program.h"

namespace reprise {

/// A step as the reference interpreter runs it: what the leaves hold before, the outputs after.
struct ExpectedStep {
  LeafData data;
  std::vector<Bytes> outputs;
};
/// The first step has the program's data, later ones other data, but for what steps assigned.
[[nodiscard]] std::vector<ExpectedStep> expected_steps(const Program& program, size_t count);

/// The tensors of one program.
class LiveProgram {
 public:
  explicit LiveProgram(const Program& program);

  enum class Storage : uint8_t {
    Own,     ///< a block for each input
    Shared,  ///< inputs of one dtype lie in one block, of which a view of all stays alive
  };
  /// Tensors for the inputs that no step assigns (in the first call for all), laid out as the
  /// graph's strides say; the scalars' values.
  void load(const LeafData& data, Storage storage = Storage::Own);
  /// One tensor an output. `values` takes the tensors of all nodes.
  enum class Scalars : uint8_t {
    Numbers,  ///< written in the program
    Cells,    ///< read again by replays
  };
  [[nodiscard]] std::vector<Tensor> record(Scalars scalars, std::vector<Tensor>* values = nullptr);
  /// The same, but each assign happens as soon as its output's node is recorded. What is recorded
  /// later reads the input's old value from a handle of its own, the node's value from the input.
  [[nodiscard]] std::vector<Tensor> record_rebinding();
  void assign(const std::vector<Tensor>& outputs) const;

  [[nodiscard]] const std::vector<Tensor>& inputs() const { return inputs_; }
  /// Where what lies in a shared block has changed; empty when nothing has.
  [[nodiscard]] std::string compare_shared() const;
  [[nodiscard]] bool is_assigned(size_t input) const;
  /// Where outputs and assigned inputs are not as expected; empty when all are.
  [[nodiscard]] std::string compare(const ExpectedStep& expected,
                                    const std::vector<Tensor>& outputs) const;

 private:
  [[nodiscard]] Number number_at(size_t parameter, Scalars scalars) const;
  [[nodiscard]] TensorId record_node(const Node& node, std::span<const Tensor> values,
                                     Scalars scalars) const;

  struct SharedBlock {
    DType dtype;
    Tensor whole;
    Bytes elements;
  };
  const Program& program_;
  std::vector<SharedBlock> shared_;
  std::vector<Tensor> inputs_;  ///< by index
  std::vector<std::optional<Scalar>> scalars_;
};

/// Where a tensor is not as expected, with both values; empty when it is.
[[nodiscard]] std::string tensor_difference(const Tensor& tensor, const TensorType& type,
                                            const Bytes& expected);

}  // namespace reprise
