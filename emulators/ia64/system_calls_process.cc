// System calls for processes, threads and signals, and calls that describe the system.

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "emulators/ia64/counts.h"
#include "emulators/ia64/memory_access.h"
#include "emulators/ia64/signals.h"
#include "emulators/ia64/system_calls.h"
#include "emulators/ia64/threads.h"

namespace respike::emulator::ia64 {

namespace {

int64_t guest_exit(Thread& thread, const Arguments& a) {
  thread.ended = true;
  thread.exit_status = static_cast<int>(a[0]);
  return kNoResult;
}
int64_t guest_exit_group(Thread& thread, const Arguments& a) {
  end_process(thread, static_cast<int>(a[0] & 0xff));
}

int64_t guest_clone2(Thread& thread, const Arguments& a) {
  return clone_thread(thread, {a[0], a[1], a[2], a[3], a[4], a[5]});
}
/// clone, the older call, which has no size of the stack.
int64_t guest_clone(Thread& thread, const Arguments& a) {
  return clone_thread(thread, {a[0], a[1], 16, a[2], a[3], a[4]});
}

int64_t guest_execve(Thread& thread, const Arguments& a) {
  const auto strings = [&](uint64_t address) {
    std::vector<std::string> result;
    for (; address != 0; address += 8) {
      const auto text = load_guest<uint64_t>(thread.cpu, address);
      if (text == 0) break;
      result.push_back(guest_string(thread, text));
    }
    return result;
  };
  return execute_program(thread, guest_string(thread, a[0]), strings(a[1]), strings(a[2]));
}

int64_t guest_uname(Thread& thread, const Arguments& a) {
  utsname name;
  if (uname(&name) != 0) return -errno;
  std::memset(name.machine, 0, sizeof name.machine);
  std::strcpy(name.machine, "ia64");
  store_guest(thread.cpu, a[0], name);
  return 0;
}

int64_t guest_prctl(Thread& thread, const Arguments& a) {
  switch (a[0]) {
    case PR_SET_NAME:
    case PR_GET_NAME:
    case PR_GET_PDEATHSIG:
      return safe_system_call(thread, SYS_prctl, a[0], host_pointer(thread, a[1]));
    case PR_SET_PDEATHSIG:
    case PR_SET_DUMPABLE:
    case PR_GET_DUMPABLE:
    case PR_SET_KEEPCAPS:
    case PR_GET_KEEPCAPS:
    case PR_SET_NO_NEW_PRIVS:
    case PR_GET_NO_NEW_PRIVS:
    case PR_SET_CHILD_SUBREAPER:
    case PR_SET_TIMERSLACK:
    case PR_GET_TIMERSLACK:
      return safe_system_call(thread, SYS_prctl, a[0], a[1], a[2], a[3], a[4]);
    case PR_SET_UNALIGN:
    case PR_SET_FPEMU:
      return 0;
    default:
      return -EINVAL;
  }
}

/// The fourth argument is a time or a number, depending on the command; the fifth is an address or
/// 0.
int64_t guest_futex(Thread& thread, const Arguments& a) {
  const int command = static_cast<int>(a[1]) & FUTEX_CMD_MASK;
  const bool timed = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET ||
                     command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2 ||
                     command == FUTEX_WAIT_REQUEUE_PI;
  return safe_system_call(thread, SYS_futex, host_pointer(thread, a[0]), a[1], a[2],
                          timed ? host_pointer(thread, a[3]) : a[3], host_pointer(thread, a[4]),
                          a[5]);
}

/// On IA-64 the result is the priority itself, which may be negative; on x86-64 it is 20 minus the
/// priority.
int64_t guest_getpriority(Thread& thread, const Arguments& a) {
  const int64_t result = safe_system_call(thread, SYS_getpriority, a[0], a[1]);
  if (result < 0) return result;
  Cpu& cpu = thread.cpu;
  cpu.gr[8] = static_cast<uint64_t>(20 - result);
  cpu.gr[10] = 0;
  for (unsigned r = 8; r < 12; ++r) set_nat(cpu, r, false);
  cpu.ip = advance_slots(cpu.ip, 1);
  return kNoResult;
}

/// asm-generic/sembuf.h; x86-64 has an unused word after each time.
struct GuestSemaphores {
  uint64_t permissions[6], otime, ctime, count, unused[2];
};

int64_t guest_semctl(Thread& thread, const Arguments& a) {
  const int command = static_cast<int>(a[2]) & 0xff;
  const bool asks = command == IPC_STAT || command == SEM_STAT || command == SEM_STAT_ANY;
  if (!asks && command != IPC_SET) {
    const uint64_t argument = a[3] >> 61 == 0 ? a[3] : host_pointer(thread, a[3]);
    return safe_system_call(thread, SYS_semctl, a[0], a[1], a[2], argument);
  }
  semid_ds host = {};
  static_assert(sizeof host.sem_perm == sizeof GuestSemaphores::permissions);
  auto guest = load_guest<GuestSemaphores>(thread.cpu, a[3]);
  std::memcpy(&host.sem_perm, guest.permissions, sizeof guest.permissions);
  const int64_t result =
      safe_system_call(thread, SYS_semctl, a[0], a[1], a[2], reinterpret_cast<uint64_t>(&host));
  if (result < 0 || !asks) return result;
  std::memcpy(guest.permissions, &host.sem_perm, sizeof guest.permissions);
  guest.otime = static_cast<uint64_t>(host.sem_otime);
  guest.ctime = static_cast<uint64_t>(host.sem_ctime);
  guest.count = host.sem_nsems;
  store_guest(thread.cpu, a[3], guest);
  return result;
}

int64_t guest_set_tid_address(Thread& thread, const Arguments& a) {
  thread.clear_child_tid = a[0];
  return thread.tid;
}
int64_t guest_set_robust_list(Thread& thread, const Arguments& a) {
  if (a[1] != 24) return -EINVAL;
  thread.robust_list = a[0];
  return 0;
}

int64_t guest_sigaction(Thread& thread, const Arguments& a) {
  return set_action(thread, static_cast<int>(a[0]), a[1], a[2], a[3]);
}
int64_t guest_sigprocmask(Thread& thread, const Arguments& a) {
  return set_mask(thread, static_cast<int>(a[0]), a[1], a[2], a[3]);
}
int64_t guest_sigaltstack(Thread& thread, const Arguments& a) {
  return set_alternate_stack(thread, a[0], a[1]);
}
int64_t guest_sigsuspend(Thread& thread, const Arguments& a) {
  return suspend(thread, a[0], a[1]);
}
int64_t guest_sigpending(Thread& thread, const Arguments& a) {
  return pending_signals(thread, a[0], a[1]);
}
int64_t guest_sigtimedwait(Thread& thread, const Arguments& a) {
  return wait_for_signal(thread, a[0], a[1], a[2], a[3]);
}
int64_t guest_sigreturn(Thread& thread, const Arguments&) {
  return_from_signal(thread);
  return kNoResult;
}

}  // namespace

SystemCall process_call(unsigned number) {
  switch (number) {
    case 1025:
      return guest_exit;
    case 1033:
      return guest_execve;
    case 1101:
      return guest_getpriority;
    case 1108:
      return guest_semctl;
    case 1128:
      return guest_clone;
    case 1130:
      return guest_uname;
    case 1170:
      return guest_prctl;
    case 1176:
      return guest_sigaltstack;
    case 1177:
      return guest_sigaction;
    case 1178:
      return guest_sigpending;
    case 1179:
      return guest_sigprocmask;
    case 1181:
      return guest_sigreturn;
    case 1182:
      return guest_sigsuspend;
    case 1183:
      return guest_sigtimedwait;
    case 1213:
      return guest_clone2;
    case 1230:
      return guest_futex;
    case 1233:
      return guest_set_tid_address;
    case 1236:
      return guest_exit_group;
    case 1298:
      return guest_set_robust_list;
    default:
      return nullptr;
  }
}

}  // namespace respike::emulator::ia64
