// Good texts, and ways to spoil them.
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "ir/error.h"
#include "ir/npy.h"
#include "tests/fuzz/parse_text.h"
#include "tests/random_program.h"

namespace reprise {

namespace {

namespace fs = std::filesystem;

/// The pieces of a text that start with `word {` at the start of a line and end with `}` there.
void add_pieces(std::istream& file, const std::string& word, std::vector<std::string>& pieces) {
  std::string piece, line;
  while (std::getline(file, line)) {
    if (line == word + " {") piece = "";
    if (line == word + " {" || !piece.empty()) piece += line + "\n";
    if (line == "}" && !piece.empty()) pieces.push_back(std::exchange(piece, ""));
  }
}

std::vector<std::string> pieces_of_cases(const std::string& word) {
  std::vector<fs::path> paths;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(REPRISE_SOURCE_DIR) / "tests" / "cases")) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> pieces;
  for (const fs::path& path : paths) {
    std::ifstream file(path);
    add_pieces(file, word, pieces);
  }
  return pieces;
}

std::string npy_file(const TensorType& type) {
  const fs::path path = fs::temp_directory_path() / str("reprise-seed-", ::getpid(), ".npy");
  const auto bytes = static_cast<size_t>(type.shape.numel()) * size_of(type.dtype);
  write_npy(path.string(), type, std::vector<std::byte>(bytes, std::byte{1}));
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  fs::remove(path);
  return text.str();
}

}  // namespace

std::vector<std::string> seed_texts(TextKind kind) {
  switch (kind) {
    case TextKind::Graph: {
      std::vector<std::string> texts = pieces_of_cases("graph");
      for (uint64_t seed = 0; seed < 100; ++seed) texts.push_back(print(random_program(seed)));
      return texts;
    }
    case TextKind::Kernel:
      return pieces_of_cases("kernel");
    case TextKind::Plan:
      return pieces_of_cases("plan");
    case TextKind::Schedule: {
      const std::string part =
          "    part vector=grid lanes=8 unroll=4 task=4096 columns=0 streaming=0\n";
      const std::string loop =
          "    part vector=loop lanes=16 unroll=2 task=1 columns=64 streaming=1\n"
          "      contraction mr=6 nr=32 kc=256 pack_a=1 pack_b=1 sweep=1 ahead=0\n";
      return {"schedule {\n  phase {\n" + part + "  }\n}\n",
              "schedule {\n  phase {\n" + part + loop + "  }\n  phase {\n" + loop + "  }\n}\n"};
    }
    case TextKind::Npy: {
      std::vector<std::string> files;
      for (const DType dtype : {DType::F32, DType::Bool, DType::BF16, DType::I64, DType::C128}) {
        for (const Shape& shape : {Shape{}, Shape{0}, Shape{3}, Shape{2, 3, 5}}) {
          files.push_back(npy_file({dtype, shape}));
        }
      }
      return files;
    }
    case TextKind::Idx: {
      using std::string_literals::operator""s;
      return {"\0\0\x08\x01\0\0\0\x03"s + "abc", "\0\0\x08\x02\0\0\0\x02\0\0\0\x03"s + "abcdef",
              "\0\0\x0d\x01\0\0\0\x01"s + "\x3f\xc0\0\0"s,
              "\0\0\x08\x04\x01\0\0\x02\0\0\0\0\0\0\0\x03\x10\0\0\x01"s, "\0\0\x0b\x01\0\0\0\0"s};
    }
  }
  return {};
}

std::string mutated(std::span<const std::string> seeds, uint64_t random) {
  std::mt19937_64 draws(random);
  const auto below = [&](size_t n) { return n == 0 ? 0 : static_cast<size_t>(draws() % n); };
  std::string text = seeds[below(seeds.size())];
  const std::string& other = seeds[below(seeds.size())];
  static const std::string kNumbers[] = {"0",
                                         "-1",
                                         "1",
                                         "2",
                                         "7",
                                         "8",
                                         "9",
                                         "64",
                                         "inf",
                                         "nan",
                                         "2147483648",
                                         "-2147483649",
                                         "1e999",
                                         "-0",
                                         "0x1",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "99999999999999999999",
                                         "288230376151711744",
                                         "16777216",
                                         "nan:0x7ff8000000000000"};
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  /// A word or number of a text, from one place on.
  const auto word_after = [&](const std::string& in, size_t from) -> std::pair<size_t, size_t> {
    size_t begin = from;
    while (begin < in.size() && !is_word(in[begin])) ++begin;
    size_t end = begin;
    while (end < in.size() && is_word(in[end])) ++end;
    return {begin, end - begin};
  };
  for (size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) {
    const size_t at = below(text.size());
    switch (below(9)) {
      case 0: {  // another number, here
        size_t begin = at;
        while (begin < text.size() && !std::isdigit(static_cast<unsigned char>(text[begin])))
          ++begin;
        size_t end = begin;
        while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
        text.replace(begin, end - begin, kNumbers[below(std::size(kNumbers))]);
        break;
      }
      case 1:
      case 2: {  // another word
        const auto [from, size] = word_after(other, below(other.size()));
        const auto [begin, old] = word_after(text, at);
        text.replace(begin, old, other.substr(from, size));
        break;
      }
      case 3:  // one byte
        text[at] = static_cast<char>(below(256));
        break;
      case 4:  // a stretch less
        text.erase(at, 1 + below(20));
        break;
      case 5:  // cut off
        if (below(4) == 0) text.resize(at);
        break;
      case 6: {  // a stretch twice
        const std::string piece = text.substr(at, 1 + below(60));
        text.insert(at, piece);
        break;
      }
      case 7: {  // a line of another text
        const size_t from = other.rfind('\n', below(other.size())) + 1;
        const size_t line = text.rfind('\n', at) + 1;
        text.insert(line, other.substr(from, other.find('\n', from) - from + 1));
        break;
      }
      default: {  // a line less
        const size_t line = text.rfind('\n', at) + 1;
        text.erase(line, text.find('\n', line) - line + 1);
        break;
      }
    }
  }
  return text;
}

}  // namespace reprise
