#!/usr/bin/env python3
"""Windows that are killed, that are one of several, and whose database goes away.

A window without a display (window_driver.cc) performs the actions of this test, one at a time. The invariants of a
database and of its files are those of killed_test.py, which does the same with the command line. Environment:
RESPIKE_WINDOW_KILLS, how often each action is killed (default 2)."""

import json
import os
import pathlib
import queue
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import common
import killed_test as killed
from common import expect

DRIVER = os.environ.get("RESPIKE_WINDOW", str(pathlib.Path(common.RESPIKE).parent / "window_driver"))
KILLS = int(os.environ.get("RESPIKE_WINDOW_KILLS", 2))  # of each action
COMMAND_LINES = 10
WAIT = 60.0
PROMISED = 2.0  # changes by others show within this time, in seconds
GONE = 5.0  # so does a database that goes away or comes back
TIMES = 10  # at most: the best of them counts, since other programs may use the processors
BLOCKED_MS = 1000  # with ten command lines on a few processors; alone a window is held up 100 ms at most
NOBODY = 65534


# --- A window -------------------------------------------------------------------------------------


class Window:
    """A process with a window on the database of a world."""

    def __init__(self, world, user=None):
        self.said = []  # [(kind, text)]
        self.events = queue.Queue()
        self.blocked_ms = 0  # the longest time without an event, though the window had a processor
        environment = dict(world.environment, RESPIKE=common.RESPIKE, HOME=str(world.folder), XDG_CONFIG_HOME=str(world.folder))
        self.process = subprocess.Popen(
            [DRIVER, "--db", world.database],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            user=user,
            group=user,
            start_new_session=True,
            text=True,
        )
        threading.Thread(target=self._read, daemon=True).start()
        self.wait("its first page", lambda: self.shown() is not None)
        self.blocked_ms = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def _read(self):
        for line in self.process.stdout:
            event = json.loads(line)
            if event["event"] == "said":
                self.said.append((event["kind"], event["text"]))
            else:
                self.events.put(event)
        self.events.put(None)

    def next_event(self, name):
        while True:
            event = self.events.get(timeout=WAIT)
            if event is None:
                raise common.Failure(f"the window ended with status {self.process.wait()}")
            if event["event"] == name:
                return event

    def send(self, *words):
        self.process.stdin.write("\t".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def shown(self):
        self.send("show")
        shown = self.next_event("shown")
        self.blocked_ms = max(self.blocked_ms, shown["blocked_ms"])
        return shown

    def rows(self):
        """{application: the texts of its other columns}"""
        return {row[0]: row[1:] for row in self.shown()["rows"]}

    def start(self, *words):
        """Starts an action, and returns when the action begins."""
        self.send(*words)
        self.next_event("started")

    def act(self, *words):
        """Does an action to its end; returns how it ended."""
        self.start(*words)
        return self.next_event("ended")["state"]

    def ok(self, *words):
        state = self.act(*words)
        expect(state == "done", f"{words}: {state}: {self.said}")

    def wait(self, what, condition):
        end = time.monotonic() + WAIT
        while not condition():
            if time.monotonic() > end:
                raise common.Failure(f"the window does not show {what}: {self.shown()}, {self.said}")
            time.sleep(0.05)

    def errors(self):
        return [text for kind, text in self.said if kind == "error"]

    def kill(self):
        """Ends the process without a warning; returns when its programs have also ended."""
        self.process.kill()
        self.process.wait()
        end = time.monotonic() + WAIT
        while others := processes_of(self.process.pid):
            expect(time.monotonic() < end, f"of a killed window are still running: {others}")
            time.sleep(0.02)

    def seconds_of_processor(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def processes_of(session):
    """The processes of a session that have not ended."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().rpartition(")")
        except OSError:
            continue  # the process ended
        state, _, _, its_session = rest.split()[:4]
        if int(its_session) == session and state not in "ZX":
            found.append(name)
    return found


# --- Windows that are killed ----------------------------------------------------------------------
#
# Each function prepares work for one action, and returns the action's words.


def prepare_optimized(world):
    world.ok("mode", "app", "instrumented")
    world.run()
    world.ok("optimize", "app")


def prepare_verify(world):
    prepare_optimized(world)
    return ["verify", "app"]


def prepare_compare(world):
    prepare_optimized(world)
    return ["compare", "app"]


ACTIONS = killed.COMMANDS | {"verify": prepare_verify, "compare": prepare_compare}


def check_killed(scratch, name, prepare):
    world = killed.World(scratch, name)
    with Window(world) as window:
        args = prepare(world)
        start = time.monotonic()
        window.ok(*args)
        duration = time.monotonic() - start
        expect(not window.errors(), window.errors())
        world.finished += name == "run"
    hit = 0
    for attempt in range(KILLS + 1):
        if attempt == KILLS and hit != 0:
            break  # the last attempt is for actions that were too fast for the others
        with Window(world) as window:
            args = tuple(prepare(world))
            if attempt < KILLS:
                window.start(*args)
                time.sleep(world.random.uniform(0, 0.8 * duration))
            else:
                window.send("die", *args)
                window.process.wait()
            window.kill()
        hit += all(event["event"] != "ended" for event in iter(window.events.get, None))
        world.killed_runs += name == "run"

        def again(args=args):
            if name == "unregister" and not world.query(f"select 1 from application where name = '{args[1]}'"):
                return
            with Window(world) as window:
                window.ok(*args)
                expect(not window.errors(), window.errors())
            world.finished += name == "run"

        killed.check_after(world, again)
    killed.check_end(world)
    return hit


# --- Several windows and command lines ------------------------------------------------------------


class Commands(threading.Thread):
    """A command line that works on an application of its own, and runs an application of all."""

    def __init__(self, world, number, image):
        super().__init__()
        self.world, self.number, self.image = world, number, image
        self.problem = None
        self.runs = 0

    def run(self):
        name = self.image.name
        steps = [("register", self.image), ("instrument", name), ("run", name), ("collect",), ("optimize", name),
                 ("show", name), ("run", name), ("mode", name, "instrumented"), ("run", name), ("list",),
                 ("prune", "--keep", "1")]
        if self.number % 3 == 0:
            steps.append(("unregister", name))
        try:
            for step in steps:
                common.respike_ok(*step, env=self.world.environment)
                common.respike_ok("run", "app", env=self.world.environment)
                self.runs += 1
        except Exception as problem:
            self.problem = problem


def check_many(scratch):
    world = killed.World(scratch, "many")
    world.ok("register", world.copy("theirs"))
    with Window(world) as one, Window(world) as other:
        lines = [Commands(world, i, world.another()) for i in range(COMMAND_LINES)]
        for line in lines:
            line.start()
        number = 0
        while any(line.is_alive() for line in lines):
            window = (one, other)[number % 2]
            image = world.copy(f"window{number}")
            for step in (["register", image], ["instrument", "theirs"], ["run", "theirs"], ["optimize", "theirs"],
                         ["verify", "theirs"], ["collect"]):
                window.ok(*step)
            number += 1
        for line in lines:
            line.join()
            expect(line.problem is None, f"command line {line.number}: {line.problem}")
            world.finished += line.runs
        listed = {a["name"] for a in json.loads(world.ok("list", "--json").stdout)["applications"]}
        for window in (one, other):
            window.wait("all applications", lambda w=window: set(w.rows()) == listed)
        other.wait("what the other window shows", lambda: one.rows() == other.rows())
        check_shown_soon(world, (one, other))
        blocked = max(window.blocked_ms for window in (one, other))
        expect(blocked < BLOCKED_MS, f"a window handled no event for {blocked} ms")
        for window in (one, other):
            expect(not window.errors(), f"errors: {window.errors()}")
    killed.check_database(world)
    killed.check_files(world)
    runs_of_app(world)
    print(
        f"{COMMAND_LINES} command lines with {world.finished} runs beside two windows with {number} rounds, "
        f"which handled no event for {blocked} ms at most"
    )


def at_best(what, limit, seconds):
    """The least that seconds(number) gives, in TIMES times at most, is within the limit."""
    took = []
    while len(took) < TIMES and min(took, default=limit + 1) > limit:
        took.append(seconds(len(took)))
    print(f"{what} after {min(took):.1f} s")
    expect(min(took) <= limit, f"{what} after {took} s")


def seconds_until(window, what, condition):
    start = time.monotonic()
    window.wait(what, condition)
    return time.monotonic() - start


def check_shown_soon(world, windows):
    """Changes by a command line show in all windows."""

    def once(number):
        name = f"soon{number}"
        world.ok("register", world.copy(name))
        return sum(seconds_until(window, name, lambda w=window: name in w.rows()) for window in windows)

    at_best("another process's work shows", PROMISED, once)


def runs_of_app(world):
    """No run of the application `app` is lost: each enters `work` seven times."""
    (applied,) = (a for a in json.loads(world.ok("show", "app", "--json").stdout)["images"] if a["role"] == "main")
    expect(applied["profile"]["runs"] == world.finished, f"{applied['profile']} instead of {world.finished} runs")


# --- A database that goes away --------------------------------------------------------------------


def world_of_nobody(scratch):
    """A world whose files belong to the user that its windows run as: root may write anything."""
    world = killed.World(scratch, "nobody")
    if os.geteuid() != 0:
        return world, None
    scratch.path.chmod(0o755)
    for path in [world.folder, *world.folder.rglob("*")]:
        os.chown(path, NOBODY, NOBODY)
    if subprocess.run([DRIVER], user=NOBODY, group=NOBODY, capture_output=True).returncode != 2:
        raise common.Skip("another user cannot start programs of this folder")
    return world, NOBODY


def set_writable(world, writable):
    for path in [world.folder, *world.folder.rglob("*")]:
        if path.is_dir() or path.is_file():
            mode = path.stat().st_mode & 0o777
            path.chmod(mode | 0o200 if writable else mode & ~0o222)


def expect_rest(window, what):
    """The window does not spin while its database is away."""
    before, start = window.seconds_of_processor(), time.monotonic()
    time.sleep(2)
    used, passed = window.seconds_of_processor() - before, time.monotonic() - start
    expect(used < passed / 2, f"{what}: {used:.1f} s of a processor in {passed:.1f} seconds")


def check_read_only(scratch):
    world, user = world_of_nobody(scratch)
    with Window(world, user) as window:
        window.wait("app", lambda: "app" in window.rows())
        set_writable(world, False)
        state = window.act("mode", "app", "original")
        expect(state == "failed" and window.errors(), f"read-only: {state}, {window.said}")
        expect_rest(window, "read-only")
        expect("app" in window.rows(), "what was read last is gone")
        with Window(world, user) as late:
            late.wait("a sentence or the application", lambda: late.shown()["problem"] or late.rows())
        set_writable(world, True)
        window.wait("that all is well", lambda: not window.shown()["problem"])
        window.ok("mode", "app", "original")
        print("read-only: " + window.errors()[0])


def check_vanished(scratch):
    world, user = world_of_nobody(scratch)
    away = world.folder.with_name(world.folder.name + "-away")
    with Window(world, user) as window:
        window.wait("app", lambda: "app" in window.rows())

        def seconds_until_gone():
            said = len(window.said)
            world.folder.rename(away)
            is_gone = lambda: not window.rows() and any("gone" in text for _, text in window.said[said:])
            return seconds_until(window, "that the database is gone", is_gone)

        def seconds_until_back():
            away.rename(world.folder)
            return seconds_until(window, "app", lambda: "app" in window.rows())

        at_best("a database that goes away and comes back shows", GONE, lambda _: max(seconds_until_gone(), seconds_until_back()))
        seconds_until_gone()
        state = window.act("mode", "app", "original")
        expect(state == "failed" and window.errors(), f"renamed: {state}, {window.said}")
        expect(not world.folder.exists(), "the window made a database where there was one")
        expect_rest(window, "renamed")
        seconds_until_back()
        window.ok("mode", "app", "original")
        for end in ("", "-wal", "-shm"):
            pathlib.Path(f"{world.database}{end}").unlink(missing_ok=True)
        window.wait("that nothing is left", lambda: not window.rows())
        window.ok("register", world.image)
        window.wait("app", lambda: "app" in window.rows())
        print("vanished: " + "; ".join(window.errors()))


def main():
    args = common.argument_parser(__doc__).parse_args()
    hits = {}
    with common.Scratch() as scratch:
        def kill(name, prepare):
            hits[name] = check_killed(scratch, name, prepare)

        cases = [common.Case(f"{n} is killed", lambda n=n, p=p: kill(n, p)) for n, p in ACTIONS.items()]
        cases += common.named_cases({"many": check_many, "read-only": check_read_only, "vanished": check_vanished}, scratch)
        status = common.run_cases(cases, args)
    if hits:
        print("killed before the end: " + ", ".join(f"{name} {hit} of {KILLS}" for name, hit in sorted(hits.items())))
        missed = [name for name, hit in hits.items() if hit == 0]
        expect(not missed, f"came to their end before their windows were killed: {missed}")
    return status


if __name__ == "__main__":
    sys.exit(main())
