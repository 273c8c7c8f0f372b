#pragma once
// Two versions of a program that are run alike several times: do they always behave the same, and
// what do they cost?

#include <cstdint>
#include <string>
#include <vector>

#include "measure/program_run.h"
#include "models/machine_models.h"

namespace respike::measure {

/// What two versions cost, a number for each pair of runs: cycles of a model, or microseconds.
struct Costs {
  std::vector<uint64_t> before, after;

  uint64_t median_before() const;
  uint64_t median_after() const;
  /// The change from the one median to the other, as a share of the first.
  double change() const;
  /// The change between the cheapest runs, as a share of the first: in a few short runs, whatever
  /// else the machine does raises a median.
  double change_of_cheapest() const;
};

struct Trials {
  /// What could be compared: of a program that prints the time, not what it prints.
  enum class Compared : uint8_t {
    output,           // output and end of all runs
    output_at_first,  // what the original prints depends on its random addresses: in the runs at
                      // fixed addresses all was compared, in the others only how they ended
    end,              // what the original prints differs from run to run: only how runs ended
    nothing,          // how the original ends differs from run to run
  };

  bool modelled = false;  // the costs are cycles
  bool driven = false;    // the program is a server: the driver's output and end were compared, and
                          // how the server ended
  std::string model;      // its name, then
  size_t runs = 0;        // of each version
  Compared compared{};
  std::string difference;   // of what was compared, one clause; empty: none
  int signal = 0;           // that killed the original each time; 0: none
  int exit_status = 0;      // of the original
  int fault_of_server = 0;  // that kills a process of the original each time; 0: none
  Costs costs;
  bool measurable = false;  // whether the costs differ by more than they vary
};

/// On a model a change of the medians below this share is none: models leave out more than that.
inline constexpr double kNegligible = 0.005;

/// Whether the costs on a model differ: all of one version are above all of the other.
bool differ_on_model(const Costs& costs);

/// Runs both versions in turn, on the model or, where it is null, on this host, whose processor
/// time is the cost then. `runs`: how many pairs, at least 2; 0: three on a model, as many as
/// compare_times() makes without one. Arguments, argv[0], environment and input are the same.
/// Throws Error when a version is not for the machine or cannot be started, or when the runs were
/// stopped.
Trials try_versions(const ModelInfo* model, const Version& before, const Version& after,
                    const Workload& workload, size_t runs);

}  // namespace respike::measure
