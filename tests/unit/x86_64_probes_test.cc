// Probes of x86-64, run by the processor itself: they count, and change only what they declare.
//
// A piece of code runs with all registers, flags and the red zone set by the test; afterwards the
// test checks them. Other hosts run only the tests that need no processor.

#include "optimizer/machine/x86_64/probes.h"

#include <asm/prctl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "optimizer/machine/machines.h"
#include "optimizer/machine/x86_64/added.h"
#include "optimizer/machine/x86_64/instruction.h"

namespace respike {
namespace {

using namespace x86_64;
using Bytes = std::vector<uint8_t>;

const Probes& probes() {
  return x86_64_probes();
}

// ---- instructions ----

/// The decoder's result for an added instruction's bytes agrees with the Instruction.
TEST(X8664Added, BytesMeanTheInstruction) {
  const Machine& machine = x86_64_machine();
  constexpr uint64_t kAddress = 0x401000, kBase = 0x400000;
  std::vector<Place> places = {{.base = kRip, .number = 0x5000}};
  for (uint8_t r = 0; r < 16; ++r) {
    places.push_back({.memory = false, .base = r});
    for (const int32_t number : {0, 8, -129, 0x12345})
      places.push_back({.base = r, .number = number});
    places.push_back({.base = r, .index = kR11, .scale = 4, .number = -8});
    if (r != kRsp) places.push_back({.index = r, .scale = 8, .number = 0x1000});
  }
  for (unsigned what = 0; what <= static_cast<unsigned>(Added::flags_from_ah); ++what)
    for (uint8_t r = 0; r < 16; ++r)
      for (const Place& place : places) {
        if (!place.memory && (static_cast<Added>(what) == Added::load_address ||
                              static_cast<Added>(what) == Added::increment_locked))
          continue;
        const Instruction added = make_added(static_cast<Added>(what), r, place);
        Bytes bytes;
        machine.codec.encode_at({&added, 1}, {.address = kAddress, .origin_base = kBase}, bytes);
        ASSERT_EQ(length(bytes), bytes.size()) << what << ' ' << r;
        Instruction read;
        machine.codec.decode(bytes, kAddress - kBase, &read);
        EXPECT_EQ(read.opcode, added.opcode) << what << ' ' << r;
        const Operands a = machine.operands(added), b = machine.operands(read);
        ASSERT_EQ(a.size, b.size) << what << ' ' << r;
        EXPECT_EQ(a.uses, b.uses);
        EXPECT_TRUE(std::equal(a.registers, a.registers + a.size, b.registers));
        if (const auto target = machine.whole->relative(read)) {
          EXPECT_EQ(*target, place.number);
        }
      }
}

// ---- running code ----

#if defined(__x86_64__)

/// The registers by number; that of rsp is not used.
struct State {
  uint64_t registers[16] = {};
  uint64_t flags = 0;
  uint64_t red_zone[16] = {};  // the lowest word first

  bool operator==(const State&) const = default;
};

constexpr uint64_t kRedZoneWord = 0x5a5a5a5a;
constexpr uint64_t kStatusFlags = 0x8d5;  // o s z a p c

extern "C" void respike_run_code(const void* code, State* state);
extern "C" const char respike_code_returns[];
asm(R"(
        .text
respike_run_code:
        endbr64
        pushq %rbx
        pushq %rbp
        pushq %r12
        pushq %r13
        pushq %r14
        pushq %r15
        pushq %rsi
        pushq %rdi
        .set k, 1
        .rept 16
        movq $0x5a5a5a5a, -8*k(%rsp)
        .set k, k+1
        .endr
        leaq -128(%rsp), %rsp
        pushq 128(%rsi)
        popfq
        leaq 128(%rsp), %rsp
        movq (%rsi), %rax
        movq 8(%rsi), %rcx
        movq 16(%rsi), %rdx
        movq 24(%rsi), %rbx
        movq 40(%rsi), %rbp
        movq 56(%rsi), %rdi
        movq 64(%rsi), %r8
        movq 72(%rsi), %r9
        movq 80(%rsi), %r10
        movq 88(%rsi), %r11
        movq 96(%rsi), %r12
        movq 104(%rsi), %r13
        movq 112(%rsi), %r14
        movq 120(%rsi), %r15
        movq 48(%rsi), %rsi
        jmp *(%rsp)
respike_code_returns:
        endbr64
        leaq -128(%rsp), %rsp
        pushq %rax
        pushfq
        movq 152(%rsp), %rax
        movq %rcx, 8(%rax)
        movq %rdx, 16(%rax)
        movq %rbx, 24(%rax)
        movq %rbp, 40(%rax)
        movq %rsi, 48(%rax)
        movq %rdi, 56(%rax)
        movq %r8, 64(%rax)
        movq %r9, 72(%rax)
        movq %r10, 80(%rax)
        movq %r11, 88(%rax)
        movq %r12, 96(%rax)
        movq %r13, 104(%rax)
        movq %r14, 112(%rax)
        movq %r15, 120(%rax)
        popq 128(%rax)
        popq (%rax)
        .set k, 0
        .rept 16
        movq 8*k(%rsp), %rcx
        movq %rcx, 136+8*k(%rax)
        .set k, k+1
        .endr
        leaq 144(%rsp), %rsp
        popq %r15
        popq %r14
        popq %r13
        popq %r12
        popq %rbp
        popq %rbx
        ret
)");

/// Memory for code, with words that the code counts in.
class Memory {
 public:
  Memory() {
    void* got = mmap(nullptr, kSize, PROT_READ | PROT_WRITE | PROT_EXEC,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<uint8_t*>(got);
  }
  ~Memory() { munmap(base_, kSize); }
  Memory(const Memory&) = delete;

  uint64_t base() const { return reinterpret_cast<uint64_t>(base_); }
  uint64_t* words() const { return reinterpret_cast<uint64_t*>(base_ + kCode); }
  uint64_t counter() const { return reinterpret_cast<uint64_t>(words() + 8); }
  uint64_t& counted() const { return words()[8]; }
  uint64_t& changes() const { return words()[9]; }

  void run(std::vector<Instruction> code, const std::vector<Reference>& references,
           State& state) const {
    uint64_t place = base();
    for (Instruction& i : code) {
      if (i.has_reference()) {
        const Reference& to = references[static_cast<size_t>(i.immediate)];
        ASSERT_TRUE(x86_64_machine().fixups.apply(i, to.kind, place, to.target.address, 0));
      }
      place += length_of(i);
    }
    Bytes bytes;
    x86_64_machine().codec.encode_at(code, {.address = base(), .origin_base = base()}, bytes);
    bytes.insert(bytes.end(), {0xff, 0x25, 0, 0, 0, 0});  // jmp *0(%rip)
    const auto back = reinterpret_cast<uint64_t>(respike_code_returns);
    const auto* address = reinterpret_cast<const uint8_t*>(&back);
    bytes.insert(bytes.end(), address, address + 8);
    ASSERT_LE(bytes.size(), kCode);
    std::memcpy(base_, bytes.data(), bytes.size());
    respike_run_code(base_, &state);
  }

 private:
  static constexpr size_t kCode = 4096, kSize = 8192;
  uint8_t* base_;
};

State start_state(uint64_t flags) {
  State state;
  for (uint64_t r = 0; r < 16; ++r) state.registers[r] = 0x1111111111111111 * r + 7;
  state.flags = 0x202 | flags;
  std::ranges::fill(state.red_zone, kRedZoneWord);
  return state;
}

std::vector<uint64_t> all_flags() {
  std::vector<uint64_t> result;
  for (uint64_t bits = 0; bits < 64; ++bits) {
    uint64_t flags = 0;
    unsigned i = 0;
    for (const uint64_t flag : {1, 4, 0x10, 0x40, 0x80, 0x800})
      if ((bits >> i++ & 1) != 0) flags |= flag;
    result.push_back(flags);
  }
  return result;
}

/// Runs a probe; `saved` registers are saved and restored around it.
void run_probe(const Memory& memory, ProbeKind kind, ProbeOperands operands, bool saved,
               bool before_call, State& state) {
  operands.counter = memory.counter();
  if (saved) operands.lowered = probes().save_frame(operands.free.size(), before_call);
  ProbeCode probe = probes().probe(kind, operands);
  EXPECT_TRUE(probe.retry.empty());
  std::vector<Instruction> code;
  if (saved) code = probes().save(operands.free, before_call);
  code.insert(code.end(), probe.code.begin(), probe.code.end());
  if (saved) {
    const auto restore = probes().restore(operands.free, before_call);
    code.insert(code.end(), restore.begin(), restore.end());
  }
  memory.run(code, probe.references, state);
}

TEST(X8664Probes, CountWhereFlagsAreDead) {
  const Memory memory;
  memory.counted() = 0xffffffff;  // the count has 64 bits
  for (const ProbeKind kind : {ProbeKind::count, ProbeKind::count_atomic}) {
    ASSERT_EQ(probes().registers(kind, false, false), 0u);
    State state = start_state(0);
    const State before = state;
    run_probe(memory, kind, {}, false, false, state);
    state.flags = before.flags;
    EXPECT_EQ(state, before);
  }
  EXPECT_EQ(memory.counted(), 0x100000001u);
  EXPECT_EQ(memory.changes(), 0u);
}

/// The base of gs is this thread's as long as it lives.
class Copy {
 public:
  explicit Copy(uint64_t distance) { syscall(SYS_arch_prctl, ARCH_SET_GS, distance); }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  ~Copy() { syscall(SYS_arch_prctl, ARCH_SET_GS, 0); }
};

TEST(X8664Probes, CountInTheThreadsOwnCopy) {
  const Memory a, b;
  const bool rising = a.counter() < b.counter();  // the kernel takes no negative distance
  const Memory &memory = rising ? a : b, &own = rising ? b : a;
  ASSERT_TRUE(probes().has_copies());
  const Copy copy(own.counter() - memory.counter());
  const Register r = probes().usable(ProbeKind::count, true).front();
  for (const bool keep_flags : {false, true}) {
    State state = start_state(keep_flags ? kStatusFlags : 0);
    ProbeOperands operands{.gp = {}, .keep_flags = keep_flags, .own_copy = true, .free = {}};
    if (keep_flags) operands.free = {&r, 1};
    run_probe(memory, ProbeKind::count, operands, false, false, state);
  }
  EXPECT_EQ(own.counted(), 2u);
  EXPECT_EQ(memory.counted(), 0u);
}

TEST(X8664Probes, KnowWhatUsesTheRegisterOfCopies) {
  const std::vector<Bytes> use = {
      {0x65, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0},  // mov %gs:0,%rax
      {0x8e, 0xe8},                                // mov %eax,%gs
      {0x0f, 0xa9},                                // pop %gs
      {0x48, 0x0f, 0xb5, 0x00},                    // lgs (%rax),%rax
      {0xf3, 0x48, 0x0f, 0xae, 0xd8},              // wrgsbase %rax
  };
  const std::vector<Bytes> other = {
      {0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0},  // mov %fs:0,%rax
      {0x8e, 0xe0},                                // mov %eax,%fs
      {0x0f, 0xa1},                                // pop %fs
      {0xa9, 0, 0, 0, 0},                          // test $0,%eax
      {0xb5, 0},                                   // mov $0,%ch
      {0x0f, 0xae, 0xe8},                          // lfence
      {0x0f, 0x8e, 0, 0, 0, 0},                    // jle
  };
  for (const Bytes& bytes : use) EXPECT_TRUE(probes().uses_copy(bytes)) << int{bytes.back()};
  for (const Bytes& bytes : other) EXPECT_FALSE(probes().uses_copy(bytes)) << int{bytes.back()};
}

TEST(X8664Probes, CountWhereFlagsAreLive) {
  const Memory memory;
  uint64_t runs = 0;
  for (const ProbeKind kind : {ProbeKind::count, ProbeKind::count_atomic})
    for (const Register r : probes().usable(kind, true))
      for (const bool saved : {false, true})
        for (const uint64_t flags : all_flags()) {
          ASSERT_EQ(probes().registers(kind, false, true), 1u);
          State state = start_state(flags);
          State before = state;
          run_probe(memory, kind, {.gp = {}, .keep_flags = true, .free = {&r, 1}}, saved, false,
                    state);
          ++runs;
          if (!saved) before.registers[encoded_of(r)] = state.registers[encoded_of(r)];
          ASSERT_EQ(state.flags & kStatusFlags, flags) << r;
          EXPECT_EQ(state, before) << r;
        }
  EXPECT_EQ(memory.counted(), runs);
}

/// Each jump finds its target in a word of memory or a register that the test sets.
struct Jump {
  Bytes bytes;
  int holder;          // a register that holds the target; -1: memory does
  int base = -1;       // a register that holds the address of words() less `offset`
  int64_t offset = 0;  // of the operand from the base, rsp aside
};

TEST(X8664Probes, RecordTargets) {
  const Memory memory;
  const std::vector<Jump> jumps = {
      {{0xff, 0xd0}, kRax},                             // call *%rax
      {{0x41, 0xff, 0xe4}, 12},                         // jmp *%r12
      {{0x3e, 0xff, 0xe1}, kRcx},                       // notrack jmp *%rcx
      {{0xff, 0x10}, -1, kRax},                         // call *(%rax)
      {{0xff, 0x53, 0x18}, -1, kRbx, 0x18},             // call *0x18(%rbx)
      {{0x41, 0xff, 0x54, 0x24, 0x08}, -1, 12, 8},      // call *8(%r12)
      {{0x41, 0xff, 0x65, 0x00}, -1, 13},               // jmp *(%r13)
      {{0xff, 0xa5, 0, 0x10, 0, 0}, -1, kRbp, 0x1000},  // jmp *0x1000(%rbp)
  };
  for (const Jump& jump : jumps)
    for (const Register r : probes().usable(ProbeKind::record_target, false))
      for (const bool saved : {false, true})
        for (const bool call : {false, true}) {
          Instruction instruction;
          x86_64_machine().codec.decode(jump.bytes, 0, &instruction);
          const IndirectJump indirect{.instruction = &instruction, .bytes = jump.bytes};
          ASSERT_TRUE(probes().can_record(indirect));
          memory.counted() = memory.changes() = 0;
          uint64_t changes = 0, last = 0;
          for (const uint64_t target : {0x401000ull, 0x401000ull, 0xffffffff80000000ull, 5ull}) {
            State state = start_state(0);
            memory.words()[0] = target;
            if (jump.holder >= 0) state.registers[jump.holder] = target;
            if (jump.base >= 0)
              state.registers[jump.base] =
                  reinterpret_cast<uint64_t>(memory.words()) - static_cast<uint64_t>(jump.offset);
            State before = state;
            run_probe(memory, ProbeKind::record_target,
                      {.gp = {}, .free = {&r, 1}, .jump = indirect}, saved, call, state);
            changes += target != last;
            last = target;
            EXPECT_EQ(memory.counted(), target);
            EXPECT_EQ(memory.changes(), changes);
            if (!saved) before.registers[encoded_of(r)] = state.registers[encoded_of(r)];
            before.flags = state.flags;
            if (saved && call) before.red_zone[15] = state.red_zone[15];
            EXPECT_EQ(state, before) << int{jump.bytes[1]} << ' ' << r;
          }
        }
}

/// Operands with an index, relative to rip, and relative to the stack pointer that saving moves.
TEST(X8664Probes, RecordTargetsOfOtherOperands) {
  const Memory memory;
  memory.words()[0] = 0x401234;
  const Register r = register_of(kRdx);
  const auto record = [&](const Bytes& bytes, State& state, bool saved, bool call) {
    Instruction instruction;
    x86_64_machine().codec.decode(bytes, 0, &instruction);
    memory.counted() = memory.changes() = 0;
    run_probe(memory, ProbeKind::record_target,
              {.gp = {}, .free = {&r, 1}, .jump = {.instruction = &instruction, .bytes = bytes}},
              saved, call, state);
    EXPECT_EQ(memory.changes(), 1u);
    return memory.counted();
  };
  const auto words = reinterpret_cast<uint64_t>(memory.words());
  State state = start_state(0);
  state.registers[kRax] = words - 0x40;
  state.registers[kRcx] = 8;
  EXPECT_EQ(record({0xff, 0x24, 0xc8}, state, false, false), 0x401234u);  // jmp *(%rax,%rcx,8)
  Bytes rip = {0xff, 0x25, 0, 0, 0, 0};  // jmp *words(%rip), at offset 0 of the image
  const auto distance = static_cast<int32_t>(words - (memory.base() + rip.size()));
  std::memcpy(&rip[2], &distance, 4);
  EXPECT_EQ(record(rip, state, false, false), 0x401234u);
  // The harness leaves the address of the code at the top of the stack.
  for (const bool call : {false, true})
    EXPECT_EQ(record({0xff, 0x14, 0x24}, state, true, call), memory.base());  // call *(%rsp)
}

#endif

TEST(X8664Probes, LeaveOutFarAndSegmentedJumps) {
  const auto can = [](Bytes bytes) {
    Instruction instruction;
    x86_64_machine().codec.decode(bytes, 0, &instruction);
    return probes().can_record({.instruction = &instruction, .bytes = bytes});
  };
  EXPECT_TRUE(can({0xff, 0xd0}));
  EXPECT_FALSE(can({0x64, 0xff, 0x14, 0x25, 0x10, 0, 0, 0}));  // call *%fs:0x10
  EXPECT_FALSE(can({0xff, 0x28}));                             // ljmp *(%rax)
  EXPECT_FALSE(can({0x67, 0xff, 0x20}));                       // jmp *(%eax)
  EXPECT_FALSE(can({}));
}

TEST(X8664Probes, UsableRegistersAreOrdinary) {
  std::set<Register> seen;
  for (const Register r : probes().usable(ProbeKind::count, false)) {
    EXPECT_TRUE(seen.insert(r).second);
    EXPECT_LT(r, 16);
    EXPECT_NE(r, register_of(kRsp));
  }
  EXPECT_EQ(probes().usable(ProbeKind::count_atomic, true).size(), 1u);
  EXPECT_TRUE(probes().usable(ProbeKind::record_target, true).empty());
}

}  // namespace
}  // namespace respike
