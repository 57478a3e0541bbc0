// What code is generated for: a machine's features, sizes and numerics as plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/dtype.h"

namespace reprise {

/// What the reference interpreters must know to give the target's own bits.
struct Numerics {
  bool fma = true;  ///< contractions and polynomials fuse multiply and add (one rounding)
  /// Products of bf16 are added to an f32 sum two at a time, see add_bf16_pair.
  bool bf16_pairs = false;
  /// Products of f16 may be added to an f32 sum by matrix instructions, in an order and with
  /// roundings that are the device's own: the one thing that interpreters do not follow.
  bool matrix_f16 = false;
  friend bool operator==(const Numerics&, const Numerics&) = default;
};

/// How shaders multiply matrices whose elements the invocations of a subgroup hold together.
enum class MatrixForm : uint8_t {
  None,
  Khr,       ///< SPV_KHR_cooperative_matrix
  Nv,        ///< SPV_NV_cooperative_matrix: for tools that do not know the other
  Emulated,  ///< ordinary instructions stand in for them, in ascending order: for tests
};

/// A matrix instruction: M x K `factors` times K x N `factors` are added to M x N `sums`.
struct MatrixShape {
  DType factors = DType::I8;
  DType sums = DType::I32;
  int m = 0, n = 0, k = 0;
  friend bool operator==(const MatrixShape&, const MatrixShape&) = default;
};

struct MatrixInfo {
  MatrixForm form = MatrixForm::None;
  int subgroup = 0;                 ///< invocations of every subgroup; all of them are there
  std::vector<MatrixShape> shapes;  ///< those to prefer first
  friend bool operator==(const MatrixInfo&, const MatrixInfo&) = default;
};

/// What shaders may use on a Vulkan device and how much of it. A CPU has none of it.
struct ShaderInfo {
  bool int64 = false;
  bool float64 = false;
  bool storage8 = false;          ///< elements of one byte
  bool storage16 = false;         ///< elements of two bytes
  bool buffer_addresses = false;  ///< buffers are plain 64-bit addresses
  bool round_even32 = false;      ///< the float controls: round to nearest even,
  bool round_even64 = false;
  bool keep_denormals32 = false;  ///< denormals are not flushed,
  bool keep_denormals64 = false;
  bool keep_specials32 = false;  ///< signed zeros, infinities and NaNs are preserved
  bool keep_specials64 = false;
  int64_t shared_bytes = 0;  ///< workgroup memory
  int64_t max_groups = 0;    ///< workgroups along one axis of a dispatch
  int64_t bound_bytes = 0;   ///< of a buffer that is bound by a descriptor, at most
  bool shuffle = false;      ///< the invocations of a subgroup hand each other values
  /// Not 0: the driver ends an invocation's loops, without a word, once they have gone round so
  /// often, all of them together.
  int64_t loop_iterations = 0;
  MatrixInfo matrices;
  /// Whether buffers are named by addresses, which are arithmetic of 64 bits; else the device's
  /// memory is one buffer that is bound.
  [[nodiscard]] bool uses_addresses() const { return buffer_addresses && int64; }
  friend bool operator==(const ShaderInfo&, const ShaderInfo&) = default;
};

enum class TargetKind : uint8_t { Cpu, Vulkan };

/// Hashed whole into every kernel key; schedules are chosen from it alone.
struct TargetInfo {
  TargetKind kind = TargetKind::Cpu;
  std::string triple;    ///< LLVM triple, or "spirv"
  std::string features;  ///< LLVM feature string, e.g. "+avx2,+fma": what the CPU has, not its name
  int vector_bytes = 16;
  int vector_registers = 16;
  int64_t l1_bytes = 32 << 10;
  int64_t l2_bytes = 512 << 10;
  int64_t l3_bytes = 8 << 20;
  Numerics numerics;
  ShaderInfo shader;
  friend bool operator==(const TargetInfo&, const TargetInfo&) = default;
};

/// Canonical text of every field; what hashing and `reprise info` use.
[[nodiscard]] std::string to_string(const TargetInfo& target);

/// A Vulkan device that need not be there: 64-bit types, small elements and buffer addresses,
/// limits that every one of them has, no promise about rounding. For looking at code.
[[nodiscard]] TargetInfo plain_vulkan_target();

}  // namespace reprise
