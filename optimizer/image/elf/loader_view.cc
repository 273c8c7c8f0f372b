// Reads the parts of an ELF image that the dynamic linker reads.
//
// The dynamic linker maps an image by its program headers and goes from PT_DYNAMIC to the strings
// by addresses. Images of the system are stripped and may lack section headers. The full reader
// (reader.cc) needs sections and symbols, so it cannot read them. The file is not trusted: every
// offset is checked, and strings must end within their table.
//
// Source: System V ABI, chapter 5 "Program Loading and Dynamic Linking"; glibc 2.36,
// elf/get-dynamic-info.h. Limits: 64-bit little-endian images.

#include "optimizer/image/loader_view.h"

#include <elf.h>

#include <cstring>
#include <span>
#include <string_view>

#include "optimizer/base/error.h"
#include "optimizer/base/file_kind.h"
#include "optimizer/image/elf/program_headers.h"

namespace respike::elf {
namespace {

class Reader {
 public:
  Reader(std::span<const uint8_t> bytes, std::string name)
      : bytes_(bytes), name_(std::move(name)) {}

  LoaderView read() {
    read_header();
    for (const Elf64_Phdr& segment : segments_)
      if (segment.p_type == PT_INTERP) read_interpreter(segment);
    for (const Elf64_Phdr& segment : segments_)
      if (segment.p_type == PT_DYNAMIC) read_dynamic(segment);
    return std::move(view_);
  }

 private:
  [[noreturn]] void fail(const std::string& message, uint64_t offset) const {
    throw Error(message, name_, offset);
  }
  /// Copies a record, which need not be aligned.
  template <typename Record>
  Record record(uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(Record))
      fail("the file ends where the dynamic linker reads", offset);
    Record result;
    std::memcpy(&result, bytes_.data() + offset, sizeof result);
    return result;
  }
  void read_header();
  void read_interpreter(const Elf64_Phdr& segment);
  void read_dynamic(const Elf64_Phdr& segment);
  std::span<const uint8_t> loaded(uint64_t address) const;
  std::string string(std::span<const uint8_t> table, uint64_t offset) const;

  std::span<const uint8_t> bytes_;
  std::string name_;
  std::vector<Elf64_Phdr> segments_;
  LoaderView view_;
};

void Reader::read_header() {
  if (const std::string_view kind = kind_of_file(bytes_); kind == "a script")
    throw Error("it is a script, not an ELF program: register the program that it starts", name_);
  const FileStart start = read_file_start(bytes_);
  if (!start.is_elf) throw Error("it is not an ELF program or library", name_);
  if (!start.is_64_bit_little_endian)
    throw Error("it is not a 64-bit little-endian ELF image", name_);
  if (!start.is_linked) throw Error("it is not an ELF program or library", name_);
  if (start.header_size != sizeof(Elf64_Phdr)) fail("it has no usable program headers", 54);
  view_.machine = {start.machine(), start.machine_number};
  view_.shared = start.can_be_moved;
  for (uint64_t i = 0; i < start.header_count; ++i)
    segments_.push_back(record<Elf64_Phdr>(start.headers_offset + i * sizeof(Elf64_Phdr)));
}

void Reader::read_interpreter(const Elf64_Phdr& segment) {
  if (segment.p_offset > bytes_.size() || segment.p_filesz > bytes_.size() - segment.p_offset)
    fail("the interpreter's name lies outside the file", segment.p_offset);
  view_.interpreter = string(bytes_.subspan(segment.p_offset, segment.p_filesz), 0);
}

/// The file's bytes from an address to the end of its segment.
std::span<const uint8_t> Reader::loaded(uint64_t address) const {
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
    const uint64_t inside = address - segment.p_vaddr;
    if (inside >= segment.p_filesz || segment.p_offset > bytes_.size() ||
        segment.p_filesz > bytes_.size() - segment.p_offset)
      continue;
    return bytes_.subspan(segment.p_offset + inside, segment.p_filesz - inside);
  }
  return {};
}

std::string Reader::string(std::span<const uint8_t> table, uint64_t offset) const {
  if (offset < table.size()) {
    const auto* begin = reinterpret_cast<const char*>(table.data() + offset);
    const size_t room = table.size() - offset, length = strnlen(begin, room);
    if (length < room) return {begin, length};
  }
  throw Error("a name for the dynamic linker lies outside its table", name_);
}

void Reader::read_dynamic(const Elf64_Phdr& segment) {
  view_.dynamic = true;
  std::vector<Elf64_Dyn> entries;
  uint64_t strings_address = 0;
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
    const auto entry = record<Elf64_Dyn>(segment.p_offset + at);
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_STRTAB) strings_address = entry.d_un.d_ptr;
    entries.push_back(entry);
  }
  const std::span<const uint8_t> strings = loaded(strings_address);
  for (const Elf64_Dyn& entry : entries) {
    const uint64_t value = entry.d_un.d_val;
    switch (entry.d_tag) {
      case DT_NEEDED:
      case DT_FILTER:
      case DT_AUXILIARY:
        view_.needed.push_back({string(strings, value), entry.d_tag == DT_AUXILIARY});
        break;
      case DT_SONAME:
        view_.soname = string(strings, value);
        break;
      case DT_RPATH:
        view_.rpath = string(strings, value);
        break;
      case DT_RUNPATH:
        view_.runpath = string(strings, value);
        break;
      case DT_FLAGS_1:
        view_.no_default_folders = (value & DF_1_NODEFLIB) != 0;
        view_.marked_program = (value & DF_1_PIE) != 0;
        break;
      default:
        break;
    }
  }
  if (view_.runpath) view_.rpath.reset();  // glibc ignores RPATH if there is a RUNPATH
}

}  // namespace

LoaderView view_of(std::span<const uint8_t> bytes, const std::string& name) {
  return Reader(bytes, name).read();
}

std::optional<FileMachine> file_machine_of(std::span<const uint8_t> start) {
  const FileStart read = read_file_start(start);
  if (!read.is_usable()) return std::nullopt;
  return FileMachine{read.machine(), read.machine_number};
}

}  // namespace respike::elf
