// Runs a kernel on host memory: grid points in blocks, the stages of a block in order.
#include <algorithm>
#include <memory>
#include <optional>

#include "ir/error.h"
#include "ir/kernel.h"
#include "ir/reduce.h"
#include "ir/scalar_interpreter.h"

namespace reprise {
namespace {

/// Counts through a loop nest row by row and writes lanes of every variable's values.
class Odometer {
 public:
  explicit Odometer(std::vector<int64_t> extents)
      : extents_(std::move(extents)), values_(extents_.size() * kLanes) {
    for (size_t v = 0; v < extents_.size(); ++v) variables_.push_back(values_.data() + v * kLanes);
    position_.resize(extents_.size());
  }
  Odometer(const Odometer&) = delete;

  void start(int64_t linear) {
    for (size_t v = extents_.size(); v-- > 0;) {
      position_[v] = linear % extents_[v];
      linear /= extents_[v];
    }
  }
  void fill(int lanes) {
    for (int l = 0; l < lanes; ++l) {
      for (size_t v = 0; v < extents_.size(); ++v) values_[v * kLanes + l] = position_[v];
      for (size_t v = extents_.size(); v-- > 0;) {
        if (++position_[v] < extents_[v]) break;
        position_[v] = 0;
      }
    }
  }
  [[nodiscard]] std::span<const int64_t* const> variables() const { return variables_; }

 private:
  std::vector<int64_t> extents_;
  std::vector<int64_t> position_;
  std::vector<int64_t> values_;
  std::vector<const int64_t*> variables_;
};

int64_t product(const std::vector<int64_t>& extents) {
  int64_t result = 1;
  for (const int64_t extent : extents) result *= extent;
  return result;
}

std::vector<int64_t> joined(std::vector<int64_t> first, const std::vector<int64_t>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<ScalarId> reduced_values(const Stage& stage) {
  std::vector<ScalarId> values;
  for (const Reduction& reduction : stage.reductions) {
    values.push_back(reduction.value);
    if (reduction.value2.valid()) values.push_back(reduction.value2);
  }
  return values;
}

class StageRunner {
 public:
  StageRunner(const Part& part, const Stage& stage, const Numerics& numerics)
      : stage_(stage),
        parallel_points_(product(stage.parallel)),
        reduce_points_(product(stage.reduce)),
        body_(stage.body, numerics, reduced_values(stage)),
        outer_(joined(part.grid, stage.parallel)),
        inner_(joined(joined(part.grid, stage.parallel), stage.reduce)),
        copies_(kLanes) {
    if (stage.reduce.empty() || stage.kind == StageKind::Sequence) return;
    post_.emplace(stage.post, numerics);
    for (const Reduction& reduction : stage.reductions) {
      const DType value = stage.body[reduction.value].dtype;
      folds_.emplace_back(reduction.kind, reduction.dtype, value, numerics);
      results_.emplace_back(kLanes);
    }
    for (const std::vector<uint64_t>& result : results_) reduced_.push_back(result.data());
  }

  /// Runs grid points [begin, end), whose copies of local buffers are numbered from 0.
  void run(int64_t begin, int64_t end, ScalarInputs inputs) {
    inputs_ = inputs;
    begin_ = begin;
    if (stage_.kind == StageKind::Sequence) {
      run_sequence(begin * parallel_points_, end * parallel_points_);
    } else if (stage_.reduce.empty()) {
      run_elementwise(begin * parallel_points_, end * parallel_points_);
    } else {
      run_reduction(begin * parallel_points_, end * parallel_points_);
    }
  }

 private:
  void set_copies(int64_t linear, int64_t per_point, int lanes) {
    for (int l = 0; l < lanes; ++l) copies_[l] = (linear + l) / per_point - begin_;
    inputs_.copies = copies_.data();
  }

  void run_elementwise(int64_t begin, int64_t end) {
    if (begin == end) return;
    outer_.start(begin);
    for (int64_t at = begin; at < end; at += kLanes) {
      const int lanes = static_cast<int>(std::min<int64_t>(kLanes, end - at));
      outer_.fill(lanes);
      set_copies(at, parallel_points_, lanes);
      inputs_.variables = outer_.variables();
      body_.run(lanes, inputs_);
    }
  }

  /// Points side by side, each of which runs through its reduce loops on its own.
  void run_sequence(int64_t begin, int64_t end) {
    if (begin == end) return;
    outer_.start(begin);
    Odometer steps(stage_.reduce);
    std::vector<int64_t> step(stage_.reduce.size() * kLanes);
    std::vector<const int64_t*> variables(outer_.variables().begin(), outer_.variables().end());
    for (size_t v = 0; v < stage_.reduce.size(); ++v) variables.push_back(step.data() + v * kLanes);
    for (int64_t at = begin; at < end; at += kLanes) {
      const int lanes = static_cast<int>(std::min<int64_t>(kLanes, end - at));
      outer_.fill(lanes);
      set_copies(at, parallel_points_, lanes);
      inputs_.variables = variables;
      steps.start(0);
      for (int64_t r = 0; r < reduce_points_; ++r) {
        steps.fill(1);
        for (size_t v = 0; v < stage_.reduce.size(); ++v) {
          std::fill_n(step.data() + v * kLanes, lanes, *steps.variables()[v]);
        }
        body_.run(lanes, inputs_);
      }
    }
  }

  void run_reduction(int64_t begin, int64_t end) {
    if (begin == end) return;
    outer_.start(begin);
    int64_t next = begin;  // the output whose elements come next
    int64_t done = 0;      // how many of them have been folded
    int ready = 0;         // results not yet given to `post`
    const auto finish = [&] {
      for (size_t i = 0; i < folds_.size(); ++i) results_[i][ready] = folds_[i].finish();
      ++next;
      done = 0;
      if (++ready == kLanes || next == end) {
        outer_.fill(ready);
        set_copies(next - ready, parallel_points_, ready);
        inputs_.variables = outer_.variables();
        inputs_.reduced = reduced_;
        post_->run(ready, inputs_);
        ready = 0;
      }
    };
    if (reduce_points_ == 0) {
      while (next < end) finish();
      return;
    }
    inner_.start(begin * reduce_points_);
    const int64_t last = end * reduce_points_;
    for (int64_t at = begin * reduce_points_; at < last; at += kLanes) {
      const int lanes = static_cast<int>(std::min<int64_t>(kLanes, last - at));
      inner_.fill(lanes);
      set_copies(at, parallel_points_ * reduce_points_, lanes);
      inputs_.variables = inner_.variables();
      body_.run(lanes, inputs_);
      for (int lane = 0; lane < lanes;) {
        const int count = static_cast<int>(std::min<int64_t>(lanes - lane, reduce_points_ - done));
        int kept = 0;
        for (size_t i = 0; i < folds_.size(); ++i) {
          const bool two = stage_.reductions[i].value2.valid();
          const void* second = two ? body_.kept_lanes(kept + 1) : nullptr;
          folds_[i].take(body_.kept_lanes(kept), second, lane, count);
          kept += two ? 2 : 1;
        }
        lane += count;
        done += count;
        if (done == reduce_points_) finish();
      }
    }
  }

  const Stage& stage_;
  int64_t parallel_points_, reduce_points_;
  ScalarProgram body_;
  std::optional<ScalarProgram> post_;
  Odometer outer_;  ///< grid and parallel loops
  Odometer inner_;  ///< these and the reduce loops
  std::vector<Fold> folds_;
  std::vector<std::vector<uint64_t>> results_;
  std::vector<const uint64_t*> reduced_;
  std::vector<int64_t> copies_;
  ScalarInputs inputs_;
  int64_t begin_ = 0;
};

/// How many grid points run together: bounded by what their local buffers take.
int64_t block_of_points(const Kernel& kernel, int64_t points) {
  constexpr int64_t kLocalBytes = 8 << 20;
  int64_t bytes = 0;
  for (const Buffer& buffer : kernel.buffers) {
    if (buffer.kind != BufferKind::Local) continue;
    bytes += buffer.extent * static_cast<int64_t>(size_of(buffer.dtype));
  }
  return std::clamp<int64_t>(bytes == 0 ? points : kLocalBytes / bytes, 1, points);
}

}  // namespace

void interpret(const Kernel& kernel, const Numerics& numerics, std::span<void* const> buffers,
               std::span<const uint64_t> params, LaunchStatus* status) {
  std::vector<int64_t> extents;
  for (const Buffer& buffer : kernel.buffers) extents.push_back(buffer.extent);
  for (const Phase& phase : kernel.phases) {
    for (const Part& part : phase.parts) {
      const int64_t points = product(part.grid);
      if (points == 0) continue;
      const int64_t block = block_of_points(kernel, points);
      std::vector<void*> all(buffers.begin(), buffers.end());
      std::vector<std::vector<std::byte>> locals;
      std::vector<int64_t> strides;
      for (const Buffer& buffer : kernel.buffers) {
        const bool local = buffer.kind == BufferKind::Local;
        strides.push_back(local ? buffer.extent : 0);
        if (!local) continue;
        locals.emplace_back(static_cast<size_t>(buffer.extent * block) * size_of(buffer.dtype));
        all.push_back(locals.back().data());
      }
      REPRISE_ASSERT(all.size() == kernel.buffers.size());
      ScalarInputs inputs;
      inputs.buffers = all;
      inputs.extents = extents;
      inputs.params = params;
      inputs.copy_strides = strides;
      inputs.status = status;
      std::vector<std::unique_ptr<StageRunner>> stages;
      for (const Stage& stage : part.stages) {
        stages.push_back(std::make_unique<StageRunner>(part, stage, numerics));
      }
      for (int64_t begin = 0; begin < points; begin += block) {
        const int64_t end = std::min(points, begin + block);
        for (const auto& stage : stages) stage->run(begin, end, inputs);
      }
    }
  }
}

}  // namespace reprise
