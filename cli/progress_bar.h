#pragma once
// A bar on the terminal for work that takes long.

#include <chrono>
#include <cstddef>
#include <string_view>

namespace respike::cli {

/// Shows the bar only if stderr is a terminal and the work takes longer than a moment. The
/// destructor clears the line, so that an error message starts on an empty line.
class ProgressBar {
 public:
  ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() { clear(); }

  /// Prints a line that stays, when the next of several pieces of work begins.
  void begin(std::string_view work);
  /// `step`: what is being done; `done`: 0 to 1.
  void show(std::string_view step, double done);
  void clear();

 private:
  std::chrono::steady_clock::time_point start_;
  bool terminal_;
  size_t width_ = 0;  // width of the widest line shown; 0: none
};

}  // namespace respike::cli
