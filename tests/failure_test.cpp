// What an error, another thread or an earlier computation must not do to tensors.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "expect_tensor.h"

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

// Computing one of two values must not give away what the other one is still to be made of.
TEST(Threads, ValuesOfAThreadThatEnded) {
  const std::vector<float> numbers = {1, 2, 3, 4};
  const uint64_t before = Runtime::get().stats().live_nodes;
  {
    Tensor doubled, next, dropped;
    std::thread([&] {
      const Tensor shared = square(Tensor::of(numbers));
      doubled = shared * 2.f;
      next = shared + 1.f;
      dropped = shared - 1.f;
    }).join();
    dropped = {};
    EXPECT_EQ(doubled.to_vector<float>(), (std::vector<float>{2, 8, 18, 32}));
    EXPECT_EQ(next.to_vector<float>(), (std::vector<float>{2, 5, 10, 17}));
    EXPECT_EQ(Runtime::get().stats().live_nodes, before + 2) << "no more than the two";
  }
  EXPECT_EQ(Runtime::get().stats().live_nodes, before);
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
  EXPECT_EQ(w.to_vector<float>(), std::vector<float>(6, 0.5f));
  EXPECT_EQ(before.to_vector<float>(), std::vector<float>(6, 0.5f));
  EXPECT_EQ((ones({1}) + 1.f).to_vector<float>()[0], 2.f);
}

// One bad batch in the middle must not lose a network, nor what its optimizer remembers of it.
/// Who reads a tensor that needs the index is told, whatever else was read before.
TEST(Failure, AnUnrelatedReadDoesNotSwallowABadIndex) {
  const Tensor table = Tensor::of({1.f, 2.f, 3.f});
  const Tensor bad = Tensor::of({int64_t{7}});
  const Tensor p = Tensor::of({1.f});
  const Tensor q = Tensor::of({5.f});
  p.assign_(p + gather(table, bad));
  expect_values(q + 1, std::vector<float>{6});
  expect_error<IndexError>([&] { return p.to_vector<float>(); }, {"7", "3"});
  expect_values(p, std::vector<float>{1});
}

/// What eager mode cannot compute together with a bad index waits for its reader.
TEST(Failure, AnUnreadBadIndexStopsNothingElse) {
  const Tensor table = Tensor::of({1.f, 2.f, 3.f});
  const Tensor picked = gather(table, Tensor::of({int64_t{7}}));
  Tensor y = Tensor::of({0.f});
  for (int i = 0; i < 10000; ++i) y = y + 1;
  expect_values(y, std::vector<float>{10000});
  expect_error<IndexError>([&] { return picked.to_vector<float>(); }, {"7", "3"});
}

TEST(Failure, TrainingGoesOnAfterABadLabel) {
  const auto train = [](bool with_bad_batch) {
    const Tensor w = full({2, 3}, 0.5f).realize();
    const std::vector<Tensor> parameters = {w};
    optim::Sgd optimizer(parameters, {.lr = 0.1, .momentum = 0.9});
    for (int step = 0; step < 6; ++step) {
      const bool bad = with_bad_batch && step == 3;
      if (step == 3 && !bad) continue;
      const Tensor labels = Tensor::of({0, bad ? -1 : 2});
      const Tape tape;
      const Tensor loss = cross_entropy(w * (1.f + float(step)), labels);
      optimizer.step(tape.gradient(loss, parameters));
      if (bad) {
        EXPECT_THROW(tape.realize(loss), IndexError);
      } else {
        tape.realize(loss);
      }
    }
    return w.to_vector<float>();
  };
  EXPECT_EQ(train(true), train(false));
}

TEST(Failure, TheReadThatFindsABadIndexIsToldOnce) {
  const Tensor w = ones({2}).realize();
  w.assign_(gather(w, Tensor::of({0, 5})));
  EXPECT_THROW((void)w.to_vector<float>(), IndexError);
  EXPECT_EQ(w.to_vector<float>(), (std::vector<float>{1.f, 1.f}));
  w.assign_(w + 1.f);
  EXPECT_EQ(w.to_vector<float>(), (std::vector<float>{2.f, 2.f}));
}

// Of several assigns none may be left half done; copies share the binding, values do not.
TEST(Failure, AssignsInARowGoBackToTheLastComputedValue) {
  const Tensor w = ones({2}).realize();
  const Tensor copy = w;
  const Tensor good = zeros({2}).realize();
  Tensor recorded, bad_value;
  {
    const Tape tape;
    recorded = w + 1.f;
    w.assign_(w * 3.f);
    w.assign_(gather(w, Tensor::of({1, -3})));
    bad_value = w.value();
    w.assign_(w + 1.f);
    good.assign_(good + 4.f);
    EXPECT_THROW(tape.realize(w), IndexError);
  }
  EXPECT_EQ(w.to_vector<float>(), (std::vector<float>{1.f, 1.f}));
  EXPECT_EQ(copy.to_vector<float>(), (std::vector<float>{1.f, 1.f}));
  EXPECT_EQ(recorded.to_vector<float>(), (std::vector<float>{2.f, 2.f}));
  EXPECT_EQ(good.to_vector<float>(), (std::vector<float>{4.f, 4.f}));
  EXPECT_THROW((void)bad_value.to_vector<float>(), IndexError);
}

// What a tensor would go back to lives no longer than the assign is pending.
TEST(Failure, OldValuesAreNotKept) {
  const Tensor w = ones({1000}).realize();
  w.assign_(w + 1.f);
  (void)w.realize();
  const uint64_t bytes = Runtime::get().stats().live_bytes;
  const uint64_t nodes = Runtime::get().stats().live_nodes;
  for (int i = 0; i < 10; ++i) {
    const Tape tape;
    w.assign_(full({1000}, float(i)));
    w.assign_(w + gather(w, Tensor::of({3})));
    tape.realize(w);
  }
  EXPECT_EQ(Runtime::get().stats().live_bytes, bytes);
  EXPECT_EQ(Runtime::get().stats().live_nodes, nodes);
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
