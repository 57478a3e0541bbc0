// The first training step of the 784-256-128-10 perceptron: prints the MiB that this process then
// has in memory. Started anew by bench_overheads.
#include <fstream>
#include <iostream>
#include <string>

#include "frontend/reprise.h"

namespace {

namespace rp = reprise;

struct Mlp : rp::nn::Module {
  rp::nn::Linear fc1{*this, "fc1", 784, 256}, fc2{*this, "fc2", 256, 128},
      fc3{*this, "fc3", 128, 10};
  rp::Tensor operator()(const rp::Tensor& x) const { return fc3(rp::relu(fc2(rp::relu(fc1(x))))); }
};

double resident_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kib = 0;
    if (word == "VmRSS:" && status >> kib) return kib / 1024;
  }
  return 0;
}

}  // namespace

int main() {
  rp::set_num_threads(1);
  const Mlp net;
  rp::optim::Sgd optimizer(net.parameters());
  const rp::Tensor x = rp::stored_zeros({rp::DType::F32, {64, 784}});
  const rp::Tensor y = rp::stored_zeros({rp::DType::I64, {64}});
  {
    const rp::Tape tape;
    const rp::Tensor loss = rp::cross_entropy(net(x), y);
    optimizer.step(tape.gradient(loss, net.parameters()));
    tape.realize(loss);
    static_cast<void>(loss.item<float>());
  }
  std::cout << resident_mib() << std::endl;
  return 0;
}
