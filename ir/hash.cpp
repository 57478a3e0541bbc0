// Canonical byte strings of graphs and kernels, hashed with XXH3.
#include "ir/hash.h"

#include <xxhash.h>

#include "ir/graph.h"
#include "ir/kernel.h"

namespace reprise {

namespace {

/// Little-endian words of variable length, lists preceded by their count: no two different
/// sequences of calls give the same bytes.
class KeyWriter {
 public:
  void word(uint64_t value) {
    while (value >= 0x80) {
      bytes_.push_back(static_cast<std::byte>(value | 0x80));
      value >>= 7;
    }
    bytes_.push_back(static_cast<std::byte>(value));
  }
  void integer(int64_t value) {  // zigzag: small magnitudes stay short
    word((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
  }
  void integers(std::span<const int64_t> values) {
    word(values.size());
    for (int64_t value : values) integer(value);
  }
  template <class E>
  void tag(E value) {
    word(static_cast<uint64_t>(value));
  }
  template <class Tag>
  void id(Id<Tag> value) {
    word(value.valid() ? uint64_t{value.index} + 1 : 0);
  }

  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

void write_affine(KeyWriter& out, const Affine& affine) {
  out.integer(affine.offset);
  out.integers(affine.coefficients);
}

void write_body(KeyWriter& out, const Body& body) {
  out.word(body.instrs.size());
  for (const Instr& instr : body.instrs) {
    out.tag(instr.op);
    out.tag(instr.dtype);
    for (ScalarId arg : instr.args) out.id(arg);
    out.word(instr.access == UINT32_MAX ? 0 : uint64_t{instr.access} + 1);
    out.word(instr.bits);
  }
  out.word(body.accesses.size());
  for (const Access& access : body.accesses) {
    out.id(access.buffer);
    write_affine(out, access.index);
    out.id(access.dynamic);
  }
  out.word(body.affines.size());
  for (const Affine& affine : body.affines) write_affine(out, affine);
}

void write_stage(KeyWriter& out, const Stage& stage) {
  out.tag(stage.kind);
  out.integers(stage.parallel);
  out.integers(stage.reduce);
  write_body(out, stage.body);
  out.word(stage.reductions.size());
  for (const Reduction& reduction : stage.reductions) {
    out.tag(reduction.kind);
    out.tag(reduction.dtype);
    out.id(reduction.value);
    out.id(reduction.value2);
  }
  write_body(out, stage.post);
}

}  // namespace

Hash128 hash_bytes(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

uint64_t mix_hash(uint64_t hash, uint64_t word) {
  // A multiply-rotate-multiply round: enough for open hash tables, where a comparison decides.
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return (hash ^ (hash >> 29)) * 0xBF58476D1CE4E5B9u;
}

std::string to_string(Hash128 hash) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(32, '0');
  for (int i = 0; i < 16; ++i) {
    text[15 - i] = kDigits[(hash.high >> (4 * i)) & 15];
    text[31 - i] = kDigits[(hash.low >> (4 * i)) & 15];
  }
  return text;
}

std::vector<std::byte> key_bytes(const Graph& graph) {
  KeyWriter out;
  out.word(graph.size());
  for (const Node& node : graph.nodes()) {
    out.tag(node.op);
    out.tag(node.type.dtype);
    out.integers(node.type.shape.extents());
    out.word(node.operands.size());
    for (NodeId operand : node.operands) out.id(operand);
    out.integers(node.attrs.words());
  }
  out.word(graph.outputs().size());
  for (NodeId output : graph.outputs()) out.id(output);
  return out.take();
}

std::vector<std::byte> key_bytes(const Kernel& kernel) {
  KeyWriter out;
  out.word(kernel.buffers.size());
  for (const Buffer& buffer : kernel.buffers) {
    out.tag(buffer.kind);
    out.tag(buffer.dtype);
    out.integer(buffer.extent);
  }
  out.word(kernel.params.size());
  for (DType dtype : kernel.params) out.tag(dtype);
  out.word(kernel.phases.size());
  for (const Phase& phase : kernel.phases) {
    out.word(phase.parts.size());
    for (const Part& part : phase.parts) {
      out.integers(part.grid);
      out.word(part.stages.size());
      for (const Stage& stage : part.stages) write_stage(out, stage);
    }
  }
  return out.take();
}

Hash128 hash(const Graph& graph) {
  return hash_bytes(key_bytes(graph));
}
Hash128 hash(const Kernel& kernel) {
  return hash_bytes(key_bytes(kernel));
}

}  // namespace reprise
