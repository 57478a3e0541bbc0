// Uses the installed package as a stranger would: one header, one target.
#include <reprise/reprise.h>

#include <cstdio>
#include <vector>

namespace rp = reprise;

int main() {
  const rp::Tensor x = rp::Tensor::of({1.0f, 2.0f, 3.0f});
  const std::vector<float> y = (x * x + 1).to_vector<float>();
  const bool right = y == std::vector<float>{2, 5, 10};
  std::puts(right ? "ok" : "wrong");
  return right ? 0 : 1;
}
