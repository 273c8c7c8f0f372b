// What the kernel and glibc's dynamic linker assume of an image.
//
// Problem: an image can be consistent by the gABI (System V ABI, chapters 4 and 5), run on one
// machine, and fail on another, since loaders take short cuts. Example: the symbol table moved and
// its names stayed. ld.so of one machine takes the negative distance between the two for the size
// of the symbol table.
//
// Idea: every short cut that a rewriter could meet is a rule here, one function each, with the
// place in the loader's source that relies on it (Linux 6.1, glibc 2.36). Faults that the reader of
// images refuses anyway (reader.cc: segments out of order or overlapping, offsets that do not fit
// addresses and alignments, sections outside of segments) are not checked again.
//
// Limits: contents that a rewriter never changes, such as the records of symbol versions, are
// compared byte by byte with the input's (check/same_program_data.cc).

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "optimizer/base/bytes.h"
#include "optimizer/image/elf/elf.h"
#include "optimizer/image/elf/layout.h"
#include "optimizer/image/elf/loader_rules.h"
#include "optimizer/image/elf/symbol_hash.h"

namespace respike {

using namespace elf;
namespace ELF = llvm::ELF;

namespace {

using Violation = std::optional<std::string>;

std::optional<uint64_t> dynamic_value(const Image& image, int64_t tag) {
  for (const LoaderEntry& entry : image.loader_entries)
    if (entry.raw == tag) return entry.value;
  return std::nullopt;
}

const Segment* segment_of_type(const Image& image, uint32_t type) {
  const auto found =
      std::ranges::find_if(image.segments, [&](const Segment& s) { return s.raw.type == type; });
  return found == image.segments.end() ? nullptr : &*found;
}

const Section* section_of_type(const Image& image, uint32_t type) {
  const auto found =
      std::ranges::find_if(image.sections, [&](const Section& s) { return s.raw.type == type; });
  return found == image.sections.end() ? nullptr : &*found;
}

/// The loaded segment whose memory holds all of [address, address + size), or nullptr.
const Segment* segment_holding(const Image& image, uint64_t address, uint64_t size) {
  for (const Segment& segment : image.segments)
    if (segment.loaded() && address >= segment.address &&
        address - segment.address <= segment.memory_size &&
        size <= segment.memory_size - (address - segment.address))
      return &segment;
  return nullptr;
}

const FileHeader& file_header(const Image& image) {
  return *reinterpret_cast<const FileHeader*>(image.file.data());
}

/// gABI chapter 5, Program Header, PT_PHDR and PT_INTERP: both come before all loadable segments.
Violation first_headers(const Image& image) {
  bool loaded = false;
  for (const Segment& segment : image.segments) {
    loaded |= segment.loaded();
    if (loaded && (segment.raw.type == ELF::PT_PHDR || segment.raw.type == ELF::PT_INTERP))
      return "the program header of the interpreter, or that of the program headers, comes behind "
             "a loaded segment";
  }
  return std::nullopt;
}

/// Linux fs/binfmt_elf.c, load_elf_binary and create_elf_tables (AT_PHDR); glibc elf/rtld.c,
/// rtld_setup_main_map, which takes the difference between AT_PHDR and PT_PHDR for the load
/// address.
Violation loaded_program_headers(const Image& image) {
  const FileHeader& header = file_header(image);
  const uint64_t size = uint64_t{header.e_phnum} * sizeof(ProgramHeader);
  const auto first = std::ranges::find_if(image.segments, &Segment::loaded);
  if (header.e_phoff < first->offset || header.e_phoff + size > first->offset + first->file_size)
    return "the program headers are not in the first loaded segment";
  const Segment* self = segment_of_type(image, ELF::PT_PHDR);
  if (self == nullptr) return std::nullopt;
  if (self->address != first->address + (header.e_phoff - first->offset) ||
      self->offset != header.e_phoff || self->memory_size != size)
    return "PT_PHDR does not say where the program headers are";
  return std::nullopt;
}

/// Linux fs/binfmt_elf.c, load_elf_binary: the name ends where PT_INTERP does.
Violation interpreter_name(const Image& image) {
  const Segment* interpreter = segment_of_type(image, ELF::PT_INTERP);
  if (interpreter == nullptr) return std::nullopt;
  const auto name = image.file.subspan(interpreter->offset, interpreter->file_size);
  if (name.size() < 2 || name.back() != 0 || name.front() == 0)
    return "PT_INTERP does not hold the name of an interpreter";
  return std::nullopt;
}

/// glibc elf/dl-map-segments.h, _dl_map_segments, and Linux fs/binfmt_elf.c, elf_map: segments are
/// mapped page by page, and the later mapping replaces what the earlier one has on the same page.
Violation segments_on_pages_of_their_own(const Image& image) {
  constexpr uint64_t kLargestPage = 0x10000;
  const Segment* before = nullptr;
  for (const Segment& segment : image.segments) {
    if (!segment.loaded() || segment.memory_size == 0) continue;
    const uint64_t page = std::clamp<uint64_t>(segment.alignment, 1, kLargestPage);
    if (before != nullptr &&
        segment.address / page * page < align_up(before->address + before->memory_size, page))
      return fmt::format("the loaded segment at {:#x} begins on a page of the one before it",
                         segment.address);
    before = &segment;
  }
  return std::nullopt;
}

/// gABI chapter 5: the parts that other program headers describe are found by address at run time
/// (glibc elf/dl-load.c: PT_DYNAMIC, PT_TLS, PT_NOTE; elf/dl-reloc.c, _dl_protect_relro) and by
/// offset in the file by tools, so both must be the same bytes of a loaded segment.
Violation described_bytes_are_loaded(const Image& image) {
  for (const Segment& segment : image.segments) {
    if (segment.loaded() || segment.raw.type == ELF::PT_NULL || segment.file_size == 0) continue;
    if (segment.address == 0) continue;  // not loaded
    if (image.offset_of(segment.address) != segment.offset ||
        !image.bytes_at(segment.address, segment.file_size))
      return fmt::format(
          "the program header of type {:#x} describes bytes at {:#x} that are not "
          "loaded from its place in the file",
          segment.raw.type, segment.address);
  }
  return std::nullopt;
}

/// glibc elf/dl-reloc.c, _dl_protect_relro: the range is made read-only after relocation, so it
/// must be memory of the image.
Violation relocated_memory_is_writable(const Image& image) {
  const Segment* relro = segment_of_type(image, ELF::PT_GNU_RELRO);
  if (relro == nullptr || relro->memory_size == 0) return std::nullopt;
  const Segment* holder = segment_holding(image, relro->address, 1);
  if (holder == nullptr || !holder->writable()) return "PT_GNU_RELRO describes no writable memory";
  return std::nullopt;
}

/// glibc elf/dl-load.c, _dl_process_pt_note; binutils and gdb find the build-id in the same way:
/// notes follow each other without a gap, up to the end of their PT_NOTE.
Violation whole_notes(const Image& image) {
  constexpr uint64_t kHeader = 12;
  for (const Segment& segment : image.segments) {
    if (segment.raw.type != ELF::PT_NOTE) continue;
    const auto notes = image.file.subspan(segment.offset, segment.file_size);
    const uint64_t alignment = segment.alignment == 8 ? 8 : 4;
    for (uint64_t at = 0; at < notes.size();) {
      const uint64_t left = notes.size() - at;
      if (left < kHeader) return "a PT_NOTE ends inside of a note";
      const uint64_t name = load<uint32_t>(&notes[at]), text = load<uint32_t>(&notes[at + 4]);
      const uint64_t size = align_up(align_up(kHeader + name, alignment) + text, alignment);
      if (align_up(kHeader + name, alignment) + text > left)
        return "a PT_NOTE ends inside of a note";
      at += size;
    }
  }
  return std::nullopt;
}

/// glibc elf/dl-fptr.c, make_fptr_table, which on machines with procedure descriptors takes the
/// distance from DT_SYMTAB to DT_STRTAB for the size of the symbol table; so does elf/dl-addr.c,
/// determine_info, for images without a hash table.
Violation names_behind_symbols(const Image& image) {
  const auto symbols = dynamic_value(image, ELF::DT_SYMTAB);
  const auto names = dynamic_value(image, ELF::DT_STRTAB);
  if (!symbols || !names) return std::nullopt;
  const uint64_t size = image.dynamic_symbols.size() * sizeof(SymbolRecord);
  if (*names < *symbols || *names - *symbols < size)
    return fmt::format(
        "the names of dynamic symbols (DT_STRTAB, {:#x}) do not come behind the "
        "symbols (DT_SYMTAB, {:#x}), whose number the dynamic linker takes from the "
        "distance",
        *names, *symbols);
  return std::nullopt;
}

/// glibc elf/dl-lookup.c, _dl_setup_hash, and elf/dl-addr.c, determine_info: DT_HASH says how many
/// symbols there are. Its entries have 4 bytes, on some machines 8 (gABI chapter 5, Hash Table).
Violation hash_counts_symbols(const Image& image) {
  const Section* hash = section_of_type(image, ELF::SHT_HASH);
  if (hash == nullptr || !hash->allocated() || !dynamic_value(image, ELF::DT_HASH))
    return std::nullopt;
  const uint64_t entry = hash->raw.entry_size == 8 ? 8 : 4;
  if (hash->contents.size() < 2 * entry) return "the hash table of dynamic symbols is too short";
  const uint64_t count =
      entry == 8 ? load<uint64_t>(&hash->contents[8]) : load<uint32_t>(&hash->contents[4]);
  if (count != image.dynamic_symbols.size())
    return fmt::format("DT_HASH says that there are {} dynamic symbols, but there are {}", count,
                       image.dynamic_symbols.size());
  return std::nullopt;
}

/// The first symbol that other images may look for and for which `is_found(number, name)` is false.
template <typename F>
Violation symbol_not_found(const Image& image, F is_found) {
  for (uint64_t i = 1; i < image.dynamic_symbols.size(); ++i) {
    const Symbol& symbol = image.dynamic_symbols[i];
    if (!symbol.local && symbol.section != Symbol::kUndefined && !is_found(i, symbol.name))
      return fmt::format("the dynamic linker would not find the symbol {}", symbol.name);
  }
  return std::nullopt;
}

/// glibc elf/dl-lookup.c, do_lookup_x: each symbol that other images may look for is found by its
/// name, in each of the hash tables. Where several symbols have one name, versions distinguish
/// them.
Violation symbols_are_found(const Image& image) {
  const Section* chains = section_of_type(image, ELF::SHT_GNU_HASH);
  if (chains != nullptr && dynamic_value(image, ELF::DT_GNU_HASH)) {
    const auto table = GnuHash::read(*chains, image.dynamic_symbols.size());
    const auto violation = symbol_not_found(image, [&](uint64_t number, std::string_view name) {
      if (!table) return false;
      return !table->knows(number) ||
             table->find(name, [&](uint64_t found) { return found == number; }) == number;
    });
    if (violation) return violation;
  }
  const Section* hash = section_of_type(image, ELF::SHT_HASH);
  if (hash == nullptr || !dynamic_value(image, ELF::DT_HASH)) return std::nullopt;
  return symbol_not_found(image, [&](uint64_t number, std::string_view name) {
    return find_by_hash(*hash, name, [&](uint64_t found) { return found == number; }) == number;
  });
}

/// glibc elf/dl-lookup.c, check_match: the version of symbol n is entry n.
Violation every_symbol_has_a_version(const Image& image) {
  const Section* versions = section_of_type(image, ELF::SHT_GNU_versym);
  if (versions == nullptr || !dynamic_value(image, ELF::DT_VERSYM)) return std::nullopt;
  if (versions->size != 2 * image.dynamic_symbols.size())
    return "the table of symbol versions has another length than that of dynamic symbols";
  return std::nullopt;
}

/// gABI chapter 5, Dynamic Section: the dynamic linker finds tables by the dynamic section, tools
/// find them by section headers; both must lead to the same table.
Violation dynamic_entries_lead_to_sections(const Image& image) {
  for (const auto& [kind, tag, value] : image.loader_entries) {
    const auto describes = [&, tag = tag](const Section& section) {
      return section.allocated() && dynamic_tag(section.raw.type) == tag;
    };
    if (std::ranges::none_of(image.sections, describes)) continue;
    const auto same = [&, value = value](const Section& section) {
      return describes(section) && section.address == value;
    };
    if (std::ranges::none_of(image.sections, same))
      return fmt::format("the dynamic entry {:#x} leads to {:#x}, where its section is not", tag,
                         value);
  }
  return std::nullopt;
}

/// glibc elf/get-dynamic-info.h, elf_get_dynamic_info, and elf/dynamic-link.h: tables are read at
/// their address in memory, with their size from the dynamic section.
Violation dynamic_tables_are_loaded(const Image& image) {
  constexpr std::array<std::pair<int64_t, int64_t>, 7> kTables = {
      {{ELF::DT_STRTAB, ELF::DT_STRSZ},
       {ELF::DT_RELA, ELF::DT_RELASZ},
       {ELF::DT_JMPREL, ELF::DT_PLTRELSZ},
       {ELF::DT_INIT_ARRAY, ELF::DT_INIT_ARRAYSZ},
       {ELF::DT_FINI_ARRAY, ELF::DT_FINI_ARRAYSZ},
       {ELF::DT_PREINIT_ARRAY, ELF::DT_PREINIT_ARRAYSZ},
       {ELF::DT_PLTGOT, 0}}};
  for (const auto& [tag, size_tag] : kTables) {
    const auto address = dynamic_value(image, tag);
    if (!address) continue;
    const uint64_t size = size_tag == 0 ? 1 : dynamic_value(image, size_tag).value_or(0);
    if (size == 0) continue;
    if (segment_holding(image, *address, size) == nullptr)
      return fmt::format("the table of the dynamic entry {:#x} at {:#x} is not loaded", tag,
                         *address);
  }
  return std::nullopt;
}

/// glibc elf/get-dynamic-info.h asserts the sizes of entries.
Violation sizes_of_entries(const Image& image) {
  if (dynamic_value(image, ELF::DT_SYMENT).value_or(sizeof(SymbolRecord)) != sizeof(SymbolRecord) ||
      dynamic_value(image, ELF::DT_RELAENT).value_or(sizeof(RelaRecord)) != sizeof(RelaRecord))
    return "the dynamic section gives another size of symbols or relocations";
  return std::nullopt;
}

/// glibc elf/do-rel.h, elf_dynamic_do_Rela: the first DT_RELACOUNT relocations only add the load
/// address; their types are ignored.
Violation relative_relocations_first(const Image& image) {
  const auto count = dynamic_value(image, ELF::DT_RELACOUNT);
  const auto address = dynamic_value(image, ELF::DT_RELA);
  if (!count || *count == 0 || !address) return std::nullopt;
  for (const DynamicRelocationTable& table : image.dynamic_relocations) {
    if (image.sections[table.section].address != *address) continue;
    if (table.relocations.size() < *count)
      return "DT_RELACOUNT is larger than the table of relocations";
    const uint16_t relative = table.relocations.front().raw;
    for (uint64_t i = 0; i < *count; ++i)
      if (table.relocations[i].raw != relative || table.relocations[i].symbol != 0)
        return fmt::format(
            "the dynamic relocation of {:#x} is not relative, but is one of the "
            "first DT_RELACOUNT",
            table.relocations[i].address);
  }
  return std::nullopt;
}

constexpr ImageRule kRules[] = {
    {"first_headers", first_headers},
    {"loaded_program_headers", loaded_program_headers},
    {"interpreter_name", interpreter_name},
    {"segments_on_pages_of_their_own", segments_on_pages_of_their_own},
    {"described_bytes_are_loaded", described_bytes_are_loaded},
    {"relocated_memory_is_writable", relocated_memory_is_writable},
    {"whole_notes", whole_notes},
    {"names_behind_symbols", names_behind_symbols},
    {"hash_counts_symbols", hash_counts_symbols},
    {"symbols_are_found", symbols_are_found},
    {"every_symbol_has_a_version", every_symbol_has_a_version},
    {"dynamic_entries_lead_to_sections", dynamic_entries_lead_to_sections},
    {"dynamic_tables_are_loaded", dynamic_tables_are_loaded},
    {"sizes_of_entries", sizes_of_entries},
    {"relative_relocations_first", relative_relocations_first},
};

}  // namespace

std::span<const ImageRule> elf::loader_rules() {
  return kRules;
}

}  // namespace respike
