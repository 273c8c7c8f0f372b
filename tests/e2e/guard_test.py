#!/usr/bin/env python3
"""The guard: after the optimized version of a program died of a fault, its original runs.

The program reads its own file to see which version runs: the optimized version dies of the given signal."""

import json
import os
import signal
import subprocess
import sys
import time

import applications
import common
from common import expect
from exec_test import can_intercept

# The file of an optimized version has a note, whose name this program must not contain itself.
PROGRAM = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char** arguments) {
  static char bytes[1 << 23];
  char name[] = "/opuf/sftqjlf";
  for (char* c = name; *c; ++c) *c -= 1;
  name[0] = '.', name[5] = '.';
  FILE* own = fopen("/proc/self/exe", "rb");
  size_t size = fread(bytes, 1, sizeof bytes, own);
  int optimized = memmem(bytes, size, name, strlen(name)) != NULL;
  puts(optimized ? "optimized" : "original");
  fflush(stdout);
  int fault = count > 1 ? atoi(arguments[1]) : 0;
  int always = count > 2 ? atoi(arguments[2]) : 0;
  if (count > 3) usleep(atoi(arguments[3]) * 1000);
  if (optimized && fault) raise(fault);
  if (!optimized && always) raise(always);
  return 3;
}
"""
GUARD = ["run", "--guard", "program"]


class Work(applications.World):
    def __init__(self, scratch, link=("-fPIE", "-pie")):
        super().__init__(scratch)
        source = self.folder / "program.c"
        source.write_text("#define _GNU_SOURCE\n" + PROGRAM)
        self.program = self.folder / "program"
        self.environment["R"] = common.RESPIKE
        subprocess.run(["gcc", "-O2", "-w", *link, "-Wl,--emit-relocs", source, "-o", self.program], check=True)
        self.ok("register", self.program)
        self.ok("optimize", "program")

    def expect_run(self, version, status, warned, *command):
        outcome = self.respike(*command)
        expect(outcome.stdout.decode() == f"{version}\n", f"{command}: {outcome}")
        expect(outcome.status == status, f"{command}: {outcome}")
        message = outcome.stderr.decode()
        expect((warned in message) if warned else not message, f"{command}: {outcome}")

    def is_guarded(self):
        return self.show("program")["guarded"]


def check_fault(scratch, number):
    work = Work(scratch)
    name = signal.Signals(number).name
    died = f"the optimized version of program died of {name}"
    work.expect_run("optimized", 3, "", *GUARD)
    work.expect_run("optimized", -number, "", "run", "program", number)
    expect(not work.is_guarded(), "nobody watched")
    work.expect_run("optimized", -number, died, *GUARD, number)
    work.expect_run("original", 3, died, "run", "program", number)
    work.expect_run("original", 3, died, "run", "program")
    work.expect_run("original", 3, died, *GUARD, number)
    shown = work.show("program")
    expect(shown["guarded"] and shown["mode"] == "optimized" and shown["fault"]["signal"] == name, str(shown))
    for command in (["show", "program"], ["list"]):
        outcome = work.ok(*command)
        expect("original" in outcome.stdout.decode() and died in outcome.stderr.decode(), f"{outcome}")
    work.ok("mode", "program", "optimized")
    expect(work.is_guarded(), "to set the mode again is no wish to try again")
    work.ok("mode", "program", "optimized", "--again")
    expect(not work.is_guarded() and work.show("program")["fault"] is None, "--again")
    work.expect_run("optimized", -number, "", "run", "program", number)


def check_both(scratch):
    """A program that dies of the same signal in both versions is left alone."""
    work = Work(scratch)
    number = signal.SIGABRT.value
    work.expect_run("optimized", -number, "died of SIGABRT", *GUARD, number, number)
    work.expect_run("original", -number, "too: from now on", "run", "program", number, number)
    expect(not work.is_guarded(), "both died")
    work.expect_run("optimized", -number, "", "run", "program", number, number)
    work.expect_run("optimized", -number, "", *GUARD, number, number)
    expect(not work.is_guarded(), "nothing is new")
    other = signal.SIGSEGV.value
    work.expect_run("optimized", -other, "died of SIGSEGV", *GUARD, other)
    expect(work.is_guarded(), "another signal is")


def check_other_ends(scratch):
    work = Work(scratch)
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGPIPE):
        work.expect_run("optimized", -number.value, "", *GUARD, number.value)
    expect(not work.is_guarded() and work.show("program")["fault"] is None, "these are no faults")
    segv = signal.SIGSEGV.value
    work.expect_run("optimized", -segv, "SIGSEGV", *GUARD, segv)
    bus = signal.SIGBUS.value
    work.expect_run("original", -bus, "SIGSEGV", "run", "program", segv, bus)
    expect(work.is_guarded(), "the original died of another signal")
    work.ok("mode", "program", "original")
    expect(not work.is_guarded(), "the original is wanted")
    work.expect_run("original", -segv, "", *GUARD, segv, segv)
    work.ok("mode", "program", "instrumented")
    work.ok("instrument", "program")
    work.expect_run("optimized", 3, "", *GUARD)  # the instrumented image also has a note of Respike
    work.ok("mode", "program", "optimized")
    expect(work.is_guarded(), "the same images")
    # The profile of the run makes another optimized image, about which nothing is known.
    work.ok("optimize", "program")
    expect(not work.is_guarded(), "another image")
    work.expect_run("optimized", 3, "", "run", "program")
    work.ok("unregister", "program")
    work.ok("register", work.program)
    expect(work.show("program")["fault"] is None, "forgotten with the application")


def check_report(scratch):
    work = Work(scratch)
    outcome = work.respike("report-fault", "program")
    expect(outcome.status == 1 and b"no fault of program is noted" in outcome.stderr, f"{outcome}")
    work.respike(*GUARD, signal.SIGILL.value)
    report = work.json("report-fault", "program")
    (image,) = report["images"]
    expect(report["signal"] == "SIGILL" and report["guarded"] and not report["original_too"], str(report))
    expect(image["path"] == str(work.program) and len(image["original"]) == len(image["optimized"]) == 32, str(report))
    expect(image["verdict"].startswith("behaves as the original: "), str(report))
    text = work.ok("report-fault", "program").stdout.decode()
    for word in ("SIGILL", str(work.program), image["optimized"], "bisect-procedures.sh", "the original runs"):
        expect(word in text, f"{word} is not in {text}")


def check_run_again(scratch):
    """`report-fault --run` says where the optimized version dies."""
    work = Work(scratch)
    source = work.folder / "dies.c"
    source.write_text(
        "#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
        "static int* volatile nothing;\n__attribute__((noinline)) int die_here(int n) { return nothing[4] + n; }\n"
        "static void* thread(void* x) { return (void*)(long)die_here(3); }\n"
        "int main(int count, char** a) { puts(\"begins\"); if (count > 2) { pthread_t t; pthread_create(&t, 0, thread, 0);"
        " pthread_join(t, 0); } return count > 1 ? die_here(count) : 0; }\n"
    )
    dies = work.folder / "dies"
    subprocess.run(["gcc", "-O1", "-w", "-Wl,-q", source, "-o", dies, "-lpthread"], check=True)
    work.ok("register", dies)
    work.ok("optimize", "dies")
    outcome = work.respike("run", "--guard", "dies", "x")
    expect(outcome.status == -signal.SIGSEGV, f"{outcome}")
    for words in (["x"], ["x", "y"]):
        text = work.ok("report-fault", "dies", "--run", "--", *words).stdout.decode()
        for word in ("ran again    died of SIGSEGV, accessing 0x10", f"in           {dies}", "procedure    die_here", "rip 0000"):
            expect(word in text, f"{word} is not in {text}")
    shown = json.loads(work.ok("report-fault", "dies", "--run", "--json", "--", "x").stdout)
    expect(shown["again"]["procedure"] == "die_here" and shown["again"]["signal"] == "SIGSEGV", str(shown))
    text = work.ok("report-fault", "dies", "--run", "--").stdout.decode()
    expect("has not died of a fault" in text, text)
    expect(work.show("dies")["guarded"], "the note stays")


def check_library(scratch):
    """A library is all that is optimized: `report-fault --run` says where it dies, also in a session."""
    work = Work(scratch)
    source = work.folder / "library.c"
    source.write_text('int value(int n) { return n > 1 ? *(volatile int*)16 : 0; }\n')
    (work.folder / "main.c").write_text("int value(int n);\nint main(int count) { return value(count); }\n")
    command = "gcc -O1 -w -shared -fPIC -Wl,-q library.c -o libvalue.so && gcc main.c -L. -lvalue -Wl,-rpath,'$ORIGIN' -o loads"
    subprocess.run(command, shell=True, check=True, cwd=work.folder)
    work.ok("register", work.folder / "loads")
    work.ok("optimize", "loads")
    outcome = work.respike("run", "--guard", "loads", "x")
    expect(outcome.status == -signal.SIGSEGV and b"died of SIGSEGV" in outcome.stderr, f"{outcome}")
    for below in ([], ["session", common.RESPIKE], ["exec", "loads", "--", common.RESPIKE]):
        outcome = work.ok(*below, "report-fault", "loads", "--run", "--", "x")
        expect(b"procedure    value" in outcome.stdout, f"{below}: {outcome}")
        expect(outcome.stderr.count(b"\n") == 1 + bool(below), f"{below}: each command warns once: {outcome}")


def check_below(scratch):
    """Commands below which programs are started follow the guard's notes."""
    work = Work(scratch)
    segv = signal.SIGSEGV.value
    work.expect_run("optimized", -segv, "SIGSEGV", *GUARD, segv)
    work.expect_run("original", 3, "died of SIGSEGV", "exec", "program", "--", work.program, segv)
    script = f'{work.program}; "$R" mode program optimized --again; {work.program}; "$R" {" ".join(GUARD)} {segv}; {work.program}'
    work.environment["R"] = common.RESPIKE
    outcome = work.respike("session", "sh", "-c", script)
    expect(outcome.stdout.split() == [b"original", b"optimized", b"optimized", b"original"], f"{outcome}")
    expect(outcome.status == 3, f"{outcome}")


def check_many(scratch):
    """Of many starts at once some die; afterwards all are the original's."""
    work = Work(scratch)
    command = [common.RESPIKE, *GUARD, str(signal.SIGSEGV.value)]
    started = [
        subprocess.Popen(command, env=work.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(16)
    ]
    for process in started:
        output, _ = process.communicate(timeout=common.TOOL_TIMEOUT)
        expect((output, process.returncode) in ((b"optimized\n", -signal.SIGSEGV), (b"original\n", 3)), f"{output} {process}")
    expect(work.is_guarded(), "one fault is enough")
    work.expect_run("original", 3, "SIGSEGV", "run", "program", signal.SIGSEGV.value)


def can_watch():
    """Whether the kernel tells the holder of a pidfd how a process ended: Linux 6.15."""
    return can_intercept() and tuple(int(n) for n in os.uname().release.split("-")[0].split(".")[:2]) >= (6, 15)


def check_watched(scratch, way, link):
    """Below a shell, which alone waits for the program: the next start is the original's, in the same session."""
    work = Work(scratch, link)
    segv, abort = signal.SIGSEGV.value, signal.SIGABRT.value

    def versions(script):
        outcome = work.respike(*way, "sh", "-c", script)
        return outcome.stdout.decode().split()

    program = work.program
    expect(versions(f"{program}; {program} {signal.SIGTERM.value}; {program}") == ["optimized"] * 3, "no fault")
    expect(not work.is_guarded(), "no fault, but a note of it")
    seen = versions(f"{program} {segv}; {program}; {program} {segv}; exec {program}")
    expect(seen == ["optimized", "original", "original", "original"], f"{seen}")
    common.wait_until(work.is_guarded, "the fault is noted")
    expect(b"died of SIGSEGV" in work.ok("list").stderr, "no warning")
    expect(versions(f"{program}; {program} {segv}") == ["original"] * 2, "another session")
    seen = versions(f'{program}; "$R" mode program optimized --again; {program}; {program} {segv}; {program}')
    expect(seen == ["original", "optimized", "optimized", "original"], f"--again: {seen}")
    common.wait_until(work.is_guarded, "noted again")
    work.ok("mode", "program", "optimized", "--again")
    both = f"{program} {abort} {abort}"
    noted = 'while ! "$R" show program --json | grep -q "original_too.*true"; do sleep 0.1; done'
    seen = versions(f"{both}; {both}; {noted}; {both}; {both}; {program}")
    expect(seen == ["optimized", "original", *["optimized"] * 3], f"both: {seen}")
    expect(not work.is_guarded(), "both versions died alike")


def check_others(scratch):
    """A command does not react to runs of the same version by other commands."""
    work = Work(scratch)
    segv = signal.SIGSEGV.value
    command = [common.RESPIKE, "exec", "program", "--", work.program, "0", "0", "2000"]
    watching = subprocess.Popen([*map(str, command)], env=work.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    expect(watching.stdout.readline() == b"optimized\n", "the first command")
    work.expect_run("optimized", -segv, "", "run", "program", segv, 0, 500)
    _, errors = watching.communicate(timeout=common.TOOL_TIMEOUT)
    expect((watching.returncode, errors) == (3, b""), f"{watching} {errors}")
    time.sleep(0.3)
    expect(not work.is_guarded(), "nobody watched the second command")


def check_last(scratch):
    """The command itself dies, and programs die just before the command ends: all of that is noted."""
    segv, abort = signal.SIGSEGV.value, signal.SIGABRT.value
    work = Work(scratch)
    outcome = work.respike("exec", "program", "--", work.program, segv)
    expect(outcome.status == -segv, f"{outcome}")
    common.wait_until(work.is_guarded, "the command's fault is noted")
    outcome = work.respike("export", "program", work.folder / "out")
    expect(outcome.status == 1 and b"it died of SIGSEGV" in outcome.stderr, f"{outcome}")
    work.ok("mode", "program", "optimized", "--again")
    # One command after another: the next command knows, and the effect of --again stays.
    for _ in range(3):
        statuses = [work.respike("exec", "program", "--", work.program, segv).status for _ in range(2)]
        expect(statuses == [-segv, 3], f"{statuses}")
        work.ok("mode", "program", "optimized", "--again")
        expect(not work.is_guarded(), "a note came later than --again")
        expect(work.respike("exec", "program", "--", work.program, segv).status == -segv, "optimized")
        work.ok("mode", "program", "optimized", "--again")
        time.sleep(0.1)
        expect(not work.is_guarded(), "a note came later than --again")
    outcome = work.respike("exec", "program", "--", "sh", "-c", f"{work.program} {abort} {abort}; {work.program} {abort} {abort}; true")
    expect(outcome.stdout == b"optimized\noriginal\n", f"{outcome}")
    common.wait_until(lambda: (work.show("program")["fault"] or {}).get("original_too"), "both faults are noted")
    expect(not work.is_guarded(), "both versions died alike")


def check_container(scratch):
    """As the first process of a container, and with few files."""
    work = Work(scratch)
    segv = signal.SIGSEGV.value
    script = f"{work.program} {segv}; {work.program}; wait"
    for prefix in (["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"], ["sh", "-c", 'ulimit -n 24; exec "$@"', "sh"]):
        if subprocess.run([*prefix, "true"], capture_output=True).returncode != 0:
            continue  # no such container here
        work.ok("mode", "program", "optimized", "--again")
        outcome = common.run_command(
            [*prefix, common.RESPIKE, "exec", "program", "--", "sh", "-c", script], env=work.environment, timeout=60
        )
        expect(outcome.stdout.split()[:1] == [b"optimized"], f"{prefix}: {outcome}")


def check_crowd(scratch):
    """Many at once; each start after a fault runs the original."""
    work = Work(scratch)
    segv = signal.SIGSEGV.value
    logs = work.folder / "logs"
    logs.mkdir()
    script = f"for i in 1 2 3 4 5 6 7 8; do ( for j in 1 2 3 4 5; do {work.program} {segv}; {work.program}; done > {logs}/$i ) & done; wait"
    work.respike("exec", "program", "--", "sh", "-c", script)
    seen = [(logs / str(shell)).read_text().split() for shell in range(1, 9)]
    # The first start in each shell may come before the first fault.
    expect(all(len(lines) == 10 and "optimized" not in lines[1:] for lines in seen), f"{seen}")
    expect(any(lines[0] == "optimized" for lines in seen), f"{seen}")
    common.wait_until(work.is_guarded, "the fault is noted")


def cases(scratch):
    for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT):
        yield common.Case(f"fault {number.name}", lambda n=number.value: check_fault(scratch, n))
    checks = {"both": check_both, "ends": check_other_ends, "report": check_report, "run again": check_run_again, "many": check_many}
    if can_intercept():
        checks["below"] = check_below
        checks["library"] = check_library
    if can_watch():
        pie, static = ("-fPIE", "-pie"), ("-static", "-no-pie")
        for name, way in (("exec", ["exec", "program", "--"]), ("session", ["session"])):
            checks[f"watched: {name}"] = lambda s, w=way: check_watched(s, w, pie)
            checks[f"watched: {name}, static"] = lambda s, w=way: check_watched(s, w, static)
        checks["crowd"] = check_crowd
        checks["others"] = check_others
        checks["last"] = check_last
        checks["container"] = check_container
    yield from common.named_cases(checks, scratch)


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))
