#pragma once
// The steps of long work: each is reported when it begins, and timed.
//
//   Steps steps(options.progress);
//   steps.begin("lift", 0.0);         // nothing is done yet
//   Program program = lift(image);
//   steps.begin("emit", 0.3); // ends "lift"; 30% of the time has passed bytes = emit(program);
//   result.timings = steps.end();     // of both

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace respike {

struct Timing {
  std::string step;
  double seconds = 0;
};

/// Called at the beginning of a step; `done`: the share of all the time that is over, 0 to 1.
using Progress = std::function<void(std::string_view step, double done)>;

class Steps {
 public:
  explicit Steps(Progress progress) : progress_(std::move(progress)) {}

  /// Ends the last step and begins another, without a report.
  void begin(std::string_view step) {
    end_step();
    timings_.push_back({std::string(step), 0});
  }
  /// Ends the last step and begins another, with a report.
  void begin(std::string_view step, double done) {
    begin(step);
    if (progress_) progress_(step, done);
  }
  /// Ends the last step. A step that was begun twice is listed twice.
  std::vector<Timing> end() {
    end_step();
    return std::move(timings_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  void end_step() {
    const auto now = Clock::now();
    if (!timings_.empty())
      timings_.back().seconds = std::chrono::duration<double>(now - begun_).count();
    begun_ = now;
  }

  Progress progress_;
  std::vector<Timing> timings_;
  Clock::time_point begun_;
};

}  // namespace respike
