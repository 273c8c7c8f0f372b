// The guard: when the optimized version of an application dies of a fault, the original runs
// instead.
//
// The guard has to see how the program ends. `run --guard` waits for the program, which costs one
// more process; below `exec` and `session` the kernel notifies the attendant (tas/attendant.cc). A
// recorded fault makes every command start the original next time, with a warning. If the original
// then dies of the same signal, the rewriting is not to blame, and the optimized version runs
// again; so a program that ends by abort() on purpose loses one optimized run. The guard never
// repeats a run. The record is about the optimized images that ran: it does not apply to other
// images that a later `optimize` makes.
//
// Example: the optimized sqlite3 dies of SIGSEGV below `run --guard`. The next `run sqlite3` runs
// the original, which ends well. All further runs use the original until `optimize` makes another
// image, or the user gives the command `mode sqlite3 optimized --again`.

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <ctime>

#include "applications/code_origins.h"
#include "applications/descriptions.h"
#include "applications/environment.h"
#include "applications/fault_guard.h"
#include "optimizer/base/error.h"
#include "tas/libraries.h"
#include "views/verification.h"

namespace respike {

namespace fs = std::filesystem;

std::string images_text(std::vector<std::string> content_hashes) {
  std::ranges::sort(content_hashes);
  return fmt::format("{}", fmt::join(content_hashes, " "));
}

/// The store names files by their contents.
std::string images_text(const std::vector<Substitution>& optimized) {
  std::vector<std::string> hashes;
  for (const Substitution& s : optimized) hashes.push_back(s.substitute.filename());
  return images_text(std::move(hashes));
}

std::string images_word(const std::string& images) {
  return images.empty()
             ? "0"
             : content_hash({reinterpret_cast<const uint8_t*>(images.data()), images.size()}).hex();
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

std::string guard_text(const std::string& application, const FaultRow& fault) {
  return fmt::format(
      "the optimized version of {} died of {}: its original runs (respike report-fault {})",
      application, signal_name(fault.signal), application);
}

/// The fault because of which the original runs in place of these optimized images.
std::optional<FaultRow> Environment::active_fault(
    const ApplicationRow& application, const std::vector<Substitution>& optimized) const {
  const auto fault = database_.fault_of(application.id);
  if (!fault || fault->original_too || fault->images != images_text(optimized)) return std::nullopt;
  return fault;
}

/// The same for the images that mode optimized would run.
std::optional<FaultRow> Environment::active_fault(ApplicationRow application) {
  if (!database_.fault_of(application.id)) return std::nullopt;
  application.mode = Mode::optimized;
  return active_fault(application, substitutions(application, {}));
}

/// Records that the optimized images have died of a signal, or, after such a fault (ran.before),
/// that the originals have.
void Environment::note_fault(const ApplicationRow& application, const Ran& ran, int signal,
                             const std::function<void(const std::string&)>& warn) try {
  if (!is_fault(signal)) return;
  const auto known = database_.fault_of(application.id);
  // The original is already known to die of this signal: nothing is new.
  if (!ran.before && known && known->original_too && known->signal == signal &&
      known->images == ran.images)
    return;
  FaultRow fault = ran.before.value_or(FaultRow{});
  if (ran.before) {
    if (ran.before->signal != signal) return;
    fault.original_too = true;
  } else {
    fault = {.program = ran.program,
             .images = ran.images,
             .signal = signal,
             .noted = std::time(nullptr)};
  }
  database_.put_fault(application.id, fault);
  tell_sessions();
  if (!warn) return;
  if (ran.before)
    warn(
        fmt::format("the original of {} died of {}, too: from now on its optimized version runs "
                    "again",
                    application.name, signal_name(signal)));
  else
    warn(guard_text(application.name, fault));
} catch (const Error& error) {
  if (warn) warn(fmt::format("the end of {} is not noted: {}", application.name, error.what()));
}

/// Records the end of a program for which no process of Respike waited. The program is identified
/// by its images: if other images would run now, nothing is recorded.
void Environment::note_announced_fault(const AnnouncedEnd& end) {
  const auto application = application_of(end.application);
  if (!application || application->mode != Mode::optimized) return;
  const std::string images = images_text(substitutions(*application, {}));
  if (images_word(images) != end.images) return;
  Ran ran{end.program, images, std::nullopt};
  if (end.original) ran.before = active_fault(*application);
  if (end.original && !ran.before) return;
  const bool is_new = !end.original;
  note_fault(*application, ran, WTERMSIG(end.end.status), [&](const std::string& text) {
    if (!is_new) leave_message(text);  // the warning is given as long as the fault is active
  });
}

/// Reports in one line which applications run as originals because of faults.
void Environment::warn_of_faults() {
  std::vector<std::string> names, texts;
  for (const ApplicationRow& application : database_.applications()) {
    if (application.mode != Mode::optimized) continue;
    const auto fault = active_fault(application);
    if (!fault) continue;
    names.push_back(application.name);
    texts.push_back(guard_text(application.name, *fault));
  }
  if (texts.empty()) return;
  const std::string text = texts.size() == 1 ? texts.front()
                                             : fmt::format(
                                                   "the optimized versions of {} died: their "
                                                   "originals run (respike report-fault NAME)",
                                                   fmt::join(names, ", "));
  const auto& said = warnings_.warnings();
  if (std::ranges::find(said, text) == said.end()) warnings_.warn(text);
}

FaultReport Environment::report_fault(const std::string& name) {
  collect();
  const ApplicationRow application = find(name);
  const auto fault = database_.fault_of(application.id);
  if (!fault)
    throw Error(
        fmt::format("no fault of {} is noted: respike run --guard {}, exec and session watch for "
                    "one",
                    name, name));
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

std::optional<FaultAgain> Environment::run_to_fault(const std::string& name,
                                                    const RunOptions& options) {
  const OptimizedVersion version = optimized_version(name);
  Launch launch;
  launch.program = chosen_program(find(name), options.program).loaded_as;
  if (!read_program(launch.program).platform->native())
    throw Error("only programs of this host's own machine can be watched", launch.program);
  launch.arguments = options.arguments;
  launch.warn = options.warn;
  launch.substitutions = version.substitutions;
  launch.unintercepted = true;
  const auto place = respike::run_to_fault(launch);
  if (!place) return std::nullopt;
  FaultAgain again{.place = *place, .image = {}, .procedure = {}};
  for (const Substitution& s : version.substitutions) {
    if (s.original != place->file) continue;
    again.image = s.original;
    again.procedure = CodeOrigins(s.original, s.substitute, warnings_).in_optimized(place->offset);
  }
  return again;
}

}  // namespace respike
