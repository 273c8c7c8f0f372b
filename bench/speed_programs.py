"""The programs of speed.py: x86-64 builds, each with a training input and a reference input.

Programs and inputs are those of workloads.py, but as position-independent executables of this machine, and with
reference inputs that execute 2 to 5 billion instructions (short inputs: a fifth, to tune layouts). CPython, LLVM and
Clang are linked from Debian's static archives."""

import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
INPUTS = HERE / "workloads"
sys.path[:0] = [str(ROOT / "tests" / "programs"), str(INPUTS)]

import sql  # noqa: E402
import workloads  # noqa: E402
from workloads import Run, write  # noqa: E402

PIE = ("-fPIE", "-pie")
LINK = ("-Wl,--emit-relocs",)
PYTHON = pathlib.Path("/usr/lib/python3.11/config-3.11-x86_64-linux-gnu")
CLANG = pathlib.Path("/usr/lib/llvm-14")


@dataclasses.dataclass(frozen=True)
class Program:
    """`build(image, flags)` makes the program with more flags, or is None where the parts come
    compiled."""

    name: str
    image: pathlib.Path
    training: tuple  # of runs
    reference: tuple
    build: object = None


class Unavailable(Exception):
    pass


def call(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise Unavailable(f"{command[0]}: {done.stderr.strip()[-300:]}")
    return done.stdout


class Maker:
    """The interface that functions of workloads.py call to build a program: here, for x86-64."""

    def __init__(self, folder, short=False):
        self.folder, self.short, self.build = folder, short, None

    def times(self, number):
        """How often something is to be repeated."""
        return max(1, number // 5) if self.short else number

    def __call__(self, name, files, flags, libraries=("-lm", "-lpthread")):
        def build(image, more=()):
            compiler = "g++" if str(files[0]).endswith(".cc") else "gcc"
            call(compiler, "-w", *PIE, *LINK, *flags, *more, *files, "-o", image, *libraries)

        image, self.build = self.folder / name, build
        if not image.exists():
            build(image)
        return image


def sqlite3(make, sources, folder):
    image, *_ = workloads.sqlite3(make, sources, folder)
    size = make.times(9000)
    scripts = {"training-2000": sql.training(2000), f"reference-{size}": sql.reference(size)}
    texts = [write(folder / f"sqlite3-{name}.sql", text) for name, text in scripts.items()]
    return image, *((Run(("-batch", ":memory:"), text),) for text in texts)


def lua(make, sources, folder):
    image, training, _ = workloads.lua(make, sources, folder)
    times = make.times(20)
    many = f'for i = 1, {times} do dofile("{INPUTS / "reference.lua"}") end\n'
    return image, training, (Run((write(folder / f"reference-{times}.lua", many),)),)


def duktape(make, sources, folder):
    image, training, reference = workloads.duktape(make, sources, folder)
    return image, training, (Run(reference[0].args * make.times(16)),)


def tcc(make, sources, folder):
    image, training, reference = workloads.tcc(make, sources, folder)
    options = [word for word in reference[0].args if not str(word).endswith(".c")]
    files = [sources / "sqlite3-amalgamation" / name for name in ("sqlite3.c", "shell.c")]
    files += [sources / "lua5.4" / "src" / f"{name}.c" for name in ("lparser", "lvm", "lstrlib")]
    return image, training, tuple(Run((*options, file)) for file in files) * make.times(5)


def script(make, sources, folder):
    image, training, reference = workloads.script(make, sources, folder)
    return image, training, reference * make.times(20)


def stack_machine(make, sources, folder):
    image = make("stack_machine", [INPUTS / "stack_machine.c"], ["-O2"])
    training = Run((INPUTS / "primes.stack", "100000"))
    return image, (training,), (Run((INPUTS / "collatz.stack", str(make.times(400_000)))),)


def bzip2(make, sources, folder):
    image, training, _ = workloads.bzip2(make, sources, folder)
    data = (sources / "sqlite3-amalgamation" / "sqlite3.c").read_bytes()
    data = data[: make.times(len(data))]
    whole = write(folder / f"sqlite3-{len(data)}.c", data)
    small = write(folder / f"sqlite3-{len(data)}.bz2", workloads.bz2.compress(data))
    return image, training, (Run(("-c",), whole), Run(("-dc",), small))


def cpython(make, sources, folder):
    if not PYTHON.exists():
        raise Unavailable("libpython3.11-dev is not installed")
    files = [INPUTS / "python.c", PYTHON / "libpython3.11-pic.a"]
    image = make("cpython", files, ["-O2", "-Wl,--export-dynamic"], ("-lexpat", "-lz", "-lm"))
    make.build = None
    training, reference = (Run(("-S", "-s", INPUTS / f"{kind}.py")) for kind in workloads.KINDS)
    return image, (training,), (Run((*reference.args, str(make.times(10)))),)


def modules(folder, files, flags=()):
    """C files as modules of LLVM's intermediate representation."""
    made = []
    for file in files:
        module = folder / "modules" / f"{file.parent.name}-{file.stem}.bc"
        module.parent.mkdir(parents=True, exist_ok=True)
        if not module.exists():
            call("clang", "-w", "-O2", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", *flags, file, "-o", module)
        made.append(module)
    return made


def llvm(make, sources, folder):
    """LLVM's optimizer and its code generator for x86-64."""
    config = shutil.which("llvm-config-22")
    if config is None or shutil.which("clang") is None:
        raise Unavailable("llvm-22-dev or clang is not installed")
    parts = ("TargetInfo", "Target", "TargetMC", "AsmPrinter", "AsmParser")
    write(folder / "llvm" / "targets.inc", "".join(f"TARGET(LLVMInitializeX86{part})\n" for part in parts))
    flags = [flag for flag in call(config, "--cxxflags").split() if flag != "-fno-exceptions"]
    libraries = [f"-L{call(config, '--libdir').strip()}", "-Wl,--start-group"]
    libraries += call(config, "--link-static", "--libs", "all").split() + ["-Wl,--end-group"]
    archives = {file.name for file in pathlib.Path(call(config, "--libdir").strip()).glob("*.a")}
    libraries += [f"-l{name}" for name in ("Polly", "PollyISL") if f"lib{name}.a" in archives]
    libraries += call(config, "--link-static", "--system-libs").split()
    image = make("llvm", [INPUTS / "llvm.cc"], ["-O2", *flags, f"-I{folder / 'llvm'}", "-Wl,--gc-sections"], libraries)
    make.build = None
    source = sources / "lua5.4" / "src"
    training = [source / f"{name}.c" for name in ("lapi", "lcode", "ltable", "lparser", "lstrlib")]
    zlib, bzip2 = sources / "zlib", sources / "bzip2"
    reference = [zlib / f"{name}.c" for name in ("deflate", "inflate", "trees")] + [bzip2 / "decompress.c"]
    made = [modules(folder, files) for files in (training, reference[make.short * 3 :])]
    return image, *(tuple(Run((module,)) for module in each) for each in made)


def clang(make, sources, folder):
    """Clang's front end with LLVM 14's optimizer and code generator."""
    archives = sorted((CLANG / "lib").glob("libclang*.a"))
    if not archives:
        raise Unavailable("libclang-14-dev is not installed")
    config = CLANG / "bin" / "llvm-config"
    flags = [flag for flag in call(config, "--cxxflags").split() if flag != "-fno-exceptions"]
    names = [f"-l{file.name[3:-2]}" for file in archives if "clang-cpp" not in file.name]
    libraries = [f"-L{CLANG / 'lib'}", "-Wl,--start-group", *names]
    libraries += call(config, "--link-static", "--libs", "x86", "passes", "coverage", "lto", "option", "frontendopenmp").split()
    libraries += ["-Wl,--end-group", *call(config, "--link-static", "--system-libs").split()]
    image = make("clang", [INPUTS / "clang.cc"], ["-O2", *flags, "-Wl,--gc-sections"], libraries)
    make.build = None
    headers = ["-internal-isystem", CLANG / "lib" / "clang" / "14.0.6" / "include", "-internal-externc-isystem",
               pathlib.Path("/usr/include/x86_64-linux-gnu"), "-internal-externc-isystem", pathlib.Path("/usr/include")]
    cxx = [pathlib.Path("/usr/include/c++/12"), pathlib.Path("/usr/include/x86_64-linux-gnu/c++/12")]
    headers_cxx = [word for path in cxx for word in ("-internal-isystem", path)] + headers
    options = ["-emit-obj", "-O2", "-fgnuc-version=4.2.1", "-o", "out.o", "-triple", "x86_64-pc-linux-gnu", "-w"]
    source = sources / "lua5.4" / "src"
    training = [Run((*options, *headers, source / f"{name}.c")) for name in ("lparser", "lvm", "lstrlib", "lgc")]
    throws = ROOT / "tests" / "programs" / "cxx" / "exceptions.cc"
    cxx_options = [*options, *headers_cxx, "-std=c++20", "-fexceptions", "-fcxx-exceptions"]
    training.append(Run((*cxx_options, throws)))
    reference = [Run((*cxx_options, INPUTS / "script.cc"))]
    return image, tuple(training), tuple(reference)


PROGRAMS = (sqlite3, lua, cpython, duktape, tcc, bzip2, script, stack_machine, llvm, clang)
NAMES = [program.__name__ for program in PROGRAMS]
INTERPRETERS = ("sqlite3", "lua", "cpython", "duktape", "script", "stack_machine")


def prepare(folder, names=None, short=False):
    """Builds programs in a folder; programs for which this machine lacks parts are named on stderr."""
    unknown = [name for name in names or () if name not in NAMES]
    if unknown:
        raise SystemExit(f"speed: there is no program {unknown[0]!r}; there are: {', '.join(NAMES)}")
    sources = folder / "sources"
    if not workloads.build.fetch(sources, workloads.PACKAGES):
        raise Unavailable("Debian's sources cannot be had")
    (folder / "images").mkdir(parents=True, exist_ok=True)
    made = []
    for program in PROGRAMS:
        if names and program.__name__ not in names:
            continue
        make = Maker(folder / "images", short)
        try:
            image, training, reference = program(make, sources, folder / "inputs")
        except Unavailable as reason:
            print(f"speed: WITHOUT {program.__name__}: {reason}", file=sys.stderr)
            continue
        made.append(Program(program.__name__, image, training, reference, make.build))
    return made

