// A handler could remove the files, but a library has no business installing handlers. Waiting is
// enough: code that holds such files is done soon, or asks for the signals with sigwaitinfo().

#include "optimizer/base/deferred_signals.h"

#include <initializer_list>

namespace respike {

DeferredSignals::DeferredSignals() {
  sigemptyset(&waiting_);
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGCHLD}) {
    struct sigaction action = {};
    // A blocked signal would be kept although it is ignored, and sigwaitinfo() would return it.
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
      sigaddset(&waiting_, number);
  }
  pthread_sigmask(SIG_BLOCK, &waiting_, &before_);
}

DeferredSignals::~DeferredSignals() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace respike
