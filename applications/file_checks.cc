// Example: `respike profile merge a b -o ./a` would lose the profile `a`, so it is refused, also
// when `./a` is a link to `a`.

#include "applications/file_checks.h"

#include <filesystem>

#include "optimizer/base/error.h"
#include "optimizer/machine/machines.h"

namespace respike {

void refuse_overwriting(const std::string& written, const std::vector<std::string>& others) {
  namespace fs = std::filesystem;
  const auto same = [](const fs::path& a, const fs::path& b) {
    std::error_code error;
    if (fs::equivalent(a, b, error)) return true;
    const fs::path place = fs::weakly_canonical(a, error);
    if (error) return false;  // then the file cannot be written either
    return place == fs::weakly_canonical(b, error) && !error;
  };
  for (const std::string& other : others)
    if (!written.empty() && !other.empty() && same(written, other))
      throw Error("it would be overwritten, but is needed for something else, too", written);
}

void require_machine(const Image& image) {
  if (!has_machine(image.machine))
    throw Error("it is for a machine that Respike cannot rewrite yet", image.path);
}

}  // namespace respike
