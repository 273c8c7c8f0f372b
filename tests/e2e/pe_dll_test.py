#!/usr/bin/env python3
"""Libraries of Windows NT: programs that load them behave the same with original, random and scattered layouts.

Images are made by tests/pe/ (dlls.py says which) and run by respike-nt: imports by name, by number and of variables,
forwarders, delayed imports in both forms, LoadLibrary, thread-local data, libraries whose bases collide. Every output is
read by a reader of the tests' own and by pefile, llvm-readobj, objdump and file, and by LIEF where it is installed
(scripts/nightly.sh): the same imports, exports and sections as in the input."""

import json
import importlib.util
import os
import pathlib
import re
import struct
import subprocess
import sys

import common
import pe_test

import dlls  # tests/pe, which pe_test puts into the path
import images
import link
import reading
from tables import Export

# LIEF is not a package of Debian: scripts/nightly.sh installs it into the folder of the build.
sys.path.append(str(pathlib.Path(common.RESPIKE).parent / "lief"))

ALL = os.environ.get("RESPIKE_ALL_CASES", "") not in ("", "0", "OFF")
SEEDS = int(os.environ.get("RESPIKE_SEEDS", 20 if ALL else 2))
# Of the program, and of its libraries: their own, which collide, or others.
BASES = ((), ("--base", "0x1230000", "--libraries", "0x50000000"))
SQLITE = [common.Run(("-batch", ":memory:"), str(common.ROOT / "tests" / "programs" / "inputs" / "file.sql"))]


class World:
    """Folders with all images of an application, each made once."""

    def __init__(self, scratch):
        self.scratch = scratch
        self.shared = common.Shared()

    def folder(self, kind, high=False):
        """`kind`: user, relative (delayed imports in the newer form), lua, sqlite."""
        return self.shared((kind, high), lambda: self.make(kind, high))

    def make(self, kind, high):
        folder = self.scratch.folder()
        if kind in ("user", "relative"):
            relative = kind == "relative"
            objects = self.shared(("objects", kind), lambda: dlls.compile_programs(self.scratch.folder(), relative))
            return dlls.link_programs(objects, folder, high=high, relative_delays=relative, symbols=not relative)
        if kind == "lua":
            objects = self.shared(("objects", kind), lambda: self.compile("lua"))
            main = [o for o in objects if o.name.startswith("lua.c")]
            library = [o for o in objects if o not in main]
            names = dlls.link_library("lua.dll", library, lambda s: s.name.startswith(("lua_", "luaL_", "luaopen_")), folder, high=high)
            dlls.link_user("lua.exe", main, "lua.dll", names, folder, high=high)
            return folder
        objects = self.shared(("objects", kind), lambda: self.compile("sqlite3"))
        query = self.shared("query", lambda: images.compile_source(dlls.PROGRAMS / "query.c", self.scratch.folder()))
        library, shell = objects
        names = dlls.link_library("sqlite3.dll", [library], lambda s: s.name.startswith("sqlite3"), folder, high=high, symbols=True)
        dlls.link_user("sqlite3.exe", [shell], "sqlite3.dll", names, folder, high=high)
        dlls.link_user("query.exe", [query], "sqlite3.dll", names, folder, high=high)
        return folder

    def compile(self, name):
        sources = pe_test.sources_of(name)
        if sources is None:
            raise common.Skip(f"the sources of {name} were unreachable")
        flags = [*pe_test.FLAGS[name], f"-I{sources[0].parent}"]
        if name == "sqlite3":  # the library first
            sources = sorted(sources, key=lambda s: s.name != "sqlite3.c")
        return images.compile_sources(sources, self.scratch.folder(), flags)

    def runs(self, kind):
        if kind == "lua":
            return [("lua.exe", run) for run in pe_test.runs_of("lua")]
        if kind == "sqlite":
            return [("sqlite3.exe", SQLITE[0]), ("query.exe", common.Run(("500",), None))]
        return [("user.exe", common.Run((), None)), ("user.exe", common.Run(("a", "b"), None))]

    def outcome(self, path, run, options=()):
        outcome = common.run_command([pe_test.NT, *options, path, *run.args], stdin=run.stdin, timeout=600, cwd=self.scratch.folder())
        return outcome.status, outcome.stdout.replace(str(path).encode(), b"PROGRAM"), outcome

    def expected(self, kind, index):
        name, run = self.runs(kind)[index]
        return self.shared(("run", kind, index), lambda: self.outcome(self.folder(kind) / name, run))

    def check(self, kind, folder, what):
        for index, (name, run) in enumerate(self.runs(kind)):
            expected = self.expected(kind, index)
            for options in BASES:
                actual = self.outcome(folder / name, run, options)
                if actual[:2] != expected[:2]:
                    difference = common.describe_difference(expected[2], actual[2])
                    raise common.Failure(f"{what}, {name} {' '.join(options)}, run {index}: {difference}")

    def rewritten(self, folder, *options):
        out = self.scratch.folder()
        for image in sorted(folder.iterdir()):
            common.optimize(image, out / image.name, *options)
            pe_test.check_tables(out / image.name, image)
            check_same_tables(image, out / image.name)
            common.respike_ok("image", "verify", image, out / image.name)
        return out


# --- Tables -----------------------------------------------------------------------------------------


def place_of(origins, place):
    return origins.get(place, place)


def first_words(image, place, count=2):
    """The start of a procedure, without the parts that depend on its place."""
    return [w >> 16 for w in struct.unpack(f"<{count}I", image.at(place, 4 * count))]


def check_same_tables(original, output):
    """Other images and the loader find the same in an output as in the input."""
    before, after = reading.ImageFile(original), reading.ImageFile(output)
    common.expect(before.imports() == after.imports(), "other imports")
    ours, theirs = before.exports(), after.exports()
    common.expect(ours.keys() == theirs.keys(), "other numbers of exports")
    for number, export in ours.items():
        other = theirs[number]
        common.expect((export.names, export.forwarder) == (other.names, other.forwarder), f"export {number}: {export} became {other}")
        if export.place and not before.is_code(export.place):
            common.expect(export.place == other.place, f"the exported variable {number} moved")
        elif export.place:
            common.expect(after.is_code(other.place), f"export {number} leads to no code")
    delayed = [before.delayed(), after.delayed()]
    common.expect([d[:3] for d in delayed[0]] == [d[:3] for d in delayed[1]], "other delayed imports")
    for _, _, _, slots in delayed[1]:
        common.expect(all(after.is_code(s - after.base) for s in slots), "a slot of a delayed import leads to no code")
    threads = [before.thread_data(), after.thread_data()]
    common.expect((threads[0] is None) == (threads[1] is None), "the thread-local data is gone")
    if threads[0]:
        common.expect(threads[0][:2] + threads[0][3:] == threads[1][:2] + threads[1][3:], "other thread-local data")
        common.expect(len(threads[0][2]) == len(threads[1][2]) and all(map(after.is_code, threads[1][2])), "other functions for threads")
    for directory in (reading.RESOURCES, reading.THREADS, reading.DELAYED, 12):
        common.expect(before.directories[directory] == after.directories[directory], f"directory {directory} moved")
    place, size = before.directories[reading.RESOURCES]
    if size:
        common.expect(before.at(place, size) == after.at(place, size), "the resources changed")
    common.expect(before.date != after.date, "images that are bound to the input take the output for it")
    relocations = after.base_relocations()
    common.expect(relocations == sorted(relocations, key=lambda r: r[0]), "base relocations are out of order")
    after.high_addresses()


def check_dropped(world):
    """Data that describes or signs the input is left out with a note; slots of bound imports get their names back."""
    objects = dlls.compile_programs(world.scratch.folder())
    folder = dlls.link_programs(objects, world.scratch.folder(), bound=True, debug=b"NB10 user.pdb\0", certificate=b"signed" * 5, symbols=True)
    for image in sorted(folder.iterdir()):
        output = world.scratch.file(image.name)
        notes = common.optimize(image, output, "--layout", "random", "--seed", "3").stderr.decode()
        common.expect("certificate" in notes and "debug information" in notes, f"no notes: {notes}")
        before, after = reading.ImageFile(image), reading.ImageFile(output)
        for directory in (reading.CERTIFICATES, reading.DEBUG, reading.BOUND):
            common.expect(before.directories[directory][1] and not after.directories[directory][1], f"directory {directory} stays")
        common.expect(before.imports() == after.imports(), "other imports")
        place, _ = after.directories[reading.IMPORTS]
        for library, names, slots in after.imports():
            common.expect(after.word(place + 4) == 0, f"{library} looks bound")
            found = [after.word(slots + 4 * i) for i in range(len(names))]
            common.expect(all(w >> 31 or after.text(w + 2) == n for w, n in zip(found, names)), f"{library} has addresses in its slots")
            place += 20
        (folder / image.name).write_bytes(output.read_bytes())
    world.check("user", folder, "bound images")


def check_numbers(world):
    """HIGHADJ with lower halves of all kinds: each digit, at each place."""
    lines = ["\t.set noreorder", "\t.set noat", "\t.text", "\t.globl main", "\t.ent main", "main:", "\tmov $31,$0"]
    targets = [0x10000 * high + sum(digit << 4 * i for i in range(4)) for high in (1, 2) for digit in range(16)]
    targets += [0x18000, 0x17FFF & ~3, 0x1FFFC, 0x20000, 0x25550, 0x27770, 0x2A5A4]
    for target in targets:
        lines += [f"\tldah $1,room+{target & ~3}($31)\t!gprelhigh", f"\tldl $1,room+{target & ~3}($1)\t!gprellow", "\taddl $0,$1,$0"]
    lines += ["\tand $0,127,$0", "\tret $31,($26),1", "$end:", "\t.end main", "\t.data", "\t.align 3", "room:"]
    lines += [f"\t.long {i * 2654435761 & 0xFFFF}" for i in range(0x30000 // 4)]
    lines += ['\t.section .pdata,"a",@progbits', "\t.align 2", "\t.long main,$end,0,0,main"]
    source = world.scratch.file("numbers.s")
    source.write_text("\n".join(lines) + "\n")
    objects = [images.compile_source(source, world.scratch.folder())]
    # One base puts the data at a multiple of 64 KB: lower halves are then the distances above.
    path, output = world.scratch.file("numbers.exe"), world.scratch.file("numbers.out.exe")
    path.write_bytes(link.link(objects, link.Options()))
    expected = world.outcome(path, common.Run((), None))[0]
    wanted = sorted(reading.ImageFile(path).high_addresses().values())
    nibbles = [{a >> 4 * i & 15 for a in wanted} for i in range(4)]
    common.expect(all(len(n) >= 12 for n in nibbles[1:]), f"the test has few numbers: {nibbles}")
    for seed in range(4):
        common.optimize(path, output, "--layout", "random", "--seed", str(seed))
        pe_test.check_tables(output, path)
        common.expect(sorted(reading.ImageFile(output).high_addresses().values()) == wanted, "HIGHADJ names other addresses")
        for options in BASES:
            common.expect(world.outcome(output, common.Run((), None), options)[0] == expected, "another sum")


def check_info(world):
    """`image info` shows an image's libraries, exports and thread-local data; names come from exports."""
    folder = world.folder("relative")  # without symbols
    listing = common.respike_ok("image", "disasm", folder / "counting.dll").stdout.decode()
    for name in ("count_up", "text_of", "history_of"):
        common.expect(name in listing, f"{name} has no name")
    info = common.respike_ok("image", "info", folder / "user.exe").stdout.decode()
    for text in (r"imports +\d+ of 5 libraries", r"counting\.dll: 5, 1 by number", r"late\.dll: 2, 1 by number, with delay", "thread-local data +yes"):
        common.expect(re.search(text, info), f"no {text} in {info}")
    info = common.respike_ok("image", "info", folder / "middle.dll").stdout.decode()
    common.expect(re.search(r"exports +4, 2 of them forwarded", info), info)


def check_loader(world):
    """An image that cannot be loaded leads to one sentence."""
    folder = world.scratch.folder()
    for image in world.folder("user").iterdir():
        (folder / image.name).write_bytes(image.read_bytes())

    def expect_sentence(text):
        outcome = world.outcome(folder / "user.exe", common.Run((), None))[2]
        message = outcome.stderr.decode()
        common.expect(outcome.status == 125 and len(message.splitlines()) == 1 and re.search(text, message), f"{outcome.status}: {message}")

    counting = (folder / "counting.dll").read_bytes()
    (folder / "counting.dll").unlink()
    expect_sentence("counting.dll, which .*needs, is not found")
    (folder / "counting.dll").write_bytes((folder / "late.dll").read_bytes())
    expect_sentence("counting.dll has no ")
    (folder / "counting.dll").write_bytes(counting)
    (folder / "middle.dll").write_bytes((folder / "refusing.dll").read_bytes())
    expect_sentence("middle.dll has no ")
    notes = world.scratch.folder()
    world.outcome(world.folder("user") / "user.exe", common.Run((), None), ("--opened", notes))
    opened = sorted(os.path.basename(os.readlink(link)) for link in notes.iterdir())
    common.expect(opened == ["late.dll", "middle.dll", "refusing.dll"] or opened == ["late.dll", "middle.dll"], f"{opened} are noted as opened")
    outcome = world.outcome(folder / "late.dll", common.Run((), None))[2]
    common.expect(b"it is a library, not a program" in outcome.stderr, outcome.stderr.decode())


# --- Other readers ------------------------------------------------------------------------------------


def pefile_view(path):
    pefile = importlib.import_module("pefile")
    image = pefile.PE(str(path), fast_load=True)
    names = [pefile.DIRECTORY_ENTRY[f"IMAGE_DIRECTORY_ENTRY_{n}"] for n in ("IMPORT", "EXPORT", "TLS", "RESOURCE", "DELAY_IMPORT")]
    image.parse_data_directories(directories=names)
    view = {"sections": [s.Name.rstrip(b"\0") for s in image.sections]}
    view["imports"] = [(d.dll, [i.name or i.ordinal for i in d.imports]) for d in getattr(image, "DIRECTORY_ENTRY_IMPORT", [])]
    delayed = getattr(image, "DIRECTORY_ENTRY_DELAY_IMPORT", [])
    view["delayed"] = [(d.dll, [i.name or i.ordinal for i in d.imports]) for d in delayed]
    exports = getattr(image, "DIRECTORY_ENTRY_EXPORT", None)
    view["exports"] = [(e.ordinal, e.name, e.forwarder) for e in exports.symbols] if exports else []
    view["threads"] = str(getattr(getattr(image, "DIRECTORY_ENTRY_TLS", None), "struct", None))
    view["resources"] = hasattr(image, "DIRECTORY_ENTRY_RESOURCE")
    common.expect(image.verify_checksum(), f"pefile: the checksum of {path.name} is wrong")
    problems = [w for w in image.get_warnings() if "relocation" not in w.lower()]
    return view, problems


def lief_view(path):
    lief = importlib.import_module("lief")
    lief.logging.disable()
    image = lief.PE.parse(str(path))
    common.expect(image is not None, f"LIEF cannot read {path.name}")
    view = {"sections": [s.name for s in image.sections]}
    view["imports"] = [(i.name, [e.ordinal if e.is_ordinal else e.name for e in i.entries]) for i in image.imports]
    view["delayed"] = [(i.name, [e.ordinal if e.is_ordinal else e.name for e in i.entries]) for i in image.delay_imports]
    exports = image.get_export() if image.has_exports else None
    view["exports"] = sorted((e.ordinal, str(e.name), str(e.forward_information)) for e in exports.entries) if exports else []
    view["threads"] = (image.tls.sizeof_zero_fill, len(image.tls.callbacks), bytes(image.tls.data_template)) if image.has_tls else None
    view["resources"] = image.has_resources
    common.expect(image.compute_checksum() == image.optional_header.checksum, f"LIEF: the checksum of {path.name} is wrong")
    return view, []


def tool(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr.replace(str(command[-1]), "FILE")


def tools_view(path):
    """The output of file, llvm-readobj and objdump about imports, exports and the kind of file; refusals stay
    refusals."""
    readobj = tool("llvm-readobj", "--coff-imports", "--coff-exports", "--coff-tls-directory", path)
    text = "\n".join(line for line in readobj[1].splitlines() if "RVA" not in line and not line.startswith("File:"))
    text = re.sub(r"(Address|AddressOf\w+|StartAddress\w*|EndAddress\w*): 0x[0-9A-F]+", r"\1", text)
    objdump = tool("objdump", "-p", "-b", "pei-i386", path)
    return {
        "readobj": (readobj[0], text, readobj[2]),
        "readobj headers": tool("llvm-readobj", "--file-headers", "--sections", path)[0],
        "llvm-objdump": tool("llvm-objdump", "--private-headers", path)[0::2],
        "objdump": (objdump[0], objdump[2]),
        "file": re.sub(r", \d+ sections", "", tool("file", "-b", path)[1]),
    }


def new_sections(before, after):
    """Sections of the output beside the sections of the input; only moved sections have another name."""
    text = lambda name: name.decode() if isinstance(name, bytes) else name
    before, after = [*map(text, before)], [*map(text, after)]
    common.expect(before[-1] == after[-1] == ".reloc", f"the base relocations are not last: {before}, {after}")
    kept = after[: len(before) - 1]
    changed = {(a, b) for a, b in zip(before, kept) if a != b}
    common.expect(changed <= {(".pdata", ".unused")}, f"sections changed their names: {changed}")
    return after[len(before) - 1 : -1]


def check_readers(world, kind, view_of):
    folder = world.folder(kind)
    for layout in (["random", "--seed", "5"], ["original"]):
        for image in sorted(folder.iterdir()):
            output = world.scratch.file(image.name)
            common.optimize(image, output, "--layout", *layout)
            (before, problems), (after, more) = view_of(image), view_of(output)
            common.expect(before["imports"] or image.name == "refusing.dll", f"nothing was read: {before}")
            added = new_sections(before.pop("sections"), after.pop("sections"))
            common.expect(set(added) <= {".textrsp", ".pdata", ".notersp"}, f"unknown sections: {added}")
            common.expect(before == after, f"{image.name}: {before} became {after}")
            common.expect(set(more) <= set(problems), f"{image.name}: {more}")


def check_tools(world, kind):
    for image in sorted(world.folder(kind).iterdir()):
        output = world.scratch.file(image.name)
        common.optimize(image, output, "--layout", "random", "--seed", "6")
        before, after = tools_view(image), tools_view(output)
        for name, text in before.items():
            common.expect(text == after[name], f"{image.name}, {name}: {text} became {after[name]}")


# --- Cases --------------------------------------------------------------------------------------------


def check_layout(world, kind, high, options):
    folder = world.folder(kind, high)
    world.check(kind, world.rewritten(folder, *options), " ".join(map(str, options)))


def check_mixed(world, kind):
    """Some images rewritten, the others not."""
    folder = world.folder(kind)
    rewritten = world.rewritten(folder, "--layout", "random", "--seed", "11")
    for image in sorted(folder.iterdir())[::2]:
        (rewritten / image.name).write_bytes(image.read_bytes())
    world.check(kind, rewritten, "mixed")


def check_twice(world, kind):
    once = world.rewritten(world.folder(kind), "--layout", "random", "--seed", "21")
    world.check(kind, world.rewritten(once, "--layout", "random", "--seed", "22"), "twice rewritten")


def check_measured(world):
    """A measured program is started by a link, and finds its libraries all the same."""
    program = world.folder("user") / "user.exe"
    program.chmod(0o755)
    outcome = common.respike_ok("measure", "--json", "--by", "image", "--", program, cwd=world.scratch.folder())
    named = {pathlib.Path(each["image"]).name for each in json.loads(outcome.stdout)["images"]}
    common.expect({"user.exe", "counting.dll", "late.dll"} <= named, f"measured: {named}")


def cases(scratch):
    world = World(scratch)
    yield common.Case("measured", lambda: check_measured(world))
    yield common.Case("dropped", lambda: check_dropped(world))
    yield common.Case("numbers", lambda: check_numbers(world))
    yield common.Case("info", lambda: check_info(world))
    yield common.Case("loader", lambda: check_loader(world))
    kinds = ["user", "relative", "lua"] + (["sqlite"] if ALL else [])
    for kind in kinds:
        for high in (False, True):
            text = f"{kind} {'high' if high else 'adj'}"
            yield common.Case(f"{text} original", lambda k=kind, h=high: world.check(k, world.folder(k, h), "as linked"))
            if kind == "relative" and not ALL:
                break
            layouts = [["--layout", "random", "--seed", str(s)] for s in range(1, SEEDS + 1)]
            if kind != "lua" or ALL:
                layouts += [["--layout", "original"], ["--layout", "scatter", "--seed", "1"]]
            for options in layouts:
                yield common.Case(f"{text} {' '.join(options[1:])}", lambda k=kind, h=high, o=options: check_layout(world, k, h, o))
        yield common.Case(f"{kind} mixed", lambda k=kind: check_mixed(world, k))
        yield common.Case(f"{kind} twice", lambda k=kind: check_twice(world, k))
        yield common.Case(f"readers {kind} pefile", lambda k=kind: check_readers(world, k, pefile_view))
        if importlib.util.find_spec("lief"):
            yield common.Case(f"readers {kind} LIEF", lambda k=kind: check_readers(world, k, lief_view))
        yield common.Case(f"readers {kind} tools", lambda k=kind: check_tools(world, k))


def main():
    args = common.argument_parser(__doc__).parse_args()
    if not (pathlib.Path(pe_test.NT).parent / "respike-nt-loader").exists():
        print("respike-nt has no loader: it was built without a compiler for Alpha")
        return 1
    with common.Scratch() as scratch:
        return common.run_cases(list(cases(scratch)), args)


if __name__ == "__main__":
    sys.exit(main())
