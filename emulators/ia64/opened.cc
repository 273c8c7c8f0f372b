// Notes which libraries a program opens while it runs, for users who collect profiles of these
// libraries.
//
// On real machines a module of the dynamic linker makes such notes (tas/runtime/opened.c). An
// emulator sees libraries without such a module: a library is a file that the dynamic linker maps
// for execution. Libraries that are mapped before the program is entered belong to the program;
// libraries that are mapped later have been opened. The note is the same as the module's: a
// symbolic link in a folder, whose target is the library's path and whose name is the hash of that
// path. A link is made in one step and outlives every end of the process. The path is a path of the
// host, with symbolic links followed. Example: dlopen("libz.so.1") leaves a link 0123456789abcdef
// -> /SYSROOT/lib/libz.so.1.3.
//
// Before the dynamic linker opens a library, the emulator asks the program's attendant
// (tas/attendant.h) for the library's version, once for each path, like the module. It also asks
// for libraries that belong to the program, since these may be other files than `register` found.
//
// Programs that the program executes do not inherit the option, since they have libraries of their
// own.

#include "emulators/ia64/opened.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "emulators/ia64/elf_loader.h"

namespace respike::emulator::ia64 {

namespace {

constexpr std::chrono::seconds kWait(10);

std::string note_of(const std::string& folder, const std::string& path) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char byte : path) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
  return fmt::format("{}/{:016x}", folder, hash);
}

/// Whether an answer comes in time.
bool is_answered(int connection) {
  const auto end = std::chrono::steady_clock::now() + kWait;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    struct pollfd state {
      connection, POLLIN, 0
    };
    const int ready = poll(&state, 1, std::max(0, static_cast<int>(left.count())));
    if (ready < 0 && errno == EINTR) continue;
    char answer = 0;
    return ready > 0 && recv(connection, &answer, 1, 0) == 1;
  }
}

/// Whether the attendant, a path that leads to a socket, has answered the message.
bool ask(const std::string& attendant, const std::string& message) {
  const int place = open(attendant.c_str(), O_PATH | O_CLOEXEC);
  // If too many connections wait already, connect() fails at once.
  const int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  struct sockaddr_un address {};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}", place);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const bool answered = connect(connection, reinterpret_cast<const struct sockaddr*>(&address),
                                sizeof address) == 0 &&
                        send(connection, message.data(), message.size(), MSG_NOSIGNAL) >= 0 &&
                        is_answered(connection);
  shutdown(connection, SHUT_RDWR);  // forked children may also have the connection
  close(connection);
  close(place);
  return answered;
}

/// Whether the attendant left the file alone when it was asked before.
bool was_left(const std::string& folder, const std::string& path, const struct statx& status) {
  std::error_code error;
  const std::filesystem::path left =
      std::filesystem::read_symlink(note_of(folder, path) + ".left", error);
  const uint64_t time =
      static_cast<uint64_t>(status.stx_mtime.tv_sec) * 1000000000 + status.stx_mtime.tv_nsec;
  return !error && left == fmt::format("{:016x}-{:016x}", status.stx_size, time);
}

}  // namespace

void note_mapped(const Process& process, const std::string& path) {
  const std::string& folder = process.options.opened;
  if (folder.empty() || !process.entered || !path.starts_with("/") || !is_guest_program(path))
    return;
  // A link that exists already stays.
  [[maybe_unused]] const int result = symlink(path.c_str(), note_of(folder, path).c_str());
}

void ask_for_version(Process& process, uint64_t from, const std::string& path) {
  if (from < process.linker_start || from >= process.linker_end) return;
  std::unique_lock lock(process.asking_lock);
  const Options options = process.options;
  if (options.attendant.empty() || options.opened.empty()) return;
  std::error_code error;
  const std::string real = std::filesystem::canonical(path, error);
  struct statx status {};
  if (error || process.asked.contains(real) || !is_guest_program(real) ||
      statx(AT_FDCWD, real.c_str(), 0, STATX_BASIC_STATS, &status) != 0)
    return;
  process.asked.insert(real);
  if ((status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0 ||
      was_left(options.opened, real, status))
    return;
  lock.unlock();  // another thread may fork in the meantime
  const std::string application = std::filesystem::path(options.opened).filename();
  if (ask(options.attendant,
          fmt::format("o{}{}{}{}{}", application, '\0', process.loaded_at, '\0', real)))
    return;
  lock.lock();
  process.options.attendant.clear();
}

}  // namespace respike::emulator::ia64
