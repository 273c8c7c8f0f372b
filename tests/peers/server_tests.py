#!/usr/bin/env python3
"""Servers of Debian's source packages, under load, pass `respike check --driver`; with a fault in a worker they do not,
and the guard takes the optimized version back.

lighttpd, with a master and workers, under requests of several kinds, and PostgreSQL, which forks a process for each
connection, under pgbench, with its data as it was before each run. Each is trained by the load itself. The fault is an
instruction that is none, written into a procedure of the optimized image that only one kind of request comes to."""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import shlex
import shutil
import socket
import sqlite3
import subprocess
import sys
import time

import gcc_sources  # noqa: F401  (its folders of modules)
import common
import packages
import runner
import suites
from common import expect

NOBODY = 65534  # PostgreSQL does not run as root
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
LOAD = pathlib.Path(__file__).resolve().parent / "inputs" / "http_load.py"


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclasses.dataclass
class Server:
    """A server that was built. `driver(kind)`: the load, "usual" or "fault", which also reaches the procedure
    `dies`."""

    program: pathlib.Path
    arguments: list
    driver: object
    dies: str
    before: str = ""  # a command before each start: it puts the server's data back
    user: tuple = ()  # words before a command that change the user


# --- lighttpd ---------------------------------------------------------------------------------------


def _build_lighttpd(folder):
    source = packages.source("lighttpd")
    settings = [f"--prefix={folder}/installed", "CC=gcc", "CFLAGS=-O2 -w", "LDFLAGS=-Wl,--emit-relocs"]
    settings += [f"--without-{each}" for each in ("pcre2", "zlib", "bzip2", "lua")]
    build = folder / "build"
    build.mkdir()
    packages.checked(["nice", source / "configure", *settings], build, suites.LONGEST_BUILD)
    packages.checked([*suites.MAKE], build, suites.LONGEST_BUILD)
    packages.checked([*suites.MAKE, "install"], build, suites.LONGEST_BUILD)


def lighttpd(built, scratch):
    pages, port = scratch / "pages", _free_port()
    pages.mkdir()
    for number in range(50):
        (pages / f"{number}.html").write_text(f"<p>page {number}</p>\n" * (number + 1))
    configuration = scratch / "lighttpd.conf"
    configuration.write_text(
        f'server.document-root = "{pages}"\nserver.port = {port}\nserver.bind = "127.0.0.1"\nserver.max-worker = 2\n'
        'mimetype.assign = (".html" => "text/html")\n'
    )
    driver = f"{sys.executable} {shlex.quote(str(LOAD))} {port}"
    return Server(
        program=built / "installed/sbin/lighttpd",
        arguments=["-D", "-f", str(configuration), "-m", str(built / "installed/lib")],
        driver=lambda kind: driver + (" ranges" if kind == "fault" else ""),
        dies="http_range_process",
    )


# --- PostgreSQL -------------------------------------------------------------------------------------


def _build_postgresql(folder):
    source = packages.source("postgresql-15")
    settings = [f"--prefix={folder}/installed", "--without-readline", "--without-zlib", "CC=gcc", "CFLAGS=-O2 -w", "LDFLAGS=-Wl,--emit-relocs"]
    build = folder / "build"
    build.mkdir()
    packages.checked(["nice", source / "configure", *settings], build, suites.LONGEST_BUILD)
    for words in (["-C", "src"], ["-C", "src", "install"]):
        packages.checked([*suites.MAKE, *words], build, suites.LONGEST_BUILD)


def postgresql(built, scratch):
    programs, port = built / "installed/bin", _free_port()
    clean, data = scratch / "clean", scratch / "data"
    user = AS_NOBODY if os.geteuid() == 0 else ()
    for folder in (scratch, *scratch.parents):
        if folder == scratch or runner.WORK in folder.parents:
            folder.chmod(0o777)
    packages.checked([*user, programs / "initdb", "-D", clean, "-U", "u", "--no-sync", "-A", "trust"], scratch)
    options = ["-p", str(port), "-k", str(scratch), "-h", "", "-F"]
    start = [*user, programs / "postgres", "-D", clean, *options]
    with subprocess.Popen(start, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        wait = f"until {programs}/pg_isready -q -h {scratch} -p {port}; do sleep 0.05; done"
        fill = f"{wait}; {programs}/pgbench -q -i -s 2 -h {scratch} -p {port} -U u postgres"
        packages.checked([*user, "sh", "-c", fill], scratch)
        server.terminate()
    bench = f"{wait}; {programs}/pgbench -n -c 2 -j 2 -t 300 -h {scratch} -p {port} -U u postgres"
    asked = f"{programs}/psql -qAt -h {scratch} -p {port} -U u postgres -c"
    total = f"{asked} 'select count(*) from pgbench_history'"
    # The guard looks at processes every tenth of a second.
    fault = f"{asked} 'select pg_sleep(0.5)' -c \"select regexp_replace('a', 'a', 'b')\""
    return Server(
        program=programs / "postgres",
        arguments=["-D", str(data), *options],
        driver=lambda kind: f"{bench} > /dev/null 2>&1 && {total}" + (f" && {{ {fault} 2> /dev/null || true; }}" if kind == "fault" else ""),
        dies="textregexreplace_noopt",
        before=f"rm -rf {data}; cp -a {clean} {data}",
        user=user,
    )


SERVERS = {"lighttpd": (_build_lighttpd, lighttpd), "postgresql": (_build_postgresql, postgresql)}


# --- One server ---------------------------------------------------------------------------------------


class Application:
    """The server as an application of its own database."""

    def __init__(self, name, server, scratch):
        self.name, self.server = name, server
        self.database = scratch / "database" / "profiles.db"
        self.database.parent.mkdir()
        if server.user:
            shutil.chown(self.database.parent, NOBODY, NOBODY)
        self.environment = {**os.environ, "RESPIKE_DB": str(self.database), "HOME": str(self.database.parent)}

    def respike(self, *words, timeout=3600):
        command = [*self.server.user, common.RESPIKE, *map(str, words)]
        return common.run_command(command, env=self.environment, cwd=self.database.parent, timeout=timeout)

    def ok(self, *words):
        outcome = self.respike(*words)
        expect(outcome.status == 0, f"{words}: {outcome}")
        return outcome

    def serve(self, *how, kind="usual"):
        """One start of the server by `respike run`, under its load; how the server ended."""
        if self.server.before:
            packages.checked([*self.server.user, "sh", "-c", self.server.before], self.database.parent)
        command = [*self.server.user, common.RESPIKE, "run", *how, self.name, *self.server.arguments]
        process = subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)  # lighttpd's master ends its whole process group
        subprocess.run([*self.server.user, "sh", "-c", self.server.driver(kind)], stdout=subprocess.DEVNULL, timeout=600, check=False)
        process.terminate()
        return process.wait(timeout=120)

    def check(self, kind, runs):
        before = ["--before", self.server.before] if self.server.before else []
        outcome = self.respike("check", self.name, "--driver", self.server.driver(kind), *before, "--runs", runs, "--json", "--", *self.server.arguments)
        expect(outcome.stdout, f"{outcome}")
        return json.loads(outcome.stdout)

    def break_version(self):
        """Writes ud2 over the beginning of a procedure of the optimized program."""
        connection = sqlite3.connect(self.database)
        query = "select d.id, d.content_hash from derived_image d join build b on b.id = d.build join image i on i.id = b.image "
        query += "where d.kind = 'optimized' and i.path like ?"
        number, content = connection.execute(query, (f"%/{self.server.program.name}",)).fetchone()
        (file,) = pathlib.Path(f"{self.database}.files").glob(f"images/*/{content}")
        addresses = subprocess.run(["nm", file], capture_output=True, text=True, check=True).stdout
        address = int(re.search(rf"^(\w+) \w {self.server.dies}$", addresses, re.M)[1], 16)
        segments = subprocess.run(["readelf", "-lW", file], capture_output=True, text=True, check=True).stdout
        loads = [[int(n, 16) for n in row] for row in re.findall(r"^ +LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+)", segments, re.M)]
        (offset,) = [at + address - start for at, start, size in loads if start <= address < start + size]
        file.chmod(0o755)
        with open(file, "r+b") as image:
            image.seek(offset)
            image.write(b"\x0f\x0b")
        s = file.stat()
        values = (s.st_size, s.st_mtime_ns, s.st_ino, s.st_ctime_ns, number)
        connection.execute("update derived_image set file_size=?, file_modified=?, file_inode=?, file_changed=? where id=?", values)
        connection.commit()


def take(name, runs):
    build, make = SERVERS[name]
    built = packages._once(f"server-{name}", build)
    scratch = runner.WORK / "servers" / name
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    server = make(built, scratch)
    application = Application(name, server, scratch)
    application.ok("register", server.program, "--name", name)
    application.ok("instrument", name, "--counters", "atomic")
    application.serve()
    application.ok("optimize", name)
    c = application.check("usual", runs)
    print(f"{name}: {c['verdict']} (medians {c['median_before']} and {c['median_after']} microseconds, {c['runs']} pairs)", flush=True)
    expect("behaves" in c["verdict"] and "otherwise" not in c["verdict"] or c["compared"] == "exit status", c["verdict"])
    expect(c["difference"] == "", c["verdict"])
    application.break_version()
    expect(application.check("usual", 2)["difference"] == "", "the load does not come to the fault")
    c = application.check("fault", 2)
    print(f"{name}, with a fault: {c['verdict']}", flush=True)
    expect(c["verdict"].startswith("do not ship: ") and "a process of the server dies by signal 4" in c["verdict"], c["verdict"])
    application.serve("--guard", kind="fault")
    common.wait_until(lambda: json.loads(application.ok("show", name, "--json").stdout)["guarded"], "the guard has not seen the fault")
    fault = json.loads(application.ok("show", name, "--json").stdout)["fault"]
    expect(fault["signal"] == "SIGILL", f"{fault}")
    print(f"{name}, with a fault: the guard has taken it back", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0].replace("\n", " "))
    parser.add_argument("--filter", default="", help="servers: a regular expression")
    parser.add_argument("--runs", type=int, default=20, help="pairs of runs of the check")
    parser.add_argument("--list", action="store_true", help="print the names of the servers")
    args = parser.parse_args()
    names = [name for name in SERVERS if re.search(args.filter, name)]
    if args.list:
        print("\n".join(names))
        return 0
    return packages.take_each(dict.fromkeys(names), lambda name, _: take(name, args.runs))


if __name__ == "__main__":
    runner.WORK.mkdir(parents=True, exist_ok=True)
    sys.exit(main())
