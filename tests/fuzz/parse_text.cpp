// Parses, prints, verifies and runs; any error that is not a refusal is a bug.
#include "tests/fuzz/parse_text.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <functional>

#include "frontend/idx.h"
#include "ir/error.h"
#include "ir/graph.h"
#include "ir/kernel.h"
#include "ir/npy.h"
#include "ir/plan.h"
#include "ir/schedule.h"
#include "ir/target.h"
#include "tests/graph_samples.h"
#include "tests/plan_runner.h"

namespace reprise {

namespace {

/// What is larger is not run.
constexpr int64_t kMostElements = 4096;
constexpr int64_t kMostWork = 1 << 16;
constexpr int64_t kMostKernelWork = 16 * kMostWork;

/// Whether the verifier takes it. A broken rule is an InternalError with the rule's number.
bool passes_verifier(const std::function<void()>& verify, char rules) {
  try {
    verify();
    return true;
  } catch (const InternalError& error) {
    // "G06: ..", "internal error: kernel breaks K03: .."
    const std::string_view text = error.what();
    const size_t colon = text.find(':', text.starts_with("internal error:") ? 15 : 0);
    const auto is_digit = [&](size_t at) {
      return std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    };
    const bool names_rule = colon != text.npos && colon >= 3 && text[colon - 3] == rules &&
                            is_digit(colon - 2) && is_digit(colon - 1);
    if (!names_rule) throw;
    return false;
  }
}

void expect_same_text(const std::string& printed, const std::string& again) {
  if (printed != again) throw InternalError(str("printed as\n", printed, "and then as\n", again));
}

/// How often nested loops turn, at most one more than the bound. Around an empty one the others turn.
int64_t bounded_product(std::initializer_list<std::span<const int64_t>> lists) {
  int64_t product = 1;
  for (const std::span<const int64_t> list : lists) {
    for (const int64_t extent : list) {
      product *= std::clamp<int64_t>(extent, 1, kMostKernelWork + 1);
      product = std::min<int64_t>(product, kMostKernelWork + 1);
    }
  }
  return product;
}

bool is_small(const Graph& graph) {
  if (graph.size() > 200 || num_inputs(graph) > 100 || num_parameters(graph) > 100) return false;
  int64_t work = 0;
  for (const Node& node : graph.nodes()) {
    if (node.type.shape.numel() > kMostElements) return false;
    if (node.op == Op::Input) {
      int64_t span = 1;
      for (size_t axis = 0; axis < node.attrs.ints(1).size(); ++axis) {
        span += std::abs(node.attrs.ints(1)[axis]) *
                std::max<int64_t>(node.type.shape[static_cast<int>(axis)] - 1, 0);
        if (span > kMostElements) return false;
      }
    }
    if (node.op == Op::Matmul) {
      const Shape& a = graph[node.operands[0]].type.shape;
      work += node.type.shape.numel() * a[a.rank() - 1];
    }
  }
  return work <= kMostWork;
}

ParseOutcome check_graph(std::string_view text) {
  const Graph graph = parse_graph(text);
  const std::string printed = print(graph);
  expect_same_text(printed, print(parse_graph(printed)));
  if (!passes_verifier([&] { verify(graph); }, 'G')) return ParseOutcome::Parsed;
  if (!is_small(graph)) return ParseOutcome::Verified;
  try {
    const std::string found = lowering_difference(graph, sample_inputs(graph, 1));
    if (!found.empty()) throw InternalError(found);
  } catch (const Error&) {  // an index out of range, a dtype that does not compute yet
  }
  return ParseOutcome::Verified;
}

bool is_small(const Kernel& kernel) {
  int64_t elements = 0, work = 0;
  for (const Buffer& buffer : kernel.buffers) {
    if (buffer.extent > kMostElements) return false;
    elements += buffer.extent;
  }
  for (const Phase& phase : kernel.phases) {
    for (const Part& part : phase.parts) {
      work += bounded_product({part.grid});
      for (const Stage& stage : part.stages) {
        const auto instructions =
            static_cast<int64_t>(stage.body.instrs.size() + stage.post.instrs.size());
        work += bounded_product({part.grid, stage.parallel, stage.reduce}) * (1 + instructions);
      }
    }
  }
  return elements <= 8 * kMostElements && work <= kMostKernelWork && kernel.params.size() < 100;
}

ParseOutcome check_kernel(std::string_view text) {
  const Kernel kernel = parse_kernel(text);
  const std::string printed = print(kernel);
  expect_same_text(printed, print(parse_kernel(printed)));
  if (!passes_verifier([&] { verify(kernel); }, 'K')) return ParseOutcome::Parsed;
  if (!is_small(kernel)) return ParseOutcome::Verified;
  std::mt19937 random(1);
  std::vector<Bytes> storage;
  std::vector<void*> buffers;
  for (const Buffer& buffer : kernel.buffers) {
    if (buffer.kind == BufferKind::Local) continue;
    storage.push_back(sample_elements(buffer.dtype, buffer.extent, Draw::Small, random));
  }
  for (Bytes& block : storage) buffers.push_back(block.data());
  LaunchStatus status;
  try {
    interpret(kernel, Numerics{}, buffers, std::vector<uint64_t>(kernel.params.size(), 1), &status);
  } catch (const InternalError& error) {
    // Where masks and computed offsets lead only running shows (K03).
    if (std::string_view(error.what()).find("is outside its extent") == std::string_view::npos) {
      throw;
    }
  }
  return ParseOutcome::Verified;
}

ParseOutcome check_schedule(std::string_view text) {
  const Schedule schedule = parse_schedule(text);
  const std::string printed = print(schedule);
  expect_same_text(printed, print(parse_schedule(printed)));
  static const Kernel kernel = parse_kernel(
      "kernel {\n  output b0: f32[64]\n  phase {\n    part grid [64] {\n"
      "      loop parallel [] reduce [] {\n        %0 = const 1 : f32\n"
      "        store b0[g0], %0\n      }\n    }\n  }\n}\n");
  return passes_verifier([&] { verify(schedule, kernel); }, 'S') ? ParseOutcome::Verified
                                                                 : ParseOutcome::Parsed;
}

ParseOutcome check_plan(std::string_view text) {
  const Plan plan = parse_plan(text);
  const std::string printed = print(plan);
  expect_same_text(printed, print(parse_plan(printed)));
  return passes_verifier([&] { verify(plan); }, 'P') ? ParseOutcome::Verified
                                                     : ParseOutcome::Parsed;
}

/// A file in memory that holds these bytes.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : file_(memfd_create("reprise-fuzz", MFD_CLOEXEC)) {
    for (size_t at = 0; at < bytes.size();) {
      const ssize_t written = write(file_, bytes.data() + at, bytes.size() - at);
      if (file_ < 0 || written <= 0) throw std::runtime_error("cannot write a file in memory");
      at += static_cast<size_t>(written);
    }
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  [[nodiscard]] std::string path() const { return str("/proc/self/fd/", file_); }

 private:
  int file_;
};

ParseOutcome check_npy(std::string_view bytes) {
  const MemoryFile file(bytes);
  const NpyArray array = read_npy(file.path());
  const auto size = static_cast<size_t>(array.type.shape.numel()) * size_of(array.type.dtype);
  if (array.elements.size() != size) {
    throw InternalError(str(array.type, " with ", array.elements.size(), " bytes"));
  }
  const MemoryFile copy({});
  write_npy(copy.path(), array.type, array.elements);
  const NpyArray again = read_npy(copy.path());
  if (again.type != array.type || again.elements != array.elements) {
    throw InternalError(str(array.type, " reads back as ", again.type));
  }
  return ParseOutcome::Verified;
}

ParseOutcome check_idx(std::string_view bytes) {
  const MemoryFile file(bytes);
  (void)io::read_idx(file.path());
  return ParseOutcome::Verified;
}

}  // namespace

std::string_view name(TextKind kind) {
  switch (kind) {
    case TextKind::Graph:
      return "graph";
    case TextKind::Kernel:
      return "kernel";
    case TextKind::Schedule:
      return "schedule";
    case TextKind::Plan:
      return "plan";
    case TextKind::Npy:
      return "npy";
    case TextKind::Idx:
      return "idx";
  }
  return "";
}

ParseOutcome check_text(TextKind kind, std::string_view text) {
  try {
    switch (kind) {
      case TextKind::Graph:
        return check_graph(text);
      case TextKind::Kernel:
        return check_kernel(text);
      case TextKind::Schedule:
        return check_schedule(text);
      case TextKind::Plan:
        return check_plan(text);
      case TextKind::Npy:
        return check_npy(text);
      case TextKind::Idx:
        return check_idx(text);
    }
  } catch (const ParseError&) {
    return ParseOutcome::Refused;
  } catch (const IoError&) {
    return ParseOutcome::Refused;
  } catch (const InternalError&) {
    throw;
  } catch (const std::exception& error) {
    throw InternalError(str("no refusal: ", error.what()));
  }
  return ParseOutcome::Refused;
}

}  // namespace reprise
