// Reader and writer of unwind regions, with tables made by hand and by the assembler.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <random>

#include "optimizer/machine/ia64/meaning.h"
#include "optimizer/unwind/ia64/descriptor_reader.h"
#include "optimizer/unwind/ia64/descriptor_writer.h"
#include "optimizer/unwind/ia64/region_encoding.h"
#include "tests/unit/folders.h"
#include "tests/unit/temporary_folder.h"
#include "tests/unit/unwind_regions_testing.h"

namespace respike {
namespace {

using namespace unwind_regions_testing;
using Kind = CfiRule::Kind;

// States and the target have the same numbers of registers.
static_assert(regions::kGeneral == ia64::kGeneral && regions::kFloating == ia64::kFloating &&
              regions::kBranch == ia64::kBranch && regions::kApplication == ia64::kApplication &&
              regions::kPredicates == ia64::kPredicateFile &&
              regions::kPrimaryNat >= ia64::kRegisterCount);

// ---- Descriptors as bytes

/// "0: cfa=sp+0 | 3: cfa=sp+16 rp=r33", or the error.
std::string rows_of(const Bytes& descriptors, uint64_t slots = 30) {
  std::string text;
  try {
    for (const RegionRow& row : read_descriptors(descriptors, slots))
      text += fmt::format("{}{}: {}", text.empty() ? "" : " | ", row.slot, text_of(row.state));
  } catch (const Error& error) {
    return std::string("error: ") + error.what();
  }
  return text;
}

TEST(Descriptors, MeanWhatUnwindersMakeOfThem) {
  struct Case {
    const char* what;
    Bytes bytes;
    const char* rows;
  };
  const Case cases[] = {
      {"nothing is said", {}, "0: cfa=sp+0"},
      {"saves at times",
       {0x46, 0x20, 0x06, 0xe6, 0x00, 0xe4, 0x02, 0x38},
       "0: cfa=sp+0 | 1: cfa=sp+0 pfs=r33 | 3: cfa=sp+0 pfs=r33 rp=r32"},
      {"a prologue's end is the time of what has none",
       {0x46, 0x20, 0x06, 0x38},
       "0: cfa=sp+0 | 6: cfa=sp+0 pfs=r33 rp=r32"},
      {"a time beyond its region",
       {0x46, 0x20, 0x06, 0xe6, 0x20, 0xe4, 0x02, 0x38},
       "0: cfa=sp+0 | 3: cfa=sp+0 rp=r32 | 6: cfa=sp+0 pfs=r33 rp=r32"},
      {"an empty prologue holds from its start",
       {0x46, 0x20, 0x00, 0xe6, 0x05, 0x38},
       "0: cfa=sp+0 pfs=r33 rp=r32"},
      {"implicit saves",
       {0x04, 0xe4, 0x00, 0xe6, 0x01, 0x38},
       "0: cfa=sp+0 | 1: cfa=sp+0 rp=r32 | 2: cfa=sp+0 pfs=r33 rp=r32"},
      {"implicit saves, but no region follows",
       {0x04, 0xe4, 0x00},
       "error: unwind regions leave a place open"},
      {"a frame and its epilogue",
       {0x02, 0xe0, 0x01, 0x02, 0x28, 0xc0, 0x03},
       "0: cfa=sp+0 | 2: cfa=sp+32 | 7: cfa=sp+0"},
      {"the end of an epilogue",
       {0x00, 0xe0, 0x00, 0x02, 0x24, 0xc0, 0x01, 0x24},
       "0: cfa=sp+32 | 3: cfa=sp+0"},
      {"labels",
       {0x00, 0xe0, 0x00, 0x02, 0x24, 0x81, 0xc0, 0x01, 0x22, 0x24, 0xa1},
       "0: cfa=sp+32 | 3: cfa=sp+0 | 6: cfa=sp+32"},
      {"a second place has the time of the first",
       {0x04, 0xb0, 0xa1, 0xe4, 0x01, 0x22, 0x02, 0xb0, 0xa5, 0x38},
       "0: cfa=sp+0 | 2: cfa=sp+0 rp=r33 | 6: cfa=sp+0 rp=r37"},
      {"a copy of no state", {0x24, 0xa1}, "error: unwind regions name a label that is not there"},
      {"an end of no prologue",
       {0x22, 0xc0, 0x00, 0x22},
       "error: unwind regions end more prologues than there are"},
      {"spills without a time", {0x00, 0x83, 0x38}, "0: b1=c+0 b2=c+8 cfa=sp+0"},
      {"too many spills",
       {0x02, 0xd1, 0xb8, 0xa0, 0x38},
       "error: an unwind region spills more than it says"},
      {"a predicate",
       {0x00, 0xfc, 0x06, 0x04, 0x28, 0x00, 0x38},
       "error: unknown unwind descriptor"},
      {"another convention", {0x00, 0xff, 0x03, 0x73, 0x38}, "error: unknown unwind descriptor"},
      {"a return address in r0", {0x00, 0xb0, 0x80, 0x38}, "0: cfa=sp+0 rp=r0"},
      {"another register in r0",
       {0x00, 0xf1, 0x01, 0x00, 0x38},
       "error: unwind regions save a register in one that cannot be"},
      {"the previous stack pointer below where it points to",
       {0x00, 0xf9, 0x61, 0x00, 0x05, 0x38},
       "error: unwind regions keep the previous stack pointer where none can be"},
      {"outside of regions", {0xe4, 0x00}, "error: unwind descriptors lie outside of regions"},
  };
  for (const Case& test : cases) EXPECT_EQ(rows_of(test.bytes), test.rows) << test.what;
}

TEST(Descriptors, AreNotTrusted) {
  EXPECT_EQ(rows_of(Bytes(1000, 0), 1), "error: unwind regions are nested too deeply");
  EXPECT_EQ(rows_of({0x61, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}),
            "error: a number in unwind regions is too large");
  Bytes many = {0x00};
  for (int i = 0; i < 300; ++i) many.insert(many.end(), {0xb0, 0xa1});
  EXPECT_EQ(rows_of(many), "error: an unwind region has too many descriptors");
  // Whatever the bytes are, reading ends with an answer; rows are in order.
  std::mt19937 random(1);
  size_t readable = 0;
  for (int round = 0; round < 200'000; ++round) {
    Bytes bytes(random() % 24);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    if (!bytes.empty()) bytes[0] &= 0x7f;
    try {
      const auto rows = read_descriptors(bytes, 1 + random() % 100);
      ASSERT_FALSE(rows.empty());
      ASSERT_EQ(rows.front().slot, 0u);
      for (size_t i = 1; i < rows.size(); ++i) ASSERT_LT(rows[i - 1].slot, rows[i].slot);
      ++readable;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(readable, 10'000u);
}

/// Descriptors that were made to be slow.
TEST(Descriptors, TakeBoundedTime) {
  const auto before = std::chrono::steady_clock::now();
  // Labels and copies of labels; regions with explicit places, each of which applies to each state.
  Bytes labels = {0x00, 0xb0, 0xa1};
  for (int i = 0; i < 4000; ++i)
    labels.insert(labels.end(), {0x21, 0xf0, uint8_t(0x80 | i), uint8_t(i >> 7 & 0x7f)});
  for (int i = 0; i < 20'000; ++i) labels.insert(labels.end(), {0x21, 0xf8, 0x80, 0x00});
  rows_of(labels, 1'000'000);
  Bytes places;
  for (int region = 0; region < 100; ++region) {
    places.insert(places.end(), {0x61, 0x80, 0x02});
    for (int i = 0; i < 120; ++i)
      places.insert(places.end(), {0xf9, 0x04, uint8_t(i & 0x7f), uint8_t(i & 0x7f)});
  }
  rows_of(places, 1'000'000);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - before;
  EXPECT_LT(seconds.count(), 20);
}

/// The descriptors for a procedure in the form of compilers are as short as the compilers' own.
TEST(Descriptors, AreBriefForPrologueBodyAndEpilogue) {
  UnwindTables tables;
  CfiState state;
  state.cfa_register = 12;
  tables.states.push_back(state);
  state.rules = {{392, {Kind::in_register, 35, {}}}};
  tables.states.push_back(state);
  state.cfa_offset = 32;
  tables.states.push_back(state);
  state.rules = {{320, {Kind::in_register, 34, {}}}, {392, {Kind::in_register, 35, {}}}};
  tables.states.push_back(state);
  state.cfa_offset = 0;
  tables.states.push_back(state);
  const RegionSpan spans[] = {{0, 1}, {1, 3}, {2, 2}, {3, 40}, {4, 1}, {3, 20}, {4, 2}};
  ByteWriter out;
  write_descriptors(tables, spans, out);
  EXPECT_EQ(out.bytes(), (Bytes{0x46, 0x22, 0x06, 0xe6, 0x00, 0xe0, 0x03, 0x02,  // prologue of 6
                                0x61, 0x29, 0x81, 0xc0, 0x01,                    // body of 41
                                0x36, 0xa1, 0xc0, 0x02}));                       // body of 22
}

// ---- Random sequences of states

class RandomStates : public testing::Test {
 protected:
  uint64_t below(uint64_t bound) { return random_() % bound; }

  CfiRule random_rule(uint32_t number, bool fixed_frame) {
    CfiRule rule;
    switch (below(4)) {
      case 0:
        rule.kind = Kind::offset;
        rule.value = 16 - 4 * static_cast<int64_t>(below(100));
        return rule;
      case 1:
        if (number == regions::kPrimaryNat) break;
        rule.kind = Kind::in_register;
        rule.value = static_cast<int64_t>(below(2) == 0 ? 128 + 2 + below(20) : 320 + 1 + below(5));
        return rule;
      case 2:
        if (fixed_frame) break;
        rule.kind = Kind::expression;
        rule.expression = {0x7c, static_cast<uint8_t>(4 * below(15))};
        return rule;
      default:
        break;
    }
    rule.kind = Kind::in_register;
    rule.value = static_cast<int64_t>(32 + below(90));
    return rule;
  }

  CfiState random_state() {
    CfiState state;
    state.cfa_register = 12;
    switch (below(6)) {
      case 0:
        state.cfa_offset = 16 * static_cast<int64_t>(below(40));
        break;
      case 1:
        state.cfa_register = 32 + below(60);
        break;
      case 2:
        state.cfa_register = 0;
        state.cfa_is_expression = true;
        state.cfa_expression = {0x7c, static_cast<uint8_t>(4 * below(15)), 0x06};
        break;
    }
    for (const uint32_t number : {4,   5,   6,   7,   130, 131, 133, 144, 159, 320, 321,
                                  325, 345, 346, 347, 364, 368, 392, 393, 458, 459})
      if (below(4) == 0)
        state.rules.emplace_back(
            number, random_rule(number, !state.cfa_is_expression && state.cfa_register == 12));
    return state;
  }

  /// The state with more saved registers.
  CfiState extended(const CfiState& state) {
    const CfiState other = random_state();
    if (state == bare() && below(2) == 0) return other;
    CfiState result = state;
    std::map<uint32_t, CfiRule> rules(state.rules.begin(), state.rules.end());
    for (const auto& [number, rule] : other.rules)
      if (rule.kind != Kind::expression && below(3) == 0) rules.emplace(number, rule);
    result.rules.assign(rules.begin(), rules.end());
    return result;
  }

  /// The state that an epilogue leaves.
  CfiState left(const CfiState& state) {
    CfiState result = bare();
    for (const auto& [number, rule] : state.rules)
      if (rule.kind == Kind::in_register || (rule.kind == Kind::offset && rule.value < 0))
        result.rules.emplace_back(number, rule);
    return result;
  }

  static CfiState bare() {
    CfiState state;
    state.cfa_register = 12;
    return state;
  }

  /// The next state of a sequence; `state` is the last one.
  CfiState next(const CfiState& state, const std::vector<CfiState>& known) {
    switch (below(6)) {
      case 0:
        return random_state();
      case 1:
        return left(state);
      case 2:
        return known[below(known.size())];
      default:
        return extended(state);
    }
  }

  std::mt19937_64 random_{1};
};

TEST_F(RandomStates, SurviveWritingAndReading) {
  for (int round = 0; round < 20'000; ++round) {
    UnwindTables tables;
    std::vector<RegionSpan> spans;
    std::vector<std::string> wanted;  // of each slot
    CfiState state = below(2) == 0 ? bare() : random_state();
    for (uint64_t i = 0, count = 1 + below(14); i < count; ++i) {
      auto found = std::find(tables.states.begin(), tables.states.end(), state);
      if (found == tables.states.end()) found = tables.states.insert(found, state);
      const auto index = static_cast<uint32_t>(found - tables.states.begin());
      const uint64_t slots = 1 + below(below(3) == 0 ? 60 : 4);
      if (spans.empty() || spans.back().state != index) {
        spans.push_back({index, slots});
        wanted.insert(wanted.end(), slots, text_of(state));
      }
      state = next(state, tables.states);
    }
    ByteWriter out;
    write_descriptors(tables, spans, out);
    out.align(8);
    const auto rows = read_descriptors(out.bytes(), wanted.size());
    size_t row = 0;
    for (uint64_t slot = 0; slot < wanted.size(); ++slot) {
      while (row + 1 < rows.size() && rows[row + 1].slot <= slot) ++row;
      ASSERT_EQ(text_of(rows[row].state), wanted[slot]) << round << " " << slot;
    }
  }
}

// ---- Blocks and the table

class Entries : public testing::Test {
 protected:
  static constexpr uint64_t kBase = 0x4000000000000000, kText = kBase + 0x1000,
                            kData = 0x6000000000000000, kAddress = kBase + 0x100000;

  Entries() : file_(0x20000), descriptor_(16) {
    image_.machine = MachineId::ia64;
    store(&descriptor_[8], kData);
    image_.file = file_;
    image_.segments.push_back({.kind = Segment::Kind::loaded,
                               .rights = Segment::kExecutable,
                               .address = kBase,
                               .file_size = file_.size(),
                               .memory_size = file_.size()});
    image_.segments.push_back({.kind = Segment::Kind::unwind_table, .address = kBase});
    image_.sections.emplace_back();
    add_section(".text", kText, std::span(file_).subspan(0x1000));
    add_section(".opd", kData, descriptor_);
    image_.index_sections();

    Cie handlers;
    handlers.augmentation = "eu";
    handlers.personality = kData + 0x100;
    tables_.cies = {Cie{}, handlers};
    for (const uint32_t cie : {0, 1}) {
      CfiState state;
      state.cie = cie;
      state.cfa_register = 12;
      tables_.states.push_back(state);
      state.cfa_offset = 32;
      state.rules = {{320, {Kind::in_register, 33, {}}}, {392, {Kind::in_register, 34, {}}}};
      tables_.states.push_back(state);
    }
    Lsda lsda;
    lsda.type_encoding = 0xb4;  // data-relative addresses of words with the types' addresses
    lsda.actions = {1, 0, 2, 1, 0x7f, 0};
    lsda.types = {kData + 0x200, 0};
    lsda.specifications = {1, 2, 0};
    tables_.lsdas = {lsda, Lsda{}};
  }

  void add_section(const char* name, uint64_t address, std::span<const uint8_t> contents) {
    Section section;
    section.name = name;
    section.properties = Section::kAllocated;
    section.address = address;
    section.size = contents.size();
    section.contents = contents;
    image_.sections.push_back(section);
  }

  static UnwindRange range(uint64_t start, uint64_t end, uint32_t owner, uint32_t state) {
    return {.start = kText + start, .end = kText + end, .owner = owner, .state = state};
  }

  RegionSections write(const std::vector<UnwindRange>& ranges) {
    return write_regions(tables_, ranges, region_bases(image_), kAddress);
  }

  Bytes file_, descriptor_;
  Image image_;
  UnwindTables tables_;
};

TEST_F(Entries, OneForEachPieceAndOneBlockForEqualOnes) {
  const auto written = write({range(0, 0x11, 1, 0), range(0x11, 0x40, 1, 1),     // a procedure
                              range(0x40, 0x51, 2, 0), range(0x51, 0x80, 2, 1),  // one like it
                              range(0x100, 0x120, 3, 1),                         // a part
                              range(0x140, 0x160, 3, 1)});                       // and another
  const Rewritten rewritten(image_, written, kAddress);
  const auto entries = read_region_entries(rewritten.image);
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[0], (RegionEntry{kText, kText + 0x40, kAddress}));
  EXPECT_EQ(entries[1], (RegionEntry{kText + 0x40, kText + 0x80, kAddress}));
  EXPECT_EQ(entries[2].start, kText + 0x100);
  EXPECT_EQ(entries[3], (RegionEntry{kText + 0x140, kText + 0x160, entries[2].information}));
  const UnwindInput input = read_unwind(rewritten.image);
  ASSERT_EQ(input.fdes.size(), 4u);
  ASSERT_EQ(input.fdes[0].rows.size(), 2u);
  EXPECT_EQ(input.fdes[0].rows[1].address, kText + 0x11);
  EXPECT_EQ(text_of(input.tables.states[input.fdes[3].rows[0].state]), "cfa=sp+32 pfs=r34 rp=r33");
}

/// Descriptors that are not understood are written as they were, with their call sites.
TEST_F(Entries, AreKeptWhenTheirDescriptorsAreUnknown) {
  const Bytes predicated = {0x04, 0xfc, 0x06, 0x02, 0x04, 0x28, 0x38, 0x00};
  CfiState opaque;
  opaque.cie = 1;
  opaque.opaque = opaque.cfa_is_expression = true;
  opaque.cfa_expression = predicated;
  tables_.states.push_back(opaque);
  std::vector<UnwindRange> ranges = {range(0, 0x20, 1, 1), range(0x20, 0x51, 2, 4),
                                     range(0x51, 0x60, 2, 4), range(0x60, 0x80, 3, 3)};
  ranges[1].lsda = ranges[2].lsda = 0;
  ranges[1].landing_pad = kText + 0x52;
  ranges[1].action = 1;
  const Rewritten rewritten(image_, write(ranges), kAddress);
  Ranges unreadable;
  const UnwindInput input = read_unwind(rewritten.image, &unreadable);
  EXPECT_TRUE(unreadable.empty());
  ASSERT_EQ(input.fdes.size(), 3u);
  const Fde& kept = input.fdes[1];
  EXPECT_EQ(kept.start, kText + 0x20);
  EXPECT_EQ(kept.end, kText + 0x60);
  ASSERT_EQ(kept.rows.size(), 1u);
  EXPECT_TRUE(is_opaque(input.tables, kept));
  EXPECT_FALSE(is_opaque(input.tables, input.fdes[2]));
  const CfiState& state = input.tables.states[kept.rows[0].state];
  EXPECT_EQ(state.cfa_expression, predicated);
  EXPECT_EQ(input.tables.cies[state.cie].augmentation, "eu");
  EXPECT_EQ(sites_text(kept), fmt::format("[{:x},{:x})->{:x}/1 [{:x},{:x})->0/0 ", kText + 0x20,
                                          kText + 0x51, kText + 0x52, kText + 0x51, kText + 0x60));
}

TEST_F(Entries, HaveExceptionTables) {
  // A procedure in two pieces; landing pads are in the other piece, or are the first bundle of a
  // piece.
  std::vector<UnwindRange> ranges = {range(0, 0x20, 1, 2),        range(0x20, 0x40, 1, 3),
                                     range(0x40, 0x60, 1, 3),     range(0x1000, 0x1020, 2, 3),
                                     range(0x1020, 0x1040, 2, 3), range(0x2000, 0x2020, 3, 3)};
  const uint64_t pads[] = {0, kText + 0x1000, 0, kText, kText + 0x1000};
  for (size_t i = 0; i < 5; ++i) {
    ranges[i].lsda = 0;
    ranges[i].landing_pad = pads[i];
    ranges[i].action = pads[i] == 0 ? 0 : 3 - 2 * (i / 4);
  }
  ranges[2].terminate = true;
  const auto written = write(ranges);
  const Rewritten rewritten(image_, written, kAddress);
  Ranges unreadable;
  const UnwindInput input = read_unwind(rewritten.image, &unreadable);
  EXPECT_TRUE(unreadable.empty());
  ASSERT_EQ(input.fdes.size(), 3u);
  EXPECT_EQ(sites_text(input.fdes[0]),
            fmt::format("[{0:x},{1:x})->0/0 [{1:x},{2:x})->{3:x}/3 ", kText, kText + 0x20,
                        kText + 0x40, kText + 0x1000));
  EXPECT_EQ(sites_text(input.fdes[1]),
            fmt::format("[{0:x},{1:x})->{2:x}/3 [{1:x},{3:x})->{0:x}/1 ", kText + 0x1000,
                        kText + 0x1020, kText, kText + 0x1040));
  EXPECT_EQ(input.fdes[2].lsda, kNone);  // nothing to handle, so no handler either
  for (const size_t i : {0, 1}) {
    EXPECT_EQ(input.tables.lsdas.at(input.fdes[i].lsda), tables_.lsdas[0]);
    const Cie& cie = input.tables.cies[input.tables.states[input.fdes[i].rows[0].state].cie];
    EXPECT_EQ(cie.personality, kData + 0x100);
    EXPECT_EQ(cie.augmentation, "eu");
  }
}

/// An exception table that is not understood stays, in whatever block it is.
TEST_F(Entries, HaveCallSitesOfSlotsOnly) {
  auto with_lsda = range(0, 0x20, 1, 3);
  with_lsda.lsda = 0;
  auto written = write({with_lsda});
  const auto kept = [&] {
    const Rewritten rewritten(image_, written, kAddress);
    Ranges unreadable;
    const UnwindInput input = read_unwind(rewritten.image, &unreadable);
    EXPECT_EQ(unreadable, Ranges{});
    EXPECT_EQ(input.fdes.size(), 1u);
    EXPECT_EQ(input.fdes[0].start, kText);
    EXPECT_EQ(input.fdes[0].end, kText + 0x20);
    return input.fdes[0].kept_lsda;
  };
  EXPECT_EQ(kept(), 0u);
  const Bytes record = {0x00, 0x20, 0x00, 0x00};  // start, length, no landing pad, no action
  const auto site = std::search(written.information.begin(), written.information.end(),
                                record.begin(), record.end());
  ASSERT_NE(site, written.information.end());
  site[1] = 0x1e;
  EXPECT_EQ(kept(), kAddress);
}

TEST_F(Entries, FixupsNameEveryPointer) {
  auto ranges = std::vector<UnwindRange>{range(0, 0x20, 1, 3), range(0x20, 0x40, 1, 3)};
  ranges[0].lsda = 0;
  ranges[0].landing_pad = kText + 0x1000;
  ranges[0].action = 1;
  const auto written = write(ranges);
  std::map<RelocationRole, unsigned> seen;
  const auto check = [&](const std::vector<UnwindFixup>& fixups, const Bytes& bytes,
                         uint64_t base) {
    for (const UnwindFixup& fixup : fixups) {
      const uint8_t* field = &bytes.at(fixup.address - base);
      switch (fixup.role) {
        case RelocationRole::pc_relative32:
          ASSERT_EQ(fixup.address + static_cast<uint64_t>(int64_t{load<int32_t>(field)}),
                    fixup.target);
          break;
        case RelocationRole::unwind_gp_relative64:
          ASSERT_EQ(kData + load<uint64_t>(field), fixup.target);
          break;
        case RelocationRole::unwind_segment_relative64:
          ASSERT_EQ(kBase + load<uint64_t>(field), fixup.target);
          break;
        default:
          FAIL() << "a fixup that no relocation of unwind tables describes";
      }
      ++seen[fixup.role];
    }
  };
  check(written.information_fixups, written.information, kAddress);
  check(written.table_fixups, written.table, written.table_address);
  EXPECT_EQ(seen[RelocationRole::pc_relative32], 1u);  // LPStart
  EXPECT_EQ(seen[RelocationRole::unwind_gp_relative64],
            2u);  // personality routine, the one type that is not null
  EXPECT_EQ(seen[RelocationRole::unwind_segment_relative64], 3u);
}

TEST_F(Entries, WhatCannotBeSaidIsAnError) {
  EXPECT_THROW(write({range(1, 0x20, 1, 0)}), Error);
  EXPECT_THROW(write({range(0, 0x21, 1, 0)}), Error);
  EXPECT_THROW(write({range(0, 0x23, 1, 0)}), Error);
  EXPECT_THROW(write({range(0, 0x20, 1, 0), range(0x10, 0x30, 2, 0)}), Error);
  auto with_lsda = range(0, 0x20, 1, 0);
  with_lsda.lsda = 0;
  EXPECT_THROW(write({with_lsda}), Error);  // code without a personality routine
  with_lsda.state = 2;
  EXPECT_NO_THROW(write({with_lsda}));
  image_.sections.pop_back();  // no gp
  image_.index_sections();
  EXPECT_THROW(write({with_lsda}), Error);
  const auto fails = [&](auto change) {
    tables_.states[0] = tables_.states[1];
    EXPECT_NO_THROW(write({range(0, 0x20, 1, 0)}));
    change(tables_.states[0]);
    EXPECT_THROW(write({range(0, 0x20, 1, 0)}), Error);
  };
  fails([](CfiState& state) { state.cfa_offset = 8; });
  fails([](CfiState& state) { state.cfa_offset = -16; });
  fails([](CfiState& state) { state.cfa_register = 33; });  // + 32
  fails([](CfiState& state) { state.cfa_register = 320; });
  fails([](CfiState& state) { state.rules[0].second = {Kind::offset, 2, {}}; });
  fails([](CfiState& state) { state.rules[0].second = {Kind::undefined, 0, {}}; });
  fails([](CfiState& state) { state.rules[0].second = {Kind::val_offset, 0, {}}; });
  fails([](CfiState& state) { state.rules[0].second = {Kind::in_register, 458, {}}; });
  fails([](CfiState& state) { state.rules[0].second = {Kind::expression, 0, {0x7d, 0}}; });
  fails([](CfiState& state) { state.rules[0].first = 8; });
}

/// Blocks that claim all bytes after them, for entries that all refer to one block.
TEST_F(Entries, TakeBoundedTime) {
  constexpr size_t kCount = 2000;
  RegionSections tables;
  tables.information.assign(kCount * 8, 0);
  tables.table_address = kAddress + tables.information.size();
  ByteWriter table;
  for (size_t i = 0; i < kCount; ++i) {
    store(&tables.information[8 * i], uint64_t{1} << 48 | (kCount - 1 - i));
    table.write<uint64_t>(0x1000 + 16 * i);
    table.write<uint64_t>(0x1010 + 16 * i);
    table.write<uint64_t>(0x100000 + 8 * i);
  }
  tables.table = table.bytes();
  const Rewritten rewritten(image_, tables, kAddress);
  Ranges unreadable;
  const auto before = std::chrono::steady_clock::now();
  const UnwindInput input = read_unwind(rewritten.image, &unreadable);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - before;
  EXPECT_GT(std::ranges::count_if(input.fdes, [](const Fde& fde) { return fde.kept_lsda != 0; }),
            0);
  EXPECT_LE(input.fdes.size() + unreadable.size(), kCount);
  EXPECT_LT(seconds.count(), 20);
}

// ---- The assembler's output

class Assembled : public testing::Test {
 protected:
  void SetUp() override {
    const std::string command = fmt::format(
        "cd '{}' && ia64-linux-gnu-as -o x.o '{}/tests/programs/ia64/{}' && "
        "ia64-linux-gnu-ld -shared -q -o x.so x.o && echo done",
        folder_.path().string(), source_folder().string(), "unwind/descriptors.s");
    if (output_of("ia64-linux-gnu-as --version").empty()) GTEST_SKIP() << "no binutils for IA-64";
    ASSERT_EQ(output_of(command), "done\n");
    image_ = read_image(folder_ / "x.so");
  }

  const TemporaryFolder folder_;
  Image image_;
};

TEST_F(Assembled, ReadsAsListedAndSurvivesWriting) {
  Ranges unreadable;
  UnwindInput input = read_unwind(image_, &unreadable);
  EXPECT_EQ(unreadable, Ranges{});
  const uint64_t address = address_behind(image_);
  const auto written =
      write_regions(input.tables, all_ranges(input), region_bases(image_), address);
  const Rewritten rewritten(image_, written, address);
  expect_equal(input, read_unwind(rewritten.image, &unreadable));
  EXPECT_TRUE(unreadable.empty());
  ASSERT_TRUE(is_opaque(input.tables, input.fdes.back()));  // not_understood
  input.fdes.pop_back();
  EXPECT_GE(expect_listed(folder_ / "x.so", input), 60u);
}

/// Any damage to the tables ends in a description of the same code or in a report.
TEST_F(Assembled, DamageIsReported) {
  const size_t entries = read_region_entries(image_).size();
  Bytes file(image_.file.begin(), image_.file.end());
  const uint64_t first = read_region_entries(image_).front().information;
  const uint64_t start = image_.offset_of(first).value();
  const Segment& table = *std::find_if(image_.segments.begin(), image_.segments.end(),
                                       [](const Segment& s) { return s.unwind_table(); });
  const uint64_t end = table.offset + table.file_size;
  std::mt19937_64 random(1);
  size_t reported = 0;
  for (int round = 0; round < 3000; ++round) {
    Bytes damaged = file;
    for (uint64_t i = 0; i <= random() % 3; ++i)
      damaged[start + random() % (end - start)] = static_cast<uint8_t>(random());
    const Image image = read_image(std::move(damaged), "damaged");
    Ranges unreadable;
    const UnwindInput input = read_unwind(image, &unreadable);
    EXPECT_LE(input.fdes.size(), entries);
    reported += !unreadable.empty();
    for (const Fde& fde : input.fdes) {
      ASSERT_LT(fde.start, fde.end);
      ASSERT_FALSE(fde.rows.empty());
      ASSERT_EQ(fde.rows.front().address, fde.start);
      ASSERT_LT(fde.rows.back().address, fde.end);
    }
    const uint64_t address = address_behind(image);
    try {
      write_regions(input.tables, all_ranges(input), region_bases(image), address);
    } catch (const Error&) {
    }
  }
  EXPECT_GT(reported, 300u);
}

}  // namespace
}  // namespace respike
