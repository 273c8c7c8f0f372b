/* Steps through a program and unwinds its stack in a signal handler: after every instruction the
   trap flag brings SIGTRAP, and the handler unwinds with libgcc, through the signal's frame, as C++
   exceptions, thread cancellation and profilers do.

   What is right: every call leaves a return address on the stack, which is valid until the stack
   pointer rises above its place, be it by a return, longjmp or an exception. So the handler keeps a
   list of places and return addresses; the unwinder has to find exactly these return addresses, the
   newest first. Instructions outside of the program's own image (libc, the dynamic linker) are
   followed, but no stack is unwound there, nor in or beyond code without unwind information, as
   crti.o has.

   Loaded by LD_PRELOAD. STEPS_OUT names a file for the figures, STEPS_EVERY says in one of how many
   steps the stack is unwound, at random; STEPS_MOST ends stepping after so many steps.

   Example: pushq %rbx; callq f. Behind the push the list is unchanged and the unwinder must know
   that the return address is 8 bytes higher; behind the call the list has one more entry. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

enum { MOST_CALLS = 65536, MOST_FRAMES = 4096, TOLD = 8, REPORTED = 1 << 16 };

struct call {
  unsigned long place, return_address;
};

static struct call calls[MOST_CALLS];
static long depth;
static unsigned long text_start, text_end, base; /* of the program's own image */
static unsigned long before;                     /* the instruction that was executed last */
static unsigned long steps, checks, wrong, most = 1ul << 40, every = 1,
                                           random_state = 88172645463325252ul;
static char told[TOLD * 160];
static size_t told_size;
static char stack[1 << 17] __attribute__((aligned(16)));

static unsigned long frames[MOST_FRAMES];
static long frame_count;

static _Unwind_Reason_Code note_frame(struct _Unwind_Context* context, void* data) {
  (void)data;
  if (frame_count == MOST_FRAMES) return _URC_END_OF_STACK;
  frames[frame_count++] = _Unwind_GetIP(context);
  return _URC_NO_REASON;
}

static int is_call(const unsigned char* code) {
  for (int i = 0; i < 8; ++i, ++code) {
    const unsigned char c = *code;
    if (c == 0xe8) return 1;
    if (c == 0xff) return (code[1] >> 3 & 7) == 2;
    const int prefix = c == 0x66 || c == 0x67 || c == 0xf2 || c == 0xf3 || c == 0x2e || c == 0x36 ||
                       c == 0x3e || c == 0x26 || c == 0x64 || c == 0x65 || (c & 0xf0) == 0x40;
    if (!prefix) return 0;
  }
  return 0;
}

static void tell(unsigned long at, long frame, unsigned long found, unsigned long expected) {
  if (told_size + 160 > sizeof told) return;
  told_size += snprintf(told + told_size, 160, "at %#lx frame %ld: %#lx instead of %#lx\n",
                        at - base, frame, found - base, expected - base);
}

/* Of libgcc; its header is not installed. */
struct dwarf_eh_bases {
  void *tbase, *dbase, *func;
};
extern const void* _Unwind_Find_FDE(void* address, struct dwarf_eh_bases* bases);

static void check(unsigned long at) {
  struct dwarf_eh_bases bases;
  if (_Unwind_Find_FDE((void*)at, &bases) == NULL) return;
  ++checks;
  frame_count = 0;
  _Unwind_Backtrace(note_frame, NULL);
  long first = 0;
  while (first < frame_count && frames[first] != at) ++first;
  for (long i = 0; i < depth; ++i) {
    const long frame = first + 1 + i;
    const unsigned long expected = calls[depth - 1 - i].return_address;
    const unsigned long found = frame < frame_count ? frames[frame] : 0;
    if (found == expected && _Unwind_Find_FDE((void*)(expected - 1), &bases) == NULL) return;
    if (found == expected) continue;
    ++wrong;
    tell(at, i, found, expected);
    return;
  }
}

static void report(void) {
  const char* path = getenv("STEPS_OUT");
  const int file = path ? open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644) : -1;
  if (file < 0) return;
  char text[256];
  const int size = snprintf(text, sizeof text, "%lu %lu %lu\n", steps, checks, wrong);
  if (write(file, text, size) != size || write(file, told, told_size) < 0) abort();
  close(file);
}

static void step(int number, siginfo_t* info, void* data) {
  (void)number;
  (void)info;
  ucontext_t* context = data;
  const unsigned long at = context->uc_mcontext.gregs[REG_RIP];
  const unsigned long sp = context->uc_mcontext.gregs[REG_RSP];
  if (++steps % REPORTED == 0) report(); /* some programs end by a signal */
  if (steps >= most) {                   /* popf may have brought the trap flag back */
    context->uc_mcontext.gregs[REG_EFL] &= ~0x100l;
    if (steps == most) report();
    return;
  }
  while (depth > 0 && calls[depth - 1].place < sp) --depth;
  if (before && is_call((const unsigned char*)before) && depth < MOST_CALLS)
    calls[depth++] = (struct call){sp, *(unsigned long*)sp};
  before = at;
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  if (at >= text_start && at < text_end && random_state % every == 0) check(at);
}

static int find_image(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  (void)data;
  base = info->dlpi_addr;
  text_start = ~0ul;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* header = &info->dlpi_phdr[i];
    if (header->p_type != PT_LOAD || !(header->p_flags & PF_X)) continue;
    const unsigned long start = base + header->p_vaddr, end = start + header->p_memsz;
    if (start < text_start) text_start = start;
    if (end > text_end) text_end = end;
  }
  return 1; /* the program comes first */
}

static unsigned long number_of(const char* name, unsigned long otherwise) {
  const char* text = getenv(name);
  return text ? strtoul(text, NULL, 10) : otherwise;
}

__attribute__((constructor)) static void start(void) {
  dl_iterate_phdr(find_image, NULL);
  every = number_of("STEPS_EVERY", 1);
  most = number_of("STEPS_MOST", most);
  _Unwind_Backtrace(note_frame, NULL); /* allocates its memory */
  atexit(report);
  const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&alternate, NULL);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = step;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigaction(SIGTRAP, &action, NULL);
  __asm__ volatile("pushfq; orq $0x100,(%%rsp); popfq" ::: "memory", "cc");
}
