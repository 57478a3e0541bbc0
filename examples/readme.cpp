// Learns which points lie inside a circle.
#include <reprise/reprise.h>

#include <iostream>
namespace rp = reprise;

struct Mlp : rp::nn::Module {
  rp::nn::Linear hidden{*this, "hidden", 2, 16};
  rp::nn::Linear output{*this, "output", 16, 2};
  rp::Tensor operator()(const rp::Tensor& x) const { return output(rp::relu(hidden(x))); }
};

int main() {
  rp::set_seed(0);
  rp::Tensor x = rp::randn({256, 2});
  rp::Tensor y = rp::sum(x * x, 1) > 1.4;  // inside or outside of a circle
  rp::realize(std::vector{x, y});

  Mlp net;
  std::vector<rp::Tensor> parameters = net.parameters();
  rp::optim::Adam optimizer(parameters, {.lr = 1e-2});
  for (int step = 0; step <= 200; ++step) {
    rp::Tape tape;  // operations on this thread now record
    rp::Tensor loss = rp::cross_entropy(net(x), y.cast(rp::DType::I64));
    optimizer.step(tape.gradient(loss, parameters));
    tape.realize(loss);  // one compiled step; the next ones are replayed
    if (step % 100 == 0) std::cout << "step " << step << "  loss " << loss.item<float>() << '\n';
  }
  rp::Tensor right = rp::argmax(net(x), 1) == y.cast(rp::DType::I64);
  std::cout << "accuracy " << rp::mean(right).item<float>() << '\n';
  return 0;
}
