// Tests which loads of gp are needless, that needless loads are dropped, and that a comparison
// accepts the loss of no other load. The oracle of random programs executes the programs.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "optimizer/analysis/needless_gp_loads.h"
#include "optimizer/analysis/plain_returns.h"
#include "optimizer/check/invariants.h"
#include "optimizer/check/same_program.h"
#include "optimizer/transform/gp_loads.h"
#include "tests/unit/analysis_testing.h"

namespace respike {
namespace {

DroppedGpLoads drop(Program& program) {
  std::optional<CallGraph> calls;
  return drop_gp_loads(program, calls);
}

/// Text of gp loads: at the entry of procedure `p`, and after the call at the end of p's block
/// `call`.
std::string entry_load(int p) {
  return fmt::format(
      "    ldah gp,0(t12) !gp_load_high!0({0}#0)\n    lda gp,0(gp) !gp_load_high!0({0}#0)\n", p);
}
std::string reload(int p, int call, int reference, const std::string& between = "") {
  const std::string mark = fmt::format("!gp_load_high!{}({}#{}@return)\n", reference, p, call);
  return "    ldah gp,0(ra) " + mark + between + "    lda gp,0(gp) " + mark;
}

/// A caller with `call` and a load after it, and `callees`, which are procedures 1 and up.
std::string caller(const std::string& callees, const std::string& call = "bsr ra,0 !branch!1(1#0)",
                   const std::string& between = "") {
  return "procedure 0 \"main\" gp=0x10000\n  block 0 entry\n" + entry_load(0) + "    " + call +
         "\n    -> 1 fall_through\n  block 1\n" +
         reload(0, 0, call.find('!') == std::string::npos ? 1 : 2, between) +
         "    mov v0,t0\n    ret\n" + callees;
}

size_t count(const std::string& text) {
  return find_needless_gp_loads(parse_alpha(text)).size();
}

/// The number of needless loads in a caller of procedure 1.
size_t count_behind(const std::string& body, const std::string& rest = "") {
  return count(caller("procedure 1 \"f\" gp=0x10000\n  block 0 entry\n" + body + rest));
}

const std::string kUnknownCall = "    jsr ra,(t12),0\n    -> 1 fall_through\n  block 1\n";

TEST(GpLoads, AreNeedlessBehindCalleesThatKeepGp) {
  EXPECT_EQ(count_behind("    ret\n"), 1u);
  EXPECT_EQ(count_behind("    ldq v0,8(gp)\n    ret\n"), 1u);
  EXPECT_EQ(count_behind(kUnknownCall + reload(1, 0, 0) + "    ret\n"), 1u);
  EXPECT_EQ(count_behind("    mov t0,gp\n" + kUnknownCall + reload(1, 0, 0) + "    ret\n"), 1u);
  EXPECT_EQ(count_behind("    halt\n"), 1u);  // the call never returns
  EXPECT_EQ(find_needless_gp_loads(parse_alpha(caller("procedure 1 \"f\" gp=0x10000\n"
                                                      "  block 0 entry\n    ret\n"))),
            (std::vector<GpLoad>{{0, 1, 0, 1, 2}}));
}

TEST(GpLoads, AreNeededBehindOthers) {
  EXPECT_EQ(count_behind(kUnknownCall + "    ret\n"), 0u);
  EXPECT_EQ(count_behind(kUnknownCall + "    ldq v0,8(gp)\n    ret\n"), 0u);  // proves nothing
  EXPECT_EQ(count_behind("    mov t0,gp\n    ret\n"), 0u);
  EXPECT_EQ(count_behind("    ldq gp,8(sp)\n    ret\n"), 0u);
  EXPECT_EQ(count_behind("    jmp (t12)\n"), 0u);
  EXPECT_EQ(count_behind("    br 0 !branch(0x5000)\n"), 0u);
  EXPECT_EQ(count(caller("procedure 1 \"f\" gp=0x20000\n  block 0 entry\n    ret\n")), 0u);
  EXPECT_EQ(count(caller("procedure 1 \"f\"\n  block 0 entry\n    ret\n")), 0u);
  EXPECT_EQ(count(caller("procedure 1 \"f\" gp=0x10000 opaque\n  block 0 entry\n    ret\n")), 0u);
  EXPECT_EQ(count(caller("", "jsr ra,(t12),0")), 0u);
}

TEST(GpLoads, CountAllThatACalleeCalls) {
  const std::string call = "    bsr ra,0 !branch(2#0)\n    -> 1 fall_through\n  block 1\n    ret\n";
  const auto second = [](const std::string& body, int gp = 1) {
    return fmt::format("procedure 2 \"g\" gp={:#x}\n  block 0 entry\n{}", gp * 0x10000, body);
  };
  EXPECT_EQ(count_behind(call, second("    ret\n")), 1u);
  EXPECT_EQ(count_behind(call, second(kUnknownCall + "    ret\n")), 0u);
  EXPECT_EQ(count_behind(call, second("    ret\n", 2)), 0u);
  EXPECT_EQ(count_behind(call, second("    br 0 !branch(0#0)\n")), 1u);  // recursion
  const std::string tail = "    br 0 !branch(2#0)\n";
  EXPECT_EQ(count_behind(tail, second("    ret\n")), 1u);
  EXPECT_EQ(count_behind(tail, second("    mov t0,gp\n    ret\n")), 0u);
  EXPECT_EQ(count_behind(tail, second("    ret\n", 2)), 0u);
}

TEST(GpLoads, AreNeededWhereTheReturnAddressGetsAround) {
  EXPECT_EQ(count_behind("    stq ra,0(a0)\n    ret\n"), 0u);  // setjmp
  EXPECT_EQ(count_behind("    mov ra,a0\n    ret\n"), 0u);
  EXPECT_EQ(count_behind("    stq ra,0(ra)\n    ret\n"), 0u);
  EXPECT_EQ(count_behind("    stq ra,0(sp)\n    ret\n"), 1u);
  EXPECT_EQ(count_behind("    ldq sp,0(a0)\n    ret\n"), 0u);  // another stack
  EXPECT_EQ(count_behind("    mov a0,sp\n    ret\n"), 0u);
  EXPECT_EQ(count_behind("    lda sp,-16(a0)\n    ret\n"), 0u);
  EXPECT_EQ(count_behind("    subq sp,t0,sp\n    ret\n"), 0u);
  EXPECT_EQ(count_behind("    lda sp,-16(sp)\n    ldah sp,1(sp)\n    ret\n"), 1u);
  EXPECT_EQ(count_behind("    br 0 !branch(2#0)\n",
                         "procedure 2 \"g\" gp=0x10000\n  block 0 entry\n    stq ra,0(a0)\n"
                         "    ret\n"),
            0u);
  // The return address is in the register that the call names.
  const std::string stores = "procedure 1 \"f\" gp=0x10000\n  block 0 entry\n    stq t9,0(a0)\n";
  EXPECT_EQ(count(caller(stores + "    ret\n")), 1u);
  const std::string divides =
      "procedure 1 \"f\" gp=0x10000\n  block 0 entry\n    {}\n    ret zero,(t9),1\n";
  const std::string call = "bsr t9,0 !branch!1(1#0)";
  EXPECT_EQ(count(caller(fmt::format(fmt::runtime(divides), "mov t0,t1"), call)), 1u);
  EXPECT_EQ(count(caller(fmt::format(fmt::runtime(divides), "stq t9,0(a0)"), call)), 0u);
  EXPECT_EQ(count(caller("procedure 1 \"f\" gp=0x10000\n  block 0 entry\n"
                         "    br 0 !branch(2#0)\n"
                         "procedure 2 \"g\" gp=0x10000\n  block 0 entry\n    stq t9,0(a0)\n"
                         "    ret zero,(t9),1\n",
                         call)),
            0u);
}

TEST(GpLoads, MayHaveOtherInstructionsBetween) {
  const std::string leaf = "procedure 1 \"f\" gp=0x10000\n  block 0 entry\n    ret\n";
  const std::string call = "bsr ra,0 !branch!1(1#0)";
  EXPECT_EQ(count(caller(leaf, call, "    mov v0,t1\n    stq t1,8(sp)\n")), 1u);
  EXPECT_EQ(count(caller(leaf, call, "    ldq t1,8(gp)\n")), 0u);
  EXPECT_EQ(count(caller(leaf, call, "    mov gp,t1\n")), 0u);
  EXPECT_EQ(count(caller(leaf, call,
                         "    beq v0,0\n    -> 1 taken\n    -> 2 fall_through\n"
                         "  block 2\n")),
            0u);
}

TEST(GpLoads, AreNeededAtEntries) {
  const std::string leaf = "procedure 1 \"f\" gp=0x10000\n  block 0 entry\n    ret\n";
  // Unknown code may call it, and it has no load at its entry.
  const std::string body =
      "procedure 0 \"main\" gp=0x10000\n  block 0 entry\n"
      "    bsr ra,0 !branch!0(1#0)\n    -> 1 fall_through\n  block 1\n" +
      reload(0, 0, 1) + "    ret\n" + leaf;
  EXPECT_EQ(count("code_pointer 0x100 address64 0#0\n" + body), 0u);
  // All callers have the right gp at the entry, but the load at the entry stays.
  const std::string known = "procedure 0 \"main\" gp=0x10000\n  block 0 entry\n" + entry_load(0) +
                            "    bsr ra,0 !branch!1(1#0)\n    -> 1 fall_through\n  block 1\n"
                            "    ret\nprocedure 1 \"f\" gp=0x10000\n  block 0 entry\n" +
                            entry_load(1) + "    ret\n";
  EXPECT_EQ(count(known), 0u);
}

TEST(GpLoads, AreNeededInLandingPads) {
  const std::string leaf = "procedure 1 \"f\" gp=0x10000\n  block 0 entry\n    ret\n";
  const auto main = [&](const std::string& pad) {
    return "lsda 0\nprocedure 0 \"main\" gp=0x10000\n  call_site 0 lsda=0 landing_pad=1\n"
           "  block 0 call_site=0 entry\n" +
           entry_load(0) + "    bsr ra,0 !branch!1(1#0)\n    -> 1 fall_through\n" + pad +
           reload(0, 0, 2) + "    mov v0,t0\n    ret\n" + leaf;
  };
  EXPECT_EQ(count(main("    -> 1 landing_pad\n  block 1 landing_pad\n")), 0u);
  EXPECT_EQ(count(main("  block 1 landing_pad\n")), 0u);  // any instruction may throw
}

TEST(GpLoads, AreNeededBehindLabelsThatGetAround) {
  const auto text = [](const std::string& forms) {
    return "code_pointer 0x100 address64 0#1\nprocedure 0 \"main\" gp=0x10000\n"
           "  block 0 entry\n" +
           entry_load(0) + forms +
           "    jmp (t0)\n    -> 1 indirect\n  block 1 address_taken\n"
           "    bsr ra,0 !branch(1#0)\n    -> 2 fall_through\n  block 2\n" +
           reload(0, 1, forms.empty() ? 2 : 3) +
           "    mov v0,t0\n    ret\nprocedure 1 \"f\" gp=0x10000\n  block 0 entry\n    ret\n";
  };
  EXPECT_EQ(count(text("")), 1u);  // a computed goto
  EXPECT_EQ(count(text("    ldah t1,0(gp) !gp_high!1(0#1)\n")), 0u);
}

TEST(GpLoads, AreNeededWherePathsDiffer) {
  const auto loop = [](const std::string& back, const std::string& more = "") {
    return "procedure 0 \"main\" gp=0x10000\n  block 0 entry\n" + entry_load(0) +
           "    -> 1 fall_through\n  block 1\n    bsr ra,0 !branch!1(1#0)\n"
           "    -> 2 fall_through\n  block 2\n" +
           reload(0, 1, 2) + "    mov v0,t0\n    beq v0,0\n    -> 3 fall_through\n" + back +
           "  block 3\n    ret\n" + more +
           "procedure 1 \"f\" gp=0x10000\n  block 0 entry\n    ret\n";
  };
  EXPECT_EQ(count(loop("    -> 1 taken\n")), 1u);
  const std::string spoils = "  block 4\n    jsr ra,(t12),0\n    -> 1 fall_through\n";
  EXPECT_EQ(count(loop("    -> 4 taken\n", spoils)), 0u);
  EXPECT_EQ(count(loop("    -> 1 taken\n", spoils)), 1u);  // no edge leads there
  const std::string dead =
      "  block 4\n    bsr ra,0 !branch!3(1#0)\n    -> 5 fall_through\n"
      "  block 5\n" +
      reload(0, 4, 4) + "    ret\n";
  EXPECT_EQ(count(loop("    -> 1 taken\n", dead)), 1u);
}

TEST(GpLoads, AreDroppedAndPutBack) {
  const std::string leaf = "procedure 1 \"f\" gp=0x10000\n  block 0 entry\n    ret\n";
  const std::string text = caller(leaf, "bsr ra,0 !branch!1(1#0)", "    mov a0,t1\n");
  Program program = parse_alpha(text);
  const DroppedGpLoads dropped = drop(program);
  EXPECT_EQ(dropped.loads.size(), 1u);
  EXPECT_EQ(program[0].blocks[1].instructions.size(), 3u);
  EXPECT_EQ(program[0].blocks[0].instructions.size(), 3u);
  EXPECT_EQ(find_violation(program), std::nullopt);
  EXPECT_TRUE(drop(program).loads.empty());
  const Program original = parse_alpha(text);
  EXPECT_EQ(find_difference(original, program), std::nullopt);
  EXPECT_NE(find_difference(program, original), std::nullopt);
  put_back(program, dropped);
  EXPECT_EQ(find_difference(program, original), std::nullopt);
  EXPECT_EQ(program[0].blocks[1].instructions.size(), 5u);
}

TEST(GpLoads, AreKeptWhereSomethingElseRestsOnThem) {
  const std::string leaf = "procedure 1 \"f\" gp=0x10000\n  block 0 entry\n    ret\n";
  const auto dropped = [&](const std::string& flags, const std::string& rest,
                           const std::string& state = "") {
    Program program = parse_alpha("procedure 0 \"main\" gp=0x10000 " + state +
                                  "\n  block 0 entry\n" + entry_load(0) +
                                  "    bsr ra,0 !branch!1(1#0)\n    -> 1 fall_through\n  block 1 " +
                                  flags + "\n" + reload(0, 0, 2) + rest + leaf);
    return drop(program).loads.size();
  };
  EXPECT_EQ(dropped("", "    mov t0,t1\n    ret\n"), 1u);
  EXPECT_EQ(dropped("address_taken", "    mov t0,t1\n    ret\n"), 0u);
  EXPECT_EQ(dropped("", "    mov t0,t1\n    ret\n", "pinned"), 0u);
  EXPECT_EQ(dropped("glued", "    mov t0,t1\n    -> 2 fall_through\n  block 2\n    ret\n"), 0u);
  EXPECT_EQ(dropped("", "    trapb\n    mov t0,t1\n    ret\n"), 0u);
  // Without the instructions the block would do nothing.
  EXPECT_EQ(dropped("", "    -> 2 fall_through\n  block 2\n    ret\n"), 0u);
  EXPECT_EQ(dropped("", "    unop\n    br 0\n    -> 2 taken\n  block 2\n    ret\n"), 0u);
}

// ---- comparison

/// The difference that the comparison finds between a program and itself without some lines of
/// procedure 0.
std::string difference_without(const std::string& text, const std::vector<std::string>& lines) {
  std::string less = text;
  for (const std::string& line : lines) {
    const size_t at = less.find(line, less.find("block 1"));
    EXPECT_NE(at, std::string::npos);
    less.replace(at, less.find('\n', at) - at, "unop");
  }
  return find_difference(parse_alpha(text), parse_alpha(less)).value_or("");
}

TEST(GpLoads, AreMissedByTheComparison) {
  const std::string leaf = "procedure 1 \"f\" gp=0x10000\n  block 0 entry\n    ret\n";
  const std::string fine = caller(leaf);
  EXPECT_EQ(difference_without(fine, {"ldah gp", "lda gp"}), "");
  EXPECT_NE(difference_without(fine, {"ldah gp"}), "");
  EXPECT_NE(difference_without(fine, {"lda gp"}), "");
  EXPECT_NE(difference_without(fine, {"ldah gp", "lda gp", "mov v0"}), "");
  const std::string between = caller(leaf, "bsr ra,0 !branch!1(1#0)", "    mov a0,t1\n");
  EXPECT_EQ(difference_without(between, {"ldah gp", "lda gp"}), "");
  EXPECT_NE(difference_without(between, {"ldah gp", "lda gp", "mov a0"}), "");
  EXPECT_NE(difference_without(between, {"ldah gp"}), "");
  for (const std::string& callee :
       {std::string("procedure 1 \"f\" gp=0x20000\n  block 0 entry\n    ret\n"),
        std::string("procedure 1 \"f\" gp=0x10000\n  block 0 entry\n    stq ra,0(a0)\n    ret\n"),
        "procedure 1 \"f\" gp=0x10000\n  block 0 entry\n" + kUnknownCall + "    ret\n"})
    EXPECT_NE(difference_without(caller(callee), {"ldah gp", "lda gp"}), "") << callee;
  EXPECT_NE(difference_without(caller("", "jsr ra,(t12),0"), {"ldah gp", "lda gp"}), "");
}

// ---- random programs

/// Makes the text of procedures with two gps, which call each other, call unknown code, and
/// sometimes pass unknown code a return address.
class Generator {
 public:
  explicit Generator(std::mt19937_64& random) : random_(random) {}

  std::string text() {
    const int procedures = 2 + pick(5);
    for (int p = 0; p < procedures; ++p) gps_.push_back(pick(5) == 0 ? 2 : 1);
    std::string result;
    for (int p = 0; p < procedures; ++p) result += procedure(p);
    for (int p = 0; p < procedures; ++p)
      if (loads_[p] && pick(3) == 0)
        result =
            fmt::format("code_pointer {:#x} address64 {}#0\n", 0x100 + 8 * (procedures - p), p) +
            result;
    return result;
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  std::string procedure(int p) {
    std::string body =
        fmt::format("procedure {0} \"p{0}\" gp={1:#x}\n  block 0 entry\n", p, 0x10000 * gps_[p]);
    references_ = 0;
    loads_.push_back(p == 0 || pick(2) == 0);
    if (loads_[p]) body += entry_load(p), references_ = 1;
    body += "    -> 1 fall_through\n";
    const int blocks = 3 + pick(5);
    int call = -1;  // the block before, if that is a call
    for (int b = 1; b < blocks; ++b) {
      body += fmt::format("  block {}\n", b);
      if (call >= 0 && pick(4) != 0) body += reload(p, call, references_++);
      body += "    mov t0,t1\n";
      if (pick(12) == 0) body += "    mov t0,gp\n";
      if (pick(12) == 0) body += "    stq ra,0(a0)\n";
      call = -1;
      body += b + 1 == blocks ? "    ret\n" : end(b, blocks, call);
    }
    return body;
  }

  std::string end(int b, int blocks, int& call) {
    const auto known = [&] { return pick(static_cast<int>(gps_.size())); };
    const std::string next = fmt::format("    -> {} fall_through\n", b + 1);
    switch (pick(12)) {
      case 0:
        return fmt::format("    beq v0,0\n{}    -> {} taken\n", next, 1 + pick(blocks - 1));
      case 1:
      case 2:
        return next;
      case 3:
        return "    ret\n";
      case 4:
        return fmt::format("    br 0 !branch!{}({}#0)\n", references_++, known());
      case 5:
        call = b;
        return "    jsr ra,(t12),0\n" + next;
      default:
        call = b;
        return fmt::format("    bsr ra,0 !branch!{}({}#0)\n", references_++, known()) + next;
    }
  }

  std::mt19937_64& random_;
  std::vector<int> gps_;
  std::vector<bool> loads_;
  int references_ = 0;
};

/// Executes a program; it knows only the value of gp. Unknown code changes gp, calls procedures
/// whose address is taken, and continues at return addresses that it got.
class Execution {
 public:
  Execution(const Program& program, std::mt19937_64& random) : program_(program), random_(random) {}

  /// The loads that changed the register, as (procedure, block, instruction).
  std::vector<GpLoad> changed;

  void run(ProcedureId start) {
    gp_ = kOther;
    frames_ = {{start, kNone, next_frame_++}};
    enter(start);
    for (int steps = 0; steps < 400 && !frames_.empty(); ++steps) block();
  }

 private:
  static constexpr uint64_t kOther = 1;
  struct Frame {
    ProcedureId caller;  // to return to, after the call at the end of the caller's block
    BlockId block;
    uint64_t id;
  };
  struct Leak {
    Frame frame;
    size_t depth;
    uint64_t below;  // the frame below
  };

  uint64_t pick(uint64_t n) { return random_() % n; }
  void enter(ProcedureId p) { at_ = {.procedure = p, .block = 0}; }

  void block() {
    const Procedure& procedure = program_[at_.procedure];
    const BasicBlock& b = procedure.blocks[at_.block];
    const uint32_t end = b.instructions.size();
    for (uint32_t i = 0; i < end; ++i) plain(procedure, b.instructions[i], i);
    const Instruction* last = end == 0 ? nullptr : &b.instructions.back();
    const ControlFlow flow =
        last == nullptr ? ControlFlow::none : program_.machine->facts(*last).flow;
    const auto callee = [&] { return procedure.references[last->immediate].target.procedure; };
    switch (flow) {
      case ControlFlow::none:
        return go(*b.edge(Edge::Kind::fall_through));
      case ControlFlow::conditional_branch:
        return go(b.successors[pick(2)]);
      case ControlFlow::call:
        if (frames_.size() > 30) return frames_.clear();
        frames_.push_back({at_.procedure, at_.block, next_frame_++});
        return enter(callee());
      case ControlFlow::branch:
        return enter(callee());
      case ControlFlow::indirect_call:
        frames_.push_back({at_.procedure, at_.block, next_frame_++});
        return unknown();
      default:
        return leave();
    }
  }

  void go(const Edge& edge) { at_.block = edge.target; }

  void plain(const Procedure& procedure, const Instruction& i, uint32_t index) {
    const std::string text = program_.machine->text.print(bare(i), 0);
    if (text.starts_with("ldah")) {
      before_ = gp_;
      gp_ = kOther + 1 + static_cast<uint64_t>(i.immediate);  // half a sum
      half_ = index;
    } else if (text.starts_with("lda")) {
      gp_ = *procedure.gp;
      if (gp_ != before_) changed.push_back({at_.procedure, at_.block, half_, index, i.immediate});
    } else if (text.find(",gp") != std::string::npos) {
      gp_ = kOther;
    } else if (text.starts_with("stq")) {
      leaks_.push_back({frames_.back(), frames_.size(),
                        frames_.size() < 2 ? 0 : frames_[frames_.size() - 2].id});
    }
  }
  static Instruction bare(Instruction i) {
    i.flags = 0;
    i.immediate = 0;
    return i;
  }

  /// Runs unknown code, whose frame is on top.
  void unknown() {
    gp_ = kOther;
    if (pick(3) == 0 && !leaks_.empty()) {  // longjmp
      const Leak& leak = leaks_[pick(leaks_.size())];
      const bool lives = leak.depth >= 2 && frames_.size() >= leak.depth &&
                         frames_[leak.depth - 2].id == leak.below;
      if (lives) {
        frames_.resize(leak.depth - 1);
        frames_.push_back(leak.frame);
        return leave();
      }
    }
    if (pick(3) == 0 && !program_.code_pointers.empty())
      return enter(program_.code_pointers[pick(program_.code_pointers.size())].target.procedure);
    leave();
    gp_ = kOther;
  }

  void leave() {
    const Frame frame = frames_.back();
    frames_.pop_back();
    if (frame.block == kNone) return frames_.clear();
    at_ = {.procedure = frame.caller, .block = frame.block};
    const BasicBlock& b = program_[frame.caller].blocks[frame.block];
    // Unknown code may have called, and changes gp when it returns.
    if (program_.machine->facts(b.instructions.back()).flow == ControlFlow::indirect_call)
      gp_ = kOther;
    go(*b.edge(Edge::Kind::fall_through));
  }

  const Program& program_;
  std::mt19937_64& random_;
  struct Place {
    ProcedureId procedure = 0;
    BlockId block = 0;
  } at_;
  uint64_t gp_ = kOther, before_ = 0, next_frame_ = 1;
  uint32_t half_ = 0;
  std::vector<Frame> frames_;
  std::vector<Leak> leaks_;
};

TEST(GpLoads, OfRandomProgramsChangeNothing) {
  std::mt19937_64 random(1);
  size_t needless = 0, changing = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::string text = Generator(random).text();
    const Program program = parse_alpha(text);
    ASSERT_EQ(find_violation(program), std::nullopt) << text;
    const std::vector<GpLoad> found = find_needless_gp_loads(program);
    needless += found.size();
    for (int walk = 0; walk < 20; ++walk) {
      Execution execution(program, random);
      const bool inside = !program.code_pointers.empty() && walk % 2 != 0;
      execution.run(inside ? program.code_pointers[0].target.procedure : 0);
      changing += execution.changed.size();
      for (const GpLoad& load : execution.changed)
        ASSERT_EQ(std::count(found.begin(), found.end(), load), 0)
            << text << "procedure " << load.procedure << ", block " << load.block;
    }
  }
  EXPECT_GT(needless, 500u);
  EXPECT_GT(changing, 500u);
}

std::vector<bool> reached_blocks(const Procedure& procedure) {
  std::vector<bool> reached(procedure.blocks.size());
  std::vector<BlockId> work = {0};
  while (!work.empty()) {
    const BlockId b = work.back();
    work.pop_back();
    if (reached[b]) continue;
    reached[b] = true;
    for (const Edge& edge : procedure.blocks[b].successors) work.push_back(edge.target);
  }
  return reached;
}

TEST(GpLoads, OfRandomProgramsAreMissedIfNeeded) {
  std::mt19937_64 random(2);
  size_t accepted = 0, refused = 0;
  for (int round = 0; round < 1000; ++round) {
    const std::string text = Generator(random).text();
    const Program before = parse_alpha(text);
    Program after = parse_alpha(text);
    const std::vector<GpLoad> found = find_needless_gp_loads(before);
    bool fine = true;
    for (ProcedureId p = 0; p < after.procedures.size(); ++p) {
      const std::vector<bool> reached = reached_blocks(after[p]);
      for (BlockId b = 1; b < after[p].blocks.size(); ++b) {
        auto& list = after[p].blocks[b].instructions;
        if (!reached[b] || !list[0].has_reference() || list.size() < 2) continue;
        if (!after.machine->fixups.is_upper_half(list[0]) || random() % 3 != 0) continue;
        fine &= std::count(found.begin(), found.end(), GpLoad{p, b, 0, 1, list[0].immediate}) != 0;
        list.erase(0);
        list.erase(0);
      }
    }
    EXPECT_EQ(!find_difference(before, after).has_value(), fine) << text;
    ++(fine ? accepted : refused);
  }
  EXPECT_GT(accepted, 50u);
  EXPECT_GT(refused, 50u);
}

}  // namespace
}  // namespace respike
