// Images of Windows NT: read, refused, rewritten, damaged.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "container_testing.h"
#include "optimizer/image/pe/base_relocations.h"
#include "optimizer/image/pe/headers.h"
#include "optimizer/replay/rewritten.h"
#include "optimizer/unwind/pdata/entries.h"
#include "pe_test_files.h"

namespace respike {
namespace {

using At = PeAddresses;
using Bytes = std::vector<uint8_t>;

Image read(const PeOptions& options = {}) {
  return read_image(pe_program(options), "small.exe");
}

std::string refusal(const PeOptions& options) {
  return refusal_of(pe_program(options), "small.exe");
}

std::map<uint64_t, Relocation> relocations_of(const Image& image) {
  std::map<uint64_t, Relocation> result;
  for (const RelocationTable& table : image.relocations)
    for (const Relocation& each : table.relocations) result.emplace(each.address, each);
  return result;
}

uint64_t target_of(const Image& image, const Relocation& relocation) {
  return image.symbols[relocation.symbol].value + static_cast<uint64_t>(relocation.addend);
}

// ---- reading

TEST(PeReader, ReadsHeadersAndSections) {
  const Image image = read();
  EXPECT_EQ(image.format, "PE32");
  EXPECT_EQ(image.machine, MachineId::alpha);
  EXPECT_EQ(image.calling_standard, CallingStandard::windows);
  EXPECT_EQ(image.kind, Image::Kind::pie);
  EXPECT_EQ(image.base, At::kBase);
  EXPECT_EQ(image.entry, At::kMain);
  ASSERT_EQ(image.sections.size(), 6u);
  EXPECT_EQ(image.sections[1].name, ".text");
  EXPECT_TRUE(image.sections[1].executable());
  EXPECT_EQ(image.sections[1].address, At::kText);
  EXPECT_FALSE(image.sections[2].executable());
  EXPECT_EQ(image.section_at(At::kVariable), &image.sections[2]);
  EXPECT_EQ(load<uint32_t>(image.bytes_at(At::kVariable, 4)->data()), 42u);
  EXPECT_EQ(image.sections[5].kind, Section::Kind::table);
}

TEST(PeReader, ReadsRelocations) {
  const Image image = read();
  const auto relocations = relocations_of(image);
  const Relocation high = relocations.at(At::kMain + 8);
  EXPECT_EQ(high.role, RelocationRole::address_high);
  EXPECT_EQ(target_of(image, high), At::kLeaf);
  EXPECT_EQ(image.symbols[high.symbol].section, 1u);
  const Relocation word = relocations.at(At::kPointer);
  EXPECT_EQ(word.role, RelocationRole::address32);
  EXPECT_EQ(target_of(image, word), At::kLeaf);
  EXPECT_EQ(relocations.at(At::kExports + 40).role, RelocationRole::image_relative32);
}

TEST(PeReader, UpperHalvesMayNotSayTheirAddress) {
  const Image image = read({.high = true});
  const Relocation high = relocations_of(image).at(At::kMain + 8);
  EXPECT_EQ(high.role, RelocationRole::address_high);
  EXPECT_EQ(high.symbol, 0u);
  EXPECT_EQ(high.addend, 0);
}

TEST(PeReader, ReadsSymbols) {
  const Image image = read();
  const Symbol* main = symbol_named(image, "main");
  ASSERT_NE(main, nullptr);
  EXPECT_EQ(main->value, At::kMain);
  EXPECT_EQ(main->size, 40u);
  EXPECT_EQ(main->type, Symbol::Type::procedure);
  EXPECT_FALSE(main->local);
  ASSERT_NE(symbol_named(image, "leaf_with_a_long_name"), nullptr);
  EXPECT_TRUE(symbol_named(image, "leaf_with_a_long_name")->local);
  ASSERT_NE(symbol_named(image, "choose"), nullptr);
  EXPECT_EQ(symbol_named(image, "choose")->size, 36u);
  ASSERT_NE(symbol_named(image, "variable"), nullptr);
  EXPECT_EQ(symbol_named(image, "variable")->type, Symbol::Type::object);
}

TEST(PeReader, RefusesWithOneSentence) {
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal({.base_relocations = false}),
            "small.exe: the image has no base relocations: link it with /FIXED:NO");
  EXPECT_EQ(refusal({.machine = 0x14c}),
            "small.exe: it is for x86: Respike reads PE images for Alpha alone (at offset 0x84)");
  EXPECT_NE(refusal({.machine = 0x200}).find("for Windows on Itanium"), std::string::npos);
  EXPECT_NE(refusal({.managed = true}).find("managed code"), std::string::npos);
  EXPECT_NE(refusal({.subsystem = 1}).find("it is a driver"), std::string::npos);
  EXPECT_NE(refusal({.tails = true}).find("share a section with other data"), std::string::npos);
  EXPECT_NE(refusal({.second_table = true}).find("a section .pdata that is not its function table"),
            std::string::npos);
  EXPECT_NE(refusal({.changed_code = true}).find("instructions that the system may change"),
            std::string::npos);
  EXPECT_NE(refusal({.alignment = 0x200}).find("its sections share pages"), std::string::npos);
  EXPECT_NE(refusal({.data_half = true}).find("half of an address outside of code, at 0x404020"),
            std::string::npos);
}

TEST(PeReader, KnowsProgramsOfOtherSystems) {
  Bytes dos(0x200);
  dos[0] = 'M', dos[1] = 'Z';
  store(&dos[0x3c], uint32_t{0x80});
  try {
    read_image(dos, "command.com");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "command.com: it is a program for DOS or 16-bit Windows, not a PE file (at offset "
              "0x3c)");
  }
}

TEST(PeReader, BaseRelocationsRoundTrip) {
  std::vector<pe::BaseRelocation> relocations;
  for (uint32_t nibble = 0; nibble < 16; ++nibble)
    relocations.push_back(
        {0x1000 + 4 * nibble, pe::kHighAdjusted, static_cast<uint16_t>(nibble << 12 | 0x123)});
  relocations.push_back({0x1ffc, pe::kHighLow, 0});
  relocations.push_back({0x5004, pe::kHigh, 0});
  relocations.push_back({0x5008, pe::kAddress64, 0});
  const Bytes table = pe::write_base_relocations(relocations);
  EXPECT_EQ(table.size() % 4, 0u);
  EXPECT_EQ(pe::read_base_relocations(table, "table", 0), relocations);
}

// ---- lifting

TEST(PeLift, FindsProceduresAndWhatTheyReferTo) {
  for (const bool high : {false, true})
    for (const bool symbols : {false, true}) {
      const Image image = read({.high = high, .symbols = symbols});
      const Program program = lifted(image);
      EXPECT_EQ(find_violation(program), std::nullopt);
      ASSERT_EQ(program.procedures.size(), 3u) << high << symbols;
      for (const Procedure& procedure : program.procedures)
        EXPECT_EQ(procedure.state, Procedure::State::movable)
            << procedure.name << ": " << procedure.reason;
      const Procedure* main = procedure_at(program, At::kMain);
      ASSERT_NE(main, nullptr);
      const auto halves = std::ranges::count_if(main->references, [&](const Reference& r) {
        return (r.kind == ReferenceKind::address_high || r.kind == ReferenceKind::address_low) &&
               r.target.where == CodeLocation::Where::block_start &&
               program[r.target.procedure].address == At::kLeaf;
      });
      EXPECT_EQ(halves, 2);
      const Procedure* choose = procedure_at(program, At::kChoose);
      ASSERT_NE(choose, nullptr);
      ASSERT_EQ(choose->jump_tables.size(), 1u);
      EXPECT_EQ(choose->jump_tables[0].address, At::kJumps);
      EXPECT_EQ(choose->jump_tables[0].entries, 2u);
      EXPECT_EQ(choose->jump_tables[0].jump, 0u);
    }
}

TEST(PeLift, JumpsOfATableMayComeBackToTheJump) {
  const Program program = lifted(read({.loops = true}));
  EXPECT_EQ(find_violation(program), std::nullopt);
  const Procedure* choose = procedure_at(program, At::kChoose);
  ASSERT_NE(choose, nullptr);
  ASSERT_EQ(choose->jump_tables.size(), 1u);
  const BlockId jump = choose->jump_tables[0].jump;
  ASSERT_NE(jump, kNone);
  EXPECT_FALSE(choose->blocks[jump].has(BasicBlock::kMayLeave));
  EXPECT_EQ(choose->blocks[jump].successors.size(), 2u);
}

TEST(PeLift, ProceduresWithHandlersStay) {
  const Image image = read({.handler = static_cast<uint32_t>(At::kLeaf)});
  const Program program = lifted(image);
  EXPECT_EQ(procedure_at(program, At::kMain)->state, Procedure::State::opaque);
}

TEST(PeLift, ProceduresWithScopeTablesArePinned) {
  for (const bool wide : {false, true}) {
    std::string reason;
    const auto state_for = [&](uint64_t scope_end) {
      const Image image =
          read({.handler = static_cast<uint32_t>(At::kLeaf), .scope_end = scope_end, .wide = wide});
      const Program program = lifted(image);
      EXPECT_EQ(find_violation(program), std::nullopt);
      EXPECT_FALSE(procedure_at(program, At::kLeaf)->movable());
      reason = procedure_at(program, At::kMain)->reason;
      return procedure_at(program, At::kMain)->state;
    };
    // Words of 64 bits with places inside procedures count as labels for jumps.
    const auto understood = wide ? Procedure::State::opaque : Procedure::State::pinned;
    EXPECT_EQ(state_for(At::kMain + 20), understood) << wide << reason;
    EXPECT_EQ(state_for(At::kMain + 40), understood) << wide << reason;
    EXPECT_EQ(state_for(At::kMain + 44), Procedure::State::opaque);
    EXPECT_EQ(state_for(At::kMain + 8), Procedure::State::opaque);
    EXPECT_EQ(state_for(At::kMain + 22), Procedure::State::opaque);
  }
}

TEST(PeLift, HalvesThatAreNotUnderstoodKeepCodeInPlace) {
  for (const bool high : {false, true}) {
    const Image image = read({.high = high, .adds = true});
    const Program program = lifted(image);
    EXPECT_EQ(procedure_at(program, At::kMain)->state, Procedure::State::opaque);
    EXPECT_EQ(procedure_at(program, At::kLeaf)->state, Procedure::State::pinned);
    // Without an address, the half may be of any code nearby.
    if (high) {
      EXPECT_FALSE(procedure_at(program, At::kChoose)->movable());
    }
  }
}

TEST(PeLift, ReadsImagesWithWideAddresses) {
  const Image image = read({.wide = true});
  EXPECT_EQ(image.format, "PE32+");
  EXPECT_EQ(relocations_of(image).at(At::kPointer).role, RelocationRole::address64);
  const Program program = lifted(image);
  EXPECT_EQ(find_violation(program), std::nullopt);
  for (const Procedure& procedure : program.procedures)
    EXPECT_TRUE(procedure.movable()) << procedure.name << ": " << procedure.reason;
}

// ---- writing

/// The system searches all that the directory names by halves, and would find zeros there.
TEST(PeWriter, TheDirectoryNamesEntriesOnly) {
  const Image image = read({.padded = true});
  std::vector<uint8_t> bytes(image.file.begin(), image.file.end());
  for (const auto order : {OptimizeOptions::Order::scatter, OptimizeOptions::Order::original}) {
    bytes = rewrite(view_image(bytes, "small.exe"), order, 1).bytes;
    const Image output = view_image(bytes, "output.exe");
    const pe::DataDirectory table =
        pe::read_headers(output.file, "output.exe").directories[pe::kExceptions];
    EXPECT_EQ(table.size, 20 * pdata::read_entries(output).size());
  }
}

TEST(PeWriter, OutputsAreTheSameProgram) {
  for (const bool high : {false, true}) {
    const Image image = read({.high = high});
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      const OptimizeResult result = rewrite(image, OptimizeOptions::Order::scatter, seed);
      EXPECT_EQ(result.moved, 3u);
      const Image output = read_image(result.bytes, "output.exe");
      EXPECT_NO_THROW(require_rewritable(output));
      Diagnostics diagnostics;
      EXPECT_EQ(verify_images(image, output, diagnostics), std::nullopt);
      const pe::Headers headers = pe::read_headers(output.file, "output.exe");
      EXPECT_EQ(headers.sections.back().name, ".reloc");
      // The second word of a HIGHADJ relocation is the lower half of the address.
      for (const auto& [address, relocation] : relocations_of(output)) {
        if (relocation.raw != pe::kHighAdjusted) continue;
        const uint32_t word = load<uint32_t>(output.bytes_at(address, 4)->data());
        const uint64_t target = target_of(output, relocation);
        EXPECT_EQ(word & 0xffff, (target + 0x8000) >> 16 & 0xffff);
      }
      // And the output can be rewritten again.
      const OptimizeResult again = rewrite(output, OptimizeOptions::Order::random, seed);
      EXPECT_EQ(verify_images(output, read_image(again.bytes, "again.exe"), diagnostics),
                std::nullopt);
    }
  }
}

TEST(PeWriter, OutputsCanBeRewrittenAgainAndAgain) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Bytes bytes = pe_program();
    for (uint64_t round = 0; round < 5; ++round) {
      const Image image = read_image(bytes, "small.exe");
      const auto order = (seed + round) % 3 == 0 ? OptimizeOptions::Order::scatter
                                                 : OptimizeOptions::Order::random;
      ASSERT_NO_THROW(bytes = rewrite(image, order, seed + round).bytes) << seed << " " << round;
    }
  }
}

TEST(PeWriter, WritesImagesWithWideAddresses) {
  const Image image = read({.wide = true});
  const Image output =
      read_image(rewrite(image, OptimizeOptions::Order::scatter).bytes, "output.exe");
  EXPECT_EQ(output.format, "PE32+");
  Diagnostics diagnostics;
  EXPECT_EQ(verify_images(image, output, diagnostics), std::nullopt);
  const Section* table = output.section_named(".pdata");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->contents.size() % 40, 0u);
}

TEST(PeWriter, EachPieceHasAProlog) {
  const Image image = read();
  const OptimizeResult result = rewrite(image, OptimizeOptions::Order::scatter, 3);
  const Image output = read_image(result.bytes, "output.exe");
  const Section* table = output.section_named(".pdata");
  ASSERT_NE(table, nullptr);
  uint64_t previous = 0;
  unsigned with_prolog = 0;
  for (size_t at = 0; at + 20 <= table->contents.size(); at += 20) {
    uint32_t fields[5];
    for (size_t i = 0; i < 5; ++i) fields[i] = load<uint32_t>(&table->contents[at + 4 * i]);
    if (fields[0] == 0) continue;
    EXPECT_GE(fields[0], previous);
    EXPECT_LT(fields[0], fields[1]);
    EXPECT_EQ(fields[2], 0u);
    EXPECT_GE(fields[4], fields[0]);
    EXPECT_LE(fields[4], fields[1]);
    previous = fields[1];
    if (fields[4] == fields[0]) continue;
    ++with_prolog;
    ASSERT_EQ(fields[4] - fields[0], 8u);
    EXPECT_EQ(load<uint32_t>(output.bytes_at(fields[0], 4)->data()), 0x23defff0u);
    EXPECT_EQ(load<uint32_t>(output.bytes_at(fields[0] + 4, 4)->data()), 0xb75e0000u);
  }
  EXPECT_GE(with_prolog, 3u);  // main has three blocks
}

TEST(PeWriter, EntriesWithFlagsAreKept) {
  const Image image = read({.end_flags = 1});
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Bytes bytes = rewrite(image, OptimizeOptions::Order::random, seed).bytes;
    const Image output = read_image(bytes, "output.exe");
    EXPECT_FALSE(procedure_at(lifted(output), At::kChoose)->movable());
    Diagnostics diagnostics;
    EXPECT_EQ(verify_images(image, output, diagnostics), std::nullopt);
  }
}

/// main calls the padding in front of `choose`, which stays. A word in front of that padding looks
/// like code, and `leaf`, which has no entry in the function table, may move to the place in front
/// of the word.
TEST(PeWriter, CallsOfPaddingDoNotMakeItsNeighbourCode) {
  Bytes bytes = pe_program({.end_flags = 1});
  constexpr size_t kTextOffset = 0x400, kWord = 0x34, kCall = 24, kPadding = 0x38;
  store(&bytes[kTextOffset + kWord], uint32_t{0xaffe0000});  // ldq_l zero,0(sp)
  store(&bytes[kTextOffset + kCall], uint32_t{0xd3400000 | (kPadding - kCall - 4) >> 2});
  const Image image = read_image(bytes, "small.exe");
  for (uint64_t seed = 1; seed <= 20; ++seed)
    EXPECT_NO_THROW(rewrite(image, OptimizeOptions::Order::random, seed));
}

TEST(PeWriter, CertificatesAreLeftOut) {
  const Image image = read({.certificate = true});
  Diagnostics diagnostics;
  OptimizeOptions options;
  options.order = OptimizeOptions::Order::original;
  const OptimizeResult result = optimize(image, options, diagnostics);
  EXPECT_EQ(diagnostics.warnings().size(), 1u);
  const pe::Headers headers = pe::read_headers(result.bytes, "output.exe");
  EXPECT_FALSE(headers.directories[pe::kCertificates].present());
}

TEST(PeWriter, ChecksumIsRight) {
  const Image image = read();
  Bytes bytes = rewrite(image, OptimizeOptions::Order::random).bytes;
  const pe::Headers headers = pe::read_headers(bytes, "output.exe");
  store(&bytes[headers.optional_offset + 64], uint32_t{0});
  uint64_t sum = 0;
  for (size_t i = 0; i + 1 < bytes.size(); i += 2) sum += load<uint16_t>(&bytes[i]);
  if (bytes.size() % 2 != 0) sum += bytes.back();
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  EXPECT_EQ(headers.checksum, sum + bytes.size());
}

// ---- damage

TEST(PeDamage, Truncations) {
  Damage damage;
  damage.truncate(pe_program(), [](size_t size) { return size < 0x240; });
  EXPECT_GT(damage.refused, 500);
}

TEST(PeDamage, EveryFieldOfTheHeaders) {
  const Bytes good = pe_program();
  Damage damage;
  constexpr uint32_t kValues[] = {0, 1, 0x20, 0x2000, 0xffff, 0x7fffffff, 0xffffffff, 0x402000};
  constexpr size_t kEnd = 0x80 + 24 + 224 + 5 * 40;  // of the section headers
  for (size_t at = 0; at < kEnd; at += 2) {
    if (at > 0x40 && at < 0x80) continue;  // no reader uses this
    for (const uint32_t value : kValues) damage.change(good, at, value, 4);
  }
  EXPECT_GT(damage.refused, 300);
}

TEST(PeDamage, FlippedBits) {
  std::mt19937 random(5);
  for (const bool high : {false, true}) {
    Damage damage;
    damage.flip_bits(pe_program({.high = high}), 16, random);
    EXPECT_GT(damage.refused, 100);
    EXPECT_GT(damage.rewritten, 100);
  }
}

}  // namespace
}  // namespace respike
