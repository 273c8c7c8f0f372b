// New dynamic symbols are found by address, not by name, and old symbols as before.

#include "optimizer/image/dynamic_tables.h"

#include <gtest/gtest.h>

#include "elf_test_files.h"
#include "optimizer/image/elf/symbol_hash.h"

namespace respike {
namespace {

constexpr uint32_t kHash = 5, kGnuHash = 0x6ffffff6, kDynamicSymbols = 11, kVersions = 0x6fffffff;

TEST(SymbolHash, IsThatOfTheStandards) {
  EXPECT_EQ(elf::sysv_hash("printf"), 0x077905a6u);
  EXPECT_EQ(elf::gnu_hash("printf"), 0x156b2bb8u);
  EXPECT_EQ(elf::gnu_hash(""), 5381u);
}

Image library(const char* style) {
  return read_image(compile(
      "names.c", "int one(int a) { return a + 1; } int two(int a) { return one(a) * 2; }",
      std::string("-fPIC -shared -Wl,--hash-style=") + style, std::string("names.") + style));
}

class DynamicTables : public testing::TestWithParam<const char*> {};

TEST_P(DynamicTables, Grow) {
  const Image image = library(GetParam());
  std::vector<Symbol> symbols = image.dynamic_symbols;
  const std::string names[] = {"one.frag.0", "two.frag.0", "two.frag.1"};
  for (const std::string& name : names) {
    Symbol& symbol = symbols.emplace_back();
    symbol.name = name;
    symbol.type = Symbol::Type::procedure;
  }
  const auto tables = grow_dynamic_tables(image, symbols, 0x900001);
  ASSERT_FALSE(tables.empty());
  uint64_t end = 0x900001;
  for (const NewImage::MovedSection& table : tables) {
    const Section& old = image.sections[table.section];
    EXPECT_GE(table.address, end);
    EXPECT_EQ(table.address % old.alignment, 0u);
    EXPECT_GT(table.contents.size(), old.size);
    end = table.address + table.contents.size();
    Section now = old;
    now.contents = table.contents;
    now.size = table.contents.size();
    const auto has_name = [&](uint64_t number, std::string_view name) {
      return number < symbols.size() && symbols[number].name == name;
    };
    if (old.raw.type == kDynamicSymbols) {
      EXPECT_EQ(now.size, 24 * symbols.size());
    }
    if (old.raw.type == kVersions) {
      EXPECT_EQ(now.size, 2 * symbols.size());
    }
    if (old.raw.type == kHash) {
      EXPECT_EQ(elf::symbol_count(now), symbols.size());
    }
    for (const std::string_view name : {"one", "two", "one.frag.0", "two.frag.1"}) {
      const bool is_new = name.find('.') != std::string_view::npos;
      const auto named = [&](uint64_t number) { return has_name(number, name); };
      if (old.raw.type == kHash) {
        EXPECT_EQ(elf::find_by_hash(now, name, named) == 0, is_new) << name;
      }
      if (old.raw.type != kGnuHash) continue;
      const auto chains = elf::GnuHash::read(now, symbols.size());
      ASSERT_TRUE(chains);
      EXPECT_EQ(chains->find(name, named) == 0, is_new) << name;
      EXPECT_TRUE(chains->knows(symbols.size() - 1));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Styles, DynamicTables, testing::Values("sysv", "gnu", "both"));

TEST(DamagedDynamicTables, Stay) {
  Image image = library("gnu");
  for (Section& section : image.sections)
    if (section.raw.type == kGnuHash) section.contents = section.contents.first(section.size - 4);
  std::vector<Symbol> symbols = image.dynamic_symbols;
  symbols.emplace_back().name = "one.frag.0";
  EXPECT_TRUE(grow_dynamic_tables(image, symbols, 0x900000).empty());
}

}  // namespace
}  // namespace respike
