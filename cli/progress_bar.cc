// One line, drawn over itself.

#include "cli/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace respike::cli {
namespace {

constexpr std::chrono::milliseconds kMoment(300);
constexpr int kWidth = 30;  // characters

/// A terminal may be gone; the work goes on.
void draw(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

ProgressBar::ProgressBar()
    : start_(std::chrono::steady_clock::now()), terminal_(isatty(STDERR_FILENO) != 0) {}

void ProgressBar::show(std::string_view step, double done) {
  if (!terminal_ || std::chrono::steady_clock::now() - start_ < kMoment) return;
  const int filled = std::clamp(static_cast<int>(done * kWidth), 0, kWidth);
  draw(fmt::format("\r[{}{}] {:<10}", std::string(filled, '#'), std::string(kWidth - filled, ' '),
                   step));
  shown_ = true;
}

void ProgressBar::clear() {
  if (!shown_) return;
  draw(fmt::format("\r{:{}}\r", "", kWidth + 13));
  shown_ = false;
}

}  // namespace respike::cli
