#pragma once
// Code that tests of the lifter share: images made by hand.

#include <cstdint>
#include <string_view>
#include <vector>

#include "optimizer/image/image.h"

namespace respike {

struct NamedSize {
  std::string_view name;
  uint64_t size = 0;  // bytes
};

/// Adds the symbols of consecutive procedures, from the start of a section. The first symbol of an
/// image is the empty symbol.
inline void add_procedures(Image& image, uint32_t section,
                           const std::vector<NamedSize>& procedures) {
  if (image.symbols.empty()) image.symbols.emplace_back();
  uint64_t at = image.sections[section].address;
  for (const auto& [name, size] : procedures) {
    Symbol& symbol = image.symbols.emplace_back();
    symbol.name = name;
    symbol.value = at;
    symbol.size = size;
    symbol.section = section;
    symbol.type = Symbol::Type::procedure;
    at += size;
  }
}

}  // namespace respike
