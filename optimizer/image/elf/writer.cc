// Writes an output file from the input's file and a rewriter's changes.
//
// Idea: loaded contents stay where they were, byte for byte, except for the rewriter's changes in
// place. The rest of a file is reached only through headers, so it may be anywhere. The output is
//
//   ELF header, program headers
//   loaded contents of the input, at the offsets they had
//   sections that are not loaded, as many as fit before the next segment
//   the added segment, or two of them: code, contents from after the program headers, tables
//   the other sections that are not loaded
//   section headers
//   the bytes after all this in the input (Image::appended)
//
// The steps are: plan the segment and the order of sections (layout), describe each output section,
// give it a place, then fill a buffer of the final size. Tables whose size follows from their
// element count (symbols, relocations) are encoded straight into that buffer.
//
// The added segment has the same distance between address and file offset as the first segment,
// when the resulting hole in the file is small; otherwise its offset only matches its address
// modulo the alignment. The build-id is a hash of the finished file, so equal inputs give equal
// files: SHA-1 over fast hashes of the file's parts, as linkers make it, since SHA-1 of all bytes
// took 3% of the time of a rewriting.

#include <llvm/ADT/ArrayRef.h>
#include <llvm/MC/StringTableBuilder.h>
#include <llvm/Support/SHA1.h>
#include <llvm/Support/xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>

#include "optimizer/base/bytes.h"
#include "optimizer/image/elf/sections.h"
#include "optimizer/image/elf/tables.h"
#include "optimizer/image/note.h"

namespace respike {

using namespace elf;
namespace ELF = llvm::ELF;

namespace {

constexpr uint64_t kLargestHole = uint64_t{1} << 20;
constexpr uint64_t kSmallestHole = 16 << 10;  // that is worth using
constexpr uint64_t kPage = 4096;
constexpr size_t kHashedPart = size_t{1} << 20;  // bytes

/// 20 bytes that distinguish a file from all others.
std::array<uint8_t, 20> hash_of(std::span<const uint8_t> file) {
  std::vector<uint8_t> hashes;
  for (size_t at = 0; at < file.size(); at += kHashedPart) {
    const auto part = file.subspan(at, std::min(kHashedPart, file.size() - at));
    const auto hash = llvm::xxh3_128bits(llvm::ArrayRef<uint8_t>(part.data(), part.size()));
    for (const uint64_t half : {hash.low64, hash.high64})
      for (unsigned shift = 0; shift < 64; shift += 8)
        hashes.push_back(static_cast<uint8_t>(half >> shift));
  }
  return llvm::SHA1::hash(hashes);
}

/// Bytes [start, end) of a file.
struct Extent {
  uint64_t start = 0;
  uint64_t end = 0;
};

class Writer {
 public:
  Writer(const Image& input, const NewImage& output)
      : input_(input),
        output_(output),
        symbols_(output.symbols.empty() ? input.symbols : output.symbols),
        dynamic_symbols_(output.dynamic_symbols.empty() ? input.dynamic_symbols
                                                        : output.dynamic_symbols) {}

  std::vector<uint8_t> write() {
    check_request(input_, output_);
    plan();
    table_ = describe_sections(input_, output_, plan_ ? &*plan_ : nullptr, symbols_);
    name_everything();
    place_segment();
    place_file_sections();
    copy_contents();
    write_tables();
    write_section_headers();
    write_program_headers();
    write_dynamic_contents();
    write_build_id();
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error("the output cannot be written: " + what, input_.path);
  }
  void require(bool condition, const char* what) const {
    if (!condition) fail(what);
  }
  template <typename Record>
  std::span<Record> records(uint64_t offset, uint64_t count) {
    static_assert(alignof(Record) == 1);
    return {reinterpret_cast<Record*>(file_.data() + offset), count};
  }
  std::span<const uint8_t> changed(uint64_t offset, uint64_t size) const {
    return std::span(output_.contents).subspan(offset, size);
  }
  uint64_t segment_offset(uint64_t address) const {
    return segment_start_ + (address - plan_->where.address);
  }

  void plan();
  void name_everything();
  std::vector<Extent> kept_extents() const;
  void place_segment();
  std::vector<Extent> holes() const;
  void fill(const Extent& hole, std::vector<uint64_t>& offsets) const;
  void place_file_sections();
  void copy_contents();
  void write_tables();
  void write_other_table(const OutputSection& section);
  void write_section_headers();
  void write_program_headers();
  void retarget(ProgramHeader& header) const;
  void write_dynamic_contents();
  void write_dynamic_section(const OutputSection& section);
  void write_build_id();

  const Image& input_;
  const NewImage& output_;
  const std::vector<Symbol>& symbols_;
  const std::vector<Symbol>& dynamic_symbols_;

  std::optional<SegmentPlan> plan_;  // when something allocated is added or moved
  SectionTable table_;
  GrowingStringTable strings_;
  std::vector<uint32_t> symbol_names_;   // offsets
  std::vector<uint32_t> section_names_;  // offsets, in output order
  llvm::StringTableBuilder section_name_table_{llvm::StringTableBuilder::ELF};

  uint64_t segment_start_ = 0;  // file offset of the added contents
  uint64_t code_end_ = 0;       // addresses: of added code, and of all added contents
  uint64_t segment_end_ = 0;
  uint64_t section_header_offset_ = 0;
  std::vector<uint8_t> file_;
};

void Writer::plan() {
  const bool needs_segment =
      !output_.moved.empty() ||
      std::any_of(output_.added.begin(), output_.added.end(),
                  [](const auto& added) { return (added.properties & Section::kAllocated) != 0; });
  AddedMemory memory;
  for (const auto& added : output_.added)
    if (added.memory_size != 0) memory = {added.memory_size, added.alignment, added.address};
  if (!needs_segment) return;
  plan_ = plan_segment(input_, memory);
  code_end_ = plan_->where.address;
  for (const auto& added : output_.added)
    if ((added.properties & Section::kExecutable) != 0)
      code_end_ = std::max(code_end_, added.address + added.contents.size());
  plan_->place_tables(code_end_);
}

/// Adds symbols' names, then sections' names; now the size of every section is known.
void Writer::name_everything() {
  if (table_.symbol_strings != 0)
    strings_ = GrowingStringTable(input_.sections[table_.symbol_strings].contents);
  symbol_names_.reserve(symbols_.size());
  for (const Symbol& symbol : symbols_) symbol_names_.push_back(strings_.add(symbol.name));
  const bool shared = table_.section_strings == table_.symbol_strings;
  if (shared) {
    for (const OutputSection& s : table_.sections) section_names_.push_back(strings_.add(s.name));
  } else {
    const auto ref = [](const OutputSection& s) { return llvm::StringRef(s.name); };
    for (const OutputSection& s : table_.sections) section_name_table_.add(ref(s));
    section_name_table_.finalize();
    for (const OutputSection& s : table_.sections)
      section_names_.push_back(section_name_table_.getOffset(ref(s)));
    OutputSection& table = table_.numbered(table_.section_strings);
    table.size = section_name_table_.getSize();
    table.contents = {};
  }
  require(strings_.size() <= UINT32_MAX, "the names of symbols do not fit");
  if (table_.symbol_strings == 0) return;
  table_.numbered(table_.symbol_strings).size = strings_.size();
  table_.numbered(table_.symbol_strings).contents = {};
}

/// The parts of the input that keep their file offset.
std::vector<Extent> Writer::kept_extents() const {
  std::vector<Extent> result;
  const auto* header = reinterpret_cast<const FileHeader*>(input_.file.data());
  result.push_back({0, sizeof(FileHeader)});
  result.push_back(
      {header->e_phoff, header->e_phoff + input_.segments.size() * sizeof(ProgramHeader)});
  for (const Segment& segment : input_.segments)
    if (segment.raw.type != ELF::PT_NULL && segment.file_size != 0)
      result.push_back({segment.offset, segment.offset + segment.file_size});
  for (const Section& section : input_.sections)
    if (section.allocated() && !section.contents.empty())
      result.push_back({section.offset, section.offset + section.size});
  return result;
}

/// Gives sections without an offset, by index, places in the hole, as long as there is room.
void Writer::fill(const Extent& hole, std::vector<uint64_t>& offsets) const {
  // dwz (0.15) refuses files that have other sections before an allocated section.
  if (hole.end - hole.start < kSmallestHole) return;
  uint64_t end = hole.start;
  for (size_t i = 1; i < table_.sections.size(); ++i) {
    const OutputSection& section = table_.sections[i];
    if (section.allocated() || section.type == ELF::SHT_NOBITS || section.size == 0) continue;
    const uint64_t start = align_up(end, section.alignment);
    if (offsets[i] != 0 || start > hole.end || section.size > hole.end - start) continue;
    offsets[i] = start;
    end = start + section.size;
  }
}

/// File offset and size of the added segment, or of the contents added to a segment that grows.
void Writer::place_segment() {
  if (!plan_) return;
  const uint64_t address = plan_->where.address;
  segment_end_ = address;
  for (const OutputSection& section : table_.sections)
    if (section.in_added_segment)
      segment_end_ = std::max(segment_end_, section.address + section.size);
  if (!plan_->block.empty()) segment_end_ = std::max(segment_end_, plan_->block.moved_end());
  if (plan_->extended) {
    const Segment& segment = input_.segments[*plan_->extended];
    segment_start_ = segment.offset + (address - segment.address);
  } else {
    const uint64_t kept_end = input_.loaded_end;
    const Segment& first = *std::find_if(input_.segments.begin(), input_.segments.end(),
                                         [](const Segment& segment) { return segment.loaded(); });
    const uint64_t same_distance = address - first.address + first.offset;
    segment_start_ = align_up(kept_end, plan_->alignment);  // the address is aligned as well
    if (same_distance > segment_start_) {
      const Extent hole{kept_end, same_distance};
      std::vector<uint64_t> offsets(table_.sections.size());
      fill(hole, offsets);
      uint64_t empty = hole.end - hole.start;
      for (size_t i = 0; i < offsets.size(); ++i)
        if (offsets[i] != 0) empty -= table_.sections[i].size;
      if (empty < kLargestHole) segment_start_ = same_distance;
    }
  }
  for (OutputSection& section : table_.sections)
    if (section.in_added_segment) section.offset = segment_offset(section.address);
}

/// The holes that the distances of added segments leave in the file: of the segment added now, and
/// of segments of code that earlier rewritings added to the input, which come after all data. Holes
/// between other segments stay as they are.
std::vector<Extent> Writer::holes() const {
  uint64_t data = 0;  // where the last writable contents start
  for (const Segment& segment : input_.segments)
    if (segment.loaded() && segment.writable() && segment.file_size != 0)
      data = std::max(data, segment.offset);
  std::vector<uint64_t> starts;  // of added segments
  for (const Segment& segment : input_.segments)
    if (segment.loaded() && segment.executable() && segment.file_size != 0 && segment.offset > data)
      starts.push_back(segment.offset);
  if (plan_ && !plan_->extended) starts.push_back(segment_start_);
  std::vector<Extent> result;
  for (const uint64_t start : starts) {
    uint64_t end = 0;
    for (const Extent& extent : kept_extents())
      if (extent.start < start) end = std::max(end, extent.end);
    result.push_back({std::min(end, start), start});
  }
  return result;
}

void Writer::place_file_sections() {
  std::vector<uint64_t> offsets(table_.sections.size());
  for (const Extent& hole : holes()) fill(hole, offsets);
  uint64_t end = input_.loaded_end;
  if (plan_) end = std::max(end, segment_offset(segment_end_));
  for (size_t i = 1; i < table_.sections.size(); ++i) {
    OutputSection& section = table_.sections[i];
    if (section.allocated()) continue;
    section.offset = offsets[i] != 0 ? offsets[i] : align_up(end, section.alignment);
    if (offsets[i] == 0 && section.type != ELF::SHT_NOBITS) end = section.offset + section.size;
  }
  section_header_offset_ = align_up(end, 8);
  uint64_t size = section_header_offset_ + table_.sections.size() * sizeof(SectionHeader);
  if (!input_.appended.empty()) {
    // It keeps its place within a page, since programs map it, and directly follows the headers.
    const uint64_t before = input_.file.size() - input_.appended.size();
    const uint64_t skipped = align_up((before - size) % kPage, 8);
    section_header_offset_ += skipped;
    size += skipped;
  }
  file_.resize(size + input_.appended.size());
  std::ranges::copy(input_.appended, file_.begin() + static_cast<ptrdiff_t>(size));
}

void Writer::copy_contents() {
  for (const Extent& extent : kept_extents()) {
    const auto bytes = changed(extent.start, extent.end - extent.start);
    std::copy(bytes.begin(), bytes.end(), file_.begin() + extent.start);
  }
  if (plan_ && !plan_->block.empty()) {
    const MovedBlock& block = plan_->block;
    const auto copy = [&](uint64_t start, uint64_t end) {
      const auto bytes = changed(*input_.offset_of(start), end - start);
      std::ranges::copy(bytes, file_.begin() + segment_offset(block.moved(start)));
    };
    const uint64_t behind_name = block.name + block.name_size;
    if (block.name_size == 0) {
      copy(block.first, block.end);
    } else {
      copy(block.name, behind_name);
      if (block.first < block.name) copy(block.first, block.name);
      const uint64_t rest = std::max(block.first, behind_name);
      if (rest < block.end) copy(rest, block.end);
    }
    std::fill_n(file_.begin() + *input_.offset_of(block.start), block.end - block.start, 0);
  }
  for (const OutputSection& section : table_.sections)
    if (!section.contents.empty())
      std::copy(section.contents.begin(), section.contents.end(), file_.begin() + section.offset);
}

void Writer::write_tables() {
  const MovedBlock no_block;
  const SymbolChanges changes{input_.machine, table_.index, plan_ ? plan_->block : no_block};
  for (const OutputSection& section : table_.sections) {
    if (section.number == table_.symbol_table && table_.symbol_table != 0) {
      const auto out = records<SymbolRecord>(section.offset, symbols_.size());
      for (size_t i = 0; i < out.size(); ++i)
        out[i].st_name = encode_symbol(symbols_[i], changes, out[i]) ? symbol_names_[i] : 0;
    } else if (table_.tables[section.number] != nullptr) {
      const auto& relocations = table_.tables[section.number]->relocations;
      encode_relocations(relocations, records<RelaRecord>(section.offset, relocations.size()));
    } else if (section.number == table_.symbol_strings && table_.symbol_strings != 0) {
      strings_.write(file_.data() + section.offset);
    } else if (section.number == table_.section_strings) {
      section_name_table_.write(file_.data() + section.offset);
    } else if (section.type == ELF::SHT_RELA && !section.allocated()) {
      write_other_table(section);
    } else if (section.type == ELF::SHT_DYNSYM) {
      require(section.size / sizeof(SymbolRecord) >= dynamic_symbols_.size(),
              "dynamic symbols do not fit");
      const auto out = records<SymbolRecord>(section.offset, dynamic_symbols_.size());
      for (size_t i = 0; i < out.size(); ++i) encode_symbol(dynamic_symbols_[i], changes, out[i]);
    }
  }
}

/// Copies relocations of sections that are not loaded. Only the numbers of global symbols change,
/// by the number of local symbols that the rewriter put before them.
void Writer::write_other_table(const OutputSection& section) {
  const uint32_t locals = count_local_symbols(input_.symbols);
  const uint32_t new_locals = count_local_symbols(symbols_) - locals;
  require(symbols_.size() - input_.symbols.size() == new_locals || new_locals == 0,
          "global symbols were added before others");
  for (RelaRecord& record : records<RelaRecord>(section.offset, section.size / sizeof(RelaRecord)))
    if (record.getSymbol(false) >= locals)
      record.setSymbol(record.getSymbol(false) + new_locals, false);
}

void Writer::write_section_headers() {
  const auto headers = records<SectionHeader>(section_header_offset_, table_.sections.size());
  for (size_t i = 0; i < headers.size(); ++i) {
    const OutputSection& section = table_.sections[i];
    SectionHeader& header = headers[i];
    header.sh_name = section_names_[i];
    header.sh_type = section.type;
    header.sh_flags = section.flags;
    header.sh_addr = section.address;
    header.sh_offset = section.offset;
    header.sh_size = section.size;
    header.sh_link = section.link;
    header.sh_info = section.info;
    header.sh_addralign = section.alignment;
    header.sh_entsize = section.entry_size;
  }
  FileHeader& header = records<FileHeader>(0, 1)[0];
  header.e_entry = output_.entry;
  header.e_shoff = section_header_offset_;
  header.e_shnum = static_cast<uint16_t>(table_.sections.size());
  header.e_shstrndx = static_cast<uint16_t>(table_.index[table_.section_strings]);
}

/// Adds a header for `segment` after the headers of loaded segments with lower addresses.
void append_loaded(std::vector<ProgramHeader>& headers, const Segment& segment) {
  ProgramHeader header{};
  header.p_type = ELF::PT_LOAD;
  header.p_flags = segment.raw.flags;
  header.p_offset = segment.offset;
  header.p_vaddr = segment.address;
  header.p_paddr = segment.address;
  header.p_filesz = segment.file_size;
  header.p_memsz = segment.memory_size;
  header.p_align = segment.alignment;
  size_t place = 0;
  for (size_t i = 0; i < headers.size(); ++i)
    if (headers[i].p_type == ELF::PT_LOAD && headers[i].p_vaddr <= segment.address) place = i + 1;
  headers.insert(headers.begin() + place, header);
}

void Writer::write_program_headers() {
  if (!plan_) return;
  FileHeader& file_header = records<FileHeader>(0, 1)[0];
  const auto* old_headers =
      reinterpret_cast<const ProgramHeader*>(input_.file.data() + file_header.e_phoff);
  std::vector<ProgramHeader> headers(old_headers, old_headers + input_.segments.size());
  for (ProgramHeader& header : headers) retarget(header);
  if (plan_->with_memory) {
    ProgramHeader& header = headers[*plan_->with_memory];
    header.p_memsz = plan_->memory_end - header.p_vaddr;
  }
  if (plan_->extended) {
    ProgramHeader& header = headers[*plan_->extended];
    const uint64_t end = plan_->separate ? code_end_ : segment_end_;
    header.p_flags |= ELF::PF_X;
    header.p_filesz = std::max<uint64_t>(header.p_filesz, end - header.p_vaddr);
    header.p_memsz = header.p_filesz;
  }
  if (plan_->replaced) headers.erase(headers.begin() + *plan_->replaced);
  const auto append = [&](uint64_t start, uint64_t end, uint32_t flags) {
    append_loaded(headers, {.offset = segment_offset(start),
                            .address = start,
                            .file_size = end - start,
                            .memory_size = end - start,
                            .alignment = plan_->alignment,
                            .raw = {.flags = flags}});
  };
  const uint64_t start = plan_->where.address;
  if (!plan_->separate) {
    if (!plan_->extended) append(start, segment_end_, ELF::PF_R | ELF::PF_X);
  } else {
    if (!plan_->extended && code_end_ > start) append(start, code_end_, ELF::PF_R | ELF::PF_X);
    if (segment_end_ > plan_->tables) append(plan_->tables, segment_end_, ELF::PF_R);
  }
  if (plan_->memory_segment)
    append_loaded(headers, {.address = plan_->where.memory_address,
                            .memory_size = plan_->memory_end - plan_->where.memory_address,
                            .alignment = plan_->alignment,
                            .raw = {.flags = ELF::PF_R | ELF::PF_W}});
  // A segment that holds little more than the program headers grows with them.
  const auto first = std::ranges::find(headers, ELF::PT_LOAD, &ProgramHeader::p_type);
  const uint64_t headers_end = file_header.e_phoff + headers.size() * sizeof(ProgramHeader);
  first->p_filesz = std::max<uint64_t>(first->p_filesz, headers_end - first->p_offset);
  first->p_memsz = std::max<uint64_t>(first->p_memsz, first->p_filesz);
  for (ProgramHeader& header : headers) {
    if (header.p_type != ELF::PT_PHDR) continue;
    header.p_filesz = headers.size() * sizeof(ProgramHeader);
    header.p_memsz = header.p_filesz;
  }
  file_header.e_phnum = static_cast<uint16_t>(headers.size());
  std::copy(headers.begin(), headers.end(),
            records<ProgramHeader>(file_header.e_phoff, headers.size()).begin());
}

/// A header that describes a part of the block, or exactly one moved section, follows these
/// contents.
void Writer::retarget(ProgramHeader& header) const {
  if (header.p_type == ELF::PT_LOAD || header.p_type == ELF::PT_PHDR || header.p_memsz == 0) return;
  uint64_t address = header.p_vaddr, size = header.p_memsz, offset = header.p_offset;
  const Segment old{.address = address, .memory_size = size};
  if (plan_->block.contains(old)) {
    address = plan_->block.moved(address);
    offset = segment_offset(address);
  } else {
    const auto moved = std::find_if(output_.moved.begin(), output_.moved.end(), [&](const auto& m) {
      const Section& section = input_.sections[m.section];
      return section.address == address && section.size == size;
    });
    if (moved == output_.moved.end()) return;
    address = moved->address;
    size = moved->contents.size();
    offset =
        stays_in_segment(input_, *moved) ? *input_.offset_of(address) : segment_offset(address);
  }
  header.p_vaddr = address;
  header.p_paddr = address;
  header.p_offset = offset;
  header.p_filesz = size;
  header.p_memsz = size;
}

void Writer::write_dynamic_contents() {
  for (const DynamicRelocationTable& table : output_.dynamic_relocations) {
    if (table.packed) continue;
    const OutputSection& section = table_.numbered(table.section);
    require(section.size / sizeof(RelaRecord) >= table.relocations.size(),
            "dynamic relocations do not fit");
    encode_relocations(table.relocations,
                       records<RelaRecord>(section.offset, table.relocations.size()));
  }
  for (const OutputSection& section : table_.sections)
    if (section.type == ELF::SHT_DYNAMIC) return write_dynamic_section(section);
  require(output_.loader_changes.empty(), "there is no dynamic section to change");
}

/// DT_NULL for a kind that a rewriter never changes.
int64_t tag_of(LoaderEntry::Kind kind) {
  if (kind == LoaderEntry::Kind::initializer) return ELF::DT_INIT;
  if (kind == LoaderEntry::Kind::finalizer) return ELF::DT_FINI;
  return ELF::DT_NULL;
}

void Writer::write_dynamic_section(const OutputSection& section) {
  require(section.size / sizeof(DynamicRecord) >= input_.loader_entries.size(),
          "dynamic entries do not fit");
  auto entries = records<DynamicRecord>(section.offset, input_.loader_entries.size());
  const auto find = [&](int64_t tag) {
    return std::find_if(entries.begin(), entries.end(),
                        [&](const DynamicRecord& e) { return e.getTag() == tag; });
  };
  for (const auto& [kind, value] : output_.loader_changes) {
    const int64_t tag = tag_of(kind);
    require(tag != ELF::DT_NULL, "an entry for the dynamic linker has no tag");
    auto entry = find(tag);
    if (entry == entries.end()) {
      require(entries.size() == input_.loader_entries.size() && has_spare_dynamic_entry(input_),
              "the dynamic section has no room for an entry");
      entries = records<DynamicRecord>(section.offset, entries.size() + 1);
      entry = entries.end() - 1;
      entry->d_tag = tag;
    }
    entry->d_un.d_val = value;
  }
  const auto set = [&](int64_t tag, uint64_t value) {
    const auto entry = find(tag);
    require(entry != entries.end(), "the dynamic section lacks an entry to change");
    entry->d_un.d_val = value;
  };
  for (const auto& moved : output_.moved) {
    const uint32_t type = input_.sections[moved.section].raw.type;
    if (const auto tag = dynamic_tag(type)) set(*tag, moved.address);
    if (type == ELF::SHT_STRTAB) set(ELF::DT_STRSZ, moved.contents.size());
  }
  if (!plan_) return;
  for (const uint32_t number : plan_->block.sections) {
    const Section& moved = input_.sections[number];
    const auto tag = dynamic_tag(moved.raw.type);
    if (tag && !moves_by_itself(output_, number)) set(*tag, plan_->block.moved(moved.address));
  }
}

/// Replaces the build-id by a hash of the file, in which the build-id is zeros.
void Writer::write_build_id() {
  if (input_.build_id.empty()) return;
  for (const OutputSection& section : table_.sections) {
    if (section.name != ".note.gnu.build-id" || section.type != ELF::SHT_NOTE) continue;
    const std::span<const uint8_t> note(file_.data() + section.offset, section.size);
    const auto id = find_note(note, section.alignment, "GNU", ELF::NT_GNU_BUILD_ID);
    require(id.has_value(), "the build-id got lost");
    const auto descriptor = std::span(file_).subspan(id->data() - file_.data(), id->size());
    std::fill(descriptor.begin(), descriptor.end(), 0);
    const auto hash = hash_of(file_);
    for (size_t i = 0; i < descriptor.size(); ++i) descriptor[i] = hash[i % hash.size()];
    return;
  }
}

}  // namespace

std::vector<uint8_t> elf::write(const Image& input, const NewImage& output) {
  return Writer(input, output).write();
}

}  // namespace respike
