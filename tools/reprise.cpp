// The inspection tool: runs passes over textual IR, shows every stage, runs graphs and kernels.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iostream>
#include <new>
#include <random>
#include <utility>

#include "compiler/kernel_cache.h"
#include "compiler/pipeline.h"
#include "ir/error.h"
#include "ir/graph.h"
#include "ir/op.h"
#include "passes/graph_passes.h"
#include "passes/lower.h"
#include "runtime/device.h"

namespace reprise {
namespace {

std::string read_text(const std::string& path) {
  std::ifstream file;
  errno = 0;
  if (path != "-") file.open(path, std::ios::binary);
  std::istream& in = path == "-" ? std::cin : file;
  std::ostringstream text;
  // An empty file is no error here, a folder is.
  if (in.good() && in.peek() != std::istream::traits_type::eof()) text << in.rdbuf();
  if (in.bad() || !text.good() || (path != "-" && !file.is_open())) {
    throw IoError(str("cannot read ", path, errno != 0 ? str(": ", std::strerror(errno)) : ""));
  }
  return text.str();
}

/// Whether the text is a kernel; else it is a graph. Comments start with '#'.
bool is_kernel(std::string_view text) {
  while (!text.empty()) {
    const size_t start = text.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos) return false;
    text.remove_prefix(start);
    if (text[0] != '#') return text.starts_with("kernel");
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
  return false;
}

/// `others` are the names that the caller knows besides.
template <class Pass>
const Pass& find_pass(std::span<const Pass> passes, std::string_view name,
                      std::initializer_list<std::string_view> others = {}) {
  std::vector<std::string_view> names;
  for (const Pass& pass : passes) {
    if (pass.name == name) return pass;
    // The pipeline runs some of them twice.
    if (std::find(names.begin(), names.end(), pass.name) == names.end()) {
      names.push_back(pass.name);
    }
  }
  names.insert(names.end(), others);
  std::string known;
  for (const std::string_view other : names) known += str(known.empty() ? "" : ", ", other);
  throw Error(str("no pass is called '", name, "'; known here: ", known));
}

enum class Explain : uint8_t { No, Yes };

void opt(const std::string& path, const std::vector<std::string>& passes, Explain explaining) {
  const std::string text = read_text(path);
  if (is_kernel(text)) {
    Kernel kernel = parse_kernel(text);
    verify(kernel);
    for (const std::string& name : passes) kernel = find_pass(kernel_passes(), name).run(kernel);
    std::cout << print(kernel);
    return;
  }
  Graph graph = parse_graph(text);
  verify(graph);
  for (const std::string& name : passes) {
    if (name == "fuse") {
      const Fusion fusion = fuse(graph);
      std::cout << (explaining == Explain::Yes ? explain(fusion, graph) : print(fusion, graph));
      return;
    }
    if (name == "lower") {
      const Lowered lowered = lower(graph, fuse(graph));
      for (const Kernel& kernel : lowered.kernels) std::cout << print(kernel);
      std::cout << print(lowered.plan);
      return;
    }
    graph = find_pass(graph_passes(), name, {"fuse", "lower"}).run(graph);
  }
  std::cout << print(graph);
}

struct CodeTarget {
  TargetInfo target;
  const Backend& backend;
};

/// "cpu": this machine; "spirv": any Vulkan device.
CodeTarget find_target(const std::string& name) {
  if (name == "spirv") return {plain_vulkan_target(), spirv_backend()};
  return {cpu_device().target(), cpu_device().backend()};
}

void show_stages(const std::string& path, const std::string& only, const std::string& name) {
  const StageObserver observer = [&](std::string_view stage, std::string_view text) {
    if (!only.empty() && stage.find(only) == std::string_view::npos) return;
    std::cout << "# " << stage << '\n' << text << (text.ends_with('\n') ? "" : "\n") << '\n';
  };
  const CodeTarget to = find_target(name);
  const Graph graph = parse_graph(read_text(path));
  verify(graph);
  const CompiledGraph compiled = compile(graph, to.target, {}, observer);
  const ArenaUse use = arena_use(compiled.plan);
  observer("memory", str("arena ", use.arena, " bytes for ", use.temporaries, "; at least ",
                         use.alive, " are alive at once"));
  for (size_t i = 0; i < compiled.kernels.size(); ++i) {
    (void)to.backend.generate(compiled.kernels[i], compiled.schedules[i], to.target,
                              [&](std::string_view what, std::string_view text) {
                                observer(str("kernel", i, '.', what), text);
                              });
  }
}

/// Elements a leaf with these strides spans.
int64_t span_of(const Node& input) {
  const std::span<const int64_t> strides = input.attrs.ints(1);
  if (strides.empty()) return input.type.shape.numel();
  int64_t last = 0;
  for (int axis = 0; axis < input.type.shape.rank(); ++axis) {
    if (input.type.shape[axis] == 0) return 0;
    last += (input.type.shape[axis] - 1) * strides[axis];
  }
  return last + 1;
}

/// Small values of every dtype, the same for the same seed.
void fill_random(void* data, DType dtype, int64_t count, std::mt19937_64& random) {
  for (int64_t i = 0; i < count; ++i) {
    std::byte* to = static_cast<std::byte*>(data) + static_cast<size_t>(i) * size_of(dtype);
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
      const uint64_t value[2] = {dtype == DType::Bool ? random() & 1 : random() % 8, 0};
      std::memcpy(to, &value, size_of(dtype));
    }
  }
}

size_t bytes_of(DType dtype, int64_t elements) {
  return static_cast<size_t>(elements) * size_of(dtype);
}

struct RunOptions {
  uint64_t seed = 1;
  bool compare = false;
  int time = 0;
};

int run(const std::string& path, const RunOptions& options) {
  const Graph graph = parse_graph(read_text(path));
  verify(graph);
  Device& device = cpu_device();
  const CompiledGraph compiled = compile(graph, device.target(), {});

  // Everything is allocated before the first element is drawn.
  Allocator& allocator = device.allocator();
  std::vector<StoragePtr> inputs(num_inputs(graph));
  for (const Node& node : graph.nodes()) {
    if (node.op != Op::Input) continue;
    StoragePtr& input = inputs[node.attrs.word(0)];
    if (!input) input = allocator.allocate(bytes_of(node.type.dtype, span_of(node)));
  }
  std::vector<StoragePtr> outputs;
  for (const NodeId id : graph.outputs()) {
    const TensorType& type = graph[id].type;
    outputs.push_back(allocator.allocate(bytes_of(type.dtype, type.shape.numel())));
  }
  const StoragePtr arena = allocator.allocate(static_cast<size_t>(compiled.plan.arena_bytes));
  std::vector<void*> addresses;
  for (const Slot& slot : compiled.plan.slots) {
    switch (slot.kind) {
      case SlotKind::Input:
        addresses.push_back(inputs[slot.index]->data());
        break;
      case SlotKind::Output:
        addresses.push_back(outputs[slot.index]->data());
        break;
      case SlotKind::Arena:
        addresses.push_back(static_cast<std::byte*>(arena->data()) + slot.offset);
        break;
    }
  }
  std::mt19937_64 random(options.seed);
  std::vector<uint64_t> parameters(num_parameters(graph));
  std::vector<char> filled(inputs.size(), 0);
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::Input && !std::exchange(filled[node.attrs.word(0)], 1)) {
      fill_random(inputs[node.attrs.word(0)]->data(), node.type.dtype, span_of(node), random);
    } else if (node.op == Op::Parameter) {
      if (size_of(node.type.dtype) > sizeof(uint64_t)) {
        throw UnsupportedError(str("a parameter of ", node.type.dtype, " does not fit 8 bytes"));
      }
      fill_random(&parameters[node.attrs.word(0)], node.type.dtype, 1, random);
    }
  }
  KernelCache cache;
  std::vector<std::shared_ptr<Executable>> executables;
  for (size_t i = 0; i < compiled.kernels.size(); ++i) {
    executables.push_back(device.load(*cache.get(device.backend(), compiled.kernels[i],
                                                 compiled.schedules[i], device.target(), {})));
  }
  const auto launch = [&] {
    LaunchStatus status;
    for (const Launch& step : compiled.plan.launches) {
      std::vector<void*> buffers;
      for (const SlotId slot : step.buffers) buffers.push_back(addresses[slot.index]);
      std::vector<uint64_t> params;
      for (const uint32_t param : step.params) params.push_back(parameters[param]);
      device.launch(*executables[step.kernel], buffers, params, &status);
    }
    if (status.failed) {
      throw IndexError(str("index ", status.index, " is out of range for extent ", status.extent));
    }
  };
  launch();
  std::cout << compiled.plan.launches.size() << " launches, " << compiled.kernels.size()
            << " kernels, arena " << compiled.plan.arena_bytes << " bytes\n";
  if (options.compare) {
    std::vector<const void*> pointers;
    for (const StoragePtr& input : inputs) pointers.push_back(input ? input->data() : nullptr);
    const auto expected = interpret(graph, device.target().numerics, pointers, parameters);
    std::vector<char> aliased(outputs.size(), 0);
    for (const Alias& alias : compiled.plan.aliases) aliased[alias.output] = 1;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (aliased[i]) continue;
      const auto* bytes = static_cast<const std::byte*>(outputs[i]->data());
      const auto [end, here] = std::mismatch(expected[i].begin(), expected[i].end(), bytes);
      if (end == expected[i].end()) continue;
      const TensorType& type = graph[graph.outputs()[i]].type;
      const auto at = static_cast<size_t>(here - bytes);
      std::cout << "output " << i << " (" << type
                << ") differs from the interpreter, first at element " << at / size_of(type.dtype)
                << '\n';
      return 1;
    }
    std::cout << "equal to the interpreter, bit for bit\n";
  }
  if (options.time > 0) {
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
              << options.time << " runs\n";
  }
  return 0;
}

void list_ops(const std::string& name) {
  for (int i = 0; i < num_ops(); ++i) {
    const OpDef& def = op_def(static_cast<Op>(i));
    if (name.empty()) {
      std::cout << def.name << '\n';
    } else if (def.name == name) {
      std::cout << def.name << "\n\n" << def.doc << '\n';
      return;
    }
  }
  if (!name.empty()) throw Error(str("no op is called '", name, "'"));
}

int main_checked(int argc, char** argv) {
  CLI::App app{"Inspects and runs Reprise's textual IR"};
  app.require_subcommand(1);
  std::string path, only, op, target = "cpu";
  std::vector<std::string> passes;
  RunOptions options;
  int threads = 0;
  bool explaining = false;
  const CLI::Range count(0, 1 << 30);

  CLI::App* opt_command =
      app.add_subcommand("opt", "Run passes over a graph or a kernel and print it");
  opt_command->add_option("file", path, "Textual IR; - for standard input")->required();
  opt_command->add_option("--passes", passes, "Comma-separated, in order")->delimiter(',');
  opt_command->add_flag("--explain", explaining,
                        "With --passes=..,fuse: only why each edge is fused or not");
  CLI::App* show_command = app.add_subcommand("show", "Print every stage of compiling a graph");
  show_command->add_option("file", path, "A graph; - for standard input")->required();
  show_command->add_option("--stage", only, "Only stages whose name holds this text");
  const auto add_target = [&](CLI::App* command) {
    command->add_option("--target", target, "cpu: this one; spirv: any Vulkan device")
        ->check(CLI::IsMember({"cpu", "spirv"}))
        ->capture_default_str();
  };
  add_target(show_command);
  CLI::App* run_command = app.add_subcommand("run", "Compile a graph and run it on random inputs");
  run_command->add_option("file", path, "A graph; - for standard input")->required();
  run_command->add_option("--seed", options.seed, "Of the inputs")
      ->check([](const std::string& text) {  // CLI11 would wrap it
        return text.find('-') == text.npos ? "" : text + " is negative";
      })
      ->capture_default_str();
  run_command->add_flag("--compare", options.compare, "Compare the bits with the interpreter's");
  run_command->add_option("--time", options.time, "Repeat this often and print the median")
      ->check(count);
  run_command->add_option("--threads", threads, "0: one per core")
      ->check(count)
      ->capture_default_str();
  CLI::App* ops_command = app.add_subcommand("ops", "List the ops, or print one's documentation");
  ops_command->add_option("name", op, "An op");
  CLI::App* info_command = app.add_subcommand("info", "Print what code is generated for");
  add_target(info_command);
  CLI11_PARSE(app, argc, argv);

  set_num_threads(threads);
  if (*opt_command) opt(path, passes, explaining ? Explain::Yes : Explain::No);
  if (*show_command) show_stages(path, only, target);
  if (*run_command) return run(path, options);
  if (*ops_command) list_ops(op);
  if (*info_command) std::cout << to_string(find_target(target).target) << '\n';
  return 0;
}

}  // namespace
}  // namespace reprise

int main(int argc, char** argv) {
  try {
    return reprise::main_checked(argc, argv);
  } catch (const std::bad_alloc&) {
    std::cerr << "reprise: out of memory\n";
    return 1;
  } catch (const std::exception& error) {
    std::cerr << "reprise: " << error.what() << '\n';
    return 1;
  }
}
