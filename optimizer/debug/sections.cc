// Finds the debug sections of an image by name, and decompresses them. Only sections that are not
// loaded count. Example: .debug_info of 9 MB that the linker compressed to 3 MB is read as 9 MB,
// and packed() compresses the new contents again.

#include "optimizer/debug/sections.h"

#include <algorithm>

namespace respike::debug {

Sections::Sections(const Image& image) : image_(image) {
  for (uint32_t i = 1; i < image.sections.size(); ++i) {
    const Section& section = image.sections[i];
    if (section.allocated()) continue;
    const auto name = std::ranges::find(kPartNames, section.name);
    if (name == kPartNames.end()) continue;
    const auto part = static_cast<size_t>(name - kPartNames.begin());
    if (section_[part]) throw Error("there are two sections " + section.name);
    section_[part] = i;
    contents_[part] = unpacked_contents(image, section, storage_[part]);
  }
}

std::vector<uint8_t> Sections::packed(Part part, std::vector<uint8_t> contents) const {
  return packed_contents(image_, image_.sections[*section_[index(part)]], std::move(contents));
}

}  // namespace respike::debug
