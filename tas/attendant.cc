// The attendant of programs: a broker between them and Respike's database.
//
// Problem: an instrumented program opens a library that Respike has never seen. The dynamic linker
// waits inside the program, where no code of Respike should run, and the program's mount namespace
// may belong to a user namespace in which the program has no rights. Also, below a command no
// process of Respike is the parent of a program, so none sees how the program ends.
//
// Solution: a process beside the program or command, which ends with it. Programs reach the
// attendant by a socket; the kernel, not the program, identifies the process that asks
// (SO_PEERCRED, SO_PEERPIDFD). The audit module, the emulator and the starter only ask and wait
// (runtime/asking.h). Messages:
//
//     'o' APPLICATION 0 TIME 0 PATH
//         A program, loaded at TIME (nanoseconds since 1970), will open a library.
//         Answer: '+' when another file is in the library's place now, '-' when not.
//     's' STATE APPLICATION IMAGES TIME DEVICE INODE PATH (with blanks between)
//         A program will be executed. STATE: field d of start tables. DEVICE INODE: of the version.
//         Answer: 'o' for the original, 'v' for the version.
//
// The attendant stays outside the programs' namespaces, where it has its user's rights. But its
// socket has its name in a file system that only the programs see: a process of Respike in the
// programs' namespace shares the socket and binds it to the name. So no other process can take or
// find the name, and it disappears with the last program, no matter what was killed.
//
// Source: unix(7).

#include "tas/attendant.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include "tas/attendant_server.h"
#include "tas/processes.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

constexpr int kWaiting = 128;  // connections that wait to be accepted
constexpr std::array kFaults = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

/// Leaves everything that belongs to the command: its session and terminal, its folder and open
/// files. Then the files of `kept` are open as 3, 4 and so on.
void leave_all_but(const std::vector<int>& kept) {
  constexpr int kFirst = 3;
  const int end = kFirst + int(kept.size());
  struct rlimit files {};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;  // each running program takes one
  setrlimit(RLIMIT_NOFILE, &files);
  setsid();
  bool good = chdir("/") == 0;
  std::vector<int> moved;  // above all numbers in use
  for (const int file : kept) moved.push_back(fcntl(file, F_DUPFD_CLOEXEC, end));
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int file = 0; file < kFirst; ++file) good &= dup2(nothing, file) == file;
  int number = kFirst;
  for (const int file : moved) good &= dup3(file, number++, O_CLOEXEC) >= 0;
  if (!good) _exit(1);
  close_range(unsigned(end), ~0u, 0);
  signal(SIGCHLD, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Whether the number is an open file that the command has as well: not one of Respike's own files.
bool is_inherited(int file) {
  const int flags = fcntl(file, F_GETFD);
  return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

}  // namespace

bool is_fault(int signal) {
  return std::ranges::find(kFaults, signal) != kFaults.end();
}

FileKey file_key(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return {};
  return {uint64_t(major(status.st_dev)) << 32 | minor(status.st_dev), status.st_ino};
}

uint64_t change_time(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return 0;
  return uint64_t(status.st_ctim.tv_sec) * 1000000000u + uint64_t(status.st_ctim.tv_nsec);
}

Attendant::Attendant(const Duties& duties) {
  const pid_t number = getpid();
  const int own = int(syscall(SYS_pidfd_open, number, 0));
  socket_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  std::array<int, 2> begin{-1, -1};
  if (own >= 0 && socket_ >= 0 &&
      socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, begin.data()) == 0) {
    // A process that adopts orphans would find the attendant among its children. Then the attendant
    // remains a child of its maker without an exit signal, which wait() does not find. Else its
    // parent ends at once.
    int adopts = 0;
    prctl(PR_GET_CHILD_SUBREAPER, &adopts);
    const bool stays = number == 1 || adopts != 0;
    const long child = syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr);
    if (child == 0) {
      if (stays || fork() == 0) {
        std::vector<int> kept = {own, socket_, begin[0]};
        const bool reports = duties.report && is_inherited(STDERR_FILENO);
        if (reports) kept.push_back(STDERR_FILENO);
        leave_all_but(kept);
        AttendantServer server(duties, 3, number, 4, 5, reports ? 6 : -1);
        if (send(5, "+", 1, MSG_NOSIGNAL) != 1) _exit(1);
        server.attend();
      }
      _exit(0);
    }
    close(begin[0]);
    begin_ = begin[1];
    char runs = 0;
    if (child < 0 || recv(begin_, &runs, 1, 0) != 1) {
      close(begin_);
      begin_ = -1;
    }
    if (child > 0 && (!stays || begin_ < 0)) waitpid(pid_t(child), nullptr, __WCLONE);
  }
  if (own >= 0) close(own);
}

Attendant::Attendant(Attendant&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), begin_(std::exchange(other.begin_, -1)) {}

Attendant& Attendant::operator=(Attendant&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(begin_, other.begin_);
  return *this;
}

Attendant::~Attendant() {
  for (const int file : {socket_, begin_})
    if (file >= 0) close(file);
}

bool Attendant::serve_at(const fs::path& path, bool shared) const {
  if (begin_ < 0) return false;
  const int folder = open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  struct sockaddr_un address {};
  address.sun_family = AF_UNIX;
  // The folder's own path may be too long for an address.
  const std::string name = fmt::format("/proc/self/fd/{}/{}", folder, path.filename().string());
  std::memcpy(address.sun_path, name.c_str(), std::min(name.size(), sizeof address.sun_path - 1));
  AttendantServer::Place place;
  const mode_t mask = umask(0177);
  bool serves =
      bind(socket_, reinterpret_cast<const struct sockaddr*>(&address), sizeof address) == 0 &&
      listen(socket_, kWaiting) == 0;
  if (shared) place.shared = inode_of("/proc/self/ns/mnt");
  if (path.native().size() < place.path.size()) {
    path.native().copy(place.path.data(), place.path.size() - 1);
    place.socket = file_key(path);
    place.made = change_time(path);
  }
  serves = serves && send(begin_, &place, sizeof place, MSG_NOSIGNAL) == sizeof place;
  umask(mask);
  if (folder >= 0) close(folder);
  return serves;
}

}  // namespace respike
