// Memory that somebody else owns: adopted where it lies, whatever its strides, given back once.
#include <unistd.h>

#include <filesystem>
#include <numeric>
#include <optional>
#include <thread>

#include "expect_tensor.h"
#include "runtime/dump.h"

namespace reprise {
namespace {

using I = std::vector<int32_t>;

/// Counts how often its memory was given back.
struct Owner {
  std::vector<int32_t> elements;
  int released = 0;
  explicit Owner(int count) : elements(count) { std::iota(elements.begin(), elements.end(), 0); }
  [[nodiscard]] auto release() {
    return [this] { ++released; };
  }
};

Tensor strided(Owner& owner, const Shape& shape, int64_t start, std::vector<int64_t> strides) {
  return from_memory({DType::I32, shape}, owner.elements.data() + start, strides, owner.release());
}

TEST(FromMemory, ReadsWhereItLies) {
  Owner owner(4);
  const Tensor x = from_memory({DType::I32, {2, 2}}, owner.elements.data(), owner.release());
  const auto [storage, layout] = Runtime::get().storage(x.id());
  EXPECT_EQ(storage->data(), owner.elements.data());
  EXPECT_TRUE(storage->borrowed());
  owner.elements[0] = 9;
  expect_tensor(x, {2, 2}, I{9, 1, 2, 3});
  expect_tensor(x + 1, {2, 2}, I{10, 2, 3, 4});
}

TEST(FromMemory, TakesAnyStrides) {
  Owner owner(12);
  const Tensor columns_reversed = strided(owner, {3, 4}, 3, {16, -4});
  expect_tensor(columns_reversed, {3, 4}, I{3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8});
  expect_tensor(columns_reversed * 2, {3, 4}, I{6, 4, 2, 0, 14, 12, 10, 8, 22, 20, 18, 16});
  expect_tensor(strided(owner, {4, 3}, 0, {4, 16}) + 0, {4, 3},
                I{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  expect_tensor(strided(owner, {2, 3}, 5, {0, -8}) + 0, {2, 3}, I{5, 3, 1, 5, 3, 1});
  expect_tensor(strided(owner, {3, 3}, 0, {4, 4}) + 0, {3, 3}, I{0, 1, 2, 1, 2, 3, 2, 3, 4});
  expect_tensor(strided(owner, {1, 2}, 0, {1, 4}) + 0, {1, 2}, I{0, 1});
  expect_tensor(strided(owner, {0, 2}, 0, {-7, 3}) + 0, {0, 2}, I{});
  expect_tensor(strided(owner, {}, 7, {}) + 0, {}, I{7});
}

TEST(FromMemory, IsGivenBackOnceWhenNothingReadsIt) {
  Owner owner(4);
  {
    std::optional<Tensor> view;
    {
      const Tensor x = from_memory({DType::I32, {4}}, owner.elements.data(), owner.release());
      view = x.at({Range{.start = 1, .stop = 3}});
      view->realize();
    }
    EXPECT_EQ(owner.released, 0) << "a view still reads it";
    expect_values(*view, I{1, 2});
  }
  EXPECT_EQ(owner.released, 1);
  Tensor pending = from_memory({DType::I32, {4}}, owner.elements.data(), owner.release()) + 1;
  EXPECT_EQ(owner.released, 1) << "what is pending reads it";
  expect_values(pending, I{1, 2, 3, 4});
  EXPECT_EQ(owner.released, 2);
}

TEST(FromMemory, IsNeverWritten) {
  Owner owner(4);
  const Tensor x = from_memory({DType::I32, {4}}, owner.elements.data(), owner.release());
  for (int i = 0; i < 3; ++i) {  // an assign would update memory of our own in place
    x.assign_(x + 1);
    x.realize();
  }
  expect_values(x, I{3, 4, 5, 6});
  EXPECT_EQ(owner.elements, (I{0, 1, 2, 3}));
}

// A thread that holds another lock while it uses tensors may be waited for by the release.
TEST(FromMemory, ReleasesWithoutALock) {
  Owner owner(4);
  bool released = false;
  {
    const Tensor x = from_memory({DType::I32, {4}}, owner.elements.data(), [&] {
      std::thread([] { static_cast<void>(zeros({2}).to_vector<float>()); }).join();
      released = true;
    });
    static_cast<void>(x);
  }
  EXPECT_TRUE(released);
}

TEST(FromMemory, RefusesWhatKernelsCannotRead) {
  Owner owner(4);
  expect_error<ShapeError>([&] { return strided(owner, {2, 2}, 0, {4}); }, {"1 strides", "[2,2]"});
  expect_error<Error>([&] { return strided(owner, {2}, 0, {6}); }, {"stride 6", "4 bytes"});
  const auto* odd = reinterpret_cast<const std::byte*>(owner.elements.data()) + 1;
  expect_error<Error>(
      [&] {
        return from_memory({DType::I32, {2}}, odd, owner.release());
      },
      {"address", "multiple of 4"});
  EXPECT_EQ(owner.released, 3) << "given back when it was not taken";
}

TEST(Dump, GoesWhereItIsTold) {
  const std::filesystem::path directory =
      std::filesystem::temp_directory_path() / str("reprise-dump-", ::getpid());
  const std::string before = dump_directory();
  set_dump_directory(directory.string());
  EXPECT_EQ(dump_directory(), directory.string());
  static_cast<void>((zeros({3, 5, 7}) * 3.f + 1.f).to_vector<float>());
  set_dump_directory(before);
  EXPECT_FALSE(std::filesystem::is_empty(directory));
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace reprise
