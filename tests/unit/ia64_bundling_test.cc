// Packing of instructions into bundles: compared with a search of all packings, and with the
// properties that a packing must preserve.

#include "optimizer/machine/ia64/bundling.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "optimizer/machine/ia64/codec.h"
#include "optimizer/machine/ia64/meaning.h"
#include "optimizer/machine/ia64/text.h"

namespace respike::ia64 {
namespace {

/// Parses one instruction a line; `;;` at the end is a stop after the instruction.
std::vector<Instruction> list(const std::vector<std::string>& lines) {
  std::vector<Instruction> code;
  for (const std::string& line : lines) {
    const bool stop = line.ends_with(";;");
    const auto parsed = parse(line.substr(0, line.size() - (stop ? 2 : 0)), 0);
    if (encoding_of(parsed.instruction).type() == 'X') code.push_back(parsed.high);
    code.push_back(parsed.instruction);
    set_stop(code.back(), stop);
  }
  return code;
}

std::string templates_of(const Bundled& bundled) {
  std::string names;
  for (size_t i = 0; i < bundled.slots.size(); i += 3) {
    Unit units[3];
    bool stops[3];
    for (size_t slot = 0; slot < 3; ++slot) {
      units[slot] = unit(bundled.slots[i + slot]);
      stops[slot] = has_stop(bundled.slots[i + slot]);
    }
    const auto found = find_template(units, stops);
    names += (i == 0 ? "" : " ") + (found ? std::string(kTemplates[*found].name) : "none");
    for (size_t slot = 0; found && slot < 3; ++slot)
      if (stops[slot]) names += fmt::format(";{}", slot);
  }
  return names;
}

std::string packed(const std::vector<std::string>& lines) {
  return templates_of(bundle(list(lines)));
}

TEST(Ia64Bundling, FillsBundles) {
  EXPECT_EQ(packed({"add r14=r2,r3", "add r15=r2,r3", "add r16=r2,r3"}), "MMI;2");
  EXPECT_EQ(packed({"add r14=r2,r3;;", "add r15=r14,r3;;", "add r16=r15,r3"}), "MMI;2 MMI;0;2");
  EXPECT_EQ(packed({"ld8 r14=[r2]", "fma.d.s0 f8=f9,f10,f11", "br.cond.sptk.few 0"}), "MFB;2");
  EXPECT_EQ(packed({"shl r14=r2,r3", "shl r15=r2,r3;;", "shl r16=r14,r3"}), "MMI MII;1;2");
  EXPECT_EQ(packed({"shl r14=r2,r3;;", "shl r15=r14,r3"}), "MII;1;2");
  EXPECT_EQ(packed({"add r14=r2,r3", "movl r15=0x123456789a"}), "MLX;2");
  EXPECT_EQ(packed({"movl r15=0x123456789a;;", "movl r16=0x123456789a"}), "MLX;2 MLX;2");
}

/// Of the packings with the fewest bundles, the packing that issues in the fewest cycles is chosen.
TEST(Ia64Bundling, SparesPorts) {
  // Two I ports a cycle: no-ops go to other units.
  EXPECT_EQ(packed({"ld8 r14=[r2]", "shl r15=r2,r3", "ld8 r16=[r4]", "shl r17=r2,r3"}),
            "MMI MMI;2");
  // Two bundles a cycle: the second group does not begin in the last slot of the first.
  EXPECT_EQ(packed({"ld8 r14=[r2]", "shl r15=r2,r3;;", "add r16=r4,r5", "ld8 r17=[r6]",
                    "ld8 r18=[r7]", "ld8 r19=[r8]", "add r20=r4,r5"}),
            "MMI;2 MMF MMI;2");
}

TEST(Ia64Bundling, LeavesOutNoOps) {
  EXPECT_EQ(packed({"nop.m 0", "nop.i 0", "nop.i 0"}), "");
  EXPECT_EQ(packed({"nop.m 0;;", "add r14=r2,r3", "nop.i 0;;", "nop.x 0x0", "add r15=r14,r3"}),
            "MMI;0;2");
}

TEST(Ia64Bundling, LoopBranchesAreLast) {
  EXPECT_EQ(packed({"br.cloop.sptk.few 0"}), "MIB;2");
  EXPECT_EQ(packed({"(p6) br.cond.sptk.few 0", "br.cond.sptk.few 0"}), "MBB;2");
  EXPECT_EQ(packed({"(p6) br.cond.sptk.few 0", "br.cloop.sptk.few 0"}), "MBB;2");
  EXPECT_EQ(packed({"br.cond.sptk.few 0"}), "MIB;2");
}

TEST(Ia64Bundling, TellsPlaces) {
  const auto code =
      list({"nop.m 0", "shl r14=r2,r3;;", "nop.i 0", "movl r15=0x123456789a", "nop.i 0"});
  ASSERT_EQ(code.size(), 6u);
  EXPECT_EQ(bundle(code).places, (std::vector<uint32_t>{2, 2, 17, 17, 18, 32}));
}

// ---- against a search ----

/// The fewest bundles for code[from..], by trying every template with every choice of slots.
class Search {
 public:
  explicit Search(const std::vector<Instruction>& code) {
    for (const Instruction& instruction : code)
      if (is_nop(instruction)) {
        if (has_stop(instruction) && !items_.empty()) set_stop(items_.back(), true);
      } else {
        items_.push_back(instruction);
      }
  }
  size_t fewest() { return fewest(0); }

 private:
  size_t fewest(size_t from) {
    if (from == items_.size()) return 0;
    if (const auto known = known_.find(from); known != known_.end()) return known->second;
    size_t best = items_.size() * 2;
    for (const Template& shape : kTemplates) {
      if (shape.units[0] == Unit::none) continue;
      for (unsigned chosen = 1; chosen < 8; ++chosen)
        if (const size_t taken = take(shape, chosen, from))
          best = std::min(best, 1 + fewest(from + taken));
    }
    return known_[from] = best;
  }

  /// The number of items that fit into the chosen slots; 0 if they do not fit, or a stop is
  /// missing.
  size_t take(const Template& shape, unsigned chosen, size_t from) const {
    size_t item = from;
    bool missing = false;  // a stop after the last item
    for (int slot = 0; slot < 3; ++slot) {
      if ((chosen >> slot & 1) != 0) {
        if (missing || item == items_.size()) return 0;
        const Op op = op_of(items_[item]);
        if (!fits_unit(op, shape.units[slot])) return 0;
        if (op == Op::br_cloop && slot != 2) return 0;
        missing = has_stop(items_[item++]);
      } else if (shape.units[slot] == Unit::l || shape.units[slot] == Unit::x) {
        return 0;
      }
      if (shape.stops[slot]) missing = false;
    }
    return missing ? 0 : item - from;
  }

  std::vector<Instruction> items_;
  std::map<size_t, size_t> known_;
};

void check_random_code(unsigned seed) {
  const std::vector<std::string> kinds = {"add r14=r2,r3",
                                          "ld8 r15=[r2]",
                                          "shl r16=r2,r3",
                                          "fma.d.s0 f8=f9,f10,f11",
                                          "nop.m 0",
                                          "(p6) br.cond.sptk.few 0",
                                          "br.cloop.sptk.few 0",
                                          "movl r17=0x123456789a"};
  std::mt19937 random(seed);
  std::vector<std::string> lines;
  for (size_t i = 0, count = random() % 25; i < count; ++i)
    lines.push_back(kinds[random() % kinds.size()] + (random() % 3 == 0 ? ";;" : ""));
  const std::vector<Instruction> code = list(lines);
  const Bundled bundled = bundle(code);
  EXPECT_EQ(bundled.slots.size() / 3, Search(code).fewest());
  EXPECT_EQ(bundled.slots.size() / 3, bundle_count(code));

  std::vector<Instruction> kept;
  std::vector<uint32_t> places;
  for (size_t i = 0; i < code.size(); ++i)
    if (!is_nop(code[i])) {
      kept.push_back(code[i]);
      places.push_back(bundled.places[i]);
    } else if (has_stop(code[i]) && !kept.empty()) {
      set_stop(kept.back(), true);
    }
  EXPECT_TRUE(std::ranges::is_sorted(places));
  size_t next = 0;
  bool missing = false;  // a stop after the last instruction
  for (size_t i = 0; i < bundled.slots.size(); ++i) {
    uint8_t bytes[kBundleSize];
    EXPECT_TRUE(i % 3 != 0 || encode_bundle(&bundled.slots[i], bytes));
    if (!is_nop(bundled.slots[i])) {
      EXPECT_FALSE(missing);
      ASSERT_LT(next, kept.size());
      EXPECT_EQ(bundled.slots[i].opcode, kept[next].opcode);
      EXPECT_EQ(bundled.slots[i].predicate, kept[next].predicate);
      EXPECT_EQ(places[next], i / 3 * kBundleSize + i % 3);
      missing = has_stop(kept[next++]);
    }
    if (has_stop(bundled.slots[i])) missing = false;
  }
  EXPECT_EQ(next, kept.size());
  EXPECT_TRUE(bundled.slots.empty() || has_stop(bundled.slots.back()));
}

TEST(Ia64Bundling, TakesTheFewestBundles) {
  for (unsigned seed = 0; seed < 2000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    check_random_code(seed);
  }
}

}  // namespace
}  // namespace respike::ia64
