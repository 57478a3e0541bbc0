// Checking of attributes against an op's schema.
#include "ir/attrs.h"

#include "ir/shape.h"

namespace reprise {

bool matches_schema(const Attrs& attrs, std::span<const AttrDef> schema) {
  std::span<const int64_t> rest = attrs.words();
  for (const AttrDef& def : schema) {
    if (rest.empty()) return false;
    const int64_t word = rest.front();
    rest = rest.subspan(1);
    switch (def.kind) {
      case AttrKind::Int:
      case AttrKind::Float:
        break;
      case AttrKind::Type:
        if (word < 0 || word >= kNumDTypes) return false;
        break;
      case AttrKind::Ints:
        if (word < 0 || word > static_cast<int64_t>(rest.size())) return false;
        rest = rest.subspan(static_cast<size_t>(word));
        break;
      case AttrKind::Axes:
        if (word < 0 || word >= int64_t{1} << kMaxDims) return false;
        break;
    }
  }
  return rest.empty();
}

}  // namespace reprise
