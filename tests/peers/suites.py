"""The suites of suite_tests.py: how other people's software is built, and how its own tests are run.

    suite.make(build)                     the build's folder, build/peers/suites/cpython-gcc for example, made once
    suite.units(folder)                   parts that run alone: for CPython, modules such as test_re
    suite.run(folder, unit, scratch)      {test: pass, fail, skip ...}, as the suite itself reports

The name of a test begins with its unit: `test_re: test.test_re.ReTests.test_bug_114660`. A unit has also a result of its
own, its exit status, under the unit's name. Everything is linked with relocations, in Debian's sources. Folders can be
deleted at any time."""

import contextlib
import dataclasses
import fcntl
import os
import pathlib
import re
import shutil
import xml.etree.ElementTree

import gcc_sources
import build as programs
import common
import gmp_tests
import packages
import runner
from packages import Build

WORK = runner.WORK / "suites"
LONGEST = 900.0  # seconds of a unit
LONGEST_BUILD = 7200.0
MAKE = ["nice", "make", f"-j{common.jobs()}"]


@dataclasses.dataclass(frozen=True)
class Suite:
    """`uncompared`: tests whose results depend on something else, {pattern: reason}. `keeps`: images that stay as they
    are, a pattern."""

    name: str
    build: object  # build(build, folder) fills the folder
    units: object
    run: object
    builds: tuple
    at_once: int = 1  # units
    counters: str = "count"
    uncompared: dict = dataclasses.field(default_factory=dict, hash=False)
    keeps: str = "(?!)"

    def folder(self, build):
        return WORK / f"{self.name}-{build.name}"

    def state(self, build):
        """The folder beside the build's, for facts about the build."""
        return WORK / f"{self.name}-{build.name}.state"

    @contextlib.contextmanager
    def locked(self, build):
        """For the time that a process has the build's folder for itself."""
        WORK.mkdir(parents=True, exist_ok=True)
        with open(WORK / f".{self.name}-{build.name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def make(self, build):
        folder, state = self.folder(build), self.state(build)
        if not (state / "built").exists():
            for path in (folder, state):
                shutil.rmtree(path, ignore_errors=True)
                path.mkdir()
            self.build(build, folder)
            (state / "built").touch()
        return folder


def _configure(build, folder, source, *options, environment=None):
    flags = " ".join(["-O2", "-w", *build.flags])
    settings = [f"CC={build.compiler}", f"CFLAGS={flags}", f"LDFLAGS={_link(build)}"]
    packages.checked(["nice", source / "configure", *settings, *options], folder, LONGEST_BUILD, environment)


def _link(build):
    return " ".join([*build.link, programs.RELOCATIONS])


def _make(folder, *words):
    return packages.checked([*MAKE, *words], folder, LONGEST_BUILD)


def _start(command, folder, environment=None, log=None):
    """Runs a command of a suite. Its output is kept in the file `log`."""
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "USER", "LOGNAME") if name in os.environ}
    variables = {**inherited, "LANG": "C.UTF-8", **(environment or {})}
    # Started in the background, a shell's jobs ignore SIGINT, which tests send to themselves.
    done = common.run_command(["nice", "env", "--default-signal", *command], timeout=LONGEST, cwd=folder, env=variables)
    if log:
        log.write_bytes(done.stdout + done.stderr)
    return done


def _numbered(pairs):
    """{name: result}; a name that comes again gets a number."""
    found, seen = {}, {}
    for name, result in pairs:
        seen[name] = seen.get(name, 0) + 1
        found[name if seen[name] == 1 else f"{name} ({seen[name]})"] = result
    return found


def _results(unit, done, pairs):
    named = _numbered((f"{unit}: {name}", result) for name, result in pairs)
    return {unit: common.describe_status(done.status), **named}


# --- CPython: modules of its tests ------------------------------------------------------------------

# The slow tests first. Without test_socket, which waits for a vsock peer for ever on some virtual machines.
CPYTHON_UNITS = """
test_concurrent_futures test_multiprocessing_fork test_signal test_ssl test_io test_logging test_asyncio.test_tasks
test_faulthandler test_selectors test_threading
test___future__ test_abc test_aifc test_argparse test_array test_ast test_asyncgen test_audioop test_augassign
test_base64 test_baseexception test_bigmem test_binascii test_binop test_bisect test_bool test_buffer test_bufio
test_builtin test_bytes test_bz2 test_c_locale_coercion test_calendar test_call test_capi test_cmath test_cmd_line
test_code test_codeccallbacks test_codecs test_collections test_compare test_compile test_complex test_configparser
test_context test_contextlib test_copy test_copyreg test_coroutines test_crypt test_csv test_ctypes test_curses
test_dataclasses test_datetime test_decimal test_defaultdict test_deque test_descr test_dict test_dictviews
test_difflib test_dis test_doctest test_dynamic test_email test_embed test_enum test_enumerate test_exception_group
test_exceptions test_fcntl test_file test_fileio test_float test_fork1 test_format test_fractions test_frame
test_fstring test_functools test_gc test_generators test_genexps test_glob test_global test_grammar test_grp test_gzip
test_hash test_hashlib test_heapq test_hmac test_html test_imp test_import test_importlib test_index test_inspect
test_int test_isinstance test_iter test_iterlen test_itertools test_json test_keyword test_list test_listcomps
test_long test_lzma test_marshal test_math test_memoryview test_metaclass test_minidom test_mmap
test_named_expressions test_numeric_tower test_opcodes test_openpty test_operator test_ordered_dict test_os
test_ossaudiodev test_pathlib test_patma test_peg_generator test_pickle test_pickletools test_pkgutil test_poll
test_popen test_posix test_pow test_pprint test_property test_pty test_pwd test_pyexpat test_queue test_random
test_range test_re test_readline test_repl test_resource test_richcmp test_sax test_scope test_select test_set
test_shelve test_shutil test_slice test_sort test_sqlite3 test_startfile test_stat test_statistics test_strftime
test_string test_strptime test_strtod test_struct test_structseq test_subprocess test_super test_symtable test_syntax
test_sys test_sys_setprofile test_sys_settrace test_tarfile test_tempfile test_textwrap test_thread
test_threadedtempfile test_time test_timeit test_tokenize test_traceback test_tracemalloc test_tuple test_types
test_typing test_ucn test_unicode test_unicode_file test_unicodedata test_unittest test_unpack test_userdict test_uuid
test_weakref test_weakset test_with test_xml_etree test_xml_etree_c test_xxtestfuzz test_yield_from test_zipfile
test_zipimport test_zlib test_asyncio.test_base_events test_asyncio.test_futures test_asyncio.test_locks
test_asyncio.test_queues test_asyncio.test_streams test_asyncio.test_taskgroups test_asyncio.test_unix_events
""".split()


def _build_cpython(build, folder):
    options = ["--with-system-expat", *(["--enable-shared"] if "shared" in build.kind else [])]
    _configure(build, folder, packages.source("python3.11"), "OPT=-DNDEBUG -fwrapv", *options)
    # With Debian's patches pyexpat includes headers of the interpreter's own; setup.py reads the flags in the makefile.
    makefile = folder / "Makefile"
    text = re.sub(r"^MODULE_PYEXPAT_CFLAGS=.*", "MODULE_PYEXPAT_CFLAGS=-DPy_BUILD_CORE_MODULE", makefile.read_text(), flags=re.M)
    makefile.write_text(text)
    _make(folder)
    needed = "import pyexpat, _ssl, _sqlite3, _ctypes, zlib, bz2, lzma"
    packages.checked([folder / "python", "-c", needed], folder, environment={"LD_LIBRARY_PATH": str(folder)})


def _run_cpython(folder, unit, scratch):
    report = scratch / "report.xml"
    environment = {"LD_LIBRARY_PATH": str(folder), "PYTHONHASHSEED": "1", "TMPDIR": str(scratch)}
    command = [folder / "python", "-m", "test", "-v", "--tempdir", scratch, "--junit-xml", report, unit]
    done = _start(command, scratch, environment, scratch / "log")
    return _results(unit, done, _junit(report) if report.exists() else [])


def _junit(path):
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        tags = {child.tag for child in case}
        result = "fail" if tags & {"error", "failure"} else "skip" if "skipped" in tags else "pass"
        # Doctests and parameters show addresses.
        yield re.sub(r"0x[0-9a-f]+", "0x", case.get("name")), result


# --- Suites of automake: GMP and coreutils ----------------------------------------------------------


def _trs(folder, names):
    """(name, result) of the tests that left NAME.trs; a test in TAP has several results."""
    for name in names:
        path = folder / f"{name}.trs"
        text = path.read_text(errors="replace") if path.exists() else ""
        for number, result in enumerate(re.findall(r"^:test-result: *(\w+)", text, re.M) or ["none"]):
            yield name if not number else f"{name} {number + 1}", result.lower()


def _build_gmp(build, folder):
    source = gmp_tests.source()
    if not source:
        raise packages.Unavailable("Debian's sources are unreachable")
    options = ["--enable-cxx", *(["--enable-fat"] if "fat" in build.kind else [])]
    if build.compiler.startswith("alpha"):
        options += ["--host=alpha-linux-gnu", "--disable-static", "--build=x86_64-linux-gnu", "CC_FOR_BUILD=gcc"]
    _configure(build, folder, source, *options, "CXXFLAGS=-O2")
    _make(folder)
    _make(folder, "check", "TESTS=")


def _gmp_units(folder):
    """Folders with tests."""
    makefiles = [path for path in folder.glob("tests/**/Makefile") if re.search(r"^TESTS = *\S", path.read_text(), re.M)]
    return sorted(str(path.parent.relative_to(folder)) for path in makefiles)


def _run_gmp(folder, unit, scratch, environment=None):
    place = folder / unit
    for path in place.glob("*.trs"):
        path.unlink()
    done = _start([*MAKE, "-k", "check", "SUBDIRS=."], place, environment, scratch / "log")
    names = [re.sub(r"\.trs$", "", p.name) for p in sorted(place.glob("*.trs"))]
    return _results(unit, done, _trs(place, names))


COREUTILS_TOOLS = [f"{tool}=true" for tool in ("AUTOMAKE", "ACLOCAL", "AUTOCONF", "AUTOHEADER", "MAKEINFO", "HELP2MAN")]


def _build_coreutils(build, folder):
    _configure(build, folder, packages.source("coreutils"), environment={"FORCE_UNSAFE_CONFIGURE": "1"})
    _make(folder, *COREUTILS_TOOLS)
    (folder / "tests").mkdir(exist_ok=True)
    _make(folder, *COREUTILS_TOOLS, "check", "TESTS=", "SUBDIRS=.")


def _coreutils_tests(folder):
    text = (folder / "Makefile").read_text(errors="replace")
    listed = re.search(r"^all_tests =((?:.*\\\n)*.*)$", text, re.M)[1]
    return sorted(set(re.findall(r"tests/\S+\.(?:sh|pl|xpl)\b", listed)))


def _coreutils_units(folder):
    return sorted({_coreutils_unit(test) for test in _coreutils_tests(folder)})


def _coreutils_unit(test):
    """The folder; of the many tests in tests/misc also the first letter."""
    top = test.rpartition("/")[0]
    return f"{top}/{pathlib.Path(test).name[0]}" if top.endswith("misc") else top


def _run_coreutils(folder, unit, scratch):
    tests = [test for test in _coreutils_tests(folder) if _coreutils_unit(test) == unit]
    names = [re.sub(r"\.\w+$", "", test) for test in tests]
    for name in names:
        (folder / f"{name}.trs").unlink(missing_ok=True)
    command = [*MAKE, *COREUTILS_TOOLS, "-k", "check", f"TESTS={' '.join(tests)}", "SUBDIRS=."]
    done = _start(command, folder, {"TMPDIR": str(scratch)}, scratch / "log")
    return _results(unit, done, _trs(folder, names))


# --- OpenSSL: recipes that print TAP ----------------------------------------------------------------


def _build_openssl(build, folder, *targets):
    """Builds everything, or only these targets of the makefile."""
    source = packages.source("openssl")
    settings = {"CC": build.compiler, "CFLAGS": " ".join(["-O2", "-w", *build.flags]), "LDFLAGS": _link(build)}
    options = ["linux-x86_64", "shared", "enable-legacy"]
    if build.compiler.startswith("alpha"):
        options[0] = "linux-alpha-gcc"
        settings.update(AR="alpha-linux-gnu-ar", RANLIB="alpha-linux-gnu-ranlib")
        # With -rpath the tests' wrapper preloads no library; the host's loader would complain about it.
        settings["LDFLAGS"] += f" -Wl,-rpath,{folder}"
    packages.checked(["nice", source / "Configure", *options], folder, LONGEST_BUILD, settings)
    if targets:
        _make(folder, "build_generated")
    _make(folder, *targets)


def _openssl_units(folder):
    recipes = (packages.source("openssl") / "test" / "recipes").glob("[0-9]*.t")
    return [re.sub(r"^\d+-|\.t$", "", path.name) for path in sorted(recipes)]


def _run_openssl(folder, unit, scratch):
    source, copy = packages.source("openssl"), scratch / "tap"
    environment = {"SRCTOP": str(source), "BLDTOP": str(folder), "PERL": "perl", "EXE_EXT": "", "HARNESS_TAP_COPY": str(copy)}
    done = _start(["perl", source / "test" / "run_tests.pl", unit], folder, environment, scratch / "log")
    return _results(unit, done, _tap(copy.read_text(errors="replace") if copy.exists() else ""))


def _tap(text):
    """Tests and the tests within them, which are indented."""
    for line in text.splitlines():
        match = re.match(r"(?:    )*(?:# )?(?:    )*(not )?ok \d+(?: - ([^#]*))?(?:# *(SKIP|TODO|skip))?", line)
        if match:
            name = re.sub(r"\b\w{32}/randomname", "RANDOM/randomname", match[2] or "unnamed")
            result = "fail" if match[1] else "pass"
            yield name.strip(), {"TODO": f"x{result}", None: result}.get(match[3], "skip")


# --- zstd: its scripts and test programs --------------------------------------------------------------

ZSTD_UNITS = {
    "playTests": ["sh", "./playTests.sh"],
    "cli-tests": ["./cli-tests/run.py", "--zstd=../programs/zstd", "--datagen=./datagen"],
    "fuzzer": ["./fuzzer", "-v", "-s1", "-i200"],
    "zstreamtest": ["./zstreamtest", "-v", "-s1", "-i200"],
    "zstreamtest.newapi": ["./zstreamtest", "--newapi", "-v", "-s1", "-i200"],
    "decodecorpus": ["./decodecorpus", "-t", "-s1", "-n300"],
    "legacy": ["./legacy"],
    "invalidDictionaries": ["./invalidDictionaries"],
    "longmatch": ["./longmatch"],
    "pool": ["./poolTests"],
}
ZSTD_PROGRAMS = "datagen fuzzer zstreamtest decodecorpus legacy invalidDictionaries longmatch poolTests".split()


def _build_zstd(build, folder):
    shutil.copytree(packages.source("libzstd"), folder, symlinks=True, dirs_exist_ok=True)
    settings = [f"CC={build.compiler}", f"CFLAGS={' '.join(['-O3', '-w', *build.flags])}", f"LDFLAGS={_link(build)}"]
    _make(folder, "-C", "programs", *settings, "zstd")
    _make(folder, "-C", "tests", *settings, *ZSTD_PROGRAMS)


def _run_zstd(folder, unit, scratch):
    environment = {"ZSTD_BIN": "../programs/zstd", "DATAGEN_BIN": "./datagen", "TMPDIR": str(scratch), "EXE_PREFIX": ""}
    done = _start(ZSTD_UNITS[unit], folder / "tests", environment, scratch / "log")
    text = (done.stdout + b"\n" + done.stderr).decode(errors="replace")
    return _results(unit, done, _zstd_lines(text))


def _zstd_lines(text):
    """A line such as `test  3 : decompress : OK`, of test programs; `===> name` and `test : name`, of the script,
    which ends with the first failure; PASS: and FAIL:, of run.py."""
    for line in re.split(r"[\r\n]+", text):
        if match := re.match(r"\s*(?:test|case) *(\d+) *[:-] *(.*?) *: *(OK|.*)", line):
            yield f"{match[1]} {_plain(match[2])}", "pass" if match[3].startswith("OK") else _plain(match[3])[:80]
        elif match := re.match(r"(?:===>|test *:) *(.*)", line):
            yield _plain(match[1]), "reached"
        elif match := re.match(r"(PASS|FAIL|SKIP): *(.*)", line):
            yield match[2], match[1].lower()


def _plain(text):
    """Without figures that depend on the time."""
    return re.sub(r"\b\d+\.\d+\b|/tmp/\S+", "N", text).strip()


# --- SQLite: scripts of its test program ------------------------------------------------------------

# Scripts that run others, that others include, or that make memory or files fail thousands of times, which takes long.
SQLITE_LEFT_OUT = re.compile(
    r"^(all|async\d?|async_.*|quick|veryquick|full|extraquick|permutations|soak|memsubsys.*|mallocAll|testrunner.*|tester|"
    r"malloc_common|fts_common|fts3_common|speed.*|vtab_common|wal_common|thread_common|lock_common|corrupt.*|fuzz.*|"
    r"crash.*|backup2|sort4|wal_perf|.*malloc.*|.*fault.*|bigfile.*|bigrow|big2|nan|selectG|zipfile.*|shell.*|"
    r"session|rtree|release|misc7|wal3|savepoint6|thread.*|e_walauto|walthread|sqldiff.*|incrvacum_ioerr|.*_ioerr|ioerr.*|"
    r"atof1|randexpr1|e_fts3|fts3rnd|fts4rnd|btreefault|trans2|ctime|loadext.*|main|pager1|wal2?|tkt-.*)$"
)


def _build_sqlite(build, folder):
    source = packages.source("sqlite3")
    _configure(build, folder, source, "--disable-readline", "--with-tcl=/usr/lib/tcl8.6")
    _make(folder, "testfixture", "sqlite3")


def _sqlite_units(folder):
    files = (packages.source("sqlite3") / "test").glob("*.test")
    return [path.stem for path in sorted(files) if not SQLITE_LEFT_OUT.match(path.stem)]


def _run_sqlite(folder, unit, scratch):
    script = packages.source("sqlite3") / "test" / f"{unit}.test"
    done = _start([_sqlite_program(folder), script, "--verbose=1"], scratch, {}, scratch / "log")
    return _results(unit, done, _sqlite_lines(done.stdout.decode(errors="replace")))


def _sqlite_program(folder):
    inner = folder / ".libs" / "testfixture"
    return inner if inner.exists() else folder / "testfixture"


def _sqlite_lines(text):
    failed = set(re.findall(r"^! (\S+) (?:expected|got)", text, re.M))
    for name in re.findall(r"^(\S+?)\.\.\.", text, re.M):
        yield name, "fail" if name in failed else "pass"


# --- All --------------------------------------------------------------------------------------------

GCC, CLANG = Build("gcc"), Build("clang")
SUITES = (
    Suite("cpython", _build_cpython, lambda folder: CPYTHON_UNITS, _run_cpython, (GCC, Build("gcc", "shared")), common.jobs()),
    Suite("zstd", _build_zstd, lambda folder: list(ZSTD_UNITS), _run_zstd, (GCC, CLANG)),
    Suite("gmp", _build_gmp, _gmp_units, _run_gmp, (GCC, Build("gcc", "fat"))),
    Suite("openssl", _build_openssl, _openssl_units, _run_openssl, (GCC,), common.jobs()),
    Suite("coreutils", _build_coreutils, _coreutils_units, _run_coreutils, (GCC,)),
    Suite("sqlite", _build_sqlite, _sqlite_units, _run_sqlite, (GCC,), common.jobs()),
)
