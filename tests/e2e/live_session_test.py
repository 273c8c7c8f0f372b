#!/usr/bin/env python3
"""`respike session`: what commands change, inside or outside, counts from the next start of a program on.

Programs print the size of their own file, which distinguishes versions. (`session_test.py` is about programs that
`respike run` starts.)"""

import contextlib
import os
import pathlib
import pty
import random
import shutil
import signal
import subprocess
import sys
import time

import common
import killed_test
from applications import rows_of
from common import expect
from exec_test import USERS, Work, digest, write_program

R = common.RESPIKE
KILLS = int(os.environ.get("RESPIKE_KILLS", "15"))


class Session(Work):
    """A registered program and another program that is not registered yet."""

    def __init__(self, scratch, user):
        super().__init__(scratch, "native", user, prepared=False)
        self.environment["R"] = R
        write_program(self.folder, "other", ["gcc"], "-DOTHER")
        self.give()
        self.set_up()
        self.original = self.program.stat().st_size

    def start(self, script, shell="sh", **options):
        command = [*self.user, R, "session", shell, "-c", script]
        return subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True, **options)

    def session(self, script, shell="sh"):
        return self.respike("session", shell, "-c", script, cwd=self.folder)

    def versions(self, name="program"):
        """The sizes of the instrumented and the optimized version."""
        sizes = []
        for mode in ("instrumented", "optimized"):
            self.ok("mode", name, mode)
            sizes.append(int(self.exec(name, f"./{name}", "sizes", "exe").stdout))
        return sizes


def check_changes_inside(scratch, user, shell):
    work = Session(scratch, user)
    instrumented, optimized = work.versions()
    work.ok("mode", "program", "original")
    script = """./program sizes exe
    for mode in optimized instrumented original instrumented; do "$R" mode program $mode; ./program sizes exe; done
    ./other sizes exe; "$R" register other > /dev/null; ./other sizes exe; "$R" instrument other > /dev/null; ./other sizes exe
    "$R" unregister other; ./other sizes exe; "$R" session --leave; ./program sizes exe; exit 7"""
    outcome = work.session(script, shell)
    sizes = [int(line) for line in outcome.stdout.split()]
    plain = work.original
    expect(sizes[:5] == [plain, optimized, instrumented, plain, instrumented], f"{outcome}: {plain} {optimized} {instrumented}")
    other = (work.folder / "other").stat().st_size
    expect(sizes[5:] == [other, other, sizes[7], other, plain] and sizes[7] != other, f"{outcome}")
    expect(outcome.status == 7 and not outcome.stderr, f"{outcome}")
    expect(work.runs() == 3, f"{work.runs()}: two in the session, one to know the size")


def check_changes_outside(scratch, user):
    """Two sessions; another process changes modes and builds; `make install` and other commands inside."""
    work = Session(scratch, user)
    instrumented, optimized = work.versions()
    loop = "while read line; do eval \"$line\"; done"
    sessions = [work.start(loop, shell, stdin=subprocess.PIPE) for shell in ("bash", "dash")]

    def sizes(command="./program sizes exe"):
        answers = []
        for session in sessions:
            session.stdin.write(command + "\n")
            session.stdin.flush()
            answers.append(int(session.stdout.readline()))
        return answers

    expect(sizes() == [optimized] * 2, "at first")
    expect(sizes("stat -c %s program") == [work.original] * 2, "who reads sees the original")
    listed = [int(line.split()[0]) for line in work.ok("session", "--list").stdout.splitlines()]
    expect(sorted(listed) == sorted(s.pid for s in sessions), f"{listed}")
    for mode, size in (("instrumented", instrumented), ("original", work.original), ("optimized", optimized)):
        work.ok("mode", "program", mode)
        expect(sizes() == [size] * 2, mode)
    build = "gcc -O1 -w -Wl,-q -DEXTRA=1 program.c -o new && install new program && stat -c %s new"
    expect(sizes(f"{build}; ")[0] == (work.folder / "new").stat().st_size, "the build")
    new = work.program.stat().st_size
    expect(sizes() == [new] * 2, "a new build runs as it is")
    work.ok("instrument", "program")
    again = sizes()
    expect(again[0] == again[1] and again[0] not in (new, instrumented), f"the new build's version: {again}")
    for session in sessions:
        session.stdin.close()
        expect(session.wait() == 0 and not session.stdout.read(), "the end")
    expect(not work.ok("session", "--list").stdout, "sessions that ended are listed")
    expect(work.runs() == 2, f"{work.runs()} runs of the new build")


def check_many_starts(scratch, user):
    """Programs start all the time while modes change: each is one of the versions, no start fails."""
    work = Session(scratch, user)
    known = {work.original, *work.versions()}
    session = work.start("while [ ! -e stop ]; do ./program sizes exe || echo failed; done", "dash")
    for _ in range(15):
        for mode in ("original", "instrumented", "optimized"):
            work.ok("mode", "program", mode)
    (work.folder / "stop").touch()
    lines = session.communicate(timeout=60)[0].split()
    expect(session.returncode == 0 and len(lines) >= 20, f"{len(lines)} starts")
    expect({int(line) for line in lines} <= known, f"{set(lines)} are not {known}")


def check_shell(scratch, user):
    """Without a command the shell of $SHELL, in a terminal, as a person types."""
    work = Session(scratch, user)
    work.environment["SHELL"] = shutil.which("bash", path=os.defpath)
    instrumented, _ = work.versions()
    work.ok("mode", "program", "instrumented")
    master, terminal = pty.openpty()
    command = [*work.user, R, "session"]
    environment = dict(work.environment, PS1="> ", HISTFILE="", HOME=str(work.folder))
    process = subprocess.Popen(command, cwd=work.folder, env=environment, stdin=terminal, stdout=terminal, stderr=terminal,
                               start_new_session=True)  # fmt: skip
    os.close(terminal)
    os.write(master, b"./program sizes exe\nexit 9\n")
    text = b""
    while True:
        try:
            block = os.read(master, 4096)
        except OSError:
            break
        if not block:
            break
        text += block
    expect(process.wait(timeout=60) == 9 and str(instrumented).encode() in text, f"{text}")


def check_below_program(scratch, user):
    """Respike below an intercepted program: a session that cannot be notified goes on, and the command says so."""
    work = Session(scratch, user)
    outcome = work.session('./program then "$R" mode program original; ./program sizes exe; "$R" mode program original; ./program sizes exe')
    sizes = [int(line) for line in outcome.stdout.split()[-4:] if line.isdigit()]
    expect(outcome.status == 0 and sizes[-1] == work.original, f"{outcome}")
    expect(work.runs() >= 1, "the program that started Respike was not counted")
    warned = b"goes on as before" in outcome.stderr
    expect(warned == (sizes[0] != work.original), f"{outcome}")


def check_ends(scratch, user):
    work = Session(scratch, user)
    before = pathlib.Path("/proc/self/mountinfo").read_text()
    outcome = work.respike("session", "--leave")
    expect(outcome.status == 1 and b"this is not below respike session" in outcome.stderr, f"{outcome}")
    outcome = work.respike("session", "./none", cwd=work.folder)
    expect(outcome.status == 125 and b"cannot be started" in outcome.stderr and not outcome.stdout, f"{outcome}")
    # A session whose parent has not waited for it has ended all the same.
    session = work.start("true")
    common.wait_until(lambda: ") Z " in pathlib.Path(f"/proc/{session.pid}/stat").read_text(), "the session does not end")
    outcome = work.ok("mode", "program", "optimized")
    expect(not outcome.stderr and not work.ok("session", "--list").stdout, f"{outcome}")
    session.communicate()
    for _ in range(10):
        session = work.start("echo; while :; do ./program quiet; done", start_new_session=True)
        session.stdout.readline()
        time.sleep(0.03)
        os.killpg(session.pid, signal.SIGKILL)
        session.wait()
    common.wait_until(lambda: not work.ok("session", "--list").stdout, "killed sessions are listed")
    expect(pathlib.Path("/proc/self/mountinfo").read_text() == before, "a mount stayed")
    expect(not list(pathlib.Path(f"{work.database}.files/sessions").iterdir()), "a note stayed")


# Notes the mode in which each start begins, and each that ends well. After a change that was killed the mode is unknown.
CHANGING = """
while :; do
  for wanted in instrumented optimized original instrumented; do
    if "$R" mode program $wanted; then mode=$wanted; else mode=unknown; fi
    echo begin $mode >> log
    ./program > /dev/null && echo end $mode >> log
  done
done
"""


def kill_something(session, chance):
    """SIGKILL to the session's command, to the program that it runs now, or to all. Returns whether the session may go
    on."""
    what = chance.choice(("command", "child", "all"))
    children = pathlib.Path(f"/proc/{session.pid}/task/{session.pid}/children")
    with contextlib.suppress(OSError):  # it has just ended
        if what == "all":
            os.killpg(session.pid, signal.SIGKILL)
        elif what == "command":
            session.kill()
        else:
            for child in children.read_text().split():
                os.kill(int(child), signal.SIGKILL)
    return what == "child"


# A procedure that each run of the program enters once.
ENTERED = """select counts from procedure_count c join count_set s on s.id = c.count_set
    join procedure_shape p on p.shape = s.shape and p.ordinal = c.ordinal where p.name = 'value' and s.purpose in ('day', 'run')"""


def check_killed(scratch, user):
    """SIGKILL at any moment of sessions in which modes change, and of changes from outside: no mount stays, no half
    file, the originals are untouched, and each start that ended well is counted once."""
    work = Session(scratch, user)
    work.set_up("other")
    work.files = pathlib.Path(f"{work.database}.files")
    work.query = lambda text: rows_of(work.database, text)
    originals = {name: digest(work.folder / name) for name in ("program", "other")}
    mounts = pathlib.Path("/proc/self/mountinfo").read_text()
    chance = random.Random(KILLS)
    for _ in range(KILLS):
        session = work.start(CHANGING, start_new_session=True, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0, 0.3))
        change = chance.choice((["mode", "other", "instrumented"], ["mode", "other", "optimized"], ["instrument", "other"]))
        outside = subprocess.Popen([*work.user, R, *change], env=work.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0, 0.15))
        if chance.random() < 0.5:
            outside.kill()
        if kill_something(session, chance):
            time.sleep(chance.uniform(0, 0.15))
            kill_something(session, chance)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(session.pid, signal.SIGKILL)
        session.communicate(timeout=60)
        outside.wait(timeout=60)
    log = (work.folder / "log").read_text().splitlines()
    counted = work.runs()
    least, most = log.count("end instrumented"), log.count("begin instrumented") + log.count("begin unknown")
    print(f"{KILLS} sessions killed: {len(log)} lines, {least} <= {counted} <= {most} starts counted")
    expect(KILLS < 10 or least > 0, "no counted start came to its end")
    expect(least <= counted <= most, f"{counted} starts are counted, of {least} to {most}")
    entered = sum(common.uleb128(counts[1:])[0] for (counts,) in work.query(ENTERED))
    expect(least <= entered <= most, f"the counters say {entered}, of {least} to {most}")
    expect({name: digest(work.folder / name) for name in originals} == originals, "an original was changed")
    expect(pathlib.Path("/proc/self/mountinfo").read_text() == mounts, "a mount stayed")
    expect(not work.ok("session", "--list").stdout, "a session stayed")
    expect(not list((work.files / "sessions").iterdir()), "a note stayed")
    folder = pathlib.Path("/run/respike") if os.getuid() == 0 and not user else work.files / "session"
    expect(not folder.exists() or not list(folder.iterdir()), f"{folder} is not empty")
    killed_test.check_database(work)
    killed_test.check_files(work)
    sizes = work.versions()
    outcome = work.session('for mode in instrumented optimized; do "$R" mode program $mode; ./program sizes exe; done')
    expect([int(line) for line in outcome.stdout.split()] == sizes and not outcome.stderr, f"{outcome}, not {sizes}")
    expect(work.runs() == counted + 2, f"{work.runs()} instead of {counted + 2}")


def cases(scratch):
    scratch.path.chmod(0o755)
    for user, prefix in USERS.items():
        for shell in ("bash", "dash"):
            yield common.Case(f"changes inside {user} {shell}", lambda p=prefix, s=shell: check_changes_inside(scratch, p, s))
        for name, check in (
            ("changes outside", check_changes_outside), ("many starts", check_many_starts), ("shell", check_shell),
            ("below a program", check_below_program), ("ends", check_ends), ("killed", check_killed),
        ):  # fmt: skip
            yield common.Case(f"{name} {user}", lambda c=check, p=prefix: c(scratch, p))


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))
