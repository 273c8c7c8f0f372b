#pragma once
// Sessions that run now: processes below which programs are intercepted (interception.h).

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace respike {

struct LiveSession {
  pid_t process = 0;
  std::filesystem::path rules;  // Interception::folder()
  std::filesystem::path note;
  bool is_own = false;            // this process is in it, and not below an intercepted program
  std::vector<int> applications;  // whose programs are intercepted; none: those of all
};

/// Notes in `folder` that this process, which has entered a session, is about to become the
/// session's command. `applications`: as in LiveSession. Throws Error when the note cannot be
/// written.
void note_session(const std::filesystem::path& folder, const std::filesystem::path& rules,
                  const std::vector<int>& applications);

/// The sessions noted in `folder` whose commands still run; notes of others are removed.
std::vector<LiveSession> live_sessions(const std::filesystem::path& folder);

/// Calls `action` where the session's files and rules are those that count: in a child process that
/// enters the session's namespaces if it is not in them. Returns why that failed, as a clause, or
/// the message of an Error that `action` threw; nothing when the session has ended meanwhile.
std::optional<std::string> in_session(const LiveSession& session,
                                      const std::function<void()>& action);

}  // namespace respike
