// Room for new symbols in the tables of the dynamic linker.
//
// A running program finds the name of an address in .dynsym (dladdr, backtrace_symbols): glibc
// looks at all global symbols that the hash tables lead to (elf/dl-addr.c, determine_info). Symbols
// have numbers, by which relocations and versions refer to them, so new symbols go after all
// others:
//
//   .dynsym       the old symbols, then the new ones: global and hidden, so that the dynamic linker
//                 never takes them for a definition. Without .gnu.hash glibc does not report names
//                 of hidden symbols: there the new symbols are protected
//   .dynstr       the old names, then the new ones
//   .gnu.version  the new symbols have no version (VER_NDX_GLOBAL)
//   .gnu.hash     chains of symbols, consecutive in the table of symbols. The new symbols go to the
//                 end of the last chain, where searches by address find them. The Bloom filter
//                 lacks their names, so searches by name do not reach them: a search for another
//                 name takes on average as long as in a table made by a linker
//   .hash         the number of symbols, which searches by address need; no chain leads to new ones
//
// Example: the last chain of a library is of the symbols 9 and 10; its end mark is at 10. With
// three new symbols the chain is 9 to 13, and the mark is at 13.
//
// The tables are in a row in the added segment, the names directly after the symbols: on some
// machines the dynamic linker takes the distance between them for the size of the table of symbols.
//
// Limits: tables with another form stay as they are, and so do tables that a kept relocation refers
// to.

#include "optimizer/image/dynamic_tables.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "optimizer/base/bytes.h"
#include "optimizer/image/elf/elf.h"
#include "optimizer/image/elf/layout.h"
#include "optimizer/image/elf/symbol_hash.h"

namespace respike {

using namespace elf;
namespace ELF = llvm::ELF;

namespace {

class Growth {
 public:
  Growth(const Image& image, std::vector<Symbol>& symbols) : image_(image), symbols_(symbols) {}

  std::vector<NewImage::MovedSection> run(uint64_t address) {
    if (!find_tables() || is_referred_to() || !grow_hash_tables()) return {};
    grow_symbols();
    if (versions_ != 0) grow_versions();
    for (NewImage::MovedSection& table : grown_) {
      table.address = align_up(address, image_.sections[table.section].alignment);
      address = table.address + table.contents.size();
    }
    return std::move(grown_);
  }

 private:
  size_t old_count() const { return image_.dynamic_symbols.size(); }
  std::vector<uint8_t> copy(uint32_t section) const {
    const auto bytes = image_.sections[section].contents;
    return {bytes.begin(), bytes.end()};
  }
  std::optional<uint64_t> value(int64_t tag) const {
    for (const LoaderEntry& entry : image_.loader_entries)
      if (entry.raw == tag) return entry.value;
    return std::nullopt;
  }
  void grow(uint32_t section, std::vector<uint8_t> contents) {
    grown_.push_back({section, 0, std::move(contents)});
  }
  bool find_table(uint32_t type, uint32_t& section) const;
  bool find_tables();
  bool is_referred_to() const;
  bool grow_hash_tables();
  bool grow_chains();
  void grow_count();
  void grow_symbols();
  void grow_versions();

  const Image& image_;
  std::vector<Symbol>& symbols_;
  uint32_t table_ = 0, names_ = 0, versions_ = 0, chains_ = 0, hash_ = 0;  // sections; 0: none
  std::vector<NewImage::MovedSection> grown_;
};

/// Finds the section that the dynamic linker finds by the entry for `type`. False when section
/// header and entry disagree.
bool Growth::find_table(uint32_t type, uint32_t& section) const {
  for (uint32_t i = 1; i < image_.sections.size(); ++i) {
    const Section& each = image_.sections[i];
    if (each.raw.type != type || !each.allocated()) continue;
    if (section != 0 && type != ELF::SHT_STRTAB) return false;
    if (type != ELF::SHT_STRTAB || each.address == value(ELF::DT_STRTAB)) section = i;
  }
  const auto address = value(*dynamic_tag(type));
  return section == 0 ? !address : address == image_.sections[section].address;
}

bool Growth::find_tables() {
  if (!find_table(ELF::SHT_DYNSYM, table_) || !find_table(ELF::SHT_STRTAB, names_) ||
      !find_table(ELF::SHT_GNU_versym, versions_) || !find_table(ELF::SHT_GNU_HASH, chains_) ||
      !find_table(ELF::SHT_HASH, hash_))
    return false;
  return table_ != 0 && names_ != 0 && (chains_ != 0 || hash_ != 0) &&
         image_.sections[table_].raw.link == names_ &&
         value(ELF::DT_STRSZ) == image_.sections[names_].size &&
         (versions_ == 0 || image_.sections[versions_].size == 2 * old_count());
}

bool Growth::is_referred_to() const {
  const auto asked = [&](uint32_t section) {
    return section != 0 && (section == table_ || section == names_ || section == versions_ ||
                            section == chains_ || section == hash_);
  };
  for (const RelocationTable& table : image_.relocations)
    for (const Relocation& relocation : table.relocations) {
      const Symbol& symbol = image_.symbols[relocation.symbol];
      // __ehdr_start is assigned to the first section, which follows it.
      if (symbol.defined_in_section() && asked(symbol.section) &&
          symbol.value >= image_.sections[symbol.section].address)
        return true;
    }
  return false;
}

bool Growth::grow_hash_tables() {
  if (chains_ != 0 && !grow_chains()) return false;
  if (hash_ != 0) grow_count();
  return hash_ == 0 || symbol_count(image_.sections[hash_]) == old_count();
}

bool Growth::grow_chains() {
  const auto table = GnuHash::read(image_.sections[chains_], old_count());
  if (!table) return false;
  std::vector<uint8_t> contents = copy(chains_);
  const size_t last = table->chain_offset(old_count() - 1);
  store(&contents[last], load<uint32_t>(&contents[last]) & ~uint32_t{1});
  contents.resize(table->chain_offset(symbols_.size()));
  for (size_t i = old_count(); i < symbols_.size(); ++i)
    store(&contents[table->chain_offset(i)],
          (gnu_hash(symbols_[i].name) & ~uint32_t{1}) | (i + 1 == symbols_.size() ? 1u : 0u));
  grow(chains_, std::move(contents));
  return true;
}

void Growth::grow_count() {
  const Section& section = image_.sections[hash_];
  std::vector<uint8_t> contents = copy(hash_);
  const uint64_t entry = hash_entry_size(section);
  contents.resize(contents.size() + entry * (symbols_.size() - old_count()));
  if (contents.size() < 2 * entry) return;
  if (entry == 8)
    store(&contents[entry], uint64_t{symbols_.size()});
  else
    store(&contents[entry], static_cast<uint32_t>(symbols_.size()));
  grow(hash_, std::move(contents));
}

void Growth::grow_symbols() {
  std::vector<uint8_t> records = copy(table_), names = copy(names_);
  records.resize(symbols_.size() * sizeof(SymbolRecord));
  for (size_t i = old_count(); i < symbols_.size(); ++i) {
    symbols_[i].visibility = chains_ != 0 ? ELF::STV_HIDDEN : ELF::STV_PROTECTED;
    // The writer fills in the rest.
    auto& record = *reinterpret_cast<SymbolRecord*>(&records[i * sizeof(SymbolRecord)]);
    record.st_name = static_cast<uint32_t>(names.size());
    names.insert(names.end(), symbols_[i].name.begin(), symbols_[i].name.end());
    names.push_back(0);
  }
  grow(table_, std::move(records));
  grow(names_, std::move(names));
}

void Growth::grow_versions() {
  std::vector<uint8_t> contents = copy(versions_);
  contents.resize(2 * symbols_.size());
  for (size_t i = old_count(); i < symbols_.size(); ++i)
    store(&contents[2 * i], uint16_t{ELF::VER_NDX_GLOBAL});
  grow(versions_, std::move(contents));
}

}  // namespace

std::vector<NewImage::MovedSection> elf::grow_dynamic_tables(const Image& image,
                                                             std::vector<Symbol>& symbols,
                                                             uint64_t address) {
  return Growth(image, symbols).run(address);
}

}  // namespace respike
