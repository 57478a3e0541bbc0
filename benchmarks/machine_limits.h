// What the machine can do at most: arithmetic and memory, measured.
#pragma once

#include <cstdint>

namespace reprise::bench {

/// Floating-point operations that `multiply_add` makes on so many threads.
[[nodiscard]] int64_t multiply_add_flops(int threads);
/// Independent chains of f32 fused multiply-adds in registers; the result keeps them from
/// vanishing.
float multiply_add(int threads);

enum class Pages : uint8_t { Small, Huge };
enum class Stores : uint8_t { Ordinary, Streaming };

/// Memory that no cache holds: an area of floats whose pages are touched.
class Area {
 public:
  Area(int64_t bytes, Pages pages);
  ~Area();
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;
  [[nodiscard]] float* data() const { return data_; }
  [[nodiscard]] int64_t bytes() const { return bytes_; }

 private:
  float* data_;
  int64_t bytes_;
};

float read(const Area& from, int threads);
/// The areas are of one size.
void copy(const Area& from, Area& into, Stores stores, int threads);

}  // namespace reprise::bench
