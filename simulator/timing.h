#pragma once
// Processor time of programs that the host runs itself: what there is to compare where no model of
// the processor is.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "simulator/program_run.h"

namespace respike::simulator {

/// Runs of one program on the same work.
struct Times {
  std::vector<uint64_t> microseconds;  // processor time, user and system, of each run; sorted
  int exit_status = 0;

  size_t runs() const { return microseconds.size(); }
  uint64_t least() const { return microseconds.front(); }
  uint64_t median() const { return at(runs() / 2); }
  /// Half of the runs lie between these two.
  uint64_t lower() const { return at(runs() / 4); }
  uint64_t upper() const { return at(runs() - 1 - runs() / 4); }

 private:
  uint64_t at(size_t i) const { return microseconds[i]; }
};

struct TimeComparison {
  Times before, after;
  size_t faster = 0;       // pairs of runs in which the second program took less time
  std::string difference;  // one clause; empty: same output, same exit status

  size_t pairs() const { return before.runs(); }
  /// By the medians.
  double speedup() const;
  /// Whether the times differ by more than they vary: one program is faster in so many pairs that
  /// chance gives as many in one of a hundred comparisons, and has the smaller least time and
  /// median.
  bool beyond_noise() const;
};

/// Whether processor times of pairs of runs are beyond_noise(). `before` and `after` have one time
/// for each pair.
bool differ_in_time(const std::vector<uint64_t>& before, const std::vector<uint64_t>& after);

/// Whether a further pair of runs is worth its time: from 8 to 25 pairs, and none that begins after
/// five seconds.
class Patience {
 public:
  bool lasts(size_t runs) const;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// How likely a fair coin falls on one side, either of them, `heads` of `throws` times or more
/// often.
double chance_of(size_t heads, size_t throws);

/// Runs a program several times. What the first run prints goes where `run` says, what the others
/// print goes nowhere; all get the input from its start. Throws Error if the program is not for
/// this host, cannot be started, is killed or stopped, or ends differently each time.
Times time_runs(const ProgramRun& run);

/// Runs two programs in turn, with the same arguments, argv[0] (the path of `before`), environment
/// and input, and compares what they print in their first run. Throws Error as time_runs() does.
TimeComparison compare_times(const Version& before, const Version& after, const Workload& workload);

}  // namespace respike::simulator
