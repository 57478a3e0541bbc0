// Writes every stage of every compilation as numbered text files: REPRISE_DUMP=DIR.
#pragma once

#include "compiler/pipeline.h"

namespace reprise {

/// For one compilation: files DIR/<compilation>-<step>-<stage>.txt. Null when REPRISE_DUMP is
/// unset. A directory that cannot be written is reported once on stderr and then left alone.
[[nodiscard]] StageObserver dump_observer();

}  // namespace reprise
