// Draws the bar, or writes lines where there is no terminal.
#include "frontend/progress.h"

#include <unistd.h>

#include <algorithm>

#include "ir/error.h"

namespace reprise::io {

namespace {
constexpr int kBarWidth = 28;
constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::seconds kLine{10};
}  // namespace

Progress::Progress(std::string label, int64_t total, std::FILE* out)
    : label_(std::move(label)),
      total_(std::max<int64_t>(total, 1)),
      out_(out),
      terminal_(isatty(fileno(out)) == 1),
      start_(Clock::now()),
      last_(start_) {}

Progress::~Progress() {
  clear_bar();
}

bool Progress::due() const {
  return Clock::now() - last_ >= (terminal_ ? Clock::duration(kRedraw) : Clock::duration(kLine));
}

void Progress::clear_bar() {
  if (drawn_) std::fputs("\r\033[K", out_);
  drawn_ = false;
}

void Progress::update(int64_t done, std::string_view note) {
  if (!due()) return;
  last_ = Clock::now();
  const double seconds = std::chrono::duration<double>(last_ - start_).count();
  const double fraction =
      std::clamp(static_cast<double>(done) / static_cast<double>(total_), 0., 1.);
  if (!terminal_) {
    std::fprintf(out_, "%s  %3.0f%%  %.1f s  %.*s\n", label_.c_str(), 100 * fraction, seconds,
                 static_cast<int>(note.size()), note.data());
    std::fflush(out_);
    return;
  }
  const int filled = static_cast<int>(fraction * kBarWidth);
  std::string bar(static_cast<size_t>(filled), '=');
  bar.resize(kBarWidth, ' ');
  if (filled < kBarWidth) bar[static_cast<size_t>(filled)] = '>';
  const double left = done > 0 ? seconds * (1 - fraction) / fraction : 0;
  std::fprintf(out_, "\r%s [%s] %3.0f%%  %.1f s, %.1f s left  %.*s\033[K", label_.c_str(),
               bar.c_str(), 100 * fraction, seconds, left, static_cast<int>(note.size()),
               note.data());
  std::fflush(out_);
  drawn_ = true;
}

void Progress::finish(std::string_view note) {
  clear_bar();
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  std::fprintf(out_, "%s  %.1f s  %.*s\n", label_.c_str(), seconds, static_cast<int>(note.size()),
               note.data());
  std::fflush(out_);
}

}  // namespace reprise::io
