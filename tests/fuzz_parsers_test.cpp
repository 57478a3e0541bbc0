// Parsers on good texts that were spoilt: they parse, or are refused with a clear error.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "tests/fuzz/parse_text.h"

namespace reprise {
namespace {

class FuzzParsers : public testing::TestWithParam<TextKind> {};

TEST_P(FuzzParsers, TakeGoodTexts) {
  const std::vector<std::string> seeds = seed_texts(GetParam());
  ASSERT_FALSE(seeds.empty());
  int verified = 0;
  for (const std::string& seed : seeds) {
    const ParseOutcome outcome = check_text(GetParam(), seed);
    EXPECT_NE(outcome, ParseOutcome::Refused) << seed;
    verified += outcome == ParseOutcome::Verified;
  }
  EXPECT_GT(verified, 0);
}

TEST_P(FuzzParsers, RefuseSpoiltOnes) {
  const std::vector<std::string> seeds = seed_texts(GetParam());
  const char* wanted = std::getenv("REPRISE_FUZZ_TEXTS");
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const int usual = 1500;
#else
  const int usual = 20000;
#endif
  const int count = wanted != nullptr ? std::atoi(wanted) : usual;
  std::array<int, 3> outcomes{};
  for (int i = 0; i < count; ++i) {
    const std::string text = mutated(seeds, static_cast<uint64_t>(i));
    try {
      ++outcomes[static_cast<size_t>(check_text(GetParam(), text))];
    } catch (const std::exception& error) {
      FAIL() << "text " << i << ": " << error.what() << "\n" << text;
    }
  }
  // Spoilt, yet not so much that nothing gets past the parser.
  EXPECT_GT(outcomes[static_cast<size_t>(ParseOutcome::Refused)], count / 50);
  EXPECT_GT(outcomes[static_cast<size_t>(ParseOutcome::Verified)], count / 100);
}

INSTANTIATE_TEST_SUITE_P(All, FuzzParsers, testing::ValuesIn(kTextKinds),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace reprise
