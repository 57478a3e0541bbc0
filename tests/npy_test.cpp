// .npy files: round trips, what NumPy writes, and what is refused.
#include "ir/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "expect_tensor.h"

namespace reprise {
namespace {

class Npy : public testing::Test {
 protected:
  const std::string path_ =
      (std::filesystem::path(testing::TempDir()) /
       (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".npy"))
          .string();
  ~Npy() override { std::filesystem::remove(path_); }

  /// A format-1 file with this dictionary and these bytes.
  void write(const std::string& dictionary, const std::string& elements) {
    std::ofstream file(path_, std::ios::binary);
    const auto length = static_cast<uint16_t>(dictionary.size());
    file << "\x93NUMPY" << '\x01' << '\0';
    file.write(reinterpret_cast<const char*>(&length), 2);
    file << dictionary << elements;
  }
  void expect_refused(const std::string& dictionary, const std::string& elements,
                      const char* reason) {
    write(dictionary, elements);
    expect_error<IoError>([&] { return read_npy(path_); }, {path_.c_str(), reason});
  }
};

TEST_F(Npy, EveryDTypeComesBack) {
  for (int i = 0; i < kNumDTypes; ++i) {
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 0}, Shape{2, 3, 1}}) {
      const TensorType type{static_cast<DType>(i), shape};
      std::vector<std::byte> bytes(static_cast<size_t>(shape.numel()) * size_of(type.dtype));
      for (size_t b = 0; b < bytes.size(); ++b) bytes[b] = static_cast<std::byte>(b * 37 + 1);
      write_npy(path_, type, bytes);
      const NpyArray array = read_npy(path_);
      EXPECT_EQ(array.type, type);
      EXPECT_EQ(array.elements, bytes);
      EXPECT_EQ((std::filesystem::file_size(path_) - bytes.size()) % 64, 0u);
    }
  }
}

TEST_F(Npy, ReadsOtherOrders) {
  write("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }\n", std::string("\1\2\3\4", 4));
  EXPECT_EQ(std::memcmp(read_npy(path_).elements.data(), "\2\1\4\3", 4), 0);
  write("{\"shape\": (2L, 3), 'descr': '|u1', 'fortran_order': True}", "abcdef");
  EXPECT_EQ(std::memcmp(read_npy(path_).elements.data(), "acebdf", 6), 0);
}

TEST_F(Npy, ReadsPairsOfIntegersWhateverTheyAreCalled) {
  const std::string rest = ", 'fortran_order': False, 'shape': (2,)}";
  write("{'descr': [('re', '>i2'), ('im', '>i2')]" + rest, std::string("\1\2\3\4\5\6\7\10", 8));
  const NpyArray array = read_npy(path_);
  EXPECT_EQ(array.type, (TensorType{DType::CI16, {2}}));
  EXPECT_EQ(std::memcmp(array.elements.data(), "\2\1\4\3\6\5\10\7", 8), 0);
  expect_refused("{'descr': [('a', '<i2'), ('b', '<u2')]" + rest, "12345678", "fields of '<i2'");
  expect_refused("{'descr': [('a', '<f4'), ('b', '<f4')]" + rest, "12345678", "pairs of '<f4'");
  expect_refused("{'descr': [('a', '<i2')]" + rest, "1234", "lacks");
}

TEST_F(Npy, RefusesWhatIsDamaged) {
  const std::string rest = "'fortran_order': False, 'shape': (2,)}";
  expect_refused("{'descr': '<f4', " + rest, "1234567", "f32[2] has 8 bytes, the file holds 7");
  expect_refused("{'descr': '<f4', " + rest, "123456789", "the file holds 9");
  expect_refused("{'descr': '<f3', " + rest, "12345678", "elements of '<f3'");
  expect_refused("{'descr': '<f4', 'shape': (2,)}", "12345678", "missing");
  expect_refused("{'descr': '<f4', 'fortran_order': 1, 'shape': (2,)}", "12345678", "neither");
  expect_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", "", "not a number");
  expect_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (2", "", "lacks");
  expect_refused("{'descr': '<f4", "", "does not end");
  expect_refused(
      "{'descr': '<f4', 'fortran_order': False, "
      "'shape': (4611686018427387904, 4)}",
      "", "not a .npy file");
  std::ofstream(path_) << "\x93NUMPY";
  expect_error<IoError>([&] { return read_npy(path_); }, {"not a .npy file"});
  std::ofstream(path_, std::ios::binary) << "\x93NUMPY" << '\x01' << '\0' << "\xff\xff{";
  expect_error<IoError>([&] { return read_npy(path_); }, {"65535", "does not fit"});
  expect_error<IoError>([&] { return read_npy(path_ + ".none"); }, {"cannot read", ".none"});
}

}  // namespace
}  // namespace reprise
