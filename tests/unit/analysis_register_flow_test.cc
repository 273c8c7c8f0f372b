// The interprocedural register dataflow: hand-written programs, and random programs, in which walks
// check that no register reported dead is ever needed.

#include "optimizer/analysis/register_flow.h"

#include <gtest/gtest.h>

#include "optimizer/analysis/register_flow_solver.h"
#include "tests/unit/analysis_testing.h"

namespace respike {
namespace {

struct Analysed {
  Program program;
  CallGraph calls;
  RegisterFlow flow;

  explicit Analysed(const std::string& text)
      : program(parse_alpha(text)), calls(program), flow(program, calls) {}

  std::string used(ProcedureId p) const { return names(flow.summary(p, 0).used); }
  std::string live(ProcedureId p, BlockId b, uint32_t i = 0) const {
    return names(flow.live_before(p, b, i));
  }
  bool is_live(std::string_view name, ProcedureId p, BlockId b, uint32_t i = 0) const {
    return flow.live_before(p, b, i).contains(reg(name));
  }
};

TEST(RegisterFlow, SummarizesProcedures) {
  const Analysed a(R"(
procedure 0 "main"
  block 0 entry
    mov t4,t5
    bsr ra,0 !branch(1#0)
    -> 1 fall_through
  block 1
    addq v0,t5,t6
    addq t6,t3,v0
    ret
procedure 1 "f"
  block 0 entry
    addq t0,t1,v0
    beq v0,0
    -> 1 fall_through
    -> 2 taken
  block 1
    mov t2,t3
    -> 2 fall_through
  block 2
    ret
)");
  EXPECT_EQ(a.used(1), "t0 t1 t2 ra");
  const RegisterSummary f = a.flow.summary(1, 0);
  EXPECT_TRUE(f.defined.contains(reg("v0")));
  EXPECT_FALSE(f.defined.contains(reg("t3")));  // on one path only
  EXPECT_EQ(names(f.killed), "v0 t3");
  // The call is known: t5 passes through it unchanged, and t3 may.
  EXPECT_TRUE(a.is_live("t5", 0, 0, 1));
  EXPECT_TRUE(a.is_live("t3", 0, 0, 1));
  EXPECT_FALSE(a.is_live("v0", 0, 0, 1));
  EXPECT_FALSE(a.is_live("t6", 0, 0, 1));
  // Registers that the caller needs are live in the callee; others are not.
  EXPECT_TRUE(a.is_live("t5", 1, 2));
  EXPECT_FALSE(a.is_live("t2", 1, 2));
  EXPECT_FALSE(a.is_live("a0", 1, 2));
}

TEST(RegisterFlow, ConvergesOverRecursion) {
  const Analysed a(R"(
procedure 0 "even"
  block 0 entry
    beq a0,0
    -> 1 fall_through
    -> 3 taken
  block 1
    bsr ra,0 !branch(1#0)
    -> 2 fall_through
  block 2
    mov t1,v0
    ret
  block 3
    ret
procedure 1 "odd"
  block 0 entry
    beq t7,0
    -> 1 fall_through
    -> 2 taken
  block 1
    mov t2,t1
    br 0 !branch(0#0)
  block 2
    mov t3,t1
    ret
)");
  EXPECT_EQ(a.used(0), "t2 t3 t7 a0 ra");
  EXPECT_EQ(a.used(1), "t2 t3 t7 a0 ra");
  EXPECT_FALSE(a.flow.summary(0, 0).defined.contains(reg("t1")));
  EXPECT_TRUE(a.flow.summary(1, 0).defined.contains(reg("t1")));
}

TEST(RegisterFlow, LetsWhatNeverReturnsDefineEverything) {
  const Analysed a(R"(
procedure 0 "f"
  block 0 entry
    beq a0,0
    -> 1 fall_through
    -> 2 taken
  block 1
    bsr ra,0 !branch(1#0)
  block 2
    mov t1,v0
    ret
procedure 1 "die" noreturn
  block 0 entry
    mov t2,a0
    halt
)");
  EXPECT_EQ(a.used(0), "t1 t2 a0 ra");
  EXPECT_EQ(a.live(0, 1), "t2 s0 s1 s2 s3 s4 s5 fp sp $f2 $f3 $f4 $f5 $f6 $f7 $f8 $f9 fpcr");
  EXPECT_EQ(a.live(1, 0, 1), "s0 s1 s2 s3 s4 s5 fp sp $f2 $f3 $f4 $f5 $f6 $f7 $f8 $f9 fpcr");
}

TEST(RegisterFlow, FollowsTheStandardWhereNothingIsKnown) {
  const Analysed a(R"(
procedure 0 "f"
  block 0 entry
    mov t0,t1
    jsr ra,(t12),0
    -> 1 fall_through
  block 1
    addq t2,s0,v0
    ret
)");
  // t2 is garbage after the call; t1 is computed and not read: the callee may read it.
  EXPECT_FALSE(a.is_live("t2", 0, 0));
  EXPECT_TRUE(a.is_live("t2", 0, 1));
  EXPECT_TRUE(a.is_live("t1", 0, 0, 1));
  EXPECT_TRUE(a.is_live("a5", 0, 0) && a.is_live("$f21", 0, 0) && a.is_live("t12", 0, 0));
  EXPECT_TRUE(a.is_live("s0", 0, 0));
  EXPECT_EQ(names(a.flow.live_at_exit(0)),
            "v0 s0 s1 s2 s3 s4 s5 fp gp sp $f0 $f1 $f2 $f3 $f4 $f5 $f6 $f7 $f8 $f9 fpcr");
}

TEST(RegisterFlow, BelievesResultsInOddRegisters) {
  // As in the routines for long doubles: the value is in a0 and a1, the return is an ordinary
  // return.
  const Analysed a(R"(
procedure 0 "odd"
  block 0 entry
    addq a2,a3,a0
    addq a0,a3,a1
    subq a0,a3,t0
    addq t0,a3,a0
    ret
)");
  EXPECT_TRUE(a.is_live("a0", 0, 0, 4));
  EXPECT_TRUE(a.is_live("a1", 0, 0, 4));
  EXPECT_FALSE(a.is_live("t0", 0, 0, 4));
}

TEST(RegisterFlow, AsksKnownCallersForResultsThatReturnToThem) {
  // The last instructions of an unwinder pass a0 to a landing pad, on a stack that they computed.
  const char* const kText = R"(
procedure 0 "caller"
  block 0 entry
    bsr ra,0 !branch(1#0)
    -> 1 fall_through
  block 1
    mov t0,a0
    br 0 !branch(0#1)
    -> 1 taken
procedure 1 "callee"
  block 0 entry
    ldq v0,0(a1)
    ldq a0,8(a1)
    LAST
procedure 2 "behind"
  block 0 entry
    ret
)";
  const auto with = [&](const std::string& last) {
    std::string text = kText;
    return Analysed(text.replace(text.find("LAST"), 4, last));
  };
  const Analysed plain = with("ret");
  EXPECT_FALSE(plain.is_live("v0", 1, 0, 2) || plain.is_live("a0", 1, 0, 2));
  const Analysed unwinder = with("addq sp,t5,sp\n    ret");
  EXPECT_TRUE(unwinder.is_live("v0", 1, 0, 2) && unwinder.is_live("a0", 1, 0, 2));
  EXPECT_TRUE(with("lda ra,8(t5)\n    ret").is_live("v0", 1, 0, 2));  // not the caller's place
  // The same if the procedure that is branched to returns elsewhere.
  const Analysed tail = with("br 0 !branch(2#0)");
  EXPECT_FALSE(tail.is_live("a0", 1, 0, 2));
  std::string text = kText;
  text.replace(text.find("LAST"), 4, "br 0 !branch(2#0)");
  text.replace(text.rfind("    ret"), 7, "    mov t5,sp\n    ret");
  EXPECT_TRUE(Analysed(text).is_live("a0", 1, 0, 2));
}

TEST(RegisterFlow, KnowsCallsWithRulesOfTheirOwn) {
  const Analysed a(R"(
procedure 0 "caller"
  block 0 entry
    mov t0,t10
    jsr t9,(t12),0
    -> 1 fall_through
  block 1
    mov t0,v0
    ret
procedure 1 "divide"
  block 0 entry
    addq t10,t11,t12
    ret zero,(t9),1
procedure 2 "knows"
  block 0 entry
    mov t0,t10
    bsr t9,0 !branch(1#0)
    -> 1 fall_through
  block 1
    mov t0,v0
    ret
code_pointer 0x100 address64 1#0
)");
  EXPECT_EQ(a.flow.live_before(0, 0, 1).count() + 1, alpha_machine().register_count);
  EXPECT_FALSE(a.is_live("t9", 0, 0, 1));
  EXPECT_EQ(a.flow.live_before(1, 0, 1).count(), alpha_machine().register_count);
  EXPECT_EQ(a.used(2), "t0 t11 ra");
  EXPECT_FALSE(a.is_live("t3", 2, 0));
}

TEST(RegisterFlow, KnowsTheEnvironmentOfClosures) {
  const char* const kText = R"(
procedure 0 "calls"
  block 0 entry
    mov a0,t0
    ldq t12,0(t0)
    jsr ra,(t12),0
    -> 1 fall_through
  block 1
    ret
procedure 1 "closure"
  block 0 entry
    ldq v0,8(t0)
    ret
)";
  const Analysed taken(std::string("code_pointer 0x100 address64 1#0") + kText);
  EXPECT_TRUE(taken.flow.unknown_uses().contains(reg("t0")));
  EXPECT_TRUE(taken.is_live("t0", 0, 0, 2));
  EXPECT_FALSE(taken.is_live("t1", 0, 0, 2));
}

TEST(RegisterFlow, TrustsNothingOpaque) {
  const Analysed a(R"(
procedure 0 "f"
  block 0 entry
    bsr ra,0 !branch(1#0)
    -> 1 fall_through
  block 1
    mov t3,v0
    ret
procedure 1 "dark" opaque
  block 0 entry
    bsr ra,0 !branch(2#0)
    -> 1 fall_through
  block 1
    ret
procedure 2 "g"
  block 0 entry
    ret
)");
  EXPECT_EQ(a.flow.live_before(0, 0, 0).count() + 1, alpha_machine().register_count);
  EXPECT_EQ(a.flow.live_before(1, 1, 0).count(), alpha_machine().register_count);
  EXPECT_EQ(a.flow.live_at_exit(2).count(), alpha_machine().register_count);
  EXPECT_EQ(a.calls.outside(2), CallGraph::Outside::anything);
}

// f saves s0 and ra; its callee changes s0 without saving in `bad`, and saves it in `good`.
const char* const kFrames = R"(
cie 0 augmentation="zR" return_register=26
state 0 cie=0 cfa=30+0
state 1 cie=0 cfa=30+32 9=offset:-24 26=offset:-32
procedure 0 "main"
  block 0 entry
    bsr ra,0 !branch(1#0)
    -> 1 fall_through
  block 1
    br 0 !branch(1#0)
procedure 1 "f"
  block 0 cfi=0 entry
    lda sp,-32(sp)
    stq ra,0(sp)
    stq s0,8(sp)
    .cfi_state 1
    mov a0,s0
    bsr ra,0 !branch(2#0)
    -> 1 fall_through
  block 1 cfi=1
    mov s0,v0
    -> 2 fall_through
  block 2 cfi=1
    ldq ra,0(sp)
    ldq s0,8(sp)
    lda sp,32(sp)
    .cfi_state 0
    ret
procedure 2 "g"
  block 0 entry
    mov t0,t1
    BODY
    ret
)";

std::string frames(const std::string& body) {
  std::string text = kFrames;
  return text.replace(text.find("BODY"), 4, body);
}

TEST(RegisterFlow, LeavesOutWhatIsSavedAndRestored) {
  const Analysed a(frames("mov t0,t2"));
  EXPECT_EQ(a.used(1), "t0 a0 ra sp");
  EXPECT_EQ(names(a.flow.summary(1, 0).killed), "v0 t1 t2 ra sp");
  EXPECT_TRUE(a.is_live("s0", 1, 0));  // its value has to be saved
  EXPECT_TRUE(a.is_live("v0", 1, 2) && !a.is_live("v0", 1, 1));
}

TEST(RegisterFlow, ButNotWhatACalleeReadsOrSpoils) {
  EXPECT_NE(Analysed(frames("mov s0,t2")).used(1).find("s0"), std::string::npos);
  EXPECT_NE(Analysed(frames("mov t0,s0")).used(1).find("s0"), std::string::npos);
}

TEST(RegisterFlow, KeepsWhatUnwindersNeed) {
  const Analysed a(frames("mov t0,t2"));
  // Unknown callers of f may need s1; f does not save s1, so s1 is live throughout.
  EXPECT_TRUE(a.is_live("s1", 1, 1));
  // After the saves, the frame holds s0 and ra, so the registers are free unless some code reads
  // them.
  EXPECT_FALSE(a.is_live("s0", 1, 1, 1));
  EXPECT_FALSE(a.is_live("ra", 1, 1));
  EXPECT_TRUE(a.is_live("sp", 1, 1));
}

TEST(RegisterFlow, CarriesWhatLandingPadsNeedThroughCalls) {
  const Analysed a(R"(
lsda 0
procedure 0 "f"
  call_site 0 lsda=0 landing_pad=2
  block 0 entry
    mov a0,s2
    mov a1,t1
    -> 1 fall_through
  block 1 call_site=0
    mov t2,t3
    bsr ra,0 !branch(1#0)
    -> 3 fall_through
    -> 2 landing_pad
  block 2 landing_pad
    addq s2,a0,v0
    addq v0,t1,v0
    ret
  block 3
    mov v0,t5
    ret
procedure 1 "throws"
  block 0 entry
    mov s1,s3
    mov t2,v0
    ret
)");
  EXPECT_TRUE(a.is_live("s2", 0, 1, 0));
  EXPECT_TRUE(a.is_live("s2", 0, 1, 1));
  EXPECT_FALSE(a.is_live("t1", 0, 1, 1));  // unwinding does not restore it
  EXPECT_FALSE(a.is_live("a0", 0, 1, 1));  // the unwinder sets it
  EXPECT_TRUE(a.is_live("s2", 1, 0, 1));   // throws must leave it alone
  EXPECT_EQ(names(a.flow.summary(0, 0).used), "t2 s1 a0 a1");
}

// Random programs.

class RandomProgram {
 public:
  explicit RandomProgram(Random& random) : random_(random) {
    const size_t procedures = 2 + random_() % 4;
    for (size_t p = 0; p < procedures; ++p) blocks_.push_back(2 + random_() % 5);
    for (size_t p = 0; p < procedures; ++p) procedure(p);
    if (random_() % 2 == 0)
      text_ =
          "code_pointer 0x100 address64 " + std::to_string(random_() % procedures) + "#0\n" + text_;
  }
  const std::string& text() const { return text_; }

 private:
  std::string name() {
    static const char* const kNames[] = {"v0", "t0", "t1", "t10", "s0", "s1", "a0", "ra", "gp"};
    return kNames[random_() % std::size(kNames)];
  }
  std::string place() {
    const size_t p = random_() % blocks_.size();
    const size_t block = random_() % 5 == 0 ? random_() % blocks_[p] : 0;
    return "!branch(" + std::to_string(p) + "#" + std::to_string(block) + ")\n";
  }
  void procedure(size_t p) {
    text_ += "procedure " + std::to_string(p) + " \"p" + std::to_string(p) + "\"\n";
    for (size_t b = 0; b < blocks_[p]; ++b) {
      text_ += "  block " + std::to_string(b) + (b == 0 ? " entry\n" : "\n");
      for (uint64_t i = random_() % 3; i > 0; --i)
        text_ += "    addq " + name() + "," + name() + "," + name() + "\n";
      end(p, b);
    }
  }
  void end(size_t p, size_t b) {
    const std::string next = "    -> " + std::to_string(b + 1) + " fall_through\n";
    const size_t kinds = b + 1 == blocks_[p] ? 3 : 8;
    switch (random_() % kinds) {
      case 0:
        text_ += random_() % 8 == 0 ? "    ret zero,(t9),1\n" : "    ret\n";
        return;
      case 1:
        text_ += "    br 0 " + place();
        return;
      case 2:
        text_ += random_() % 4 == 0 ? "    jmp (t12)\n" : "    ret\n";
        return;
      case 3:
        text_ += "    bis t0,t0,t0\n" + next;
        return;
      case 4:
        text_ += "    jsr ra,(t12),0\n" + next;
        return;
      case 5:
        text_ += "    beq " + name() + ",0\n    -> " + std::to_string(random_() % blocks_[p]) +
                 " taken\n" + next;
        return;
      default:
        text_ +=
            std::string("    bsr ") + (random_() % 6 == 0 ? "t9" : "ra") + ",0 " + place() + next;
        return;
    }
  }

  Random& random_;
  std::vector<size_t> blocks_;
  std::string text_;
};

/// One run through a program: the registers that it reads and writes, and the registers that the
/// analysis called dead on the way.
class Walk {
 public:
  Walk(const Program& program, const CallGraph& calls, const RegisterFlow& flow, Random& random)
      : program_(program), calls_(calls), flow_(flow), random_(random) {
    const Abi& abi = alpha_machine().abi;
    const Register gp = alpha_machine().gp->base;
    scratch_ = RegisterSet(std::span(abi.scratch));
    caller_reads_ = RegisterSet(std::span(abi.results)) | RegisterSet(std::span(abi.preserved));
    caller_reads_.add(gp);
    callee_reads_ = RegisterSet(std::span(abi.arguments));
    for (const Register r : {abi.stack_pointer, *abi.return_address, gp, *abi.procedure_value})
      callee_reads_.add(r);
  }

  /// Runs from a random place where unknown callers come in. False if a dead register was needed.
  bool run(int steps) {
    std::vector<std::pair<ProcedureId, BlockId>> starts;
    for (ProcedureId p = 0; p < program_.procedures.size(); ++p)
      for (const BlockId entry : calls_.outside_entries_of(p)) starts.emplace_back(p, entry);
    if (starts.empty()) return true;  // the procedures only call each other
    std::tie(p_, b_) = starts[random_() % starts.size()];
    while (steps-- > 0 && step()) {
    }
    return check();
  }

 private:
  struct Event {
    enum { read, write, point } kind;
    RegisterSet set;  // point: dead
  };
  struct Frame {
    ProcedureId p;
    BlockId b;
    bool unknown;  // an unknown call called it
  };

  void note(decltype(Event::read) kind, const RegisterSet& set) { events_.push_back({kind, set}); }

  bool step() {
    const BasicBlock& block = program_[p_].blocks[b_];
    const auto live = flow_.live_points(p_, b_);
    const RegisterSet all = RegisterSet::first(alpha_machine().register_count);
    EXPECT_EQ(flow_.live_in(p_, b_), live[0]);
    for (uint32_t i = 0; i < block.instructions.size(); ++i) {
      EXPECT_EQ(flow_.live_before(p_, b_, i), live[i]);
      note(Event::point, all - live[i]);
      const Operands operands = alpha_machine().operands(block.instructions[i]);
      note(Event::read, uses_of(operands));
      note(Event::write, defs_of(operands));
    }
    note(Event::point, all - live.back());
    const auto calls = calls_.calls_of(p_);
    const auto call =
        std::find_if(calls.begin(), calls.end(), [&](const Call& c) { return c.block == b_; });
    const Edge* next = block.edge(Edge::Kind::fall_through);
    if (call != calls.end() && call->kind == Call::Kind::call) {
      stack_.push_back({p_, next->target, !call->known()});
      return enter(*call);
    }
    if (call != calls.end()) {
      if (!call->known()) stack_.push_back({kNone, 0, true});
      return enter(*call);
    }
    if (alpha_machine().facts(block.instructions.back()).flow == ControlFlow::return_jump)
      return leave();
    b_ = block.successors[random_() % block.successors.size()].target;
    return true;
  }

  bool enter(const Call& call) {
    if (call.known()) {
      p_ = call.callee;
      b_ = call.entry;
      return true;
    }
    // A procedure whose address is known, or a procedure outside of the image.
    std::vector<std::pair<ProcedureId, BlockId>> callees;
    for (ProcedureId p = 0; p < program_.procedures.size(); ++p)
      for (const BlockId entry : calls_.outside_entries_of(p))
        if (is_standard(p)) callees.emplace_back(p, entry);
    if (!callees.empty() && random_() % 2 == 0) {
      std::tie(p_, b_) = callees[random_() % callees.size()];
      return true;
    }
    note(Event::read, callee_reads_);
    return leave();
  }

  /// No path from the procedure leads to a return through another register than the standard's.
  bool is_standard(ProcedureId p) const {
    std::vector<bool> seen(program_.procedures.size());
    std::vector<ProcedureId> work = {p};
    while (!work.empty()) {
      const ProcedureId q = work.back();
      work.pop_back();
      if (seen[q]) continue;
      seen[q] = true;
      for (const BasicBlock& block : program_[q].blocks)
        if (returns_oddly(block)) return false;
      for (const Call& call : calls_.calls_of(q))
        if (call.known() && call.kind == Call::Kind::tail) work.push_back(call.callee);
    }
    return true;
  }

  static bool returns_oddly(const BasicBlock& block) {
    const Instruction& last = block.instructions.back();
    return alpha_machine().facts(last).flow == ControlFlow::return_jump &&
           !uses_of(alpha_machine().operands(last)).contains(reg("ra"));
  }

  bool leave() {
    // A tail call of an unknown procedure leaves a frame that cannot be returned to.
    while (!stack_.empty() && stack_.back().p == kNone) {
      note(Event::write, behind_unknown_call());
      stack_.pop_back();
    }
    if (stack_.empty()) {
      note(Event::read, caller_reads_);
      return false;
    }
    const Frame frame = stack_.back();
    stack_.pop_back();
    if (frame.unknown) note(Event::write, behind_unknown_call());
    p_ = frame.p;
    b_ = frame.b;
    return true;
  }

  /// Registers that a caller does not expect to be unchanged.
  RegisterSet behind_unknown_call() const {
    RegisterSet changed = scratch_;
    changed.remove(reg("gp"));
    return changed;
  }

  bool check() const {
    RegisterSet needed;
    for (size_t i = events_.size(); i-- > 0;) {
      const Event& event = events_[i];
      if (event.kind == Event::read) needed |= event.set;
      if (event.kind == Event::write) needed -= event.set;
      if (event.kind != Event::point) continue;
      const RegisterSet wrong = needed & event.set;
      if (wrong.empty()) continue;
      ADD_FAILURE() << "reported dead, but needed: " << names(wrong);
      return false;
    }
    return true;
  }

  const Program& program_;
  const CallGraph& calls_;
  const RegisterFlow& flow_;
  Random& random_;
  RegisterSet scratch_, caller_reads_, callee_reads_;
  ProcedureId p_ = 0;
  BlockId b_ = 0;
  std::vector<Frame> stack_;
  std::vector<Event> events_;
};

TEST(RegisterFlow, NeverCallsDeadWhatARunNeeds) {
  Random random(2026);
  size_t dead = 0;
  for (int round = 0; round < 1500; ++round) {
    const RandomProgram source(random);
    const Analysed a(source.text());
    for (int walk = 0; walk < 20; ++walk)
      if (!Walk(a.program, a.calls, a.flow, random).run(60)) {
        std::printf("%s", source.text().c_str());
        return;
      }
    for (const char* name : {"t0", "t1", "s0", "a0"}) dead += a.is_live(name, 0, 0) ? 0 : 1;
  }
  EXPECT_GT(dead, 1000u);  // the analysis does not call everything live
}

TEST(RegisterFlow, UpdatesProcedures) {
  Random random(2027);
  size_t same = 0, points = 0;
  for (int round = 0; round < 500; ++round) {
    const RandomProgram source(random);
    const Analysed before(source.text());
    Analysed a(source.text());
    for (ProcedureId p = 0; p < a.program.procedures.size(); ++p)
      if (random() % 2 == 0) {
        a.calls.update(a.program, p);
        a.flow.update(p);
      }
    for (ProcedureId p = 0; p < a.program.procedures.size(); ++p)
      for (BlockId b = 0; b < a.program[p].blocks.size(); ++b) {
        const auto old = before.flow.live_points(p, b), now = a.flow.live_points(p, b);
        ASSERT_EQ(old.size(), now.size());
        for (size_t i = 0; i < old.size(); ++i) {
          ASSERT_TRUE(old[i].includes(now[i])) << source.text();
          same += old[i] == now[i] ? 1 : 0;
          ++points;
        }
      }
    for (int walk = 0; walk < 20; ++walk)
      ASSERT_TRUE(Walk(a.program, a.calls, a.flow, random).run(60)) << source.text();
  }
  EXPECT_GT(same, points * 99 / 100);
}

TEST(RegisterFlow, UpdatesLeaveWhatCallersKnow) {
  const std::string caller = R"(
procedure 0 "main"
  block 0 entry
    bsr ra,0 !branch(1#0)
    -> 1 fall_through
  block 1
    ret
procedure 1 "f"
  block 0 entry
)";
  const std::string rest = "    ret\n";
  Analysed a(caller + "    addq a0,t0,v0\n" + rest);
  const RegisterSummary before = a.flow.summary(1, 0);
  // The procedure now computes in t7, which no caller expects to be kept.
  const Program other = parse_alpha(caller + "    addq a0,t0,t7\n    mov t7,v0\n" + rest);
  BasicBlock& block = a.program[1].blocks[0];
  std::vector<Instruction> instructions(other[1].blocks[0].instructions.begin(),
                                        other[1].blocks[0].instructions.end());
  block.instructions.assign(*a.program.arena, instructions);
  a.calls.update(a.program, 1);
  a.flow.update(1);
  const RegisterSummary after = a.flow.summary(1, 0);
  EXPECT_EQ(names(after.used), names(before.used));
  EXPECT_EQ(names(after.defined), names(before.defined));
  EXPECT_EQ(names(after.killed), names(before.killed));
  EXPECT_TRUE(after.killed.includes(after.defined));  // a defined register is also killed
  EXPECT_TRUE(a.is_live("t7", 1, 0, 1));
  EXPECT_FALSE(a.is_live("t7", 1, 0, 0));
}

TEST(RegisterFlow, IsTheSameForLargerSets) {
  Random random(64);
  for (int round = 0; round < 200; ++round) {
    const Program program = parse_alpha(RandomProgram(random).text());
    const CallGraph calls(program);
    const RegisterFlowSolver<1> small(program, calls);
    const RegisterFlowSolver<6> large(program, calls);
    for (ProcedureId p = 0; p < program.procedures.size(); ++p)
      for (BlockId b = 0; b < program[p].blocks.size(); ++b)
        EXPECT_EQ(small.live_points(p, b), large.live_points(p, b));
  }
}

}  // namespace
}  // namespace respike
