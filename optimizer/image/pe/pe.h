#pragma once
// Shared by the files of this folder: the functions of the container, and numbers of the format.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "optimizer/image/container.h"
#include "optimizer/image/image.h"
#include "optimizer/image/imports.h"

namespace respike::pe {

/// Relocation::raw of relocations that .reloc does not hold: addresses in tables relative to the
/// image's base, which do not change when the image is loaded at another address.
inline constexpr uint16_t kNoBaseRelocation = 0xffff;

/// Symbol::raw: where a symbol comes from. 0: a new symbol, or a section's.
inline constexpr uint8_t kFromSymbolTable = 1, kFromExports = 2;

Image read(std::span<const uint8_t> bytes, const std::string& name);
void require_rewritable(const Image& image);
std::vector<std::pair<uint64_t, std::string_view>> import_slots(const Image& image);
NewImports add_imports(const Image& image, std::string_view library,
                       std::span<const std::string_view> functions, uint64_t address);
AddedSegment plan_added_segment(const Image& image, const AddedMemory& memory);
std::vector<uint8_t> write(const Image& input, const NewImage& output);

}  // namespace respike::pe
