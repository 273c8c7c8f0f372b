"""How often each instruction of a program runs, counted exactly by an emulator: the oracle for
profiles and for counters that Respike inserts.

    counts = oracle.count(image, ["-c", "7"], images=[image, library], stdin="data")
    counts.outcome.status, counts.outcome.stdout      as of common.run_command
    counts.images[image][address]                     by link-time address, absent: never run

measure/plugins/count_plugin.cc does the counting; its head says how, and what its limits are. QEMU begins each repetition of
x86-64's repeated string instructions (rep movsb), so for these get() gives the count of the next instruction. Link-time
addresses are the addresses of symbols and of objdump, wherever the image was loaded.

Runs of two images can be compared because nothing else differs between them: the environment has
only the variables that are passed, address randomization is off, the emulator's random numbers
start from one seed, argv[0] is the same, and every image is run by a name of the same length
("../program" of a fresh folder), since that name lies on the program's stack. The time, process
numbers, getrandom and the interleaving of threads are not fixed.

Environment, set by CTest: RESPIKE (the command; the plugin lies beside it)."""

import array
import collections
import dataclasses
import os
import pathlib
import shutil
import struct
import tempfile

import common

PLUGIN = pathlib.Path(common.RESPIKE).parent / "respike-count.so"
SEED = "1"

# The file that the plugin writes; the head of count_plugin.cc has the format.
HEADER = struct.Struct("<8sQQQIIII")
Header = collections.namedtuple(
    "Header", "magic capacity used started process parent images names_size"
)
PLACE = struct.Struct("<QQII")
HEADER_SIZE, NAMES_SIZE = 4096, 64 << 10


@dataclasses.dataclass(frozen=True)
class Process:
    """One process of the run; processes are in the order in which they started. A process that
    executes another program counts as a new process with the same number."""

    number: int
    parent: int  # 0 for a process that was not forked by a counted one
    images: dict  # of the wanted images: {image: {link-time address: count}}
    totals: dict  # {real path: count of all its instructions}; "" is memory without a file
    runtime: dict  # {(path, run-time address): count} of all instructions

    @property
    def total(self):
        return sum(self.totals.values())


@dataclasses.dataclass(frozen=True)
class Counts:
    outcome: common.Outcome
    processes: tuple
    images: dict  # the sum of all processes: {image: {link-time address: count}}

    @property
    def total(self):
        """All instructions of all processes in all images and in memory without a file."""
        return sum(p.total for p in self.processes)


def count(
    image,
    args=(),
    *,
    images=None,
    libraries=None,
    argv0="program",
    environment=None,
    stdin=None,
    folder=None,
    options=(),
    native=None,
    loader=(),
    timeout=common.PROGRAM_TIMEOUT,
):
    """Runs an image and counts. `images` are the paths of the images whose instructions are wanted
    (default: the image alone), `libraries` the folder for LD_LIBRARY_PATH, `environment` the
    program's variables, `folder` its working folder (default: a fresh folder), `options` more
    options of the emulator, which is that of the manifest's machine or, with `native`, of x86-64.
    `loader` are the words of a program of the emulator that loads the image.

    Processes that the program forks are counted, and so are programs for the emulator that it executes, provided that
    it passes on its environment, which names the plugin. If processes outlive the program, their counts are read while
    they run, unless they hold its stdout open."""
    native = common.is_native() if native is None else native
    if not PLUGIN.exists():
        raise common.Failure(f"{PLUGIN} is missing")
    with tempfile.TemporaryDirectory(prefix="respike-oracle-") as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "program").symlink_to(pathlib.Path(image).resolve())
        (scratch / "counts").mkdir()
        (scratch / "work").mkdir()
        variables = dict(environment or {})
        if libraries:
            variables["LD_LIBRARY_PATH"] = libraries
        # Through the environment, which programs that the program executes inherit.
        settings = {
            "QEMU_PLUGIN": f"{PLUGIN},out={scratch}/counts/c",
            "QEMU_LD_PREFIX": "/" if native else common.SYSROOT,
            "QEMU_RAND_SEED": SEED,
        }
        if native:
            settings["QEMU_CPU"] = "max"
        emulator = "qemu-x86_64" if native else "qemu-alpha"
        command = [shutil.which("setarch"), "-R", shutil.which(emulator), *options]
        for name, value in variables.items():
            command += ["-E", f"{name}={value}"]
        command += ["-0", argv0, *loader, scratch / "program" if folder else "../program", *args]
        outcome = common.run_command(
            command, stdin=stdin, timeout=timeout, cwd=folder or scratch / "work", env=settings
        )
        codes = [(i, Code(i)) for i in ([image] if images is None else images)]
        processes = [_read_process(f, codes) for f in (scratch / "counts").iterdir()]
    if not processes:
        raise common.Failure(f"nothing was counted: {outcome.stderr.decode(errors='replace')}")
    processes = tuple(p for _, p in sorted(processes, key=lambda read: read[0].started))
    summed = {i: Beginnings(code) if native else {} for i, code in codes}
    for process in processes:
        for i, of_process in process.images.items():
            for address, number in of_process.items():
                summed[i][address] = dict.get(summed[i], address, 0) + number
    return Counts(outcome, processes, summed)


# Of x86-64: operand size, address size, rep and REX; ins, outs, movs, cmps, stos, lods, scas.
PREFIXES = {0x66, 0x67, 0xF2, 0xF3, *range(0x40, 0x50)}
STRING_INSTRUCTIONS = [bytes([b]) for b in (*range(0x6C, 0x70), *range(0xA4, 0xA8), *range(0xAA, 0xB0))]

# --- Reading --------------------------------------------------------------------------------------


class Beginnings(dict):
    """Counts of an image of x86-64 by address; get() counts a repeated instruction once."""

    def __init__(self, code):
        super().__init__()
        self.code = code

    def get(self, address, default=None):
        behind = self.code.behind_repetition(address) if address in self else None
        return super().get(address if behind is None else behind, default)


class Code:
    """The segments with code of a 64-bit little-endian ELF image, or the sections of a PE image."""

    def __init__(self, path):
        self.path = os.path.realpath(path)
        self.data = pathlib.Path(path).read_bytes()
        if self.data[:2] == b"MZ":
            self._read_sections()
            return
        (kind,) = struct.unpack_from("<H", self.data, 16)
        (table,) = struct.unpack_from("<Q", self.data, 32)
        size, number = struct.unpack_from("<HH", self.data, 54)
        self.fixed = kind == 2  # loaded at its link-time address
        self.segments = []  # (file offset, size, address)
        for i in range(number):
            kind, flags, offset, address, _, in_file = struct.unpack_from(
                "<IIQQQQ", self.data, table + i * size
            )
            if kind == 1 and flags & 1:
                self.segments.append((offset, in_file, address))

    def _read_sections(self):
        (coff,) = struct.unpack_from("<I", self.data, 0x3C)
        number, size = struct.unpack_from("<6xH12xH", self.data, coff)
        is_wide = self.data[coff + 24 : coff + 26] == b"\x0b\x02"
        (base,) = struct.unpack_from("<Q", self.data, coff + 48) if is_wide else struct.unpack_from("<I", self.data, coff + 52)
        self.fixed = False
        self.segments = []
        for i in range(number):
            memory, address, in_file, offset = struct.unpack_from("<4I", self.data, coff + 24 + size + 40 * i + 8)
            self.segments.append((offset, min(memory, in_file), base + address))

    def address_of(self, offset):
        """The link-time address of a file offset, or None."""
        for start, size, address in self.segments:
            if start <= offset < start + size:
                return offset - start + address
        return None

    def behind_repetition(self, address):
        """The address after a repeated string instruction of x86-64; None for other instructions."""
        for start, size, first in self.segments:
            if first <= address < first + size:
                code = self.data[address - first + start :][:15]
                prefixes = next(i for i in range(16) if i == len(code) or code[i] not in PREFIXES)
                repeated = any(byte in (0xF2, 0xF3) for byte in code[:prefixes])
                if repeated and code[prefixes : prefixes + 1] in STRING_INSTRUCTIONS:
                    return address + prefixes + 1
        return None

    def holds(self, address, word):
        """Whether `word` is at a link-time address."""
        for start, size, first in self.segments:
            if first <= address <= first + size - 4:
                at = address - first + start
                return int.from_bytes(self.data[at : at + 4], "little") == word
        return False


def _read_file(path):
    """The header, the names and the places with their counts of a file of counts."""
    with open(path, "rb") as file:
        header = Header(*HEADER.unpack(file.read(HEADER.size)))
        if header.magic != b"RSPKCNT1":
            raise common.Failure(f"{path} is no file of counts")
        file.seek(HEADER_SIZE)
        names = [""] + file.read(header.names_size).decode().split("\0")[: header.images]
        file.seek(HEADER_SIZE + NAMES_SIZE)
        places = PLACE.iter_unpack(file.read(header.used * PLACE.size))
        file.seek(HEADER_SIZE + NAMES_SIZE + header.capacity * PLACE.size)
        counters = array.array("Q", file.read(header.used * 8))
    return header, names, list(zip(counters, places))


def _read_process(path, images):
    """The counts of a process, and the header of its file. `images` are pairs of an image and its
    Code.

    If the processor's pages are larger than the host's, and a file ends early in its last page,
    QEMU copies that page instead of mapping it: the page's code then seems to come from no file.
    Such code is attributed to an image if the image has the same bits at the address that follows
    from where other code of the image was loaded."""
    header, names, places = _read_file(path)
    by_path = {code.path: (image, code) for image, code in images}
    wanted = [by_path.get(name) for name in names]
    biases = {(image, 0) for image, code in images if code.fixed}
    process = Process(header.process, header.parent, {i: {} for i, _ in images}, {}, {})
    without_file = []

    def add(name, address, number):
        process.totals[name] = process.totals.get(name, 0) + number
        key = name, address
        process.runtime[key] = process.runtime.get(key, 0) + number

    def add_to_image(image, address, number):
        process.images[image][address] = process.images[image].get(address, 0) + number

    for number, (address, offset, name, word) in places:
        if wanted[name]:
            image, code = wanted[name]
            link = code.address_of(offset)
            if link is None:
                raise common.Failure(f"{image}: executed at offset {offset:#x}, in no segment")
            biases.add((image, address - link))
            if number:
                add_to_image(image, link, number)
        elif name == 0 and number:
            without_file.append((number, address, word))
            continue
        if number:  # else the place was translated and never begun, or is the parent's
            add(names[name], address, number)
    for number, address, word in without_file:
        for image, code in images:
            link = next(
                (address - b for i, b in biases if i == image and code.holds(address - b, word)),
                None,
            )
            if link is not None:
                add_to_image(image, link, number)
                add(code.path, address, number)
                break
        else:
            add("", address, number)
    return header, process
