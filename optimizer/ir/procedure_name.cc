#include "optimizer/ir/procedure_name.h"

#include <fmt/format.h>

#include <charconv>

namespace respike {

std::optional<AddressedName> split_addressed_name(std::string_view text) {
  const size_t at = text.rfind('@');
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view digits = text.substr(at + 1);
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  uint64_t address = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), address, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return AddressedName{text.substr(0, at), address};
}

std::string made_up_name(uint64_t address) {
  return fmt::format("code_{:x}", address);
}

bool has_own_name(std::string_view name, uint64_t address) {
  return !name.empty() && name != made_up_name(address);
}

}  // namespace respike
