// Turns signals of the host into signals of the guest.
//
// The host's handler only records the signal and notifies the thread's loop: `cpu.interrupt` ends
// translated code at the next branch. A system call that has not begun is cancelled
// (safe_system_call: the handler moves the instruction pointer out of the few instructions before
// `syscall`). While one signal waits for delivery, all others are blocked, so that the kernel's own
// queue decides about order and number. Handlers on the host have the guest's SA_RESTART, so that
// the kernel decides which calls end with EINTR. A call that the kernel restarts returns to the
// `syscall` instruction and is given up there with kRestart, like a call that has not begun: in
// both cases the guest's break is executed again after the guest's handler.
//
// Example: SIGALRM comes while the guest is blocked in read. The host's handler notes SIGALRM, read
// ends with EINTR or kRestart, and the loop enters the guest's handler.
//
// Faults of guest memory are SIGSEGV and SIGBUS of the host: the handler jumps back to the loop
// (siglongjmp; handlers of micro-operations hold no resources), which delivers the fault with the
// guest's address. So the host never blocks SIGSEGV and SIGBUS. When another process sends one of
// the two while the guest blocks it, or while another signal waits, the thread holds the signal
// until the mask lets it through.
//
// The frame on the guest's stack is the frame of Linux (arch/ia64/kernel/sigframe.h,
// asm/sigcontext.h), since unwinders know that frame: three arguments, the descriptor, siginfo,
// sigcontext. The kernel's own trampoline is in its gate page at 0xa000000000000000, where
// unwinders expect it; the emulator's trampoline has only the system call rt_sigreturn. On an
// alternate stack, the register stack starts at the lower end; the interrupted frames are stored
// before, so that sc_loadrs is 0.

#include "emulators/ia64/signals.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "emulators/ia64/counts.h"
#include "emulators/ia64/memory_access.h"
#include "emulators/ia64/report.h"
#include "emulators/ia64/system_calls.h"
#include "optimizer/base/error.h"

// Two labels show how far a call is: a call that a signal interrupts before `syscall` has no effect
// yet. The first argument is the address of the flag for a pending signal.
asm(R"(
  .text
  .type respike_safe_system_call, @function
respike_safe_system_call:
  .cfi_startproc
  movq %rdi, %r11
  movq %rsi, %rax
  movq %rdx, %rdi
  movq %rcx, %rsi
  movq %r8, %rdx
  movq %r9, %r10
  movq 8(%rsp), %r8
  movq 16(%rsp), %r9
respike_system_call_start:
  cmpl $0, (%r11)
  jne respike_system_call_given_up
  syscall
respike_system_call_end:
  ret
respike_system_call_given_up:
  movq $-512, %rax
  ret
  .cfi_endproc
  .size respike_safe_system_call, . - respike_safe_system_call
)");

extern "C" {
int64_t respike_safe_system_call(const volatile sig_atomic_t* pending, long number, uint64_t a,
                                 uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f);
extern const char respike_system_call_start[], respike_system_call_end[],
    respike_system_call_given_up[];
}

namespace respike::emulator::ia64 {

namespace {

constexpr int kKick = 64;  // the last real-time signal is the emulator's own
constexpr uint64_t kTrampoline = region_base(5) + kPage;
constexpr uint64_t kIgnore = 1;

/// asm/sigcontext.h
struct SignalContext {
  uint64_t flags, nat;
  GuestStack stack;
  uint64_t ip, cfm, um, ar_rsc, ar_bsp, ar_rnat, ar_ccv, ar_unat, ar_fpsr, ar_pfs, ar_lc, pr;
  uint64_t br[8], gr[32];
  alignas(16) FloatingRegister fr[128];
  uint64_t rbs_base, loadrs, ar25, ar26, reserved[12], mask;
};
constexpr uint64_t kOnStack = 1, kInSystemCall = 2, kHighFloatingValid = 4;

struct SignalFrame {
  uint64_t number, info_address, context_address, handler;
  siginfo_t info;
  SignalContext context;
};
static_assert(offsetof(SignalFrame, context) == 160);

/// The kernel's structure, which differs from the C library's.
struct HostAction {
  uint64_t handler;
  unsigned long flags;
  void (*restorer)();
  uint64_t mask;
};

constexpr uint64_t signal_bit(int signal) {
  return uint64_t{1} << (signal - 1);
}

/// Signals that are never blocked on the host, since the emulator needs them.
constexpr uint64_t kAlwaysOpen = signal_bit(SIGSEGV) | signal_bit(SIGBUS) | signal_bit(kKick);
constexpr uint64_t kUnblockable = signal_bit(SIGKILL) | signal_bit(SIGSTOP);

/// x86-64 has no return from handlers without this.
[[gnu::naked]] void restorer() {
  asm("movq $15, %rax\n syscall");
}

void install(int signal, void (*handler)(int, siginfo_t*, void*), unsigned long restart) {
  constexpr unsigned long kRestorer = 0x04000000;
  HostAction action = {reinterpret_cast<uint64_t>(handler),
                       SA_SIGINFO | SA_ONSTACK | kRestorer | restart, restorer, 0};
  if (signal == SIGSEGV || signal == SIGBUS) action.flags |= SA_NODEFER;
  syscall(SYS_rt_sigaction, signal, &action, nullptr, 8);
}

void restore_default(int signal, bool ignore) {
  HostAction action = {};
  if (ignore) action.handler = kIgnore;
  syscall(SYS_rt_sigaction, signal, &action, nullptr, 8);
}

bool ends_process_by_default(int signal) {
  switch (signal) {
    case SIGCHLD:
    case SIGCONT:
    case SIGURG:
    case SIGWINCH:
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
      return false;
    default:
      return true;
  }
}

constexpr size_t held_index(int signal) {
  return signal == SIGSEGV ? 0 : 1;
}

/// Sends held signals again if the mask lets them through. The host must block all signals now.
void release_held(Thread& thread) {
  const uint64_t open = thread.held & ~thread.mask;
  thread.held &= ~open;
  for (const int signal : {SIGSEGV, SIGBUS}) {
    if ((open & signal_bit(signal)) == 0) continue;
    syscall(SYS_rt_tgsigqueueinfo, getpid(), thread.tid, signal,
            &thread.held_info[held_index(signal)]);
  }
}

/// Leaves a system call that has not begun.
void give_up_system_call(ucontext_t* context) {
  auto& ip = context->uc_mcontext.gregs[REG_RIP];
  if (ip >= reinterpret_cast<greg_t>(respike_system_call_start) &&
      ip < reinterpret_cast<greg_t>(respike_system_call_end)) {
    ip = reinterpret_cast<greg_t>(respike_system_call_given_up);
  }
}

void on_signal(int signal, siginfo_t* info, void* context) {
  Thread* thread = current_thread;
  auto* state = static_cast<ucontext_t*>(context);
  if (thread == nullptr) return;
  thread->cpu.interrupt = 1;
  if (signal == kKick) {
    give_up_system_call(state);
    return;
  }
  thread->pending = signal;
  std::memcpy(&thread->pending_info, info, sizeof *info);
  give_up_system_call(state);
  const uint64_t blocked = ~kAlwaysOpen;
  std::memcpy(&state->uc_sigmask, &blocked, sizeof blocked);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  Thread* thread = current_thread;
  if (info->si_code <= 0) {  // sent by a process
    const bool waits =
        thread != nullptr && (thread->pending != 0 || (thread->mask & signal_bit(signal)) != 0);
    if (!waits) return on_signal(signal, info, context);
    thread->held |= signal_bit(signal);
    thread->held_info[held_index(signal)] = *info;
    return;
  }
  if (thread != nullptr && thread->in_guest) {
    if (const auto address = thread->process.memory.guest(info->si_addr)) {
      thread->fault = {signal, info->si_code, *address};
      siglongjmp(thread->recovery, 1);
    }
  }
  restore_default(signal, false);  // a fault of the emulator itself happens again, and kills it
}

SignalContext save(Thread& thread, bool in_system_call) {
  Cpu& cpu = thread.cpu;
  SignalContext c = {};
  c.flags = kHighFloatingValid | (in_system_call ? kInSystemCall : 0);
  for (unsigned i = 0; i < 32; ++i) {
    c.gr[i] = cpu.gr[i];
    c.nat |= uint64_t{cpu.nat[i]} << i;
  }
  c.stack = thread.alternate_stack;
  c.ip = cpu.ip;
  c.cfm = cpu.cfm;
  c.um = cpu.user_mask;
  c.ar_rsc = cpu.rsc;
  c.ar_ccv = cpu.ccv;
  c.ar_unat = cpu.unat;
  c.ar_fpsr = cpu.fpsr;
  c.ar_pfs = cpu.pfs;
  c.ar_lc = cpu.lc;
  c.pr = predicates(cpu);
  std::memcpy(c.br, cpu.br, sizeof c.br);
  std::memcpy(c.fr, cpu.fr, sizeof c.fr);
  c.ar25 = cpu.csd;
  c.ar26 = cpu.ssd;
  c.mask = thread.mask;
  return c;
}

bool on_alternate_stack(const Thread& thread, uint64_t sp) {
  const GuestStack& stack = thread.alternate_stack;
  return sp - stack.base < stack.size;
}

/// Enters the guest's handler: writes the frame at sp, and sets the registers.
void enter_handler(Thread& thread, int signal, const siginfo_t& info, const GuestAction& action,
                   bool in_system_call) {
  Cpu& cpu = thread.cpu;
  const FrameMarker marker{cpu.cfm};
  SignalContext context = save(thread, in_system_call);
  if (thread.feed != nullptr) thread.feed->interrupt();
  uint64_t sp = cpu.gr[12];
  const GuestStack& stack = thread.alternate_stack;
  const bool was_there = on_alternate_stack(thread, sp);
  const bool switches = (action.flags & SA_ONSTACK) && !(stack.flags & SS_DISABLE) && !was_there;
  if (switches) sp = stack.base + stack.size;
  if (was_there) context.flags |= kOnStack;

  const uint64_t place = (sp - sizeof(SignalFrame)) & ~uint64_t{15};
  cpu.stack.cover(cpu, marker.sof());
  cpu.cfm = 0;
  context.ar_bsp = cpu.stack.bsp(cpu);
  if (switches) {
    cpu.stack.flush(cpu);
    context.ar_bsp = cpu.stack.bsp(cpu);
    context.ar_rnat = cpu.stack.rnat();
    context.rbs_base = (stack.base + 15) & ~uint64_t{15};
    cpu.stack.start(cpu, context.rbs_base);
  } else {
    context.ar_rnat = cpu.stack.rnat();
  }
  SignalFrame frame = {};
  frame.number = static_cast<uint64_t>(signal);
  frame.info_address = place + offsetof(SignalFrame, info);
  frame.context_address = place + offsetof(SignalFrame, context);
  frame.handler = action.handler;
  std::memcpy(&frame.info, &info, sizeof info);
  frame.context = context;
  store_guest(cpu, place, frame);

  cpu.ip = load_guest<uint64_t>(cpu, action.handler) & ~uint64_t{15};
  cpu.gr[1] = load_guest<uint64_t>(cpu, action.handler + 8);
  for (unsigned r = 1; r < 32; ++r) set_nat(cpu, r, false);
  cpu.gr[12] = place - 16;
  cpu.br[0] = kTrampoline;
  cpu.cfm = FrameMarker::of(3, 0, 0).bits;
  cpu.pfs = make_pfs(0, 0);
  cpu.rsc = 0xf;
  cpu.fpsr = kInitialFpsr;
  cpu.frame[0] = static_cast<uint64_t>(signal);
  cpu.frame[1] = frame.info_address;
  cpu.frame[2] = frame.context_address;
  for (unsigned r = 32; r < 35; ++r) set_nat(cpu, r, false);
  cpu.op = nullptr;

  thread.mask |= action.mask;
  if (!(action.flags & SA_NODEFER)) thread.mask |= signal_bit(signal);
}

}  // namespace

int64_t safe_system_call(Thread& thread, long number, uint64_t a, uint64_t b, uint64_t c,
                         uint64_t d, uint64_t e, uint64_t f) {
  return respike_safe_system_call(&thread.pending, number, a, b, c, d, e, f);
}

void kick(const Thread& thread) {
  syscall(SYS_tgkill, getpid(), thread.tid, kKick);
}

void apply_mask(Thread& thread) {
  block_all_signals();
  if (thread.pending != 0) return;  // other signals wait until this one is delivered
  release_held(thread);
  const uint64_t mask = thread.mask & ~kAlwaysOpen;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, 8);
}

void block_all_signals() {
  const uint64_t mask = ~uint64_t{0};
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, 8);
}

void start_signals(Process& process) {
  for (int signal = 1; signal < kKick; ++signal) {
    HostAction old = {};
    syscall(SYS_rt_sigaction, signal, nullptr, &old, 8);
    const bool ignored = old.handler == kIgnore;
    if (ignored) process.actions[signal].handler = kIgnore;
    // Counts must be written even if a signal ends the program.
    const bool wanted = !process.options.counts.empty() && ends_process_by_default(signal);
    if (!ignored && wanted && signal != SIGKILL) install(signal, on_signal, SA_RESTART);
  }
  install(SIGSEGV, on_fault, SA_RESTART);
  install(SIGBUS, on_fault, SA_RESTART);
  install(kKick, on_signal, SA_RESTART);
}

void map_trampoline(Process& process) {
  // { .mib  mov r15 = 1181 (rt_sigreturn); break.i 0x100000; nop.b 0 ;; }, encoded by GNU as.
  static constexpr unsigned char kCode[16] = {0x11, 0x78, 0x74, 0x00, 0x09, 0x24, 0x00, 0x00,
                                              0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x20};
  const int64_t place =
      process.memory.map(kTrampoline, kPage, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0, "[gate]");
  if (place != static_cast<int64_t>(kTrampoline))
    throw Error("cannot map the page of the signal trampoline");
  std::memcpy(process.memory.host(kTrampoline), kCode, sizeof kCode);
  process.memory.protect(kTrampoline, kPage, PROT_READ | PROT_EXEC);
  process.trampoline = kTrampoline;
}

void deliver_pending(Thread& thread, bool interrupted) {
  const int signal = thread.pending;
  if (signal == 0) return;
  siginfo_t info;
  std::memcpy(&info, &thread.pending_info, sizeof info);
  GuestAction action;
  {
    std::lock_guard guard(thread.process.actions_lock);
    action = thread.process.actions[signal];
    if ((action.flags & SA_RESETHAND) && action.handler > kIgnore) {
      thread.process.actions[signal].handler = 0;
    }
  }
  thread.pending = 0;
  if (action.handler <= kIgnore) {
    if (action.handler == 0 && ends_process_by_default(signal)) die_by_signal(thread, signal);
    apply_mask(thread);
    return;
  }
  enter_handler(thread, signal, info, action, interrupted);
  apply_mask(thread);
}

void deliver_fault(Thread& thread, const GuestFault& fault) {
  GuestAction action;
  {
    std::lock_guard guard(thread.process.actions_lock);
    action = thread.process.actions[fault.signal];
    if (action.flags & SA_RESETHAND) thread.process.actions[fault.signal].handler = 0;
  }
  const bool blocked = thread.mask & signal_bit(fault.signal);
  if (action.handler <= kIgnore || blocked) {
    report_fault(thread, fault);
    die_by_signal(thread, fault.signal);
  }
  siginfo_t info = {};
  info.si_signo = fault.signal;
  info.si_code = fault.code;
  char* rest = reinterpret_cast<char*>(&info) + 16;  // si_addr, si_imm, si_flags, si_isr
  std::memcpy(rest, &fault.address, 8);
  std::memcpy(rest + 8, &fault.immediate, 4);
  const int isr_valid = 1;
  std::memcpy(rest + 12, &isr_valid, 4);
  std::memcpy(rest + 16, &fault.isr, 8);
  enter_handler(thread, fault.signal, info, action, false);
  apply_mask(thread);
}

void return_from_signal(Thread& thread) {
  Cpu& cpu = thread.cpu;
  const auto context_address =
      load_guest<uint64_t>(cpu, cpu.gr[12] + 16 + offsetof(SignalFrame, context_address));
  const auto c = load_guest<SignalContext>(cpu, context_address);
  // Back to the interrupted frame: if the frame is no longer in the array, it is read from the
  // register stack's backing store of that time.
  if (c.rbs_base != 0 || cpu.stack.bsp(cpu) != c.ar_bsp) {
    cpu.stack.start(cpu, c.ar_bsp);
    cpu.stack.set_rnat(c.ar_rnat);
  }
  FrameMarker marker{c.cfm & kPfmMask};
  if (!marker.valid()) marker = {};
  cpu.stack.fill(cpu, marker.sof());
  cpu.frame -= marker.sof();
  cpu.cfm = marker.bits;
  cpu.stack.forget_nats_above(cpu, cpu.frame + marker.sof());
  for (unsigned i = 1; i < 32; ++i) {
    cpu.gr[i] = c.gr[i];
    set_nat(cpu, i, c.nat >> i & 1);
  }
  cpu.ip = c.ip;
  cpu.user_mask = c.um & kUserMask;
  cpu.rsc = (c.ar_rsc & kRscValid) | kRscPrivilege;
  cpu.ccv = c.ar_ccv;
  cpu.unat = c.ar_unat;
  cpu.fpsr = valid_fpsr(c.ar_fpsr) ? c.ar_fpsr : kInitialFpsr;
  cpu.pfs = c.ar_pfs;
  cpu.lc = c.ar_lc;
  set_predicates(cpu, c.pr, ~uint64_t{0});
  std::memcpy(cpu.br, c.br, sizeof c.br);
  for (unsigned i = 2; i < 128; ++i)
    cpu.fr[i] = from_spill(c.fr[i].significand, c.fr[i].sign_exponent);
  cpu.csd = c.ar25;
  cpu.ssd = c.ar26;
  cpu.op = nullptr;
  thread.mask = c.mask & ~kUnblockable;
  apply_mask(thread);
}

int64_t set_action(Thread& thread, int signal, uint64_t action, uint64_t old, uint64_t size) {
  if (size != 8 || signal < 1 || signal > static_cast<int>(kSignals)) return -EINVAL;
  if (action != 0 && (signal == SIGKILL || signal == SIGSTOP)) return -EINVAL;
  Cpu& cpu = thread.cpu;
  GuestAction fresh;
  if (action != 0) fresh = load_guest<GuestAction>(cpu, action);
  GuestAction before;
  {
    std::lock_guard guard(thread.process.actions_lock);
    before = thread.process.actions[signal];
    if (action != 0) {
      fresh.mask &= ~kUnblockable;
      thread.process.actions[signal] = fresh;
    }
  }
  if (old != 0) store_guest(cpu, old, before);
  if (action == 0 || signal == kKick) return 0;
  const unsigned long restart = fresh.handler > kIgnore ? fresh.flags & SA_RESTART : SA_RESTART;
  if (signal == SIGSEGV || signal == SIGBUS) {
    install(signal, on_fault, restart);
    return 0;
  }
  const bool counting = !thread.process.options.counts.empty();
  if (fresh.handler > kIgnore ||
      (fresh.handler == 0 && counting && ends_process_by_default(signal))) {
    install(signal, on_signal, restart);
  } else {
    restore_default(signal, fresh.handler == kIgnore);
  }
  return 0;
}

int64_t set_mask(Thread& thread, int how, uint64_t set, uint64_t old, uint64_t size) {
  if (size != 8) return -EINVAL;
  uint64_t mask = thread.mask;
  if (set != 0) {
    const auto bits = load_guest<uint64_t>(thread.cpu, set);
    if (how == SIG_BLOCK)
      mask |= bits;
    else if (how == SIG_UNBLOCK)
      mask &= ~bits;
    else if (how == SIG_SETMASK)
      mask = bits;
    else
      return -EINVAL;
  }
  if (old != 0) store_guest(thread.cpu, old, thread.mask);
  thread.mask = mask & ~kUnblockable;
  apply_mask(thread);
  return 0;
}

int64_t suspend(Thread& thread, uint64_t set, uint64_t size) {
  if (size != 8) return -EINVAL;
  const uint64_t kept = thread.mask;
  const uint64_t mask = load_guest<uint64_t>(thread.cpu, set) & ~kUnblockable;
  const uint64_t host_mask = mask & ~kAlwaysOpen;
  block_all_signals();
  thread.mask = mask;
  release_held(thread);
  int64_t result;
  do {  // again if the signal was only held
    result = safe_system_call(thread, SYS_rt_sigsuspend, reinterpret_cast<uint64_t>(&host_mask), 8);
  } while (result == -EINTR && thread.pending == 0 && thread.cpu.interrupt == 0);
  thread.mask = kept;
  apply_mask(thread);
  return result;
}

int64_t pending_signals(Thread& thread, uint64_t set, uint64_t size) {
  if (size > 8) return -EINVAL;
  uint64_t waiting = 0;
  const int64_t result =
      safe_system_call(thread, SYS_rt_sigpending, reinterpret_cast<uint64_t>(&waiting), 8);
  if (result != 0) return result;
  waiting |= thread.held;
  for (uint64_t i = 0; i < size; ++i)
    store_guest(thread.cpu, set + i, static_cast<uint8_t>(waiting >> 8 * i));
  return 0;
}

int64_t wait_for_signal(Thread& thread, uint64_t set, uint64_t info, uint64_t time, uint64_t size) {
  if (size != 8) return -EINVAL;
  const uint64_t wanted = load_guest<uint64_t>(thread.cpu, set) & thread.held;
  for (const int signal : {SIGBUS, SIGSEGV}) {
    if ((wanted & signal_bit(signal)) == 0) continue;
    if (info != 0) store_guest(thread.cpu, info, thread.held_info[held_index(signal)]);
    thread.held &= ~signal_bit(signal);
    return signal;
  }
  return safe_system_call(thread, SYS_rt_sigtimedwait, host_pointer(thread, set),
                          host_pointer(thread, info), host_pointer(thread, time), size);
}

int64_t set_alternate_stack(Thread& thread, uint64_t stack, uint64_t old) {
  GuestStack before = thread.alternate_stack;
  const bool active = on_alternate_stack(thread, thread.cpu.gr[12]);
  if (active) before.flags = SS_ONSTACK;
  if (stack != 0) {
    auto fresh = load_guest<GuestStack>(thread.cpu, stack);
    if (active) return -EPERM;
    if (fresh.flags & ~(SS_DISABLE | SS_ONSTACK)) return -EINVAL;
    if (fresh.flags & SS_DISABLE) {
      fresh = {};
    } else if (fresh.size < 131027) {  // asm/signal.h, MINSIGSTKSZ
      return -ENOMEM;
    } else {
      fresh.flags = 0;
    }
    thread.alternate_stack = fresh;
  }
  if (old != 0) store_guest(thread.cpu, old, before);
  return 0;
}

void die_by_signal(Thread& thread, int signal) {
  finish_counts(thread);
  restore_default(signal, false);
  const uint64_t mask = ~signal_bit(signal);
  block_all_signals();
  syscall(SYS_tgkill, getpid(), static_cast<int>(syscall(SYS_gettid)), signal);
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, 8);
  _exit(128 + signal);
}

}  // namespace respike::emulator::ia64
