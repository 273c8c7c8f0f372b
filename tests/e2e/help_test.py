#!/usr/bin/env python3
"""Help, manual pages and completions say the same of each command, option by option; what `respike` alone says on a
terminal; completions of bash, in a pseudo-terminal."""

import os
import pathlib
import pty
import re
import select
import shutil
import sqlite3
import subprocess
import sys
import time

import common
from applications import World
from common import Skip, expect

BASH = pathlib.Path(__file__).resolve().parents[2] / "cli/completions/respike.bash"


def words_of_help(*command):
    """Options and commands below it that `--help` of a command lists."""
    text = common.respike_ok(*command, "--help").stdout.decode()
    options = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, re.M))
    commands = re.findall(r"^  ([a-z][\w-]*)  ", text, re.M)
    return options, commands, text


def all_commands(*command):
    yield command
    for below in words_of_help(*command)[1]:
        if command != ("help",):
            yield from all_commands(*command, below)


def completions(*words, world=None, environment=None):
    environment = environment or (world.environment if world else os.environ)
    outcome = common.run_command([common.RESPIKE, "complete", *words], env=environment)
    expect(outcome.status == 0 and not outcome.stderr, f"{words}: {outcome}")
    kind, *lines = outcome.stdout.decode().splitlines()
    return kind, {line.partition("\t")[0] for line in lines}


def check_same(scratch):
    folder = scratch.folder() / "pages"
    common.respike_ok("manual", folder)
    pages = {page.stem: page.read_text() for page in folder.iterdir()}
    commands = list(all_commands())
    expect(len(commands) > 30 and ("image", "optimize") in commands, f"{commands}")
    expect(pages.keys() == {"-".join(("respike", *c)) for c in commands}, f"{sorted(pages)}")
    for command in commands:
        options, below, text = words_of_help(*command)
        page = pages["-".join(("respike", *command))].replace("\\-", "-")
        documented = set(re.findall(r"\\fB(--[\w-]+)\\fR", page.partition(".SH ENVIRONMENT")[0]))
        expect(documented == options, f"{command}: the page has {documented ^ options} or the help does")
        if command not in (("run",), ("session",)):
            above = words_of_help()[0] if command else set()
            kind, offered = completions(*command, "--")
            expect(options <= offered <= options | above | words_of_help(*command[:1])[0], f"{command}: {offered ^ options}")
        if below:
            expect(completions(*command, "") == ("words", set(below)), f"{command}: {completions(*command, '')}")
        expect(common.respike_ok("help", *command).stdout.decode() == text, f"help {command} is not --help")
        if command:
            line = next(line for line in text.splitlines() if line.startswith("Usage:"))
            expect("respike " + " ".join(command) in line, f"{command}: {line}")
    outcome = common.respike("help", "image", "fly")
    expect(outcome.status == 2 and b"unknown command image fly" in outcome.stderr, f"{outcome}")


def check_pages(scratch):
    """Each page renders without a warning, and its section NAME has the text that whatis shows."""
    if not shutil.which("groff"):
        raise Skip("there is no groff")
    folder = scratch.folder() / "pages"
    common.respike_ok("manual", folder)
    for page in folder.iterdir():
        check_page(page)


def check_page(page):
    done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-rLL=100n", page], capture_output=True)
    expect(done.returncode == 0 and not done.stderr, f"{page.name}: {done.stderr.decode()[:500]}")
    shown = re.sub(".\b", "", done.stdout.decode()).replace("\u2010", "-")  # bold letters are printed twice
    expect("NAME" in shown and page.stem in shown, f"{page.name}: {shown[:300]}")
    if shutil.which("mandoc"):
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True, text=True)
        lines = [line for line in done.stdout.splitlines() if "missing date" not in line]
        expect(not lines, f"{page.name}: {lines[:5]}")
    return shown


def check_file_pages(scratch):
    """The pages of the database and of profiles say the same as docs/, without losses."""
    if not shutil.which("groff"):
        raise Skip("there is no groff")
    for source, name in (("database", "respike-database"), ("profiles", "respike-profile")):
        text = (common.ROOT / f"docs/{source}.md").read_text()
        page = scratch.folder() / f"{name}.5"
        script = common.ROOT / "cmake/manual_page.py"
        page.write_bytes(subprocess.run([sys.executable, script, common.ROOT / f"docs/{source}.md", name, "what it is", "1"], check=True, capture_output=True).stdout)
        shown = check_page(page)
        for mark in ("`", "**", "](", "\n|", "\n#"):
            expect(mark not in shown, f"{name}: {mark!r} is left: {shown[max(0, shown.find(mark) - 99):][:200]}")
        text = re.sub(r"\]\([^()]*\)|[`*|]", " ", re.sub(r"^\| \w+ \| \|$", "", text, flags=re.M))
        words = [re.sub(r"\W", "", word) for word in text.split()]
        there = re.sub(r"\W", "", shown.replace("-\n", "-")).lower()
        lost = [word for word in words if word.lower() not in there]
        expect(not lost, f"{name} has lost {lost[:10]}")


def check_names(scratch):
    """Applications, images and procedures by name; without a database, no file is made and nothing is printed."""
    world = World(scratch)
    expect(completions("run", "", world=world) == ("words", set()) and not world.database.parent.exists(), "a database was made")
    program = world.copy(common.first_program("calls.static", "calls.pie", "calls.dynamic").image, "calls")
    for name in ("calls", "a name"):
        world.ok("register", program, "--name", name)
    before = world.database.read_bytes()
    expect(completions("run", "", world=world)[1] == {"calls", "a name"}, f"{completions('run', '', world=world)}")
    expect(completions("optimize", "c", world=world)[1] == {"calls"}, "names do not fit what is there")
    expect(completions("optimize", "calls", "--image", "", world=world)[1] == {"calls"}, "there are no images")
    names = completions("image", "optimize", program, "--only", "", world=world)[1]
    expect("main" in names and len(names) > 5, f"{names}")
    expect(completions("mode", "calls", "o", world=world)[1] == {"original", "optimized"}, "MODE has no words")
    expect(completions("image", "optimize", "--hot-cold", "", world=world)[1] == {"on", "off"}, "--hot-cold has no words")
    expect(completions("image", "optimize", "--hot-cold=of", world=world)[1] == {"--hot-cold=off"}, "--hot-cold= has no words")
    for words in (["register", ""], ["run", "calls", ""], ["exec", "calls", "--", ""], ["image", "info", ""]):
        expect(completions(*words, world=world)[0] == "files", f"{words}: no files")
    expect(world.database.read_bytes() == before, "the database was changed")
    for damage in (b"no database", before[:4096]):
        world.database.write_bytes(damage)
        begin = time.monotonic()
        expect(completions("run", "", world=world)[1] <= {"calls", "a name"} and time.monotonic() - begin < 2, "it waits")
        expect(world.database.read_bytes() == damage, "the damaged database was changed")


class Terminal:
    """A command in a pseudo-terminal."""

    def __init__(self, command, environment):
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], [str(word) for word in command], environment)
        self.text = ""

    def send(self, text):
        os.write(self.file, text.encode())

    def wait_for(self, pattern, seconds=20):
        end = time.monotonic() + seconds
        while not re.search(pattern, self.text, re.S):
            expect(time.monotonic() < end, f"the terminal shows {self.text[-500:]!r}, and not {pattern}")
            if select.select([self.file], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.file, 4096).decode(errors="replace")
                except OSError:
                    break
        shown, self.text = self.text, ""
        expect(re.search(pattern, shown, re.S), f"the terminal showed {shown[-500:]!r}, and not {pattern}")
        return shown

    def close(self):
        os.close(self.file)
        os.waitpid(self.pid, 0)


def check_bash(scratch):
    if not shutil.which("bash"):
        raise Skip("there is no bash")
    world = World(scratch)
    program = world.copy(common.first_program("calls.static", "calls.pie", "calls.dynamic").image, "calls")
    world.ok("register", program, "--name", "a name")
    environment = dict(world.environment, PS1="$ ", TERM="dumb", PATH=f"{pathlib.Path(common.RESPIKE).parent}:{os.environ['PATH']}")
    bash = Terminal(["bash", "--norc", "--noprofile", "-i"], environment)
    bash.send(f"cd '{world.folder}'; source '{BASH}'; echo rea''dy\r")
    bash.wait_for(r"ready\r\n")
    for typed, pattern in (
        ("respike opti\t", r"respike optimize "),
        ("respike optimize a\t", r"a\\ name"),
        ("respike image optimize --hot\t", r"--hot-cold "),
        ("respike mode x optim\t", r"optimized"),
        ("respike run a\\ n\t", r"a\\ name"),
        ("respike image optimize --hot-cold=of\t", r"--hot-cold=off"),
        ("respike image info bin/ca\t", r"bin/calls"),
    ):
        bash.send(typed)
        bash.wait_for(pattern)
        bash.send("\x15")  # forgets the line
    bash.send("exit\r")
    bash.close()


def check_alone(scratch):
    """On a terminal, `respike` without arguments proposes the next step; without a terminal this is wrong usage."""
    world = World(scratch)
    files = pathlib.Path(f"{world.database}.files")
    outcome = world.respike()
    expect(outcome.status == 2 and b"no command" in outcome.stderr, f"{outcome}")

    def said():
        before = world.database.exists() and (world.database.read_bytes(), sorted(files.rglob("*")))
        terminal = Terminal([common.RESPIKE], world.environment)
        text = terminal.wait_for(r"opens the window\r\n")
        terminal.close()
        expect(text.count("\n") <= 5, text)
        after = world.database.exists() and (world.database.read_bytes(), sorted(files.rglob("*")))
        expect(after == before, "the database or its files were changed")
        return text

    expect("respike register PROGRAM" in said() and not world.database.parent.exists(), "it says nothing of the first step")
    program = world.copy(common.first_program("calls.static", "calls.pie", "calls.dynamic").image, "calls")
    world.ok("register", program, "--name", "a name")
    expect("does not count yet how it runs: respike instrument 'a name'" in said(), "it says nothing of counting")
    world.ok("instrument", "a name")
    expect("let it do typical work: respike run 'a name' ARGS" in said(), "it says nothing of running")
    world.respike("run", "a name")
    expect("has counts to be optimized by: respike optimize 'a name'" in said(), "it says nothing of optimizing")
    world.ok("collect")
    expect("has counts to be optimized by: respike optimize 'a name'" in said(), "it says nothing of optimizing")
    world.ok("optimize", "a name")
    expect("respike check 'a name' -- ARGS" in said(), "it says nothing of checking")
    common.expect(world.respike("check", "a name", "--runs", "2").stdout.count(b"ship: "), "check gives no verdict")
    expect("respike export 'a name' DIR" in said(), "it says nothing of exporting")
    out = world.folder / "out"
    world.ok("export", "a name", out)
    expect(f"the optimized files are in {out}" in said(), "it does not say that all is done")
    program.write_bytes(program.read_bytes() + b"one more byte")
    expect("has changed since it was looked at: respike instrument 'a name'" in said(), "it says nothing of a new build")
    world.ok("list")
    expect("has counts to be optimized by: respike optimize 'a name'" in said(), "counts were not carried over")
    library = world.copy(common.first_program("linked.dynamic").libraries[0].path, "libalone.so")
    world.ok("unregister", "a name")
    world.ok("register", library, "--name", "lib")
    world.ok("instrument", "lib")
    expect("respike exec lib -- COMMAND" in said(), "a library is not run by itself")
    world.ok("unregister", "lib")
    expect("respike register PROGRAM" in said(), "it says nothing of the first step")
    old = (common.ROOT / "tests/unit/database_1.sql").read_text()
    for text in (b"this is no database, but long enough to be taken for one" * 20, old):
        world.database.unlink()
        world.database.write_bytes(text if isinstance(text, bytes) else b"")
        if text == old:
            connection = sqlite3.connect(world.database)
            connection.executescript(old)
            connection.close()
        before = world.database.read_bytes()
        terminal = Terminal([common.RESPIKE], world.environment)
        terminal.wait_for(r"respike: [^\n]*profiles\.db: [^\n]*\n")
        terminal.close()
        expect(world.database.read_bytes() == before, "another database was changed")


def check_hidden(scratch):
    """Options that only tests and installers need are in `help --all` alone."""
    for words, hidden in ((["image", "optimize"], "--address-map"), (["image", "instrument"], "--block-map"), (["image", "disasm"], "--manual-syntax"), ([], "  manual ")):
        short, long = (common.respike_ok("help", *option, *words).stdout.decode() for option in ([], ["--all"]))
        expect(hidden not in short and hidden in long, f"{words}: {long}")


CHECKS = {"the same": check_same, "pages": check_pages, "file pages": check_file_pages, "names": check_names, "bash": check_bash, "alone": check_alone, "hidden": check_hidden}

if __name__ == "__main__":
    sys.exit(common.main(__doc__, lambda scratch: common.named_cases(CHECKS, scratch)))
