// Loads objects of a C compiler and damaged ones.
#include "runtime/cpu/loader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "ir/error.h"
#include "runtime/device.h"

namespace reprise {
namespace {

/// Bytes of the object that loader/<name>.c was compiled to.
std::vector<std::byte> object(const std::string& name) {
  std::string paths = REPRISE_LOADER_OBJECTS;
  for (size_t begin = 0; begin < paths.size();) {
    const size_t end = std::min(paths.find(':', begin), paths.size());
    const std::string path = paths.substr(begin, end - begin);
    if (path.find("/" + name + ".c") != std::string::npos) {
      std::ifstream in(path, std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      std::vector<std::byte> bytes(text.size());
      std::memcpy(bytes.data(), text.data(), text.size());
      return bytes;
    }
    begin = end + 1;
  }
  ADD_FAILURE() << "no object " << name << " in " << paths;
  return {};
}

std::string error_of(const std::vector<std::byte>& bytes, size_t phases) {
  try {
    (void)load_code(bytes, phases);
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "loaded";
}

float choose(int64_t which, float x) {
  switch (which) {
    case 0:
      return x + 11;
    case 1:
      return x * 13;
    case 2:
      return x - 17;
    case 3:
      return x / 19;
    case 4:
      return x * x + 23;
    case 5:
      return 29 - x;
    default:
      return 0;
  }
}

// Constants, calls, jump tables and tables of pointers all need relocating; the device hands out
// the second phase only when the first is done, for every number of threads.
TEST(Loader, RunsAllPhasesOfAnObject) {
  const int threads = num_threads();
  KernelCode code;
  code.bytes = object("kernel");
  constexpr int64_t kElements = 100000;
  code.phases = {{kElements, 0, 1e6}, {kElements, 64, 1e6}};
  Device& device = cpu_device();
  const auto executable = device.load(code);
  for (const int count : {1, 2, 3, 8}) {
    set_num_threads(count);
    std::vector<float> in(kElements), out(kElements);
    for (int64_t i = 0; i < kElements; ++i) in[i] = static_cast<float>(i % 1000);
    void* buffers[] = {in.data(), out.data()};
    const uint64_t params[] = {3};
    LaunchStatus status;
    device.launch(*executable, buffers, params, &status);
    for (int64_t i = 0; i < kElements; ++i) {
      const float scaled = in[i] * 3 + 3.5f;
      const float x = i % 2 == 0 ? 2 * scaled : -scaled;
      ASSERT_EQ(out[i], choose(i % 7, x)) << i << " on " << count << " threads";
    }
  }
  set_num_threads(threads);
}

// The code stays mapped as long as the executable lives, and no longer than that is needed: many
// kernels come and go.
TEST(Loader, LoadsTheSameObjectOften) {
  const auto bytes = object("kernel");
  for (int i = 0; i < 2000; ++i) {
    const LoadedCode code = load_code(bytes, 2);
    ASSERT_EQ(code.phases.size(), 2u);
    ASSERT_NE(code.phases[0], code.phases[1]);
  }
}

TEST(Loader, NamesWhatAnObjectLacks) {
  EXPECT_EQ(error_of(object("external"), 1),
            "cannot load code for the CPU: the symbol elsewhere is not defined in it");
  EXPECT_EQ(error_of(object("kernel"), 3),
            "cannot load code for the CPU: it has no function phase2");
  EXPECT_EQ(error_of(object("writable"), 1),
            "cannot load code for the CPU: section .data is writable");
  EXPECT_EQ(error_of({}, 1),
            "cannot load code for the CPU: the header at 0 with 64 bytes ends past the object's 0");
}

// A damaged cache entry must be an error, never a crash: every offset and count is checked.
TEST(Loader, RejectsEveryTruncation) {
  const auto bytes = object("kernel");
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<int64_t>(size));
    ASSERT_NE(error_of(cut, 2), "loaded") << size;
  }
}

// Flipped bits may give other code, which a checksum finds; loading it must stay inside the bytes.
TEST(Loader, SurvivesDamagedBytes) {
  const auto bytes = object("kernel");
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    auto damaged = bytes;
    const int flips = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < flips; ++i) {
      // Half of them in the header and the tables at the end, where structure is.
      const size_t half = random() % 2 == 0 ? bytes.size() : bytes.size() / 3;
      size_t at = random() % half;
      if (half != bytes.size()) at = random() % 8 == 0 ? at % 64 : bytes.size() - 1 - at;
      damaged[at] ^= std::byte{static_cast<uint8_t>(1u << random() % 8)};
    }
    (void)error_of(damaged, 2);
  }
}

TEST(Loader, RejectsImpossiblePhases) {
  KernelCode code;
  code.bytes = object("kernel");
  code.phases = {{-1, 0, 0}, {1, 0, 0}};
  EXPECT_THROW((void)cpu_device().load(code), DeviceError);
  code.phases = {{1, -1, 0}, {1, 0, 0}};
  EXPECT_THROW((void)cpu_device().load(code), DeviceError);
}

}  // namespace
}  // namespace reprise
