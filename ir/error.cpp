// Where a failed internal assertion ends.
#include "ir/error.h"

namespace reprise {

void fail_assertion(const char* condition, const char* file, int line) {
  throw InternalError(str("internal error: ", condition, " does not hold at ", file, ":", line));
}

}  // namespace reprise
