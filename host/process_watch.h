#pragma once
// Processes that others have started and wait for: which there are, and how they end.

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace respike {

/// Whether the kernel tells all who hold a pidfd of a process how it has ended (Linux 6.15).
bool kernel_tells_ends();

/// How a process has ended, as wait() gives it, when its parent has waited for it; nullopt: it has
/// not, or the kernel does not tell. `handle`: its pidfd.
std::optional<int> told_end(int handle);

/// The parent of a process; 0: there is no such process, or it has none here.
pid_t parent_of(pid_t process);

/// A set of processes that grows by those that begin and belong to it, and shrinks by those that
/// end.
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

  /// Asks of each process that has begun since the last look whether it belongs to the set. Returns
  /// how processes of the set have ended meanwhile, of which the kernel tells that.
  std::vector<End> look(const std::function<bool(pid_t)>& belongs);

  /// To be called when there are no looks for some time: meanwhile numbers of processes that do not
  /// belong to the set may become those of processes that do.
  void forget_others() { others_.clear(); }

  bool contains(pid_t process) const { return members_.contains(process); }
  bool empty() const { return members_.empty(); }
  /// Process numbers and pidfds.
  const std::map<pid_t, int>& members() const { return members_; }

 private:
  std::map<pid_t, int> members_;
  std::set<pid_t> others_;  // that are known not to belong to the set
};

}  // namespace respike
