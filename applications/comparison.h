#pragma once
// Does optimization pay? An application's original and its optimized version, libraries included,
// on the same work: what they cost, where the difference is, and whether the version can be
// shipped. The command line prints these values and the manager shows them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "applications/environment.h"
#include "measure/run.h"
#include "measure/timing.h"
#include "measure/trials.h"

namespace respike {

/// An image of the application, another file whose code ran, or memory without a file.
struct ComparedImage {
  std::string path;                // empty: code without a file
  bool optimized = false;          // its optimized version ran
  std::string left_alone;          // why not, a clause
  uint64_t before = 0, after = 0;  // cycles; 0 without a model
};

/// A procedure of the original and all code of the version that comes from it.
struct ComparedProcedure {
  std::string image, name;
  uint64_t before = 0, after = 0;  // cycles
  uint64_t instructions_before = 0, instructions_after = 0;

  int64_t change() const { return int64_t(after - before); }
};

struct ApplicationComparison {
  std::string program;                           // path
  std::optional<measure::Comparison> modelled;   // where the machine has a model
  std::optional<measure::TimeComparison> timed;  // where it has none
  std::string why_timed;                         // as measure::model_for() says
  std::vector<ComparedImage> images;             // most cycles first
  std::vector<ComparedProcedure> procedures;     // the largest gain first; empty without a model

  /// How else the version behaved differently, a clause; empty: it behaved the same.
  const std::string& difference() const {
    return modelled ? modelled->difference : timed->difference;
  }
};

/// Runs the program of an application in its original form and with all its optimized images in
/// place, as run() does: on the model that measure::model_for() finds for `model`, or, without a
/// model, in pairs on this host. With a driver, the runs are on this host. `workload.places` is
/// ignored. Throws Error when no image is optimized, when nothing can be put in place here, and
/// whenever measure::compare() does.
ApplicationComparison compare_application(Environment& environment, const std::string& name,
                                          const measure::Workload& workload,
                                          const std::string& model = {});

struct ApplicationCheck {
  std::string program;
  measure::Trials trials;
  std::vector<ComparedImage> images;  // without cycles
  bool ship = false;
  std::string verdict;  // one line: "ship: ..." or "do not ship: ..."
};

/// Runs both versions as compare_application() does, `runs` times (0: a number that suits the
/// machine), and decides whether to ship. Throws the same errors, but a version that a signal kills
/// is a result.
ApplicationCheck check_application(Environment& environment, const std::string& name,
                                   const measure::Workload& workload, size_t runs,
                                   const std::string& model = {});

/// The verdict of the trials: whether to ship, and one line why.
std::pair<bool, std::string> verdict_of(const measure::Trials& trials);

/// The verdict in one word; `ship`: what verdict_of() returned.
CheckResult result_of(const measure::Trials& trials, bool ship);

/// "cycles" or "processor time".
std::string_view cost_name(bool modelled);

}  // namespace respike
