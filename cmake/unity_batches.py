#!/usr/bin/env python3
"""Says which files of a target the compiler may read as one (CMake's unity builds): prints "FILE<tab>BATCH" lines.

Most of the compiler's time goes to headers, so files that are compiled together cost a third. But files that follow in
a batch see the local names of the files before them. Example: call_counts.cc and code_sources.cc both have a class
Places in an unnamed namespace, which the compiler would refuse. If one file has its own `row_of(Instruction)` and the
next file calls `row_of(Opcode)` of an enclosing namespace, the call would find the wrong function. So a local name of a
file does not occur in any later file of its batch, comments and members aside, and is not defined in any header that
such a file includes; earlier files may have the name. Files also share a batch only if they have the same `using
namespace` lines, and if all or none of them see <elf.h>, whose macros have the names of LLVM's constants.

A batch holds up to LINES lines. Files are taken in order, each into the first batch that has room and a place where the
file fits: the same files give the same batches in any folder. The lines of a batch are printed in its order.

usage: unity_batches.py LINES FILE..."""

import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A definition that starts in the first column: of a type, an alias, a macro, a test, a function or a variable.
DEFINITION = re.compile(
    r"""^(?: (?:struct|class|union|enum(?:\ class|\ struct)?|\#define) \  (?P<type>\w+)
          | (?:using|namespace) \  (?P<alias>\w+) \ =
          | (?:TEST(?:_F|_P)?) \( (?P<test>\w+)
          | (?!return\b|using\b|namespace\b|template\b[^>]*>$) [A-Za-z_\[] [^\n(={;]* [ *&>]
            (?P<value>\w+) (?:\(|\[|\ =|\{|;|,))""",
    re.MULTILINE | re.VERBOSE,
)
CONSTANTS = re.compile(r"^(?:(?:static |inline )?const(?:expr)?\b|enum\b)[^\n(]*(?: = |\{).*", re.MULTILINE)  # k and a capital letter
UNNAMED = re.compile(r"^namespace \{$.*?^\}  // namespace$", re.MULTILINE | re.DOTALL)
OF_THE_FILE = re.compile(r"(?:static|constexpr|const|using|#define|namespace|TEST)\b|\[\[\w+\]\] static")
ALIAS = re.compile(r"^(?:using|namespace) (\w+) = [^;]*;", re.MULTILINE)
USING_NAMESPACE = re.compile(r"^using namespace .*", re.MULTILINE)
MACROS = re.compile(r"^#include <(?:elf|link)\.h>", re.MULTILINE)
COMMENT_OR_MEMBER = re.compile(r"//.*|(?:\.|->)\s*\w+|\"(?:[^\"\\\n]|\\.)*\"")
INCLUDE = re.compile(r'^#include "(.*)"', re.MULTILINE)


def defined(match):
    return match["type"] or match["alias"] or match["test"] or match["value"]


@functools.cache
def names_in_header(path):
    """The names that one of Respike's headers and the headers that it includes define."""
    text = path.read_text()
    return {defined(m) for m in DEFINITION.finditer(text)} | names_in_headers(path, text)


def headers_of(path, text):
    places = ((folder / name).resolve() for name in INCLUDE.findall(text) for folder in (path.parent, ROOT))
    return [header for header in places if header.suffix == ".h" and header.exists()]


def names_in_headers(path, text):
    return set().union(*map(names_in_header, headers_of(path, text)))


def names_of_helpers(path, text):
    """{name: header} of the headers of tests that the file includes: helpers in two of them may have one name."""
    helpers = [header for header in headers_of(path, text) if ROOT / "tests" in header.parents]
    found = {}
    for header in helpers:
        text = header.read_text()
        found |= {defined(m): header for m in DEFINITION.finditer(text)}
        found |= {line: header for line in USING_NAMESPACE.findall(text)}
        found |= names_of_helpers(header, text)
    return found


class File:
    def __init__(self, path):
        self.path, text = path, path.read_text()
        self.lines = text.count("\n")
        self.words = set(re.findall(r"\w+", COMMENT_OR_MEMBER.sub("", text))) | names_in_headers(path, text)
        self.aliases = {m[1]: m[0] for m in ALIAS.finditer(text)}
        unnamed = [m.span() for m in UNNAMED.finditer(text)]
        self.own = {
            defined(m)
            for m in DEFINITION.finditer(text)
            if OF_THE_FILE.match(m[0]) or any(start < m.start() < end for start, end in unnamed)
        }
        for line in CONSTANTS.findall(text):
            self.own |= set(re.findall(r"\bk[A-Z]\w*", line))
        self.helpers = names_of_helpers(path, text)
        opened = {*USING_NAMESPACE.findall(text), *(name for name in self.helpers if " " in name)}
        self.kind = (opened, bool(MACROS.search(text)))

    def may_follow(self, earlier):
        """Whether this file may follow the other file in a batch."""
        seen = earlier.own & self.words
        helpers = self.helpers.keys() & earlier.words | earlier.helpers.keys() & self.words
        return (
            self.kind == earlier.kind
            and all(name in self.aliases and self.aliases[name] == earlier.aliases.get(name) for name in seen)
            and all(self.helpers.get(name) == earlier.helpers.get(name) for name in helpers)
        )


def place(file, batch):
    """The place for the file in the batch; None: there is no place."""
    for at in range(len(batch), -1, -1):
        if all(file.may_follow(other) for other in batch[:at]) and all(other.may_follow(file) for other in batch[at:]):
            return at
    return None


def batches(files, most_lines):
    """[[File]], in order."""
    result = []
    for file in files:
        for batch in result:
            if sum(other.lines for other in batch) + file.lines <= most_lines and (at := place(file, batch)) is not None:
                batch.insert(at, file)
                break
        else:
            result.append([file])
    return result


def main():
    most_lines, files = int(sys.argv[1]), [File(pathlib.Path(name)) for name in sys.argv[2:]]
    for number, batch in enumerate(batches(files, most_lines)):
        for file in batch:
            print(f"{file.path}\t{number}")


if __name__ == "__main__":
    main()
