// A loader of programs looks only at the file's start and its program headers.
//
// Example: the emulator maps each segment of kind `loaded`, and finds the name of the dynamic
// linker in the segment of kind `interpreter`. Sources: System V ABI, chapters 4 and 5.

#include "optimizer/image/elf/program_headers.h"

#include <cstring>
#include <utility>

#include "optimizer/image/elf/elf.h"

namespace respike::elf {

namespace ELF = llvm::ELF;

namespace {

constexpr std::pair<MachineId, uint16_t> kMachines[] = {
    {MachineId::alpha, 0x9026},  // used by Linux; the registered 41 never was
    {MachineId::ia64, ELF::EM_IA_64},
    {MachineId::x86_64, ELF::EM_X86_64},
};

Segment::Kind kind_of(uint32_t type) {
  constexpr uint32_t kIa64UnwindTable = ELF::PT_LOPROC + 1;  // PT_IA_64_UNWIND
  switch (type) {
    case ELF::PT_LOAD:
      return Segment::Kind::loaded;
    case ELF::PT_INTERP:
      return Segment::Kind::interpreter;
    case ELF::PT_DYNAMIC:
      return Segment::Kind::loader_table;
    case kIa64UnwindTable:
      return Segment::Kind::unwind_table;
    default:
      return Segment::Kind::other;
  }
}

uint8_t rights_of(uint32_t flags) {
  return static_cast<uint8_t>(((flags & ELF::PF_R) != 0 ? Segment::kReadable : 0) |
                              ((flags & ELF::PF_W) != 0 ? Segment::kWritable : 0) |
                              ((flags & ELF::PF_X) != 0 ? Segment::kExecutable : 0));
}

}  // namespace

std::optional<MachineId> machine_of_number(uint16_t number) {
  for (const auto& [machine, known] : kMachines)
    if (known == number) return machine;
  return std::nullopt;
}

uint16_t number_of_machine(MachineId machine) {
  for (const auto& [known, number] : kMachines)
    if (known == machine) return number;
  return 0;
}

std::optional<MachineId> FileStart::machine() const {
  return machine_of_number(machine_number);
}

FileStart read_file_start(std::span<const uint8_t> file) {
  static_assert(sizeof(FileHeader) == kFileStartSize);
  static_assert(offsetof(FileHeader, e_flags) == kFlagsOffset);
  FileStart start;
  start.is_elf = file.size() >= sizeof(FileHeader) &&
                 std::memcmp(file.data(), ELF::ElfMagic, ELF::EI_CLASS) == 0;
  if (!start.is_elf) return start;
  start.is_64_bit_little_endian =
      file[ELF::EI_CLASS] == ELF::ELFCLASS64 && file[ELF::EI_DATA] == ELF::ELFDATA2LSB;
  const auto& header = *reinterpret_cast<const FileHeader*>(file.data());
  start.machine_number = header.e_machine;
  if (!start.is_64_bit_little_endian) return start;
  start.can_be_moved = header.e_type == ELF::ET_DYN;
  start.is_linked = start.can_be_moved || header.e_type == ELF::ET_EXEC;
  start.entry = header.e_entry;
  start.headers_offset = header.e_phoff;
  start.header_size = header.e_phentsize;
  start.header_count = header.e_phnum;
  return start;
}

Segment segment_of(const ProgramHeader& header) {
  return {.kind = kind_of(header.p_type),
          .rights = rights_of(header.p_flags),
          .offset = header.p_offset,
          .address = header.p_vaddr,
          .file_size = header.p_filesz,
          .memory_size = header.p_memsz,
          .alignment = header.p_align,
          .raw = {.type = header.p_type, .flags = header.p_flags}};
}

std::vector<Segment> read_segments(std::span<const uint8_t> table) {
  static_assert(sizeof(ProgramHeader) == kProgramHeaderSize && alignof(ProgramHeader) == 1);
  std::vector<Segment> segments;
  const auto* headers = reinterpret_cast<const ProgramHeader*>(table.data());
  for (size_t i = 0; i < table.size() / sizeof(ProgramHeader); ++i)
    segments.push_back(segment_of(headers[i]));
  return segments;
}

ProgramMagic program_magic(MachineId machine) {
  ProgramMagic magic{
      .bytes = {0x7f, 'E', 'L', 'F', ELF::ELFCLASS64, ELF::ELFDATA2LSB, ELF::EV_CURRENT},
      .mask = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
  magic.bytes[16] = ELF::ET_EXEC;  // ET_DYN differs in the bit that the mask excludes
  magic.mask[16] = 0xfe;
  magic.mask[17] = magic.mask[18] = magic.mask[19] = 0xff;
  const uint16_t number = number_of_machine(machine);
  magic.bytes[18] = static_cast<uint8_t>(number);
  magic.bytes[19] = static_cast<uint8_t>(number >> 8);
  return magic;
}

}  // namespace respike::elf
