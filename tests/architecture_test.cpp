// docs/ARCHITECTURE.md shows what really happens: its dumps are compared with fresh ones.
//
// REPRISE_BLESS=1 writes the fresh ones into the page.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "compiler/pipeline.h"
#include "frontend/reprise.h"

namespace reprise {
namespace {

const char* const kPage = REPRISE_SOURCE_DIR "/docs/ARCHITECTURE.md";

/// The machine the page is written for; the dumps do not depend on the one that runs the test.
TargetInfo page_target() {
  TargetInfo target;
  target.triple = "x86_64-unknown-linux-gnu";
  target.features = "+avx,+avx2,+f16c,+fma,+sse4.2";
  target.vector_bytes = 32;
  return target;
}

/// Every stage of the page's example by name.
std::map<std::string, std::string, std::less<>> stages() {
  set_seed(1);
  const nn::Linear net(4, 3);
  const Tensor x = zeros({2, 4});
  const Tensor y = zeros({2}, DType::I64);
  Tape tape;
  const Tensor loss = cross_entropy(net(x), y);
  const TensorId ids[] = {loss.id()};
  std::map<std::string, std::string, std::less<>> result;
  // Weights and inputs are stored values by the time a step runs.
  tape.realize(x, y, net.weight, net.bias);
  const CompiledGraph compiled = compile(
      parse_graph(Runtime::get().dump_graph(ids)), page_target(), {},
      [&](std::string_view stage, std::string_view text) { result[std::string(stage)] = text; });
  for (size_t i = 0; i < compiled.kernels.size(); ++i) {
    llvm_backend().generate(compiled.kernels[i], compiled.schedules[i], page_target(),
                            [&](std::string_view what, std::string_view text) {
                              result[str("kernel", i, ".", what)] = text;
                            });
  }
  return result;
}

/// Blocks open with "```text NAME" and close with "```".
TEST(Architecture, ThePageShowsTheRealDumps) {
  const auto fresh = stages();
  std::ifstream in(kPage);
  ASSERT_TRUE(in) << "cannot read " << kPage;
  std::string line, written, block, name;
  bool inside = false;
  int blocks = 0;
  const std::string open = "```text ";
  while (std::getline(in, line)) {
    if (!inside && line.starts_with(open)) {
      inside = true;
      ++blocks;
      name = line.substr(open.size());
      block.clear();
      written += line + '\n';
      continue;
    }
    if (inside && line == "```") {
      inside = false;
      const auto it = fresh.find(name);
      ASSERT_NE(it, fresh.end()) << "the page shows a stage that does not exist: " << name;
      std::string expected = it->second;
      if (!expected.ends_with('\n')) expected += '\n';
      if (!std::getenv("REPRISE_BLESS")) {
        EXPECT_EQ(block, expected) << "stage " << name;
      }
      written += expected;
    }
    if (inside) {
      block += line + '\n';
    } else {
      written += line + '\n';
    }
  }
  EXPECT_GE(blocks, 6) << "the page walks through every level";
  if (std::getenv("REPRISE_BLESS")) std::ofstream(kPage) << written;
}

}  // namespace
}  // namespace reprise
