// Every rule of schedules rejects what breaks it, and what is chosen keeps them all.
#include <gtest/gtest.h>

#include "compiler/schedule.h"
#include "ir/error.h"
#include "ir/kernel.h"
#include "ir/schedule.h"

namespace reprise {
namespace {

const char* const kDoubled = R"(kernel {
  input b0: f32[64]
  output b1: f32[64]
  phase {
    part grid [64] {
      loop parallel [] reduce [] {
        %0 = load b0[g0] : f32
        %1 = add %0, %0 : f32
        store b1[g0], %1
      }
    }
  }
}
)";
const char* const kProduct = R"(kernel {
  input b0: f32[64]
  input b1: f32[64]
  output b2: f32[64]
  phase {
    part grid [] {
      contraction parallel [8, 8] reduce [8] {
        %0 = load b0[i0*8 + r0] : f32
        %1 = load b1[i1 + r0*8] : f32
        reduce dot %0, %1 : f32
      } post {
        %0 = reduced 0 : f32
        store b2[i0*8 + i1], %0
      }
    }
  }
}
)";

TargetInfo target() {
  TargetInfo info;
  info.vector_bytes = 32;
  return info;
}

void expect_rejected(const char* kernel_text, const char* rule, void (*spoil)(Schedule&)) {
  const Kernel kernel = parse_kernel(kernel_text);
  Schedule schedule = choose_schedule(kernel, target());
  ASSERT_NO_THROW(verify(schedule, kernel));
  spoil(schedule);
  try {
    verify(schedule, kernel);
    ADD_FAILURE() << rule << " was not applied";
  } catch (const InternalError& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, 3), rule) << error.what();
  }
}

TEST(ScheduleRules, RejectWhatBreaksThem) {
  using S = Schedule&;
  expect_rejected(kDoubled, "S01", [](S s) { s.phases.emplace_back(); });
  expect_rejected(kDoubled, "S01", [](S s) { s.phases[0].emplace_back(); });
  expect_rejected(kDoubled, "S02", [](S s) { s.phases[0][0].vector_lanes = 3; });
  expect_rejected(kDoubled, "S02", [](S s) { s.phases[0][0].vector_lanes = 0; });
  expect_rejected(kDoubled, "S03", [](S s) {
    s.phases[0][0].vector_axis = VectorAxis::None;
    s.phases[0][0].vector_lanes = 8;
  });
  expect_rejected(kProduct, "S04", [](S s) { s.phases[0][0].vector_axis = VectorAxis::Grid; });
  expect_rejected(kDoubled, "S05", [](S s) { s.phases[0][0].unroll = 0; });
  expect_rejected(kDoubled, "S06", [](S s) { s.phases[0][0].task_points = 0; });
  expect_rejected(kProduct, "S07", [](S s) { s.phases[0][0].contractions[0].kc = -1; });
  expect_rejected(kProduct, "S07", [](S s) { s.phases[0][0].contractions[0].mr = 0; });
  expect_rejected(kProduct, "S08", [](S s) { s.phases[0][0].contractions.clear(); });
  expect_rejected(kDoubled, "S08", [](S s) { s.phases[0][0].contractions.emplace_back(); });
  expect_rejected(kProduct, "S09", [](S s) { s.phases[0][0].contractions[0].sweep = 0; });
  expect_rejected(kProduct, "S10", [](S s) { s.phases[0][0].contractions[0].ahead = -1; });
}

}  // namespace
}  // namespace reprise
