// Reads and checks the headers of an ECOFF file.
//
// Nothing is trusted: each offset and size is checked before it is used, and every failure is one
// sentence with the place in the file. Objects, shared images and images that are not loaded by
// pages are distinguished here.
//
// Example: a section header that claims 0x200 bytes from offset 0x4000 of a file with 0x4100 bytes
// ends in "the section .data is not in the file".
//
// The optional header also has sizes of text and data. They are not trusted: `objcopy` adds up the
// sizes of the sections, without the gaps in between. Places and sizes are taken from the sections.

#include "optimizer/image/ecoff/headers.h"

#include <fmt/format.h>

#include <algorithm>

#include "optimizer/base/error.h"

namespace respike::ecoff {
namespace {

constexpr uint64_t kHighestAddress = uint64_t{1} << 43;  // of a program's memory on Alpha
constexpr uint64_t kInstruction = 4;                     // bytes

class HeaderReader {
 public:
  HeaderReader(std::span<const uint8_t> file, const std::string& name) : file_(file), name_(name) {}

  Headers read() {
    const auto& header = record<FileHeader>(0, "its header");
    headers_.flags = header.flags;
    check_kind(header);
    const auto& optional = record<OptionalHeader>(sizeof(FileHeader), "its optional header");
    if (optional.kind != kDemandLoaded)
      fail(fmt::format("it is not loaded by pages (its kind is {:#o}, not {:#o}): link it without "
                       "-N and -n",
                       uint16_t{optional.kind}, kDemandLoaded),
           sizeof(FileHeader));
    headers_.entry = optional.entry;
    headers_.text_start = optional.text_start;
    headers_.data_start = optional.data_start;
    if (headers_.text_start >= kHighestAddress || headers_.data_start >= kHighestAddress)
      fail("its text or data starts at no address of a program", sizeof(FileHeader));
    headers_.symbolic_header = header.symbolic_header_size == 0 ? 0 : header.symbolic_header;
    read_sections(header.sections);
    return std::move(headers_);
  }

 private:
  [[noreturn]] void fail(const std::string& message, uint64_t offset) const {
    throw Error(message, name_, offset);
  }

  bool in_file(uint64_t offset, uint64_t size) const {
    return offset <= file_.size() && size <= file_.size() - offset;
  }

  template <typename Record>
  const Record& record(uint64_t offset, const char* what) const {
    static_assert(alignof(Record) == 1);
    if (!in_file(offset, sizeof(Record)))
      fail(fmt::format("the file ends inside of {}", what), file_.size());
    return *reinterpret_cast<const Record*>(file_.data() + offset);
  }

  void check_kind(const FileHeader& header) const {
    const uint16_t sharing = headers_.flags & kSharing;
    if ((headers_.flags & kLinked) == 0 || header.optional_header_size == 0)
      fail("it is an object file, not a linked program", offsetof(FileHeader, flags));
    if (sharing != 0 && sharing != kNotShared)
      fail(sharing == kSharing
               ? "it uses shared libraries: of ECOFF, Respike reads programs that are linked with "
                 "-non_shared"
               : "it is a shared library: of ECOFF, Respike reads programs that are linked with "
                 "-non_shared",
           offsetof(FileHeader, flags));
    if (header.optional_header_size != sizeof(OptionalHeader))
      fail("the size of its optional header is not 80", offsetof(FileHeader, optional_header_size));
  }

  void read_sections(uint32_t count) {
    constexpr uint32_t kMostSections = 256;  // Tru64 knows some twenty names
    if (count == 0) fail("it has no sections", offsetof(FileHeader, sections));
    if (count > kMostSections) fail("it has too many sections", offsetof(FileHeader, sections));
    uint64_t offset = sizeof(FileHeader) + sizeof(OptionalHeader);
    for (uint32_t i = 0; i < count; ++i, offset += sizeof(SectionRecord)) {
      const auto& header = record<SectionRecord>(offset, "its section headers");
      SectionHeader section;
      const std::string_view name(header.name, sizeof header.name);
      section.name = name.substr(0, name.find('\0'));
      section.address = header.address;
      section.size = header.size;
      section.offset = header.offset;
      section.relocations = header.relocations;
      section.relocation_count = header.relocation_count;
      section.flags = header.flags;
      const bool zero = (section.flags & kExtended) == 0 && (section.flags & (kZero | kSmallZero));
      if (zero || section.size == 0) section.offset = 0;
      check_section(section, offset);
      headers_.sections.push_back(std::move(section));
    }
    check_apart(offset);
  }

  void check_section(const SectionHeader& section, uint64_t offset) const {
    const auto refuse = [&](const char* why) {
      fail(fmt::format("the section {} {}", section.name, why), offset);
    };
    if (section.has_contents() && !in_file(section.offset, section.size))
      refuse("is not in the file");
    if (section.relocation_count != 0 &&
        !in_file(section.relocations, section.relocation_count * sizeof(RelocationRecord)))
      refuse("has relocations that are not in the file");
    if (!section.loaded()) return;
    if (section.address >= kHighestAddress || section.size >= kHighestAddress)
      refuse("is at no address of a program");
    if (section.code() && section.offset == 0) refuse("has code that is not in the file");
    if (section.code() && (section.address % kInstruction != 0 || section.size % kInstruction != 0))
      refuse("does not consist of instructions");
  }

  /// No byte of memory or of the file belongs to two sections, or to a section and the headers.
  void check_apart(uint64_t headers_end) const {
    std::vector<std::pair<uint64_t, uint64_t>> memory, contents = {{0, headers_end}};
    for (const SectionHeader& section : headers_.sections) {
      if (section.loaded()) memory.emplace_back(section.address, section.end());
      if (section.has_contents())
        contents.emplace_back(section.offset, section.offset + section.size);
    }
    for (auto* ranges : {&memory, &contents}) {
      std::ranges::sort(*ranges);
      for (size_t i = 1; i < ranges->size(); ++i)
        if ((*ranges)[i].first < (*ranges)[i - 1].second)
          fail(ranges == &memory
                   ? fmt::format("two of its sections share the address {:#x}", (*ranges)[i].first)
                   : std::string("two of its sections share bytes of the file"),
               sizeof(FileHeader));
    }
  }

  std::span<const uint8_t> file_;
  const std::string& name_;
  Headers headers_;
};

}  // namespace

Headers read_headers(std::span<const uint8_t> file, const std::string& name) {
  return HeaderReader(file, name).read();
}

}  // namespace respike::ecoff
