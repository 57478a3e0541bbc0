// What a thread may do with tensors of its own, with shared ones and with what others made.
#include "tests/fuzz/stress.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "frontend/reprise.h"

namespace reprise {

namespace {

const Shape kShape{6, 17};
/// Shared tensors hold multiples of this, which wrapping sums and products keep.
constexpr uint32_t kRule = 8;
constexpr size_t kMostKept = 12;

/// A value and the number that each of its elements is.
struct Known {
  Tensor tensor;
  uint32_t number = 0;
};

Tensor filled(uint32_t number) {
  return Tensor::of(std::vector<uint32_t>(static_cast<size_t>(kShape.numel()), number), kShape);
}

/// The number that every element is. Throws InternalError when they differ.
uint32_t number_in(const Tensor& tensor) {
  const std::vector<uint32_t> elements = tensor.to_vector<uint32_t>();
  for (const uint32_t element : elements) {
    if (element != elements[0]) {
      throw InternalError(str("elements ", elements[0], " and ", element, " of one value"));
    }
  }
  return elements.at(0);
}

void expect_number(const Tensor& tensor, uint32_t number, const char* what) {
  const uint32_t found = number_in(tensor);
  if (found != number) throw InternalError(str(what, ": ", found, " where ", number, " is due"));
}

/// What all threads see.
struct Shared {
  Shared() {
    for (const uint32_t number : {3u, 1000003u, 0u}) constants.push_back({filled(number), number});
    for (const uint32_t number : {0u, 8u, 4096u}) assigned.push_back(filled(number));
    counter = filled(0);
    const Tape tape;
    const Tensor x = filled(5);
    pure = tape.freeze({x}, {x * x + constants[0].tensor, x - constants[1].tensor});
    counter.assign_(counter + Tensor::of(std::vector<uint32_t>{1}, {1, 1}));
    counting = tape.freeze({}, {});
    tape.realize();
  }

  std::vector<Known> constants;
  std::vector<Tensor> assigned;  ///< by any thread
  Tensor counter;                ///< counts the replays of `counting` and its recording
  Frozen pure, counting;
  std::atomic<uint32_t> counted{1};
  std::mutex mutex;
  std::vector<Known> mailbox;  ///< under the mutex

  std::atomic<bool> stop{false};
  std::atomic<uint64_t> steps{0};
  std::string failure;  ///< under the mutex
};

class Worker {
 public:
  Worker(Shared& shared, uint64_t seed) : shared_(shared), random_(static_cast<uint32_t>(seed)) {}

  void run() {
    while (!shared_.stop) {
      step();
      ++shared_.steps;
    }
  }

 private:
  uint32_t below(size_t n) { return random_() % static_cast<uint32_t>(n); }

  void step() {
    switch (below(13)) {
      case 0:
      case 1:
        return keep(combine());
      case 2: {
        const Known known = any();
        return expect_number(known.tensor, known.number, "a value");
      }
      case 3:
        return drop();
      case 4:
        return tape();
      case 5:
        return assign_shared();
      case 6:
        return read_shared();
      case 7:
        return replay();
      case 8:
        return freeze();
      case 9:
        return differentiate();
      case 10:
        return exchange();
      case 11:
        return visit();
      default:
        return assign_own();
    }
  }

  Known any() {
    const size_t all = kept_.size() + shared_.constants.size();
    const size_t i = below(all);
    return i < kept_.size() ? kept_[i] : shared_.constants[i - kept_.size()];
  }
  void keep(Known known) {
    if (kept_.size() == kMostKept) drop();
    kept_.push_back(std::move(known));
  }
  void drop() {
    if (kept_.empty()) return;
    std::swap(kept_[below(kept_.size())], kept_.back());
    kept_.pop_back();
  }

  Known combine() {
    const Known a = any(), b = any();
    switch (below(8)) {
      case 0:
        return {a.tensor + b.tensor, a.number + b.number};
      case 1:
        return {a.tensor * b.tensor, a.number * b.number};
      case 2:
        return {a.tensor - b.tensor, a.number - b.number};
      case 3:
        return {a.tensor ^ b.tensor, a.number ^ b.number};
      case 4:
        return {maximum(a.tensor, b.tensor), std::max(a.number, b.number)};
      case 5: {
        const Tensor rows = sum(a.tensor * b.tensor, 1, KeepDims::Yes);
        return {broadcast_to(cast(rows, DType::U32), kShape), 17 * a.number * b.number};
      }
      case 6: {
        const Tensor product = matmul(a.tensor, transpose(b.tensor));
        return {broadcast_to(slice(product, 1, {1, 2}), kShape), 17 * a.number * b.number};
      }
      default: {
        const uint32_t number = below(1000);
        return {flip(a.tensor) + number, a.number + number};
      }
    }
  }

  void tape() {
    const Tape tape;
    std::vector<Known> made;
    for (uint32_t i = 1 + below(4); i > 0; --i) {
      made.push_back(combine());
      if (below(2) == 0) keep(made.back());
    }
    if (below(2) == 0) tape.realize(made.back().tensor);
    if (below(4) == 0) return;  // pending values outlive the tape
    for (const Known& known : made) expect_number(known.tensor, known.number, "in a tape");
  }

  const Tensor& any_shared() { return shared_.assigned[below(shared_.assigned.size())]; }
  void assign_shared() {
    const Tensor& target = any_shared();
    switch (below(4)) {
      case 0:
        return target.assign_(target + kRule * below(100));
      case 1:
        return target.assign_(any().tensor * kRule);
      case 2:
        return target.assign_(any_shared() + any_shared());
      default: {
        const Tape tape;
        target.assign_(any_shared() * any().tensor);
        return tape.realize();
      }
    }
  }
  void read_shared() {
    const Tensor snapshot = any_shared().value();
    const uint32_t number = number_in(snapshot);
    if (number % kRule != 0) throw InternalError(str("a shared tensor holds ", number));
    // Whatever others assign, this value stays.
    keep({snapshot, number});
  }

  void replay() {
    if (below(3) == 0) {
      (void)shared_.counting.replay();
      ++shared_.counted;
      return;
    }
    const Known x = any();
    const std::vector<Tensor> results = shared_.pure.replay(x.tensor);
    const Known first{results[0], x.number * x.number + 3};
    const Known second{results[1], x.number - 1000003};
    if (below(2) == 0) keep(first);
    expect_number(second.tensor, second.number, "a replay");
  }

  void freeze() {
    const Tensor own = filled(0);  // what the step assigns
    const Known captured = any();
    Frozen step;
    {
      const Tape tape;
      const Tensor x = filled(1);
      own.assign_(own + captured.tensor);
      step = tape.freeze({x}, {x * captured.tensor + own});
    }
    uint32_t number = captured.number;  // the recording is a step of its own
    for (uint32_t i = below(4); i > 0; --i) {
      const Known x = any();
      number += captured.number;
      const Tensor y = step.replay(x.tensor)[0];
      if (below(2) == 0) expect_number(y, x.number * captured.number + number, "an own replay");
    }
    expect_number(own, number, "what replays assigned");
  }

  void differentiate() {
    const auto factor = static_cast<float>(below(100));
    const Tensor x = full(kShape, 3, DType::F32);
    const Tape tape;
    const Tensor w = cast(shared_.constants[0].tensor, DType::F32);
    const Tensor gradient = tape.gradient(sum(x * x * w * factor), x);
    if (below(3) == 0) return;
    expect_number(cast(gradient, DType::U32), static_cast<uint32_t>(18 * factor), "a gradient");
  }

  /// Leaves a value, computed or not, and takes one that another thread left.
  void exchange() {
    Known given = any();
    std::vector<Known> dropped;  // after the lock
    const std::lock_guard lock(shared_.mutex);
    std::vector<Known>& mailbox = shared_.mailbox;
    if (mailbox.size() < 2 * kMostKept) {
      mailbox.push_back(std::move(given));
    } else {
      std::swap(mailbox[below(mailbox.size())], given);
      dropped.push_back(std::move(given));
    }
    Known taken = mailbox[below(mailbox.size())];
    if (kept_.size() < kMostKept) kept_.push_back(std::move(taken));
  }

  /// A thread that leaves values behind, some of them made of others.
  void visit() {
    const Known x = any();
    Known a, b;
    std::thread([&] {
      const Known own{filled(x.number) + x.tensor, 2 * x.number};
      const Known shared{own.tensor ^ 5u, own.number ^ 5};
      a = {shared.tensor * own.tensor, shared.number * own.number};
      b = {shared.tensor + 1, shared.number + 1};
    }).join();
    keep(a);
    if (below(2) == 0) expect_number(a.tensor, a.number, "what a thread left behind");
    if (below(2) == 0) expect_number(b.tensor, b.number, "what a thread left behind");
  }

  void assign_own() {
    const Known start = any();
    Known own{start.tensor + 1, start.number + 1};
    const Tensor copy = own.tensor;
    for (uint32_t i = below(5); i > 0; --i) {
      const Known other = any();
      const Known before{own.tensor.value(), own.number};
      own.tensor.assign_(own.tensor + other.tensor);
      own.number += other.number;
      if (below(3) == 0) expect_number(own.tensor, own.number, "assigned");
      if (below(3) == 0) expect_number(before.tensor, before.number, "before an assign");
    }
    expect_number(copy, own.number, "a copy of an assigned handle");
  }

  Shared& shared_;
  std::mt19937 random_;
  std::vector<Known> kept_;
};

}  // namespace

StressResult stress_threads(const StressOptions& options) {
  Shared shared;
  std::vector<std::thread> threads;
  for (int i = 0; i < options.threads; ++i) {
    threads.emplace_back([&shared, seed = options.seed * 1000 + static_cast<uint64_t>(i)] {
      try {
        Worker(shared, seed).run();
      } catch (const std::exception& error) {
        shared.stop = true;
        const std::lock_guard lock(shared.mutex);
        if (shared.failure.empty()) shared.failure = error.what();
      }
    });
  }
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                       std::chrono::duration<double>(options.seconds));
  while (!shared.stop && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  shared.stop = true;
  for (std::thread& thread : threads) thread.join();
  StressResult result{.steps = shared.steps, .failure = shared.failure};
  if (!result.failure.empty()) return result;
  try {
    expect_number(shared.counter, shared.counted, "the counter of replays");
  } catch (const std::exception& error) {
    result.failure = error.what();
  }
  return result;
}

}  // namespace reprise
