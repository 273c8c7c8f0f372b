#pragma once
// Programs of this host: processor time, and the processor's counts if it has counters.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "measure/counters.h"
#include "measure/program_run.h"

namespace respike::measure {

/// Runs of one program on the same work.
struct Times {
  std::vector<uint64_t> microseconds;  // processor time, user and system, of each run; sorted
  std::vector<Counts> counts;          // of each run, in the order of the runs
  std::string uncounted;  // why the processor's counters cannot be read, a clause; empty: they are
                          // read
  int exit_status = 0;

  size_t runs() const { return microseconds.size(); }
  uint64_t least() const { return microseconds.front(); }
  uint64_t median() const { return at(runs() / 2); }
  /// Half of the runs are between these two.
  uint64_t lower() const { return at(runs() / 4); }
  uint64_t upper() const { return at(runs() - 1 - runs() / 4); }

 private:
  uint64_t at(size_t i) const { return microseconds[i]; }
};

/// The true median is between these two with a probability of at least 95%.
struct Interval {
  double low = 0, high = 0;
};

/// The interval for the median of the distribution from which `sorted` is a sample, for any
/// distribution; needs at least 6 numbers, else returns the least and the largest.
Interval interval_of_median(const std::vector<double>& sorted);

struct TimeComparison {
  Times before, after;
  size_t faster = 0;              // pairs of runs in which the second program cost less
  std::vector<double> quotients;  // for each pair: cost of the first program divided by that of the
                                  // second; sorted
  bool by_cycles = false;         // the costs are the cycles that the processor counted
  std::string difference;         // one clause; empty: same output, same exit status
  bool output_varies = false;     // the driver's output varies with the original: only the ends of
                                  // driver and server were compared

  size_t pairs() const { return before.runs(); }
  /// The median of the quotients.
  double speedup() const;
  Interval speedup_interval() const { return interval_of_median(quotients); }
  /// Whether the costs differ by more than they vary: one program has the smaller least cost and
  /// median, and costs less in so many pairs that chance gives as many only once in a hundred
  /// comparisons.
  bool beyond_noise() const;

  std::vector<uint64_t> cost_before, cost_after;  // costs of each pair, in the order of the pairs
};

/// Fills in what follows from the costs of pairs: quotients and faster pairs.
void compare_costs(TimeComparison& comparison);

/// Whether processor times of pairs of runs are beyond_noise(). `before` and `after` have one time
/// for each pair.
bool differ_in_time(const std::vector<uint64_t>& before, const std::vector<uint64_t>& after);

/// Whether a further pair of runs is worth its time: from 15 to 25 pairs, and none that begins
/// after five seconds. For servers, which start, work and stop each time, from 10 to 25 pairs, and
/// none that begins after a minute.
class Patience {
 public:
  explicit Patience(bool servers = false) : servers_(servers) {}
  bool lasts(size_t runs) const;

 private:
  const bool servers_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// The probability that a fair coin falls on either side `heads` of `throws` times or more.
double chance_of(size_t heads, size_t throws);

/// Runs a program several times. The output of the first run goes where `run` says, the output of
/// the other runs is dropped; all runs get the input from its start. Throws Error if the program is
/// not for this host, cannot be started, is killed or stopped, or ends differently each time.
Times time_runs(const ProgramRun& run);

/// Runs two programs in turn, with the same arguments, argv[0] (the path of `before`), environment
/// and input, and compares the outputs of their first runs. Throws the errors of time_runs().
TimeComparison compare_times(const Version& before, const Version& after, const Workload& workload);

}  // namespace respike::measure
