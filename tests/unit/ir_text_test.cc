// The text form: printed programs are read back as the same program, and bad text is refused.

#include "optimizer/ir/text/text.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/fake_machine.h"

namespace respike {
namespace {

constexpr std::string_view kSample = R"(program fake
origin_base 0x120000000
gp 0x120018000
cie 0 augmentation="zPLR" version=1 code_alignment=4 data_alignment=-8 return_register=26 address_encoding=0x1b lsda_encoding=0x1b personality_encoding=0x9b personality=0x120010000 initial_instructions=0c1e00 initial_state=0
state 0 cie=0 cfa=30+0
state 1 cie=0 cfa=30+32 args_size=8 15=offset:-16 26=expression:0:0a0b
state 2 cie=0 cfa=0+0 cfa_is_expression opaque cfa_expression=04fc06
lsda 0 type_encoding=0x9b actions=0100 type=0x120010010 type=0x0
range 0x120000000..0x120000020 procedure=0 blocks=0..3
code_pointer 0x120010020 address64 0#2  // main "quoted"
code_pointer 0x120010028 gp_relative32 0x120009000 base=0x120018000

procedure 0 "main \"quoted\"" address=0x120000000 size=0x20 gp=0x120018000
  symbols 3 7
  jump_table 0x120010020 entries=2 jump=0
  call_site 0 lsda=0 landing_pad=2 action=1
  call_site 1 lsda=0 terminate
  reference 2 branch_hint 1#0
  block 0 at=0x120000000 size=0x10 cfi=0 call_site=0 count=12 entry
    120000000: high r1,r2,0 !gp_load_high!0(0#0)  // main "quoted"
    120000004: low r1,r1,0 !gp_load_high!0(0#0)  // main "quoted"
    120000008: .cfi_state 1
    120000008: .invalid 0xdeadbeef
    12000000c: bsr r1,r0,12000000c !branch!1(1#0)  // f
    -> 1 fall_through count=11
    -> 2 landing_pad count=1
  block 1 at=0x120000010 size=0x8 cfi=1 count=11
    120000010: add r1,r2,-5
    120000014: beq r1,r0,120000000
    -> 2 fall_through
    -> 0 taken count=11
  block 2 at=0x120000018 size=0x8 cfi=1 address_taken landing_pad
    -: .cfi_state -1
    -: nop r0,r0,0
    12000001c: ret r1,r2,1

procedure 1 "f" address=0x120000040 size=0x4 opaque noreturn reason="it is a \\ test\x0a"
  block 0 at=0x120000040 size=0x4 entry may_leave
    120000040: high r1,r0,0 !gp_high!0(0#0@return)  // main "quoted"
    -> 0 indirect
)";

std::string reprint(std::string_view text) {
  return print(parse_program(text, fake_machine()));
}

TEST(IrText, PrintsWhatItReads) {
  EXPECT_EQ(reprint(kSample), kSample);
}

TEST(IrText, ReadsEveryField) {
  const Program p = parse_program(kSample, fake_machine());
  ASSERT_EQ(p.procedures.size(), 2u);
  EXPECT_EQ(p.origin_base, 0x120000000u);
  EXPECT_EQ(p.gp_values, std::vector<uint64_t>{0x120018000});
  ASSERT_EQ(p.unwind.cies.size(), 1u);
  EXPECT_EQ(p.unwind.cies[0].augmentation, "zPLR");
  EXPECT_EQ(p.unwind.cies[0].data_alignment, -8);
  EXPECT_EQ(p.unwind.cies[0].initial_instructions, (std::vector<uint8_t>{0x0c, 0x1e, 0}));
  ASSERT_EQ(p.unwind.states.size(), 3u);
  EXPECT_EQ(p.unwind.states[1].rules[1].second.expression, (std::vector<uint8_t>{0x0a, 0x0b}));
  EXPECT_TRUE(p.unwind.states[2].opaque && !p.unwind.states[1].opaque);
  EXPECT_EQ(p.unwind.lsdas[0].types, (std::vector<uint64_t>{0x120010010, 0}));
  ASSERT_EQ(p.ranges.size(), 1u);
  EXPECT_EQ(p.ranges[0], (CodeRange{0x120000000, 0x120000020, 0, 0, 3}));
  const Procedure& main = p[0];
  EXPECT_EQ(main.name, "main \"quoted\"");
  EXPECT_EQ(main.gp, 0x120018000u);
  EXPECT_EQ(main.symbols, (std::vector<uint32_t>{3, 7}));
  EXPECT_EQ(main.jump_tables[0].entries, 2u);
  EXPECT_EQ(main.jump_tables[0].jump, 0u);
  EXPECT_EQ(main.call_sites[0], (CallSite{0, 2, 1, false}));
  EXPECT_TRUE(main.call_sites[1].terminate);
  ASSERT_EQ(main.references.size(), 3u);
  EXPECT_EQ(main.references[1].kind, ReferenceKind::branch);
  EXPECT_EQ(main.references[1].target, (CodeLocation{.procedure = 1, .block = 0}));
  const BasicBlock& entry = main.blocks[0];
  EXPECT_EQ(entry.origin_size, 16u);
  EXPECT_EQ(entry.call_site, 0u);
  EXPECT_EQ(entry.cfi_state, 0u);
  EXPECT_EQ(entry.count, 12u);
  EXPECT_EQ(entry.instructions[0].immediate, 0);
  EXPECT_EQ(entry.instructions[1].immediate, 0);
  EXPECT_EQ(entry.instructions[3].opcode, kInvalid);
  EXPECT_EQ(static_cast<uint32_t>(entry.instructions[3].immediate), 0xdeadbeef);
  EXPECT_EQ(entry.successors[1].kind, Edge::Kind::landing_pad);
  EXPECT_EQ(main.blocks[1].instructions[1].immediate, -0x14);
  EXPECT_EQ(main.blocks[2].instructions[1].origin, kNone);
  EXPECT_EQ(p[1].state, Procedure::State::opaque);
  EXPECT_FALSE(p[1].returns);
  EXPECT_EQ(p[1].reason, "it is a \\ test\n");
  EXPECT_EQ(p[1].blocks[0].flags, BasicBlock::kEntry | BasicBlock::kMayLeave);
  EXPECT_EQ(p[1].references[0].target.where, CodeLocation::Where::return_point);
}

TEST(IrText, AcceptsWhatPeopleWrite) {
  const Program p = parse_program(R"(
// a comment
program fake   // behind a line, too
procedure 0 "a // b"
block 0 entry
  add r1,r2,3
      high r1,r0,0 !gp_high(0#1)
  br
-> 1 taken

block 1
  low r1,r1,0 !gp_low(0#1)
  ret r1,r0,0
)",
                                  fake_machine());
  EXPECT_EQ(p[0].name, "a // b");
  EXPECT_EQ(p[0].references.size(), 2u);  // a reference without an index is a new one
  EXPECT_EQ(p[0].blocks[0].instructions[2].origin, 8u);
  EXPECT_EQ(p[0].blocks[1].instructions[0].origin, 12u);
}

TEST(IrText, PrintsOneProcedure) {
  const Program p = parse_program(kSample, fake_machine());
  const std::string all(kSample);
  const std::string f = all.substr(all.find("procedure 1"));
  EXPECT_EQ(print(p, p[1]), f);
}

TEST(IrText, PrintsBrokenPrograms) {
  Program p = parse_program(kSample, fake_machine());
  p[0].references.clear();
  EXPECT_NE(print(p).find("!missing!1"), std::string::npos);
}

std::string error_of(std::string_view text) {
  try {
    parse_program(text, fake_machine());
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(IrText, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(error_of(""), "line 0: the line 'program MACHINE' is missing");
  EXPECT_EQ(error_of("program other"), "line 1: the line 'program fake' is missing");
  const std::string head = "program fake\nprocedure 0 \"f\"\nblock 0\n";
  EXPECT_EQ(error_of(head + "jump"), "line 4: unknown instruction 'jump'");
  EXPECT_EQ(error_of(head + "block 2"), "line 4: number 1 is expected here");
  EXPECT_EQ(error_of(head + "-> 1 sideways"), "line 4: 'sideways' is not known here");
  EXPECT_EQ(error_of(head + "-> 99999999999 taken"),
            "line 4: '99999999999' is not a number in range");
  EXPECT_EQ(error_of(head + "nop r0,r0,0 !gp_low!1(0#0)\n"), "line 4: reference 0 is missing");
  EXPECT_EQ(error_of(head + "nop r0,r0,0 !gp_low!0(0#0)\nnop r0,r0,0 !gp_low!0(0#1)\n"),
            "line 5: reference 0 is given twice, differently");
  EXPECT_EQ(error_of("program fake\nprocedure 0 \"f"), "line 2: a string has no end");
  EXPECT_EQ(error_of("program fake\nblock 0"), "line 2: 'block' is not known here");
  EXPECT_EQ(error_of("program fake\ncie 0 surprise"), "line 2: 'surprise' is not known here");
}

/// Cuts, repeats and changes the sample at random: the parser throws Error or returns.
TEST(IrText, SurvivesDamage) {
  std::mt19937_64 random(1);
  unsigned accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text(kSample);
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
      const size_t at = random() % text.size(), size = 1 + random() % 12;
      switch (random() % 3) {
        case 0:
          text.erase(at, size);
          break;
        case 1:
          text.insert(at, text.substr(random() % text.size(), size));
          break;
        default:
          text[at] = static_cast<char>(random());
          break;
      }
    }
    try {
      const Program p = parse_program(text, fake_machine());
      ++accepted;
      const std::string once = print(p);
      ASSERT_EQ(reprint(once), once);
    } catch (const Error&) {
    }
  }
  EXPECT_GT(accepted, 100u);
}

}  // namespace
}  // namespace respike
