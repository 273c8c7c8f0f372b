#pragma once
// Signals that wait while files exist under names that must not stay.

#include <signal.h>

namespace respike {

/// While this object lives, signals that ask a process to end (SIGINT, SIGTERM and similar signals,
/// but not SIGKILL) wait; afterwards they take their usual effect. SIGCHLD also waits, so that
/// sigwaitinfo() can wait for a child and for these signals. Ignored signals stay ignored. Only
/// signals of this thread wait: a process with several threads needs one object in each. Objects
/// may be nested.
class DeferredSignals {
 public:
  DeferredSignals();
  DeferredSignals(const DeferredSignals&) = delete;
  DeferredSignals& operator=(const DeferredSignals&) = delete;
  ~DeferredSignals();

  /// The signals that wait.
  const sigset_t& waiting() const { return waiting_; }
  /// The thread's mask without this object.
  const sigset_t& mask_before() const { return before_; }

 private:
  sigset_t waiting_, before_;
};

}  // namespace respike
