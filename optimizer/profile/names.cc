// Compilers clone and split procedures, and name the new procedures after the old one. The appended
// text starts with a dot, which no name in C or C++ contains; so a source name ends at its first
// dot, not counting dots at its start. The same holds for mangled C++ names. Versions of symbols
// start with an @. Example: `memcpy.part.0@@GLIBC_2.4` is `memcpy`.

#include "optimizer/profile/names.h"

namespace respike {

std::string_view source_name(std::string_view name) {
  const size_t start = name.find_first_not_of('.');
  if (start == std::string_view::npos) return name;
  const size_t end = name.find_first_of(".@", start);
  return end == std::string_view::npos || end == start ? name : name.substr(0, end);
}

}  // namespace respike
