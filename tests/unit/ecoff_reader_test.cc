// Static images in ECOFF: read, refused, rewritten, damaged.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "container_testing.h"
#include "ecoff_test_files.h"
#include "optimizer/image/ecoff/headers.h"
#include "optimizer/image/ecoff/relocations.h"
#include "optimizer/replay/rewritten.h"

namespace respike {
namespace {

using At = EcoffAddresses;
using Bytes = std::vector<uint8_t>;

Image read(const EcoffOptions& options = {}) {
  return read_image(ecoff_program(options), "small.ecoff");
}

std::string refusal(const EcoffOptions& options) {
  return refusal_of(ecoff_program(options), "small.ecoff");
}

std::vector<Relocation> relocations_at(const Image& image, uint64_t address) {
  std::vector<Relocation> result;
  for (const RelocationTable& table : image.relocations)
    for (const Relocation& each : table.relocations)
      if (each.address == address) result.push_back(each);
  return result;
}

// ---- reading

TEST(EcoffReader, ReadsHeadersAndSections) {
  const Image image = read();
  EXPECT_EQ(image.format, "ECOFF");
  EXPECT_EQ(image.machine, MachineId::alpha);
  EXPECT_EQ(image.kind, Image::Kind::executable);
  EXPECT_EQ(image.entry, At::kMain);
  ASSERT_EQ(image.sections.size(), 6u);
  EXPECT_EQ(image.sections[1].name, ".text");
  EXPECT_TRUE(image.sections[1].executable());
  EXPECT_FALSE(image.sections[2].executable());
  EXPECT_FALSE(image.sections[2].writable());
  EXPECT_TRUE(image.sections[3].writable());
  EXPECT_EQ(image.section_named(kLinkageTable), &image.sections[4]);
  EXPECT_EQ(image.sections[5].kind, Section::Kind::zero);
  EXPECT_EQ(load<uint64_t>(image.bytes_at(At::kVariable, 8)->data()), 42u);
}

TEST(EcoffReader, ReadsRelocations) {
  const Image image = read();
  const auto gp = relocations_at(image, At::kMain);
  ASSERT_EQ(gp.size(), 1u);
  EXPECT_EQ(gp[0].role, RelocationRole::gp_load);
  EXPECT_EQ(gp[0].addend, 4);
  EXPECT_EQ(gp[0].symbol, 0u);
  const auto literal = relocations_at(image, At::kMain + 16);
  ASSERT_EQ(literal.size(), 1u);
  EXPECT_EQ(literal[0].role, RelocationRole::got_load);
  EXPECT_EQ(image.symbols[literal[0].symbol].value, At::kLeaf);
  const auto word = relocations_at(image, At::kPointer);
  ASSERT_EQ(word.size(), 1u);
  EXPECT_EQ(word[0].role, RelocationRole::address64);
  EXPECT_EQ(image.symbols[word[0].symbol].section, 1u);
  EXPECT_EQ(word[0].addend, static_cast<int64_t>(At::kLeaf - At::kText));
}

TEST(EcoffReader, ReadsSymbols) {
  const Image image = read();
  const Symbol* leaf = symbol_named(image, "leaf_with_a_long_name");
  ASSERT_NE(leaf, nullptr);
  EXPECT_EQ(leaf->value, At::kLeaf);
  EXPECT_EQ(leaf->type, Symbol::Type::procedure);
  EXPECT_TRUE(leaf->local);
  ASSERT_NE(symbol_named(image, "main"), nullptr);
  EXPECT_FALSE(symbol_named(image, "main")->local);
  EXPECT_EQ(symbol_named(image, "variable")->type, Symbol::Type::object);
  // objcopy says neither types nor classes: the section of the value counts.
  const Image untyped = read({.types = false});
  EXPECT_EQ(symbol_named(untyped, "main")->type, Symbol::Type::none);
  EXPECT_EQ(symbol_named(untyped, "main")->section, 1u);
  EXPECT_EQ(symbol_named(untyped, "variable")->type, Symbol::Type::object);
}

TEST(EcoffReader, RefusesWithOneSentence) {
  const auto says = [](const EcoffOptions& options, std::string_view text) {
    const std::string sentence = refusal(options);
    EXPECT_NE(sentence.find(text), std::string::npos) << sentence;
  };
  EXPECT_EQ(refusal({}), "");
  says({.data_start = EcoffAddresses::kText},
       "its section .text lies neither in its text nor in its data");
  says({.data_start = EcoffAddresses::kText + 0x20}, "its section .text lies neither");
  says({.magic = 0x188}, "it is a compressed object of Tru64, not an ELF, PE or ECOFF file");
  says({.magic = 0x185}, "it is an ECOFF program for BSD, not an ELF, PE or ECOFF file");
  says({.flags = ecoff::kLinked | 0x3000}, "it uses shared libraries");
  says({.flags = ecoff::kLinked | 0x2000}, "it is a shared library");
  says({.flags = 0}, "it is an object file, not a linked program");
  says({.kind = 0407}, "it is not loaded by pages");
  says({.relocations = false}, "the compact ones of Tru64's linker are not read");
  says({.pdata = true}, "it describes its frames in .pdata");
  for (const uint32_t computed : {12, 13, 16, 19})
    says({.operation = computed}, fmt::format("a relocation of type {}", computed));
}

TEST(EcoffReader, NumbersOfSectionsAreThoseOfTheFormat) {
  EXPECT_EQ(ecoff::section_of_number(1), ".text");
  EXPECT_EQ(ecoff::section_of_number(13), ".lita");
  EXPECT_EQ(ecoff::section_of_number(14), "");
  EXPECT_EQ(ecoff::section_of_number(16), "");
  for (uint32_t number = 1; number < 16; ++number) {
    if (number != 14) {
      EXPECT_EQ(ecoff::number_of_section(ecoff::section_of_number(number)), number);
    }
  }
}

// ---- lifting

TEST(EcoffLift, FindsProceduresAndWhatTheyReferTo) {
  for (const bool types : {false, true}) {
    const Image image = read({.types = types});
    const Program program = lifted(image);
    EXPECT_EQ(find_violation(program), std::nullopt);
    ASSERT_EQ(program.procedures.size(), 3u) << types;
    for (const Procedure& procedure : program.procedures) {
      EXPECT_EQ(procedure.state, Procedure::State::movable)
          << procedure.name << ": " << procedure.reason;
      EXPECT_EQ(procedure.gp, At::kGp);
    }
    EXPECT_EQ(procedure_at(program, At::kMain)->name, "main");
    const Procedure* choose = procedure_at(program, At::kChoose);
    ASSERT_NE(choose, nullptr);
    ASSERT_EQ(choose->jump_tables.size(), 1u);
    EXPECT_EQ(choose->jump_tables[0].address, At::kJumps);
    EXPECT_EQ(choose->jump_tables[0].entries, 2u);
    // The pointer, two entries of the jump table, and the slot of the table of literals.
    EXPECT_EQ(program.code_pointers.size(), 4u);
  }
}

// ---- writing

TEST(EcoffWriter, OutputsAreTheSameProgram) {
  for (const bool types : {false, true}) {
    const Image image = read({.types = types});
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      const OptimizeResult result = rewrite(image, OptimizeOptions::Order::scatter, seed);
      EXPECT_EQ(result.moved, 3u);
      const Image output = read_image(result.bytes, "output.ecoff");
      EXPECT_NO_THROW(require_rewritable(output));
      Diagnostics diagnostics;
      EXPECT_EQ(verify_images(image, output, diagnostics), std::nullopt);
      const auto word = load<uint64_t>(output.bytes_at(At::kPointer, 8)->data());
      EXPECT_EQ(symbol_named(output, "leaf_with_a_long_name")->value, word);
      EXPECT_EQ(load<uint64_t>(output.bytes_at(At::kLita, 8)->data()), word);
      // And the output can be rewritten again.
      const OptimizeResult again = rewrite(output, OptimizeOptions::Order::random, seed);
      EXPECT_EQ(verify_images(output, read_image(again.bytes, "again.ecoff"), diagnostics),
                std::nullopt);
    }
  }
}

TEST(EcoffWriter, TextStaysOnePiece) {
  const Image image = read();
  const Bytes bytes = rewrite(image, OptimizeOptions::Order::scatter, 3).bytes;
  const ecoff::Headers headers = ecoff::read_headers(bytes, "output.ecoff");
  const auto& optional =
      *reinterpret_cast<const ecoff::OptionalHeader*>(&bytes[sizeof(ecoff::FileHeader)]);
  uint64_t end_of_text = 0, start_of_data = ~uint64_t{0};
  for (const ecoff::SectionHeader& section : headers.sections) {
    if (!section.has_contents() || !section.loaded()) continue;
    EXPECT_EQ((section.address - section.offset) % ecoff::kPage, 0u) << section.name;
    if (section.address < At::kData) {
      EXPECT_EQ(section.address - section.offset, 0x120000000u) << section.name;
      end_of_text = std::max(end_of_text, section.offset + section.size);
    } else {
      start_of_data = std::min(start_of_data, section.offset);
    }
  }
  EXPECT_GE(optional.text_size, end_of_text);
  EXPECT_LE(optional.text_size, start_of_data);
}

TEST(EcoffWriter, WhatDescribesTheInputIsLeftOut) {
  const Image image = read({.comment = true});
  Diagnostics diagnostics;
  OptimizeOptions options;
  options.order = OptimizeOptions::Order::original;
  const OptimizeResult result = optimize(image, options, diagnostics);
  EXPECT_EQ(diagnostics.warnings().size(), 2u);
  EXPECT_EQ(read_image(result.bytes, "output.ecoff").section_named(".comment"), nullptr);
}

TEST(EcoffWriter, RefusesWhenThereIsNoRoom) {
  Bytes bytes = ecoff_program();
  // The data starts where the text ends.
  const uint64_t start = At::kRdata + 0x60;
  store(&bytes[sizeof(ecoff::FileHeader) + 48], start);
  const Image image = read_image(bytes, "tight.ecoff");
  NewImage output;
  output.contents = bytes;
  output.entry = image.entry;
  output.symbols = image.symbols;
  NewImage::AddedSection& code = output.added.emplace_back();
  code.name = ".text.respike";
  code.properties = Section::kAllocated | Section::kExecutable;
  code.address = plan_added_segment(image).free_address;
  code.contents = Bytes(16);
  try {
    write_image(image, output);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no room for new code"), std::string::npos)
        << error.what();
  }
}

// ---- damage

TEST(EcoffDamage, Truncations) {
  Damage damage;
  damage.truncate(ecoff_program(), [](size_t size) { return size < 0x240 || size > 0x4000; });
  EXPECT_GT(damage.refused, 1000);
}

TEST(EcoffDamage, EveryFieldOfTheHeaders) {
  const Bytes good = ecoff_program();
  Damage damage;
  constexpr uint64_t kValues[] = {0, 0x20, 0x7fff, 0x140000000, 0x120000440, ~uint64_t{0}};
  std::vector<size_t> places;
  for (size_t at = 0; at < 104 + 5 * sizeof(ecoff::SectionRecord); at += 2) places.push_back(at);
  const size_t symbols = load<uint64_t>(&good[8]);
  for (size_t at = symbols; at + 8 < good.size(); at += 4) places.push_back(at);
  for (const size_t at : places)
    for (const uint64_t value : kValues) damage.change(good, at, value, 8);
  EXPECT_GT(damage.refused, 500);
}

TEST(EcoffDamage, FlippedBits) {
  std::mt19937 random(5);
  Damage damage;
  damage.flip_bits(ecoff_program({.comment = true}), 64, random);
  EXPECT_GT(damage.refused, 100);
  EXPECT_GT(damage.rewritten, 300);
}

}  // namespace
}  // namespace respike
