// Debug files and the images that they belong to.
//
// An image names its debug file in .gnu_debuglink (GDB manual, "Debugging Information in Separate
// Files"): the file's name, zeros up to a multiple of four bytes, and the CRC-32 of the file's
// bytes. Debuggers also find a debug file by the build-id, which image and debug file share.
//
// Example: prog.debug was made from yesterday's build. Its build-id differs from that of prog, so
// the file is refused: it would give wrong lines.

#include "optimizer/debug/debug_file.h"

#include <fmt/format.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/CRC.h>

#include <algorithm>

#include "optimizer/base/bytes.h"
#include "optimizer/debug/debug.h"
#include "optimizer/image/debug_file.h"

namespace respike {
namespace {

constexpr size_t kChecksum = 4;  // bytes

uint32_t checksum_of(std::span<const uint8_t> file) {
  return llvm::crc32(llvm::ArrayRef<uint8_t>(file.data(), file.size()));
}

[[noreturn]] void refuse(const Image& image, const Image& debug, const std::string& why) {
  throw Error(fmt::format("this is not the debug file of {}: {}", image.path, why), debug.path);
}

void require_same_sections(const Image& image, const Image& debug) {
  const auto partners = match_sections(image, debug);
  for (uint32_t i = 1; i < image.sections.size(); ++i) {
    const Section& section = image.sections[i];
    if (!section.allocated()) continue;
    if (partners[i] == 0) refuse(image, debug, fmt::format("it has no section {}", section.name));
    const Section& other = debug.sections[partners[i]];
    if (other.address != section.address || other.size != section.size)
      refuse(image, debug, fmt::format("its section {} has another place or size", section.name));
  }
}

}  // namespace

void require_debug_file(const Image& image, const Image& debug) {
  if (debug.machine != image.machine) refuse(image, debug, "it is for another machine");
  if (debug.build_id != image.build_id)
    refuse(image, debug,
           image.build_id.empty()   ? "it has a build-id"
           : debug.build_id.empty() ? "it has no build-id"
                                    : "it has another build-id");
  require_same_sections(image, debug);
  if (const Section* link = image.section_named(kDebugLink);
      link != nullptr && link->contents.size() >= kChecksum) {
    const auto wanted = load<uint32_t>(link->contents.data() + link->contents.size() - kChecksum);
    if (wanted != checksum_of(debug.file))
      refuse(image, debug, "it has another checksum (CRC) than .gnu_debuglink says");
  }
  if (!has_debug_sections(debug) && debug.symbols.empty())
    throw Error("the file has neither debug information nor symbols", debug.path);
}

std::vector<uint8_t> debug_link(std::string_view name) {
  std::vector<uint8_t> contents(name.begin(), name.end());
  contents.resize(align_up(name.size() + 1, 4) + kChecksum);
  return contents;
}

void complete_debug_link(std::vector<uint8_t>& image, std::span<const uint8_t> debug) {
  const Image written = view_image(image, "the rewritten image");
  const Section* link = written.section_named(kDebugLink);
  if (link == nullptr || link->contents.size() < kChecksum)
    throw Error("internal error: the output does not refer to its debug file");
  store(image.data() + link->offset + link->contents.size() - kChecksum, checksum_of(debug));
}

}  // namespace respike
