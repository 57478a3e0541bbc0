// The example in README.md is the program that is compiled and run here.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

// The program itself; its main becomes a function of this test.
#define main readme_main
#include "../examples/readme.cpp"
#undef main

namespace {

std::string content(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Readme, QuotesTheExample) {
  const std::string readme = content(REPRISE_SOURCE_DIR "/README.md");
  const std::string example = content(REPRISE_SOURCE_DIR "/examples/readme.cpp");
  ASSERT_FALSE(example.empty());
  EXPECT_NE(readme.find("```cpp\n" + example + "```\n"), std::string::npos)
      << "README.md and examples/readme.cpp differ";
}

TEST(Readme, TheExampleLearns) {
  std::ostringstream out;
  std::streambuf* before = std::cout.rdbuf(out.rdbuf());
  readme_main();
  std::cout.rdbuf(before);
  const std::string text = out.str();
  const size_t place = text.find("accuracy ");
  ASSERT_NE(place, std::string::npos) << text;
  EXPECT_GT(std::stod(text.substr(place + 9)), 0.9) << text;
}

}  // namespace
