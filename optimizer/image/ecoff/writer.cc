// Writes an ECOFF image in which code moved.
//
// Data stays at its addresses, so the sections of the input also stay. New code goes after the
// text, into the hole between text and data: the system maps all of the text by one entry of the
// optional header, which grows. In the file, data directly follows the text, so data moves there.
// Everything after the contents is written anew: relocations, Respike's note, and symbols.
//
// Example: .text .fini .rdata | .data .lita .bss becomes
// .text .fini .rdata .textrsp | .data .lita .bss, with .notersp in the file only.
//
// Counters of an instrumented program extend the memory after the data. Bytes that follow the image
// still follow it.
//
// Descriptions of places of the input that are not understood are left out, with a warning: local
// symbols, line numbers and procedure descriptors, and .comment, where Tru64's linker keeps its
// compact relocations.
//
// Limits: there must be room for the section headers before the first section, and for the new code
// before the data; a section has no more than 65,535 relocations.

#include <algorithm>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/image/ecoff/ecoff.h"
#include "optimizer/image/ecoff/headers.h"
#include "optimizer/image/ecoff/relocations.h"
#include "optimizer/image/ecoff/section_names.h"

namespace respike::ecoff {
namespace {

constexpr uint64_t kHeadersStart = sizeof(FileHeader) + sizeof(OptionalHeader);
constexpr uint64_t kMostRelocations = 0xffff;  // of a section: the field has 16 bits
constexpr uint64_t kNewCodeAlignment = 16;

bool in_text(const Headers& headers, const SectionHeader& section) {
  return section.loaded() && section.address < headers.data_start;
}

/// The end address of the text, including read-only data.
uint64_t end_of_text(const Headers& headers) {
  uint64_t end = headers.text_start;
  for (const SectionHeader& section : headers.sections)
    if (in_text(headers, section)) end = std::max(end, section.end());
  return end;
}

bool has_local_symbols(const Image& image, const Headers& headers) {
  if (headers.symbolic_header == 0) return false;
  const auto& header =
      *reinterpret_cast<const SymbolicHeader*>(&image.file[headers.symbolic_header]);
  return header.line_count != 0 || header.procedure_count != 0 || header.local_count != 0;
}

class Writer {
 public:
  Writer(const Image& input, const NewImage& output)
      : input_(input), output_(output), headers_(read_headers(input.file, input.path)) {}

  std::vector<uint8_t> write() {
    keep_sections();
    add_sections();
    check_room();
    place_contents();
    number_symbols();
    write_relocations();
    write_symbols();
    write_headers();
    append_rest();
    return std::move(file_);
  }

 private:
  struct OutputSection {
    SectionRecord record{};
    std::span<const uint8_t> contents;
    uint32_t number = 0;  // in NewImage
    bool text = false;
  };

  [[noreturn]] void fail(const std::string& message) const { throw Error(message, input_.path); }

  // ---- sections

  bool is_left_out(uint32_t number) const {
    const Section& section = input_.sections[number];
    return !section.allocated() || std::ranges::count(output_.dropped_sections, number) != 0;
  }

  void keep_sections() {
    for (uint32_t i = 0; i < headers_.sections.size(); ++i) {
      if (is_left_out(i + 1)) continue;
      const SectionHeader& header = headers_.sections[i];
      OutputSection section{.contents = {}, .number = i + 1, .text = in_text(headers_, header)};
      const auto* records = reinterpret_cast<const SectionRecord*>(&input_.file[kHeadersStart]);
      section.record = records[i];
      section.record.relocations = 0;
      section.record.line_numbers = 0;
      section.record.relocation_count = 0;
      section.record.line_number_count = 0;
      if (header.has_contents())
        section.contents = std::span(output_.contents).subspan(header.offset, header.size);
      sections_.push_back(section);
    }
    if (!output_.moved.empty()) fail("internal error: a section of an ECOFF image moved");
  }

  void add_sections() {
    for (uint32_t i = 0; i < output_.added.size(); ++i) {
      const NewImage::AddedSection& added = output_.added[i];
      const bool allocated = (added.properties & Section::kAllocated) != 0;
      OutputSection section{.contents = added.contents,
                            .number = static_cast<uint32_t>(input_.sections.size()) + i,
                            .text = allocated && added.memory_size == 0};
      const std::string name = name_in_file(added.name);
      std::copy(name.begin(), name.end(), section.record.name);
      section.record.address = allocated ? added.address : 0;
      section.record.physical_address = section.record.address;
      section.record.size = std::max<uint64_t>(added.contents.size(), added.memory_size);
      section.record.flags = !allocated ? kComment : added.memory_size != 0 ? kZero : kText;
      sections_.push_back(section);
    }
  }

  void check_room() {
    headers_end_ = kHeadersStart + sections_.size() * sizeof(SectionRecord);
    for (const OutputSection& section : sections_) {
      const bool kept = section.number < input_.sections.size();
      if (kept && !section.contents.empty() && section.record.offset < headers_end_)
        fail("there is no room for the headers of new sections in front of its first section");
      if (section.text && section.record.address + section.record.size > headers_.data_start)
        fail(
            "there is no room for new code between its text and its data: link the data to a "
            "higher address, such as 0x140000000");
    }
  }

  // ---- contents

  /// Text keeps its offsets. Data follows it as before, at offsets that match its addresses.
  void place_contents() {
    uint64_t end = headers_end_;
    std::vector<OutputSection*> text, data, others;
    for (OutputSection& section : sections_) {
      if (section.contents.empty()) continue;
      const bool allocated = (section.record.flags & kExtendedMask) != kComment;
      (section.text ? text : allocated ? data : others).push_back(&section);
    }
    const auto address = [](const OutputSection* s) { return s->record.address; };
    std::ranges::stable_sort(text, {}, address);
    std::ranges::stable_sort(data, {}, address);
    for (OutputSection* section : text) {
      if (section->number >= input_.sections.size())
        section->record.offset =
            end + (section->record.address - end) % kPage;  // a gap only up to the address
      end = std::max(end, section->record.offset + section->contents.size());
    }
    text_end_ = 0;
    for (const OutputSection& section : sections_)
      if (section.text)
        text_end_ = std::max<uint64_t>(text_end_, section.record.address + section.record.size);
    move_data(data, end);
    for (OutputSection* section : others) {
      section->record.offset = end = align_up(end, 8);
      end += section->contents.size();
    }
    file_.assign(end, 0);
    for (const OutputSection& section : sections_)
      if (!section.contents.empty())  // the offset of an empty section means nothing
        std::ranges::copy(section.contents,
                          file_.begin() + static_cast<ptrdiff_t>(section.record.offset));
  }

  /// Moves data as a whole to after `end`, by a multiple of the page.
  void move_data(std::span<OutputSection* const> data, uint64_t& end) {
    uint64_t first = UINT64_MAX;
    for (const OutputSection* section : data)
      first = std::min<uint64_t>(first, section->record.offset);
    const uint64_t wanted = align_up(end, kPage), before = first / kPage * kPage;
    const uint64_t shift = wanted > before ? wanted - before : 0;
    for (OutputSection* section : data) {
      section->record.offset = section->record.offset + shift;
      end = std::max(end, section->record.offset + section->contents.size());
    }
    // Memory after the contents shares their last page, which the system maps from the file.
    if (!data.empty()) end = align_up(end, kPage);
  }

  // ---- symbols and relocations

  /// Whether the file has the symbol: all symbols except those of sections and the null symbol.
  static bool in_file(const Symbol& symbol) {
    return symbol.type != Symbol::Type::section && (symbol.raw != 0 || !symbol.name.empty());
  }

  void number_symbols() {
    external_numbers_.resize(output_.symbols.size());
    for (size_t i = 0; i < output_.symbols.size(); ++i)
      if (in_file(output_.symbols[i])) external_numbers_[i] = external_count_++;
  }

  RelocationRecord record_of(const Relocation& relocation) const {
    RelocationRecord record{};
    record.address = relocation.address;
    record.type = static_cast<uint8_t>(relocation.raw & 0xff);
    record.size = static_cast<uint8_t>(relocation.raw >> kSizeShift << 2);
    if (record.type == kLiteralUse || record.type == kGpDisplacement) {
      record.symbol = static_cast<uint32_t>(relocation.addend);
      return record;
    }
    const Symbol& symbol = output_.symbols[relocation.symbol];
    if (in_file(symbol)) {
      record.symbol = external_numbers_[relocation.symbol];
      record.external_and_offset = 1;
    } else {
      record.symbol = number_for(symbol);
    }
    return record;
  }

  /// The number of a relocation's section. New code counts as text. A relocation without a symbol
  /// refers to an address in new code.
  uint32_t number_for(const Symbol& section) const {
    if (section.section == 0 || section.section >= input_.sections.size()) return kTextSection;
    const uint32_t number = number_of_section(name_in_file(input_.sections[section.section].name));
    return number != 0                                     ? number
           : input_.sections[section.section].executable() ? kTextSection
                                                           : kNumbers;
  }

  void write_relocations() {
    for (const RelocationTable& table : output_.relocations) {
      if (table.relocations.empty()) continue;
      const auto section = std::ranges::find(sections_, table.target, &OutputSection::number);
      if (section == sections_.end()) continue;
      if (table.relocations.size() > kMostRelocations)
        fail(
            fmt::format("the rewritten code has {} relocations; a section of an ECOFF image can "
                        "have {}",
                        table.relocations.size(), kMostRelocations));
      file_.resize(align_up(file_.size(), 8));
      section->record.relocations = file_.size();
      section->record.relocation_count = static_cast<uint16_t>(table.relocations.size());
      for (const Relocation& relocation : table.relocations) append(record_of(relocation));
    }
  }

  template <typename Record>
  void append(const Record& record) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&record);
    file_.insert(file_.end(), bytes, bytes + sizeof record);
  }

  ExternalSymbol external_of(const Symbol& symbol, uint32_t name) const {
    const bool is_new = symbol.raw == 0;
    const unsigned type = is_new ? unsigned{kStaticProcedure} : symbol.raw & kTypeMask;
    unsigned storage = is_new ? unsigned{kClassText} : symbol.visibility & kClassMask;
    // Code that left .init or .fini is text.
    if (symbol.section >= input_.sections.size() && symbol.defined_in_section() &&
        storage != kClassAbsolute)
      storage = kClassText;
    ExternalSymbol record{};
    record.value = symbol.value;
    record.name = name;
    record.bits = type | storage << kClassShift | kNoIndex << kIndexShift;
    record.flags = is_new ? 0 : symbol.visibility >> kFlagsShift;
    record.file = kNoFile;
    return record;
  }

  void write_symbols() {
    if (external_count_ == 0) return;
    std::vector<ExternalSymbol> records;
    ByteWriter names;
    for (const Symbol& symbol : output_.symbols) {
      if (!in_file(symbol)) continue;
      records.push_back(external_of(symbol, static_cast<uint32_t>(names.size())));
      names.c_string(symbol.name);
      if (names.size() > INT32_MAX) fail("the names of its symbols do not fit");
    }
    names.align(8);
    file_.resize(align_up(file_.size(), 8));
    symbolic_header_ = file_.size();
    SymbolicHeader header{};
    header.magic = kSymbolicMagic;
    if (headers_.symbolic_header != 0)
      header.version =
          reinterpret_cast<const SymbolicHeader*>(&input_.file[headers_.symbolic_header])->version;
    header.external_names_size = static_cast<uint32_t>(names.size());
    header.external_names = symbolic_header_ + sizeof header;
    header.external_count = external_count_;
    header.externals = header.external_names + names.size();
    append(header);
    file_.insert(file_.end(), names.bytes().begin(), names.bytes().end());
    for (const ExternalSymbol& record : records) append(record);
  }

  /// Appends the bytes after the input's image, at the same place within a page.
  void append_rest() {
    if (input_.appended.empty()) return;
    const uint64_t before = static_cast<uint64_t>(input_.appended.data() - input_.file.data());
    file_.resize(file_.size() + (before - file_.size()) % kPage);
    file_.insert(file_.end(), input_.appended.begin(), input_.appended.end());
  }

  // ---- headers

  void write_headers() {
    auto header = *reinterpret_cast<const FileHeader*>(input_.file.data());
    header.sections = static_cast<uint16_t>(sections_.size());
    header.symbolic_header = symbolic_header_;
    header.symbolic_header_size = symbolic_header_ == 0 ? 0 : sizeof(SymbolicHeader);
    std::memcpy(file_.data(), &header, sizeof header);

    auto optional = *reinterpret_cast<const OptionalHeader*>(&input_.file[sizeof header]);
    optional.entry = output_.entry;
    optional.text_size =
        std::max<uint64_t>(optional.text_size, align_up(text_end_ - headers_.text_start, kPage));
    for (const OutputSection& section : sections_) {
      const uint64_t end = section.record.address + section.record.size;
      if (section.record.flags == kZero && end > optional.zero_start)
        optional.zero_size = std::max<uint64_t>(optional.zero_size, end - optional.zero_start);
    }
    std::memcpy(file_.data() + sizeof header, &optional, sizeof optional);

    uint8_t* at = file_.data() + kHeadersStart;
    for (const OutputSection& section : sections_) {
      std::memcpy(at, &section.record, sizeof section.record);
      at += sizeof section.record;
    }
  }

  const Image& input_;
  const NewImage& output_;
  Headers headers_;
  std::vector<OutputSection> sections_;
  std::vector<uint32_t> external_numbers_;  // by number in NewImage::symbols
  uint32_t external_count_ = 0;
  uint64_t headers_end_ = 0;
  uint64_t text_end_ = 0;  // an address
  uint64_t symbolic_header_ = 0;
  std::vector<uint8_t> file_;
};

}  // namespace

AddedSegment plan_added_segment(const Image& image, const AddedMemory& memory) {
  const Headers headers = read_headers(image.file, image.path);
  AddedSegment segment;
  segment.address = segment.free_address = align_up(end_of_text(headers), kNewCodeAlignment);
  if (memory.size != 0) {
    uint64_t end = headers.data_start;
    for (const SectionHeader& section : headers.sections)
      if (section.loaded()) end = std::max(end, section.end());
    segment.memory_address = align_up(end, memory.alignment);
    segment.losses.push_back(
        "the program that counts makes system calls of Linux, as respike-ecoff has them: it does "
        "not run on Tru64");
  }
  if (has_local_symbols(image, headers))
    segment.losses.push_back(
        "local symbols, line numbers and descriptors of procedures, which describe the input, are "
        "left out");
  if (image.section_named(".comment") != nullptr)
    segment.losses.push_back("the section .comment, which describes the input, is left out");
  return segment;
}

std::vector<uint8_t> write(const Image& input, const NewImage& output) {
  return Writer(input, output).write();
}

}  // namespace respike::ecoff
