// The bar is one line on stderr that each show() draws over.

#include "cli/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace respike::cli {
namespace {

constexpr std::chrono::milliseconds kMoment(300);
constexpr size_t kWidth = 30;  // characters of the bar
constexpr size_t kStep = 45;   // characters of the step: with the bar, less than 80

/// Ignores errors: the work continues without a terminal.
void draw(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

ProgressBar::ProgressBar()
    : start_(std::chrono::steady_clock::now()), terminal_(isatty(STDERR_FILENO) != 0) {}

void ProgressBar::show(std::string_view step, double done) {
  if (!terminal_ || std::chrono::steady_clock::now() - start_ < kMoment) return;
  const size_t filled = std::clamp(static_cast<size_t>(done * kWidth), size_t{0}, kWidth);
  const std::string line = fmt::format("[{}{}] {}", std::string(filled, '#'),
                                       std::string(kWidth - filled, ' '), step.substr(0, kStep));
  draw(fmt::format("\r{:<{}}", line, width_));
  width_ = std::max(width_, line.size());
}

void ProgressBar::begin(std::string_view work) {
  if (!terminal_) return;
  clear();
  draw(fmt::format("{} ...\n", work));
}

void ProgressBar::clear() {
  if (width_ == 0) return;
  draw(fmt::format("\r{:{}}\r", "", width_));
  width_ = 0;
}

}  // namespace respike::cli
