#pragma once
// Shared by the files of this folder: the functions of the container.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "optimizer/image/container.h"
#include "optimizer/image/image.h"

namespace respike::ecoff {

/// Symbol::raw of a symbol of the file has this bit and its type; Symbol::visibility has its
/// storage class and, from bit 5 on, its flags.
inline constexpr uint8_t kFromFile = 0x40;
inline constexpr unsigned kFlagsShift = 5, kFlagsMask = 7;

Image read(std::span<const uint8_t> bytes, const std::string& name);
void require_rewritable(const Image& image);
AddedSegment plan_added_segment(const Image& image, const AddedMemory& memory);
std::vector<uint8_t> write(const Image& input, const NewImage& output);

}  // namespace respike::ecoff
