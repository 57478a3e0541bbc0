// Gathers the rows of a batch straight into the storage of its tensors.
#include "frontend/data_loader.h"

#include <cstring>
#include <memory>
#include <numeric>

#include "frontend/create.h"
#include "frontend/ops.h"
#include "runtime/device.h"

namespace reprise::io {

namespace {

/// SplitMix64: the standard library's shuffles differ between libraries, and a seed must not.
class Generator {
 public:
  explicit Generator(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// Below `bound`, without bias to speak of: the high half of a 64 x 64 bit product.
  uint64_t below(uint64_t bound) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(next()) * bound >> 64);
  }

 private:
  uint64_t state_;
};

/// Without a sum that a batch of any size could overflow.
int64_t batches_of(int64_t rows, int64_t batch, bool drop_last) {
  return rows / batch + (!drop_last && rows % batch != 0 ? 1 : 0);
}

// Sixteen bytes at a time, because the compiler does not vectorize this conversion at -O2.
using Bytes16 = uint8_t __attribute__((vector_size(16)));
using Floats16 = float __attribute__((vector_size(64)));

void normalize_row(const uint8_t* from, float* to, int64_t count, const Normalization& n) {
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    Bytes16 bytes;
    std::memcpy(&bytes, from + i, sizeof bytes);
    const Floats16 values = (__builtin_convertvector(bytes, Floats16) - n.mean) * n.scale;
    std::memcpy(to + i, &values, sizeof values);
  }
  for (; i < count; ++i) to[i] = (static_cast<float>(from[i]) - n.mean) * n.scale;
}

void normalize_row(const float* from, float* to, int64_t count, const Normalization& n) {
  for (int64_t i = 0; i < count; ++i) to[i] = (from[i] - n.mean) * n.scale;
}

}  // namespace

DataLoader::Source DataLoader::open(const Tensor& tensor, const char* what) {
  Source source;
  source.type = tensor.type();
  const Shape& shape = source.type.shape;
  if (shape.rank() == 0)
    throw ShapeError(str("a data set's ", what, " need rows, they are rank 0"));
  source.rows = shape[0];
  if (source.rows > UINT32_MAX) throw ShapeError(str("a data set of ", source.rows, " rows"));
  source.row_elements = 1;
  for (int i = 1; i < shape.rank(); ++i) source.row_elements *= shape[i];

  const auto width = static_cast<int64_t>(size_of(source.type.dtype));
  const auto copy = [&] {
    const auto bytes = static_cast<size_t>(shape.numel() * width);
    source.storage = cpu_device().allocator().allocate(bytes);
    Runtime::get().read(tensor.id(), source.storage->data(), bytes);
    source.data = static_cast<const std::byte*>(source.storage->data());
    return source;
  };
  if (!Runtime::get().devices(tensor.id()).contains(cpu_device())) return copy();
  auto [storage, layout] = Runtime::get().host_storage(tensor.id());
  bool contiguous = true;
  const auto strides = shape.contiguous_strides();
  for (int i = 0; i < shape.rank(); ++i) {
    contiguous = contiguous && (shape[i] <= 1 || layout.strides[i] == strides[i] * width);
  }
  if (!contiguous) return copy();
  source.data = static_cast<const std::byte*>(storage->data()) + layout.offset;
  source.storage = std::move(storage);
  return source;
}

DataLoader::DataLoader(const Tensor& inputs, const Tensor& targets, const LoaderOptions& options)
    : options_(options), inputs_(open(inputs, "inputs")), targets_(open(targets, "targets")) {
  if (inputs_.rows != targets_.rows) {
    throw ShapeError(
        str("a data set of ", inputs_.rows, " inputs and ", targets_.rows, " targets"));
  }
  if (options.batch <= 0) throw Error(str("a batch of ", options.batch, " rows"));
  const DType dtype = inputs_.type.dtype;
  if (options.normalize && dtype != DType::U8 && dtype != DType::F32) {
    throw DTypeError(str("a loader normalizes u8 and f32, the inputs are ", dtype));
  }
}

int64_t DataLoader::batches() const {
  return batches_of(inputs_.rows, options_.batch, options_.drop_last);
}

std::vector<uint32_t> DataLoader::order(int64_t epoch) const {
  std::vector<uint32_t> order(static_cast<size_t>(inputs_.rows));
  std::iota(order.begin(), order.end(), 0);
  if (!options_.shuffle) return order;
  Generator mixed(options_.seed);
  Generator generator(mixed.next() + static_cast<uint64_t>(epoch) * 0xd1342543de82ef95);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[generator.below(i)]);
  return order;
}

Tensor DataLoader::gather(const Source& source, std::span<const uint32_t> rows,
                          const std::optional<Normalization>& normalize) const {
  TensorType type = source.type;
  if (normalize) type.dtype = DType::F32;
  std::array<int64_t, kMaxDims> extents{};
  std::copy(type.shape.begin(), type.shape.end(), extents.begin());
  extents[0] = static_cast<int64_t>(rows.size());
  type.shape = Shape(std::span(extents.data(), static_cast<size_t>(type.shape.rank())));

  const int64_t count = source.row_elements;
  const auto row_bytes = static_cast<size_t>(count) * size_of(source.type.dtype);
  const auto out_bytes = static_cast<size_t>(count) * size_of(type.dtype);
  const StoragePtr storage = cpu_device().allocator().allocate(rows.size() * out_bytes);
  auto* to = static_cast<std::byte*>(storage->data());
  for (const uint32_t row : rows) {
    const std::byte* from = source.data + row * row_bytes;
    if (!normalize) {
      std::memcpy(to, from, row_bytes);
    } else if (source.type.dtype == DType::U8) {
      normalize_row(reinterpret_cast<const uint8_t*>(from), reinterpret_cast<float*>(to), count,
                    *normalize);
    } else {
      normalize_row(reinterpret_cast<const float*>(from), reinterpret_cast<float*>(to), count,
                    *normalize);
    }
    to += out_bytes;
  }
  return from_storage(type, storage);
}

Batch DataLoader::batch(const std::vector<uint32_t>& order, int64_t i) const {
  const auto total = static_cast<int64_t>(order.size());
  const int64_t batches = batches_of(total, options_.batch, false);
  if (i < 0 || i >= batches) throw IndexError(str("batch ", i, " of ", batches));
  const int64_t first = i * options_.batch;
  const int64_t count = std::min(options_.batch, total - first);
  const auto rows =
      std::span(order).subspan(static_cast<size_t>(first), static_cast<size_t>(count));
  for (const uint32_t row : rows) {
    if (row >= inputs_.rows) throw IndexError(str("row ", row, " of ", inputs_.rows));
  }
  return {gather(inputs_, rows, options_.normalize), gather(targets_, rows, std::nullopt)};
}

DataLoader::Iterator DataLoader::begin() {
  Iterator it;
  it.loader_ = this;
  it.order_ = std::make_shared<const std::vector<uint32_t>>(order(next_epoch_++));
  return it;
}

}  // namespace reprise::io
