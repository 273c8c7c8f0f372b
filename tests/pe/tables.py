"""Tables of images that libraries and threads need: imports, exports, thread-local data, resources, and the data after
the sections. Each function gets the Linker (link.py), puts a section after the others, and sets its data directory.

Format: the Microsoft PE/COFF specification, sections 6.1 to 6.9."""

import dataclasses
import struct

from objects import ALLOC, NOBITS

# Names that the linker defines.
LINKER_NAMES = {"_tls_index", "_tls_used", "__ImageBase"}
# Names that headers of the C library declare weak although the library has them: they are imported.
LIBRARY_NAMES = {"__pthread_unwind_next"}
# The section of objects with tables of delayed imports (delay.py).
DELAY_TABLE = ".rodata.didat"
BOUND_DATE = 0x34000000
THREAD_LOCAL = 0x400


@dataclasses.dataclass(frozen=True)
class Export:
    name: str = ""  # empty: by number alone
    symbol: str = ""  # empty: the name's
    ordinal: int = 0  # 0: the next
    forwarder: str = ""  # "OTHER.Function"


def make_imports(linker):
    """One descriptor for each library and the end; names and numbers; slots; texts."""
    by_library = {}
    for name in sorted(linker.imported):
        source = linker.options.imports.get(name, linker.options.library)
        library, number = source if isinstance(source, tuple) else (source, None)
        by_library.setdefault(library, []).append((name, number))
    start, size = linker.end, 8 if linker.options.wide else 4
    pack = lambda word: struct.pack("<Q" if linker.options.wide else "<I", word)
    lookup = -(-20 * (len(by_library) + 1) // 8) * 8
    entries = sum(size * (len(names) + 1) for names in by_library.values())
    table = lookup + entries
    texts_at = table + entries
    texts, descriptors, words = bytearray(), bytearray(), []
    for library, names in by_library.items():
        first = size * len(words)
        for name, number in names:
            linker.slots[name] = start + table + size * len(words)
            if number is not None:
                words.append(1 << 8 * size - 1 | number)
                continue
            texts += bytes(len(texts) & 1)
            words.append(start + texts_at + len(texts))
            texts += struct.pack("<H", 0) + name.encode() + b"\0"
        words.append(0)
        date = 0xFFFFFFFF if linker.options.bound else 0
        descriptors += struct.pack("<5I", start + lookup + first, date, date, start + texts_at + len(texts), start + table + first)
        texts += library.encode() + b"\0"
    names = b"".join(map(pack, words))
    slots = b"".join(pack(0x77000000 + w & 0xFFFFFFFF if linker.options.bound and w else w) for w in words)
    linker.libraries = list(by_library)
    linker.directories[1] = (start, 20 * (len(by_library) + 1))
    linker.directories[12] = (start + table, entries)
    linker.add_section(".idata", descriptors.ljust(lookup, b"\0") + names + slots + texts)


def bound_imports(linker):
    """After the section headers: the libraries to which the slots were bound, with their dates."""
    if not linker.options.bound:
        return b""
    records, names = bytearray(), bytearray()
    names_at = 8 * (len(linker.libraries) + 1)
    for library in linker.libraries:
        records += struct.pack("<IHH", BOUND_DATE, names_at + len(names), 0)
        names += library.encode() + b"\0"
    return bytes(records + bytes(8) + names)


def make_exports(linker):
    exports = [e if isinstance(e, Export) else Export(e) for e in linker.options.exports]
    base = linker.options.ordinal_base
    taken = {e.ordinal for e in exports}
    free = (n for n in range(base, base + 2 * len(exports) + 1) if n not in taken)
    numbers = [e.ordinal or next(free) for e in exports]
    count = max(numbers) - base + 1
    named = sorted((e.name, n - base) for e, n in zip(exports, numbers) if e.name)
    start = linker.end
    functions = 40
    name_table = functions + 4 * count
    ordinals = name_table + 4 * len(named)
    texts_at = ordinals + 2 * len(named)
    texts, name_rvas, places = bytearray((linker.options.dll_name or "program.exe").encode() + b"\0"), [], [0] * count
    for name, _ in named:
        name_rvas.append(start + texts_at + len(texts))
        texts += name.encode() + b"\0"
    for export, number in zip(exports, numbers):
        if export.forwarder:
            places[number - base] = start + texts_at + len(texts)
            texts += export.forwarder.encode() + b"\0"
        else:
            places[number - base] = linker.globals[export.symbol or export.name]
    content = struct.pack(
        "<IIHHIIIIIII", 0, 0, 0, 0, start + texts_at, base, count, len(named),
        start + functions, start + name_table, start + ordinals,
    )
    content += struct.pack(f"<{count}I", *places) + struct.pack(f"<{len(named)}I", *name_rvas)
    content += struct.pack(f"<{len(named)}H", *(i for _, i in named))
    linker.directories[0] = (start, len(content) + len(texts))
    linker.add_section(".edata", content + texts)


class ThreadData:
    """The template of thread-local data, its directory, the number of the image, and the functions that are called."""

    def __init__(self, linker):
        self.linker = linker
        linker.contents.setdefault(".tls", bytearray())
        linker.order.insert(linker.order.index(".pdata"), ".tls")
        content = linker.contents[".tls"]
        self.filled = len(content)
        end = self.filled
        for number, each in enumerate(linker.objects):
            for index, section in enumerate(each.sections):
                if section.flags & ALLOC and section.flags & THREAD_LOCAL and section.kind == NOBITS and section.size:
                    end += -end % section.alignment
                    linker.places[number, index] = (".tls", end)
                    end += section.size
        self.zeros = end - self.filled
        linker.contents[".tls"] = content + bytes(max(1 - len(content), 0))  # sections are not empty
        self.index = linker.put(".data", bytes(4), 4)
        self.functions = linker.put(".rdata", bytes(4 * (len(linker.options.thread_functions) + 1)), 4)
        self.directory = linker.put(".rdata", bytes(24), 4)

    def place(self):
        linker = self.linker
        linker.globals["_tls_index"] = linker.rva[".data"] + self.index
        linker.globals["_tls_used"] = linker.rva[".rdata"] + self.directory
        linker.directories[9] = (linker.globals["_tls_used"], 24)

    def write(self):
        """Once addresses are known: addresses have base relocations."""
        linker = self.linker
        start = linker.rva[".tls"]
        words = [start, start + self.filled, linker.globals["_tls_index"], linker.rva[".rdata"] + self.functions]
        linker.put_addresses(".rdata", self.directory, words)
        struct.pack_into("<II", linker.contents[".rdata"], self.directory + 16, self.zeros, 0)
        linker.put_addresses(".rdata", self.functions, [linker.globals[f] for f in linker.options.thread_functions])


def make_resources(linker):
    """One resource: type 10 (raw data), number 1, language 0x409."""
    start = linker.end
    folder = lambda number, offset: struct.pack("<IIHHHHII", 0, 0, 4, 0, 0, 1, number, offset)
    content = folder(10, 0x80000018) + folder(1, 0x80000030) + folder(0x409, 72)
    content += struct.pack("<IIII", start + 88, len(linker.options.resource), 0, 0) + linker.options.resource
    linker.directories[2] = (start, len(content))
    linker.add_section(".rsrc", content)


def trailing(linker, headers_size, body, symbols):
    """The data after the sections and symbols: debug information and the certificate."""
    out = bytearray()
    at = headers_size + len(body) + len(symbols)
    if linker.options.debug:
        out += bytes(-at % 4)
        entry = struct.pack("<IIHHIIII", 0, BOUND_DATE, 0, 0, 2, len(linker.options.debug), 0, at + len(out))
        place = linker.rva[".rdata"] + linker.debug_entry
        offset = linker.offsets[".rdata"] + linker.debug_entry
        body[offset : offset + 28] = entry
        linker.directories[6] = (place, 28)
        out += linker.options.debug
    if linker.options.certificate:
        out += bytes(-(at + len(out)) % 8)
        size = 8 + len(linker.options.certificate)
        linker.directories[4] = (at + len(out), size)
        out += struct.pack("<IHH", size, 0x200, 2) + linker.options.certificate
    return bytes(out)
