// Reads how an image is bound to others, and renames the libraries of its imports.
//
// An import descriptor names a library and leads to two arrays: names (or numbers) of functions,
// and slots, which the loader fills with addresses. Code finds slots by their addresses, so slots
// stay. New names of libraries may be longer than the old ones. So the new names go into a new
// section together with a copy of all descriptors, and the data directory then leads to this copy.
// Descriptors of delayed imports stay, since code refers to them: only the place of the name in
// them changes.
//
// Example: user.exe imports from counting.dll, and another file is to be loaded instead:
//
//   {names, 0, 0, "counting.dll", slots} -> {names, 0, 0, "/versions/0/counting.dll", slots}
//
// This is how DEC's transparent application substitution lets the loader of Windows NT load other
// versions of libraries ("In each image, the table of imported DLLs is altered").
//
// The headers may have no room for one more section header; then the rest of the file moves.
//
// Source: PE/COFF specification of 1998, sections 3.4, 5.8, 6.3 and 6.4; D. W. Goodwin and others,
// "Spike: an optimizer for Alpha/NT executables".
//
// Limits: certificates, debug information and bound imports, which outputs of Respike do not have,
// are dropped.

#include "optimizer/image/pe/linkage.h"

#include <fmt/format.h>
#include <llvm/Object/COFF.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "optimizer/base/bytes.h"
#include "optimizer/image/pe/checksum.h"
#include "optimizer/image/pe/headers.h"
#include "optimizer/image/pe/import_tables.h"

namespace respike::pe {
namespace {

namespace object = llvm::object;

constexpr uint32_t kDelayed = 32;  // bytes of a descriptor of delayed imports
constexpr const char* kSection = ".idatrsp";

constexpr const char* kDelayedOf = "its delayed imports";
constexpr const char* kExportsOf = "its exports";

void count_functions(LoadedFile& file, uint64_t names, const char* what, ImportedLibrary& library) {
  for_each_import(file, names, what, [&](uint64_t, bool by_number, uint64_t) {
    ++library.functions;
    if (by_number) ++library.by_number;
  });
}

/// A descriptor of delayed imports: its fields are places or, in the older form, addresses.
struct DelayedDescriptor {
  uint64_t place = 0;
  uint64_t distance = 0;  // from its fields to places

  uint64_t field(const LoadedFile& file, uint32_t number) const {
    return file.word(place + 4 * number, kDelayedOf) - distance;
  }
};

std::vector<DelayedDescriptor> delayed_descriptors(const LoadedFile& file) {
  std::vector<DelayedDescriptor> found;
  const DataDirectory& directory = file.headers.directories[kDelayedImports];
  if (!directory.present()) return found;
  for (uint64_t at = directory.place; file.word(at + 4, kDelayedOf) != 0; at += kDelayed) {
    const bool relative = (file.word(at, kDelayedOf) & 1) != 0;
    found.push_back({at, relative ? 0 : file.headers.base});
  }
  return found;
}

void read_exports(const LoadedFile& file, Linkage& linkage) {
  const DataDirectory& directory = file.headers.directories[kExports];
  if (!directory.present()) return;
  const uint32_t count = file.word(directory.place + 20, kExportsOf),
                 functions = file.word(directory.place + 28, kExportsOf);
  if (count == 0) return;
  file.offset(functions, 4 * uint64_t{count}, kExportsOf);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t place = file.word(functions + 4 * uint64_t{i}, kExportsOf);
    if (place == 0) continue;
    ++linkage.exports;
    if (place >= directory.place && place - directory.place < directory.size) ++linkage.forwarders;
  }
}

/// Adds a section to a file.
class SectionAdder {
 public:
  SectionAdder(std::span<const uint8_t> file, const std::string& name)
      : headers_(read_headers(file, name)), name_(name), file_(file.begin(), file.end()) {}

  /// Where the section will be.
  uint32_t place() const {
    return static_cast<uint32_t>(
        align_up(headers_.sections.back().end(), headers_.section_alignment));
  }

  uint8_t* at(uint64_t offset) { return &file_[offset]; }

  void set_directory(size_t number, const DataDirectory& directory) {
    auto& record =
        reinterpret_cast<object::data_directory*>(at(headers_.directories_offset))[number];
    record.RelativeVirtualAddress = directory.place;
    record.Size = directory.size;
  }

  std::vector<uint8_t> add(std::vector<uint8_t> contents) {
    if (headers_.base + place() + contents.size() >= uint64_t{1} << 31 && !headers_.wide)
      throw Error("the image would be too large", name_);
    drop_trailing();
    make_room();
    object::coff_section record{};
    std::memcpy(record.Name, kSection, std::strlen(kSection));
    record.VirtualSize = static_cast<uint32_t>(contents.size());
    record.VirtualAddress = place();
    contents.resize(align_up(contents.size(), headers_.file_alignment));
    record.SizeOfRawData = static_cast<uint32_t>(contents.size());
    record.PointerToRawData = static_cast<uint32_t>(end_);
    record.Characteristics = kInitializedData | kRead;
    auto& coff = *reinterpret_cast<object::coff_file_header*>(at(headers_.coff_offset));
    reinterpret_cast<object::coff_section*>(at(headers_.sections_offset))[coff.NumberOfSections] =
        record;
    coff.NumberOfSections = static_cast<uint16_t>(coff.NumberOfSections + 1);
    insert(end_, contents.size());
    std::copy(contents.begin(), contents.end(), file_.begin() + static_cast<ptrdiff_t>(end_));
    const auto size =
        static_cast<uint32_t>(align_up(place() + record.VirtualSize, headers_.section_alignment));
    store(at(headers_.optional_offset + kImageSize), size);
    write_checksum(file_, headers_.optional_offset + kChecksum);
    return std::move(file_);
  }

 private:
  static constexpr uint64_t kImageSize = 56, kHeadersSize = 60;  // in the optional header

  void drop_trailing() {
    for (const size_t number : {size_t{kCertificates}, size_t{kDebug}, size_t{kBoundImports}})
      if (headers_.directories[number].present()) set_directory(number, {});
    end_ = headers_.headers_size;
    for (const SectionHeader& section : headers_.sections)
      if (section.loaded_size() != 0)
        end_ = std::max<uint64_t>(end_, std::min<uint64_t>(file_.size(), uint64_t{section.offset} +
                                                                             section.size_in_file));
    if (headers_.symbols_offset < end_) {  // no symbols follow
      file_.resize(end_);
      constexpr uint64_t kSymbols = 8;  // in the COFF header: their offset and number
      store(at(headers_.coff_offset + kSymbols), uint64_t{0});
    }
    insert(end_, align_up(end_, headers_.file_alignment) - end_);
    end_ = align_up(end_, headers_.file_alignment);
  }

  /// Makes room before the symbols.
  void insert(uint64_t place, uint64_t size) {
    file_.insert(file_.begin() + static_cast<ptrdiff_t>(place), size, uint8_t{0});
    auto& coff = *reinterpret_cast<object::coff_file_header*>(at(headers_.coff_offset));
    if (coff.PointerToSymbolTable != 0)
      coff.PointerToSymbolTable = static_cast<uint32_t>(coff.PointerToSymbolTable + size);
  }

  /// Moves everything after the headers when they have no room for one more.
  void make_room() {
    const uint64_t size =
        headers_.sections_offset + (headers_.sections.size() + 1) * sizeof(object::coff_section);
    uint64_t room = headers_.headers_size;
    for (const SectionHeader& section : headers_.sections)
      if (section.loaded_size() != 0) room = std::min<uint64_t>(room, section.offset);
    std::fill(file_.begin() + static_cast<ptrdiff_t>(size - sizeof(object::coff_section)),
              file_.begin() + static_cast<ptrdiff_t>(std::min(size, room)), uint8_t{0});
    const auto more =
        static_cast<uint32_t>(size <= room ? 0 : align_up(size - room, headers_.file_alignment));
    if (headers_.sections.size() >= kMostSections ||
        (more != 0 && room + more > headers_.sections.front().place))
      throw Error("there is no room for the header of a new section", name_);
    if (more == 0) return;
    insert(room, more);
    auto* records = reinterpret_cast<object::coff_section*>(at(headers_.sections_offset));
    for (size_t i = 0; i < headers_.sections.size(); ++i)
      if (records[i].PointerToRawData != 0)
        records[i].PointerToRawData = records[i].PointerToRawData + more;
    store(at(headers_.optional_offset + kHeadersSize), static_cast<uint32_t>(room + more));
    end_ += more;
  }

  Headers headers_;
  const std::string& name_;
  std::vector<uint8_t> file_;
  uint64_t end_ = 0;  // of the sections, in the file
};

}  // namespace

Linkage read_linkage(std::span<const uint8_t> bytes, const std::string& name) {
  LoadedFile file(bytes, name);
  Linkage linkage;
  for (const ImportDescriptor& descriptor : import_descriptors(file)) {
    ImportedLibrary library;
    library.name = file.text(descriptor.fields[ImportDescriptor::kLibraryName], kImportsOf);
    count_functions(file, descriptor.names(), kImportsOf, library);
    linkage.libraries.push_back(library);
  }
  for (const DelayedDescriptor& descriptor : delayed_descriptors(file)) {
    ImportedLibrary library;
    library.name = file.text(descriptor.field(file, 1), kDelayedOf);
    library.delayed = true;
    count_functions(file, descriptor.field(file, 4), kDelayedOf, library);
    linkage.libraries.push_back(library);
  }
  read_exports(file, linkage);
  linkage.thread_data = file.headers.directories[kThreadData].present();
  return linkage;
}

std::vector<uint8_t> with_renamed_libraries(std::span<const uint8_t> bytes, const std::string& name,
                                            const std::map<std::string, std::string>& names) {
  LoadedFile file(bytes, name);
  SectionAdder out(bytes, name);
  const std::vector<ImportDescriptor> old = import_descriptors(file);
  ByteWriter block, texts;
  const auto texts_at =
      static_cast<uint32_t>(out.place() + (old.size() + 1) * ImportDescriptor::kSize);
  const auto add_text = [&](const std::string& text) {
    const auto place = static_cast<uint32_t>(texts_at + texts.size());
    texts.c_string(text);
    return place;
  };
  for (ImportDescriptor descriptor : old) {
    uint32_t& library = descriptor.fields[ImportDescriptor::kLibraryName];
    if (const auto other = names.find(std::string(file.text(library, kImportsOf)));
        other != names.end())
      library = add_text(other->second);
    for (const uint32_t field : descriptor.fields) block.write(field);
  }
  for (const uint32_t field : ImportDescriptor{}.fields) block.write(field);
  for (const DelayedDescriptor& descriptor : delayed_descriptors(file)) {
    const auto other = names.find(std::string(file.text(descriptor.field(file, 1), kDelayedOf)));
    if (other == names.end()) continue;
    const auto value = static_cast<uint32_t>(add_text(other->second) + descriptor.distance);
    store(out.at(file.offset(descriptor.place + 4, 4, kDelayedOf)), value);
  }
  if (!old.empty()) out.set_directory(kImports, {out.place(), static_cast<uint32_t>(block.size())});
  std::vector<uint8_t> contents = std::move(block.bytes());
  contents.insert(contents.end(), texts.bytes().begin(), texts.bytes().end());
  return out.add(std::move(contents));
}

}  // namespace respike::pe
