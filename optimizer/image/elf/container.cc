// ELF as a container: its functions for ../container.h.

#include "optimizer/image/container.h"

#include <fmt/format.h>

#include <algorithm>

#include "optimizer/image/elf/elf.h"
#include "optimizer/image/elf/layout.h"
#include "optimizer/image/elf/loader_rules.h"
#include "optimizer/image/elf/relocation_roles.h"

namespace respike {

namespace {

/// The offset of the first nonzero byte that is not loaded and that no header or section describes;
/// nullopt: no such byte. Bytes after all headers and sections stay.
std::optional<uint64_t> undescribed_bytes(const Image& image) {
  const auto* header = reinterpret_cast<const elf::FileHeader*>(image.file.data());
  std::vector<std::pair<uint64_t, uint64_t>> described = {
      {0, image.loaded_end},
      {header->e_shoff, header->e_shoff + image.sections.size() * sizeof(elf::SectionHeader)},
      {image.file.size() - image.appended.size(), image.file.size()}};
  for (const Section& section : image.sections)
    if (!section.contents.empty())
      described.emplace_back(section.offset, section.offset + section.contents.size());
  std::ranges::sort(described);
  uint64_t at = 0;
  for (const auto& [start, end] : described) {
    for (; at < start; ++at)
      if (image.file[at] != 0) return at;
    at = std::max(at, end);
  }
  return std::nullopt;
}

}  // namespace

constinit const Container elf::container = {
    .name = "ELF",
    .magic = {llvm::ELF::ElfMagic, 4},
    .read = read,
    .require_rewritable = require_rewritable,
    .require_room_for_initializer = require_room_for_initializer,
    .plan_added_segment =
        [](const Image& image, const AddedMemory& memory) {
          AddedSegment where = plan_segment(image, memory).where;
          if (const auto offset = undescribed_bytes(image))
            where.losses.push_back(fmt::format(
                "what lies at offset {:#x} of the file, which no header describes, is left out",
                *offset));
          return where;
        },
    .write = write,
    .relocation_number = relocation_number,
    .loader_rules = loader_rules,
    .unpack = unpack,
    .pack = pack,
    .write_debug_file = write_debug_file,
    .grow_dynamic_tables = grow_dynamic_tables,
};

}  // namespace respike
