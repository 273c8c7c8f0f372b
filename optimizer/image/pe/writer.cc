// Writes a PE image in which code moved.
//
// Data stays at its addresses, so the sections of the input also stay, and new sections come after
// them: moved code, the function table (if it grew), Respike's note, and the base relocations last,
// where linkers put them. Only their directory refers to the base relocations, so these may move.
// The place of a section that moves becomes room without contents, because some loaders want no
// holes between sections.
//
// The offset of anything in the file may change, so all fields that hold an offset are rewritten or
// left out: the symbols are rewritten; certificates, which sign the old contents, and debug
// information, which describes old addresses, are left out, with a warning.
//
// Example: .text .rdata .data .pdata .reloc becomes .text .rdata .data .unused .textrsp .pdata
// .notersp .reloc.
//
// An instrumented image has memory for counters before the moved code. The memory starts with
// contents: new import tables (imports.cc), and words that lead to the counters.
//
// Bound imports hold addresses in other images, identified by their dates. Their directory is
// between the section headers and the first section, where new section headers go, so it is dropped
// (bound_imports.cc). Images that are bound to the input know its date: the output has another
// date, a hash of its contents.
//
// Source: PE/COFF specification of 1998, sections 3 to 6.
//
// Limit: there must be room for the section headers before the first section.

#include <llvm/Object/COFF.h>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/base/hash.h"
#include "optimizer/image/pe/base_relocations.h"
#include "optimizer/image/pe/bound_imports.h"
#include "optimizer/image/pe/checksum.h"
#include "optimizer/image/pe/headers.h"
#include "optimizer/image/pe/pe.h"
#include "optimizer/image/pe/section_names.h"

namespace respike::pe {
namespace {

namespace object = llvm::object;

constexpr uint32_t kNoContents = 0x80;  // in the file
constexpr uint32_t kDescriptor = 20;    // bytes of an import descriptor
constexpr uint32_t kTableFlags = kInitializedData | kRead | kDiscardable;

/// The base relocations of the input, if they come last: then new sections take their place.
const SectionHeader* trailing_relocations(const Headers& headers) {
  const SectionHeader* table = headers.section_of(kBaseRelocations);
  return table == &headers.sections.back() ? table : nullptr;
}

constexpr uint64_t kPage = 4096;

/// Where new sections begin, relative to the base.
uint64_t end_of_kept_sections(const Headers& headers) {
  if (const SectionHeader* table = trailing_relocations(headers)) return table->place;
  return align_up(headers.sections.back().end(), headers.section_alignment);
}

class Writer {
 public:
  Writer(const Image& input, const NewImage& output)
      : input_(input),
        output_(output),
        headers_(read_headers(input.file, input.path)),
        contents_(output.contents) {}

  std::vector<uint8_t> write() {
    unbind_imports(contents_, headers_);
    keep_sections();
    add_sections();
    add_base_relocations();
    place_contents();
    write_symbols();
    append();
    write_headers();
    write_date();
    write_checksum(file_, headers_.optional_offset + kChecksum);
    return std::move(file_);
  }

 private:
  struct OutputSection {
    std::string name;  // as in the file
    uint64_t place = 0;
    uint64_t size = 0;  // in memory
    uint32_t flags = 0;
    std::span<const uint8_t> contents;
    uint64_t offset = 0;
  };

  const NewImage::MovedSection* moved(uint32_t section) const {
    const auto found = std::ranges::find(output_.moved, section, &NewImage::MovedSection::section);
    return found == output_.moved.end() ? nullptr : &*found;
  }

  /// The sections of the input, at their places.
  void keep_sections() {
    const SectionHeader* trailing = trailing_relocations(headers_);
    const SectionHeader* relocations = headers_.section_of(kBaseRelocations);
    for (uint32_t i = 0; i < headers_.sections.size(); ++i) {
      const SectionHeader& header = headers_.sections[i];
      if (&header == trailing) continue;
      const uint32_t number = i + 1;  // in the Image
      OutputSection section{.name = header.name,
                            .place = header.place,
                            .size = header.size,
                            .flags = header.characteristics,
                            .contents = {}};
      if (header.loaded_size() != 0)
        section.contents = std::span(contents_).subspan(header.offset, header.loaded_size());
      const NewImage::MovedSection* change = moved(number);
      if (change != nullptr && change->address == headers_.base + header.place) {
        section.contents = change->contents;
      } else if (change != nullptr || &header == relocations || is_dropped(number)) {
        section.name = kUnusedRoom;
        section.contents = {};
        section.flags = (header.characteristics & ~kInitializedData) | kNoContents;
      }
      sections_.push_back(section);
    }
    end_ = end_of_kept_sections(headers_);
  }

  bool is_dropped(uint32_t section) const {
    return std::ranges::count(output_.dropped_sections, section) != 0;
  }

  void append(OutputSection section) {
    if (section.place < end_ || section.place % headers_.section_alignment != 0)
      throw Error(
          fmt::format("internal error: the new section {} is at a wrong address", section.name),
          input_.path);
    // Some loaders want no holes between sections. The function table fills its section.
    if (!sections_.empty()) {
      OutputSection& last = sections_.back();
      const uint64_t end = align_up(last.place + last.size, headers_.section_alignment);
      if (end < section.place && last.name == kFunctionTable)
        sections_.push_back({.name = std::string(kUnusedRoom),
                             .place = end,
                             .size = section.place - end,
                             .flags = kRead | kNoContents,
                             .contents = {}});
      else if (end < section.place)
        last.size = section.place - last.place;
    }
    end_ = align_up(section.place + section.size, headers_.section_alignment);
    if (headers_.base + end_ >= uint64_t{1} << 31 && !headers_.wide)
      throw Error("the rewritten image would be too large", input_.path);
    sections_.push_back(section);
  }

  void add_sections() {
    std::vector<const NewImage::AddedSection*> loaded;
    for (const NewImage::AddedSection& added : output_.added)
      if ((added.properties & Section::kAllocated) != 0) loaded.push_back(&added);
    std::ranges::sort(loaded, {}, &NewImage::AddedSection::address);
    for (size_t i = 0; i < loaded.size(); ++i) {
      const NewImage::AddedSection& added = *loaded[i];
      OutputSection section{.name = name_in_file(added.name),
                            .place = added.address - headers_.base,
                            .size = std::max<uint64_t>(added.contents.size(), added.memory_size),
                            .flags = kCode | kExecute | kRead,
                            .contents = added.contents};
      if (added.memory_size != 0) {
        section.flags = kInitializedData | kRead | kWrite;
        imports_ = section.place;
      } else if (i + 1 < loaded.size()) {
        // Start code and moved code are adjacent, and sections start on pages: both become one
        // section.
        const NewImage::AddedSection& next = *loaded[i + 1];
        code_ = added.contents;
        code_.resize(next.address - added.address);
        code_.insert(code_.end(), next.contents.begin(), next.contents.end());
        section.name = name_in_file(next.name);
        section.size = code_.size();
        section.contents = code_;
        ++i;
      }
      append(section);
    }
    for (const NewImage::MovedSection& each : output_.moved) {
      const Section& old = input_.sections[each.section];
      if (each.address == old.address) continue;
      append({.name = name_in_file(old.name),
              .place = each.address - headers_.base,
              .size = each.contents.size(),
              .flags = static_cast<uint32_t>(old.raw.flags),
              .contents = each.contents});
    }
    for (const NewImage::AddedSection& added : output_.added)
      if ((added.properties & Section::kAllocated) == 0 && !added.contents.empty())
        append({.name = name_in_file(added.name),
                .place = end_,
                .size = added.contents.size(),
                .flags = kTableFlags,
                .contents = added.contents});
  }

  uint64_t target_of(const Relocation& relocation) const {
    const uint64_t value =
        relocation.symbol < output_.symbols.size() ? output_.symbols[relocation.symbol].value : 0;
    return value + static_cast<uint64_t>(relocation.addend);
  }

  void add_base_relocations() {
    std::vector<BaseRelocation> relocations;
    for (const RelocationTable& table : output_.relocations)
      for (const Relocation& each : table.relocations) {
        if (each.raw == kNoBaseRelocation) continue;
        BaseRelocation relocation{static_cast<uint32_t>(each.address - headers_.base),
                                  static_cast<uint8_t>(each.raw), 0};
        if (each.raw == kHighAdjusted) relocation.low = static_cast<uint16_t>(target_of(each));
        relocations.push_back(relocation);
      }
    std::ranges::stable_sort(relocations, {}, &BaseRelocation::place);
    // A table without relocations gets a block of padding: without any block, loaders would take
    // the image for one that must not move.
    if (relocations.empty()) relocations.push_back({0, kAbsolute, 0});
    base_relocations_ = write_base_relocations(relocations);
    const SectionHeader* old = headers_.section_of(kBaseRelocations);
    append({.name = old == nullptr ? ".reloc" : old->name,
            .place = end_,
            .size = base_relocations_.size(),
            .flags = old == nullptr ? kTableFlags : old->characteristics,
            .contents = base_relocations_});
    headers_.directories[kBaseRelocations] = {static_cast<uint32_t>(sections_.back().place),
                                              static_cast<uint32_t>(base_relocations_.size())};
  }

  void place_contents() {
    if (sections_.size() > kMostSections)
      throw Error(fmt::format("with what Respike adds it would have {} sections, more than can be "
                              "loaded",
                              sections_.size()),
                  input_.path);
    headers_size_ =
        align_up(headers_.sections_offset + sections_.size() * sizeof(object::coff_section),
                 headers_.file_alignment);
    headers_size_ = std::max<uint64_t>(headers_size_, headers_.headers_size);
    if (headers_size_ > headers_.sections.front().place)
      throw Error("there is no room for the headers of new sections", input_.path);
    file_.assign(contents_.begin(), contents_.begin() + headers_.headers_size);
    file_.resize(headers_size_);
    for (OutputSection& section : sections_) {
      if (section.contents.empty()) continue;
      section.offset = file_.size();
      file_.insert(file_.end(), section.contents.begin(), section.contents.end());
      file_.resize(align_up(file_.size(), headers_.file_alignment));
    }
  }

  // ---- symbols

  int section_number(uint64_t address) const {
    const uint64_t place = address - headers_.base;
    for (size_t i = sections_.size(); i-- > 0;)
      if (place >= sections_[i].place)
        return place - sections_[i].place <= sections_[i].size ? static_cast<int>(i + 1) : 0;
    return 0;
  }

  /// If the input has symbols, the output has them, and the symbols of fragments.
  void write_symbols() {
    if (headers_.symbols_offset == 0 || headers_.symbol_count == 0) return;
    ByteWriter records, names;
    names.write(uint32_t{0});
    for (const Symbol& symbol : output_.symbols) {
      const bool fragment = symbol.raw == 0 && symbol.type == Symbol::Type::procedure;
      if (symbol.raw != kFromSymbolTable && !fragment) continue;
      const int number = section_number(symbol.value);
      if (number == 0) continue;
      object::coff_symbol16 record{};
      if (symbol.name.size() <= sizeof record.Name.ShortName) {
        std::copy(symbol.name.begin(), symbol.name.end(), record.Name.ShortName);
      } else {
        record.Name.Offset.Zeroes = 0;
        record.Name.Offset.Offset = static_cast<uint32_t>(names.size());
        names.c_string(symbol.name);
      }
      record.Value = static_cast<uint32_t>(symbol.value - headers_.base -
                                           sections_[static_cast<size_t>(number - 1)].place);
      record.SectionNumber = static_cast<uint16_t>(number);
      record.Type = symbol.type == Symbol::Type::procedure ? 0x20 : 0;
      record.StorageClass = symbol.local ? 3 : 2;
      records.append({reinterpret_cast<const uint8_t*>(&record), sizeof record});
    }
    headers_.symbol_count = static_cast<uint32_t>(records.size() / sizeof(object::coff_symbol16));
    headers_.symbols_offset = 0;
    if (headers_.symbol_count == 0) return;  // names without symbols would follow the image
    names.patch(0, static_cast<uint32_t>(names.size()));
    headers_.symbols_offset = static_cast<uint32_t>(file_.size());
    file_.insert(file_.end(), records.bytes().begin(), records.bytes().end());
    file_.insert(file_.end(), names.bytes().begin(), names.bytes().end());
  }

  /// Appends the bytes after the input's image, at the same place within a page: programs look for
  /// them in steps of 512 bytes.
  void append() {
    if (input_.appended.empty()) return;
    const uint64_t before = static_cast<uint64_t>(input_.appended.data() - input_.file.data());
    file_.resize(file_.size() + (before - file_.size()) % kPage);
    file_.insert(file_.end(), input_.appended.begin(), input_.appended.end());
  }

  // ---- headers

  void write_headers() {
    auto& coff = *reinterpret_cast<object::coff_file_header*>(&file_[headers_.coff_offset]);
    coff.NumberOfSections = static_cast<uint16_t>(sections_.size());
    coff.PointerToSymbolTable = headers_.symbols_offset;
    coff.NumberOfSymbols = headers_.symbol_count;
    if (headers_.wide)
      write_optional<object::pe32plus_header>();
    else
      write_optional<object::pe32_header>();
    write_directories();
    // Bound imports, which are dropped, follow the section headers.
    std::fill(file_.begin() + static_cast<ptrdiff_t>(headers_.sections_offset),
              file_.begin() + static_cast<ptrdiff_t>(headers_size_), uint8_t{0});
    auto* records = reinterpret_cast<object::coff_section*>(&file_[headers_.sections_offset]);
    for (const OutputSection& section : sections_) {
      object::coff_section& record = *records++;
      std::copy_n(section.name.begin(), std::min(section.name.size(), kLongestSectionName),
                  record.Name);
      record.VirtualSize = static_cast<uint32_t>(section.size);
      record.VirtualAddress = static_cast<uint32_t>(section.place);
      record.SizeOfRawData =
          static_cast<uint32_t>(align_up(section.contents.size(), headers_.file_alignment));
      record.PointerToRawData = static_cast<uint32_t>(section.offset);
      record.Characteristics = section.flags;
    }
  }

  template <typename Header>
  void write_optional() {
    auto& header = *reinterpret_cast<Header*>(&file_[headers_.optional_offset]);
    header.AddressOfEntryPoint =
        static_cast<uint32_t>(output_.entry == 0 ? 0 : output_.entry - headers_.base);
    header.SizeOfImage = static_cast<uint32_t>(end_);
    header.SizeOfHeaders = static_cast<uint32_t>(headers_size_);
    uint64_t code = 0;
    for (const OutputSection& section : sections_)
      if ((section.flags & kCode) != 0)
        code += align_up(section.contents.size(), headers_.file_alignment);
    header.SizeOfCode = static_cast<uint32_t>(code);
  }

  /// The system searches everything in the directory by halves: zeros after the entries are not
  /// part of the table.
  uint32_t size_of_entries(const std::vector<uint8_t>& table) const {
    const size_t entry = headers_.wide ? 40 : 20;
    const auto last = std::find_if(table.rbegin(), table.rend(), [](uint8_t b) { return b != 0; });
    return static_cast<uint32_t>((static_cast<size_t>(table.rend() - last) + entry - 1) / entry *
                                 entry);
  }

  void write_directories() {
    for (const NewImage::MovedSection& each : output_.moved)
      if (input_.sections[each.section].name == kFunctionTable)
        headers_.directories[kExceptions] = {static_cast<uint32_t>(each.address - headers_.base),
                                             size_of_entries(each.contents)};
    auto* records = reinterpret_cast<object::data_directory*>(&file_[headers_.directories_offset]);
    if (imports_ != 0) {
      const DataDirectory& old = headers_.directories[kImports];
      headers_.directories[kImports] = {static_cast<uint32_t>(imports_),
                                        (old.present() ? old.size : kDescriptor) + kDescriptor};
    }
    const auto set = [&](size_t number, const DataDirectory& directory) {
      records[number].RelativeVirtualAddress = directory.place;
      records[number].Size = directory.size;
    };
    for (const size_t number : {size_t{kImports}, size_t{kExceptions}, size_t{kBaseRelocations}})
      if (headers_.directories[number].present()) set(number, headers_.directories[number]);
    for (const size_t number : {size_t{kCertificates}, size_t{kDebug}, size_t{kBoundImports}})
      if (headers_.directories[number].present()) set(number, {});
  }

  /// Images that are bound to the input know it by its date, and must not take the output for it.
  /// The new date is a hash, so that the same input gives the same output.
  void write_date() {
    auto& coff = *reinterpret_cast<object::coff_file_header*>(&file_[headers_.coff_offset]);
    coff.TimeDateStamp = static_cast<uint32_t>(hash64(file_) | 1);
  }

  const Image& input_;
  const NewImage& output_;
  Headers headers_;
  std::vector<uint8_t> contents_;  // the input's file, changed in place
  std::vector<OutputSection> sections_;
  std::vector<uint8_t> base_relocations_;
  std::vector<uint8_t> code_;  // of the section with added code, if it has several parts
  uint64_t imports_ = 0;       // where the new import tables are; 0: the old ones stay
  uint64_t end_ = 0;           // of the sections so far, relative to the base
  uint64_t headers_size_ = 0;
  std::vector<uint8_t> file_;
};

}  // namespace

AddedSegment plan_added_segment(const Image& image, const AddedMemory& memory) {
  const Headers headers = read_headers(image.file, image.path);
  AddedSegment segment;
  segment.address = segment.free_address = headers.base + end_of_kept_sections(headers);
  if (memory.size != 0) {
    if (headers.directory_count <= kImports)
      throw Error("the header has no room for imports, which counting needs", image.path);
    segment.memory_address = segment.address;
    segment.free_address = align_up(segment.address + memory.size, headers.section_alignment);
  }
  if (headers.directories[kCertificates].present())
    segment.losses.push_back(
        "the certificate, which signs the input, is left out, with what is behind it");
  if (headers.directories[kDebug].present())
    segment.losses.push_back("the debug information, which describes the input, is left out");
  return segment;
}

std::vector<uint8_t> write(const Image& input, const NewImage& output) {
  return Writer(input, output).write();
}

}  // namespace respike::pe
