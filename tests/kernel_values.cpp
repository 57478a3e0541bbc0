// Random elements of every dtype: zeros, infinities, NaNs, denormals and extremes among them.
#include "tests/kernel_values.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "ir/float16.h"

namespace reprise {
namespace {

template <class T>
void put(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

template <class T>
T random_float(std::mt19937_64& random, bool plain) {
  const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
  if (plain) return static_cast<T>(unit * 2 - 1);
  switch (random() % 24) {
    case 0:
      return std::numeric_limits<T>::quiet_NaN();
    case 1:
      return std::numeric_limits<T>::infinity();
    case 2:
      return -std::numeric_limits<T>::infinity();
    case 3:
      return T{0};
    case 4:
      return -T{0};
    case 5:
      return std::numeric_limits<T>::denorm_min() * static_cast<T>(random() % 1000);
    case 6:
      return std::numeric_limits<T>::max();
    case 7:
      return static_cast<T>(static_cast<int>(random() % 9) - 4) / 2;
    case 8:
      return static_cast<T>(std::ldexp(unit - 0.5, static_cast<int>(random() % 120) - 60));
    default:
      return static_cast<T>((unit * 2 - 1) * 8);
  }
}

}  // namespace

void fill_elements(std::byte* data, DType dtype, int64_t extent, std::mt19937_64& random,
                   const KernelValues& values) {
  for (int64_t i = 0; i < extent; ++i) {
    std::byte* at = data + static_cast<size_t>(i) * size_of(dtype);
    switch (dtype) {
      case DType::Bool:
        put<uint8_t>(at, random() % 3 == 0 ? 0 : static_cast<uint8_t>(random() % 4));
        break;
      case DType::F32:
        put(at, random_float<float>(random, values.plain));
        break;
      case DType::F64:
        put(at, random_float<double>(random, values.plain));
        break;
      case DType::F16:
        put(at, values.plain ? f16_from_float(random_float<float>(random, true))
                             : static_cast<uint16_t>(random()));
        break;
      case DType::BF16:
        put(at, values.plain ? bf16_from_float(random_float<float>(random, true))
                             : static_cast<uint16_t>(random()));
        break;
      default: {
        uint64_t value = random();
        if (values.index_bound > 0) {
          value = value % static_cast<uint64_t>(2 * values.index_bound) -
                  static_cast<uint64_t>(values.index_bound);
        } else if (random() % 4 == 0) {
          const uint64_t lowest = static_cast<uint64_t>(min_integer(dtype));
          const uint64_t special[] = {0, 1, ~uint64_t{0}, max_integer(dtype), lowest, 2, 3, 7};
          value = special[random() % 8];
        } else if (random() % 2 == 0) {
          value = random() % 40 - 20;
        }
        std::memcpy(at, &value, size_of(dtype));
      }
    }
  }
}

bool same_element(DType dtype, const std::byte* a, const std::byte* b) {
  if (std::memcmp(a, b, size_of(dtype)) == 0) return true;
  uint64_t x = 0, y = 0;
  std::memcpy(&x, a, size_of(dtype));
  std::memcpy(&y, b, size_of(dtype));
  const auto both_nan = [&](uint64_t magnitude, uint64_t infinity) {
    return (x & magnitude) > infinity && (y & magnitude) > infinity;
  };
  switch (dtype) {
    case DType::F16:
      return both_nan(0x7fff, 0x7c00);
    case DType::BF16:
      return both_nan(0x7fff, 0x7f80);
    case DType::F32:
      return both_nan(0x7fffffff, 0x7f800000);
    case DType::F64:
      return both_nan(0x7fffffffffffffff, 0x7ff0000000000000);
    default:
      return false;
  }
}

std::string element_text(DType dtype, const std::byte* at) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, size_of(dtype));
  std::ostringstream out;
  out << "0x" << std::hex << bits;
  if (dtype == DType::F32) out << " (" << std::bit_cast<float>(static_cast<uint32_t>(bits)) << ')';
  if (dtype == DType::F64) out << " (" << std::bit_cast<double>(bits) << ')';
  return out.str();
}

}  // namespace reprise
