#pragma once
// A process beside a program, or beside all programs below a command, which makes versions of
// libraries that programs open, and learns how programs end.

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "tas/private_mounts.h"
#include "tas/session.h"

namespace respike {

/// How a program that the starter announced has ended.
struct AnnouncedEnd {
  int application = 0;
  std::string program;    // its path
  std::string images;     // the versions that ran: InterceptedProgram::Guard::images
  bool original = false;  // the originals ran, because of an earlier fault
  ProgramEnd end;
};

/// The kernel's identification of a file.
struct FileKey {
  uint64_t device = 0, inode = 0;  // device: the major number in the upper half
  auto operator<=>(const FileKey&) const = default;
};
/// The key of the file that a path leads to; zeros: there is no file.
FileKey file_key(const std::string& path);
/// When that file was last made or changed, in nanoseconds since 1970; 0: there is no file.
uint64_t change_time(const std::string& path);

/// Whether a signal indicates an error in the program.
bool is_fault(int signal);

/// What an attendant does. Functions that may take long are called in a process of their own.
struct Duties {
  /// Called every second: whether `work` is to be called, in a process of its own.
  std::function<bool()> is_due;
  std::function<void()> work;
  /// The substitute of a library that a program of the application is about to open; nullopt: the
  /// library itself is opened. `before`: nanoseconds since 1970; younger libraries are left alone.
  /// Called in a process of its own, which waits for its children at the end.
  std::function<std::optional<Substitution>(int application, const std::filesystem::path& library,
                                            uint64_t before)>
      open;
  /// Called when a signal has ended a counted program.
  std::function<void(const ProgramEnd& end)> counted;
  /// Called before the command, whose process is `command`, continues. Returns an open file that is
  /// closed when the command has ended and everything is noted, perhaps long before the attendant
  /// ends; -1: none.
  std::function<int(pid_t command)> noting;
  /// Called when the command has ended: prints the end of the command's output on standard error,
  /// which is the command's. Runs in a process of its own; the attendant waits for it only some
  /// seconds.
  std::function<void()> report;
  /// Called when a guarded program has died of a fault, in a process of its own. Until that process
  /// ends, the original runs instead of the versions.
  std::function<void(const AnnouncedEnd& end)> fault;
  /// Optimized versions whose processes are guarded from the beginning, except the process that the
  /// attendant's maker waits for.
  std::map<FileKey, AnnouncedEnd> guarded;
};

/// A running attendant, seen from the process that started it. The attendant is not a child of that
/// process, but exits when that process exits. execve() does not count as exiting. While guarded
/// daemons of the command still run, the attendant continues to watch them.
class Attendant {
 public:
  /// No attendant: the functions below do nothing.
  Attendant() = default;
  explicit Attendant(const Duties& duties);
  Attendant(Attendant&& other) noexcept;
  Attendant& operator=(Attendant&& other) noexcept;
  ~Attendant();

  /// Lets programs ask at `path`, a name for a socket in a folder that no other user can write to.
  /// To be called once; may be called in a forked child and in another namespace. `shared`:
  /// unrelated programs share this mount namespace. Returns false if programs cannot ask.
  bool serve_at(const std::filesystem::path& path, bool shared) const;

 private:
  int socket_ = -1, begin_ = -1;
};

}  // namespace respike
