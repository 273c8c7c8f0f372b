#include "optimizer/base/file_kind.h"

#include <algorithm>
#include <utility>

namespace respike {

std::string_view kind_of_file(std::span<const uint8_t> start) {
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"\177ELF", "a program or library"},
      {"#!", "a script"},
      {"RSPKPROF", "a profile"},
      {"RSPKCNT", "a counter file"}};
  for (const auto& [magic, kind] : kKinds)
    if (start.size() >= magic.size() && std::equal(magic.begin(), magic.end(), start.begin()))
      return kind;
  return {};
}

}  // namespace respike
