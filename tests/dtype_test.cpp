// Element types: names, ranges and the promotion lattice.
#include "ir/dtype.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

constexpr DType kAll[] = {DType::Bool, DType::I8,  DType::I16, DType::I32, DType::I64,
                          DType::U8,   DType::U16, DType::U32, DType::U64, DType::F16,
                          DType::BF16, DType::F32, DType::F64, DType::C64, DType::C128};

TEST(DTypes, NamesParseBack) {
  for (DType dtype : kAll) EXPECT_EQ(parse_dtype(name(dtype)), dtype);
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
