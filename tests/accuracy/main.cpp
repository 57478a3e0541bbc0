// bin/accuracy: measures the functions of floats and writes docs/ACCURACY.md.
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>

#include "ir/error.h"
#include "runtime/cpu/target.h"
#include "tests/accuracy/table.h"

namespace reprise {
namespace {

int main_checked(int argc, char** argv) {
  CLI::App app{"Measures the errors of the functions of floats, in compiled kernels"};
  ArgumentChoice choice;
  std::string only, path;
  app.add_option("--op", only, "Only this function");
  app.add_option("--stride", choice.stride, "f32: one bit pattern of so many")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--per-binade", choice.per_binade, "f64: random ones of each sign and exponent")
      ->capture_default_str();
  app.add_option("--pairs", choice.pairs, "Of functions of two arguments")->capture_default_str();
  app.add_option("-o", path, "Write the page here, not to the standard output");
  CLI11_PARSE(app, argc, argv);
  if (detected_cpu_level() < CpuLevel::Avx2) {
    throw Error("needs a CPU with AVX2: it measures code with and without fused multiply-add");
  }
  const std::vector<TargetInfo> targets = {cpu_target(CpuLevel::Avx2), cpu_target(CpuLevel::Sse2)};
  std::vector<MeasuredRow> rows;
  bool same = true;
  for (const DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16}) {
    for (const TrueFunction& function : true_functions()) {
      if (!only.empty() && function.name != only) continue;
      std::cerr << dtype << ' ' << function.name << '\n';
      const std::vector<Accuracy> found = measure(function, dtype, targets, choice);
      for (const Accuracy& accuracy : found) {
        if (accuracy.differing == 0) continue;
        same = false;
        std::cerr << "  scalar code gives other bits " << accuracy.differing << " times\n";
      }
      rows.push_back({std::string(function.name), dtype, function.operands, found[0], found[1]});
    }
  }
  const std::string page = render(rows, choice);
  if (path.empty()) {
    std::cout << page;
  } else {
    std::ofstream file(path);
    file << page;
    if (!file.flush()) throw Error(str("cannot write ", path));
  }
  return same ? 0 : 1;
}

}  // namespace
}  // namespace reprise

int main(int argc, char** argv) {
  try {
    return reprise::main_checked(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "accuracy: " << error.what() << '\n';
    return 2;
  }
}
