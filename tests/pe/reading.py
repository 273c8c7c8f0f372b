"""The parts of images that tests check: read by the specification, without code of Respike.

Above all it reads base relocations, since no other available reader understands HIGHADJ, which takes two words."""

import collections
import dataclasses
import struct

HIGH, HIGHLOW, HIGHADJ = 1, 3, 4
EXPORTS, IMPORTS, RESOURCES, CERTIFICATES, RELOCATIONS, DEBUG, THREADS, BOUND, DELAYED = 0, 1, 2, 4, 5, 6, 9, 11, 13


@dataclasses.dataclass
class Export:
    place: int  # relative to the base; 0 for forwarders
    forwarder: str
    names: tuple


class ImageFile:
    def __init__(self, path):
        self.data = data = path.read_bytes()
        coff = struct.unpack_from("<I", data, 0x3C)[0] + 4
        _, count, self.date, self.symbols, _, size, self.characteristics = struct.unpack_from("<HHIIIHH", data, coff)
        optional = coff + 20
        self.base = struct.unpack_from("<I", data, optional + 28)[0]
        self.entry = struct.unpack_from("<I", data, optional + 16)[0]
        self.memory_size, self.headers_size = struct.unpack_from("<II", data, optional + 56)
        self.checksum_at = optional + 64
        self.directories = [struct.unpack_from("<II", data, optional + 96 + 8 * i) for i in range(16)]
        self.sections = []  # name, place, size, offset, size in the file, flags
        for i in range(count):
            fields = struct.unpack_from("<8sIIIIIIHHI", data, optional + size + 40 * i)
            self.sections.append((fields[0].rstrip(b"\0").decode(), fields[2], fields[1], fields[4], fields[3], fields[9]))

    def at(self, place, size):
        for _, start, memory, offset, raw, _ in self.sections:
            if start <= place and place + size <= start + max(raw, memory):
                found = self.data[offset + place - start : offset + min(place - start + size, raw)]
                return found.ljust(size, b"\0")
        raise ValueError(f"{place:#x} is not in the file")

    def word(self, place):
        return struct.unpack("<I", self.at(place, 4))[0]

    def text(self, place):
        end = place
        while self.at(end, 1) != b"\0":
            end += 1
        return self.at(place, end - place).decode()

    def is_code(self, place):
        return any(p <= place < p + max(m, 1) and f & 0x20 for _, p, m, _, _, f in self.sections)

    def names_or_numbers(self, place):
        found = []
        while word := self.word(place):
            found.append(word & 0xFFFF if word >> 31 else self.text(word + 2))
            place += 4
        return found

    def imports(self):
        """[(library, names or numbers, place of the slots)]"""
        place, size = self.directories[IMPORTS]
        found = []
        while size and self.word(place + 12):
            names, _, _, library, slots = struct.unpack("<5I", self.at(place, 20))
            found.append((self.text(library), self.names_or_numbers(names), slots))
            place += 20
        return found

    def delayed(self):
        place, size = self.directories[DELAYED]
        found = []
        while size and self.word(place + 4):
            fields = struct.unpack("<8I", self.at(place, 32))
            base = 0 if fields[0] & 1 else self.base
            names = self.word(fields[4] - base)
            entries = []
            at = fields[4] - base
            while names := self.word(at):
                entries.append(names & 0xFFFF if names >> 31 else self.text(names - base + 2))
                at += 4
            slots = [self.word(fields[3] - base + 4 * i) for i in range(len(entries))]
            found.append((self.text(fields[1] - base), entries, fields[3] - base, slots))
            place += 32
        return found

    def exports(self):
        """By number."""
        place, size = self.directories[EXPORTS]
        if not size:
            return {}
        header = struct.unpack("<IIHHIIIIIII", self.at(place, 40))
        base, functions, names, functions_at, names_at, numbers_at = header[5:]
        by_index = collections.defaultdict(list)
        for i in range(names):
            by_index[struct.unpack("<H", self.at(numbers_at + 2 * i, 2))[0]].append(self.text(self.word(names_at + 4 * i)))
        found = {}
        for i in range(functions):
            target = self.word(functions_at + 4 * i)
            if target:
                forwarder = self.text(target) if place <= target < place + size else ""
                found[base + i] = Export(0 if forwarder else target, forwarder, tuple(by_index[i]))
        return found

    def thread_data(self):
        """Template, place of the number, functions, zeros; None: there is no thread-local data."""
        place, size = self.directories[THREADS]
        if not size:
            return None
        start, end, number, functions, zeros, _ = struct.unpack("<6I", self.at(place, 24))
        found = []
        while functions and (word := self.word(functions - self.base)):
            found.append(word - self.base)
            functions += 4
        return self.at(start - self.base, end - start), number - self.base, found, zeros

    def base_relocations(self):
        """(place, kind, the second word of HIGHADJ), in file order."""
        place, size = self.directories[RELOCATIONS]
        table, found, at = self.at(place, size), [], 0
        while at < size:
            page, length = struct.unpack_from("<II", table, at)
            if page % 0x1000 or length < 8 or length % 4:
                raise ValueError(f"the block of {page:#x} has {length} bytes")
            words = iter(struct.unpack_from(f"<{(length - 8) // 2}H", table, at + 8))
            for word in words:
                if word >> 12:
                    found.append((page | word & 0xFFF, word >> 12, next(words) if word >> 12 == HIGHADJ else None))
            at += length
        return found

    def high_addresses(self):
        """The addresses that HIGHADJ names: {place of the ldah: address}."""
        found = {}
        for place, kind, low in self.base_relocations():
            if kind == HIGHADJ:
                word = self.word(place)
                if word >> 26 != 9:
                    raise ValueError(f"HIGHADJ at {place:#x} is at no ldah")
                found[place] = (word << 16) + (low ^ 0x8000) - 0x8000 & 0xFFFFFFFF
        return found
