#pragma once
// The debug sections of an image, decompressed; private to this folder.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "optimizer/image/image.h"

namespace respike::debug {

/// The sections that hold addresses of code, or offsets into sections that do.
enum class Part : uint8_t {
  info,
  types,
  abbrev,
  line,
  addr,
  ranges,    // DWARF 2 to 4
  rnglists,  // DWARF 5
  loc,       // DWARF 2 to 4
  loclists,  // DWARF 5
  aranges,
  macro,
  frame,
};
inline constexpr size_t kParts = 12;
inline constexpr std::array<std::string_view, kParts> kPartNames = {
    ".debug_info",     ".debug_types",   ".debug_abbrev",   ".debug_line",
    ".debug_addr",     ".debug_ranges",  ".debug_rnglists", ".debug_loc",
    ".debug_loclists", ".debug_aranges", ".debug_macro",    ".debug_frame"};

class Sections {
 public:
  /// Throws Error for a section that cannot be decompressed, or that exists twice.
  explicit Sections(const Image& image);

  bool has(Part part) const { return section_[index(part)].has_value(); }
  /// Empty where the image has no such section. The bytes live as long as this object.
  std::span<const uint8_t> contents(Part part) const { return contents_[index(part)]; }
  /// Index of Image::sections; nullopt: the image has no such section.
  std::optional<uint32_t> section(Part part) const { return section_[index(part)]; }

  /// The contents in the section's form: compressed when the input's are.
  std::vector<uint8_t> packed(Part part, std::vector<uint8_t> contents) const;

 private:
  static size_t index(Part part) { return static_cast<size_t>(part); }

  const Image& image_;
  std::array<std::optional<uint32_t>, kParts> section_;
  std::array<std::span<const uint8_t>, kParts> contents_;
  std::array<std::vector<uint8_t>, kParts> storage_;
};

}  // namespace respike::debug
