// Watches processes that are not children of this process.
//
// A server's master waits for its workers, init waits for daemons: the kernel reports how a process
// ended to its parent alone. There is one exception: once the parent has waited for the process,
// everyone who holds a pidfd of the process may ask (Linux 6.15). A watcher therefore needs a pidfd
// in time. The kernel does not announce new processes to ordinary users, but /proc lists the
// numbers of all processes, and only for numbers missing from the previous list does the watcher
// have to read more. A look at a thousand processes takes a few hundred microseconds.
//
// Limits: the watcher misses a process that begins and ends between two looks, and a process that
// gets the number of another process that ended between them. Without /proc, or where /proc hides
// processes of other users, it sees nothing.
//
// Example: at the first look process 100 belongs to the set. At the second look 100 and 107 are
// present; the parent of 107 is 100, so 107 joins the set. At the third look 107 is gone, and its
// pidfd reports SIGSEGV.
//
// Sources: proc(5), pidfd_open(2), include/uapi/linux/pidfd.h.

#include "host/process_watch.h"

#include <dirent.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace respike {
namespace {

// From include/uapi/linux/pidfd.h, Linux 6.15.
struct PidfdInfo {
  uint64_t mask = 0, group = 0;
  std::array<uint32_t, 11> numbers{};
  int32_t exit_code = 0;
};
constexpr uint64_t kPidfdInfoExit = 1 << 3;
constexpr unsigned long kPidfdGetInfo = _IOWR(0xFF, 11, PidfdInfo);

/// nullopt: /proc cannot be read, for lack of files or memory.
std::optional<std::set<pid_t>> all_processes() {
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return std::nullopt;
  std::set<pid_t> processes;
  while (const dirent* entry = readdir(folder))
    if (const int number = std::atoi(entry->d_name); number > 0) processes.insert(number);
  closedir(folder);
  return processes;
}

}  // namespace

bool kernel_tells_ends() {
  struct utsname system {};
  unsigned major = 0, minor = 0;
  if (uname(&system) != 0 || std::sscanf(system.release, "%u.%u", &major, &minor) != 2)
    return false;
  return std::pair(major, minor) >= std::pair(6u, 15u);
}

std::optional<int> told_end(int handle) {
  PidfdInfo info;
  info.mask = kPidfdInfoExit;
  if (ioctl(handle, kPidfdGetInfo, &info) != 0 || (info.mask & kPidfdInfoExit) == 0)
    return std::nullopt;
  return info.exit_code;
}

pid_t parent_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  const size_t name_end = line.rfind(')');  // the name may contain blanks and parentheses
  if (name_end == line.npos || line.size() < name_end + 5) return 0;
  return std::atoi(line.c_str() + name_end + 4);
}

ProcessWatch::~ProcessWatch() {
  for (const auto& [process, handle] : members_) close(handle);
}

std::vector<ProcessWatch::End> ProcessWatch::look(const std::function<bool(pid_t)>& belongs) {
  const auto processes = all_processes();
  if (!processes) return {};  // the next look sees it
  const std::set<pid_t>& present = *processes;
  std::vector<End> ends;
  std::vector<pid_t> gone;
  for (const auto& [process, handle] : members_) {
    const auto status = told_end(handle);
    if (status) ends.push_back({process, *status});
    if (status || !present.contains(process)) gone.push_back(process);
  }
  std::erase_if(others_, [&](pid_t process) { return !present.contains(process); });
  // A parent may have a larger number than its child, so one pass does not find all.
  for (bool found = true; found;) {
    found = false;
    for (const pid_t process : present) {
      if (others_.contains(process) || contains(process) || !belongs(process)) continue;
      const int handle = int(syscall(SYS_pidfd_open, process, 0));
      if (handle < 0) continue;  // it has just exited
      members_.emplace(process, handle);
      found = true;
    }
  }
  for (const pid_t process : present)
    if (!contains(process)) others_.insert(process);
  for (const pid_t process : gone) {  // only now: a child may name it as its parent
    close(members_.at(process));
    members_.erase(process);
  }
  return ends;
}

}  // namespace respike
