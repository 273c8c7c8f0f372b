// Reader and writer of unwind tables, with tables made by hand.
//
// There is one case for each call frame operation and each form of exception table. Fragments of
// split procedures are written, read again and compared at every instruction. Files made to be slow
// must not be slow. Damaged tables must end in an Error or a report: also run this under
// AddressSanitizer.

#include <chrono>
#include <random>

#include "optimizer/unwind/lsda/pointer_encoding.h"
#include "tests/unit/unwind_testing.h"

namespace respike {
namespace {

using namespace unwind_testing;

/// The rows of an FDE of 0x1000 bytes with this program, "offset: state" each; or "unreadable".
std::string rows_of(const Bytes& program, const Bytes& initial = {0x0c, 30, 0}) {
  FrameBuilder builder;
  builder.fde(builder.cie("zR", {0x1b}, initial), kText, 0x1000, program);
  TestImage test;
  test.frame = builder.out.bytes();
  Ranges unreadable;
  const UnwindInput input = read_unwind(test.image(), &unreadable);
  if (!unreadable.empty()) {
    EXPECT_EQ(unreadable, (Ranges{{kText, kText + 0x1000}}));
    EXPECT_TRUE(input.fdes.empty());
    return "unreadable";
  }
  if (is_opaque(input.tables, input.fdes.at(0))) return "kept";
  std::string text;
  for (const auto& row : input.fdes.at(0).rows)
    text += fmt::format("{}{:x}: {}", text.empty() ? "" : "; ", row.address - kText,
                        state_text(input.tables.states[row.state]));
  return text;
}

// ---- Call frame operations

TEST(CallFrame, Operations) {
  const struct {
    const char* name;
    Bytes program;
    const char* rows;
  } cases[] = {
      {"nothing", {}, "0: r30+0"},
      {"nop", {0, 0, 0}, "0: r30+0"},
      {"advance_loc", {0x42, 0x0e, 16}, "0: r30+0; 8: r30+16"},
      {"advance_loc of 0", {0x40, 0x0e, 16}, "0: r30+16"},
      {"advance_loc1", {2, 0x81, 0x0e, 16}, "0: r30+0; 204: r30+16"},
      {"advance_loc2", {3, 0x01, 0x02, 0x0e, 16}, "0: r30+0; 804: r30+16"},
      {"advance_loc4", {4, 3, 0, 0, 0, 0x0e, 16}, "0: r30+0; c: r30+16"},
      {"beyond the end", {4, 0, 4, 0, 0, 0x0e, 16}, "0: r30+0"},
      {"far beyond the end", {4, 0xff, 0xff, 0xff, 0xff, 0x0e, 16}, "0: r30+0"},
      {"no change", {0x41, 0x42, 0x0e, 0, 0x41, 0x0e, 8}, "0: r30+0; 10: r30+8"},
      {"offset", {0x89, 2}, "0: r30+0 r9=c-16"},
      {"offset_extended", {5, 70, 2}, "0: r30+0 r70=c-16"},
      {"offset_extended_sf", {0x11, 9, 0x7e}, "0: r30+0 r9=c+16"},
      {"negative_offset_extended", {0x2f, 9, 2}, "0: r30+0 r9=c+16"},
      {"val_offset", {0x14, 9, 2}, "0: r30+0 r9=v-16"},
      {"val_offset_sf", {0x15, 9, 0x7e}, "0: r30+0 r9=v+16"},
      {"register", {9, 9, 10}, "0: r30+0 r9=r10"},
      {"expression", {0x10, 9, 2, 'a', 'b'}, "0: r30+0 r9=expab"},
      {"val_expression", {0x16, 9, 1, 'a'}, "0: r30+0 r9=vexpa"},
      {"undefined", {7, 9}, "0: r30+0 r9=u"},
      {"same_value", {8, 9}, "0: r30+0 r9=s"},
      {"def_cfa", {0x0c, 15, 0x80, 1}, "0: r15+128"},
      {"def_cfa_sf", {0x12, 15, 0x7e}, "0: r15+16"},
      {"def_cfa_register", {0x0e, 8, 0x0d, 15}, "0: r15+8"},
      {"def_cfa_offset_sf", {0x13, 1}, "0: r30-8"},
      {"def_cfa_expression", {0x0f, 1, 'x'}, "0: expx"},
      {"def_cfa after an expression", {0x0f, 1, 'x', 0x0c, 1, 2}, "0: r1+2"},
      {"offset after an expression", {0x0f, 1, 'x', 0x0e, 2}, "0: expx"},
      {"register after an expression", {0x0e, 8, 0x0f, 1, 'x', 0x0d, 15}, "0: r15+8"},
      {"offset and register", {0x0f, 1, 'x', 0x0e, 2, 0x41, 0x0d, 15}, "0: expx; 4: r15+2"},
      {"restore", {0x89, 2, 0x41, 0xc9}, "0: r30+0 r9=c-16; 4: r30+0"},
      {"restore_extended", {0x89, 2, 0x41, 6, 9}, "0: r30+0 r9=c-16; 4: r30+0"},
      {"remember_state", {0x0a, 0x89, 1, 0x0c, 15, 4, 0x41, 0x0b}, "0: r15+4 r9=c-8; 4: r30+0"},
      {"args_size", {0x2e, 8, 0x0a, 0x41, 0x2e, 0, 0x0b}, "0: r30+0 args=8; 4: r30+0"},
      {"nested remember_state",
       {0x0a, 0x89, 1, 0x0a, 0x8a, 2, 0x41, 0x0b, 0x41, 0x0b},
       "0: r30+0 r9=c-8 r10=c-16; 4: r30+0 r9=c-8; 8: r30+0"},
      {"restore_state alone", {0x0b}, "kept"},
      {"window save", {0x2d}, "kept"},
      {"MIPS advance_loc8", {0x1d, 0, 0, 0, 0, 0, 0, 0, 0}, "kept"},
      {"unknown operation", {0x3f, 1}, "unreadable"},
      {"cut operand", {0x0c, 15}, "kept"},
      {"cut expression", {0x10, 9, 5, 1}, "unreadable"},
      {"huge register", {5, 0xff, 0xff, 0x7f, 1}, "unreadable"},
      {"huge offset", {5, 9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, "kept"},
  };
  for (const auto& test : cases) EXPECT_EQ(rows_of(test.program), test.rows) << test.name;
  EXPECT_EQ(rows_of({0x8f, 3, 0x41, 0xcf}, {0x0c, 30, 0, 0x8f, 1, 0, 0}),
            "0: r30+0 r15=c-24; 4: r30+0 r15=c-8");
  EXPECT_EQ(rows_of(Bytes(1000, 0x0a)), "kept");
}

TEST(CallFrame, SetLocation) {
  FrameBuilder builder;
  const size_t cie = builder.cie("zR", {0x1b}, {0x0c, 30, 0});
  Bytes program(5);
  program[0] = 1;
  const size_t place = builder.out.size() + 18;
  store<uint32_t>(&program[1], kText + 0x40 - (TestImage::kFrame + place));
  program.insert(program.end(), {0x0e, 8});
  builder.fde(cie, kText, 0x100, program);
  TestImage test;
  test.frame = builder.out.bytes();
  const UnwindInput input = read_unwind(test.image());
  ASSERT_EQ(input.fdes.size(), 1u);
  ASSERT_EQ(input.fdes[0].rows.size(), 2u);
  EXPECT_EQ(input.fdes[0].rows[1].address, kText + 0x40);
}

TEST(CallFrame, EncodingsOfAddresses) {
  const uint64_t place = TestImage::kFrame;
  struct Case {
    uint8_t encoding;
    bool readable;
  };
  for (const Case& test :
       {Case{0x00, true}, Case{0x01, true}, Case{0x04, true}, Case{0x09, true}, Case{0x0c, true},
        Case{0x10, true}, Case{0x19, true}, Case{0x1b, true}, Case{0x1c, true}, Case{0x30, false},
        Case{0x3b, false}, Case{0x50, false}, Case{0x9b, false}, Case{0x0f, false},
        Case{0x08, false}}) {
    FrameBuilder builder;
    const size_t cie = builder.cie("zR", {test.encoding}, {0x0c, 30, 0});
    ByteWriter body;
    const uint64_t field = place + builder.out.size() + 8;
    const uint64_t value = (test.encoding & 0x70) == 0x10 ? kText - field : kText;
    if (test.readable) {
      eh_pe::write_number(body, test.encoding, value);
      eh_pe::write_number(body, test.encoding, 0x40);
    }
    body.append(Bytes{0, 0x0e, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    builder.entry(builder.out.size() + 4 - cie, body.bytes());
    TestImage image;
    image.frame = builder.out.bytes();
    Ranges unreadable;
    const UnwindInput input = read_unwind(image.image(), &unreadable);
    ASSERT_EQ(input.fdes.size(), test.readable ? 1u : 0u) << int{test.encoding};
    if (!test.readable) {
      EXPECT_EQ(unreadable, (Ranges{{0, UINT64_MAX}}));
      continue;
    }
    EXPECT_EQ(input.fdes[0].start, kText) << int{test.encoding};
    EXPECT_EQ(input.fdes[0].end, kText + 0x40);
    const auto written = write_frames(input.tables, all_ranges(input), place, false);
    expect_equal(input, read_unwind(with_tables(image.image(), written, place)));
  }
}

TEST(CallFrame, AbsoluteAddressesOfPositionIndependentImages) {
  FrameBuilder builder;
  const size_t cie = builder.cie("zR", {0x00}, {0x0c, 30, 0});
  const uint64_t field = TestImage::kFrame + builder.out.size() + 8;
  ByteWriter body;
  body.append(Bytes{0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0});
  builder.entry(builder.out.size() + 4 - cie, body.bytes());
  TestImage test;
  test.frame = builder.out.bytes();
  Image image = test.image();
  image.dynamic_relocations.push_back(
      {.section = 0, .packed = false, .relocations = {{field, static_cast<int64_t>(kText)}}});
  const UnwindInput input = read_unwind(image);
  ASSERT_EQ(input.fdes.size(), 1u);
  EXPECT_EQ(input.fdes[0].start, kText);
}

TEST(CallFrame, EqualStatesAndCiesAreShared) {
  FrameBuilder builder;
  const size_t a = builder.cie("zR", {0x1b}, {0x0c, 30, 0});
  const size_t b = builder.cie("zR", {0x1b}, {0x0c, 30, 0, 0, 0, 0});  // other padding
  builder.fde(a, kText, 0x10, {0x41, 0x89, 1, 0x8a, 2});
  builder.fde(b, kText + 0x10, 0x10, {0x42, 0x8a, 2, 0x89, 1});
  TestImage test;
  test.frame = builder.out.bytes();
  const UnwindInput input = read_unwind(test.image());
  EXPECT_EQ(input.tables.cies.size(), 1u);
  EXPECT_EQ(input.tables.states.size(), 2u);
  ASSERT_EQ(input.fdes.size(), 2u);
  EXPECT_EQ(input.fdes[0].rows[1].state, input.fdes[1].rows[1].state);
}

TEST(CallFrame, FramingAndOverlaps) {
  FrameBuilder builder;
  const size_t cie = builder.cie("zR", {0x1b}, {0x0c, 30, 0});
  builder.fde(cie, kText, 0x10, {});
  builder.fde(cie, kText + 0x20, 0x10, {});
  builder.fde(cie, kText + 0x28, 0x10, {});
  builder.fde(cie, kText + 0x40, 0, {});        // describes nothing
  builder.fde(cie, kText + 0x20000, 0x10, {});  // outside of the image
  TestImage test;
  test.frame = builder.out.bytes();
  Ranges unreadable;
  EXPECT_EQ(read_unwind(test.image(), &unreadable).fdes.size(), 1u);
  EXPECT_EQ(unreadable, (Ranges{{kText + 0x20, kText + 0x38}, {kText + 0x20000, kText + 0x20010}}));

  const Bytes good = test.frame;
  test.frame.insert(test.frame.end(), {0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7});  // after a terminator
  EXPECT_EQ(read_unwind(test.image()).fdes.size(), 1u);
  test.frame = good;
  test.frame.pop_back();  // an entry reaches beyond the section
  EXPECT_THROW(read_unwind(test.image()), Error);
  test.frame = good;
  FrameBuilder lost;
  lost.fde(lost.cie("zR", {0x1b}, {}) + 4, kText, 0x10, {});  // a CIE pointer to nowhere
  test.frame = lost.out.bytes();
  EXPECT_THROW(read_unwind(test.image()), Error);
  test.frame = {0xff, 0xff, 0xff, 0xff, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_THROW(read_unwind(test.image()), Error);
  test.frame.clear();
  EXPECT_TRUE(read_unwind(test.image()).fdes.empty());
}

// ---- Exception tables

/// Reads an FDE of 0x100 bytes with this exception table.
UnwindInput read_lsda(const Bytes& lsda, Ranges* unreadable = nullptr) {
  FrameBuilder builder;
  const size_t cie = builder.cie("zLR", {0x1b, 0x1b}, {0x0c, 30, 0});
  builder.fde(cie, kText, 0x100, {}, TestImage::kExcept);
  TestImage test;
  test.frame = builder.out.bytes();
  test.except = lsda;
  return read_unwind(test.image(), unreadable);
}

TEST(ExceptionTable, ActionsTypesAndSpecifications) {
  // Types are absolute, 2 bytes: entry 2 is a null (catch all), entry 1 is 0x1234, entry 3 0x5678.
  const Bytes lsda = {0xff, 0x02, 25,   0x01, 8,           // header: TTBase at 3 + 25
                      0,    0x10, 0x40, 1,                 // a call site with actions
                      0x10, 0x10, 0,    0,                 // without a landing pad
                      1,    0x7d,                          // filter 1, then the action before it
                      0x7f, 0,                             // filter -1
                      0,    0,    0,    0,    0,           // not reached
                      0x78, 0x56, 0,    0,    0x34, 0x12,  // types 3, 2, 1
                      3,    2,    0,    9};                // list at 0
  // Action 1 leads to the action at 2, by the displacement that is patched here.
  Bytes bytes = lsda;
  bytes[14] = 1;  // from its own place at 1 to 2
  const UnwindInput input = read_lsda(bytes);
  ASSERT_EQ(input.fdes.size(), 1u);
  const Lsda& read = input.tables.lsdas.at(input.fdes[0].lsda);
  EXPECT_EQ(read.actions, (Bytes{1, 1, 0x7f, 0}));
  EXPECT_EQ(read.types, (std::vector<uint64_t>{0x1234, 0, 0x5678}));
  EXPECT_EQ(read.specifications, (Bytes{3, 2, 0}));
  EXPECT_EQ(sites_text(input.fdes[0]),
            "[120000000,120000010)->120000040/1 [120000010,120000020)->0/0 ");
}

TEST(ExceptionTable, DamagedOnesStay) {
  const struct {
    const char* name;
    Bytes bytes;
    bool readable;
    bool pads_elsewhere = false;
  } cases[] = {
      {"empty call-site table", {0xff, 0xff, 1, 0}, true},
      {"cycle of actions", {0xff, 0x02, 10, 1, 4, 0, 4, 8, 1, 0, 0x7f, 0, 0, 0, 0}, true},
      {"action outside", {0xff, 0xff, 1, 4, 0, 4, 8, 9, 0}, false},
      {"action chain to before the table", {0xff, 0xff, 1, 4, 0, 4, 8, 1, 0, 0x70}, false},
      {"type without a table", {0xff, 0xff, 1, 4, 0, 4, 8, 1, 1, 0}, false},
      {"TTBase outside", {0xff, 0x9b, 100, 1, 4, 0, 4, 8, 0}, false},
      {"filter beyond the types", {0xff, 0x03, 9, 1, 4, 0, 4, 8, 1, 0x20, 0, 0, 0}, false},
      {"specification outside", {0xff, 0x03, 9, 1, 4, 0, 4, 8, 1, 0x60, 0, 0, 0}, false},
      {"call sites out of order", {0xff, 0xff, 1, 8, 8, 4, 8, 0, 0, 4, 8, 0}, false},
      {"call site behind the end", {0xff, 0xff, 1, 5, 0, 0x81, 2, 8, 0}, false},
      {"call-site table too long", {0xff, 0xff, 1, 50, 0, 4, 8, 0}, false},
      {"unknown encoding", {0xff, 0xff, 0x31, 4, 0, 4, 8, 0}, false},
      {"call sites of 4 bytes", {0xff, 0xff, 3, 13, 0, 0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0, 0}, true},
      {"unknown format of types that are not there", {0xff, 0xaf, 2, 1, 0, 0}, false},
      {"cut", {0xff}, false},
      {"LPStart relative to the procedure", {0x41, 1, 0xff, 1, 4, 0, 4, 8, 0}, false, true},
  };
  for (const auto& test : cases) {
    Ranges unreadable;
    const UnwindInput input = read_lsda(test.bytes, &unreadable);
    EXPECT_TRUE(unreadable.empty()) << test.name;
    ASSERT_EQ(input.fdes.size(), 1u) << test.name;
    const Fde& fde = input.fdes[0];
    EXPECT_EQ(is_opaque(input.tables, fde), !test.readable) << test.name;
    EXPECT_EQ(fde.kept_lsda != 0, !test.readable) << test.name;
    EXPECT_EQ(fde.lsda != kNone, test.readable) << test.name;
    EXPECT_EQ(fde.pads_elsewhere, test.pads_elsewhere) << test.name;
  }
}

// ---- Fragments of split procedures

class Fragments : public testing::Test {
 protected:
  static constexpr uint64_t kAddress = 0x12a000000;

  void SetUp() override {
    FrameBuilder builder;
    const size_t cie = builder.cie("zLR", {0x1b, 0x1b}, {0x0c, 30, 0, 0x9a, 1});
    // Entry, body, epilogue and the body again.
    builder.fde(cie, kText, 0x100,
                {0x41, 0x0e, 32, 0x89, 2, 0x8a, 3, 0x9a, 4, 0x41, 0x0a, 0x0e, 0, 0xc9, 0xca, 0xda,
                 0x41, 0x0b},
                0);
    TestImage test;
    test.frame = builder.out.bytes();
    const UnwindInput input = read_unwind(test.image());
    ASSERT_EQ(input.fdes.at(0).rows.size(), 4u);
    entry_ = input.fdes[0].rows[0].state;
    body_ = input.fdes[0].rows[1].state;
    ASSERT_EQ(input.fdes[0].rows[2].state, entry_);
    ASSERT_EQ(input.fdes[0].rows[3].state, body_);
    tables_ = input.tables;
    Lsda lsda;
    lsda.type_encoding = 0x9b;
    lsda.actions = {1, 0, 2, 1, 0x7f, 0};
    lsda.types = {kText + 0x8000, 0};
    lsda.specifications = {1, 2, 0};
    tables_.lsdas = {lsda, Lsda{}};
  }

  static UnwindRange range(uint64_t start, uint64_t end, uint32_t state, uint32_t lsda = kNone,
                           uint64_t pad = 0, uint64_t action = 0) {
    UnwindRange result;
    result.start = kText + start;
    result.end = kText + end;
    result.owner = 7;
    result.state = state;
    result.lsda = lsda;
    result.landing_pad = pad == 0 ? 0 : kText + pad;
    result.action = action;
    return result;
  }

  UnwindInput write_and_read(const std::vector<UnwindRange>& ranges) {
    const FrameSections written = write_frames(tables_, ranges, kAddress, true);
    Ranges unreadable;
    UnwindInput input =
        read_unwind(with_tables(TestImage().image(), written, kAddress), &unreadable);
    EXPECT_TRUE(unreadable.empty());
    expect_described(ranges, input);
    return input;
  }

  /// Compares both sides at every instruction.
  void expect_described(const std::vector<UnwindRange>& ranges, const UnwindInput& input) {
    for (const UnwindRange& wanted : ranges)
      for (uint64_t address = wanted.start; address < wanted.end; address += 4) {
        const Fde* fde = nullptr;
        for (const Fde& candidate : input.fdes)
          if (candidate.start <= address && address < candidate.end) fde = &candidate;
        ASSERT_EQ(fde != nullptr, wanted.state != kNone);
        if (fde == nullptr) continue;
        auto row = fde->rows.rbegin();
        while (row->address > address) ++row;
        ASSERT_EQ(state_text(input.tables.states[row->state]),
                  state_text(tables_.states[wanted.state]));
        if (wanted.lsda == kNone && fde->lsda == kNone) continue;
        const Fde::CallSite* site = nullptr;
        for (const Fde::CallSite& candidate : fde->call_sites)
          if (candidate.start <= address && address < candidate.end) site = &candidate;
        ASSERT_EQ(site == nullptr, wanted.terminate);
        if (site == nullptr) continue;
        ASSERT_EQ(site->landing_pad, wanted.landing_pad);
        ASSERT_EQ(site->action, wanted.action);
        // Action 1 is for type 1, action 3 for type 2 and then for the specification at 0.
        const Lsda& lsda = input.tables.lsdas[fde->lsda];
        if (site->action != 0) {
          ASSERT_EQ(lsda.types.at(0), kText + 0x8000);
        }
        if (site->action == 3) {
          ASSERT_EQ(lsda.specifications, (Bytes{1, 2, 0}));
        }
      }
  }

  UnwindTables tables_;
  uint32_t entry_ = 0, body_ = 0;
};

TEST_F(Fragments, LandingPadsAnywhere) {
  auto terminating = range(0x30, 0x40, body_, 0);
  terminating.terminate = true;
  const std::vector<UnwindRange> ranges = {
      range(0x0, 0x10, entry_, 0),
      range(0x10, 0x20, body_, 0, 0x28, 1),  // after, inside
      range(0x20, 0x30, body_, 0, 0x0, 0),
      terminating,
      // A fragment whose pad is its own first instruction.
      range(0x100, 0x110, body_, 0, 0x100, 3),
      range(0x110, 0x120, entry_, 0),
      // A fragment whose landing pads lie in a fragment before it and in a fragment far after it.
      range(0x200, 0x210, body_, 0, 0x28, 1),
      range(0x210, 0x220, body_, 0, 0x9000, 3),
      // Landing pads only before the fragment, or only after it.
      range(0x300, 0x310, body_, 0, 0x28, 1),
      range(0x400, 0x410, body_, 0, 0x9000, 1),
      // Termination only.
      [&] {
        auto r = range(0x500, 0x510, body_, 0);
        r.terminate = true;
        return r;
      }(),
  };
  const UnwindInput input = write_and_read(ranges);
  EXPECT_EQ(input.fdes.size(), 6u);
}

TEST_F(Fragments, RangesWithAndWithoutLsdaShareAnFde) {
  const std::vector<UnwindRange> ranges = {
      range(0x0, 0x10, entry_), range(0x10, 0x20, body_, 0, 0x18, 1), range(0x20, 0x30, entry_),
      range(0x30, 0x40, kNone),  // a gap
      range(0x40, 0x50, entry_)};
  const UnwindInput input = write_and_read(ranges);
  ASSERT_EQ(input.fdes.size(), 2u);
  EXPECT_NE(input.fdes[0].lsda, kNone);
  EXPECT_EQ(sites_text(input.fdes[0]),
            "[120000000,120000010)->0/0 [120000010,120000020)->120000018/1 "
            "[120000020,120000030)->0/0 ");
  EXPECT_EQ(input.fdes[1].lsda, kNone);
}

TEST_F(Fragments, OwnersAndLsdasKeepFdesApart) {
  auto other_owner = range(0x10, 0x20, body_);
  other_owner.owner = 8;
  EXPECT_EQ(write_and_read({range(0, 0x10, body_), other_owner}).fdes.size(), 2u);
  tables_.lsdas[1] = tables_.lsdas[0];
  EXPECT_EQ(write_and_read({range(0, 0x10, body_, 0), range(0x10, 0x20, body_, 1)}).fdes.size(),
            2u);
  EXPECT_EQ(write_and_read({range(0, 0x10, body_), range(0x10, 0x10, body_)}).fdes.size(), 1u);
  EXPECT_EQ(write_and_read({}).fdes.size(), 0u);
  EXPECT_THROW(write_and_read({range(0, 0x10, body_), range(0xc, 0x20, body_)}), Error);
}

TEST_F(Fragments, StatesInAnyOrder) {
  std::mt19937 random(2);
  // States of one CIE that use all kinds of operations.
  for (int i = 0; i < 30; ++i) {
    CfiState state = tables_.states[tables_.cies[0].initial_state];
    state.cfa_is_expression = random() % 4 == 0;
    if (state.cfa_is_expression) {
      state.cfa_register = 0;
      state.cfa_expression = {'x', static_cast<uint8_t>('a' + random() % 3)};
    } else {
      state.cfa_register = random() % 3;
      state.cfa_offset = (static_cast<int>(random() % 5) - 2) * 8;
    }
    if (random() % 4 == 0) state.args_size = random() % 3 * 8;
    for (uint32_t number : {1u, 2u, 26u, 64u, 90u}) {
      if (number != 26 && random() % 3 == 0) continue;
      CfiRule rule;
      rule.kind = static_cast<CfiRule::Kind>(random() % 7);
      if (rule.kind >= CfiRule::Kind::expression)
        rule.expression = {'e'};
      else if (rule.kind == CfiRule::Kind::in_register)
        rule.value = random() % 40;
      else if (rule.kind >= CfiRule::Kind::offset)
        rule.value = (static_cast<int>(random() % 5) - 2) * 8;
      if (number == 26) state.rules.clear();
      state.rules.emplace_back(number, rule);
      if (number == 26 && random() % 3 == 0)
        state.rules.back().second = tables_.states[0].rules[0].second;
    }
    tables_.states.push_back(state);
  }
  for (int round = 0; round < 200; ++round) {
    std::vector<UnwindRange> ranges;
    uint64_t at = 0;
    const size_t variety = 1 + random() % (tables_.states.size() - 1);
    while (at < 0x4000) {
      const uint64_t end = at + 4 * (1 + random() % (random() % 10 == 0 ? 300 : 6));
      ranges.push_back(range(at, end, random() % variety));
      at = end;
    }
    write_and_read(ranges);
  }
}

TEST_F(Fragments, InexpressibleStatesAreRefused) {
  CfiState state = tables_.states[body_];
  state.rules[0].second.value = -13;  // not a multiple of the data alignment
  tables_.states.push_back(state);
  const auto last = static_cast<uint32_t>(tables_.states.size() - 1);
  EXPECT_THROW(write_and_read({range(0, 0x10, last)}), Error);
  tables_.states[last] = tables_.states[body_];
  tables_.states[last].rules.pop_back();  // the CIE has a rule for register 26
  EXPECT_THROW(write_and_read({range(0, 0x10, last)}), Error);
  EXPECT_THROW(write_and_read({range(0, 0x10, body_), range(0x12, 0x20, entry_),
                               range(0x20, 0x2f, body_), range(0x2f, 0x40, entry_)}),
               Error);
  tables_.cies[0].lsda_encoding = 0xff;
  tables_.cies[0].augmentation = "zR";
  EXPECT_THROW(write_and_read({range(0, 0x10, body_, 0)}), Error);
}

TEST_F(Fragments, TypeTableDistanceOfAnySize) {
  // The distance to TTBase is a number of variable size, which changes the padding before TTBase.
  for (size_t sites = 0; sites < 80; ++sites)
    for (size_t actions = 2; actions < 10; ++actions) {
      tables_.lsdas[0].actions.assign(actions * 2 + 1, 0);
      tables_.lsdas[0].actions[0] = 1;
      tables_.lsdas[0].actions.push_back(2);
      tables_.lsdas[0].actions.push_back(0);
      std::vector<UnwindRange> ranges;
      for (size_t i = 0; i <= sites; ++i)
        ranges.push_back(range(4 * i, 4 * i + 4, body_, 0, 0x1000 + 4 * (i % 2), 1));
      const FrameSections written = write_frames(tables_, ranges, kAddress, false);
      const UnwindInput input = read_unwind(with_tables(TestImage().image(), written, kAddress));
      ASSERT_EQ(input.fdes.size(), 1u);
      const Lsda& lsda = input.tables.lsdas.at(0);
      ASSERT_EQ(lsda.types.size(), 1u);
      ASSERT_EQ(lsda.types[0], kText + 0x8000);
      ASSERT_EQ(input.fdes[0].call_sites.size(), sites + 1);
    }
}

// ---- Scale

TEST(Scale, HundredThousandProcedures) {
  TestImage test;
  constexpr uint32_t kCount = 100'000;
  test.text.resize(kCount * 64);
  FrameBuilder builder;
  const size_t cie = builder.cie("zR", {0x1b}, {0x0c, 30, 0});
  for (uint32_t i = 0; i < kCount; ++i)
    builder.fde(cie, kText + (kCount - 1 - i) * uint64_t{64}, 64,
                {0x41, 0x0e, static_cast<uint8_t>(i % 8 * 16), 0x41, 0x89, 2, 0x8a, 3, 0x9a, 4,
                 0x41, 0x0a, 0x0e, 0, 0xc9, 0xca, 0xda, 0x41, 0x0b});
  test.frame = builder.out.bytes();
  const Image image = test.image();
  const auto before = std::chrono::steady_clock::now();
  const UnwindInput input = read_unwind(image);
  const auto between = std::chrono::steady_clock::now();
  const FrameSections written = write_frames(input.tables, all_ranges(input), kText, true);
  const auto after = std::chrono::steady_clock::now();
  EXPECT_EQ(input.fdes.size(), kCount);
  EXPECT_EQ(written.header.size(), 12 + 8 * kCount);
  using Seconds = std::chrono::duration<double>;
  RecordProperty("read_ms", static_cast<int>(Seconds(between - before).count() * 1000));
  RecordProperty("write_ms", static_cast<int>(Seconds(after - between).count() * 1000));
  EXPECT_LT(Seconds(after - before).count(), 20);  // generous: sanitizers, loaded machines
}

/// Files made to be slow: with these sizes, quadratic time would be minutes.
TEST(Scale, HostileTables) {
  FrameBuilder builder;
  TestImage test;
  test.except.assign(200'000, 0);
  const size_t cie = builder.cie("zLR", {0x1b, 0x1b}, {0x0c, 30, 0});
  // Exception tables that overlap: each claims all bytes after it.
  for (uint32_t i = 0; i < 15'000; ++i) {
    const Bytes header = {0xff, 0xff, 1, 0x80 | 0x10, 0x80 | 0x27, 0x05};
    std::copy(header.begin(), header.end(), test.except.begin() + i * 6);
    builder.fde(cie, kText + 4 * i, 4, {}, TestImage::kExcept + 6 * i);
  }
  // Many registers and as many rows; many expressions; deep nesting.
  Bytes program;
  for (uint8_t number = 0; number < 0x80; ++number)
    program.insert(program.end(), {5, number, number});
  for (uint32_t i = 0; i < 100'000; ++i)
    program.insert(program.end(),
                   {0x41, 0x0e, static_cast<uint8_t>(0x80 | i), static_cast<uint8_t>(0x80 | i >> 7),
                    static_cast<uint8_t>(i >> 14), 0x0a});
  test.text.resize(0x100000);
  builder.fde(cie, kText + 0x10000, 0x80000, program);
  test.frame = builder.out.bytes();
  Ranges unreadable;
  const auto before = std::chrono::steady_clock::now();
  read_unwind(test.image(), &unreadable);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - before;
  EXPECT_FALSE(unreadable.empty());
  EXPECT_LT(seconds.count(), 20);
}

}  // namespace
}  // namespace respike
