#pragma once
// Makes inputs of check_debug from images.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "optimizer/base/bytes.h"
#include "optimizer/image/image.h"

namespace respike::debug_seeds {

/// Where programs of Debian's x86-64 compiler have their code, position-independent.
inline constexpr uint64_t kText = 0x1000, kSize = 0x1000;

inline constexpr std::array<std::string_view, 13> kNames = {
    ".debug_info",   ".debug_types",    ".debug_abbrev", ".debug_line",     ".debug_addr",
    ".debug_ranges", ".debug_rnglists", ".debug_loc",    ".debug_loclists", ".debug_aranges",
    ".debug_macro",  ".debug_frame",    ".debug_str"};

/// The debug sections of an image that hold addresses, or offsets of such sections.
inline std::vector<uint8_t> seed_of(const Image& image) {
  ByteWriter out;
  for (const Section& section : image.sections) {
    const auto name = std::ranges::find(kNames, section.name);
    if (name == kNames.end() || section.name == ".debug_str") continue;
    out.write(static_cast<uint8_t>(name - kNames.begin()));
    out.write(static_cast<uint32_t>(section.contents.size()));
    out.append(section.contents);
  }
  return std::move(out.bytes());
}

}  // namespace respike::debug_seeds
