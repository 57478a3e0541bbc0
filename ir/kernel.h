// One launch: phases of independent parts, each a grid whose points run an ordered list of stages.
//
// A grid point is one logical unit of parallel work (an output element, a row, a batch entry): all
// stages of a part run for it in order. How points are grouped into vectors, tiles and tasks is the
// Schedule's business and never changes a bit. Between two phases lies a launch-wide barrier.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dtype.h"
#include "ir/scalar.h"

namespace reprise {

enum class BufferKind : uint8_t {
  Input,    ///< read only, given at launch
  Output,   ///< written, given at launch; may be read by later phases and stages
  Scratch,  ///< launch-wide, lives across phases; given at launch
  Local,    ///< private to one grid point of one part
};

struct Buffer {
  BufferKind kind = BufferKind::Input;
  DType dtype = DType::F32;
  int64_t extent = 0;  ///< elements; for inputs the span that accesses may touch
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

enum class ReduceKind : uint8_t {
  Sum,
  Prod,
  Min,
  Max,
  ArgMin,
  ArgMax,  ///< i64 linear index over the reduce loops: first NaN, else first extreme
  Dot,     ///< contraction stages: a fused multiply-add chain over k ascending
};

/// Folds values over the reduce loops. Order of a loop stage: element r of the linear index over
/// the reduce loops goes to partial r mod 64 in ascending order; then for h = 32,16,..,1 partial p
/// takes in partial p+h. A partial that received no element is skipped. No element at all: the
/// identity. The combination is `acc op value`, the earlier index on the left.
struct Reduction {
  ReduceKind kind = ReduceKind::Sum;
  DType dtype = DType::F32;  ///< of the accumulator and the result (argument kinds: i64)
  ScalarId value;            ///< in `body`, of dtype `dtype` (argument kinds: any real dtype)
  ScalarId value2;           ///< Dot only: the second factor
  friend bool operator==(const Reduction&, const Reduction&) = default;
};
inline constexpr int kReducePartials = 64;
/// Longest extent of one stage's reduction; longer ones are split into blocks by lowering:
/// consecutive blocks of this many elements, each reduced, then the blocks' results likewise.
inline constexpr int64_t kReduceBlock = 16384;
/// A longer scan is one of each block of so many values, and one of what the blocks before gave.
inline constexpr int64_t kScanBlock = 1024;

enum class StageKind : uint8_t {
  Loop,         ///< elementwise or reduction
  Contraction,  ///< one Dot; no parallel loop occurs in both factors
  Sequence,     ///< stores inside the reduce loops, which run in ascending order
};

/// for parallel loops: { for reduce loops: body; post }. Without reduce loops `post` is empty.
/// `body` sees all variables, `post` only those of the grid and the parallel loops. A sequence has
/// no reductions and no post: each run of its body sees what the runs before it stored.
struct Stage {
  StageKind kind = StageKind::Loop;
  std::vector<int64_t> parallel;  ///< extents, outermost first
  std::vector<int64_t> reduce;
  Body body;
  std::vector<Reduction> reductions;
  Body post;
  friend bool operator==(const Stage&, const Stage&) = default;
};

struct Part {
  std::vector<int64_t> grid;  ///< extents, outermost first; empty: one point
  std::vector<Stage> stages;
  friend bool operator==(const Part&, const Part&) = default;
};

struct Phase {
  std::vector<Part> parts;
  friend bool operator==(const Phase&, const Phase&) = default;
};

struct Kernel {
  std::vector<Buffer> buffers;  ///< launch order: inputs, outputs, scratch; locals last
  std::vector<DType> params;    ///< scalar parameters, 8 bytes each at launch
  std::vector<Phase> phases;
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

/// Textual form; `print(parse(text)) == text`. Grammar: docs/IR.md.
[[nodiscard]] std::string print(const Kernel& kernel);
/// Throws ParseError with line and column.
[[nodiscard]] Kernel parse_kernel(std::string_view text);
/// Throws InternalError naming the rule (K01, K02, ...) and the place.
void verify(const Kernel& kernel);
[[nodiscard]] std::string_view name(BufferKind kind);
[[nodiscard]] std::string_view name(ReduceKind kind);
[[nodiscard]] std::string_view name(StageKind kind);

/// What a launch reports back: the first index found out of range.
struct LaunchStatus {
  int64_t failed = 0;
  int64_t index = 0;
  int64_t extent = 0;
};

struct Numerics;
/// Runs a kernel on host memory, element by element: the reference of every backend.
/// `buffers` in the kernel's order without locals; `params` as raw 8-byte words.
void interpret(const Kernel& kernel, const Numerics& numerics, std::span<void* const> buffers,
               std::span<const uint64_t> params, LaunchStatus* status = nullptr);

}  // namespace reprise
