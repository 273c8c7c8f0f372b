"""Programs with libraries of their own, for the tests: which files they are made of, and how they are linked.

    user.exe -> middle.dll -> counting.dll
             -> counting.dll (by name, by number, variables, thread-local variables)
             -> late.dll (with delay); opens refusing.dll and others by name
    lua.exe -> lua.dll;  query.exe, sqlite3.exe -> sqlite3.dll;  opening.exe opens the given libraries"""

import functools
import pathlib

import convert
import delay
import images
import link
from tables import Export

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
SHARED_BASE = 0x10000000 + 0x1000000  # of all libraries: all but the first go elsewhere


def compile_programs(folder, relative_delays=False):
    """Objects of the small programs, by the names of their sources; `delay`: the code that loads late.dll."""
    made = {}
    for name in ("counting", "middle", "late", "refusing", "user"):
        flags = convert.THREAD_FLAGS if name in ("counting", "user") else []
        made[name] = [images.compile_source(PROGRAMS / f"{name}.c", folder, flags)]
    source = folder / "delayed.s"
    source.write_text(delay.assembly("late.dll", [("late_sum", 3), "late_number"], relative_delays))
    helper = images.compile_source(images.HERE / "delay_load.c", folder)
    made["user"] += [images.compile_source(source, folder), helper]
    return made


SYSTEM = {n: "KERNEL32.dll" for n in "LoadLibraryA GetProcAddress GetModuleHandleA GetModuleFileNameA FreeLibrary GetLastError".split()}
COUNTING = {"count_up": "counting.dll", "without_name": ("counting.dll", 9), "history_of": "counting.dll", "text_of": "counting.dll",
            "shared_value": "counting.dll", "hook": "counting.dll", "table": "counting.dll"}
IMAGES = {
    "counting.dll": dict(
        exports=(Export("count_up"), Export(symbol="without_name", ordinal=9), Export("history_of", ordinal=7), Export("text_of"),
                 Export("shared_value"), Export("hook"), Export("table")),
        ordinal_base=5, thread_functions=("on_thread",), imports=SYSTEM, resource=b"a resource of counting.dll",
    ),
    "middle.dll": dict(
        exports=(Export("twice"), Export("mixed"), Export("forwarded", forwarder="counting.count_up"),
                 Export("forwarded_number", forwarder="counting.#9")),
        imports=SYSTEM | COUNTING,
    ),
    "late.dll": dict(exports=(Export("late_sum", ordinal=3), Export("late_number")), imports=SYSTEM),
    "refusing.dll": dict(exports=()),
    "user.exe": dict(imports=SYSTEM | COUNTING | {n: "middle.dll" for n in ("twice", "mixed", "forwarded")}),
}


def link_programs(objects, folder, **options):
    """All images of the small programs in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, own in IMAGES.items():
        library = name.endswith(".dll")
        fixed = dict(entry="DllMain", dll_name=name, base=SHARED_BASE) if library else {}
        image = link.link(objects[name.split(".")[0]], link.Options(**{**fixed, **own, **options}))
        (folder / name).write_bytes(image)
    return folder


def link_library(name, objects, export, folder, **options):
    """A library of objects, with the exports that `export` gives for a name."""
    linked = functools.partial(link.Options, entry="", dll_name=name, base=SHARED_BASE, **options)
    names = sorted({s.name for o in map(link.Object, objects) for s in o.symbols
                    if s.binding != link.LOCAL and s.section not in (link.UNDEFINED, link.ABSOLUTE) and export(s)})
    (folder / name).write_bytes(link.link(objects, linked(exports=tuple(names))))
    return names


def link_user(name, objects, library, names, folder, **options):
    """A program that imports names from a library."""
    (folder / name).write_bytes(link.link(objects, link.Options(imports={n: library for n in names}, **options)))
