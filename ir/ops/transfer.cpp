// The same elements in the memory of another device.
#include "ir/builder.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

// Numbers of devices, which mean something to whoever runs the graph.
constexpr AttrDef kAttrs[] = {{"from", AttrKind::Int}, {"to", AttrKind::Int}};

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  const Attrs attrs = ctx.attrs();
  ctx.accumulate(0, ctx.builder.record(Op::Transfer, {ctx.cotangent},
                                       Attrs().add_int(attrs.word(1)).add_int(attrs.word(0))));
}

std::vector<Sample> samples() {
  return unary_samples(Fill::Normal, DType::F32, Attrs().add_int(0).add_int(0));
}

}  // namespace

const OpDef& transfer_def() {
  static constexpr OpDef def{
      .name = "transfer",
      .attrs = kAttrs,
      .doc =
          "x itself, in memory of its own on device `to`; x is on device `from`. The gradient is "
          "transferred back. Where both are one device it is a copy.",
      .infer = elementwise<Accepts::Any>,
      .lower = [](ScalarBuilder&, std::span<const ScalarId> x, const OpContext&) { return x[0]; },
      .pairs = OnPairs::EachPart,
      .gradient = gradient,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
