// Runs two versions repeatedly.
//
// A program that prints the time, its process number or an address has a different output in each
// run. The original, which runs as often as the other version, shows this: a difference between two
// runs of the original says nothing about the other version. So every run is compared with the
// first run of the original, and only at the end, when all runs of the original are known, are the
// differences judged.
//
// On this host, addresses are random in the timed runs, so that a lucky address counts only once
// (timing.cc). Before these there are three runs at fixed addresses (original, other version,
// original), in which a program that prints addresses prints the same. On a model all addresses are
// fixed, but under QEMU the stack follows the program, whose versions differ in size. So programs
// of this host make these three runs on the host, even if the costs come from a model, and
// address-dependent output is compared there.
//
// Example: the original prints "12:00:01" and "12:00:02", the optimized version "12:00:01": only
// the exit status is compared. An original that prints "ok" twice, and an optimized version that
// prints "ok" and once "no", differ.
//
// Costs. On this host the sign test of timing.cc decides whether a difference counts. On a model,
// where a deterministic program costs the same each time, a difference counts when all runs of one
// version cost more than all runs of the other and the medians differ by half a percent: a smaller
// difference may be due to the loader's placement, or to effects that the model leaves out.

#include "measure/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "measure/one_run.h"
#include "measure/same_work.h"
#include "measure/server_run.h"
#include "measure/timing.h"
#include "optimizer/base/error.h"

namespace respike::measure {
namespace {

constexpr size_t kRunsOnModel = 3, kLeastRuns = 2;

uint64_t median_of(std::vector<uint64_t> numbers) {
  const auto middle = numbers.begin() + ptrdiff_t(numbers.size() / 2);
  std::ranges::nth_element(numbers, middle);
  return *middle;
}

/// One run and its output.
struct Trial {
  ProcessEnd end;
  Outputs outputs;
  uint64_t cost = 0;
};

class Series {
 public:
  Series(const ModelInfo* model, const Version& before, const Version& after,
         const Workload& workload)
      : model_(model),
        before_(before),
        after_(after),
        workload_(workload),
        input_(copy_of_input(workload.input)) {}

  Trials run(size_t runs);

 private:
  Trial run_one(const Version& version, Addresses addresses);
  void run_original(Addresses addresses);
  void run_other(Addresses addresses);
  void run_pair(Addresses addresses, bool swapped);
  void judge();

  const ModelInfo* const model_;
  const Version &before_, &after_;
  const Workload& workload_;
  const OpenFile input_;
  const Folder folder_;  // signals are blocked from here on

  bool on_host_ = false;        // the present runs are not on the model
  std::optional<Trial> first_;  // first run of the original
  bool ends_vary_ = false;      // ends of the original vary
  bool output_varies_ = false;  // output of the original varies at fixed addresses
  bool output_moves_ = false;   // output of the original varies at random addresses
  std::string other_end_, other_output_, other_output_moved_;  // first differences of the other
                                                               // version
  Trials trials_;
};

Trial Series::run_one(const Version& version, Addresses addresses) {
  Trial trial;
  const ProgramRun run = run_of(version, before_.program, workload_, input_, trial.outputs);
  if (model_ != nullptr && !on_host_) {
    const MeasuredRun measured = measure_in(folder_, *model_, run);
    trial.end = measured.end;
    trial.cost = measured.result.cycles;
  } else {
    trial.end = run_natively(folder_, run, addresses);
    if (trials_.driven && !first_) require_good_driver(run, trial.end);
    trial.cost = trial.end.microseconds;
  }
  return trial;
}

void Series::run_original(Addresses addresses) {
  Trial trial = run_one(before_, addresses);
  trials_.costs.before.push_back(trial.cost);
  if (!first_) {
    first_.emplace(std::move(trial));
    return;
  }
  ends_vary_ |= !difference_of_ends(first_->end, trial.end).empty();
  if (!difference_of_outputs(first_->outputs, trial.outputs).empty())
    (addresses == Addresses::fixed ? output_varies_ : output_moves_) = true;
}

void Series::run_other(Addresses addresses) {
  const Trial trial = run_one(after_, addresses);
  trials_.costs.after.push_back(trial.cost);
  const auto note = [&](std::string& where, const std::string& difference) {
    if (where.empty() && !difference.empty())
      where = fmt::format("in run {} {}", trials_.costs.after.size(), difference);
  };
  note(other_end_, difference_of_ends(first_->end, trial.end));
  note(addresses == Addresses::fixed ? other_output_ : other_output_moved_,
       difference_of_outputs(first_->outputs, trial.outputs));
}

void Series::run_pair(Addresses addresses, bool swapped) {
  if (swapped) run_other(addresses);
  run_original(addresses);
  if (!swapped) run_other(addresses);
}

Trials Series::run(size_t runs) {
  trials_.driven = !workload_.driver.command.empty();
  const bool native = model_ == nullptr || platform_of(model_->machine).native();
  if (native) {
    on_host_ = true;
    run_pair(Addresses::fixed, false);
    run_original(Addresses::fixed);
    on_host_ = false;
    trials_.costs = {};  // these filled the caches of the file system
  }
  if (model_ != nullptr) {
    const size_t pairs = runs == 0 ? kRunsOnModel : std::max(runs, kLeastRuns);
    for (size_t i = 0; i < pairs; ++i)
      run_pair(native ? Addresses::random : Addresses::fixed, false);
  } else {
    const Patience patience(trials_.driven);
    for (size_t i = 0; runs == 0 ? patience.lasts(i) : i < std::max(runs, kLeastRuns); ++i)
      run_pair(Addresses::random, i % 2 == 1);
  }
  judge();
  return std::move(trials_);
}

void Series::judge() {
  using Compared = Trials::Compared;
  trials_.modelled = model_ != nullptr;
  if (model_ != nullptr) trials_.model = model_->name;
  trials_.runs = trials_.costs.before.size();
  trials_.signal = first_->end.signal;
  trials_.exit_status = first_->end.exit_status;
  trials_.fault_of_server = first_->end.server.fault;
  trials_.compared = ends_vary_       ? Compared::nothing
                     : output_varies_ ? Compared::end
                     : output_moves_  ? Compared::output_at_first
                                      : Compared::output;
  std::string& difference = trials_.difference;
  if (trials_.compared < Compared::nothing) difference = other_end_;
  if (trials_.compared < Compared::end && difference.empty()) difference = other_output_;
  if (trials_.compared == Compared::output && difference.empty()) difference = other_output_moved_;
  trials_.measurable = model_ != nullptr
                           ? differ_on_model(trials_.costs)
                           : differ_in_time(trials_.costs.before, trials_.costs.after);
}

}  // namespace

uint64_t Costs::median_before() const {
  return median_of(before);
}

uint64_t Costs::median_after() const {
  return median_of(after);
}

double Costs::change() const {
  return double(median_after()) / double(std::max<uint64_t>(1, median_before())) - 1;
}

double Costs::change_of_cheapest() const {
  if (before.empty() || after.empty()) return 0;
  return double(std::ranges::min(after)) / double(std::max<uint64_t>(1, std::ranges::min(before))) -
         1;
}

bool differ_on_model(const Costs& costs) {
  const auto [least_before, most_before] = std::ranges::minmax(costs.before);
  const auto [least_after, most_after] = std::ranges::minmax(costs.after);
  return (least_after > most_before || most_after < least_before) &&
         std::abs(costs.change()) >= kNegligible;
}

Trials try_versions(const ModelInfo* model, const Version& before, const Version& after,
                    const Workload& workload, size_t runs) {
  for (const Version& version : {before, after})
    if (model != nullptr)
      require_program_for(platform_of(model->machine), version.program);
    else
      require_native(version.program);
  return Series(model, before, after, workload).run(runs);
}

}  // namespace respike::measure
