// Counter-based random bits: Philox 4x32 with 10 rounds (Salmon et al., SC 2011).
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr int kRounds = 10;
constexpr uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;

TensorType infer(const OpContext& ctx) {
  for (const TensorType& operand : ctx.operands) {
    if (operand != TensorType{DType::U64, {}}) {
      throw DTypeError(str("random_bits: key and counter are u64[], got ", operand));
    }
  }
  const TensorType& type = given_result(ctx);
  if (type.dtype != DType::U32) throw DTypeError(str("random_bits: gives u32, not ", type));
  return type;
}

/// Both 32-bit halves of a u64, low first.
std::array<ScalarId, 2> halves(ScalarBuilder& b, ScalarId wide) {
  const ScalarId high = b.binary(ScalarOp::Shr, wide, b.integer(32, DType::U64));
  return {b.cast(wide, DType::U32), b.cast(high, DType::U32)};
}

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> operands,
               std::span<const ScalarId> axis_indices, const OpContext& ctx) {
  const Shape& shape = ctx.result->shape;
  const auto strides = shape.contiguous_strides();
  ScalarId element = b.integer(0, DType::I64);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const size_t a = static_cast<size_t>(axis);
    if (shape[axis] == 1) continue;
    const ScalarId along = strides[a] == 1
                               ? axis_indices[a]
                               : b.mul(axis_indices[a], b.integer(strides[a], DType::I64));
    element = axis == 0 ? along : b.add(element, along);
  }
  element = b.cast(element, DType::U64);
  // Four consecutive elements are the four words of one counter's block.
  const ScalarId block =
      b.add(operands[1], b.binary(ScalarOp::Shr, element, b.integer(2, DType::U64)));
  const ScalarId word =
      b.cast(b.binary(ScalarOp::And, element, b.integer(3, DType::U64)), DType::U32);

  const auto [key_low, key_high] = halves(b, operands[0]);
  const auto [block_low, block_high] = halves(b, block);
  const ScalarId zero = b.integer(0, DType::U32);
  std::array<ScalarId, 4> counter = {block_low, block_high, zero, zero};
  const ScalarId multiplier0 = b.integer(kMultiplier0, DType::U32);
  const ScalarId multiplier1 = b.integer(kMultiplier1, DType::U32);
  for (uint32_t round = 0; round < kRounds; ++round) {
    const ScalarId key0 = b.add(key_low, b.integer(uint32_t{round * kWeyl0}, DType::U32));
    const ScalarId key1 = b.add(key_high, b.integer(uint32_t{round * kWeyl1}, DType::U32));
    const ScalarId high0 = b.binary(ScalarOp::MulHigh, multiplier0, counter[0]);
    const ScalarId high1 = b.binary(ScalarOp::MulHigh, multiplier1, counter[2]);
    const ScalarId low0 = b.mul(multiplier0, counter[0]);
    const ScalarId low1 = b.mul(multiplier1, counter[2]);
    const auto mix = [&b](ScalarId high, ScalarId old, ScalarId key) {
      return b.binary(ScalarOp::Xor, b.binary(ScalarOp::Xor, high, old), key);
    };
    counter = {mix(high1, counter[1], key0), low1, mix(high0, counter[3], key1), low0};
  }
  const ScalarId odd =
      b.eq(b.binary(ScalarOp::And, word, b.integer(1, DType::U32)), b.integer(1, DType::U32));
  const ScalarId first = b.select(odd, counter[1], counter[0]);
  const ScalarId second = b.select(odd, counter[3], counter[2]);
  return b.select(b.lt(word, b.integer(2, DType::U32)), first, second);
}

std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{7}, Shape{5, 13}, Shape{1009}}) {
    all.push_back({.operands = {{{DType::U64, {}}, Fill::Index, int64_t{1} << 62},
                                {{DType::U64, {}}, Fill::Index, int64_t{1} << 40}},
                   .attrs = {},
                   .result = {DType::U32, shape}});
  }
  return all;
}

}  // namespace

const OpDef& random_bits_def() {
  static constexpr OpDef def{
      .name = "random_bits",
      .kind = OpKind::Leaf,
      .min_operands = 2,
      .max_operands = 2,
      .doc =
          "random_bits(key, counter), both u64 scalars: 32 uniform bits an element. Element i, "
          "counted row-major, is word i mod 4 of Philox 4x32-10 at block counter + i/4.",
      .infer = infer,
      .lower_leaf = lower,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
