// Tables of imports. A descriptor for each library has the places of a table of names and of a
// table of slots, each ending in a zero. A loader fills the slots with addresses of the functions.
// A name whose highest bit is set is a number.
//
//   descriptor: names at 0x8050, 0, 0, "crtdll.dll" at 0x8090, slots at 0x8070
//   names: 0x8080 (two bytes, "printf"), 0x80000007, 0
//
// Delayed imports also have such tables of names.
//
// Source: PE/COFF specification of 1998, sections 5.8 and 6.4.

#include "optimizer/image/pe/import_tables.h"

#include <algorithm>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"

namespace respike::pe {
namespace {

constexpr uint32_t kLongestName = 4096;

}  // namespace

LoadedFile::LoadedFile(std::span<const uint8_t> file, const std::string& name)
    : headers(read_headers(file, name)), file_(file), name_(name), budget_(file.size()) {}

void LoadedFile::spend(uint64_t amount, const char* what) {
  if (amount > budget_) fail(what);
  budget_ -= amount;
}

void LoadedFile::fail(const char* what) const {
  throw Error(fmt::format("{} are damaged", what), name_);
}

uint64_t LoadedFile::offset(uint64_t place, uint64_t size, const char* what) const {
  for (const SectionHeader& section : headers.sections)
    if (place >= section.place && place - section.place < section.loaded_size()) {
      if (size > section.loaded_size() - (place - section.place)) fail(what);
      return section.offset + (place - section.place);
    }
  fail(what);
}

uint32_t LoadedFile::word(uint64_t place, const char* what) const {
  return load<uint32_t>(&file_[offset(place, 4, what)]);
}

uint64_t LoadedFile::address(uint64_t place, const char* what) const {
  return headers.wide ? load<uint64_t>(&file_[offset(place, 8, what)]) : word(place, what);
}

std::string_view LoadedFile::text(uint64_t place, const char* what) {
  const auto rest = file_.subspan(offset(place, 1, what));
  const auto part = rest.first(std::min<size_t>(rest.size(), kLongestName));
  const auto end = std::ranges::find(part, 0);
  if (end == part.end()) fail(what);
  const auto size = static_cast<size_t>(end - part.begin());
  spend(size, what);
  return {reinterpret_cast<const char*>(part.data()), size};
}

std::vector<ImportDescriptor> import_descriptors(const LoadedFile& file) {
  std::vector<ImportDescriptor> found;
  const DataDirectory& directory = file.headers.directories[kImports];
  if (!directory.present()) return found;
  for (uint64_t at = directory.place;; at += ImportDescriptor::kSize) {
    ImportDescriptor descriptor;
    for (size_t i = 0; i < ImportDescriptor::kFieldCount; ++i)
      descriptor.fields[i] = file.word(at + 4 * i, kImportsOf);
    if (descriptor.fields[ImportDescriptor::kLibraryName] == 0 ||
        descriptor.fields[ImportDescriptor::kSlots] == 0)
      return found;
    found.push_back(descriptor);
  }
}

void for_each_import(
    LoadedFile& file, uint64_t names, const char* what,
    const std::function<void(uint64_t index, bool by_number, uint64_t name)>& visit) {
  const uint64_t size = file.address_size(), number = uint64_t{1} << (8 * size - 1);
  for (uint64_t i = 0;; ++i) {
    const uint64_t name = file.address(names + i * size, what);
    if (name == 0) return;
    file.spend(1, what);
    visit(i, (name & number) != 0, name & ~number);
  }
}

}  // namespace respike::pe
