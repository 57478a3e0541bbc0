// What code is generated for: a machine's features, sizes and numerics as plain data.
#pragma once

#include <cstdint>
#include <string>

namespace reprise {

/// What the reference interpreters must know to give the target's own bits.
struct Numerics {
  bool fma = true;  ///< contractions and polynomials fuse multiply and add (one rounding)
  friend bool operator==(const Numerics&, const Numerics&) = default;
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
  friend bool operator==(const TargetInfo&, const TargetInfo&) = default;
};

/// Canonical text of every field; what hashing and `reprise info` use.
[[nodiscard]] std::string to_string(const TargetInfo& target);

}  // namespace reprise
