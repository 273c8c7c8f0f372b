// Reads an ELF64 little-endian executable or shared library into an Image.
//
// The file is not trusted. Every offset, size and index is checked before it is used, so that the
// rest of Respike can rely on an Image: sections and segments are inside the file, allocated
// sections are in a loaded segment at matching offsets and do not overlap, symbols name existing
// sections, relocations name existing symbols and are in the section they apply to. A check that
// fails throws one Error that names the file and the place. LLVM declares the records; the checks
// are here: LLVM's own checks differ from accessor to accessor and give no offsets, and its
// ELFObjectFile identifies machines by triples, and Alpha has no triple.
//
// Example: symbol 7 of section 99 in a file with 30 sections ends in "symbol 7 is in section 99,
// which does not exist".
//
// The file stays mapped as long as the Image lives. Names of symbols and contents of sections point
// into the mapping; symbols and relocations are copied once into flat vectors, so a file of 150 MB
// costs little more than its tables. Memory and time are bounded by the size of the file: in a
// damaged file many section headers may claim the same bytes, or many symbols may end in the same
// long name, so contents, relocations and lengths of names are counted against a budget.
//
// Limits: extended section numbering (more than 65,279 sections) is not supported, nor is SHT_REL,
// which no machine that Respike knows uses.

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/image/container.h"
#include "optimizer/image/elf/elf.h"
#include "optimizer/image/elf/program_headers.h"
#include "optimizer/image/elf/relocation_roles.h"
#include "optimizer/image/elf/symbol_hash.h"
#include "optimizer/image/elf/symbol_other.h"
#include "optimizer/image/note.h"

namespace respike {

using namespace elf;
namespace ELF = llvm::ELF;

namespace {

constexpr size_t kLongestSectionName = 1024;
constexpr uint64_t kLargestFileAlignment = 0x10000;  // of a section that is not loaded
constexpr size_t kMostSegments = 256;  // each look-up of an address searches all of them

bool power_of_two_or_zero(uint64_t value) {
  return (value & (value - 1)) == 0;
}

Section::Kind kind_of(const SectionHeader& header) {
  switch (header.sh_type) {
    case ELF::SHT_PROGBITS:
    case ELF::SHT_INIT_ARRAY:
    case ELF::SHT_FINI_ARRAY:
    case ELF::SHT_PREINIT_ARRAY:
      return Section::Kind::contents;
    case ELF::SHT_NOBITS:
      return Section::Kind::zero;
    case ELF::SHT_NOTE:
      return Section::Kind::note;
    default:
      return Section::Kind::table;
  }
}

uint8_t properties_of(const SectionHeader& header) {
  const auto property = [&](uint64_t flag, Section::Property meant) {
    return (header.sh_flags & flag) != 0 ? unsigned{meant} : 0;
  };
  return static_cast<uint8_t>(property(ELF::SHF_ALLOC, Section::kAllocated) |
                              property(ELF::SHF_EXECINSTR, Section::kExecutable) |
                              property(ELF::SHF_WRITE, Section::kWritable) |
                              property(ELF::SHF_TLS, Section::kThreadLocal));
}

/// One reading of one file. The steps of read() fill image_ in order; each step relies on the steps
/// before it.
class Reader {
 public:
  Reader(std::span<const uint8_t> bytes, std::string name) : bytes_(bytes) {
    image_.path = std::move(name);
    image_.file = bytes;
  }

  Image read() {
    check_identification();
    read_header();
    read_segments();
    read_sections();
    check_allocated_sections();
    find_loaded_end();
    find_appended();
    read_symbol_tables();
    read_relocations();
    read_dynamic_section();
    read_build_id();
    image_.kind = kind();
    return std::move(image_);
  }

 private:
  [[noreturn]] void fail(const std::string& message,
                         std::optional<uint64_t> offset = std::nullopt) const {
    throw Error(message, image_.path, offset);
  }
  bool in_file(uint64_t offset, uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }
  /// The records at `offset`, which are known to be inside the file.
  template <typename Record>
  std::span<const Record> records(uint64_t offset, uint64_t count) const {
    static_assert(alignof(Record) == 1);
    return {reinterpret_cast<const Record*>(bytes_.data() + offset), count};
  }
  template <typename Record>
  std::span<const Record> records_of(uint32_t section) const;
  uint64_t header_offset(uint32_t section) const {
    return header_->e_shoff + uint64_t{section} * sizeof(SectionHeader);
  }
  std::string title(uint32_t section) const {
    return fmt::format("section {} ({})", section, image_.sections[section].name);
  }

  void check_identification();
  void read_header();
  MachineId machine(uint16_t number) const;
  void read_segments();
  void check_segment(const Segment& segment, size_t number) const;
  void check_loaded_order() const;
  void read_sections();
  void check_section(const Section& section, uint32_t number) const;
  void check_file_sections() const;
  std::span<const uint8_t> string_table(uint32_t section, const std::string& user) const;
  std::string_view string_at(std::span<const uint8_t> table, uint64_t offset, size_t longest) const;
  void check_allocated_sections();
  void check_in_segment(uint32_t number) const;
  void find_loaded_end();
  void find_appended();
  void read_symbol_tables();
  std::vector<Symbol> read_symbols(uint32_t section) const;
  void find_unknown_names();
  void read_relocations();
  std::vector<Relocation> read_table(uint32_t section, const Section* target) const;
  std::vector<Relocation> read_packed_table(uint32_t section) const;
  LoaderEntry::Kind kind_of_entry(int64_t tag) const;
  void read_dynamic_section();
  void read_build_id();
  Image::Kind kind() const;

  std::span<const uint8_t> bytes_;
  const FileHeader* header_ = nullptr;
  uint32_t symbol_table_ = 0;  // section indices; 0 when absent
  uint32_t dynamic_symbol_table_ = 0;
  Image image_;
};

void Reader::check_identification() {
  if (bytes_.size() < sizeof(FileHeader))
    fail("the file is truncated: its ELF header is incomplete", bytes_.size());
  const uint8_t file_class = bytes_[ELF::EI_CLASS], data = bytes_[ELF::EI_DATA];
  if (file_class == ELF::ELFCLASS32) fail("this is a 32-bit ELF file; only 64-bit is supported");
  if (file_class != ELF::ELFCLASS64)
    fail(fmt::format("the ELF class {} is unknown", file_class), ELF::EI_CLASS);
  if (data == ELF::ELFDATA2MSB)
    fail("this is a big-endian ELF file; only little-endian is supported");
  if (data != ELF::ELFDATA2LSB)
    fail(fmt::format("the ELF byte order {} is unknown", data), ELF::EI_DATA);
  if (bytes_[ELF::EI_VERSION] != ELF::EV_CURRENT)
    fail(fmt::format("the ELF version {} is unknown", bytes_[ELF::EI_VERSION]), ELF::EI_VERSION);
}

MachineId Reader::machine(uint16_t number) const {
  if (const auto known = machine_of_number(number)) return *known;
  const llvm::StringRef name = ELF::convertEMachineToArchName(number);
  fail(fmt::format("the file is for machine {} ({}); supported are Alpha, IA-64 and x86-64", number,
                   name.empty() ? "unknown" : name.str()),
       offsetof(FileHeader, e_machine));
}

void Reader::read_header() {
  header_ = records<FileHeader>(0, 1).data();
  switch (header_->e_type) {
    case ELF::ET_EXEC:
    case ELF::ET_DYN:
      break;
    case ELF::ET_REL:
      fail("this is a relocatable object file (.o), not a linked image");
    case ELF::ET_CORE:
      fail("this is a core file, not a linked image");
    default:
      fail(fmt::format("the ELF file type {} is unknown", uint16_t{header_->e_type}),
           offsetof(FileHeader, e_type));
  }
  image_.container = &container;
  image_.format = "ELF64";
  image_.machine = machine(header_->e_machine);
  image_.entry = header_->e_entry;
}

void Reader::read_segments() {
  const uint64_t count = header_->e_phnum;
  if (count == 0) fail("the file has no program headers", offsetof(FileHeader, e_phnum));
  if (count > kMostSegments)
    fail(fmt::format("the file has {} program headers; at most {} are supported", count,
                     kMostSegments),
         offsetof(FileHeader, e_phnum));
  if (header_->e_phentsize != sizeof(ProgramHeader))
    fail("the size of a program header is not 56", offsetof(FileHeader, e_phentsize));
  if (!in_file(header_->e_phoff, count * sizeof(ProgramHeader)))
    fail("the program headers lie beyond the end of the file", header_->e_phoff);
  image_.segments.reserve(count);
  for (const ProgramHeader& header : records<ProgramHeader>(header_->e_phoff, count)) {
    const Segment segment = segment_of(header);
    check_segment(segment, image_.segments.size());
    image_.segments.push_back(segment);
  }
  check_loaded_order();
}

void Reader::check_segment(const Segment& segment, size_t number) const {
  if (segment.raw.type == ELF::PT_NULL) return;
  const uint64_t at = header_->e_phoff + number * sizeof(ProgramHeader);
  const auto title = [&] { return fmt::format("segment {}", number); };
  // A debug file has segments without any contents in the file.
  if (segment.file_size != 0 && !in_file(segment.offset, segment.file_size))
    fail(title() + " lies beyond the end of the file", at);
  if (segment.memory_size > std::numeric_limits<uint64_t>::max() - segment.address)
    fail(title() + " ends beyond the address space", at);
  if (!power_of_two_or_zero(segment.alignment))
    fail(title() + " has an alignment that is not a power of two", at);
  if (!segment.loaded()) return;
  if (segment.file_size > segment.memory_size)
    fail(title() + " is larger in the file than in memory", at);
  if (segment.alignment > 1 && (segment.address - segment.offset) % segment.alignment != 0)
    fail(title() + " has a file offset that does not fit its address and alignment", at);
}

void Reader::check_loaded_order() const {
  uint64_t end = 0;
  for (size_t i = 0; i < image_.segments.size(); ++i) {
    const Segment& segment = image_.segments[i];
    if (!segment.loaded()) continue;
    if (segment.address < end)
      fail(fmt::format("segment {} is out of order or overlaps the one before it", i),
           header_->e_phoff + i * sizeof(ProgramHeader));
    end = segment.address + segment.memory_size;
  }
  if (end == 0) fail("the file has no segment to load", header_->e_phoff);
}

void Reader::read_sections() {
  const uint64_t count = header_->e_shnum;
  if (count == 0 && header_->e_shoff == 0) fail("the file has no section headers");
  if (count == 0 || count >= kFirstReservedSection)
    fail("the file has more than 65,279 sections", offsetof(FileHeader, e_shnum));
  if (header_->e_shentsize != sizeof(SectionHeader))
    fail("the size of a section header is not 64", offsetof(FileHeader, e_shentsize));
  if (!in_file(header_->e_shoff, count * sizeof(SectionHeader)))
    fail("the section headers lie beyond the end of the file", header_->e_shoff);
  const auto headers = records<SectionHeader>(header_->e_shoff, count);
  image_.sections.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    const SectionHeader& header = headers[i];
    Section& section = image_.sections[i];
    section.kind = kind_of(header);
    section.properties = properties_of(header);
    section.address = header.sh_addr;
    section.offset = header.sh_offset;
    section.size = header.sh_size;
    section.alignment = std::max<uint64_t>(header.sh_addralign, 1);
    section.raw = {.flags = header.sh_flags,
                   .entry_size = header.sh_entsize,
                   .type = header.sh_type,
                   .link = header.sh_link,
                   .info = header.sh_info};
    check_section(section, i);
    if (i != 0 && section.kind != Section::Kind::zero)
      section.contents = bytes_.subspan(section.offset, section.size);
  }
  const auto names = string_table(header_->e_shstrndx, "the ELF header");
  for (uint32_t i = 1; i < count; ++i)
    image_.sections[i].name = string_at(names, headers[i].sh_name, kLongestSectionName);
  check_file_sections();
  image_.index_sections();
}

/// Sections that are not loaded are copied one by one when the file is written. A file may claim
/// the same contents many times over. So neither the contents nor the padding between them may take
/// more space than the file has.
void Reader::check_file_sections() const {
  uint64_t contents = bytes_.size(), padding = bytes_.size() + 16 * kLargestFileAlignment;
  for (uint32_t i = 1; i < image_.sections.size(); ++i) {
    const Section& section = image_.sections[i];
    if (section.allocated() || section.kind == Section::Kind::zero) continue;
    if (section.size > contents) fail(title(i) + " overlaps other sections", header_offset(i));
    if (section.alignment > padding)
      fail("too many sections have large alignments", header_offset(i));
    contents -= section.size;
    padding -= section.alignment;
  }
}

void Reader::check_section(const Section& section, uint32_t number) const {
  const uint64_t at = header_offset(number);
  if (number == 0) {
    if (section.raw.type != ELF::SHT_NULL) fail("section 0 is not the null section", at);
    return;
  }
  const auto title = [&] { return fmt::format("section {}", number); };
  if (section.kind != Section::Kind::zero && !in_file(section.offset, section.size))
    fail(title() + " lies beyond the end of the file", at);
  if (section.size > std::numeric_limits<uint64_t>::max() - section.address)
    fail(title() + " ends beyond the address space", at);
  if (!power_of_two_or_zero(section.alignment))
    fail(title() + " has an alignment that is not a power of two", at);
  if (!section.allocated() && section.alignment > kLargestFileAlignment)
    fail(title() + " has an absurd alignment", at);
  if (section.raw.type == ELF::SHT_SYMTAB_SHNDX)
    fail("extended section numbering is not supported", at);
}

/// Contents of a string table. It ends in a NUL, so every offset in it starts a string.
std::span<const uint8_t> Reader::string_table(uint32_t section, const std::string& user) const {
  if (section == 0 || section >= image_.sections.size())
    fail(fmt::format("{} refers to string table {}, which does not exist", user, section));
  const Section& table = image_.sections[section];
  if (table.raw.type != ELF::SHT_STRTAB)
    fail(fmt::format("section {} should be a string table", section), header_offset(section));
  if (table.contents.empty() || table.contents.back() != 0)
    fail(fmt::format("string table {} does not end in a zero byte", section), table.offset);
  return table.contents;
}

std::string_view Reader::string_at(std::span<const uint8_t> table, uint64_t offset,
                                   size_t longest) const {
  const uint64_t at = table.data() - bytes_.data();
  if (offset >= table.size()) fail("a name lies beyond its string table", at);
  const char* text = reinterpret_cast<const char*>(table.data() + offset);
  const size_t length = strnlen(text, std::min<size_t>(longest + 1, table.size() - offset));
  if (length > longest) fail("a name is absurdly long", at + offset);
  return {text, length};
}

void Reader::find_loaded_end() {
  uint64_t& end = image_.loaded_end;
  end = std::max<uint64_t>(sizeof(FileHeader),
                           header_->e_phoff + image_.segments.size() * sizeof(ProgramHeader));
  for (const Segment& segment : image_.segments)
    if (segment.raw.type != ELF::PT_NULL && segment.file_size != 0)
      end = std::max(end, segment.offset + segment.file_size);
  for (const Section& section : image_.sections)
    // An empty section has a place in the file, too, and the output is not to end in front of it.
    if (section.allocated() && section.kind != Section::Kind::zero)
      end = std::max(end, section.offset + section.contents.size());
}

void Reader::find_appended() {
  uint64_t described = std::max<uint64_t>(
      image_.loaded_end, header_->e_shoff + image_.sections.size() * sizeof(SectionHeader));
  for (const Section& section : image_.sections)
    if (!section.contents.empty())
      described = std::max(described, section.offset + section.contents.size());
  image_.appended = bytes_.subspan(std::min<uint64_t>(described, bytes_.size()));
}

void Reader::check_allocated_sections() {
  std::vector<uint32_t> order;
  for (uint32_t i = 1; i < image_.sections.size(); ++i) {
    const Section& section = image_.sections[i];
    if (!section.allocated() || section.size == 0 || section.is_template_only()) continue;
    check_in_segment(i);
    order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return image_.sections[a].address < image_.sections[b].address;
  });
  for (size_t i = 1; i < order.size(); ++i) {
    const Section& before = image_.sections[order[i - 1]];
    if (image_.sections[order[i]].address - before.address < before.size)
      fail(fmt::format("{} overlaps {}", title(order[i]), title(order[i - 1])),
           header_offset(order[i]));
  }
}

/// An allocated section is inside one loaded segment, at the file offset that the segment implies.
void Reader::check_in_segment(uint32_t number) const {
  const Section& section = image_.sections[number];
  for (const Segment& segment : image_.segments) {
    if (!segment.loaded() || section.address < segment.address) continue;
    const uint64_t start = section.address - segment.address;
    if (start > segment.memory_size || section.size > segment.memory_size - start) continue;
    if (section.kind == Section::Kind::zero) return;
    if (section.offset != segment.offset + start || start > segment.file_size ||
        section.size > segment.file_size - start)
      fail(title(number) + " has a file offset that does not fit its segment",
           header_offset(number));
    return;
  }
  fail(title(number) + " lies in no loaded segment", header_offset(number));
}

template <typename Record>
std::span<const Record> Reader::records_of(uint32_t section) const {
  const Section& s = image_.sections[section];
  if (s.kind == Section::Kind::zero || s.raw.entry_size != sizeof(Record) ||
      s.size % sizeof(Record) != 0)
    fail(fmt::format("{} does not consist of entries of {} bytes", title(section), sizeof(Record)),
         header_offset(section));
  return records<Record>(s.offset, s.size / sizeof(Record));
}

void Reader::read_symbol_tables() {
  for (uint32_t i = 1; i < image_.sections.size(); ++i) {
    const uint32_t type = image_.sections[i].raw.type;
    if (type != ELF::SHT_SYMTAB && type != ELF::SHT_DYNSYM) continue;
    uint32_t& known = type == ELF::SHT_SYMTAB ? symbol_table_ : dynamic_symbol_table_;
    if (known != 0) fail(title(i) + " is a second symbol table of its kind", header_offset(i));
    if (image_.sections[i].allocated() != (type == ELF::SHT_DYNSYM))
      fail(title(i) + " is a symbol table that should not be loaded, or should", header_offset(i));
    known = i;
  }
  if (symbol_table_ != 0) image_.symbols = read_symbols(symbol_table_);
  if (dynamic_symbol_table_ != 0) image_.dynamic_symbols = read_symbols(dynamic_symbol_table_);
  find_unknown_names();
}

Symbol::Type symbol_type(uint8_t number) {
  switch (number) {
    case ELF::STT_NOTYPE:
      return Symbol::Type::none;
    case ELF::STT_OBJECT:
      return Symbol::Type::object;
    case ELF::STT_FUNC:
    case ELF::STT_GNU_IFUNC:
      return Symbol::Type::procedure;
    case ELF::STT_SECTION:
      return Symbol::Type::section;
    case ELF::STT_FILE:
      return Symbol::Type::file;
    case ELF::STT_COMMON:
      return Symbol::Type::common;
    case ELF::STT_TLS:
      return Symbol::Type::tls;
    default:
      return Symbol::Type::other;
  }
}

/// Protected symbols that no chain of the hash table leads to cannot be found by their names: in
/// outputs without .gnu.hash these are the names of fragments.
void Reader::find_unknown_names() {
  const Section* hash = nullptr;
  for (const Section& section : image_.sections) {
    if (section.raw.type == ELF::SHT_GNU_HASH) return;
    if (section.raw.type == ELF::SHT_HASH && section.allocated()) hash = &section;
  }
  if (hash == nullptr) return;
  const auto chained = chained_symbols(*hash, image_.dynamic_symbols.size());
  for (size_t i = 1; i < chained.size(); ++i)
    if (!chained[i] && image_.dynamic_symbols[i].visibility == ELF::STV_PROTECTED)
      image_.dynamic_symbols[i].local = true;
}

/// Dynamic linkers do not find hidden symbols of other objects (gABI chapter 4, Symbol Visibility).
bool is_hidden(const SymbolRecord& record) {
  const uint8_t visibility = record.getVisibility();
  return visibility == ELF::STV_HIDDEN || visibility == ELF::STV_INTERNAL;
}

std::vector<Symbol> Reader::read_symbols(uint32_t section) const {
  const Section& table = image_.sections[section];
  const auto records = records_of<SymbolRecord>(section);
  const auto names = string_table(table.raw.link, title(section));
  if (table.raw.info > records.size())
    fail(title(section) + " has fewer symbols than local symbols", header_offset(section));
  // Names may share suffixes, but only to a limit.
  size_t name_budget = 16 * names.size() + 256 * records.size();
  std::vector<Symbol> symbols(records.size());
  for (size_t i = 0; i < records.size(); ++i) {
    const SymbolRecord& record = records[i];
    const uint64_t at = table.offset + i * sizeof(SymbolRecord);
    Symbol& symbol = symbols[i];
    if (record.st_name >= names.size())
      fail(fmt::format("the name of symbol {} is missing", i), at);
    symbol.name = string_at(names, record.st_name, name_budget);
    name_budget -= symbol.name.size();
    symbol.value = record.st_value;
    symbol.size = record.st_size;
    const uint32_t section_number = record.st_shndx;
    const bool is_reserved = section_number >= kFirstReservedSection;
    symbol.section = is_reserved ? Symbol::kReserved + section_number : section_number;
    symbol.raw = record.st_info;
    symbol.type = symbol_type(record.getType());
    symbol.local =
        record.getBinding() == ELF::STB_LOCAL || (table.allocated() && is_hidden(record));
    read_symbol_other(image_.machine, record.st_other, symbol);
    if (section_number == ELF::SHN_XINDEX ||
        (!is_reserved && section_number >= image_.sections.size()))
      fail(
          fmt::format(
              "stripped although it has relocations (strip the output instead), or damaged: symbol "
              "{} is in section {}, which does not exist",
              i, section_number),
          at);
    if (!table.allocated() && symbol.local != (i < table.raw.info))
      fail(fmt::format("symbol {} is on the wrong side of the first global symbol", i), at);
  }
  return symbols;
}

void Reader::read_relocations() {
  uint64_t budget = bytes_.size();
  for (uint32_t i = 1; i < image_.sections.size(); ++i) {
    const Section& section = image_.sections[i];
    if (section.raw.type == ELF::SHT_REL)
      fail(title(i) + " has relocations without addends, which are not supported",
           header_offset(i));
    if (section.raw.type == ELF::SHT_RELR && section.allocated() && section.size != 0)
      image_.dynamic_relocations.push_back({i, true, read_packed_table(i)});
    if (section.raw.type != ELF::SHT_RELA || (section.size == 0 && section.allocated())) continue;
    const Section* target = nullptr;
    if (!section.allocated()) {
      if (section.raw.info == 0 || section.raw.info >= image_.sections.size())
        fail(title(i) + " applies to a section that does not exist", header_offset(i));
      target = &image_.sections[section.raw.info];
      // In a debug file the contents to which the linker's relocations apply are missing.
      if (!target->allocated() || target->kind == Section::Kind::zero) continue;
      // The linker may leave relocations of parts that it removed (binutils 2.40).
      if (target->name == kStackTraces) continue;
    }
    if (section.size > budget)
      fail(title(i) + " overlaps another relocation section", header_offset(i));
    budget -= section.size;
    if (target == nullptr)
      image_.dynamic_relocations.push_back({i, false, read_table(i, nullptr)});
    else
      image_.relocations.push_back({i, section.raw.info, read_table(i, target)});
  }
}

/// `target`: the section that kept relocations apply to; nullptr for dynamic relocations.
std::vector<Relocation> Reader::read_table(uint32_t section, const Section* target) const {
  const Section& table = image_.sections[section];
  const auto records = records_of<RelaRecord>(section);
  const uint32_t symbol_table = target != nullptr ? symbol_table_ : dynamic_symbol_table_;
  // Start-up code of static programs applies relocations that have no symbols (IRELATIVE).
  const bool without_symbols =
      target == nullptr && (table.raw.link == 0 || dynamic_symbol_table_ == 0);
  if (!without_symbols && (symbol_table == 0 || table.raw.link != symbol_table))
    fail(title(section) + " does not refer to the symbol table", header_offset(section));
  const size_t symbol_count =
      without_symbols ? 1 : (target != nullptr ? image_.symbols : image_.dynamic_symbols).size();
  const RelocationRoles roles = relocation_roles(image_.machine);
  std::vector<Relocation> relocations;
  relocations.reserve(records.size());
  for (size_t i = 0; i < records.size(); ++i) {
    const RelaRecord& record = records[i];
    const uint32_t number = record.getType(false);
    const Relocation relocation{.address = record.r_offset,
                                .addend = record.r_addend,
                                .symbol = record.getSymbol(false),
                                .raw = static_cast<uint16_t>(number),
                                .role = roles[number]};
    const uint64_t at = table.offset + i * sizeof(RelaRecord);
    if (number > UINT16_MAX)
      fail(fmt::format("a relocation has type {}, which no machine has", number), at);
    if (relocation.symbol >= symbol_count)
      fail(fmt::format("a relocation refers to symbol {}, which does not exist", relocation.symbol),
           at);
    if (target != nullptr && !target->contains(relocation.address)) {
      // The linker clears relocations of merged contents (frame descriptions, strings).
      if (number == 0) continue;
      fail(fmt::format("a relocation at address {:#x} lies outside {}", relocation.address,
                       target->name),
           at);
    }
    relocations.push_back(relocation);
  }
  const auto by_address = [](const Relocation& a, const Relocation& b) {
    return a.address < b.address;
  };
  if (target != nullptr && !std::is_sorted(relocations.begin(), relocations.end(), by_address))
    std::stable_sort(relocations.begin(), relocations.end(), by_address);
  return relocations;
}

/// gABI (draft of 2018), section "Relative Relocation Table": an even entry is the address of a
/// word to relocate; an odd entry has a bit for each of the 63 words after the words covered so
/// far. Example: the entries 0x4000 and 0b1011 relocate the words at 0x4000, 0x4008 and 0x4018.
std::vector<Relocation> Reader::read_packed_table(uint32_t section) const {
  constexpr uint64_t kWord = sizeof(uint64_t), kBits = 63;
  std::vector<Relocation> relocations;
  uint64_t next = 0;  // the word of an odd entry's first bit
  uint64_t told = 0;  // end of the last word covered; words ascend, and may be unaligned
  const auto add = [&](uint64_t address, uint64_t entry) {
    const auto word = image_.bytes_at(address, kWord);
    if (!word)
      fail(fmt::format("a packed relocation at address {:#x} lies outside of the file's memory",
                       address),
           entry);
    relocations.push_back({.address = address,
                           .addend = load<int64_t>(word->data()),
                           .role = RelocationRole::address64});
    told = address + kWord;
  };
  const auto entries = records_of<llvm::support::ulittle64_t>(section);
  for (size_t i = 0; i < entries.size(); ++i) {
    const uint64_t entry = entries[i], at = image_.sections[section].offset + i * kWord;
    if (entry % 2 == 0) {
      if (entry < told) fail(title(section) + " is not in the order of addresses", at);
      add(entry, at);
      next = entry + kWord;
      continue;
    }
    if (next == 0) fail(title(section) + " does not start with an address", at);
    for (uint64_t bit = 0; bit < kBits; ++bit)
      if ((entry >> (bit + 1) & 1) != 0) add(next + bit * kWord, at);
    next += kBits * kWord;
  }
  return relocations;
}

/// The meaning of a tag for the core. On IA-64 DT_PLTGOT is gp (Intel Itanium Processor-specific
/// ABI, section 5.3), elsewhere the address of a table.
LoaderEntry::Kind Reader::kind_of_entry(int64_t tag) const {
  switch (tag) {
    case ELF::DT_INIT:
      return LoaderEntry::Kind::initializer;
    case ELF::DT_FINI:
      return LoaderEntry::Kind::finalizer;
    case ELF::DT_GNU_HASH:
      return LoaderEntry::Kind::symbol_lookup;
    case ELF::DT_STRSZ:
      return LoaderEntry::Kind::names_size;
    case ELF::DT_PLTGOT:
      return image_.machine == MachineId::ia64 ? LoaderEntry::Kind::global_pointer
                                               : LoaderEntry::Kind::other;
    default:
      return LoaderEntry::Kind::other;
  }
}

void Reader::read_dynamic_section() {
  uint32_t dynamic = 0;
  for (uint32_t i = 1; i < image_.sections.size(); ++i) {
    if (image_.sections[i].raw.type != ELF::SHT_DYNAMIC) continue;
    if (dynamic != 0) fail(title(i) + " is a second dynamic section", header_offset(i));
    dynamic = i;
  }
  if (dynamic == 0) return;
  image_.dynamic = true;
  for (const DynamicRecord& record : records_of<DynamicRecord>(dynamic)) {
    if (record.getTag() == ELF::DT_NULL) return;
    const int64_t tag = record.getTag();
    image_.loader_entries.push_back({kind_of_entry(tag), tag, record.getVal()});
  }
  fail(title(dynamic) + " has no terminator", image_.sections[dynamic].offset);
}

void Reader::read_build_id() {
  const Section* section = image_.section_named(".note.gnu.build-id");
  if (section == nullptr || section->kind != Section::Kind::note) return;
  const auto id = find_note(section->contents, section->alignment, "GNU", ELF::NT_GNU_BUILD_ID);
  if (!id) fail("the build-id note is damaged", section->offset);
  for (const uint8_t byte : *id) image_.build_id += fmt::format("{:02x}", byte);
}

/// A linker that knows DF_1_PIE marks a program with it. Otherwise an image with an interpreter and
/// no name is a program. (libc.so has an interpreter and a name: it is a library that can be run.)
Image::Kind Reader::kind() const {
  if (header_->e_type == ELF::ET_EXEC) return Image::Kind::executable;
  bool has_name = false;
  for (const auto& [entry_kind, tag, value] : image_.loader_entries) {
    if (tag == ELF::DT_FLAGS_1 && (value & ELF::DF_1_PIE) != 0) return Image::Kind::pie;
    if (tag == ELF::DT_SONAME) has_name = true;
  }
  const bool has_interpreter = std::ranges::any_of(image_.segments, [](const Segment& segment) {
    return segment.kind == Segment::Kind::interpreter;
  });
  return has_interpreter && !has_name ? Image::Kind::pie : Image::Kind::shared_library;
}

}  // namespace

Image elf::read(std::span<const uint8_t> bytes, const std::string& name) {
  return Reader(bytes, name).read();
}

}  // namespace respike
