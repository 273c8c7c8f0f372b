// Writes a debug file for an output.
//
// A debug file has the outline of its image: the same program headers, and the same headers of
// allocated sections, but without contents (SHT_NOBITS). So debuggers find out how far the image
// was moved in memory, and which section a symbol is in. Only notes have contents, since the
// build-id identifies the image of the file. Everything that is not allocated comes from the debug
// file of the input, with the rewriter's changes, except:
//
// - relocations that the linker kept: they refer to contents that the file does not have;
// - .gnu_debuglink and the note of Respike, which belong to the image;
// - symbols of sections that are not allocated: no relocation refers to them any more.
//
// Example of a file:
//
//   ELF header, program headers
//   notes, at the same distance from each other as in the image
//   .comment, .debug_info, ..., .symtab, .strtab, .shstrtab
//   section headers: .interp without contents, .note.gnu.build-id, .text without contents, ...
//
// A segment with notes holds them in the file, at an offset that fits its alignment; other segments
// hold nothing.

#include "optimizer/image/debug_file.h"

#include <llvm/MC/StringTableBuilder.h>

#include <algorithm>
#include <limits>

#include "optimizer/base/bytes.h"
#include "optimizer/image/elf/tables.h"
#include "optimizer/image/provenance.h"

namespace respike {

using namespace elf;
namespace ELF = llvm::ELF;

namespace {

struct FileSection {
  std::string_view name;
  SectionHeader header = {};
  std::span<const uint8_t> contents;
};

class DebugFileWriter {
 public:
  DebugFileWriter(const Image& debug, const NewDebugFile& changes, const Image& output)
      : debug_(debug), changes_(changes), output_(output) {}

  std::vector<uint8_t> write() {
    take_program_headers();
    add_allocated_sections();
    place_notes();
    add_debug_sections();
    add_symbols();
    add_section_names();
    if (sections_.size() >= kFirstReservedSection)
      throw Error("the new debug file would have too many sections", debug_.path);
    return fill();
  }

 private:
  uint64_t end_of_headers() const {
    return sizeof(FileHeader) + segments_.size() * sizeof(ProgramHeader);
  }
  FileSection& add(std::string_view name, const Section& like);
  void take_program_headers();
  void add_allocated_sections();
  void place_notes();
  void place_segment(ProgramHeader& segment, std::vector<bool>& placed);
  void add_debug_sections();
  bool is_left_out(uint32_t section) const;
  void place(FileSection& section);
  void add_symbols();
  void add_section_names();
  std::vector<uint8_t> fill() const;

  const Image& debug_;
  const NewDebugFile& changes_;
  const Image& output_;
  std::vector<ProgramHeader> segments_;
  std::vector<FileSection> sections_;
  std::vector<uint32_t> index_;  // here, of sections of the output
  uint64_t end_ = 0;             // of the parts placed in the file
  std::vector<SymbolRecord> symbols_;
  std::vector<uint8_t> symbol_bytes_, names_, section_names_;
};

FileSection& DebugFileWriter::add(std::string_view name, const Section& like) {
  FileSection& section = sections_.emplace_back();
  section.name = name;
  SectionHeader& header = section.header;
  header.sh_type = like.raw.type;
  header.sh_flags = like.raw.flags;
  header.sh_addr = like.address;
  header.sh_size = like.size;
  header.sh_addralign = like.alignment;
  header.sh_entsize = like.raw.entry_size;
  return section;
}

void DebugFileWriter::take_program_headers() {
  const auto& file = *reinterpret_cast<const FileHeader*>(output_.file.data());
  const auto* headers = reinterpret_cast<const ProgramHeader*>(output_.file.data() + file.e_phoff);
  segments_.assign(headers, headers + output_.segments.size());
  end_ = end_of_headers();
}

void DebugFileWriter::add_allocated_sections() {
  sections_.emplace_back();
  index_.resize(output_.sections.size());
  for (uint32_t i = 1; i < output_.sections.size(); ++i) {
    const Section& section = output_.sections[i];
    if (!section.allocated()) continue;
    index_[i] = static_cast<uint32_t>(sections_.size());
    FileSection& made = add(section.name, section);
    if (section.kind == Section::Kind::note)
      made.contents = section.contents;
    else
      made.header.sh_type = ELF::SHT_NOBITS;
    made.header.sh_info = section.raw.info;
  }
  for (uint32_t i = 1; i < output_.sections.size(); ++i) {
    if (index_[i] == 0) continue;
    const auto& raw = output_.sections[i].raw;
    SectionHeader& header = sections_[index_[i]].header;
    header.sh_link = raw.link < index_.size() ? index_[raw.link] : 0;
    if ((raw.flags & ELF::SHF_INFO_LINK) != 0)
      header.sh_info = raw.info < index_.size() ? index_[raw.info] : 0;
  }
}

bool is_inside(uint64_t address, uint64_t size, const ProgramHeader& segment) {
  return address >= segment.p_vaddr && address - segment.p_vaddr <= segment.p_memsz &&
         size <= segment.p_memsz - (address - segment.p_vaddr);
}

/// Gives the segment's notes their places, and the segment the extent of these notes in the file.
void DebugFileWriter::place_segment(ProgramHeader& segment, std::vector<bool>& placed) {
  constexpr uint64_t kLargestGap = uint64_t{1} << 20;  // bytes before notes
  uint64_t start = std::numeric_limits<uint64_t>::max(), end = 0;
  std::vector<size_t> notes;
  for (size_t i = 1; i < sections_.size(); ++i) {
    const SectionHeader& header = sections_[i].header;
    if (header.sh_type != ELF::SHT_NOTE || placed[i] ||
        !is_inside(header.sh_addr, header.sh_size, segment))
      continue;
    start = std::min<uint64_t>(start, header.sh_addr);
    end = std::max<uint64_t>(end, header.sh_addr + header.sh_size);
    notes.push_back(i);
  }
  const uint64_t alignment = std::max<uint64_t>(segment.p_align, 1);
  // The segment that holds the headers also holds them here.
  const uint64_t headers = segment.p_offset == 0 ? end_of_headers() : 0;
  if (notes.empty() || end - segment.p_vaddr > kLargestGap) {
    segment.p_offset = segment.p_vaddr % alignment;
    segment.p_filesz = headers;
    return;
  }
  const uint64_t in_front = start - segment.p_vaddr;
  segment.p_offset = segment.p_vaddr % alignment;
  while (segment.p_offset + in_front < end_) segment.p_offset = segment.p_offset + alignment;
  segment.p_filesz = std::max(end - segment.p_vaddr, headers);
  for (const size_t i : notes) {
    sections_[i].header.sh_offset =
        segment.p_offset + (sections_[i].header.sh_addr - segment.p_vaddr);
    placed[i] = true;
  }
  end_ = std::max(end_, segment.p_offset + segment.p_filesz);
}

/// Places notes segment by segment; the parts that other program headers describe follow the
/// segments.
void DebugFileWriter::place_notes() {
  std::vector<bool> placed(sections_.size());
  for (ProgramHeader& segment : segments_)
    if (segment.p_type == ELF::PT_LOAD) place_segment(segment, placed);
  for (size_t i = 1; i < sections_.size(); ++i)
    if (sections_[i].header.sh_type == ELF::SHT_NOTE && !placed[i]) place(sections_[i]);
  for (ProgramHeader& segment : segments_) {
    if (segment.p_type == ELF::PT_LOAD || segment.p_type == ELF::PT_PHDR) continue;
    uint64_t offset = 0, size = 0;
    for (const FileSection& section : sections_) {
      const SectionHeader& header = section.header;
      if (header.sh_type != ELF::SHT_NOTE || segment.p_memsz == 0 ||
          !is_inside(header.sh_addr, header.sh_size, segment))
        continue;
      if (size == 0) offset = header.sh_offset - (header.sh_addr - segment.p_vaddr);
      size = std::max<uint64_t>(size, header.sh_offset + header.sh_size - offset);
    }
    segment.p_offset = offset;
    segment.p_filesz = size;
  }
}

/// Gives a section a place after all others.
void DebugFileWriter::place(FileSection& section) {
  section.header.sh_offset = align_up(end_, std::max<uint64_t>(section.header.sh_addralign, 1));
  section.header.sh_size = section.contents.size();
  end_ = section.header.sh_offset + section.header.sh_size;
}

bool DebugFileWriter::is_left_out(uint32_t number) const {
  const Section& section = debug_.sections[number];
  const auto& file = *reinterpret_cast<const FileHeader*>(debug_.file.data());
  if (section.allocated() || section.kind == Section::Kind::zero || number == file.e_shstrndx)
    return true;
  if (section.raw.type == ELF::SHT_SYMTAB || section.raw.type == ELF::SHT_RELA) return true;
  if (section.raw.type == ELF::SHT_STRTAB)
    return std::ranges::any_of(debug_.sections, [&](const Section& other) {
      return other.raw.type == ELF::SHT_SYMTAB && other.raw.link == number;
    });
  return section.name == ".gnu_debuglink" || section.name == kNoteSection ||
         std::ranges::count(changes_.sections.dropped_sections, number) != 0;
}

void DebugFileWriter::add_debug_sections() {
  for (uint32_t i = 1; i < debug_.sections.size(); ++i) {
    if (is_left_out(i)) continue;
    const Section& section = debug_.sections[i];
    FileSection& made = add(section.name, section);
    made.header.sh_addr = 0;
    made.contents = section.contents;
    for (const auto& replaced : changes_.sections.replaced)
      if (replaced.section == i) made.contents = replaced.contents;
    place(made);
  }
  for (const auto& added : changes_.sections.added) {
    Section like;
    like.alignment = added.alignment;
    like.raw.type = ELF::SHT_PROGBITS;
    FileSection& made = add(added.name, like);
    made.contents = added.contents;
    place(made);
  }
}

void DebugFileWriter::add_symbols() {
  if (changes_.symbols.empty()) return;
  const MovedBlock no_block;
  const SymbolChanges changes{output_.machine, index_, no_block};
  GrowingStringTable names;
  for (uint32_t i = 1; i < debug_.sections.size(); ++i)
    if (debug_.sections[i].raw.type == ELF::SHT_SYMTAB)
      names = GrowingStringTable(debug_.sections[debug_.sections[i].raw.link].contents);
  symbols_.resize(changes_.symbols.size());
  for (size_t i = 0; i < symbols_.size(); ++i) {
    const auto name = static_cast<uint32_t>(names.add(changes_.symbols[i].name));
    symbols_[i].st_name = encode_symbol(changes_.symbols[i], changes, symbols_[i]) ? name : 0;
  }
  names_.resize(names.size());
  names.write(names_.data());
  const auto* bytes = reinterpret_cast<const uint8_t*>(symbols_.data());
  Section like;
  like.raw.type = ELF::SHT_SYMTAB;
  like.raw.entry_size = sizeof(SymbolRecord);
  like.alignment = 8;
  FileSection& table = add(".symtab", like);
  table.header.sh_link = static_cast<uint32_t>(sections_.size());
  table.header.sh_info = count_local_symbols(changes_.symbols);
  table.contents = {bytes, symbols_.size() * sizeof(SymbolRecord)};
  place(table);
  like = {};
  like.raw.type = ELF::SHT_STRTAB;
  FileSection& strings = add(".strtab", like);
  strings.contents = names_;
  place(strings);
}

void DebugFileWriter::add_section_names() {
  Section like;
  like.raw.type = ELF::SHT_STRTAB;
  add(".shstrtab", like);
  llvm::StringTableBuilder names(llvm::StringTableBuilder::ELF);
  const auto ref = [](const FileSection& s) { return llvm::StringRef(s.name); };
  for (const FileSection& section : sections_) names.add(ref(section));
  names.finalize();
  for (FileSection& section : sections_)
    section.header.sh_name = static_cast<uint32_t>(names.getOffset(ref(section)));
  section_names_.resize(names.getSize());
  names.write(section_names_.data());
  sections_.back().contents = section_names_;
  place(sections_.back());
}

std::vector<uint8_t> DebugFileWriter::fill() const {
  const uint64_t headers_offset = align_up(end_, 8);
  std::vector<uint8_t> file(headers_offset + sections_.size() * sizeof(SectionHeader));
  auto& header = *reinterpret_cast<FileHeader*>(file.data());
  std::copy_n(output_.file.begin(), sizeof header, file.begin());
  header.e_phoff = sizeof(FileHeader);
  header.e_shoff = headers_offset;
  header.e_shnum = static_cast<uint16_t>(sections_.size());
  header.e_shstrndx = static_cast<uint16_t>(sections_.size() - 1);
  std::ranges::copy(segments_, reinterpret_cast<ProgramHeader*>(file.data() + header.e_phoff));
  auto* out = reinterpret_cast<SectionHeader*>(file.data() + headers_offset);
  for (const FileSection& section : sections_) {
    *out++ = section.header;
    if (section.header.sh_type != ELF::SHT_NOBITS)
      std::ranges::copy(section.contents, file.begin() + section.header.sh_offset);
  }
  return file;
}

}  // namespace

std::vector<uint8_t> elf::write_debug_file(const Image& debug, const NewDebugFile& changes,
                                           const Image& output) {
  return DebugFileWriter(debug, changes, output).write();
}

}  // namespace respike
