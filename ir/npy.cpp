// The header is a Python dictionary of three entries in one line of text.
#include "ir/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>

#include "ir/error.h"

namespace reprise {

namespace {

static_assert(std::endian::native == std::endian::little, "files are written as memory is");

constexpr std::string_view kMagic = "\x93NUMPY";

std::string descr_of(DType dtype) {
  if (is_complex_integer(dtype)) {  // as a list of fields, unlike the others
    const std::string part = descr_of(part_of(dtype));
    return str("[('real', '", part, "'), ('imag', '", part, "')]");
  }
  const auto width = std::to_string(size_of(dtype));
  switch (category(dtype)) {
    case DTypeCategory::Bool:
      return "|b1";
    case DTypeCategory::Integer:
      return (width == "1" ? "|" : "<") + std::string(is_signed_integer(dtype) ? "i" : "u") + width;
    case DTypeCategory::Float:
      return dtype == DType::BF16 ? "<V2" : "<f" + width;
    case DTypeCategory::Complex:
      return "<c" + width;
    case DTypeCategory::ComplexInteger:
      break;
  }
  return {};
}

/// What a header says; throws IoError naming `path`.
struct Header {
  TensorType type;
  bool swapped = false;
  bool fortran = false;
};

class HeaderReader {
 public:
  HeaderReader(const std::string& path, std::string_view text) : path_(path), rest_(text) {}

  Header read() {
    std::optional<std::string> descr;
    bool pairs = false;
    std::optional<bool> fortran;
    std::optional<std::vector<int64_t>> shape;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && accept('[')) {
        pairs = true;
        descr = fields();
      } else if (key == "descr") {
        descr = quoted();
      } else if (key == "fortran_order") {
        fortran = boolean();
      } else if (key == "shape") {
        shape = tuple();
      } else {
        fail(str("an unknown entry '", key, "'"));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!descr || !fortran || !shape) fail("descr, fortran_order or shape is missing");
    Header header;
    header.fortran = *fortran;
    header.type.dtype = dtype_of(*descr, header.swapped);
    if (pairs) {
      const std::optional<DType> pair =
          is_integer(header.type.dtype) ? pair_of(header.type.dtype) : std::nullopt;
      if (!pair) fail(str("pairs of '", *descr, "'"));
      header.type.dtype = *pair;
    }
    try {
      header.type.shape = Shape(*shape);
    } catch (const ShapeError& error) {
      fail(error.what());
    }
    return header;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw IoError(str(path_, ": not a .npy file this library reads: ", what));
  }
  void skip_space() {
    while (!rest_.empty() && std::strchr(" \t\r\n", rest_[0]) != nullptr) rest_.remove_prefix(1);
  }
  bool accept(char c) {
    skip_space();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(str("the header lacks a '", c, "'"));
  }
  std::string quoted() {
    skip_space();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) fail("a text is not quoted");
    const size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) fail("a text does not end");
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }
  /// The fields of a pair, whatever they are called; the dtype they share.
  std::string fields() {
    std::string shared;
    for (int i = 0; i < 2; ++i) {
      expect('(');
      static_cast<void>(quoted());
      expect(',');
      const std::string own = quoted();
      expect(')');
      if (i == 1 && own != shared) fail(str("fields of '", shared, "' and '", own, "'"));
      shared = own;
      if (i == 0) expect(',');
    }
    accept(',');
    expect(']');
    return shared;
  }
  bool boolean() {
    skip_space();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    fail("fortran_order is neither True nor False");
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> values;
    expect('(');
    while (!accept(')')) {
      skip_space();
      int64_t value = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
      if (error != std::errc() || value < 0) fail("an extent is not a number");
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      accept('L');  // as Python 2 wrote them
      values.push_back(value);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }
  DType dtype_of(const std::string& descr, bool& swapped) const {
    for (int i = 0; i < kNumDTypes; ++i) {
      const auto dtype = static_cast<DType>(i);
      if (is_complex_integer(dtype)) continue;
      std::string known = descr_of(dtype);
      if (descr.size() < 2 || descr.substr(1) != known.substr(1)) continue;
      if (std::strchr("<>|=", descr[0]) == nullptr) continue;
      swapped = descr[0] == '>' && size_of(dtype) > 1;
      return dtype;
    }
    fail(str("elements of '", descr, "'"));
  }

  const std::string& path_;
  std::string_view rest_;
};

/// Reverses the bytes of every `width` of them.
void swap_bytes(std::vector<std::byte>& bytes, size_t width) {
  for (size_t i = 0; i + width <= bytes.size(); i += width) {
    std::reverse(bytes.begin() + static_cast<ptrdiff_t>(i),
                 bytes.begin() + static_cast<ptrdiff_t>(i + width));
  }
}

/// Column-major elements in row-major order.
std::vector<std::byte> row_major(const std::vector<std::byte>& columns, const TensorType& type) {
  const size_t width = size_of(type.dtype);
  const Shape& shape = type.shape;
  std::vector<std::byte> rows(columns.size());
  std::array<int64_t, kMaxDims> index{};
  for (size_t to = 0; to < rows.size(); to += width) {
    int64_t from = 0;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) from = from * shape[axis] + index[axis];
    std::memcpy(rows.data() + to, columns.data() + static_cast<size_t>(from) * width, width);
    for (int axis = shape.rank() - 1; axis >= 0 && ++index[axis] == shape[axis]; --axis) {
      index[axis] = 0;
    }
  }
  return rows;
}

}  // namespace

NpyArray read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw IoError(str("cannot read ", path));
  file.seekg(0, std::ios::end);
  const auto size = static_cast<uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  file.seekg(0);
  std::array<char, 12> start{};
  file.read(start.data(), 10);
  const auto version = static_cast<uint8_t>(start[6]);
  if (!file || std::string_view(start.data(), 6) != kMagic || version < 1 || version > 3) {
    throw IoError(str(path, ": not a .npy file"));
  }
  uint32_t length = 0;
  uint64_t begin = 10;
  if (version == 1) {
    std::memcpy(&length, start.data() + 8, 2);
  } else {
    file.read(start.data() + 10, 2);
    std::memcpy(&length, start.data() + 8, 4);
    begin = 12;
  }
  if (!file || begin + length > size) {
    throw IoError(str(path, ": the header of ", length, " bytes does not fit the file's ", size));
  }
  std::string text(length, ' ');
  file.read(text.data(), static_cast<std::streamsize>(length));
  const Header header = HeaderReader(path, text).read();
  const uint64_t bytes =
      static_cast<uint64_t>(header.type.shape.numel()) * size_of(header.type.dtype);
  if (size - begin - length != bytes) {
    throw IoError(str(path, ": ", header.type, " has ", bytes, " bytes, the file holds ",
                      size - begin - length));
  }
  NpyArray array{header.type, std::vector<std::byte>(bytes)};
  file.read(reinterpret_cast<char*>(array.elements.data()), static_cast<std::streamsize>(bytes));
  if (!file) throw IoError(str("cannot read ", path));
  if (header.swapped) {
    const size_t width = size_of(header.type.dtype);
    swap_bytes(array.elements, is_pair(header.type.dtype) ? width / 2 : width);
  }
  if (header.fortran && header.type.shape.rank() > 1) {
    array.elements = row_major(array.elements, header.type);
  }
  return array;
}

void write_npy(const std::string& path, const TensorType& type,
               std::span<const std::byte> elements) {
  if (elements.size() != static_cast<size_t>(type.shape.numel()) * size_of(type.dtype)) {
    throw ShapeError(str("write_npy: ", type, " has ", type.shape.numel() * size_of(type.dtype),
                         " bytes, given are ", elements.size()));
  }
  const std::string_view quote = is_complex_integer(type.dtype) ? "" : "'";
  std::string text =
      str("{'descr': ", quote, descr_of(type.dtype), quote, ", 'fortran_order': False, 'shape': (");
  for (const int64_t extent : type.shape) text += str(extent, ", ");
  text += "), }";
  // The elements begin at a multiple of 64.
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  const auto length = static_cast<uint16_t>(text.size());
  std::ofstream file(path, std::ios::binary);
  file << kMagic << '\x01' << '\0';
  file.write(reinterpret_cast<const char*>(&length), 2);
  file << text;
  file.write(reinterpret_cast<const char*>(elements.data()),
             static_cast<std::streamsize>(elements.size()));
  if (!file.flush()) throw IoError(str("cannot write ", path));
}

}  // namespace reprise
