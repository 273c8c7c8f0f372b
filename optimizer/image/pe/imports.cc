// Functions of import tables, and how to add more. Descriptors and names may be anywhere, so an
// image gets more imports by a new list of descriptors: the old descriptors, whose tables stay
// where they are, and a new one.
//
// Example: with CreateFileA of KERNEL32.dll the new tables are
//
//   descriptor of crtdll.dll, as before | descriptor of KERNEL32.dll | zeros
//   slot of CreateFileA, 0 | name of CreateFileA, 0 | the texts
//
// Source: PE/COFF specification of 1998, section 6.4.

#include "optimizer/image/imports.h"

#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/image/pe/import_tables.h"
#include "optimizer/image/pe/pe.h"

namespace respike::pe {
namespace {

constexpr size_t kDescriptor = ImportDescriptor::kSize;

}  // namespace

std::vector<std::pair<uint64_t, std::string_view>> import_slots(const Image& image) {
  LoadedFile file(image.file, image.path);
  std::vector<std::pair<uint64_t, std::string_view>> result;
  for (const ImportDescriptor& descriptor : import_descriptors(file)) {
    const uint64_t slots = file.headers.base + descriptor.fields[ImportDescriptor::kSlots];
    for_each_import(
        file, descriptor.names(), kImportsOf, [&](uint64_t i, bool by_number, uint64_t name) {
          if (!by_number)
            result.emplace_back(slots + i * file.address_size(), file.text(name + 2, kImportsOf));
        });
  }
  std::ranges::sort(result);
  return result;
}

NewImports add_imports(const Image& image, std::string_view library,
                       std::span<const std::string_view> functions, uint64_t address) {
  const LoadedFile file(image.file, image.path);
  const auto place = static_cast<uint32_t>(address - file.headers.base);
  const size_t size = file.address_size();
  const std::vector<ImportDescriptor> descriptors = import_descriptors(file);
  const auto place_of_table = [&](size_t number) {  // 0: slots, 1: names
    const size_t start = align_up((descriptors.size() + 2) * kDescriptor, 8);
    return place + static_cast<uint32_t>(start + number * (functions.size() + 1) * size);
  };
  NewImports result;
  result.slot_size = static_cast<unsigned>(size);
  ByteWriter out, texts;
  for (ImportDescriptor descriptor : descriptors) {
    // Bound slots, which hold addresses, become names again; see writer.cc.
    auto& fields = descriptor.fields;
    if (fields[ImportDescriptor::kDate] != 0 && fields[ImportDescriptor::kNames] != 0)
      fields[ImportDescriptor::kDate] = fields[ImportDescriptor::kForwarders] = 0;
    for (const uint32_t field : fields) out.write(field);
  }
  const uint32_t first_text = place_of_table(2);
  std::vector<uint32_t> names;
  for (const std::string_view function : functions) {
    texts.align(2);
    names.push_back(first_text + static_cast<uint32_t>(texts.size()));
    texts.write(uint16_t{0});
    texts.c_string(function);
  }
  const auto library_name = first_text + static_cast<uint32_t>(texts.size());
  texts.c_string(library);
  for (const uint32_t field : {place_of_table(1), 0u, 0u, library_name, place_of_table(0)})
    out.write(field);
  for (size_t i = 0; i < kDescriptor; ++i) out.write(uint8_t{0});
  out.align(8);
  for (int table = 0; table < 2; ++table) {
    for (size_t i = 0; i <= functions.size(); ++i) {
      if (table == 0 && i < functions.size()) result.slots.push_back(address + out.size());
      const uint32_t name = i < functions.size() ? names[i] : 0;
      if (size == 8)
        out.write(uint64_t{name});
      else
        out.write(name);
    }
  }
  out.append(texts.bytes());
  result.contents = std::move(out.bytes());
  return result;
}

}  // namespace respike::pe
