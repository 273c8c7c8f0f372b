// Debug information: whatever its sections say, they are rewritten for code in another order, or
// left out with one warning.
//
// An input is a list of sections without an image: the section's number in kNames (one byte), its
// size (four bytes), its contents. Code is [kText, kText + kSize); its pieces of 16 bytes are in
// the opposite order in the output, and every fourth piece is a byte longer.

#include <algorithm>

#include "optimizer/debug/debug.h"
#include "optimizer/image/container.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/debug_seeds.h"

namespace respike {
namespace {

AddressMap backwards() {
  std::vector<MovedPiece> pieces;
  uint64_t at = debug_seeds::kText + debug_seeds::kSize;
  constexpr uint64_t kPiece = 16;
  for (uint32_t i = debug_seeds::kSize / kPiece; i-- > 0;) {
    const uint64_t old = debug_seeds::kText + i * kPiece;
    const uint64_t size = kPiece + (i % 4 == 0 ? 1 : 0);
    pieces.push_back({.new_start = at,
                      .new_end = at + size,
                      .old_from = old,
                      .old_start = old,
                      .old_end = old + kPiece,
                      .fragment = i / 2});
    at += size;
  }
  const AddressMap::Range code(debug_seeds::kText, debug_seeds::kText + debug_seeds::kSize);
  return AddressMap(std::move(pieces), {code}, {code});
}

}  // namespace

FuzzResult check_debug(std::span<const uint8_t> bytes) {
  static const AddressMap map = backwards();
  FuzzResult result;
  Image image;
  image.container = &elf::container;
  image.sections.emplace_back();
  while (bytes.size() >= 5) {
    const size_t size = std::min<size_t>(load<uint32_t>(bytes.data() + 1), bytes.size() - 5);
    Section& section = image.sections.emplace_back();
    section.name = debug_seeds::kNames[bytes[0] % debug_seeds::kNames.size()];
    section.contents = bytes.subspan(5, size);
    section.size = size;
    bytes = bytes.subspan(5 + size);
  }
  const bool has_addresses = std::ranges::any_of(image.sections, [](const Section& section) {
    return !section.name.empty() && section.name != ".debug_str";
  });
  NewImage output;
  Diagnostics diagnostics;
  write_debug_sections(image, map, output, diagnostics);
  if (!output.replaced.empty())
    result.depth = FuzzDepth::rewritten;
  else if (diagnostics.warnings().empty() && has_addresses)
    result.finding = "debug information got lost without a word";
  else if (!diagnostics.warnings().empty())
    result.error = diagnostics.warnings().front();
  if (result.error.find("::") != std::string::npos)
    result.finding = "an exception of the standard library: " + result.error;
  return result;
}

}  // namespace respike
