// Reads IDX files through zlib straight into the tensor's storage.
#include "frontend/idx.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "frontend/create.h"
#include "runtime/device.h"

namespace reprise::io {

namespace {

// Deflate turns one byte into at most 1032: a header that promises more is damaged, and is found
// out before its size is allocated.
constexpr uint64_t kMaxDeflateRatio = 1032;

std::optional<DType> element_type(uint8_t code) {
  switch (code) {
    case 0x08:
      return DType::U8;
    case 0x09:
      return DType::I8;
    case 0x0B:
      return DType::I16;
    case 0x0C:
      return DType::I32;
    case 0x0D:
      return DType::F32;
    case 0x0E:
      return DType::F64;
  }
  return std::nullopt;
}

class GzFile {
 public:
  explicit GzFile(const std::string& path) : path_(path), file_(gzopen(path.c_str(), "rb")) {
    if (file_ == nullptr) {
      throw IoError(str(path, ": cannot be opened: ", std::strerror(errno != 0 ? errno : ENOMEM)));
    }
    gzbuffer(file_, 256 << 10);
  }
  ~GzFile() { gzclose(file_); }
  GzFile(const GzFile&) = delete;
  GzFile& operator=(const GzFile&) = delete;

  /// Reads exactly `bytes`; `what` says what they are.
  void read(void* into, uint64_t bytes, const std::string& what) {
    uint64_t done = 0;
    while (done < bytes) {
      const auto chunk = static_cast<unsigned>(std::min<uint64_t>(bytes - done, 1 << 24));
      const int got = gzread(file_, static_cast<std::byte*>(into) + done, chunk);
      if (got <= 0) {
        check();
        throw IoError(str(path_, ": truncated: expected ", what, ", the file ends after ", done));
      }
      done += static_cast<uint64_t>(got);
    }
  }
  /// Throws unless the file ends here; reading past the last byte is also what checks the CRC.
  void expect_end(const std::string& what) {
    char extra;
    const int got = gzread(file_, &extra, 1);
    if (got > 0) throw IoError(str(path_, ": expected the file to end after ", what));
    check();
  }

 private:
  void check() {
    int code = Z_OK;
    const char* message = gzerror(file_, &code);
    if (code == Z_OK || code == Z_STREAM_END) return;
    if (code == Z_BUF_ERROR) throw IoError(str(path_, ": truncated: the gzip stream does not end"));
    throw IoError(str(path_, ": damaged: ", code == Z_ERRNO ? std::strerror(errno) : message));
  }

  std::string path_;
  gzFile file_;
};

void to_host_order(std::byte* data, int64_t count, size_t width) {
  if (width == 1) return;
  for (int64_t i = 0; i < count; ++i) std::reverse(data + i * width, data + (i + 1) * width);
}

}  // namespace

Tensor read_idx(const std::string& path) {
  std::error_code error;
  const uint64_t file_bytes = std::filesystem::file_size(path, error);
  if (error) throw IoError(str(path, ": cannot be read: ", error.message()));
  GzFile file(path);
  uint8_t magic[4];
  file.read(magic, 4, "the 4 bytes of an IDX magic number");
  const std::optional<DType> dtype = element_type(magic[2]);
  if (magic[0] != 0 || magic[1] != 0 || !dtype) {
    char text[16];
    std::snprintf(text, sizeof text, "%02x%02x%02x%02x", magic[0], magic[1], magic[2], magic[3]);
    throw IoError(str(path, ": not an IDX file: its magic number is ", text,
                      ", expected 0000, an element type of 08 to 0e, and a rank"));
  }
  const int rank = magic[3];
  if (rank > kMaxDims) {
    throw IoError(str(path, ": damaged: rank ", rank, " exceeds kMaxDims=", kMaxDims));
  }
  std::array<int64_t, kMaxDims> extents{};
  const uint64_t limit = kMaxDeflateRatio * file_bytes + 1024;
  uint64_t bytes = size_of(*dtype);
  for (int i = 0; i < rank; ++i) {
    uint8_t extent[4];
    file.read(extent, 4, str("4 bytes of extent ", i));
    extents[i] = int64_t{extent[0]} << 24 | extent[1] << 16 | extent[2] << 8 | extent[3];
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extents[i]), &bytes))
      bytes = UINT64_MAX;
  }
  if (bytes > limit) {
    throw IoError(str(path, ": damaged: its header promises more elements than ", file_bytes,
                      " bytes can hold"));
  }
  TensorType type{*dtype, {}};
  try {
    type.shape = Shape(std::span(extents.data(), static_cast<size_t>(rank)));
  } catch (const ShapeError& error) {  // no bytes, thanks to an extent of 0, yet no shape either
    throw IoError(str(path, ": damaged: ", error.what()));
  }
  const std::string what = str(type, " (", bytes, " bytes)");
  StoragePtr storage = cpu_device().allocator().allocate(bytes);
  file.read(storage->data(), bytes, what);
  file.expect_end(what);
  to_host_order(static_cast<std::byte*>(storage->data()), type.shape.numel(), size_of(*dtype));
  return from_storage(type, std::move(storage));
}

Tensor read_idx(const std::string& path, DType dtype, int rank) {
  Tensor tensor = read_idx(path);
  const TensorType type = tensor.type();
  if (type.dtype != dtype || type.shape.rank() != rank) {
    throw IoError(str(path, ": holds ", type, ", expected ", dtype, " of rank ", rank));
  }
  return tensor;
}

}  // namespace reprise::io
