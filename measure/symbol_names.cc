// Looks symbols up by address. A stripped library has only the symbols of its exports; code between
// them counts for its section, not for the procedure before it.
//
// Example: symbols `f` at 0x400, 0x20 bytes, and `g` at 0x440. 0x410 is f's, 0x430 is .text's.
// Several procedures of one name in an image are distinguished by address: `init@400`, `init@480`.

#include "measure/symbol_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "optimizer/base/error.h"

namespace respike::measure {
namespace {

constexpr const char* kNameless = "code without a name";

}  // namespace

SymbolNames::SymbolNames(const Image& image) {
  for (const Segment& segment : image.segments)
    if (segment.loaded()) segments_.push_back({segment.offset, segment.file_size, segment.address});
  for (const Section& section : image.sections)
    if (section.allocated() && section.executable() && section.size != 0)
      sections_[section.address] = {section.address + section.size, section.name};
  // The best of several symbols at one address: with a size, global, then the first by name.
  using Rank = std::tuple<uint64_t, bool, bool, std::string_view>;
  std::vector<std::pair<Rank, const Symbol*>> ranked;
  for (const auto* table : {&image.symbols, &image.dynamic_symbols})
    for (const Symbol& symbol : *table)
      if (symbol.type == Symbol::Type::procedure && symbol.defined_in_section() &&
          !symbol.name.empty())
        ranked.push_back({{symbol.value, symbol.size == 0, symbol.local, symbol.name}, &symbol});
  std::ranges::sort(ranked, {}, &decltype(ranked)::value_type::first);
  std::map<std::string_view, int> times;
  std::vector<const Symbol*> chosen;
  for (const auto& [rank, symbol] : ranked)
    if (chosen.empty() || chosen.back()->value != symbol->value) {
      chosen.push_back(symbol);
      ++times[symbol->name];
    }
  for (size_t i = 0; i < chosen.size(); ++i) {
    const Symbol& symbol = *chosen[i];
    const uint64_t next = i + 1 < chosen.size() ? chosen[i + 1]->value : ~uint64_t{0};
    procedures_[symbol.value] = {symbol.size != 0 ? symbol.value + symbol.size : next,
                                 times[symbol.name] == 1
                                     ? std::string(symbol.name)
                                     : fmt::format("{}@{:x}", symbol.name, symbol.value)};
  }
}

std::optional<uint64_t> SymbolNames::address_of(uint64_t offset) const {
  for (const Loaded& segment : segments_)
    if (offset >= segment.offset && offset - segment.offset < segment.size)
      return segment.address + (offset - segment.offset);
  return std::nullopt;
}

std::string SymbolNames::at(uint64_t offset) const {
  const auto address = address_of(offset);
  if (!address) return kNameless;
  for (const auto* table : {&procedures_, &sections_}) {
    auto after = table->upper_bound(*address);
    if (after != table->begin() && *address < (--after)->second.end) return after->second.name;
  }
  return kNameless;
}

std::string SymbolsOfImages::operator()(const std::string& image, uint64_t offset) {
  if (image.empty()) return kNameless;
  const auto [known, is_new] = images_.try_emplace(image);
  if (is_new) try {
      known->second = std::make_shared<const SymbolNames>(read_image(image));
    } catch (const Error&) {  // the file was deleted in the meantime, or is the kernel's
    }
  return known->second ? known->second->at(offset) : kNameless;
}

}  // namespace respike::measure
