"""Reads relocatable ELF objects for Alpha, as far as the linker of images for Windows NT needs them."""

import dataclasses
import struct

PROGBITS, SYMTAB, RELA, NOBITS = 1, 2, 4, 8
WRITE, ALLOC, EXECUTE = 1, 2, 4
UNDEFINED, ABSOLUTE = 0, 0xFFF1
LOCAL, WEAK = 0, 2


@dataclasses.dataclass
class Section:
    name: str
    kind: int
    flags: int
    size: int
    alignment: int
    data: bytes


@dataclasses.dataclass
class Symbol:
    name: str
    binding: int
    kind: int
    section: int
    value: int
    size: int


@dataclasses.dataclass
class Relocation:
    section: int  # to which it applies
    offset: int
    kind: int
    symbol: int
    addend: int


def text_at(table, offset):
    return table[offset : table.index(b"\0", offset)].decode()


class Object:
    def __init__(self, path):
        data = path.read_bytes()
        if data[:4] != b"\x7fELF" or struct.unpack_from("<H", data, 18)[0] != 0x9026:
            raise ValueError(f"{path} is no object for Alpha")
        offset = struct.unpack_from("<Q", data, 40)[0]
        size, count, names = struct.unpack_from("<HHH", data, 58)
        headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
        contents = [b"" if h[1] == NOBITS else data[h[4] : h[4] + h[5]] for h in headers]
        self.path = path
        self.sections = [
            Section(text_at(contents[names], h[0]), h[1], h[2], h[5], max(h[8], 1), c)
            for h, c in zip(headers, contents)
        ]
        self.symbols, self.relocations = [], []
        for header, content in zip(headers, contents):
            if header[1] == SYMTAB:
                for name, info, _, section, value, length in struct.iter_unpack("<IBBHQQ", content):
                    text = text_at(contents[header[6]], name)
                    self.symbols.append(Symbol(text, info >> 4, info & 15, section, value, length))
        for header, content in zip(headers, contents):
            if header[1] == RELA:
                for at, info, addend in struct.iter_unpack("<QQq", content):
                    self.relocations.append(
                        Relocation(header[7], at, info & 0xFFFFFFFF, info >> 32, addend)
                    )
