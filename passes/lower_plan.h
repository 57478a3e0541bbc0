// The plan around lowered kernels: slots, aliases, launches, donations.
#pragma once

#include <span>
#include <vector>

#include "passes/lower.h"
#include "passes/lower_draft.h"
#include "passes/lower_values.h"

namespace reprise {

/// Drafts in launch order become launches; equal kernels become one.
[[nodiscard]] Lowered build_plan(const Graph& graph, const StoredValues& stored,
                                 std::vector<KernelDraft> drafts);

/// Whether the kernel may write `output` over `input`: it reads each element, nowhere else, before
/// it writes the same one.
[[nodiscard]] bool may_donate(const Kernel& kernel, BufferId input, BufferId output);
/// Outputs that may take over an input's storage, at most one for each input and output.
[[nodiscard]] std::vector<Donation> find_donations(const Plan& plan,
                                                   std::span<const Kernel> kernels);

}  // namespace reprise
