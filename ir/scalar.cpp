// The table of scalar operations, and the builder that emits equal instructions once.
#include "ir/scalar.h"

#include "ir/error.h"
#include "ir/scalar_interpreter.h"

namespace reprise {
namespace {

struct OpInfo {
  std::string_view name;
  int arity;
};

// In the order of ScalarOp.
constexpr std::array<OpInfo, kNumScalarOps> kOps = {{
    {"const", 0}, {"param", 0}, {"index", 0},   {"load", 0},        {"reduced", 0}, {"neg", 1},
    {"abs", 1},   {"sqrt", 1},  {"floor", 1},   {"ceil", 1},        {"trunc", 1},   {"round", 1},
    {"not", 1},   {"exp", 1},   {"log", 1},     {"tanh", 1},        {"erf", 1},     {"sin", 1},
    {"cos", 1},   {"cast", 1},  {"bitcast", 1}, {"check_index", 1}, {"add", 2},     {"sub", 2},
    {"mul", 2},   {"div", 2},   {"mod", 2},     {"min", 2},         {"max", 2},     {"copysign", 2},
    {"and", 2},   {"or", 2},    {"xor", 2},     {"shl", 2},         {"shr", 2},     {"mul_high", 2},
    {"eq", 2},    {"ne", 2},    {"lt", 2},      {"le", 2},          {"select", 3},  {"fma", 3},
    {"store", 1},
}};
static_assert(kOps[static_cast<int>(ScalarOp::Store)].name == "store");
static_assert(kOps[static_cast<int>(ScalarOp::CheckIndex)].name == "check_index");
static_assert(kOps[static_cast<int>(ScalarOp::MulHigh)].name == "mul_high");

void mix(uint64_t& hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 32;
}

void mix(uint64_t& hash, const Affine& affine) {
  mix(hash, static_cast<uint64_t>(affine.offset));
  for (const int64_t c : affine.coefficients) mix(hash, static_cast<uint64_t>(c));
}

}  // namespace

std::string_view name(ScalarOp op) {
  return kOps[static_cast<int>(op)].name;
}

std::optional<ScalarOp> parse_scalar_op(std::string_view name) {
  for (int i = 0; i < kNumScalarOps; ++i) {
    if (kOps[i].name == name) return static_cast<ScalarOp>(i);
  }
  return std::nullopt;
}

int arity(ScalarOp op) {
  return kOps[static_cast<int>(op)].arity;
}

bool is_comparison(ScalarOp op) {
  return op >= ScalarOp::Eq && op <= ScalarOp::Le;
}

ScalarBuilder::ScalarBuilder(Body& body) : body_(body) {
  for (uint32_t i = 0; i < body_.instrs.size(); ++i) insert(i);
}

uint64_t ScalarBuilder::hash(const Instr& instr) const {
  uint64_t hash = static_cast<uint64_t>(instr.op) << 8 | static_cast<uint64_t>(instr.dtype);
  for (const ScalarId arg : instr.args) mix(hash, arg.index);
  mix(hash, instr.bits);
  if (instr.op == ScalarOp::Load) {
    const Access& access = body_.accesses[instr.access];
    mix(hash, access.buffer.index);
    mix(hash, access.dynamic.index);
    mix(hash, access.index);
  } else if (instr.op == ScalarOp::Index) {
    mix(hash, body_.affines[instr.access]);
  }
  return hash;
}

bool ScalarBuilder::equal(const Instr& a, const Instr& b) const {
  if (a.op != b.op || a.dtype != b.dtype || a.args != b.args || a.bits != b.bits) return false;
  if (a.op == ScalarOp::Load) return body_.accesses[a.access] == body_.accesses[b.access];
  if (a.op == ScalarOp::Index) return body_.affines[a.access] == body_.affines[b.access];
  return true;
}

void ScalarBuilder::insert(uint32_t position) {
  const Instr& instr = body_.instrs[position];
  if (instr.op == ScalarOp::Store) {
    loads_valid_from_ = position;
    return;
  }
  if (2 * (entries_ + 1) > table_.size()) {
    std::vector<uint32_t> old(std::max<size_t>(64, 2 * table_.size()));
    old.swap(table_);
    for (const uint32_t entry : old) {
      if (entry == 0) continue;
      size_t slot = hash(body_.instrs[entry - 1]) & (table_.size() - 1);
      while (table_[slot] != 0) slot = (slot + 1) & (table_.size() - 1);
      table_[slot] = entry;
    }
  }
  size_t slot = hash(instr) & (table_.size() - 1);
  while (table_[slot] != 0) slot = (slot + 1) & (table_.size() - 1);
  table_[slot] = position + 1;
  ++entries_;
}

ScalarId ScalarBuilder::emit(Instr instr) {
  if (instr.op != ScalarOp::Store && !table_.empty()) {
    size_t slot = hash(instr) & (table_.size() - 1);
    for (; table_[slot] != 0; slot = (slot + 1) & (table_.size() - 1)) {
      const uint32_t found = table_[slot] - 1;
      if (instr.op == ScalarOp::Load && found < loads_valid_from_) continue;
      if (equal(body_.instrs[found], instr)) return ScalarId{found};
    }
  }
  const uint32_t position = static_cast<uint32_t>(body_.instrs.size());
  body_.instrs.push_back(instr);
  insert(position);
  return ScalarId{position};
}

ScalarId ScalarBuilder::constant(double value, DType dtype) {
  return constant_bits(convert_bits(std::bit_cast<uint64_t>(value), DType::F64, dtype), dtype);
}

ScalarId ScalarBuilder::constant_bits(uint64_t bits, DType dtype) {
  return emit({.op = ScalarOp::Const, .dtype = dtype, .bits = bits});
}

ScalarId ScalarBuilder::integer(int64_t value, DType dtype) {
  return constant_bits(convert_bits(static_cast<uint64_t>(value), DType::I64, dtype), dtype);
}

ScalarId ScalarBuilder::param(uint32_t slot, DType dtype) {
  return emit({.op = ScalarOp::Param, .dtype = dtype, .bits = slot});
}

ScalarId ScalarBuilder::index(Affine affine) {
  const uint32_t position = static_cast<uint32_t>(body_.affines.size());
  body_.affines.push_back(std::move(affine));
  const ScalarId id = emit({.op = ScalarOp::Index, .dtype = DType::I64, .access = position});
  if (body_[id].access != position) body_.affines.pop_back();
  return id;
}

ScalarId ScalarBuilder::load(Access access, DType dtype, ScalarId mask) {
  const uint32_t position = static_cast<uint32_t>(body_.accesses.size());
  body_.accesses.push_back(std::move(access));
  Instr instr{.op = ScalarOp::Load, .dtype = dtype, .access = position};
  instr.args[0] = mask;
  const ScalarId id = emit(instr);
  if (body_[id].access != position) body_.accesses.pop_back();
  return id;
}

void ScalarBuilder::store(Access access, ScalarId value, ScalarId mask) {
  const uint32_t position = static_cast<uint32_t>(body_.accesses.size());
  body_.accesses.push_back(std::move(access));
  Instr instr{.op = ScalarOp::Store, .dtype = dtype(value), .access = position};
  instr.args[0] = value;
  instr.args[1] = mask;
  emit(instr);
}

ScalarId ScalarBuilder::reduced(uint32_t which, DType dtype) {
  return emit({.op = ScalarOp::Reduced, .dtype = dtype, .bits = which});
}

ScalarId ScalarBuilder::unary(ScalarOp op, ScalarId a) {
  return emit({.op = op, .dtype = dtype(a), .args = {a}});
}

ScalarId ScalarBuilder::binary(ScalarOp op, ScalarId a, ScalarId b) {
  return emit({.op = op, .dtype = is_comparison(op) ? DType::Bool : dtype(a), .args = {a, b}});
}

ScalarId ScalarBuilder::select(ScalarId condition, ScalarId yes, ScalarId no) {
  return emit({.op = ScalarOp::Select, .dtype = dtype(yes), .args = {condition, yes, no}});
}

ScalarId ScalarBuilder::fma(ScalarId a, ScalarId b, ScalarId c) {
  return emit({.op = ScalarOp::Fma, .dtype = dtype(a), .args = {a, b, c}});
}

ScalarId ScalarBuilder::cast(ScalarId a, DType to) {
  if (dtype(a) == to) return a;
  return emit({.op = ScalarOp::Cast, .dtype = to, .args = {a}});
}

ScalarId ScalarBuilder::bitcast(ScalarId a, DType to) {
  if (dtype(a) == to) return a;
  REPRISE_ASSERT(size_of(dtype(a)) == size_of(to));
  return emit({.op = ScalarOp::Bitcast, .dtype = to, .args = {a}});
}

ScalarId ScalarBuilder::check_index(ScalarId index, int64_t extent) {
  return emit({.op = ScalarOp::CheckIndex,
               .dtype = DType::I64,
               .args = {index},
               .bits = static_cast<uint64_t>(extent)});
}

ScalarId ScalarBuilder::check_index_from_end(ScalarId index, int64_t extent) {
  // As unsigned numbers only the sums of [-extent, 0) lie below the extent.
  const ScalarId sum = add(index, integer(extent, DType::I64));
  const ScalarId from_end = lt(cast(sum, DType::U64), integer(extent, DType::U64));
  return check_index(select(from_end, sum, index), extent);
}

}  // namespace reprise
