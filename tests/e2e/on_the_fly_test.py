#!/usr/bin/env python3
"""Libraries that a counted program opens and that Respike has never seen count from the first run on.

A program opens plugins in all ways that there are. It has to print the same without Respike, in the first run,
which makes the versions of the plugins while the program waits, and in the second run, which waits for nothing.
And it has to run on when a plugin cannot be instrumented, or when the attendant is gone or hangs."""

import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import common
import ia64_programs
from applications import UserWorld
from common import Skip, expect
from exec_test import ALPHA, USERS, can_intercept

KINDS = {"native": ["gcc"]}
if shutil.which(ALPHA[0]) and shutil.which("qemu-alpha"):
    KINDS["alpha"] = ALPHA
if ia64_programs.toolchain():
    KINDS["ia64"] = [ia64_programs.toolchain() / "bin" / "ia64-linux-gnu-gcc"]
PLUGINS = 10 if common.is_sampled() else 30

# Opens the given plugins, in the given way, and prints their output.
PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static char** paths;
static int open_all(int print) {
  int sum = 0;
  for (char** path = paths; *path; path++) {
    void* plugin = dlopen(*path, RTLD_NOW);
    if (!plugin) { puts(dlerror()); exit(9); }
    int (*value)(int) = (int (*)(int))dlsym(plugin, "value");
    Dl_info info;
    dladdr((void*)value, &info);
    sum += value(3);
    if (print) printf("%s: %d\n", info.dli_fname, value(3));
    dlclose(plugin);
  }
  return sum;
}
static void* many_times(void* times) {
  long sum = 0;
  for (int i = 0; i < atoi(times); i++) sum += open_all(0);
  return (void*)sum;
}
int main(int count, char** arguments) {
  const char* how = arguments[1];
  paths = arguments + 2;
  if (!strcmp(how, "wait")) { puts("ready"); fflush(stdout); getchar(); }
  if (!strcmp(how, "threads")) {
    paths++;
    pthread_t threads[8];
    void* sum;
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], 0, many_times, arguments[2]);
    for (int i = 0; i < 8; i++) { pthread_join(threads[i], &sum); printf("%ld\n", (long)sum); }
  } else if (!strcmp(how, "children")) {
    for (int i = 0; i < 8; i++) if (fork() == 0) return open_all(0) & 127;
    int status, sum = 0;
    while (wait(&status) > 0) sum += status;
    printf("%d\n", sum);
  } else if (!strcmp(how, "make") || !strcmp(how, "child")) {
    for (int i = 0; i < 3; i++) {
      char command[9000];
      snprintf(command, sizeof command, "cp %s made.so && sync made.so", paths[0]);
      if (system(command)) return 8;
      char* made[] = {"./made.so", 0};
      paths = made;
      if (*how == 'm') open_all(1);
      else if (fork() == 0) _exit(open_all(0) == 0);
      else wait(0);
      paths = arguments + 2;
      if (unlink("made.so")) { perror("made.so"); return 7; }
    }
  } else {
    printf("%d\n", open_all(1));
  }
  return 4;
}
"""
PLUGIN = r"""
#include <stdio.h>
#ifdef OPENS
#include <dlfcn.h>
static void* other;
__attribute__((constructor)) static void begin(void) { other = dlopen(OPENS, RTLD_NOW); }
#endif
__attribute__((noinline)) static int step(int i) { return i & 1 ? 3 * i + NUMBER : i / 2; }
int value(int count) {
  int sum = NUMBER;
#ifdef OPENS
  sum += ((int (*)(int))dlsym(other, "value"))(count);
#endif
  for (int i = 0; i < count; i++) sum += step(i);
  return sum;
}
"""


class Work(UserWorld):
    """A registered program in mode instrumented, and plugins unknown to Respike."""

    def __init__(self, scratch, kind="native", plugins=3, user="own user", counters="shared"):
        super().__init__(scratch, USERS[user])
        self.kind = kind
        if kind == "ia64":
            self.environment["QEMU_LD_PREFIX"] = str(ia64_programs.toolchain() / "sysroot")
        source = self.folder / "program.c"
        source.write_text(PROGRAM)
        self.program = self.folder / "program"
        subprocess.run(
            [*KINDS[kind], "-O1", "-w", "-Wl,-q", "-rdynamic", source, "-o", self.program, "-ldl", "-lpthread"], check=True
        )
        self.plugins = [self.plugin(f"plugin{number}.so", f"-DNUMBER={number}") for number in range(plugins)]
        self.give()
        # A file must be older than the process that opens it.
        time.sleep(0.05)
        self.ok("register", self.program)
        self.ok("instrument", "program", "--counters", counters)

    def plugin(self, name, *options, relocations=("-Wl,-q",)):
        source = self.folder / "plugin.c"
        source.write_text(PLUGIN)
        path = self.folder / name
        subprocess.run([*KINDS[self.kind], "-O1", "-w", "-shared", "-fPIC", *relocations, *options, source, "-o", path], check=True)
        return path

    def plain(self, *words):
        """The program's behaviour without Respike."""
        emulator = {
            "native": [],
            "alpha": ["qemu-alpha", "-L", os.environ.get("QEMU_LD_PREFIX", "/usr/alpha-linux-gnu")],
            "ia64": [pathlib.Path(common.RESPIKE).parent / "respike-ia64", "--sysroot", self.environment.get("QEMU_LD_PREFIX")],
        }[self.kind]
        return common.run_command([*emulator, self.program, *words], cwd=self.folder)

    def runs(self, *plugins):
        """How many runs of each plugin were counted; None: it has no version."""
        shown = self.images("program")
        return [
            shown[path.name]["profile"]["runs"] if path.name in shown and shown[path.name]["instrumented"] else None
            for path in plugins
        ]


WAYS = {
    "run": lambda work, words: ["run", "program", *words],
    "exec": lambda work, words: ["exec", "program", "--", work.program, *words],
    "session": lambda work, words: ["session", work.program, *words],
}


def require(way):
    if way != "run" and not can_intercept():
        raise Skip("no binfmt_misc in user namespaces here")


def check_first_run(scratch, kind, way, user="own user"):
    require(way)
    work = Work(scratch, kind, PLUGINS, user)
    words = ["plain", *(f"./{plugin.name}" if number % 2 else plugin for number, plugin in enumerate(work.plugins))]
    begun = time.monotonic()
    expected = work.plain(*words)
    plain = time.monotonic() - begun
    expect(expected.status == 4, f"{expected}")
    for run in (1, 2):
        begun = time.monotonic()
        outcome = work.respike(*WAYS[way](work, words))
        took = time.monotonic() - begun
        expect(outcome.behaviour() == expected.behaviour(), f"{run}: {common.describe_difference(expected, outcome)}")
        expect(run == 1 or took < 5 + 5 * plain, f"the second run waits: {took} s")
        shown = work.ok("show", "program")
        counted = work.runs(*work.plugins)
        expect(counted == [run] * PLUGINS, f"{run}: {counted}")
        told = shown.stderr.decode().count("counts from this run on")
        expect(told == (PLUGINS if run == 1 else 0), f"{run}: {shown.stderr}")
    (coverage,) = {work.images("program")[plugin.name]["profile"]["coverage"] for plugin in work.plugins}
    expect(coverage > 0, "nothing of the plugins was counted")
    expect(work.images("program")["program"]["profile"]["runs"] == 2, "the program itself")


def check_left_alone(scratch, kind, way):
    """A library that cannot be instrumented is opened unchanged, with a note; no program asks for it again."""
    require(way)
    work = Work(scratch, kind, 2)
    plain = work.plugin("unknown.so", "-DNUMBER=9", relocations=())
    damaged = work.folder / "damaged.so"
    damaged.write_bytes(plain.read_bytes())
    time.sleep(0.05)
    words = ["plain", work.plugins[0], plain, work.plugins[1]]
    expected = work.plain(*words)
    for run in (1, 2):
        outcome = work.respike(*WAYS[way](work, words))
        expect(outcome.behaviour() == expected.behaviour(), f"{common.describe_difference(expected, outcome)}")
    shown = work.ok("show", "program")
    expect(b"unknown.so: it belongs to the application now, but" in shown.stderr, f"{shown}")
    expect(work.runs(*work.plugins, plain) == [2, 2, None], f"{work.runs(*work.plugins, plain)}")
    left = list(pathlib.Path(f"{work.database}.files").glob("opened/*/*.left"))
    expect(left, "nobody noted what was left alone")


def attendant_of(work):
    """The process number of the attendant: it is in / and serves a socket."""
    end = time.monotonic() + common.TOOL_TIMEOUT
    while time.monotonic() < end:
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                command = (process / "cmdline").read_bytes()
                if str(work.folder).encode() not in (process / "environ").read_bytes() or b"respike" not in command:
                    continue
                if os.readlink(process / "cwd") == "/" and os.readlink(process / "fd/4").startswith("socket:"):
                    return int(process.name)
            except OSError:
                continue
        time.sleep(0.01)
    raise common.Failure("there is no attendant")


def check_without_attendant(scratch, kind, how):
    """The attendant is killed, or hangs, before the program opens anything."""
    work = Work(scratch, kind)
    words = ["wait", *work.plugins]
    begun = time.monotonic()
    expected = work.plain(*words)
    plain = time.monotonic() - begun
    program = subprocess.Popen(
        [common.RESPIKE, "run", "program", *words], env=work.environment, cwd=work.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    expect(program.stdout.readline() == b"ready\n", "it does not start")
    attendant = attendant_of(work)
    os.kill(attendant, how)
    if how == signal.SIGKILL:
        while pathlib.Path(f"/proc/{attendant}/fd/4").exists():
            time.sleep(0.01)
    begun = time.monotonic()
    output = program.communicate(b"\n", timeout=common.TOOL_TIMEOUT)[0]
    took = time.monotonic() - begun
    if how == signal.SIGSTOP:
        os.kill(attendant, signal.SIGCONT)
    expect(b"ready\n" + output == expected.stdout and program.returncode == 4, f"{output}")
    expect(took < (5 if how == signal.SIGKILL else 20) + 5 * plain, f"it waited {took} s")
    expect(work.runs(*work.plugins) == [None] * 3, "plugins have versions")
    expect(work.images("program")["program"]["profile"]["runs"] == 1, "the program is counted")


def check_full_disk(scratch):
    """The store is full: the program runs on."""
    if os.getuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        raise Skip("only root can mount a small file system")
    work = Work(scratch)
    words = ["plain", *work.plugins]
    expected = work.plain(*words)
    files = f"{work.database}.files"
    script = f"""set -e
    cp -a '{files}' saved; mount -t tmpfs -o size=1m none '{files}'; cp -a saved/. '{files}'
    dd if=/dev/zero of='{files}/filler' bs=4096 2>/dev/null || true
    '{common.RESPIKE}' run program "$@" """
    outcome = common.run_command(
        ["unshare", "-m", "sh", "-c", script, "sh", *words], env=work.environment, cwd=work.folder
    )
    expect(outcome.stdout == expected.stdout and outcome.status == 4, f"{outcome}")


def check_many(scratch, kind):
    """A thousand times by eight threads at once, in forked children, and from constructors."""
    work = Work(scratch, kind, counters="shared" if kind == "ia64" else "atomic")
    opens = work.plugin("opens.so", "-DNUMBER=5", f'-DOPENS="{work.plugins[2]}"', "-ldl")
    time.sleep(0.05)
    times = {"native": 125, "alpha": 20, "ia64": 3}[kind]
    for how, words in (("threads", [times, *work.plugins]), ("children", work.plugins), ("plain", [opens, work.plugins[2]])):
        expected = work.plain(how, *words)
        expect(expected.status == 4, f"{expected}")
        for _ in range(2):
            outcome = work.respike("run", "program", how, *words)
            expect(outcome.behaviour() == expected.behaviour(), f"{how}: {common.describe_difference(expected, outcome)}")
    counted = work.runs(*work.plugins, opens)
    expect(counted[3] == 2 and all(runs and runs >= 2 for runs in counted), f"{counted}")


def check_made(scratch, kind):
    """A program makes a library, opens it and removes it, again and again: it is left alone."""
    work = Work(scratch, kind, 1)
    for how in ("make", "child"):
        expected = work.plain(how, *work.plugins)
        expect(expected.status == 4, f"{expected}")
        outcome = work.respike("run", "program", how, *work.plugins)
        expect(outcome.behaviour() == expected.behaviour(), f"{common.describe_difference(expected, outcome)}")


def check_loaded_already(scratch):
    """A linked library that runs unchanged is opened by its path: it must not be loaded twice."""
    work = Work(scratch, plugins=0)
    linked = work.plugin("liblinked.so", "-DNUMBER=6")
    source = work.folder / "main.c"
    source.write_text(
        "#include <dlfcn.h>\n#include <stdio.h>\nint value(int);\nint main(int count, char** a) {\n"
        '  void* again = dlopen(a[1], RTLD_NOW);\n  printf("%d\\n", dlsym(again, "value") == (void*)value);\n  return value(2) & 1;\n}\n'
    )
    main = work.folder / "main"
    subprocess.run(["gcc", "-w", "-Wl,-q", source, f"-L{work.folder}", "-llinked", "-Wl,-rpath,$ORIGIN", "-o", main], check=True)
    (work.folder / "alias.so").symlink_to("liblinked.so")
    work.ok("register", main)
    work.ok("instrument", "main", "--image", "main")
    for name in (linked, work.folder / "alias.so"):
        outcome = work.respike("run", "main", name)
        expect(outcome.stdout == b"1\n", f"{outcome}")
    expect(not work.images("main")["liblinked.so"]["instrumented"], "it was not chosen")
    # Loaded otherwise: by LD_PRELOAD, which Respike does not know when the application is registered.
    preloaded = work.plugin("preloaded.so", "-DNUMBER=8")
    (work.folder / "other.so").symlink_to("preloaded.so")
    time.sleep(0.05)
    source.write_text(
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdio.h>\nint main(int count, char** a) {\n"
        '  void* again = dlopen(a[1], RTLD_NOW);\n  printf("%d\\n", dlsym(again, "value") == dlsym(RTLD_DEFAULT, "value"));\n}\n'
    )
    subprocess.run(["gcc", "-w", "-Wl,-q", source, "-o", work.folder / "pre"], check=True)
    work.ok("register", work.folder / "pre")
    work.ok("instrument", "pre")
    outcome = work.respike("run", "--env", f"LD_PRELOAD={preloaded}", "pre", work.folder / "other.so")
    expect(outcome.stdout == b"1\n", f"{outcome}")


def check_killed(scratch):
    """SIGKILL at any moment of the first run: no mount and no half file stays, and the next run works."""
    work = Work(scratch, plugins=1)
    mounts = pathlib.Path("/proc/self/mountinfo").read_text()
    whole = work.plugins[0].read_bytes()
    chance = random.Random(5)
    counted = 0
    for number in range(int(os.environ.get("RESPIKE_KILLS", "12"))):
        plugins = [work.folder / f"copy{number}.{part}.so" for part in range(3)]
        for plugin in plugins:
            shutil.copy(work.plugins[0], plugin)
        time.sleep(0.05)
        words = ["plain", *plugins]
        process = subprocess.Popen(
            [common.RESPIKE, "run", "program", *words], env=work.environment, cwd=work.folder, start_new_session=True, stdout=subprocess.DEVNULL
        )
        time.sleep(chance.uniform(0, 0.3))
        if chance.random() < 0.5:
            process.kill()
        else:  # the attendant and its workers, and all others
            for other in pathlib.Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError):
                    if str(work.database).encode() in (other / "environ").read_bytes() and int(other.name) != process.pid:
                        os.kill(int(other.name), signal.SIGKILL)
        process.wait()
        expected = work.plain(*words)
        outcome = work.respike("run", "program", *words)
        expect(outcome.behaviour() == expected.behaviour(), f"{common.describe_difference(expected, outcome)}")
        shown = work.ok("show", "program").stderr
        expect(b"damaged" not in shown, f"{shown}")
        runs = work.runs(*plugins)
        expect(all(count in (None, 1, 2) for count in runs) and runs[2] is not None, f"{runs}")
        expect(all(plugin.read_bytes() == whole for plugin in plugins), "an original was changed")
        counted += sum(runs)
    expect(counted > 0 and pathlib.Path("/proc/self/mountinfo").read_text() == mounts, "a mount stays")
    names = [path.name for path in pathlib.Path(f"{work.database}.files").iterdir()]
    expect(not [name for name in names if name.startswith("messages.")], f"{names}")


def check_names(scratch):
    """By names that lead elsewhere in other processes, by several hard links, and with a newline."""
    work = Work(scratch)
    hard = work.folder / "hard.so"
    os.link(work.plugins[1], hard)
    lines = work.plugin("two\nlines.so", "-DNUMBER=4")
    time.sleep(0.05)
    words = ["plain", "/proc/self/cwd/plugin0.so", hard, work.plugins[1], lines, "/proc/self/cwd/plugin2.so"]
    expected = work.plain(*words)
    for _ in range(2):
        outcome = work.respike("run", "program", *words)
        expect(outcome.behaviour() == expected.behaviour(), f"{common.describe_difference(expected, outcome)}")
    shown = work.ok("show", "program")
    paths = [image["path"] for image in work.show("program")["images"]]
    expect(not [path for path in paths if path.startswith("/proc")], f"{paths}")
    notes = shown.stderr.decode().splitlines()
    expect(all(line.startswith("respike: ") for line in notes) and any("two\\n" in line for line in notes), f"{notes}")
    expect(work.images("program")["hard.so"]["instrumented"] is False, "several links")


def check_gone(scratch):
    """A plugin that is gone does not stand in the way of the others."""
    work = Work(scratch)
    short = work.folder / "short.so"
    shutil.copy(work.plugins[0], short)
    time.sleep(0.05)
    work.respike("run", "program", "plain", work.plugins[1], short)
    short.unlink()
    work.ok("optimize", "program")
    outcome = work.ok("export", "program", work.folder / "out")
    expect(sorted(path.name for path in (work.folder / "out").iterdir()) == ["plugin1.so", "program"], f"{outcome}")
    expect(b"short.so" in outcome.stdout, f"{outcome}")
    work.ok("register", work.program)
    expect("short.so" not in work.images("program"), "what is gone stays registered")


def check_new_build(scratch):
    """A plugin that was opened before is rebuilt: its new version also counts at once."""
    work = Work(scratch)
    words = ["plain", *work.plugins]
    work.respike("run", "program", *words)
    work.plugin("plugin1.so", "-DNUMBER=77")
    time.sleep(0.05)
    expected = work.plain(*words)
    outcome = work.respike("run", "program", *words)
    expect(outcome.behaviour() == expected.behaviour(), f"{common.describe_difference(expected, outcome)}")
    expect(work.runs(*work.plugins) == [2, 1, 2], f"{work.runs(*work.plugins)}")


def check_variables(scratch):
    """Nothing of it is seen: variables, open files, and the folder of the socket."""
    work = Work(scratch, plugins=1)
    source = work.folder / "sees.c"
    source.write_text(
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdlib.h>\n"
        'int main(int count, char** a) { dlopen(a[1], RTLD_NOW); system("env | grep -i respike_[ao]; ls -l /proc/$PPID/fd | grep -c ."); }\n'
    )
    main = work.folder / "sees"
    subprocess.run(["gcc", "-w", "-Wl,-q", source, "-o", main], check=True)
    work.ok("register", main)
    work.ok("instrument", "sees")
    expected = common.run_command([main, work.plugins[0]], env=work.environment, cwd=work.folder)
    for way in ("run", "exec", "session") if can_intercept() else ("run",):
        words = [work.plugins[0]]
        command = ["run", "sees", *words] if way == "run" else [*(["exec", "sees", "--"] if way == "exec" else ["session"]), main, *words]
        outcome = work.respike(*command)
        expect(outcome.stdout == expected.stdout, f"{way}: {outcome} instead of {expected}")
    expect(not list(pathlib.Path(f"{work.database}.files/attendant").iterdir()), "the socket's name is seen outside")
    # The user's own modules of the dynamic linker; the second has a short path.
    source = work.folder / "module.c"
    source.write_text(
        "#define _GNU_SOURCE\n#include <link.h>\n#include <unistd.h>\n"
        'unsigned la_version(unsigned version) { write(1, NAME "\\n", sizeof NAME); return version; }\n'
    )
    modules = [work.folder / "a module with a long name.so", work.folder / "m"]
    for module in modules:
        subprocess.run(["gcc", "-w", "-shared", "-fPIC", f'-DNAME="{module.name}"', source, "-o", module], check=True)
    audit = f"LD_AUDIT={modules[0]}:{modules[1]}"
    expected = common.run_command(["env", audit, main, work.plugins[0]], env=work.environment, cwd=work.folder)
    expect(expected.stdout.count(b"long name") >= 1, f"{expected}")
    outcome = work.respike("run", "--env", audit, "sees", work.plugins[0])
    expect(outcome.stdout == expected.stdout, f"{outcome} instead of {expected}")


def check_own_prison(scratch):
    """A program that lets itself be killed for all system calls that opening a library does not need."""
    work = Work(scratch, plugins=1)
    source = work.folder / "prison.c"
    source.write_text(r"""
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#define KILL(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
int main(int count, char** a) {
  struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), KILL(socket), KILL(connect),
      KILL(symlinkat), KILL(readlinkat), KILL(poll), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
  void* plugin = dlopen(a[1], RTLD_NOW);
  printf("%d\n", ((int (*)(int))dlsym(plugin, "value"))(4));
  return 5;
}
""")
    main = work.folder / "prison"
    subprocess.run(["gcc", "-w", "-Wl,-q", source, "-o", main], check=True)
    work.ok("register", main)
    work.ok("instrument", "prison")
    outcome = work.respike("run", "prison", work.plugins[0])
    expect(outcome.status == 5 and outcome.stdout, f"{outcome}")


def check_linked_elsewhere(scratch, kind):
    """A linked library that is loaded from another place than at `register` counts from the first run on, and what is
    optimized but not loaded is not called optimized."""
    work = Work(scratch, kind, 0)
    folders = [work.folder / "a", work.folder / "b"]
    for folder in folders:
        folder.mkdir()
        work.plugin(f"{folder.name}/libfoo.so.1", "-Wl,-soname,libfoo.so.1", "-DNUMBER=3")
    main, source = work.folder / "linked", work.folder / "linked.c"
    source.write_text('#include <stdio.h>\nint value(int);\nint main(void) { printf("%d\\n", value(1000)); return 0; }\n')
    library = folders[0] / "libfoo.so.1"
    subprocess.run([*KINDS[kind], "-O1", "-Wl,-q", source, library, f"-Wl,-rpath,{folders[0]}", "-o", main], check=True)
    work.give()
    time.sleep(0.05)
    work.ok("register", main)
    work.ok("instrument", "linked")
    work.environment["LD_LIBRARY_PATH"] = str(folders[1])
    for run in (1, 2):
        outcome = work.respike("run", "linked")
        expect(outcome.status == 0 and outcome.stdout, f"{outcome}")
    shown = work.ok("show", "linked")
    images = {image["path"]: image for image in json.loads(work.ok("show", "linked", "--json").stdout)["images"]}
    runs = [images[str(folder / "libfoo.so.1")]["profile"]["runs"] for folder in folders]
    expect(runs == [0, 2], f"{runs} runs: {shown.stdout.decode()}")
    expect(b"b/libfoo.so.1: it belongs to the application now" in shown.stderr, f"{shown.stderr}")
    work.ok("unregister", "linked")
    del work.environment["LD_LIBRARY_PATH"]
    work.ok("register", main)
    work.ok("optimize", "linked")
    work.environment["LD_LIBRARY_PATH"] = str(folders[1])
    warning = work.respike("run", "linked").stderr.decode()
    expect("b/libfoo.so.1, as it is, and not" in warning, f"no warning: {warning}")


def cases(scratch):
    found = {}
    for kind in KINDS:
        for way in WAYS:
            found[f"first run: {kind}, {way}"] = lambda k=kind, w=way: check_first_run(scratch, k, w)
        found[f"left alone: {kind}"] = lambda k=kind: check_left_alone(scratch, k, "run")
        found[f"many: {kind}"] = lambda k=kind: check_many(scratch, k)
        found[f"made by the program: {kind}"] = lambda k=kind: check_made(scratch, k)
        # The module is the same for Alpha, where it waits as long.
        for how in (signal.SIGKILL, signal.SIGSTOP)[: 1 if kind == "alpha" else 2]:
            found[f"without attendant: {kind}, {how.name}"] = lambda k=kind, h=how: check_without_attendant(scratch, k, h)
    for user in USERS:
        if user != "own user":
            for way in WAYS:
                found[f"first run: native, {way}, {user}"] = lambda w=way, u=user: check_first_run(scratch, "native", w, u)
    found["left alone: native, exec"] = lambda: check_left_alone(scratch, "native", "exec")
    found["full disk"] = lambda: check_full_disk(scratch)
    found["loaded already"] = lambda: check_loaded_already(scratch)
    found["killed"] = lambda: check_killed(scratch)
    found["names"] = lambda: check_names(scratch)
    found["gone"] = lambda: check_gone(scratch)
    found["new build"] = lambda: check_new_build(scratch)
    found["variables"] = lambda: check_variables(scratch)
    for kind in KINDS:
        found[f"linked elsewhere: {kind}"] = lambda k=kind: check_linked_elsewhere(scratch, k)
    found["own prison"] = lambda: check_own_prison(scratch)
    for name, check in found.items():
        yield common.Case(name, check)


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))
