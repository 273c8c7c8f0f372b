// PE as a container: its functions for ../container.h, and which images are refused.

#include "optimizer/image/container.h"

#include <fmt/format.h>

#include "optimizer/image/debug_file.h"
#include "optimizer/image/dynamic_tables.h"
#include "optimizer/image/pe/base_relocations.h"
#include "optimizer/image/pe/bound_imports.h"
#include "optimizer/image/pe/headers.h"
#include "optimizer/image/pe/pe.h"
#include "optimizer/image/pe/section_names.h"

namespace respike {
namespace pe {
namespace {

constexpr uint16_t kNative = 1;  // subsystem
constexpr uint32_t kInstruction = 4, kLeastSectionAlignment = 0x1000;

[[noreturn]] void refuse(const Image& image, const std::string& reason) {
  throw Error(reason, image.path);
}

/// The start code replaces DllMain as the entry.
void require_room_for_initializer(const Image&) {}

uint16_t relocation_number(MachineId, RelocationRole role) {
  switch (role) {
    case RelocationRole::address32:
      return kHighLow;
    case RelocationRole::address64:
      return kAddress64;
    default:
      return 0;
  }
}

std::span<const uint8_t> unpack(const Section& section, std::vector<uint8_t>&) {
  return section.contents;
}

std::vector<uint8_t> pack(const Section&, std::vector<uint8_t> contents) {
  return contents;
}

std::vector<uint8_t> write_debug_file(const Image& debug, const NewDebugFile&, const Image&) {
  refuse(debug, "PE images have no debug files that Respike can rewrite");
}

/// Halves of addresses are understood only in instructions: elsewhere the other half is unknown.
void require_halves_in_code(const Image& image) {
  for (const RelocationTable& table : image.relocations) {
    if (image.sections[table.target].executable()) continue;
    for (const Relocation& relocation : table.relocations)
      if (relocation.role == RelocationRole::address_high)
        refuse(image, fmt::format("it holds half of an address outside of code, at {:#x}",
                                  relocation.address));
  }
}

/// A section that is written anew holds a table and nothing else: zeros follow the table, and no
/// other directory leads into the section.
void require_table_alone(const Image& image, const Headers& headers, size_t directory,
                         const char* table) {
  const SectionHeader& section = *headers.section_of(directory);
  const DataDirectory& own = headers.directories[directory];
  bool alone = own.size <= section.loaded_size();
  for (uint64_t at = own.size; alone && at < section.loaded_size(); ++at)
    alone = section.offset + at < image.file.size() && image.file[section.offset + at] == 0;
  for (size_t i = 0; i < kDirectoryCount; ++i) {
    const DataDirectory& other = headers.directories[i];
    if (i != directory && i != kCertificates && other.present() && other.place >= section.place &&
        other.place < section.end())
      alone = false;
  }
  if (!alone) refuse(image, fmt::format("its {} a section with other data", table));
}

void require_function_table(const Image& image, const Headers& headers) {
  const DataDirectory& table = headers.directories[kExceptions];
  const SectionHeader* functions = table.present() ? headers.section_of(kExceptions) : nullptr;
  for (const SectionHeader& section : headers.sections)
    if (section.name == kFunctionTable && &section != functions && section.loaded_size() != 0)
      refuse(image, "it has a section .pdata that is not its function table");
  if (!table.present()) return;
  if (functions == nullptr || functions->name != kFunctionTable ||
      functions->size != functions->loaded_size())
    refuse(image, "its function table shares a section with other data");
  require_table_alone(image, headers, kExceptions, "function table shares");
  if ((functions->characteristics & (kCode | kExecute)) != 0)
    refuse(image, "its function table lies in a section of code");
}

}  // namespace

void require_rewritable(const Image& image) {
  const Headers headers = read_headers(image.file, image.path);
  if (headers.machine != MachineId::alpha)
    refuse(image, "it is for Windows on Itanium, whose images cannot be rewritten yet");
  if (headers.directories[kManagedCode].present())
    refuse(image, "it holds managed code (.NET), not code of its machine");
  if (headers.entry % kInstruction != 0) refuse(image, "its entry is at no instruction");
  if (headers.subsystem == kNative)
    refuse(image, "it is a driver or another part of the system, which Respike leaves alone");
  const SectionHeader* relocations = headers.section_of(kBaseRelocations);
  if ((headers.characteristics & kRelocationsStripped) != 0 ||
      !headers.directories[kBaseRelocations].present())
    refuse(image, "the image has no base relocations: link it with /FIXED:NO");
  if (relocations == nullptr) refuse(image, "its base relocations share a section with other data");
  require_table_alone(image, headers, kBaseRelocations, "base relocations share");
  if ((relocations->characteristics & (kCode | kExecute)) != 0)
    refuse(image, "its base relocations lie in a section of code");
  if (headers.directories[kArchitecture].present())
    refuse(
        image,
        "it lists instructions that the system may change when it loads the image (directory 7)");
  if (headers.section_alignment < kLeastSectionAlignment)
    refuse(image, "its sections share pages: link it with /ALIGN:4096 or more");
  require_halves_in_code(image);
  require_function_table(image, headers);
}

std::shared_ptr<const std::vector<uint8_t>> unbound(const Image& image) {
  auto file = std::make_shared<std::vector<uint8_t>>(image.file.begin(), image.file.end());
  return unbind_imports(*file, read_headers(image.file, image.path)) ? file : nullptr;
}

}  // namespace pe

constinit const Container pe::container = {
    .name = "PE",
    .magic = "MZ",
    .read = read,
    .require_rewritable = require_rewritable,
    .require_room_for_initializer = require_room_for_initializer,
    .plan_added_segment = plan_added_segment,
    .write = write,
    .relocation_number = relocation_number,
    .loader_rules = [] { return std::span<const ImageRule>(); },
    .unpack = unpack,
    .pack = pack,
    .write_debug_file = write_debug_file,
    .grow_dynamic_tables = [](const Image&, std::vector<Symbol>&,
                              uint64_t) { return std::vector<NewImage::MovedSection>(); },
    .import_slots = import_slots,
    .add_imports = add_imports,
    .unbound = unbound,
};

}  // namespace respike
