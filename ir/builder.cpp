// Recording: counts, types and composites are settled here, storage is the concrete builder's.
#include "ir/builder.h"

#include <memory>
#include <vector>

#include "ir/error.h"

namespace reprise {
namespace {

/// Operands whose types `infer` reads from the stack: recording must not allocate.
constexpr size_t kFewOperands = 4;

[[noreturn, gnu::cold, gnu::noinline]] void refuse_count(const OpDef& def, size_t given) {
  if (def.max_operands < 0) {
    throw ShapeError(str(def.name, ": takes ", def.min_operands, " operands or more, got ", given));
  }
  if (def.min_operands == def.max_operands) {
    throw ShapeError(str(def.name, ": takes ", def.min_operands, " operands, got ", given));
  }
  throw ShapeError(str(def.name, ": takes ", def.min_operands, " to ", def.max_operands,
                       " operands, got ", given));
}

/// Attributes may be left out altogether: the default of each is 0, or no elements.
Attrs default_attrs(const OpDef& def) {
  Attrs attrs;
  for (size_t i = 0; i < def.attrs.size(); ++i) attrs.add_int(0);
  return attrs;
}

/// A reduction over no axis is no loop: what is left of it is its effect on the dtype.
[[gnu::cold, gnu::noinline]] Value reduce_nothing(Builder& builder, const OpDef& def, Value operand,
                                                  const TensorType& result) {
  switch (def.reduce) {
    case ReduceKind::ArgMin:
    case ReduceKind::ArgMax:
      return builder.zeros(result);
    case ReduceKind::Sum:
    case ReduceKind::Prod:
    case ReduceKind::Min:
    case ReduceKind::Max:
    case ReduceKind::Dot:
      return builder.cast(operand, result.dtype);
  }
  return operand;
}

}  // namespace

Value Builder::record(Op op, std::span<const Value> operands, const Attrs& attrs,
                      const TensorType* result) {
  const OpDef& def = op_def(op);
  const size_t count = operands.size();
  if (static_cast<int>(count) < def.min_operands ||
      (def.max_operands >= 0 && static_cast<int>(count) > def.max_operands)) [[unlikely]] {
    refuse_count(def, count);
  }
  if (attrs.words().empty() && !def.attrs.empty()) [[unlikely]] {
    return record(op, operands, default_attrs(def), result);
  }
  if (count > kFewOperands) [[unlikely]] {
    std::vector<TensorType> types;
    types.reserve(count);
    for (Value operand : operands) types.push_back(type(operand));
    return record_typed(def, operands,
                        {.op = op, .operands = types, .attrs = attrs, .result = result});
  }
  static_assert(std::is_trivially_destructible_v<TensorType>);
  alignas(TensorType) std::byte raw[kFewOperands * sizeof(TensorType)];  // not even cleared
  auto* types = reinterpret_cast<TensorType*>(raw);
  for (size_t i = 0; i < count; ++i) std::construct_at(types + i, type(operands[i]));
  return record_typed(def, operands,
                      {.op = op, .operands = {types, count}, .attrs = attrs, .result = result});
}

Value Builder::record_typed(const OpDef& def, std::span<const Value> operands,
                            const OpContext& ctx) {
  const TensorType type = def.infer(ctx);
  if (def.kind == OpKind::Composite) [[unlikely]] {
    OpContext inferred = ctx;
    inferred.result = &type;
    const Value value = def.compose(*this, operands, inferred);
    REPRISE_ASSERT(this->type(value) == type);
    return value;
  }
  if (def.kind == OpKind::Reduction && ctx.attrs.word(0) == 0) [[unlikely]] {
    return reduce_nothing(*this, def, operands[0], type);
  }
  return append(ctx.op, operands, ctx.attrs, type);
}

Value Builder::constant(double value, DType dtype) {
  const TensorType type{dtype, {}};
  return record(Op::Constant, {}, Attrs().add_float(value), &type);
}

Value Builder::zeros(TensorType type) {
  return broadcast_to(constant(0, type.dtype), type.shape);
}

Value Builder::ones(TensorType type) {
  return broadcast_to(constant(1, type.dtype), type.shape);
}

Value Builder::iota(const TensorType& type, int axis) {
  return record(Op::Iota, {}, Attrs().add_int(axis), &type);
}

Value Builder::cast(Value a, DType dtype) {
  if (this->dtype(a) == dtype) return a;
  return record(Op::Cast, {a}, Attrs().add_type(dtype));
}

Value Builder::reduce(Op op, Value a, uint32_t axes_mask, bool keepdims) {
  return record(op, {a}, Attrs().add_int(axes_mask).add_int(keepdims ? 1 : 0));
}

Value Builder::reshape(Value a, const Shape& shape) {
  if (this->shape(a) == shape) return a;
  const TensorType type{dtype(a), shape};
  return record(Op::Reshape, {a}, {}, &type);
}

Value Builder::broadcast_to(Value a, const Shape& shape) {
  if (this->shape(a) == shape) return a;
  const TensorType type{dtype(a), shape};
  return record(Op::BroadcastTo, {a}, {}, &type);
}

Value Builder::permute(Value a, std::span<const int64_t> order) {
  return record(Op::Permute, {a}, Attrs().add_ints(order));
}

Value Builder::transpose(Value a) {
  const int rank = shape(a).rank();
  if (rank < 2) throw ShapeError(str("transpose: needs rank 2 or more, got ", shape(a)));
  std::array<int64_t, kMaxDims> order;
  for (int axis = 0; axis < rank; ++axis) order[static_cast<size_t>(axis)] = axis;
  std::swap(order[static_cast<size_t>(rank - 1)], order[static_cast<size_t>(rank - 2)]);
  return permute(a, std::span(order.data(), static_cast<size_t>(rank)));
}

Value Builder::slice(Value a, std::span<const int64_t> starts, std::span<const int64_t> steps,
                     const Shape& result) {
  const TensorType type{dtype(a), result};
  return record(Op::Slice, {a}, Attrs().add_ints(starts).add_ints(steps), &type);
}

Value Builder::pad(Value a, std::span<const int64_t> low, std::span<const int64_t> high) {
  return record(Op::Pad, {a}, Attrs().add_ints(low).add_ints(high));
}

Value Builder::window(Value a, std::span<const int64_t> sizes, std::span<const int64_t> strides,
                      std::span<const int64_t> dilations) {
  return record(Op::Window, {a}, Attrs().add_ints(sizes).add_ints(strides).add_ints(dilations));
}

Value Builder::spread(Value a, int axis, int64_t gap) {
  const Shape shape = this->shape(a);
  const int64_t count = shape[axis];
  if (gap == 0 || count <= 1) return a;
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= shape[i];
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  const int64_t low[] = {0, 0, 0, 0};
  const int64_t high[] = {0, 0, gap, 0};
  const int64_t length = count * (gap + 1);
  const Value gaps =
      reshape(pad(reshape(a, {outer, count, 1, inner}), low, high), Shape{outer, length, inner});
  // No zeros after the last.
  const int64_t starts[] = {0, 0, 0}, steps[] = {1, 1, 1};
  std::array<int64_t, kMaxDims> extents;
  std::copy(shape.begin(), shape.end(), extents.begin());
  extents[static_cast<size_t>(axis)] = length - gap;
  return reshape(
      slice(gaps, starts, steps, Shape{outer, length - gap, inner}),
      Shape(std::span<const int64_t>(extents.data(), static_cast<size_t>(shape.rank()))));
}

Value Builder::flip(Value a, uint32_t axes_mask) {
  const Shape shape = this->shape(a);
  const auto rank = static_cast<size_t>(shape.rank());
  std::array<int64_t, kMaxDims> starts{}, steps;
  steps.fill(1);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if ((axes_mask >> axis & 1) == 0 || shape[axis] <= 1) continue;
    starts[static_cast<size_t>(axis)] = shape[axis] - 1;
    steps[static_cast<size_t>(axis)] = -1;
  }
  return slice(a, {starts.data(), rank}, {steps.data(), rank}, shape);
}

Value Builder::unbroadcast(Value gradient, Shape target) {
  const Shape from = shape(gradient);
  if (from == target) return gradient;
  const int added = from.rank() - target.rank();
  uint32_t axes = 0;
  bool stretched = false;  // an axis that stays, with extent 1
  for (int axis = 0; axis < from.rank(); ++axis) {
    const bool is_added = axis < added;
    if (!is_added && target[axis - added] == from[axis]) continue;
    axes |= 1u << axis;
    stretched |= !is_added;
  }
  return reshape(reduce(Op::Sum, gradient, axes, stretched), target);
}

bool GradientContext::wants(int i) const {
  return gradients_[static_cast<size_t>(i)] != kUnwanted &&
         is_differentiable(builder.dtype(operand(i)));
}

void GradientContext::accumulate(int i, Value gradient) {
  if (!wants(i)) return;
  const TensorType type = builder.type(operand(i));
  REPRISE_ASSERT(builder.dtype(gradient) == type.dtype);
  // A gradient that is the same all over may come as a smaller shape.
  const Shape common = broadcast_shapes(builder.shape(gradient), type.shape);
  gradient = common == type.shape ? builder.broadcast_to(gradient, type.shape)
                                  : builder.unbroadcast(gradient, type.shape);
  Value& total = gradients_[static_cast<size_t>(i)];
  total = total.valid() ? builder.add(total, gradient) : gradient;
}

int random_words(DType dtype) {
  return dtype == DType::F64 ? 2 : 1;
}

}  // namespace reprise
