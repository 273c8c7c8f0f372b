#!/usr/bin/env python3
"""The start code of instrumented images (instrument/runtime/start.c) on its own, in hosts made for
this test: start_code/host.c and library.c, with the parts that an instrumenter would add, image.S.
Alpha's hosts run under QEMU, those for x86-64 on the processor itself, and under QEMU where a fault
is to be produced.

Hosts check all registers at their entry point. Each way in which a process may end leaves its
counts in the file. If the start code cannot make a file, for whatever reason, the host runs as if
there was no start code, and no file remains. start_code/faults.c produces, inside the emulator,
failures that this machine does not have.
"""

import dataclasses
import os
import pathlib
import platform
import re
import resource
import signal
import struct
import subprocess
import sys
import time

import common
from common import Case, Skip, expect

SOURCES = pathlib.Path(__file__).resolve().parent / "start_code"
MARKER = b"@PREFIX@"
HEADER_SIZE = 8192
SIZE = 65536  # bytes of counters
BIG = 64 << 20
HUGE = 512 << 20
PLAIN, ADDED = (5, 7, 10), 7  # counters that host.c prints; counter of the start
DONE = 3  # exit status of a host that finds nothing wrong


@dataclasses.dataclass(frozen=True)
class Machine:
    """`registers`: words that image.S writes down; `static`: options of programs without libraries."""

    name: str
    compiler: str
    emulator: tuple
    native: bool
    registers: int
    static: tuple

    @property
    def start_code(self):
        return common.PROGRAMS.parent / "start_code" / f"{self.name}.bin"

    def command(self, folder, emulated):
        """The words before a program that finds its libraries in `folder`."""
        if self.native and not emulated:
            return ["env", f"LD_LIBRARY_PATH={folder}"]
        unset = ["-U", "LD_PRELOAD"] if emulated else []
        return [*self.emulator, "-E", f"LD_LIBRARY_PATH={folder}", *unset]


MACHINES = [
    Machine(
        "alpha",
        "alpha-linux-gnu-gcc",
        ("qemu-alpha", "-L", common.SYSROOT),
        False,
        62,
        ("-Wl,--defsym=__ehdr_start=0x120000000",),
    ),
    Machine(
        "x86_64",
        "x86_64-linux-gnu-gcc",
        ("qemu-x86_64",),
        platform.machine() == "x86_64",
        49,
        (),
    ),
]


# --- Images ---------------------------------------------------------------------------------------


class Images:
    """Links hosts and libraries once; `place` makes a copy of an image that writes into a given
    spool."""

    def __init__(self, machine, folder):
        self.machine, self.folder = machine, folder
        if not machine.start_code.exists():
            raise Skip(f"respike was built without a compiler for {machine.name}")
        for name, size, options in (
            ("dynamic", SIZE, ["-no-pie", "-ldl", "-lpthread"]),
            ("pie", SIZE, ["-pie", "-fPIE", "-ldl", "-lpthread"]),
            ("static", SIZE, ["-static", "-DSTATIC", *machine.static]),
            ("no-files", SIZE, ["-static", "-DSTATIC", "-DFILES_LIMIT=3", "-Wl,--no-relax"]),
            ("huge", HUGE, ["-static", "-DSTATIC", "-Wl,--no-relax"]),
        ):
            self.link(
                name,
                size,
                "checked",
                ["-DPROGRAM", "-DINSTRUMENTED", "-Wl,-e,program", "host.c", "image.S", *options],
            )
        for name, size, following in (
            ("liba", SIZE, "library_initializer"),
            ("libb", 2 * SIZE, "library_initializer"),
            ("libnone", SIZE, None),
            ("libbig", BIG, "library_initializer"),
        ):
            self.link(
                name,
                size,
                following,
                [
                    "-DLIBRARY",
                    "-shared",
                    "-fPIC",
                    "-Wl,-init,initializer",
                    f"-Wl,-soname,{name}",
                    "library.c",
                    "image.S",
                ],
            )
        self.link("plain", SIZE, None, ["-no-pie", "host.c", "-ldl", "-lpthread"])
        self.compile(["gcc", "-shared", "-fPIC", "faults.c", "-ldl"], folder / "faults.so")

    def compile(self, command, output):
        command = [SOURCES / c if re.search(r"\.[cS]$", c) else c for c in command]
        outcome = common.run_command([*command, "-O2", "-Wall", "-Wextra", "-o", output])
        expect(outcome.status == 0, f"{output.name}: {outcome.stderr.decode()[:2000]}")

    def link(self, name, size, following, options):
        self.compile(
            [
                self.machine.compiler,
                f'-DMACHINE="{self.machine.name}.S"',
                f"-DREGISTERS={self.machine.registers}",
                f'-DSTART_CODE="{self.machine.start_code}"',
                f"-DCOUNTERS_SIZE={size}",
                f"-DNEXT_IS_NONE={int(following is None)}",
                f"-DNEXT={following}",
                *options,
            ],
            self.folder / name,
        )

    def place(self, name, spool, folder, prefix=None):
        """A copy of an image in `folder` whose counter files are SPOOL/NAME.PID.TIME.counts."""
        data = bytearray((self.folder / name).read_bytes())
        text = (prefix or f"{spool}/{name}.").encode()
        at = data.index(MARKER)
        data[at : at + max(len(text), len(MARKER))] = text.ljust(len(MARKER), b"\0")
        struct.pack_into("<I", data, at - 8, len(text))
        path = folder / name
        path.write_bytes(data)
        path.chmod(0o755)
        return path


class Place:
    """A folder with a spool for one case, and the images of the case."""

    def __init__(self, images, scratch, spool=None):
        self.images = images
        self.folder = scratch.folder()
        self.spool = spool or self.folder / "spool"
        if not spool:
            self.spool.mkdir()

    def add(self, name, prefix=None):
        return self.images.place(name, self.spool, self.folder, prefix)

    def run(self, name, *args, fault=None, before=None, wrap=(), files=None):
        """Runs an image that was placed here; returns its status and the lines that it prints."""
        command = [*wrap, *self.images.machine.command(self.folder, emulated=fault is not None)]
        environment = dict(os.environ)
        if fault:
            environment.update(
                LD_PRELOAD=str(self.images.folder / "faults.so"), RESPIKE_FAULT=fault
            )

        def prepare():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if before:
                before()

        process = subprocess.run(
            [*command, self.folder / name, *args],
            env=environment,
            preexec_fn=prepare,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=100,
        )
        return process.returncode, process.stdout.decode().splitlines(), process.stderr.decode()

    def files(self):
        return sorted(self.spool.iterdir()) if self.spool.is_dir() else []


def check(outcome, lines, status=DONE):
    expect(
        outcome[0] == status and outcome[1] == lines,
        f"status {outcome[0]}, printed {outcome[1]}, instead of {status}, {lines}; "
        f"{outcome[2][-300:]}",
    )


def counters_line(*counters):
    return "counters " + " ".join(map(str, counters))


# --- Files ----------------------------------------------------------------------------------------


def read_file(path, size=SIZE):
    """Checks the header; returns process, time and address, and the first, second and last
    counter."""
    data = path.read_bytes()
    expect(len(data) == HEADER_SIZE + size, f"{path.name} has {len(data)} bytes")
    (
        magic,
        version,
        header_size,
        counters_size,
        image,
        process,
        started,
        address,
        flags,
        reserved,
    ) = struct.unpack_from("<8sIIQ16sQQQII", data)
    expect(
        (magic, version, header_size, counters_size, image, flags, reserved)
        == (b"RSPKCNT\0", 1, HEADER_SIZE, size, bytes(range(1, 17)), 1, 0),
        f"{path.name} has the header {data[:80].hex()}",
    )
    expect(
        data[72:HEADER_SIZE].rstrip(b"\0") == b"/original/image", f"{path.name} has another path"
    )
    name = re.fullmatch(r"[a-z-]+\.(\d+)\.([0-9a-f]{16})\.counts", path.name)
    expect(
        name and int(name[1]) == process and int(name[2], 16) == started,
        f"{path.name}: {process}, {started}",
    )
    expect(
        not data[HEADER_SIZE + 16 : -8].strip(b"\0"), "counters that nothing counts are not zero"
    )
    counters = struct.unpack_from("<2Q", data, HEADER_SIZE) + struct.unpack("<Q", data[-8:])
    return process, started, address, counters


def check_counts(place, *expected, size=SIZE):
    """The spool has one file for each of `expected` counters, in the order of the images' names."""
    files = place.files()
    found = [read_file(f, size)[3] for f in files]
    expect(found == list(expected), f"{[f.name for f in files]} hold {found} instead of {expected}")


# --- Cases: where counts survive ------------------------------------------------------------------


def ends(images, scratch, image, mode, status, lines=(PLAIN,), counts=PLAIN):
    place = Place(images, scratch)
    place.add(image)
    began = time.time_ns()
    outcome = place.run(image, mode, before=lambda: os.umask(0))
    check(outcome, [counters_line(*c) for c in lines], status)
    check_counts(place, counts)
    path = place.files()[0]
    started = read_file(path)[1]
    expect(began <= started <= time.time_ns(), f"{started} is not the time of the start")
    expect(path.stat().st_mode & 0o777 == 0o644, f"mode {path.stat().st_mode:o}")
    expect(path.stat().st_blocks * 512 >= HEADER_SIZE + SIZE, "the file has holes")


def traces(images, scratch, image):
    """File descriptors are unchanged, and memory has one new mapping: the counters."""
    seen = {}
    for kind in ("file", "missing", "nothing"):
        place = Place(images, scratch)
        place.add(image)
        if kind == "missing":
            place.spool.rmdir()
        # With this limit the start code gives up at once.
        before = file_size_limit(HEADER_SIZE + SIZE - 1) if kind == "nothing" else None
        status, lines, _ = place.run(image, "traces", before=before)
        expect(status == DONE and len(lines) >= 4, f"status {status}: {lines}")
        seen[kind] = lines
        if kind == "file":
            address = read_file(place.files()[0])[2]
    maps = [l for l in seen["file"] if l.startswith("map ")]
    first, last = (int(x, 16) for x in seen["file"][-1].removeprefix("at ").split("-"))
    expect(len(maps) == 1, f"mappings: {maps}")
    found = re.match(r"map (\w+)-(\w+) (rw.s) (\w+)", maps[0])
    expect(
        found and [int(found[i], 16) for i in (1, 2, 4)] == [first, last, HEADER_SIZE],
        f"{maps[0]}, counters at {first:x}-{last:x}",
    )
    expect(address == first, f"counters_address is {address:x}")
    expect(seen["file"][1] == seen["nothing"][1], "a descriptor stays open")
    counts = {
        k: int(next(l for l in v if l.startswith("maps ")).split()[1]) for k, v in seen.items()
    }
    # The mapping of the counters splits off the memory before and after it in its segment.
    expect(0 <= counts["file"] - counts["nothing"] <= 2, f"mappings: {counts}")
    expect(
        seen["missing"][1:3] == seen["nothing"][1:3],
        f"{seen['missing']} instead of {seen['nothing']}",
    )


def read_while_running(images, scratch):
    place = Place(images, scratch)
    image = place.add("dynamic")
    process = subprocess.Popen(
        [*images.machine.command(place.folder, emulated=False), image, "wait"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        process.stdout.readline()
        check_counts(place, PLAIN)
        place.files()[0].rename(place.spool / "moved.1.0000000000000001.counts")
        process.communicate(b"\n", timeout=60)
    finally:
        process.kill()
    data = place.files()[0].read_bytes()
    expect(
        struct.unpack_from("<Q", data, HEADER_SIZE)[0] == PLAIN[0] + 1,
        "a moved file is not current",
    )
    expect(process.returncode == DONE, f"status {process.returncode}")


def library_line(number, carried=ADDED, kind="initialized"):
    return f"library {kind} {number} {carried} {2 * number}"


def libraries(images, scratch, host, mode="load", kind=None):
    place = Place(images, scratch)
    place.add(host) if host != "plain" else (place.folder / host).symlink_to(images.folder / host)
    place.add("liba")
    place.add("libb")
    own = counters_line(*PLAIN) if host != "plain" else counters_line(5, 0, 10)
    check(place.run(host, mode, "liba", "libb"), [own, library_line(10), library_line(11)])
    files = place.files()
    found = {f.name.split(".")[0]: f for f in files}
    expect(len(files) == (2 if host == "plain" else 3), f"files: {[f.name for f in files]}")
    expect(read_file(found["liba"])[3] == (10, ADDED, 20), "liba's counters")
    expect(read_file(found["libb"], 2 * SIZE)[3] == (11, ADDED, 22), "libb's counters")
    expect(
        len({read_file(f, 2 * SIZE if "libb" in f.name else SIZE)[0] for f in files}) == 1,
        "processes differ",
    )


def library_alone(images, scratch, name, kind):
    place = Place(images, scratch)
    (place.folder / "plain").symlink_to(images.folder / "plain")
    place.add(name)
    check(place.run("plain", "load", name), [counters_line(5, 0, 10), library_line(10, kind=kind)])
    check_counts(place, (10, ADDED, 20))


def ticking(images, scratch):
    """Signals arrive while the start code makes a large file."""
    place = Place(images, scratch)
    (place.folder / "plain").symlink_to(images.folder / "plain")
    place.add("libbig")
    check(place.run("plain", "load-ticks", "libbig"), [counters_line(5, 0, 10), library_line(10)])
    check_counts(place, (10, ADDED, 20), size=BIG)


def works_despite(images, scratch, fault, image="dynamic"):
    place = Place(images, scratch)
    place.add(image)
    check(place.run(image, "exit", fault=fault), [counters_line(*PLAIN)])
    check_counts(place, PLAIN)


def no_clock(images, scratch):
    place = Place(images, scratch)
    place.add("dynamic")
    check(place.run("dynamic", "exit", fault="clock"), [counters_line(*PLAIN)])
    check_counts(place, PLAIN)
    expect(read_file(place.files()[0])[1] == 0, "a time without a clock")


def on_file_system(images, scratch, kind, options, survives):
    """A spool on a file system in a mount namespace that only the wrapped shell and the host
    see."""
    place = Place(images, scratch)
    place.add("static")
    result = place.folder / "result"
    result.mkdir()
    script = (
        f'mount -t {kind} {options} none "$0" || exit 77; "$@"; status=$?; '
        f'cp "$0"/* {result} 2>/dev/null; '
        f'df -k --output=used "$0" | tail -1 >&2; exit $status'
    )
    for unshare in (["unshare", "--mount"], ["unshare", "--mount", "--map-root-user"]):
        outcome = place.run("static", "exit", wrap=[*unshare, "sh", "-c", script, str(place.spool)])
        if outcome[0] == DONE or outcome[1]:
            break
    else:
        raise Skip(f"{kind} cannot be mounted here: {outcome[2][-200:]}")
    check(outcome, [counters_line(*PLAIN)])
    place.spool = result
    check_counts(place, *([PLAIN] if survives else []))
    if not survives:
        expect(outcome[2].split()[-1] == "0", f"{outcome[2]} KB stay in use")


# --- Cases: where nothing may happen --------------------------------------------------------------


def runs_alone(
    images,
    scratch,
    image="dynamic",
    spool=None,
    prepare=None,
    fault=None,
    before=None,
    prefix=None,
    left=(),
):
    place = Place(images, scratch, spool)
    if prepare:
        prepare(place)
    place.add(image, prefix(place) if prefix else None)
    check(place.run(image, "exit", fault=fault, before=before), [counters_line(*PLAIN)])
    expect([f.name for f in place.files()] == list(left), f"the spool holds {place.files()}")


def library_without_file(images, scratch, fault):
    place = Place(images, scratch)
    (place.folder / "plain").symlink_to(images.folder / "plain")
    place.add("liba")
    outcome = place.run("plain", "load", "liba", fault=fault)
    check(
        outcome,
        [counters_line(5, 0, 10), library_line(10, 0 if fault == "mremap-unmaps" else ADDED)],
    )
    expect(not place.files(), f"the spool holds {place.files()}")


def unmapped(images, scratch):
    """The kernel unmapped the counters and then failed: the host gets memory in their place
    again."""
    place = Place(images, scratch)
    place.add("dynamic")
    check(place.run("dynamic", "exit", fault="mremap-unmaps"), [counters_line(5, 0, 10)])
    expect(not place.files(), f"the spool holds {place.files()}")


def unwritable(images, scratch):
    place = Place(images, scratch)
    place.add("dynamic")
    for folder in (place.folder, place.folder.parent):
        folder.chmod(0o755)
    place.spool.chmod(0o555)
    before = None
    if os.getuid() == 0:
        before = lambda: os.setresuid(65534, 65534, 65534)
    check(place.run("dynamic", "exit", before=before), [counters_line(*PLAIN)])
    expect(not place.files(), f"the spool holds {place.files()}")


def file_size_limit(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def memory_limit(images, scratch):
    """Enough memory for the host and the emulator, but not for a second set of counters."""
    place = Place(images, scratch)
    place.add("huge")
    place.spool.rmdir()

    def limited(limit):
        return place.run(
            "huge", "exit", before=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        )

    limit = HUGE
    while limited(limit)[0] != DONE:
        limit += 32 << 20
        expect(limit < 4 * HUGE, "the host does not run with limited memory")
    limit += 160 << 20  # the emulator's memory differs by some 130 MB from run to run
    place.spool.mkdir()
    check(limited(limit), [counters_line(*PLAIN)])
    expect(not place.files(), f"the spool holds {place.files()}")


# --- Cases: names ---------------------------------------------------------------------------------

STOPPED = 1700000000123456789  # the time of faults.c


def occupied(place, number, make):
    """Runs `dynamic` while `number` names from STOPPED on are taken."""

    def before():
        for i in range(number):
            make(place.spool / f"dynamic.{os.getpid()}.{STOPPED + i:016x}.counts")

    place.add("dynamic")
    check(
        place.run("dynamic", "exit", fault="clock-stopped", before=before), [counters_line(*PLAIN)]
    )


def next_name(images, scratch):
    """Existing files keep their names; the start code follows no link and takes the next name."""
    for make in (
        lambda p: p.write_bytes(b"old"),
        lambda p: p.symlink_to(p.parent / "elsewhere"),
        lambda p: p.mkdir(),
    ):
        place = Place(images, scratch)
        occupied(place, 3, make)
        files = place.files()
        expect(len(files) == 4, f"files: {files}")
        process, started, _, counts = read_file(files[3])
        expect((started, counts) == (STOPPED + 3, PLAIN), f"{files[3].name} holds {counts}")
        expect(not (place.spool / "elsewhere").exists(), "a link was followed")
        expect(
            all(not f.is_file() or f.read_bytes() == b"old" for f in files[:3]),
            "an old file was touched",
        )


def no_name(images, scratch):
    place = Place(images, scratch)
    occupied(place, 40, lambda p: p.write_bytes(b"old"))
    expect(
        len(place.files()) == 40 and all(f.read_bytes() == b"old" for f in place.files()),
        "old files",
    )


def same_prefix(images, scratch):
    """Two images of one process want the same name at the same time."""
    place = Place(images, scratch)
    (place.folder / "plain").symlink_to(images.folder / "plain")
    for name in ("liba", "libnone"):
        place.add(name, prefix=f"{place.spool}/same.")
    outcome = place.run("plain", "load", "liba", "libnone", fault="clock-stopped")
    check(outcome, [counters_line(5, 0, 10), library_line(10), library_line(11, kind="plain")])
    check_counts(place, (10, ADDED, 20), (11, ADDED, 22))


def long_path(images, scratch):
    """A path that is longer than any stack buffer, and a name that is too long."""
    place = Place(images, scratch)
    place.spool.rmdir()
    place.spool = place.spool.parent.joinpath(
        *["a" * 200] * ((3900 - len(str(place.folder))) // 201)
    )
    place.spool.mkdir(parents=True)
    place.add("dynamic")
    check(place.run("dynamic", "exit"), [counters_line(*PLAIN)])
    check_counts(place, PLAIN)
    place.add("dynamic", prefix=str(place.spool) + "/" + "b" * (4095 - len(str(place.spool)) - 1))
    check(place.run("dynamic", "exit"), [counters_line(*PLAIN)])
    check_counts(place, PLAIN)


# --- All ------------------------------------------------------------------------------------------


def cases(images, scratch):
    def case(name, function, *args, **keywords):
        return Case(
            f"{images.machine.name}.{name}", lambda: function(images, scratch, *args, **keywords)
        )

    for image in ("dynamic", "pie", "static"):
        yield case(f"exit.{image}", ends, image, "exit", DONE)
        yield case(f"kill.{image}", ends, image, "kill", -signal.SIGKILL)
        yield case(f"traces.{image}", traces, image)
        yield case(f"missing.{image}", runs_alone, image, prepare=lambda p: p.spool.rmdir())
    for mode, status in (
        ("_exit", DONE),
        ("crash", -signal.SIGSEGV),
        ("abort", -signal.SIGABRT),
        ("exec", DONE),
    ):
        yield case(mode, ends, "dynamic", mode, status)
    for mode in ("fork", "vfork"):
        total = (1105, ADDED, 2210)
        yield case(mode, ends, "dynamic", mode, DONE, lines=(PLAIN, total), counts=total)
    yield case("running", read_while_running)

    for host in ("plain", "dynamic", "pie"):
        yield case(f"libraries.{host}", libraries, host)
    yield case("libraries.threads", libraries, "dynamic", mode="load-threads")
    yield case("library", library_alone, "liba", "initialized")
    yield case("library.nothing-next", library_alone, "libnone", "plain")
    yield case("library.signals", ticking)

    for fault in (
        "fallocate-unsupported",
        "fallocate-unknown",
        "fallocate-interrupted",
        "write-short",
    ):
        yield case(fault, works_despite, fault)
    for fault in (
        "fallocate-full",
        "fallocate-quota",
        "fallocate-always-interrupted",
        "write-full",
        "getrlimit",
        "mmap",
        "mremap",
    ):
        yield case(fault, runs_alone, fault=fault)
    for fault in ("fallocate-full", "mmap", "mremap", "mremap-unmaps"):
        yield case(f"library.{fault}", library_without_file, fault)
    yield case("mremap-unmaps", unmapped)
    yield case("no-clock", no_clock)

    yield case("unwritable", unwritable)
    yield case("not-a-folder", runs_alone, spool=pathlib.Path("/dev/null"))
    yield case("no-files", runs_alone, "no-files")
    yield case("file-size.0", runs_alone, before=file_size_limit(0))
    yield case("file-size.short", runs_alone, before=file_size_limit(HEADER_SIZE + SIZE - 1))
    yield case("memory", memory_limit)
    yield case("tmpfs.full", on_file_system, "tmpfs", "-o size=64k", False)
    yield case("tmpfs", on_file_system, "tmpfs", "-o size=256k", True)
    yield case("ramfs", on_file_system, "ramfs", "", True)  # has no fallocate

    yield case("next-name", next_name)
    yield case("no-name", no_name)
    yield case("same-prefix", same_prefix)
    yield case("long-path", long_path)


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        found = []
        for machine in MACHINES:
            try:
                found += cases(Images(machine, scratch.folder()), scratch)
            except Skip as skip:
                print(f"skipped: {skip}")
        return common.run_cases(found, args) if found else 0


if __name__ == "__main__":
    sys.exit(main())
