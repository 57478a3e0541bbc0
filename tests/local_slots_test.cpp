// Locals of a part share memory where one is no longer needed when the next one is made.
#include "codegen/local_slots.h"

#include <gtest/gtest.h>

#include "ir/error.h"
#include "tests/compiled_kernel.h"

namespace reprise {
namespace {

/// Two locals after another, the second made from the first as `body` says, then added up.
std::string text_of(const std::string& body) {
  return str(R"(kernel {
    input b0: f32[48]
    output b1: f32[2]
    local b2: f32[24]
    local b3: f32[24]
    phase { part grid [2] {
      loop parallel [4, 6] reduce [] {
        %0 = load b0[g0*24 + i0*6 + i1] : f32
        store b2[i0*6 + i1], %0
      }
      loop parallel [4, 6] reduce [] {
        )",
             body, R"(
      }
      loop parallel [] reduce [24] {
        %0 = load b3[r0] : f32
        reduce sum %0 : f32
      } post {
        %0 = reduced 0 : f32
        store b1[g0], %0
      }
    } }
  })");
}

bool share(const std::string& text) {
  const Kernel kernel = parse_kernel(text);
  const codegen::LocalSlots slots = codegen::place_locals(kernel, kernel.phases[0].parts[0]);
  EXPECT_EQ(slots.slot[0], -1);
  expect_compiled_like_interpreted(text);
  return slots.slot[2] == slots.slot[3];
}

TEST(LocalSlots, AValueTakesThePlaceOfTheOneItIsMadeOf) {
  EXPECT_TRUE(
      share(text_of("%0 = load b2[i0*6 + i1] : f32\n%1 = mul %0, %0 : f32\n"
                    "store b3[i0*6 + i1], %1")));
}

TEST(LocalSlots, NotWhereAnotherElementIsRead) {
  EXPECT_FALSE(share(text_of("%0 = load b2[i0*6 + i1*-1 + 5] : f32\nstore b3[i0*6 + i1], %0")));
  EXPECT_FALSE(
      share(text_of("%0 = load b2[i0*6 + i1] : f32\n%1 = load b2[i0*6] : f32\n"
                    "%2 = add %0, %1 : f32\nstore b3[i0*6 + i1], %2")));
}

TEST(LocalSlots, NotWhereItIsReadAfterTheStore) {
  EXPECT_FALSE(
      share(text_of("%0 = load b0[g0*24 + i0*6 + i1] : f32\nstore b3[i0*6 + i1], %0\n"
                    "%2 = load b2[i0*6 + i1] : f32\nstore b2[i0*6 + i1], %2")));
}

TEST(LocalSlots, AProductMayReplaceWhatItsEpilogueReads) {
  const std::string text = R"(kernel {
    input b0: f32[48]
    input b1: f32[60]
    output b2: f32[80]
    local b3: f32[40]
    local b4: f32[40]
    phase { part grid [2] {
      loop parallel [4, 10] reduce [] {
        %0 = load b1[i0*10 + i1] : f32
        store b3[i0*10 + i1], %0
      }
      contraction parallel [4, 10] reduce [6] {
        %0 = load b0[g0*24 + i0*6 + r0] : f32
        %1 = load b1[r0*10 + i1] : f32
        reduce dot %0, %1 : f32
      } post {
        %0 = reduced 0 : f32
        %1 = load b3[i0*10 + i1] : f32
        %2 = mul %0, %1 : f32
        store b4[i0*10 + i1], %2
      }
      loop parallel [4, 10] reduce [] {
        %0 = load b4[i0*10 + i1] : f32
        store b2[g0*40 + i0*10 + i1], %0
      }
    } }
  })";
  const Kernel kernel = parse_kernel(text);
  const codegen::LocalSlots slots = codegen::place_locals(kernel, kernel.phases[0].parts[0]);
  EXPECT_EQ(slots.slot[3], slots.slot[4]);
  EXPECT_EQ(slots.bytes.size(), 1);
  expect_compiled_like_interpreted(text);
}

}  // namespace
}  // namespace reprise
