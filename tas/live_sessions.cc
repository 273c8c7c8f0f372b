// Finds sessions and enters them.
//
// A note is a symbolic link, which is made in one step: `4711.88121.4026531836 -> /run/respike`.
// Its name has the process number, the start time (clock ticks since the system started) and the
// PID namespace. So a later process with the same number is not taken for the session, and
// containers that share the folder do not take each other's sessions for ended. In a session of
// only some applications, their numbers precede the path, as in `3-8@/run/respike`.
//
// The rules of a session belong to root of its user namespace. The same user, or root, enters the
// user namespace and then the mount namespace. Inside, the user may write rules, which belong to
// that user, but may not mount.
//
// Source: user_namespaces(7).

#include "tas/live_sessions.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "optimizer/base/error.h"
#include "tas/namespaces.h"
#include "tas/processes.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

constexpr char kEndOfNumbers = '@';

std::string note_of(pid_t process) {
  return fmt::format("{}.{}.{}", process, start_ticks(process), inode_of("/proc/self/ns/pid"));
}

}  // namespace

void note_session(const fs::path& folder, const fs::path& rules,
                  const std::vector<int>& applications) {
  std::error_code error;
  fs::create_directories(folder, error);
  const std::string some =
      applications.empty() ? "" : fmt::format("{}{}", fmt::join(applications, "-"), kEndOfNumbers);
  fs::create_symlink(some + rules.string(), folder / note_of(getpid()), error);
  if (error) throw Error(fmt::format("the session cannot be noted: {}", error.message()), folder);
}

std::vector<LiveSession> live_sessions(const fs::path& folder) {
  std::vector<LiveSession> sessions;
  std::error_code error;
  const std::string numbers = fmt::format(".{}", inode_of("/proc/self/ns/pid"));
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(numbers)) continue;
    LiveSession session;
    session.note = entry.path();
    session.process = pid_t(std::strtol(name.c_str(), nullptr, 10));
    if (note_of(session.process) != name) {
      unlink(entry.path().c_str());
      continue;
    }
    std::error_code unreadable;
    const std::string target = fs::read_symlink(entry.path(), unreadable);
    const size_t end_of_numbers =
        target.starts_with('/') ? target.npos : target.find(kEndOfNumbers);
    const size_t begin = end_of_numbers == target.npos ? 0 : end_of_numbers + 1;
    std::istringstream some(target.substr(0, begin));
    for (int number; some >> number; some.get()) session.applications.push_back(number);
    session.rules = target.substr(begin);
    session.is_own = inode_of(mount_namespace_of(session.process)) == inode_of("/proc/self/ns/mnt");
    if (!unreadable) sessions.push_back(session);
  }
  return sessions;
}

std::optional<std::string> in_session(const LiveSession& session,
                                      const std::function<void()>& action) {
  std::array<int, 2> report{};
  if (pipe2(report.data(), O_CLOEXEC) != 0) return failure("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    std::string problem;
    try {
      if (!session.is_own) enter_mount_namespace_of(session.process);
      action();
    } catch (const std::exception& error) {
      problem = error.what();
    }
    _exit(write(report[1], problem.data(), problem.size()) < 0 ? 1 : 0);
  }
  close(report[1]);
  std::string problem = child < 0 ? failure("no process") : "";
  std::array<char, 512> block;
  for (ssize_t got; child > 0 && (got = read(report[0], block.data(), block.size())) > 0;)
    problem.append(block.data(), size_t(got));
  close(report[0]);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (problem.empty() && status != 0) problem = "the process that entered it was killed";
  const bool goes_on = note_of(session.process) == session.note.filename();
  return problem.empty() || !goes_on ? std::nullopt : std::optional(problem);
}

}  // namespace respike
