"""The table of parts: the commands that each part runs, and the files that its result depends on.

A part has cases, commands that take minutes (running.py). A case that has passed once for the present contents of the
files that its part depends on does not run again (ledger.py). Cases come from three sources:

- A test of CTest is a case; CTest says its command and environment. All tests of single functions, some 900, are one
  case, `unit`. A long end-to-end test is several cases, `profiled.1` to `profiled.8` for example: each runs its share
  of the test's own cases (RESPIKE_SLICE=1/8, see tests/e2e/common.py).
- GCC's tests are a hundred cases, 00 to 99, each a hundredth of the tests, chosen by their names.
- A fuzzer is six cases of ten minutes; the corpus grows from one to the next. All fuzzers have their first turn before
  one has its second.

Random choices (GCC's sets of options, random programs) are drawn from the part's state, so every state of the product
gets new choices, and a failure can be repeated.

The dependences of a part are stated rather broadly: a test that runs again in vain costs minutes, a fault that hides
behind an old result costs more. The window matters only to its own tests; most files of tests/ only to their own parts;
documentation to none."""

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys

from running import Case

# --- What parts depend on: git's pathspecs --------------------------------------------------------

BUILD = ("CMakeLists.txt", "cmake")
COMMAND = (*BUILD, "optimizer", "host", "instrument", "tas", "profiledb", "views", "models", "measure", "emulators",
           "applications", "cli")
PRODUCT = (*COMMAND, "gui")
EMULATOR = (*BUILD, "optimizer", "host", "models", "measure", "emulators")


def _named(folder, names):
    return tuple(f":(glob){folder}/{name}" for name in names.split())


HARNESS = ("tests/programs", *_named("tests/e2e", "CMakeLists.txt common.py ia64_programs.py oracle.py profiles.py"))
PEERS = (*COMMAND, *HARNESS, *_named("tests/peers", "gcc_sources.py dejagnu.py machines.py results.py runner.py steps.py"))
PACKAGES = (*PEERS, *_named("tests/peers", "packages.py stub.c inputs/**"))
SUITES = (*PACKAGES, *_named("tests/peers", "suite*.py gmp_tests.py"))

# --- Cases ----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Part:
    """`says`: a line for --help. `cases(context)`: its cases; None when they are not known before it is built.
    `prepare`: the name of a preparation, or None. `seconds`: about the time of a case of unknown length.
    `counts(context)`: whether cases that pass are noted (usually they are)."""

    name: str
    says: str
    depends: tuple
    cases: object
    prepare: str | None = "build"
    seconds: float = 300.0
    counts: object = None


@dataclasses.dataclass(frozen=True)
class Context:
    """The facts that commands need. `states`: the state of each part, see ledger.state_of()."""

    root: pathlib.Path
    build: pathlib.Path
    jobs: int
    fuzz_seconds: int
    states: dict

    @property
    def environment(self):
        """The environment of tests that CTest does not know."""
        return {
            "RESPIKE": str(self.build / "respike"), "RESPIKE_IA64_EMULATOR": str(self.build / "respike-ia64"),
            "RESPIKE_PROGRAMS": str(self.build / "programs"), "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip

    def python(self, name, script, *arguments, jobs=1, slice_of=None, seconds=None, remark="", **environment):
        """A case that runs a script of the repository. `jobs`: 1, or None for all processors, alone."""
        more = {"RESPIKE_JOBS": str(jobs)} if jobs else {}
        more |= {"RESPIKE_SLICE": slice_of} if slice_of else {}
        command = [sys.executable, self.root / script, *arguments]
        variables = {**self.environment, **more, **environment}
        return Case(name, command, variables, seconds=seconds, alone=not jobs, remark=remark)

    def sliced(self, name, number, script, *arguments, **environment):
        """`number` cases, each of which runs its share of the script's own cases."""
        cases = range(1, number + 1)
        return [self.python(f"{name}.{k}", script, *arguments, slice_of=f"{k}/{number}", **environment) for k in cases]

    def listed(self, script):
        """The names that a script prints with --list; none if it fails."""
        command = [sys.executable, self.root / script, "--list"]
        environment = {**os.environ, **self.environment}
        return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False).stdout.split()


# --- Cases of CTest -------------------------------------------------------------------------------

LABELS = {"e2e", "gui", "peers"}  # of tests that are no unit tests


def ctest_tests(build):
    """CTest's tests in a folder of a build; None before it is configured."""
    if not (build / "CTestTestfile.cmake").exists():
        return None
    command = ["ctest", "--test-dir", build, "--show-only=json-v1"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return json.loads(done.stdout)["tests"] if done.returncode == 0 else None


def _properties(test):
    return {row["name"]: row["value"] for row in test.get("properties", ())}


def _short(name):
    """`pe` of e2e.pe_test, `layouts.x86_64` of e2e.layouts_test.x86_64."""
    return re.sub(r"_test(?=\.|$)", "", name.removeprefix("e2e."))


def _of_test(test, environment, name, slice_of=None):
    properties = _properties(test)
    variables = {**environment, **dict(row.split("=", 1) for row in properties.get("ENVIRONMENT", ()))}
    if slice_of:
        variables["RESPIKE_SLICE"] = slice_of
    skipped = properties.get("SKIP_REGULAR_EXPRESSION")
    return Case(
        name, test["command"], variables, properties.get("WORKING_DIRECTORY"),
        seconds=properties.get("COST") or None,
        alone=bool(properties.get("RUN_SERIAL")) or properties.get("PROCESSORS", 1) > 1,
        limit=properties.get("TIMEOUT", 1500) * 2,  # more cases than usual, or sanitizers
        skipped_if="|".join(skipped) if skipped else None,
    )  # fmt: skip


def _units(context, build, environment, *choice):
    """Unit tests as one case, which CTest runs."""
    command = ["ctest", "--test-dir", build, "--parallel", context.jobs, "--no-tests=error", "--output-on-failure"]
    return Case("unit", [*command, "--fixture-exclude-any", ".*", *choice], environment, seconds=120, alone=True)


def of_ctest(context, build, wanted=None, environment=None, slices=None):
    """Cases of the tests whose names match `wanted`; without it, of all tests, with unit tests as one case. The longest
    cases come first, cases that run alone last. `environment`: variables, unless the test sets them."""
    tests, environment, slices = ctest_tests(build), environment or {}, slices or {}
    if tests is None:
        return None
    cases = []
    for test in tests:
        properties = _properties(test)
        if "FIXTURES_SETUP" in properties or "command" not in test:
            continue  # a fixture, made beforehand; or not compiled yet
        if not (re.search(wanted, test["name"]) if wanted else LABELS & set(properties.get("LABELS", ()))):
            continue
        if unknown := {"WILL_FAIL", "PASS_REGULAR_EXPRESSION", "FAIL_REGULAR_EXPRESSION"} & properties.keys():
            sys.exit(f"nightly: test {test['name']} has {', '.join(unknown)}, which scripts/nightly/parts.py does not know")
        name = _short(test["name"])
        number = slices.get(name, 1)
        if number == 1:
            cases.append(_of_test(test, environment, name))
        cases += [_of_test(test, environment, f"{name}.{k}", f"{k}/{number}") for k in range(1, number + 1) if number > 1]
    if not wanted:
        cases.append(_units(context, build, environment, "--label-exclude", "^(e2e|gui|peers)$"))
    return sorted(cases, key=lambda case: (case.alone, -(case.seconds or 0))) or None


# Shares of tests for which the usual run has one of several cases (tests/e2e/CMakeLists.txt).
CASES = {
    "profiled": 8, "untouchable": 6, "layouts": 5, "ia64_rewrite": 5, "rare": 4, "oracle": 4, "instrument": 4,
    "ia64_instrument": 4, "profiled.x86_64": 4, "instrument.x86_64": 4, "layouts.x86_64": 3, "backtrace": 3, "pe": 3, "tools": 2,
}  # fmt: skip
SEEDS = {
    "layouts": 20, "profiled": 20, "layouts.x86_64": 6, "profiled.x86_64": 6, "second_round": 3, "never_slower": 3, "pe": 3,
    "bad_input": 3, "hot_cold": 2,
}  # fmt: skip
# Tests that read these variables; the other tests do the same in every run.
SEEDED = (
    r"^e2e\.(layouts|profiled|second_round|hot_cold|never_slower|bad_input|profile|gui_robust|exec|on_the_fly|session_work|"
    r"live_session|pe)_test(\.x86_64)?$|^unit\.(database_model|hot_cold|unwind_programs)_test$"
)
MORE = {
    "RESPIKE_SEEDS": "20", "RESPIKE_HEAVY_SEEDS": "20", "RESPIKE_PROFILE_SEEDS": "20", "RESPIKE_HEAVY_PROFILE_SEEDS": "20",
    "RESPIKE_FLIPS": "200", "RESPIKE_WINDOW_KILLS": "20", "RESPIKE_KILLS": "200", "RESPIKE_STARTS": "1000",
}  # fmt: skip
SANITIZED = {
    "ASAN_OPTIONS": "detect_leaks=1", "UBSAN_OPTIONS": "print_stacktrace=1", "RESPIKE_SEEDS": "2", "RESPIKE_HEAVY_SEEDS": "1",
    "RESPIKE_PROFILE_SEEDS": "1", "RESPIKE_HEAVY_PROFILE_SEEDS": "1",
}  # fmt: skip


def sanitized(context):
    return context.root / "build-sanitize"


# --- Cases of scripts -----------------------------------------------------------------------------


def _debug(context):
    large = {"RESPIKE_DEBUG_LARGE": "1"}
    return [
        *context.sliced("lines", 8, "tests/e2e/debug_lines_test.py", **large),
        *context.sliced("scopes", 4, "tests/e2e/debug_scopes_test.py", **large),
        *context.sliced("stops", 12, "tests/e2e/debug_stops_test.py", RESPIKE_STOPS="500"),
        *context.sliced("lldb", 4, "tests/e2e/debug_lldb_test.py", RESPIKE_STOPS="120"),
    ]


def _atomic(context):
    test, native = "tests/e2e/instrument_test.py", str(context.build / "programs" / "x86_64")
    return [
        *context.sliced("alpha", 4, test, RESPIKE_COUNTERS="atomic"),
        *context.sliced("x86_64.atomic", 4, test, RESPIKE_COUNTERS="atomic", RESPIKE_PROGRAMS=native),
        *context.sliced("x86_64.threads", 4, test, RESPIKE_COUNTERS="threads", RESPIKE_PROGRAMS=native),
    ]


def _random(context):
    first = int(context.states["random"], 16) % 10_000_000 * 500
    cases = []
    for block in range(10):
        seed = first + 50 * block
        arguments = ["--programs", "50", "--seed", str(seed)]
        cases.append(context.python(str(block), "tests/e2e/random_programs_test.py", *arguments, remark=f"seeds from {first}"))
    return cases


# Batches of files and precompiled headers hide that a file lacks an #include.
ALONE = """
cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DRESPIKE_UNITY=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON &&
exec cmake --build "$2"
"""


def _includes(context):
    return [Case("alone", ["sh", "-c", ALONE, "sh", context.root, context.root / "build-includes"], {}, seconds=1500, alone=True)]


def _speed(context):
    return [context.python("sqlite3", "bench/ia64_speed.py", "--least", "100", jobs=None)]


def _pe(context):
    fuzzed = of_ctest(context, context.build, r"^fuzz_smoke\.pe$", {"RESPIKE_PE_MUTATIONS": "60000"})
    more = {"RESPIKE_PE_FLIPS": "1000", "RESPIKE_PE_SHARE": "1"}
    return fuzzed and [*fuzzed, *context.sliced("damaged", 4, "tests/e2e/pe_damaged_test.py", **more)]


def _emulator(context):
    pieces = of_ctest(context, context.build, r"^EmulationSmoke\.", {"RESPIKE_EMULATION_RUNS": "200000"})
    test = ("tests/e2e/ia64_run_test.py", "--filter", "^random")
    return pieces and [*pieces, *context.sliced("random", 5, *test, RESPIKE_IA64_SEEDS="500")]


def _results(context, part, name):
    """The file of results of a case of tests/peers, from which a stopped case continues."""
    return context.build / "peers" / "results" / context.states[part] / f"{part}.{name}.jsonl"


def _gcc(context):
    seed = context.states["gcc"]
    cases = []
    for k in range(100):
        arguments = ["--slice", f"{k}/100", "--seed", seed, "--results", _results(context, "gcc", f"{k:02}")]
        cases.append(context.python(f"{k:02}", "tests/peers/gcc_tests.py", *arguments, remark=f"seed {seed}"))
    return cases


def _gmp(context):
    cases = []
    for machine in ("alpha", "ia64", "x86_64"):
        arguments = ["--machine", machine, "--results", _results(context, "gmp", machine)]
        cases.append(context.python(machine, "tests/peers/gmp_tests.py", *arguments, jobs=None))
    return cases


def _peers(part, script, until):
    """Cases by the first words of the names that the script lists: `until` is the character after these words."""

    def cases(context):
        made = []
        for name in dict.fromkeys(name.removeprefix("x86_64/").partition(until)[0] for name in context.listed(script)):
            arguments = ["--filter", f"^x86_64/{re.escape(name)}{until}", "--results", _results(context, part, name)]
            made.append(context.python(name, script, *arguments, jobs=None))
        return made

    return cases


def _each(script):
    """A case for each name that the script lists."""

    def cases(context):
        return [context.python(name, script, "--filter", f"^{re.escape(name)}$", jobs=None) for name in context.listed(script)]

    return cases


# Python packages that Debian lacks are installed into the folder of the build; if that is not possible, the case is
# skipped.
INSTALL = """
[ -d "$1" ] || { rm -rf "$1.part" && "$0" -m pip install --quiet --target "$1.part" "$2" && mv "$1.part" "$1"; } ||
  { echo "$2 cannot be installed"; exit 77; }
shift 2
exec "$@"
"""


def _installed(context, package, version, case):
    case.command = ["sh", "-c", INSTALL, sys.executable, context.build / package, f"{package}=={version}", *case.command]
    return [case]


def _capstone(context):
    return _installed(context, "capstone", "5.*", context.python("oracle", "tests/peers/capstone_oracle.py"))


def _lief(context):
    return _installed(context, "lief", "1.0.*", context.python("readers", "tests/e2e/pe_dll_test.py", "--filter", "LIEF"))


FUZZERS = (
    "reader lifter rewrite instrument ia64_lifter ia64_rewrite ia64_instrument x86_64_lifter x86_64_rewrite x86_64_instrument "
    "pe_reader pe_lifter pe_rewrite ecoff_reader ecoff_lifter ecoff_rewrite unwind counting ir_text emulation debug"
).split()
TURNS = 6
TURN = 600  # seconds of a turn that counts as passed


def _fuzz(context):
    """Turns of one fuzzer share a corpus; two of them may run at a time."""
    seconds = context.fuzz_seconds
    command = [context.root / "tests" / "fuzz" / "run.sh"]
    turns = range(1, TURNS + 1)
    return [Case(f"{name}.{turn}", [*command, name, seconds], seconds=seconds + 30) for turn in turns for name in FUZZERS]


# --- Preparations ---------------------------------------------------------------------------------

# Debian's sources are fetched once; a build folder that has none copies those of the usual build.
COPY = """
[ ! -d "$1" ] || [ -e "$2" ] || { rm -rf "$2.part" && mkdir -p "${2%/*}" && cp -a "$1" "$2.part" && mv "$2.part" "$2"; }
"""


def _step(name, *command, **environment):
    return Case(name, list(command), environment, alone=True)


def _built(context, build, *options):
    sources = [folder / "programs" / "sources" for folder in (context.root / "build", build)]
    return [
        _step("install-packages", context.root / "scripts" / "install-packages.sh"),
        _step("copy-sources", "sh", "-c", COPY, "sh", *sources),
        _step("configure", "cmake", "-S", context.root, "-B", build, "-G", "Ninja", *options),
        _step("compile", "cmake", "--build", build),
        _step("programs", "ctest", "--test-dir", build, "--output-on-failure", "--tests-regex", "^(x86_64_)?programs$"),
    ]


def _built_sanitized(context):
    return _built(context, sanitized(context), "-DRESPIKE_SANITIZE=ON")


def _built_fuzzers(context):
    fuzzers = [_step(name, context.root / "tests" / "fuzz" / "run.sh", name, 0) for name in FUZZERS]
    return [_step("install-packages", context.root / "scripts" / "install-packages.sh"), *fuzzers]


PREPARATIONS = {
    "build": lambda context: _built(context, context.build, "-DRESPIKE_ALL_CASES=ON"),
    "sanitizers": _built_sanitized,
    "fuzz": _built_fuzzers,
}

# --- The table ------------------------------------------------------------------------------------

PE = ("tests/pe", *_named("tests/e2e", "pe_test.py"))
PARTS = (  # what is quick and sees much comes first
    Part("cases", "all cases of all tests; the usual run has a part of them",
         (*PRODUCT, "tests", "examples", ":(glob)bench/*", "scripts/bisect-procedures.sh", "README.md",
          *_named("docs", "tutorial.md tour.md")),
         lambda context: of_ctest(context, context.build, slices=CASES), seconds=60),
    Part("speed", "the IA-64 emulator executes at least 100 million instructions a second, without no-ops",
         (*EMULATOR, "bench/ia64_speed.py", *_named("tests/e2e", "ia64_programs.py")), _speed, seconds=60),
    Part("includes", "each file is compiled by itself, without precompiled headers: it includes what it uses",
         (*PRODUCT, "tests", ":(glob)bench/*"), _includes, None),
    Part("arithmetic", "a million operands for each operation of IA-64",
         (*EMULATOR, *_named("tests/unit", "ia64_*")),
         lambda context: of_ctest(context, context.build, r"^unit\.ia64_(floating|floating_register|parallel_floating|division|integer)_test$",
                                  {"RESPIKE_FLOATING_OPERANDS": "1000000"}), seconds=60),
    Part("capstone", "Capstone about the registers and flags of all x86-64 code at hand",
         (*BUILD, "optimizer", *_named("tests/peers", "capstone_oracle.py x86_64_effects.cc")), _capstone),
    Part("lief", "LIEF about PE images and their DLLs",
         (*COMMAND, *HARNESS, *PE, *_named("tests/e2e", "pe_dll_test.py")), _lief),
    Part("pe", "60,000 damaged images of Windows NT, in four ways; every field of two images",
         (*COMMAND, *HARNESS, *PE, "tests/fuzz", *_named("tests/e2e", "pe_damaged_test.py")), _pe),
    Part("emulator", "500 random C programs and 200,000 random pieces of code for the IA-64 emulator",
         (*EMULATOR, *HARNESS, "tests/fuzz", *_named("tests/e2e", "ia64_run_test.py")), _emulator),
    Part("atomic", "all programs with atomic counters",
         (*COMMAND, *HARNESS, *_named("tests/e2e", "instrument_test.py")), _atomic),
    Part("random", "500 random C++ programs that no state before had",
         (*COMMAND, *HARNESS, *_named("tests/e2e", "random_programs_test.py")), _random),
    Part("seeds", "the tests that draw layouts, profiles or damage, with 20 seeds and more damage",
         (*PRODUCT, "tests/e2e", "tests/programs", "tests/pe", "tests/gui",
          *_named("tests/unit", "database_model_test.cc hot_cold_test.cc random_procedure.* unwind_programs_test.cc")),
         lambda context: of_ctest(context, context.build, SEEDED, MORE, SEEDS)),
    Part("sanitizers", "the whole suite under AddressSanitizer and UndefinedBehaviorSanitizer",
         (*PRODUCT, "tests", "examples", ":(glob)bench/*", "scripts/bisect-procedures.sh"),
         lambda context: of_ctest(context, sanitized(context), environment=SANITIZED), "sanitizers", 120),
    Part("debug", "debug information: SQLite, too, and 500 stops of gdb for each program and layout",
         (*COMMAND, *HARNESS, *_named("tests/e2e", "debug_* backtrace* gdb_stacks.py")), _debug),
    Part("gmp", "GMP's tests", (*PEERS, *_named("tests/peers", "gmp_tests.py")), _gmp, seconds=900),
    Part("gcc", "GCC's execution tests: 16,000 cases in a hundred parts, some seven hours on two processors",
         (*PEERS, *_named("tests/peers", "gcc_*.py stub.c")), _gcc, seconds=500),
    Part("fuzz", f"each of the {len(FUZZERS)} fuzzers for an hour, in turns of ten minutes",
         (*BUILD, "optimizer", "host", "instrument", "profiledb", "models", "emulators", "tests/fuzz", "tests/ir"), _fuzz, "fuzz", TURN + 30,
         lambda context: context.fuzz_seconds >= TURN),
    Part("packages", "the work of Duktape, zlib, bzip2, tcc and libstdc++ on x86-64, an hour",
         (*PACKAGES, *_named("tests/peers", "package_tests.py")), _peers("packages", "tests/peers/package_tests.py", "@"), seconds=600),
    Part("suites", "the tests of CPython, zstd, GMP, OpenSSL, coreutils and SQLite with rewritten images, some hours",
         SUITES, _peers("suites", "tests/peers/suite_tests.py", "/"), seconds=1800),
    Part("exec", "suites below `respike exec`, which counts and optimizes their programs, some hours",
         (*SUITES, *_named("tests/peers", "exec_tests.py")), _each("tests/peers/exec_tests.py"), seconds=1800),
    Part("install", "packages and tarball in a Debian 12 of their own: built twice, installed, the tutorial, the window, removed",
         (*SUITES, "gui", "debian", "packaging", "docs/tutorial.md", "README.md", *_named("tests/peers", "install_tests.py"),
          *_named("tests/e2e", "pages_test.py")), _each("tests/peers/install_tests.py"), seconds=1800),
    Part("servers", "lighttpd and PostgreSQL under load by `respike check --driver`, and with a fault in a worker, ten minutes each",
         (*SUITES, *_named("tests/peers", "server_tests.py")), _each("tests/peers/server_tests.py"), seconds=600),
    Part("debian", "bzip2 and Lua as Debian packages that dh_respike optimizes, built three times",
         (*SUITES, "packaging", *_named("tests/peers", "debian_tests.py")), _each("tests/peers/debian_tests.py"), seconds=120),
)  # fmt: skip
