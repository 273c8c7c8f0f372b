"""The packages of package_tests.py: how their programs and libraries are built for x86-64, and the work that shows that
a rewritten image is right.

    package.make(build)     Made: the image, and work(image), which returns the outcome of the whole work

Example: make() of zlib's `minigzip`, with gcc and `-pie`, compiles it into build/peers/packages/minigzip-gcc-pie; its
work packs deflate.c at six levels and unpacks the results. The outcome has to be the same for each image that Respike
makes of the original. Builds are made once; their folders can be deleted at any time."""

import dataclasses
import fcntl
import functools
import os
import pathlib
import re
import shutil
import tempfile

import gcc_sources
import build as programs
import common
import results
import runner

HERE = pathlib.Path(__file__).resolve().parent
WORK = runner.WORK / "packages"
LONGEST = 600.0  # seconds of one work, and of one command of a build
FLAGS = ["-O2", "-w"]


class Unavailable(Exception):
    """A package cannot be built on this machine; the message says why."""


@dataclasses.dataclass(frozen=True)
class Build:
    """A compiler with the options for one kind of executable; `flags` are the compiler's, `link` the linker's."""

    compiler: str
    kind: str = ""
    flags: tuple = ()
    link: tuple = ()

    @property
    def name(self):
        return f"{self.compiler}-{self.kind}" if self.kind else self.compiler

    def compile(self, sources, output, *flags, libraries=()):
        command = [self.compiler, *FLAGS, *self.flags, *flags, *sources, *self.link, programs.RELOCATIONS, *libraries]
        checked([*command, "-o", output], output.parent)


@dataclasses.dataclass(frozen=True)
class Made:
    image: pathlib.Path
    work: object


@dataclasses.dataclass(frozen=True)
class Package:
    name: str
    make: object
    builds: tuple


def checked(command, folder, timeout=LONGEST, environment=None):
    """Runs a command of a build, with more variables of the environment; returns its output."""
    if not shutil.which(command[0]):
        raise Unavailable(f"{command[0]} is not installed")
    variables = {**os.environ, **environment} if environment else None
    done = common.run_command(command, timeout=timeout, cwd=folder, env=variables)
    if done.status != 0:
        said = (done.stdout + done.stderr).decode(errors="replace")[-1000:]
        raise common.Failure(f"{common.shorten_command(command)}: {said}")
    return done.stdout.decode(errors="replace")


def source(package):
    """The folder of the package's source, fetched by the first who asks."""
    folder = gcc_sources.SOURCES / package
    gcc_sources.SOURCES.mkdir(parents=True, exist_ok=True)
    with open(gcc_sources.SOURCES / ".peers.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir() and not programs.fetch(gcc_sources.SOURCES, [package]):
            raise Unavailable("Debian's sources are unreachable")
    return folder


def take_each(cases, take):
    """Calls take(name, value) for each of a dictionary's cases, and says which fail or are left out; the exit status."""
    failed = left_out = 0
    for name, value in cases.items():
        try:
            take(name, value)
        except Unavailable as reason:
            print(f"left out {name}: {reason}")
            left_out += 1
        except common.Failure as failure:
            print(f"FAILED {name}: {failure}")
            failed += 1
    return results.SKIPPED if cases and left_out == len(cases) else 1 if failed else 0


_made = common.Shared()


def _once(name, make):
    """The folder WORK/name, which make(folder) fills, unless a run before did."""

    def fill():
        folder = WORK / name
        if not folder.is_dir():
            part = folder.with_name(f".{folder.name}")
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(parents=True)
            make(part)
            part.rename(folder)
        return folder

    return _made(name, fill)


def _joined(outcomes):
    """One outcome of several: the first status that is not 0, and all output."""
    outcomes = list(outcomes)
    status = next((o.status for o in outcomes if o.status), 0)
    return common.Outcome(status, b"".join(o.stdout for o in outcomes), b"".join(o.stderr for o in outcomes))


def _start(image, *arguments, stdin=None, environment=None):
    """Runs a program in an empty folder, under a name that is always the same."""
    variables = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **(environment or {})}
    with tempfile.TemporaryDirectory(prefix="respike-run-") as folder:
        return common.run_command(
            ["program", *arguments], stdin=stdin, timeout=LONGEST, cwd=folder, env=variables, executable=image
        )


def _packed_and_unpacked(image, file, levels):
    """The outcomes of packing the file at each level, each followed by that of unpacking the result."""
    for level in levels:
        packed = _start(image, level, stdin=file)
        with tempfile.NamedTemporaryFile() as result:
            result.write(packed.stdout)
            result.flush()
            yield from (packed, _start(image, "-d", stdin=result.name))


# --- Duktape: scripts -----------------------------------------------------------------------------


def _duktape(build):
    top = source("duktape")
    parts = [top / "src", top / "examples" / "cmdline", top / "extras" / "print-alert"]
    files = [parts[0] / "duktape.c", parts[1] / "duk_cmdline.c", parts[2] / "duk_print_alert.c"]
    flags = ["-DDUK_CMDLINE_PRINTALERT_SUPPORT", *(f"-I{part}" for part in parts)]
    folder = _once(f"duktape-{build.name}", lambda f: build.compile(files, f / "duk", *flags, libraries=["-lm"]))
    workloads = gcc_sources.ROOT / "bench" / "workloads"
    scripts = [HERE / "inputs" / "language.js", workloads / "training.js", workloads / "reference.js", top / "mandel.js"]
    return Made(folder / "duk", lambda image: _joined(_start(image, script) for script in scripts))


# --- zlib: its own test, and a file packed and unpacked -------------------------------------------


def _zlib(program, build):
    top = source("zlib")
    files = [*sorted(top.glob("*.c")), top / "test" / f"{program}.c"]
    flags = [f"-I{top}", "-D_LARGEFILE64_SOURCE=1", "-DHAVE_UNISTD_H", "-DHAVE_STDARG_H"]
    folder = _once(f"{program}-{build.name}", lambda f: build.compile(files, f / program, *flags))
    return folder / program, top / "deflate.c"


def _example(build):
    image, _ = _zlib("example", build)
    return Made(image, _start)


def _minigzip(build):
    image, text = _zlib("minigzip", build)
    levels = ("-1", "-6", "-9", "-f", "-h", "-r")
    return Made(image, lambda image: _joined(_packed_and_unpacked(image, text, levels)))


# --- bzip2: its own samples, packed, unpacked and tested ------------------------------------------

BZIP2_FILES = "blocksort huffman crctable randtable compress decompress bzlib bzip2".split()


def _bzip2(build):
    top = source("bzip2")
    files = [top / f"{name}.c" for name in BZIP2_FILES]
    folder = _once(f"bzip2-{build.name}", lambda f: build.compile(files, f / "bzip2", "-D_FILE_OFFSET_BITS=64"))

    def outcomes(image):
        for number in (1, 2, 3):
            yield from _packed_and_unpacked(image, top / f"sample{number}.ref", [f"-{number}", f"-{number}s"])
            for option in ("-d", "-ds", "-t"):
                yield _start(image, option, stdin=top / f"sample{number}.bz2")
        yield _start(image, "-d", stdin=top / "sample1.ref")  # its message about a file of another format

    return Made(folder / "bzip2", lambda image: _joined(outcomes(image)))


# --- tcc: its own tests ---------------------------------------------------------------------------

# Tests in which tcc compiles: itself, itself by the result, programs, libraries, code that it runs at once.
TCC_TESTS = "hello-exe hello-run test3 dlltest abitest-tcc asm-c-connect-test vla_test-run btest test1b".split()


def _tcc(build):
    top = source("tcc")
    made = _once(f"tcc-{build.name}", functools.partial(_make_tcc, build, top))

    def work(image):
        # Beside the builds, since the path from a build to the sources is relative.
        with tempfile.TemporaryDirectory(prefix=".run-", dir=WORK) as place:
            shutil.copytree(made, place, symlinks=True, dirs_exist_ok=True)
            shutil.copy2(image, pathlib.Path(place) / "tcc")
            make = ["make", "-k", "-s", "--no-print-directory", "CONFIG_strip=yes"]
            tests = (["-C", "tests/tests2"], ["-C", "tests", *TCC_TESTS])
            return _joined(common.run_command([*make, *each], timeout=LONGEST, cwd=place) for each in tests)

    return Made(made / "tcc", work)


def _make_tcc(build, top, folder):
    options = [f"--extra-cflags={' '.join([*FLAGS, *build.flags])}", "--triplet=x86_64-linux-gnu"]
    checked(["sh", f"{os.path.relpath(top, folder)}/configure", f"--cc={build.compiler}", *options], folder)
    checked(["make", "CONFIG_strip=yes", f"LDFLAGS={' '.join([*build.link, programs.RELOCATIONS])}"], folder)


# --- libstdc++: programs that link it -------------------------------------------------------------

DEBIANS = pathlib.Path("/usr/lib/x86_64-linux-gnu/libstdc++.so.6")
LIBRARY_USERS = [
    HERE / "inputs" / "library.cc",
    *(gcc_sources.ROOT / "tests" / "programs" / "cxx" / f"{n}.cc" for n in ("exceptions", "containers", "modern", "concurrency")),
]


def _version_script(library):
    """A version script that gives symbols the versions that they have in the library. Of a symbol with several versions
    only the default one counts."""
    versions = {}
    for line in checked(["readelf", "--dyn-syms", "-W", library], HERE).splitlines():
        fields = line.split()
        match = re.fullmatch(r"(.+?)@@(.+)", fields[7]) if len(fields) > 7 and fields[6] not in ("UND", "ABS") else None
        if match:
            versions.setdefault(match[2], []).append(match[1])
    nodes = [f"{version} {{ global: {' '.join(f'{n};' for n in names)} }};\n" for version, names in sorted(versions.items())]
    return "".join([*nodes, "UNNAMED { local: *; };\n"])


def _libstdcxx(build):
    """Debian's static library holds position-independent code: linked as a shared library, with Debian's versions, it
    stands for Debian's shared library, which has no relocations."""
    if not DEBIANS.exists():
        raise Unavailable(f"there is no {DEBIANS}")
    made = _once(f"libstdc++-{build.name}", functools.partial(_make_libstdcxx, build))

    def work(image):
        with tempfile.TemporaryDirectory(prefix="respike-library-") as place:
            (pathlib.Path(place) / DEBIANS.name).symlink_to(image)
            return _joined(_start(made / s.stem, environment={"LD_LIBRARY_PATH": place}) for s in LIBRARY_USERS)

    return Made(made / DEBIANS.name, work)


def _make_libstdcxx(build, folder):
    archive = checked([build.compiler, "-print-file-name=libstdc++.a"], folder).strip()
    (folder / "versions").write_text(_version_script(DEBIANS))
    whole = ["-Wl,--whole-archive", archive, "-Wl,--no-whole-archive"]
    named = ["-shared", f"-Wl,-soname,{DEBIANS.name}", f"-Wl,--version-script={folder / 'versions'}"]
    checked(["gcc", *named, *build.link, *whole, "-lm", "-lgcc_s", programs.RELOCATIONS, "-o", DEBIANS.name], folder)
    for source in LIBRARY_USERS:
        checked([build.compiler, *FLAGS, "-std=c++20", "-pthread", source, "-o", source.stem], folder)


# --- All ------------------------------------------------------------------------------------------

PIE, NO_PIE = ("pie", ("-fPIE",), ("-pie",)), ("no-pie", ("-fno-pie",), ("-no-pie",))
EXECUTABLES = (
    *(Build(compiler, *kind) for compiler in ("gcc", "clang") for kind in (PIE, NO_PIE)),
    Build("gcc", "O0", ("-O0", "-fPIE"), ("-pie",)),
    Build("gcc", "v3", ("-O3", "-funroll-loops", "-march=x86-64-v3", "-fPIE"), ("-pie",)),
    Build("gcc", "gold", ("-Os", "-fno-pie"), ("-no-pie", "-fuse-ld=gold")),
    Build("clang", "lld", ("-O3", "-fno-pie"), ("-no-pie", "-fuse-ld=lld")),
)
LIBRARIES = (
    Build("g++"),
    Build("g++", "sections", link=("-Wl,--gc-sections",)),
    *(Build("g++", linker, link=(f"-fuse-ld={linker}",)) for linker in ("gold", "lld", "mold")),
)

PACKAGES = (
    Package("duktape", _duktape, EXECUTABLES),
    Package("example", _example, EXECUTABLES),
    Package("minigzip", _minigzip, EXECUTABLES[::-1]),  # the sample has the first: one of clang's, linked by lld
    Package("bzip2", _bzip2, EXECUTABLES),
    Package("tcc", _tcc, EXECUTABLES),
    Package("libstdc++", _libstdcxx, LIBRARIES),
)
