// The textual form of kernels: print(parse(text)) == text, and errors that say where.
#include <gtest/gtest.h>

#include "ir/error.h"
#include "ir/kernel.h"
#include "ir/text.h"

namespace reprise {
namespace {

// Everything the grammar has, once.
constexpr const char* kEverything = R"(kernel {
  input b0: f32[50176]
  input b1: bool[64]
  input b2: f16[64]
  output b3: f32[64]
  output b4: i64[64]
  scratch b5: f32[128]
  local b6: f32[10]
  param p0: f32
  param p1: i64
  phase {
    part grid [64] {
      loop parallel [] reduce [784] {
        %0 = load b0[g0*784 + r0] : f32
        %1 = param p0 : f32
        %2 = mul %0, %1 : f32
        %3 = load b1[g0] : bool
        %4 = load b0[-r0 + g0*784 + 783] where %3 : f32
        reduce sum %2 : f32
        reduce argmax %4 : i64
      } post {
        %0 = reduced 0 : f32
        store b3[g0], %0
        %2 = reduced 1 : i64
        store b4[g0], %2
      }
    }
    part grid [] {
      loop parallel [4, 2] reduce [] {
        %0 = index i0*2 + i1 - 3
        %1 = param p1 : i64
        %2 = add %0, %1 : i64
        %3 = check_index %2 below 64 : i64
        %4 = load b2[%3] : f16
        %5 = cast %4 : f32
        %6 = const 1.5 : f32
        %7 = lt %5, %6 : bool
        %8 = select %7, %5, %6 : f32
        %9 = fma %8, %8, %6 : f32
        %10 = bitcast %9 : u32
        %11 = const nan:0x7fc00000 : f32
        %12 = const -inf : f32
        %13 = const -9223372036854775808 : i64
        %14 = const 18446744073709551615 : u64
        %15 = const 1 : bool
        %16 = const 0.1 : f16
        %17 = const 1e-45 : f32
        %18 = const -0 : f64
        store b5[i0*2 + i1], %9 where %7
      }
    }
  }
  phase {
    part grid [] {
      contraction parallel [8, 8] reduce [8] {
        %0 = load b5[i0*8 + r0] : f32
        %1 = load b5[i1*8 + r0 + 64] : f32
        reduce dot %0, %1 : f32
      } post {
        %0 = reduced 0 : f32
        store b3[i0*8 + i1], %0
      }
    }
  }
}
)";

TEST(KernelText, PrintsWhatItParsed) {
  const Kernel kernel = parse_kernel(kEverything);
  std::string text = print(kernel);
  // Terms are printed in the order of the variables.
  std::string expected = kEverything;
  const std::string loose = "[-r0 + g0*784 + 783]";
  expected.replace(expected.find(loose), loose.size(), "[g0*784 - r0 + 783]");
  EXPECT_EQ(text, expected);
  EXPECT_EQ(parse_kernel(text), kernel);
}

TEST(KernelText, CommentsAndSpacingDoNotCount) {
  const Kernel kernel =
      parse_kernel("kernel{# nothing\nphase{part grid[]{loop parallel[]reduce[]{}}}}");
  EXPECT_EQ(print(kernel),
            "kernel {\n  phase {\n    part grid [] {\n      loop parallel [] reduce [] {\n"
            "      }\n    }\n  }\n}\n");
}

TEST(KernelText, KeepsTheExtremesOfAffineForms) {
  const std::string text = R"(kernel {
  phase {
    part grid [2] {
      loop parallel [] reduce [] {
        %0 = index -g0*9223372036854775808 - 9223372036854775808
        %1 = index 0
        %2 = index -g0
      }
    }
  }
}
)";
  EXPECT_EQ(print(parse_kernel(text)), text);
}

std::string message_of(const std::string& text) {
  try {
    static_cast<void>(parse_kernel(text));
  } catch (const ParseError& error) {
    return error.what();
  }
  return "no error";
}

std::string body_error(const std::string& line) {
  return message_of(
      "kernel {\n  input b0: f32[4]\n  phase {\n    part grid [4] {\n"
      "      loop parallel [] reduce [] {\n" +
      line + "\n      }\n    }\n  }\n}\n");
}

TEST(KernelText, ErrorsNameThePlace) {
  EXPECT_EQ(message_of("kernal {}"), "line 1, column 1: expected 'kernel', found 'kernal'");
  EXPECT_EQ(message_of("kernel {"), "line 1, column 9: expected '}', found the end of the text");
  EXPECT_EQ(message_of("kernel {} x"),
            "line 1, column 11: expected the end of the text, found 'x'");
  EXPECT_EQ(message_of("kernel {\n  input b1: f32[4]\n}"),
            "line 2, column 9: expected b0, the next buffer");
  EXPECT_EQ(message_of("kernel {\n  input b0: f33[4]\n}"),
            "line 2, column 13: expected a dtype, found 'f33'");
  EXPECT_EQ(message_of("kernel { phase { part grid [2,] {"),
            "line 1, column 31: expected an integer, found ']'");
  EXPECT_EQ(body_error("%0 = frob %1 : f32"), "line 6, column 6: 'frob' is no scalar operation");
  EXPECT_EQ(body_error("%1 = const 0 : f32"),
            "line 6, column 1: expected %0, the position of the instruction");
  EXPECT_EQ(body_error("%0 = load b0[i0] : f32"), "line 6, column 14: i0 is not in scope here");
  EXPECT_EQ(body_error("%0 = load b0[g0*x] : f32"),
            "line 6, column 17: expected a variable or an integer, found 'x'");
  EXPECT_EQ(body_error("%0 = const 300 : u8"),
            "line 6, column 12: expected an integer in the range of u8, found '300'");
  EXPECT_EQ(body_error("%0 = const nan:0x7f800000 : f32"),
            "line 6, column 18: these are not the bits of a NaN of f32");
  EXPECT_EQ(body_error("store b0[g0], %0"), "line 6, column 15: %0 is not defined before its use");
  EXPECT_EQ(body_error("reduce total %0 : f32"), "line 6, column 8: 'total' is no reduction");
  EXPECT_EQ(body_error("%99999999999 = const 0 : f32"),
            "line 6, column 1: expected an id below 4294967295, found '%99999999999'");
}

// Each bit pattern of the 16-bit types, and a sample of the others, reads back as itself.
TEST(KernelText, ConstantsRoundTrip) {
  const auto expect = [](uint64_t bits, DType dtype) {
    const std::string text = print_element(bits, dtype);
    Lexer lexer(text);
    EXPECT_EQ(lexer.element(dtype), bits) << text << ' ' << dtype;
    EXPECT_TRUE(lexer.at_end());
  };
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    expect(bits, DType::F16);
    expect(bits, DType::BF16);
    expect(bits, DType::I16);
  }
  uint64_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    expect(state >> 32, DType::F32);
    expect(state, DType::F64);
    expect(state, DType::I64);
    expect(state, DType::U64);
  }
}

}  // namespace
}  // namespace reprise
