#pragma once
// A process beside a program, or beside all programs below a command, which serves them: it makes
// versions of libraries that programs open, and learns how programs end.

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
  std::string images;     // which versions: InterceptedProgram::Guard::images
  bool original = false;  // their originals ran, because of a fault
  ProgramEnd end;
};

/// A file, as the kernel tells it from others.
struct FileKey {
  uint64_t device = 0, inode = 0;  // device: the major number in the upper half
  auto operator<=>(const FileKey&) const = default;
};
/// Of a file that a path leads to; zeros: there is none.
FileKey file_key(const std::string& path);
/// When that file was made or changed last, in nanoseconds since 1970; 0: there is none.
uint64_t change_time(const std::string& path);

/// Signals that say that something is wrong in a program.
bool is_fault(int signal);

/// What an attendant does. What may take long is called in a process of its own.
struct Duties {
  /// Called every second: whether `work` is to be done. That is done in a process of its own.
  std::function<bool()> is_due;
  std::function<void()> work;
  /// What is to be seen in the place of a library that a program of the application is about to
  /// open; nullopt: the library itself. `before`: nanoseconds since 1970; younger libraries are
  /// left alone. In a process of its own, which waits for its children at the end.
  std::function<std::optional<Substitution>(int application, const std::filesystem::path& library,
                                            uint64_t before)>
      open;
  /// A signal has ended a counted program.
  std::function<void(const ProgramEnd& end)> counted;
  /// Called before the command, of which this is the process, goes on. Returns an open file that is
  /// closed when the command has ended and all is noted, perhaps long before the attendant ends;
  /// -1: none.
  std::function<int(pid_t command)> noting;
  /// The command has ended: what is printed on standard error, which is the command's there, ends
  /// the command's output. In a process of its own, for which nobody waits longer than some
  /// seconds.
  std::function<void()> report;
  /// A guarded program has died of a fault. In a process of its own. Until that ends, the original
  /// runs when the versions are to be started again.
  std::function<void(const AnnouncedEnd& end)> fault;
  /// Optimized versions whose processes are guarded from the beginning, but for those that the
  /// attendant's maker waits for.
  std::map<FileKey, AnnouncedEnd> guarded;
};

/// An attendant that was started, seen from the process that started it: no child of that process,
/// it ends with it; what that process becomes by execve() is still that process. While guarded
/// daemons run that the command has left behind, it goes on to watch these.
class Attendant {
 public:
  /// There is none: all that follows does nothing.
  Attendant() = default;
  explicit Attendant(const Duties& duties);
  Attendant(Attendant&& other) noexcept;
  Attendant& operator=(Attendant&& other) noexcept;
  ~Attendant();

  /// Lets programs ask at `path`, a name for a socket in a folder that nobody else can write to. To
  /// be called once, also in a forked child and in another namespace. `shared`: others than one
  /// program and its children are in this mount namespace. False: programs cannot ask.
  bool serve_at(const std::filesystem::path& path, bool shared) const;

 private:
  int socket_ = -1, begin_ = -1;
};

}  // namespace respike
