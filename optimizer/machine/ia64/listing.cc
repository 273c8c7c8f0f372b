// Itanium code as objdump lists it: a bundle on three lines, with the template on the first line; a
// bundle with a long instruction has no line for the L slot. Lines have objdump's addresses, six
// bytes apart, not the slot numbers of relocations and unwind tables.
//
// Example: the lines of a bundle at 0x1000 have the addresses 0x1000, 0x1006 and 0x100c.

#include "optimizer/machine/ia64/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "optimizer/machine/ia64/codec.h"
#include "optimizer/machine/ia64/meaning.h"
#include "optimizer/machine/ia64/text.h"

namespace respike {
namespace {

using namespace ia64;

constexpr size_t kBytesPerLine = 6;

std::string bytes_text(std::span<const uint8_t> bytes) {
  std::string text;
  for (uint8_t byte : bytes)
    fmt::format_to(std::back_inserter(text), "{}{:02x}", text.empty() ? "" : " ", byte);
  return text;
}

/// The line of one slot; `place`: the number of the line among the bundle's three lines.
ListedLine make_line(const Instruction* slots, size_t slot, uint64_t bundle, size_t place) {
  ListedLine line;
  line.address = bundle + place * kBytesPerLine;
  const std::string text = print(slots[slot], slots[1], bundle);
  const unsigned code = slots[0].registers[2] & 31;
  const Unit units[] = {unit(slots[0]), unit(slots[1]), unit(slots[2])};
  const bool stops[] = {has_stop(slots[0]), has_stop(slots[1]), has_stop(slots[2])};
  const std::string_view name = kTemplates[find_template(units, stops).value_or(code)].name;
  line.text = fmt::format("{:<6}{:>6}{}", place == 0 ? fmt::format("[{}]", name) : "",
                          text.starts_with("(") ? "" : "      ", text);
  if (is_direct(control_flow(slots[slot])))
    line.target = bundle + static_cast<uint64_t>(expand(slots[slot], slots[1]).immediate);
  return line;
}

class Ia64Listing final : public Listing {
 public:
  unsigned unit() const override { return kBundleSize; }

  using Listing::list;
  size_t list(std::span<const uint8_t> code, size_t end, uint64_t address,
              std::vector<ListedLine>& lines) const override {
    size_t at = 0;
    for (; at < end && at + kBundleSize <= code.size(); at += kBundleSize) {
      Instruction slots[3];
      decode_bundle(code.data() + at, 0, slots);
      uint8_t encoded[kBundleSize] = {};
      encode_bundle(slots, encoded);
      const bool is_long = ia64::unit(slots[1]) == Unit::l;
      for (size_t place = 0; place < (is_long ? 2u : 3u); ++place) {
        const size_t slot = is_long && place == 1 ? 2 : place;
        lines.push_back(make_line(slots, slot, address + at, place));
        const size_t first = place * kBytesPerLine;
        const size_t last = slot == 2 ? kBundleSize : first + kBytesPerLine;
        lines.back().code = bytes_text(std::span(encoded).subspan(first, last - first));
      }
    }
    return at;
  }
};

}  // namespace

const Listing& ia64_listing() {
  static const Ia64Listing listing;
  return listing;
}

}  // namespace respike
