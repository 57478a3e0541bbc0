// The C++ type of a dtype's elements, for code that is written once for all of them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "ir/dtype.h"

namespace reprise {

/// Calls `visit` with the std::type_identity of an integer dtype's elements. False, and nothing is
/// called, for other dtypes.
template <class Visitor>
bool visit_integer(DType dtype, Visitor&& visit) {
  switch (dtype) {
    case DType::I8:
      visit(std::type_identity<int8_t>{});
      return true;
    case DType::I16:
      visit(std::type_identity<int16_t>{});
      return true;
    case DType::I32:
      visit(std::type_identity<int32_t>{});
      return true;
    case DType::I64:
      visit(std::type_identity<int64_t>{});
      return true;
    case DType::U8:
      visit(std::type_identity<uint8_t>{});
      return true;
    case DType::U16:
      visit(std::type_identity<uint16_t>{});
      return true;
    case DType::U32:
      visit(std::type_identity<uint32_t>{});
      return true;
    case DType::U64:
      visit(std::type_identity<uint64_t>{});
      return true;
    case DType::Bool:
    case DType::F16:
    case DType::BF16:
    case DType::F32:
    case DType::F64:
    case DType::C64:
    case DType::C128:
    case DType::CI8:
    case DType::CI16:
    case DType::CI32:
    case DType::CI64:
    case DType::CU8:
    case DType::CU16:
    case DType::CU32:
    case DType::CU64:
      return false;
  }
  return false;
}

/// The same for integers, f32 and f64: the dtypes that C++ computes in.
template <class Visitor>
bool visit_number(DType dtype, Visitor&& visit) {
  if (dtype == DType::F32) {
    visit(std::type_identity<float>{});
    return true;
  }
  if (dtype == DType::F64) {
    visit(std::type_identity<double>{});
    return true;
  }
  return visit_integer(dtype, visit);
}

}  // namespace reprise
