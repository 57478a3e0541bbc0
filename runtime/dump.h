// Writes every stage of every compilation as numbered text files: REPRISE_DUMP=DIR.
#pragma once

#include <string>

#include "compiler/pipeline.h"

namespace reprise {

/// Where compilations are written from now on; empty: nowhere. REPRISE_DUMP says it until the first
/// call.
void set_dump_directory(std::string directory);
[[nodiscard]] std::string dump_directory();

/// For one compilation: files DIR/<compilation>-<step>-<stage>.txt. Null when there is no dump
/// directory. A directory that cannot be written is reported once on stderr and then left alone.
[[nodiscard]] StageObserver dump_observer();

}  // namespace reprise
