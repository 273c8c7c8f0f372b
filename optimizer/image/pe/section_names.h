#pragma once
// Names of Respike's own sections, which are too long for a PE file.

#include <string>
#include <string_view>
#include <utility>

#include "optimizer/image/provenance.h"

namespace respike::pe {

inline constexpr std::string_view kFunctionTable = ".pdata";
inline constexpr std::string_view kBaseRelocationsName = ".reloc";
/// Room that is no longer used: sections of an image have no holes between them.
inline constexpr std::string_view kUnusedRoom = ".unused";
inline constexpr size_t kLongestSectionName = 8;

/// In the file, and in an Image.
inline constexpr std::pair<std::string_view, std::string_view> kSectionNames[] = {
    {".textrsp", ".text.respike"},
    {".strtrsp", ".text.respike.start"},
    {".cntrsp", ".data.respike"},
    {".maprsp", ".respike.counters"},
    {".notersp", kNoteSection}};

inline std::string neutral_name(std::string_view name) {
  for (const auto& [in_file, neutral] : kSectionNames)
    if (name == in_file) return std::string(neutral);
  return std::string(name);
}

inline std::string name_in_file(std::string_view name) {
  for (const auto& [in_file, neutral] : kSectionNames)
    if (name == neutral) return std::string(in_file);
  return std::string(name.substr(0, kLongestSectionName));
}

}  // namespace respike::pe
