// The inspection tool: runs passes over graphs and kernels in text, shows every stage, runs graphs.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <new>

#include "compiler/pipeline.h"
#include "ir/error.h"
#include "ir/graph.h"
#include "ir/op.h"
#include "passes/graph_passes.h"
#include "passes/lower.h"
#include "run_graph.h"
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

/// A text that breaks a rule is its writer's mistake, not a bug of ours.
template <class Ir>
Ir checked(Ir ir) {
  try {
    verify(ir);
  } catch (const InternalError& error) {
    std::string_view text = error.what();
    constexpr std::string_view kPrefix = "internal error: ";
    if (text.starts_with(kPrefix)) text.remove_prefix(kPrefix.size());
    throw ParseError(std::string(text));
  }
  return ir;
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
  // These two make of a graph what no pass takes.
  const auto last = std::find_if(passes.begin(), passes.end(), [](const std::string& name) {
    return name == "fuse" || name == "lower";
  });
  if (last != passes.end() && last + 1 != passes.end()) {
    throw Error(str("no pass can follow '", *last, "', '", *(last + 1), "' does"));
  }
  if (explaining == Explain::Yes && (last == passes.end() || *last != "fuse")) {
    throw Error("--explain says why 'fuse' did what it did: there is no such pass in the list");
  }
  const std::string text = read_text(path);
  if (is_kernel(text)) {
    Kernel kernel = checked(parse_kernel(text));
    for (const std::string& name : passes) {
      kernel = find_pass(kernel_passes(), name).run(kernel, Numerics{});  // the same anywhere
    }
    std::cout << print(kernel);
    return;
  }
  Graph graph = checked(parse_graph(text));
  for (const std::string& name : passes) {
    // What comes after the graph passes knows no pairs.
    if (name == "fuse" || name == "lower") graph = split_pairs(graph);
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

/// "spirv": any Vulkan device; else a device that is there.
CodeTarget find_target(const std::string& name) {
  if (name == "spirv") return {plain_vulkan_target(), spirv_backend()};
  Device& to = device(name);
  return {to.target(), to.backend()};
}

void show_stages(const std::string& path, const std::string& only, const std::string& name) {
  std::string known;
  bool shown = false;
  const StageObserver observer = [&](std::string_view stage, std::string_view text) {
    known += str(known.empty() ? "" : ", ", stage);
    if (!only.empty() && stage.find(only) == std::string_view::npos) return;
    shown = true;
    std::cout << "# " << stage << '\n' << text << (text.ends_with('\n') ? "" : "\n") << '\n';
  };
  const CodeTarget to = find_target(name);
  const Graph graph = checked(parse_graph(read_text(path)));
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
  if (!shown) throw Error(str("no stage's name holds '", only, "'; there are ", known));
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
    command
        ->add_option("--target", target,
                     "cpu: this one; vulkan:0: this one; spirv: any Vulkan device")
        ->capture_default_str();
  };
  add_target(show_command);
  CLI::App* run_command =
      app.add_subcommand("run", "Compile a graph and run it on given or random inputs");
  run_command->add_option("file", path, "A graph; - for standard input")->required();
  run_command->add_option("--input", options.inputs,
                          "NAME=FILE.npy or NAME=random:SEED, for the leaves input0, parameter0, "
                          "...; may be given again");
  run_command->add_option("--seed", options.seed, "Of the inputs that are not given")
      ->check([](const std::string& text) {  // CLI11 would wrap it
        return text.find('-') == text.npos ? "" : text + " is negative";
      })
      ->capture_default_str();
  run_command->add_option("--device", options.device, "Where to run it: cpu, vulkan:0, ..")
      ->capture_default_str();
  run_command
      ->add_option("--compare", options.compare,
                   "Compare the bits with the interpreter's, or with those of the ops one by one")
      ->check(CLI::IsMember({"interpreter", "ops"}))
      ->expected(0, 1)
      ->default_str("interpreter");
  run_command->add_option("--time", options.time, "Repeat this often and print the median")
      ->check(count);
  run_command->add_option("--threads", threads, "0: one per core")
      ->check(count)
      ->capture_default_str();
  CLI::App* ops_command = app.add_subcommand("ops", "List the ops, or print one's documentation");
  ops_command->add_option("name", op, "An op");
  CLI::App* info_command = app.add_subcommand("info", "Print what code is generated for");
  add_target(info_command);
  if (argc > 1 && argv[1][0] != '-') {  // CLI11 would only say that a command is missing
    std::string known;
    bool found = false;
    for (const CLI::App* command : app.get_subcommands({})) {
      found |= command->get_name() == argv[1];
      known += str(known.empty() ? "" : ", ", command->get_name());
    }
    if (!found) throw Error(str("no command is called '", argv[1], "'; there are ", known));
  }
  CLI11_PARSE(app, argc, argv);

  set_num_threads(threads);
  if (*opt_command) opt(path, passes, explaining ? Explain::Yes : Explain::No);
  if (*show_command) show_stages(path, only, target);
  if (*run_command) {
    const Graph graph = checked(parse_graph(read_text(path)));
    return run_graph(graph, options);
  }
  if (*ops_command) list_ops(op);
  if (*info_command) {
    std::cout << to_string(find_target(target).target) << '\n';
    for (const Device* each : devices()) {
      std::cout << "device " << each->name() << ": " << each->description() << '\n';
    }
  }
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
