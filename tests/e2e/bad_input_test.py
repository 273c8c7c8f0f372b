#!/usr/bin/env python3
"""Bad input ends in one clear sentence, exit status 1 and no output file; never a crash or a hang.

Every command that reads an image gets truncated files, flipped bytes, files of other formats and
machines, images without relocations, stripped images, folders, missing files, full disks and
unwritable places; also profiles that are damaged, of other programs, or no profiles. Images are of
Alpha and of Itanium. A file that is damaged where it does not matter may be accepted."""

import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys

import common
import ia64_programs
import profiles

TIMEOUT = 60.0
COMMANDS = {
    "info": lambda image, out: ["image", "info", image],
    "disasm": lambda image, out: ["image", "disasm", image],
    "optimize": lambda image, out: [
        "image",
        "optimize",
        image,
        "-o",
        out,
        "--layout",
        "random",
        "--seed",
        "1",
    ],
    "instrument": lambda image, out: ["image", "instrument", image, "-o", out, "--spool", "/absent"],
    "verify": lambda image, out: ["image", "verify", image, image],
}


def check_refused(outcome, out, what):
    """Exit status 1, one sentence on stderr, nothing written."""
    stderr = outcome.stderr.decode(errors="replace")
    common.expect(
        outcome.status == 1,
        f"{what}: {common.describe_status(outcome.status)} instead of 1; stderr: {stderr[-300:]!r}",
    )
    lines = stderr.splitlines()
    common.expect(
        len(lines) == 1 and len(lines[0]) > 10,
        f"{what}: not one sentence on stderr but {stderr[:500]!r}",
    )
    check_nothing_written(out, what)


def check_nothing_written(out, what):
    if out.parent.is_dir():
        left = sorted(
            p.name for p in out.parent.iterdir() if p.name.startswith(out.name) or "tmp" in p.name
        )
        common.expect(not left, f"{what}: left behind {left}")


def check_survived(outcome, out, what):
    """Refused properly, or accepted with exit status 0."""
    if outcome.status == 0:
        out.unlink(missing_ok=True)
    else:
        check_refused(outcome, out, what)


def try_image(image, scratch, judge, what, commands=tuple(COMMANDS)):
    for name in commands:
        out = scratch.file("result")
        outcome = common.respike(*COMMANDS[name](image, out), timeout=TIMEOUT)
        judge(outcome, out, f"{name} on {what}")


# --- Damaged images -------------------------------------------------------------------------------


def check_truncated(data, lengths, scratch):
    image = scratch.file("truncated")
    for length in lengths:
        image.write_bytes(data[:length])
        # Cutting into the section header table at the file's end always makes the file unusable.
        try_image(
            image,
            scratch,
            check_refused,
            f"an image cut to {length} of {len(data)} bytes",
            ["optimize"],
        )
    try_image(image, scratch, check_refused, f"an image cut to {lengths[-1]} bytes")


def check_flipped(data, generator, count, scratch, where, commands):
    image = scratch.file("flipped")
    for _ in range(count):
        bad = bytearray(data)
        places = []
        for _ in range(generator.choice((1, 1, 2, 8))):
            offset = where(generator)
            bad[offset] = generator.choice(
                (bad[offset] ^ 1 << generator.randrange(8), 0, 0xFF, generator.randrange(256))
            )
            places.append(f"{offset:#x}={bad[offset]:#x}")
        image.write_bytes(bad)
        try_image(
            image, scratch, check_survived, f"an image with bytes {' '.join(places)}", commands
        )


def section_ranges(image):
    """{name: (offset, size)} of the sections in the file."""
    ranges = {}
    for line in common.binutils("readelf", "-SW", image).splitlines():
        fields = line.replace("[ ", "[").split()
        if (
            len(fields) > 6
            and fields[0].startswith("[")
            and fields[0] != "[Nr]"
            and fields[2] != "NOBITS"
        ):
            ranges[fields[1]] = (int(fields[4], 16), int(fields[5], 16))
    return {n: r for n, r in ranges.items() if r[1]}


WILD = (0, 1, 0x7FFF, 1 << 31, (1 << 32) - 1, 1 << 40, (1 << 63) - 1, (1 << 64) - 8, (1 << 64) - 1)


def check_wild(data, fields, generator, count, scratch):
    """Words at the offsets `fields` become numbers that are likely to be too large, or the numbers
    of a neighbour."""
    image = scratch.file("wild")
    for _ in range(count):
        bad = bytearray(data)
        changes = []
        for offset in generator.sample(fields, min(len(fields), generator.choice((1, 1, 2)))):
            old = struct.unpack_from("<Q", data, offset)[0]
            other = struct.unpack_from("<Q", data, generator.choice(fields))[0]
            word = generator.choice((*WILD, other, old + 1, old - 1, old + 16, old ^ 1 << generator.randrange(64)))
            struct.pack_into("<Q", bad, offset, word % (1 << 64))
            changes.append(f"{offset:#x}={word % (1 << 64):#x}")
        image.write_bytes(bad)
        try_image(image, scratch, check_survived, f"an image with words {' '.join(changes)}", DAMAGE_COMMANDS)


DAMAGE_COMMANDS = ["optimize", "instrument", "verify"]


def wild_fields(image, data):
    """{what: offsets of words that other numbers depend on}."""
    sections_at, count = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
    headers = [sections_at + 64 * i for i in range(1, count)]
    fields = {"section sizes": [h + 32 for h in headers], "section places": [h + at for h in headers for at in (16, 24)]}
    for name, (start, size) in section_ranges(image).items():
        if name.startswith(".rela") or ".unwind" in name:
            fields[f"words of {name}"] = [start + 8 * i for i in range(size // 8)]
    return fields


def itanium_images(scratch):
    """Two images: a program with calls and data; a program with handlers and unwind information
    that Respike does not understand."""
    folder = scratch.folder()
    yield ia64_programs.freestanding("calls", folder, "-q", "--build-id")
    unwind = ia64_programs.ASSEMBLER_SOURCES / "unwind" / "kept.s"
    ia64_programs.tool("as", "-o", folder / "kept.o", unwind)
    image = folder / "kept"
    ia64_programs.tool("ld", "-q", "--build-id", "-o", image, *(folder / f"{n}.o" for n in ("start", "runtime", "kept")))
    yield image


def damage_cases(scratch, per_place):
    images = [(name, common.find_program(name).image, ["optimize"]) for name in ("exceptions.dynamic", "calls.pie")]
    images += [(f"ia64.{image.name}", image, DAMAGE_COMMANDS) for image in itanium_images(scratch)]
    for name, image, commands in images:
        data = image.read_bytes()
        generator = random.Random(name)
        lengths = (
            list(range(0, 64, 7))
            + sorted(generator.sample(range(64, len(data)), 60))
            + [len(data) - 1]
        )
        for part in range(0, len(lengths), 12):
            yield common.Case(
                f"truncated: {name} from {lengths[part]}",
                lambda d=data, l=lengths[part : part + 12]: check_truncated(d, l, scratch),
            )
        places = {"header": (0, 64), "segments": (64, 56 * 9)}
        sections_at = int.from_bytes(data[40:48], "little")
        places["section table"] = (sections_at, len(data) - sections_at)
        places.update(section_ranges(image))
        for place, (start, size) in places.items():
            yield common.Case(
                f"flipped: {name} {place}",
                lambda d=data, s=start, n=size, g=random.Random(place), c=commands: check_flipped(
                    d, g, per_place, scratch, lambda r: s + r.randrange(n), c
                ),
            )
        if not name.startswith("ia64."):
            continue
        for what, fields in wild_fields(image, data).items():
            yield common.Case(
                f"wild: {name} {what}",
                lambda d=data, f=fields, g=random.Random(what): check_wild(d, f, g, 2 * per_place, scratch),
            )


# --- Wrong files ----------------------------------------------------------------------------------


def compile_alpha(source, output, *flags):
    command = ["alpha-linux-gnu-gcc", "-x", "c", "-", "-o", output, *flags]
    subprocess.run(
        [str(c) for c in command], input=source.encode(), check=True, capture_output=True
    )
    return output


def stripped(image, scratch, *options):
    output = scratch.file("stripped")
    shutil.copy(image, output)
    common.binutils("strip", *options, output)
    return output


def write(scratch, name, data):
    path = scratch.file(name)
    path.write_bytes(data)
    return path


def wrong_files(scratch):
    """Files that respike has to refuse: [(what, function that makes the path)]."""
    hello = "int main(void) { return 0; }"
    image = common.find_program("calls.dynamic").image
    data = image.read_bytes()
    yield "a file that does not exist", lambda: scratch.file("absent")
    yield "a folder", lambda: scratch.folder()
    yield "a special file", lambda: pathlib.Path("/dev/null")
    yield "an empty file", lambda: write(scratch, "empty", b"")
    yield "a text", lambda: write(scratch, "text", b"#!/bin/sh\necho hello\n" * 50)
    yield "random bytes", lambda: write(scratch, "random", random.Random(1).randbytes(20000))
    yield "only the magic number", lambda: write(scratch, "magic", b"\x7fELF")
    yield "an archive", lambda: write(scratch, "archive", b"!<arch>\n" + b" " * 60 + data)
    yield "an object file", lambda: compile_alpha(hello, scratch.file("object.o"), "-c")
    yield "an image without relocations", lambda: compile_alpha(hello, scratch.file("plain"), "-O2")
    yield "a stripped image", lambda: stripped(image, scratch, "--strip-all")
    yield "a 32-bit file", lambda: write(scratch, "32-bit", data[:4] + b"\x01" + data[5:])
    yield "a big-endian file", lambda: write(scratch, "big-endian", data[:5] + b"\x02" + data[6:])
    yield "machine 0xffff", lambda: write(scratch, "machine", data[:18] + b"\xff\xff" + data[20:])
    yield "a core file", lambda: write(scratch, "core", data[:16] + b"\x04\x00" + data[18:])


def check_relocation_hint(scratch):
    image = compile_alpha("int main(void) { return 0; }", scratch.file("plain"), "-O2")
    outcome = common.respike("image", "optimize", image, "-o", scratch.file("out"))
    text = outcome.stderr.decode()
    common.expect(
        "--emit-relocs" in text or "-q" in text, f"the message does not say how to link: {text!r}"
    )


# --- Profiles -------------------------------------------------------------------------------------


def check_profile_refused(profile, scratch, what, reason=b""):
    image = common.find_program("calls.dynamic").image
    out = scratch.file("result")
    outcome = common.respike("image", "optimize", image, "-o", out, "--profile", profile)
    check_refused(outcome, out, what)
    common.expect(reason in outcome.stderr, f"{what}: {outcome.stderr!r}")


def check_wrong_profiles(scratch):
    check_profile_refused(scratch.file("absent"), scratch, "a profile that does not exist")
    check_profile_refused(scratch.folder(), scratch, "a folder as a profile")
    check_profile_refused("/dev/null", scratch, "a special file as a profile")
    check_profile_refused(write(scratch, "empty", b""), scratch, "an empty profile")
    image = common.find_program("calls.dynamic").image
    check_profile_refused(image, scratch, "an image as a profile")


def check_foreign_profiles(scratch):
    """Profiles of other programs, which share start-up code and `main` with every program."""
    for name in ("floats.dynamic", "interpreter.pie", "lua.dynamic"):
        image = common.find_program(name).image
        profile = profiles.make("random", "1", image, scratch.file("profile"))
        check_profile_refused(profile, scratch, f"a profile of {name}", b"another program")


def check_damaged_profiles(scratch, count):
    image = common.find_program("calls.dynamic").image
    data = profiles.make("random", "1", image, scratch.file("profile")).read_bytes()
    generator = random.Random(7)
    for size in (1, 23, 24, len(data) // 2, len(data) - 1):
        profile = write(scratch, "cut", data[:size])
        check_profile_refused(profile, scratch, f"a profile cut after {size} bytes")
    for _ in range(count):
        changed = bytearray(data)
        at = generator.randrange(len(data))
        changed[at] ^= 1 + generator.randrange(255)
        profile = write(scratch, "changed", changed)
        check_profile_refused(profile, scratch, f"byte {at} of a profile changed")


def check_other_build(scratch):
    """A profile of another build is used as far as it matches, with a warning."""
    source = (
        "int g(int);\n__attribute__((noinline)) int f(int x) { return x ? g(x) : 1; }\n"
        "__attribute__((noinline)) int g(int x) { BODY }\n"
        "int main(int n, char** v) { return f(n); }\n"
    )
    images = [
        compile_alpha(source.replace("BODY", body), scratch.file("image"), "-O1", "-Wl,-q")
        for body in ("return x * 3;", "for (int i = 0; i < 9; i++) x ^= x * i; return x & 63;")
    ]
    profile = profiles.make("random", "1", images[0], scratch.file("profile"))
    out = scratch.file("result")
    outcome = common.optimize(images[1], out, "--profile", profile)
    text = outcome.stderr.decode()
    common.expect(
        len(text.splitlines()) == 1 and "another build" in text, f"no warning but {text!r}"
    )
    before, after = (common.run_command([*common.QEMU, image]) for image in (images[1], out))
    common.expect(before.behaviour() == after.behaviour(), "it behaves differently")


# --- Places that cannot be written ----------------------------------------------------------------


def check_output_refused(out, scratch, what):
    image = common.find_program("calls.dynamic").image
    outcome = common.respike(
        "image", "optimize", image, "-o", out, "--layout", "original", timeout=TIMEOUT
    )
    check_refused(outcome, pathlib.Path(out), what)


def check_file_size_limit(scratch):
    program = common.find_program("calls.dynamic")
    for limit in (0, 100, 4096, program.image.stat().st_size // 2):
        out = scratch.file("result")
        outcome = common.respike(
            "image",
            "optimize",
            program.image,
            "-o",
            out,
            "--layout",
            "original",
            file_size=limit,
            timeout=TIMEOUT,
        )
        check_refused(outcome, out, f"a file size limit of {limit} bytes")


def check_full_disk(scratch):
    """Outputs on a tmpfs of 64 KB in a mount namespace of its own."""
    image = common.find_program("calls.dynamic").image
    folder = scratch.folder()
    listing = scratch.file("listing")
    script = (
        'mount -t tmpfs -o size=64k tmpfs "$1" || exit 77; '
        '"$2" image optimize "$3" -o "$1/result" --layout original; '
        'status=$?; ls -A "$1" > "$4"; exit $status'
    )
    command = [
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        script,
        "sh",
        folder,
        common.RESPIKE,
        image,
        listing,
    ]
    outcome = common.run_command(command, timeout=TIMEOUT)
    if outcome.status == 77 or b"unshare" in outcome.stderr:
        raise common.Skip("no mount namespaces here; the file size limit stands for a full disk")
    check_refused(outcome, folder / "result", "a full disk")
    common.expect(
        listing.read_text() == "", f"left behind on the full disk: {listing.read_text()!r}"
    )


def output_cases(scratch):
    def file_as_folder():
        check_output_refused(
            write(scratch, "file", b"x") / "result", scratch, "a file used as a folder"
        )

    def folder_as_file():
        folder = scratch.folder()
        image = common.find_program("calls.dynamic").image
        outcome = common.respike("image", "optimize", image, "-o", folder, "--layout", "original")
        common.expect(
            outcome.status == 1, f"a folder as output: {common.describe_status(outcome.status)}"
        )
        common.expect(folder.is_dir() and not list(folder.iterdir()), "the folder was changed")

    def read_only_folder():
        if os.geteuid() == 0:
            raise common.Skip("root may write everywhere")
        folder = scratch.folder()
        folder.chmod(0o555)
        check_output_refused(folder / "result", scratch, "a folder without write permission")

    yield common.Case(
        "output: absent folder",
        lambda: check_output_refused(
            scratch.folder() / "absent" / "result", scratch, "an absent folder"
        ),
    )
    yield common.Case("output: below a file", file_as_folder)
    yield common.Case("output: is a folder", folder_as_file)
    yield common.Case("output: read-only folder", read_only_folder)
    yield common.Case(
        "output: in /proc", lambda: check_output_refused("/proc/respike-result", scratch, "/proc")
    )
    yield common.Case("output: file size limit", lambda: check_file_size_limit(scratch))
    yield common.Case("output: full disk", lambda: check_full_disk(scratch))


def main():
    parser = common.argument_parser(__doc__)
    parser.add_argument(
        "--per-place",
        type=int,
        default=int(os.environ.get("RESPIKE_FLIPS", 10)),
        help="damaged files per section of an image",
    )
    args = parser.parse_args()
    with common.Scratch() as scratch:
        cases = [
            common.Case(
                f"wrong file: {what}",
                lambda m=make, w=what: try_image(m(), scratch, check_refused, w),
            )
            for what, make in wrong_files(scratch)
        ]
        # disasm lists such a program (x86_64_listing_test.py).
        cases.append(
            common.Case(
                "wrong file: a program of this machine",
                lambda: try_image(
                    pathlib.Path("/bin/true").resolve(),
                    scratch,
                    check_refused,
                    "a program of this machine",
                    [name for name in COMMANDS if name != "disasm"],
                ),
            )
        )
        cases.append(
            common.Case("wrong file: says how to link", lambda: check_relocation_hint(scratch))
        )
        cases += [
            common.Case("profile: none", lambda: check_wrong_profiles(scratch)),
            common.Case("profile: foreign", lambda: check_foreign_profiles(scratch)),
            common.Case(
                "profile: damaged", lambda: check_damaged_profiles(scratch, args.per_place)
            ),
            common.Case("profile: other build", lambda: check_other_build(scratch)),
        ]
        cases += output_cases(scratch)
        cases += damage_cases(scratch, args.per_place)
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())
