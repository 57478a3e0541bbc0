// Transfers inside a tape: recorded, differentiated, realized, replayed. Skipped where there is no
// Vulkan device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "frontend/reprise.h"
#include "runtime/check.h"
#include "runtime/vulkan_devices.h"
#include "tests/vulkan_device.h"

namespace reprise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Transfers : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    vulkan_ = test_vulkan_device(&why);
    if (vulkan_ == nullptr) GTEST_SKIP() << why;
  }
  Device* vulkan_ = nullptr;
};

/// The same hardware as one more device.
Device& second(Device& vulkan) {
  static Device& made = open_another(vulkan, {});
  return made;
}

TEST_F(Transfers, AreRecordedInsideATape) {
  const Tensor x = Tensor::of({1.f, 2.f});
  const Tape tape;
  Runtime::get().reset_stats();
  const Tensor y = (x * 2).to(*vulkan_);
  const Tensor z = (y + 1).to("cpu") * x;
  EXPECT_EQ(Runtime::get().stats().launches, 0u);
  EXPECT_EQ(&y.device(), vulkan_);
  EXPECT_EQ(&z.device(), &cpu_device());
  EXPECT_THAT(z.to_vector<float>(), ElementsAre(3, 10));
  EXPECT_EQ(Runtime::get().stats().realizes, 1u);  // one plan
  EXPECT_TRUE(Runtime::get().is_realized(y.id()));
  EXPECT_THAT(y.to_vector<float>(), ElementsAre(2, 4));
}

TEST_F(Transfers, OperandsOnTwoDevicesStayAnError) {
  const Tensor x = Tensor::of({1.f, 2.f});
  const Tape tape;
  const Tensor y = x.to(*vulkan_);
  try {
    static_cast<void>(x + y);
    FAIL() << "the operands are on two devices";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr(str("to(\"", vulkan_->name(), "\")")));
  }
  EXPECT_THAT((x + y.to("cpu")).to_vector<float>(), ElementsAre(2, 4));
}

TEST_F(Transfers, GradientsPassBack) {
  const Tensor w = Tensor::of({1.f, -2.f, 3.f});
  const Tensor x = Tensor::of({4.f, 5.f, 6.f}).to(*vulkan_);
  Tape tape;
  const Tensor there = w.to(*vulkan_);
  const Tensor loss = sum(there * there * x);
  const auto gradients = tape.gradient(loss, {w, x});
  EXPECT_EQ(&gradients[0].device(), &cpu_device());
  EXPECT_EQ(&gradients[1].device(), vulkan_);
  tape.realize(loss);
  EXPECT_THAT(gradients[0].to_vector<float>(), ElementsAre(8, -20, 36));
  EXPECT_THAT(gradients[1].to_vector<float>(), ElementsAre(1, 4, 9));
  EXPECT_EQ(loss.item<float>(), 4 + 20 + 54);
  // And once more: a gradient of a gradient.
  const Tensor second = tape.gradient(sum(gradients[0] * gradients[0]), w);
  EXPECT_THAT(second.to_vector<float>(), ElementsAre(2 * 8 * 8, 2 * -20 * 10, 2 * 36 * 12));
}

// The parameters live on one device, the work is done on the other; a step comes round again from
// the cache, and its values are those of a step that stays where it is.
TEST_F(Transfers, AStepOverTwoDevicesIsCached) {
  const auto train = [&](bool across) {
    const Tensor w = Tensor::of({0.5f, -1.f, 2.f}), v = Tensor::of({1.f, 1.f, 1.f});
    const Tensor moved = v.to(across ? *vulkan_ : cpu_device());
    std::vector<float> losses;
    for (int step = 0; step < 4; ++step) {
      if (step == 2) Runtime::get().reset_stats();
      Tape tape;
      const Tensor x = full({3}, 0.25f + 0.5f * static_cast<float>(step), DType::F32);
      const Tensor h = w * w + x;
      const Tensor g = (across ? h.to(*vulkan_) : h) * moved;
      const Tensor loss = sum(g * g);
      const auto gradients = tape.gradient(loss, {w, moved});
      w.assign_(w - gradients[0] * 0.01f);
      moved.assign_(moved - gradients[1] * 0.01f);
      tape.realize(loss);
      losses.push_back(loss.item<float>());
    }
    if (across) {
      EXPECT_EQ(Runtime::get().stats().plan_misses, 0u);
      EXPECT_EQ(Runtime::get().stats().realizes, 2u);  // nothing is computed twice
    }
    losses.insert(losses.end(), {w.at({0}).item<float>(), moved.at({2}).item<float>()});
    return losses;
  };
  EXPECT_EQ(train(true), train(false));
}

TEST_F(Transfers, AFrozenStepPassesAcross) {
  const Tensor w = Tensor::of({1.f, -2.f}).to(*vulkan_);
  const Tensor x = Tensor::of({3.f, 4.f});
  Frozen step;
  {
    const Tape tape;
    const Tensor loss = sum(w * w * x.to(*vulkan_));
    const Tensor gradient = tape.gradient(loss, w);
    w.assign_(w - gradient * 0.5f);
    const Tensor told = loss.to("cpu") * 2;
    step = tape.freeze({x}, {told, gradient});
  }
  EXPECT_THAT(w.to_vector<float>(), ElementsAre(-2, 6));  // what was recorded, pending until now
  const auto results = step.replay({Tensor::of({1.f, 2.f})});
  EXPECT_EQ(&results[0].device(), &cpu_device());
  EXPECT_EQ(&results[1].device(), vulkan_);
  EXPECT_EQ(results[0].item<float>(), 2 * (4 + 2 * 36));
  EXPECT_THAT(results[1].to_vector<float>(), ElementsAre(-4, 24));
  EXPECT_THAT(w.to_vector<float>(), ElementsAre(0, -6));
  try {
    static_cast<void>(step.replay({Tensor::of({1.f, 2.f}).to(*vulkan_)}));
    FAIL() << "the step reads its input on the CPU";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("to(\"cpu\")"));
  }
  EXPECT_THAT(w.to_vector<float>(), ElementsAre(0, -6));
}

TEST_F(Transfers, ViewsAndReversedDataPass) {
  std::vector<int32_t> numbers(24);
  std::iota(numbers.begin(), numbers.end(), 0);
  const Tensor x = Tensor::of(numbers, {4, 6});
  for (Device* const from : {&cpu_device(), vulkan_}) {
    Device& to = from == vulkan_ ? cpu_device() : *vulkan_;
    const Tensor start = x.to(*from);
    const Tape tape;
    const Tensor view = start.at({Range{3, Range::kOpen, -1}, Range{1, 6, 2}}).transpose();
    EXPECT_EQ((view.to(to) + 1).to_vector<int32_t>(), (view + 1).to_vector<int32_t>());
    const Tensor rows = start.at({Range{1, 3}});
    EXPECT_EQ(rows.to(to).to_vector<int32_t>(), rows.to_vector<int32_t>());
    EXPECT_EQ((rows * 2).transpose().to(to).to_vector<int32_t>(),
              (rows * 2).transpose().to_vector<int32_t>());
  }
}

TEST_F(Transfers, EveryKindOfElementPasses) {
  for (const DType dtype : {DType::Bool, DType::I8, DType::U16, DType::F16, DType::BF16, DType::I64,
                            DType::F64, DType::C64, DType::C128}) {
    const Tensor x = cast(Tensor::of({0.f, 1.f, 2.f, 3.f, 5.f}), dtype);
    const Tape tape;
    EXPECT_EQ(to_string((x + x).to(*vulkan_).to("cpu")), to_string(x + x)) << name(dtype);
  }
}

// All launches up to an index out of range may have run: what the step would have replaced is there
// as it was, on every device.
TEST_F(Transfers, AnIndexOutOfRangeTakesAllOfAStepBack) {
  const Tensor here = Tensor::of({10.f, 20.f, 30.f});
  const Tensor there = here.to(*vulkan_) * 1;
  const Tensor a = here.value(), b = there.value();
  {
    const Tape tape;
    const Tensor bad = take(b, Tensor::of({2, 3}).to(*vulkan_), 0);
    a.assign_(a + sum(bad).to("cpu"));
    b.assign_(b + sum(bad));
    EXPECT_THROW(tape.realize(), IndexError);
  }
  EXPECT_THAT(a.to_vector<float>(), ElementsAre(10, 20, 30));
  EXPECT_THAT(b.to_vector<float>(), ElementsAre(10, 20, 30));
}

TEST_F(Transfers, WhatATapeLeavesPendingIsComputedLater) {
  Tensor y, z;
  {
    const Tensor x = Tensor::of({1.f, 2.f});
    const Tape tape;
    y = (x * 3).to(*vulkan_) + 1;
    z = y.to("cpu") * 2;
  }
  EXPECT_THAT(z.to_vector<float>(), ElementsAre(8, 14));
  EXPECT_THAT(y.to_vector<float>(), ElementsAre(4, 7));
  std::thread([&] {
    const Tape tape;
    z = (y * 2).to("cpu") + 1;
  }).join();
  EXPECT_THAT(z.to_vector<float>(), ElementsAre(9, 15));  // recorded by a thread that has ended
}

TEST_F(Transfers, AreCheckedOpByOp) {
  set_checking_plans(true);
  const Tensor x = Tensor::of({1.f, 2.f, 3.f});
  {
    Tape tape;
    const Tensor y = exp(x * 2).to(*vulkan_);
    const Tensor z = sum(y * y).to("cpu");
    EXPECT_NO_THROW(tape.realize(tape.gradient(z, x)));
  }
  set_checking_plans(false);
}

// A checkpoint computes anew where it computed first.
TEST_F(Transfers, PassThroughACheckpoint) {
  const Tensor w = Tensor::of({1.f, 2.f});
  const auto gradient = [&](bool marked) {
    Tape tape;
    const auto layer = [&](const Tensor& x) { return exp(x.to(*vulkan_)) * 2; };
    const Tensor y = marked ? checkpoint(layer, w) : layer(w);
    return tape.gradient(sum(y * y), w).to_vector<float>();
  };
  EXPECT_EQ(gradient(true), gradient(false));
}

// Outputs on two devices, one of them of nothing that passed; inputs that lie otherwise.
TEST_F(Transfers, AFrozenStepMayEndOnSeveralDevices) {
  const Tensor a = Tensor::of({1.f, 2.f, 3.f, 4.f}, {2, 2});
  const Tensor b = a.to(*vulkan_);
  Frozen step;
  {
    const Tape tape;
    step = tape.freeze({a, b}, {a * 2, b * 3, a.to(*vulkan_) + b});
  }
  const Tensor c = Tensor::of({5.f, 6.f, 7.f, 8.f}, {2, 2});
  for (const Tensor& x : {c, c.transpose(), flip(c, {0})}) {
    const auto results = step.replay({x, x.to(*vulkan_)});
    EXPECT_EQ(results[0].to_vector<float>(), (x * 2).to_vector<float>());
    EXPECT_EQ(results[1].to_vector<float>(), (x * 3).to_vector<float>());
    EXPECT_EQ(results[2].to_vector<float>(), (x + x).to_vector<float>());
    EXPECT_EQ(&results[0].device(), &cpu_device());
    EXPECT_EQ(&results[1].device(), vulkan_);
  }
}

// What reads no data is read on both devices, computed before or not.
TEST_F(Transfers, ConstantsServeBothDevices) {
  for (const bool computed : {false, true}) {
    const Tensor mask = triu(ones({3, 3}));
    if (computed) mask.realize();
    const Tensor x = Tensor::of(std::vector<float>(9, 2), {3, 3});
    Frozen step;
    {
      const Tape tape;
      const Tensor y = ((x * mask).to(*vulkan_) + mask).to("cpu") * mask;
      step = tape.freeze({x}, {y});
      EXPECT_EQ(y.to_vector<float>(), (mask * 3).to_vector<float>());
    }
    EXPECT_EQ(step.replay({x + 1})[0].to_vector<float>(), (mask * 4).to_vector<float>());
  }
}

// Random numbers do not depend on where they are drawn.
TEST_F(Transfers, RandomNumbersAreTheSameOnBothSides) {
  const auto draw = [&](bool across) {
    set_seed(11);
    const Tensor x = Tensor::of(std::vector<float>(64, 1));
    Tape tape;
    const Tensor noise = uniform({64}, 0, 1);
    const Tensor y = (across ? (x * noise).to(*vulkan_) : x * noise) * noise;
    return tape.gradient(sum(y * y), x).to_vector<float>();
  };
  EXPECT_EQ(draw(true), draw(false));
}

TEST_F(Transfers, ThreadsShareWhatPasses) {
  const Tensor x = Tensor::of(std::vector<float>(100, 1));
  const Tape outer;
  const Tensor there = (x * 2).to(*vulkan_);
  std::vector<std::thread> threads;
  std::vector<float> sums(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const Tape tape;
      Tensor y = there * t;
      for (int i = 0; i < 5; ++i) y = (y.to("cpu") + 1).to(*vulkan_);
      sums[static_cast<size_t>(t)] = sum(y).to("cpu").item<float>();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < 4; ++t) EXPECT_EQ(sums[static_cast<size_t>(t)], 100 * (2 * t + 5));
}

// Two contexts on one piece of hardware are two devices.
TEST_F(Transfers, SeveralDevicesInOneProcess) {
  Device& other = second(*vulkan_);
  EXPECT_EQ(&device(other.name()), &other);
  const Tensor x = Tensor::of({1.f, 2.f});
  const Tensor a = x.to(*vulkan_), b = x.to(other);
  try {
    static_cast<void>(a + b);
    FAIL() << "the operands are on two devices";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr(vulkan_->name()));
    EXPECT_THAT(error.what(), HasSubstr(other.name()));
  }
  EXPECT_THAT((a.to(other) + b).to_vector<float>(), ElementsAre(2, 4));
  Tape tape;
  const Tensor h = exp(a * 0).to(other) * b;  // from one to the other
  const Tensor loss = sum((h * h).to("cpu") * x);
  const auto gradients = tape.gradient(loss, {a, b});
  tape.realize(loss);
  EXPECT_EQ(loss.item<float>(), 1 + 8);
  EXPECT_EQ(&gradients[0].device(), vulkan_);
  EXPECT_EQ(&gradients[1].device(), &other);
  EXPECT_THAT(gradients[0].to_vector<float>(), ElementsAre(0, 0));
  EXPECT_THAT(gradients[1].to_vector<float>(), ElementsAre(2, 8));
}

}  // namespace
}  // namespace reprise
