// Inputs in, one run of the graph's plan, results against a slower way to get them.
#include "run_graph.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>
#include <map>
#include <random>
#include <set>

#include "ir/difference.h"
#include "ir/error.h"
#include "ir/npy.h"
#include "ir/plan.h"
#include "runtime/check.h"
#include "runtime/device.h"
#include "runtime/execute.h"
#include "runtime/plan_entry.h"
#include "runtime/runtime.h"

namespace reprise {

namespace {

/// Small values of every dtype, the same for the same seed.
void fill_random(std::byte* data, DType dtype, int64_t count, std::mt19937_64& random) {
  if (is_pair(dtype)) return fill_random(data, part_of(dtype), 2 * count, random);
  for (int64_t i = 0; i < count; ++i) {
    std::byte* const to = data + static_cast<size_t>(i) * size_of(dtype);
    if (dtype == DType::F32) {
      const float value = std::normal_distribution<float>()(random);
      std::memcpy(to, &value, sizeof value);
    } else if (dtype == DType::F64) {
      const double value = std::normal_distribution<double>()(random);
      std::memcpy(to, &value, sizeof value);
    } else if (dtype == DType::F16 || dtype == DType::BF16) {
      const uint16_t sign = random() & 1 ? 0x8000 : 0;  // magnitudes around one
      const uint16_t value =
          sign | static_cast<uint16_t>((dtype == DType::F16 ? 0x3800 : 0x3f00) + random() % 0x400);
      std::memcpy(to, &value, sizeof value);
    } else {
      const uint64_t value = dtype == DType::Bool ? random() & 1 : random() % 8;
      std::memcpy(to, &value, size_of(dtype));
    }
  }
}

/// Elements from the first to the last of an input with these strides, both included.
int64_t span_of(const Node& input, std::span<const int64_t> strides) {
  int64_t last = 0;
  for (int axis = 0; axis < input.type.shape.rank(); ++axis) {
    if (input.type.shape[axis] == 0) return 0;
    last += (input.type.shape[axis] - 1) * strides[axis];
  }
  return last + 1;
}

/// What a run reads, by index. Leaves that are given are used up one by one.
class Inputs {
 public:
  Inputs(const Graph& graph, const RunOptions& options)
      : values_(num_inputs(graph)), parameters_(num_parameters(graph)), random_(options.seed) {
    for (const std::string& text : options.inputs) {
      const size_t equals = text.find('=');
      if (equals == std::string::npos) {
        throw Error(str("--input ", text, ": expected NAME=FILE.npy or NAME=random:SEED"));
      }
      if (!given_.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
        throw Error(str("--input ", text, ": given twice"));
      }
    }
    // Everything is allocated before the first element is drawn.
    for (const Node& node : graph.nodes()) {
      if (node.op == Op::Input) allocate(node);
    }
    std::string known;
    for (const Node& node : graph.nodes()) {
      const std::string name = name_of(node);
      if (name.empty() || !filled_.emplace(name).second) continue;
      known += str(known.empty() ? "" : ", ", name);
      fill(node, name);
    }
    if (!given_.empty()) {
      throw Error(str("the graph has no leaf called '", given_.begin()->first, "'; it has ",
                      known.empty() ? "none" : known));
    }
  }

  [[nodiscard]] std::vector<Execution::Input> views() const {
    std::vector<Execution::Input> views;
    for (const StoredValue& value : values_) views.push_back({&value, 0});
    return views;
  }
  [[nodiscard]] std::vector<const void*> pointers() const {
    std::vector<const void*> pointers;
    for (const StoredValue& value : values_) {
      pointers.push_back(value.storage ? value.address() : nullptr);
    }
    return pointers;
  }
  [[nodiscard]] const std::vector<uint64_t>& parameters() const { return parameters_; }

 private:
  static std::string name_of(const Node& node) {
    if (node.op == Op::Input) return str("input", node.attrs.word(0));
    if (node.op == Op::Parameter) return str("parameter", node.attrs.word(0));
    return {};
  }

  void allocate(const Node& node) {
    StoredValue& value = values_[static_cast<size_t>(node.attrs.word(0))];
    if (value.storage) return;
    const auto width = static_cast<int64_t>(size_of(node.type.dtype));
    const std::span<const int64_t> strides = node.attrs.ints(1);
    auto elements = node.type.shape.contiguous_strides();
    std::copy(strides.begin(), strides.end(), elements.begin());
    for (size_t axis = 0; axis < elements.size(); ++axis) {
      value.strides[axis] = elements[axis] * width;
    }
    value.storage =
        cpu_device().allocator().allocate(static_cast<size_t>(span_of(node, elements) * width));
  }

  void fill(const Node& node, const std::string& name) {
    const TensorType& type = node.type;
    const size_t width = size_of(type.dtype);
    const auto index = static_cast<size_t>(node.attrs.word(0));
    if (node.op == Op::Parameter && width > sizeof(uint64_t)) {
      throw UnsupportedError(str("a parameter of ", type.dtype, " does not fit 8 bytes"));
    }
    std::vector<std::byte> elements(static_cast<size_t>(type.shape.numel()) * width);
    const auto found = given_.find(name);
    if (found == given_.end()) {
      fill_random(elements.data(), type.dtype, type.shape.numel(), random_);
    } else {
      read(name, found->second, type, elements);
      given_.erase(found);
    }
    if (node.op == Op::Parameter) {
      std::memcpy(&parameters_[index], elements.data(), width);
      return;
    }
    scatter(elements, type, values_[index]);
  }

  static void read(const std::string& name, const std::string& source, const TensorType& type,
                   std::vector<std::byte>& elements) {
    constexpr std::string_view kRandom = "random:";
    if (source.starts_with(kRandom)) {
      std::mt19937_64 random(seed_of(name, source.substr(kRandom.size())));
      fill_random(elements.data(), type.dtype, type.shape.numel(), random);
      return;
    }
    NpyArray array = read_npy(source);
    const std::string text =
        str("--input ", name, ": the graph wants ", type, ", ", source, " holds ", array.type);
    if (array.type.dtype != type.dtype) throw DTypeError(text);
    if (array.type.shape != type.shape) throw ShapeError(text);
    elements = std::move(array.elements);
  }

  static uint64_t seed_of(const std::string& name, const std::string& text) {
    size_t used = 0;
    uint64_t seed = 0;
    try {
      seed = std::stoull(text, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    if (used == 0 || used != text.size() || text[0] == '-') {
      throw Error(str("--input ", name, ": '", text, "' is no seed"));
    }
    return seed;
  }

  /// Row-major elements to where the value's strides say.
  static void scatter(const std::vector<std::byte>& elements, const TensorType& type,
                      const StoredValue& value) {
    const size_t width = size_of(type.dtype);
    std::array<int64_t, kMaxDims> index{};
    std::byte* to = value.address();
    for (size_t from = 0; from < elements.size(); from += width) {
      std::memcpy(to, elements.data() + from, width);
      for (int axis = type.shape.rank() - 1; axis >= 0; --axis) {
        to += value.strides[axis];
        if (++index[axis] < type.shape[axis]) break;
        to -= value.strides[axis] * type.shape[axis];
        index[axis] = 0;
      }
    }
  }

  std::vector<StoredValue> values_;
  std::vector<uint64_t> parameters_;
  std::map<std::string, std::string> given_;
  std::set<std::string> filled_;
  std::mt19937_64 random_;
};

/// Whether all outputs have the interpreter's bits; says where the first one has not.
bool equals_interpreter(const Graph& graph, const Device& device, const Inputs& inputs,
                        const std::vector<StoredValue>& results) {
  const auto expected =
      interpret(graph, device.target().numerics, inputs.pointers(), inputs.parameters());
  for (size_t i = 0; i < expected.size(); ++i) {
    const TensorType& type = graph[graph.outputs()[i]].type;
    std::vector<std::byte> elements(expected[i].size());
    copy_strided(on_host(results[i], type), type, elements.data());
    const std::string found = difference(type.dtype, elements, expected[i]);
    if (found.empty()) continue;
    std::cout << "output " << i << " (" << type << ") differs from the interpreter, first " << found
              << '\n';
    return false;
  }
  std::cout << "equal to the interpreter, bit for bit\n";
  return true;
}

}  // namespace

int run_graph(const Graph& graph, const RunOptions& options) {
  const std::shared_ptr<const LoadedPlan> loaded =
      Runtime::get().load_plan(graph, device(options.device));
  const Inputs inputs(graph, options);
  const Plan& plan = loaded->plan;
  Execution run;
  const auto launch = [&] {
    run.clear(*loaded);
    run.inputs = inputs.views();
    run.parameters = inputs.parameters();
    execute(*loaded, run);
  };
  launch();
  std::cout << plan.launches.size() << " launches, " << loaded->kernels << " kernels, arena "
            << plan.arenas[0] << " bytes\n";
  if (options.compare == "interpreter" &&
      !equals_interpreter(graph, *loaded->device, inputs, run.results)) {
    return 1;
  }
  if (options.compare == "ops") {
    OpByOp(*loaded->device, graph, inputs.views(), inputs.parameters()).compare(run.results);
    std::cout << "equal to the ops one by one, bit for bit\n";
  }
  if (options.time > 0) {
    LaunchTimes launch_times(plan);
    run.times = &launch_times;
    std::vector<double> times;
    for (int i = 0; i < options.time; ++i) {
      const auto start = std::chrono::steady_clock::now();
      launch();
      times.push_back(
          std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
              .count());
    }
    std::sort(times.begin(), times.end());
    std::cout << "median " << times[times.size() / 2] << " us, minimum " << times[0] << " us of "
              << options.time << " runs\n"
              << launch_times.table();
  }
  return 0;
}

}  // namespace reprise
