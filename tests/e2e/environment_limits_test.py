#!/usr/bin/env python3
"""Applications where something is missing, full, forbidden or damaged: commands say so in a
sentence, and nothing is lost. Disks are small tmpfs in a mount namespace; damage is done to copies
of a database at random places."""

import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import threading
import time

import common
from applications import CHAIN, World, build_echo, link_alone, rows_of, same_behaviour
from common import Skip, expect


def expect_refusal(outcome, word, command):
    """Exit status 1 (125 for `run`), and one sentence with `word` in it."""
    text = outcome.stderr.decode(errors="replace")
    expect(outcome.status == (125 if command[0] == "run" else 1), f"{command}: status {outcome.status}: {text}")
    expect(word in text and text.count("\n") == 1, f"{command}: {text}")


# --- Disks ----------------------------------------------------------------------------------------


class Disk:
    """A small file system that only commands run with `prefix` see."""

    def __init__(self, folder, megabytes):
        self.folder = folder
        script = f'mount -t tmpfs -o size={megabytes}m none "$1" && echo ready && exec sleep 600'
        command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", folder]
        self.holder = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if self.holder.stdout.readline() != b"ready\n":
            self.close()
            raise Skip("no mounts in user namespaces here")
        self.prefix = ["nsenter", f"--target={self.holder.pid}", "--user", "--mount", "--preserve-credentials"]

    def do(self, *command):
        outcome = common.run_command([*self.prefix, *command])
        expect(outcome.status == 0, f"{command}: {outcome.stderr}")
        return outcome.stdout

    def fill(self, leave=0):
        """Fills the disk, except for `leave` bytes."""
        self.do("sh", "-c", f"cat /dev/zero > {self.folder}/filler 2>/dev/null; truncate -s -{leave} {self.folder}/filler")

    def close(self):
        self.holder.kill()
        self.holder.communicate()


def on_disk(check):
    """Runs check(world, disk) with the application `app`, which is instrumented, on its own
    disk."""

    def with_disk(scratch):
        world = World(scratch)
        folder = world.folder / "disk"
        folder.mkdir()
        disk = Disk(folder, 8)
        try:
            world.environment["RESPIKE_DB"] = str(folder / "x.db")
            world.respike = lambda *args: common.run_command([*disk.prefix, common.RESPIKE, *args], env=world.environment)

            def ok(*args):
                outcome = world.respike(*args)
                expect(outcome.status == 0, f"{args}: {outcome}")
                return outcome

            world.ok = ok
            world.original = world.copy(build_echo(scratch))
            for step in (["register", world.original, "--name", "app"], ["instrument", "app"], ["run", "app"]):
                world.ok(*step)
            check(world, disk)
        finally:
            disk.close()

    return with_disk


def commands_that_write(world):
    names = (["instrument", "app"], ["optimize", "app"], ["collect"], ["mode", "app", "original"], ["prune"])
    return [*names, ["register", world.original], ["unregister", "app"]]


def expect_readable(world, reason):
    """Who only reads needs no right to write, and a program starts all the same."""
    for command in (["list"], ["show", "app"]):
        outcome = world.ok(*command)
        expect(b"app" in outcome.stdout and reason in outcome.stderr.decode(), f"{command}: {outcome}")
    for mode in ("run", "exec"):
        command = ["run", "app"] if mode == "run" else ["exec", "app", "--", world.original]
        outcome = world.respike(*command)
        expect(outcome.behaviour() == (0, b"- -\n0\n"), f"{command}: {outcome}")
        expect(mode == "exec" or reason in outcome.stderr.decode(), f"no warning: {outcome}")


def runs_of(world, image=None):
    return world.images("app")[(image or world.original).name]["profile"]["runs"]


@on_disk
def check_full(world, disk):
    disk.fill()
    for command in commands_that_write(world):
        expect_refusal(world.respike(*command), "no space", command)
    expect_readable(world, "no space")
    # A process that was killed left its log.
    disk.do("rm", disk.folder / "filler")
    script = f"import os, sqlite3\nc = sqlite3.connect({str(disk.folder / 'x.db')!r})\nc.execute('create table t (a)')\nc.commit()\nos._exit(0)"
    disk.do("python3", "-c", script)
    disk.do("rm", disk.folder / "x.db-shm")
    disk.fill()
    expect_readable(world, "no space")
    disk.do("rm", disk.folder / "filler")
    expect(runs_of(world) == 1, "the run was lost")
    world.ok("run", "app")
    disk.fill(leave=300_000)  # enough for the database, but not for an image
    command = ["instrument", "app", "--counters", "atomic"]
    expect_refusal(world.respike(*command), "No space", command)
    expect(runs_of(world) == 2, "the run was lost")
    outcome = world.respike("export", "app", disk.folder / "out")
    expect(outcome.status == 1 and b"optimized" in outcome.stderr, outcome)
    disk.do("rm", disk.folder / "filler")
    world.ok("optimize", "app")
    disk.fill(leave=100_000)
    command = ["export", "app", disk.folder / "out"]
    expect_refusal(world.respike(*command), "No space", command)
    expect(disk.do("ls", "-A", disk.folder / "out") == b"", "half a file")


@on_disk
def check_read_only(world, disk):
    disk.do("mount", "-o", "remount,ro", disk.folder)
    for command in commands_that_write(world):
        expect_refusal(world.respike(*command), "Read-only", command)
    expect_readable(world, "Read-only")
    disk.do("mount", "-o", "remount,rw", disk.folder)
    expect(runs_of(world) == 1, "the run was lost")
    world.environment["RESPIKE_DB"] = str(world.folder / "x.db")
    for step in (["register", world.original, "--name", "app"], ["optimize", "app"]):
        world.ok(*step)
    disk.do("mount", "-o", "remount,ro", disk.folder)
    command = ["export", "app", disk.folder]
    expect_refusal(world.respike(*command), "Read-only", command)


# --- Damage ---------------------------------------------------------------------------------------


def damage(data, chance):
    """Data with a lost page, a page of noise, flipped bits, or its end cut off."""
    data, at = bytearray(data), chance.randrange(len(data)) // 4096 * 4096
    kind = chance.randrange(4)
    if kind == 0:
        data[at : at + 4096] = bytes(4096)
    elif kind == 1:
        data[at : at + 4096] = chance.randbytes(4096)
    elif kind == 2:
        for _ in range(20):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    else:
        del data[chance.randrange(len(data)) :]
    return bytes(data)


def check_damaged(scratch):
    """Damage is reported or does not matter. Damage never crashes a command, and the other files
    are still good afterwards."""
    world, chance = World(scratch), random.Random(1)
    image = world.copy(build_echo(scratch))
    for step in (["register", image, "--name", "app"], ["instrument", "app"], ["run", "app"], ["optimize", "app"]):
        world.ok(*step)
    expected = world.ok("show", "app").stdout
    good = world.database.read_bytes()
    refused = 0

    def put(data):
        for end in ("-wal", "-shm"):
            pathlib.Path(f"{world.database}{end}").unlink(missing_ok=True)
        world.database.write_bytes(data)

    for number in range(40):
        bad = damage(good, chance)
        for command in (["list"], ["show", "app"], ["optimize", "app"], ["run", "app"]):
            put(bad)
            outcome = world.respike(*command)
            sentences = [l for l in outcome.stderr.splitlines() if b"warning: " not in l and b"note: " not in l]
            what = f"damage {number}, {command}: {outcome}"
            if outcome.status == 0:
                expect(not sentences, what)
                continue
            expect(outcome.status == (125 if command[0] == "run" else 1) and len(sentences) == 1, what)
            refused += b"damaged" in sentences[0]
    expect(refused > 40, f"only {refused} commands found something")
    put(good)
    expect(world.ok("show", "app").stdout == expected, "the good database")
    world.ok("run", "app")


def overwritten(data):
    """Data with a lost page of code, of the same size."""
    middle = len(data) // 2
    return data[:middle] + bytes(b ^ 0xFF for b in data[middle : middle + 4096]) + data[middle + 4096 :]


def check_damaged_images(scratch):
    """A damaged image of the store is not run, and the next command that makes this image makes it
    anew."""
    world = World(scratch)
    image = world.copy(build_echo(scratch))
    world.ok("register", image, "--name", "app")
    for command in ("instrument", "optimize"):
        world.ok(command, "app")
        for spoil in (lambda data: data[:1000], overwritten, lambda data: b""):
            for path in map(pathlib.Path, world.state()):
                path.write_bytes(spoil(path.read_bytes()))
            outcome = world.ok("run", "app", "exit", "0")
            expect(b"is damaged" in outcome.stderr and b"\n[0]\n" in outcome.stdout, outcome)
            expect(not world.spool(), "the damaged image ran")
            if command == "optimize":
                expect_refusal(world.respike("export", "app", world.folder / "out"), "damaged", ["export"])
            expect(b"up to date" not in world.ok(command, "app").stdout, f"{command} leaves it damaged")
            expect(b"up to date" in world.ok(command, "app").stdout, f"{command} makes it every time")
            outcome = world.ok("run", "app", "exit", "0")
            expect(not outcome.stderr and len(world.spool()) == (command == "instrument"), outcome)
            world.ok("collect")
    world.ok("instrument", "app")
    hashes = [name for (name,) in rows_of(world.database, "select map_hash from derived_image")]
    for path in map(pathlib.Path, world.state()):
        if path.name in hashes:
            path.write_bytes(b"")
    expect(b"up to date" not in world.ok("instrument", "app").stdout, "the counter map was damaged")
    for path in world.state():
        os.utime(path, (1, 1))
    for _ in range(2):
        expect(not world.ok("run", "app", "exit", "0").stderr, "touched files of the store")
    identity = "select count(*) from derived_image where file_modified = 1000000000"
    expect(rows_of(world.database, identity) == [(1,)], "it is read every time")
    expect(runs_of(world, image) == 5, "each run counts")


def check_spool(scratch):
    """Without the folder for its counters a program runs, and the user gets a message."""
    world = World(scratch)
    image = world.copy(build_echo(scratch))
    for step in (["register", image, "--name", "app"], ["instrument", "app"]):
        world.ok(*step)
    (spool,) = (pathlib.Path(f"{world.database}.files") / "spool").iterdir()
    for obstacle in (None, "file"):
        spool.rmdir()
        if obstacle:
            spool.write_text("")
        outcome = world.ok("run", "app", "exit", "0")
        expect(outcome.stderr.count(b"\n") == 1 and b"is not counted" in outcome.stderr, outcome)
        expect(str(spool).encode() in outcome.stderr, outcome)
        if obstacle:
            expect_refusal(world.respike("instrument", "app"), str(spool), ["instrument"])
            spool.unlink()
        world.ok("instrument", "app")
        world.ok("run", "app")
        expect(len(world.spool()) == 1, "it counts again")
        world.ok("collect")


def check_rights(scratch):
    """Folders and files that the user may not write: tested as another user, since root may write
    them."""
    world = World(scratch)
    user = []
    if os.geteuid() == 0:
        user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        scratch.path.chmod(0o755)
        os.chown(world.folder, 65534, 65534)
    if common.run_command([*user, common.RESPIKE, "--version"]).status != 0:
        raise Skip("another user cannot execute respike")
    image = world.copy(build_echo(scratch))
    world.respike = lambda *args: common.run_command([*user, common.RESPIKE, *args], env=world.environment)
    for step in (["register", image, "--name", "app"], ["instrument", "app"], ["run", "app"]):
        outcome = world.respike(*step)
        expect(outcome.status == 0, f"{step}: {outcome}")
    files = pathlib.Path(f"{world.database}.files")
    (spool,) = (files / "spool").iterdir()

    def without(path, mode, command, word):
        before = path.stat().st_mode
        path.chmod(mode)
        outcome = world.respike(*command)
        path.chmod(before)
        if word:
            expect_refusal(outcome, word, command)
        return outcome

    outcome = without(spool, 0o555, ["run", "app"], None)
    expect(outcome.status == 0 and b"is not counted" in outcome.stderr and b"denied" in outcome.stderr, outcome)
    for command in (["instrument", "app"], ["optimize", "app"]):
        without(image, 0o000, command, "cannot be read: Permission denied")
    outcome = without(image, 0o000, ["show", "app"], None)
    expect(b"cannot be read: Permission denied" in outcome.stdout, outcome)
    without(files / "images", 0o555, ["instrument", "app", "--counters", "atomic"], "Permission denied")
    for path, mode, word in ((world.database.parent, 0o555, "its folder"), (world.database, 0o444, "Permission denied")):
        without(path, mode, ["instrument", "app"], word)
        for command, shows in ((["list"], b"app"), (["run", "app"], b"- -")):
            outcome = without(path, mode, command, None)
            read = outcome.status == 0 and shows in outcome.stdout and word in outcome.stderr.decode()
            expect(read, f"{command}: {outcome}")
    outcome = world.respike("show", "app", "--json")
    expect(outcome.status == 0, outcome)
    shown = json.loads(outcome.stdout)
    expect(shown["images"][0]["profile"]["runs"] == 3, shown)  # including runs with a read-only database


# --- Missing files --------------------------------------------------------------------------------


def check_vanished(scratch):
    """The program or a library is missing for a while."""
    world, program = World(scratch), common.first_program("linked.dynamic")
    image, library = world.copy(program.image), world.copy(program.libraries[0].path)
    world.environment["LD_LIBRARY_PATH"] = str(library.parent)
    for step in (["register", image, "--name", "app"], ["instrument", "app"]):
        world.ok(*step)
    expected = common.run_program(image, program.runs[0], library.parent)
    same_behaviour(expected, world.respike("run", "app", *program.runs[0].args), "instrumented")
    world.ok("collect")
    away = world.folder / "away"
    library.rename(away)
    for command in ("instrument", "optimize"):
        outcome = world.ok(command, "app")
        expect(f"{library}: left alone: the file does not exist" in outcome.stdout.decode(), outcome)
    for command in (["instrument", "app", "--image", library.name], ["export", "app", world.folder / "out"]):
        expect_refusal(world.respike(*command), f"{library}: the file does not exist", command)
    shown = world.images("app")
    expect(shown[library.name]["problem"] == "the file does not exist", shown[library.name])
    expect(not (world.folder / "out").exists(), "something was exported")
    away.rename(library)
    image.rename(away)
    for command in (["instrument", "app"], ["optimize", "app"], ["run", "app"], ["export", "app", world.folder / "out"]):
        outcome = world.respike(*command)
        expect_refusal(outcome, str(image), command)
    expect(f"{image} (the file does not exist)" in world.ok("list").stdout.decode(), "list tells")
    away.rename(image)
    shown = world.images("app")
    expect(all(shown[i.name]["profile"]["runs"] == 1 for i in (image, library)), shown)
    world.ok("optimize", "app")
    world.ok("export", "app", world.folder / "out")


NO_NAMESPACES = """echo 0 > /proc/sys/user/max_user_namespaces
echo 0 > /proc/sys/user/max_mnt_namespaces
exec "$@"
"""


def check_origin_without_namespaces(scratch):
    """Executed by its own path, the substitute would not find libraries beside the original; so the
    original is run."""
    prefix = ["unshare", "--user", "--map-root-user", "sh", "-c", NO_NAMESPACES, "sh"]
    if common.run_command([*prefix, "true"]).status != 0:
        raise Skip("no user namespaces here")
    world = World(scratch)
    folder, source = world.folder / "installed", scratch.file("chain.c")
    folder.mkdir()
    source.write_text(CHAIN)
    library, main, plain = folder / "liball.so", folder / "main", folder / "plain"
    compiler = [common.compiler(), "-O2", "-Wl,-q"]
    both = ["-DLAST", "-fPIC", "-shared", "-o", scratch.file("last.o")]
    subprocess.run([*compiler, *both, source], check=True)
    subprocess.run([*compiler, "-DMIDDLE", "-fPIC", "-shared", source, both[-1], "-o", library], check=True)
    shutil.copy(both[-1], folder / "last.o")
    for output, option in ((main, "-Wl,-rpath,$ORIGIN"), (plain, f"-Wl,-rpath,{folder}")):
        link = [library, both[-1], option, f"-Wl,-rpath-link,{both[-1].parent}"]
        subprocess.run([*compiler, source, *link, "-o", output], check=True)
    world.environment["LD_LIBRARY_PATH"] = str(both[-1].parent)
    for program, counts in ((main, False), (plain, True)):
        for step in (["register", program], ["instrument", program.name]):
            world.ok(*step)
        outcome = common.run_command([*prefix, common.RESPIKE, "run", program.name], env=world.environment)
        expect(outcome.behaviour() == (0, b"14\n"), outcome)
        warnings = outcome.stderr.decode()
        expect(("not substituted: " in warnings) and (str(library) in warnings), warnings)
        expect((f"{program} is executed as " in warnings) == counts, warnings)
        expect(len(world.spool()) == counts, f"{len(world.spool())} counter files")
        world.ok("collect")


# --- At once, and killed --------------------------------------------------------------------------


def check_registered_at_once(scratch):
    """If several commands register the same application at once, all succeed, and one of them adds
    it."""
    world, program = World(scratch), common.first_program("linked.dynamic")
    image, library = world.copy(program.image), world.copy(program.libraries[0].path)
    world.environment["LD_LIBRARY_PATH"] = str(library.parent)
    for number in range(5):
        command = [common.RESPIKE, "register", image, "--name", f"app{number}", "--json"]
        started = [
            subprocess.Popen([str(c) for c in command], env=world.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for _ in range(4)
        ]
        for process in started:
            out, err = process.communicate(timeout=120)
            expect(process.returncode == 0 and not err, err)
    for table, column in (("application", "name"), ("image", "path"), ("build", "image"), ("shape", "build")):
        rows = [row for (row,) in rows_of(world.database, f"select {column} from {table}")]
        expect(len(rows) == len(set(rows)) and rows, f"{table}: {rows}")
    expect(rows_of(world.database, "pragma integrity_check") == [("ok",)], "integrity_check")
    expect(len(world.images("app0")) == len(libraries_of(world)) + 1, "its libraries")


def check_forgotten_at_once(scratch):
    """Commands register, forget and prune the same application at once: each does its work, or says that there is no such
    application; the application has the images of its own program."""
    world = World(scratch)
    image = build_echo(scratch)
    world.ok("register", image, "--name", "app")
    refused = f'respike: no application "app" is registered in {world.database}\n'
    end = time.monotonic() + 1.2
    unexpected, counts = [], dict.fromkeys(("register", "unregister", "prune"), 0)

    def repeat(*command):
        while time.monotonic() < end:
            outcome = world.respike(*command)
            counts[command[0]] += outcome.status == 0
            text = outcome.stderr.decode()
            if text and not (outcome.status == 1 and command[0] == "unregister" and text == refused):
                unexpected.append(f"{command[0]}: {text}")

    commands = 2 * [("register", image, "--name", "app"), ("unregister", "app")] + [("prune",)]
    threads = [threading.Thread(target=repeat, args=command) for command in commands]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(not unexpected, "".join(sorted(set(unexpected))))
    expect(min(counts.values()) > 0, f"{counts}")
    world.ok("register", image, "--name", "app")
    main = [entry["path"] for entry in world.show("app")["images"] if entry["role"] == "main"]
    expect(main == [str(image.resolve())], f"{main}")


def check_commands_at_once(scratch):
    """All commands run at the same time, on applications with the same image: none fails, each run
    counts once."""
    world = World(scratch)
    image = world.copy(build_echo(scratch))
    for step in (["register", image, "--name", "app"], ["register", image, "--name", "other"]):
        world.ok(*step)
    for step in (["instrument", "app"], ["optimize", "other"]):  # app stays in its mode
        world.ok(*step)
    others = [["collect"], ["optimize", "other"], ["instrument", "app"], ["instrument", "app", "--counters", "atomic"]]
    others += [["export", "other", world.folder / "out"], ["show", "app"], ["prune"], ["run", "other"]]
    others += [["register", image, "--name", "app"], ["mode", "other", "optimized"]]
    counted = []

    def work(number):
        chance = random.Random(number)
        for _ in range(12):
            outcome = world.respike("run", "app")
            expect(outcome.behaviour() == (0, b"- -\n0\n") and not outcome.stderr, outcome)
            counted.append(outcome)
            outcome = world.ok(*chance.choice(others))
            expect(b"warning" not in outcome.stderr, outcome)

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    world.ok("collect")
    expect(rows_of(world.database, "pragma integrity_check") == [("ok",)], "integrity_check")
    runs = world.images("app")[image.name]["profile"]["runs"]
    merged = rows_of(world.database, "select count(*), sum(state = 'finished') from run")[0]
    expect(runs == len(counted) == 72 and merged == (72, 72), f"{len(counted)} runs, {runs} in the profile, {merged}")
    expect(not world.spool(), "merged files stay")


def libraries_of(world):
    return rows_of(world.database, "select distinct image from application_image where role = 'linked'")


OPENS = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int count, char** arguments) {
  void* library = dlopen(arguments[1], RTLD_NOW);
  int (*value)(void) = library ? (int (*)(void))dlsym(library, "value") : 0;
  printf("%d\n", value ? value() : -1);
  fflush(stdout);
  pause();
  return 0;
}
"""


def check_killed_after_opening(scratch):
    """Opened libraries and counts are known although `respike run` and the program are killed."""
    world = World(scratch)
    source, chain, image = scratch.file("opens.c"), scratch.file("chain.c"), world.folder / "opens"
    source.write_text(OPENS)
    chain.write_text(CHAIN)
    compiler = [common.compiler(), "-O2", "-Wl,-q"]
    subprocess.run([*compiler, source, "-o", image], check=True)
    libraries = [world.folder / f"libvalue{n}.so" for n in range(2)]
    for library in libraries:
        subprocess.run([*compiler, "-DLAST", "-fPIC", "-shared", chain, "-o", library], check=True)
    for step in (["register", image, "--name", "app"], ["instrument", "app"]):
        world.ok(*step)
    for runs, library in enumerate(libraries, 1):
        command = [common.RESPIKE, "run", "app", library]
        process = subprocess.Popen(
            [str(c) for c in command], env=world.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        )
        expect(process.stdout.readline() == b"7\n", "it runs")
        process.kill()
        process.communicate()
        outcome = world.ok("show", "app")
        expect(f"loaded {library}".encode() in outcome.stderr, outcome.stderr)
        shown = world.images("app")
        expect(shown[library.name]["role"] == "opened" and shown[library.name]["optimizable"], shown)
        # Until the kernel has ended the process.
        common.wait_until(lambda: world.ok("collect") and not world.spool(), "a counter file stays")
        expect(world.images("app")["opens"]["profile"]["runs"] == runs, shown)
    text = world.ok("instrument", "app").stdout.decode()
    expect(text.count("up to date") == 3, text)  # the runs have made the versions of the libraries


def build_opening(world, scratch):
    """The program `opens`, and a library that it can open, linked as `world.library`."""
    source, chain, image = scratch.file("opens.c"), scratch.file("chain.c"), world.folder / "opens"
    source.write_text(OPENS.replace("pause()", "0"))
    chain.write_text(CHAIN)
    compiler = [common.compiler(), "-O2", "-Wl,-q"]
    subprocess.run([*compiler, source, "-o", image], check=True)
    library = world.folder / "libvalue.so.1"
    subprocess.run([*compiler, "-DLAST", "-fPIC", "-shared", chain, "-o", library], check=True)
    return image, library


CALLS = r"""
#include <unistd.h>
int main(int count, char** arguments) { return count > 1 ? execv(arguments[1], arguments + 1) : 3; }
"""


def check_inside_a_run(scratch):
    """Commands that a program calls inside a run do not take the versions for originals; they say
    so and change nothing."""
    world = World(scratch)
    source, image, link = scratch.file("calls.c"), world.folder / "bin" / "calls", world.folder / "link"
    source.write_text(CALLS)
    image.parent.mkdir()
    link_alone(source, image)
    link.symlink_to(image)
    world.ok("register", image, "--name", "app")
    rows = "select (select count(*) from image), (select count(*) from build), (select count(*) from derived_image)"
    commands = [["instrument", "app"], ["optimize", "app"], ["export", "app", world.folder / "out"]]
    commands += [["register", image], ["register", link], ["--db", world.folder / "other.db", "register", image]]
    word = "part of a run"
    for mode in ("instrument", "optimize"):
        world.ok(mode, "app")
        before = rows_of(world.database, rows)
        for command in commands:
            outcome = world.respike("run", "app", common.RESPIKE, *command)
            text = outcome.stderr.decode()
            expect(outcome.status == 1 and word in text and text.count("\n") == 1, f"{mode}, {command}: {outcome}")
        outcome = world.respike("run", "app", common.RESPIKE, "show", "app")
        expect(outcome.status == 0 and word in outcome.stdout.decode(), outcome)
        for inner in ("original", "instrumented", "optimized"):
            switch = f'"{common.RESPIKE}" mode app {inner} && exec "{common.RESPIKE}" run app'
            outcome = world.respike("run", "app", "/bin/sh", "-c", switch)
            text = outcome.stderr.decode()
            said = [line for line in text.splitlines() if word in line]
            expect(outcome.status == 3 and len(said) == 1, f"{mode}, {inner}: {outcome}")
            world.ok("mode", "app", mode + ("ed" if mode == "instrument" else "d"))
        expect(rows_of(world.database, rows) == before, "something was registered or made")
        shown = world.images("app")[image.name]
        expect(shown["builds"] == 1 and not shown["problem"], shown)


def check_odd_paths(scratch):
    """Opened libraries are noted for every place of the database. The dynamic linker and the emulator get paths by
    environment variables."""
    for name in ("a:b", "a;b", "a,b", "a$ORIGIN", "${LIB}", "ü\n b"):
        world = World(scratch)
        world.database = world.folder / name / "x.db"
        world.environment["RESPIKE_DB"] = str(world.database)
        image, library = build_opening(world, scratch)
        for step in (["register", image, "--name", "app"], ["instrument", "app"]):
            world.ok(*step)
        outcome = world.ok("run", "app", library)
        expect(outcome.stdout == b"7\n" and not outcome.stderr, f"{name}: {outcome}")
        expect(library.name in world.images("app"), f"{name}: the library was not noted")


def check_two_names(scratch):
    """A library that is opened by its name and by a symbolic link is a single image."""
    world = World(scratch)
    image, library = build_opening(world, scratch)
    link = world.folder / "a_link.so"
    for step in (["register", image, "--name", "app"], ["instrument", "app"], ["run", "app", library], ["instrument", "app"]):
        world.ok(*step)
    link.symlink_to(library.name)
    for name in (library, link):
        expect(world.ok("run", "app", name).stdout == b"7\n", "it runs")
    shown = world.images("app")
    expect(library.name in shown and link.name not in shown, f"two images of one file: {sorted(shown)}")
    expect(shown[library.name]["profile"]["runs"] == 3, shown[library.name])
    text = world.ok("optimize", "app").stdout.decode()
    expect("static estimates" not in text, text)
    other = world.folder / "other.so"
    shutil.copy(library, other)
    link.unlink()
    link.symlink_to(other.name)
    note = world.ok("show", "app").stderr.decode()
    expect(f"loaded {link}" in note, f"the link leads to another file: {note}")
    world.ok("optimize", "app")
    link.unlink()
    link.symlink_to(library.name)
    expect(world.ok("run", "app", link).stdout == b"7\n", "the link leads back")


# Works like pbuilder, with the host's files in place of an installed system: sh -c IN_CHROOT sh ROOT OPTION COMMAND...
# prints on which mount ROOT lies, and whether mounts have changed outside.
IN_CHROOT = r"""
umask 022
root=$1 option=$2; shift 2
for folder in usr tmp proc etc dev $FOLDERS; do mkdir -p "$root/$folder" && mount --rbind "/$folder" "$root/$folder" || exit 77; done
for link in bin sbin lib lib64; do [ ! -L /$link ] || ln -sfn usr/$link "$root/$link"; done
stat -c %m "$root"
before=$(wc -l < /proc/self/mountinfo)
chroot $option "$root" "$@"
status=$?
[ "$before" = "$(wc -l < /proc/self/mountinfo)" ] || echo "mounts have changed outside"
exit $status
"""


def check_chroot(scratch):
    """In a root folder that is not a mount, root's commands count and substitute as elsewhere, and nothing changes
    outside; others are told what to do."""
    if os.geteuid() != 0:
        raise Skip("only root may chroot")
    world = World(scratch)
    echo = world.folder / "echo"
    shutil.copy(build_echo(scratch), echo)
    root = world.folder / "root"
    folders = {str(pathlib.Path(common.RESPIKE).resolve().parent).strip("/"), str(world.folder).strip("/")}
    environment = {**world.environment, "FOLDERS": " ".join(each for each in folders if not each.startswith("tmp/"))}

    def inside(*command, option="--"):
        words = ["unshare", "--mount", "--propagation", "shared", "sh", "-c", IN_CHROOT, "sh", root, option, *command]
        return common.run_command(words, env=environment)

    probe = inside("true")
    if probe.status != 0:
        raise Skip(f"nothing can be mounted here: {probe.stderr}")
    expect(probe.stdout.strip() != str(root).encode(), "the root folder is a mount")
    world.ok("register", echo)
    world.ok("instrument", "echo")
    for command in (["run", "echo", "a"], ["exec", "echo", "--", echo, "a"], ["exec", "echo", "--", "sh", "-c", f"cd / && {echo} a"]):
        outcome = inside(common.RESPIKE, *command)
        expect(outcome.status == 0 and b"[a]\n" in outcome.stdout, f"{command}: {outcome}")
        expect(b"mount" not in outcome.stderr and b"have changed" not in outcome.stdout, f"{command}: {outcome}")
    expect(world.images("echo")["echo"]["profile"]["runs"] == 3, "not all runs were counted")
    outcome = inside(common.RESPIKE, "exec", "echo", "--", "true", option="--userspec=65534:65534")
    lines = outcome.stderr.splitlines()  # another one may say that this user's runs are not counted
    expect(outcome.status == 125 and [b"mount --bind" in line for line in lines].count(True) == 1, f"{outcome}")


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        checks = {
            "full disk": check_full,
            "read-only disk": check_read_only,
            "damaged database": check_damaged,
            "damaged images": check_damaged_images,
            "spool": check_spool,
            "rights": check_rights,
            "vanished images": check_vanished,
            "origin without namespaces": check_origin_without_namespaces,
            "inside a run": check_inside_a_run,
            "odd paths": check_odd_paths,
            "chroot": check_chroot,
            "two names": check_two_names,
            "registered at once": check_registered_at_once,
            "forgotten at once": check_forgotten_at_once,
            "commands at once": check_commands_at_once,
            "killed after opening": check_killed_after_opening,
        }
        return common.run_cases(common.named_cases(checks, scratch), args)


if __name__ == "__main__":
    sys.exit(main())
