// Passes over a graph, in the order the pipeline runs them. Each is one file of the same name.
#pragma once

#include "ir/builder.h"
#include "ir/graph.h"
#include "passes/fusion.h"

namespace reprise {

// First, in ir/graph.h because the interpreter needs it too: expand.

/// Complex numbers and integers as their parts, which the passes after this one see alone; see
/// ir/graph.h. Outputs that are views of an input, or of another output, stay views.
[[nodiscard]] Graph split_pairs(const Graph& graph);

/// Drops nodes no output needs; parameters and inputs keep their indices.
[[nodiscard]] Graph dce(const Graph& graph);
/// Merges equal nodes (op, type, operands, attributes). Random bits with the same operands merge
/// too.
[[nodiscard]] Graph cse(const Graph& graph);
/// One order for graphs that differ only in recording order of independent nodes, commutative
/// operands sorted (the bits cannot change: all NaNs are equal), nested movement merged (reshape of
/// reshape, permute of permute, identity movement dropped, broadcast of broadcast), constants that
/// mean the same made equal.
[[nodiscard]] Graph canonicalize(const Graph& graph);
/// Strict rewrites: exact ones only (see docs/SEMANTICS.md). Integer and bool constant folding,
/// cast to the same dtype, where with equal branches, double negation, x*1 and x/1 for constants
/// (never for parameters), sums over axes of extent 1, reductions of constants that are exact.
[[nodiscard]] Graph simplify(const Graph& graph);
/// Gives values that are far larger than what they are made of to one kind of reader each: who
/// reduces them along another axis, or later, gets values of its own, made by the same ops.
[[nodiscard]] Graph recompute(const Graph& graph);

/// Reverse mode. Gradients of `y` with cotangent `seed` (of y's type) with respect to `xs`,
/// recorded through `builder` in ordinary ops. Zeros where y does not depend on an x. Values are
/// visited without recursion; nothing is recorded for values no x depends on.
[[nodiscard]] std::vector<Value> gradient(Builder& builder, Value y, Value seed,
                                          std::span<const Value> xs);

/// Elementwise and movement into their consumers (recomputed below a stated cost, else stored
/// once), producers into reductions, elementwise consumers into an anchor's epilogue, also behind a
/// view of its result, sibling elementwise stores of one shape into one kernel. A kernel stops
/// growing at kMaxFusedOps.
[[nodiscard]] Fusion fuse(const Graph& graph);
inline constexpr int kMaxFusedOps = 512;
/// The predicate both modes share: may `consumer` join the kernel that computes `producer`?
[[nodiscard]] bool can_join(const Graph& graph, NodeId producer, NodeId consumer);

}  // namespace reprise
