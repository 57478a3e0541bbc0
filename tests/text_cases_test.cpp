// Runs tests/cases/**: a text, a pass, the exact text it gives; and equal bits before and after.
//
// A case is comment lines with the reason it exists, a line "pass: NAME, NAME", the input, a line
// "----", and what the passes give. REPRISE_BLESS=1 rewrites inputs in their printed form and the
// expectations; read the diff before keeping it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "compiler/pipeline.h"
#include "graph_samples.h"
#include "ir/builder.h"
#include "ir/error.h"
#include "passes/graph_passes.h"
#include "passes/lower.h"
#include "plan_runner.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

struct TextCase {
  std::string comment;
  std::vector<std::string> passes;
  std::string input;
  std::string expected;
};

fs::path cases_folder() {
  return fs::path(REPRISE_SOURCE_DIR) / "tests" / "cases";
}

std::vector<std::string> find_cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(cases_folder())) {
    if (entry.path().extension() != ".txt") continue;
    names.push_back(fs::relative(entry.path(), cases_folder()).generic_string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TextCase read_case(const fs::path& path) {
  std::ifstream file(path);
  TextCase result;
  std::string line;
  while (std::getline(file, line) && line.starts_with("#")) result.comment += line + "\n";
  const std::string prefix = "pass: ";
  if (result.comment.empty() || !line.starts_with(prefix)) {
    throw Error(str(path, ": a case opens with its reason in # lines, then 'pass: NAME'"));
  }
  std::istringstream names(line.substr(prefix.size()));
  for (std::string pass; names >> pass;) {
    if (pass.back() == ',') pass.pop_back();
    result.passes.push_back(pass);
  }
  bool after = false;
  while (std::getline(file, line)) {
    if (line == "----") {
      after = true;
    } else {
      (after ? result.expected : result.input) += line + "\n";
    }
  }
  return result;
}

void write_case(const fs::path& path, const TextCase& text, const std::string& output) {
  std::ofstream file(path);
  file << text.comment << "pass: ";
  for (size_t i = 0; i < text.passes.size(); ++i) file << (i > 0 ? ", " : "") << text.passes[i];
  file << '\n' << text.input << "----\n" << output;
}

/// y and its gradients by all floating point inputs, with a cotangent of ones.
Graph differentiate(const Graph& graph) {
  Graph result = graph;
  GraphBuilder builder(result);
  std::vector<Value> xs;
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph[NodeId{i}];
    if (node.op == Op::Input && is_float(node.type.dtype)) xs.push_back(Value{i});
  }
  const Value y{graph.outputs()[0].index};
  const TensorType type = builder.type(y);
  for (Value gradient : gradient(builder, y, builder.ones(type), xs)) builder.output(gradient);
  return dce(result);
}

Graph (*find_graph_pass(std::string_view name))(const Graph&) {
  if (name == "gradient") return differentiate;
  for (const GraphPass& pass : graph_passes()) {
    if (pass.name == name) return pass.run;
  }
  throw Error(str("no graph pass is called '", name, "'"));
}

/// Null when no kernel pass has this name.
const KernelPass* find_kernel_pass(std::string_view name) {
  for (const KernelPass& pass : kernel_passes()) {
    if (pass.name == name) return &pass;
  }
  return nullptr;
}

/// Outputs both have (the gradient pass adds some) hold the same bits.
void expect_same_bits(const Graph& before, const Graph& after) {
  for (const bool fma : {true, false}) {
    for (uint32_t seed = 1; seed <= 3; ++seed) {
      GraphInputs inputs = sample_inputs(before, seed);
      const std::vector<Bytes> x = interpret(before, inputs, {.fma = fma});
      const std::vector<Bytes> y = interpret(after, inputs, {.fma = fma});
      for (size_t i = 0; i < x.size(); ++i) {
        const DType dtype = before[before.outputs()[i]].type.dtype;
        EXPECT_EQ(difference(dtype, x[i], y[i]), "") << "output " << i << ", seed " << seed;
      }
    }
  }
}

std::vector<Bytes> run(const Kernel& kernel, uint32_t seed, bool fma) {
  std::mt19937 random(seed);
  std::vector<Bytes> storage;
  std::vector<void*> buffers;
  std::vector<uint64_t> params;
  for (const Buffer& buffer : kernel.buffers) {
    if (buffer.kind == BufferKind::Local) continue;
    storage.push_back(sample_elements(buffer.dtype, buffer.extent, Draw::Anything, random));
  }
  for (Bytes& block : storage) buffers.push_back(block.data());
  for (DType dtype : kernel.params) {
    const Bytes element = sample_elements(dtype, 1, Draw::Anything, random);
    uint64_t word = 0;
    std::copy(element.begin(), element.end(), reinterpret_cast<std::byte*>(&word));
    params.push_back(word);
  }
  interpret(kernel, {.fma = fma}, buffers, params);
  return storage;
}

void expect_same_bits(const Kernel& before, const Kernel& after) {
  for (const bool fma : {true, false}) {
    for (uint32_t seed = 1; seed <= 3; ++seed) {
      const std::vector<Bytes> x = run(before, seed, fma);
      const std::vector<Bytes> y = run(after, seed, fma);
      for (size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(difference(before.buffers[i].dtype, x[i], y[i]), "")
            << "buffer b" << i << ", seed " << seed;
      }
    }
  }
}

std::string print_lowered(const Graph& graph) {
  const Lowered lowered = lower_verified(graph);
  EXPECT_EQ(lowering_difference(graph, 1), "");
  std::string text;
  for (size_t i = 0; i < lowered.kernels.size(); ++i) {
    text += str("# kernel ", i, "\n", print(lowered.kernels[i]));
  }
  return text + print(lowered.plan);
}

/// Prints what the passes make of the input, which is rewritten in its printed form.
std::string run_case(TextCase& text) {
  const std::string& first = text.passes.at(0);
  if (find_kernel_pass(first) != nullptr) {
    const Kernel before = parse_kernel(text.input);
    verify(before);
    text.input = print(before);
    Kernel after = before;
    for (const std::string& pass : text.passes) after = find_kernel_pass(pass)->run(after, {});
    verify(after);
    expect_same_bits(before, after);
    return print(after);
  }
  const Graph before = parse_graph(text.input);
  verify(before);
  text.input = print(before);
  Graph after = before;
  std::optional<std::string> printed;  // when the last pass gives something else than a graph
  for (const std::string& pass : text.passes) {
    if (pass == "fuse") {
      printed = print(fuse(after), after);
    } else if (pass == "lower") {
      printed = print_lowered(after);
    } else {
      after = find_graph_pass(pass)(after);
    }
  }
  verify(after);
  expect_same_bits(before, after);
  if (printed) return *printed;
  const std::string output = print(after);
  EXPECT_EQ(print(parse_graph(output)), output);
  return output;
}

class TextCases : public testing::TestWithParam<std::string> {};

TEST_P(TextCases, GivesTheExpectedText) {
  const fs::path path = cases_folder() / GetParam();
  TextCase text = read_case(path);
  const std::string written = text.input;
  const std::string output = run_case(text);
  if (std::getenv("REPRISE_BLESS") != nullptr) {
    write_case(path, text, output);
    return;
  }
  EXPECT_EQ(text.input, written) << "the input is not in its printed form";
  EXPECT_EQ(output, text.expected) << path;
}

INSTANTIATE_TEST_SUITE_P(All, TextCases, testing::ValuesIn(find_cases()), [](const auto& info) {
  std::string name = info.param.substr(0, info.param.size() - 4);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
});

}  // namespace
}  // namespace reprise
