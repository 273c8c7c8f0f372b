// Runs any command; below it, the programs of applications run in the modes of their applications.
//
// Example: `respike exec gzip -- make check`. The makefile does not mention Respike, but whenever a
// process below it executes gzip, the version of gzip for the application's mode runs and is
// counted. This process becomes the command, so there is no extra process between the command and
// its parent.
//
// An attendant runs beside the command until the command ends (attending.cc). If an application is
// instrumented, the attendant ends the command's output with the number of counted runs: training
// can miss its program, for example when a test suite starts its programs under valgrind, or
// installs copies of them first.

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <map>
#include <new>
#include <set>
#include <utility>

#include "applications/descriptions.h"
#include "applications/environment.h"
#include "applications/fault_guard.h"
#include "applications/image_content.h"
#include "host/platform.h"
#include "optimizer/base/error.h"
#include "tas/interception.h"
#include "tas/opened.h"
#include "tas/substitutes.h"
#include "tas/windows_versions.h"

namespace respike {

namespace fs = std::filesystem;

namespace {

bool is_foreign(const fs::path& image) {
  const Platform* platform = find_platform(machine_of(image));
  return platform != nullptr && !platform->native();
}

/// A flag that this process sets for processes that it has forked before.
class SharedFlag {
 public:
  SharedFlag() {
    void* memory =
        mmap(nullptr, sizeof *flag_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) flag_ = new (memory) std::atomic<bool>(false);
  }
  ~SharedFlag() {
    if (flag_ != nullptr) munmap(flag_, sizeof *flag_);
  }
  SharedFlag(const SharedFlag&) = delete;
  SharedFlag& operator=(const SharedFlag&) = delete;

  void set() {
    if (flag_ != nullptr) *flag_ = true;
  }
  bool is_set() const { return flag_ != nullptr && *flag_; }

 private:
  std::atomic<bool>* flag_ = nullptr;
};

/// The process and the time in nanoseconds since 1970 in the name of a counter file,
/// "prog.4711.17d5a0f3c2b10000.counts"; nullopt: the name has another form.
std::optional<std::pair<uint64_t, uint64_t>> run_of(const fs::path& file) {
  const std::string time = file.stem().extension(), process = file.stem().stem().extension();
  if (file.extension() != ".counts" || time.size() < 2 || process.size() < 2) return std::nullopt;
  const auto number = [](const std::string& text, int base) -> std::optional<uint64_t> {
    uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [rest, problem] = std::from_chars(text.data() + 1, end, value, base);
    return problem == std::errc() && rest == end ? std::optional(value) : std::nullopt;
  };
  const auto started = number(time, 16), id = number(process, 10);
  return started && id ? std::optional(std::pair(*id, *started)) : std::nullopt;
}

}  // namespace

/// The programs of an application and the substitutes of their images.
std::vector<InterceptedProgram> Environment::interceptions(const ApplicationRow& application,
                                                           const RunOptions& options) {
  std::vector<InterceptedProgram> programs;
  if (application.mode == Mode::original) return programs;
  require_one_machine(application);
  // The records are read first: they do not fit a file that is replaced in the meantime.
  std::map<fs::path, std::string> records;
  std::vector<fs::path> mains;
  for (const ApplicationImage& used : database_.images_of(application.id)) {
    std::error_code error;
    const fs::path path = fs::canonical(used.image.path, error);
    if (error) continue;
    if (used.role == Role::main && used.image.program) mains.push_back(path);
    if (used.role == Role::main || used.image.optimizable) records[path] = file_record(path);
  }
  const std::vector<Substitution> all = substitutions(application, options);
  std::string state = "c";
  if (application.mode == Mode::optimized) {
    const auto fault = active_fault(application, all);
    if (fault && options.warn) options.warn(guard_text(application.name, *fault));
    const auto known = database_.fault_of(application.id);
    const bool in_both = known && known->original_too && known->images == images_text(all);
    state = fault ? "o" : in_both ? fmt::format("k{}", known->signal) : "v";
  }
  for (const fs::path& main : mains) {
    const ProgramImage program = read_program(main);
    InterceptedProgram intercepted{.path = main,
                                   .record = records[main],
                                   .application = int(application.id),
                                   .substitutions = {},
                                   .versions = {},
                                   .notes = {},
                                   .state = state,
                                   .images = images_word(images_text(all))};
    for (const Substitution& s : usable_substitutions(program, all, options.warn))
      if (s.original == main || std::ranges::find(mains, s.original) == mains.end())
        intercepted.substitutions.push_back({s, records[s.original]});
    if (intercepted.substitutions.empty()) continue;
    if (program.platform->windows) try {
        intercepted.versions = make_windows_versions(usable_substitutions(program, all, {}),
                                                     unchanged_images(application, all),
                                                     database_.files() / kWindowsVersions);
      } catch (const Error& error) {
        if (options.warn)
          options.warn(fmt::format("{} runs as it is: {}", application.name, error.what()));
        continue;
      }
    if (application.mode == Mode::instrumented && program.view.dynamic) try {
        intercepted.notes = prepare_notes(notes_folder(application), *program.platform);
      } catch (const Error& error) {
        if (options.warn)
          options.warn(
              fmt::format("what {} opens is not noted: {}", application.name, error.what()));
      }
    programs.push_back(std::move(intercepted));
  }
  return programs;
}

/// The substitutes of a library's images, for every program that loads them; empty if the
/// application has programs.
std::vector<InterceptedLibrary> Environment::intercepted_libraries(
    const ApplicationRow& application, const RunOptions& options) {
  std::vector<InterceptedLibrary> libraries;
  const std::vector<ApplicationImage> images = database_.images_of(application.id);
  const bool has_program = std::ranges::any_of(images, [](const ApplicationImage& used) {
    return used.role == Role::main && used.image.program;
  });
  if (has_program || application.mode == Mode::original) return libraries;
  require_one_machine(application);
  const Platform* platform =
      find_platform(machine_of(database_.image(application.main_image).path));
  std::map<fs::path, std::string> records;  // read first, as above
  std::error_code error;
  for (const ApplicationImage& used : images)
    if (used.image.optimizable && fs::exists(used.image.path, error))
      records[used.image.path] = file_record(used.image.path);
  for (const Substitution& s : substitutions(application, options))
    if (platform != nullptr && records.contains(s.original))
      libraries.push_back({platform, {s, records[s.original]}});
  return libraries;
}

/// Enters a session of the applications (empty: of all applications), with an attendant. `report`:
/// called when the command has ended (Duties::report).
void Environment::intercept(std::vector<InterceptedProgram> programs,
                            const std::vector<int>& applications,
                            std::vector<InterceptedLibrary> libraries,
                            const std::function<void(const std::string&)>& warn,
                            const std::function<void()>& report) {
  merge_if_many(warn);
  Interception interception(std::move(programs), rules_folder(), std::move(libraries));
  const std::string problem = interception.enter(start_attendant(true, report));
  if (!problem.empty() && !applications.empty()) throw Error(problem);
  if (!problem.empty() && warn) warn(problem);
  try {
    note_session(sessions_folder(), interception.folder(), applications);
  } catch (const Error& error) {  // commands below `exec` need no notice of changes
    if (applications.empty()) throw;
    if (warn) warn(error.what());
  }
}

void Environment::exec(const std::vector<std::string>& names, const RunOptions& options) {
  wait_for_notes();
  std::vector<InterceptedProgram> programs;
  std::vector<int> applications;
  std::vector<InterceptedLibrary> libraries;
  std::vector<Id> counted;
  bool foreign = false;
  for (const std::string& name : std::set(names.begin(), names.end())) {
    const ApplicationRow application = find(name);
    applications.push_back(int(application.id));
    if (application.mode == Mode::instrumented) counted.push_back(application.id);
    foreign = foreign || is_foreign(database_.image(application.main_image).path);
    std::ranges::move(intercepted_libraries(application, options), std::back_inserter(libraries));
    for (InterceptedProgram& program : interceptions(application, options)) {
      const bool known = std::ranges::any_of(
          programs, [&](const InterceptedProgram& other) { return other.path == program.path; });
      if (known)
        throw Error(fmt::format("it is a program of two of the applications that are named"),
                    program.path);
      programs.push_back(std::move(program));
    }
  }
  // Programs of foreign machines, including originals, need rules to be executed at all.
  SharedFlag failed;
  std::function<void()> report;
  if (!counted.empty())
    report = [&failed, say = report_of_counted(counted)] {
      if (!failed.is_set()) say();
    };
  try {
    if (!programs.empty() || !libraries.empty() || foreign)
      intercept(std::move(programs), applications, std::move(libraries), options.warn, report);
    Interception::become(options.arguments);
  } catch (...) {
    failed.set();
    throw;
  }
}

/// The number of runs of an image's builds that started since a moment: merged runs and waiting
/// files. Files are counted first: another process may merge them in the meantime.
uint64_t Environment::runs_since(Id image, uint64_t moment) const {
  std::set<std::tuple<Id, uint64_t, uint64_t>> runs;  // build, process, start
  for (const BuildRow& build : database_.builds(image)) {
    std::error_code error;
    for (const auto& file : fs::directory_iterator(database_.spool() / build.content.hex(), error))
      if (const auto run = run_of(file.path().filename()); run && run->second >= moment)
        runs.emplace(build.id, run->first, run->second);
    for (const RunRow& run : database_.runs(build.id)) {
      if (run.started < moment) break;  // the latest runs come first
      runs.emplace(build.id, run.process_id, run.started);
    }
  }
  return runs.size();
}

std::vector<CountedRuns> Environment::counted_since(const std::vector<Id>& applications,
                                                    uint64_t moment) const {
  std::vector<CountedRuns> all;
  for (const ApplicationRow& application : database_.applications()) {
    if (std::ranges::find(applications, application.id) == applications.end()) continue;
    CountedRuns counted{.name = application.name, .programs = {}, .runs = 0};
    uint64_t of_libraries = 0;  // runs of one of them
    bool counts_programs = false;
    for (const ApplicationImage& used : database_.images_of(application.id)) {
      const uint64_t runs = runs_since(used.image.id, moment);
      if (used.role == Role::main) {
        counted.programs.push_back(used.image.path);
        counted.runs += runs;
        counts_programs = counts_programs || used.image.optimizable;
      } else {
        of_libraries = std::max(of_libraries, runs);
      }
    }
    if (!counts_programs) counted.runs = of_libraries;
    all.push_back(std::move(counted));
  }
  return all;
}

}  // namespace respike
