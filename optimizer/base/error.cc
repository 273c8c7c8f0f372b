// Formatting of the one exception type. The text is what a user reads after "respike: ".

#include "optimizer/base/error.h"

#include <fmt/format.h>

namespace respike {

std::string Error::format(const std::string& message, const std::string& file,
                          std::optional<uint64_t> offset) {
  std::string text = file.empty() ? message : fmt::format("{}: {}", file, message);
  if (offset) text += fmt::format(" (at offset {:#x})", *offset);
  return text;
}

}  // namespace respike
