// The attendant of programs: a broker between them and Respike's database.
//
// Problem: a program that runs counted opens a library that Respike has never seen. The dynamic
// linker waits inside of the program, where nothing of Respike should be, and the program's mount
// namespace may belong to a user namespace in which the program has no rights. And: below a command
// nobody is the parent of a program to see how it ends.
//
// Solution: a process that is started beside the program or command, and ends with it. Programs
// reach it by a socket; it learns from the kernel, not from the program, who asks (SO_PEERCRED,
// SO_PEERPIDFD). The audit module, the emulator and the starter only ask and wait
// (runtime/asking.h).
//
//     'o' APPLICATION 0 PATH                 a library will be opened. Answer: '+' when another file
//                                            is in its place now, '-' when not
//     's' STATE ' ' APPLICATION ' ' IMAGES ' ' TIME   a program will be executed, at nanoseconds
//                                            since 1970. Answer: 'o' for the original, 'v' for the
//                                            version. STATE: field d of start tables
//
// A library's version is mounted over the library in the program's mount namespace, as those of all
// other images, so the program sees the path that it opened. What is mounted later than the program
// opened the library would be another file for the dynamic linker, which would load the library
// twice; so nothing stays mounted when the program has not waited. A library that is younger than
// the process is left alone: who made it will remove it, which a mount would not allow.
//
// The attendant stays outside of the programs' namespaces, where it has its user's rights. But its
// socket has its name in a file system that only the programs see: a process that is still one of
// Respike, in the programs' namespace, shares the socket and gives it the name. So nobody else can
// take or find it, and the name goes with the last program, whatever was killed.
//
// When its parent has waited for a program, the kernel tells all who hold a pidfd of it, with its
// exit status (Linux 6.15). Whoever starts the program again does so later, so the answer to his
// starter already knows of the fault. Limit: older kernels do not tell; faults stay unnoticed.
//
// Sources: unix(7), pidfd_open(2), setns(2), include/uapi/linux/pidfd.h.

#include "tas/attendant.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "optimizer/base/error.h"
#include "tas/processes.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

namespace respike {
namespace {

namespace fs = std::filesystem;

constexpr int kSecond = 1000;               // milliseconds
constexpr const char* kMountNamespace = "/proc/self/ns/mnt";
constexpr const char* kWork = "work";
constexpr const char* kOriginal = "original";
constexpr int kWaiting = 128;               // connections that nobody has accepted yet
constexpr size_t kMessage = 8192;           // bytes, at most
constexpr size_t kConnections = 1000;       // that wait for an answer, at most
constexpr rlim_t kProcessorTime = 300;      // seconds that a library may take
constexpr rlim_t kMemory = rlim_t{8} << 30;  // bytes that a library may take

// Of include/uapi/linux/pidfd.h, Linux 6.15.
struct PidfdInfo {
  uint64_t mask = 0, group = 0;
  std::array<uint32_t, 11> numbers{};
  int32_t exit_code = 0;
};
constexpr uint64_t kPidfdInfoExit = 1 << 3;
constexpr unsigned long kPidfdGetInfo = _IOWR(0xFF, 11, PidfdInfo);

constexpr std::array kFaults = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

uint64_t nanoseconds(const struct timespec& time) {
  return uint64_t(time.tv_sec) * 1000000000u + uint64_t(time.tv_nsec);
}

/// Nanoseconds since 1970 at which a process was made; 0: not known.
uint64_t start_of(pid_t process) {
  const uint64_t ticks = start_ticks(process);
  struct timespec now {
  }, up{};
  clock_gettime(CLOCK_REALTIME, &now);
  clock_gettime(CLOCK_BOOTTIME, &up);
  const uint64_t since_start = ticks * (1000000000u / uint64_t(sysconf(_SC_CLK_TCK)));
  return ticks == 0 ? 0 : nanoseconds(now) - nanoseconds(up) + since_start;
}

/// The process at the other end of a connection.
struct Peer {
  pid_t process = 0;
  int handle = -1;  // a pidfd, open
};

Peer peer_of(int connection) {
  struct ucred known {};
  socklen_t size = sizeof known;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &known, &size) != 0 || known.pid <= 0)
    return {};
  Peer peer{known.pid, -1};
  size = sizeof peer.handle;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERPIDFD, &peer.handle, &size) != 0)
    peer.handle = int(syscall(SYS_pidfd_open, known.pid, 0));
  return peer;
}

struct Announced {
  std::string state;  // field d of start tables
  AnnouncedEnd end;
};

/// Leaves all that belongs to the command: its session and terminal, its folder and open files. What
/// `kept` holds is open as 3, 4 and so on then.
void leave_all_but(const std::vector<int>& kept) {
  constexpr int kFirst = 3;
  setsid();
  if (chdir("/") != 0) _exit(1);
  std::vector<int> moved;  // above all numbers that are needed
  for (const int file : kept) moved.push_back(fcntl(file, F_DUPFD_CLOEXEC, 64));
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int file = 0; file < kFirst; ++file) dup2(nothing, file);
  int number = kFirst;
  for (const int file : moved) dup3(file, number++, O_CLOEXEC);
  close_range(unsigned(number), ~0u, 0);
  struct rlimit files {};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;  // each program that runs takes one
  setrlimit(RLIMIT_NOFILE, &files);
  signal(SIGCHLD, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// How a process ended whose pidfd says that somebody has waited for it; nullopt: the kernel does
/// not tell.
std::optional<int> status_of(int handle) {
  PidfdInfo info;
  info.mask = kPidfdInfoExit;
  if (ioctl(handle, kPidfdGetInfo, &info) != 0 || (info.mask & kPidfdInfoExit) == 0)
    return std::nullopt;
  return info.exit_code;
}

/// Whether the process waits at the other end.
bool is_waiting(int connection) {
  struct pollfd state {
    connection, POLLRDHUP, 0
  };
  return poll(&state, 1, 0) == 0;
}

/// A file of untrusted contents may take this much.
void limit_resources() {
  const struct rlimit time {
    kProcessorTime, kProcessorTime
  }, memory{kMemory, kMemory};
  setrlimit(RLIMIT_CPU, &time);
  setrlimit(RLIMIT_AS, &memory);
}

class Server {
 public:
  /// Ends with the process whose pidfd is `command`.
  Server(const Duties& duties, int command, int socket, int begin);
  [[noreturn]] void attend();

 private:
  void watch(int file, uint32_t events) const;
  void begin();
  void accept_one();
  void take_message(int connection);
  char answer_to_start(int connection, const std::string& message);
  void program_ended(int handle);
  void worker_ended(int handle);
  void note_next_fault();
  void forget(const std::string& images);
  /// Calls the action in a process of its own. `what`: as in workers_. False: there is none.
  bool add_worker(const std::function<void()>& action, const std::string& what);
  void open_library(int connection, int application, const fs::path& library) const;
  bool put_in_place(const Peer& peer, const Substitution& version) const;

  const Duties& duties_;
  int command_, socket_, begin_, events_;
  uint64_t shared_ = 0;                 // the mount namespace in which others than programs are
  std::set<int> connections_;           // whose message has not come yet
  std::map<int, Announced> programs_;   // that run, by pidfd
  // By pidfd: the images whose fault is noted, or kOriginal, kWork, or nothing: a library is made.
  std::map<int, std::string> workers_;
  bool works_ = false;                  // a worker does Duties::work
  bool notes_ = false;                  // a worker does Duties::fault
  std::deque<AnnouncedEnd> faults_;     // that wait for that
  std::multiset<std::string> faulty_;   // images that must not run before that is done
};

Server::Server(const Duties& duties, int command, int socket, int begin)
    : duties_(duties),
      command_(command),
      socket_(socket),
      begin_(begin),
      events_(epoll_create1(EPOLL_CLOEXEC)) {
  watch(command_, EPOLLIN);
  watch(begin_, EPOLLIN);
}

void Server::watch(int file, uint32_t events) const {
  struct epoll_event event {};
  event.events = events;
  event.data.fd = file;
  epoll_ctl(events_, EPOLL_CTL_ADD, file, &event);
}

void Server::attend() {
  uint64_t last = 0;
  for (;;) {
    std::array<struct epoll_event, 64> events{};
    const int count = epoll_wait(events_, events.data(), int(events.size()), kSecond);
    for (int i = 0; i < count; ++i) {  // in the order in which they happened
      const int file = events[size_t(i)].data.fd;
      if (file == command_) _exit(0);
      if (file == begin_)
        begin();
      else if (file == socket_)
        accept_one();
      else if (connections_.contains(file))
        take_message(file);
      else if (programs_.contains(file))
        program_ended(file);
      else if (workers_.contains(file))
        worker_ended(file);
    }
    struct timespec time {};
    clock_gettime(CLOCK_MONOTONIC, &time);
    if (nanoseconds(time) - last < kSecond * 1'000'000ull) continue;
    last = nanoseconds(time);
    if (!works_ && duties_.is_due && duties_.is_due()) works_ = add_worker(duties_.work, kWork);
  }
}

/// The socket has its name now, or will never have one.
void Server::begin() {
  if (read(begin_, &shared_, sizeof shared_) == sizeof shared_) watch(socket_, EPOLLIN);
  close(begin_);
  begin_ = -1;
}

void Server::accept_one() {
  const int connection = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (connection < 0) return;
  if (connections_.size() >= kConnections) {
    close(connection);
    return;
  }
  connections_.insert(connection);
  watch(connection, EPOLLIN | EPOLLRDHUP);
}

void Server::take_message(int connection) {
  std::array<char, kMessage> bytes;
  const ssize_t size = recv(connection, bytes.data(), bytes.size(), 0);
  connections_.erase(connection);
  const std::string message(bytes.data(), size_t(std::max<ssize_t>(size, 0)));
  const size_t zero = message.find('\0');
  if (message.starts_with('s')) {
    const char answer = answer_to_start(connection, message.substr(1));
    send(connection, &answer, 1, MSG_NOSIGNAL);
  } else if (message.starts_with('o') && zero != message.npos) {
    const int application = std::atoi(message.c_str() + 1);
    const fs::path library = message.substr(zero + 1);
    add_worker([&] { open_library(connection, application, library); }, "");
  }
  close(connection);
}

/// What a program that is announced is to run: 'o', its originals, or 'v', its version.
char Server::answer_to_start(int connection, const std::string& message) {
  Announced program;
  std::istringstream words(message);
  if (!(words >> program.state >> std::hex >> program.end.application >> program.end.images >>
        std::dec >> program.end.end.started_after))
    return 'v';
  const Peer peer = peer_of(connection);
  program.end.end.process = peer.process;
  program.end.original =
      program.state.starts_with('o') || faulty_.contains(program.end.images);
  const char answer = program.end.original ? 'o' : 'v';
  if (peer.handle < 0) return answer;
  programs_[peer.handle] = program;
  watch(peer.handle, 0);  // EPOLLHUP: somebody has waited for the process
  return answer;
}

void Server::program_ended(int handle) {
  Announced program = programs_[handle];
  programs_.erase(handle);
  const auto status = status_of(handle);
  close(handle);
  if (!status) return;
  program.end.end.status = *status;
  if (program.state == "c") {
    if (duties_.counted) duties_.counted(program.end.end);
    return;
  }
  const int signal = WIFSIGNALED(*status) ? WTERMSIG(*status) : 0;
  if (!is_fault(signal) || program.state == fmt::format("k{}", signal) || !duties_.fault) return;
  if (!program.end.original) faulty_.insert(program.end.images);
  faults_.push_back(program.end);
  note_next_fault();
}

/// One at a time, in their order: the second may tell something of the first.
void Server::note_next_fault() {
  if (notes_ || faults_.empty()) return;
  const AnnouncedEnd end = faults_.front();
  faults_.pop_front();
  const std::string images = end.original ? kOriginal : end.images;
  notes_ = add_worker([&] { duties_.fault(end); }, images);
  if (!notes_) forget(images);
}

void Server::forget(const std::string& images) {
  const auto known = faulty_.find(images);
  if (known != faulty_.end()) faulty_.erase(known);
}

void Server::worker_ended(int handle) {
  waitid(P_PIDFD, id_t(handle), nullptr, WEXITED);
  const std::string what = workers_[handle];
  workers_.erase(handle);
  close(handle);
  if (what == kWork) works_ = false;
  if (what == kWork || what.empty()) return;
  forget(what);
  notes_ = false;
  note_next_fault();
}

bool Server::add_worker(const std::function<void()>& action, const std::string& what) {
  const pid_t worker = fork();
  if (worker == 0) {
    close(socket_);  // when the attendant is killed, nobody shall wait for an answer
    try {
      action();
    } catch (const std::exception&) {
      _exit(1);
    }
    _exit(0);
  }
  const int handle = worker < 0 ? -1 : int(syscall(SYS_pidfd_open, worker, 0));
  if (handle < 0) return false;
  workers_[handle] = what;
  watch(handle, EPOLLIN);
  return true;
}

/// Puts a library's version in the place of the library, in the namespace of the process that asks.
void Server::open_library(int connection, int application, const fs::path& library) const {
  const Peer peer = peer_of(connection);
  struct statx status {};
  const fs::path seen = fmt::format("/proc/{}/root{}", peer.process, library.string());
  if (!library.is_absolute() || peer.handle < 0 || !duties_.open ||
      statx(AT_FDCWD, seen.c_str(), 0, STATX_BASIC_STATS, &status) != 0)
    return;
  bool done = (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
  const uint64_t changed = std::max(nanoseconds({status.stx_mtime.tv_sec, status.stx_mtime.tv_nsec}),
                                    nanoseconds({status.stx_ctime.tv_sec, status.stx_ctime.tv_nsec}));
  if (!done && changed < start_of(peer.process)) {
    limit_resources();
    const auto version = duties_.open(application, library);
    done = version && is_waiting(connection) && put_in_place(peer, *version);
    const char answer = done ? '+' : '-';
    const bool heard = send(connection, &answer, 1, MSG_NOSIGNAL) == 1;
    if (done && !heard) umount2(version->original.c_str(), MNT_DETACH);
    return;
  }
  const char answer = done ? '+' : '-';
  send(connection, &answer, 1, MSG_NOSIGNAL);
}

/// Mounts where the process alone, and what it has started, sees it.
bool Server::put_in_place(const Peer& peer, const Substitution& version) const {
  std::error_code error;
  const fs::path root = fs::read_symlink(fmt::format("/proc/{}/root", peer.process), error);
  if (error || root != "/") return false;
  const uint64_t own = inode_of(kMountNamespace);
  enter_mount_namespace_of(peer.process);
  const uint64_t entered = inode_of(kMountNamespace);
  if (entered == 0 || entered == own || entered == shared_) return false;
  mount_read_only(version.original, version.substitute);
  return true;
}

}  // namespace

bool is_fault(int signal) {
  return std::ranges::find(kFaults, signal) != kFaults.end();
}

Attendant::Attendant(const Duties& duties) {
  const int own = int(syscall(SYS_pidfd_open, getpid(), 0));
  socket_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  std::array<int, 2> begin{-1, -1};
  if (own >= 0 && socket_ >= 0 && pipe2(begin.data(), O_CLOEXEC) == 0) {
    // The parent is gone at once and has no exit signal, so that the command finds no child that it
    // has not started, and no SIGCHLD.
    const long parent = syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr);
    if (parent == 0) {
      if (fork() == 0) {
        leave_all_but({own, socket_, begin[0]});
        Server(duties, 3, 4, 5).attend();
      }
      _exit(0);
    }
    if (parent > 0) waitpid(pid_t(parent), nullptr, __WCLONE);
    close(begin[0]);
    begin_ = begin[1];
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
  const uint64_t space = shared ? inode_of(kMountNamespace) : 0;
  const mode_t mask = umask(0177);
  const bool serves =
      bind(socket_, reinterpret_cast<const struct sockaddr*>(&address), sizeof address) == 0 &&
      listen(socket_, kWaiting) == 0 && write(begin_, &space, sizeof space) == sizeof space;
  umask(mask);
  if (folder >= 0) close(folder);
  return serves;
}

}  // namespace respike
