"""GCC's execution tests: where they come from, and which files are programs.

The source package gcc-12 is fetched as the other sources are (scripts/fetch-sources.sh), into the folder of the test
programs, and the folders of tests in it are unpacked beside it. Nothing of it is kept in the repository."""

import dataclasses
import fcntl
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "tests" / "e2e"), str(ROOT / "tests" / "programs")]
import build  # noqa: E402
import common  # noqa: E402

SOURCES = common.PROGRAMS / "sources"
PACKAGE = "gcc-12"
UNPACKED = ["gcc.c-torture/execute", "gcc.dg", "g++.dg", "g++.old-deja", "c-c++-common"]

# Tests of features that are missing here (sanitizers, OpenMP, transactions), of the compiler's own files (precompiled
# headers, modules, plug-ins, profiles), or with rules of their own.
LEFT_OUT = re.compile(
    r"/(asan|hwasan|tsan|ubsan|sancov|gomp|goacc|goacc-gomp|tm|guality|plugin|lto|modules|pch|simulate-thread|tree-prof|"
    r"bprob|gcov|compat|noncompile|rtl|dfp|fixed-point|vmx|vxworks|Foundation\.framework|charset|cilk-plus|analyzer)/"
)


@dataclasses.dataclass(frozen=True)
class Suite:
    """A kind of tests. `runs`: tests without dg-do are programs. `levels`: they have no options of their own."""

    name: str
    folder: str
    pattern: str
    language: str
    runs: bool = False
    flags: tuple = ()
    recursive: bool = True


BUILTINS = ("-fno-tree-dse", "-fno-tree-loop-distribute-patterns", "-fno-tracer", "-fno-ipa-ra", "-fno-inline-functions")
SUITES = [
    Suite("c-torture", "gcc.c-torture/execute", "*.c", "c", True, recursive=False),
    Suite("ieee", "gcc.c-torture/execute/ieee", "*.c", "c", True, ("-fno-inline",), False),
    Suite("builtins", "gcc.c-torture/execute/builtins", "*.c", "c", True, BUILTINS, False),
    Suite("vect", "gcc.dg/vect", "*.c", "c", True, ("-O2", "-ftree-vectorize", "-fno-vect-cost-model", "-fno-common")),
    Suite("gcc.dg", "gcc.dg", "*.c", "c"),
    Suite("c-c++-common.c", "c-c++-common", "*.c", "c"),
    Suite("c-c++-common.c++", "c-c++-common", "*.c", "c++"),
    Suite("coroutines", "g++.dg/coroutines", "*.C", "c++", False, ("-std=gnu++20", "-fcoroutines")),
    Suite("g++.dg", "g++.dg", "*.C", "c++"),
    Suite("g++.old-deja", "g++.old-deja", "*.C", "c++"),
]


@dataclasses.dataclass(frozen=True)
class Source:
    """A file that may be a program: its name, such as gcc.dg/torture/pr1.c, and where it is."""

    name: str
    path: pathlib.Path
    suite: Suite

    def others(self):
        """Files that every test of its suite is linked with."""
        if self.suite.name != "builtins":
            return []
        return [self.path.with_name(f"{self.path.stem}-lib.c"), self.path.parent / "lib" / "main.c"]


def folder():
    """The folder of tests, fetched and unpacked by the first who asks; None when it cannot be had."""
    target = SOURCES / f"{PACKAGE}-tests"
    SOURCES.mkdir(parents=True, exist_ok=True)
    with open(SOURCES / ".peers.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.is_dir():
            if not build.fetch(SOURCES, [PACKAGE]):
                return None
            (archive,) = (SOURCES / PACKAGE).glob("gcc-*.tar.*")
            part = SOURCES / f".{target.name}"
            part.mkdir(exist_ok=True)
            wanted = [f"*/gcc/testsuite/{name}" for name in UNPACKED]
            command = ["tar", "-C", part, "--strip-components=3", "--wildcards", "-xf", archive, *wanted]
            subprocess.run(command, check=True)
            part.rename(target)
    return target


def sources(top):
    """All files that may be programs."""
    found = []
    for suite in SUITES:
        files = (top / suite.folder).rglob(suite.pattern) if suite.recursive else (top / suite.folder).glob(suite.pattern)
        for path in sorted(files):
            name = str(path.relative_to(top))
            if LEFT_OUT.search(f"/{name}") or (suite.name == "builtins" and name.endswith("-lib.c")):
                continue
            if len(suite.folder) < len("gcc.dg/vect") and name.startswith(("gcc.dg/vect/", "g++.dg/coroutines/")):
                continue  # of a suite of their own
            if suite.runs or b"dg-do run" in re.sub(rb"\s+", b" ", path.read_bytes()):
                found.append(Source(name, path, suite))
    return found
