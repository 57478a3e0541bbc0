// Kernels written out for the code generators' tests.
#include "tests/kernel_texts.h"

#include "ir/error.h"

namespace reprise {

std::string kernel_of_ops(DType dtype, const std::vector<std::string>& ops, int64_t count) {
  std::string text = "kernel {\n";
  for (int i = 0; i < 3; ++i) text += str("input b", i, ": ", dtype, "[", count, "]\n");
  std::string body;
  int next = 3;
  int buffer = 3;
  for (int i = 0; i < 3; ++i) body += str("%", i, " = load b", i, "[g0] : ", dtype, "\n");
  for (const std::string& op : ops) {
    const size_t colon = op.find(':');  // "lt %0, %1 : bool" has its own dtype
    const std::string result =
        colon == std::string::npos ? std::string(name(dtype)) : op.substr(colon + 2);
    const std::string head = colon == std::string::npos ? op + " " : op.substr(0, colon);
    text += str("output b", buffer, ": ", result, "[", count, "]\n");
    body += str("%", next, " = ", head, ": ", result, "\n");
    body += str("store b", buffer, "[g0], %", next, "\n");
    next += 2;  // a store takes a number too
    ++buffer;
  }
  return str(text, "phase { part grid [", count, "] { loop parallel [] reduce [] {\n", body,
             "} } } }");
}

std::vector<std::string> kernels_of_operations() {
  constexpr DType kInts[] = {DType::I8, DType::I16, DType::I32, DType::I64,
                             DType::U8, DType::U16, DType::U32, DType::U64};
  constexpr DType kAll[] = {DType::Bool, DType::I8,  DType::I16, DType::I32, DType::I64,
                            DType::U8,   DType::U16, DType::U32, DType::U64, DType::F16,
                            DType::BF16, DType::F32, DType::F64};
  std::vector<std::string> kernels;
  for (const DType dtype : kInts) {
    std::vector<std::string> ops = {
        "neg %0",           "abs %0",           "not %0",           "add %0, %1",
        "sub %0, %1",       "mul %0, %1",       "div %0, %1",       "mod %0, %1",
        "min %0, %1",       "max %0, %1",       "and %0, %1",       "or %0, %1",
        "xor %0, %1",       "shl %0, %1",       "shr %0, %1",       "fma %0, %1, %2",
        "eq %0, %1 : bool", "ne %0, %1 : bool", "lt %0, %1 : bool", "le %0, %1 : bool",
        "floor %0",         "round %0"};
    if (is_unsigned_integer(dtype)) ops.push_back("mul_high %0, %1");
    kernels.push_back(kernel_of_ops(dtype, ops, 403));
  }
  for (const DType dtype : {DType::F32, DType::F64}) {
    kernels.push_back(kernel_of_ops(
        dtype, {"neg %0",           "abs %0",           "sqrt %0",          "floor %0",
                "ceil %0",          "trunc %0",         "round %0",         "add %0, %1",
                "sub %0, %1",       "mul %0, %1",       "div %0, %1",       "mod %0, %1",
                "min %0, %1",       "max %0, %1",       "copysign %0, %1",  "fma %0, %1, %2",
                "eq %0, %1 : bool", "ne %0, %1 : bool", "lt %0, %1 : bool", "le %0, %1 : bool"},
        2003));
  }
  kernels.push_back(
      kernel_of_ops(DType::Bool,
                    {"not %0", "and %0, %1", "or %0, %1", "xor %0, %1", "min %0, %1", "max %0, %1",
                     "eq %0, %1", "ne %0, %1", "lt %0, %1", "le %0, %1", "select %0, %1, %2"},
                    131));
  for (const DType from : kAll) {
    std::vector<std::string> casts;
    for (const DType to : kAll) {
      if (to != from) casts.push_back(str("cast %0 : ", to));
    }
    kernels.push_back(kernel_of_ops(from, casts, 1009));
  }
  return kernels;
}

std::string kernel_of_loops(int outer, int inner) {
  return str("kernel {\ninput b0: f32[", 6 * outer * inner,
             "]\noutput b1: f32[6]\noutput b2: f32[6]\n",
             "phase { part grid [2] { loop parallel [3] reduce [", outer, ", ", inner,
             "] {\n%0 = load b0[g0*", 3 * inner, " + i0*", inner, " + r0*", 6 * inner,
             " + r1] : f32\nreduce sum %0 : f32\nreduce max %0 : f32\n} post {\n%0 = reduced 0 : "
             "f32\n%1 = reduced 1 : f32\n%2 = mul %0, %1 : f32\nstore b1[g0*3 + i0], %2\nstore "
             "b2[g0*3 + i0], %0\n} } } }");
}

std::string kernel_of_reduction(std::string_view kind, DType dtype, DType result, int64_t rows,
                                int64_t extent, int64_t row_stride, int64_t stride) {
  return str("kernel {\ninput b0: ", dtype, "[", rows * extent, "]\noutput b1: ", result, "[", rows,
             "]\nphase { part grid [", rows, "] { loop parallel [] reduce [", extent,
             "] {\n%0 = load b0[g0*", row_stride, " + r0*", stride, "] : ", dtype, "\nreduce ",
             kind, " %0 : ", result, "\n} post {\n%0 = reduced 0 : ", result,
             "\nstore b1[g0], %0\n} } } }");
}

std::string kernel_of_accesses(int n) {
  return str("kernel {\ninput b0: f32[", 3 * n + 8, "]\ninput b1: i64[", n, "]\noutput b2: f32[",
             7 * n, "]\noutput b3: f32[", 7 * n, "]\noutput b4: i64[", 7 * n, "]\noutput b5: f32[",
             14 * n, "]\noutput b6: f32[", 7 * n, "]\nphase { part grid [7, ", n,
             "] { loop parallel [] reduce [] {\n"
             "%0 = load b0[g1] : f32\n"
             "%1 = load b0[g0] : f32\n"
             "%2 = load b0[-g1 + ",
             n - 1,
             "] : f32\n"
             "%3 = load b0[g1*3 + 1] : f32\n"
             "%4 = load b1[g1] : i64\n"
             "%5 = check_index %4 below ",
             3 * n,
             " : i64\n"
             "%6 = load b0[g0 + %5] : f32\n"
             "%7 = index g0 - g1\n"
             "%8 = const 2 : i64\n"
             "%9 = lt %7, %8 : bool\n"
             "%10 = load b0[g1*3 + 2] where %9 : f32\n"
             "%11 = add %0, %1 : f32\n"
             "%12 = add %2, %3 : f32\n"
             "%13 = add %11, %12 : f32\n"
             "store b2[g0*",
             n, " + g1], %13\n",
             "%15 = add %6, %1 : f32\n"
             "store b3[g0*",
             n,
             " + g1], %15 where %9\n"
             "store b4[g0*",
             n, " - g1 + ", n - 1,
             "], %7\n"
             "store b5[g0*",
             2 * n, " + g1*2], %10 where %9\n",
             // Far outside the buffer wherever the mask is false.
             "%19 = index g1\n%20 = const 0 : i64\n%21 = eq %19, %20 : bool\n"
             "%22 = load b0[g1*1000000] where %21 : f32\n"
             "store b6[g0*",
             n, " + g1], %22\n} } } }");
}

std::string kernel_of_rows(int n) {
  return str(
      "kernel {\ninput b0: f32[", 9 * n, "]\noutput b1: f32[", 9 * n,
      "]\nlocal b2: f32[1]\nlocal b3: f32[", n, "]\nlocal b4: f32[1]\n",
      "phase { part grid [9] {\n"
      "loop parallel [] reduce [",
      n, "] {\n%0 = load b0[g0*", n,
      " + r0] : f32\nreduce max %0 : f32\n} post {\n%0 = reduced 0 : f32\nstore b2[0], %0\n}\n"
      "loop parallel [",
      n, "] reduce [] {\n%0 = load b0[g0*", n,
      " + i0] : f32\n%1 = load b2[0] : f32\n%2 = sub %0, %1 : f32\nstore b3[i0], %2\n}\n"
      "loop parallel [] reduce [",
      n,
      "] {\n%0 = load b3[r0] : f32\nreduce sum %0 : f32\n} post {\n%0 = reduced 0 : f32\nstore "
      "b4[0], %0\n}\n"
      "loop parallel [",
      n,
      "] reduce [] {\n%0 = load b3[i0] : f32\n%1 = load b4[0] : f32\n%2 = "
      "div %0, %1 : f32\nstore b1[g0*",
      n, " + i0], %2\n}\n} } }");
}

std::string kernel_of_sequences(int columns, int rows, int steps) {
  const int all = rows * columns, updates = steps * columns;
  const auto row = str("%0 = load b1[r0] : i64\n%1 = check_index %0 below ", rows,
                       " : i64\n%2 = const ", columns, " : i64\n%3 = mul %1, %2 : i64\n");
  return str("kernel {\ninput b0: f32[", 2 * updates, "]\ninput b1: i64[", steps,
             "]\noutput b2: f32[", 2 * all, "]\noutput b3: f32[", 2 * all, "]\nlocal b4: f32[", all,
             "]\nphase { part grid [", 2 * all,
             "] { loop parallel [] reduce [] {\n%0 = const 0.5 : f32\nstore b2[g0], %0\n} } }\n",
             "phase { part grid [2, ", columns, "] { sequence parallel [] reduce [", steps, "] {\n",
             row, "%4 = load b2[g0*", all, " + g1 + %3] : f32\n%5 = load b0[g0*", updates,
             " + g1 + r0*", columns, "] : f32\n%6 = add %4, %5 : f32\nstore b2[g0*", all,
             " + g1 + %3], %6\n} }\npart grid [2] { loop parallel [", all,
             "] reduce [] {\n%0 = const 1 : f32\nstore b4[i0], %0\n}\nsequence parallel [", columns,
             "] reduce [", steps, "] {\n", row, "%4 = load b4[i0 + %3] : f32\n%5 = load b0[g0*",
             updates, " + i0 + r0*", columns,
             "] : f32\n%6 = sub %4, %5 : f32\nstore b4[i0 + %3], %6\n}\nloop parallel [", all,
             "] reduce [] {\n%0 = load b4[i0] : f32\nstore b3[g0*", all, " + i0], %0\n} } } }");
}

std::string kernel_of_parts_and_phases() {
  return R"(kernel {
    input b0: f32[100]
    output b1: f32[100]
    output b2: f32[33]
    output b3: f32[1]
    output b4: f64[2]
    param p0: f32
    phase {
      part grid [100] { loop parallel [] reduce [] {
        %0 = load b0[g0] : f32
        %1 = param p0 : f32
        %2 = mul %0, %1 : f32
        store b1[g0], %2
      } }
      part grid [0] { loop parallel [] reduce [] {
        %0 = load b0[g0] : f32
        store b3[g0], %0
      } }
      part grid [2] { loop parallel [] reduce [50] {
        %0 = load b0[g0*50 + r0] : f32
        %1 = cast %0 : f64
        reduce sum %1 : f64
      } post {
        %0 = reduced 0 : f64
        store b4[g0], %0
      } }
      part grid [33] { loop parallel [] reduce [] {
        %0 = load b0[g0*3] : f32
        store b2[g0], %0
      } }
    }
    phase {
      part grid [] { loop parallel [] reduce [100] {
        %0 = load b1[r0] : f32
        reduce sum %0 : f32
      } post {
        %0 = reduced 0 : f32
        store b3[0], %0
      } }
    }
  })";
}

}  // namespace reprise
