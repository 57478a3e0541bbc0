// Graphs of common workloads as the frontend records them: rows, classifiers, transformers.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "graph_samples.h"
#include "ir/builder.h"
#include "ir/graph.h"
#include "passes/lower.h"

namespace reprise {

/// The graph passes that come before fusion, in the pipeline's order.
[[nodiscard]] Graph optimized(const Graph& graph);

/// A graph under construction whose leaves are numbered in the order they are made.
class Workload {
 public:
  Graph graph;
  GraphBuilder b{graph};

  Value input(const Shape& shape, DType dtype = DType::F32) {
    return b.input({dtype, shape}, num_inputs_++);
  }
  Value number(DType dtype = DType::F32) { return b.parameter(dtype, num_numbers_++); }
  /// An input that is trained.
  Value weight(const Shape& shape, DType dtype = DType::F32) {
    weights_.push_back(input(shape, dtype));
    return weights_.back();
  }
  /// Gradients of sum(y * cotangent), the cotangent being an input.
  void differentiate(Value y, const std::vector<Value>& xs);
  [[nodiscard]] const std::vector<Value>& weights() const { return weights_; }
  /// Of the loss; of nothing, inputs.
  [[nodiscard]] std::vector<Value> weight_gradients(Value loss);
  [[nodiscard]] Graph finish() const { return optimized(graph); }

 private:
  uint32_t num_inputs_ = 0, num_numbers_ = 0;
  std::vector<Value> weights_;
};

// Updates of every weight; each records what its optimizer of the frontend does.
void update_sgd(Workload& w, Value loss);
void update_momentum(Workload& w, Value loss);
void update_adam(Workload& w, Value loss);
void update_adamw(Workload& w, Value loss);
using Update = void (*)(Workload&, Value loss);

/// Whether a layer's weight lies as (in, out), x W, or as (out, in), x W^T.
enum class WeightLayout : uint8_t { InOut, OutIn };

/// One step of a classifier: relu layers of these widths, cross-entropy, the update.
[[nodiscard]] Graph mlp_step(std::initializer_list<int64_t> widths, int64_t batch,
                             Update update = update_adam,
                             WeightLayout layout = WeightLayout::InOut);

struct TransformerShape {
  int64_t batch = 2, tokens = 16, width = 32, heads = 4, layers = 1, vocabulary = 29;
};
/// x plus causal attention plus a gelu layer, a layer norm before each of them.
[[nodiscard]] Value transformer_block(Workload& w, Value x, const TransformerShape& shape);
/// Only the blocks, from x to x.
[[nodiscard]] Graph transformer_forward(const TransformerShape& shape);
/// Embeddings, blocks, a layer norm, logits, cross-entropy, the update of every weight.
[[nodiscard]] Graph transformer_step(const TransformerShape& shape, Update update = update_adamw);

struct HeadsShape {
  int64_t batch = 1, heads = 1, tokens = 1, width = 1;
  DType dtype = DType::F32;
  int64_t behind = -1;  ///< keys end this many before the query; negative: all are seen
};
enum class Rows : uint8_t { Forward, WithGradient };
/// Attention alone: queries, keys and values as inputs; with the gradients of all three.
[[nodiscard]] Graph heads(const HeadsShape& shape, Rows rows);

/// One step of an optimizer for given gradients of parameters of these shapes.
[[nodiscard]] Graph update_only(const std::vector<Shape>& shapes, Update update);

/// An op over the last axis, alone or with the gradients of all its float operands.
[[nodiscard]] Graph row_op(Op op, const Shape& shape, Rows rows);

/// Sampled inputs, integers in [0, bound).
[[nodiscard]] GraphInputs workload_inputs(const Graph& graph, uint32_t seed, Draw draw,
                                          int64_t bound);

/// One line a launch: its kernel, and the loops of each stage of each part.
[[nodiscard]] std::string describe_launches(const Lowered& lowered);

}  // namespace reprise
