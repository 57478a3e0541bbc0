// IDX files that are whole, damaged and hostile; the loader's batches; progress lines.
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "expect_tensor.h"

namespace reprise {
namespace {

using io::DataLoader;
using Bytes = std::vector<uint8_t>;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::string("reprise_io_") +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string plain(const Bytes& bytes) const {
    const std::string path = (folder_ / "plain").string();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path;
  }
  std::string zipped(const Bytes& bytes) const {
    const std::string path = (folder_ / "zipped.gz").string();
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
    return path;
  }
  static Bytes content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path folder_;
};

const Bytes kTwoByThree = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6};

TEST_F(Files, ReadsPlainAndZipped) {
  const Bytes expected = {1, 2, 3, 4, 5, 6};
  expect_tensor(io::read_idx(plain(kTwoByThree)), {2, 3}, expected);
  expect_tensor(io::read_idx(zipped(kTwoByThree), DType::U8, 2), {2, 3}, expected);
}

TEST_F(Files, ReadsWideBigEndianElements) {
  expect_values(
      io::read_idx(plain({0, 0, 0x0C, 1, 0, 0, 0, 2, 0, 0, 1, 2, 0xff, 0xff, 0xff, 0xff})),
      std::vector<int32_t>{258, -1});
  expect_values(io::read_idx(plain({0, 0, 0x0D, 1, 0, 0, 0, 1, 0x3f, 0xc0, 0, 0})),
                std::vector<float>{1.5f});
  expect_values(io::read_idx(plain({0, 0, 0x0B, 1, 0, 0, 0, 1, 0xff, 0xfe})),
                std::vector<int16_t>{-2});
  expect_tensor(io::read_idx(plain({0, 0, 8, 1, 0, 0, 0, 0})), {0}, Bytes{});
}

TEST_F(Files, SaysWhatIsWrong) {
  const std::string missing = (folder_ / "missing.gz").string();
  expect_error<IoError>([&] { return io::read_idx(missing); }, {"missing.gz", "No such file"});
  expect_error<IoError>([&] { return io::read_idx(folder_.string()); }, {folder_.c_str()});
  expect_error<IoError>([&] { return io::read_idx(plain({})); }, {"plain", "truncated", "magic"});
  expect_error<IoError>(
      [&] {
        return io::read_idx(plain({'h', 'e', 'l', 'l', 'o'}));
      },
      {"not an IDX file", "68656c6c"});
  expect_error<IoError>([&] { return io::read_idx(plain({0, 0, 8, 9})); }, {"rank 9"});
  Bytes shorter = kTwoByThree;
  shorter.pop_back();
  expect_error<IoError>([&] { return io::read_idx(plain(shorter)); },
                        {"truncated", "u8[2,3] (6 bytes)", "after 5"});
  Bytes longer = kTwoByThree;
  longer.push_back(7);
  expect_error<IoError>([&] { return io::read_idx(zipped(longer)); }, {"expected the file to end"});
  expect_error<IoError>([&] { return io::read_idx(plain(kTwoByThree), DType::U8, 1); },
                        {"u8[2,3]", "u8 of rank 1"});
}

// A header may promise 2^62 elements; nothing of that size is allocated.
TEST_F(Files, HostileExtentsAreRefused) {
  const Bytes huge = {0,    0,    0x0E, 3,    0xff, 0xff, 0xff, 0xff, 0xff,
                      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,    2};
  expect_error<IoError>([&] { return io::read_idx(plain(huge)); }, {"damaged", "18 bytes"});
  const Bytes large = {0, 0, 8, 1, 0x40, 0, 0, 0, 1, 2};
  expect_error<IoError>([&] { return io::read_idx(plain(large)); }, {"damaged"});
  // No element, so no byte, but still no shape.
  const Bytes empty = {0, 0, 8, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0};
  expect_error<IoError>([&] { return io::read_idx(plain(empty)); },
                        {"plain", "damaged", "[4294967295,4294967295,0]"});
}

TEST_F(Files, DamagedStreamsAreRefused) {
  Bytes data = {0, 0, 8, 1, 0, 0, 0x10, 0};
  for (int i = 0; i < 4096; ++i) data.push_back(static_cast<uint8_t>(i * 7919 >> 5));
  const Bytes whole = content(zipped(data));
  for (const size_t length : {whole.size() / 2, whole.size() - 4, whole.size() - 1}) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    expect_error<IoError>([&] { return io::read_idx(plain(cut)); }, {"truncated"});
  }
  // A second member belongs to the content, anything else does not.
  const Bytes head(data.begin(), data.begin() + 2000), tail(data.begin() + 2000, data.end());
  Bytes members = content(zipped(head));
  const Bytes second = content(zipped(tail));
  members.insert(members.end(), second.begin(), second.end());
  EXPECT_EQ(io::read_idx(plain(members)).numel(), 4096);
  Bytes followed = whole;
  followed.insert(followed.end(), {'j', 'u', 'n', 'k'});
  expect_error<IoError>([&] { return io::read_idx(plain(followed)); },
                        {"expected the file to end"});
  followed.resize(whole.size() + 1);
  expect_error<IoError>([&] { return io::read_idx(plain(followed)); },
                        {"expected the file to end"});
  for (const size_t place : {whole.size() / 2, whole.size() - 6, whole.size() - 2}) {
    Bytes flipped = whole;
    flipped[place] ^= 0x10;
    expect_error<IoError>([&] { return io::read_idx(plain(flipped)); }, {"plain"});
  }
}

DataLoader numbered(int64_t rows, const io::LoaderOptions& options) {
  return DataLoader(arange(rows * 3).reshape({rows, 3}), arange(rows), options);
}

TEST(Loader, EveryEpochIsAPermutation) {
  DataLoader loader = numbered(10, {.batch = 3, .seed = 4, .drop_last = false});
  EXPECT_EQ(loader.batches(), 4);
  std::vector<std::vector<int64_t>> epochs;
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<int64_t> seen;
    for (auto [x, y] : loader) {
      const std::vector<int64_t> rows = y.to_vector<int64_t>();
      EXPECT_EQ(x.shape(), (Shape{static_cast<int64_t>(rows.size()), 3}));
      expect_values(x.at({Range{}, 0}), (y * 3).to_vector<int64_t>());
      seen.insert(seen.end(), rows.begin(), rows.end());
    }
    EXPECT_EQ(std::set<int64_t>(seen.begin(), seen.end()).size(), 10u);
    epochs.push_back(seen);
  }
  EXPECT_NE(epochs[0], epochs[1]);
  DataLoader again = numbered(10, {.batch = 10, .seed = 4});
  expect_values((*again.begin()).y, epochs[0]);
  DataLoader other = numbered(10, {.batch = 10, .seed = 5});
  EXPECT_NE((*other.begin()).y.to_vector<int64_t>(), epochs[0]);
}

TEST(Loader, DropsOrKeepsTheRest) {
  EXPECT_EQ(numbered(10, {.batch = 4}).batches(), 2);
  EXPECT_EQ(numbered(10, {.batch = 4, .drop_last = false}).batches(), 3);
  EXPECT_EQ(numbered(0, {.batch = 4}).batches(), 0);
  EXPECT_EQ(numbered(3, {.batch = 4}).batches(), 0);
}

TEST(Loader, NormalizesWhileItCopies) {
  Bytes bytes(2 * 37);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 3);
  std::vector<float> expected;
  for (const uint8_t byte : bytes) expected.push_back((static_cast<float>(byte) - 10) * 0.5f);
  const Tensor x = Tensor::of(bytes, {2, 37});
  DataLoader loader(x, arange(2),
                    {.batch = 2, .shuffle = false, .normalize = io::Normalization{10, 0.5f}});
  expect_tensor((*loader.begin()).x, {2, 37}, expected);
}

TEST(Loader, TakesViews) {
  const Tensor x = arange(6).reshape({2, 3}).realize().transpose();
  DataLoader loader(x, arange(3), {.batch = 3, .shuffle = false});
  expect_tensor((*loader.begin()).x, {3, 2}, std::vector<int64_t>{0, 3, 1, 4, 2, 5});
}

TEST(Loader, ChecksItsData) {
  expect_error<ShapeError>([] { return DataLoader(arange(3), arange(4)).rows(); }, {"3", "4"});
  expect_error<ShapeError>([] { return DataLoader(Tensor::scalar(1), arange(4)).rows(); },
                           {"rank 0"});
  expect_error<Error>([] { return DataLoader(arange(3), arange(3), {.batch = 0}).rows(); }, {"0"});
}

TEST(ProgressLines, OffATerminalOnlyLines) {
  std::FILE* file = std::tmpfile();
  {
    io::Progress progress("epoch 1/2", 10, file);
    for (int i = 1; i <= 10; ++i) progress.update(i, "loss 1");
    progress.finish("loss 0.5");
  }
  std::rewind(file);
  char text[256] = {};
  const size_t length = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  const std::string line(text, length);
  EXPECT_EQ(line.find("epoch 1/2"), 0u);
  EXPECT_NE(line.find("loss 0.5\n"), std::string::npos);
  EXPECT_EQ(line.find('\r'), std::string::npos);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
}

}  // namespace
}  // namespace reprise
