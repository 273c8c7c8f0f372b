// Writes the file of counts.
//
// The file is text. Each process appends its part under a lock when it ends (exit, a deadly signal
// other than SIGKILL, exec):
//
//   respike-ia64 counts 1
//   process PID PROGRAM
//   map START END OFFSET PATH
//   slots N
//   ADDRESS SLOT COUNT
//   end
//
// `map`: an executable mapping of a file at the end of the process; START to ADDRESS are
// hexadecimal. `slots`: the sum of all counts of the part. Then follows a line for each executed
// slot, in the order of addresses, such as `2000000000000450 0 17`: slot 0 of that bundle began 17
// times.
//
// A slot counts whenever it begins, whether or not its predicate holds. A slot that faults counts,
// and counts again when it is repeated; so does a break whose system call is restarted. A long
// instruction counts in slot 1 and in slot 2. The counts of all threads of a process are added up.
// A forked child begins with 0 and has its own part, like a program that exec starts. Slots that a
// process executes between vfork and exec belong to the child. Code that was unmapped keeps its
// counts, but has no `map` line.

#include "emulators/ia64/counts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "emulators/ia64/signals.h"

namespace respike::emulator::ia64 {

namespace {

/// Parks all other threads, so that their counts do not change.
void stop_others(Thread& thread) {
  Process& process = thread.process;
  std::vector<Thread*> others;
  {
    std::lock_guard guard(process.threads_lock);
    process.exiting = true;
    for (Thread* other : process.threads) {
      if (other != &thread) others.push_back(other);
    }
  }
  // A thread that has just ended is no longer in the list; by then its counts have been collected.
  for (int round = 0; round < 2000; ++round) {
    bool waiting = false;
    std::lock_guard guard(process.threads_lock);
    for (Thread* other : process.threads) {
      if (other == &thread || __atomic_load_n(&other->parked, __ATOMIC_SEQ_CST)) continue;
      waiting = true;
      kick(*other);
    }
    if (!waiting) break;
    usleep(500);
  }
}

std::string part(Thread& thread) {
  Process& process = thread.process;
  std::map<uint64_t, int64_t> sorted(process.counts.begin(), process.counts.end());
  std::erase_if(sorted, [](const auto& entry) { return entry.second == 0; });
  int64_t sum = 0;
  for (const auto& [ip, count] : sorted) sum += count;
  std::string text =
      fmt::format("respike-ia64 counts 1\nprocess {} {}\n", getpid(), process.program);
  text += process.memory.executable_maps();
  text += fmt::format("slots {}\n", sum);
  for (const auto& [ip, count] : sorted)
    text += fmt::format("{:x} {} {}\n", ip & ~uint64_t{15}, ip & 3, count);
  return text + "end\n";
}

void append(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  flock(file, LOCK_EX);
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = write(file, text.data() + done, text.size() - done);
    if (written <= 0) break;
    done += static_cast<size_t>(written);
  }
  close(file);
}

}  // namespace

void collect_counts(Thread& thread) {
  std::lock_guard guard(thread.process.counts_lock);
  for (Count& entry : thread.cache.counts()) {
    if (entry.count == 0) continue;
    uint64_t ip = entry.ip;
    for (uint32_t i = 0; i < entry.slots; ++i, ip = advance_slots(ip, 1))
      thread.process.counts[ip] += entry.count;
    entry.count = 0;
  }
}

void finish_counts(Thread& thread) {
  Process& process = thread.process;
  const std::string& path = process.options.counts;
  if (path.empty()) return;
  if (thread.borrowed) {
    // The tables belong to the parent, which waits.
    auto parents = std::exchange(process.counts, {});
    collect_counts(thread);
    append(path, part(thread));
    process.counts = std::move(parents);
    return;
  }
  stop_others(thread);
  collect_counts(thread);
  append(path, part(thread));
  process.counts.clear();
}
void reset_counts(Thread& thread) {
  thread.process.counts.clear();
  for (Count& entry : thread.cache.counts()) entry.count = 0;
}

}  // namespace respike::emulator::ia64
