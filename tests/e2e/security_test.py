#!/usr/bin/env python3
"""Each way in of docs/security.md is tried: what others may write to does not run, and nothing planted is followed."""

import os
import pathlib
import signal
import shutil
import subprocess
import sys
import time

import applications
import common
from common import Skip, expect
from exec_test import can_intercept

AS_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
PROGRAM = r"""
#include <stdio.h>
#include <sys/stat.h>
int main(void) {
  struct stat status;
  stat("/proc/self/exe", &status);
  printf("%ld\n", (long)status.st_size);
  return 0;
}
"""


def knows_all_users():
    """Not in a user namespace that hides users: there the user nobody may be any user."""
    return any(int(line.split()[2]) == 0xFFFFFFFF for line in open("/proc/self/uid_map"))


class Work(applications.World):
    def __init__(self, scratch, *commands):
        super().__init__(scratch)
        source = self.folder / "program.c"
        source.write_text(PROGRAM)
        self.program = self.folder / "program"
        subprocess.run(["gcc", "-O2", "-Wl,-q", source, "-o", self.program], check=True)
        self.ok("register", self.program)
        for command in commands:
            self.ok(command, "program")
        self.files = pathlib.Path(f"{self.database}.files")
        self.original = self.program.stat().st_size

    def version(self):
        (file,) = (path for path in (self.files / "images").rglob("*") if path.is_file())
        return file

    def size(self, *command, **options):
        outcome = self.respike(*command, **options)
        expect(outcome.status == 0, f"{command}: {outcome}")
        return int(outcome.stdout), outcome.stderr.decode()

    def expect_original(self, word):
        commands = [["run", "program"]]
        if can_intercept():
            commands.append(["exec", "program", "--", self.program])
            commands.append(["session", self.program])
        for command in commands:
            size, message = self.size(*command)
            expect(size == self.original, f"{command}: the version runs, {word}: {message}")
            expect(word in message, f"{command}: {word} is not in {message!r}")

    def expect_version(self):
        size, message = self.size("run", "program")
        expect(size == self.version().stat().st_size and not message, f"the original runs: {message}")


def check_writable(scratch):
    """A database or folders that everybody may write to."""
    work = Work(scratch, "optimize")
    work.expect_version()
    for path in (work.database, work.database.parent, work.files, work.files / "images"):
        before = path.stat().st_mode
        path.chmod(before | 0o002)
        work.expect_original(f"everybody may write to {path}")
        for command in (["check", "program", "--"], ["export", "program", work.folder / "out"]):
            outcome = work.respike(*command)
            expect(outcome.status == 1 and b"everybody may write" in outcome.stderr, f"{command}: {outcome}")
        path.chmod(before)
        work.expect_version()
    work.database.parent.chmod(0o1777)
    work.expect_version()
    work.database.parent.chmod(0o755)


def check_others(scratch):
    """A database of another user, which one of root's own is not."""
    if os.geteuid() != 0:
        raise Skip("this needs root")
    work = Work(scratch, "optimize")
    os.chown(work.database.parent, 1000, 1000)
    work.expect_version()
    for path in (work.database, work.files, work.files / "images"):
        before = path.stat()
        for owner in (1000, 65534) if knows_all_users() else (1000,):
            os.chown(path, owner, owner)
            work.expect_original("belongs to another user")
        os.chown(path, before.st_uid, before.st_gid)
    work.expect_version()
    for path in [work.folder.parent, work.folder]:
        path.chmod(0o755)
    command = [*AS_USER, common.RESPIKE, "run", "program"]
    outcome = common.run_command(command, env=work.environment)
    # Users who may read root's database run root's versions.
    version = outcome.status == 0 and int(outcome.stdout) == work.version().stat().st_size
    expect(version, f"root's version does not run: {outcome}")
    os.chown(work.database, 1000, 1000)
    outcome = common.run_command(command, env=work.environment)
    original = outcome.status == 0 and int(outcome.stdout) == work.original
    expect(original and b"belongs to another user" in outcome.stderr, f"another user's version runs: {outcome}")


def check_changed_version(scratch):
    """A version with other contents, or a link in its place, does not run, whatever its times say."""
    work = Work(scratch, "optimize")
    version = work.version()
    before, whole = version.stat(), version.read_bytes()
    version.chmod(0o755)
    version.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    os.utime(version, ns=(before.st_atime_ns, before.st_mtime_ns))
    work.expect_original("damaged")
    version.write_bytes(whole)
    work.expect_version()
    other = work.folder / "other"
    shutil.copy("/bin/true", other)
    version.unlink()
    version.symlink_to(other)
    size, message = work.size("run", "program")
    expect(size == work.original and message, f"a link in the store: {size} {message}")


def check_privileges(scratch):
    if os.geteuid() != 0:
        raise Skip("this needs root")
    work = Work(scratch, "optimize")
    work.program.chmod(0o4755)
    size, message = work.size("run", "program")
    expect(size == work.original and "privileges" in message, f"set-uid: {size} {message}")


def check_spool(scratch):
    """Files planted in the spool are set aside; nothing is followed, opened or removed."""
    work = Work(scratch, "instrument")
    work.size("run", "program")
    (spool,) = (work.files / "spool").iterdir()
    expect((work.files / "spool").stat().st_mode & 0o777 == 0o700, "others may look into the spool")
    (counts,) = spool.glob("*.counts")
    secret = work.folder / "secret"
    secret.write_text("secret")
    good = counts.read_bytes()
    os.mkfifo(spool / "pipe.1.2.counts")
    (spool / "link.3.4.counts").symlink_to(secret)
    (spool / "copy.3.5.counts").symlink_to(counts)
    (spool / "folder.5.6.counts").mkdir()
    (spool / "loop.7.8.counts").symlink_to("loop.7.8.counts")
    with open(spool / "huge.9.10.counts", "wb") as file:
        file.write(good)
        file.truncate(1 << 36)
    start = time.monotonic()
    outcome = work.ok("collect", timeout=60)
    expect(time.monotonic() - start < 20, "collecting took long")
    expect(b"merged 1 counter file;" in outcome.stdout and b"6 damaged" in outcome.stdout, f"{outcome}")
    expect(secret.read_text() == "secret" and not list(spool.iterdir()), "a link was followed, or files are left")
    expect(work.show("program")["images"][0]["profile"]["runs"] == 1, "the runs")


def check_notes(scratch):
    """Notes of ends and of opened libraries that no process of Respike made."""
    work = Work(scratch, "instrument")
    work.size("run", "program")
    ended, secret = work.files / "ended", work.folder / "secret"
    secret.write_text("secret")
    for name, target in {"1.2": secret, "x": secret, "3.": "a", "4.5": "exited 0\n\x1b[2J", "99999999999999999999.1": "a"}.items():
        (ended / name).symlink_to(target)
    (ended / "6.7").write_text("exited 0")
    (opened,) = (work.files / "opened").iterdir()
    fifo = work.folder / "pipe"
    os.mkfifo(fifo)
    for number, target in enumerate([fifo, secret, "/dev/zero", "/proc/self/mem", work.folder, "relative", "/none"]):
        (opened / f"{number}").symlink_to(target)
    outcome = work.ok("show", "program", timeout=60)
    expect(len(work.show("program")["images"]) == 3 and b"\x1b" not in outcome.stdout + outcome.stderr, f"{outcome}")
    expect(secret.read_text() == "secret", "a note was followed")


def check_rules(scratch):
    """Another user below root's `exec` cannot change its rules, or the programs that others start."""
    if os.geteuid() != 0 or not can_intercept():
        raise Skip("this needs root, and binfmt_misc in user namespaces")
    work = Work(scratch, "optimize")
    for path in [work.folder.parent, work.folder, work.database.parent]:
        path.chmod(0o755)
    attack = (
        "for file in $(find /run/respike 2>/dev/null); do echo x >> $file; rm -f $file; mv $file $file.x; done;"
        "mkdir /run/respike/new; ln -s /etc /run/respike/link; umount /run/respike; mount --bind /tmp /run/respike; true"
    )
    script = f"{' '.join(AS_USER)} sh -c '{attack}' 2>/dev/null; {work.program}"
    size, message = work.size("exec", "program", "--", "sh", "-c", script)
    expect(size == work.version().stat().st_size, f"the rules were changed: {size} {message}")


def check_environment(scratch):
    """A program's environment decides nothing: neither the place of its counts nor the version that runs."""
    work = Work(scratch, "instrument")
    elsewhere = work.folder / "elsewhere"
    elsewhere.mkdir()
    variables = {"RESPIKE_OPENED": str(elsewhere), "RESPIKE_SPOOL": str(elsewhere), "RESPIKE_DB": str(elsewhere / "other.db")}
    options = [word for name, value in variables.items() for word in ("--env", f"{name}={value}")]
    size, _ = work.size("run", *options, "program")
    expect(size != work.original and not list(elsewhere.iterdir()), "files where the environment said")
    expect(len(work.spool()) == 1, "the counts are elsewhere")


def check_time(scratch):
    """A command that takes more processor time than allowed ends with one sentence, and leaves no files."""
    image = common.first_program("sqlite3.static", "sqlite3.pie", "lua.static", "calls.static").image
    folder = scratch.folder()
    environment = dict(os.environ, RESPIKE_TIME_LIMIT="1")
    command = [common.RESPIKE, "image", "optimize", image, "-o", folder / "out"]
    outcome = common.run_command(command, env=environment)
    if outcome.status == 0:
        raise Skip("the program is too small")
    expect(outcome.status == 1 and outcome.stderr.count(b"\n") == 1 and b"1 seconds of processor time" in outcome.stderr, f"{outcome}")
    expect(not list(folder.iterdir()), f"it left {list(folder.iterdir())}")
    done = subprocess.run(["bash", "-c", 'ulimit -St 1; exec "$@"', "bash", *map(str, command)], capture_output=True, env=dict(os.environ, RESPIKE_TIME_LIMIT="0"))
    expect(done.returncode == -signal.SIGXCPU, f"a user's own limit: {done}")


def check_signals(scratch):
    """A version that is killed while it starts leaves no files."""
    work = Work(scratch, "optimize")
    for _ in range(20):
        process = subprocess.Popen([common.RESPIKE, "run", "program"], env=work.environment, stdout=subprocess.DEVNULL)
        process.send_signal(signal.SIGKILL)
        process.wait()
    expect(str(work.folder) not in pathlib.Path("/proc/self/mountinfo").read_text(), "a mount is left")
    work.expect_version()


def cases(scratch):
    checks = {
        "writable": check_writable,
        "others": check_others,
        "changed version": check_changed_version,
        "privileges": check_privileges,
        "spool": check_spool,
        "notes": check_notes,
        "rules": check_rules,
        "environment": check_environment,
        "time": check_time,
        "signals": check_signals,
    }
    yield from common.named_cases(checks, scratch)


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))
