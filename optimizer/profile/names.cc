// Compilers clone procedures and split them, and name the new ones after the old one. What they
// append starts with a dot, which no name in C or C++ has; so the name ends at its first dot, but
// for names that start with dots. Of C++ names the clone's mark is a suffix, too, as long as the
// name is not demangled. Versions of symbols start with an @.

#include "optimizer/profile/names.h"

namespace respike {

std::string_view source_name(std::string_view name) {
  const size_t start = name.find_first_not_of('.');
  if (start == std::string_view::npos) return name;
  const size_t end = name.find_first_of(".@", start);
  return end == std::string_view::npos || end == start ? name : name.substr(0, end);
}

}  // namespace respike
