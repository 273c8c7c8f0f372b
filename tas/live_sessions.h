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
  bool is_own = false;            // this process is in the session, and not below an intercepted
                                  // program
  std::vector<int> applications;  // applications whose programs are intercepted; empty: all
};

/// Writes a note in `folder`: this process, which has entered a session, is about to become the
/// session's command. `applications`: as in LiveSession. Throws Error when the note cannot be
/// written.
void note_session(const std::filesystem::path& folder, const std::filesystem::path& rules,
                  const std::vector<int>& applications);

/// The sessions noted in `folder` whose commands still run; notes of ended sessions are removed.
std::vector<LiveSession> live_sessions(const std::filesystem::path& folder);

/// Calls `action` where the session's files and rules hold: in a child process, which enters the
/// session's namespaces unless it is in them. Returns why that failed, as a clause, or the message
/// of an Error that `action` threw; empty when the session has ended in the meantime.
std::optional<std::string> in_session(const LiveSession& session,
                                      const std::function<void()>& action);

}  // namespace respike
