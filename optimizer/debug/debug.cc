// Which sections hold debug information, and what becomes of each.

#include "optimizer/debug/debug.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string_view>

#include "optimizer/debug/debug_file.h"
#include "optimizer/debug/entries.h"
#include "optimizer/debug/sections.h"

namespace respike {
namespace {

constexpr std::string_view kRelocations = ".rela";

/// The name of the section that relocations apply to, or the section's own name.
std::string_view subject(const Section& section) {
  std::string_view name = section.name;
  if (name.starts_with(kRelocations)) name.remove_prefix(kRelocations.size());
  return name;
}

bool is_one_of(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::ranges::any_of(prefixes,
                             [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// Sections that describe code in forms other than DWARF's, or another file.
bool is_foreign(const Section& section) {
  constexpr std::string_view kForeign[] = {
      ".stab", ".mdebug", ".zdebug", ".gnu_debugdata",
      // Probes of SystemTap, annobin's notes, Clang's map of blocks.
      ".note.stapsdt", ".gnu.build.attributes", ".llvm_bb_addr_map"};
  return !section.allocated() && is_one_of(subject(section), kForeign);
}

/// gdb makes an index of its own for images without one.
bool is_index(const Section& section) {
  return !section.allocated() && subject(section) == ".gdb_index";
}

bool is_dwarf(const Section& section) {
  constexpr std::string_view kDebug[] = {".debug_"};
  // Scripts for gdb say nothing of the code.
  return !section.allocated() && is_one_of(subject(section), kDebug) &&
         subject(section) != ".debug_gdb_scripts";
}

/// The reference to a debug file (debug_file.h).
bool is_link(const Section& section) {
  return !section.allocated() && subject(section) == kDebugLink;
}

bool is_relocations(const Section& section) {
  return section.name.starts_with(kRelocations);
}

template <typename F>
void drop(const Image& image, NewImage& output, F which) {
  for (uint32_t i = 1; i < image.sections.size(); ++i)
    if (which(image.sections[i])) output.dropped_sections.push_back(i);
}

/// What every image with moved code loses.
void drop_what_has_no_writer(const Image& image, NewImage& output, Diagnostics& diagnostics) {
  drop(image, output, is_index);
  drop(image, output, is_foreign);
  drop(image, output, is_link);
  const auto lost = std::ranges::find_if(image.sections, is_foreign);
  if (lost != image.sections.end())
    diagnostics.warn(
        fmt::format("{} is left out: it would describe the code before rewriting", subject(*lost)));
}

}  // namespace

bool has_debug_sections(const Image& image) {
  return std::ranges::any_of(image.sections, is_dwarf);
}

void write_debug_sections(const Image& image, const AddressMap& map, NewImage& output,
                          Diagnostics& diagnostics) {
  drop_what_has_no_writer(image, output, diagnostics);
  if (!has_debug_sections(image)) return;
  std::string why;
  try {
    debug::rewrite(image, map, output, diagnostics);
    // The linker's relocations of these sections speak of the code before rewriting.
    drop(image, output,
         [](const Section& section) { return is_dwarf(section) && is_relocations(section); });
    return;
  } catch (const std::bad_alloc&) {
    why = "there is not enough memory for it";
  } catch (const std::exception& error) {
    why = error.what();
  }
  drop(image, output, is_dwarf);
  diagnostics.warn("the debug information is left out: " + why);
}

}  // namespace respike
