// Symbols, names and relocations as records of the file.
//
// Symbol names of an Image point into the mapped input. Almost all symbols of an output come from
// the input, so the output's string table starts with the whole of the input's: a name's offset is
// then the distance of two pointers, and a table of two million symbols needs neither hashing nor
// sorting. Only the rewriter's names are appended. Example: "main" at offset 100 of the input's
// table stays at 100; "main.frag.0" goes to the end.

#include "optimizer/image/elf/tables.h"

#include <algorithm>
#include <cassert>
#include <functional>

#include "optimizer/image/elf/symbol_other.h"

namespace respike::elf {

namespace ELF = llvm::ELF;

uint64_t GrowingStringTable::add(std::string_view text) {
  if (text.empty() && !base_.empty() && base_[0] == 0) return 0;
  const auto* data = reinterpret_cast<const uint8_t*>(text.data());
  const std::less<const uint8_t*> before;
  // Only text directly before a NUL is a whole string of the table.
  const bool in_base = !base_.empty() && !before(data, base_.data()) &&
                       before(data + text.size(), base_.data() + base_.size());
  if (in_base && data[text.size()] == 0) return data - base_.data();
  const uint64_t offset = size();
  appended_.insert(appended_.end(), text.begin(), text.end());
  appended_.push_back(0);
  return offset;
}

void GrowingStringTable::write(uint8_t* out) const {
  std::copy(appended_.begin(), appended_.end(), std::copy(base_.begin(), base_.end(), out));
}

namespace {

/// The type and binding of a new symbol.
uint8_t symbol_info(const Symbol& symbol) {
  if (symbol.raw != 0 || symbol.type != Symbol::Type::procedure) return symbol.raw;
  const unsigned binding = symbol.local ? ELF::STB_LOCAL : ELF::STB_GLOBAL;
  return static_cast<uint8_t>(binding << 4 | ELF::STT_FUNC);
}

}  // namespace

bool encode_symbol(const Symbol& symbol, const SymbolChanges& changes, SymbolRecord& out) {
  out.st_info = symbol_info(symbol);
  out.st_other = symbol_other(changes.machine, symbol);
  out.st_value = symbol.value;
  out.st_size = symbol.size;
  out.st_shndx = static_cast<uint16_t>(symbol.section);
  if (!symbol.defined_in_section()) return true;
  const uint32_t section = changes.index[symbol.section];
  out.st_shndx = static_cast<uint16_t>(section);
  if (section == 0) {
    out.st_info = static_cast<uint8_t>((out.st_info & 0xf0) | ELF::STT_NOTYPE);
    out.st_other = 0;
    out.st_value = 0;
    out.st_size = 0;
    return false;
  }
  if ((changes.block.contains(symbol.value) || symbol.value == changes.block.end) &&
      changes.block.has_section(symbol.section))
    out.st_value = changes.block.moved(symbol.value);
  return true;
}

void encode_relocations(std::span<const Relocation> relocations, std::span<RelaRecord> out) {
  assert(out.size() == relocations.size());
  for (size_t i = 0; i < relocations.size(); ++i) {
    out[i].r_offset = relocations[i].address;
    out[i].r_info = uint64_t{relocations[i].symbol} << 32 | relocations[i].raw;
    out[i].r_addend = relocations[i].addend;
  }
}

uint32_t count_local_symbols(std::span<const Symbol> symbols) {
  const auto global = std::ranges::find(symbols, false, [](const Symbol& s) { return s.local; });
  return global - symbols.begin();
}

}  // namespace respike::elf
