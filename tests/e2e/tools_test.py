#!/usr/bin/env python3
"""Outputs are ordinary files: other tools accept them, and so does respike itself.

For every program: readelf and objdump read the output with no message on stderr that the original
does not cause, and `image verify` accepts the output. For one program of each kind also: a stripped
output still runs, an output can be rewritten again or instrumented and still runs, two runs of
respike give the same bytes, mode bits are kept, the input is not touched, and `image verify` finds
changed code and trusts no wrong note. Outputs are of a random layout, and of the default layout by
random counts."""

import json
import os
import random
import sys

import common
import profiles

NOOPS = [bytes.fromhex(word) for word in ("0000fe2f", "1f04ff47", "1f04ff5f")]  # unop, nop, fnop
RANDOM = ["--layout", "random", "--seed", "77"]


def random_layout(image, scratch):
    return RANDOM


def default_layout(image, scratch):
    return profiles.random_options(image, 77, scratch)


LAYOUTS = {"random": random_layout, "default": default_layout}  # options of `image optimize`


_of_originals = common.Shared()


def complaints(tool, options, image):
    """The lines a GNU tool prints on stderr, without the image's name."""
    outcome = common.run_command(["sh", "-c", 'exec "$@" >/dev/null', "sh", f"alpha-linux-gnu-{tool}", *options, image])
    common.expect(
        outcome.status == 0,
        f"{tool} {image.name}: {common.describe_status(outcome.status)}: {outcome.stderr[-300:]!r}",
    )
    return [
        line.replace(str(image), "IMAGE")
        for line in outcome.stderr.decode(errors="replace").splitlines()
    ]


def check_readable(image, layout, scratch):
    output = scratch.file(image.name)
    common.optimize(image, output, *layout(image, scratch))
    for tool, options in (
        ("readelf", ["-aW"]),
        ("readelf", ["-wfFlri"]),
        ("objdump", ["-d", "-x"]),
    ):
        key = tool, *options, image
        known = _of_originals(key, lambda: complaints(tool, options, image))
        new = [line for line in complaints(tool, options, output) if line not in known]
        common.expect(not new, f"{tool} {' '.join(options)} complains: {new[:5]}")
    common.respike_ok("image", "verify", image, output)
    output.unlink()


def rewrite(program, layout, scratch):
    """Rewrites all images of the program; returns {role: path}."""
    folder = scratch.folder()
    outputs = {}
    for role, path in program.images():
        outputs[role] = folder / path.name
        common.optimize(path, outputs[role], *layout(path, scratch))
    return outputs


def run(program, outputs, scratch, what):
    libraries = common.link_libraries(program, scratch.folder(), outputs)
    common.check_behaviour(program, outputs["main"], libraries, what=what)


def check_stripped(program, layout, scratch):
    outputs = rewrite(program, layout, scratch)
    for option in ("--strip-all", "--strip-debug", "--strip-unneeded"):
        folder = scratch.folder()
        stripped = {role: folder / path.name for role, path in outputs.items()}
        for role, path in outputs.items():
            common.binutils("strip", option, path, "-o", stripped[role])
        run(program, stripped, scratch, f"the output after strip {option}")


def check_rewritten_again(program, scratch):
    outputs = rewrite(program, random_layout, scratch)
    layouts = (
        lambda image: default_layout(image, scratch),
        lambda image: ["--layout", "random", "--seed", "5"],
        lambda image: [],
        lambda image: ["--layout", "scatter", "--seed", "6"],
        lambda image: ["--layout", "original"],
    )
    for generation, options in enumerate(layouts, 2):
        for role, path in outputs.items():
            again = path.with_name(f"{path.name}.{generation}")
            common.optimize(path, again, *options(path))
            common.respike_ok("image", "verify", path, again)
            outputs[role] = again
        run(program, outputs, scratch, f"generation {generation}")


def check_instrumented(program, layout, scratch):
    outputs = rewrite(program, layout, scratch)
    for role, path in outputs.items():
        counting = scratch.file("counting")
        common.respike_ok("image", "instrument", path, "-o", counting, "--spool", scratch.folder())
        outputs[role] = counting
    run(program, outputs, scratch, "the output when instrumented")


def check_reproducible(program, scratch):
    for _, image in program.images():
        for options in (
            ["--layout", "original"],
            RANDOM,
            ["--layout", "scatter", "--seed", "3"],
            [],
            default_layout(image, scratch),
        ):
            hashes = set()
            for attempt in range(2):
                # The name of the output must not matter, either.
                output = scratch.file(f"output{attempt}")
                common.optimize(image, output, *options)
                hashes.add(common.hash_file(output))
            common.expect(
                len(hashes) == 1,
                f"two runs with {common.shorten_command(options)} give different bytes",
            )


def check_seeds_differ(program, scratch):
    hashes = set()
    for seed in ("1", "2", "3"):
        output = scratch.file("output")
        common.optimize(program.image, output, "--layout", "random", "--seed", seed)
        hashes.add(common.hash_file(output))
    common.expect(len(hashes) == 3, f"three seeds give {len(hashes)} different images")


def check_modes(program, scratch):
    before = common.hash_file(program.image)
    copy = scratch.file("input")
    copy.write_bytes(program.image.read_bytes())
    for mode in (0o755, 0o700, 0o751, 0o555):
        os.chmod(copy, mode)
        wanted = os.stat(copy).st_mode
        output = scratch.file("output")
        common.optimize(copy, output, *RANDOM)
        actual = os.stat(output).st_mode
        common.expect(actual == wanted, f"mode {wanted & 0o7777:o} became {actual & 0o7777:o}")
    common.expect(common.hash_file(copy) == before, "the input was changed")
    output = scratch.file("output")
    output.write_bytes(b"an older output")
    common.optimize(copy, output, *RANDOM)
    common.expect(
        sorted(p.name for p in output.parent.iterdir()) == ["output"],
        "other files remain beside the output",
    )


def check_verify_finds_changes(program, layout, scratch):
    output, report = scratch.file("output"), scratch.file("report")
    common.optimize(program.image, output, *layout(program.image, scratch), "--report", report)
    good = output.read_bytes()
    generator = random.Random(5)
    changed = [
        p["name"]
        for p in json.loads(report.read_text())["hot_cold"]["procedures"]
        if p["category"] == "optimized"
    ]
    common.expect(changed or layout is random_layout, "no instructions were taken out")
    # Words outside the code of procedures (padding) may change unnoticed; the first word of a procedure may not.
    for offset in first_words(output, generator, 24, changed):
        bad = bytearray(good)
        bit = generator.randrange(32)
        bad[offset + bit // 8] ^= 1 << bit % 8
        broken = scratch.file("broken")
        broken.write_bytes(bad)
        outcome = common.respike("image", "verify", program.image, broken)
        common.expect(
            outcome.status == 1,
            f"flipped bit {bit} at offset {offset:#x}: exit status {outcome.status}",
        )
        common.expect(outcome.stdout + outcome.stderr, "no explanation of the difference")


def check_verify_believes_no_note(program, scratch):
    """If the note is wrong about hot code, verify finds it, or it does not matter."""
    output = scratch.file("output")
    common.optimize(program.image, output, *default_layout(program.image, scratch))
    common.respike_ok("image", "verify", program.image, output)
    good = output.read_bytes()
    generator = random.Random(7)
    start, size = section(output, ".note.respike")
    refused = 0
    for _ in range(40):
        bad = bytearray(good)
        # The list of hot parts is the end of the note, but for the fingerprint and padding.
        behind = 36
        place = behind + generator.randrange((size - behind) // 2)
        bad[start + size - 1 - place] ^= 1 << generator.randrange(8)
        broken = scratch.file("broken")
        broken.write_bytes(bad)
        outcome = common.respike("image", "verify", program.image, broken)
        common.expect(outcome.status in (0, 1), f"exit status {outcome.status}: {outcome.stderr}")
        refused += outcome.status
    common.expect(refused > 20, f"only {refused} of 40 wrong notes were refused")


def section(image, name):
    """Offset and size of a section in the file."""
    for line in common.binutils("readelf", "-SW", image).splitlines():
        fields = line.replace("[ ", "[").split()
        if len(fields) > 6 and fields[1] == name:
            return int(fields[4], 16), int(fields[5], 16)
    raise common.Failure(f"there is no section {name}")


def first_words(image, generator, count, names):
    """File offsets of the first instructions of some sized functions in .text, with one of `names`
    if there are any."""
    for line in common.binutils("readelf", "-SW", image).splitlines():
        fields = line.replace("[ ", "[").split()
        if len(fields) > 6 and fields[1] == ".text":
            address, offset, size = (int(f, 16) for f in fields[3:6])
    functions = sorted(
        {
            s.value
            for s in common.read_symbols(image)
            if s.kind == "FUNC" and s.size >= 16 and address <= s.value < address + size
            and (not names or s.name in names)
        }
    )
    code = image.read_bytes()
    offsets = [a - address + offset for a in functions]
    # A no-op with another bit may still be a no-op.
    offsets = [o for o in offsets if code[o : o + 4] not in NOOPS]
    return generator.sample(offsets, min(count, len(offsets)))


def cases(scratch):
    for name, image in common.all_images():
        for layout, options in LAYOUTS.items():
            yield common.Case(
                f"readelf and objdump: {name} {layout}",
                lambda i=image, o=options: check_readable(i, o, scratch),
            )
    thorough = [
        "calls.dynamic",
        "exceptions.static",
        "threads.pie",
        "linked.dynamic",
        "lua.static",
        "minigzip.shared.dynamic",
        "exceptions.O0.dynamic",
        "interpreter.static",
    ]
    for program in filter(None, map(common.find_program, thorough)):
        for layout, of_image in LAYOUTS.items():
            yield common.Case(
                f"strip: {program.name} {layout}",
                lambda p=program, l=of_image: check_stripped(p, l, scratch),
            )
            yield common.Case(
                f"instrumented: {program.name} {layout}",
                lambda p=program, l=of_image: check_instrumented(p, l, scratch),
            )
        yield common.Case(
            f"again: {program.name}", lambda p=program: check_rewritten_again(p, scratch)
        )
        yield common.Case(
            f"reproducible: {program.name}", lambda p=program: check_reproducible(p, scratch)
        )
    small = common.find_program("calls.dynamic")
    yield common.Case("seeds differ", lambda: check_seeds_differ(small, scratch))
    yield common.Case("mode bits, input, folder", lambda: check_modes(small, scratch))
    for name in ("calls.dynamic", "exceptions.pie"):
        program = common.find_program(name)
        for layout, options in LAYOUTS.items():
            yield common.Case(
                f"verify finds changes: {name} {layout}",
                lambda p=program, o=options: check_verify_finds_changes(p, o, scratch),
            )
        yield common.Case(
            f"verify believes no note: {name}",
            lambda p=program: check_verify_believes_no_note(p, scratch),
        )


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))
