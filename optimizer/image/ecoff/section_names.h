#pragma once
// Names of sections: short in a file, longer in an Image.

#include <string>
#include <string_view>
#include <utility>

#include "optimizer/image/image.h"
#include "optimizer/image/provenance.h"

namespace respike::ecoff {

inline constexpr size_t kLongestSectionName = 8;

/// In the file, and in an Image.
inline constexpr std::pair<std::string_view, std::string_view> kSectionNames[] = {
    {".lita", kLinkageTable},          {".textrsp", ".text.respike"},
    {".bssrsp", ".bss.respike"},       {".strtrsp", ".text.respike.start"},
    {".cntrrsp", ".respike.counters"}, {".notersp", kNoteSection}};

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

}  // namespace respike::ecoff
