// DataLoader: shuffled batches of a data set that stays in memory.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include "frontend/tensor.h"

namespace reprise::io {

/// Inputs become f32: (x - mean) * scale, converted while the rows are copied into the batch, so a
/// data set of bytes stays one of bytes.
struct Normalization {
  float mean = 0;
  float scale = 1;
};

struct LoaderOptions {
  int64_t batch = 64;
  bool shuffle = true;
  uint64_t seed = 0;      ///< the order of epoch e depends on seed and e alone
  bool drop_last = true;  ///< every batch has one shape, so a step compiles once
  std::optional<Normalization> normalize = {};
};

struct Batch {
  Tensor x;
  Tensor y;
};

/// `for (auto [x, y] : loader)` goes through one epoch; the next `begin` starts the next.
class DataLoader {
 public:
  /// Rows are positions of the first axis. Throws ShapeError when the two do not have equally many,
  /// Error for a batch of no rows.
  DataLoader(const Tensor& inputs, const Tensor& targets, const LoaderOptions& options = {});

  [[nodiscard]] int64_t batches() const;
  [[nodiscard]] int64_t rows() const { return inputs_.rows; }
  /// The epoch that the next `begin` starts.
  void set_epoch(int64_t epoch) { next_epoch_ = epoch; }
  /// Batch number `i` of an order of rows.
  [[nodiscard]] Batch batch(const std::vector<uint32_t>& order, int64_t i) const;
  [[nodiscard]] std::vector<uint32_t> order(int64_t epoch) const;

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Batch;
    Batch operator*() const { return loader_->batch(*order_, index_); }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    void operator++(int) { ++index_; }
    friend bool operator==(const Iterator& it, std::default_sentinel_t) {
      return it.index_ >= it.loader_->batches();
    }

   private:
    friend class DataLoader;
    const DataLoader* loader_ = nullptr;
    std::shared_ptr<const std::vector<uint32_t>> order_;
    int64_t index_ = 0;
  };
  [[nodiscard]] Iterator begin();
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }

 private:
  struct Source {
    TensorType type;
    StoragePtr storage;
    const std::byte* data = nullptr;
    int64_t rows = 0;
    int64_t row_elements = 0;
  };
  static Source open(const Tensor& tensor, const char* what);
  Tensor gather(const Source& source, std::span<const uint32_t> rows,
                const std::optional<Normalization>& normalize) const;

  LoaderOptions options_;
  Source inputs_;
  Source targets_;
  int64_t next_epoch_ = 0;
};

}  // namespace reprise::io
