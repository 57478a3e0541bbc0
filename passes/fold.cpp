// Constant folding through the reference evaluation of scalar programs.
#include "passes/fold.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ir/scalar_interpreter.h"
#include "ir/text.h"

namespace reprise {

namespace {

/// The constant that holds these bits, if one does.
std::optional<double> constant_of(uint64_t bits, DType dtype) {
  const uint64_t wide = convert_bits(bits, dtype, DType::F64);
  const auto value = std::bit_cast<double>(wide);
  if (is_float(dtype) && std::isnan(value)) return std::numeric_limits<double>::quiet_NaN();
  if (convert_bits(wide, DType::F64, dtype) != bits) return std::nullopt;
  return canonical_constant(value, dtype);
}

uint64_t bits_of(double value, DType dtype) {
  return convert_bits(std::bit_cast<uint64_t>(value), DType::F64, dtype);
}

/// Whether the operation has one right result, which every target gives. Float division and roots
/// are left out: GPUs may round them otherwise, and folding must not tell devices apart.
bool is_exact(const Instr& instr, const Body& body) {
  switch (instr.op) {
    case ScalarOp::Const:
    case ScalarOp::Neg:
    case ScalarOp::Abs:
    case ScalarOp::Floor:
    case ScalarOp::Ceil:
    case ScalarOp::Trunc:
    case ScalarOp::Round:
    case ScalarOp::Not:
    case ScalarOp::Cast:
    case ScalarOp::Bitcast:
    case ScalarOp::Add:
    case ScalarOp::Sub:
    case ScalarOp::Mul:
    case ScalarOp::Min:
    case ScalarOp::Max:
    case ScalarOp::CopySign:
    case ScalarOp::And:
    case ScalarOp::Or:
    case ScalarOp::Xor:
    case ScalarOp::Shl:
    case ScalarOp::Shr:
    case ScalarOp::MulHigh:
    case ScalarOp::Eq:
    case ScalarOp::Ne:
    case ScalarOp::Lt:
    case ScalarOp::Le:
    case ScalarOp::Select:
      return !is_pair(instr.dtype);
    case ScalarOp::Div:
    case ScalarOp::Mod:
      return is_integer(body[instr.args[0]].dtype);
    case ScalarOp::Param:
    case ScalarOp::Index:
    case ScalarOp::Load:
    case ScalarOp::Reduced:
    case ScalarOp::Sqrt:
    case ScalarOp::Exp:
    case ScalarOp::Log:
    case ScalarOp::Tanh:
    case ScalarOp::Erf:
    case ScalarOp::Sin:
    case ScalarOp::Cos:
    case ScalarOp::CheckIndex:
    case ScalarOp::Fma:
    case ScalarOp::Store:
      return false;
  }
  return false;
}

/// Whether adding `value` to itself up to `count` times is exact in a float of `digits` bits.
bool sums_exactly(double value, int64_t count, int digits) {
  if (value == 0) return true;
  if (!std::isfinite(value)) return false;
  int exponent = 0;
  double odd = std::frexp(value, &exponent);  // an integer of as few bits as there are
  while (odd != std::trunc(odd)) odd *= 2;
  return std::abs(odd) * static_cast<double>(count) <= std::ldexp(1.0, digits);
}

std::optional<double> fold_sum(double value, int64_t count, DType from, DType to) {
  if (is_float(to)) {
    const int digits = to == DType::F64 ? 53 : 24;  // half types accumulate in f32
    if (!sums_exactly(value, count, digits)) return std::nullopt;
    // Both factors may be -0 or infinity-free by now; count 1 keeps a -0, as does every sum of -0.
    const DType accumulator = to == DType::F64 ? DType::F64 : DType::F32;
    const double total = value * static_cast<double>(count);
    const uint64_t bits = bits_of(total, accumulator);
    const auto back = std::bit_cast<double>(convert_bits(bits, accumulator, DType::F64));
    if (back != total || std::isinf(back)) return std::nullopt;
    return constant_of(convert_bits(bits, accumulator, to), to);
  }
  const uint64_t element = convert_bits(bits_of(value, from), from, to);
  return constant_of(evaluate_bits(ScalarOp::Mul, to, to, element, static_cast<uint64_t>(count)),
                     to);
}

}  // namespace

double canonical_constant(double value, DType dtype) {
  if (is_pair(dtype)) return value;
  const uint64_t bits = bits_of(value, dtype);
  const double exact = std::bit_cast<double>(convert_bits(bits, dtype, DType::F64));
  if (std::isnan(exact)) return std::numeric_limits<double>::quiet_NaN();
  if (!is_float(dtype)) return bits_of(exact, dtype) == bits ? exact : value;
  // The number whose decimal is shortest: 0.1 rather than 0.10000000149011612 for an f32.
  const std::string text = print_element(bits, dtype);
  double shortest = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), shortest);
  return parsed.ec == std::errc() && bits_of(shortest, dtype) == bits ? shortest : exact;
}

std::optional<double> uniform_value(const Graph& graph, NodeId value) {
  const Node* node = &graph[value];
  if (node->op == Op::BroadcastTo) node = &graph[node->operands[0]];
  if (node->op != Op::Constant || is_pair(node->type.dtype)) return std::nullopt;
  // As the dtype holds it: 0.1 is another number in f32, and 0.5 is 0 in i32.
  const uint64_t bits = bits_of(node->attrs.as_float(0), node->type.dtype);
  return std::bit_cast<double>(convert_bits(bits, node->type.dtype, DType::F64));
}

std::optional<double> fold_elementwise(const Graph& graph, const Node& node) {
  if (op_def(node.op).lower == nullptr) return std::nullopt;
  Body body;
  ScalarBuilder scalar(body);
  SmallVector<ScalarId, 3> operands;
  std::vector<TensorType> types;
  for (NodeId operand : node.operands) {
    const std::optional<double> value = uniform_value(graph, operand);
    if (!value) return std::nullopt;
    types.push_back(graph[operand].type);
    operands.push_back(scalar.constant(*value, types.back().dtype));
  }
  const ScalarId result = op_def(node.op).lower(
      scalar, operands,
      {.op = node.op, .operands = types, .attrs = node.attrs, .result = &node.type});
  for (const Instr& instr : body.instrs) {
    if (!is_exact(instr, body)) return std::nullopt;
  }
  const std::array keep = {result};
  ScalarProgram program(body, Numerics{}, keep);
  program.run(1, ScalarInputs{});
  return constant_of(program.kept(0, 0), node.type.dtype);
}

std::optional<double> fold_reduction(const Graph& graph, const Node& node) {
  const TensorType& operand = graph[node.operands[0]].type;
  const auto axes = static_cast<uint64_t>(node.attrs.word(0));
  int64_t count = 1;
  for (int axis = 0; axis < operand.shape.rank(); ++axis) {
    if ((axes >> axis & 1) != 0) count *= operand.shape[axis];
  }
  const ReduceKind kind = op_def(node.op).reduce;
  const bool argument = kind == ReduceKind::ArgMin || kind == ReduceKind::ArgMax;
  if (argument) {
    const bool first = count == 1 || (count > 0 && uniform_value(graph, node.operands[0]));
    return first ? std::optional(0.0) : std::nullopt;
  }
  if (is_pair(operand.dtype)) return std::nullopt;
  if (count == 0) return constant_of(reduce_identity(kind, node.type.dtype), node.type.dtype);
  const std::optional<double> value = uniform_value(graph, node.operands[0]);
  if (!value) return std::nullopt;
  switch (kind) {
    case ReduceKind::Min:
    case ReduceKind::Max:
      return constant_of(bits_of(*value, node.type.dtype), node.type.dtype);
    case ReduceKind::Sum:
      return fold_sum(*value, count, operand.dtype, node.type.dtype);
    case ReduceKind::Prod:
      // Longer products overflow or round; these two never do.
      return *value == 1 || (*value == 0 && !std::signbit(*value)) ? value : std::nullopt;
    case ReduceKind::ArgMin:
    case ReduceKind::ArgMax:
    case ReduceKind::Dot:
      break;
  }
  return std::nullopt;
}

}  // namespace reprise
