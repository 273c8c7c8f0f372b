// Tests Alpha's probes alone: each probe is encoded, decoded, and run by a machine.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "optimizer/machine/probes.h"
#include "tests/unit/alpha_machine.h"

namespace respike {
namespace {

constexpr uint64_t kCode = 0x120000000, kCounter = 0x140012348, kStack = 0x11ff00000;
constexpr Register kGp = 29, kSp = 30;

const Probes& probes() {
  return *alpha_machine().probes;
}

/// The value of gp relative to the counter: not known, near, and far in both directions.
const std::vector<std::optional<uint64_t>> kGps = {
    std::nullopt,           kCounter,
    kCounter - 0x7ff8,      kCounter + 0x8000,
    kCounter - 0x8000,      kCounter + 0x8008,
    kCounter + 0x12345670,  kCounter - 0x12345670,
    kCounter - 0x7fff'7ff8, kCounter - 0x7fff'8000,
    kCounter + 0x8000'0000, kCounter + 0x1'0000'0000,
};

/// The code with its references resolved for its address.
std::vector<Instruction> placed(const ProbeCode& code, uint64_t place) {
  std::vector<Instruction> result = code.code;
  result.insert(result.end(), code.retry.begin(), code.retry.end());
  for (size_t i = 0; i < result.size(); ++i) {
    if (!result[i].has_reference()) continue;
    const Reference& reference = code.references[static_cast<size_t>(result[i].immediate)];
    EXPECT_TRUE(alpha_machine().fixups.apply(result[i], reference.kind, place + 4 * i,
                                             reference.target.address, 0));
  }
  if (!code.retry.empty())  // the last instruction branches to the first
    result.back().immediate = -4 * static_cast<int32_t>(code.retry.size() - 1);
  return result;
}

/// A machine whose registers hold random values, except for gp and sp.
AlphaMachine machine(uint64_t seed, std::optional<uint64_t> gp) {
  AlphaMachine result;
  std::mt19937_64 random(seed);
  for (uint64_t& r : result.registers) r = random();
  result.registers[31] = 0;
  result.registers[kSp] = kStack;
  if (gp) result.registers[kGp] = *gp;
  return result;
}

void expect_kept(const AlphaMachine& before, const AlphaMachine& after,
                 std::span<const Register> changed) {
  for (Register r = 0; r < 31; ++r) {
    if (std::find(changed.begin(), changed.end(), r) != changed.end()) continue;
    EXPECT_EQ(after.registers[r], before.registers[r]) << "register " << r;
  }
}

TEST(AlphaProbes, CountInPlace) {
  for (const ProbeKind kind : {ProbeKind::count, ProbeKind::count_atomic})
    for (const auto& gp : kGps)
      for (int failures = 0; failures < (kind == ProbeKind::count ? 1 : 3); ++failures) {
        const Register free[] = {22, 5};
        ASSERT_EQ(probes().registers(kind, true, false), std::size(free));
        const ProbeCode code = probes().probe(kind, {.counter = kCounter, .gp = gp, .free = free});
        EXPECT_EQ(code.retry.empty(), kind == ProbeKind::count);
        AlphaMachine m = machine(1, gp);
        const AlphaMachine before = m;
        m.memory[kCounter] = 41;
        m.failures = failures;
        const auto instructions = placed(code, kCode);
        m.load(kCode, instructions);
        ASSERT_TRUE(m.run(kCode));
        EXPECT_EQ(m.pc, kCode + 4 * instructions.size());
        EXPECT_EQ(m.memory, (std::map<uint64_t, uint64_t>{{kCounter, 42}}));
        expect_kept(before, m, free);
      }
}

TEST(AlphaProbes, RetriesAreNothingButTheLoop) {
  const Register free[] = {1, 2};
  const Machine& machine = alpha_machine();
  const auto check = [&](const std::vector<Instruction>& retry) {
    ASSERT_EQ(retry.size(), 4u);
    EXPECT_EQ(machine.facts(retry[0]).role, SequenceRole::reservation_begin);
    EXPECT_EQ(machine.facts(retry[1]).role, SequenceRole::none);
    EXPECT_EQ(machine.facts(retry[2]).role, SequenceRole::reservation_end);
    EXPECT_EQ(machine.facts(retry[3]).flow, ControlFlow::conditional_branch);
  };
  check(
      probes().probe(ProbeKind::count_atomic, {.counter = kCounter, .gp = {}, .free = free}).retry);
  const Register more[] = {1, 2, 3};
  check(probes()
            .routine(ProbeKind::count_atomic, {.counter = kCounter, .gp = {}, .free = more})
            .retry);
}

TEST(AlphaProbes, RecordTargets) {
  const Register free[] = {22, 5, 9};
  for (const auto& gp : kGps) {
    AlphaMachine m = machine(2, gp);
    const Register target = 27;
    const Instruction jump = alpha_machine().text.parse("jmp (t12)", 0);
    const ProbeCode code = probes().probe(
        ProbeKind::record_target,
        {.counter = kCounter, .gp = gp, .free = free, .jump = {.instruction = &jump, .bytes = {}}});
    m.load(kCode, placed(code, kCode));
    // The second word counts changes of the first word.
    uint64_t changes = 0, last = 0;
    for (const uint64_t to : {0x120000040ull, 0x120000040ull, 0x120000080ull, 0x120000040ull}) {
      m.registers[target] = to;
      const AlphaMachine before = m;
      ASSERT_TRUE(m.run(kCode));
      changes += to != last;
      last = to;
      EXPECT_EQ(m.memory,
                (std::map<uint64_t, uint64_t>{{kCounter, last}, {kCounter + 8, changes}}));
      expect_kept(before, m, free);
    }
  }
}

TEST(AlphaProbes, RoutinesCountInTheirWindow) {
  const Register shared[] = {22, 23, 24};
  constexpr uint64_t kRoutine = kCode + 0x4000;
  for (const ProbeKind kind : {ProbeKind::count, ProbeKind::count_atomic})
    for (const auto& gp : kGps) {
      const Probes::Routine routine =
          probes().routine(kind, {.counter = kCounter, .gp = gp, .free = shared});
      auto code = placed(routine, kRoutine);
      code.insert(code.end(), routine.after.begin(), routine.after.end());
      for (const uint32_t number : {0u, 1u, 32767u, 32768u, Probes::kRoutineCounters - 1}) {
        auto call = probes().routine_call(number, shared);
        ASSERT_TRUE(alpha_machine().fixups.apply(call.back(), ReferenceKind::branch,
                                                 kCode + 4 * (call.size() - 1), kRoutine, 0));
        AlphaMachine m = machine(3, gp);
        const AlphaMachine before = m;
        m.load(kCode, call);
        m.load(kRoutine, code);
        m.failures = 1;
        ASSERT_TRUE(m.run(kCode));
        EXPECT_EQ(m.pc, kCode + 4 * call.size());
        EXPECT_EQ(m.memory, (std::map<uint64_t, uint64_t>{{kCounter + 8 * number, 1}}));
        expect_kept(before, m, shared);
      }
    }
}

/// Counters of Windows NT, found through words of the image, at any address.
class AlphaWindowsProbes : public testing::Test {
 protected:
  static constexpr uint64_t kWords = 0x480000, kImageCounters = 0x482000, kView = 0x40012000;

  const Probes& probes() const { return *alpha_windows_machine().probes; }

  /// A machine whose words lead to kView.
  AlphaMachine machine_with_words() const {
    AlphaMachine m = machine(5, std::nullopt);
    for (uint64_t i = 0; i < probes().bases_of(8 * kCounters); ++i)
      m.memory[(kWords + 4 * i) & ~uint64_t{7}] |= (kView + i * probes().base_distance())
                                                   << 8 * (4 * i & 7);
    return m;
  }

  static constexpr uint64_t kCounters = 20000;
  const CounterBases bases_{kWords, kImageCounters};
};

TEST_F(AlphaWindowsProbes, CountAndRecord) {
  const Register free[] = {22, 5, 9};
  const Instruction jump = alpha_machine().text.parse("jmp (t12)", 0);
  for (const ProbeKind kind : {ProbeKind::count, ProbeKind::count_atomic, ProbeKind::record_target})
    for (const uint64_t number :
         {0ull, 1ull, 2047ull, 2048ull, 4095ull, 4096ull, 8191ull, 19998ull}) {
      const ProbeCode code = probes().probe(kind, {.counter = kImageCounters + 8 * number,
                                                   .gp = {},
                                                   .bases = bases_,
                                                   .free = free,
                                                   .jump = {.instruction = &jump, .bytes = {}}});
      AlphaMachine m = machine_with_words();
      AlphaMachine expected = m;
      const bool count = kind != ProbeKind::record_target;
      expected.memory[kView + 8 * number] = count ? 1 : m.registers[27];
      if (!count) expected.memory[kView + 8 * number + 8] = 1;
      m.load(0x402000, placed(code, 0x402000));
      ASSERT_TRUE(m.run(0x402000));
      EXPECT_EQ(m.memory, expected.memory) << number;
      expect_kept(expected, m, free);
    }
}

TEST_F(AlphaWindowsProbes, RoutinesCount) {
  const Register shared[] = {22, 23, 24};
  constexpr uint64_t kRoutine = 0x404000, kCall = 0x402000;
  const Probes::Routine routine = probes().routine(
      ProbeKind::count, {.counter = kImageCounters, .gp = {}, .bases = bases_, .free = shared});
  auto code = placed(routine, kRoutine);
  code.insert(code.end(), routine.after.begin(), routine.after.end());
  for (const uint32_t number : {0u, 1u, 19999u}) {
    auto call = probes().routine_call(number, shared);
    ASSERT_TRUE(alpha_machine().fixups.apply(call.back(), ReferenceKind::branch,
                                             kCall + 4 * (call.size() - 1), kRoutine, 0));
    AlphaMachine m = machine_with_words();
    auto expected = m.memory;
    expected[kView + 8 * number] = 1;
    m.load(kCall, call);
    m.load(kRoutine, code);
    ASSERT_TRUE(m.run(kCall));
    EXPECT_EQ(m.memory, expected) << number;
  }
}

TEST(AlphaProbes, SavedRegistersComeBack) {
  for (const std::vector<Register>& saved :
       {std::vector<Register>{4}, {4, 28}, {26, 27, 28}, {0, 1, 2}}) {
    std::vector<Instruction> code = probes().save(saved, false);
    for (const Register r : saved)
      code.push_back(
          alpha_machine().text.parse("lda " + alpha_machine().text.register_name(r) + ",7", 0));
    const auto restore = probes().restore(saved, false);
    code.insert(code.end(), restore.begin(), restore.end());
    AlphaMachine m = machine(4, std::nullopt);
    const AlphaMachine before = m;
    m.load(kCode, code);
    ASSERT_TRUE(m.run(kCode));
    expect_kept(before, m, {});
    EXPECT_EQ(m.lowest_sp, kStack - probes().save_frame(saved.size(), false));
    EXPECT_EQ(m.lowest_sp % 16, 0u);
    for (const auto& [address, value] : m.memory) {
      EXPECT_LT(address, kStack);
      EXPECT_GE(address, m.lowest_sp);
    }
  }
}

/// Probes never use these registers, even if they are said to be free.
TEST(AlphaProbes, UsableRegistersAreOrdinary) {
  std::set<Register> seen;
  for (const Register r : probes().usable(ProbeKind::count, false)) {
    EXPECT_TRUE(seen.insert(r).second);
    EXPECT_LT(r, 31);
    EXPECT_NE(r, kGp);
    EXPECT_NE(r, kSp);
  }
  EXPECT_EQ(seen.size(), 29u);
}

}  // namespace
}  // namespace respike
