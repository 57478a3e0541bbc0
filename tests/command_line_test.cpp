// What the programs say to options, texts and files that make no sense: one line and an exit
// status.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ir/error.h"
#include "tests/vulkan_device.h"

namespace reprise {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct Outcome {
  int status = -1;  ///< of the exit; -1: a signal ended it
  std::string text;
};

/// Runs one of the programs beside this one. `arguments` are the shell's, `environment` what it
/// sets before.
Outcome run(const std::string& program, const std::string& arguments,
            const std::string& environment = "") {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::string command =
      str(environment, " '", (folder / program).string(), "' ", arguments, " 2>&1");
  Outcome outcome;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return outcome;
  char part[4096];
  for (size_t got; (got = std::fread(part, 1, sizeof part, pipe)) > 0;)
    outcome.text.append(part, got);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
  return outcome;
}

/// A refusal: an exit status that says so, and no word of an assertion of ours.
template <class Matcher>
void expect_refusal(const Outcome& outcome, const Matcher& matcher) {
  EXPECT_GT(outcome.status, 0) << outcome.text;
  EXPECT_LT(outcome.status, 126) << outcome.text;
  EXPECT_THAT(outcome.text, AllOf(matcher, Not(HasSubstr("assert")), Not(HasSubstr("bad_alloc")),
                                  Not(HasSubstr("std::")), Not(HasSubstr("runtime error"))));
}

class CommandLine : public testing::Test {
 protected:
  CommandLine() { std::filesystem::create_directories(folder_); }
  ~CommandLine() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

  /// What the tool does with a graph that returns `op` of an input of this type.
  [[nodiscard]] Outcome tool(const std::string& command, const std::string& text) const {
    return run("reprise", command + " " + write("text", text));
  }

 private:
  std::string folder_ = testing::TempDir() + "/reprise_command_line_" + std::to_string(getpid());
};

std::string graph_of(const std::string& leaf) {
  return "graph {\n  %0 = input {index=0, strides=[" + leaf +
         "\n  %1 = add %0, %0 : f32[4]\n  return %1\n}\n";
}
const std::string kGood = graph_of("]} : f32[4]");

TEST_F(CommandLine, TheToolRunsWhatIsRight) {
  const Outcome outcome = tool("run --compare --time 2", kGood);
  EXPECT_EQ(outcome.status, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("bit for bit"));
  EXPECT_EQ(tool("run", graph_of("2]} : f32[4]")).status, 0);
}

TEST_F(CommandLine, TheToolRefusesOptions) {
  for (const char* option : {"--time -1", "--threads -2", "--seed -1", "--time x", "--what"}) {
    expect_refusal(tool(str("run ", option), kGood), HasSubstr("-"));
  }
  expect_refusal(tool("opt --passes nonsense", kGood),
                 AllOf(HasSubstr("'nonsense'"),
                       HasSubstr("dce, canonicalize, simplify, cse, recompute, fuse, lower")));
  expect_refusal(tool("opt --passes fuse,dce", kGood),
                 AllOf(HasSubstr("'fuse'"), HasSubstr("'dce'")));
  expect_refusal(tool("opt --passes dce --explain", kGood), HasSubstr("'fuse'"));
  expect_refusal(run("reprise", "ops nonsense"), HasSubstr("'nonsense'"));
  expect_refusal(run("reprise", "nonsense"),
                 AllOf(HasSubstr("'nonsense'"), HasSubstr("opt, show, run")));
  expect_refusal(tool("show --stage nonsense", kGood),
                 AllOf(HasSubstr("'nonsense'"), HasSubstr("plan")));
}

TEST_F(CommandLine, TheToolRefusesFiles) {
  for (const char* command : {"run ", "show ", "opt "}) {
    expect_refusal(run("reprise", command + path("missing")), HasSubstr(path("missing")));
    expect_refusal(run("reprise", command + path("")), HasSubstr("cannot read"));
    expect_refusal(tool(command, ""), HasSubstr("line 1, column 1"));
    expect_refusal(tool(command, std::string("\0\1\x80\xff\x1b[2J", 8)),
                   AllOf(HasSubstr("line 1, column 1"), Not(HasSubstr("\x1b"))));
    expect_refusal(tool(command, kGood.substr(0, kGood.size() / 2)), HasSubstr("expected"));
  }
}

// Shapes and strides that only a text can ask for.
TEST_F(CommandLine, TheToolRefusesTexts) {
  const auto filled = [](const std::string& type) {
    return "graph {\n  %0 = input {index=0, strides=[]} : " + type +
           "\n  %1 = add %0, %0 : " + type + "\n  return %1\n}\n";
  };
  for (const char* command : {"run", "show", "opt --passes lower"}) {
    expect_refusal(tool(command, graph_of("-1]} : f32[4]")), HasSubstr("stride -1"));
    expect_refusal(tool(command, graph_of("4611686018427387904]} : f32[4]")), HasSubstr("2^58"));
    expect_refusal(tool(command, graph_of("-9223372036854775808]} : f32[4]")), HasSubstr("2^58"));
    expect_refusal(tool(command, graph_of("99999999999999999999]} : f32[4]")), HasSubstr("line 2"));
    expect_refusal(tool(command, filled("f32[4611686018427387904]")), HasSubstr("2^58"));
    expect_refusal(tool(command, filled("f32[-1]")), HasSubstr("negative extent"));
    expect_refusal(tool(command, filled("f32[1,1,1,1,1,1,1,1,1]")), HasSubstr("kMaxDims"));
    expect_refusal(tool(command,
                        "graph {\n  %0 = input {index=4000000000, strides=[]} : f32[4]\n"
                        "  return %0\n}\n"),
                   HasSubstr("4000000000"));
  }
  expect_refusal(tool("run", filled("f32[144115188075855872]")), HasSubstr("out of memory"));
  expect_refusal(tool("run", filled("f64[144115188075855872]")), HasSubstr("out of memory"));
  expect_refusal(tool("run", graph_of("9007199254740992]} : f32[4]")), HasSubstr("out of memory"));
}

// What is well-formed and breaks a rule is the writer's mistake too.
TEST_F(CommandLine, TheToolNamesTheRuleThatATextBreaks) {
  const std::string kernel =
      "kernel {\n  input b0: f32[4]\n  output b1: f32[4]\n  phase {\n    part grid [] {\n"
      "      loop parallel [4] reduce [] {\n        %0 = load b9[i0] : f32\n"
      "        store b1[i0], %0\n      }\n    }\n  }\n}\n";
  expect_refusal(tool("opt", kernel),
                 AllOf(HasSubstr("K07: no such buffer"), Not(HasSubstr("internal"))));
  const std::string graph =
      "graph {\n  %0 = input {index=0, strides=[]} : f32[4]\n  %1 = add %0 : f32[4]\n"
      "  return %1\n}\n";
  for (const char* command : {"opt", "run", "show"}) {
    expect_refusal(tool(command, graph), AllOf(HasSubstr("G0"), Not(HasSubstr("internal"))));
  }
}

TEST_F(CommandLine, TheEnvironmentsUnknownValuesAreSaidOnce) {
  const auto said = [&](const std::string& environment) {
    return run("reprise", "run " + write("text", kGood), environment).text;
  };
  const auto times = [](const std::string& text, std::string_view part) {
    int count = 0;
    for (size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) ++count;
    return count;
  };
  const std::string log = said("REPRISE_LOG=bogus,cache");
  EXPECT_EQ(times(log, "'bogus', known: cache"), 1) << log;
  EXPECT_THAT(log, HasSubstr("kernel miss"));
  EXPECT_THAT(said("REPRISE_LOG=cache"), Not(HasSubstr("known")));
}

TEST_F(CommandLine, FuzzingRefusesOptions) {
  for (const char* option : {"-5", "0", "--seed -1", "x", "--mode none", "--stress 0"}) {
    expect_refusal(run("fuzz", option), Not(HasSubstr("programs from seed")));
  }
  expect_refusal(run("fuzz", "--seed -1"), HasSubstr("-1"));
  expect_refusal(run("fuzz", "0"), HasSubstr("0"));
}

// Before anything is timed: each of these ends at once.
TEST_F(CommandLine, BenchmarksRefuseOptions) {
  for (const char* program : {"bench_overheads", "bench_gemm", "bench_training_steps"}) {
    expect_refusal(run(program, "--json /nowhere/file"),
                   AllOf(HasSubstr("cannot write /nowhere/file"), Not(HasSubstr("row "))));
    expect_refusal(run(program, "--filter nonsense"),
                   HasSubstr("no row's name matches 'nonsense'"));
    expect_refusal(run(program, "--filter ["), HasSubstr("'[' is no regular expression"));
  }
}

TEST_F(CommandLine, TrainingRefusesOptions) {
  for (const char* option :
       {"--lr nan", "--lr inf", "--lr -1", "--momentum nan", "--momentum -0.5", "--seed -1",
        "--seed 99999999999999999999", "--batch 0", "--batch -1", "--epochs -1", "--epochs 0",
        "--epochs 9223372036854775807", "--threads -1", "--hidden 0", "--hidden 4,-1",
        "--max-steps -1", "--optimizer none", "--device none"}) {
    expect_refusal(run("fashion_mnist", option), HasSubstr("--"));
  }
  expect_refusal(run("fashion_mnist", "--json /nowhere/file"), HasSubstr("/nowhere/file"));
}

// The device changes how a sum of a product rounds, not what is learned.
TEST_F(CommandLine, TrainingOnAVulkanDeviceLearnsAsMuch) {
  std::string why;
  if (test_vulkan_device(&why) == nullptr) GTEST_SKIP() << why;
  std::vector<double> accuracies;
  for (const std::string device : {"cpu", "vulkan:0"}) {
    const Outcome outcome = run("fashion_mnist", "--epochs 1 --max-steps 40 --device " + device);
    ASSERT_EQ(outcome.status, 0) << outcome.text;
    const std::string label = "test accuracy";
    const size_t at = outcome.text.rfind(label);
    ASSERT_NE(at, std::string::npos) << outcome.text;
    accuracies.push_back(std::stod(outcome.text.substr(at + label.size())));
  }
  EXPECT_GT(accuracies[0], 0.6);
  EXPECT_NEAR(accuracies[1], accuracies[0], 0.02);
}

TEST_F(CommandLine, TrainingRefusesData) {
  const std::string data = "--data " + path("");
  expect_refusal(run("fashion_mnist", "--data /nowhere"), HasSubstr("/nowhere/train-images"));
  const std::string images = "train-images-idx3-ubyte.gz";
  const auto damaged = [&](const std::string& content, const char* what) {
    write(images, content);
    expect_refusal(run("fashion_mnist", data), AllOf(HasSubstr(images), HasSubstr(what)));
  };
  damaged("", "truncated");
  damaged("\x1f\x8b\x08", "truncated");
  damaged("no such thing", "not an IDX file");
  damaged(std::string("\0\0\x08\x03\0\0\0\2\0\0\0\2\0\0\0\2only", 20), "truncated");
  damaged(std::string("\0\0\x08\x03\x7f\xff\xff\xff\x7f\xff\xff\xff\x7f\xff\xff\xff", 16),
          "damaged");
  damaged(std::string("\0\0\x08\x01\0\0\0\2ab", 10), "expected u8 of rank 3");
  std::filesystem::remove(path(images));
  std::filesystem::create_directory(path(images));
  expect_refusal(run("fashion_mnist", data), HasSubstr(images));
}

}  // namespace
}  // namespace reprise
