#!/usr/bin/env python3
"""`respike exec`: programs run in their modes wherever a command executes them; whoever reads them gets originals.

A shell script starts a program in all ways that there are. It has to print the same without Respike, with the
original and with each version, and every start has to be counted. The same for copies, other builds, nested
applications, threads, other users, and for the ends of commands."""

import contextlib
import functools
import hashlib
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
from applications import World, split_counted
from common import Skip, expect

AS_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
USERS = {"own user": []} | ({"another user": AS_USER} if os.getuid() == 0 else {})
ALPHA = ["alpha-linux-gnu-gcc"]
STATIC = ["-static", "-no-pie"]
KINDS = {
    "native": ["gcc"],
    "native.no-pie": ["gcc", "-no-pie"],
    "native.static": ["gcc", *STATIC],
}
if shutil.which(ALPHA[0]) and shutil.which("qemu-alpha"):
    KINDS["alpha"] = ALPHA
    KINDS["alpha.static"] = [*ALPHA, "-static", "-Wl,--defsym=__ehdr_start=0x120000000"]
if ia64_programs.toolchain():
    KINDS["ia64.static"] = [ia64_programs.toolchain() / "bin" / "ia64-linux-gnu-gcc", "-static"]
    os.environ.setdefault("QEMU_LD_PREFIX", "/usr/alpha-linux-gnu")
NATIVE = [kind for kind in KINDS if kind.startswith("native")]

# Prints the facts of its start that it sees, in one line, or its size: versions have other sizes than originals.
PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#ifndef EXTRA
#define EXTRA 0
#endif
#ifdef LIBRARY
int value(void) { return 7 + EXTRA; }
#else
#ifdef LINKED
int value(void);
#else
__attribute__((noinline)) int value(void) { return 7 + EXTRA; }
#endif
int main(int count, char** arguments) {
  char exe[4096] = "";
  if (readlink("/proc/self/exe", exe, sizeof exe - 1) < 0) return 99;
  const char* what = count > 1 ? arguments[1] : "";
  if (!strcmp(what, "sizes")) {
    for (int i = 2; i < count; i++) {
      struct stat status;
      printf("%ld ", stat(strcmp(arguments[i], "exe") ? arguments[i] : exe, &status) ? -1 : (long)status.st_size);
    }
    puts("");
    return 0;
  }
  if (!strcmp(what, "end")) return atoi(arguments[2]);
  if (!strcmp(what, "die")) return raise(atoi(arguments[2]));
  if (strcmp(what, "quiet")) {
    printf("%d exe %s executed %s secure %lu", value(), exe, (char*)getauxval(AT_EXECFN), getauxval(AT_SECURE));
    for (int i = 0; i < count; i++) printf(" [%s]", arguments[i]);
    printf(" %s\n", getenv("LD_AUDIT") || getenv("RESPIKE_OPENED") ? "variables" : "");
    fflush(stdout);
  }
  if (!strcmp(what, "then") && count > 2) {
    execvp(arguments[2], arguments + 2);
    perror(arguments[2]);
    return 98;
  }
  return 0;
}
#endif
"""

# Starts programs in ways that a shell has not.
STARTER = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
extern char** environ;
static char** words;
static int starts, wrong;
static void* spawn_many(void* nothing) {
  for (int i = 0; i < starts; i++) {
    pid_t process;
    int status = -1;
    if (posix_spawn(&process, words[0], 0, 0, words, environ) || waitpid(process, &status, 0) < 0 || status)
      __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
  }
  return nothing;
}
int main(int count, char** arguments) {
  const char* how = arguments[1];
  words = arguments + 2;
  if (!strcmp(how, "threads")) {
    const int threads = atoi(arguments[2]);
    pthread_t all[64];
    starts = atoi(arguments[3]);
    words = arguments + 4;
    for (int i = 0; i < threads; i++) pthread_create(&all[i], 0, spawn_many, 0);
    for (int i = 0; i < threads; i++) pthread_join(all[i], 0);
    printf("%d wrong\n", wrong);
    return 0;
  }
  if (!strcmp(how, "vfork")) {
    if (vfork() == 0) { execv(words[0], words); _exit(97); }
    wait(0);
    return 0;
  }
  if (!strcmp(how, "file")) {
    const int file = open(words[0], O_RDONLY);
    fexecve(file, words, environ);
  }
  if (!strcmp(how, "folder")) syscall(SYS_execveat, open(words[0], O_RDONLY | O_DIRECTORY), words[1], words + 1, environ, 0);
  if (!strcmp(how, "no-words")) execve(words[0], (char*[]){0}, environ);
  if (!strcmp(how, "exec")) execv(words[0], words);
  perror(how);
  return 97 + (count < 2);
}
"""

WAYS = r"""
./program relative
"$PWD/program" absolute 'a b' '' '*'
(PATH=.:$PATH; program by path)
./symbolic link
./hard link
./later link
./script one two
env -i ./program empty environment
env PATH=. program
make -s -f Makefile
sh -c './program in another shell; true'
bash -c 'exec -a "another name" ./program'
(exec ./program exec)
echo x | xargs ./program
find program -exec ./{} found \;
timeout 60 ./program timed
nice -n 1 ./program nice
for starter in ./starter ./starter.static; do
  $starter vfork ./program vfork
  $starter file program fexecve
  $starter folder . program execveat
  $starter no-words ./program
  $starter exec ./program execv
  $starter exec "$PWD/script" execv
done
python3 -c 'import subprocess; subprocess.run(["./program", "from Python"])'
./program then ./program then ./symbolic
cd / && "$OLDPWD/program" then "$OLDPWD/program" another folder
"""


@functools.cache
def can_intercept():
    """Whether this system meets the needs of `respike exec`."""
    script = "mount -t binfmt_misc none /proc/sys/fs/binfmt_misc"
    command = ["unshare", "--user", "--mount", "--map-root-user", "sh", "-c", script]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def write_program(folder, name, compiler, *flags):
    source = folder / f"{name}.c"
    source.write_text(PROGRAM)
    image = folder / name
    subprocess.run([*compiler, "-O2", "-w", "-Wl,-q", source, *flags, "-o", image], check=True)
    return image


class Work(World):
    """A world with a program, run by a user."""

    def __init__(self, scratch, kind="native", user=(), prepared=True):
        super().__init__(scratch)
        if not can_intercept():
            raise Skip("no binfmt_misc in user namespaces here")
        self.user, self.kind = list(user), kind
        if kind.startswith("ia64"):
            self.environment["QEMU_LD_PREFIX"] = str(ia64_programs.toolchain() / "sysroot")
        self.program = write_program(self.folder, "program", KINDS[kind])
        if prepared:
            self.prepare()

    def prepare(self):
        starter = self.folder / "starter.c"
        starter.write_text(STARTER)
        for name, flags in (("starter", []), ("starter.static", STATIC)):
            subprocess.run(["gcc", "-O1", "-w", *flags, starter, "-o", self.folder / name, "-lpthread"], check=True)
        (self.folder / "symbolic").symlink_to("program")
        os.link(self.program, self.folder / "hard")
        script = self.folder / "script"
        script.write_text(f"#!{self.program} option\n")
        script.chmod(0o755)
        (self.folder / "Makefile").write_text("all:\n\t@./program made\n")
        self.give()

    def give(self):
        """Gives all files to the user."""
        for path in (self.folder, *self.folder.parents):
            if path.name.startswith("respike-e2e-"):
                break
        path.chmod(0o755)
        if self.user:
            subprocess.run(["chown", "-R", "65534:65534", self.folder], check=True)

    def respike(self, *args, **options):
        return common.run_command([*self.user, common.RESPIKE, *args], env=self.environment, **options)

    def ok(self, *args, **options):
        outcome = self.respike(*args, **options)
        expect(outcome.status == 0, f"{args}: status {outcome.status}: {outcome.stderr}")
        return outcome

    def exec(self, names, *command, **options):
        outcome, self.counted = split_counted(self.respike("exec", names, "--", *command, cwd=self.folder, **options))
        return outcome

    def shell(self, text, names="program", shell="sh"):
        """A script's output and how it ends; there must be no other message."""
        outcome = self.exec(names, shell, "-c", text)
        expect(not outcome.stderr, f"stderr: {outcome.stderr.decode()[:500]}")
        return outcome

    def plain(self, text, shell="sh"):
        return common.run_command([*self.user, shell, "-c", text], env=self.environment, cwd=self.folder)

    def set_up(self, name="program"):
        self.ok("register", self.folder / name)
        self.ok("instrument", name)
        self.ok("optimize", name)
        self.ok("mode", name, "instrumented")

    def runs(self, name="program", image=None):
        return self.images(name)[image or name]["profile"]["runs"]


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def check_ways(scratch, kind, user, shell):
    work = Work(scratch, kind, user)
    work.set_up()
    work.ok("mode", "program", "original")
    ways = WAYS.replace("./later link", "rm -f later; ln program later; ./later link")
    expected = work.exec("program", shell, "-c", ways)
    starts = expected.stdout.count(b"exe /")
    expect(not expected.stderr, f"stderr: {expected.stderr.decode()[:500]}")
    expect(expected.status == 0 and starts >= 30 and b"variables" not in expected.stdout, f"{starts} {expected}")
    if kind in NATIVE:
        expect(work.plain(ways, shell).stdout == expected.stdout, "the original is not as without Respike")
    for mode in ("optimized", "instrumented"):
        work.ok("mode", "program", mode)
        actual = work.shell(ways, shell=shell)
        # A path through an open folder would lead to where the folder was opened, so the program's own path is used.
        own = f"executed {work.program} "
        before = expected.stdout.decode().replace("executed /dev/fd/3/program ", own)
        if kind not in NATIVE:
            before = before.replace("executed /dev/fd/3 ", own) # the same
        before = before.splitlines()
        after = actual.stdout.decode().splitlines()
        wrong = [pair for pair in zip(before, after) if pair[0] != pair[1]]
        expect(not wrong and len(before) == len(after), f"{mode}: {wrong or actual.stdout}")
        expect(actual.status == expected.status, f"{mode}: {actual.status}")
    expect(work.runs() == starts, f"{work.runs()} of {starts} starts were counted")


def check_threads(scratch, user):
    work = Work(scratch, "native", user)
    work.set_up()
    for starter in ("./starter", "./starter.static"):
        outcome = work.exec("program", starter, "threads", "8", "50", "./program", "quiet")
        expect(outcome.stdout == b"0 wrong\n" and not outcome.stderr, f"{outcome}")
    expect(work.runs() == 800, f"{work.runs()} of 800 starts were counted")


READS = r"""
cp -p program copy; cat program > catted; install -m 755 program installed; strip -o stripped program
tar cf - program | tar xf - --to-command='cat > untarred'
ln program linked; ./program; mv linked moved; ./moved; rm moved
mv program elsewhere; ./elsewhere; mv elsewhere program; rm hard
echo "$(./program sizes program exe)"
chmod 700 program; ./program; touch program; ./program; cp -p program again; mv again program; ./program
"""


def check_reads(scratch, kind, user):
    work = Work(scratch, kind, user)
    work.set_up()
    before = digest(work.program)
    subprocess.run(["strip", "-o", work.folder / "expected", work.program], check=kind in NATIVE, stderr=subprocess.DEVNULL)
    text = READS if kind in NATIVE else READS.replace("strip -o stripped program", "true")
    outcome = work.shell(text)
    expect(outcome.status == 0 and outcome.stdout.count(b"exe /") == 6, f"{outcome}")
    for name in ("program", "copy", "catted", "installed", "untarred"):
        expect(digest(work.folder / name) == before, f"{name} is not the original")
    if kind in NATIVE:
        expect(digest(work.folder / "stripped") == digest(work.folder / "expected"), "what strip made is not of the original")
    expect(not (work.folder / "hard").exists(), "rm did not work")
    versions = [int(word) for word in outcome.stdout.decode().splitlines()[3].split()]
    expect(versions[0] == versions[1] != work.program.stat().st_size, f"the program itself sees its version: {versions}")
    expect(work.runs() == 7, f"{work.runs()} of 7 starts were counted")


def check_twins(scratch, kind, user):
    """Copies, and other builds that begin with the same bytes, run as they are; also below the program."""
    work = Work(scratch, kind, user)
    other = scratch.folder()
    other.chmod(0o755)
    write_program(other, "other", KINDS[kind], "-DEXTRA=1")
    same = (other / "other").read_bytes()[:256] == work.program.read_bytes()[:256]
    expect(same or kind not in ("native", "native.no-pie"), "the other build begins otherwise")
    work.set_up()
    text = f"cp program copy; ./copy 1; ./copy 2; ./program then ./copy then ./program; {other}/other; cp {other}/other changed; ./changed"
    outcome = work.shell(f"{text}; cp {other}/other program; ./program; cat program > copied")
    lines = outcome.stdout.decode().splitlines()
    expect([int(line.split()[0]) for line in lines] == [7] * 5 + [8] * 3, f"{outcome}")
    expect(f"exe {work.folder}/copy " in lines[0] and f"exe {other}/other " in lines[5], f"{outcome}")
    expect(digest(work.folder / "copied") == digest(other / "other") == digest(work.program), "the new build is not there")
    expect(work.plain("./program").stdout.startswith(b"8") or kind not in NATIVE, "nor outside")
    shutil.copy(work.folder / "copy", work.program)
    expect(work.runs() == 2, f"{work.runs()} runs instead of 2")


def check_nested(scratch, user):
    """Applications of different modes that share a library and start each other."""
    work = Work(scratch, "native", user, prepared=False)
    folder = work.folder
    library = folder / "libvalue.so"
    flags = ["-DLINKED", library, "-Wl,-rpath,$ORIGIN"]
    source = folder / "library.c"
    source.write_text("int value(void) { return 7; }\n__attribute__((constructor)) static void first(void) {}\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-Wl,-q,-soname,libvalue.so", source, "-o", library], check=True)
    for name in ("one", "two", "three"):
        write_program(folder, name, ["gcc"], *flags, f"-DNAME={name}")
    work.give()
    for name in ("one", "two", "three"):
        work.set_up(name)
    work.ok("mode", "two", "optimized")
    work.ok("mode", "three", "original")
    sizes = "sizes libvalue.so one two three"
    originals = [(folder / name).stat().st_size for name in sizes.split()[1:]]
    text = "\n".join(f"./{a} then ./{b} then ./{c} {sizes}" for a in ("one", "two", "three") for b in ("one", "two", "three") for c in ("one", "two", "three"))
    outcome = work.exec("one,two,three", "sh", "-c", text)
    expect(outcome.status == 0 and not outcome.stderr, f"{outcome}")
    lines = [line for line in outcome.stdout.decode().splitlines() if "exe" not in line]
    names = [line.split()[4][2:] for line in text.splitlines()]
    seen = {}
    for name, line in zip(names, lines):
        seen.setdefault(name, set()).add(tuple(map(int, line.split())))
    # The view of a program of its own does not depend on who started it.
    for position, name in enumerate(("one", "two"), 1):
        expect(len(seen[name]) == 1, f"{name} sees {seen[name]}")
        view = list(seen[name])[0]
        wrong = [i for i in range(1, 4) if i != position and view[i] != originals[i]]
        expect(view[position] != originals[position] and not wrong, f"{name} sees {view}, the originals are {originals}")
    expect(list(seen["one"])[0][0] != originals[0], "the library of the instrumented program is the original")
    expect(tuple(originals) in seen["three"], f"the original program sees {seen['three']}")
    starts = 3 * 9
    counted = {name: work.runs(name) for name in ("one", "two", "three")}
    expect(counted == {"one": starts, "two": 0, "three": 0}, f"{counted}")
    expect(work.runs("one", "libvalue.so") >= starts, f"{work.runs('one', 'libvalue.so')}")


def check_rebuilt_library(scratch, user):
    work = Work(scratch, "native", user, prepared=False)
    folder = work.folder
    source = folder / "library.c"
    build = "gcc -shared -fPIC -O1 -Wl,-q,-soname,libvalue.so -DEXTRA={} library.c -o {}"
    source.write_text("int value(void) { return 7 + EXTRA; }\n")
    subprocess.run(build.format(0, "libvalue.so"), shell=True, cwd=folder, check=True)
    write_program(folder, "program", ["gcc"], "-DLINKED", folder / "libvalue.so", "-Wl,-rpath,$ORIGIN")
    work.give()
    work.set_up()
    outcome = work.shell(f"./program; {build.format(1, 'libvalue.so')}; ./program; {build.format(0, 'libvalue.so')}; ./program")
    expect([line[:1] for line in outcome.stdout.splitlines()] == [b"7", b"8", b"7"], f"{outcome}")
    counted = work.runs(), work.runs(image="libvalue.so")
    expect(counted == (3, 2), f"{counted}: the library was built anew alike, and counts again")


def check_library_alone(scratch, user):
    """A program that cannot be optimized, with a library that can."""
    work = Work(scratch, "native", user, prepared=False)
    folder = work.folder
    source = folder / "library.c"
    source.write_text("int value(void) { return 7; }\n")
    subprocess.run("gcc -shared -fPIC -O1 -Wl,-q library.c -o libvalue.so", shell=True, cwd=folder, check=True)
    write_program(folder, "program", ["gcc"], "-DLINKED", folder / "libvalue.so", "-Wl,-rpath,$ORIGIN")
    subprocess.run(["strip", folder / "program"], check=True)
    work.give()
    work.ok("register", folder / "program")
    work.ok("instrument", "program")
    outcome = work.shell("./program; ./program then ./program; cmp program \"$(readlink -f program)\"")
    expect(outcome.stdout.count(b"exe /") == 3 and outcome.stdout.count(b"7 exe") == 3, f"{outcome}")
    expect(work.runs(image="libvalue.so") == 3, f"{work.runs(image='libvalue.so')}")


def check_counted(scratch, user):
    """The last lines say how many runs were counted; a command that trains nothing is warned of."""
    work = Work(scratch, "native", user)
    write_program(work.folder, "other", ["gcc"], "-DEXTRA=1")
    work.give()
    none = "respike: warning: no run of {} was counted: {}/{} did not run as the registered file; copies elsewhere, files that "
    none += "have changed, and what valgrind or an emulator runs are not counted\n"
    for name in ("program", "other"):
        work.ok("register", work.folder / name)
        work.ok("instrument", name)
    no_program, no_other = (none.format(name, work.folder, name) for name in ("program", "other"))
    loader = "/lib64/ld-linux-x86-64.so.2"  # as valgrind does: whatever maps the file, it is not executed
    for names, script, said in (
        ("program", "./program", "respike: 1 run of program was counted\n"),
        ("program", "for i in 1 2 3; do ./program quiet & done; ./program then ./symbolic; wait", "respike: 5 runs of program were counted\n"),
        ("program,other", "./other; ./program; ./program", "respike: 1 run of other and 2 runs of program were counted\n"),
        ("program,other", "./program; exit 3", f"respike: 1 run of program was counted\n{no_other}"),
        ("program", "true", no_program),
        ("program", "cp program copy; ./copy", no_program),
        ("program", f"{loader} ./program", no_program),
        ("program,other", "true", no_other + no_program),
    ):
        outcome = work.exec(names, "sh", "-c", script)
        expect(work.counted == said and not outcome.stderr, f"{script}: {work.counted!r}: {outcome}")
    runs = work.runs()
    work.ok("mode", "program", "original")
    for mode in ("original", "optimized"):
        work.ok("optimize" if mode == "optimized" else "mode", "program", *([mode] if mode == "original" else []))
        work.exec("program", "./program")
        expect(work.counted == "", f"{mode}: {work.counted}")
    expect((runs, work.runs()) == (9, 9), f"{runs} runs in the database")
    work.ok("mode", "program", "instrumented")
    outcome = work.exec("program", "./none")
    expect(outcome.status == 125 and work.counted == "", f"{outcome}: {work.counted}")
    # More runs than are merged at a time, while standard error has no reader, or is closed.
    work.exec("program", "sh", "-c", "for i in $(seq 130); do ./program quiet; done")
    expect(work.counted == "respike: 130 runs of program were counted\n", work.counted)
    command = f"{common.RESPIKE} exec program -- ./program"
    for redirection in ("2>&-", "2>/dev/full"):
        outcome = common.run_command([*user, "sh", "-c", f"{command} {redirection}"], env=work.environment, cwd=work.folder)
        expect(outcome.status == 0 and b"exe /" in outcome.stdout, f"{redirection}: {outcome}")


def check_shipped(scratch, user):
    """The optimized version of a program is a program of another application itself."""
    work = Work(scratch, "native", user)
    work.set_up()
    work.ok("export", "program", work.folder / "out")
    work.ok("register", work.folder / "out" / "program", "--name", "shipped")
    work.ok("instrument", "shipped")
    work.ok("mode", "program", "optimized")
    text = "./program; out/program; ./program then out/program then ./program"
    outcome = work.exec("program,shipped", "sh", "-c", text)
    expected = work.plain(text)
    expect(outcome.stdout == expected.stdout and not outcome.stderr, f"{outcome} instead of {expected}")
    counted = work.runs(), work.runs("shipped", "program")
    expect(counted == (0, 2), f"{counted}")


def check_ends(scratch, user):
    work = Work(scratch, "native", user)
    work.set_up()
    for status in (0, 1, 42, 125, 255):
        expect(work.exec("program", "./program", "end", str(status)).status == status, f"status {status}")
        expect(work.exec("program", "sh", "-c", f"exit {status}").status == status, f"status {status} of a shell")
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV):
        expect(work.exec("program", "./program", "die", str(int(number))).status == -number, f"signal {number}")
        outcome = work.exec("program", "sh", "-c", f"./program die {int(number)}; echo $?")
        expect(outcome.stdout == b"%d\n" % (128 + number), f"{outcome}")
    for arguments, text in (
        (["none", "--", "true"], b'no application "none" is registered'),
        (["program,none", "--", "true"], b'no application "none" is registered'),
        (["program", "--", "./none"], b"./none: it cannot be started: No such file"),
        (["program", "--", str(work.folder)], b"it cannot be started: Permission denied"),
    ):
        outcome = work.respike("exec", *arguments, cwd=work.folder)
        expect(outcome.status == 125 and text in outcome.stderr and not outcome.stdout, f"{arguments}: {outcome}")
        expect(outcome.stderr.count(b"\n") == 1, f"{arguments}: {outcome.stderr}")


FAMILY = r"""
echo "parent $PPID group $(ps -o pgid= -p $$ | tr -d ' ')"
read children < /proc/$$/task/$$/children
echo "children $children."
grep SigPnd /proc/$$/status
grep ShdPnd /proc/$$/status
umask; ulimit -n; pwd
ls -l /proc/self/fd | grep -c ' -> '
"""


def check_surroundings(scratch, user):
    """The command is the process of `respike exec` itself and finds nothing that it has not without it."""
    work = Work(scratch, "native", user)
    work.set_up()
    process = subprocess.Popen(
        [*work.user, common.RESPIKE, "exec", "program", "--", "sh", "-c", "echo $$"],
        cwd=work.folder, env=work.environment, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    expect(process.communicate()[0] == f"{process.pid}\n", "the command has another process number")
    script = FAMILY.replace("$(ps -o pgid= -p $$ | tr -d ' ')", "")
    expected, actual = work.plain(script, "bash"), work.shell(script, shell="bash")
    expect(b"children ." in expected.stdout, f"{expected}")
    expect(expected.stdout.replace(b"parent", b"") == actual.stdout.replace(b"parent", b""), f"{expected} {actual}")


IDENTITY = common.ROOT / "tests" / "session" / "identity.c"
HABITS = r"""
trap '' INT USR1
ulimit -S -s 65536; ulimit -n 200; umask 027
exec 5< /dev/null 7>&1
nice -n 3 ./identity "a b" '' '[x]' --help 8< ./identity
(exec <&-; ./identity closed)
env -i A=1 LD_AUDIT= ./identity variables
setsid -w setpriv --pdeathsig TERM ./identity death
./identity exec 2
"""


def check_identity(scratch, user):
    """A program sees the same of its start: files, signals, limits, variables, names."""
    work = Work(scratch, "native", user)
    subprocess.run(["gcc", "-O1", "-w", "-Wl,-q", IDENTITY, "-o", work.folder / "identity"], check=True)
    work.give()
    work.set_up("identity")
    for mode in ("instrumented", "optimized"):
        work.ok("mode", "identity", mode)
        expected, actual = work.plain(HABITS), work.exec("identity", "sh", "-c", HABITS)
        pairs = zip(expected.stdout.decode().split("\n"), actual.stdout.decode().split("\n"))
        wrong = [(a, b) for a, b in pairs if a != b and not (a.startswith("parent") and b.startswith("parent"))]
        expect(not wrong and expected.stdout.count(b"\n") == actual.stdout.count(b"\n"), f"{mode}: {wrong or actual}")
        expect(actual.stderr == expected.stderr and actual.status == expected.status, f"{mode}: {actual}")
    expect(work.runs("identity") == 7, f"{work.runs('identity')}")


def check_odd_paths(scratch, user):
    work = Work(scratch, "native", user, prepared=False)
    folder = work.folder / "a b" / "c\nd\\x41" / "ü,:;'\"$ORIGIN"
    folder.mkdir(parents=True)
    shutil.copy(work.program, folder / "program")
    work.environment["RESPIKE_DB"] = str(folder / "x:,y\nz.db")
    work.give()
    work.ok("register", folder / "program")
    work.ok("instrument", "program")
    outcome = work.exec("program", folder / "program", "here")
    expect(outcome.stdout.startswith(f"7 exe {folder}/program".encode()) and not outcome.stderr, f"{outcome}")
    expect(work.runs() == 1, "it was not counted")


def check_left_alone(scratch, user):
    """Programs that get privileges run as they are; a root folder without the rules refuses programs."""
    work = Work(scratch, "native", user)
    work.set_up()
    work.program.chmod(0o4755)
    outcome = work.exec("program", "./program", "set-uid")
    expect(outcome.stdout.count(b"exe /") == 1 and b"it gets privileges" in outcome.stderr, f"{outcome}")
    work.program.chmod(0o755)
    expect(work.runs() == 0, "it was counted")
    if os.getuid() != 0 or user:
        return
    root = work.folder / "root"
    for name in ("bin", "proc", "lib", "lib64"):
        (root / name).mkdir(parents=True)
    shutil.copy(work.program, root / "bin" / "program")
    outcome = work.exec("program", "chroot", root, "/bin/program")
    expect(outcome.status == 126 and b"respike-starter: /bin/program: " in outcome.stderr, f"{outcome}")


def check_deep(scratch, user):
    """Programs of two applications that start each other, deeper than user namespaces can be nested."""
    work = Work(scratch, "native", user)
    write_program(work.folder, "other", KINDS["native"])
    work.give()
    work.set_up()
    work.set_up("other")
    for depth, works in ((10, True), (80, not user)):
        chain = " ".join(["./program then ./other then"] * (depth // 2)) + " true"
        outcome = work.exec("program,other", "sh", "-c", chain)
        fine = outcome.status == 0 and not outcome.stderr and outcome.stdout.count(b"exe /") == depth
        refused = outcome.status == 126 and outcome.stderr.count(b"respike-starter: ") == 1
        expect(fine if works else fine or refused, f"{depth}: {outcome}")
        expect(works or b"nested too deep" in outcome.stderr, f"{depth}: {outcome}")


def check_killed(scratch, user):
    """SIGKILL at any moment: no mount stays, the originals are untouched, and the next command works."""
    work = Work(scratch, "native", user)
    work.set_up()
    before, mounts = digest(work.program), pathlib.Path("/proc/self/mountinfo").read_text()
    chance = random.Random(7)
    for _ in range(int(os.environ.get("RESPIKE_KILLS", "30"))):
        command = [*work.user, common.RESPIKE, "exec", "program", "--", "sh", "-c", "while :; do ./program quiet; done"]
        process = subprocess.Popen(command, cwd=work.folder, env=work.environment, start_new_session=True)
        time.sleep(chance.uniform(0, 0.12))
        process.kill()
        process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    expect(pathlib.Path("/proc/self/mountinfo").read_text() == mounts, "a mount stayed")
    folder = pathlib.Path("/run/respike") if os.getuid() == 0 and not user else pathlib.Path(f"{work.database}.files/session")
    expect(not folder.exists() or not list(folder.iterdir()), f"{folder} is not empty")
    expect(digest(work.program) == before, "the original was changed")
    counted = work.runs()
    outcome = work.shell("./program; ./program")
    expect(outcome.stdout.count(b"exe /") == 2 and work.runs() == counted + 2, f"{outcome}")
    expect(b"damaged" not in work.ok("show", "program").stderr, "a counter file is damaged")


def check_helper(scratch):
    """Counter files are merged while the command runs; the helper ends with the command."""
    work = Work(scratch)
    work.set_up()
    text = "i=0; while [ $i -lt 150 ]; do ./program quiet; i=$((i + 1)); done; "
    text += "while n=$(find \"$0\" -name '*.counts' | wc -l); [ $n -ge 100 ]; do sleep 0.1; done; echo $n"
    outcome = work.exec("program", "sh", "-c", text, f"{work.database}.files")
    expect(int(outcome.stdout) < 100, f"{outcome.stdout} counter files wait")
    expect(work.runs() == 150, f"{work.runs()}")

    def helpers():
        listing = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
        return [line for line in listing.splitlines() if " exec program -- sh -c i=0" in line]

    common.wait_until(lambda: not helpers(), f"a helper stayed: {helpers()}")


def check_inside(scratch, user):
    """Commands of Respike inside a command: exec, run, show, and their output about the files."""
    work = Work(scratch, "native", user)
    work.set_up()
    other = write_program(work.folder, "other", KINDS["native"], "-DOTHER")
    work.give()
    work.set_up("other")
    respike = common.RESPIKE
    text = f"{respike} exec other -- sh -c './other inner; ./program inner'; ./other outer; ./program outer; {respike} run program inside"
    outcome = work.exec("program", "sh", "-c", text)
    expect(outcome.status == 0 and outcome.stdout.count(b"exe /") == 5 and not outcome.stderr, f"{outcome}")
    counted = work.runs(), work.runs("other")
    expect(counted == (3, 1), f"{counted}")
    outcome = work.exec("program", respike, "show", "program", "--json")
    problems = [image["problem"] for image in json.loads(outcome.stdout)["images"]]
    expect(outcome.status == 0 and not any(problems) and not outcome.stderr, f"{outcome}")


def check_root(scratch):
    """Root below exec: chown, and becoming another user, whose starts are also substituted."""
    if os.getuid() != 0:
        raise Skip("this needs root")
    work = Work(scratch)
    work.give()
    work.set_up()
    work.ok("mode", "program", "optimized")
    user = " ".join(AS_USER)
    outcome = work.shell(f"touch f; chown 65534:65534 f; stat -c %u f; {user} ./program user; {user} ./program sizes exe; cp program copy; {user} ./copy")
    lines = outcome.stdout.decode().splitlines()
    expect(lines[0] == "65534" and "[user]" in lines[1] and f"exe {work.folder}/copy" in lines[3], f"{outcome}")
    version = work.shell("./program sizes exe").stdout.decode().split()[0]
    expect(lines[2].split()[0] == version, f"{lines}, {version}")
    work.database.parent.chmod(0o700)
    outcome = work.exec("program", *AS_USER, "./program", "user")
    expect(outcome.stdout.startswith(b"7 exe") and outcome.status == 0, f"{outcome}")
    expect(outcome.stderr.endswith(b"runs as it is: its version cannot be read by this user\n"), f"{outcome}")


NO_NAMESPACES = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'


def check_refused(scratch):
    """Where the system allows no namespaces, the command is not run."""
    work = Work(scratch)
    work.set_up()
    prefix = ["unshare", "--user", "--map-root-user", "sh", "-c", NO_NAMESPACES, "sh"]
    if subprocess.run([*prefix, "true"], check=False).returncode != 0:
        raise Skip("no user namespaces here")
    outcome = common.run_command([*prefix, common.RESPIKE, "exec", "program", "--", "echo", "ran"], env=work.environment)
    expect(outcome.status == 125 and not outcome.stdout and outcome.stderr.count(b"\n") == 1, f"{outcome}")
    expect(b"programs cannot be intercepted: no user namespace" in outcome.stderr, f"{outcome}")


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        scratch.path.chmod(0o755)
        cases = []
        add = lambda name, function: cases.append(common.Case(name, function))
        for user, prefix in USERS.items():
            for kind in KINDS:
                for shell in ("bash", "dash") if kind == "native" else ("dash",):
                    add(f"ways {kind} {user} {shell}", lambda k=kind, p=prefix, s=shell: check_ways(scratch, k, p, s))
                add(f"reads {kind} {user}", lambda k=kind, p=prefix: check_reads(scratch, k, p))
                add(f"twins {kind} {user}", lambda k=kind, p=prefix: check_twins(scratch, k, p))
            for name, check in (
                ("threads", check_threads), ("nested", check_nested), ("rebuilt library", check_rebuilt_library),
                ("library alone", check_library_alone), ("shipped", check_shipped), ("counted", check_counted),
                ("ends", check_ends), ("surroundings", check_surroundings),
                ("identity", check_identity), ("odd paths", check_odd_paths), ("left alone", check_left_alone), ("deep", check_deep), ("killed", check_killed), ("inside", check_inside),
            ):  # fmt: skip
                add(f"{name} {user}", lambda c=check, p=prefix: c(scratch, p))
        add("helper", lambda: check_helper(scratch))
        add("root", lambda: check_root(scratch))
        add("refused", lambda: check_refused(scratch))
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())
