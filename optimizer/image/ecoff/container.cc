// ECOFF as a container: its functions for ../container.h, and which images are refused.

#include "optimizer/image/container.h"

#include <algorithm>

#include <fmt/format.h>

#include "optimizer/image/debug_file.h"
#include "optimizer/image/dynamic_tables.h"
#include "optimizer/image/ecoff/ecoff.h"
#include "optimizer/image/ecoff/headers.h"
#include "optimizer/image/ecoff/relocations.h"

namespace respike {
namespace ecoff {
namespace {

[[noreturn]] void refuse(const Image& image, const std::string& reason) {
  throw Error(reason, image.path);
}

void require_room_for_initializer(const Image& image) {
  refuse(image, "a program in ECOFF has no initializer");
}

std::span<const uint8_t> unpack(const Section& section, std::vector<uint8_t>&) {
  return section.contents;
}

std::vector<uint8_t> pack(const Section&, std::vector<uint8_t> contents) {
  return contents;
}

std::vector<uint8_t> write_debug_file(const Image& debug, const NewDebugFile&, const Image&) {
  refuse(debug, "ECOFF images have no debug files that Respike can rewrite");
}

}  // namespace

void require_rewritable(const Image& image) {
  const Headers headers = read_headers(image.file, image.path);
  for (const SectionHeader& section : headers.sections)
    if (section.loaded() && (section.is(kUnwindData) || section.is(kProcedureTable)))
      refuse(image,
             fmt::format("it describes its frames in {}, which Respike does not read: its code has "
                         "to stay where it is",
                         section.name));
  if (headers.data_start <= headers.text_start) refuse(image, "its data lies in front of its code");
  // Added code goes after the text, and must not get between sections.
  for (const SectionHeader& section : headers.sections)
    if (section.loaded() && section.address < headers.data_start
            ? section.address < headers.text_start || section.end() > headers.data_start
            : section.loaded() && section.code())
      refuse(image,
             fmt::format("its section {} lies neither in its text nor in its data", section.name));
  bool code_has_relocations = false;
  for (const RelocationTable& table : image.relocations) {
    const bool code = image.sections[table.target].executable();
    code_has_relocations |= code && !table.relocations.empty();
    const auto unknown =
        std::ranges::find(table.relocations, RelocationRole::unsupported, &Relocation::role);
    if (!code && unknown != table.relocations.end())
      refuse(image, fmt::format("the word at {:#x} has a relocation of type {}, which is not "
                                "understood",
                                unknown->address, unknown->raw & 0xff));
  }
  if (!code_has_relocations)
    refuse(image,
           "the image has no relocations in its section headers, and the compact ones of Tru64's "
           "linker are not read: docs/building-inputs.md says how to make such images");
}

}  // namespace ecoff

constinit const Container ecoff::container = {
    .name = "ECOFF",
    .magic = "\x83\x01",
    .read = read,
    .require_rewritable = require_rewritable,
    .require_room_for_initializer = require_room_for_initializer,
    .plan_added_segment = plan_added_segment,
    .write = write,
    .relocation_number = [](MachineId, RelocationRole role) -> uint16_t { return type_of(role); },
    .loader_rules = [] { return std::span<const ImageRule>(); },
    .unpack = unpack,
    .pack = pack,
    .write_debug_file = write_debug_file,
    .grow_dynamic_tables = [](const Image&, std::vector<Symbol>&,
                              uint64_t) { return std::vector<NewImage::MovedSection>(); },
};

}  // namespace respike
