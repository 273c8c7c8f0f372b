// Programs that differ only in their layout compare equal; every other difference is reported.

#include "optimizer/check/same_program.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <random>

#include "optimizer/check/shared_walk.h"
#include "optimizer/ir/text/text.h"
#include "tests/unit/fake_machine.h"

namespace respike {
namespace {

std::string difference(std::string_view before, std::string_view after) {
  const Program x = parse_program(before, fake_machine());
  const Program y = parse_program(after, fake_machine());
  return find_difference(x, y).value_or("");
}

constexpr std::string_view kBefore = R"(program fake
cie 0 personality_encoding=0x80 personality=0x5000
state 0 cie=0 cfa=30+0
state 1 cie=0 cfa=30+16 26=offset:-16
lsda 0 type_encoding=0x9b actions=0100 type=0x5010
code_pointer 0x1000 address64 0#3

procedure 0 "main"
  call_site 0 lsda=0 landing_pad=5 action=1
  block 0 cfi=0 call_site=0 entry
    add r1,r2,1
    .cfi_state 1
    bsr r1,r0,0 !branch(1#0)
    -> 1 fall_through
    -> 5 landing_pad
  block 1 cfi=1
    high r1,r2,0 !gp_load_high!1(0#0@return)
    low r1,r1,0 !gp_load_high!1(0#0@return)
    nop
    beq r1,r0,0
    -> 2 fall_through
    -> 4 taken
  block 2 cfi=1
    sub r3,r3,7
    -> 3 fall_through
  block 3 cfi=1 address_taken
    load r1,r2,8
    br
    -> 1 taken
  block 4 cfi=1
    ret r1,r0,0
  block 5 cfi=1 landing_pad
    halt

procedure 1 "f"
  block 0 entry
    high r1,r2,0 !gp_high(0#3)
    low r1,r1,0 !gp_low(0#3)
    jmp r1,r0,0 !branch_hint(0#3)
)";

// The same program in another layout: other order, inverted branch, added and dropped branches and
// no-ops, other numbers of states and references, a block moved to a procedure of its own, another
// hint.
constexpr std::string_view kAfter = R"(program fake
cie 0 personality_encoding=0x9b personality=0x5000
state 0 cie=0 cfa=30+16 26=offset:-16
state 1 cie=0 cfa=30+0
lsda 0 type_encoding=0x9b actions=02
lsda 1 type_encoding=0x9c actions=0100 type=0x5010
code_pointer 0x1000 address64 0#1

procedure 0 "main"
  call_site 0 lsda=1 landing_pad=2 action=1
  block 0 cfi=1 entry
    add r1,r2,1
    br
    -> 3 taken
  block 1 cfi=0 address_taken
    load r1,r2,8
    -> 4 fall_through
  block 2 cfi=0 landing_pad
    nop
    halt
  block 3 cfi=0 call_site=0
    bsr r1,r0,0 !branch(1#0)
    -> 4 fall_through
    -> 2 landing_pad
  block 4 cfi=0
    high r1,r2,0 !gp_load_high!1(0#3@return)
    low r1,r1,0 !gp_load_high!1(0#3@return)
    bne r1,r0,0
    -> 5 fall_through
    -> 6 taken
  block 5
    br !branch(1#1)
  block 6 cfi=0
    sub r3,r3,7
    br
    -> 1 taken

procedure 1 "f"
  block 0 entry
    nop
    high r1,r2,0 !gp_high(0#1)
    low r1,r1,0 !gp_low(0#1)
    jmp r1,r0,4
  block 1 cfi=0 address_taken
    ret r1,r0,0
)";

std::string difference_with(std::string_view from, std::string_view to) {
  std::string text(kAfter);
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  return difference(kBefore, text);
}

TEST(Compare, LayoutsAreEqual) {
  EXPECT_EQ(difference(kBefore, kBefore), "");
  EXPECT_EQ(difference(kAfter, kAfter), "");
  EXPECT_EQ(difference(kBefore, kAfter), "");
}

TEST(Compare, WaysPastStops) {
  const std::string head =
      "program fake\nprocedure 0 \"f\"\nblock 0 entry\nbeq r1,r0,0\n-> 1 fall_through\n-> 2 "
      "taken\n";
  const std::string skipped =
      head +
      "block 1\nhalt\n-> 2 fall_through\nblock 2\nret r1,r0,0\nblock 3\nadd r1,r1,1\nret r1,r0,0\n";
  const std::string other =
      head +
      "block 1\nhalt\n-> 3 fall_through\nblock 2\nret r1,r0,0\nblock 3\nadd r1,r1,1\nret r1,r0,0\n";
  const std::string last =
      head + "block 1\nhalt\nblock 2\nret r1,r0,0\nblock 3\nadd r1,r1,1\nret r1,r0,0\n";
  EXPECT_EQ(difference(skipped, skipped), "");
  EXPECT_NE(difference(skipped, other), "");
  EXPECT_NE(difference(skipped, last), "");
  EXPECT_EQ(difference(last, other), "");  // no code continues there
}

TEST(Compare, Instructions) {
  EXPECT_EQ(difference_with("r3,7", "r3,8"),
            "the operands differ: input 0x18 in main (sub r3,r3,7), output 0x28 in main "
            "(sub r3,r3,8)");
  EXPECT_NE(difference_with("sub r3", "add r3"), "");
  EXPECT_NE(difference_with("bne r1", "beq r1"), "");
  EXPECT_NE(difference_with("bne r1", "bne r2"), "");
  EXPECT_NE(difference_with("bne r1", "blt r1"), "");
  EXPECT_NE(difference_with("    sub r3,r3,7\n", ""), "");
  EXPECT_NE(difference_with("    halt\n", "    add r1,r1,1\n    halt\n"), "");
  EXPECT_NE(difference_with("jmp r1", "jmp r2"), "");
}

TEST(Compare, Targets) {
  EXPECT_NE(difference_with("br !branch(1#1)", "br !branch(1#0)"), "");
  EXPECT_NE(
      difference_with("-> 5 fall_through\n    -> 6 taken", "-> 6 fall_through\n    -> 5 taken"),
      "");
  EXPECT_NE(difference_with("!branch(1#0)", "!branch(1#1)"), "");
  EXPECT_NE(difference_with("!gp_high(0#1)", "!gp_high(0#2)"), "");
  EXPECT_NE(difference_with("address64 0#1", "address64 0#2"), "");
  EXPECT_NE(difference_with("address64 0#1", "address32 0#1"), "");
  EXPECT_NE(difference_with("0x1000 address64", "0x1008 address64"), "");
}

TEST(Compare, AnchorsOfGpLoads) {
  std::string text(kAfter);
  for (int i = 0; i < 2; ++i) text.replace(text.find("0#3@return"), 10, "0#4@return");
  EXPECT_NE(difference(kBefore, text).find("gp is loaded"), std::string::npos);
}

TEST(Compare, Exceptions) {
  EXPECT_NE(difference_with("lsda=1", "lsda=0"), "");
  EXPECT_NE(difference_with("action=1", "action=3"), "");
  EXPECT_NE(difference_with("landing_pad=2", "landing_pad=5"), "");
  EXPECT_NE(difference_with(" landing_pad=2", ""), "");
  EXPECT_NE(difference_with("cfi=0 call_site=0", "cfi=0"), "");
  EXPECT_NE(difference_with("action=1", "action=1 terminate"), "");
  EXPECT_NE(difference_with("type=0x5010", "type=0x5018"), "");
}

TEST(Compare, UnwindStates) {
  EXPECT_NE(difference_with("block 3 cfi=0", "block 3 cfi=1"), "");
  EXPECT_NE(difference_with("block 2 cfi=0", "block 2"), "");
  EXPECT_NE(difference_with("cfa=30+16", "cfa=30+32"), "");
  EXPECT_NE(difference_with("26=offset:-16", "26=offset:-8"), "");
  EXPECT_NE(difference_with("personality=0x5000", "personality=0x5008"), "");
}

TEST(Compare, CyclesOfBranches) {
  const std::string head = "program fake\nprocedure 0 \"spin\"\n";
  const std::string one = head + "block 0\nbr\n-> 0 taken\n";
  const std::string many = head +
                           "block 0\nnop\n-> 1 fall_through\nblock 1\nbr\n-> 2 taken\n"
                           "block 2\nbr\n-> 3 taken\nblock 3\nbr\n-> 1 taken\n";
  EXPECT_EQ(difference(one, many), "");
  EXPECT_EQ(difference(many, one), "");
  EXPECT_NE(difference(one, head + "block 0\nhalt\n"), "");
  EXPECT_NE(difference(head + "block 0\nhalt\n", many), "");
}

TEST(Compare, BlocksCutDifferently) {
  const std::string head = "program fake\nprocedure 0 \"loop\"\n";
  const std::string one = head + "block 0\nadd r1,r1,1\nadd r1,r1,1\nbr\n-> 0 taken\n";
  const std::string three = head +
                            "block 0\nadd r1,r1,1\n-> 1 fall_through\n"
                            "block 1\nadd r1,r1,1\nadd r1,r1,1\n-> 2 fall_through\n"
                            "block 2\nadd r1,r1,1\nadd r1,r1,1\nadd r1,r1,1\nbr\n-> 0 taken\n";
  EXPECT_EQ(difference(one, three), "");
  EXPECT_EQ(difference(three, one), "");
}

TEST(Compare, Duplicates) {
  const std::string head = "program fake\nprocedure 0 \"twice\"\n";
  const std::string before = head +
                             "block 0\nbeq r1,r0,0\n-> 1 fall_through\n-> 2 taken\n"
                             "block 1\nadd r1,r1,1\n-> 2 fall_through\n"
                             "block 2\nsub r1,r1,1\nret r1,r0,0\n";
  const std::string after = head +
                            "block 0\nbeq r1,r0,0\n-> 1 fall_through\n-> 2 taken\n"
                            "block 1\nadd r1,r1,1\nsub r1,r1,1\nret r1,r0,0\n"
                            "block 2\nsub r1,r1,1\nret r1,r0,0\n";
  EXPECT_EQ(difference(before, after), "");
  EXPECT_EQ(difference(after, before), "");
}

TEST(Compare, UntouchableSequences) {
  const std::string head = "program fake\nprocedure 0 \"lock\"\nblock 0\nll r1,r2,0\n";
  const std::string straight = head +
                               "beq r1,r0,0\n-> 1 fall_through\n-> 2 taken\n"
                               "block 1\nadd r1,r1,1\nsc r1,r2,0\nret r1,r0,0\n"
                               "block 2\nhalt\n";
  const std::string branch = head +
                             "beq r1,r0,0\n-> 3 fall_through\n-> 2 taken\n"
                             "block 1\nadd r1,r1,1\nsc r1,r2,0\nret r1,r0,0\n"
                             "block 2\nhalt\nblock 3\nbr\n-> 1 taken\n";
  const std::string inverted = head +
                               "bne r1,r0,0\n-> 2 fall_through\n-> 1 taken\n"
                               "block 1\nadd r1,r1,1\nsc r1,r2,0\nret r1,r0,0\n"
                               "block 2\nhalt\n";
  EXPECT_EQ(difference(straight, straight), "");
  EXPECT_EQ(difference(branch, straight), "");  // no sequence in the input
  EXPECT_NE(difference(straight, branch).find("contiguous"), std::string::npos);
  EXPECT_NE(difference(straight, inverted).find("contiguous"), std::string::npos);

  const std::string shadow = "program fake\nprocedure 0 \"fp\"\nblock 0\nfadd r1,r2,0\n";
  const std::string whole = shadow + "fadd r1,r2,0\ntrapb\nret r1,r0,0\n";
  const std::string cut = shadow +
                          "-> 1 fall_through\nblock 1\nfadd r1,r2,0\n-> 2 fall_through\n"
                          "block 2\nbr\n-> 3 taken\nblock 3\ntrapb\nret r1,r0,0\n";
  EXPECT_EQ(difference(whole, whole), "");
  EXPECT_NE(difference(whole, cut).find("contiguous"), std::string::npos);
  EXPECT_EQ(difference(cut, cut), "");
}

TEST(Compare, CountsDeadCode) {
  const Program p = parse_program(
      "program fake\nprocedure 0 \"f\"\nblock 0\nret r1,r0,0\nblock 1\nhalt\n", fake_machine());
  CompareCounts counts;
  EXPECT_EQ(find_difference(p, p, &counts), std::nullopt);
  EXPECT_EQ(counts.instructions, 1u);
  EXPECT_EQ(counts.blocks, 2u);
  EXPECT_EQ(counts.blocks_reached, 1u);
}

/// A random procedure, and the same procedure with its blocks in another order and branches
/// inverted and inserted.
struct RandomPair {
  std::string before = "program fake\nprocedure 0 \"f\"\n";
  std::string after = before;
};

RandomPair random_pair(std::mt19937_64& random) {
  const unsigned count = 2 + random() % 12;
  std::vector<unsigned> place(count);  // number of a block in `after`
  for (unsigned i = 0; i < count; ++i) place[i] = i;
  std::shuffle(place.begin() + 1, place.end(), random);
  std::vector<std::string> after(count);
  std::string added;
  unsigned next_added = count;
  // Sometimes through an added block.
  const auto to = [&](unsigned target) {
    if (random() % 4 != 0) return place[target];
    added += fmt::format("block {}\nbr\n-> {} taken\n", next_added, place[target]);
    return next_added++;
  };
  RandomPair result;
  for (unsigned i = 0; i < count; ++i) {
    std::string body = fmt::format("add r1,r1,{}\n", i);
    std::string end = body;
    const unsigned a = random() % count, b = random() % count;
    switch (random() % 4) {
      case 0:
        body += "ret r1,r0,0\n", end = body;
        break;
      case 1:
        body += fmt::format("br\n-> {} taken\n", a);
        end += fmt::format("nop\n-> {} fall_through\n", to(a));
        break;
      default:
        body += fmt::format("beq r1,r0,0\n-> {} fall_through\n-> {} taken\n", a, b);
        if (random() % 2 == 0)
          end += fmt::format("beq r1,r0,0\n-> {} fall_through\n-> {} taken\n", to(a), to(b));
        else
          end += fmt::format("bne r1,r0,0\n-> {} fall_through\n-> {} taken\n", to(b), to(a));
    }
    result.before += fmt::format("block {}\n", i) + body;
    after[place[i]] = fmt::format("block {}\n", place[i]) + end;
  }
  for (const std::string& block : after) result.after += block;
  result.after += added;
  return result;
}

TEST(Compare, RandomLayouts) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 500; ++round) {
    const RandomPair pair = random_pair(random);
    ASSERT_EQ(difference(pair.before, pair.after), "") << pair.before << pair.after;
    ASSERT_EQ(difference(pair.after, pair.before), "") << pair.before << pair.after;
  }
}

/// Every change of a target in reachable code is found: each block adds another number.
TEST(Compare, RandomMistakes) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 500; ++round) {
    const RandomPair pair = random_pair(random);
    Program x = parse_program(pair.before, fake_machine());
    Program y = parse_program(pair.after, fake_machine());
    std::vector<bool> reached(y[0].blocks.size());
    std::vector<BlockId> work{0};
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      if (reached[b]) continue;
      reached[b] = true;
      for (const Edge& edge : y[0].blocks[b].successors) work.push_back(edge.target);
    }
    const BlockId b = static_cast<BlockId>(random() % y[0].blocks.size());
    if (!reached[b] || y[0].blocks[b].successors.empty()) continue;
    auto& edges = y[0].blocks[b].successors;
    Edge& edge = edges[random() % edges.size()];
    const auto body = [&](BlockId id) {  // which shows where control goes
      while (y[0].blocks[id].instructions.size() == 1) id = y[0].blocks[id].successors[0].target;
      return y[0].blocks[id].instructions[0].immediate;
    };
    const BlockId wrong = static_cast<BlockId>(random() % x[0].blocks.size());
    const bool same = body(edge.target) == body(wrong);
    edge.target = wrong;
    ASSERT_EQ(find_difference(x, y).has_value(), !same) << print(x) << print(y);
  }
}

/// A program of `count` procedures that call each other. `twice`: the last block is there twice.
std::string many_procedures(unsigned count, bool twice, unsigned changed = ~0u) {
  std::string text = "program fake\n";
  for (unsigned i = 0; i < count; ++i) {
    text += fmt::format(
        "procedure {} \"p{}\"\n"
        "  block 0 entry address_taken\n    add r1,r2,{}\n    bsr r1,r0,0 !branch({}#0)\n    -> 1 "
        "fall_through\n"
        "  block 1\n    beq r1,r0,0\n    -> 2 fall_through\n    -> 3 taken\n"
        "  block 2\n    sub r3,r3,7\n    -> {} fall_through\n"
        "  block 3\n    add r3,r3,{}\n    ret r1,r0,0\n",
        i, i, i % 100, (i * 7 + 1) % count, twice ? 4 : 3, i == changed ? 8 : 9);
    if (twice) text += "  block 4\n    add r3,r3,9\n    ret r1,r0,0\n";
  }
  return text;
}

TEST(Compare, ThreadsFindWhatOneFinds) {
  const Program before = parse_program(many_procedures(600, false), fake_machine());
  const Program after = parse_program(many_procedures(600, true), fake_machine());
  Comparison alone(before, after, nullptr);
  alone.run();
  ASSERT_EQ(alone.difference(), std::nullopt);
  EXPECT_EQ(alone.pairs().size(), 5u * 600);
  for (const size_t workers : {2, 3, 4, 7}) {
    const auto together = walk_together(before, after, nullptr, nullptr, workers);
    ASSERT_NE(together, nullptr);
    EXPECT_EQ(together->difference(), std::nullopt);
    EXPECT_EQ(together->pairs(), alone.pairs());
    EXPECT_EQ(together->counts().instructions, alone.counts().instructions);
    EXPECT_EQ(together->counts().blocks_reached, alone.counts().blocks_reached);
  }
}

TEST(Compare, EachThreadFindsDifferences) {
  const Program before = parse_program(many_procedures(600, false), fake_machine());
  for (const unsigned changed : {0u, 63u, 64u, 130u, 400u, 599u}) {
    const Program after = parse_program(many_procedures(600, false, changed), fake_machine());
    const auto together = walk_together(before, after, nullptr, nullptr, 4);
    ASSERT_NE(together, nullptr);
    EXPECT_NE(together->difference(), std::nullopt) << changed;
  }
}

}  // namespace
}  // namespace respike
