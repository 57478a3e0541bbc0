// What the machine can do, beside which the other programs' rows are to be read.
#include <memory>

#include "frontend/reprise.h"
#include "machine_limits.h"
#include "rows.h"

namespace {

namespace rp = reprise;
using namespace rp::bench;

constexpr int64_t kBytes = int64_t{256} << 20;

/// Made when first used: nothing is touched where no row is wanted.
std::shared_ptr<Area>& area(Pages pages, int index) {
  static std::shared_ptr<Area> all[2][2];
  std::shared_ptr<Area>& found = all[static_cast<int>(pages)][index];
  if (!found) found = std::make_shared<Area>(kBytes, pages);
  return found;
}

void add_rows(int threads) {
  const auto name = [&](const char* what) { return rp::str(what, '_', threads, 't'); };
  add({.name = name("fma_f32"),
       .ours = [=] { multiply_add(threads); },
       .threads = threads,
       .flops = static_cast<double>(multiply_add_flops(threads)),
       .unit = "GFLOP/s"});
  for (const Pages pages : {Pages::Small, Pages::Huge}) {
    const std::string kind = pages == Pages::Huge ? "huge" : "small";
    add({.name = name(("read_" + kind + "_pages").c_str()),
         .ours = [=] { read(*area(pages, 0), threads); },
         .threads = threads,
         .bytes = static_cast<double>(kBytes),
         .unit = "GB/s"});
    for (const Stores stores : {Stores::Ordinary, Stores::Streaming}) {
      const std::string how = stores == Stores::Streaming ? "streaming" : "ordinary";
      add({.name = name(("copy_" + how + "_" + kind + "_pages").c_str()),
           .ours = [=] { copy(*area(pages, 0), *area(pages, 1), stores, threads); },
           .threads = threads,
           .bytes = 2.0 * kBytes,
           .unit = "GB/s"});
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (const int threads : {1, 2}) add_rows(threads);
  return run(argc, argv);
}
