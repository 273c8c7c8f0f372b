// Numbers for reports. Examples: percent(1, 8) is "12.50%", grouped(1234567) is "1,234,567".

#include "optimizer/base/number_text.h"

#include <fmt/format.h>

namespace respike {

std::string percent(double part, double whole) {
  return fmt::format("{:.2f}%", whole == 0 ? 0.0 : 100.0 * part / whole);
}

std::string grouped(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

}  // namespace respike
