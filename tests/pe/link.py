"""Links objects in NT's form (convert.py) into an image of the kind that Microsoft's linker made for Alpha.

Format: the Microsoft PE/COFF specification; machine 0x184 with PE32 headers, sections on pages of 8 KB. Base
relocations as Open Watcom's linker makes them for Alpha: HIGHADJ with the low half of the target (or HIGH) at the ldah
of an address, HIGHLOW at words, nothing at lower halves, since images move by multiples of 64 KB.

Undefined names are imported, by name or by number, from the libraries that the options say. A function gets a stub in
.text, as in import libraries: load the slot of the import address table, jump. `__imp_NAME` is the slot itself.
tables.py makes the tables that libraries and threads need. Pointers in data have 64 bits, since no available compiler
for Alpha makes smaller pointers: their upper half stays 0, and the lower half has the base relocation.
"""

import collections
import dataclasses
import struct

import tables
from objects import ABSOLUTE, ALLOC, LOCAL, NOBITS, PROGBITS, UNDEFINED, WEAK, WRITE, Object

SECTION_ALIGNMENT, FILE_ALIGNMENT = 0x2000, 0x200
HIGH, HIGHLOW, HIGHADJ, DIR64 = 1, 3, 4, 10
# Relocations of ELF objects for Alpha.
NONE, REFLONG, REFQUAD, BRADDR, HINT, GPRELHIGH, GPRELLOW, BRSGP = 0, 1, 2, 7, 8, 17, 18, 28
TPRELHI, TPRELLO = 39, 40
THREAD_LOCAL = 0x400  # flag of sections
PROCEDURE = 2
CHARACTERISTICS = {
    ".text": 0x60000020,
    ".rdata": 0x40000040,
    ".data": 0xC0000040,
    ".pdata": 0x40000040,
    ".idata": 0xC0000040,
    ".edata": 0x40000040,
    ".reloc": 0x42000040,
    ".tls": 0xC0000040,
    ".rsrc": 0x40000040,
}


@dataclasses.dataclass
class Options:
    base: int = 0x400000
    entry: str = "main"
    high: bool = False  # HIGH instead of HIGHADJ
    library: str = "crtdll.dll"  # from which undefined names come, but for those of `imports`
    imports: dict = dataclasses.field(default_factory=dict)  # name: library, or (library, number)
    exports: tuple = ()  # names, or tables.Export
    ordinal_base: int = 1
    dll_name: str = ""
    thread_functions: tuple = ()  # names of functions that are called for threads
    relative_delays: bool = False  # delayed imports in the newer form, relative to the base (delay.py)
    bound: bool = False  # imports look bound to libraries of some date
    resource: bytes = b""
    debug: bytes = b""
    certificate: bytes = b""
    wide: bool = False  # PE32+ for machine 0x284: words with addresses have 64 bits, except in jump tables
    stub: int = 0x80  # bytes of the program for DOS in front of the headers
    base_relocations: bool = True
    symbols: bool = False  # a COFF symbol table with the names of procedures


def align(value, unit):
    return -(-value // unit) * unit


def output_section(section):
    for prefix, name in ((".text", ".text"), (".rodata", ".rdata"), (".data", ".data"), (".bss", ".data"), (".pdata", ".pdata"),
                         (".tdata", ".tls")):
        if section.name == prefix or section.name.startswith(prefix + "."):
            return name
    return ".data" if section.flags & WRITE else ".rdata"


def is_missing(symbol):
    """Whether the symbol may stay undefined: it is 0 then, unless another object defines it."""
    return symbol.section == UNDEFINED and symbol.binding == WEAK and symbol.name not in tables.LIBRARY_NAMES


def widen(section, relocations):
    """The words of a function table become words of 64 bits."""
    section.data = b"".join(word + bytes(4) for word in (section.data[i : i + 4] for i in range(0, section.size, 4)))
    section.size *= 2
    for relocation in relocations:
        relocation.offset *= 2
        relocation.kind = REFQUAD


class Linker:
    def __init__(self, paths, options):
        self.options = options
        self.objects = [Object(p) for p in paths]
        if options.wide:
            for each in self.objects:
                for index, section in enumerate(each.sections):
                    if section.name == ".pdata":
                        widen(section, [r for r in each.relocations if r.section == index])
        self.order = [".text", ".rdata", ".data", ".pdata"]
        self.contents = {name: bytearray() for name in self.order}
        self.size, self.rva = {}, {}
        self.places = {}  # (object, section): output section, offset
        self.globals = {}  # name: rva
        self.stubs = {}  # name: offset in .text
        self.imported = set()  # names
        self.libraries = []  # from which they come
        self.slots = {}  # name: rva in the import address table
        self.base_relocations = []  # rva, kind, parameter
        self.directories = [(0, 0)] * 16
        self.arrays = {}  # names of the borders of arrays of constructors and destructors: offset in .data

    def put(self, name, data, alignment):
        content = self.contents.setdefault(name, bytearray())
        content.extend(bytes(-len(content) % alignment))
        content.extend(data)
        return len(content) - len(data)

    def collect(self):
        for number, each in enumerate(self.objects):
            for index, section in enumerate(each.sections):
                if section.flags & ALLOC and section.size and section.kind == PROGBITS and section.name != ".eh_frame":
                    name = output_section(section)
                    self.places[number, index] = (name, self.put(name, section.data, section.alignment))
        self.collect_arrays()
        undefined, defined = set(), set(self.arrays)
        for each in self.objects:
            for symbol in each.symbols:
                if symbol.name and symbol.binding != LOCAL and not is_missing(symbol):
                    (undefined if symbol.section == UNDEFINED else defined).add(symbol.name)
        self.tls = tables.ThreadData(self) if any(s.flags & THREAD_LOCAL for o in self.objects for s in o.sections) else None
        for name in sorted(undefined - defined - tables.LINKER_NAMES):
            if name.startswith("__imp_"):
                self.imported.add(name.removeprefix("__imp_"))
            else:
                self.imported.add(name)
                self.stubs[name] = self.put(".text", bytes(12), 16)
        self.debug_entry = self.put(".rdata", bytes(28), 4) if self.options.debug else None
        memory = len(self.contents[".data"])
        for number, each in enumerate(self.objects):
            for index, section in enumerate(each.sections):
                if section.flags & ALLOC and section.size and section.kind == NOBITS and not section.flags & THREAD_LOCAL:
                    memory = align(memory, section.alignment)
                    self.places[number, index] = (".data", memory)
                    memory += section.size
        self.size = {name: len(content) for name, content in self.contents.items()}
        self.size[".data"] = max(memory, self.size[".data"])

    def collect_arrays(self):
        """Pointers to constructors and destructors, pointers with a priority first."""
        for name in ("init_array", "fini_array"):
            found = [(s.name[len(name) + 2 :] or "~", number, index) for number, each in enumerate(self.objects)
                     for index, s in enumerate(each.sections) if s.name.startswith("." + name) and s.size]
            self.arrays[f"__{name}_start"] = self.put(".data", b"", 8)
            for _, number, index in sorted(found):
                self.places[number, index] = (".data", self.put(".data", self.objects[number].sections[index].data, 8))
            self.arrays[f"__{name}_end"] = len(self.contents[".data"])

    def add_section(self, name, content):
        """Puts a section after all others, once the rva of the section, `self.end`, is known."""
        self.contents[name], self.size[name], self.rva[name] = bytearray(content), len(content), self.end
        if name not in self.order:
            self.order.append(name)
        self.end += align(max(len(content), 1), SECTION_ALIGNMENT)

    def place(self):
        self.end = SECTION_ALIGNMENT
        for name in self.order:
            self.rva[name] = self.end
            self.end += align(max(self.size[name], 1), SECTION_ALIGNMENT)
        if self.imported:
            tables.make_imports(self)
        for number, each in enumerate(self.objects):
            for symbol in each.symbols:
                if symbol.name and symbol.binding != LOCAL and (number, symbol.section) in self.places:
                    self.globals[symbol.name] = self.address_in(number, symbol.section) + symbol.value
        for name, offset in self.stubs.items():
            self.globals[name] = self.rva[".text"] + offset
        for name, offset in self.arrays.items():
            self.globals[name] = self.rva[".data"] + offset
        for name, slot in self.slots.items():
            self.globals["__imp_" + name] = slot
        self.globals["__ImageBase"] = 0
        if self.tls:
            self.tls.place()
        if self.options.exports:
            tables.make_exports(self)
        if self.options.resource:
            tables.make_resources(self)

    def address_in(self, number, section):
        name, offset = self.places[number, section]
        return self.rva[name] + offset

    def target_of(self, number, relocation):
        symbol = self.objects[number].symbols[relocation.symbol]
        if symbol.section == ABSOLUTE:
            raise ValueError(f"the absolute symbol {symbol.name}")
        if symbol.section != UNDEFINED and (symbol.binding == LOCAL or not symbol.name):
            return self.address_in(number, symbol.section) + symbol.value + relocation.addend
        if symbol.name not in self.globals and is_missing(symbol):
            return None
        if symbol.name not in self.globals:
            raise ValueError(f"{symbol.name} is not defined")
        return self.globals[symbol.name] + relocation.addend

    def form_high(self, content, offset, place, address):
        word = struct.unpack_from("<I", content, offset)[0] & 0xFFFF0000
        struct.pack_into("<I", content, offset, word | (address + 0x8000) >> 16 & 0xFFFF)
        self.base_relocations.append((place, HIGH, None) if self.options.high else (place, HIGHADJ, address & 0xFFFF))

    def put_addresses(self, name, offset, places):
        """Words with addresses, which have base relocations."""
        for i, place in enumerate(places):
            struct.pack_into("<I", self.contents[name], offset + 4 * i, place + self.options.base)
            self.base_relocations.append((self.rva[name] + offset + 4 * i, HIGHLOW, None))

    def relocate(self):
        if self.tls:
            self.tls.write()
        for number, each in enumerate(self.objects):
            for relocation in each.relocations:
                if (number, relocation.section) in self.places:
                    self.apply(number, relocation)
        for name, offset in self.stubs.items():
            text, slot = self.contents[".text"], self.slots[name] + self.options.base
            load = 0xA77B0000 if self.options.wide else 0xA37B0000  # ldq, ldl
            struct.pack_into("<3I", text, offset, 0x277F0000, load | slot & 0xFFFF, 0x6BFB0000)
            self.form_high(text, offset, self.rva[".text"] + offset, slot)

    def apply(self, number, relocation):
        kind = relocation.kind
        if kind in (NONE, HINT):
            return
        name, start = self.places[number, relocation.section]
        content, offset = self.contents[name], start + relocation.offset
        place, target = self.rva[name] + offset, self.target_of(number, relocation)
        if target is None:  # everything is 0, and no loader changes it
            return
        address = target + self.options.base
        word = struct.unpack_from("<I", content, offset)[0]
        if kind in (REFLONG, REFQUAD) and self.options.relative_delays and self.is_delay_table(number, relocation):
            struct.pack_into("<I", content, offset, target)
        elif kind in (REFLONG, REFQUAD):
            struct.pack_into("<I" if kind == REFLONG else "<Q", content, offset, address)
            self.base_relocations.append((place, DIR64 if self.options.wide and kind == REFQUAD else HIGHLOW, None))
        elif kind == GPRELHIGH:
            self.form_high(content, offset, place, address)
        elif kind == GPRELLOW:
            struct.pack_into("<I", content, offset, word & 0xFFFF0000 | address & 0xFFFF)
        elif kind in (TPRELHI, TPRELLO):
            distance = target - self.rva[".tls"]
            field = distance + 0x8000 >> 16 if kind == TPRELHI else distance
            struct.pack_into("<I", content, offset, word & 0xFFFF0000 | field & 0xFFFF)
        elif kind in (BRADDR, BRSGP):
            struct.pack_into("<I", content, offset, word & 0xFFE00000 | (target - place - 4) >> 2 & 0x1FFFFF)
        else:
            raise ValueError(f"relocation type {kind}")

    def is_delay_table(self, number, relocation):
        return self.objects[number].sections[relocation.section].name == tables.DELAY_TABLE

    def sort_function_table(self):
        """Unwinders search the table by halves."""
        table, start, size = self.contents[".pdata"], self.rva[".pdata"], 40 if self.options.wide else 20
        entries = [bytes(table[i : i + size]) for i in range(0, len(table), size)]
        order = sorted(range(len(entries)), key=lambda i: struct.unpack_from("<I", entries[i])[0])
        table[:] = b"".join(entries[i] for i in order)
        moved = {old: new for new, old in enumerate(order)}
        for index, (place, kind, parameter) in enumerate(self.base_relocations):
            if start <= place < start + len(table):
                entry, field = divmod(place - start, size)
                self.base_relocations[index] = (start + moved[entry] * size + field, kind, parameter)

    def make_base_relocations(self):
        pages = collections.defaultdict(bytearray)
        for place, kind, parameter in sorted(self.base_relocations, key=lambda r: r[0]):
            page = pages[place & ~0xFFF]
            page += struct.pack("<H", kind << 12 | place & 0xFFF)
            if parameter is not None:
                page += struct.pack("<H", parameter)
        content = bytearray()
        for page, entries in pages.items():
            entries += bytes(-len(entries) % 4)
            content += struct.pack("<II", page, 8 + len(entries)) + entries
        self.directories[5] = (self.end, len(content))
        self.add_section(".reloc", content)

    def coff_symbols(self):
        """Symbols of procedures, in order of addresses, and their names."""
        found = []
        for number, each in enumerate(self.objects):
            for symbol in each.symbols:
                if symbol.kind == PROCEDURE and (number, symbol.section) in self.places:
                    name, offset = self.places[number, symbol.section]
                    found.append((offset + symbol.value, symbol.name, symbol.binding))
        table, names = bytearray(), bytearray(4)
        for value, text, binding in sorted(found):
            encoded = text.encode()
            if len(encoded) > 8:
                field = struct.pack("<II", 0, len(names))
                names += encoded + b"\0"
            else:
                field = encoded.ljust(8, b"\0")
            table += field + struct.pack("<IhHBB", value, 1, 0x20, 3 if binding == LOCAL else 2, 0)
        struct.pack_into("<I", names, 0, len(names))
        return len(table) // 18, bytes(table + names)

    def write(self):
        options = self.options
        bound = tables.bound_imports(self)
        optional_size = 240 if options.wide else 224
        headers_end = options.stub + 24 + optional_size + 40 * len(self.order)
        headers_size = align(headers_end + len(bound), FILE_ALIGNMENT)
        section_headers, body = bytearray(), bytearray()
        self.offsets = {}  # of sections, in the body
        for name in self.order:
            self.offsets[name] = len(body)
            raw = bytes(self.contents[name]) + bytes(-len(self.contents[name]) % FILE_ALIGNMENT)
            section_headers += struct.pack(
                "<8sIIIIIIHHI", name.encode(), self.size[name], self.rva[name], len(raw),
                headers_size + len(body) if raw else 0, 0, 0, 0, 0, CHARACTERISTICS[name],
            )
            body += raw
        if bound:
            self.directories[11] = (headers_end, len(bound))
        count, symbols = self.coff_symbols() if options.symbols else (0, b"")
        self.directories[3] = (self.rva[".pdata"], self.size[".pdata"])
        delayed = self.globals.get("__delay_descriptors")
        if delayed is not None:
            self.directories[13] = (delayed, 32 * 2)
        trailing = tables.trailing(self, headers_size, body, symbols)
        header = bytearray(options.stub)
        header[:2] = b"MZ"
        struct.pack_into("<I", header, 0x3C, options.stub)
        characteristics = (0x2E if options.wide else 0x10E) & ~(8 if symbols else 0) | (0x2000 if options.dll_name else 0) | (0 if options.base_relocations else 1)
        header += b"PE\0\0" + struct.pack(
            "<HHIIIHH", 0x284 if options.wide else 0x184, len(self.order), 0x35000000, headers_size + len(body) if symbols else 0, count,
            optional_size, characteristics,
        )
        header += struct.pack(
            "<HBBIIIII", 0x20B if options.wide else 0x10B, 3, 10, align(self.size[".text"], FILE_ALIGNMENT), 0, 0,
            self.globals.get(options.entry, 0), self.rva[".text"],
        )
        header += struct.pack("<Q", options.base) if options.wide else struct.pack("<II", self.rva[".data"], options.base)
        header += struct.pack(
            "<IIHHHHHHIIIIHH" + ("QQQQII" if options.wide else "IIIIII"), SECTION_ALIGNMENT, FILE_ALIGNMENT, 4, 0, 0, 0, 4, 0, 0, self.end,
            headers_size, 0, 3, 0, 0x100000, 0x2000, 0x100000, 0x2000, 0, 16,
        )
        for directory in self.directories:
            header += struct.pack("<II", *directory)
        header += section_headers + bound
        image = bytearray(header + bytes(headers_size - len(header)) + body + symbols + trailing)
        struct.pack_into("<I", image, options.stub + 24 + 64, checksum(image))
        return bytes(image)

    def link(self):
        self.collect()
        self.place()
        self.relocate()
        self.sort_function_table()
        if self.options.base_relocations:
            self.make_base_relocations()
        return self.write()


def checksum(image):
    """ImageHlp's sum of the file, whose own field counts as 0: 16-bit words with end-around carry, plus the size."""
    data = bytes(image) + bytes(len(image) % 2)
    total = 0
    for (word,) in struct.iter_unpack("<H", data):
        total += word
        total = (total & 0xFFFF) + (total >> 16)
    return (total & 0xFFFF) + len(image)


def link(objects, options):
    """The bytes of the image."""
    return Linker(objects, options).link()
