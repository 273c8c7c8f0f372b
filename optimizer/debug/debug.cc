// Which sections hold debug information, and what becomes of each.

#include "optimizer/debug/debug.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <set>
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

bool is_relocations(const Section& section) {
  return section.name.starts_with(kRelocations);
}

bool is_one_of(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::ranges::any_of(prefixes,
                             [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// Sections that describe code in forms other than DWARF's, or another file.
bool is_foreign(const Section& section) {
  constexpr std::string_view kForeign[] = {
      ".stab", ".mdebug", ".zdebug", ".gnu_debugdata",
      // Probes of SystemTap, annobin's notes, Clang's map of blocks, places of samples, and sizes.
      ".note.stapsdt", ".gnu.build.attributes", ".llvm_bb_addr_map", ".pseudo_probe",
      ".stack_sizes"};
  return !section.allocated() && is_one_of(subject(section), kForeign);
}

/// Sections that hold addresses in an unknown form: not loaded, and with relocations. Example: a
/// table that a new version of a compiler introduces.
std::vector<bool> find_unknown_tables(const Image& image) {
  std::set<std::string_view> related;
  for (const Section& section : image.sections)
    if (is_relocations(section) && !section.allocated() && section.size != 0)
      related.insert(subject(section));
  for (const Section& section : image.sections)
    if (section.allocated() || section.name.starts_with(".debug_")) related.erase(section.name);
  std::vector<bool> unknown(image.sections.size());
  for (uint32_t i = 1; i < image.sections.size(); ++i)
    unknown[i] = !image.sections[i].allocated() && related.contains(subject(image.sections[i]));
  return unknown;
}

/// gdb makes an index of its own for images without one.
bool is_index(const Section& section) {
  return !section.allocated() && subject(section) == ".gdb_index";
}

bool is_dwarf(const Section& section) {
  constexpr std::string_view kDebug[] = {".debug_"};
  // Scripts for gdb say nothing about the code.
  return !section.allocated() && is_one_of(subject(section), kDebug) &&
         subject(section) != ".debug_gdb_scripts";
}

/// The reference to a debug file (debug_file.h).
bool is_link(const Section& section) {
  return !section.allocated() && subject(section) == kDebugLink;
}

template <typename F>
void drop(const Image& image, NewImage& output, F which) {
  for (uint32_t i = 1; i < image.sections.size(); ++i)
    if (which(image.sections[i])) output.dropped_sections.push_back(i);
}

/// Stack traces (SFrame, versions 2 and 3) are loaded, and describe the code before rewriting. A
/// table of no functions is valid: readers continue without it.
void empty_stack_traces(const Image& image, NewImage& output, Diagnostics& diagnostics) {
  constexpr size_t kKept = 7;  // bytes: magic, version, flags, machine, two fixed offsets
  const Section* traces = image.section_named(kStackTraces);
  if (traces == nullptr || !traces->allocated() || traces->contents.size() <= kKept) return;
  std::fill_n(output.contents.begin() + static_cast<ptrdiff_t>(traces->offset + kKept),
              traces->contents.size() - kKept, uint8_t{0});
  drop(image, output, [](const Section& section) {
    return is_relocations(section) && subject(section) == kStackTraces;
  });
  diagnostics.warn(
      fmt::format("{} is emptied: it would describe the code before rewriting", kStackTraces));
}

/// Drops what every image with moved code loses.
void drop_what_has_no_writer(const Image& image, NewImage& output, Diagnostics& diagnostics) {
  drop(image, output, is_index);
  drop(image, output, is_foreign);
  drop(image, output, is_link);
  const auto warn = [&](std::string_view name) {
    diagnostics.warn(
        fmt::format("{} is left out: it would describe the code before rewriting", name));
  };
  const auto lost = std::ranges::find_if(image.sections, is_foreign);
  if (lost != image.sections.end()) warn(subject(*lost));
  const std::vector<bool> unknown = find_unknown_tables(image);
  for (uint32_t i = 1; i < image.sections.size(); ++i) {
    const Section& section = image.sections[i];
    if (!unknown[i] || is_foreign(section) || is_index(section)) continue;
    output.dropped_sections.push_back(i);
    if (!is_relocations(section)) warn(section.name);
  }
  empty_stack_traces(image, output, diagnostics);
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
    // The linker's relocations of these sections describe the code before rewriting.
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
