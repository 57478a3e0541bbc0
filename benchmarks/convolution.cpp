// Convolutions and their gradients in plain layouts beside oneDNN and PyTorch. A layer's reorders
// into the layouts that oneDNN wants and back are counted: they are part of its call.
#include <omp.h>

#include <memory>

#include "frontend/reprise.h"
#include "onednn.h"
#include "rows.h"

namespace {

namespace rp = reprise;
using namespace rp::bench;

struct Problem {
  const char* name;
  Convolution shape;
};

/// Multiply-adds times two, of the positions that lie in the image: padding need not be multiplied.
double flops_of(const Convolution& s) {
  const int64_t p = s.padding();
  const int64_t inside = s.kernel * s.extent - p * (p + 1);
  return 2.0 * static_cast<double>(s.batch * s.inputs * s.outputs * inside * inside);
}

/// Both sides of one problem, on some threads.
class Sides {
 public:
  Sides(const Problem& problem, int threads) : problem_(problem), threads_(threads) {
    const Convolution& s = problem.shape;
    const rp::Shape image{s.batch, s.inputs, s.extent, s.extent};
    const rp::Shape out{s.batch, s.outputs, s.extent, s.extent};
    const rp::Shape kernel{s.outputs, s.inputs, s.kernel, s.kernel};
    x_ = numbers(image.numel(), 1);
    w_ = numbers(kernel.numel(), 2);
    g_ = numbers(out.numel(), 3);
    tensors_ = {rp::Tensor::of(x_, image), rp::Tensor::of(w_, kernel), rp::Tensor::of(g_, out)};
  }

  void add_row(const char* what, const std::vector<Pass>& passes) {
    const auto mine = std::make_shared<std::vector<rp::Tensor>>();
    const auto theirs = std::make_shared<std::vector<std::vector<float>>>();
    const rp::Frozen frozen = freeze(passes);
    const auto check = [mine](const std::vector<float>& expected) {
      std::vector<float> all;
      for (const rp::Tensor& each : *mine) {
        const std::vector<float> values = each.to_vector<float>();
        all.insert(all.end(), values.begin(), values.end());
      }
      return difference(all, expected, 1e-4);
    };
    const Convolution& s = problem_.shape;
    Row row{.name = rp::str("conv_", problem_.name, '_', what, '_', threads_, 't'),
            .ours =
                [=, tensors = tensors_, threads = threads_] {
                  rp::set_num_threads(threads);
                  *mine = frozen.replay(tensors);
                },
            .python = {{.work = rp::str("convolution ", what, ' ', s.batch, ' ', s.inputs, ' ',
                                        s.outputs, ' ', s.extent, ' ', s.kernel, ' ', s.padding()),
                        .check = check}},
            .threads = threads_,
            .flops = static_cast<double>(passes.size()) * flops_of(s),
            .unit = "us"};
    for (const Pass pass : passes) theirs->emplace_back(size_of(pass));
    for (const auto& [name, algorithm] : {std::pair("onednn", Algorithm::Direct),
                                          std::pair("onednn_winograd", Algorithm::Winograd)}) {
      std::vector<Work> calls;
      omp_set_num_threads(threads_);  // its primitives share work as when they were made
      try {
        for (size_t i = 0; i < passes.size(); ++i) {
          if (const Work call = onednn(passes[i], algorithm, (*theirs)[i].data())) {
            calls.push_back(call);
          }
        }
      } catch (const std::exception&) {
        continue;  // it has no such algorithm for this machine
      }
      if (calls.empty()) continue;
      row.peers.push_back({.name = name,
                           .work =
                               [calls, threads = threads_] {
                                 omp_set_num_threads(threads);
                                 for (const Work& call : calls) call();
                               },
                           .check =
                               [check, theirs] {
                                 std::vector<float> all;
                                 for (const auto& each : *theirs) {
                                   all.insert(all.end(), each.begin(), each.end());
                                 }
                                 return check(all);
                               }});
    }
    add(std::move(row));
  }

 private:
  [[nodiscard]] int64_t size_of(Pass pass) const {
    switch (pass) {
      case Pass::Forward:
        return tensors_[2].numel();
      case Pass::InputGradient:
        return tensors_[0].numel();
      case Pass::WeightGradient:
        return tensors_[1].numel();
    }
    return 0;
  }

  [[nodiscard]] rp::Frozen freeze(const std::vector<Pass>& passes) const {
    const rp::Tape tape;
    const rp::Tensor y =
        rp::conv2d(tensors_[0], tensors_[1], {}, {.padding = problem_.shape.padding()});
    std::vector<rp::Tensor> results, wanted;
    for (const Pass pass : passes) {
      if (pass == Pass::Forward) results.push_back(y);
      if (pass != Pass::Forward) wanted.push_back(tensors_[pass == Pass::WeightGradient ? 1 : 0]);
    }
    if (!wanted.empty()) results = tape.gradient(y, wanted, tensors_[2]);
    return tape.freeze(tensors_, results);
  }

  [[nodiscard]] Work onednn(Pass pass, Algorithm algorithm, float* result) const {
    const float* source = pass == Pass::InputGradient ? g_.data() : x_.data();
    const float* other = pass == Pass::WeightGradient ? g_.data() : w_.data();
    return onednn_convolution(problem_.shape, pass, algorithm, source, other, result);
  }

  Problem problem_;
  int threads_;
  std::vector<float> x_, w_, g_;
  std::vector<rp::Tensor> tensors_;
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::unique_ptr<Sides>> all;
  const Problem problems[] = {{"3x32_32", {32, 3, 32, 32, 3}}, {"64x64_16", {32, 64, 64, 16, 3}}};
  for (const Problem& problem : problems) {
    for (const int threads : {1, 2}) {
      all.push_back(std::make_unique<Sides>(problem, threads));
      all.back()->add_row("forward", {Pass::Forward});
      if (problem.shape.inputs == 3) continue;  // an image's gradient: nothing asks for it
      all.back()->add_row("input", {Pass::InputGradient});
      all.back()->add_row("weight", {Pass::WeightGradient});
      all.back()->add_row("backward", {Pass::InputGradient, Pass::WeightGradient});
    }
  }
  return run(argc, argv);
}
