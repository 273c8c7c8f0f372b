#pragma once
// What the attendant's process does (attendant.h).

#include <sys/types.h>

#include <array>
#include <climits>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "host/process_watch.h"
#include "tas/attendant.h"
#include "tas/opening.h"

namespace respike {

class AttendantServer {
 public:
  /// Where the socket has its name.
  struct Place {
    uint64_t shared = 0;  // the mount namespace that unrelated programs share; 0: there is none
    std::array<char, PATH_MAX> path{};  // empty: the path was too long
    FileKey socket;
    uint64_t made = 0;  // time of the socket, nanoseconds: numbers of devices and files are reused
  };

  /// The server ends with the process `number`, whose pidfd is `command`. `begin`: reports when the
  /// socket has its name. `messages`: where Duties::report writes; -1: it is not called.
  AttendantServer(const Duties& duties, int command, pid_t number, int socket, int begin,
                  int messages);
  [[noreturn]] void attend();

 private:
  struct Announced {
    std::string state;  // field d of start tables
    AnnouncedEnd end;
    FileKey file;  // the version's file; zeros: an original runs, or the version is not known
  };

  bool watch(int file, uint32_t events) const;
  void forget_file(int file) const;
  bool is_done(uint64_t since) const;
  void begin();
  void accept_one();
  void take_message(int connection);
  char answer_to_start(int connection, const std::string& message);
  void program_ended(int handle);
  void note_end_of(Announced program, int status);
  bool watches_families(uint64_t now) const;
  void look_at_families();
  bool belongs(pid_t process);
  bool is_of_this_command(pid_t process) const;
  void worker_ended(int handle);
  void report();
  void note_next_fault();
  void open_next();
  void forget(const std::string& images);
  bool add_worker(const std::function<void()>& action, const std::string& what, int kept = -1);

  const Duties& duties_;
  int command_;
  pid_t number_;
  int socket_, begin_, messages_, events_;
  const bool watches_;  // the kernel reports how processes end
  Place place_;
  std::set<int> connections_;              // connections whose message has not come yet
  std::map<int, Announced> programs_;      // running programs, by pidfd
  std::map<FileKey, Announced> versions_;  // versions that programs were started with, by file
  ProcessWatch families_;                  // processes that programs have forked
  std::map<pid_t, Announced> members_;     // members of families, with the program to blame
  pid_t waited_ = 0;           // the program that the maker of Duties::guarded waits for
  uint64_t waited_space_ = 0;  // its mount namespace when last seen
  uint64_t last_program_ = 0;  // when a program last ran
  std::map<std::string, uint64_t> noted_;  // faults of families, and when they were noted
  int noting_ = -1;                        // Duties::noting
  // By pidfd: the images whose fault is noted, or kOriginal, kWork, kReport, or empty: a library is
  // made.
  std::map<int, std::string> workers_;
  bool works_ = false;                 // a worker does Duties::work
  bool notes_ = false;                 // a worker does Duties::fault
  bool reports_ = false;               // a worker does Duties::report
  int opens_ = 0;                      // workers that make libraries
  std::deque<AnnouncedEnd> faults_;    // faults that wait to be noted
  std::deque<Opening> openings_;       // questions that wait for a worker
  std::multiset<std::string> faulty_;  // images that must not run before their fault is noted
};

}  // namespace respike
