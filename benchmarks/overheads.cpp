// What the library itself costs: recording an op, realizing or replaying a chain, compiling one,
// the first step of a new process. PyTorch beside it computes at once (eager), or runs what was
// traced (torchscript).
#include <chrono>
#include <string>
#include <vector>

#include "child.h"
#include "frontend/reprise.h"
#include "rows.h"

namespace {

namespace rp = reprise;

constexpr int kOps = 1000;

rp::Tensor one_element() {
  return rp::stored_zeros({rp::DType::F32, {1}});
}

rp::Tensor chain(const rp::Tensor& a, int64_t ops) {
  rp::Tensor x = a;
  for (int64_t i = 0; i < ops; ++i) x = x * a;
  return x;
}

void add_recording() {
  rp::bench::add({.name = "record_op",
                  .ours =
                      [a = one_element(), b = one_element()] {
                        const rp::Tape tape;
                        for (int i = 0; i < kOps; ++i) static_cast<void>(a * b);
                      },
                  .python = {{.work = "eager_op tensor"},
                             {.work = "numpy_op tensor", .name = "numpy", .is_tuned_too = false}},
                  .calls = kOps,
                  .unit = "ns"});
  rp::bench::add({.name = "record_op_with_literal",
                  .ours =
                      [a = one_element()] {
                        const rp::Tape tape;
                        for (int i = 0; i < kOps; ++i) static_cast<void>(a * 2.0f);
                      },
                  .python = {{.work = "eager_op literal"},
                             {.work = "numpy_op literal", .name = "numpy", .is_tuned_too = false}},
                  .calls = kOps,
                  .unit = "ns"});
}

void add_running() {
  rp::bench::add({.name = "realize_chain_of_100",
                  .ours_timed = rp::bench::repeated([a = one_element()] {
                    const rp::Tape tape;
                    const rp::Tensor x = chain(a, 100);
                    const auto start = std::chrono::steady_clock::now();
                    tape.realize(x);
                    const auto elapsed = std::chrono::steady_clock::now() - start;
                    return std::chrono::duration<double>(elapsed).count();
                  }),
                  .unit = "us"});
  rp::bench::add({.name = "record_and_realize_chain_of_100",
                  .ours =
                      [a = one_element()] {
                        const rp::Tape tape;
                        tape.realize(chain(a, 100));
                      },
                  .python = {{.work = "eager_chain 100"}},
                  .unit = "us"});
  const rp::Tensor a = one_element();
  rp::Frozen step;
  {
    const rp::Tape tape;
    step = tape.freeze({a}, {chain(a, 100)});
  }
  rp::bench::add({.name = "replay_chain_of_100",
                  .ours = [step, a] { static_cast<void>(step.replay(a)); },
                  .python = {{.work = "script_chain 100", .name = "torchscript"}},
                  .unit = "us"});
}

/// Kernels that no cache holds.
void add_compiling() {
  for (const int64_t ops : {10, 100, 1000}) {
    rp::bench::add({.name = rp::str("compile_", ops, "_ops"),
                    .ours =
                        [ops, a = rp::stored_zeros({rp::DType::F32, {1 << 10}})] {
                          static int64_t salt = 0;
                          ++salt;  // its bits choose the ops: every chain is a new one
                          rp::Tensor x = a;
                          for (int64_t i = 0; i < ops; ++i) {
                            x = i < 20 && (salt >> i & 1) ? x - a : x + a;
                          }
                          x.realize();
                        },
                    .python = {{.work = rp::str("compile_chain ", ops), .name = "torchscript"}},
                    .unit = "ms"});
  }
}

/// A process that makes the perceptron's first training step and ends: how long it takes, and what
/// it has in memory at its end.
void add_first_step() {
  using rp::bench::run_child;
  const std::vector<std::string> command{FIRST_STEP};
  rp::bench::add({.name = "mlp_first_step",
                  .ours_timed = [=](double) { return run_child(command).seconds; },
                  .python = {{.work = "process seconds"}}});
  rp::bench::add({.name = "mlp_first_step_memory",
                  .ours_timed = [=](double) { return std::stod(run_child(command).output); },
                  .python = {{.work = "process memory"}},
                  .unit = "MiB"});
}

}  // namespace

int main(int argc, char** argv) {
  add_recording();
  add_running();
  add_compiling();
  add_first_step();
  return rp::bench::run(argc, argv);
}
