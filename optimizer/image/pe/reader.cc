// Reads a PE image into an Image.
//
// Sections, base relocations, exports and COFF symbols become the neutral types. A base relocation
// gives the place of an address, but not the symbol that was meant. The address decides: each
// relocation gets the symbol of the section that holds its address. Linkers start sections on
// pages, so an address slightly before a section is not in the previous section.
//
// Example: HIGHADJ at 0x401010 with the upper half 0x42 and the lower half 0x8004 is the address
// 0x418004, which is in .rdata: a relocation of the role address_high, with the symbol of .rdata
// and the addend 0x418004 - 0x412000.
//
// Exports are addresses relative to the base of the image. They do not change when the image is
// loaded at another address, but they do when code moves: they become relocations that .reloc does
// not hold.
//
// The file is not trusted; see headers.cc. Names are counted against a budget, since many symbols
// may claim one long name.
//
// Limits: resources, TLS and delayed imports are data, which never moves. Names of code come only
// from exports and COFF symbols. The function table and the base relocations must each have a
// section of their own, as Microsoft's linkers make it.

#include <llvm/Object/COFF.h>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/image/bounded_names.h"
#include "optimizer/image/pe/base_relocations.h"
#include "optimizer/image/pe/headers.h"
#include "optimizer/image/pe/pe.h"
#include "optimizer/image/pe/section_names.h"

namespace respike::pe {
namespace {

namespace object = llvm::object;

constexpr uint32_t kExportHeader = 40;         // bytes
constexpr uint8_t kStatic = 3, kExternal = 2;  // storage classes

class Reader {
 public:
  Reader(std::span<const uint8_t> file, const std::string& name)
      : file_(file), headers_(read_headers(file, name)), names_(file, name) {
    image_.path = name;
    image_.file = file;
  }

  Image read() {
    describe();
    read_sections();
    read_procedure_ends();
    read_symbols();
    read_base_relocations();
    read_exports();
    find_appended();
    for (RelocationTable& table : image_.relocations)
      std::ranges::stable_sort(table.relocations, {}, &Relocation::address);
    return std::move(image_);
  }

 private:
  [[noreturn]] void fail(const std::string& message,
                         std::optional<uint64_t> offset = std::nullopt) const {
    throw Error(message, image_.path, offset);
  }

  void describe() {
    image_.container = &container;
    image_.format = headers_.wide ? "PE32+" : "PE32";
    image_.machine = headers_.machine;
    image_.calling_standard = CallingStandard::windows;
    image_.kind =
        (headers_.characteristics & kLibrary) != 0 ? Image::Kind::shared_library : Image::Kind::pie;
    image_.names_procedures = false;
    image_.base = headers_.base;
    image_.section_alignment = headers_.section_alignment;
    image_.entry = headers_.entry == 0 ? 0 : headers_.base + headers_.entry;
  }

  void read_sections() {
    image_.sections.emplace_back();
    image_.segments.push_back({.kind = Segment::Kind::loaded,
                               .rights = Segment::kReadable,
                               .offset = 0,
                               .address = headers_.base,
                               .file_size = headers_.headers_size,
                               .memory_size = headers_.headers_size,
                               .alignment = headers_.section_alignment});
    image_.loaded_end = headers_.headers_size;
    const SectionHeader* relocations = headers_.section_of(kBaseRelocations);
    for (const SectionHeader& header : headers_.sections)
      add_section(header, &header == relocations);
    image_.index_sections();
    image_.symbols.emplace_back();
    for (uint32_t i = 1; i < image_.sections.size(); ++i) {
      Symbol symbol;
      symbol.value = image_.sections[i].address;
      symbol.section = i;
      symbol.type = Symbol::Type::section;
      symbol.local = true;
      image_.symbols.push_back(symbol);
    }
  }

  void add_section(const SectionHeader& header, bool is_table) {
    const uint32_t flags = header.characteristics;
    Section section;
    section.name = is_table ? kBaseRelocationsName : neutral_name(header.name);
    section.kind = is_table                       ? Section::Kind::table
                   : section.name == kNoteSection ? Section::Kind::note
                   : header.loaded_size() == 0    ? Section::Kind::zero
                                                  : Section::Kind::contents;
    section.properties = Section::kAllocated;
    if (section.kind == Section::Kind::note) section.properties = 0;
    if ((flags & (kExecute | kCode)) != 0) section.properties |= Section::kExecutable;
    if ((flags & kWrite) != 0) section.properties |= Section::kWritable;
    section.address = headers_.base + header.place;
    section.offset = header.offset;
    section.size = header.size;
    section.alignment = headers_.section_alignment;
    section.raw.flags = flags;
    if (header.loaded_size() != 0)
      section.contents = file_.subspan(header.offset, header.loaded_size());
    Segment segment{.kind = Segment::Kind::loaded,
                    .rights = Segment::kReadable,
                    .offset = header.offset,
                    .address = section.address,
                    .file_size = header.loaded_size(),
                    .memory_size = header.size,
                    .alignment = headers_.section_alignment};
    if (section.executable()) segment.rights |= Segment::kExecutable;
    if (section.writable()) segment.rights |= Segment::kWritable;
    if (header.loaded_size() != 0)
      image_.loaded_end =
          std::max<uint64_t>(image_.loaded_end, uint64_t{header.offset} + header.loaded_size());
    // A code section without a single relocation is still code.
    if (section.executable())
      image_.relocations.push_back({.section = 0,
                                    .target = static_cast<uint32_t>(image_.sections.size()),
                                    .relocations = {}});
    image_.sections.push_back(std::move(section));
    image_.segments.push_back(segment);
  }

  /// Reads the ends of procedures from the function table: symbols do not give them. The reader of
  /// the table reports damage.
  void read_procedure_ends() {
    const SectionHeader* section = headers_.section_of(kExceptions);
    if (section == nullptr || section->loaded_size() == 0) return;
    const uint32_t size = std::min(section->loaded_size(), headers_.directories[kExceptions].size);
    const auto table = file_.subspan(section->offset, size);
    const size_t field = headers_.wide ? 8 : 4, entry = 5 * field;
    const auto at = [&](size_t place) {
      return headers_.wide ? load<uint64_t>(&table[place]) : load<uint32_t>(&table[place]);
    };
    for (size_t i = 0; i + entry <= table.size(); i += entry)
      ends_.emplace(at(i) & ~uint64_t{3}, at(i + field) & ~uint64_t{3});
  }

  /// Finds the bytes after sections, symbols and debug information, up to a certificate, which is
  /// not part of them. If all are zero, they are padding.
  void find_appended() {
    uint64_t end = align_up(image_.loaded_end, headers_.file_alignment), stop = file_.size();
    if (headers_.symbols_offset != 0 && headers_.symbol_count != 0) {
      end = std::max(end, headers_.symbols_offset +
                              headers_.symbol_count * uint64_t{sizeof(object::coff_symbol16)});
      // The names' table begins with its size.
      if (end <= stop && stop - end >= sizeof(uint32_t))
        end = std::min<uint64_t>(stop, end + load<uint32_t>(file_.data() + end));
    }
    const DataDirectory& debug = headers_.directories[kDebug];
    if (const auto entries = image_.bytes_at(headers_.base + debug.place, debug.size);
        debug.present() && entries) {
      constexpr size_t kEntry = 28, kSize = 16, kOffset = 24;  // IMAGE_DEBUG_DIRECTORY
      for (size_t at = 0; at + kEntry <= entries->size(); at += kEntry) {
        const uint64_t offset = load<uint32_t>(entries->data() + at + kOffset);
        const uint64_t size = load<uint32_t>(entries->data() + at + kSize);
        if (offset <= file_.size() && size <= file_.size() - offset)
          end = std::max(end, offset + size);
      }
    }
    const DataDirectory& certificates = headers_.directories[kCertificates];
    if (certificates.present() && certificates.place >= end)
      stop = std::min<uint64_t>(stop, certificates.place);
    if (end >= stop) return;
    const auto rest = file_.subspan(end, stop - end);
    if (std::ranges::any_of(rest, [](uint8_t byte) { return byte != 0; })) image_.appended = rest;
  }

  // ---- symbols

  void read_symbols() {
    const uint64_t offset = headers_.symbols_offset, count = headers_.symbol_count;
    if (offset == 0 || count == 0) return;
    constexpr uint64_t kSize = sizeof(object::coff_symbol16);
    static_assert(kSize == 18);
    if (offset > file_.size() || count > (file_.size() - offset) / kSize)
      fail("the table of symbols is not in the file", headers_.coff_offset);
    const auto* records = reinterpret_cast<const object::coff_symbol16*>(file_.data() + offset);
    const auto strings = file_.subspan(offset + count * kSize);
    std::vector<Symbol> globals;
    for (uint64_t i = 0; i < count; i += 1 + records[i].NumberOfAuxSymbols) {
      const auto symbol = symbol_of(records[i], strings, offset + i * kSize);
      if (symbol) (symbol->local ? image_.symbols : globals).push_back(*symbol);
    }
    image_.symbols.insert(image_.symbols.end(), globals.begin(), globals.end());
  }

  /// Procedures and data that a COFF symbol names; nullopt: something else.
  std::optional<Symbol> symbol_of(const object::coff_symbol16& record,
                                  std::span<const uint8_t> strings, uint64_t offset) {
    const int16_t number = static_cast<int16_t>(uint16_t{record.SectionNumber});
    if (number <= 0 || record.NumberOfAuxSymbols != 0) return std::nullopt;
    if (record.StorageClass != kStatic && record.StorageClass != kExternal) return std::nullopt;
    if (static_cast<size_t>(number) >= image_.sections.size())
      fail(fmt::format("a symbol is in section {}, which does not exist", number), offset);
    const Section& section = image_.sections[static_cast<size_t>(number)];
    if (record.Value > section.size) fail("a symbol is not in its section", offset);
    Symbol symbol;
    symbol.value = section.address + record.Value;
    symbol.section = static_cast<uint32_t>(number);
    symbol.raw = kFromSymbolTable;
    symbol.local = record.StorageClass == kStatic;
    if (record.Name.Offset.Zeroes == 0) {
      if (record.Name.Offset.Offset >= strings.size()) fail("a symbol has no name", offset);
      symbol.name = names_.read(strings.subspan(record.Name.Offset.Offset), offset);
    } else {
      const std::string_view name(record.Name.ShortName, sizeof record.Name.ShortName);
      symbol.name = name.substr(0, name.find('\0'));
    }
    if (symbol.name.empty() || symbol.name.front() == '.') return std::nullopt;  // of a section
    const bool procedure = record.Type >> 4 == llvm::COFF::IMAGE_SYM_DTYPE_FUNCTION;
    set_type(symbol, procedure);
    return symbol;
  }

  void set_type(Symbol& symbol, bool procedure) const {
    if (!image_.sections[symbol.section].executable()) {
      symbol.type = Symbol::Type::object;
      return;
    }
    symbol.type = procedure ? Symbol::Type::procedure : Symbol::Type::none;
    if (const auto end = ends_.find(symbol.value);
        end != ends_.end() && procedure && end->second > symbol.value)
      symbol.size = end->second - symbol.value;
  }

  // ---- relocations

  std::vector<Relocation>& relocations_of(uint32_t section) {
    for (RelocationTable& table : image_.relocations)
      if (table.target == section) return table.relocations;
    return image_.relocations.emplace_back(RelocationTable{0, section, {}}).relocations;
  }

  uint32_t number_of(const Section& section) const {
    return static_cast<uint32_t>(&section - image_.sections.data());
  }

  /// Makes the relocation refer to an address: by the symbol of the section that holds the address.
  void refer(Relocation& relocation, uint64_t address) const {
    const Section* section = image_.section_at(address);
    relocation.symbol =
        section == nullptr ? 0 : number_of(*section);  // sections' symbols come first
    relocation.addend = static_cast<int64_t>(address - (section == nullptr ? 0 : section->address));
  }

  void read_base_relocations() {
    const SectionHeader* table = headers_.section_of(kBaseRelocations);
    if (table == nullptr) return;
    const uint32_t size = headers_.directories[kBaseRelocations].size;
    if (size > table->loaded_size())
      fail("the base relocations are not in their section", headers_.directories_offset);
    uint32_t last = 0;  // section
    for (const BaseRelocation& each : pe::read_base_relocations(file_.subspan(table->offset, size),
                                                                image_.path, table->offset)) {
      const uint64_t address = headers_.base + each.place;
      if (last == 0 || !image_.sections[last].contains(address)) {
        const Section* section = image_.section_at(address);
        if (section == nullptr)
          fail(fmt::format("the base relocation of {:#x} is in no section", address),
               table->offset);
        last = number_of(*section);
      }
      relocations_of(last).push_back(relocation_of(each, image_.sections[last], address));
    }
  }

  Relocation relocation_of(const BaseRelocation& each, const Section& section,
                           uint64_t address) const {
    Relocation relocation{.address = address, .raw = each.kind};
    const uint64_t size = each.kind == kHighLow ? 4 : each.kind == kAddress64 ? 8 : 2;
    const uint64_t at = address - section.address;
    if (at > section.contents.size() || size > section.contents.size() - at)
      fail(fmt::format("what the base relocation of {:#x} changes is not in the file", address));
    const uint8_t* bytes = section.contents.data() + at;
    switch (each.kind) {
      case kHigh:
        relocation.role = RelocationRole::address_high;
        break;
      case kHighAdjusted:
        relocation.role = RelocationRole::address_high;
        refer(relocation, static_cast<uint32_t>(
                              (uint32_t{load<uint16_t>(bytes)} << 16) +
                              static_cast<uint32_t>(int32_t{static_cast<int16_t>(each.low)})));
        break;
      case kHighLow:
        relocation.role = RelocationRole::address32;
        refer(relocation, load<uint32_t>(bytes));
        break;
      case kAddress64:
        relocation.role = RelocationRole::address64;
        refer(relocation, load<uint64_t>(bytes));
        break;
      default:
        relocation.role = RelocationRole::unsupported;
    }
    return relocation;
  }

  // ---- exports

  std::span<const uint8_t> loaded(uint32_t place, uint64_t size, const char* what) const {
    const auto bytes = image_.bytes_at(headers_.base + place, size);
    if (!bytes) fail(fmt::format("{} of its exports are not in the file", what));
    return *bytes;
  }

  void read_exports() {
    const DataDirectory& directory = headers_.directories[kExports];
    if (!directory.present()) return;
    const auto header = loaded(directory.place, kExportHeader, "the header");
    const auto functions = load<uint32_t>(&header[20]), names = load<uint32_t>(&header[24]),
               functions_at = load<uint32_t>(&header[28]), names_at = load<uint32_t>(&header[32]),
               numbers_at = load<uint32_t>(&header[36]);
    if (functions == 0) return;
    const auto table = loaded(functions_at, 4 * uint64_t{functions}, "the addresses");
    const auto is_code = [&](uint32_t place) {
      const bool forwards = place >= directory.place && place - directory.place < directory.size;
      return place != 0 && !forwards && image_.section_at(headers_.base + place) != nullptr;
    };
    const Section* section = image_.section_at(headers_.base + functions_at);
    for (uint32_t i = 0; i < functions && section != nullptr; ++i) {
      const auto place = load<uint32_t>(&table[4 * size_t{i}]);
      if (!is_code(place)) continue;
      Relocation relocation{.address = headers_.base + functions_at + 4 * uint64_t{i},
                            .raw = kNoBaseRelocation,
                            .role = RelocationRole::image_relative32};
      refer(relocation, headers_.base + place);
      relocations_of(number_of(*section)).push_back(relocation);
    }
    if (names == 0) return;
    const auto name_places = loaded(names_at, 4 * uint64_t{names}, "the names");
    const auto numbers = loaded(numbers_at, 2 * uint64_t{names}, "the numbers");
    for (uint32_t i = 0; i < names; ++i) {
      const auto number = load<uint16_t>(&numbers[2 * size_t{i}]);
      const auto name = load<uint32_t>(&name_places[4 * size_t{i}]);
      if (number >= functions) fail(fmt::format("export {} has no address", i));
      const auto place = load<uint32_t>(&table[4 * size_t{number}]);
      if (!is_code(place)) continue;
      loaded(name, 1, "names");
      const auto offset = *image_.offset_of(headers_.base + name);
      Symbol symbol;
      symbol.name = names_.read(file_.subspan(offset), offset);
      symbol.value = headers_.base + place;
      symbol.section = number_of(*image_.section_at(symbol.value));
      symbol.raw = kFromExports;
      set_type(symbol, true);
      image_.symbols.push_back(symbol);
    }
  }

  std::span<const uint8_t> file_;
  Headers headers_;
  Image image_;
  std::map<uint64_t, uint64_t> ends_;  // of procedures, by their starts
  BoundedNames names_;
};

}  // namespace

Image read(std::span<const uint8_t> bytes, const std::string& name) {
  return Reader(bytes, name).read();
}

}  // namespace respike::pe
