"""Images with debug information, their rewritten versions, and which instruction came from which.

BUILDS lists programs, compilers and formats of debug information. `respike image optimize --address-map FILE` says for
each instruction of the output where it came from: lines `NEW OLD`, or `NEW - KIND` for an instruction without an
origin. On Itanium the low bits of an address are the slot. Rewriting.read() reads an output and its map, and checks the
map itself: the instructions at NEW and OLD are the same as objdump reads them, but for the sense and the size of
branches.

RESPIKE_DEBUG_IMAGES names a folder that keeps the compiled images from one run to the next."""

import collections
import dataclasses
import functools
import os
import pathlib
import re
import shutil
import sys

import common
import debug_readers
import ia64_programs
import profiles

SOURCES = common.ROOT / "tests" / "programs"
sys.path.insert(0, str(SOURCES))
import build  # noqa: E402

REAL = common.PROGRAMS / "sources"
COMPILE_TIMEOUT = 900.0
TOOL_TIMEOUT = 600.0
FLAGS = ("-w", "-O2", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing")
EXAMPLES = 3

# --- Builds ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Machine:
    compilers: tuple  # of C and of C++
    objdump: str
    link: tuple = ()

    def run(self, image, arguments, stdin, libraries=None):
        """Runs a program by the name `program` in a fresh folder."""
        with common.Scratch() as own:
            folder = own.folder()
            environment = dict(os.environ)
            if self is MACHINES["x86_64"]:
                if libraries:
                    environment["LD_LIBRARY_PATH"] = str(libraries)
                return common.run_command(["program", *arguments], stdin=stdin, cwd=folder, env=environment, executable=image)
            if self is MACHINES["alpha"]:
                command = [*common.QEMU, *(["-E", f"LD_LIBRARY_PATH={libraries}"] if libraries else []), "-0", "program", image]
            else:
                command = [EMULATOR, image]
            return common.run_command([*command, *arguments], stdin=stdin, cwd=folder)


EMULATOR = os.environ.get("RESPIKE_IA64_EMULATOR", str(pathlib.Path(common.RESPIKE).parent / "respike-ia64"))
MACHINES = {
    "x86_64": Machine(("gcc", "g++"), "objdump"),
    "alpha": Machine(("alpha-linux-gnu-gcc", "alpha-linux-gnu-g++"), "alpha-linux-gnu-objdump", (build.NO_RELAX,)),
    "ia64": Machine(("ia64-linux-gnu-gcc", "ia64-linux-gnu-g++"), "ia64-linux-gnu-objdump", ("-static",)),
}
CLANG = ("clang", "clang++")


@dataclasses.dataclass(frozen=True)
class Source:
    files: tuple
    flags: tuple = ()
    arguments: tuple = ()
    stdin: object = None
    library: bool = False  # a shared library, which is not run


@functools.cache
def sources():
    """Programs by name; real programs only if their sources are there."""
    text = SOURCES / "inputs" / "heavy.sql"
    own = {name: Source((SOURCES / "c" / f"{name}.c",)) for name in ("switches", "interpreter", "calls", "floats", "kernels")}
    own["strings"] = Source((SOURCES / "c" / "strings.c",), stdin=text)
    own["exceptions"] = Source((SOURCES / "cxx" / "exceptions.cc",))
    own["modern"] = Source((SOURCES / "cxx" / "modern.cc",))
    own["containers"] = Source((SOURCES / "cxx" / "containers.cc",), stdin=text)
    own["variables"] = Source(tuple(SOURCES / "debug" / f"{unit}.c" for unit in ("variables", "variables_more")))
    own["shared"] = dataclasses.replace(own["variables"], library=True)  # also small on Itanium: programs are static
    own["plugin"] = Source((SOURCES / "shared" / "plugin.cc",), library=True)
    if not REAL.is_dir():
        return own
    runs = {
        "sqlite3": (("-batch", ":memory:"), text),
        "lua": ((SOURCES / "inputs" / "workload.lua",), text),
        "bzip2": (("-c",), text),
        "minigzip": ((), text),
    }
    for name, (files, flags) in build.real_sources(REAL).items():
        own[name] = Source(tuple(files), tuple(f for f in flags if f != "-O2"), *runs[name])
    files, flags = build.real_sources(REAL)["lua"]
    own["liblua"] = Source(tuple(f for f in files if f.stem != "lua"), tuple(f for f in flags if f != "-O2"), library=True)
    return own


@dataclasses.dataclass(frozen=True)
class Build:
    program: str
    shape: str
    machine: str = "x86_64"
    compilers: tuple = ()
    flags: tuple = ("-g",)
    link: tuple = ()

    @property
    def name(self):
        return ".".join(part for part in (self.program, self.machine, self.shape) if part)

    @property
    def is_split(self):
        """Whether most of its debug information is in .dwo files."""
        return "-gsplit-dwarf" in self.flags

    @property
    def source(self):
        return sources()[self.program]

    @property
    def on(self):
        return MACHINES[self.machine]

    def compiler(self, cxx):
        """The compiler's path or command; Skip if it is missing."""
        command = (self.compilers or self.on.compilers)[cxx]
        if self.machine == "ia64":
            if ia64_programs.toolchain() is None:
                raise common.Skip(ia64_programs.MISSING)
            return ia64_programs.toolchain() / "bin" / command
        if shutil.which(command) is None:
            raise common.Skip(f"there is no {command}")
        return command


# Shapes: name, flags, compilers, flags of the link.
GCC_SHAPES = {
    "": ((), ()),
    "dwarf4": (("-gdwarf-4",), ()),
    "gz": (("-gz",), ("-gz",)),
    "sections": (("-ffunction-sections", "-gdwarf-4"), ("-Wl,--gc-sections",)),
    "types": (("-fdebug-types-section",), ()),
    "types4": (("-fdebug-types-section", "-gdwarf-4"), ()),
    "g1": (("-g1",), ()),
    "g3": (("-g3",), ()),
    "split": (("-gsplit-dwarf",), ()),
    "split4": (("-gsplit-dwarf", "-gdwarf-4"), ()),
    "dwarf64": (("-gdwarf64",), ()),
    "dwarf3": (("-gdwarf-3",), ()),
    # The assembler's own debug information: units without a base of addresses, lengths of variable size.
    "as": (("-g0", "-Wa,--gdwarf-5", "-save-temps=obj"), ()),
    "as4": (("-g0", "-Wa,--gdwarf-4", "-save-temps=obj"), ()),
    "dwarf2": (("-gdwarf-2", "-gstrict-dwarf"), ()),
    "O3": (("-O3",), ()),
    "O0": (("-O0",), ()),
    "fixed": (("-fno-pie",), ("-no-pie",)),
    "lto": (("-flto",), ("-flto",)),
    "no-views": (("-gno-variable-location-views", "-gno-as-locview-support"), ()),
    "no-as-lines": (("-gno-as-loc-support",), ()),
    "columns-off": (("-gno-column-info",), ()),
    "index": (("-ggnu-pubnames",), ("-fuse-ld=lld", "-Wl,--gdb-index")),
    "gold-index": ((), ("-fuse-ld=gold", "-Wl,--gdb-index")),
}
CLANG_SHAPES = {
    "clang": ((), ()),
    "clang4": (("-gdwarf-4",), ()),
    "clang-types": (("-fdebug-types-section",), ()),
    "clang-g1": (("-g1",), ()),
    "clang-split": (("-gsplit-dwarf",), ()),
    "clang-split4": (("-gsplit-dwarf", "-gdwarf-4"), ()),
    "clang-names": (("-gpubnames",), ()),
    "clang-sections": (("-ffunction-sections",), ("-fuse-ld=lld", "-Wl,--gc-sections")),
    "clang-index": (("-ggnu-pubnames",), ("-fuse-ld=lld", "-Wl,--gdb-index")),
    "clang-lto": (("-flto",), ("-flto", "-fuse-ld=lld")),
    "clang-ranges": (("-mllvm", "-minimize-addr-in-v5=Ranges"), ()),
    "clang-simple": (("-gsimple-template-names",), ()),
}
ALPHA_SHAPES = {
    "": ((), ()),
    "dwarf4": (("-gdwarf-4",), ()),
    "static": ((), ("-static", "-Wl,--defsym=__ehdr_start=0x120000000")),
    "gz": (("-gz",), ("-gz",)),
    "O3": (("-O3", "-mcpu=ev67"), ()),
    "split": (("-gsplit-dwarf",), ()),
}
IA64_SHAPES = {"": ((), ()), "dwarf4": (("-gdwarf-4",), ())}


def _build(program, machine, shape):
    table = {"alpha": ALPHA_SHAPES, "ia64": IA64_SHAPES}.get(machine, GCC_SHAPES | CLANG_SHAPES)
    flags, link = table[shape]
    compilers = CLANG if shape.startswith("clang") else ()
    return Build(program, shape, machine, compilers, ("-g", *flags), link)


def _listed():
    """(program, machine, shape): each shape with some programs, each program with some shapes."""
    for shape in GCC_SHAPES:
        # Before DWARF 3 there are no ranges, and gcc invents procedures for the cold parts of C++.
        yield from ((program, "x86_64", shape) for program in ("variables", "exceptions") if (program, shape) != ("exceptions", "dwarf2"))
    for shape in CLANG_SHAPES:
        yield from ((program, "x86_64", shape) for program in ("variables", "exceptions"))
    for program in ("calls", "switches", "interpreter", "floats", "kernels", "strings", "modern", "containers", "plugin", "lua", "liblua", "bzip2", "minigzip"):
        # clang 14 understands neither nested functions (calls) nor libstdc++'s ranges (modern).
        shapes = ("", "dwarf4") if program in ("calls", "modern") else ("", "dwarf4", "clang")
        yield from ((program, "x86_64", shape) for shape in shapes)
    for program in ("variables", "calls", "switches", "interpreter", "strings", "exceptions", "modern", "containers", "plugin", "lua"):
        yield from ((program, "alpha", shape) for shape in ("", "dwarf4"))
    yield "variables", "alpha", "static"
    yield from (("shared", machine, "") for machine in MACHINES)
    yield "lua", "x86_64", "clang-lto"  # many units that share tables of lists
    yield from (("exceptions", "alpha", shape) for shape in ALPHA_SHAPES if shape not in ("", "dwarf4"))
    for program in ("variables", "switches", "interpreter", "exceptions", "containers", "lua"):
        yield from ((program, "ia64", shape) for shape in IA64_SHAPES)


SMALL = ("variables", "shared", "exceptions", "calls", "switches", "interpreter", "strings", "floats", "plugin")
LARGE = [("sqlite3", "x86_64", ""), ("sqlite3", "x86_64", "clang"), ("sqlite3", "alpha", ""), ("sqlite3", "ia64", "")]


def builds(large=False):
    """The builds; without SQLite unless `large`, and only small programs where a sample of the cases runs."""
    wanted = [*_listed(), *(LARGE if large else [])]
    if common.is_sampled():
        wanted = [words for words in wanted if words[0] in SMALL and (words[1] != "ia64" or words[0] == "shared")]
    return [_build(*words) for words in wanted if words[0] in sources()]


def find_build(name):
    return next(build for build in builds(large=True) if build.name == name)


def _compile(build, scratch):
    kept = os.environ.get("RESPIKE_DEBUG_IMAGES")
    folder = pathlib.Path(kept) / build.name if kept else scratch.folder()
    image = folder / build.program
    if image.exists():
        return image
    folder.mkdir(parents=True, exist_ok=True)
    source = build.source
    cxx = any(file.suffix == ".cc" for file in source.files)
    compiler = build.compiler(cxx)
    standard = ["-std=c++20"] if cxx else ["-std=gnu11"]
    position = ["-fPIC"] if source.library else ["-fPIE"] if "-no-pie" not in build.link and build.machine == "x86_64" else []
    objects = []
    for file in source.files:
        objects.append(folder / f"{file.stem}.o")
        _run([compiler, *standard, *FLAGS, *position, *source.flags, *build.flags, "-c", file, "-o", objects[-1]], folder)
    kind = ["-shared"] if source.library else ["-pie"] if "-fPIE" in position else []
    link = [flag for flag in (*build.on.link, *build.link) if not (flag == "-static" and source.library)]
    libraries = ["-lm", *(["-ldl", "-pthread"] if build.machine == "x86_64" else [])]
    levels = [flag for flag in build.flags if flag.startswith("-O")] or ["-O2"]
    _run([compiler, *levels, *build.flags, "-Wl,-q", *kind, *link, *objects, *libraries, "-o", image], folder)
    return image


def _run(command, folder):
    done = common.run_command(command, timeout=COMPILE_TIMEOUT, cwd=folder)
    if done.status != 0:
        text = done.stderr.decode(errors="replace").strip()
        reason = f"{pathlib.Path(command[0]).name}: {text[-200:]}"
        if re.search("unknown argument|unrecognized|invalid linker name|cannot find 'ld'", text):
            raise common.Skip(reason)
        raise common.Failure(reason)


# --- Rewriting ------------------------------------------------------------------------------------------------------

LAYOUTS = {
    "original": ("--layout", "original"),
    "random": ("--layout", "random", "--seed", "1"),
    "scatter": ("--layout", "scatter", "--seed", "1"),
    "profiled": tuple(common.BEST_LAYOUT),
}
# For tests that need it by name.
NO_HOT_COLD = {"no-hot-cold": (*common.BEST_LAYOUT, "--hot-cold", "off")}
PROFILED = ("profiled", *NO_HOT_COLD)


def applies(build, layout):
    if layout not in PROFILED:
        return True
    return not build.source.library and (build.machine != "ia64" or os.path.exists(EMULATOR))


class Work:
    """A build's image, and data about it that several checks need."""

    def __init__(self, build, scratch):
        self.build, self.scratch = build, scratch
        self.shared = common.Shared()

    @property
    def image(self):
        return self.shared("image", lambda: _compile(self.build, self.scratch))

    @property
    def instructions(self):
        return self.shared("instructions", lambda: listing(self.build.on, self.image))

    @property
    def addresses(self):
        """Of all instructions, with both slots of Itanium's long instructions."""

        def make():
            second = {at + 1 for at in self.instructions if at & 15 == 1} if self.build.machine == "ia64" else set()
            return sorted(self.instructions.keys() | second)

        return self.shared("addresses", make)

    def procedures(self, address):
        """Names of the procedures of the input around an address."""
        return self.shared("symbols", lambda: debug_readers.Symbols(self.image)).names(address)

    def profile(self):
        """The profile of the program's own run."""

        def make():
            source = self.build.source

            def check(counting):
                run = self.build.on.run(counting, source.arguments, source.stdin)
                common.expect(run.status >= 0, f"the counting image: {common.describe_status(run.status)}")

            return profiles.count_image(self.image, self.scratch.folder(), check)

        return self.shared("profile", make)

    def rewritten(self, layout):
        """A new Rewriting in a layout."""
        options = (LAYOUTS | NO_HOT_COLD)[layout]
        if layout in PROFILED:
            options += ("--profile", self.profile())
        output = self.scratch.folder() / self.image.name
        map_file = output.with_name("addresses")
        common.respike_ok("image", "optimize", self.image, "-o", output, *options, "--address-map", map_file, timeout=TOOL_TIMEOUT)
        return Rewriting(self, output, map_file)


@dataclasses.dataclass(frozen=True, slots=True)
class Instruction:
    address: int
    size: int
    mnemonic: str


# The text before the mnemonic in the output of GNU objdump.
_PREFIXES = re.compile(
    r"^(?:(?:rep|repz|repnz|lock|notrack|bnd|data16|addr32|cs|ds|es|ss|fs|gs|rex(?:\.[WRXB]+)?|xacquire|xrelease) +)+(?=[a-z])"
)
NO_OP = re.compile(r"nop|xchg|int3|unop|fnop|lea$|\(bad\)")
_LISTED = re.compile(r"^ *([0-9a-f]+):\t *(.*)$")
_INVERSES = {}
for one, other in (
    *(("je", "jne"), ("jl", "jge"), ("jle", "jg"), ("jb", "jae"), ("jbe", "ja"), ("js", "jns"), ("jo", "jno"), ("jp", "jnp")),
    *(("beq", "bne"), ("blt", "bge"), ("ble", "bgt"), ("blbc", "blbs"), ("fbeq", "fbne"), ("fblt", "fbge"), ("fble", "fbgt")),
):
    _INVERSES[one], _INVERSES[other] = other, one


def _mnemonic(text):
    text = re.sub(r"^\(p\d+\) *|^\[[A-Z]+\] *", "", text.strip())
    text = re.sub(r"^\(p\d+\) *", "", text.strip())
    return _PREFIXES.sub("", text).split(" ")[0].split("\t")[0].rstrip(";")


def listing(machine, image):
    """All instructions of the image's code, by address. Itanium's addresses carry the slot, where objdump has 0, 6 and 12."""
    done = common.run_command([machine.objdump, "-d", "-z", "-w", "--no-show-raw-insn", image], timeout=TOOL_TIMEOUT)
    common.expect(done.status == 0, f"{machine.objdump}: {done.stderr.decode(errors='replace')[:300]}")
    itanium = machine is MACHINES["ia64"]
    sections = debug_readers.sections(image.read_bytes())
    found, end = [], 0
    for line in done.stdout.decode(errors="replace").splitlines():
        if line.startswith("Disassembly of section"):
            found.append((end, ""))
            _, size, _, start = sections[line.split()[-1].rstrip(":")]
            end = start + size
            continue
        match = _LISTED.match(line)
        if match:
            address = int(match[1], 16)
            if itanium:
                address = address & ~15 | {0: 0, 6: 1, 12: 2}[address & 15]
            found.append((address, sys.intern(_mnemonic(match[2]))))
    instructions = {}
    for here, after in zip(found, [*found[1:], (end, "")]):
        if here[1]:
            size = 1 if itanium else after[0] - here[0]
            instructions[here[0]] = Instruction(here[0], size, here[1])
    return instructions


class Rewriting:
    """An input, an output and the map between them.

    origins: {NEW: OLD}; synthesized: {NEW: kind}; kept: addresses of code that the map does not list, and which is the
    same in both images; instructions, before: {address: Instruction} of the output and of the input."""

    def __init__(self, work, output, map_file):
        self.work, self.image, self.output, self.map_file = work, work.image, output, map_file
        self.origins, self.synthesized = {}, {}
        previous = -1
        for line in pathlib.Path(map_file).read_text().splitlines():
            words = line.split()
            new = int(words[0], 16)
            common.expect(new > previous, f"the address map is out of order at {new:#x}")
            previous = new
            if words[1] == "-":
                common.expect(len(words) == 3, f"the address map says {line!r}")
                self.synthesized[new] = words[2]
            else:
                self.origins[new] = int(words[1], 16)
        common.expect(self.origins, "the address map lists no instruction")

    @functools.cached_property
    def instructions(self):
        return listing(self.work.build.on, self.output)

    @property
    def before(self):
        return self.work.instructions

    def remove(self):
        self.output.unlink()
        self.map_file.unlink()

    @functools.cached_property
    def news(self):
        """{OLD: [NEW]}"""
        found = collections.defaultdict(list)
        for new, old in self.origins.items():
            found[old].append(new)
        return found

    @functools.cached_property
    def kept(self):
        """Instructions of procedures that are not in the map at all, and which are the same in the output."""
        moved = {procedure for old in self.news for procedure in self.work.procedures(old)}
        return [
            address
            for address, instruction in self.instructions.items()
            if address not in self.origins
            and address not in self.synthesized
            and address not in self.news
            and address in self.before
            and self.before[address].mnemonic == instruction.mnemonic
            and not NO_OP.match(instruction.mnemonic)
            and not self.work.procedures(address) & moved
        ]

    def pairs(self):
        """[(NEW, OLD)] of all instructions with an origin, also of code that stays."""
        return sorted([*self.origins.items(), *((address, address) for address in self.kept)])

    def check_map(self):
        """Problems of the map itself."""
        problems = Problems()
        for new, old in self.origins.items():
            here, there = find(self.instructions, new), find(self.before, old)
            if here is None or there is None:
                problems.add("the map lists what is no instruction", f"{new:#x} {old:#x}")
            elif here.mnemonic != there.mnemonic and not same_instruction(there.mnemonic, here.mnemonic):
                problems.add("the map pairs other instructions", f"{new:#x} {old:#x}: {there.mnemonic} became {here.mnemonic}")
        for new in self.synthesized:
            if new not in self.instructions:
                problems.add("the map lists what is no instruction", f"{new:#x} -")
        kept = set(self.kept)
        for new, instruction in self.instructions.items():
            if new in self.origins or new in self.synthesized or new in kept or NO_OP.match(instruction.mnemonic):
                continue
            problems.add("an instruction is neither in the map nor in the input", f"{new:#x}: {instruction.mnemonic}")
        return problems


def find(instructions, address):
    """The instruction at an address; Itanium's long instructions have two slots, and objdump lists them at the
    first."""
    return instructions.get(address) or (instructions.get(address - 1) if address & 15 == 2 else None)


def same_instruction(before, after):
    """Whether an instruction may become another: branches that are inverted, Itanium's hints and no-ops of other units."""
    if _INVERSES.get(before) == after:
        return True
    one, other = before.split(".")[0], after.split(".")[0]
    if "." in before and one == other and one in ("br", "brl", "nop"):
        return True
    return {one, other} == {"br", "brl"} or {one, other} == {"jsr", "bsr"}


class Problems(collections.defaultdict):
    """{kind: [example]}"""

    def __init__(self):
        super().__init__(list)

    def add(self, kind, example):
        self[kind].append(example)


def describe(problems, limit=EXAMPLES):
    """Problems as text."""
    parts = []
    for kind, examples in problems.items():
        shown = "; ".join(map(str, examples[:limit]))
        parts.append(f"{len(examples)} x {kind}: {shown}")
    return "\n    ".join(parts)


def check_layouts(work, layouts, check):
    """Calls check(layout), which returns Problems, for the layouts that apply; fails after all of them."""
    failures = []
    for layout in layouts:
        if applies(work.build, layout):
            try:
                problems = check(layout)
            except common.Failure as failure:
                failures.append(f"{layout}: {failure}")
                continue
            if problems:
                failures.append(f"{layout}:\n    {describe(problems)}")
    common.expect(not failures, "\n  ".join(["", *failures]))
