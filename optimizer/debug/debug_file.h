#pragma once
// Which debug file belongs to an image, and how the image refers to the file.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "optimizer/image/image.h"

namespace respike {

/// Throws Error, saying why, unless `debug` is a debug file of `image`.
void require_debug_file(const Image& image, const Image& debug);

/// The section by which an image refers to its debug file.
inline constexpr std::string_view kDebugLink = ".gnu_debuglink";
/// Its contents for a file of that name; the file's checksum is still missing.
std::vector<uint8_t> debug_link(std::string_view name);
/// Puts the checksum of the debug file into the image, which is already written: the debug file
/// holds the image's build-id, so the image comes first.
void complete_debug_link(std::vector<uint8_t>& image, std::span<const uint8_t> debug);

}  // namespace respike
