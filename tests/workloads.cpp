// Graphs of common workloads as the frontend records them: rows, classifiers, transformers.
#include "workloads.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "ir/error.h"
#include "passes/graph_passes.h"

namespace reprise {

Graph optimized(const Graph& graph) {
  return recompute(dce(cse(simplify(canonicalize(dce(graph))))));
}

std::vector<Value> Workload::weight_gradients(Value loss) {
  if (loss.valid()) return gradient(b, loss, b.ones(b.type(loss)), weights_);
  std::vector<Value> given;
  for (Value weight : weights_) given.push_back(input(b.shape(weight)));
  return given;
}

void Workload::differentiate(Value y, const std::vector<Value>& xs) {
  const TensorType type = b.type(y);
  const Value cotangent = input(type.shape, type.dtype);
  for (Value g : gradient(b, y, cotangent, xs)) b.output(g);
}

void update_sgd(Workload& w, Value loss) {
  const std::vector<Value> gradients = w.weight_gradients(loss);
  const Value rate = w.number();
  for (size_t i = 0; i < gradients.size(); ++i) {
    w.b.output(w.b.sub(w.weights()[i], w.b.mul(rate, gradients[i])));
  }
}

void update_momentum(Workload& w, Value loss) {
  const std::vector<Value> gradients = w.weight_gradients(loss);
  const Value rate = w.number(), momentum = w.number(), decay = w.number();
  for (size_t i = 0; i < gradients.size(); ++i) {
    const Value p = w.weights()[i], velocity = w.input(w.b.shape(p));
    const Value g = w.b.add(gradients[i], w.b.mul(decay, p));
    const Value next = w.b.add(w.b.mul(momentum, velocity), g);
    w.b.output(next);
    w.b.output(w.b.sub(p, w.b.mul(rate, next)));
  }
}

namespace {

enum class Decay : uint8_t { None, Decoupled };

void update_with_moments(Workload& w, Value loss, Decay decay) {
  GraphBuilder& b = w.b;
  const std::vector<Value> gradients = w.weight_gradients(loss);
  std::vector<Value> numbers;
  for (int i = 0; i < 8; ++i) numbers.push_back(w.number());
  for (size_t i = 0; i < gradients.size(); ++i) {
    const Value p = w.weights()[i], g = gradients[i];
    const Shape shape = b.shape(p);
    const Value m = w.input(shape), v = w.input(shape);
    const Value decayed = decay == Decay::Decoupled ? b.sub(p, b.mul(numbers[7], p)) : p;
    const Value new_m = b.add(b.mul(numbers[0], m), b.mul(numbers[1], g));
    const Value new_v = b.add(b.mul(numbers[2], v), b.mul(numbers[3], b.unary(Op::Square, g)));
    const Value root = b.add(b.mul(b.unary(Op::Sqrt, new_v), numbers[4]), numbers[5]);
    b.output(new_m);
    b.output(new_v);
    b.output(b.sub(decayed, b.div(b.mul(numbers[6], new_m), root)));
  }
}

}  // namespace

void update_adam(Workload& w, Value loss) {
  update_with_moments(w, loss, Decay::None);
}

void update_adamw(Workload& w, Value loss) {
  update_with_moments(w, loss, Decay::Decoupled);
}

Graph mlp_step(std::initializer_list<int64_t> sizes, int64_t batch, Update update,
               WeightLayout layout) {
  Workload w;
  GraphBuilder& b = w.b;
  const std::vector<int64_t> widths(sizes);
  const Value x = w.input({batch, widths[0]}), labels = w.input({batch}, DType::I64);
  Value h = x;
  for (size_t i = 0; i + 1 < widths.size(); ++i) {
    if (layout == WeightLayout::InOut) {
      h = b.matmul(h, w.weight({widths[i], widths[i + 1]}));
    } else {
      h = b.matmul(h, b.transpose(w.weight({widths[i + 1], widths[i]})));
    }
    h = b.add(h, w.weight({widths[i + 1]}));
    if (i + 2 < widths.size()) h = b.unary(Op::Relu, h);
  }
  const Value loss = b.record(Op::CrossEntropy, {h, labels}, Attrs().add_int(0));
  b.output(loss);
  update(w, loss);
  return w.finish();
}

namespace {

Value layer_norm(Workload& w, Value x, int64_t width) {
  const int rank = w.b.shape(x).rank();
  const Value gamma = w.weight({width}), beta = w.weight({width});
  return w.b.record(Op::LayerNorm, {x, w.number(), gamma, beta}, Attrs().add_int(1 << (rank - 1)));
}

Value linear(Workload& w, Value x, int64_t in, int64_t out) {
  const Value weight = w.weight({in, out});
  return w.b.add(w.b.matmul(x, weight), w.weight({out}));
}

/// Part `i` of 3 along axis 2 of (batch, tokens, 3, heads, width of a head), heads before tokens.
Value head_part(GraphBuilder& b, Value qkv, int64_t i) {
  const Shape shape = b.shape(qkv);
  const int64_t starts[] = {0, 0, i, 0, 0}, steps[] = {1, 1, 1, 1, 1}, order[] = {0, 2, 1, 3};
  const Value part = b.slice(qkv, starts, steps, {shape[0], shape[1], 1, shape[3], shape[4]});
  return b.permute(b.reshape(part, {shape[0], shape[1], shape[3], shape[4]}), order);
}

Value attention(Workload& w, Value x, const TransformerShape& s) {
  GraphBuilder& b = w.b;
  const int64_t head = s.width / s.heads;
  const Value qkv =
      b.reshape(linear(w, x, s.width, 3 * s.width), {s.batch, s.tokens, 3, s.heads, head});
  const Value q = head_part(b, qkv, 0), k = head_part(b, qkv, 1), v = head_part(b, qkv, 2);
  const Value scores = b.mul(b.matmul(q, b.transpose(k)), w.number());
  const TensorType positions{DType::I64, {s.tokens, s.tokens}};
  const Value seen = b.binary(Op::LessEqual, b.iota(positions, 1), b.iota(positions, 0));
  const Value masked = b.where(seen, scores, b.constant(-HUGE_VAL, DType::F32));
  const Value weights = b.record(Op::Softmax, {masked}, Attrs().add_int(3));
  const int64_t order[] = {0, 2, 1, 3};
  const Value mixed = b.permute(b.matmul(weights, v), order);
  return linear(w, b.reshape(mixed, {s.batch, s.tokens, s.width}), s.width, s.width);
}

}  // namespace

Value transformer_block(Workload& w, Value x, const TransformerShape& s) {
  GraphBuilder& b = w.b;
  x = b.add(x, attention(w, layer_norm(w, x, s.width), s));
  const Value up = linear(w, layer_norm(w, x, s.width), s.width, 4 * s.width);
  const Value active = b.record(Op::Gelu, {up}, Attrs().add_int(1));
  return b.add(x, linear(w, active, 4 * s.width, s.width));
}

Graph heads(const HeadsShape& s, Rows rows) {
  Workload w;
  GraphBuilder& b = w.b;
  const Shape shape{s.batch, s.heads, s.tokens, s.width};
  const Value q = w.input(shape, s.dtype), k = w.input(shape, s.dtype), v = w.input(shape, s.dtype);
  Value scores = b.mul(b.matmul(q, b.transpose(k)), w.number(s.dtype));
  if (s.behind >= 0) {
    const TensorType positions{DType::I64, {s.tokens, s.tokens}};
    const Value last =
        b.sub(b.iota(positions, 0), b.constant(static_cast<double>(s.behind), DType::I64));
    const Value seen = b.binary(Op::LessEqual, b.iota(positions, 1), last);
    scores = b.where(seen, scores, b.constant(-HUGE_VAL, s.dtype));
  }
  const Value y = b.matmul(b.record(Op::Softmax, {scores}, Attrs().add_int(3)), v);
  b.output(y);
  if (rows == Rows::WithGradient) w.differentiate(y, {q, k, v});
  return w.finish();
}

Graph transformer_forward(const TransformerShape& s) {
  Workload w;
  Value x = w.input({s.batch, s.tokens, s.width});
  for (int64_t i = 0; i < s.layers; ++i) x = transformer_block(w, x, s);
  w.b.output(x);
  return w.finish();
}

Graph transformer_step(const TransformerShape& s, Update update) {
  Workload w;
  GraphBuilder& b = w.b;
  const Value tokens = w.input({s.batch, s.tokens}, DType::I64);
  const Value labels = w.input({s.batch, s.tokens}, DType::I64);
  const Value table = w.weight({s.vocabulary, s.width});
  const Value places = w.weight({s.tokens, s.width});
  Value x = b.add(b.record(Op::Gather, {table, tokens}, Attrs().add_int(0)), places);
  for (int64_t i = 0; i < s.layers; ++i) x = transformer_block(w, x, s);
  const Value logits = linear(w, layer_norm(w, x, s.width), s.width, s.vocabulary);
  const Value loss = b.record(Op::CrossEntropy, {logits, labels}, Attrs().add_int(0));
  b.output(loss);
  update(w, loss);
  return w.finish();
}

Graph update_only(const std::vector<Shape>& shapes, Update update) {
  Workload w;
  for (const Shape& shape : shapes) (void)w.weight(shape);
  update(w, Value{});
  return w.finish();
}

Graph row_op(Op op, const Shape& shape, Rows rows) {
  Workload w;
  const int last = shape.rank() - 1;
  const Value x = w.input(shape);
  Value y, gamma, beta;
  switch (op) {
    case Op::CrossEntropy: {
      const Shape labels(shape.extents().first(static_cast<size_t>(last)));
      y = w.b.record(op, {x, w.input(labels, DType::I64)}, Attrs().add_int(0));
      break;
    }
    case Op::LogSumExp:
      y = w.b.reduce(op, x, 1u << last, false);
      break;
    case Op::LayerNorm:
      gamma = w.input({shape[last]});
      beta = w.input({shape[last]});
      y = w.b.record(op, {x, w.number(), gamma, beta}, Attrs().add_int(1 << last));
      break;
    case Op::RmsNorm:
      gamma = w.input({shape[last]});
      y = w.b.record(op, {x, w.number(), gamma}, Attrs().add_int(1 << last));
      break;
    default:
      y = w.b.record(op, {x}, Attrs().add_int(last));
  }
  w.b.output(y);
  if (rows == Rows::WithGradient) {
    std::vector<Value> xs{x};
    if (gamma.valid()) xs.push_back(gamma);
    if (beta.valid()) xs.push_back(beta);
    w.differentiate(y, xs);
  }
  return w.finish();
}

GraphInputs workload_inputs(const Graph& graph, uint32_t seed, Draw draw, int64_t bound) {
  GraphInputs inputs = sample_inputs(graph, seed);
  std::mt19937 random(seed);
  for (const Node& node : graph.nodes()) {
    const DType dtype = node.type.dtype;
    if (node.op == Op::Parameter) {
      const Bytes element = sample_elements(dtype, 1, Draw::Small, random);
      std::memcpy(&inputs.parameters[node.attrs.word(0)], element.data(), element.size());
    }
    if (node.op != Op::Input) continue;
    Bytes& bytes = inputs.storage[node.attrs.word(0)];
    const int64_t count = static_cast<int64_t>(bytes.size() / size_of(dtype));
    Bytes drawn = sample_elements(dtype, count, draw, random);
    if (dtype == DType::I64) {
      std::vector<int64_t> indices;
      for (int64_t i = 0; i < count; ++i) indices.push_back(random() % bound);
      drawn = bytes_of(indices);
    }
    std::copy(drawn.begin(), drawn.end(), bytes.begin());
  }
  return inputs;
}

std::string describe_launches(const Lowered& lowered) {
  const auto extents = [](const std::vector<int64_t>& values) {
    std::string text = "[";
    for (size_t i = 0; i < values.size(); ++i) text += str(i == 0 ? "" : ",", values[i]);
    return text + "]";
  };
  std::string text;
  for (const Launch& launch : lowered.plan.launches) {
    text += str("k", launch.kernel, ":");
    for (const Phase& phase : lowered.kernels[launch.kernel].phases) {
      text += " phase {";
      for (const Part& part : phase.parts) {
        text += str(" grid ", extents(part.grid), " {");
        for (const Stage& stage : part.stages) {
          const bool contraction = stage.kind == StageKind::Contraction;
          text += str(contraction            ? " matmul"
                      : stage.reduce.empty() ? " map"
                                             : " fold",
                      extents(stage.parallel), extents(stage.reduce));
        }
        text += " }";
      }
      text += " }";
    }
    text += "\n";
  }
  return text;
}

}  // namespace reprise
