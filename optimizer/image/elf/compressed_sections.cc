// Sections that the linker compressed (System V gABI, chapter 4, "Compressed Sections"). A header
// names the method and gives the size of the contents. With -gz, compilers' debug information has
// this form.
//
// Example: .debug_info of 9 MB is a header of 24 bytes with the method 1 (zlib), the size and the
// alignment of the contents, and 3 MB of compressed bytes.

#include <fmt/format.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/Compression.h>
#include <llvm/Support/Error.h>

#include <cstring>

#include "optimizer/image/elf/elf.h"

namespace respike::elf {
namespace {

using Header = Types::Chdr;

constexpr uint64_t kLargest = uint64_t{4} << 30;  // bytes of contents
constexpr uint64_t kBestRatio = 256;              // of debug information; 3 to 10 is usual

bool is_compressed(const Section& section) {
  return (section.raw.flags & llvm::ELF::SHF_COMPRESSED) != 0;
}

llvm::compression::Format format_of(const Section& section, uint32_t type) {
  switch (type) {
    case llvm::ELF::ELFCOMPRESS_ZLIB:
      return llvm::compression::Format::Zlib;
    case llvm::ELF::ELFCOMPRESS_ZSTD:
      return llvm::compression::Format::Zstd;
    default:
      throw Error(
          fmt::format("{} is compressed by a method that is not known: {}", section.name, type));
  }
}

Header header_of(const Section& section) {
  if (section.contents.size() < sizeof(Header))
    throw Error(section.name + " is shorter than its header");
  Header header;
  std::memcpy(&header, section.contents.data(), sizeof header);
  return header;
}

}  // namespace

std::span<const uint8_t> unpack(const Section& section, std::vector<uint8_t>& storage) {
  if (!is_compressed(section)) return section.contents;
  const Header header = header_of(section);
  const auto compressed = section.contents.subspan(sizeof header);
  const uint64_t size = header.ch_size;
  if (size > kLargest || size > (compressed.size() + 1) * kBestRatio)
    throw Error(section.name + " says that its contents are larger than they can be");
  const auto format = format_of(section, header.ch_type);
  llvm::SmallVector<uint8_t, 0> contents;
  if (llvm::Error error = llvm::compression::decompress(
          format, {compressed.data(), compressed.size()}, contents, size)) {
    llvm::consumeError(std::move(error));
    throw Error(section.name + " cannot be decompressed");
  }
  if (contents.size() != size) throw Error(section.name + " is shorter than it says");
  storage.assign(contents.begin(), contents.end());
  return storage;
}

std::vector<uint8_t> pack(const Section& section, std::vector<uint8_t> contents) {
  if (!is_compressed(section)) return contents;
  Header header = header_of(section);
  llvm::SmallVector<uint8_t, 0> compressed;
  const llvm::compression::Params params(format_of(section, header.ch_type));
  llvm::compression::compress(params, contents, compressed);
  header.ch_size = contents.size();
  std::vector<uint8_t> result(sizeof header + compressed.size());
  std::memcpy(result.data(), &header, sizeof header);
  std::memcpy(result.data() + sizeof header, compressed.data(), compressed.size());
  return result;
}

}  // namespace respike::elf
