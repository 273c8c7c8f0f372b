// Finds sessions and reaches into them.
//
// A note is a symbolic link, which is made in one step: `4711.88121.4026531836 -> /run/respike`, of
// process number, start time (clock ticks since the system started) and the namespace of process
// numbers, so that a later process with this number is another one, and so that containers that
// share the folder do not take each other's sessions for ended.
//
// The rules of a session belong to root of its user namespace, U. Who made a user namespace has all
// rights in it when he is outside of it; so the same user, or root, enters U and then the mount
// namespace, which belongs to U. Inside, the user may write rules, which are his, but not mount.
//
// Source: user_namespaces(7), ioctl_ns(2).

#include "tas/live_sessions.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "optimizer/base/error.h"
#include "tas/namespaces.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

uint64_t inode_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

std::string mount_namespace(pid_t process) {
  return fmt::format("/proc/{}/ns/mnt", process);
}

/// When a process started; empty when there is none.
std::string start_time(pid_t process) {
  constexpr int kBefore = 19;  // fields behind the name and before the start time
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string line, field;
  std::getline(file, line);
  const size_t name_end = line.rfind(')');
  if (name_end == line.npos) return "";
  std::istringstream fields(line.substr(name_end + 1));
  for (int i = 0; i <= kBefore; ++i) fields >> field;
  return field;
}

std::string note_of(pid_t process) {
  return fmt::format("{}.{}.{}", process, start_time(process), inode_of("/proc/self/ns/pid"));
}

/// Enters the namespaces of a process.
void enter(pid_t process) {
  const int mounts = open(mount_namespace(process).c_str(), O_RDONLY | O_CLOEXEC);
  if (mounts < 0) throw Error(failure("its namespace cannot be opened"));
  const int users = ioctl(mounts, NS_GET_USERNS);
  if (users < 0) throw Error(failure("its user namespace cannot be opened"));
  struct stat own {
  }, other{};
  const bool same = stat("/proc/self/ns/user", &own) == 0 && fstat(users, &other) == 0 &&
                    own.st_ino == other.st_ino;
  if ((!same && setns(users, CLONE_NEWUSER) != 0) || setns(mounts, CLONE_NEWNS) != 0)
    throw Error(failure("its namespaces cannot be entered"));
}

}  // namespace

void note_session(const fs::path& folder, const fs::path& rules) {
  std::error_code error;
  fs::create_directories(folder, error);
  fs::create_symlink(rules, folder / note_of(getpid()), error);
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
    session.process = pid_t(std::strtol(name.c_str(), nullptr, 10));
    if (note_of(session.process) != name) {
      unlink(entry.path().c_str());
      continue;
    }
    std::error_code unreadable;
    session.rules = fs::read_symlink(entry.path(), unreadable);
    session.is_own = inode_of(mount_namespace(session.process)) == inode_of("/proc/self/ns/mnt");
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
      if (!session.is_own) enter(session.process);
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
  return problem.empty() ? std::nullopt : std::optional(problem);
}

}  // namespace respike
