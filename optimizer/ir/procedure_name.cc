// Reads and makes names of procedures, and finds procedures by the names that users give. Example:
// split_addressed_name("init@0x120000460") gives the name "init" and the address 0x120000460;
// "memcpy@GLIBC_2.14" has no hexadecimal number after its last @, so it is a plain name. Of two
// procedures `init`, "init" names both.

#include "optimizer/ir/procedure_name.h"

#include <fmt/format.h>

#include <charconv>
#include <unordered_map>

#include "optimizer/base/error.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/lookup.h"

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

std::vector<bool> procedures_named(const Program& program, const std::vector<std::string>& list) {
  std::vector<bool> named(program.procedures.size());
  if (list.empty()) return named;
  std::unordered_multimap<std::string_view, ProcedureId> by_name;
  by_name.reserve(program.procedures.size());
  for (ProcedureId id = 0; id < program.procedures.size(); ++id)
    by_name.emplace(program[id].name, id);
  for (const std::string& text : list) {
    const auto [first, last] = by_name.equal_range(text);
    for (auto each = first; each != last; ++each) named[each->second] = true;
    if (first != last) continue;  // names may have an @ of their own
    const auto meant = split_addressed_name(text);
    const auto at = meant ? procedure_at_entry(program, meant->address) : std::nullopt;
    if (!at || program[*at].name != meant->name)
      throw Error(fmt::format("there is no procedure {}", text), program.image->path);
    named[*at] = true;
  }
  return named;
}

std::string made_up_name(uint64_t address) {
  return fmt::format("code_{:x}", address);
}

bool has_own_name(std::string_view name, uint64_t address) {
  return !name.empty() && name != made_up_name(address);
}

}  // namespace respike
