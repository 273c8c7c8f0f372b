#!/usr/bin/env python3
"""The start code of instrumented images for IA-64, in a program that checks the registers that the
start code changes (start_code/ia64.s). start_code_test.py tests what all machines
share."""

import os
import pathlib
import re
import shutil
import struct
import sys

import common
import ia64_programs
from common import Case, Skip, expect

SOURCE = pathlib.Path(__file__).resolve().parent / "start_code" / "ia64.s"
START_CODE = common.PROGRAMS.parent / "start_code" / "ia64.bin"
EMULATOR = os.environ.get("RESPIKE_IA64_EMULATOR", str(pathlib.Path(common.RESPIKE).parent / "respike-ia64"))
PAGE = SIZE = 65536


class Place:
    """The program with one of its entries, and the spool that it writes into."""

    def __init__(self, scratch, call):
        self.folder = scratch.folder()
        self.spool = self.folder / "spool"
        self.spool.mkdir()
        self.program = self.folder / "program"
        shutil.copy(START_CODE, self.folder / "start.bin")
        symbols = [f"--defsym=CALL={int(call)}", f"--defsym=COUNTERS_SIZE={SIZE}"]
        for command in (
            ["ia64-linux-gnu-as", *symbols, f"-I{self.folder}", "-o", self.folder / "program.o", SOURCE],
            ["ia64-linux-gnu-ld", "-static", "-e", "program", "-o", self.program, self.folder / "program.o"],
        ):
            outcome = common.run_command(command)
            expect(outcome.status == 0, outcome.stderr)
        data = bytearray(self.program.read_bytes())
        prefix = f"{self.spool}/program.".encode()
        at = data.index(b"@PREFIX@")
        data[at : at + len(prefix)] = prefix
        struct.pack_into("<I", data, at - 8, len(prefix))
        self.program.write_bytes(data)

    def run(self, **options):
        """The exit status is the number of registers that were changed."""
        outcome = common.run_command([EMULATOR, self.program], **options)
        expect(outcome.status == 0 and not outcome.stderr, outcome)

    def files(self):
        return list(self.spool.iterdir()) if self.spool.exists() else []


def counts(scratch, call):
    place = Place(scratch, call)
    place.run()
    (path,) = place.files()
    data = path.read_bytes()
    expect(len(data) == PAGE + SIZE, f"{len(data)} bytes")
    header = struct.unpack_from("<8sIIQ16sQQQII", data)
    expect(header[:5] == (b"RSPKCNT\0", 1, PAGE, SIZE, bytes(range(1, 17))), header)
    name = re.fullmatch(r"program\.(\d+)\.([0-9a-f]{16})\.counts", path.name)
    expect(name and int(name[1]) == header[5] and int(name[2], 16) == header[6], path.name)
    expect(header[7] % PAGE == 0, f"counters at {header[7]:#x}")
    expect(struct.unpack_from("<QQ", data, PAGE) == (5, 7), "the counters")
    expect(not data[PAGE + 16 :].strip(b"\0"), "other counters")


def without_file(scratch, call):
    """Without a spool, or with a limit on the file's size, the program runs, and no file is
    left."""
    place = Place(scratch, call)
    place.run(file_size=PAGE + SIZE - 1)
    expect(not place.files(), "a file in spite of the limit")
    place.spool.rmdir()
    place.run()
    expect(not place.files(), "a spool was made")


def is_current(scratch):
    """The committed assembler file is the compiler's output for the source."""
    toolchain = ia64_programs.toolchain()
    if toolchain is None:
        raise Skip(ia64_programs.MISSING)
    project = SOURCE.parents[3]
    committed = project / "instrument" / "runtime" / "ia64" / "start.s"
    head, _, body = committed.read_text().partition("\t.file")
    flags = re.search(r"ia64-linux-gnu-gcc ([^$]*?) instrument/runtime", head.replace("//", " "))[1].split()
    output = scratch.file("start.s")
    compiler = toolchain / "bin" / "ia64-linux-gnu-gcc"
    outcome = common.run_command([compiler, *flags, project / "instrument/runtime/start.c", "-o", output], cwd=project)
    expect(outcome.status == 0, outcome.stderr)
    expect(output.read_text().partition("\t.file")[2] == body, "start.s is not what start.c compiles to")


def main():
    args = common.argument_parser(__doc__).parse_args()
    if not START_CODE.exists():
        print("respike was built without an assembler for IA-64")
        return 0
    with common.Scratch() as scratch:
        cases = [Case("is current", lambda: is_current(scratch))]
        for call, name in ((False, "entry point"), (True, "initializer")):
            cases.append(Case(f"counts, {name}", lambda c=call: counts(scratch, c)))
            cases.append(Case(f"without a file, {name}", lambda c=call: without_file(scratch, c)))
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())
