// Look-ups in an image that need no container.
//
// Addresses are looked up in two ways. section_at answers from an index of the allocated sections
// sorted by address. A TLS template without contents (.tbss) is not in the index: the sections
// after it have its addresses, since a thread's copy is made elsewhere. bytes_at and offset_of ask
// the loaded segments, because a running program sees segments: headers and padding between
// sections also have addresses. An image has a handful of loaded segments, so these are searched
// one by one.

#include "optimizer/image/image.h"

#include <algorithm>
#include <map>

#include "optimizer/image/debug_file.h"

namespace respike {

void Image::index_sections() {
  by_address_.clear();
  for (uint32_t i = 1; i < sections.size(); ++i) {
    const Section& section = sections[i];
    if (section.allocated() && section.size != 0 && !section.is_template_only())
      by_address_.push_back(i);
  }
  std::stable_sort(by_address_.begin(), by_address_.end(), [&](uint32_t a, uint32_t b) {
    return sections[a].address < sections[b].address;
  });
}

const Section* Image::section_at(uint64_t address) const {
  const auto after =
      std::upper_bound(by_address_.begin(), by_address_.end(), address,
                       [&](uint64_t a, uint32_t index) { return a < sections[index].address; });
  if (after == by_address_.begin()) return nullptr;
  const Section& section = sections[*(after - 1)];
  return section.contains(address) ? &section : nullptr;
}

std::optional<uint64_t> Image::offset_of(uint64_t address) const {
  for (const Segment& segment : segments)
    if (segment.loaded() && address >= segment.address &&
        address - segment.address < segment.file_size)
      return segment.offset + (address - segment.address);
  return std::nullopt;
}

std::optional<std::span<const uint8_t>> Image::bytes_at(uint64_t address, uint64_t size) const {
  for (const Segment& segment : segments) {
    if (!segment.loaded() || address < segment.address) continue;
    const uint64_t start = address - segment.address;
    if (start > segment.file_size || size > segment.file_size - start) continue;
    return file.subspan(segment.offset + start, size);
  }
  return std::nullopt;
}

const Section* Image::section_named(std::string_view name) const {
  for (const Section& section : sections)
    if (section.name == name) return &section;
  return nullptr;
}

std::vector<uint32_t> match_sections(const Image& from, const Image& to) {
  std::multimap<std::string_view, uint32_t> named;  // equal names stay in order
  for (uint32_t i = 1; i < to.sections.size(); ++i)
    if (to.sections[i].allocated()) named.emplace(to.sections[i].name, i);
  std::vector<uint32_t> partners(from.sections.size());
  for (uint32_t i = 1; i < from.sections.size(); ++i) {
    if (!from.sections[i].allocated()) continue;
    const auto partner = named.find(from.sections[i].name);
    if (partner == named.end()) continue;
    partners[i] = partner->second;
    named.erase(partner);
  }
  return partners;
}

}  // namespace respike
