// What a Vulkan device may do to a program: be lost, refuse code. Skipped where there is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/reprise.h"
#include "runtime/execute.h"
#include "runtime/launch_times.h"
#include "runtime/plan_entry.h"
#include "runtime/vulkan_devices.h"
#include "tests/vulkan_device.h"

namespace reprise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class VulkanFailure : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    vulkan_ = test_vulkan_device(&why);
    if (vulkan_ == nullptr) GTEST_SKIP() << why;
  }
  template <class Call>
  static std::string message(const Call& call) {
    try {
      call();
    } catch (const DeviceError& error) {
      return error.what();
    }
    return "no DeviceError";
  }
  Device* vulkan_ = nullptr;
};

// From then on its values are gone, and everything else is there.
TEST_F(VulkanFailure, ALostDeviceSaysSoAndTheRestGoesOn) {
  Device& device = open_another(*vulkan_, {.submissions = 2});
  const Tensor here = Tensor::of({1.f, 2.f});
  const Tensor a = here.to(device), b = here.to(device);
  const Tensor w = here.value();
  EXPECT_THAT((a + b).to_vector<float>(), ElementsAre(2, 4));
  EXPECT_THAT((a * 3).to_vector<float>(), ElementsAre(3, 6));
  const Tensor late = a * 5;
  EXPECT_THAT(message([&] { static_cast<void>(late.to_vector<float>()); }), HasSubstr("is lost"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(message([&] { static_cast<void>(late.to_vector<float>()); }),
                HasSubstr(str(device.name(), " (")));
    EXPECT_THAT(message([&] { static_cast<void>((b - 1).to_vector<float>()); }),
                HasSubstr("is lost"));
  }
  {  // A step over both is as if it had not been, on the device that is there.
    const Tape tape;
    w.assign_(w + sum(a * 2).to("cpu"));
    EXPECT_THAT(message([&] { tape.realize(); }), HasSubstr("is lost"));
  }
  EXPECT_THAT(w.to_vector<float>(), ElementsAre(1, 2));
  // An assign that is still pending stands in nobody else's way.
  const Tensor lost = a.value();
  lost.assign_(a * 4);
  EXPECT_THAT(here.to_vector<float>(), ElementsAre(1, 2));
  EXPECT_THAT((here * 2).to_vector<float>(), ElementsAre(2, 4));
  // Another device on the same hardware is another one.
  EXPECT_THAT((here.to(*vulkan_) * 2).to_vector<float>(), ElementsAre(2, 4));
}

// The CPU's part of a step may have run: what it would have replaced is still there, and what needs
// no other device is computed from it when somebody asks.
TEST_F(VulkanFailure, ALossInTheMiddleOfAStepLeavesTheOtherDeviceAsItWas) {
  Device& device = open_another(*vulkan_, {.submissions = 1});
  const Tensor w = Tensor::of(std::vector<float>(1000, 1)) * 1;
  w.realize();
  const Tensor v = w.to(device);
  EXPECT_EQ((v * 2).at({3}).item<float>(), 2);
  Tape tape;
  const Tensor next = w * 2;
  const Tensor told = sum(next.to(device) * v);
  w.assign_(next);
  EXPECT_THAT(message([&] { tape.realize(told); }), HasSubstr("is lost"));
  EXPECT_EQ(w.at({3}).item<float>(), 2);
  const Tensor x = Tensor::of({1.f});
  EXPECT_EQ((x + 1).item<float>(), 2);
}

TEST_F(VulkanFailure, APipelineThatIsRefusedIsAnError) {
  Device& device = open_another(*vulkan_, {.refuses_pipelines = true});
  const Tensor x = Tensor::of({1.f, 2.f});
  const Tensor there = x.to(device);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(message([&] { static_cast<void>((there + 1).to_vector<float>()); }),
                HasSubstr("vkCreateComputePipelines"));
  }
  EXPECT_THAT(there.to_vector<float>(), ElementsAre(1, 2));  // copying needs no pipeline
  EXPECT_THAT((x + 1).to_vector<float>(), ElementsAre(2, 3));
  EXPECT_THAT((x.to(*vulkan_) + 1).to_vector<float>(), ElementsAre(2, 3));
}

// Each launch by the device's own clock.
TEST_F(VulkanFailure, LaunchesAreTimedOneByOne) {
  const Graph graph = parse_graph(R"(graph {
    %0 = input {index=0, strides=[]} : f32[128,128]
    %1 = matmul %0, %0 : f32[128,128]
    %2 = matmul %1, %0 : f32[128,128]
    return %2
  })");
  const auto plan = Runtime::get().load_plan(graph, *vulkan_);
  const std::vector<float> ones(128 * 128, 1);
  const StoredValue value{contiguous_byte_strides(graph[NodeId{0}].type), 0,
                          upload(*vulkan_, ones.data(), ones.size() * sizeof(float))};
  LaunchTimes times(plan->plan);
  Execution run;
  for (int i = 0; i < 3; ++i) {
    run.clear(*plan);
    run.inputs.push_back({&value, 0});
    run.times = &times;
    execute(*plan, run);
  }
  EXPECT_THAT(times.table(), HasSubstr(str(plan->plan.launches.size(), " launches")));
  EXPECT_THAT(times.table(), HasSubstr("in each of 3 runs"));
  float first = 0;
  vulkan_->download(&first, run.results[0].storage->data(), sizeof first);
  EXPECT_EQ(first, 128 * 128);
}

}  // namespace
}  // namespace reprise
