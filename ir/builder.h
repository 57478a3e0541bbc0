// The interface through which ops are recorded: into a graph, or live into the runtime.
//
// Composites and gradients are written once against it.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "ir/op.h"

namespace reprise {

/// A recorded value: an index whose meaning belongs to the builder that gave it.
struct Value {
  uint32_t index = UINT32_MAX;
  [[nodiscard]] bool valid() const { return index != UINT32_MAX; }
  friend auto operator<=>(const Value&, const Value&) = default;
};

/// A recorded value seen from outside. Spans live until the next recording.
struct ValueView {
  Op op;
  const TensorType& type;
  std::span<const NodeId> operands;  ///< same numbering as Value
  const Attrs& attrs;
};

class Builder {
 public:
  virtual ~Builder() = default;

  [[nodiscard]] virtual ValueView view(Value value) const = 0;
  /// Ascends as values are recorded: operands come before their users.
  [[nodiscard]] virtual uint64_t order(Value value) const = 0;
  [[nodiscard]] const TensorType& type(Value v) const { return view(v).type; }
  [[nodiscard]] DType dtype(Value v) const { return view(v).type.dtype; }
  [[nodiscard]] const Shape& shape(Value v) const { return view(v).type.shape; }

  /// Records an op: infers its type (throws what `infer` throws), expands composites.
  /// `result` is given for ops whose target type is not inferable (see OpContext::result).
  /// Attributes left out altogether are 0.
  Value record(Op op, std::span<const Value> operands, const Attrs& attrs = {},
               const TensorType* result = nullptr);
  Value record(Op op, std::initializer_list<Value> operands, const Attrs& attrs = {},
               const TensorType* result = nullptr) {
    return record(op, std::span(operands.begin(), operands.size()), attrs, result);
  }

  // The op-writer's vocabulary. Elementwise operands broadcast; dtypes must agree.
  Value constant(double value, DType dtype);  ///< rank 0, part of the structure
  // By value where several nodes are recorded: what type() refers to may move with each of them.
  Value zeros(TensorType type);
  Value ones(TensorType type);
  Value iota(const TensorType& type, int axis);  ///< index along `axis`
  Value unary(Op op, Value a) { return record(op, {a}); }
  Value binary(Op op, Value a, Value b) { return record(op, {a, b}); }
  Value add(Value a, Value b) { return record(Op::Add, {a, b}); }
  Value sub(Value a, Value b) { return record(Op::Subtract, {a, b}); }
  Value mul(Value a, Value b) { return record(Op::Multiply, {a, b}); }
  Value div(Value a, Value b) { return record(Op::Divide, {a, b}); }
  Value neg(Value a) { return record(Op::Negative, {a}); }
  Value where(Value c, Value yes, Value no) { return record(Op::Where, {c, yes, no}); }
  Value cast(Value a, DType dtype);  ///< `a` itself when the dtype is the same
  /// Reductions over the axes in `axes_mask`; keepdims leaves them with extent 1.
  Value reduce(Op op, Value a, uint32_t axes_mask, bool keepdims);
  Value reshape(Value a, const Shape& shape);  ///< `a` itself when the shape is the same
  Value broadcast_to(Value a, const Shape& shape);
  Value permute(Value a, std::span<const int64_t> order);
  Value transpose(Value a);  ///< swaps the last two axes
  Value slice(Value a, std::span<const int64_t> starts, std::span<const int64_t> steps,
              const Shape& result);
  Value pad(Value a, std::span<const int64_t> low, std::span<const int64_t> high);  ///< zeros
  /// The last sizes.size() axes seen through windows; their positions become the last axes.
  Value window(Value a, std::span<const int64_t> sizes, std::span<const int64_t> strides,
               std::span<const int64_t> dilations);
  /// `gap` zeros between neighbours along an axis.
  Value spread(Value a, int axis, int64_t gap);
  Value flip(Value a, uint32_t axes_mask);
  Value matmul(Value a, Value b) { return record(Op::Matmul, {a, b}); }
  /// Sums a gradient of a broadcast result back to the operand's shape.
  Value unbroadcast(Value gradient, Shape shape);

 protected:
  /// Stores a node whose type is known and whose operands are valid.
  virtual Value append(Op op, std::span<const Value> operands, const Attrs& attrs,
                       const TensorType& type) = 0;

 private:
  Value record_typed(const OpDef& def, std::span<const Value> operands, const OpContext& ctx);
};

/// What an op's `gradient` works with: its own value, its cotangent, its operands.
class GradientContext {
 public:
  GradientContext(Builder& builder, Value result, Value cotangent, std::span<Value> gradients)
      : builder(builder), result(result), cotangent(cotangent), gradients_(gradients) {}

  Builder& builder;
  Value result;
  Value cotangent;  ///< same type as the result

  [[nodiscard]] Value operand(int i) const { return Value{builder.view(result).operands[i].index}; }
  [[nodiscard]] Attrs attrs() const { return builder.view(result).attrs; }
  /// Whether anybody asks for the gradient of operand i. Do not record what nobody wants.
  [[nodiscard]] bool wants(int i) const;
  /// Adds to the gradient of operand i. Summed down to the operand's shape if it was broadcast.
  void accumulate(int i, Value gradient);

 private:
  std::span<Value> gradients_;  ///< one per operand; `kUnwanted` where nobody asks
 public:
  static constexpr Value kUnwanted{UINT32_MAX - 1};
};

/// 32-bit words of the random stream that one element of `uniform` or `normal` takes: n elements
/// reserve ceil(n * random_words(dtype) / 4) counters.
[[nodiscard]] int random_words(DType dtype);

/// Records into a Graph; equal pure nodes are not merged (that is cse's work).
class GraphBuilder final : public Builder {
 public:
  explicit GraphBuilder(Graph& graph) : graph_(graph) {}
  [[nodiscard]] ValueView view(Value value) const override;
  [[nodiscard]] uint64_t order(Value value) const override { return value.index; }
  Value input(const TensorType& type, uint32_t index, std::span<const int64_t> strides = {});
  Value parameter(DType dtype, uint32_t index);
  void output(Value value) { graph_.add_output(NodeId{value.index}); }

 private:
  Value append(Op op, std::span<const Value> operands, const Attrs& attrs,
               const TensorType& type) override;
  Graph& graph_;
};

}  // namespace reprise
