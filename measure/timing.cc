// Timing programs on this host.
//
// Problem: the same program takes a different time in each run: other programs share the processor,
// its clock changes, addresses are random. Idea: two programs run in turn, in pairs, and take turns
// at being first in a pair, so that slow changes affect both equally. Address randomization is on,
// so that a lucky address counts only once. A sign test over the pairs says whether the times
// differ by more than they vary. Processor time leaves out waiting. If the processor counts cycles
// (counters.h), cycles are compared instead: they vary less, since they leave out the clock's
// changes and the kernel's work.
//
// The size of the difference is the median of the quotients of costs in each pair, with an interval
// for this median. Half of all quotients are below the true median; so in n pairs the number of
// quotients below it is distributed like the heads of n coins, and the median is between the sorted
// quotients k and n - 1 - k unless k or fewer coins fall on one side.
//
// The first pair does not count: it fills the caches of the file system. It runs without address
// randomization, so that programs that print addresses print the same; its outputs are compared.
//
// Example: one program is faster in 21 of 25 pairs. A fair coin falls on one side 21 times of 25 or
// more only once in a thousand tries: the program is faster. 18 of 25 would prove nothing.
//
// Sources: the sign test, and the interval for a quantile; Conover, "Practical Nonparametric
// Statistics", 3.4 and 3.2.

#include "measure/timing.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>

#include "measure/child.h"
#include "measure/one_run.h"
#include "measure/same_work.h"
#include "measure/server_run.h"
#include "optimizer/base/error.h"

namespace respike::measure {
namespace {

namespace fs = std::filesystem;

constexpr double kChance = 0.01, kConfidence = 0.95;

/// One run. Without a driver, a deadly signal is an Error; with a driver, the caller compares ends.
ProcessEnd run_once(const Folder& folder, const ProgramRun& run, Addresses addresses) {
  const ProcessEnd end = run_natively(folder, run, addresses);
  if (run.driver.command.empty()) require_exit(end, run);
  return end;
}

/// The first run of a server.
ProcessEnd run_with_driver(const Folder& folder, const ProgramRun& run) {
  const ProcessEnd end = run_natively(folder, run, Addresses::fixed);
  require_good_driver(run, end);
  return end;
}

/// Runs a program once more, silently, and records its time. `first`: how its first run has ended.
void add_time(const Folder& folder, ProgramRun run, const OpenFile& nothing,
              const ProcessEnd& first, Times& times) {
  lseek(run.input, 0, SEEK_SET);
  run.output = run.errors = nothing.number();
  run.counted = times.uncounted.empty();
  const ProcessEnd end = run_once(folder, run, Addresses::random);
  if (const std::string difference = difference_of_ends(first, end); !difference.empty())
    throw Error(fmt::format("when it runs again, {}", difference), name_of(run));
  times.microseconds.push_back(end.microseconds);
  times.counts.push_back(end.counts);
}

/// The cost of the last run: its cycles, or its microseconds.
uint64_t last_cost(const Times& times, bool by_cycles) {
  return by_cycles ? times.counts.back().values.front() : times.microseconds.back();
}

}  // namespace

const Platform& require_native(const fs::path& path) {
  const auto machine = require_program(path);
  if (!machine || !platform_of(*machine).native())
    throw Error("it is not a program that this host runs itself", path);
  return platform_of(*machine);
}

ProcessEnd run_natively(const Folder& folder, const ProgramRun& run, Addresses addresses) {
  folder.prepare(run);
  if (!run.driver.command.empty()) return run_server(folder, run, addresses);
  std::vector<std::string> words = {run.argv0};
  words.insert(words.end(), run.arguments.begin(), run.arguments.end());
  return run_child(folder.started_by(run), std::move(words), environment_with(run.variables), run,
                   folder.signals(), addresses);
}

double chance_of(size_t heads, size_t throws) {
  const auto n = static_cast<double>(throws);
  double sum = 0;
  for (size_t i = std::max(heads, throws - heads); i <= throws; ++i) {
    const auto k = static_cast<double>(i);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) -
                    n * std::log(2));
  }
  return std::min(1.0, 2 * sum);
}

bool Patience::lasts(size_t runs) const {
  constexpr size_t kMostRuns = 25;
  const size_t least = servers_ ? 10 : 15;               // fewer than 8 pairs never prove anything
  const std::chrono::seconds enough(servers_ ? 60 : 5);  // no further run begins after that
  return runs < least || (runs < kMostRuns && std::chrono::steady_clock::now() - start_ < enough);
}

Interval interval_of_median(const std::vector<double>& sorted) {
  const size_t n = sorted.size();
  if (n == 0) return {};
  size_t k = 0;
  while (2 * (k + 1) < n && chance_of(k + 1, n) <= 1 - kConfidence) ++k;
  return {sorted[k], sorted[n - 1 - k]};
}

double TimeComparison::speedup() const {
  return quotients.empty() ? 1 : quotients[quotients.size() / 2];
}

void compare_costs(TimeComparison& c) {
  c.faster = 0;
  c.quotients.clear();
  for (size_t i = 0; i < c.cost_before.size(); ++i) {
    c.faster += c.cost_after[i] < c.cost_before[i];
    c.quotients.push_back(static_cast<double>(std::max<uint64_t>(1, c.cost_before[i])) /
                          static_cast<double>(std::max<uint64_t>(1, c.cost_after[i])));
  }
  std::ranges::sort(c.quotients);
}

bool TimeComparison::beyond_noise() const {
  return differ_in_time(cost_before, cost_after);
}

bool differ_in_time(const std::vector<uint64_t>& before, const std::vector<uint64_t>& after) {
  const size_t pairs = before.size();
  if (pairs == 0) return false;
  size_t faster = 0;
  for (size_t i = 0; i < pairs; ++i) faster += after[i] < before[i];
  if (chance_of(faster, pairs) > kChance) return false;
  std::vector<uint64_t> first = before, second = after;
  std::ranges::sort(first);
  std::ranges::sort(second);
  const size_t middle = pairs / 2;
  return 2 * faster > pairs ? second[0] < first[0] && second[middle] < first[middle]
                            : second[0] > first[0] && second[middle] > first[middle];
}

Times time_runs(const ProgramRun& given) {
  require_native(given.program);
  ProgramRun run = given;
  const OpenFile input = copy_of_input(given.input), nothing = open_nothing();
  run.input = input.number();
  const Folder folder;
  lseek(run.input, 0, SEEK_SET);
  Times times;
  times.uncounted = Counters().problem();
  const ProcessEnd first = run_once(folder, run, Addresses::fixed);
  times.exit_status = first.exit_status;
  for (const Patience patience; patience.lasts(times.runs());)
    add_time(folder, run, nothing, first, times);
  std::ranges::sort(times.microseconds);
  return times;
}

TimeComparison compare_times(const Version& before, const Version& after,
                             const Workload& workload) {
  require_program_for(require_native(before.program), after.program);
  const OpenFile input = copy_of_input(workload.input), nothing = open_nothing();
  const Folder folder;  // signals are blocked from here on
  const Outputs first, second;
  TimeComparison result;
  const auto run = [&](const Version& version, const Outputs& outputs) {
    return run_of(version, before.program, workload, input, outputs);
  };
  const ProcessEnd original = workload.driver.command.empty()
                                  ? run_once(folder, run(before, first), Addresses::fixed)
                                  : run_with_driver(folder, run(before, first));
  const ProcessEnd other = run_once(folder, run(after, second), Addresses::fixed);
  result.before.exit_status = original.exit_status;
  result.after.exit_status = other.exit_status;
  result.difference = difference_of(original, first, other, second);
  if (!result.difference.empty() && !workload.driver.command.empty()) {
    const Outputs again;  // load generators often print how long the load took
    run_with_driver(folder, run(before, again));
    result.output_varies = !difference_of_outputs(first, again).empty();
    if (result.output_varies) result.difference = difference_of_ends(original, other);
  }
  result.before.uncounted = result.after.uncounted = Counters().problem();
  result.by_cycles = result.before.uncounted.empty();
  for (const Patience patience(!workload.driver.command.empty());
       patience.lasts(result.after.runs());) {
    const bool swapped = result.pairs() % 2 == 1;
    if (swapped) add_time(folder, run(after, second), nothing, other, result.after);
    add_time(folder, run(before, first), nothing, original, result.before);
    if (!swapped) add_time(folder, run(after, second), nothing, other, result.after);
    for (const Times* times : {&result.before, &result.after})
      result.by_cycles = result.by_cycles && times->counts.back().known.front();
    result.cost_before.push_back(last_cost(result.before, result.by_cycles));
    result.cost_after.push_back(last_cost(result.after, result.by_cycles));
  }
  if (!result.by_cycles) {  // perhaps only from some pair on
    result.cost_before = result.before.microseconds;
    result.cost_after = result.after.microseconds;
  }
  compare_costs(result);
  std::ranges::sort(result.before.microseconds);
  std::ranges::sort(result.after.microseconds);
  return result;
}

}  // namespace respike::measure
