"""What readers of debug information say about an image: llvm-symbolizer, readelf, llvm-dwarfdump and gdb."""

import bisect
import collections
import functools
import json
import os
import pathlib
import re
import shutil

import common

SYMBOLIZER = os.environ.get("RESPIKE_SYMBOLIZER", "llvm-symbolizer-22")
DWARFDUMP = os.environ.get("RESPIKE_DWARFDUMP", "llvm-dwarfdump-22")
GDB = "gdb-multiarch"
TIMEOUT = 600.0
VERIFY_TIMEOUT = 120.0

# --- Lines ----------------------------------------------------------------------------------------------------------

# The fields of a frame, in the order in which a difference is named.
FIELDS = ("FunctionName", "FileName", "Line", "Column", "Discriminator", "StartFileName", "StartLine")
NAMES = ("function", "file", "line", "column", "discriminator", "file of the function", "line of the function")


@functools.cache
def _frames(text):
    return tuple(tuple(frame[field] for field in FIELDS) for frame in json.loads(text))


def symbolize(image, addresses):
    """For each address a tuple of frames, the innermost first; a frame is a tuple of FIELDS, by debug information alone
    (DW_AT_name is not the name of a symbol)."""
    with common.Scratch() as own:
        asked = own.file("addresses")
        asked.write_text("".join(f"{address:#x}\n" for address in addresses))
        command = [SYMBOLIZER, f"--obj={image}", "--output-style=JSON", "--inlines", "--functions=short"]
        done = common.run_command(command, stdin=asked, timeout=TIMEOUT)
    text = done.stdout.decode(errors="replace")
    common.expect(done.status == 0, f"{SYMBOLIZER}: {done.stderr.decode(errors='replace')[-300:]}")
    found = []
    for line in text.splitlines():
        _, mark, symbol = line.partition('"Symbol":')
        common.expect(mark, f"{SYMBOLIZER} says {line[:200]}")
        found.append(_frames(symbol[:-1]))
    common.expect(len(found) == len(addresses), f"{SYMBOLIZER}: {len(found)} answers, {len(addresses)} addresses")
    return found


def lines_at(image):
    """{address: lines of the rows at the address} of all line tables."""
    done = common.run_command([DWARFDUMP, "--debug-line", image], timeout=TIMEOUT, cwd=image.parent)
    found = {}
    for address, line in re.findall(rb"^0x([0-9a-f]+) +(\d+) ", done.stdout, re.M):
        found.setdefault(int(address, 16), set()).add(int(line))
    return found


def is_known(frames):
    return any(frame[0] or frame[1] for frame in frames)


def difference(before, after):
    """The difference in the frames of an instruction, in a few words."""
    if is_known(before) != is_known(after):
        return "is unknown" if is_known(before) else "is known only in the output"
    if len(before) != len(after):
        return "number of frames"
    for depth, (one, other) in enumerate(zip(before, after)):
        for name, left, right in zip(NAMES, one, other):
            if left != right:
                return name + (" of an outer frame" if depth else "")
    return ""


def show_frames(frames):
    return " < ".join(f"{frame[0]} {pathlib.Path(frame[1]).name}:{frame[2]}:{frame[3]}/{frame[4]}" for frame in frames)


# --- Symbols --------------------------------------------------------------------------------------------------------


class Symbols:
    """Names of procedures by address; pieces of a procedure have its name."""

    def __init__(self, image):
        ranges = collections.defaultdict(set)
        for symbol in common.read_symbols(image):
            if symbol.kind in ("FUNC", "IFUNC") and symbol.size and symbol.section.isdigit():
                ranges[symbol.value, symbol.value + symbol.size].add(common.procedure_of_piece(symbol.name))
        self.ranges = sorted(ranges.items())
        self.starts = [start for (start, _), _ in self.ranges]

    def names(self, address):
        at = bisect.bisect_right(self.starts, address) - 1
        while at >= 0 and self.starts[at] == self.starts[max(at - 1, 0)] and at > 0:
            at -= 1
        found = set()
        while at >= 0 and at < len(self.ranges) and self.starts[at] <= address:
            (_, end), names = self.ranges[at]
            if address < end:
                found |= names
            at += 1
        return found


# --- Complaints -----------------------------------------------------------------------------------------------------


def _normal(text, image):
    text = text.replace(f"{image}.debug", "IMAGE").replace(str(image), "IMAGE").replace(str(image.parent), "FOLDER")
    return re.sub(r"\b0x[0-9a-f]+\b|\b[0-9a-f]*[0-9][0-9a-f]*\b", "N", text).strip()


def _lines(outcome, image, pattern=r"."):
    text = (outcome.stdout + outcome.stderr).decode(errors="replace")
    return collections.Counter(_normal(line, image) for line in text.splitlines() if re.search(pattern, line))


def readelf_complaints(image):
    """How often each line is on stderr of `readelf -w`."""
    with common.Scratch() as own:
        errors = own.file("errors")
        command = ["sh", "-c", 'exec readelf -w "$1" > /dev/null 2> "$2"', "sh", image, errors]
        done = common.run_command(command, timeout=TIMEOUT)
        lines = collections.Counter(_normal(line, image) for line in errors.read_text(errors="replace").splitlines() if line.strip())
    return lines + collections.Counter([f"readelf: {common.describe_status(done.status)}"] if done.status else [])


class NoEnd(Exception):
    """A tool did not end in its time."""


def verify_complaints(image):
    """How often each error and warning of `llvm-dwarfdump --verify` is there. NoEnd if it takes too long."""
    with common.Scratch() as own:
        copy = own.file(image.name)
        hide_call_sites(image, copy)
        try:
            done = common.run_command([DWARFDUMP, "--verify", copy], timeout=VERIFY_TIMEOUT, cwd=image.parent)
        except common.Failure:
            raise NoEnd from None
        found = _lines(done, copy, r"error:|warning:|rror\(s\)|detected") + collections.Counter([common.describe_status(done.status)])
        # Headers of units before DWARF 5 have no type; LLVM takes all of these for compilation units.
        if found.pop("error: Compilation unit type (DW_UT_compile) and root DIE (DW_TAG_partial_unit) do not match.", 0):
            found.pop("error: Mismatched unit type occurred N time(s).", 0)
        return found


def sections(data):
    """{name: (offset, size, flags, address)} of a 64-bit ELF image."""

    def number(at, size):
        return int.from_bytes(data[at : at + size], "little")

    start, count, names = number(0x28, 8), number(0x3C, 2), number(0x3E, 2)
    names_at = number(start + 64 * names + 24, 8)
    found = {}
    for index in range(count):
        header = start + 64 * index
        name_at = names_at + number(header, 4)
        name = bytes(data[name_at : data.index(b"\0", name_at)]).decode()
        found[name] = (number(header + 24, 8), number(header + 32, 8), number(header + 8, 8), number(header + 16, 8))
    return found


CALL_SITES = {0x48: 0x4C, 0x4109: 0x4199}  # DW_TAG_call_site, DW_TAG_GNU_call_site: unused tags
COMPRESSED = 0x800


def hide_call_sites(image, copy):
    """Copies an image, with other tags in the abbreviations of call sites. llvm-dwarfdump --verify loops for ever at a
    call site inside a lexical block, since it looks for the block's parent at the same place again."""
    plain = copy.with_name("plain")
    data = bytearray(image.read_bytes())
    if any(flags & COMPRESSED for name, (_, _, flags, _) in sections(data).items() if name.startswith(".debug")):
        done = common.run_command([shutil.which("llvm-objcopy-22") or "llvm-objcopy", "--decompress-debug-sections", image, plain])
        common.expect(done.status == 0, f"objcopy: {done.stderr.decode()[:300]}")
        data = bytearray(plain.read_bytes())
    for name in (".debug_abbrev", ".debug_abbrev.dwo"):
        if name in sections(data):
            offset, size, *_ = sections(data)[name]
            _rename_tags(data, offset, offset + size)
    copy.write_bytes(data)


def _rename_tags(data, at, end):
    def number():
        nonlocal at
        start, shift, value = at, 0, 0
        while True:
            value |= (data[at] & 0x7F) << shift
            shift += 7
            at += 1
            if data[at - 1] < 0x80:
                return start, value

    while at < end:
        if number()[1] == 0:  # the end of a table
            continue
        start, tag = number()
        if tag in CALL_SITES:
            length, value = at - start, CALL_SITES[tag]
            for index in range(length):
                data[start + index] = value >> 7 * index & 0x7F | (0x80 if index < length - 1 else 0)
        at += 1  # whether it has children
        while True:
            attribute, form = number()[1], number()[1]
            if form == 0x21:  # DW_FORM_implicit_const
                number()
            if attribute == form == 0:
                break


# --- gdb ------------------------------------------------------------------------------------------------------------


UNHELPFUL = "unexpected demangled name"  # of procedures with ranges, where gdb reads names in another way


def gdb_says(image, addresses=()):
    """gdb's view: {complaints, functions, variables, types: sets of lines, places: a value for each address}."""
    with common.Scratch() as own:
        job, result = own.file("job"), own.file("result")
        job.write_text(json.dumps({"addresses": list(addresses), "result": str(result)}))
        script = pathlib.Path(__file__).with_name("debug_symbols_gdb.py")
        environment = {**os.environ, "DEBUG_JOB": str(job), "PYTHONNOUSERSITE": "1"}
        command = [GDB, "-nx", "-batch", "-iex", "set complaints 100000", "-iex", "set debuginfod enabled off", "-x", script, image]
        done = common.run_command(command, timeout=TIMEOUT, env=environment, cwd=image.parent)
        text = done.stderr.decode(errors="replace")
        common.expect(result.exists(), f"gdb: {why_gdb_ended(text)}")
        said = json.loads(result.read_text())
    complaints = {_normal(line, image) for line in text.splitlines() if line.strip()}
    complaints |= {_normal(line, image) for line in said["checks"].splitlines() if line.strip()}
    complaints = {line for line in complaints if UNHELPFUL not in line}
    listings = {kind: set(_normal_listing(said[kind])) for kind in ("functions", "variables", "types")}
    return {"complaints": complaints, "places": [tuple(place) for place in said["places"]], **listings}


def why_gdb_ended(text):
    """The relevant part of the standard error of a gdb that left no result."""
    fatal = re.search(r"^(Fatal signal.*|.*internal-error.*|.*invalid pointer.*|.*corrupted.*|gdb\.error: .*)$", text, re.M)
    return fatal[0] if fatal else text.strip()[-500:]


def _normal_listing(text):
    """The lines with the file that they stand below."""
    file = ""
    for line in text.splitlines():
        if line.startswith("File "):
            file = line
        elif line.strip() and not line.lstrip().startswith("warning: ("):  # of an address without a symbol table
            yield f"{file} {line}"
