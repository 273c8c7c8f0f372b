// Timing programs on this host.
//
// Problem: the same program takes another time whenever it runs: other programs share the
// processor, its clock changes, addresses are random. Idea: two programs run in turn, in pairs, the
// first of a pair being now the one, now the other, so that what changes slowly hits both alike;
// address randomization is on, so that a lucky address counts once; and a sign test over the pairs
// says whether the times differ by more than they vary. Processor time leaves out what the program
// waits for.
//
// The first pair does not count: it fills the caches of the file system. Its address randomization
// is off, so that programs that print addresses print the same; its outputs are compared.
//
// Example: of 25 pairs one program is faster in 21. A fair coin falls on one side 21 times of 25 or
// more often once in a thousand tries: the program is faster. 18 of 25 would say nothing.
//
// Source: the sign test; Conover, "Practical Nonparametric Statistics", 3.4.

#include "simulator/timing.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>

#include "optimizer/base/error.h"
#include "simulator/child.h"
#include "simulator/one_run.h"
#include "simulator/same_work.h"

namespace respike::simulator {
namespace {

namespace fs = std::filesystem;

constexpr double kChance = 0.01;

OpenFile open_nothing() {
  const int number = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (number < 0) throw Error(std::strerror(errno), "/dev/null");
  return OpenFile(number);
}

/// One run that ends by itself.
ProcessEnd run_once(const Folder& folder, const ProgramRun& run, Addresses addresses) {
  const ProcessEnd end = run_natively(folder, run, addresses);
  require_exit(end, run);
  return end;
}

/// Runs a program once more, silently, and notes its time.
void add_time(const Folder& folder, ProgramRun run, const OpenFile& nothing, Times& times) {
  lseek(run.input, 0, SEEK_SET);
  run.output = run.errors = nothing.number();
  const ProcessEnd end = run_once(folder, run, Addresses::random);
  if (end.exit_status != times.exit_status)
    throw Error(fmt::format("its exit status was {}, and is {} when it runs again",
                            times.exit_status, end.exit_status),
                name_of(run));
  times.microseconds.push_back(end.microseconds);
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
  constexpr size_t kLeastRuns = 8, kMostRuns = 25;  // fewer than 8 pairs never say anything
  constexpr std::chrono::seconds kEnough{5};        // no further run begins after that
  return runs < kLeastRuns ||
         (runs < kMostRuns && std::chrono::steady_clock::now() - start_ < kEnough);
}

double TimeComparison::speedup() const {
  return static_cast<double>(before.median()) /
         static_cast<double>(std::max<uint64_t>(1, after.median()));
}

bool TimeComparison::beyond_noise() const {
  if (chance_of(faster, pairs()) > kChance) return false;
  const bool is_faster = 2 * faster > pairs();
  return is_faster ? after.least() < before.least() && after.median() < before.median()
                   : after.least() > before.least() && after.median() > before.median();
}

bool differ_in_time(const std::vector<uint64_t>& before, const std::vector<uint64_t>& after) {
  TimeComparison pairs;
  pairs.before.microseconds = before;
  pairs.after.microseconds = after;
  for (size_t i = 0; i < before.size(); ++i) pairs.faster += after[i] < before[i];
  std::ranges::sort(pairs.before.microseconds);
  std::ranges::sort(pairs.after.microseconds);
  return pairs.beyond_noise();
}

Times time_runs(const ProgramRun& given) {
  require_native(given.program);
  ProgramRun run = given;
  const OpenFile input = copy_of_input(given.input), nothing = open_nothing();
  run.input = input.number();
  const Folder folder;
  lseek(run.input, 0, SEEK_SET);
  Times times;
  times.exit_status = run_once(folder, run, Addresses::fixed).exit_status;
  for (const Patience patience; patience.lasts(times.runs());)
    add_time(folder, run, nothing, times);
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
  const ProcessEnd original = run_once(folder, run(before, first), Addresses::fixed);
  const ProcessEnd other = run_once(folder, run(after, second), Addresses::fixed);
  result.before.exit_status = original.exit_status;
  result.after.exit_status = other.exit_status;
  result.difference = difference_of(original, first, other, second);
  for (const Patience patience; patience.lasts(result.after.runs());) {
    const bool swapped = result.pairs() % 2 == 1;
    if (swapped) add_time(folder, run(after, second), nothing, result.after);
    add_time(folder, run(before, first), nothing, result.before);
    if (!swapped) add_time(folder, run(after, second), nothing, result.after);
    result.faster += result.after.microseconds.back() < result.before.microseconds.back();
  }
  std::ranges::sort(result.before.microseconds);
  std::ranges::sort(result.after.microseconds);
  return result;
}

}  // namespace respike::simulator
