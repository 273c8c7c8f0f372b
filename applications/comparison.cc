// Both versions run in private mount namespaces of the same shape: in one, the optimized images are
// mounted over their originals; in the other, the originals are mounted over themselves. So path,
// argv[0], environment, input, parent process, number of mounts, and the permissions that a program
// sees on its own files are the same: only the code differs. Example: if the program and one of
// three libraries of an application are optimized, both versions run with two mounts.
//
// If the machine has a model, the places of all events are known (measure/plugins/places_file.h). The
// version runs under the original's path, so that places of both runs have the same image;
// following the rewriting (code_origins.h) finds the procedure of the original that code comes
// from.

#include "applications/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "applications/code_origins.h"
#include "applications/fault_guard.h"
#include "applications/image_content.h"
#include "host/platform.h"
#include "measure/attribution.h"
#include "measure/child.h"
#include "measure/symbol_names.h"
#include "models/machine_models.h"
#include "optimizer/base/error.h"
#include "tas/libraries.h"
#include "tas/private_mounts.h"
#include "tas/substitutes.h"

namespace respike {

namespace fs = std::filesystem;

using measure::Measurement;
using measure::ModelInfo;
using measure::Version;
using measure::Workload;

OptimizedVersion Environment::optimized_version(const std::string& name) {
  collect();
  ApplicationRow application = find(name);
  require_one_machine(application);
  application.mode = Mode::optimized;
  std::vector<std::string> warned;
  RunOptions options;
  options.warn = [&](const std::string& text) { warned.push_back(text); };
  OptimizedVersion result;
  const auto images = database_.images_of(application.id);
  if (std::ranges::count_if(images, [](const ApplicationImage& used) {
        return used.role == Role::main && used.image.program;
      }) > 1)
    throw Error(
        "it has several programs, of which one is compared at a time: register that program under "
        "a name of its own (--name)",
        name);
  result.program = chosen_program(application, {}).loaded_as;
  if (has_privileges(result.program))
    throw Error("it gets privileges when it is started, so its original always runs",
                result.program);
  result.substitutions =
      usable_substitutions(read_program(result.program), substitutions(application, options),
                           [&](const std::string& text) { warned.insert(warned.begin(), text); });
  if (result.substitutions.empty())
    throw Error(warned.empty() ? fmt::format("no image of {} is optimized", name) : warned.front());
  for (const std::string& text : warned) warnings_.warn(text);
  if (!warned.empty()) result.runs_as_it_is = warned.front();
  const char* library_path = std::getenv("LD_LIBRARY_PATH");
  const auto instead =
      loaded_instead(application, result.program, library_path == nullptr ? "" : library_path);
  for (const ApplicationImage& used : database_.images_of(application.id)) {
    std::error_code error;
    OptimizedVersion::Image image;
    image.path = fs::canonical(used.image.path, error);
    if (error) image.path = used.image.path;
    image.optimized = std::ranges::any_of(
        result.substitutions, [&](const Substitution& s) { return s.original == image.path; });
    if (const auto other = instead.find(used.image.path); other != instead.end()) {
      image.optimized = false;
      image.left_alone = fmt::format("not loaded here: {} is", other->second.string());
      result.images.push_back(std::move(image));
      continue;
    }
    if (!image.optimized && used.image.optimizable) image.left_alone = "not optimized";
    if (!image.optimized && !used.image.optimizable)
      image.left_alone =
          is_system_library(used.image) ? "system library without relocations" : used.image.reason;
    result.images.push_back(std::move(image));
  }
  return result;
}

namespace {

/// A version with the substitutes of `substitutions` in place of its images.
Version version_with(const OptimizedVersion& found, std::vector<Substitution> substitutions,
                     std::string name) {
  const ProgramImage program = read_program(found.program);
  const Platform* foreign = program.platform->native() ? nullptr : program.platform;
  return {
      .program = found.program,
      .enter =
          [substitutions = std::move(substitutions), foreign] {
            if (const auto why = mount_unintercepted(substitutions, foreign))
              throw Error(fmt::format("optimized images cannot be put in place here: {}", *why));
          },
      .by_own_path = true,
      .name = std::move(name)};
}

/// Both versions of an application.
struct Versions {
  Versions(Environment& environment, const std::string& application)
      : found(environment.optimized_version(application)) {
    std::vector<Substitution> themselves;
    for (const Substitution& s : found.substitutions)
      themselves.push_back({s.original, s.original});
    original = version_with(found, std::move(themselves), found.program);
    optimized = version_with(found, found.substitutions,
                             fmt::format("the optimized {}", found.program.string()));
  }
  const ModelInfo* model(const std::string& wanted, std::string* why_timed = nullptr) const {
    return measure::model_for(found.program, wanted, why_timed);
  }

  OptimizedVersion found;
  Version original, optimized;
};

std::vector<ComparedImage> images_of(const OptimizedVersion& found) {
  std::vector<ComparedImage> images;
  for (const OptimizedVersion::Image& image : found.images)
    images.push_back(
        {.path = image.path, .optimized = image.optimized, .left_alone = image.left_alone});
  return images;
}

void add_cycles(std::vector<ComparedImage>& images, const ModelInfo& model,
                const Measurement& measurement, uint64_t ComparedImage::*side) {
  for (const measure::Share& share : shares_by_image(model, measurement)) {
    auto known = std::ranges::find(images, share.image, &ComparedImage::path);
    if (known == images.end())
      known = images.insert(images.end(), {.path = share.image, .left_alone = "not registered"});
    if (share.image.empty()) known->left_alone.clear();
    (*known).*side += share.cycles;
  }
}

/// Names the procedures of all images; code of optimized images gets the names of the originals.
class Procedures {
 public:
  Procedures(Environment& environment, const OptimizedVersion& found) {
    for (const Substitution& s : found.substitutions) {
      if (environment.progress) environment.progress(s.original.native(), "find procedures", 0.9);
      origins_[s.original] =
          std::make_unique<CodeOrigins>(s.original, s.substitute, environment.diagnostics());
    }
  }

  measure::NameOfCode names(bool optimized) {
    return [this, optimized](const std::string& image, uint64_t offset) {
      const auto origins = origins_.find(image);
      if (origins == origins_.end()) return symbols_(image, offset);
      return optimized ? origins->second->in_optimized(offset)
                       : origins->second->in_original(offset);
    };
  }

 private:
  std::map<std::string, std::unique_ptr<CodeOrigins>> origins_;
  measure::SymbolsOfImages symbols_;
};

std::vector<ComparedProcedure> compare_procedures(Procedures& procedures, const ModelInfo& model,
                                                  const measure::Comparison& comparison) {
  std::map<std::pair<std::string, std::string>, ComparedProcedure> rows;
  const auto row_of = [&](const measure::Share& share) -> ComparedProcedure& {
    ComparedProcedure& row = rows[{share.image, share.procedure}];
    row.image = share.image;
    row.name = share.procedure;
    return row;
  };
  for (const auto& share : shares_by_procedure(model, comparison.before, procedures.names(false))) {
    ComparedProcedure& row = row_of(share);
    row.before = share.cycles;
    row.instructions_before = share.events.instructions;
  }
  for (const auto& share : shares_by_procedure(model, comparison.after, procedures.names(true))) {
    ComparedProcedure& row = row_of(share);
    row.after = share.cycles;
    row.instructions_after = share.events.instructions;
  }
  std::vector<ComparedProcedure> result;
  for (auto& [key, row] : rows) result.push_back(std::move(row));
  std::ranges::stable_sort(result, {}, &ComparedProcedure::change);
  return result;
}

}  // namespace

ApplicationComparison compare_application(Environment& environment, const std::string& name,
                                          const Workload& given, const std::string& wanted) {
  const Versions versions(environment, name);
  ApplicationComparison result;
  const bool driven = !given.driver.command.empty();
  const ModelInfo* model = driven ? nullptr : versions.model(wanted, &result.why_timed);
  result.program = versions.found.program;
  result.images = images_of(versions.found);
  if (environment.progress) environment.progress(result.program, "run both versions", 0.0);
  Workload workload = given;
  workload.places = model != nullptr;
  if (model == nullptr) {
    result.timed = measure::compare_times(versions.original, versions.optimized, workload);
    return result;
  }
  result.modelled = measure::compare(*model, versions.original, versions.optimized, workload);
  add_cycles(result.images, *model, result.modelled->before, &ComparedImage::before);
  add_cycles(result.images, *model, result.modelled->after, &ComparedImage::after);
  std::ranges::stable_sort(result.images, std::greater<>(), &ComparedImage::before);
  Procedures procedures(environment, versions.found);
  result.procedures = compare_procedures(procedures, *model, *result.modelled);
  return result;
}

// ---- check ----

std::string_view cost_name(bool modelled) {
  return modelled ? "cycles" : "processor time";
}

namespace {

/// "behaves the same", and what this is based on.
std::string sameness(const measure::Trials& trials) {
  using Compared = measure::Trials::Compared;
  const std::string_view who = trials.driven ? "the driver" : "the original";
  std::string text = fmt::format("it behaves the same in {} runs", trials.runs);
  if (trials.compared == Compared::end)
    text = fmt::format(
        "it ends the same in {} runs ({} prints something else each time, so output was "
        "not compared)",
        trials.runs, who);
  if (trials.compared == Compared::output_at_first)
    text = fmt::format(
        "it behaves the same (what {} prints depends on random addresses, so output was "
        "compared once, at fixed addresses, and {} times how it ends)",
        who, trials.runs);
  if (trials.fault_of_server != 0)
    text += fmt::format("; signal {} kills a process of the server in both versions",
                        trials.fault_of_server);
  if (trials.exit_status != 0)
    text += fmt::format("; the exit status is {} in both versions", trials.exit_status);
  return text;
}

}  // namespace

std::pair<bool, std::string> verdict_of(const measure::Trials& trials) {
  if (!trials.difference.empty())
    return {false, fmt::format("do not ship: the optimized version behaves otherwise: {}",
                               trials.difference)};
  if (trials.compared == measure::Trials::Compared::nothing)
    return {false,
            fmt::format("do not ship: {} ends otherwise from run to run, so that nothing "
                        "can be compared",
                        trials.driven ? "with the original, driver or server" : "the original")};
  if (trials.signal != 0)
    return {false, fmt::format("do not ship: signal {} kills {} in both versions, so that little "
                               "was compared: check with work that ends by itself",
                               trials.signal, trials.driven ? "the driver" : "the program")};
  // Exit statuses of shells and the dynamic linker when a program cannot be started.
  constexpr int kNotExecutable = 126, kNotFound = 127;
  if (trials.exit_status == kNotExecutable || trials.exit_status == kNotFound)
    return {false, fmt::format("do not ship: with both versions {} ends with the status {}: it "
                               "seems that something cannot be started",
                               trials.driven ? "the driver" : "the program", trials.exit_status)};
  const std::string cost(cost_name(trials.modelled));
  const double change = trials.costs.change();
  const std::string size = fmt::format("{:.1f}%", 100 * std::abs(change));
  if (trials.measurable && change > 0)
    return {false, fmt::format("do not ship: it is slower, by {} more {}; {}", size, cost,
                               sameness(trials))};
  if (trials.measurable)
    return {true, fmt::format("ship: {} {} {}; {}", size, trials.modelled ? "fewer" : "less", cost,
                              sameness(trials))};
  constexpr size_t kEnough =
      8;  // pairs of runs: with fewer, chance too often makes one version faster in all of them
  constexpr double kMuch = 0.1;
  if (!trials.modelled && trials.runs < kEnough) {
    const std::string doubt = fmt::format("{} runs are too few to compare the {} ({} at least)",
                                          trials.runs, cost, kEnough);
    // The time to start a program varies by some milliseconds from run to run.
    constexpr double kOfStarting = 10'000;  // microseconds
    const double seen = trials.costs.change_of_cheapest();
    const auto& costs = trials.costs.before;
    const auto before = costs.empty() ? 0 : static_cast<double>(std::ranges::min(costs));
    if (seen > kMuch && seen * before > kOfStarting)
      return {false, fmt::format("do not ship: it seems slower, by {:.1f}%, but {}; {}", 100 * seen,
                                 doubt, sameness(trials))};
    return {true, fmt::format("ship: {}; {}", doubt, sameness(trials))};
  }
  return {true, fmt::format("ship: no measurable difference in {}; {}", cost, sameness(trials))};
}

CheckResult result_of(const measure::Trials& trials, bool ship) {
  if (!trials.difference.empty()) return CheckResult::differs;
  const double change = trials.measurable ? trials.costs.change() : 0;
  if (ship) return change < 0 ? CheckResult::faster : CheckResult::same;
  const bool compared = trials.compared != measure::Trials::Compared::nothing && trials.signal == 0;
  return compared && change > 0 ? CheckResult::slower : CheckResult::unclear;
}

namespace {

LastCheck summary_of(const OptimizedVersion& found, const ApplicationCheck& check) {
  LastCheck last{.images = images_text(found.substitutions),
                 .result = result_of(check.trials, check.ship),
                 .verdict = check.verdict};
  if (last.result == CheckResult::faster || last.result == CheckResult::slower)
    last.gain = -check.trials.costs.change();
  return last;
}

}  // namespace

ApplicationCheck check_application(Environment& environment, const std::string& name,
                                   const Workload& workload, size_t runs,
                                   const std::string& wanted) {
  const Versions versions(environment, name);
  ApplicationCheck result;
  result.program = versions.found.program;
  result.images = images_of(versions.found);
  if (environment.progress) environment.progress(result.program, "run both versions", 0.0);
  const ModelInfo* model = workload.driver.command.empty() ? versions.model(wanted) : nullptr;
  result.trials =
      measure::try_versions(model, versions.original, versions.optimized, workload, runs);
  std::tie(result.ship, result.verdict) = verdict_of(result.trials);
  if (result.ship && !versions.found.runs_as_it_is.empty()) {
    result.ship = false;
    result.verdict = fmt::format("do not ship: {}", versions.found.runs_as_it_is);
  }
  environment.note_check(name, summary_of(versions.found, result));
  return result;
}

}  // namespace respike
