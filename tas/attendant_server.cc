// Serves programs and their starters, one message after another.
//
// When the parent of a program has waited for it, the kernel notifies all holders of the program's
// pidfd, and gives them the exit status (Linux 6.15). Any restart of the program comes later, so
// the answer to its starter already takes the fault into account.
//
// A program may fork workers, or put itself into the background. These processes announce nothing.
// But they run the version's file, to which /proc/PID/exe leads even after they were adopted
// (host/process_watch.h). Processes of another command that runs the same version are distinguished
// by their view: they do not see this attendant's socket, or are in another mount namespace. While
// guarded programs or such processes run, the attendant looks every tenth of a second, even after
// the command has ended: then the attendant stays for the command's daemons. For an original, only
// processes whose parent is known are found. Example: `exec lighttpd -- service lighttpd start`
// ends at once; a worker dies an hour later, and the fault is noted.
//
// Limits: older kernels do not notify, so faults stay unnoticed. A process that was forked and died
// between two looks is missed. A pidfd identifies a process across execve(): when a registered
// program executes an unregistered one, and that dies, the first is blamed. The status is that of
// the first thread. A daemon that changes its root folder before its parent was seen belongs to no
// command.
//
// Work that may take long is done by workers, which are processes of their own; the server only
// waits.
//
// Sources: unix(7), epoll(7), pidfd_open(2), include/uapi/linux/pidfd.h.

#include "tas/attendant_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "tas/processes.h"

namespace respike {
namespace {

constexpr int kSecond = 1000;  // milliseconds
constexpr int kLook = 100;     // milliseconds between two looks at process families
// Nanoseconds: how long after a program's end its daemons are searched for; how long the same fault
// is not noted again.
constexpr uint64_t kDaemons = 500'000'000, kSameFault = 5'000'000'000;
constexpr const char* kWork = "work";
constexpr const char* kReport = "report";
constexpr const char* kOriginal = "original";
constexpr size_t kMessage = 8192;      // most bytes of a message
constexpr size_t kConnections = 1000;  // most connections whose message has not come
constexpr int kOpenings = 8;           // most libraries that are made at a time
// Nanoseconds after the command's end: until its parent has waited for it; until everything is
// noted.
constexpr uint64_t kUnwaited = 1'000'000'000, kLastWait = 5'000'000'000;

uint64_t monotonic_time() {
  struct timespec time {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return uint64_t(time.tv_sec) * 1000000000u + uint64_t(time.tv_nsec);
}

}  // namespace

AttendantServer::AttendantServer(const Duties& duties, int command, pid_t number, int socket,
                                 int begin, int messages)
    : duties_(duties),
      command_(command),
      number_(number),
      socket_(socket),
      begin_(begin),
      messages_(messages),
      events_(epoll_create1(EPOLL_CLOEXEC)),
      watches_(kernel_tells_ends()) {
  if (!watch(command_, EPOLLIN) || !watch(begin_, EPOLLIN)) _exit(1);
  if (duties.noting) noting_ = duties.noting(number);
  for (const auto& [file, end] : duties.guarded)
    versions_[file] = {.state = "v", .end = end, .file = file};
}

bool AttendantServer::watch(int file, uint32_t events) const {
  struct epoll_event event {};
  event.events = events;
  event.data.fd = file;
  return epoll_ctl(events_, EPOLL_CTL_ADD, file, &event) == 0;
}

/// Closes a file. Workers may also have it open, and then its events would continue.
void AttendantServer::forget_file(int file) const {
  epoll_ctl(events_, EPOLL_CTL_DEL, file, nullptr);
  close(file);
}

/// Whether nothing remains to be noted about the command itself, or about the processes that it
/// waited for, this long after its end.
bool AttendantServer::is_done(uint64_t since) const {
  const bool may_come = std::ranges::any_of(
      programs_, [&](const auto& program) { return program.second.end.end.process == number_; });
  const bool waits = (may_come && since < kUnwaited) || !faults_.empty() || notes_ || reports_;
  return !waits || since >= kLastWait;
}

void AttendantServer::attend() {
  uint64_t last = 0, looked = 0, end = 0;  // end: time of the command's end
  for (;;) {
    std::array<struct epoll_event, 64> events{};
    const bool looks = watches_families(monotonic_time());
    const bool ends = end != 0 && (noting_ >= 0 || !looks);
    const int pause = ends ? kSecond / 50 : looks ? kLook : kSecond;
    const int count = epoll_wait(events_, events.data(), int(events.size()), pause);
    for (int i = 0; i < count; ++i) {  // in the order of the events
      const int file = events[size_t(i)].data.fd;
      if (file == command_) {
        end = monotonic_time();
        last_program_ = end;
        looked = 0;  // faults seen now are noted before the next command continues
        report();
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
    if (!watches_families(now)) {
      families_.forget_others();
    } else if (now - looked >= kLook * 1'000'000ull || ends) {
      looked = now;
      look_at_families();
    }
    if (end != 0 && is_done(now - end)) {
      if (!watches_families(now) && faults_.empty()) _exit(0);
      if (noting_ >= 0) close(noting_);  // no process shall wait for daemons
      noting_ = -1;
    }
    if (end != 0 || now - last < kSecond * 1'000'000ull) continue;
    last = now;
    if (!works_ && duties_.is_due && duties_.is_due()) works_ = add_worker(duties_.work, kWork);
  }
}

/// The socket has its name now, or will never have one.
void AttendantServer::begin() {
  const ssize_t size = recv(begin_, &place_, sizeof place_, MSG_DONTWAIT);
  if (size == ssize_t(sizeof place_))
    watch(socket_, EPOLLIN);
  else
    place_ = {};
  forget_file(begin_);
  begin_ = -1;
}

void AttendantServer::accept_one() {
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

void AttendantServer::take_message(int connection) {
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

/// Makes versions of the libraries that programs ask for, several at a time.
void AttendantServer::open_next() {
  while (opens_ < kOpenings && !openings_.empty()) {
    const Opening opening = openings_.front();
    openings_.pop_front();
    opens_ += add_worker([&] { answer_opening(opening, duties_, place_.shared); }, "",
                         opening.connection);
    close(opening.connection);
  }
}

/// What an announced program is to run: 'o', its originals, or 'v', its version.
char AttendantServer::answer_to_start(int connection, const std::string& message) {
  Announced program;
  std::istringstream words(message);
  if (!(words >> program.state >> std::hex >> program.end.application >> program.end.images >>
        std::dec >> program.end.end.started_after >> std::hex >> program.file.device >>
        program.file.inode))
    return 'v';
  std::getline(words >> std::ws, program.end.program);
  const Peer peer = peer_of(connection);
  program.end.end.process = peer.process;
  program.end.original = program.state.starts_with('o') || faulty_.contains(program.end.images);
  const char answer = program.end.original ? 'o' : 'v';
  if (program.end.original || program.state == "c") program.file = {};
  last_program_ = monotonic_time();
  // The process no longer runs its previous program.
  for (auto each = programs_.begin(); each != programs_.end();) {
    const bool same = each->second.end.end.process == peer.process;
    if (same) forget_file(each->first);
    each = same ? programs_.erase(each) : std::next(each);
  }
  if (peer.handle < 0) return answer;
  // EPOLLHUP needs no request: it says that the process was waited for.
  if (watches_ && watch(peer.handle, 0)) {
    programs_[peer.handle] = program;
    if (program.file != FileKey()) versions_[program.file] = program;
  } else {
    close(peer.handle);
  }
  return answer;
}

void AttendantServer::program_ended(int handle) {
  const Announced program = programs_[handle];
  programs_.erase(handle);
  last_program_ = monotonic_time();
  const auto status = told_end(handle);
  forget_file(handle);
  if (status) note_end_of(program, *status);
}

void AttendantServer::note_end_of(Announced program, int status) {
  program.end.end.status = status;
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (program.state == "c") {
    // Test suites end a hundred thousand processes: only unusual ends are noted.
    if (signal != 0 && duties_.counted) duties_.counted(program.end.end);
    return;
  }
  if (!is_fault(signal) || program.state == fmt::format("k{}", signal) || !duties_.fault) return;
  if (!program.end.original) faulty_.insert(program.end.images);
  faults_.push_back(program.end);
  note_next_fault();
}

/// Whether there may be processes of guarded programs.
bool AttendantServer::watches_families(uint64_t now) const {
  const auto is_guarded = [](const auto& program) { return program.second.state != "c"; };
  return watches_ && duties_.fault &&
         (!families_.empty() || std::ranges::any_of(programs_, is_guarded) ||
          (!duties_.guarded.empty() && command_ >= 0) ||
          (!versions_.empty() && now - last_program_ < kDaemons));
}

static FileKey executed_by(pid_t process) {
  return file_key(fmt::format("/proc/{}/exe", process));
}

void AttendantServer::look_at_families() {
  std::erase_if(members_, [](const auto& each) {  // a process that executes another program is
                                                  // released
    const FileKey file = executed_by(each.first);
    return file != FileKey() && file != each.second.file;
  });
  if (const uint64_t space = waited_ != 0 ? inode_of(mount_namespace_of(waited_)) : 0; space != 0)
    waited_space_ = space;
  for (const auto& [process, status] :
       families_.look([this](pid_t each) { return belongs(each); })) {
    const auto member = members_.find(process);
    if (member == members_.end()) continue;
    const Announced program = member->second;
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    // A master may start workers that die again and again.
    const std::string what =
        fmt::format("{} {} {}", program.end.images, program.end.original, signal);
    const uint64_t now = monotonic_time();
    if (!is_fault(signal) || (noted_.contains(what) && now - noted_[what] < kSameFault)) continue;
    noted_[what] = now;
    note_end_of(program, status);
  }
  std::erase_if(members_, [&](const auto& each) { return !families_.contains(each.first); });
}

/// Whether a new process belongs to a guarded program, but is not the process that announced
/// itself.
bool AttendantServer::belongs(pid_t process) {
  const pid_t parent = parent_of(process);
  const Announced* of_parent = nullptr;
  for (const auto& [handle, program] : programs_) {
    if (program.end.end.process == process) return false;
    if (program.end.end.process == parent && program.state != "c") of_parent = &program;
  }
  if (!duties_.guarded.empty() && parent == number_) {  // its starter waits for it
    waited_ = process;
    return false;
  }
  if (waited_ != 0 && parent == waited_) of_parent = &versions_.begin()->second;
  const FileKey file = executed_by(process);
  if (file == FileKey()) return false;
  if (const auto known = members_.find(parent); known != members_.end()) of_parent = &known->second;
  auto version = versions_.find(file);
  if (version != versions_.end() && of_parent == nullptr && !is_of_this_command(process))
    version = versions_.end();
  if (version == versions_.end() && (of_parent == nullptr || file != executed_by(parent)))
    return false;
  Announced program = version != versions_.end() ? version->second : *of_parent;
  program.end.end.process = process;
  program.file = file;
  members_[process] = std::move(program);
  return true;
}

/// Whether a process that executes a version, and whose parent is not known, was started below this
/// command: another command may run the same version.
bool AttendantServer::is_of_this_command(pid_t process) const {
  if (place_.path.front() != '\0') {
    const std::string seen = fmt::format("/proc/{}/root{}", process, place_.path.data());
    return file_key(seen) == place_.socket && change_time(seen) == place_.made;
  }
  return waited_space_ == 0 || inode_of(mount_namespace_of(process)) == waited_space_;
}

void AttendantServer::report() {
  if (messages_ < 0) return;
  const auto action = [this] {
    if (dup2(messages_, STDERR_FILENO) == STDERR_FILENO) duties_.report();
  };
  reports_ = add_worker(action, kReport, messages_);
  close(messages_);
  messages_ = -1;
}

/// One at a time, in their order: the second fault may depend on the note of the first.
void AttendantServer::note_next_fault() {
  if (notes_ || faults_.empty()) return;
  const AnnouncedEnd end = faults_.front();
  faults_.pop_front();
  const std::string images = end.original ? kOriginal : end.images;
  notes_ = add_worker([&] { duties_.fault(end); }, images);
  if (!notes_) forget(images);
}

void AttendantServer::forget(const std::string& images) {
  const auto known = faulty_.find(images);
  if (known != faulty_.end()) faulty_.erase(known);
}

void AttendantServer::worker_ended(int handle) {
  waitid(P_PIDFD, id_t(handle), nullptr, WEXITED | WNOHANG);
  const std::string what = workers_[handle];
  workers_.erase(handle);
  forget_file(handle);
  if (what == kWork) {
    works_ = false;
  } else if (what == kReport) {
    reports_ = false;
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
/// process keeps open. False: the process could not be made.
bool AttendantServer::add_worker(const std::function<void()>& action, const std::string& what,
                                 int kept) {
  const pid_t worker = fork();
  if (worker == 0) {
    // If the attendant is killed, no program shall wait for an answer.
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

}  // namespace respike
