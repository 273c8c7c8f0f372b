// A note is three words of 32 bits (the size of the owner's name, the size of the contents, the
// type), the name with a zero byte, and the contents; name and contents start at multiples of the
// section's alignment. Source: System V ABI, chapter 5, Note Section.

#include "optimizer/image/note.h"

#include <algorithm>

#include "optimizer/base/bytes.h"

namespace respike {

std::optional<std::span<const uint8_t>> find_note(std::span<const uint8_t> notes,
                                                  uint64_t alignment, std::string_view owner,
                                                  uint32_t type) {
  const uint64_t unit = alignment == 8 ? 8 : 4;
  while (notes.size() >= 12) {
    const uint64_t name_size = load<uint32_t>(notes.data());
    const uint64_t size = load<uint32_t>(notes.data() + 4);
    const uint64_t start = align_up(12 + name_size, unit);
    if (start > notes.size() || size > notes.size() - start) return std::nullopt;
    const std::string_view name{reinterpret_cast<const char*>(notes.data() + 12),
                                name_size != 0 ? name_size - 1 : 0};
    if (load<uint32_t>(notes.data() + 8) == type && name == owner)
      return notes.subspan(start, size);
    notes = notes.subspan(std::min<uint64_t>(align_up(start + size, unit), notes.size()));
  }
  return std::nullopt;
}

std::vector<uint8_t> make_note(std::string_view owner, uint32_t type,
                               std::span<const uint8_t> contents) {
  ByteWriter note;
  note.write(static_cast<uint32_t>(owner.size() + 1));
  note.write(static_cast<uint32_t>(contents.size()));
  note.write(type);
  note.c_string(owner);
  note.align(4);
  note.append(contents);
  note.align(4);
  return std::move(note.bytes());
}

}  // namespace respike
