#pragma once
// Notes: contents with a type, by an owner. The form is ELF's; Respike's own notes have it in any
// container.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace respike {

/// The contents of the first note of `type` by `owner` in a note section with `alignment`; nullopt
/// when there is none or the notes are damaged before it.
std::optional<std::span<const uint8_t>> find_note(std::span<const uint8_t> notes,
                                                  uint64_t alignment, std::string_view owner,
                                                  uint32_t type);

/// A note section that holds one note, with alignment 4.
std::vector<uint8_t> make_note(std::string_view owner, uint32_t type,
                               std::span<const uint8_t> contents);

}  // namespace respike
