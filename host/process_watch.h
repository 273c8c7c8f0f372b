#pragma once
// Processes that others have started and wait for: which processes exist, and how they end.

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace respike {

/// Whether the kernel reports how a process ended to everyone who holds its pidfd (Linux 6.15).
bool kernel_tells_ends();

/// How a process ended, as wait() gives it, once its parent has waited for it; nullopt: it has not
/// ended, or the kernel does not report it. `handle`: its pidfd.
std::optional<int> told_end(int handle);

/// The parent of a process; 0: no such process, or its parent is not visible here.
pid_t parent_of(pid_t process);

/// A set of processes. Processes that begin and belong to the set join it; processes that end leave
/// it.
class ProcessWatch {
 public:
  struct End {
    pid_t process = 0;
    int status = 0;  // as wait() gives it
  };

  ProcessWatch() = default;
  ~ProcessWatch();
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;

  /// Asks `belongs` about each process that has begun since the last look. Returns how processes of
  /// the set have ended meanwhile, where the kernel reports it.
  std::vector<End> look(const std::function<bool(pid_t)>& belongs);

  /// To be called when there are no looks for some time: meanwhile the number of a process outside
  /// the set may pass to a process that belongs to the set.
  void forget_others() { others_.clear(); }

  bool contains(pid_t process) const { return members_.contains(process); }
  bool empty() const { return members_.empty(); }
  /// Process numbers and pidfds.
  const std::map<pid_t, int>& members() const { return members_; }

 private:
  std::map<pid_t, int> members_;
  std::set<pid_t> others_;  // known not to belong to the set
};

}  // namespace respike
