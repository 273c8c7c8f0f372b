// The guard: when the optimized version of an application dies of a fault, the original runs
// instead.
//
// Somebody has to wait for the program to see how it ends: `run --guard` does, for the price of a
// process that waits. What it notes makes the next start that of the original, by whatever command,
// with a warning. If the original then dies of the same signal, the fault is not the rewriting's,
// and the optimized version runs again; so a program that ends by abort() on purpose loses one
// optimized run. Nothing is run twice by itself. The note is about the optimized images that ran:
// when the application is optimized anew, with another result, the note says nothing of that.
//
// Example: sqlite3, optimized, dies of SIGSEGV below `run --guard`. The next `run sqlite3` runs the
// original, which ends well, and so do all others until `optimize` makes another image, or `mode
// sqlite3 optimized --again` insists.

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <ctime>

#include "environment/describing.h"
#include "environment/environment.h"
#include "environment/verifying.h"
#include "optimizer/base/error.h"

namespace respike {

namespace fs = std::filesystem;

namespace {

/// Signals that say that something is wrong in the program.
constexpr std::array kFaults = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

/// As FaultRow::images. The store names files by their contents.
std::string images_text(const std::vector<Substitution>& optimized) {
  std::vector<std::string> hashes;
  for (const Substitution& s : optimized) hashes.push_back(s.substitute.filename());
  std::ranges::sort(hashes);
  return fmt::format("{}", fmt::join(hashes, " "));
}

}  // namespace

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

std::string guard_text(const std::string& application, const FaultRow& fault) {
  const auto noted = static_cast<std::time_t>(fault.noted);
  return fmt::format(
      "the optimized version of {} died of {} on {:%Y-%m-%d at %H:%M}: its original runs instead; "
      "respike report-fault {} says more, respike mode {} optimized --again insists",
      application, signal_name(fault.signal), fmt::localtime(noted), application, application);
}

/// The fault because of which the original runs in the place of these optimized images.
std::optional<FaultRow> Environment::active_fault(
    const ApplicationRow& application, const std::vector<Substitution>& optimized) const {
  const auto fault = database_.fault_of(application.id);
  if (!fault || fault->original_too || fault->images != images_text(optimized)) return std::nullopt;
  return fault;
}

/// The same for what mode optimized would run.
std::optional<FaultRow> Environment::active_fault(ApplicationRow application) {
  if (!database_.fault_of(application.id)) return std::nullopt;
  application.mode = Mode::optimized;
  return active_fault(application, substitutions(application, {}));
}

/// Notes how the optimized images ended, or, after a fault of theirs (`before`), the originals.
void Environment::note_fault(const ApplicationRow& application, const Launch& launch,
                             const std::optional<FaultRow>& before, const ProgramEnd& end,
                             const std::function<void(const std::string&)>& warn) try {
  const int signal = WIFSIGNALED(end.status) ? WTERMSIG(end.status) : 0;
  if (std::ranges::find(kFaults, signal) == kFaults.end()) return;
  const std::string images = images_text(launch.substitutions);
  const auto known = database_.fault_of(application.id);
  // The original has died so, too: nothing is new.
  if (!before && known && known->original_too && known->signal == signal && known->images == images)
    return;
  FaultRow fault = before.value_or(FaultRow{});
  if (before) {
    if (before->signal != signal) return;
    fault.original_too = true;
  } else {
    fault = {
        .program = launch.program, .images = images, .signal = signal, .noted = std::time(nullptr)};
  }
  database_.put_fault(application.id, fault);
  tell_sessions();
  if (!warn) return;
  if (before)
    warn(
        fmt::format("the original of {} died of {}, too: from now on its optimized version runs "
                    "again",
                    application.name, signal_name(signal)));
  else
    warn(guard_text(application.name, fault));
} catch (const Error& error) {
  if (warn) warn(fmt::format("the end of {} is not noted: {}", application.name, error.what()));
}

/// Says which applications run as originals because of faults.
void Environment::warn_of_faults() {
  for (const ApplicationRow& application : database_.applications())
    if (application.mode == Mode::optimized)
      if (const auto fault = active_fault(application))
        warnings_.warn(guard_text(application.name, *fault));
}

FaultReport Environment::report_fault(const std::string& name) {
  collect();
  const ApplicationRow application = find(name);
  const auto fault = database_.fault_of(application.id);
  if (!fault)
    throw Error(
        fmt::format("no fault of {} is noted: respike run --guard {} watches for one", name, name));
  FaultReport report{
      .fault = *fault, .guarded = active_fault(application).has_value(), .images = {}};
  for (const ApplicationImage& used : database_.images_of(application.id)) {
    const auto build = known_build(used.image);
    const auto derived =
        build ? database_.newest_derived(build->id, DerivedKind::optimized) : std::nullopt;
    if (!derived || fault->images.find(derived->content.hex()) == std::string::npos) continue;
    FaultReport::Image image{.path = used.image.path,
                             .original = build->content.hex(),
                             .optimized = derived->content.hex(),
                             .options = derived->options,
                             .verdict = {}};
    try {
      Diagnostics ignored;
      image.verdict =
          "behaves as the original: " +
          verify_files(used.image.path, database_.store().path(derived->content), ignored);
    } catch (const Error& error) {
      image.verdict = error.what();
    }
    report.images.push_back(std::move(image));
  }
  return report;
}

}  // namespace respike
