#!/usr/bin/env python3
"""Debug information in files of their own: `--debug-file` writes a debug file for the output, in which each instruction
has the file, the line, the function and the inlined frames of the instruction that it came from; gdb, llvm-symbolizer,
eu-unstrip and readelf find it by the output's .gnu_debuglink or by its build-id. A file that belongs to another image
is refused in one sentence. Splitting also works after rewriting: objcopy takes the debug information of outputs into a
file of their own. Debug files that dwz has compressed, which refer to a third file, are rewritten in the same way.

Without --debug-file the output does not refer to the old debug file, and one sentence says so."""

import re
import shutil
import sys
import zlib

import common
import debug_images
import debug_lines_test
import debug_readers

OBJCOPY = {"x86_64": "objcopy", "alpha": "alpha-linux-gnu-objcopy"}


def tool(*command, cwd=None, status=0):
    """Runs a tool; returns its output."""
    if shutil.which(str(command[0])) is None:
        raise common.Skip(f"there is no {command[0]}")
    done = common.run_command(command, cwd=cwd)
    text = (done.stdout + done.stderr).decode(errors="replace")
    common.expect(done.status == status, f"{common.shorten_command(command)}: {common.describe_status(done.status)}: {text[-400:]}")
    return text


def split(machine, image, folder, strip="--strip-debug", link=True, name=None):
    """Parts an image in `folder` from its debug information: (stripped image, debug file)."""
    objcopy = OBJCOPY[machine]
    stripped, debug = folder / (name or image.name), folder / f"{name or image.name}.debug"
    tool(objcopy, "--only-keep-debug", image, debug)
    tool(objcopy, strip, *([f"--add-gnu-debuglink={debug}"] if link else []), image, stripped)
    return stripped, debug


def build_id(image):
    found = re.search(r"Build ID: ([0-9a-f]+)", tool("readelf", "-n", image))
    return found[1] if found else None


def debug_link(image):
    """(name, checksum) of .gnu_debuglink, or None."""
    data = image.read_bytes()
    section = debug_readers.sections(data).get(".gnu_debuglink")
    if section is None:
        return None
    contents = data[section[0] : section[0] + section[1]]
    return contents[: contents.index(0)].decode(), int.from_bytes(contents[-4:], "little")


def names_of_sections(image):
    return set(debug_readers.sections(image.read_bytes()))


def expect_pair(output, debug, original):
    """An output and its debug file belong together, and to nothing else."""
    common.expect(debug_link(output) == (debug.name, zlib.crc32(debug.read_bytes())), f"the output refers to {debug_link(output)}")
    common.expect(build_id(output) == build_id(debug), "output and debug file have different build-ids")
    common.expect(build_id(output) != build_id(original), "the output has the build-id of its input")
    common.expect(not any(name.startswith(".debug") for name in names_of_sections(output)), "the output has debug sections")
    for command in (["readelf", "-W", "-h", "-l", "-S", "-s", "-n", debug], ["readelf", "-W", "-S", "-s", "-n", output]):
        text = tool(*command)
        warnings = [line for line in text.splitlines() if re.search("Warning|Error", line) and "interpreter" not in line]
        common.expect(not warnings, f"readelf: {warnings[:3]}")
    here, there = (
        {name: (s[1], s[2], s[3]) for name, s in debug_readers.sections(image.read_bytes()).items() if s[2] & 2} for image in (output, debug)
    )
    common.expect(here == there, f"allocated sections differ: {set(here.items()) ^ set(there.items())}")
    common.expect(symbols(output) <= symbols(debug), f"symbols are missing: {sorted(symbols(output) - symbols(debug))[:3]}")


def symbols(image):
    """Of .symtab, with the names of their sections. (readelf finds no interpreter in debug files, and says so.)"""
    sections = dict(re.findall(r"^ *\[ *(\d+)\] (\S+)", tool("readelf", "-WS", image), re.M))
    table = tool("readelf", "-Ws", image).split("'.symtab'")[-1]
    found = re.findall(r"^ *\d+: ([0-9a-f]+) +(\S+) (\S+) +(\S+) +\S+ +(?:\[.*\] +)?(\S+) (\S+)$", table, re.M)
    return {(*rest, sections.get(section, section), name) for *rest, section, name in found if rest[2] not in ("SECTION", "FILE")}


def expect_lines(work, output, map_file, gdb=False):
    """The debug information of an output is that of the image before it was split."""
    rewriting = debug_images.Rewriting(work, output, map_file)
    problems = debug_lines_test.compare_lines(rewriting)
    problems.update(debug_lines_test.compare_symbols(rewriting))
    if gdb:
        problems.update(debug_lines_test.compare_gdb(rewriting))
    wrong = [f"{what}: {len(found)}, as {found[0]}" for what, found in problems.items()]
    common.expect(not wrong, "; ".join(wrong)[:600])


def rewrite(image, debug, folder, *options):
    """Rewrites an image and its debug file; returns (output, debug file, address map)."""
    output, places = folder / image.name, folder / "addresses"
    common.respike_ok("image", "optimize", image, "-o", output, "--debug-file", debug, "--address-map", places, *options)
    return output, folder / f"{image.name}.debug", places


_works = common.Shared()


def work_of(name, scratch):
    return _works(name, lambda: debug_images.Work(debug_images.find_build(name), scratch))


def check_lines(name, layout, gdb, scratch):
    work, folder = work_of(name, scratch), scratch.folder()
    image, debug = split(work.build.machine, work.image, scratch.folder())
    output, new_debug, places = rewrite(image, debug, folder, *debug_images.LAYOUTS[layout])
    expect_pair(output, new_debug, image)
    expect_lines(work, output, places, gdb)
    known = debug_readers.verify_complaints(work.image)
    common.expect(debug_readers.verify_complaints(new_debug) <= known, "llvm-dwarfdump --verify complains")
    common.expect(debug_readers.readelf_complaints(new_debug) <= debug_readers.readelf_complaints(debug), "readelf -w complains")


def check_unstrip(scratch):
    """elfutils joins the output, as it is shipped without relocations, and its debug file again."""
    work, folder = work_of("variables.x86_64", scratch), scratch.folder()
    image, debug = split("x86_64", work.image, scratch.folder())
    output, new_debug, places = rewrite(image, debug, folder, "--layout", "random")
    joined = scratch.folder() / output.name
    tool("objcopy", "--strip-all", output, output.with_name("shipped"))
    tool("eu-unstrip", output.with_name("shipped"), new_debug, "-o", joined)
    expect_lines(work, joined, places)


def check_again(scratch):
    """An output and its debug file are rewritten again: they say the same as an image that was not split."""
    work, folder = work_of("variables.x86_64", scratch), scratch.folder()
    image, debug = split("x86_64", work.image, scratch.folder())
    first, first_debug, places = rewrite(image, debug, folder, "--layout", "random")
    second, second_debug, more_places = rewrite(first, first_debug, scratch.folder(), "--layout", "random", "--seed", "2")
    expect_pair(second, second_debug, first)
    whole = [scratch.folder() / image.name for _ in range(2)]
    maps = [path.with_name("addresses") for path in whole]
    common.respike_ok("image", "optimize", work.image, "-o", whole[0], "--layout", "random", "--address-map", maps[0])
    common.respike_ok("image", "optimize", whole[0], "-o", whole[1], "--layout", "random", "--seed", "2", "--address-map", maps[1])

    def said(output, first_map, second_map):
        """{address in the original: frames in the output}"""
        origins = dict(line.split()[:2] for line in first_map.read_text().splitlines())
        pairs = [(line.split()[0], origins.get(line.split()[1], "-")) for line in second_map.read_text().splitlines()]
        pairs = [(new, old) for new, old in pairs if old != "-"]
        return dict(zip((old for _, old in pairs), debug_readers.symbolize(output, [int(new, 16) for new, _ in pairs])))

    here, there = said(second, places, more_places), said(whole[1], *maps)
    wrong = [(old, here.get(old), frames) for old, frames in there.items() if here.get(old) != frames]
    common.expect(len(there) > 100 and not wrong, f"{len(wrong)} of {len(there)}: {wrong[:2]}"[:400])


def check_build_id_only(scratch):
    """Distributions find debug files by the build-id alone."""
    work, folder = work_of("variables.x86_64", scratch), scratch.folder()
    image, debug = split("x86_64", work.image, scratch.folder(), link=False)
    output, new_debug, _ = rewrite(image, debug, folder, "--layout", "random")
    expect_pair(output, new_debug, image)
    identity = build_id(output)
    place = folder / "store" / ".build-id" / identity[:2] / f"{identity[2:]}.debug"
    place.parent.mkdir(parents=True)
    new_debug.rename(place)
    said = tool("gdb-multiarch", "-nx", "-batch", "-iex", f"set debug-file-directory {folder / 'store'}", "-ex", "info line main", output)
    common.expect(re.search(r'Line \d+ of "\S*variables\S*\.c"', said), f"gdb says {said[-300:]}")


def check_split_afterwards(scratch):
    """The debug information of an output leaves it later."""
    work, folder = work_of("variables.x86_64", scratch), scratch.folder()
    places = folder / "addresses"
    whole = folder / work.image.name
    common.respike_ok("image", "optimize", work.image, "-o", whole, "--layout", "random", "--address-map", places)
    for strip in ("--strip-debug", "--strip-all"):
        image, debug = split("x86_64", whole, scratch.folder(), strip)
        rewriting = debug_images.Rewriting(work, image, places)
        problems = debug_lines_test.compare_lines(rewriting)
        common.expect(not problems, f"{strip}: {dict(problems)}"[:400])
        joined = scratch.folder() / image.name
        tool("eu-unstrip", image, debug, "-o", joined)
        expect_lines(work, joined, places)
        said = tool("gdb-multiarch", "-nx", "-batch", "-ex", "info line main", image)
        common.expect(re.search(r'Line \d+ of "\S*variables\S*\.c"', said), f"{strip}: gdb says {said[-300:]}")


def check_refused(scratch):
    work, folder = work_of("variables.x86_64", scratch), scratch.folder()
    image, debug = split("x86_64", work.image, folder)
    identity = build_id(image)

    def altered(name, change):
        file = scratch.folder() / name
        data = bytearray(debug.read_bytes())
        change(data)
        file.write_bytes(data)
        return file

    def other_build(data):
        at = data.index(bytes.fromhex(identity))
        data[at] ^= 1

    def other_place(data):
        start = int.from_bytes(data[0x28:0x30], "little")
        for header in range(start, len(data), 64):
            if int.from_bytes(data[header + 8 : header + 16], "little") & 4:  # executable
                size = int.from_bytes(data[header + 32 : header + 40], "little")
                data[header + 32 : header + 40] = (size - 1).to_bytes(8, "little")
                return

    def later(data):
        data += b"more"

    plain = scratch.folder() / image.name
    tool("objcopy", "--remove-section=.gnu_debuglink", image, plain)
    text = scratch.folder() / "text"
    text.write_text("no debug file\n")
    output = scratch.folder() / "output"
    for what, base, file, expected in (
        ("other build-id", image, altered("a", other_build), "another build-id"),
        ("other checksum", image, altered("b", later), "another checksum"),
        ("other addresses", plain, altered("c", other_place), "another place or size"),
        ("another file", plain, text, "not an ELF, PE or ECOFF file"),
        ("missing", plain, text.with_name("missing"), "does not exist"),
    ):
        for command in (["optimize", "--layout", "random"], ["instrument", "--spool", folder / "spool"]):
            done = common.respike("image", command[0], base, "-o", output, *command[1:], "--debug-file", file)
            said = done.stderr.decode()
            common.expect(done.status == 1 and expected in said and said.count("\n") == 1, f"{what}: {done.status}: {said}")
            common.expect(not list(output.parent.iterdir()), f"{what}: something was written")
    for words in (["--debug-output", debug], ["--debug-output", image], ["--debug-output", output]):
        done = common.respike("image", "optimize", image, "-o", output, "--debug-file", debug, *words)
        common.expect(done.status == 1 and "overwritten" in done.stderr.decode(), f"{words}: {done.stderr.decode()}")
    done = common.respike("image", "optimize", image, "-o", output, "--debug-output", output)
    common.expect(done.status == 2, f"--debug-output alone: {done.status}")


def check_without(scratch):
    """Without --debug-file one sentence says that the reference is gone."""
    work, folder = work_of("variables.x86_64", scratch), scratch.folder()
    image, _ = split("x86_64", work.image, scratch.folder())
    output = folder / image.name
    said = common.respike_ok("image", "optimize", image, "-o", output, "--layout", "random").stderr.decode()
    common.expect(said.count("\n") == 1 and "--debug-file" in said, f"respike says {said!r}")
    common.expect(debug_link(output) is None, "the output refers to the old debug file")
    common.expect(list(folder.iterdir()) == [output], "something else was written")
    whole = common.respike_ok("image", "optimize", work.image, "-o", output, "--layout", "random").stderr.decode()
    common.expect(not whole, f"of an image without a debug file respike says {whole!r}")


def check_instrument(scratch):
    work, folder = work_of("variables.x86_64", scratch), scratch.folder()
    image, debug = split("x86_64", work.image, scratch.folder())
    output, new_debug = folder / "counting", folder / "other name"
    places = folder / "blocks"
    common.respike_ok(
        *("image", "instrument", image, "-o", output, "--debug-file", debug),
        *("--debug-output", new_debug, "--spool", folder / "spool", "--block-map", places),
    )
    expect_pair(output, new_debug, image)
    blocks = [[int(word, 16) for word in line.split()] for line in places.read_text().splitlines()]
    lines = dict(zip(work.addresses, debug_readers.symbolize(work.image, work.addresses)))
    after = debug_readers.symbolize(output, [new for _, new in blocks])
    wrong = [(hex(old), hex(new)) for (old, new), frames in zip(blocks, after) if frames != lines[old]]
    common.expect(len(blocks) > 50 and not wrong, f"{len(wrong)} of {len(blocks)} blocks have other lines: {wrong[:3]}")


def check_dwz(common_file, scratch):
    """dwz shares entries of debug information, between several files in a third file."""
    work, folder = work_of("variables.x86_64", scratch), scratch.folder()
    image, debug = split("x86_64", work.image, scratch.folder(), link=False)
    # dwz takes no files with relocations of debug sections, which linkers leave there.
    relocations = [name for name, s in debug_readers.sections(debug.read_bytes()).items() if name.startswith(".rela") and not s[2] & 2]
    tool("objcopy", *(f"--remove-section={name}" for name in relocations), debug)
    if common_file:
        other = folder / "other"
        shutil.copy(debug, other)
        tool("dwz", "-m", folder / "common.debug", debug, other)
    else:
        tool("dwz", debug)
    tool("objcopy", f"--add-gnu-debuglink={debug}", image)
    common.expect((".gnu_debugaltlink" in names_of_sections(debug)) == common_file, "dwz made another file")
    output, new_debug, places = rewrite(image, debug, scratch.folder(), "--layout", "random")
    expect_pair(output, new_debug, image)
    common.expect((".gnu_debugaltlink" in names_of_sections(new_debug)) == common_file, "the reference to the common file is lost")
    # gdb 13 is not asked: it does not find procedures whose length dwz has stored as a number of its own size.
    pairs = [(int(new, 16), int(old, 16)) for new, old in re.findall(r"^([0-9a-f]+) ([0-9a-f]+)$", places.read_text(), re.M)]
    before = debug_readers.symbolize(image, [old for _, old in pairs])
    after = debug_readers.symbolize(output, [new for new, _ in pairs])
    wrong = [(pair, one, other) for pair, one, other in zip(pairs, before, after) if one != other]
    common.expect(sum(map(debug_readers.is_known, before)) > 300 and not wrong, f"{len(wrong)} of {len(pairs)}: {wrong[:2]}"[:500])


def cases(scratch):
    for name, layout, gdb in (
        ("variables.x86_64", "random", False),
        ("variables.x86_64", "original", True),
        ("variables.x86_64.gz", "random", False),
        ("variables.x86_64.clang", "random", False),
        ("shared.x86_64", "random", False),
        ("exceptions.x86_64", "profiled", True),
        ("variables.alpha", "random", False),
        ("shared.alpha", "random", False),
        ("variables.alpha.static", "random", False),
    ):
        yield common.Case(f"lines {name} {layout}", lambda n=name, l=layout, g=gdb: check_lines(n, l, g, scratch))
    yield from common.named_cases(
        {
            "joined by eu-unstrip": check_unstrip,
            "rewritten again": check_again,
            "by build-id": check_build_id_only,
            "split afterwards": check_split_afterwards,
            "refused": check_refused,
            "without": check_without,
            "counting": check_instrument,
            "dwz": lambda s: check_dwz(False, s),
            "dwz with a common file": lambda s: check_dwz(True, s),
        },
        scratch,
    )


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))
