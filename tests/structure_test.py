#!/usr/bin/env python3
"""The folders depend on each other as their CMake files say; no machine and no container is named where none may be, and
no question about a machine stands for another one.

A file may include headers of its own folder and of the folders that its library links, directly or through
others. Only profiledb/database* know SOCI. Names of machines belong to machine/, host/, the runtime
folders, models/, measure/, emulators/, the readers of containers, the interface's list of machines, the list and the folders of unwind
formats, and tests. Unwind formats are leaves: others see unwind/unwind.h alone, and no format sees another one. Numbers
and headers of ELF belong to image/elf/; folders of programs that run on Linux may include its headers, the optimizer
may not. Each source file is named in the README of its folder, if there is one.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MACHINE = re.compile(r"alpha(?!bet)|ia_?64|x86_64|itanium", re.IGNORECASE)
MACHINES_ALLOWED = ("optimizer/machine/", "host/", "instrument/runtime/", "tas/runtime/", "models/", "measure/", "emulators/",
                    "tests/", "optimizer/image/elf/", "optimizer/image/pe/", "optimizer/image/ecoff/", "optimizer/base/machine_id.h", "optimizer/unwind/ia64/",
                    "optimizer/unwind/formats.cc")
# Which machine it is, in disguise: what a question is really about has a fact of its own (AddressEvidence, Codec).
PROXY = re.compile(r"\bwhole_?\s*[!=]=\s*nullptr|[!(]\s*(\w+\.)*machine_?(\.|->)whole\s*[)&|]")
PROXIES_ALLOWED = ("optimizer/machine/", "optimizer/lift/addresses.cc")
UNWIND = "optimizer/unwind/"
UNWIND_SHARED = ("unwind.h", "overlaps.h", "state_table.h", "lsda/")  # headers that every format may use
ELF_FOLDER = "optimizer/image/elf/"
ELF = re.compile(r"""\b(SHT|SHF|SHN|PT|PF|DT|DF|STB|STT|STV|STO|ET|EM|EI|NT)_[A-Z0-9]\w*
                     |\bR_(ALPHA|IA64|X86_64|AARCH64)_\w+|\bELF(CLASS|DATA|MAG)\w*|\bElf(32|64)_\w+|\bELF::|<elf\.h>
                     |BinaryFormat/ELF\.h|Object/ELF\w*\.h|\\177ELF|'E', 'L', 'F'|0x9026\b
                     |\b0x6(ffff|474e5)[0-9a-f]{3,4}\b|\b0x7000000[0-9a-f]\b""", re.VERBOSE)
ELF_ALLOWED = {"optimizer/base/file_kind.cc": "tells people what a file is, whoever can read it"}
ELF_INCLUDED = ("optimizer/image/", "tas/", "applications/", "measure/", "emulators/")


def libraries():
    """Folder of each library -> folders it links."""
    folders, links = {}, {}
    for cmake in ROOT.glob("**/CMakeLists.txt"):
        if "build" in cmake.relative_to(ROOT).parts[0]:
            continue
        for name, body in re.findall(r"respike_library\((\w+)(.*?)\)", cmake.read_text(), re.DOTALL):
            folders[name] = str(cmake.parent.relative_to(ROOT))
            depends = re.search(r"DEPENDS([\w\s]*)", body)
            links[name] = depends.group(1).split() if depends else []
    return {folders[n]: {folders[d] for d in links[n] if d in folders} for n in folders}


def closure(links):
    reached = {folder: set(direct) for folder, direct in links.items()}
    changed = True
    while changed:
        changed = False
        for folder in reached:
            more = set().union(*(reached[d] for d in reached[folder])) if reached[folder] else set()
            if not more <= reached[folder]:
                reached[folder] |= more
                changed = True
    return reached


def folder_of(path, folders):
    """The library's folder that holds a file: the longest that is a prefix."""
    return max((f for f in folders if path.startswith(f + "/")), key=len, default=None)


def may_see(file, header):
    """Whether a file may include a header of unwind/."""
    if not file.startswith(UNWIND):
        return header == "unwind.h"
    folder = file.removeprefix(UNWIND).rpartition("/")[0]
    return header.startswith(UNWIND_SHARED) or file == UNWIND + "formats.cc" or (folder != "" and header.startswith(folder + "/"))


def types_of(file):
    """The types that a file defines, with their namespaces: ("respike::elf", "Header", 12) for line 12.

    Types of one name in one namespace must be the same type wherever they are seen: the linker keeps one of the
    functions that compilers make of templates over them, for all.
    """
    namespaces, types = [], []
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if opened := re.match(r"namespace ?([\w:]*) ?{", line):
            namespaces.append(opened.group(1) or f"(of {file})")
        elif re.match(r"}  // namespace", line):
            namespaces.pop()
        elif defined := re.match(r"(?:struct|class|union|enum(?: class)?) (\w+)(?![\w<]|::)[^;()]*{", line):
            types.append(("::".join(namespaces), defined.group(1), number))
    return types


def types_defined_twice(files):
    first = {}
    for file in files:
        for namespace, name, number in types_of(file):
            place = f"{file.relative_to(ROOT)}:{number}"
            other = first.setdefault((namespace, name), place)
            if other != place:
                yield f"{place}: {namespace}::{name} is already defined at {other}"


def unlisted_files(tops):
    """Sources that the README of their folder does not name, as `file.h`, `file.*` or `fil*.cc`."""
    for top in tops:
        for readme in (ROOT / top).glob("**/README.md"):
            words = {word.split("/")[-1].split(".")[0].replace("*", ".*") for word in re.findall(r"`([\w./*]+)`", readme.read_text())}
            for file in readme.parent.iterdir():
                stem = file.name.split(".")[0]
                if file.suffix in (".h", ".cc", ".c") and not any(re.fullmatch(word, stem) for word in words):
                    yield f"{file.relative_to(ROOT)}: the folder's README does not name it"


def main():
    links = libraries()
    allowed = closure(links)
    problems = [f"{folder} depends on itself" for folder in allowed if folder in allowed[folder]]
    files = [p for top in ("optimizer", "host", "instrument", "profiledb", "tas", "views", "models", "measure",
                         "emulators", "applications", "gui", "cli")
             for p in (ROOT / top).glob("**/*") if p.suffix in (".h", ".cc", ".c")]
    for file in files:
        name = str(file.relative_to(ROOT))
        own = folder_of(name, links)
        for number, line in enumerate(file.read_text().splitlines(), 1):
            include = re.match(r'#include "(.*)"', line)
            if include and own:
                other = folder_of(include.group(1), links)
                if other and other != own and other not in allowed[own]:
                    problems.append(f"{name}:{number}: {own} must not include {include.group(1)}")
            if include and include.group(1).startswith(UNWIND) and not may_see(name, include.group(1).removeprefix(UNWIND)):
                problems.append(f"{name}:{number}: a format of unwind tables is seen from outside of its folder")
            if re.match(r"#include <soci/", line) and not name.startswith("profiledb/database"):
                problems.append(f"{name}:{number}: only the database talks SQL")
            code = line.split("//")[0]
            if MACHINE.search(code) and not name.startswith(MACHINES_ALLOWED):
                problems.append(f"{name}:{number}: names a machine: {line.strip()}")
            if PROXY.search(code) and not name.startswith(PROXIES_ALLOWED):
                problems.append(f"{name}:{number}: asks which machine it is, in disguise: {line.strip()}")
            if ELF.search(code) and not name.startswith(ELF_FOLDER) and name not in ELF_ALLOWED:
                problems.append(f"{name}:{number}: names a number of ELF: {line.strip()}")
            if include and include.group(1).startswith(ELF_FOLDER) and not name.startswith(ELF_INCLUDED):
                problems.append(f"{name}:{number}: the optimizer must not know a container: {line.strip()}")
    problems += types_defined_twice(files)
    problems += unlisted_files(("optimizer", "host", "instrument", "profiledb", "tas", "views", "models", "measure", "emulators", "applications"))
    for problem in problems:
        print(problem)
    print(f"{len(files)} files, {len(links)} libraries, {len(problems)} problems")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
