// Folds over the same loops become one stage, which passes over its data once.
#pragma once

#include "ir/kernel.h"

namespace reprise {

/// Merges fold stages of the part that share a buffer they read and do not wait for each other.
void merge_sibling_folds(Part& part);

}  // namespace reprise
