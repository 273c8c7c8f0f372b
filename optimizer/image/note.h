#pragma once
// Notes: contents with a type and an owner. The form is ELF's; Respike's own notes have it in any
// container.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace respike {

/// The contents of the first note of `type` by `owner` in a note section with `alignment`; nullopt
/// when there is no such note or the notes before it are damaged.
std::optional<std::span<const uint8_t>> find_note(std::span<const uint8_t> notes,
                                                  uint64_t alignment, std::string_view owner,
                                                  uint32_t type);

/// A note section that holds one note, with alignment 4.
std::vector<uint8_t> make_note(std::string_view owner, uint32_t type,
                               std::span<const uint8_t> contents);

}  // namespace respike
