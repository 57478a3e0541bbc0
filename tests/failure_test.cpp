// What an error, another thread or an earlier computation must not do to tensors.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "frontend/reprise.h"

namespace reprise {
namespace {

// The reader's operand may be a value whose old storage is being given away at that moment.
TEST(Threads, ReadingWhileAnotherThreadAssigns) {
  Tensor w = full({1000}, 0.f).realize();
  std::atomic<bool> done{false};
  std::thread reader([&] {
    float last = 0;
    while (!done) {
      const std::vector<float> values = (w + 0.f).to_vector<float>();
      for (const float value : values) ASSERT_EQ(value, values[0]) << "torn";
      ASSERT_GE(values[0], last) << "went backwards";
      last = values[0];
    }
  });
  for (int i = 0; i < 2000; ++i) {
    const Tape tape;
    w.assign_(w + 1.f);
    tape.realize(w);
  }
  done = true;
  reader.join();
  EXPECT_EQ(w.to_vector<float>()[0], 2000.f);
}

TEST(Failure, AnIndexOutOfRangeReachesWhateverIsMadeOfIt) {
  const Tensor picked = gather(ones({3}), Tensor::of({7}));
  EXPECT_THROW((void)picked.to_vector<float>(), IndexError);
  EXPECT_THROW((void)(picked + 1.f).to_vector<float>(), IndexError);
  EXPECT_THROW((void)picked.reshape({1, 1}).to_vector<float>(), IndexError);
  EXPECT_THROW((void)picked.to_vector<float>(), IndexError);
}

TEST(Failure, AnIndexOutOfRangeLeavesOtherTensorsAlone) {
  Tensor u = ones({1}).realize();
  const Tensor kept = u.value();
  {
    const Tape tape;
    u.assign_(u + 1.f);
    const Tensor picked = gather(ones({3}), Tensor::of({7}));
    EXPECT_THROW(tape.realize(picked), IndexError);
  }
  EXPECT_EQ(u.to_vector<float>()[0], 2.f);
  EXPECT_EQ(kept.to_vector<float>()[0], 1.f);
}

// The step is never computed with a clamped label, and the old value is still there.
TEST(Failure, ABadLabelUpdatesNothing) {
  Tensor w = full({2, 3}, 0.5f).realize();
  const Tensor before = w.value();
  const Tensor labels = Tensor::of({0, 3});  // there is no class 3
  {
    const Tape tape;
    const Tensor loss = cross_entropy(w, labels);
    w.assign_(w - 0.1f * tape.gradient(loss, w));
    EXPECT_THROW(tape.realize(loss), IndexError);
  }
  EXPECT_THROW((void)w.to_vector<float>(), IndexError);
  EXPECT_EQ(before.to_vector<float>(), std::vector<float>(6, 0.5f));
  EXPECT_EQ((ones({1}) + 1.f).to_vector<float>()[0], 2.f);
}

TEST(Tape, SeveralStepsInOneTape) {
  Tensor w = Tensor::of({1.f});
  optim::Sgd optimizer({w}, {.lr = 0.1});
  const Tape tape;
  for (int i = 0; i < 2; ++i) optimizer.step({tape.gradient(w * w, w)});
  EXPECT_NEAR(w.item<float>(), 0.64f, 1e-6f);
  // But not through a value that was read before the assign.
  const Tensor y = w * w;
  w.assign_(w + 1.f);
  EXPECT_THROW((void)tape.gradient(y, w), Error);
}

TEST(Tape, TheGradientOfAForgottenValueIsAnError) {
  const Tensor x = Tensor::of({2.f});
  const Tensor y = (x * x).realize();
  const Tape tape;
  EXPECT_THROW((void)tape.gradient(y, x), Error);
}

// Tapes that record and drop leave nothing that the next realize would have to walk.
TEST(Tape, DroppedOpsDoNotPileUp) {
  const Tensor x = Tensor::of({2.f});
  for (int i = 0; i < 1000; ++i) {
    const Tape tape;
    for (int k = 0; k < 100; ++k) (void)(x * x);
  }
  EXPECT_LT(Runtime::get().stats().pending_ops, 1000u);
}

TEST(Means, OfLargeIntegersDoNotWrap) {
  const int64_t large = INT64_MAX;
  EXPECT_FLOAT_EQ(mean(Tensor::of({large, large})).item<float>(), 9.2233720e18f);
}

}  // namespace
}  // namespace reprise
