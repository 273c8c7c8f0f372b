// A session: a shell, or another command, below which all applications run in their modes.
//
// A command that changes which versions an application's programs start with, in any process,
// notifies the running sessions: it replaces their rules (tas/interception.h). So a change counts
// from the next start of a program on. Example: in a session of bash, `respike mode app optimized`,
// typed there or in another terminal, makes the next `app` run the optimized version.
//
// A session whose rules cannot be replaced keeps the old rules, with a warning. Images that cannot
// be substituted there are left out silently: the command that caused this reports it.

#include <fmt/format.h>

#include <algorithm>

#include "applications/environment.h"
#include "applications/file_lock.h"
#include "applications/image_content.h"
#include "optimizer/base/error.h"

namespace respike {

namespace fs = std::filesystem;

fs::path Environment::sessions_folder() const {
  return fs::absolute(database_.files() / "sessions");
}

fs::path Environment::rules_folder() const {
  return database_.files() / "session";
}

/// The programs of all applications that can be intercepted. A program of several applications runs
/// as part of the first of them by name.
std::vector<InterceptedProgram> Environment::all_interceptions(const RunOptions& options) {
  std::vector<InterceptedProgram> all;
  const auto warn = [&](const std::string& text) {
    if (options.warn) options.warn(text);
  };
  for (const ApplicationRow& application : database_.applications()) try {
      for (InterceptedProgram& program : interceptions(application, options)) {
        const auto known = std::ranges::find(all, program.path, &InterceptedProgram::path);
        if (known == all.end())
          all.push_back(std::move(program));
        else
          warn(fmt::format("{} is a program of several applications: it does not run as that of {}",
                           program.path.string(), application.name));
      }
    } catch (const Error& error) {
      warn(error.what());
    }
  return all;
}

void Environment::session(const RunOptions& options) {
  wait_for_notes();
  std::vector<InterceptedLibrary> libraries;
  for (const ApplicationRow& application : database_.applications()) try {
      std::ranges::move(intercepted_libraries(application, options), std::back_inserter(libraries));
    } catch (const Error& error) {
      if (options.warn) options.warn(error.what());
    }
  intercept(all_interceptions(options), {}, std::move(libraries), options.warn);
  Interception::become(options.arguments);
}

std::vector<LiveSession> Environment::sessions() const {
  std::vector<LiveSession> all = live_sessions(sessions_folder());
  std::erase_if(all, [](const LiveSession& session) { return !session.applications.empty(); });
  return all;
}

void Environment::leave_session() {
  for (const LiveSession& session : sessions()) {
    if (!session.is_own) continue;
    if (const auto problem = in_session(session, [&] { Interception({}, session.rules).update(); }))
      throw Error(*problem);
    fs::remove(session.note);  // the session is over: it needs no more notices of changes
    return;
  }
  throw Error("this is not below respike session");
}

/// One process at a time, each with the present contents of the database: the last one writes the
/// latest state.
void Environment::tell_sessions() {
  const FileLock alone(database_.files() / "telling", FileLock::Wait::yes);
  const std::vector<LiveSession> all = live_sessions(sessions_folder());
  if (all.empty()) return;
  // Below an intercepted program some files are hidden, and so cannot be checked.
  bool hidden = false;
  for (const ApplicationRow& application : database_.applications())
    for (const ApplicationImage& used : database_.images_of(application.id))
      hidden = hidden || is_substituted(used.image.path);
  const std::vector<InterceptedProgram> programs =
      hidden ? std::vector<InterceptedProgram>() : all_interceptions({});
  for (const LiveSession& session : all) {
    std::vector<InterceptedProgram> wanted = programs;
    std::erase_if(wanted, [&](const InterceptedProgram& program) {
      return !session.applications.empty() &&
             std::ranges::find(session.applications, program.application) ==
                 session.applications.end();
    });
    const auto problem =
        hidden ? kHiddenByRun
               : in_session(session, [&] { Interception(wanted, session.rules).update(); });
    if (problem)
      warnings_.warn(fmt::format("the session of process {} goes on as before: {}", session.process,
                                 *problem));
  }
}

}  // namespace respike
