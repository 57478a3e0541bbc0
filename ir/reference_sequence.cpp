// Scans, scatters and sorting, written out plainly.
#include "ir/reference_sequence.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include "ir/error.h"
#include "ir/scalar_interpreter.h"

namespace reprise {

namespace {

using Bytes = std::vector<std::byte>;

/// A shape as an axis, what lies before it and what lies behind.
struct Around {
  Around(const Shape& shape, int axis) : extent(shape[axis]) {
    for (int i = 0; i < axis; ++i) before *= shape[i];
    for (int i = axis + 1; i < shape.rank(); ++i) after *= shape[i];
  }
  [[nodiscard]] int64_t lines() const { return before * after; }
  /// Position of element `i` of a line.
  [[nodiscard]] int64_t element(int64_t line, int64_t i) const {
    return (line / after * extent + i) * after + line % after;
  }
  int64_t extent, before = 1, after = 1;
};

uint64_t read(const void* data, DType dtype, int64_t i) {
  uint64_t bits = 0;
  const size_t width = size_of(dtype);
  std::memcpy(&bits, static_cast<const std::byte*>(data) + static_cast<size_t>(i) * width, width);
  return bits;
}

void write(void* data, DType dtype, int64_t i, uint64_t bits) {
  const size_t width = size_of(dtype);
  std::memcpy(static_cast<std::byte*>(data) + static_cast<size_t>(i) * width, &bits, width);
}

/// An op's step, for many values side by side.
class Step {
 public:
  Step(Op op, const Attrs& attrs, DType dtype, int operands, const Numerics& numerics)
      : numerics_(numerics) {
    ScalarBuilder scalar(body_);
    const std::vector<TensorType> types(static_cast<size_t>(operands), {dtype, {}});
    std::vector<ScalarId> values;
    for (uint32_t i = 0; i <= static_cast<uint32_t>(operands); ++i) {
      values.push_back(scalar.load(
          {.buffer = BufferId{i}, .index = {.offset = 0, .coefficients = {1}}, .dynamic = {}},
          dtype));
    }
    result_ = op_def(op).lower(scalar, values, {.op = op, .operands = types, .attrs = attrs});
  }

  /// out[i] from the values so far and the next ones.
  void run(int64_t count, std::span<const void* const> values, void* out) const {
    LaunchStatus status;
    evaluate_elementwise(body_, numerics_, result_, Shape{count}, values, out, &status);
  }

 private:
  const Numerics& numerics_;
  Body body_;
  ScalarId result_;
};

}  // namespace

DType step_dtype(DType result) {
  return result == DType::F16 || result == DType::BF16 ? DType::F32 : result;
}

void reference_scan(Op op, const Attrs& attrs, DType operand_dtype, const TensorType& result,
                    std::span<const void* const> operands, const Numerics& numerics, void* out) {
  const Around around(result.shape, static_cast<int>(attrs.word(0)));
  const int64_t lines = around.lines();
  const DType dtype = step_dtype(result.dtype);
  const size_t row = static_cast<size_t>(lines) * size_of(dtype);
  if (lines == 0) return;
  // Row i: element i of all lines.
  std::vector<Bytes> values(operands.size(), Bytes(row * static_cast<size_t>(around.extent)));
  for (size_t k = 0; k < operands.size(); ++k) {
    for (int64_t i = 0; i < around.extent; ++i) {
      for (int64_t line = 0; line < lines; ++line) {
        const uint64_t bits = read(operands[k], operand_dtype, around.element(line, i));
        write(values[k].data(), dtype, i * lines + line, convert_bits(bits, operand_dtype, dtype));
      }
    }
  }
  const Step step(op, attrs, dtype, static_cast<int>(operands.size()), numerics);
  const int64_t block = operands.size() == 1 ? kScanBlock : around.extent;
  Bytes sums = values.back();
  const auto at = [&](Bytes& bytes, int64_t i) {
    return bytes.data() + row * static_cast<size_t>(i);
  };
  for (int64_t i = 0; i < around.extent; ++i) {
    if (i % block == 0) continue;
    std::vector<const void*> next{at(sums, i - 1)};
    for (Bytes& value : values) next.push_back(at(value, i));
    step.run(lines, next, at(sums, i));
  }
  std::vector<Bytes> carries;  // of all blocks up to one
  for (int64_t end = block; end < around.extent; end += block) {
    const Bytes total(at(sums, end - 1), at(sums, end));
    carries.push_back(total);
    if (end == block) continue;
    const void* const next[] = {carries[carries.size() - 2].data(), total.data()};
    step.run(lines, next, carries.back().data());
  }
  for (int64_t i = block; i < around.extent; ++i) {
    const Bytes inside(at(sums, i), at(sums, i + 1));
    const void* const next[] = {carries[static_cast<size_t>(i / block - 1)].data(), inside.data()};
    step.run(lines, next, at(sums, i));
  }
  for (int64_t i = 0; i < around.extent; ++i) {
    for (int64_t line = 0; line < lines; ++line) {
      const uint64_t bits = read(sums.data(), dtype, i * lines + line);
      write(out, result.dtype, around.element(line, i), convert_bits(bits, dtype, result.dtype));
    }
  }
}

void reference_scatter(Op op, const Attrs& attrs, const TensorType& result, const void* x,
                       std::span<const int64_t> rows, const void* updates, const Numerics& numerics,
                       void* out) {
  const Around around(result.shape, static_cast<int>(attrs.word(0)));
  const bool replaces = op_def(op).lower == nullptr;
  const DType dtype = replaces ? result.dtype : step_dtype(result.dtype);
  const int64_t elements = result.shape.numel(), count = std::ssize(rows);
  Bytes sums(static_cast<size_t>(elements) * size_of(dtype));
  for (int64_t i = 0; i < elements; ++i) {
    write(sums.data(), dtype, i, convert_bits(read(x, result.dtype, i), result.dtype, dtype));
  }
  std::optional<Step> step;
  if (!replaces) step.emplace(op, attrs, dtype, 1, numerics);
  for (int64_t j = 0; j < count; ++j) {
    for (int64_t line = 0; line < around.lines(); ++line) {
      const int64_t place = around.element(line, rows[static_cast<size_t>(j)]);
      const int64_t from = (line / around.after * count + j) * around.after + line % around.after;
      const uint64_t update = convert_bits(read(updates, result.dtype, from), result.dtype, dtype);
      uint64_t bits = update;
      if (step) {
        const uint64_t old = read(sums.data(), dtype, place);
        const void* const next[] = {&old, &update};
        step->run(1, next, &bits);
      }
      write(sums.data(), dtype, place, bits);
    }
  }
  for (int64_t i = 0; i < elements; ++i) {
    write(out, result.dtype, i, convert_bits(read(sums.data(), dtype, i), dtype, result.dtype));
  }
}

void reference_argsort(const TensorType& keys, int axis, const void* data, int64_t* out) {
  const Around around(keys.shape, axis);
  std::vector<int64_t> order(static_cast<size_t>(around.extent));
  for (int64_t line = 0; line < around.lines(); ++line) {
    const auto key = [&](int64_t i) { return read(data, keys.dtype, around.element(line, i)); };
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return key(a) < key(b); });
    for (int64_t i = 0; i < around.extent; ++i) {
      out[around.element(line, i)] = order[static_cast<size_t>(i)];
    }
  }
}

}  // namespace reprise
