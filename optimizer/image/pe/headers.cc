// Reads and checks the headers of a PE file.
//
// Nothing is trusted: each offset and size is checked before it is used, and every failure is one
// sentence with the place in the file. Record types come from LLVM's Object library, as for ELF.
// LIEF, which has a reader for the whole format, is not used. Measured on images for Alpha, it
// takes the second word of a HIGHADJ relocation for a separate relocation, later versions damage
// these words when they write, and it reads no function table. So little of it would remain that
// the checks here would still be needed.
//
// Example: a section header that claims 0x200 bytes from offset 0x4000 of a file with 0x4100 bytes
// ends in "the section .data is not in the file".
//
// Source: Microsoft Portable Executable and Common Object File Format Specification, revisions of
// 1998 and 2000, sections 3 and 4.

#include "optimizer/image/pe/headers.h"

#include <llvm/Object/COFF.h>

#include <algorithm>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"

namespace respike::pe {
namespace {

namespace object = llvm::object;

constexpr uint16_t kAlpha = 0x184, kAlpha64 = 0x284, kItanium = 0x200;
constexpr uint16_t kPe32 = 0x10b, kPe32Plus = 0x20b;
constexpr uint64_t kLargestImage = uint64_t{1} << 31;

struct KnownNumber {
  uint16_t number;
  const char* name;
};

/// Machines of images that Respike does not read.
constexpr KnownNumber kOthers[] = {{0x14c, "x86"},          {0x8664, "x86-64"},  {0x1c0, "ARM"},
                                   {0x1c4, "ARM"},          {0xaa64, "AArch64"}, {0x162, "MIPS"},
                                   {0x166, "MIPS"},         {0x1f0, "PowerPC"},  {0x1a2, "SH3"},
                                   {0xebc, "EFI byte code"}};

class HeaderReader {
 public:
  HeaderReader(std::span<const uint8_t> file, const std::string& name) : file_(file), name_(name) {}

  Headers read() {
    const auto& dos = record<object::dos_header>(0, "its header");
    const uint64_t signature = dos.AddressOfNewExeHeader;
    // Programs for DOS and 16-bit Windows have other data here, or nothing.
    if (signature > file_.size() || file_.size() - signature < 4 ||
        load<uint32_t>(&file_[signature]) != 0x4550)
      fail("it is a program for DOS or 16-bit Windows, not a PE file", 0x3c);
    headers_.coff_offset = signature + 4;
    const auto& coff = record<object::coff_file_header>(headers_.coff_offset, "its COFF header");
    headers_.characteristics = coff.Characteristics;
    headers_.optional_offset = headers_.coff_offset + sizeof(object::coff_file_header);
    headers_.sections_offset = headers_.optional_offset + coff.SizeOfOptionalHeader;
    read_machine(coff.Machine);
    headers_.symbols_offset = coff.PointerToSymbolTable;
    headers_.symbol_count = coff.NumberOfSymbols;
    if ((coff.Characteristics & 2) == 0)
      fail("it is marked as not executable: its linker reported errors", headers_.coff_offset);
    read_optional_header(coff.SizeOfOptionalHeader);
    read_sections(coff.NumberOfSections);
    check_directories();
    return std::move(headers_);
  }

 private:
  [[noreturn]] void fail(const std::string& message, uint64_t offset) const {
    throw Error(message, name_, offset);
  }

  template <typename Record>
  const Record& record(uint64_t offset, const char* what) const {
    static_assert(alignof(Record) == 1);
    if (offset > file_.size() || file_.size() - offset < sizeof(Record))
      fail(fmt::format("the file ends inside of {}", what), file_.size());
    return *reinterpret_cast<const Record*>(file_.data() + offset);
  }

  void read_machine(uint16_t number) {
    if (number == kAlpha || number == kAlpha64) {
      headers_.machine = MachineId::alpha;
      return;
    }
    if (number == kItanium) {
      headers_.machine = MachineId::ia64;
      return;
    }
    const auto other = std::ranges::find(kOthers, number, &KnownNumber::number);
    fail(other != std::end(kOthers)
             ? fmt::format("it is for {}: Respike reads PE images for Alpha alone", other->name)
             : fmt::format("it is for machine {:#x}: Respike reads PE images for Alpha alone",
                           number),
         headers_.coff_offset);
  }

  template <typename Header>
  void take(const Header& header, uint64_t offset, uint64_t size) {
    headers_.subsystem = header.Subsystem;
    headers_.base = header.ImageBase;
    headers_.entry = header.AddressOfEntryPoint;
    headers_.section_alignment = header.SectionAlignment;
    headers_.file_alignment = header.FileAlignment;
    headers_.memory_size = header.SizeOfImage;
    headers_.headers_size = header.SizeOfHeaders;
    headers_.checksum = header.CheckSum;
    headers_.directories_offset = offset + sizeof(Header);
    // Loaders look at 16 directories, whatever the header says.
    const uint64_t count = std::min<uint64_t>(header.NumberOfRvaAndSize, kDirectoryCount);
    headers_.directory_count = count;
    if (sizeof(Header) + count * sizeof(object::data_directory) > size)
      fail("the optional header is too short for its data directories", offset);
    for (uint64_t i = 0; i < count; ++i) {
      const auto& directory = record<object::data_directory>(
          headers_.directories_offset + i * sizeof(object::data_directory), "its data directories");
      headers_.directories[i] = {directory.RelativeVirtualAddress, directory.Size};
    }
  }

  void read_optional_header(uint64_t size) {
    const uint64_t offset = headers_.optional_offset;
    const auto magic = record<llvm::support::ulittle16_t>(offset, "its optional header");
    if (magic != kPe32 && magic != kPe32Plus)
      fail(fmt::format("the optional header has the unknown kind {:#x}", uint16_t{magic}), offset);
    headers_.wide = magic == kPe32Plus;
    const uint64_t fixed =
        headers_.wide ? sizeof(object::pe32plus_header) : sizeof(object::pe32_header);
    if (size < fixed) fail("the optional header is too short", offset);
    if (headers_.wide)
      take(record<object::pe32plus_header>(offset, "its optional header"), offset, size);
    else
      take(record<object::pe32_header>(offset, "its optional header"), offset, size);
    const auto power_of_two = [](uint32_t value) {
      return value != 0 && (value & (value - 1)) == 0;
    };
    if (!power_of_two(headers_.section_alignment) || headers_.section_alignment > 0x1000000 ||
        !power_of_two(headers_.file_alignment) ||
        headers_.file_alignment > headers_.section_alignment)
      fail("the alignment of its sections makes no sense", offset);
    if (headers_.base % 0x10000 != 0 || (!headers_.wide && headers_.base >= kLargestImage) ||
        headers_.base >= uint64_t{1} << 47)
      fail(fmt::format("its base {:#x} is no address where an image can be", headers_.base),
           offset);
    if (headers_.memory_size >= kLargestImage ||
        (!headers_.wide && headers_.base + headers_.memory_size > kLargestImage))
      fail("the image is too large", offset);
    if (headers_.headers_size > file_.size() || headers_.headers_size > headers_.memory_size)
      fail("its headers are larger than the file", offset);
  }

  void read_sections(uint32_t count) {
    if (count == 0) fail("it has no sections", headers_.coff_offset);
    if (count > kMostSections)
      fail(fmt::format("it has {} sections, more than can be loaded", count), headers_.coff_offset);
    uint64_t end = headers_.headers_size, offset = headers_.sections_offset;
    for (uint32_t i = 0; i < count; ++i, offset += sizeof(object::coff_section)) {
      const auto& header = record<object::coff_section>(offset, "its section headers");
      SectionHeader section;
      const std::string_view name(header.Name, sizeof header.Name);
      section.name = name.substr(0, name.find('\0'));
      section.place = header.VirtualAddress;
      section.size = header.VirtualSize;
      section.offset = header.PointerToRawData;
      section.size_in_file = header.SizeOfRawData;
      section.characteristics = header.Characteristics;
      // Linkers that leave out the size in memory mean the size in the file.
      if (section.size == 0) section.size = section.size_in_file;
      if (section.offset == 0) section.size_in_file = 0;
      check_section(section, end, offset);
      end = section.end();
      headers_.sections.push_back(std::move(section));
    }
    if (offset > headers_.headers_size)
      fail("its section headers are not among the loaded headers", headers_.sections_offset);
    check_contents();
  }

  void check_section(const SectionHeader& section, uint64_t end, uint64_t offset) const {
    if (section.place < end)
      fail(fmt::format("the section {} overlaps what is in front of it", section.name), offset);
    if (section.place % headers_.section_alignment != 0)
      fail(fmt::format("the section {} is not aligned", section.name), offset);
    if (section.end() > headers_.memory_size)
      fail(fmt::format("the section {} is not in the image", section.name), offset);
    if (section.loaded_size() != 0 &&
        (section.offset > file_.size() || section.loaded_size() > file_.size() - section.offset))
      fail(fmt::format("the section {} is not in the file", section.name), offset);
  }

  /// No byte of the file belongs to two sections, or to a section and the headers.
  void check_contents() const {
    std::vector<std::pair<uint64_t, uint64_t>> taken = {{0, headers_.headers_size}};
    for (const SectionHeader& section : headers_.sections)
      if (section.loaded_size() != 0)
        taken.emplace_back(section.offset, uint64_t{section.offset} + section.loaded_size());
    std::ranges::sort(taken);
    for (size_t i = 1; i < taken.size(); ++i)
      if (taken[i].first < taken[i - 1].second)
        fail("two of its sections share bytes of the file", taken[i].first);
  }

  /// Directories are in the loaded image.
  void check_directories() const {
    for (size_t i = 0; i < kDirectoryCount; ++i) {
      const DataDirectory& directory = headers_.directories[i];
      if (i == kCertificates || !directory.present()) continue;
      if (uint64_t{directory.place} + directory.size > headers_.memory_size)
        fail(fmt::format("the data directory {} is not in the image", i),
             headers_.directories_offset + i * sizeof(object::data_directory));
    }
    if (headers_.entry >= headers_.memory_size)
      fail("its entry is not in the image", headers_.optional_offset);
  }

  std::span<const uint8_t> file_;
  const std::string& name_;
  Headers headers_;
};

}  // namespace

const SectionHeader* Headers::section_of(size_t directory) const {
  if (!directories[directory].present()) return nullptr;
  const auto section =
      std::ranges::find(sections, directories[directory].place, &SectionHeader::place);
  return section == sections.end() ? nullptr : &*section;
}

Headers read_headers(std::span<const uint8_t> file, const std::string& name) {
  return HeaderReader(file, name).read();
}

}  // namespace respike::pe
