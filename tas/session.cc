// Becomes a program, with other images in place of its own.
//
// Neither the program nor the process that started it shall notice a difference. So this process
// enters a namespace, mounts, and then executes the program itself: the program has the process
// number, parent, process group, terminal, working folder, open files, limits, priority and signals
// of `respike run`, and signals and exit status need no process in between.
//
// Substitutes are bind-mounted over the files that the loader opens, symbolic links followed
// (private_mounts.h). A program of a foreign machine is started through its emulator, which gets
// the original's path. If the system does not know the emulator, a foreign program gets a namespace
// even without substitutes, so that it can start other programs of its machine.
//
// Programs of Windows have a loader of their own, which knows of versions (windows_versions.h).
//
// substitutes.h says which substitutes are left out.
//
// Where no namespace can be made, the substitute of the main image is executed by its own path.
// Example: instead of /usr/bin/app the program sees X.db.files/images/3f/3f07... in /proc/self/exe,
// and $ORIGIN is that folder. If the loader needs $ORIGIN, the original is run instead.

#include "tas/session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "optimizer/base/error.h"
#include "tas/attendant.h"
#include "tas/libraries.h"
#include "tas/substitutes.h"
#include "tas/windows_versions.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

/// Whether the loader looks for files beside the image.
bool needs_origin(const LoaderView& view) {
  const auto mentions = [](const std::string& text) {
    return text.find("$ORIGIN") != text.npos || text.find("${ORIGIN}") != text.npos;
  };
  return mentions(view.rpath.value_or("")) || mentions(view.runpath.value_or("")) ||
         std::any_of(view.needed.begin(), view.needed.end(),
                     [&](const auto& needed) { return mentions(needed.name); });
}

/// One start of one program.
class Session {
 public:
  explicit Session(const Launch& launch) : launch_(launch), program_(read_program(launch.program)) {
    std::error_code error;
    real_program_ = fs::canonical(program_.path, error);
    executed_ = program_.path;
  }

  [[noreturn]] void run() {
    chosen_ = usable_substitutions(program_, launch_.substitutions, launch_.warn);
    if (program_.platform->windows)
      prepare_versions();
    else if (!chosen_.empty() || !program_.platform->native())
      put_in_place();
    execute();
  }

 private:
  void put_in_place();
  void prepare_versions();
  void let_attendant_serve() const;
  void do_without(const std::string& why);
  std::string audit_variable() const;
  [[noreturn]] void execute() const;
  void warn(const std::string& text) const {
    if (launch_.warn) launch_.warn(text);
  }

  const Launch& launch_;
  const ProgramImage program_;
  fs::path real_program_;
  fs::path executed_;
  std::vector<Substitution> chosen_;  // originals without symbolic links
  fs::path versions_;  // table of the chosen substitutions, for the loader of Windows programs
};

void Session::put_in_place() {
  const Platform* foreign = program_.platform->native() ? nullptr : program_.platform;
  const auto serve = [this] { let_attendant_serve(); };
  const auto why = launch_.unintercepted ? mount_unintercepted(chosen_, foreign)
                                         : mount_privately(chosen_, foreign, serve);
  if (why) do_without(*why);
}

/// The loader of Windows programs gets a table of the versions: nothing is mounted.
void Session::prepare_versions() {
  if (chosen_.empty()) return;
  if (launch_.versions.empty())
    throw Error("versions of programs of Windows cannot be run like this", program_.path);
  versions_ = make_windows_versions(chosen_, launch_.unchanged, launch_.versions);
}

/// Gives the attendant's socket a name that only the program sees.
void Session::let_attendant_serve() const {
  const fs::path& path = launch_.notes.attendant;
  if (launch_.attendant != nullptr && !path.empty() &&
      mount("respike", path.parent_path().c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0711") == 0)
    launch_.attendant->serve_at(path, false);
}

/// Works without a namespace: executes the main image's substitute, unless it needs $ORIGIN.
void Session::do_without(const std::string& why) {
  std::string originals;
  for (const Substitution& s : chosen_) {
    const bool is_program = s.original == real_program_;
    if (is_program && !needs_origin(program_.view))
      executed_ = s.substitute;
    else
      originals += (originals.empty() ? "" : ", ") + s.original.string();
  }
  if (executed_ != program_.path)
    warn(fmt::format("{} is executed as {}, a path that it may notice: {}", program_.path.string(),
                     executed_.string(), why));
  if (!originals.empty()) warn(fmt::format("not substituted: {}: {}", originals, why));
}

/// LD_AUDIT with Respike's module before the user's own modules; Respike's module removes itself
/// from the list when loaded. The dynamic linker and the emulator read some characters of a path as
/// separators or variables. So the module's path is /proc/self/fd/N of an open file, which the
/// module closes.
std::string Session::audit_variable() const {
  const int file = open(launch_.notes.audit_module.c_str(), O_RDONLY);
  if (file < 0) throw Error(std::strerror(errno), launch_.notes.audit_module);
  const char* others = std::getenv("LD_AUDIT");
  return fmt::format("LD_AUDIT=/proc/self/fd/{}{}{}", file, others ? ":" : "",
                     others ? others : "");
}

void Session::execute() const {
  std::vector<std::string> words;
  fs::path file = executed_;
  const Platform& platform = *program_.platform;
  for (const std::string& variable : launch_.environment) {
    const size_t equals = std::min(variable.find('='), variable.size());
    setenv(variable.substr(0, equals).c_str(),
           equals < variable.size() ? variable.c_str() + equals + 1 : "", 1);
  }
  const bool loads = !program_.view.interpreter.empty() || platform.windows;
  const bool noted = !launch_.notes.folder.empty() && loads && !chosen_.empty();
  const bool audited = noted && !launch_.notes.audit_module.empty();
  const std::string audit = audited ? audit_variable() : "";
  if (!platform.native()) {
    file = find_emulator(platform, fmt::format("programs for {} run under it", platform.name));
    words = emulator_words(platform, program_.path);
    if (audited) words.insert(words.begin() + 1, {std::string(platform.variable_option), audit});
    if (noted && !audited) {
      words.insert(words.begin() + 1, {std::string(platform.opened_option), launch_.notes.folder});
      if (!launch_.notes.attendant.empty() && !platform.attendant_option.empty())
        words.insert(words.begin() + 1,
                     {std::string(platform.attendant_option), launch_.notes.attendant});
    }
    if (!versions_.empty())
      words.insert(words.begin() + 1, {std::string(platform.versions_option), versions_});
    words.push_back(executed_);
  } else {
    words.push_back(program_.path);
  }
  words.insert(words.end(), launch_.arguments.begin(), launch_.arguments.end());
  if (audited && platform.native()) putenv(strdup(audit.c_str()));
  if (audited) setenv("RESPIKE_OPENED", launch_.notes.folder.c_str(), 1);
  if (audited && !launch_.notes.attendant.empty())
    setenv("RESPIKE_ATTENDANT", launch_.notes.attendant.c_str(), 1);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  if (launch_.before_execution) launch_.before_execution();
  execv(file.c_str(), pointers.data());
  throw Error(fmt::format("it cannot be started: {}", std::strerror(errno)), file);
}

}  // namespace

void start(const Launch& launch) {
  Session(launch).run();
}

}  // namespace respike
