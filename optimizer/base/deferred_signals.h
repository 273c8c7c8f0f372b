#pragma once
// Signals that wait while files have names that must not stay.

#include <signal.h>

namespace respike {

/// While this lives, the signals by which a process is asked to end (SIGINT, SIGTERM and their
/// like, but not SIGKILL) wait; afterwards they do what they would have done. SIGCHLD waits, too,
/// so that sigwaitinfo() can wait for a child and for them. Those that are ignored stay so. Of this
/// thread: a process of several needs one in each. May be nested.
class DeferredSignals {
 public:
  DeferredSignals();
  DeferredSignals(const DeferredSignals&) = delete;
  DeferredSignals& operator=(const DeferredSignals&) = delete;
  ~DeferredSignals();

  /// Those that wait.
  const sigset_t& waiting() const { return waiting_; }
  /// The thread's mask outside.
  const sigset_t& mask_before() const { return before_; }

 private:
  sigset_t waiting_, before_;
};

}  // namespace respike
