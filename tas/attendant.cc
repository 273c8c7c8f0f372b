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
//     'o' APPLICATION 0 TIME 0 PATH     a library will be opened by a program that was loaded at
//                                       nanoseconds since 1970. Answer: '+' when another file is in
//                                       the library's place now, '-' when not
//     's' STATE APPLICATION IMAGES TIME PATH, with blanks between   a program will be executed.
//                                       Answer: 'o' for the original, 'v' for the version. STATE:
//                                       field d of start tables
//
// A library's version is mounted over the library in the program's mount namespace, as those of all
// other images, so the program sees the path that it opened. The dynamic linker knows libraries by
// their inodes, and would load a library twice that gets a version after it was opened. So nothing
// is mounted over a file that a process of the namespace has in its memory, and nothing stays
// mounted when the program has not waited. A library that is younger than the program is left
// alone: who made it will remove it, which a mount would not allow. What is mounted must have been
// made of the very file that the program will open, which it may see otherwise than the attendant.
//
// The attendant stays outside of the programs' namespaces, where it has its user's rights. But its
// socket has its name in a file system that only the programs see: a process that is still one of
// Respike, in the programs' namespace, shares the socket and gives it the name. So nobody else can
// take or find it, and the name goes with the last program, whatever was killed.
//
// When its parent has waited for a program, the kernel tells all who hold a pidfd of it, with its
// exit status (Linux 6.15). Whoever starts the program again does so later, so the answer to his
// starter already knows of the fault.
//
// Limits: older kernels do not tell, and faults stay unnoticed. A process is known by its pidfd
// across execve(): when a registered program executes one that is not and that dies, the first is
// blamed. The status is that of the first thread.
//
// Sources: unix(7), pidfd_open(2), setns(2), include/uapi/linux/pidfd.h.

#include "tas/attendant.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
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

constexpr int kSecond = 1000;  // milliseconds
constexpr const char* kMountNamespace = "/proc/self/ns/mnt";
constexpr const char* kWork = "work";
constexpr const char* kOriginal = "original";
constexpr int kWaiting = 128;                  // connections that nobody has accepted yet
constexpr size_t kMessage = 8192;              // bytes, at most
constexpr size_t kConnections = 1000;          // whose message has not come, at most
constexpr int kOpenings = 8;                   // libraries that are made at a time, at most
constexpr uint64_t kLastWait = 5'000'000'000;  // nanoseconds, for ends of programs
constexpr rlim_t kProcessorTime = 300;         // seconds that a library may take
constexpr rlim_t kMemory = rlim_t{8} << 30;    // bytes that a library may take

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

/// Whether the kernel tells all who hold a pidfd how the process ended.
bool tells_ends() {
  struct utsname system {};
  unsigned major = 0, minor = 0;
  if (uname(&system) != 0 || std::sscanf(system.release, "%u.%u", &major, &minor) != 2)
    return false;
  return std::pair(major, minor) >= std::pair(6u, 15u);
}

/// What tells that a file is still the same.
struct FileState {
  dev_t device = 0;
  uint64_t inode = 0, size = 0, modified = 0, changed = 0;
  bool is_mount = false;

  bool operator==(const FileState&) const = default;
};

std::optional<FileState> state_of(const fs::path& file) {
  struct statx status {};
  if (statx(AT_FDCWD, file.c_str(), 0, STATX_BASIC_STATS, &status) != 0) return std::nullopt;
  const auto time = [](const struct statx_timestamp& t) {
    return uint64_t(t.tv_sec) * 1000000000u + t.tv_nsec;
  };
  return FileState{.device = makedev(status.stx_dev_major, status.stx_dev_minor),
                   .inode = status.stx_ino,
                   .size = status.stx_size,
                   .modified = time(status.stx_mtime),
                   .changed = time(status.stx_ctime),
                   .is_mount = (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0};
}

/// Whether a process of the mount namespace has the file in its memory.
bool is_mapped(const FileState& file, const fs::path& path, uint64_t space) {
  const std::string inode =
      fmt::format(" {:02x}:{:02x} {} ", major(file.device), minor(file.device), file.inode);
  const std::string end = " " + path.string();
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != name.npos ||
        inode_of(mount_namespace_of(pid_t(std::atoi(name.c_str())))) != space)
      continue;
    std::ifstream maps(entry.path() / "maps");
    for (std::string line; std::getline(maps, line);)
      if (line.find(inode) != line.npos || line.ends_with(end)) return true;
  }
  return false;
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

/// Leaves all that belongs to the command: its session and terminal, its folder and open files.
/// What `kept` holds is open as 3, 4 and so on then.
void leave_all_but(const std::vector<int>& kept) {
  constexpr int kFirst = 3;
  const int end = kFirst + int(kept.size());
  struct rlimit files {};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;  // each program that runs takes one
  setrlimit(RLIMIT_NOFILE, &files);
  setsid();
  bool good = chdir("/") == 0;
  std::vector<int> moved;  // above all numbers that are needed
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
  const struct rlimit time { kProcessorTime, kProcessorTime }, memory{kMemory, kMemory};
  setrlimit(RLIMIT_CPU, &time);
  setrlimit(RLIMIT_AS, &memory);
}

class Server {
 public:
  /// Ends with the process `number`, whose pidfd is `command`. `begin`: tells when the socket has
  /// its name.
  Server(const Duties& duties, int command, pid_t number, int socket, int begin);
  [[noreturn]] void attend();

 private:
  struct Opening {
    int connection = -1;
    int application = 0;
    uint64_t before = 0;
    fs::path library;
  };

  bool watch(int file, uint32_t events) const;
  void forget_file(int file) const;
  bool is_done() const;
  void begin();
  void accept_one();
  void take_message(int connection);
  char answer_to_start(int connection, const std::string& message);
  void program_ended(int handle);
  void worker_ended(int handle);
  void note_next_fault();
  void open_next();
  void forget(const std::string& images);
  bool add_worker(const std::function<void()>& action, const std::string& what, int kept = -1);
  void open_library(const Opening& opening) const;
  bool put_version_in_place(const Opening& opening) const;
  mutable fs::path mounted_;  // in a worker: what it has mounted over

  const Duties& duties_;
  int command_;
  pid_t number_;
  int socket_, begin_, events_;
  const bool watches_ = tells_ends();
  uint64_t shared_ = 0;                // the mount namespace in which others than programs are
  std::set<int> connections_;          // whose message has not come yet
  std::map<int, Announced> programs_;  // that run, by pidfd
  // By pidfd: the images whose fault is noted, or kOriginal, kWork, or nothing: a library is made.
  std::map<int, std::string> workers_;
  bool works_ = false;                 // a worker does Duties::work
  bool notes_ = false;                 // a worker does Duties::fault
  int opens_ = 0;                      // workers that make libraries
  std::deque<AnnouncedEnd> faults_;    // that wait to be noted
  std::deque<Opening> openings_;       // that wait for a worker
  std::multiset<std::string> faulty_;  // images that must not run before their fault is noted
};

Server::Server(const Duties& duties, int command, pid_t number, int socket, int begin)
    : duties_(duties),
      command_(command),
      number_(number),
      socket_(socket),
      begin_(begin),
      events_(epoll_create1(EPOLL_CLOEXEC)) {
  if (!watch(command_, EPOLLIN) || !watch(begin_, EPOLLIN)) _exit(1);
}

bool Server::watch(int file, uint32_t events) const {
  struct epoll_event event {};
  event.events = events;
  event.data.fd = file;
  return epoll_ctl(events_, EPOLL_CTL_ADD, file, &event) == 0;
}

/// Closes a file. Workers may have it, too, and then its events would go on.
void Server::forget_file(int file) const {
  epoll_ctl(events_, EPOLL_CTL_DEL, file, nullptr);
  close(file);
}

uint64_t monotonic_time() {
  struct timespec time {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return nanoseconds(time);
}

/// Whether nothing is left to be noted of the command itself, and of what it has waited for.
bool Server::is_done() const {
  const bool runs = std::ranges::any_of(
      programs_, [&](const auto& program) { return program.second.end.end.process == number_; });
  return !runs && faults_.empty() && !notes_;
}

void Server::attend() {
  uint64_t last = 0, end = 0;  // end: when nothing is waited for any more
  for (;;) {
    std::array<struct epoll_event, 64> events{};
    const int pause = end == 0 ? kSecond : kSecond / 50;
    const int count = epoll_wait(events_, events.data(), int(events.size()), pause);
    for (int i = 0; i < count; ++i) {  // in the order in which they happened
      const int file = events[size_t(i)].data.fd;
      if (file == command_) {
        end = monotonic_time() + kLastWait;
        for (const int served : {command_, socket_, begin_})
          if (served >= 0) forget_file(served);
        command_ = socket_ = begin_ = -1;
      } else if (file == begin_) {
        begin();
      } else if (file == socket_) {
        accept_one();
      } else if (connections_.contains(file)) {
        take_message(file);
      } else if (programs_.contains(file)) {
        if ((events[size_t(i)].events & EPOLLHUP) != 0) program_ended(file);
      } else if (workers_.contains(file)) {
        worker_ended(file);
      }
    }
    const uint64_t now = monotonic_time();
    if (end != 0 && (is_done() || now >= end)) _exit(0);
    if (end != 0 || now - last < kSecond * 1'000'000ull) continue;
    last = now;
    if (!works_ && duties_.is_due && duties_.is_due()) works_ = add_worker(duties_.work, kWork);
  }
}

/// The socket has its name now, or will never have one.
void Server::begin() {
  const ssize_t size = recv(begin_, &shared_, sizeof shared_, MSG_DONTWAIT);
  if (size == ssize_t(sizeof shared_)) watch(socket_, EPOLLIN);
  forget_file(begin_);
  begin_ = -1;
}

void Server::accept_one() {
  const int connection = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (connection < 0) {
    constexpr struct timespec kPause { 0, 10'000'000 };
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) nanosleep(&kPause, nullptr);
    return;
  }
  if (connections_.size() >= kConnections || !watch(connection, EPOLLIN | EPOLLRDHUP)) {
    close(connection);
    return;
  }
  connections_.insert(connection);
}

void Server::take_message(int connection) {
  std::array<char, kMessage> bytes;
  const ssize_t size = recv(connection, bytes.data(), bytes.size(), 0);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  connections_.erase(connection);
  epoll_ctl(events_, EPOLL_CTL_DEL, connection, nullptr);
  const std::string message(bytes.data(), size_t(std::max<ssize_t>(size, 0)));
  const size_t first = message.find('\0'), second = message.find('\0', first + 1);
  if (message.starts_with('o') && first != message.npos && second != message.npos) {
    openings_.push_back({.connection = connection,
                         .application = std::atoi(message.c_str() + 1),
                         .before = std::strtoull(message.c_str() + first + 1, nullptr, 10),
                         .library = message.substr(second + 1)});
    open_next();
    return;
  }
  if (message.starts_with('s')) {
    const char answer = answer_to_start(connection, message.substr(1));
    send(connection, &answer, 1, MSG_NOSIGNAL);
  }
  close(connection);
}

/// Makes libraries that are asked for, some at a time.
void Server::open_next() {
  while (opens_ < kOpenings && !openings_.empty()) {
    const Opening opening = openings_.front();
    openings_.pop_front();
    opens_ += add_worker([&] { open_library(opening); }, "", opening.connection);
    close(opening.connection);
  }
}

/// What a program that is announced is to run: 'o', its originals, or 'v', its version.
char Server::answer_to_start(int connection, const std::string& message) {
  Announced program;
  std::istringstream words(message);
  if (!(words >> program.state >> std::hex >> program.end.application >> program.end.images >>
        std::dec >> program.end.end.started_after))
    return 'v';
  std::getline(words >> std::ws, program.end.program);
  const Peer peer = peer_of(connection);
  program.end.end.process = peer.process;
  program.end.original = program.state.starts_with('o') || faulty_.contains(program.end.images);
  const char answer = program.end.original ? 'o' : 'v';
  // What the process ran before, it runs no more.
  for (auto each = programs_.begin(); each != programs_.end();) {
    const bool same = each->second.end.end.process == peer.process;
    if (same) forget_file(each->first);
    each = same ? programs_.erase(each) : std::next(each);
  }
  if (peer.handle < 0) return answer;
  // EPOLLHUP comes without being asked for: somebody has waited for the process.
  if (watches_ && watch(peer.handle, 0))
    programs_[peer.handle] = program;
  else
    close(peer.handle);
  return answer;
}

void Server::program_ended(int handle) {
  Announced program = programs_[handle];
  programs_.erase(handle);
  const auto status = status_of(handle);
  forget_file(handle);
  if (!status) return;
  program.end.end.status = *status;
  const int signal = WIFSIGNALED(*status) ? WTERMSIG(*status) : 0;
  if (program.state == "c") {
    // Test-suites end a hundred thousand processes: only what is unusual is noted.
    if (signal != 0 && duties_.counted) duties_.counted(program.end.end);
    return;
  }
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
  waitid(P_PIDFD, id_t(handle), nullptr, WEXITED | WNOHANG);
  const std::string what = workers_[handle];
  workers_.erase(handle);
  forget_file(handle);
  if (what == kWork) {
    works_ = false;
  } else if (what.empty()) {
    --opens_;
    open_next();
  } else {
    forget(what);
    notes_ = false;
    note_next_fault();
  }
}

/// Calls the action in a process of its own. `what`: as in workers_. `kept`: the only file that the
/// process keeps open. False: there is none.
bool Server::add_worker(const std::function<void()>& action, const std::string& what, int kept) {
  const pid_t worker = fork();
  if (worker == 0) {
    // When the attendant is killed, nobody shall wait for an answer.
    constexpr unsigned kFirst = 3;
    const unsigned only = kept < 0 ? kFirst - 1 : unsigned(kept);
    if (only > kFirst) close_range(kFirst, only - 1, 0);
    close_range(only + 1, ~0u, 0);
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

/// Answers whether the version of a library is in its place now.
void Server::open_library(const Opening& opening) const {
  bool done = false;
  try {
    done = put_version_in_place(opening);
  } catch (const std::exception&) {
  }
  const char answer = done ? '+' : '-';
  const bool heard =
      is_waiting(opening.connection) && send(opening.connection, &answer, 1, MSG_NOSIGNAL) == 1;
  if (done && !heard) umount2(mounted_.c_str(), MNT_DETACH);
  while (wait(nullptr) > 0) {  // for what duties_.open left behind
  }
}

/// Puts a library's version in the place of the library, in the namespace of the process that asks.
bool Server::put_version_in_place(const Opening& opening) const {
  const Peer peer = peer_of(opening.connection);
  const fs::path root = fmt::format("/proc/{}/root", peer.process);
  std::error_code error;
  if (!opening.library.is_absolute() || peer.handle < 0 || !duties_.open ||
      fs::read_symlink(root, error) != "/" || error)
    return false;
  limit_resources();
  const auto version = duties_.open(opening.application, opening.library, opening.before);
  if (!version || !is_waiting(opening.connection)) return false;
  const auto made_of = state_of(version->original);
  enter_mount_namespace_of(peer.process);
  // The number of a process that has ended may be another's by now.
  if (syscall(SYS_pidfd_send_signal, peer.handle, 0, nullptr, 0) != 0) return false;
  const uint64_t entered = inode_of(kMountNamespace);
  const auto seen = state_of(version->original);
  if (entered == 0 || entered == shared_ || !seen) return false;
  if (seen->is_mount) return true;
  if (seen != made_of || seen->changed >= opening.before || seen->modified >= opening.before ||
      is_mapped(*seen, version->original, entered))
    return false;
  mount_read_only(version->original, version->substitute);
  mounted_ = version->original;
  return true;
}

}  // namespace

bool is_fault(int signal) {
  return std::ranges::find(kFaults, signal) != kFaults.end();
}

Attendant::Attendant(const Duties& duties) {
  const pid_t number = getpid();
  const int own = int(syscall(SYS_pidfd_open, number, 0));
  socket_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  std::array<int, 2> begin{-1, -1};
  if (own >= 0 && socket_ >= 0 &&
      socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, begin.data()) == 0) {
    // Whoever adopts orphans would find the attendant as a child: then it stays one without an exit
    // signal, which wait() does not find. Else its parent is gone at once.
    int adopts = 0;
    prctl(PR_GET_CHILD_SUBREAPER, &adopts);
    const bool stays = number == 1 || adopts != 0;
    const long child = syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr);
    if (child == 0) {
      if (stays || fork() == 0) {
        leave_all_but({own, socket_, begin[0]});
        if (send(5, "+", 1, MSG_NOSIGNAL) != 1) _exit(1);
        Server(duties, 3, number, 4, 5).attend();
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
  const uint64_t space = shared ? inode_of(kMountNamespace) : 0;
  const mode_t mask = umask(0177);
  const bool serves =
      bind(socket_, reinterpret_cast<const struct sockaddr*>(&address), sizeof address) == 0 &&
      listen(socket_, kWaiting) == 0 &&
      send(begin_, &space, sizeof space, MSG_NOSIGNAL) == sizeof space;
  umask(mask);
  if (folder >= 0) close(folder);
  return serves;
}

}  // namespace respike
