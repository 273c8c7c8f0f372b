// Recognises a file by its first bytes. Example: a file that starts with "#!" is "a script", so a
// message can say that a script was given instead of a program. The table holds only the kinds that
// users are likely to confuse; other files have no name.

#include "optimizer/base/file_kind.h"

#include <algorithm>
#include <utility>

namespace respike {

std::string_view kind_of_file(std::span<const uint8_t> start) {
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"\177ELF", "a program or library"},
      {"\x83\x01", "an ECOFF program"},
      {"\x85\x01", "an ECOFF program for BSD"},
      {"\x88\x01", "a compressed object of Tru64"},
      {"#!", "a script"},
      {"RSPKPROF", "a profile"},
      {"RSPKPSET", "a set of profiles"},
      {"RSPKCNT", "a counter file"}};
  for (const auto& [magic, kind] : kKinds)
    if (start.size() >= magic.size() &&
        std::ranges::equal(magic, start.first(magic.size()), {}, [](char c) { return uint8_t(c); }))
      return kind;
  return {};
}

}  // namespace respike
