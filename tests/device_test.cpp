// Devices: what there is, where values are, what passes between them. On a machine without a Vulkan
// device the tests that need one are skipped.
#include "runtime/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "frontend/reprise.h"
#include "runtime/vulkan_devices.h"
#include "tests/vulkan_device.h"

namespace reprise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Devices, TheCpuIsFirstAndNamesAreFound) {
  EXPECT_EQ(devices()[0], &cpu_device());
  EXPECT_EQ(&device("cpu"), &cpu_device());
  for (Device* const each : devices()) EXPECT_EQ(&device(each->name()), each);
  try {
    static_cast<void>(device("gpu:7"));
    FAIL() << "there is no such device";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'gpu:7'"));
    EXPECT_THAT(error.what(), HasSubstr("cpu"));
  }
}

class VulkanDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    vulkan_ = test_vulkan_device(&why);
    if (vulkan_ == nullptr) GTEST_SKIP() << why;
  }
  Device* vulkan_ = nullptr;
};

TEST_F(VulkanDevice, ComputesWhereItsOperandsAre) {
  const Tensor x = Tensor::of({1.f, 2.f, 3.f}).to(*vulkan_);
  const Tensor y = exp(x * 2) + ones({3});
  EXPECT_EQ(&x.device(), vulkan_);
  EXPECT_EQ(&y.device(), vulkan_);
  const std::vector<float> found = y.to_vector<float>();
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(found[i], std::exp(2. * (i + 1)) + 1, 1e-4 * found[i]);
  EXPECT_EQ(&y.to("cpu").device(), &cpu_device());
  EXPECT_EQ(y.to("cpu").to_vector<float>(), found);
}

TEST_F(VulkanDevice, TheDefaultDeviceTakesDataAndConstants) {
  const DeviceScope scope(*vulkan_);
  const Tensor x = Tensor::of({1, 2, 3});
  EXPECT_EQ(&x.device(), vulkan_);
  EXPECT_EQ(&zeros({2}).device(), vulkan_);
  EXPECT_EQ((x + arange(3)).to_vector<int64_t>(), (std::vector<int64_t>{1, 3, 5}));
  Device* other = nullptr;
  std::thread([&] { other = &default_device(); }).join();
  EXPECT_EQ(other, &cpu_device());  // the scope is this thread's
}

// A sum over two devices has no place: the message names the transfer that makes it one.
TEST_F(VulkanDevice, OperandsOnTwoDevicesAreAnErrorThatNamesTheTransfer) {
  const Tensor here = Tensor::of({1.f, 2.f});
  const Tensor there = here.to(*vulkan_);
  for (const auto& mix : std::vector<std::function<void()>>{
           [&] { static_cast<void>(here + there); },
           [&] {
             static_cast<void>(concat({there, here}, 0));
           },
           [&] { here.assign_(there); },
       }) {
    try {
      mix();
      FAIL() << "the operands are on two devices";
    } catch (const DeviceError& error) {
      EXPECT_THAT(error.what(), HasSubstr("cpu"));
      EXPECT_THAT(error.what(), HasSubstr(vulkan_->name()));
      EXPECT_THAT(error.what(), HasSubstr("to("));
    }
  }
  EXPECT_THAT((here + here).to_vector<float>(), ElementsAre(2, 4));
  EXPECT_THAT((there + there).to_vector<float>(), ElementsAre(2, 4));
}

// What depends on no data goes with whatever it meets, computed already or not.
TEST_F(VulkanDevice, ConstantsBelongToNoDevice) {
  const Tensor mask = triu(ones({3, 3}));
  mask.realize();
  const Tensor x = Tensor::of(std::vector<float>(9, 2), {3, 3});
  EXPECT_EQ((x.to(*vulkan_) * mask).to_vector<float>(), (x * mask).to_vector<float>());
  const Tensor later = mask * 3;
  static_cast<void>((x.to(*vulkan_) + mask).to_vector<float>());
  EXPECT_EQ((x.to(*vulkan_) * later).to_vector<float>(), (x * later).to_vector<float>());
}

// A transfer gives such a value a device, inside a tape too.
TEST_F(VulkanDevice, AConstantThatIsMovedStaysThere) {
  const Tape tape;
  const Tensor there = (ones({2}) * 3).to(*vulkan_);
  EXPECT_EQ(&there.device(), vulkan_);
  EXPECT_THROW(static_cast<void>(there + Tensor::of({1.f, 2.f})), DeviceError);
  EXPECT_THAT((there + 1).to_vector<float>(), ElementsAre(4, 4));
  EXPECT_EQ(&zeros({2}).to("cpu").device(), &cpu_device());
}

// Pending work of both devices is computed by one realize, each by its own.
TEST_F(VulkanDevice, ARealizeComputesOnEveryDeviceThatHasSomethingPending) {
  const Tensor here = Tensor::of({1.f, 2.f});
  const Tensor there = here.to(*vulkan_);
  const Tensor a = here.value(), b = there.value();
  const Tape tape;
  a.assign_(here * 2);
  b.assign_(there * 3);
  tape.realize();
  EXPECT_TRUE(Runtime::get().is_realized(a.id()));
  EXPECT_TRUE(Runtime::get().is_realized(b.id()));
  EXPECT_THAT(a.to_vector<float>(), ElementsAre(2, 4));
  EXPECT_THAT(b.to_vector<float>(), ElementsAre(3, 6));
}

TEST_F(VulkanDevice, ViewsAndReversedDataPass) {
  std::vector<int32_t> numbers(24);
  std::iota(numbers.begin(), numbers.end(), 0);
  const Tensor x = Tensor::of(numbers, {4, 6});
  const Tensor view = x.at({Range{3, Range::kOpen, -1}, Range{1, 6, 2}}).transpose();
  const Tensor there = view.to(*vulkan_);
  EXPECT_EQ(there.to_vector<int32_t>(), view.to_vector<int32_t>());
  EXPECT_EQ((there + 1).to_vector<int32_t>(), (view + 1).to_vector<int32_t>());
  const Tensor whole = x.to(*vulkan_);
  const Tensor part = whole.at({Range{1, 3}, Range{Range::kOpen, Range::kOpen, -1}});
  EXPECT_EQ(part.to_vector<int32_t>(),
            x.at({Range{1, 3}, Range{Range::kOpen, Range::kOpen, -1}}).to_vector<int32_t>());
  EXPECT_EQ(part.to("cpu").to_vector<int32_t>(), part.to_vector<int32_t>());
}

TEST_F(VulkanDevice, AStepTrainsAndIsReplayed) {
  const Tensor w = Tensor::of({1.f, -2.f}).to(*vulkan_);
  const Tensor x = Tensor::of({3.f, 4.f}).to(*vulkan_);
  Scalar rate(0.5f);
  Frozen step;
  {
    const Tape tape;
    const Tensor loss = sum(w * w * x);
    const Tensor gradient = tape.gradient(loss, w);
    w.assign_(w - gradient * rate);
    step = tape.freeze({x}, {loss});
    tape.realize(loss);
  }
  EXPECT_THAT(w.to_vector<float>(), ElementsAre(-2, 6));
  rate.set(0.25f);
  const Tensor loss = step.replay({x})[0];
  EXPECT_EQ(loss.item<float>(), 3 * 4 + 4 * 36);
  EXPECT_THAT(w.to_vector<float>(), ElementsAre(1, -6));
  EXPECT_THROW(static_cast<void>(step.replay({x.to("cpu")})), DeviceError);
}

// All launches of a plan are one submission there: what an index out of range stops must be as it
// was even where later launches ran.
TEST_F(VulkanDevice, AnIndexOutOfRangeIsToldAndNothingIsLost) {
  const Tensor table = Tensor::of({10.f, 20.f, 30.f}).to(*vulkan_);
  const Tensor good = Tensor::of({2, 0}).to(*vulkan_);
  const Tensor bad = Tensor::of({2, 3}).to(*vulkan_);
  EXPECT_THAT(take(table, good, 0).to_vector<float>(), ElementsAre(30, 10));
  try {
    static_cast<void>(take(table, bad, 0).to_vector<float>());
    FAIL() << "3 is out of range";
  } catch (const IndexError& error) {
    EXPECT_THAT(error.what(), HasSubstr("3"));
  }
  table.assign_(table + sum(take(table, bad, 0)));
  EXPECT_THROW(static_cast<void>(table.to_vector<float>()), IndexError);
  EXPECT_THAT(table.to_vector<float>(), ElementsAre(10, 20, 30));
}

TEST_F(VulkanDevice, MemoryThatRunsOutIsAnErrorAndTheNextRequestWorks) {
  const std::unique_ptr<Device> small = open_again(*vulkan_, {.max_memory = size_t{8} << 20});
  const StoragePtr held = small->allocator().allocate(size_t{3} << 20);
  try {
    static_cast<void>(small->allocator().allocate(size_t{6} << 20));
    FAIL() << "there are 8 MiB";
  } catch (const OutOfMemoryError& error) {
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(size_t{6} << 20)));
  }
  { const StoragePtr freed = small->allocator().allocate(size_t{4} << 20); }
  // Kept, and given back when something else needs the room.
  EXPECT_NE(small->allocator().allocate(size_t{2} << 20)->data(), nullptr);
}

// Where the host does not see a device's memory every copy goes through a buffer, in pieces.
TEST_F(VulkanDevice, CopiesThroughAStagingBuffer) {
  const std::unique_ptr<Device> hidden = open_again(*vulkan_, {.hides_memory = true});
  std::vector<uint32_t> numbers((size_t{20} << 20) / sizeof(uint32_t) + 3);
  std::iota(numbers.begin(), numbers.end(), 1);
  const size_t bytes = numbers.size() * sizeof(uint32_t);
  const StoragePtr there = upload(*hidden, numbers.data(), bytes);
  std::vector<uint32_t> found(numbers.size());
  hidden->download(found.data(), there->data(), bytes);
  EXPECT_TRUE(found == numbers);
  uint32_t one = 0;
  hidden->download(&one, static_cast<std::byte*>(there->data()) + 4 * 5'000'000, sizeof one);
  EXPECT_EQ(one, 5'000'001u);
}

// However many lanes a subgroup has: reductions and scans are ordered by the index alone.
TEST_F(VulkanDevice, RowsOfEveryLengthFoldAsOnTheCpu) {
  for (const int64_t n :
       {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 255, 300}) {
    std::vector<float> numbers(static_cast<size_t>(2 * n));
    for (size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<float>(i * 2654435761u % 1000) / 7 - 60;
    }
    const Tensor x = Tensor::of(numbers, {2, n});
    const Tensor there = x.to(*vulkan_);
    EXPECT_EQ(sum(there, {1}).to_vector<float>(), sum(x, {1}).to_vector<float>()) << n;
    EXPECT_EQ(max(there, {1}).to_vector<float>(), max(x, {1}).to_vector<float>()) << n;
    EXPECT_EQ(cumsum(there, 1).to_vector<float>(), cumsum(x, 1).to_vector<float>()) << n;
    const auto found = softmax(there, 1).to_vector<float>();
    const auto expected = softmax(x, 1).to_vector<float>();
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6) << n;
  }
}

// A driver that ends loops early gives an error, never what it had by then.
TEST_F(VulkanDevice, LongLoopsAreWholeOrRefused) {
  const bool ends_loops = vulkan_->target().shader.loop_iterations > 0;
  const auto filled = [&](int64_t rows, int64_t columns) {
    return ones({rows, columns}).to(*vulkan_);
  };
  const auto product = [&](int64_t rows, int64_t depth) {
    return matmul(filled(rows, depth), filled(depth, rows));
  };
  for (const int64_t rows : {4, 33}) {
    for (const int64_t depth : {20000, 40000, 100000}) {
      const Tensor result = product(rows, depth);
      try {
        for (const float each : result.to_vector<float>()) {
          ASSERT_EQ(each, static_cast<float>(depth)) << rows;
        }
      } catch (const UnsupportedError& error) {
        EXPECT_TRUE(ends_loops && depth > 20000) << error.what();
        EXPECT_NE(std::string(error.what()).find("65535"), std::string::npos) << error.what();
      }
    }
  }
  std::vector<float> numbers(70000);
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<float>(i * 48271 % numbers.size());
  }
  const Tensor x = Tensor::of(numbers);
  const std::vector<float> expected = sort(x, 0).to_vector<float>();
  const Tensor sorted = sort(x.to(*vulkan_), 0);
  try {
    EXPECT_EQ(sorted.to_vector<float>(), expected);
  } catch (const UnsupportedError&) {
    EXPECT_TRUE(ends_loops);
  }
}

// Drivers take a choice between -1 and 0 for a negated cast.
TEST_F(VulkanDevice, ChoosesBetweenConstantsWithTheirSigns) {
  const Tensor condition = (Tensor::of({1.f, 0.f, 1.f}) > 0).realize();
  for (const DType dtype : {DType::F32, DType::F64, DType::F16}) {
    for (const double yes : {-1.0, 1.0, 0.0, -0.0, 2.0}) {
      for (const double no : {-1.0, 1.0, 0.0, -0.0, -3.0}) {
        const auto chosen = [&](const Tensor& c) {
          return to_string(where(c, full({1}, yes, dtype), full({1}, no, dtype)));  // with -0
        };
        EXPECT_EQ(chosen(condition.to(*vulkan_)), chosen(condition));
      }
    }
  }
}

// Far more scalars than the 128 bytes of push constants that a device need have.
TEST_F(VulkanDevice, AKernelTakesAnyNumberOfScalars) {
  std::vector<int32_t> numbers(256);
  std::iota(numbers.begin(), numbers.end(), 0);
  const Tensor x = Tensor::of(numbers, {2, 2, 2, 2, 2, 2, 2, 2});
  const auto compute = [](Tensor y) {
    y = y.permute({7, 5, 3, 1, 6, 4, 2, 0});
    for (int i = 1; i <= 40; ++i) y = y * (i % 3 + 1) + i;
    return y.to_vector<int32_t>();
  };
  EXPECT_EQ(compute(x.to(*vulkan_)), compute(x));
}

TEST_F(VulkanDevice, ManyThreadsShareIt) {
  const Tensor x = Tensor::of(std::vector<float>(1000, 1)).to(*vulkan_);
  std::vector<std::thread> threads;
  std::vector<float> sums(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      Tensor y = x * t;
      for (int i = 0; i < 10; ++i) y = (y + 1).realize();
      sums[static_cast<size_t>(t)] = sum(y).item<float>();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < 8; ++t) EXPECT_EQ(sums[static_cast<size_t>(t)], 1000 * (t + 10));
}

TEST_F(VulkanDevice, BytesThatAreNoModuleAreRefused) {
  KernelCode code;
  code.bytes.resize(64);
  EXPECT_THROW(static_cast<void>(vulkan_->load(code)), DeviceError);
}

}  // namespace
}  // namespace reprise
