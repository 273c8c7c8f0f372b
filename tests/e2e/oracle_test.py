#!/usr/bin/env python3
"""The oracle counts exactly: programs with known counts, QEMU's own trace, and repetition agree.

The programs are C around procedures in assembly; comments `#= EXPRESSION` on lines of assembly say
how often the line runs. The trace is the log of `qemu-alpha -singlestep -d exec,nochain`, one line
for each instruction; it is compared address by address, with dynamic linker and C library. The
programs of the manifest are counted twice, and once shuffled."""

import collections
import functools
import re
import sys

import common
import oracle

expect = common.expect

ANNOTATED = re.compile(r"^(.*?)#= (.*)$")

# A whole program: it runs no code but this.
LOOPS = """
        .set    noat
        .set    noreorder
        .set    nomacro
        .text
        .globl  __start
        .ent    __start
__start:
        .frame  $30,0,$26,0
        .prologue 0
        lda     $1,1000($31)    #= 1
1:      lda     $2,7($31)       #= 1000
2:      subq    $2,1,$2         #= 7000
        blbs    $2,3f           #= 7000
        addq    $3,1,$3         #= 4000
3:      bgt     $2,2b           #= 7000
        subq    $1,1,$1         #= 1000
        bgt     $1,1b           #= 1000
        br      $4,4f           #= 1
        addq    $3,1,$3         #= 0
4:      bis     $31,$31,$16     #= 1
        lda     $0,1($31)       #= 1
        call_pal 0x83           #= 1
        br      $31,4b          #= 0
        .end    __start
"""

# KERNEL(iterations) returns their number, a multiple of 4. CALLS and LOOPS are sums over all calls.
KERNEL = """
        .set    noat
        .set    noreorder
        .set    nomacro
        .text
        .globl  KERNEL
        .type   KERNEL,@function
        .ent    KERNEL
KERNEL: .frame  $30,0,$26,0
        .prologue 0
        bis     $31,$31,$0      #= CALLS
1:      addq    $0,1,$0         #= LOOPS
        and     $0,3,$1         #= LOOPS
        bne     $1,2f           #= LOOPS
        stq     $0,-8($30)      #= LOOPS // 4
        ldq     $2,-8($30)      #= LOOPS // 4
2:      subq    $16,1,$16       #= LOOPS
        bgt     $16,1b          #= LOOPS
        ret     $31,($26),1     #= CALLS
        .end    KERNEL
"""

# Instructions that trap in the middle of a block.
FAULTS = """
        .set    noat
        .set    noreorder
        .set    nomacro
        .text
        .globl  load
        .ent    load
load:   .frame  $30,0,$26,0
        .prologue 0
        lda     $0,1($31)       #= LOADS
        lda     $1,1($31)       #= LOADS
        ldq     $2,0($16)       #= LOADS + REPEATED
        addq    $0,$1,$0        #= LOADS - LEFT
        ret     $31,($26),1     #= LOADS - LEFT
        .end    load

        .globl  overflow
        .ent    overflow
overflow:
        .frame  $30,0,$26,0
        .prologue 0
        lda     $1,-1($31)      #= OVERFLOWS
        srl     $1,1,$1         #= OVERFLOWS
        addq/v  $1,1,$2         #= OVERFLOWS
        trapb                   #= OVERFLOWS
        lda     $16,-1($31)     #= OVERFLOWS
        call_pal 0xaa           #= OVERFLOWS
        addq    $1,1,$2         #= OVERFLOWS
        ret     $31,($26),1     #= OVERFLOWS
        .end    overflow

        .globl  tick
        .ent    tick
tick:   .frame  $30,0,$26,0
        .prologue 0
        ldq     $1,0($16)       #= TICKS
        addq    $1,1,$1         #= TICKS
        stq     $1,0($16)       #= TICKS
        ret     $31,($26),1     #= TICKS
        .end    tick
"""

PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

long kernel(long), load(void*), overflow(void), tick(long*);

static long ticks;
static char* page;
static sigjmp_buf place;
static void on_alarm(int s) { tick(&ticks); }
static void on_error(int s) {}
static void skip(int s, siginfo_t* i, void* c) { ((ucontext_t*)c)->uc_mcontext.sc_pc += 4; }
static void repair(int s, siginfo_t* i, void* c) { mprotect(page, 8192, PROT_READ); }
static void leave(int s, siginfo_t* i, void* c) { siglongjmp(place, 1); }
static void handle(int number, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  sigaction(number, &action, 0);
}

static void* thread(void* iterations) {
  for (int i = 0; i < 20; i++) kernel((long)iterations);
  return 0;
}
static void* endless(void* unused) { for (;;) usleep(1000); }
static void* forking(void* unused) {
  for (int i = 0; i < 5; i++) {
    pid_t child = fork();
    if (child == 0) { kernel(400); _exit(0); }
    waitpid(child, 0, 0);
  }
  return 0;
}
static void* leaving(void* unused) { kernel(2000); _exit(3); }
static void run_threads(int n, void* (*function)(void*), void* argument) {
  pthread_t threads[8];
  for (int i = 0; i < n; i++) pthread_create(&threads[i], 0, function, argument);
  for (int i = 0; i < n; i++) pthread_join(threads[i], 0);
}

static void call_library(const char* path) {
#ifndef STATIC
  void* library = dlopen(path, RTLD_NOW);
  if (!library) { puts(dlerror()); exit(9); }
  ((long (*)(long))dlsym(library, "libkernel"))(400);
  dlclose(library);
#endif
}
static void call_mapped(const char* path, long offset) {
  char* place = (char*)0x50000000;
  int file = open(path, O_RDONLY);
  long page = offset & -8192;
  mmap(place, 16384, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, page);
  ((long (*)(long))(place + (offset - page)))(400);
  close(file);
}

int main(int argc, char** argv) {
  const char* what = argv[1];
#define IS(name) !strcmp(what, name)
  kernel(1000);
  if (IS("exit")) exit(5);
  if (IS("_exit")) _exit(6);
  if (IS("crash")) load(0);
  if (IS("abort")) abort();
  if (IS("kill")) kill(getpid(), SIGKILL);
  if (IS("skip") || IS("repair") || IS("leave")) {
    handle(SIGSEGV, IS("skip") ? skip : IS("repair") ? repair : leave);
    page = mmap(0, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 3; i++) {
      mprotect(page, 8192, PROT_NONE);
      if (!sigsetjmp(place, 1)) load(page);
    }
  }
  if (IS("overflow")) {
    signal(SIGFPE, on_error);
    signal(SIGTRAP, on_error);
    for (int i = 0; i < 10; i++) overflow();
  }
  if (IS("alarm")) {
    struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &often, 0);
    kernel(40000000);
    setitimer(ITIMER_REAL, &never, 0);
    printf("%ld\n", ticks);
  }
  if (IS("threads")) {
    kernel(1000000);
    run_threads(8, thread, (void*)40000);
    kernel(1000);
  }
  if (IS("short-threads")) run_threads(8, thread, (void*)40);
  if (IS("thread-exit")) {
    pthread_t other;
    pthread_create(&other, 0, endless, 0);
    run_threads(1, leaving, 0);
  }
  if (IS("fork")) {
    if (fork() == 0) {
      kernel(2000);
      if (fork() == 0) { kernel(4000); return 2; }
      wait(0);
      _exit(1);
    }
    wait(0);
    if (fork() == 0) { kernel(8000); load(0); }
    wait(0);
    kernel(100);
  }
  if (IS("fork-threads")) run_threads(4, forking, 0);
  if (IS("exec")) { execv(argv[2], argv + 2); return 8; }
  if (IS("spawn")) {
    if (vfork() == 0) { execv(argv[2], argv + 2); _exit(8); }
    wait(0);
    kernel(100);
  }
  if (IS("libraries")) {
    call_library("./libone.so");
    call_library("./libtwo.so");
    call_library("./libone.so");
  }
  if (IS("mapped")) {
    call_mapped("libone.so", atol(argv[2]));
    call_mapped("libtwo.so", atol(argv[2]));
    call_mapped("libone.so", atol(argv[2]));
  }
  if (IS("written")) {
    uint32_t* code = mmap(0, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    code[1] = 0x6bfa8001;  // ret
    for (int i = 1; i <= 3; i++) {
      code[0] = 0x42001400 | i << 13;  // addq $16,i,$0
      __asm__ volatile("imb" ::: "memory");
      for (int n = 0; n < 50; n++)
        if (((long (*)(long))code)(7) != 7 + i) return 7;
    }
  }
  return 0;
}
"""


# --- Building -------------------------------------------------------------------------------------


class Assembly:
    """An annotated source, assembled. Every line with a count gets a label."""

    def __init__(self, source, name, scratch):
        lines, self.expressions = [], {}
        for number, line in enumerate(source.splitlines(), 1):
            if found := ANNOTATED.match(line):
                label = f"{name}.line.{number}"
                own, colon, instruction = found[1].rpartition(":")
                line = f"{own}{colon} {label}: {instruction}"
                self.expressions[label] = found[2]
            lines.append(line)
        path = scratch.file(f"{name}.s")
        path.write_text("\n".join(lines) + "\n")
        self.object = path.with_suffix(".o")
        gcc("-c", path, "-o", self.object)

    def check(self, image, counts, **variables):
        """All counts of the procedures equal the annotations."""
        addresses = {s.name: s.value for s in common.read_symbols(image)}
        wrong = []
        for label, expression in self.expressions.items():
            wanted = eval(expression, {}, variables)
            found = counts.get(addresses[label], 0)
            if found != wanted:
                wrong.append(f"{label} {found} instead of {wanted} ({expression})")
        expect(not wrong, f"{image.name}: " + ", ".join(wrong))


def gcc(*args):
    command = ["alpha-linux-gnu-gcc", "-mcpu=ev67", *args]
    outcome = common.run_command(command)
    expect(outcome.status == 0, f"{common.shorten_command(command)}: {outcome.stderr.decode()}")


class Programs:
    """The programs that the cases run."""

    def __init__(self, scratch):
        self.loops = Assembly(LOOPS, "loops", scratch)
        self.kernel = Assembly(KERNEL.replace("KERNEL", "kernel"), "kernel", scratch)
        self.libkernel = Assembly(KERNEL.replace("KERNEL", "libkernel"), "libkernel", scratch)
        self.faults = Assembly(FAULTS, "faults", scratch)
        self.folder = scratch.folder()
        self.loops_image = self.folder / "loops"
        gcc("-nostdlib", "-static", self.loops.object, "-o", self.loops_image)
        source = self.folder / "main.c"
        source.write_text(PROGRAM)
        objects = [source, self.kernel.object, self.faults.object]
        kinds = {
            "dynamic": ["-no-pie"],
            "static": ["-static", "-DSTATIC", "-Wl,--defsym=__ehdr_start=0x120000000"],
            "pie": ["-pie", "-fPIE"],
        }
        self.images = {kind: self.folder / f"program.{kind}" for kind in kinds}
        for kind, options in kinds.items():
            gcc(*options, "-O1", *objects, "-pthread", "-ldl", "-o", self.images[kind])
        self.libraries = [self.folder / "libone.so", self.folder / "libtwo.so"]
        for library in self.libraries:
            gcc("-shared", f"-Wl,-soname,{library.name}", self.libkernel.object, "-o", library)


# --- Known counts ---------------------------------------------------------------------------------


def check_loops(programs):
    image = programs.loops_image
    counts = oracle.count(image)
    programs.loops.check(image, counts.images[image])
    expect(counts.outcome.status == 0, "exit status")
    expect(counts.total == 1 + 1000 + 3 * 7000 + 4000 + 2 * 1000 + 4, f"{counts.total} in all")
    expect(sum(counts.images[image].values()) == counts.total, "counted outside of the program")


def run(programs, kind, *args, status=0, **options):
    image = programs.images[kind]
    counts = oracle.count(image, args, **options)
    if counts.outcome.status != status:
        found = common.describe_status(counts.outcome.status)
        raise common.Failure(f"{args}: {found}: {counts.outcome.stderr.decode()[-300:]}")
    return image, counts


# For each end of a program: its argument, its status, calls and iterations of the kernel, and other
# variables.
ENDS = [
    ("exit", 5, 1, 1000, {}),
    ("_exit", 6, 1, 1000, {}),
    ("crash", -11, 1, 1000, dict(LOADS=1, LEFT=1)),
    ("abort", -6, 1, 1000, {}),
    ("kill", -9, 1, 1000, {}),
    ("skip", 0, 1, 1000, dict(LOADS=3)),
    ("repair", 0, 1, 1000, dict(LOADS=3, REPEATED=3)),
    ("leave", 0, 1, 1000, dict(LOADS=3, LEFT=3)),
    ("overflow", 0, 1, 1000, dict(OVERFLOWS=10)),
    ("threads", 0, 3 + 8 * 20, 1000 + 1000000 + 8 * 20 * 40000 + 1000, {}),
    ("thread-exit", 3, 2, 3000, {}),
    ("fork-threads", 0, 1 + 20, 1000 + 20 * 400, {}),
]

ZERO = dict(LOADS=0, REPEATED=0, LEFT=0, OVERFLOWS=0, TICKS=0)


def check_process(programs, image, counts, calls, loops, **variables):
    programs.kernel.check(image, counts, CALLS=calls, LOOPS=loops)
    programs.faults.check(image, counts, **(ZERO | variables))


def check_end(programs, kind, what, status, calls, loops, variables):
    image, counts = run(programs, kind, what, status=status)
    check_process(programs, image, counts.images[image], calls, loops, **variables)


def check_alarm(programs, kind):
    """Signals interrupt blocks anywhere, and no instruction is lost or counted twice."""
    image, counts = run(programs, kind, "alarm")
    ticks = int(counts.outcome.stdout)
    expect(ticks > 10, f"only {ticks} signals")
    check_process(programs, image, counts.images[image], 2, 40001000, TICKS=ticks)


def check_fork(programs, kind):
    """Each process has its own counts, which start at the fork."""
    image, counts = run(programs, kind, "fork")
    first, child, grandchild, crashed = counts.processes
    expect(first.parent == 0, "the first process has a parent")
    expect(child.parent == crashed.parent == first.number, "parents")
    expect(grandchild.parent == child.number, "the grandchild's parent")
    check_process(programs, image, first.images[image], 2, 1100)
    check_process(programs, image, child.images[image], 1, 2000)
    check_process(programs, image, grandchild.images[image], 1, 4000)
    check_process(programs, image, crashed.images[image], 1, 8000, LOADS=1, LEFT=1)
    check_process(programs, image, counts.images[image], 5, 15100, LOADS=1, LEFT=1)


def check_exec(programs, kind, what):
    """A program that executes the emulator again, in its own process or in a child."""
    image = programs.images[kind]
    again = ["/usr/bin/env", "qemu-alpha", "-0", "again", image, "exit"]
    status = 5 if what == "exec" else 0
    image, counts = run(programs, kind, what, *again, status=status)
    before, *others = counts.processes
    after = others[-1]
    expect((before.number == after.number) == (what == "exec"), "process numbers")
    expect(len(others) == (1 if what == "exec" else 2), f"{len(others) + 1} processes")
    own = (1, 1000) if what == "exec" else (2, 1100)
    check_process(programs, image, before.images[image], *own)
    check_process(programs, image, after.images[image], 1, 1000)


def check_libraries(programs, kind, what):
    """Libraries that come and go: by dlopen, or mapped in place of another library."""
    image, libraries = programs.images[kind], programs.libraries
    symbols = {s.name: s.value for s in common.read_symbols(libraries[0])}
    args = [what, symbols["libkernel"]]  # also its file offset: it is in the first segment
    _, counts = run(programs, kind, *args, images=[image, *libraries], folder=programs.folder)
    programs.kernel.check(image, counts.images[image], CALLS=1, LOOPS=1000)
    for library, calls in zip(libraries, (2, 1)):
        found = counts.images[library]
        programs.libkernel.check(library, found, CALLS=calls, LOOPS=400 * calls)


def check_written(programs, kind):
    """Code that the program writes and overwrites belongs to no file."""
    _, counts = run(programs, kind, "written")
    (process,) = counts.processes
    written = [n for (path, _), n in process.runtime.items() if path == ""]
    expect(written == [150, 150], f"counts {written}")


# --- The emulator's own trace ---------------------------------------------------------------------

TRACED = re.compile(r"^Trace \d+: 0x[0-9a-f]+ \[[0-9a-f]+/([0-9a-f]+)/")
STOPPED = re.compile(r"^Stopped execution of TB chain before 0x[0-9a-f]+ \[([0-9a-f]+)\]")


def by_address(counts):
    (process,) = counts.processes
    addresses = collections.Counter()
    for (_, address), number in process.runtime.items():
        addresses[address] += number
    return addresses


def check_trace(scratch, image, args, same):
    """Counts of whole blocks, counts of single steps and the trace agree at every address. The run with the trace also
    counts, so threads can be compared, although they never run the `same` way twice."""
    log = scratch.file("trace")
    options = ["-singlestep", "-d", "exec,nochain", "-D", log]
    steps = oracle.count(image, args, options=options)
    traced = collections.Counter()
    with open(log) as lines:
        for line in lines:
            if found := TRACED.match(line):
                traced[int(found[1], 16)] += 1
            elif found := STOPPED.match(line):
                traced[int(found[1], 16)] -= 1
    log.unlink()
    counted = by_address(steps)
    expect(counted.total() > 1000, f"only {counted.total()} instructions")
    compare(counted, +traced, "the trace")
    if same:
        blocks = oracle.count(image, args)
        expect(blocks.outcome.behaviour() == steps.outcome.behaviour(), "the output differs")
        compare(by_address(blocks), counted, "single steps")


def compare(counted, wanted, what):
    different = [a for a in sorted(counted | wanted) if counted[a] != wanted[a]]
    if different:
        a = different[0]
        raise common.Failure(
            f"{len(different)} addresses differ from {what}; {a:#x}: {counted[a]}, not {wanted[a]}"
        )


# --- Real programs --------------------------------------------------------------------------------


CODE_SECTION = re.compile(r"^ *\[.* ([0-9a-f]{16}) [0-9a-f]+ ([0-9a-f]+) \S+ +AX ", re.M)

# Programs whose threads, processes or signals wait for each other.
UNSTEADY = ("threads", "concurrency", "signals", "processes")

# Procedures whose entries differ in a rewritten static program: called by the unwinder, which reads
# the new tables, or by Lua, whose hashes depend on addresses of code.
VARYING = (
    "memset", "strcmp", "strlen", "memcmp", "bcmp", "__memcmpeq", "_Unwind_GetCFA", "_Unwind_GetIP"
)


def count_program(program, image, libraries, replaced=None):
    """The first run of a program with all its images, some of them `replaced` (soname -> path)."""
    images = [image] + [(replaced or {}).get(l.soname, l.path) for l in program.libraries]
    one = program.runs[0]
    counts = oracle.count(image, one.args, images=images, libraries=libraries, stdin=one.stdin)
    wanted = common.expected_behaviour(program, 0)
    expect(counts.outcome.behaviour() == wanted.behaviour(), "not the output of a plain run")
    return counts


def check_in_code(image, counts):
    """All counted link-time addresses are addresses of instructions."""
    listing = common.binutils("readelf", "-SW", image)
    code = [(int(m[1], 16), int(m[2], 16)) for m in CODE_SECTION.finditer(listing)]
    outside = [a for a in sorted(counts) if a % 4 or not any(s <= a < s + n for s, n in code)]
    expect(counts, f"{image}: nothing was counted")
    expect(not outside, f"{image}: counts outside of code: {[hex(a) for a in outside[:3]]}")


def check_program(program, scratch):
    """Two runs have the same counts at every address. In a run with the image and its libraries
    shuffled, every procedure is entered as often."""
    libraries = common.link_libraries(program, scratch.folder())
    one, two = (count_program(program, program.image, libraries) for _ in range(2))
    for a, b in zip(one.processes, two.processes, strict=True):
        compare(collections.Counter(a.runtime), collections.Counter(b.runtime), "the first run")
        expect(a.images == b.images, "link-time addresses differ")
    output = {}
    for role, image in program.images():
        output[role] = scratch.file(image.name)
        common.optimize(image, output[role], "--layout", "random", "--seed", "1")
    libraries = common.link_libraries(program, scratch.folder(), output)
    rewritten = count_program(program, output["main"], libraries, output)
    for role, image in program.images():
        check_in_code(image, one.images[image])
        check_in_code(output[role], rewritten.images[output[role]])
        old = entries(image, one.images[image])
        new = entries(output[role], rewritten.images[output[role]], old)
        expect(any(old.values()), f"{role}: no procedure was entered")
        wrong = [f"{n} {new.get(n)} instead of {old[n]}" for n in old if new.get(n) != old[n]]
        expect(not wrong, f"{role}: {len(wrong)} of {len(old)} entries differ: {wrong[:3]}")


def entries(image, counts, names=None):
    """{procedure: how often its first instruction runs}, for unique names; by default only
    procedures whose callers cannot skip the first instructions, which compute gp."""
    found = collections.defaultdict(set)
    for s in common.read_symbols(image):
        if s.kind == "FUNC" and s.section != "UND" and s.name not in VARYING:
            skipped = names is None and "STD GPLOAD" in s.other
            found[s.name].add(None if skipped else s.value)
    return {
        name: counts.get(min(at), 0)
        for name, at in found.items()
        if len(at) == 1 and None not in at and (names is None or name in names)
    }


def check_no_file(programs):
    """The oracle raises Failure for a run that it cannot count."""
    command = ["qemu-alpha", "-plugin", f"{oracle.PLUGIN},out=/nowhere/c", programs.loops_image]
    outcome = common.run_command(command)
    expect(outcome.status == 125, common.describe_status(outcome.status))
    expect(b"/nowhere/c." in outcome.stderr, f"{outcome.stderr}")


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        programs = Programs(scratch)
        cases = []

        def add(name, function, *parameters, **keywords):
            cases.append(common.Case(name, functools.partial(function, *parameters, **keywords)))

        add("loops", check_loops, programs)
        add("no file", check_no_file, programs)
        for kind in programs.images:
            for end in ENDS:
                add(f"{end[0]} {kind}", check_end, programs, kind, *end)
            add(f"alarm {kind}", check_alarm, programs, kind)
            add(f"fork {kind}", check_fork, programs, kind)
            add(f"exec {kind}", check_exec, programs, kind, "exec")
            add(f"spawn {kind}", check_exec, programs, kind, "spawn")
            add(f"written {kind}", check_written, programs, kind)
            add(f"mapped {kind}", check_libraries, programs, kind, "mapped")
            if kind != "static":
                add(f"libraries {kind}", check_libraries, programs, kind, "libraries")
        for kind, image in programs.images.items():
            for what in ("skip", "leave", "overflow", "written", "short-threads"):
                same = what != "short-threads"
                add(f"trace {what} {kind}", check_trace, scratch, image, [what], same)
        for program in common.load_programs():
            if program.variant in ("", "shared") and program.program not in UNSTEADY:
                add(f"program {program.name}", check_program, program, scratch)
        sys.exit(common.run_cases(cases, args))


if __name__ == "__main__":
    main()
