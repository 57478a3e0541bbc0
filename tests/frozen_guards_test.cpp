// Frozen steps: what a replay refuses, and what one that fails or stands in another step leaves.
#include <array>
#include <thread>

#include "expect_tensor.h"

namespace reprise {
namespace {

using F = std::vector<float>;

TEST(FrozenGuards, ScalarsKeepTheirRangeCheck) {
  const Tensor x = Tensor::of<uint8_t>({1, 2});
  Scalar s(3);
  const Tape tape;
  const Frozen step = tape.freeze({x}, {x + s});
  s.set(300);
  expect_error<DTypeError>([&] { return step.replay(x); }, {"300", "u8"});
  s.set(4);
  expect_values(step.replay(x)[0], std::vector<uint8_t>{5, 6});
}

TEST(FrozenGuards, GuardsItsInputs) {
  const Tensor x = stored_zeros({DType::F32, {2, 3}});
  const Tensor y = stored_zeros({DType::F32, {2, 3}});
  const Tape tape;
  const Frozen step = tape.freeze({x, y}, {x + y});
  expect_error<ShapeError>(
      [&] {
        return step.replay(x, stored_zeros({DType::F32, {3, 2}}));
      },
      {"input 1", "f32[3,2]", "f32[2,3]"});
  expect_error<DTypeError>(
      [&] {
        return step.replay(stored_zeros({DType::I32, {2, 3}}), y);
      },
      {"input 0", "i32[2,3]", "f32[2,3]"});
  expect_error<ShapeError>([&] { return step.replay(x); }, {"2 inputs", "1"});
  EXPECT_EQ(step.replay(x, y)[0].to_vector<float>(), F(6, 0));
  const Frozen twice = tape.freeze({x, x}, {x * 2});
  expect_error<Error>([&] { return twice.replay(x, y); }, {"input 0", "input 1"});
  EXPECT_EQ(twice.replay(y, y)[0].to_vector<float>(), F(6, 0));
}

TEST(FrozenGuards, GuardsTensorsThatSharedAValue) {
  const Tensor a = Tensor::of({1.f});
  const Tensor b = a.value();
  Frozen step;
  {
    const Tape tape;
    step = tape.freeze({}, {a - b});
  }
  expect_values(step.replay()[0], F{0});
  a.assign_(Tensor::of({5.f}));
  expect_error<Error>([&] { return step.replay(); }, {"one value", "two"});
}

// A value read through another tensor than the input is not the input's at the next replay.
TEST(FrozenGuards, GuardsInputsThatShareTheirValue) {
  const Tensor x = Tensor::of({1.f});
  const Tensor y = x.value();
  Frozen step, passed_on;
  {
    const Tape tape;
    step = tape.freeze({x}, {x + 10.f * y});
    passed_on = tape.freeze({x}, {x + 1.f, y});
  }
  expect_values(step.replay(x)[0], F{11});
  const Tensor other = Tensor::of({2.f});
  expect_error<Error>([&] { return step.replay(other); }, {"input 0", "captured", "two"});
  expect_error<Error>([&] { return passed_on.replay(other); }, {"input 0", "captured", "two"});
  y.assign_(other.value());
  expect_values(step.replay(other)[0], F{22});
}

TEST(FrozenGuards, RefusesAnInputThatTheTapeAssigned) {
  const Tensor x = Tensor::of({1.f});
  const Tape tape;
  const Tensor y = x + 1;
  x.assign_(y);
  expect_error<Error>([&] { return tape.freeze({x}, {y}); }, {"input 0", "assigned"});
}

TEST(FrozenGuards, AnIndexOutOfRangeLeavesEverythingAsItWas) {
  const Tensor w = Tensor::of({1.f, 2.f, 3.f});
  const Tensor i = Tensor::of<int64_t>({0, 1});
  Frozen step;
  {
    const Tape tape;
    const Tensor picked = gather(w, i, 0);
    w.assign_(w + sum(picked));
    step = tape.freeze({i}, {picked});
    tape.realize();
  }
  const F before = w.to_vector<float>();
  expect_error<IndexError>([&] { return step.replay(Tensor::of<int64_t>({0, 3})); }, {"3"});
  expect_values(w, before);
  const Tensor copy = w.value();
  expect_values(step.replay(i)[0], F{before[0], before[1]});
  expect_values(copy, before);
}

TEST(FrozenGuards, AReplayThatFailsIsNoStep) {
  const Tensor w = Tensor::of({1.f, 2.f, 3.f});
  const Tensor i = Tensor::of<int64_t>({0, 1});
  optim::Adam optimizer(std::vector<Tensor>{w}, {.lr = 0.1});
  Frozen step;
  {
    const Tape tape;
    const Tensor loss = sum(square(gather(w, i, 0)));
    optimizer.step(tape.gradient(loss, std::vector<Tensor>{w}));
    step = tape.freeze({i}, {loss});
    tape.realize(loss);
  }
  const F before = w.to_vector<float>();
  expect_error<IndexError>([&] { return step.replay(Tensor::of<int64_t>({0, 7})); }, {"7", "3"});
  expect_error<ShapeError>([&] { return step.replay(Tensor::of<int64_t>({0})); }, {"input 0"});
  EXPECT_EQ(optimizer.steps(), 1);
  expect_values(w, before);
  (void)step.replay(i);
  EXPECT_EQ(optimizer.steps(), 2);
}

/// What an outer tape assigned before the frozen one began is read through its tensor.
TEST(FrozenGuards, ReadsWhatAnOuterTapeAssigned) {
  const Tensor w = Tensor::of({1.f});
  Frozen step;
  const Tape outer;
  w.assign_(w + 1);
  {
    const Tape tape;
    step = tape.freeze({}, {w * 10});
  }
  w.assign_(w + 1);
  expect_values(step.replay()[0], F{30});
}

/// A replay inside a tape happens; it is not part of what the tape is.
TEST(FrozenGuards, AReplayIsNoPartOfAnotherStep) {
  const Tensor w = Tensor::of({1.f});
  Frozen update, evaluation;
  {
    const Tape tape;
    w.assign_(w + 1);
    update = tape.freeze({}, {});
  }
  {
    const Tape tape;
    static_cast<void>(update.replay());
    evaluation = tape.freeze({}, {w * 10});
  }
  for (int i = 0; i < 3; ++i) static_cast<void>(update.replay());
  expect_values(evaluation.replay()[0], F{60});
  expect_values(w, F{6});
}

TEST(FrozenGuards, AnInnerTapeMustEndFirst) {
  const Tensor x = Tensor::of({1.f});
  const Tape outer;
  const Tensor y = x * 2;
  {
    const Tape inner;
    expect_error<Error>([&] { return outer.freeze({x}, {y + 1}); }, {"still open"});
  }
  expect_values(outer.freeze({x}, {y + 1}).replay(Tensor::of({10.f}))[0], F{21});
}

/// A tensor that took the slot of one that was assigned and dropped is another tensor.
TEST(FrozenGuards, SlotsThatAreUsedAgainAreOtherTensors) {
  const Tape outer;
  const auto assign_and_drop = [] {
    const Tensor dropped = Tensor::of({0.f});
    dropped.assign_(Tensor::of({1.f}));
  };
  assign_and_drop();
  const Tensor w = Tensor::of({1.f});
  w.realize();
  Frozen step;
  {
    const Tape tape;
    step = tape.freeze({}, {w * 3});
  }
  w.assign_(Tensor::of({2.f}));
  expect_values(step.replay()[0], F{6});
  assign_and_drop();
  const Tensor x = Tensor::of({1.f});
  const Frozen other = outer.freeze({x}, {x * 3});
  expect_values(other.replay(Tensor::of({5.f}))[0], F{15});
}

/// Two steps that fail after assigning one tensor, at once: it keeps its value.
TEST(FrozenGuards, FailuresSideBySideLeaveTheOldValue) {
  const Tensor p = Tensor::of({5.f, 5.f});
  const Tensor table = Tensor::of({1.f, 2.f, 3.f});
  const auto freeze = [&] {
    const Tape tape;
    const Tensor index = zeros({2}, DType::I64);
    p.assign_(gather(table, index));
    return tape.freeze({index}, {sum(p)});
  };
  const Frozen first = freeze(), second = freeze();
  p.assign_(Tensor::of({5.f, 5.f}));
  p.realize();
  const Tensor bad = Tensor::of({int64_t{0}, int64_t{7}});
  const auto fail = [&](const Frozen& step) {
    for (int i = 0; i < 300; ++i) {
      expect_error<IndexError>([&] { return step.replay(bad); }, {"7"});
    }
  };
  std::thread other([&] { fail(second); });
  fail(first);
  other.join();
  expect_values(p, F{5, 5});
}

TEST(FrozenGuards, EmptyHandleSaysSo) {
  expect_error<Error>([] { return Frozen().replay(); }, {"Tape::freeze"});
  const Tensor x = Tensor::of({1.f});
  expect_error<Error>([&] { return Runtime::get().freeze({}, std::array{x.id()}); }, {"no tape"});
}

}  // namespace
}  // namespace reprise
