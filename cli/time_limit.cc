// Ends a command that takes too much processor time.
//
// A damaged or hostile file may lead to work without end that no check foresees. So a timer of the
// process's processor time (timer_create(2), CLOCK_PROCESS_CPUTIME_ID) sends SIGXCPU, and its
// handler writes one sentence and ends the process with _exit: only calls that are safe in a signal
// handler. A SIGXCPU that does not come from this timer has its usual effect.
//
// Example: `respike image info X` of a 5 MB file may take 600 + 5 * 20 = 700 seconds.

#include "cli/time_limit.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <string_view>

namespace respike::cli {
namespace {

constexpr uint64_t kSeconds = 600, kSecondsForMegabyte = 20;

/// The seconds that the timer is set to, for the signal handler.
std::atomic<unsigned long> limit;
static_assert(std::atomic<unsigned long>::is_always_lock_free);

/// Writes text as a signal handler may.
void say(std::string_view text) {
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
}

/// The handler of the timer's signal. A user's own limit (ulimit -t) ends the command as usual.
void end_command(int signal, siginfo_t* info, void*) {
  if (info->si_code != SI_TIMER) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  char digits[20];
  const auto end = std::to_chars(digits, std::end(digits), limit.load()).ptr;
  say("respike: the command has taken ");
  say({digits, static_cast<size_t>(end - digits)});
  say(" seconds of processor time, more than files of this size need: a file is damaged, perhaps; "
      "RESPIKE_TIME_LIMIT=SECONDS allows more, 0 any time\n");
  _exit(1);
}

/// The seconds that the user allows; `standard` if the user sets no limit.
uint64_t allowed(uint64_t standard) {
  const char* text = std::getenv("RESPIKE_TIME_LIMIT");
  char* end = nullptr;
  const unsigned long long seconds = text != nullptr ? std::strtoull(text, &end, 10) : 0;
  constexpr uint64_t kMost = uint64_t{1} << 31;
  return end != nullptr && end != text && *end == '\0' ? std::min<uint64_t>(seconds, kMost)
                                                       : standard;
}

/// The command's only timer of processor time; nullptr when there can be none.
timer_t* the_timer() {
  static timer_t timer;
  static const bool made = [] {
    struct sigevent event = {};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGXCPU;
    return timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) == 0;
  }();
  return made ? &timer : nullptr;
}

}  // namespace

void limit_time(uint64_t bytes) {
  const uint64_t seconds = allowed(kSeconds + kSecondsForMegabyte * (bytes >> 20));
  timer_t* timer = the_timer();
  if (timer == nullptr) return;
  struct itimerspec off = {};
  timer_settime(*timer, 0, &off, nullptr);
  if (seconds == 0) return;
  limit = seconds;
  struct sigaction action = {};
  action.sa_sigaction = end_command;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGXCPU, &action, nullptr);
  struct itimerspec on = {};
  on.it_value.tv_sec = static_cast<time_t>(seconds);
  timer_settime(*timer, 0, &on, nullptr);
}

}  // namespace respike::cli
