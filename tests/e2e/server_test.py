#!/usr/bin/env python3
"""check and compare of servers, with a driver: servers of one process, of threads, of workers, and in the background.

The optimized version is replaced in the store by a server that answers otherwise, works longer, or whose workers die:
the verdict must notice, also when the driver gets all of its answers. Oracle of the processor time: the work is known,
and none of it is the driver's."""

import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import time

import common
from applications import World
from common import expect

HERE = pathlib.Path(__file__).resolve().parent / "server"
CAN_WATCH = tuple(int(n) for n in os.uname().release.split("-")[0].split(".")[:2]) >= (6, 15)


def compile_server(path, kind=0):
    subprocess.run(["gcc", "-O1", "-Wl,-q", f"-DKIND={kind}", HERE / "server.c", "-o", path, "-lpthread"], check=True)


class Server:
    """An optimized server, and drivers for it."""

    def __init__(self, scratch):
        self.world = World(scratch)
        self.program = self.world.folder / "server"
        self.socket = self.world.folder / "socket"
        compile_server(self.program)
        self.world.ok("register", self.program)
        self.world.ok("instrument", "server")
        self.world.ok("run", "server", "20", "work")
        self.world.ok("optimize", "server")

    def driver(self, *words):
        return " ".join([sys.executable, str(HERE / "driver.py"), str(self.socket), *map(str, words)])

    def run(self, command, way, driver, *options, **keywords):
        words = [command, "server", "--driver", driver, *options, "--", self.socket, way]
        outcome = self.world.respike(*words, **keywords)
        expect(self.nothing_is_left(), f"{words}: processes of the server are left")
        return outcome

    def check(self, way, driver, *options):
        outcome = self.run("check", way, driver, "--json", *options)
        expect(outcome.stdout, f"{outcome}")
        return outcome.status, json.loads(outcome.stdout)

    def nothing_is_left(self):
        return subprocess.run(["pgrep", "-f", str(self.socket)], capture_output=True).returncode == 1

    def replace_version(self, kind):
        """Puts another server into the store, in place of the optimized server."""
        connection = sqlite3.connect(self.world.database)
        query = "select id, content_hash from derived_image where kind = 'optimized'"
        ((number, content),) = connection.execute(query).fetchall()
        (file,) = pathlib.Path(f"{self.world.database}.files").glob(f"images/*/{content}")
        compile_server(file, kind)
        s = file.stat()
        values = (s.st_size, s.st_mtime_ns, s.st_ino, s.st_ctime_ns, number)
        connection.execute("update derived_image set file_size=?, file_modified=?, file_inode=?, file_changed=? where id=?", values)
        connection.commit()
        connection.close()


def check_ways(scratch):
    """Each kind of server: the same answers, and all of its processor time, in all its processes."""
    server = Server(scratch)
    costs = {}
    for way in ("plain", "threads", "forks", "workers", "daemon"):
        status, c = server.check(way, server.driver(60), "--runs", "2")
        expect(status == 0 and c["ship"] and c["compared"] == "output and exit status" and c["model"] == "", f"{way}: {c}")
        expect(c["driver"] == server.driver(60) and len(c["before"]) == 2 and c["cost"] == "microseconds", f"{way}: {c}")
        costs[way] = min(c["before"])
    # 60 requests of 1000 * n rounds each, n from 5 to 64: the work is the same in all, and starting takes the rest.
    expect(min(costs.values()) > 0.6 * costs["plain"], f"work of some processes is lost: {costs}")
    text = server.run("check", "plain", server.driver(3), "--runs", "2").stdout.decode()
    expect("compared                driver's output and exit status" in text and f"driver                  {server.driver(3)}" in text, text)


def check_faults(scratch):
    """The driver's view, and what is hidden from it."""
    server = Server(scratch)
    server.replace_version(1)
    status, c = server.check("workers", server.driver(4), "--runs", "2")
    expect(status == 1 and "behaves otherwise: in run 1 standard output differs from byte 0 on" in c["verdict"], c)
    server.replace_version(3)
    status, c = server.check("plain", server.driver(8, "retry"), "--runs", "2", "--stop-within", "2")
    expect(status == 1 and "a process of the server dies by signal 11 (Segmentation fault)" in c["verdict"], c)
    for way in ("workers", "daemon") if CAN_WATCH else ():
        status, c = server.check(way, server.driver(8, "retry"), "--runs", "2")
        expect(status == 1 and "a process of the server dies by signal 11" in c["verdict"], f"{way}: {c}")
    status, c = server.check("workers", server.driver(4, "retry"), "--runs", "2")
    expect(status == 0, f"nobody died: {c}")
    server.replace_version(2)
    status, c = server.check("workers", server.driver(20), "--runs", "8")
    expect(status == 1 and c["verdict"].startswith("do not ship: it is slower, by ") and c["measurable"], c)
    server.replace_version(4)  # then Respike ends the driver
    outcome = server.run("compare", "plain", server.driver(2, "time"), "--stop-within", "1")
    text = "server: the optimized version does not behave like the original: a process of the server dies by signal 11 (Segmentation fault)\n"
    expect(outcome.status == 1 and outcome.stderr.decode().endswith(text) and b"\nsame output             no\n" in outcome.stdout, outcome)


def check_state(scratch):
    """--before removes traces of earlier runs; its message when it fails."""
    server = Server(scratch)
    runs = server.world.folder / "runs"
    driver = f"{server.driver(2)}; echo run >> {runs}; wc -l < {runs}"
    status, c = server.check("plain", driver, "--runs", "2")
    expect(status == 0 and c["compared"] == "exit status" and "the driver prints something else each time" in c["verdict"], c)
    status, c = server.check("plain", driver, "--runs", "2", "--before", f"echo reset; rm -f {runs}")
    expect(status == 0 and c["compared"] == "output and exit status", c)
    outcome = server.run("check", "plain", driver, "--before", "echo no such table >&2; exit 5")
    expect(outcome.status == 1 and outcome.stderr == b"respike: the command before the run fails by exit status 5: no such table\n", outcome)
    outcome = server.run("compare", "daemon", server.driver(2, "time"), "--json", "--before", "true")
    c = json.loads(outcome.stdout)
    expect(outcome.status == 0 and c["same_output"] and not c["output_compared"] and 10 <= c["pairs"] <= 25, f"{outcome}")


def check_errors(scratch):
    """One sentence each, and nothing of the server is left."""
    server = Server(scratch)

    def sentence(way, driver, *options):
        outcome = server.run("check", way, driver, *options)
        expect(outcome.status == 1 and not outcome.stdout and outcome.stderr.count(b"\n") == 1, f"{way}, {driver}: {outcome}")
        return outcome.stderr.decode()

    text = sentence("fails", "exit 1")
    expect(text == f"respike: {server.program}: the server ends while the driver runs, by exit status 3: server: no such configuration\n", text)
    begin = time.monotonic()
    text = sentence("fails", "sleep 60", "--stop-within", "1")
    expect("the server ends while the driver runs, by exit status 3" in text and time.monotonic() - begin < 20, text)
    text = sentence("plain", server.driver(1, "fail"))
    expect(text.endswith("the driver fails with the original, by exit status 7: driver: too few answers\n"), text)
    text = sentence("plain", "kill -9 $$")
    expect("the driver fails with the original, by signal 9 (Killed)" in text, text)
    text = sentence("deaf", server.driver(1), "--stop-within", "1")
    expect("the server had not stopped 1 seconds after SIGTERM and was killed" in text and "--stop-within" in text, text)
    # A driver may stop the server itself.
    status, c = server.check("plain", server.driver(2, "stop"), "--runs", "2")
    expect(status == 0 and c["ship"], c)
    for options in (["--before", "true"], ["--stop-within", "3"], ["--driver", ""], ["--driver", "true", "--model", "zen3"]):
        outcome = server.world.respike("check", "server", *options, "--", server.socket, "plain")
        expect(outcome.status == 2, f"{options}: {outcome}")


def check_interrupted(scratch):
    """A signal also ends driver and server."""
    server = Server(scratch)
    for number in (signal.SIGINT, signal.SIGKILL):
        command = [common.RESPIKE, "check", "server", "--driver", "sleep 100.25", "--", server.socket, "daemon"]
        process = subprocess.Popen(command, env=server.world.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        common.wait_until(lambda: server.socket.exists() and not subprocess.run(["pgrep", "-f", "sleep 100.25"], capture_output=True).returncode,
                          "the server and its driver run")
        process.send_signal(number)
        expect(process.wait(timeout=common.TOOL_TIMEOUT) == -number, f"{process}")
        common.wait_until(server.nothing_is_left, "the server ends")
        common.wait_until(lambda: subprocess.run(["pgrep", "-f", "sleep 100.25"], capture_output=True).returncode, "the driver ends")
        server.socket.unlink()


def check_guard(scratch, way, *command):
    """The guard sees workers die, in the foreground and in the background, whichever process waits for them; the daemon
    is adopted by the same process as without Respike."""
    server = Server(scratch)
    server.replace_version(3)
    pids = server.world.folder / "pids"

    def start():
        words = [word if word != "PROGRAM" else server.program for word in command]
        return subprocess.Popen([common.RESPIKE, *words, server.socket, way, pids], env=server.world.environment, stderr=subprocess.DEVNULL,
                                start_new_session=True)  # the master ends its process group

    def stop(process):
        os.kill(int(pids.read_text().split()[0]), signal.SIGTERM)
        expect(process.wait(timeout=common.TOOL_TIMEOUT) == 0, f"{process}")
        common.wait_until(server.nothing_is_left, "server and attendant end")
        server.socket.unlink()
        pids.unlink()

    def drive(*words):
        subprocess.run(server.driver(*words), shell=True, check=True, stdout=subprocess.DEVNULL)
        common.wait_until(lambda: pids.exists() and len(pids.read_text().split()) == 3, "the workers run")

    def is_guarded():
        return server.world.show("server")["guarded"]

    process = start()
    drive(4, "retry")
    if way == "daemon":
        expect(process.wait(timeout=common.TOOL_TIMEOUT) == 0, "the command ends at once")
        parent = pathlib.Path(f"/proc/{pids.read_text().split()[0]}/stat").read_text().rpartition(")")[2].split()[1]
        name = pathlib.Path(f"/proc/{parent}/comm").read_text()
        expect("respike" not in name, f"{name} has adopted the daemon")
    time.sleep(0.5)
    expect(not is_guarded(), "nobody has died")
    drive(8, "retry")
    common.wait_until(is_guarded, "the fault of a worker is noted")
    expect(server.world.show("server")["fault"]["signal"] == "SIGSEGV", "another signal")
    stop(process)
    expect(b"died of SIGSEGV: its original runs" in server.world.ok("list").stderr, "no warning")
    process = start()  # the original's workers do not die
    drive(8)
    stop(process)
    server.world.ok("mode", "server", "optimized", "--again")
    process = start()
    drive(4, "retry")
    stop(process)
    expect(not is_guarded(), "nobody has died this time")


def cases(scratch):
    checks = {"ways": check_ways, "faults": check_faults, "state": check_state, "errors": check_errors, "interrupted": check_interrupted}
    if CAN_WATCH:
        for way in ("workers", "daemon"):
            checks[f"guard: run, {way}"] = lambda s, w=way: check_guard(s, w, "run", "--guard", "server")
            checks[f"guard: exec, {way}"] = lambda s, w=way: check_guard(s, w, "exec", "server", "--", "PROGRAM")
    yield from common.named_cases(checks, scratch)


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))
