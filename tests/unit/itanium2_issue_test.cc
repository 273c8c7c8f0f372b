// Dispersal in the model of the Itanium 2: which bundles issue together, what splits a group; and
// cutting code into other pieces does not change its cost.

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "tests/unit/itanium2_testing.h"

namespace respike::measure::itanium2 {
namespace {

/// A group of two bundles; its slots hold instructions that find most ports.
std::vector<uint8_t> pair_of(const std::string& first, const std::string& second) {
  std::vector<uint8_t> code;
  for (const std::string& units : {first, second}) {
    std::vector<std::string> slots;
    for (char unit : units)
      slots.push_back(unit == 'F'                  ? "fma.d.s0 f6=f7,f8,f9"
                      : unit == 'B'                ? "nop.b 0x0"
                      : unit == 'L' || unit == 'X' ? "movl r14=0x1"
                                                   : "add r14=r15,r16");
    append_bundle(code, units, slots);
  }
  return code;
}

TEST(Dispersal, PairsOfTemplates) {
  // Intel's table, from GCC's description: the bundles that may follow a bundle in one cycle.
  const std::vector<std::string> all = {"MII", "MMI", "MFI", "MMF", "MIB",
                                        "MMB", "MFB", "MLX", "BBB", "MBB"};
  const std::set<std::string> before_long = {"MMI", "MFI", "MMF", "MIB", "MMB", "MFB", "MLX"},
                              before_three_branches = {"MII", "MMI", "MFI", "MMF", "MLX"},
                              before_others = {"MII", "MMI", "MFI", "MMF",
                                               "MIB", "MMB", "MFB", "MLX"};
  for (const std::string& first : all)
    for (const std::string& second : all) {
      const std::set<std::string>& fitting = second == "MLX"   ? before_long
                                             : second == "BBB" ? before_three_branches
                                                               : before_others;
      const uint32_t splits = fitting.count(first) ? 0 : 1;
      EXPECT_EQ(issue_all(pair_of(first, second)).splits, splits) << first << " " << second;
    }
}

struct Case {
  std::vector<std::pair<std::string, std::vector<std::string>>> bundles;
  uint32_t splits;
};

TEST(Dispersal, Ports) {
  const std::string ld = "ld8 r14=[r15]", st = "st8 [r15]=r16", add = "add r20=r21,r22",
                    nop_i = "nop.i 0x0", getf = "getf.sig r23=f6", extr = "extr.u r24=r25,3,4",
                    sxt = "sxt4 r26=r27";
  const std::vector<Case> cases = {
      {{{"MMI", {ld, ld, nop_i}}, {"MMI", {st, st, nop_i}}}, 0},
      {{{"MMI", {st, st, nop_i}}, {"MMI", {ld, ld, nop_i}}}, 0},  // the order does not matter
      {{{"MMI", {ld, ld, nop_i}}, {"MMI", {ld, st, nop_i}}}, 1},
      {{{"MMI", {st, st, nop_i}}, {"MMI", {st, ld, nop_i}}}, 1},
      {{{"MMI", {add, add, add}}, {"MMI", {ld, ld, add}}}, 0},
      {{{"MII", {ld, add, add}}, {"MII", {ld, add, add}}}, 0},  // type A on M ports
      {{{"MMI", {ld, st, add}}, {"MII", {ld, add, add}}}, 0},
      {{{"MII", {ld, sxt, sxt}}, {"MII", {ld, sxt, nop_i}}}, 1},
      {{{"MII", {ld, nop_i, nop_i}}, {"MII", {ld, nop_i, nop_i}}}, 1},
      {{{"MII", {ld, extr, sxt}}}, 0},
      {{{"MII", {ld, sxt, extr}}}, 1},  // I0 only
      {{{"MII", {ld, extr, extr}}}, 1},
      {{{"MMI", {getf, st, nop_i}}}, 0},
      {{{"MMI", {getf, getf, nop_i}}}, 1},
      {{{"MIB", {ld, nop_i, "br.few 0x0"}}, {"MII", {ld, nop_i, nop_i}}}, 1},
      {{{"MBB", {ld, "nop.b 0x0", "nop.b 0x0"}}, {"MII", {ld, nop_i, nop_i}}}, 1},
      // Rules of the Implementor's Tale, 5.3.3.
      {{{"MMI", {"srlz.d", "nop.m 0x0", nop_i}}}, 1},
      {{{"MMI", {"sync.i", "nop.m 0x0", nop_i}}}, 1},
      {{{"MMI", {"mov.m r4=ar.unat", "nop.m 0x0", nop_i}}}, 1},
      {{{"MMI", {"nop.m 0x0", "mf", nop_i}}}, 1},
      {{{"MMI", {"mf", "nop.m 0x0", nop_i}}}, 0},
      {{{"MMI", {"nop.m 0x0", "fwb", nop_i}}}, 1},
      {{{"MIB", {"mov.m r4=ar.bsp", nop_i, "nop.b 0x0"}}}, 1},
      {{{"MIB", {"mov.m r4=ar.rsc", nop_i, "nop.b 0x0"}}}, 0},
      // The window has two bundles.
      {{{"MMI", {ld, st, nop_i}},
        {"MFI", {"nop.m 0x0", "nop.f 0x0", nop_i}},
        {"MFI", {"nop.m 0x0", "nop.f 0x0", nop_i}}},
       1},
  };
  for (const Case& c : cases) {
    std::vector<uint8_t> code;
    for (const auto& [units, slots] : c.bundles) append_bundle(code, units, slots);
    const IssueCycles cycles = issue_all(code);
    EXPECT_EQ(cycles.splits, c.splits)
        << c.bundles[0].first << " " << c.bundles[0].second[0] << " " << c.bundles[0].second[1];
    EXPECT_EQ(cycles.groups, 1u);
  }
}

/// Says whether all instructions find different M ports, by trying all.
bool find_ports(const std::vector<unsigned>& allowed, size_t next, unsigned taken) {
  if (next == allowed.size()) return true;
  for (unsigned port = 1; port < 16; port *= 2)
    if ((allowed[next] & port & ~taken) != 0 && find_ports(allowed, next + 1, taken | port))
      return true;
  return false;
}

TEST(Dispersal, FourInstructionsOnMemoryPorts) {
  // M0 to M3 are bits 0 to 3.
  const std::vector<std::pair<std::string, unsigned>> kinds = {
      {"ld8 r14=[r15]", 3}, {"st8 [r15]=r16", 12},   {"getf.sig r23=f6", 4},
      {"flushrs", 1},       {"add r20=r21,r22", 15}, {"nop.m 0x0", 15},
      {"lfetch [r15]", 3},  {"ldfd f9=[r15]", 15},   {"setf.sig f8=r14", 12}};
  const size_t count = kinds.size();
  for (size_t number = 0; number < count * count * count * count; ++number) {
    std::vector<std::string> texts;
    std::vector<unsigned> allowed;
    for (size_t rest = number; texts.size() < 4; rest /= count) {
      texts.push_back(kinds[rest % count].first);
      allowed.push_back(kinds[rest % count].second);
    }
    std::vector<uint8_t> code;
    append_bundle(code, "MMI", {texts[0], texts[1], "nop.i 0x0"});
    append_bundle(code, "MMI", {texts[2], texts[3], "nop.i 0x0"});
    EXPECT_EQ(issue_all(code).splits == 0, find_ports(allowed, 0, 0))
        << texts[0] << ", " << texts[1] << ", " << texts[2] << ", " << texts[3];
  }
}

TEST(Dispersal, TargetsInTheSecondBundleOfAPair) {
  std::vector<uint8_t> code;
  for (int i = 0; i < 3; ++i) append_bundle(code, "MMI", {"nop.m 0x0", "nop.m 0x0", "nop.i 0x0"});
  for (const bool odd : {false, true}) {
    IssueState state;
    state.branch();
    const IssueCycles cycles = state.issue(read_all(code), odd);
    // Three bundles: two and one; or, from an odd bundle on, one and two.
    EXPECT_EQ(cycles.targets, odd ? 1u : 0u);
    EXPECT_EQ(cycles.splits, odd ? 0u : 1u);
  }
}

/// Random code without multimedia instructions, whose longer waits are forgotten between pieces.
std::vector<uint8_t> random_code(std::mt19937& random, unsigned bundles) {
  const std::map<char, std::vector<std::string>> instructions = {
      {'M',
       {"ld8 r14=[r15]", "ld8 r15=[r14],8", "st8 [r14]=r16", "ldfd f6=[r16]", "add r16=r14,r15",
        "getf.sig r15=f7", "setf.sig f6=r14", "mov.m r14=ar.unat", "mov.m ar.rnat=r16",
        "mov.m ar.rsc=r16", "(p06) ld8 r17=[r15]", "nop.m 0x0", "cmp.eq p6,p7=r14,r15", "mf"}},
      {'I',
       {"add r14=r15,r16", "extr.u r15=r14,3,4", "sxt4 r16=r14", "mov r17=pr", "nop.i 0x0",
        "mov b6=r14", "tbit.z p6,p7=r14,3"}},
      {'F',
       {"fma.d.s0 f6=f7,f6,f8", "fma.d.s0 f7=f6,f6,f8", "fcmp.eq.s0 p6,p7=f6,f7", "nop.f 0x0"}},
      {'B', {"nop.b 0x0", "(p06) br.cond.dptk.few 0x4000"}}};
  const char* templates[] = {"MII", "MMI", "MFI", "MMF", "MIB", "MMB", "MFB", "MBB", "BBB"};
  std::vector<uint8_t> code;
  for (unsigned i = 0; i < bundles; ++i) {
    const std::string units = templates[random() % std::size(templates)];
    std::vector<std::string> slots;
    for (char unit : units) {
      const auto& choice = instructions.at(unit);
      slots.push_back(choice[random() % choice.size()]);
    }
    if (random() % 2) slots.back() += ";;";
    if (units == "MII" && random() % 3 == 0) slots[1] += ";;";
    if (units == "MMI" && random() % 3 == 0) slots[0] += ";;";
    append_bundle(code, units, slots);
  }
  return code;
}

IssueCycles sum_of_pieces(const std::vector<uint8_t>& code, const std::vector<size_t>& cuts) {
  IssueState state;
  IssueCycles sum;
  size_t from = 0;
  for (size_t cut : cuts) {
    // The address of a slot with this number.
    const auto place = [](size_t slots) { return 0x4000 + slots / 3 * 16 + slots % 3; };
    const size_t first = from / 3 * 16, last = (cut + 2) / 3 * 16;
    const std::vector<uint8_t> part(code.begin() + long(first), code.begin() + long(last));
    const IssueCycles cycles =
        state.issue(read_for_issue(place(from), place(cut), part), from / 3 % 2 == 1);
    state.simplify();
    sum.groups += cycles.groups;
    sum.splits += cycles.splits;
    sum.targets += cycles.targets;
    for (unsigned b = 0; b < kBubbles; ++b) sum.waits[b] += cycles.waits[b];
    from = cut;
  }
  return sum;
}

TEST(Issue, PiecesCostWhatTheWholeCosts) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const std::vector<uint8_t> code = random_code(random, 12);
    const size_t slots = code.size() / 16 * 3;
    std::vector<size_t> cuts;
    for (size_t at = 1 + random() % 6; at < slots; at += 1 + random() % 9) cuts.push_back(at);
    cuts.push_back(slots);
    const IssueCycles whole = issue_all(code), parts = sum_of_pieces(code, cuts);
    EXPECT_EQ(whole.groups, parts.groups) << round;
    EXPECT_EQ(whole.splits, parts.splits) << round;
    EXPECT_EQ(whole.waits, parts.waits) << round;
  }
}

TEST(Issue, AnyBytes) {
  std::mt19937 random(11);
  IssueState state;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<uint8_t> code(16 * (1 + random() % 4));
    for (uint8_t& byte : code) byte = static_cast<uint8_t>(random());
    const uint64_t begin = 0x4000 + random() % 3, end = 0x4000 + code.size();
    const std::vector<IssueInstruction> instructions = read_for_issue(begin, end, code);
    const IssueCycles cycles = state.issue(instructions, round % 2);
    EXPECT_LE(cycles.groups, instructions.size());
    EXPECT_LE(cycles.splits + cycles.targets, instructions.size());
    EXPECT_LE(cycles.total(), 40 * instructions.size());
    if (round % 3 == 0) state.branch();
    if (round % 5 == 0) state.rotate();
    state.simplify();
  }
}

TEST(Issue, RotationRenamesWhatIsInFlight) {
  std::vector<uint8_t> first, second;
  append_alone(first, "fma.d.s0 f40=f7,f8,f9", true);
  append_alone(second, "fma.d.s0 f50=f41,f8,f9", true);
  IssueState state;
  state.issue(read_all(first), false);
  IssueState rotated = state;
  rotated.rotate();
  EXPECT_EQ(state.issue(read_all(second), false).total(), 1u);
  EXPECT_EQ(rotated.issue(read_all(second), false).total(), 4u);
}

TEST(Issue, StackedRegistersAreForgotten) {
  for (const char* number : {"r14", "r40"}) {
    std::vector<uint8_t> first, second;
    append_alone(first, std::string("getf.sig ") + number + "=f6", true);
    append_alone(second, std::string("add r3=r4,") + number, true);
    IssueState state;
    state.issue(read_all(first), false);
    state.forget_stacked();
    EXPECT_EQ(state.issue(read_all(second), false).total(), std::string(number) == "r14" ? 5u : 1u);
  }
}

}  // namespace
}  // namespace respike::measure::itanium2
