// How a phase's parts are laid over workgroups, and where their tile-local buffers live.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/analysis.h"
#include "codegen/backend.h"
#include "ir/kernel.h"
#include "ir/target.h"

namespace reprise::spirv {

/// What one workgroup does.
enum class Mapping : uint8_t {
  Points,  ///< each invocation runs one grid point through all stages
  Rows,    ///< all invocations share one grid point: a reduction's partials, elements of its loops
  Tiles,   ///< a tile of a contraction's result
};

/// Where the elements of a buffer are.
struct Home {
  enum class Kind : uint8_t {
    Global,     ///< an address given at launch
    Private,    ///< a variable of each invocation
    Workgroup,  ///< workgroup memory, from word `at` of the 32-bit or of the 64-bit words
    Scratch,    ///< device memory, from byte `at` of a group's piece
  };
  Kind kind = Kind::Global;
  int64_t at = 0;
};

/// Words of workgroup memory; no 8-bit or 16-bit accesses are asked of the device.
struct SharedWords {
  int64_t narrow = 0;  ///< of 32 bits
  int64_t wide = 0;    ///< of 64 bits
  int64_t quads = 0;   ///< four of 32 bits, aligned to 16 bytes
  [[nodiscard]] int64_t bytes() const { return 4 * narrow + 8 * wide + 16 * quads; }
  /// Room for one after the other.
  void join(const SharedWords& other) {
    narrow = std::max(narrow, other.narrow);
    wide = std::max(wide, other.wide);
    quads = std::max(quads, other.quads);
  }
  /// Takes `count` words for elements of `dtype`; gives the first.
  int64_t take(DType dtype, int64_t count) {
    int64_t& words = size_of(dtype) == 8 ? wide : narrow;
    words += count;
    return words - count;
  }
};

/// A tile of a contraction's result: every invocation owns kOwn x kOwn elements of it.
inline constexpr int kTile = 32;
inline constexpr int kOwn = 4;
inline constexpr int kTileDepth = 16;
static_assert(kTile * kTile == kGroupInvocations * kOwn * kOwn);
static_assert(kReducePartials == kGroupInvocations);

/// The same tile by matrix instructions: blocks of both factors, [row][depth] and [column][depth],
/// kMatrixLine bytes of the depth a line, each line kMatrixStride quads after the one before. The
/// quad between them keeps lines of one block from falling on the same banks.
inline constexpr int kMatrixLine = 64;
inline constexpr int kMatrixStride = kMatrixLine / 16 + 1;
inline constexpr int kMatrixBlock = kTile * kMatrixStride;  ///< quads

struct MatrixPlan {
  MatrixShape shape;
  ScalarId scalars, vectors;  ///< the values that are multiplied, of the type `shape.factors`
  int fragments = 0;          ///< of M x N that each subgroup owns: consecutive ones, row by row
  [[nodiscard]] int depth() const { return kMatrixLine / static_cast<int>(size_of(shape.factors)); }
};

struct PartPlan {
  Part part;  ///< the parallel loops of an only stage have become grid axes
  Mapping mapping = Mapping::Points;
  int64_t points = 1;       ///< of the grid
  int64_t tasks = 1;        ///< workgroups
  std::vector<Home> homes;  ///< by BufferId
  SharedWords shared;
  int64_t scratch_stride = 0;  ///< bytes of a group; when not 0, a group runs several points
  std::optional<codegen::ContractionLoops> tile;  ///< Tiles only
  std::optional<MatrixPlan> matrix;               ///< of Tiles, where instructions compute them
  int64_t row_tiles = 0, column_tiles = 0;
};

struct PhasePlan {
  std::vector<PartPlan> parts;
  int64_t tasks = 0;
  SharedWords shared;
  int64_t scratch_bytes = 0;
};

/// Throws UnsupportedError for more workgroups than 32 bits count.
[[nodiscard]] PhasePlan plan_phase(const Kernel& kernel, const Phase& phase,
                                   const TargetInfo& target);

/// Whether the workgroup folds one result of this stage together; else each invocation folds its
/// own.
[[nodiscard]] bool is_shared_fold(const Stage& stage);

/// The dtypes of what a reduction carries along: a value, for argument kinds its index too.
[[nodiscard]] std::vector<DType> accumulator(const Stage& stage, const Reduction& reduction);

}  // namespace reprise::spirv
