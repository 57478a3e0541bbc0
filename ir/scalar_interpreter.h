// Reference semantics of scalar programs: on raw bits, and over blocks of lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/kernel.h"
#include "ir/scalar.h"
#include "ir/target.h"

namespace reprise {

// An element as raw bits: its bytes as in memory, the low size_of(dtype) bytes of the word, the
// rest zero. Bool is 0 or 1.

/// The cast rules of docs/SEMANTICS.md.
[[nodiscard]] uint64_t convert_bits(uint64_t value, DType from, DType to);
/// One instruction without effects or leaves (Neg .. Fma, not CheckIndex) on raw bits. `dtype` as
/// in Instr; `operand` is the dtype of args[0] (it differs for comparisons and casts).
[[nodiscard]] uint64_t evaluate_bits(ScalarOp op, DType dtype, DType operand, uint64_t a,
                                     uint64_t b = 0, uint64_t c = 0, const Numerics& numerics = {});
/// Combines as a Reduction does: `acc op value` for Sum, Prod, Min, Max.
[[nodiscard]] uint64_t combine_bits(ReduceKind kind, DType dtype, uint64_t accumulator,
                                    uint64_t value);
/// What folding no element at all gives. Min of f32: +inf, of ints the largest; Max the opposite.
[[nodiscard]] uint64_t reduce_identity(ReduceKind kind, DType dtype);

/// Lanes one run of a program may have.
inline constexpr int kLanes = 256;

/// What a program sees from outside. Spans are read during run() only.
struct ScalarInputs {
  std::span<void* const> buffers;  ///< by BufferId; elements contiguous
  /// Elements per buffer; when given, an access past it throws InternalError.
  std::span<const int64_t> extents;
  std::span<const uint64_t> params;  ///< raw words
  /// One array of `lanes` values per variable, in the order of Affine::coefficients.
  std::span<const int64_t* const> variables;
  /// One array of `lanes` raw words per reduction; only for bodies that read Reduced.
  std::span<const uint64_t* const> reduced;
  /// For buffers that each grid point has a copy of: elements between two copies (else 0), and per
  /// lane which copy is its own.
  std::span<const int64_t> copy_strides;
  const int64_t* copies = nullptr;
  LaunchStatus* status = nullptr;
};

/// A body made ready to run: half types widened and Exp.. expanded exactly as `legalize` and
/// `expand_math` do, so results equal compiled code bit for bit under the same numerics.
/// Lanes run in lockstep, instruction by instruction; no lane may load what another lane stores.
class ScalarProgram {
 public:
  /// `keep`: values wanted after a run; the ids are those of `body`.
  ScalarProgram(const Body& body, const Numerics& numerics, std::span<const ScalarId> keep = {});

  /// Runs all instructions for `lanes` <= kLanes lanes.
  void run(int lanes, const ScalarInputs& inputs);
  /// Raw word of the `which`-th kept value in a lane of the last run.
  [[nodiscard]] uint64_t kept(int which, int lane) const;
  /// The lanes of the `which`-th kept value, packed elements of its dtype.
  [[nodiscard]] const void* kept_lanes(int which) const { return lanes_of(kept_[which]); }
  [[nodiscard]] DType kept_dtype(int which) const { return body_[kept_[which]].dtype; }

 private:
  [[nodiscard]] const void* lanes_of(ScalarId id) const { return bytes_.data() + at_[id.index]; }
  [[nodiscard]] void* lanes_of(ScalarId id) { return bytes_.data() + at_[id.index]; }
  void run_index(const Affine& affine, int64_t* out, int lanes, const ScalarInputs& inputs) const;
  void find_elements(const Access& access, const uint8_t* mask, int lanes,
                     const ScalarInputs& inputs);
  void run_load(const Instr& instr, void* out, int lanes, const ScalarInputs& inputs);
  void run_store(const Instr& instr, int lanes, const ScalarInputs& inputs);

  Body body_;
  Numerics numerics_;
  std::vector<ScalarId> kept_;
  std::vector<size_t> at_;         ///< where each instruction's lanes begin in bytes_
  std::vector<std::byte> bytes_;   ///< packed elements, kLanes of each
  std::vector<int64_t> elements_;  ///< per lane, the element the access at hand touches
};

/// Evaluates a pure body at every point of `extents` in row-major order. The variables are the axes
/// (g0 is axis 0), so that a load's affine index broadcasts, permutes or slices as it likes; Load
/// of buffer k reads operands[k]. The value `result` goes to `out`, packed. Needs no Store.
void evaluate_elementwise(const Body& body, const Numerics& numerics, ScalarId result,
                          std::span<const int64_t> extents, std::span<const void* const> operands,
                          void* out, LaunchStatus* status = nullptr);

}  // namespace reprise
