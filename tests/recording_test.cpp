// Whatever becomes of what is recorded, nothing of it is left: no tensor, no node, no byte. Runs
// under Valgrind too, so it compiles few kernels.
#include <optional>
#include <thread>

#include "expect_tensor.h"

namespace reprise {
namespace {

using F = std::vector<float>;

void compute_something() {
  (void)(Tensor::of({1.f}) + 1).realize();
}

/// Every test leaves as many tensors, nodes and bytes of values as it found.
class Recording : public testing::Test {
 protected:
  void SetUp() override { before_ = settled(); }
  void TearDown() override {
    const Stats after = settled();
    EXPECT_EQ(after.live_tensors, before_.live_tensors);
    EXPECT_EQ(after.live_nodes, before_.live_nodes);
    EXPECT_EQ(after.live_bytes, before_.live_bytes);
    EXPECT_EQ(after.pending_ops, 0u);
  }

 private:
  static Stats settled() {
    compute_something();
    return Runtime::get().stats();
  }
  Stats before_;
};

/// A loss with a branch, a view, a product and a reduction.
Tensor loss_of(const Tensor& w, const Tensor& x) {
  return sum(relu(matmul(x, w.reshape({2, 2})) - 1) * x);
}

TEST_F(Recording, OfWhatNobodyReads) {
  const Tensor x = Tensor::of({1.f, 2.f});
  for (int i = 0; i < 300; ++i) {
    const Tensor y = exp(x + i) * x;
    const Tensor z = sum(y.reshape({2, 1}), {1});
    (void)where(z > y, z, Tensor::of({0.5f, 1.5f}));
    (void)rand({2});
  }
}

TEST_F(Recording, OfWhatATapeDrops) {
  const Tensor w = ones({4});
  const Tensor x = Tensor::of({1.f, 2.f}).reshape({1, 2});
  Tensor outlives;
  for (int i = 0; i < 30; ++i) {
    const Tape outer;
    const Tensor loss = loss_of(w, x);
    {
      const Tape inner;
      outlives = inner.gradient(loss_of(w, x), w);
    }
    (void)outer.gradient(loss + sum(outlives), w);
  }
}

TEST_F(Recording, OfStepsThatAreComputed) {
  const Tensor w = Tensor::of({1.f, 2.f, 3.f, 4.f}).realize();
  const Tensor x = Tensor::of({1.f, 2.f}).reshape({1, 2});
  Tensor loss;
  for (int i = 0; i < 20; ++i) {
    const Tape tape;
    loss = loss_of(w, x);
    w.assign_(w - 0.125f * tape.gradient(loss, w));
    tape.realize(loss);
  }
  EXPECT_EQ(w.to_vector<float>().size(), 4u);
}

TEST_F(Recording, OfAssignsThatNobodyReads) {
  const Tensor a = Tensor::of({1.f, 2.f});
  const Tensor b = Tensor::of({3.f, 4.f});
  for (int i = 0; i < 30; ++i) {
    std::optional<Tape> tape;
    if (i % 2 == 0) tape.emplace();
    const Tensor old = a.value();
    a.assign_(b);
    b.assign_(old);
    a.assign_(a + 1);
    a.assign_(a);
  }
}

TEST_F(Recording, OfWhatCannotBeRecordedOrComputed) {
  const Tensor w = Tensor::of({1.f, 2.f});
  for (int i = 0; i < 10; ++i) {
    const Tape tape;
    const Tensor y = w * 2;
    EXPECT_THROW((void)(y + zeros({3})), ShapeError);
    EXPECT_THROW(w.assign_(zeros({2}, DType::I32)), DTypeError);
    EXPECT_THROW((void)Tensor::of(F{1, 2, 3}, {2, 2}), ShapeError);
    EXPECT_THROW((void)tape.gradient(y, Tensor::of({1})), DTypeError);
    w.assign_(gather(w, Tensor::of({0, 7})) + y);
    EXPECT_THROW(tape.realize(y), IndexError);
  }
  expect_values(w, F{1, 2});
}

TEST_F(Recording, OfFrozenSteps) {
  const Tensor total = Tensor::of({0.f});
  const Tensor x = Tensor::of({2.f});
  for (int i = 0; i < 3; ++i) {
    Frozen step;
    {
      const Tape tape;
      total.assign_(total + x);
      step = tape.freeze({x}, {total * x});
    }
    if (i == 0) continue;  // one is never replayed
    for (int k = 0; k < 5; ++k) (void)step.replay(x);
    EXPECT_THROW((void)step.replay(zeros({2})), ShapeError);
  }
  expect_values(total, F{2 * (3 + 10)});
}

TEST_F(Recording, OfThreadsThatEnd) {
  const Tensor shared = Tensor::of({1.f, 2.f});
  Tensor left;
  for (int i = 0; i < 5; ++i) {
    std::thread([&] {
      const Tape tape;
      left = shared * 3;
      (void)(left + shared);
      shared.assign_(shared + 0);
    }).join();
  }
  expect_values(left, F{3, 6});
  left = {};
}

TEST_F(Recording, OfBorrowedMemory) {
  F elements{1, 2, 3, 4};
  int released = 0;
  {
    const Tensor x = from_memory({DType::F32, {4}}, elements.data(), [&] { ++released; });
    const Tensor view = x.reshape({2, 2});
    (void)(view + x.reshape({2, 2}));
    x.assign_(x + 1);
    expect_values(x, F{2, 3, 4, 5});
  }
  compute_something();  // what was recorded and dropped is forgotten with the next launch
  EXPECT_EQ(released, 1);
  EXPECT_EQ(elements, (F{1, 2, 3, 4}));
}

/// A handle that outlives main, with a value that is never computed.
TEST(AtExit, AHandleMayStillBeThere) {
  static Tensor kept;
  kept = Tensor::of({1.f, 2.f}) * 3;
  static const Tensor computed = (kept + 1).realize();
  EXPECT_EQ(computed.numel(), 2);
}

}  // namespace
}  // namespace reprise
