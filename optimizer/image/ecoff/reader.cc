// Reads an ECOFF image into an Image.
//
// Sections, external symbols and relocations become the neutral types. Symbols of sections come
// first, so that section N has symbol N; then the external symbols of static procedures, then all
// other symbols.
//
// A relocation has no addend: the value is in the contents. It names an external symbol or, by a
// number, a kind of section. Example: a REFQUAD at 0x140000020 against .text, where the word is
// 0x120000440, becomes a relocation of role address64 with the symbol of .text and the addend 0x40.
//
// `objcopy` gives all symbols the class "absolute" and no type. So for a symbol of class absolute,
// the section that holds its value counts; and code in a static procedure has no name at all.
// Symbols have no sizes. Therefore Image::names_procedures is false: calls, addresses of code and
// loads of gp show where procedures start.
//
// The file is not trusted; see headers.cc. Names are counted against a budget, since many symbols
// may claim one long name.
//
// Limits: local symbols, line numbers and procedure descriptors are not read. gp is taken from the
// instructions that compute gp, not from the optional header, where `objcopy` leaves 0.

#include <algorithm>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/image/bounded_names.h"
#include "optimizer/image/ecoff/ecoff.h"
#include "optimizer/image/ecoff/headers.h"
#include "optimizer/image/ecoff/relocations.h"
#include "optimizer/image/ecoff/section_names.h"

namespace respike::ecoff {
namespace {

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
    read_symbols();
    read_relocations();
    find_appended();
    return std::move(image_);
  }

 private:
  [[noreturn]] void fail(const std::string& message,
                         std::optional<uint64_t> offset = std::nullopt) const {
    throw Error(message, image_.path, offset);
  }

  void describe() {
    image_.container = &container;
    image_.format = "ECOFF";
    image_.machine = MachineId::alpha;
    image_.kind = Image::Kind::executable;
    image_.names_procedures = false;
    image_.entry = headers_.entry;
  }

  /// The bytes after sections, relocations and symbols. If all are zero, they are padding.
  void find_appended() {
    uint64_t end = image_.loaded_end;
    const auto add = [&](uint64_t offset, uint64_t count, uint64_t size) {
      if (count != 0 && offset <= file_.size() && count <= (file_.size() - offset) / size)
        end = std::max(end, offset + count * size);
    };
    const auto* sections = reinterpret_cast<const SectionRecord*>(
        file_.data() + sizeof(FileHeader) + sizeof(OptionalHeader));
    for (const SectionRecord& section : std::span(sections, headers_.sections.size())) {
      add(section.relocations, section.relocation_count, sizeof(RelocationRecord));
      add(section.line_numbers, section.line_number_count, kLineNumberSize);
    }
    if (headers_.symbolic_header != 0) {
      add(headers_.symbolic_header, 1, sizeof(SymbolicHeader));
      const auto& symbols =
          *reinterpret_cast<const SymbolicHeader*>(file_.data() + headers_.symbolic_header);
      add(symbols.lines, symbols.lines_size, 1);
      add(symbols.dense, symbols.dense_count, kDenseNumberSize);
      add(symbols.procedures, symbols.procedure_count, kProcedureSize);
      add(symbols.locals, symbols.local_count, kLocalSymbolSize);
      add(symbols.optimizations, symbols.optimization_count, 1);
      add(symbols.auxiliaries, symbols.auxiliary_count, kAuxiliarySize);
      add(symbols.local_names, symbols.local_names_size, 1);
      add(symbols.external_names, symbols.external_names_size, 1);
      add(symbols.files, symbols.file_count, kFileSize);
      add(symbols.relative_files, symbols.relative_file_count, kRelativeFileSize);
      add(symbols.externals, symbols.external_count, sizeof(ExternalSymbol));
    }
    const auto rest = file_.subspan(std::min<uint64_t>(end, file_.size()));
    if (std::ranges::any_of(rest, [](uint8_t byte) { return byte != 0; })) image_.appended = rest;
  }

  // ---- sections

  void read_sections() {
    image_.sections.emplace_back();
    image_.loaded_end = sizeof(FileHeader) + sizeof(OptionalHeader) +
                        headers_.sections.size() * sizeof(SectionRecord);
    for (const SectionHeader& header : headers_.sections) add_section(header);
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

  void add_section(const SectionHeader& header) {
    Section section;
    section.name = neutral_name(header.name);
    section.kind = section.name == kNoteSection ? Section::Kind::note
                   : header.is(kComment)        ? Section::Kind::table
                   : header.offset == 0         ? Section::Kind::zero
                                                : Section::Kind::contents;
    if (!header.is(kComment)) section.properties = Section::kAllocated;
    if (header.code()) section.properties |= Section::kExecutable;
    const bool in_text =
        headers_.data_start > headers_.text_start && header.address < headers_.data_start;
    if (section.allocated() && !header.code() && !in_text) section.properties |= Section::kWritable;
    section.address = section.allocated() ? header.address : 0;
    section.offset = header.offset;
    section.size = header.size;
    section.raw.flags = header.flags;
    if (header.has_contents()) {
      section.contents = file_.subspan(header.offset, header.size);
      image_.loaded_end = std::max(image_.loaded_end, header.offset + header.size);
    }
    if (section.allocated() && section.size != 0) add_segment(section);
    // A code section without a single relocation is still code.
    if (section.executable())
      image_.relocations.push_back({.section = 0,
                                    .target = static_cast<uint32_t>(image_.sections.size()),
                                    .relocations = {}});
    image_.sections.push_back(std::move(section));
  }

  void add_segment(const Section& section) {
    Segment segment{.kind = Segment::Kind::loaded,
                    .rights = Segment::kReadable,
                    .offset = section.offset,
                    .address = section.address,
                    .file_size = section.contents.size(),
                    .memory_size = section.size,
                    .alignment = kPage};
    if (!section.writable()) segment.rights |= Segment::kExecutable;
    if (section.writable()) segment.rights |= Segment::kWritable;
    image_.segments.push_back(segment);
  }

  // ---- symbols

  std::span<const uint8_t> table(uint64_t offset, uint64_t count, uint64_t size,
                                 const char* what) const {
    if (count != 0 && (offset > file_.size() || count > (file_.size() - offset) / size))
      fail(fmt::format("{} are not in the file", what), headers_.symbolic_header);
    return count == 0 ? std::span<const uint8_t>() : file_.subspan(offset, count * size);
  }

  std::string_view text(std::span<const uint8_t> names, uint64_t at, uint64_t offset) {
    if (at >= names.size()) fail("a symbol has no name", offset);
    return names_.read(names.subspan(at), offset);
  }

  void read_symbols() {
    const uint64_t offset = headers_.symbolic_header;
    if (offset == 0) return;
    if (offset > file_.size() || file_.size() - offset < sizeof(SymbolicHeader))
      fail("the header of its symbols is not in the file", offset);
    const auto& header = *reinterpret_cast<const SymbolicHeader*>(file_.data() + offset);
    if (header.magic != kSymbolicMagic)
      fail(fmt::format("the header of its symbols starts with {:#x}, not {:#x}",
                       uint16_t{header.magic}, kSymbolicMagic),
           offset);
    const auto records =
        table(header.externals, header.external_count, sizeof(ExternalSymbol), "its symbols");
    const auto names = table(header.external_names, header.external_names_size, 1, "its names");
    const auto* symbols = reinterpret_cast<const ExternalSymbol*>(records.data());
    std::vector<std::pair<Symbol, uint32_t>> found;
    for (uint32_t i = 0; i < header.external_count; ++i)
      found.emplace_back(
          symbol_of(symbols[i], names, header.externals + i * sizeof(ExternalSymbol)), i);
    // ranges::stable_partition() gives a subrange, which Clang 14 does not compile.
    std::stable_partition(found.begin(), found.end(),
                          [](const auto& each) { return each.first.local; });
    number_of_external_.resize(found.size());
    for (const auto& [symbol, number] : found) {
      number_of_external_[number] = static_cast<uint32_t>(image_.symbols.size());
      image_.symbols.push_back(symbol);
    }
  }

  Symbol symbol_of(const ExternalSymbol& record, std::span<const uint8_t> names, uint64_t offset) {
    const unsigned type = record.bits & kTypeMask,
                   storage = record.bits >> kClassShift & kClassMask;
    Symbol symbol;
    symbol.name = text(names, record.name, offset);
    symbol.value = record.value;
    symbol.raw = static_cast<uint8_t>(kFromFile | type);
    symbol.visibility = static_cast<uint8_t>(storage | (record.flags & kFlagsMask) << kFlagsShift);
    symbol.local = type == kStaticProcedure;
    symbol.section = section_of(symbol.value, storage);
    if (!symbol.defined_in_section()) return symbol;
    if (!image_.sections[symbol.section].executable())
      symbol.type = Symbol::Type::object;
    else if (type == kProcedure || type == kStaticProcedure)
      symbol.type = Symbol::Type::procedure;
    return symbol;
  }

  /// The section that holds a symbol's value. A value outside all sections is a number.
  uint32_t section_of(uint64_t value, unsigned storage) const {
    if (storage == kClassUndefined || storage == kClassSmallUndefined) return Symbol::kUndefined;
    const Section* section = image_.section_at(value);
    return section == nullptr ? Symbol::kReserved : number_of(*section);
  }

  // ---- relocations

  uint32_t number_of(const Section& section) const {
    return static_cast<uint32_t>(&section - image_.sections.data());
  }

  std::vector<Relocation>& relocations_of(uint32_t section) {
    for (RelocationTable& table : image_.relocations)
      if (table.target == section) return table.relocations;
    return image_.relocations.emplace_back(RelocationTable{0, section, {}}).relocations;
  }

  void read_relocations() {
    for (uint32_t i = 0; i < headers_.sections.size(); ++i) {
      const SectionHeader& header = headers_.sections[i];
      if (header.relocation_count == 0 || !header.loaded()) continue;
      const auto* records =
          reinterpret_cast<const RelocationRecord*>(file_.data() + header.relocations);
      std::vector<Relocation>& relocations = relocations_of(i + 1);
      relocations.reserve(header.relocation_count);
      for (uint32_t j = 0; j < header.relocation_count; ++j)
        if (records[j].type != kIgnore && !names_nothing(records[j]))
          relocations.push_back(relocation_of(records[j], image_.sections[i + 1],
                                              header.relocations + j * sizeof(RelocationRecord)));
      std::ranges::stable_sort(relocations, {}, &Relocation::address);
    }
  }

  /// Whether a word holds a number to which nothing is added. If the number looks like an address,
  /// the lifter notices that it has no relocation.
  static bool names_nothing(const RelocationRecord& record) {
    const RelocationRole role = role_of(record.type);
    return (role == RelocationRole::address64 || role == RelocationRole::address32) &&
           (record.external_and_offset & 1) == 0 && section_of_number(record.symbol).empty();
  }

  Relocation relocation_of(const RelocationRecord& record, const Section& section,
                           uint64_t offset) const {
    Relocation relocation{.address = record.address, .role = role_of(record.type)};
    relocation.raw = static_cast<uint16_t>(record.type | (record.size >> 2) << kSizeShift);
    const uint64_t at = relocation.address - section.address;
    if (at > section.contents.size() || section.contents.size() - at < width_of(relocation.role))
      fail(fmt::format("a relocation of {:#x} is not in its section {}", relocation.address,
                       section.name),
           offset);
    if (record.type == kLiteralUse || record.type == kGpDisplacement) {
      relocation.addend = static_cast<int32_t>(uint32_t{record.symbol});
      return relocation;
    }
    relocation.symbol = symbol_number(record, offset);
    const uint8_t* bytes = section.contents.data() + at;
    if (relocation.role == RelocationRole::address64)
      refer(relocation, load<uint64_t>(bytes));
    else if (relocation.role == RelocationRole::address32)
      refer(relocation, load<uint32_t>(bytes));
    return relocation;
  }

  uint32_t symbol_number(const RelocationRecord& record, uint64_t offset) const {
    const uint32_t number = record.symbol;
    if ((record.external_and_offset & 1) != 0) {
      if (number >= number_of_external_.size())
        fail(fmt::format("a relocation names the symbol {}, which does not exist", number), offset);
      return number_of_external_[number];
    }
    const std::string_view name = section_of_number(number);
    if (name.empty()) {
      constexpr uint32_t kAbsolute = 14;  // R_SN_ABS
      if (number != 0 && number != kAbsolute)
        fail(fmt::format("a relocation names the section {}, which is not known", number), offset);
      return 0;
    }
    const Section* section = image_.section_named(neutral_name(name));
    if (section == nullptr)
      fail(fmt::format("a relocation names the section {}, which does not exist", name), offset);
    return number_of(*section);  // its symbol has the same number
  }

  /// Makes symbol and addend express the address. A number of a kind of section stands for all
  /// sections of that kind: the section that holds the address counts.
  void refer(Relocation& relocation, uint64_t address) const {
    const bool is_section = image_.symbols[relocation.symbol].type == Symbol::Type::section;
    const Section* section = is_section ? image_.section_at(address) : nullptr;
    if (section != nullptr && section->executable() &&
        image_.sections[relocation.symbol].executable())
      relocation.symbol = number_of(*section);
    relocation.addend = static_cast<int64_t>(address - image_.symbols[relocation.symbol].value);
  }

  std::span<const uint8_t> file_;
  Headers headers_;
  Image image_;
  std::vector<uint32_t> number_of_external_;  // in image_.symbols, by number in the file
  BoundedNames names_;
};

}  // namespace

Image read(std::span<const uint8_t> bytes, const std::string& name) {
  return Reader(bytes, name).read();
}

}  // namespace respike::ecoff
