// No function of floats is further from the truth than docs/ACCURACY.md says, on a sample of the
// arguments that were tried for that page; and vector code gives the bits of scalar code.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "accuracy/table.h"
#include "ir/error.h"
#include "runtime/cpu/target.h"

namespace reprise {
namespace {

std::vector<PromisedRow> promised() {
  std::ifstream file(REPRISE_SOURCE_DIR "/docs/ACCURACY.md");
  std::ostringstream text;
  text << file.rdbuf();
  return parse_accuracy(text.str());
}

class AccuracyOf : public testing::TestWithParam<DType> {};

TEST_P(AccuracyOf, EveryFunctionIsWithinItsPromise) {
  // Sparser than the page's by whole factors: what it tried, a part of it.
  const ArgumentChoice page;
  const ArgumentChoice choice{page.stride * 64, page.per_binade / 200, page.pairs / 200};
  std::vector<TargetInfo> targets = {cpu_target(CpuLevel::Sse2)};
  if (detected_cpu_level() >= CpuLevel::Avx2) targets.push_back(cpu_target(CpuLevel::Avx2));
  if (detected_cpu_level() >= CpuLevel::Avx512) targets.push_back(cpu_target(CpuLevel::Avx512));
  const std::vector<PromisedRow> rows = promised();
  for (const TrueFunction& function : true_functions()) {
    const auto row = std::ranges::find_if(
        rows, [&](const PromisedRow& r) { return r.op == function.name && r.dtype == GetParam(); });
    ASSERT_NE(row, rows.end()) << function.name << " is not in docs/ACCURACY.md";
    const std::vector<Accuracy> found = measure(function, GetParam(), targets, choice);
    for (size_t t = 0; t < targets.size(); ++t) {
      SCOPED_TRACE(str(function.name, " of ", GetParam(), " for ", targets[t].features));
      EXPECT_LE(found[t].most, targets[t].numerics.fma ? row->fused : row->unfused)
          << "at " << found[t].at << ' ' << found[t].at2;
      EXPECT_EQ(found[t].differing, 0) << "scalar code gives other bits than vector code";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Accuracy, AccuracyOf,
                         testing::Values(DType::F32, DType::F64, DType::F16, DType::BF16),
                         [](const auto& info) { return str(info.param); });

TEST(AccuracyPage, IsReadBackAsItIsWritten) {
  const std::vector<MeasuredRow> rows = {
      {"exp", DType::F32, 1, {.most = 0.8361, .at = 26.7}, {.most = 1.25}},
      {"pow", DType::F64, 2, {.most = 0.5}, {.most = 984.2, .at = 3, .at2 = -2.5}}};
  const std::vector<PromisedRow> read = parse_accuracy(render(rows, {}));
  ASSERT_EQ(read.size(), 2);
  EXPECT_EQ(read[0].op, "exp");
  EXPECT_EQ(read[0].dtype, DType::F32);
  EXPECT_EQ(read[0].fused, 0.837);  // rounded up
  EXPECT_EQ(read[0].unfused, 1.25);
  EXPECT_EQ(read[1].op, "pow");
  EXPECT_EQ(read[1].dtype, DType::F64);
  EXPECT_EQ(read[1].unfused, 984.2);
  EXPECT_THROW(parse_accuracy("## f32\n| `exp` | 1 |\n"), Error);
}

}  // namespace
}  // namespace reprise
