#!/usr/bin/env python3
"""A program that is started with a substitute notices nothing, and neither does its parent.

A program prints all that it can see of its start; with a substitute in its place the program has to
print the same, natively and under the emulator, as root and as another user, as a child whose
parent waits and without a parent. Other cases: signals, stopping, the end of the program, and
systems where substitution is not possible."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading

import common
import ia64_programs
from common import Failure, Skip

SUBSTITUTE = pathlib.Path(common.RESPIKE).resolve().parent / "substitute"
SOURCE = pathlib.Path(__file__).resolve().parent.parent / "session" / "identity.c"
QEMU = ["qemu-alpha", "-L", os.environ.get("QEMU_LD_PREFIX", "/usr/alpha-linux-gnu")]
AS_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
KINDS = {
    "native": ["gcc"],
    "alpha": ["alpha-linux-gnu-gcc"],
    "alpha.static": ["alpha-linux-gnu-gcc", "-static", "-Wl,--defsym=__ehdr_start=0x120000000"],
}
if ia64_programs.toolchain():
    KINDS["ia64.static"] = [ia64_programs.toolchain() / "bin" / "ia64-linux-gnu-gcc", "-static"]
_programs = {}


def expect(condition, text):
    if not condition:
        raise Failure(text)


def build(scratch):
    folder = scratch.folder()
    for kind, compiler in KINDS.items():
        for name, flags in (("program", []), ("substitute", ["-DSUBSTITUTE"])):
            path = folder / f"{kind}.{name}"
            subprocess.run([*compiler, "-O1", "-w", *flags, SOURCE, "-o", path], check=True)
            _programs[kind, name] = path
    for path in [folder, *folder.parents][:2]:
        path.chmod(0o755)


def place(scratch, kind, *names):
    """A copy of a program in a folder of its own: [(path)] of the copy and its substitute."""
    folder = scratch.folder() / pathlib.Path(*names)
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "program"
    shutil.copy(_programs[kind, "program"], program)
    return program, _programs[kind, "substitute"]


def emulator_for(kind):
    if kind.startswith("ia64"):
        return [pathlib.Path(common.RESPIKE).resolve().parent / "respike-ia64", "--argv0"]
    return [] if kind == "native" else [*QEMU, "-0"]


def direct(kind, program, args):
    """The command that runs a program without a substitute, by its absolute path."""
    path = str(program)
    return [path, *args] if kind == "native" else [*emulator_for(kind), path, path, *args]


def run(command, **options):
    with open(os.devnull, "rb") as nothing:
        done = subprocess.run(
            [str(c) for c in command], stdin=options.pop("stdin", nothing), capture_output=True, timeout=common.TOOL_TIMEOUT, **options
        )
    return done


def lines(done):
    return done.stdout.decode(errors="surrogateescape").split("\n")


def check_same(scratch, kind, options=(), prefix=(), names=("plain",), args=("a b", "", "[x]", "--help"), exe=None):
    program, substitute = place(scratch, kind, *names)
    for path in [program.parent, *program.parents]:
        if path == scratch.path.parent:
            break
        path.chmod(0o755)
    expected = run([*prefix, *direct(kind, program, args)])
    command = [SUBSTITUTE, *options, "--put", program, substitute, program, *args]
    actual = run([*prefix, *command])
    expect(lines(expected)[0] == "original", f"the original does not run: {expected}")
    expect(lines(actual)[0] == "substitute", f"it was not substituted: {actual}")
    expect(not actual.stderr, f"stderr: {actual.stderr}")
    before, after = lines(expected)[1:], lines(actual)[1:]
    if options:  # a child has another parent
        before, after = ([l.partition(" group")[2] if l.startswith("parent") else l for l in x] for x in (before, after))
    differences = [(b, a) for b, a in zip(before, after) if b != a]
    expect(len(before) == len(after) and not differences, f"{differences or (before, after)}")
    expect(actual.returncode == expected.returncode == 41, f"status {actual.returncode}")
    expect(program.read_bytes() == _programs[kind, "program"].read_bytes(), "the original was changed")
    mounts = pathlib.Path("/proc/self/mountinfo").read_text()
    expect(str(program.parent) not in mounts, "a mount can be seen from outside")


def check_links(scratch, kind):
    """Started by a relative symbolic link in another folder; the substitute's path has spaces."""
    program, substitute = place(scratch, kind, "real")
    link = scratch.folder() / "by link"
    link.symlink_to(os.path.relpath(program, link.parent))
    odd = scratch.folder() / "sub stitute\n,:"
    shutil.copy(substitute, odd)
    done = run([SUBSTITUTE, "--put", link, odd, link.name], cwd=link.parent)
    expect(lines(done)[0] == "substitute", str(done))
    expect(f"/proc/self/exe {program}" in lines(done), str(done))


def check_exec(scratch, kind, prefix=()):
    """A program that executes itself, and another copy of itself, finds itself again."""
    program, substitute = place(scratch, kind, "exec")
    for path in [program.parent, program.parent.parent]:
        path.chmod(0o755)
    done = run([*prefix, SUBSTITUTE, "--put", program, substitute, program, "exec", "2"])
    if b"Exec format error" in done.stdout and kind != "native":
        raise Skip("this kernel has no binfmt_misc in user namespaces")
    expect(lines(done).count("substitute") == 3, str(done))
    expect(done.returncode == 41, str(done.returncode))
    expect(lines(done).count(f"/proc/self/exe {program}") == 3, str(done))
    expect("argument another name" in lines(done), str(done))
    for options in ([], ["--wait"]):
        done = run([*prefix, SUBSTITUTE, *options, program, "exec", "2"])
        expect(lines(done).count("original") == 3 and done.returncode == 41, f"without substitutes: {done}")
    other = program.with_name("other")
    shutil.copy(program, other)
    done = run([*prefix, SUBSTITUTE, "--put", program, substitute, program, "exec", "1", other])
    expect(lines(done).count("original") == 1, str(done))


def check_ends(scratch, kind):
    program, substitute = place(scratch, kind, "ends")
    for options in ([], ["--wait"]):
        for number in (signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGPIPE):
            command = [SUBSTITUTE, *options, "--put", program, substitute, program, "die", int(number)]
            expect(run(command).returncode == -number, f"{options} signal {number}")


def start_waiting(command, **options):
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, **options)
    guard = threading.Timer(common.TOOL_TIMEOUT, lambda: os.killpg(process.pid, signal.SIGKILL))
    guard.daemon = True
    guard.start()
    process.guard = guard
    process.stdout.readline()
    return process, int(process.stdout.readline())


def check_signals(scratch, kind):
    """Signals that are sent to the starter reach the program once."""
    program, substitute = place(scratch, kind, "signals")
    for options in ([], ["--wait"]):
        command = [SUBSTITUTE, *options, "--put", program, substitute, program, "wait"]
        process, child = start_waiting(command, start_new_session=True)
        expect((child == process.pid) == (not options), "the process number")
        for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGINT):
            process.send_signal(number)
            line = process.stdout.readline().decode()
            expect(line == f"signal {number.name[3:]}\n", f"{options}: {number.name}: {line!r}")
        os.kill(child, signal.SIGUSR2)
        expect(process.stdout.readline() == b"signal USR2\n", "a signal to the program itself")
        process.terminate()
        rest, _ = process.communicate(timeout=common.TOOL_TIMEOUT)
        process.guard.cancel()
        expect(rest == b"signal TERM\n", f"{options}: {rest!r}")
        expect(process.returncode == 40, f"{options}: {process.returncode}")


# The shell ignores signals to the group: a trap would interrupt `read`, and the shell would go on
# too early.
SCRIPT = """"$@" & process=$!
trap '' INT USR1
read line
kill -HUP $process; read line
/bin/kill -HUP $process; read line
kill -INT 0; read line
sh -c 'kill -USR1 0'; read line
kill $process; read line
wait $process
"""


def check_signals_in_group(scratch):
    """Signals reach the program once even if the sender is in the program's process group, and if
    they are sent to the whole group, from inside or from outside."""
    program, substitute = place(scratch, "native", "group")
    for options in ([], ["--wait"]):
        command = [str(c) for c in (SUBSTITUTE, *options, "--put", program, substitute, program, "wait")]
        process = subprocess.Popen(
            ["sh", "-c", SCRIPT, "sh", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # the shell reports that its child was killed
            start_new_session=True,
        )
        guard = threading.Timer(common.TOOL_TIMEOUT, lambda: os.killpg(process.pid, signal.SIGKILL))
        guard.daemon = True
        guard.start()
        process.stdout.readline()
        process.stdout.readline()
        for name in ("HUP", "HUP", "INT", "USR1"):
            process.stdin.write(b"next\n")
            process.stdin.flush()
            line = process.stdout.readline().decode()
            expect(line == f"signal {name}\n", f"{options}: {name}: {line!r}")
        os.killpg(process.pid, signal.SIGUSR1)
        line = process.stdout.readline()
        expect(line == b"signal USR1\n", f"{options}: to the group from outside: {line!r}")
        process.stdin.write(b"next\n" * 2)
        process.stdin.close()
        rest = process.stdout.read()
        expect(process.wait() == 40, f"{options}: {process.returncode}")
        guard.cancel()
        expect(rest == b"signal TERM\n", f"{options}: {rest!r}")


def state_of(process):
    return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


def wait_for_state(process, states, text):
    common.wait_until(lambda: state_of(process) in states, f"{text}: not in state {states}")


def check_signals_in_turn(scratch):
    """The next signal to the group comes while the previous one is still being handled."""
    program, substitute = place(scratch, "native", "turn")
    command = [SUBSTITUTE, "--wait", "--put", program, substitute, program, "wait"]
    process, _ = start_waiting(command, start_new_session=True)
    for turn in range(200):
        os.killpg(process.pid, signal.SIGUSR1)
        if turn % 2:
            expect(process.stdout.readline() == b"signal USR1\n", f"turn {turn}")
        os.killpg(process.pid, signal.SIGUSR2)
        got = sorted(process.stdout.readline() for _ in range(2 - turn % 2))
        wanted = [b"signal USR1\n", b"signal USR2\n"][turn % 2 :]
        expect(got == wanted, f"turn {turn}: {got}")
    process.terminate()
    rest, _ = process.communicate(timeout=common.TOOL_TIMEOUT)
    process.guard.cancel()
    expect(rest == b"signal TERM\n", f"{rest!r}")


def check_stopping(scratch):
    """The starter stops together with the program, and goes on together with it."""
    program, substitute = place(scratch, "native", "stops")
    command = [SUBSTITUTE, "--wait", "--put", program, substitute, program, "wait"]
    process, child = start_waiting(command, start_new_session=True)

    def children():
        return pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()

    before = children()
    os.kill(child, signal.SIGSTOP)
    wait_for_state(process.pid, "T", "it does not stop")
    process.send_signal(signal.SIGCONT)
    wait_for_state(child, "S", "the program does not go on")
    wait_for_state(process.pid, "S", "it does not go on")
    os.kill(child, signal.SIGSTOP)
    wait_for_state(process.pid, "T", "it does not stop again")
    os.kill(child, signal.SIGCONT)
    wait_for_state(process.pid, "S", "it does not go on when the program is continued alone")
    process.send_signal(signal.SIGHUP)
    line = process.stdout.readline()
    expect(line == b"signal HUP\n", f"after stopping: {line}")
    left = children()
    process.kill()
    process.communicate(timeout=common.TOOL_TIMEOUT)
    process.guard.cancel()
    expect(str(child) in left and len(left) == len(before), f"before {before}, after {left}")
    has_ended = lambda: not pathlib.Path(f"/proc/{child}").exists() or state_of(child) == "Z"
    common.wait_until(has_ended, "the program goes on when who waits was killed")


def check_stopped_and_killed(scratch):
    """If a program is killed while it is stopped, the starter also ends."""
    program, substitute = place(scratch, "native", "stopped")
    command = [SUBSTITUTE, "--wait", "--put", program, substitute, program, "wait"]
    process, child = start_waiting(command, start_new_session=True)
    os.kill(child, signal.SIGSTOP)
    wait_for_state(process.pid, "T", "it does not stop")
    os.kill(child, signal.SIGKILL)
    try:
        process.communicate(timeout=common.TOOL_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise Failure("it stays stopped")
    finally:
        process.guard.cancel()
    expect(process.returncode == -signal.SIGKILL, f"{process.returncode}")


def check_closed_files(scratch):
    """Standard files that are closed stay closed."""
    program, substitute = place(scratch, "native", "closed")
    for options in ([], ["--wait"]):
        command = [str(c) for c in (SUBSTITUTE, *options, "--put", program, substitute, program)]
        done = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh", *command], capture_output=True, timeout=common.TOOL_TIMEOUT)
        expect(b"file 0" not in done.stdout and b"file 1" in done.stdout, str(done))


def check_privileges(scratch):
    program, substitute = place(scratch, "native", "privileges")
    program.chmod(0o4755)
    done = run([SUBSTITUTE, "--put", program, substitute, program])
    expect(lines(done)[0] == "original", str(done))
    expect(b"privileges" in done.stderr, str(done.stderr))


NO_NAMESPACES = """echo 0 > /proc/sys/user/max_user_namespaces
echo 0 > /proc/sys/user/max_mnt_namespaces
exec "$@"
"""


def check_without_namespaces(scratch, kind):
    """Substitution inside a namespace that allows no further namespaces."""
    program, substitute = place(scratch, kind, "without")
    prefix = ["unshare", "--user", "--map-root-user", "sh", "-c", NO_NAMESPACES, "sh"]
    if run([*prefix, "true"]).returncode != 0:
        raise Skip("no user namespaces here")
    library = scratch.file("library")
    shutil.copy(substitute, library)
    done = run([*prefix, SUBSTITUTE, "--put", program, substitute, "--put", library, substitute, program, "x"])
    expect(lines(done)[0] == "substitute" and "argument x" in lines(done), str(done))
    expect(f"argument {program}" in lines(done), str(done))
    expect(done.stderr.count(b"warning") == 2, str(done.stderr))
    expect(f"not substituted: {library}".encode() in done.stderr, str(done.stderr))
    done = run([*prefix, SUBSTITUTE, program, "x"])
    expect(lines(done)[0] == "original" and not done.stderr, f"without substitutes: {done}")


def check_noexec(scratch):
    """A substitute on a file system without execution is left out. Needs root for a mount."""
    program, substitute = place(scratch, "native", "noexec")
    folder = scratch.folder()
    script = f"mount -t tmpfs -o noexec none {folder} && cp {substitute} {folder}/s && exec \"$@\""
    command = [SUBSTITUTE, "--put", program, folder / "s", program]
    done = run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", *command])
    if b"mount" in done.stderr and b"substitute" not in done.stderr:
        raise Skip("no mounts here")
    expect(lines(done)[0] == "original" and b"noexec" in done.stderr, str(done))


def check_written(scratch):
    """A program that writes to its own file cannot reach the substitute."""
    program, substitute = place(scratch, "native", "written")
    shutil.copy("/bin/sh", program)
    other = scratch.file("other")
    shutil.copy("/bin/sh", other)
    shutil.copy("/bin/sh", program.with_name("library"))
    script = f"echo x >> {program}; echo x >> {program.with_name('library')}; echo y > {program.with_name('new')}"
    before = other.read_bytes()
    command = [SUBSTITUTE, "--put", program.with_name("library"), other, program, "-c", script]
    run(command)
    expect(other.read_bytes() == before, "the substitute was changed")
    expect(program.with_name("new").read_text() == "y\n", "it cannot write beside itself")


def check_problems(scratch):
    program, substitute = place(scratch, "native", "problems")
    script = scratch.file("script")
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    locked = scratch.file("locked")
    shutil.copy(program, locked)
    locked.chmod(0o644)
    for options in ([], ["--wait"]):
        for arguments, text in (
            ([scratch.path / "none"], b"no such program"),
            ([scratch.path], b"not a program"),
            ([script], b"not an ELF"),
            ([locked], b"may not be executed"),
            (["--put", program, scratch.path / "none", program], b"cannot be substituted"),
            (["--put", scratch.path / "none", substitute, program], b"cannot be substituted"),
        ):
            done = run([SUBSTITUTE, *options, *arguments])
            expect(done.returncode == 125, f"{arguments}: status {done.returncode}")
            expect(text in done.stderr and done.stderr.count(b"\n") == 1, str(done.stderr))
            expect(not done.stdout, "it ran")


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        scratch.path.chmod(0o755)
        build(scratch)
        cases = []
        add = lambda name, function: cases.append(common.Case(name, function))
        users = {"own user": []} | ({"another user": AS_USER} if os.getuid() == 0 else {})
        for kind in KINDS:
            for user, prefix in users.items():
                for waiting, options in (("", []), (" waited for", ["--wait"])):
                    add(
                        f"same {kind} {user}{waiting}",
                        lambda k=kind, o=options, p=prefix: check_same(scratch, k, o, p),
                    )
                add(f"exec {kind} {user}", lambda k=kind, p=prefix: check_exec(scratch, k, p))
            add(f"odd path {kind}", lambda k=kind: check_same(scratch, k, names=("a b", "c\nd", "ü,:;'\"")))
            add(f"links {kind}", lambda k=kind: check_links(scratch, k))
            add(f"ends {kind}", lambda k=kind: check_ends(scratch, k))
            add(f"signals {kind}", lambda k=kind: check_signals(scratch, k))
            add(f"without namespaces {kind}", lambda k=kind: check_without_namespaces(scratch, k))
        add("signals in the group", lambda: check_signals_in_group(scratch))
        add("signals in quick turn", lambda: check_signals_in_turn(scratch))
        for folder in ("notes", "no:tes,$ORIGIN"):
            notes = ["--wait", "--notes", scratch.path / folder]
            add(f"same noted in {folder}", lambda o=notes: check_same(scratch, "alpha", o))
        add("stopping", lambda: check_stopping(scratch))
        add("stopped and killed", lambda: check_stopped_and_killed(scratch))
        add("closed files", lambda: check_closed_files(scratch))
        add("privileges", lambda: check_privileges(scratch))
        add("noexec", lambda: check_noexec(scratch))
        add("written", lambda: check_written(scratch))
        add("problems", lambda: check_problems(scratch))
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())
