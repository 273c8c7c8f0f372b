"""The common part of the end-to-end tests: the respike command, the manifest of programs, running
them under qemu-alpha, a runner for many cases on all processors, and readers of GNU binutils'
output.

A test file builds a list of Case(name, function) and passes the list to run_cases, which runs the
cases in parallel, prints each failure with its reason, and returns the exit status. A case fails by
raising Failure (or any other exception); a case that does not apply here may raise Skip. Cases start in an
empty folder, and fail when they leave something there: a program needs a working folder of its own.

Environment, set by CTest: RESPIKE (the command, default build/respike), RESPIKE_PROGRAMS (the
folder that tests/programs/build.py wrote, default build/programs), RESPIKE_JOBS (parallel cases,
default: processors), RESPIKE_SLICE=K/N (the K-th of N shares of a test's cases)."""

import argparse
import collections
import concurrent.futures
import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import traceback

# Paths stay right in another working folder.
for _name, _value in os.environ.items():
    if _name.startswith("RESPIKE") and "/" in _value and os.path.exists(_value):
        os.environ[_name] = os.path.abspath(_value)

# Shells make background processes ignore these signals; the programs that tests start must not ignore them.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RESPIKE = os.environ.get("RESPIKE", str(ROOT / "build" / "respike"))
PROGRAMS = pathlib.Path(os.environ.get("RESPIKE_PROGRAMS", ROOT / "build" / "programs"))
SYSROOT = "/usr/alpha-linux-gnu"
QEMU = ["qemu-alpha", "-L", SYSROOT]
TOOL_TIMEOUT = 120.0
PROGRAM_TIMEOUT = 120.0


class Failure(Exception):
    """Respike does not behave as the case expects."""


class Skip(Exception):
    """The case does not apply on this machine; the reason is printed."""


def expect(condition, message):
    if not condition:
        raise Failure(message)


# --- Programs -------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Library:
    soname: str
    path: pathlib.Path


@dataclasses.dataclass(frozen=True)
class Run:
    args: tuple
    stdin: str | None


@dataclasses.dataclass(frozen=True)
class Program:
    """One entry of the manifest; see tests/programs/build.py."""

    name: str
    program: str
    variant: str
    kind: str
    language: str
    image: pathlib.Path
    libraries: tuple
    runs: tuple
    heavy: bool
    threads: bool

    def images(self):
        """All images of the program that respike can rewrite: [(role, path)]."""
        return [("main", self.image)] + [(l.soname, l.path) for l in self.libraries]


@functools.cache
def load_manifest():
    path = PROGRAMS / os.environ.get("RESPIKE_MANIFEST", "manifest.json")
    if not path.exists():
        raise SystemExit(f"{path} is missing; run tests/programs/build.py {PROGRAMS}")
    return json.loads(path.read_text())


@functools.cache
def load_programs():
    programs = []
    for e in load_manifest()["programs"]:
        libraries = tuple(Library(l["soname"], pathlib.Path(l["path"])) for l in e["libraries"])
        runs = tuple(Run(tuple(r["args"]), r["stdin"]) for r in e["runs"])
        programs.append(
            Program(
                e["name"],
                e["program"],
                e["variant"],
                e["kind"],
                e["language"],
                pathlib.Path(e["image"]),
                libraries,
                runs,
                e["heavy"],
                e["threads"],
            )
        )
    return programs


def find_program(name):
    """The program `name`, or None if it was not built (real programs without their sources)."""
    return next((p for p in load_programs() if p.name == name), None)


def first_program(*names):
    """The first of `names` that was built."""
    return next(p for p in map(find_program, names) if p)


def all_images():
    """Every distinct image of the manifest: [(name, path)]."""
    images = {}
    for program in load_programs():
        for role, path in program.images():
            images.setdefault(
                path, program.name if role == "main" else f"{path.parent.name}/{role}"
            )
    return [(name, path) for path, name in images.items()]


def note_missing_programs():
    missing = load_manifest()["missing"]
    if missing:
        print(f"NOTE: Debian's sources were unreachable; without {', '.join(missing)}")


# --- Running --------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Outcome:
    status: int
    stdout: bytes
    stderr: bytes

    def behaviour(self):
        """The part of the outcome that has to be the same for the original and a rewritten
        image."""
        return (self.status, self.stdout)


def _limits(file_size=None, core=False):
    def apply():
        if not core:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if file_size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))

    return apply


def run_command(
    command, stdin=None, timeout=TOOL_TIMEOUT, cwd=None, env=None, file_size=None, executable=None, core=False
):
    """Runs a command in its own process group; kills the whole group at the timeout. `executable`:
    the program, if its name is not the first word; `core`: whether it may leave core files."""
    source = open(stdin, "rb") if stdin else subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            [str(c) for c in command],
            executable=executable,
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=env,
            start_new_session=True,
            restore_signals=file_size is None,
            preexec_fn=_limits(file_size, core),
        )
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise Failure(f"no end after {timeout:g} s: {shorten_command(command)}") from None
        return Outcome(process.returncode, out, err)
    finally:
        if stdin:
            source.close()


def shorten_command(command):
    text = " ".join(str(c) for c in command).replace(str(PROGRAMS) + "/", "")
    return text if len(text) <= 400 else text[:200] + " ... " + text[-200:]


def respike(*args, timeout=TOOL_TIMEOUT, **options):
    """Runs respike; the caller judges the outcome."""
    return run_command([RESPIKE, *args], timeout=timeout, **options)


def respike_ok(*args, **options):
    """Runs respike, which has to succeed, and returns its outcome."""
    outcome = respike(*args, **options)
    if outcome.status != 0:
        message = outcome.stderr.decode(errors="replace").strip()[-600:]
        raise Failure(f"respike {shorten_command(args)}: exit status {outcome.status}: {message}")
    return outcome


# The layout for tests with a profile: named, so that code moves even if nothing is gained.
BEST_LAYOUT = ["--layout", "ext-tsp,split,colour"]


def optimize(image, output, *options, as_users_do=False, **keywords):
    """Optimizes `image`. If `options` have a profile and no layout, the best layout is used whether
    it gains something or not; with `as_users_do` only if it gains."""
    if "--profile" in options and "--layout" not in options and not as_users_do:
        options += tuple(BEST_LAYOUT)
    return respike_ok("image", "optimize", image, "-o", output, *options, **keywords)


def is_native():
    """Whether the programs of the manifest run without an emulator."""
    return load_manifest().get("machine") == "x86_64"


def compiler():
    """The C compiler for the manifest's machine."""
    return "gcc" if is_native() else "alpha-linux-gnu-gcc"


def emulator():
    """The words before the command line of a program of the manifest's machine."""
    return [] if is_native() else list(QEMU)


def run_program(image, run, libraries=None, timeout=PROGRAM_TIMEOUT, environment=None):
    """Runs an image of the manifest's machine, Alpha's under qemu and the host's own directly, in a fresh working
    folder. `libraries` is a folder or None, `environment` has more variables for the host's own."""
    with tempfile.TemporaryDirectory(prefix="respike-run-") as folder:
        if is_native():
            return run_command(
                ["program", *run.args],
                stdin=run.stdin,
                timeout=timeout,
                cwd=folder,
                env={**os.environ, "LD_LIBRARY_PATH": str(libraries or ""), **(environment or {})},
                executable=image,
            )
        command = list(QEMU)
        if libraries:
            command += ["-E", f"LD_LIBRARY_PATH={libraries}"]
        command += ["-0", "program", image, *run.args]
        return run_command(command, stdin=run.stdin, timeout=timeout, cwd=folder)


def link_libraries(program, folder, replaced=None):
    """Fills `folder` with the program's own libraries, some of them `replaced` (soname -> path)."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for library in program.libraries:
        target = folder / library.soname
        target.unlink(missing_ok=True)
        target.symlink_to((replaced or {}).get(library.soname, library.path))
    return folder if program.libraries else None


class Shared:
    """Values that several cases need; the first case that calls shared(key, make) makes the
    value."""

    def __init__(self):
        self._made, self._locks, self._guard = {}, {}, threading.Lock()

    def __call__(self, key, make):
        with self._guard:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._made:
                self._made[key] = make()
            return self._made[key]


_expected = Shared()


def expected_behaviour(program, index):
    """The output and status of the original in its run `index`; run once per process."""

    def run():
        with tempfile.TemporaryDirectory(prefix="respike-lib-") as folder:
            return run_program(program.image, program.runs[index], link_libraries(program, folder))

    return _expected((program, index), run)


def check_behaviour(program, image, libraries=None, runs=None, what="the rewritten image"):
    """Runs `image` as the program is run, and compares with the original, run for run."""
    for index in runs if runs is not None else range(len(program.runs)):
        expected = expected_behaviour(program, index)
        actual = run_program(image, program.runs[index], libraries)
        if actual.behaviour() != expected.behaviour():
            raise Failure(f"{what}, run {index}: {describe_difference(expected, actual)}")


def describe_status(status):
    return f"signal {-status}" if status < 0 else f"exit status {status}"


def describe_difference(expected, actual):
    parts = []
    if actual.status != expected.status:
        parts.append(
            f"{describe_status(actual.status)} instead of {describe_status(expected.status)}"
        )
    if actual.stdout != expected.stdout:
        at = next(
            (i for i, (a, b) in enumerate(zip(expected.stdout, actual.stdout)) if a != b),
            min(len(expected.stdout), len(actual.stdout)),
        )
        parts.append(
            f"output differs at byte {at} of {len(expected.stdout)}: {expected.stdout[max(at - 20, 0):at + 40]!r} became "
            f"{actual.stdout[max(at - 20, 0):at + 40]!r}"
        )
    tail = actual.stderr.decode(errors="replace").strip()[-300:]
    return "; ".join(parts) + (f"; stderr: {tail}" if tail else "")


# --- Waiting and measuring ------------------------------------------------------------------------


def wait_until(condition, problem):
    """Waits for an event that happens soon, or later if other programs keep the processors busy."""
    end = time.monotonic() + TOOL_TIMEOUT
    while not (result := condition()):
        if time.monotonic() > end:
            raise Failure(problem)
        time.sleep(0.025)
    return result


def processor_seconds(action):
    """The processor time of the commands that action() runs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    action()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least_times(measurements, is_within, times=3, most=15):
    """The least of several times of each measurement, which other programs can only make longer: `times` of them, and more
    until is_within(least times)."""
    least = [float("inf")] * len(measurements)
    for number in range(most):
        if number >= times and is_within(*least):
            break
        least = [min(before, measure()) for before, measure in zip(least, measurements)]
    return least


# --- Cases ----------------------------------------------------------------------------------------


@dataclasses.dataclass
class Case:
    name: str
    function: object
    seconds: float = 0.0
    problem: str | None = None
    skipped: str | None = None

    def run(self):
        start = time.monotonic()
        try:
            self.function()
        except Skip as skip:
            self.skipped = str(skip)
        except Failure as failure:
            self.problem = str(failure)
        except Exception:  # a broken test is a failed test
            self.problem = traceback.format_exc()
        self.seconds = time.monotonic() - start
        return self


def jobs():
    return int(os.environ.get("RESPIKE_JOBS", os.cpu_count() or 2))


def argument_parser(doc):
    parser = argparse.ArgumentParser(description=doc.strip().split("\n\n")[0].replace("\n", " "))
    parser.add_argument(
        "--filter", default="", help="run only cases whose name matches this regular expression"
    )
    parser.add_argument(
        "--slowest", type=int, default=5, help="how many of the slowest cases to list"
    )
    parser.add_argument("--keep-going", type=int, default=40, help="failures to print in full")
    return parser


def words_of(name):
    """The words of a case's name: "lua.pie random 3" has lua, pie and random; numbers do not count."""
    return {word for word in re.split(r"[^\w-]+", name) if word and not re.fullmatch(r"-?\d+|0x[0-9a-f]+", word)}


def is_static(name):
    return re.search(r"[.]static\b|STATIC", name) is not None


def covering(cases, times=1):
    """Few cases, always the same: each word of the names occurs in `times` of them, if there are that many. Example: if
    each of eighty programs runs in twenty layouts, each program, each kind of program and each layout gets its turn, in
    about thirty cases. Each next case has the most words that are still wanted; of equals, a case without a static
    program, in which libraries are most of the code and of the time."""
    left = collections.Counter(word for case in cases for word in words_of(case.name))
    left = {word: min(number, times) for word, number in left.items()}
    rest = sorted(cases, key=lambda c: hashlib.sha256(c.name.encode()).digest())
    chosen = set()
    while any(left.values()):
        best = max(rest, key=lambda c: (sum(left[word] > 0 for word in words_of(c.name)), not is_static(c.name)))
        rest.remove(best)
        chosen.add(best.name)
        for word in words_of(best.name):
            left[word] -= left[word] > 0
    return [c for c in cases if c.name in chosen]


def is_sampled():
    """Whether this run has a part of the cases, as the usual run of all tests has: RESPIKE_COVER=N runs covering(cases,
    N), RESPIKE_WITHOUT=REGEX the cases whose names it does not match. A test that adds up results of its cases must then
    expect less."""
    return "RESPIKE_COVER" in os.environ or "RESPIKE_WITHOUT" in os.environ


def selected(cases, args):
    """The cases of a run: the cases of the user's filter, or else a sample; of these, the share of RESPIKE_SLICE."""
    cases = [c for c in cases if re.search(args.filter, c.name)]
    if not args.filter:
        times, without = map(os.environ.get, ("RESPIKE_COVER", "RESPIKE_WITHOUT"))
        cases = [c for c in cases if not (without and re.search(without, c.name))]
        cases = covering(cases, int(times)) if times else cases
    return in_slice(cases) if slices() > 1 else cases


def slices():
    """N of RESPIKE_SLICE=K/N: the number of runs that share the cases of a test; a test that adds up results of its
    cases can expect only a part of them from one run."""
    return int(os.environ.get("RESPIKE_SLICE", "1/1").partition("/")[2])


def in_slice(cases):
    """The cases of this run's share: every N-th, from the K-th on, in the order of the hashes of their names."""
    which, number = map(int, os.environ.get("RESPIKE_SLICE", "1/1").split("/"))
    by_hash = sorted(cases, key=lambda c: hashlib.sha256(c.name.encode()).digest())
    chosen = {c.name for c in by_hash[which - 1 :: number]}
    return [c for c in cases if c.name in chosen]


@contextlib.contextmanager
def empty_working_folder():
    """An empty folder to work in: files that a program leaves there do no harm."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="respike-working-") as folder:
        os.chmod(folder, 0o755)  # some cases run programs as another user
        os.chdir(folder)
        try:
            yield pathlib.Path(folder)
        finally:
            os.chdir(before)


def run_cases(cases, args):
    """Runs the selected() cases on all processors and reports; returns the exit status."""
    every, cases = cases, selected(cases, args)
    for variable in ("RESPIKE_WITHOUT", "RESPIKE_COVER", "RESPIKE_SLICE"):
        if variable in os.environ:
            print(f"{variable}={os.environ[variable]}: {len(cases)} of {len(every)} cases")
    if slices() > 1 and not cases:
        return 0  # there are fewer cases than shares
    note_missing_programs()
    start = time.monotonic()
    failed = 0
    left = set()
    with empty_working_folder() as folder, concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        for done in concurrent.futures.as_completed([pool.submit(c.run) for c in cases]):
            case = done.result()
            new = set(os.listdir(folder)) - left
            left |= new
            if new and not case.problem:
                case.problem = f"this case, or another at the same time, left {sorted(new)} in its working folder"
            if case.problem:
                failed += 1
                if failed <= args.keep_going:
                    print(f"FAILED {case.name}: {case.problem}", flush=True)
            elif case.skipped:
                print(f"skipped {case.name}: {case.skipped}", flush=True)
    for case in sorted(cases, key=lambda c: -c.seconds)[: args.slowest]:
        print(f"  {case.seconds:7.2f} s  {case.name}")
    print(f"{len(cases)} cases, {failed} failed, {time.monotonic() - start:.1f} s")
    if not cases:
        print("no case was run")
    return 1 if failed or not cases else 0


class Scratch:
    """A temporary folder for one test file, removed at exit."""

    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="respike-e2e-"))
        self._count = 0
        self._lock = threading.Lock()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def file(self, name):
        """A fresh path; the file does not exist yet."""
        return self.folder() / name

    def folder(self):
        with self._lock:
            self._count += 1
            folder = self.path / str(self._count)
        folder.mkdir()
        return folder


def named_cases(checks, scratch):
    """Cases for {name: check}; each calls check(scratch)."""
    return [Case(name, lambda c=check: c(scratch)) for name, check in checks.items()]


def main(doc, cases):
    """A whole test: reads the command line, and runs the cases that `cases(scratch)` makes."""
    args = argument_parser(doc).parse_args()
    with Scratch() as scratch:
        return run_cases(list(cases(scratch)), args)


def hash_file(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def uleb128(data):
    """The numbers of a sequence of unsigned LEB128."""
    numbers, number, shift = [], 0, 0
    for byte in data:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(number)
            number = shift = 0
    return numbers


# --- GNU binutils ---------------------------------------------------------------------------------


def binutils(tool, *args, timeout=TOOL_TIMEOUT):
    """Runs alpha-linux-gnu-TOOL, which has to succeed in silence; returns its stdout."""
    outcome = run_command([f"alpha-linux-gnu-{tool}", *args], timeout=timeout)
    if outcome.status != 0 or outcome.stderr:
        text = outcome.stderr.decode(errors="replace").strip()[:600]
        raise Failure(
            f"alpha-linux-gnu-{tool} {shorten_command(args)}: {describe_status(outcome.status)}: {text}"
        )
    return outcome.stdout.decode(errors="replace")


@dataclasses.dataclass(frozen=True)
class CodeWord:
    address: int
    word: int
    text: str  # mnemonic and operands, separated by one space, without <symbol>


_LINE = re.compile(
    r"^\s*([0-9a-f]+):\t([0-9a-f]{2}) ([0-9a-f]{2}) ([0-9a-f]{2}) ([0-9a-f]{2}) *\t(.*)$", re.M
)
_SYMBOL = re.compile(r"\s*<[^>]*>")


def normalize_text(text):
    return _SYMBOL.sub("", text.partition("\t#")[0]).replace("\t", " ").strip()


def objdump_code(image):
    """All code words of the image as objdump reads them, in address order, one list per section."""
    sections = []
    listing = binutils("objdump", "-d", "-z", "-w", image)
    for part in re.split(r"^Disassembly of section .*:$", listing, flags=re.M)[1:]:
        sections.append(
            [
                CodeWord(int(m[1], 16), int(m[5] + m[4] + m[3] + m[2], 16), normalize_text(m[6]))
                for m in _LINE.finditer(part)
            ]
        )
    return sections


@dataclasses.dataclass(frozen=True)
class Symbol:
    name: str
    value: int
    size: int
    kind: str
    binding: str
    section: str
    other: str


def real_sources(name):
    """The C files of lua, bzip2 or sqlite3, or None when Debian's sources were unreachable."""
    folder = PROGRAMS / "sources"
    files = {
        "lua": [f for f in sorted((folder / "lua5.4" / "src").glob("*.c")) if f.name != "luac.c"],
        "bzip2": [
            folder / "bzip2" / f"{f}.c"
            for f in "blocksort bzip2 bzlib compress crctable decompress huffman randtable".split()
        ],
        "sqlite3": [folder / "sqlite3-amalgamation" / f for f in ("sqlite3.c", "shell.c")],
    }[name]
    return files if files and all(f.exists() for f in files) else None


def procedure_of_piece(name):
    """The name of the procedure that a symbol's name is a piece of: "walk" of "walk.frag.2", "walk.cold" and
    "_Z4walkv" of "_Z4walkv.cold.frag.2"."""
    return re.sub(r"(\.cold)?(\.frag\.\d+)?$", "", name)


def read_symbols(image):
    """The symbols of .symtab by readelf, in file order."""
    symbols = []
    for line in binutils("readelf", "-sW", image).split("'.symtab'")[-1].splitlines():
        fields = line.split(None, 7)
        if len(fields) < 8 or not fields[0].rstrip(":").isdigit():
            continue
        other, section, name = re.match(
            r"(?:(\[[^]]*\])\s+)?(\S+)\s*(.*)", " ".join(fields[6:])
        ).groups()
        symbols.append(
            Symbol(
                name,
                int(fields[1], 16),
                int(fields[2], 0),
                fields[3],
                fields[4],
                section,
                other or "",
            )
        )
    return symbols
