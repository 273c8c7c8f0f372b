// Any command, below which the programs of applications run in the modes of their applications.
//
// Example: `respike exec gzip -- make check`. The makefile knows nothing of Respike, but whenever
// some process below it executes gzip, gzip's version of the application's mode runs and is
// counted. This process becomes the command, so nobody is between the command and who started it.
//
// Beside the command is an attendant until the command ends (attending.cc).

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "environment/describing.h"
#include "environment/environment.h"
#include "environment/guarding.h"
#include "environment/image_content.h"
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

}  // namespace

/// The programs of an application and what is to be seen in the place of their images.
std::vector<InterceptedProgram> Environment::interceptions(const ApplicationRow& application,
                                                           const RunOptions& options) {
  std::vector<InterceptedProgram> programs;
  if (application.mode == Mode::original) return programs;
  require_one_machine(application);
  // The records come first: when a file is replaced while this goes on, they do not fit it.
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

/// What is to be seen in the place of a library's images whoever loads them; nothing if the
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
  std::map<fs::path, std::string> records;  // they come first, as above
  std::error_code error;
  for (const ApplicationImage& used : images)
    if (used.image.optimizable && fs::exists(used.image.path, error))
      records[used.image.path] = file_record(used.image.path);
  for (const Substitution& s : substitutions(application, options))
    if (platform != nullptr && records.contains(s.original))
      libraries.push_back({platform, {s, records[s.original]}});
  return libraries;
}

/// Enters a session of the applications (none: of all), with an attendant.
void Environment::intercept(std::vector<InterceptedProgram> programs,
                            const std::vector<int>& applications,
                            std::vector<InterceptedLibrary> libraries,
                            const std::function<void(const std::string&)>& warn) {
  merge_if_many(warn);
  Interception interception(std::move(programs), rules_folder(), std::move(libraries));
  const std::string problem = interception.enter(start_attendant(true));
  if (!problem.empty() && !applications.empty()) throw Error(problem);
  if (!problem.empty() && warn) warn(problem);
  try {
    note_session(sessions_folder(), interception.folder(), applications);
  } catch (const Error& error) {  // commands below `exec` need not be told of changes
    if (applications.empty()) throw;
    if (warn) warn(error.what());
  }
}

void Environment::exec(const std::vector<std::string>& names, const RunOptions& options) {
  wait_for_notes();
  std::vector<InterceptedProgram> programs;
  std::vector<int> applications;
  std::vector<InterceptedLibrary> libraries;
  bool foreign = false;
  for (const std::string& name : std::set(names.begin(), names.end())) {
    const ApplicationRow application = find(name);
    applications.push_back(int(application.id));
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
  // Foreign programs, also originals, need rules to be executed at all.
  if (!programs.empty() || !libraries.empty() || foreign)
    intercept(std::move(programs), applications, std::move(libraries), options.warn);
  Interception::become(options.arguments);
}

}  // namespace respike
