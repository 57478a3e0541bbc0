// Reads IDX files through zlib straight into the tensor's storage.
#include "frontend/idx.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

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

/// A file that may be gzip'd. zlib's own file functions ignore whatever follows a gzip stream.
class GzFile {
 public:
  explicit GzFile(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "rb")) {
    if (file_ == nullptr) throw IoError(str(path, ": cannot be opened: ", std::strerror(errno)));
    refill();
    is_zipped_ = starts_member();
    constexpr int kGzip = 16;
    if (is_zipped_ && inflateInit2(&stream_, MAX_WBITS + kGzip) != Z_OK) {
      std::fclose(file_);
      throw OutOfMemoryError(str(path, ": out of memory for decompressing it"));
    }
  }
  ~GzFile() {
    if (is_zipped_) inflateEnd(&stream_);
    std::fclose(file_);
  }
  GzFile(const GzFile&) = delete;
  GzFile& operator=(const GzFile&) = delete;

  /// Reads exactly `bytes`; `what` says what they are.
  void read(void* into, uint64_t bytes, const std::string& what) {
    uint64_t done = 0;
    while (done < bytes) {
      const auto chunk = static_cast<unsigned>(std::min<uint64_t>(bytes - done, 1 << 24));
      const unsigned got = read_some(static_cast<Bytef*>(into) + done, chunk);
      if (got == 0) {
        throw IoError(str(path_, ": truncated: expected ", what, ", the file ends after ", done));
      }
      done += got;
    }
  }
  /// Throws unless the file ends here; going past the last byte is also what checks the CRC.
  void expect_end(const std::string& what) {
    Bytef extra;
    if (read_some(&extra, 1) > 0 || stream_.avail_in > 0) {
      throw IoError(str(path_, ": expected the file to end after ", what));
    }
  }

 private:
  /// At most `bytes` and at least one; 0 at the end of the content.
  unsigned read_some(Bytef* into, unsigned bytes) {
    stream_.next_out = into;
    stream_.avail_out = bytes;
    while (stream_.avail_out == bytes && (stream_.avail_in > 0 || refill())) {
      if (!is_zipped_) {
        const unsigned count = std::min(stream_.avail_in, bytes);
        std::memcpy(into, stream_.next_in, count);
        stream_.next_in += count;
        stream_.avail_in -= count;
        return count;
      }
      if (!in_member_ && stream_.avail_in < 2) refill();
      if (!in_member_ && !starts_member()) return 0;  // other bytes
      in_member_ = true;
      const int code = inflate(&stream_, Z_NO_FLUSH);
      if (code == Z_STREAM_END) {  // perhaps another member follows
        in_member_ = false;
        inflateReset(&stream_);
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        throw IoError(str(path_, ": damaged: ", stream_.msg != nullptr ? stream_.msg : "not gzip"));
      }
    }
    const unsigned got = bytes - stream_.avail_out;
    if (got == 0 && in_member_) {
      throw IoError(str(path_, ": truncated: the gzip stream does not end"));
    }
    return got;
  }
  bool starts_member() const {
    return stream_.avail_in >= 2 && stream_.next_in[0] == 0x1f && stream_.next_in[1] == 0x8b;
  }
  /// Puts more behind what is left; whether there is any then.
  bool refill() {
    std::copy_n(stream_.next_in, stream_.avail_in, buffer_.data());
    stream_.next_in = buffer_.data();
    const size_t left = stream_.avail_in;
    const size_t got = std::fread(buffer_.data() + left, 1, buffer_.size() - left, file_);
    if (got == 0 && std::ferror(file_) != 0) {
      throw IoError(str(path_, ": cannot be read: ", std::strerror(errno)));
    }
    stream_.avail_in = static_cast<uInt>(left + got);
    return stream_.avail_in > 0;
  }

  std::string path_;
  FILE* file_;
  std::vector<Bytef> buffer_ = std::vector<Bytef>(256 << 10);
  z_stream stream_{};
  bool is_zipped_ = false;
  bool in_member_ = false;
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
  const StoragePtr storage = cpu_device().allocator().allocate(bytes);
  file.read(storage->data(), bytes, what);
  file.expect_end(what);
  to_host_order(static_cast<std::byte*>(storage->data()), type.shape.numel(), size_of(*dtype));
  return from_storage(type, storage);
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
