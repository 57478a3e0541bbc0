// Records graphs op by op, as a program would write them.
#include "tests/fuzz/live_program.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "ir/scalar_interpreter.h"
#include "runtime/device.h"

namespace reprise {

namespace {

/// The number that a program would write for these bits.
Number number_of(DType dtype, uint64_t bits) {
  if (is_float(dtype)) return std::bit_cast<double>(convert_bits(bits, dtype, DType::F64));
  if (dtype == DType::Bool) return bits != 0;
  if (is_unsigned_integer(dtype)) return bits;
  return static_cast<int64_t>(convert_bits(bits, dtype, DType::I64));
}

/// Where each element of an input lies, row-major, in elements from the lowest one.
struct Places {
  std::vector<int64_t> of;
  int64_t span = 0;   ///< from the lowest place to the highest, both included
  int64_t first = 0;  ///< the place of element 0
};
Places places_of(const Shape& shape, std::span<const int64_t> strides) {
  Places places;
  int64_t high = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t reach =
        std::max<int64_t>(shape[axis] - 1, 0) * strides[static_cast<size_t>(axis)];
    (reach < 0 ? places.first : high) += std::abs(reach);
  }
  places.span = places.first + high + 1;
  std::array<int64_t, kMaxDims> index{};
  int64_t at = places.first;
  for (int64_t i = shape.numel(); i > 0; --i) {
    places.of.push_back(at);
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      const auto a = static_cast<size_t>(axis);
      at += strides[a];
      if (++index[a] < shape[axis]) break;
      at -= strides[a] * shape[axis];
      index[a] = 0;
    }
  }
  return places;
}

Bytes scattered(const Places& places, size_t width, const Bytes& elements) {
  Bytes memory(static_cast<size_t>(places.span) * width);
  for (size_t i = 0; i < places.of.size(); ++i) {
    std::memcpy(memory.data() + static_cast<size_t>(places.of[i]) * width,
                elements.data() + i * width, width);
  }
  return memory;
}

/// A view of storage whose lowest element lies `begin` elements into it.
Tensor view_of(StoragePtr storage, const TensorType& type, std::span<const int64_t> strides,
               const Places& places, int64_t begin) {
  const auto width = static_cast<int64_t>(size_of(type.dtype));
  Layout layout{.shape = type.shape, .strides = {}, .offset = (begin + places.first) * width};
  for (size_t axis = 0; axis < strides.size(); ++axis) layout.strides[axis] = strides[axis] * width;
  return Tensor(Runtime::get().from_storage(type.dtype, layout, std::move(storage)));
}

StoragePtr stored(const Bytes& memory) {
  return upload(default_device(), memory.data(), memory.size());
}

/// The strides that an input is meant to have.
std::vector<int64_t> strides_of(const Node& input) {
  const std::span<const int64_t> given = input.attrs.ints(1);
  const auto contiguous = input.type.shape.contiguous_strides();
  if (!given.empty()) return {given.begin(), given.end()};
  return {contiguous.begin(), contiguous.begin() + input.type.shape.rank()};
}

/// What an input of these strides reads of such elements: along an axis of stride 0 only one.
Bytes seen_through(const TensorType& type, std::span<const int64_t> strides,
                   const Bytes& elements) {
  if (strides.empty()) return elements;
  const size_t width = size_of(type.dtype);
  const Places places = places_of(type.shape, strides);
  const Bytes memory = scattered(places, width, elements);
  Bytes seen(elements.size());
  for (size_t i = 0; i < places.of.size(); ++i) {
    std::memcpy(seen.data() + i * width, memory.data() + static_cast<size_t>(places.of[i]) * width,
                width);
  }
  return seen;
}

}  // namespace

std::vector<ExpectedStep> expected_steps(const Program& program, size_t count) {
  std::vector<ExpectedStep> steps;
  for (size_t i = 0; i < count; ++i) {
    ExpectedStep step;
    step.data = i == 0 ? program.data : leaf_data(program.graph, i);
    for (const Node& node : program.graph.nodes()) {
      if (node.op != Op::Input) continue;
      Bytes& elements = step.data.inputs[static_cast<size_t>(node.attrs.word(0))];
      elements = seen_through(node.type, node.attrs.ints(1), elements);
    }
    if (i > 0) {
      for (const auto& [input, output] : program.assigns) {
        step.data.inputs[input] = steps.back().outputs[output];
      }
    }
    step.outputs = reference_outputs(program.graph, step.data);
    steps.push_back(std::move(step));
  }
  return steps;
}

std::string tensor_difference(const Tensor& tensor, const TensorType& type, const Bytes& expected) {
  if (tensor.type() != type) return str("a value of ", tensor.type(), " where ", type, " is due");
  Bytes elements(expected.size());
  Runtime::get().read(tensor.id(), elements.data(), elements.size());
  return difference(type.dtype, elements, expected);
}

LiveProgram::LiveProgram(const Program& program)
    : program_(program),
      inputs_(num_inputs(program.graph)),
      scalars_(num_parameters(program.graph)) {}

bool LiveProgram::is_assigned(size_t input) const {
  return std::any_of(program_.assigns.begin(), program_.assigns.end(),
                     [&](const Program::Assign& assign) { return assign.input == input; });
}

void LiveProgram::load(const LeafData& data, Storage storage) {
  struct Part {
    size_t index;
    const Node* node;
    Places places;
    int64_t begin;
  };
  std::vector<Part> parts;
  std::vector<std::pair<DType, Bytes>> blocks;
  for (const Node& node : program_.graph.nodes()) {
    if (node.op != Op::Input && node.op != Op::Parameter) continue;
    const auto index = static_cast<size_t>(node.attrs.word(0));
    if (node.op == Op::Parameter) {
      const Number number = number_of(node.type.dtype, data.parameters[index]);
      if (scalars_[index]) {
        scalars_[index]->set(number);
      } else {
        scalars_[index].emplace(number);
      }
      continue;
    }
    if (is_assigned(index) && !inputs_[index].empty_handle()) continue;
    const DType dtype = node.type.dtype;
    if (storage == Storage::Own && node.attrs.ints(1).empty()) {
      inputs_[index] = Tensor(Runtime::get().from_host(node.type, data.inputs[index].data()));
      continue;
    }
    auto block = std::find_if(blocks.begin(), blocks.end(),
                              [&](const auto& pair) { return pair.first == dtype; });
    if (storage == Storage::Own || block == blocks.end()) {
      block = blocks.emplace(blocks.end(), dtype, Bytes{});
    }
    const Places places = places_of(node.type.shape, strides_of(node));
    const Bytes memory = scattered(places, size_of(dtype), data.inputs[index]);
    const auto begin = static_cast<int64_t>(block->second.size() / size_of(dtype));
    block->second.insert(block->second.end(), memory.begin(), memory.end());
    parts.push_back({index, &node, places, begin});
    if (storage == Storage::Shared) continue;
    inputs_[index] = view_of(stored(memory), node.type, strides_of(node), places, 0);
  }
  if (storage == Storage::Own) return;
  shared_.clear();
  for (const auto& [dtype, elements] : blocks) {
    const StoragePtr memory = stored(elements);
    const TensorType flat{dtype, {static_cast<int64_t>(elements.size() / size_of(dtype))}};
    const int64_t one = 1;
    shared_.push_back({dtype, view_of(memory, flat, std::span(&one, 1), {}, 0), elements});
    for (const Part& part : parts) {
      if (part.node->type.dtype != dtype) continue;
      inputs_[part.index] =
          view_of(memory, part.node->type, strides_of(*part.node), part.places, part.begin);
    }
  }
}

std::string LiveProgram::compare_shared() const {
  for (const SharedBlock& block : shared_) {
    const std::string found = tensor_difference(block.whole, block.whole.type(), block.elements);
    if (!found.empty()) return str("the block that ", block.dtype, " inputs share, ", found);
  }
  return {};
}

Number LiveProgram::number_at(size_t parameter, Scalars scalars) const {
  const Scalar& scalar = *scalars_[parameter];
  return scalars == Scalars::Cells ? Number(scalar) : scalar.value();
}

TensorId LiveProgram::record_node(const Node& node, std::span<const Tensor> values,
                                  Scalars scalars) const {
  Runtime& runtime = Runtime::get();
  const Graph& graph = program_.graph;
  std::vector<TensorId> operands;
  for (const NodeId operand : node.operands) operands.push_back(values[operand.index].id());
  TensorId quick;
  if (op_def(node.op).kind == OpKind::Elementwise && node.attrs.words().empty()) {
    if (operands.size() == 1) quick = runtime.try_record(node.op, operands[0]);
    if (operands.size() == 2) {
      // A number beside a tensor, as operators write it.
      for (const int side : {0, 1}) {
        const Node& number = graph[node.operands[side]];
        const DType other = graph[node.operands[1 - side]].type.dtype;
        if (quick.valid() || number.op != Op::Parameter || number.type.dtype != other) continue;
        quick =
            runtime.try_record(node.op, operands[static_cast<size_t>(1 - side)],
                               number_at(static_cast<size_t>(number.attrs.word(0)), scalars),
                               side == 0 ? Runtime::NumberIs::First : Runtime::NumberIs::Second);
      }
      if (!quick.valid()) quick = runtime.try_record(node.op, operands[0], operands[1]);
    }
  }
  return quick.valid() ? quick : runtime.record(node.op, operands, node.attrs, &node.type);
}

std::vector<Tensor> LiveProgram::record(Scalars scalars, std::vector<Tensor>* values) {
  const Graph& graph = program_.graph;
  std::vector<Tensor> tensors;
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::Input) {
      tensors.push_back(inputs_[static_cast<size_t>(node.attrs.word(0))]);
    } else if (node.op == Op::Parameter) {
      const Number number = number_at(static_cast<size_t>(node.attrs.word(0)), scalars);
      tensors.emplace_back(Runtime::get().parameter(node.type.dtype, number));
    } else {
      tensors.emplace_back(record_node(node, tensors, scalars));
    }
  }
  std::vector<Tensor> outputs;
  // An input that is an output is about to be assigned: its value now is meant.
  for (const NodeId output : graph.outputs()) {
    const bool is_input = graph[output].op == Op::Input;
    outputs.push_back(is_input ? tensors[output.index].value() : tensors[output.index]);
  }
  if (values != nullptr) *values = std::move(tensors);
  return outputs;
}

std::vector<Tensor> LiveProgram::record_rebinding() {
  const Graph& graph = program_.graph;
  std::vector<Tensor> old(inputs_.size());
  std::vector<Tensor> tensors(graph.size());
  // Every input's own handle on its value before anything is rebound.
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i].empty_handle()) old[i] = inputs_[i].value();
  }
  for (uint32_t n = 0; n < graph.size(); ++n) {
    const Node& node = graph[NodeId{n}];
    if (node.op == Op::Input) {
      tensors[n] = old[static_cast<size_t>(node.attrs.word(0))];
    } else if (node.op == Op::Parameter) {
      const Number number = number_at(static_cast<size_t>(node.attrs.word(0)), Scalars::Numbers);
      tensors[n] = Tensor(Runtime::get().parameter(node.type.dtype, number));
    } else {
      tensors[n] = Tensor(record_node(node, tensors, Scalars::Numbers));
    }
    for (const auto& [input, output] : program_.assigns) {
      if (graph.outputs()[output] != NodeId{n}) continue;
      inputs_[input].assign_(tensors[n]);
      if (node.op != Op::Input) tensors[n] = inputs_[input];
    }
  }
  std::vector<Tensor> outputs;
  for (const NodeId output : graph.outputs()) outputs.push_back(tensors[output.index]);
  return outputs;
}

void LiveProgram::assign(const std::vector<Tensor>& outputs) const {
  for (const auto& [input, output] : program_.assigns) inputs_[input].assign_(outputs[output]);
}

std::string LiveProgram::compare(const ExpectedStep& expected,
                                 const std::vector<Tensor>& outputs) const {
  const Graph& graph = program_.graph;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorType& type = graph[graph.outputs()[i]].type;
    const std::string found = tensor_difference(outputs[i], type, expected.outputs[i]);
    if (!found.empty()) return str("output ", i, ", ", type, ", ", found, " expected");
  }
  for (const auto& [input, output] : program_.assigns) {
    const TensorType& type = graph[graph.outputs()[output]].type;
    const std::string found = tensor_difference(inputs_[input], type, expected.outputs[output]);
    if (!found.empty()) return str("assigned input ", input, ", ", type, ", ", found, " expected");
  }
  return {};
}

}  // namespace reprise
