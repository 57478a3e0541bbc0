// Element types: names, ranges and the promotion lattice.
#include "ir/dtype.h"

#include <gtest/gtest.h>

#include "ir/error.h"

namespace reprise {
namespace {

constexpr DType kAll[] = {DType::Bool, DType::I8,  DType::I16, DType::I32, DType::I64,
                          DType::U8,   DType::U16, DType::U32, DType::U64, DType::F16,
                          DType::BF16, DType::F32, DType::F64, DType::C64, DType::C128};
constexpr DType kComplexIntegers[] = {DType::CI8, DType::CI16, DType::CI32, DType::CI64,
                                      DType::CU8, DType::CU16, DType::CU32, DType::CU64};

TEST(DTypes, NamesParseBack) {
  for (DType dtype : kAll) EXPECT_EQ(parse_dtype(name(dtype)), dtype);
  for (DType dtype : kComplexIntegers) EXPECT_EQ(parse_dtype(name(dtype)), dtype);
  EXPECT_EQ(parse_dtype("float"), std::nullopt);
  EXPECT_EQ(parse_dtype(""), std::nullopt);
}

TEST(DTypes, RangesOfIntegers) {
  EXPECT_EQ(min_integer(DType::I8), -128);
  EXPECT_EQ(max_integer(DType::I8), 127u);
  EXPECT_EQ(min_integer(DType::I64), INT64_MIN);
  EXPECT_EQ(max_integer(DType::I64), static_cast<uint64_t>(INT64_MAX));
  EXPECT_EQ(min_integer(DType::U16), 0);
  EXPECT_EQ(max_integer(DType::U16), 65535u);
  EXPECT_EQ(max_integer(DType::U64), UINT64_MAX);
  EXPECT_EQ(min_integer(DType::Bool), 0);
  EXPECT_EQ(max_integer(DType::Bool), 1u);
}

TEST(DTypes, PairsHaveParts) {
  EXPECT_EQ(part_of(DType::C64), DType::F32);
  EXPECT_EQ(part_of(DType::C128), DType::F64);
  EXPECT_EQ(part_of(DType::CI16), DType::I16);
  EXPECT_EQ(part_of(DType::CU64), DType::U64);
  EXPECT_EQ(part_of(DType::F16), DType::F16);
  EXPECT_EQ(pair_of(DType::F16), std::nullopt);
  EXPECT_EQ(pair_of(DType::Bool), std::nullopt);
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(is_pair(dtype), part_of(dtype) != dtype);
    if (!is_pair(dtype)) continue;
    EXPECT_EQ(pair_of(part_of(dtype)), dtype);
    EXPECT_EQ(size_of(dtype), 2 * size_of(part_of(dtype))) << dtype;
    EXPECT_EQ(is_complex_integer(dtype), is_integer(part_of(dtype))) << dtype;
  }
}

TEST(DTypes, SumsAreSixtyFourBitsWide) {
  EXPECT_EQ(sum_dtype(DType::Bool), DType::I64);
  EXPECT_EQ(sum_dtype(DType::I8), DType::I64);
  EXPECT_EQ(sum_dtype(DType::U8), DType::U64);
  EXPECT_EQ(sum_dtype(DType::F16), DType::F16);
  EXPECT_EQ(sum_dtype(DType::F32), DType::F32);
}

TEST(Promotion, MixedSignednessWidens) {
  EXPECT_EQ(promote(DType::U8, DType::I8), DType::I16);
  EXPECT_EQ(promote(DType::U16, DType::I8), DType::I32);
  EXPECT_EQ(promote(DType::U32, DType::I32), DType::I64);
  EXPECT_EQ(promote(DType::U8, DType::I32), DType::I32);
  EXPECT_EQ(promote(DType::U64, DType::I8), DType::F64);
  EXPECT_EQ(promote(DType::U64, DType::I64), DType::F64);
}

TEST(Promotion, CategoryDecidesFirst) {
  EXPECT_EQ(promote(DType::Bool, DType::U8), DType::U8);
  EXPECT_EQ(promote(DType::Bool, DType::Bool), DType::Bool);
  EXPECT_EQ(promote(DType::F16, DType::I8), DType::F16);
  EXPECT_EQ(promote(DType::F32, DType::I64), DType::F32);
  EXPECT_EQ(promote(DType::F16, DType::BF16), DType::F32);
  EXPECT_EQ(promote(DType::BF16, DType::F64), DType::F64);
  EXPECT_EQ(promote(DType::C64, DType::F32), DType::C64);
  EXPECT_EQ(promote(DType::C64, DType::F64), DType::C128);
  EXPECT_EQ(promote(DType::C64, DType::I64), DType::C64);
  EXPECT_EQ(promote(DType::C64, DType::C128), DType::C128);
}

TEST(Promotion, ComplexIntegersMeetOnlyThemselves) {
  for (DType a : kComplexIntegers) {
    EXPECT_EQ(promote(a, a), a);
    EXPECT_THROW(static_cast<void>(promote(a, DType::F32)), DTypeError);
    EXPECT_THROW(static_cast<void>(promote(DType::C64, a)), DTypeError);
  }
}

TEST(Promotion, IsCommutativeAndNeverDropsTheCategory) {
  for (DType a : kAll) {
    EXPECT_EQ(promote(a, a), a);
    for (DType b : kAll) {
      EXPECT_EQ(promote(a, b), promote(b, a)) << a << " with " << b;
      EXPECT_GE(category(promote(a, b)), std::max(category(a), category(b))) << a << " with " << b;
    }
  }
}

}  // namespace
}  // namespace reprise
