#include "onednn.h"

#if BENCH_HAS_ONEDNN
#include <dnnl.hpp>
#include <memory>
#include <unordered_map>
#include <vector>
#endif

namespace reprise::bench {

#if BENCH_HAS_ONEDNN
namespace {

using dnnl::memory;

memory::desc plain(const memory::dims& dims) {
  return {dims, memory::data_type::f32, memory::format_tag::nchw};  // oihw is the same order
}
memory::desc any(const memory::dims& dims) {
  return {dims, memory::data_type::f32, memory::format_tag::any};
}

/// A convolution's primitive between reorders.
class Call {
 public:
  Call() : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}
  [[nodiscard]] const dnnl::engine& engine() const { return engine_; }

  void input(int argument, const memory::dims& dims, const memory::desc& wanted,
             const float* data) {
    const memory given(plain(dims), engine_, const_cast<float*>(data));
    if (wanted == plain(dims)) {
      arguments_.emplace(argument, given);
      return;
    }
    const memory own(wanted, engine_);
    before_.push_back({dnnl::reorder(given, own), given, own});
    arguments_.emplace(argument, own);
  }
  void output(int argument, const memory::dims& dims, const memory::desc& made, float* data) {
    const memory given(plain(dims), engine_, data);
    if (made == plain(dims)) {
      arguments_.emplace(argument, given);
      return;
    }
    const memory own(made, engine_);
    after_.push_back({dnnl::reorder(own, given), own, given});
    arguments_.emplace(argument, own);
  }
  void set(dnnl::primitive primitive) { primitive_ = std::move(primitive); }

  void operator()() {
    for (Reorder& each : before_) each.run.execute(stream_, each.from, each.to);
    primitive_.execute(stream_, arguments_);
    for (Reorder& each : after_) each.run.execute(stream_, each.from, each.to);
    stream_.wait();
  }

 private:
  struct Reorder {
    dnnl::reorder run;
    memory from, to;
  };
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::primitive primitive_;
  std::unordered_map<int, memory> arguments_;
  std::vector<Reorder> before_, after_;
};

}  // namespace

std::function<void()> onednn_convolution(const Convolution& s, Pass pass, Algorithm algorithm,
                                         const float* source, const float* other, float* result) {
  const memory::dims x{s.batch, s.inputs, s.extent, s.extent};
  const memory::dims w{s.outputs, s.inputs, s.kernel, s.kernel};
  const memory::dims y{s.batch, s.outputs, s.extent, s.extent};
  const memory::dims stride{1, 1}, padding{s.padding(), s.padding()};
  const auto way = algorithm == Algorithm::Direct ? dnnl::algorithm::convolution_direct
                                                  : dnnl::algorithm::convolution_winograd;
  const auto call = std::make_shared<Call>();
  const dnnl::convolution_forward::primitive_desc forward(
      dnnl::convolution_forward::desc(dnnl::prop_kind::forward_training, way, any(x), any(w),
                                      any(y), stride, padding, padding),
      call->engine());
  switch (pass) {
    case Pass::Forward:
      call->input(DNNL_ARG_SRC, x, forward.src_desc(), source);
      call->input(DNNL_ARG_WEIGHTS, w, forward.weights_desc(), other);
      call->output(DNNL_ARG_DST, y, forward.dst_desc(), result);
      call->set(dnnl::convolution_forward(forward));
      break;
    case Pass::InputGradient: {
      const dnnl::convolution_backward_data::primitive_desc made(
          dnnl::convolution_backward_data::desc(way, any(x), any(w), any(y), stride, padding,
                                                padding),
          call->engine(), forward);
      call->input(DNNL_ARG_DIFF_DST, y, made.diff_dst_desc(), source);
      call->input(DNNL_ARG_WEIGHTS, w, made.weights_desc(), other);
      call->output(DNNL_ARG_DIFF_SRC, x, made.diff_src_desc(), result);
      call->set(dnnl::convolution_backward_data(made));
      break;
    }
    case Pass::WeightGradient: {
      const dnnl::convolution_backward_weights::primitive_desc made(
          dnnl::convolution_backward_weights::desc(way, any(x), any(w), any(y), stride, padding,
                                                   padding),
          call->engine(), forward);
      call->input(DNNL_ARG_SRC, x, made.src_desc(), source);
      call->input(DNNL_ARG_DIFF_DST, y, made.diff_dst_desc(), other);
      call->output(DNNL_ARG_DIFF_WEIGHTS, w, made.diff_weights_desc(), result);
      call->set(dnnl::convolution_backward_weights(made));
      break;
    }
  }
  return [call] { (*call)(); };
}

std::function<void()> onednn_matmul(Narrow factors, int64_t m, int64_t n, int64_t k, const void* a,
                                    const void* b, void* c) {
  const bool half = factors == Narrow::BF16;
  const auto type = half ? memory::data_type::bf16 : memory::data_type::s8;
  const auto result = half ? memory::data_type::bf16 : memory::data_type::s32;
  const auto rows = memory::format_tag::ab;
  const memory::desc left({m, k}, type, rows), right({k, n}, type, rows), out({m, n}, result, rows);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const dnnl::matmul primitive(
      dnnl::matmul::primitive_desc(dnnl::matmul::desc(left, right, out), engine));
  const std::unordered_map<int, memory> arguments = {
      {DNNL_ARG_SRC, memory(left, engine, const_cast<void*>(a))},
      {DNNL_ARG_WEIGHTS, memory(right, engine, const_cast<void*>(b))},
      {DNNL_ARG_DST, memory(out, engine, c)}};
  const auto stream = std::make_shared<dnnl::stream>(engine);
  return [=] {
    primitive.execute(*stream, arguments);
    stream->wait();
  };
}
#else
std::function<void()> onednn_matmul(Narrow, int64_t, int64_t, int64_t, const void*, const void*,
                                    void*) {
  return {};
}
std::function<void()> onednn_convolution(const Convolution&, Pass, Algorithm, const float*,
                                         const float*, float*) {
  return {};
}
#endif

}  // namespace reprise::bench
