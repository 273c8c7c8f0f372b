#pragma once
// Two versions of a program that run several times in the same way: do they always behave the same,
// and what do they cost?

#include <cstdint>
#include <string>
#include <vector>

#include "measure/program_run.h"
#include "models/machine_models.h"

namespace respike::measure {

/// The costs of two versions, a number for each pair of runs: cycles of a model, or microseconds.
struct Costs {
  std::vector<uint64_t> before, after;

  uint64_t median_before() const;
  uint64_t median_after() const;
  /// The change from the first median to the second, as a share of the first.
  double change() const;
  /// The change between the cheapest runs, as a share of the first: in a few short runs, other work
  /// of the machine raises a median.
  double change_of_cheapest() const;
};

struct Trials {
  /// What could be compared: for a program that prints the time, not its output.
  enum class Compared : uint8_t {
    output,           // output and end of all runs
    output_at_first,  // the original's output depends on its random addresses: runs at fixed
                      // addresses were compared completely, other runs only by their ends
    end,              // the original's output differs between runs: only ends were compared
    nothing,          // the original's end differs between runs
  };

  bool modelled = false;  // the costs are cycles
  bool driven = false;    // the program is a server: the driver's output and end were compared, and
                          // how the server ended
  std::string model;      // name of the model, then
  size_t runs = 0;        // runs of each version
  Compared compared{};
  std::string difference;   // difference in what was compared, one clause; empty: none
  int signal = 0;           // signal that killed the original each time; 0: none
  int exit_status = 0;      // of the original
  int fault_of_server = 0;  // signal that kills a process of the original each time; 0: none
  Costs costs;
  bool measurable = false;  // whether the costs differ by more than they vary
};

/// On a model a change of the medians below this share does not count: models leave out more than
/// that.
inline constexpr double kNegligible = 0.005;

/// Whether the costs on a model differ: all costs of one version are above all costs of the other.
bool differ_on_model(const Costs& costs);

/// Runs both versions in turn, on the model or, if it is null, on this host, where the cost is
/// processor time. `runs`: the number of pairs, at least 2; 0: three on a model, as many as
/// compare_times() makes without a model. Arguments, argv[0], environment and input are the same.
/// Throws Error when a version is not for the machine or cannot be started, or when the runs were
/// stopped.
Trials try_versions(const ModelInfo* model, const Version& before, const Version& after,
                    const Workload& workload, size_t runs);

}  // namespace respike::measure
