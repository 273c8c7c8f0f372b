#pragma once
// Encoding of symbols, names and relocations for the ELF writer.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "optimizer/image/elf/layout.h"

namespace respike::elf {

/// A string table that keeps all strings of another table at their offsets and appends new strings.
/// Names that point into the other table cost nothing.
class GrowingStringTable {
 public:
  GrowingStringTable() = default;
  explicit GrowingStringTable(std::span<const uint8_t> base) : base_(base) {}

  /// The offset of `text` in the table.
  uint64_t add(std::string_view text);
  uint64_t size() const { return base_.size() + appended_.size(); }
  void write(uint8_t* out) const;

 private:
  std::span<const uint8_t> base_;
  std::vector<uint8_t> appended_;
};

/// The writer's own changes to symbols: section numbers, and addresses in the block.
struct SymbolChanges {
  MachineId machine;
  std::span<const uint32_t> index;  // of sections in the output, by number
  const MovedBlock& block;
};

/// Writes all of `symbol` except its name. A symbol of a dropped section stays, so that the numbers
/// of all other symbols stay: it becomes undefined, without a type, at 0, which tools take for
/// another null symbol. Returns whether the symbol kept its place in a section, and therefore its
/// name.
bool encode_symbol(const Symbol& symbol, const SymbolChanges& changes, SymbolRecord& out);

void encode_relocations(std::span<const Relocation> relocations, std::span<RelaRecord> out);

/// The number of local symbols, which come first.
uint32_t count_local_symbols(std::span<const Symbol> symbols);

}  // namespace respike::elf
