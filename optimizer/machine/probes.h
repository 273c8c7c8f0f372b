#pragma once
// Code that instrumentation adds: the instrumenter's view of a machine.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "optimizer/ir/program.h"
#include "optimizer/machine/register.h"

namespace respike {

class ProbeText;

enum class ProbeKind : uint8_t {
  count,          // adds one to a 64-bit word
  count_atomic,   // the same, exact when several threads or processes count at once
  record_target,  // stores an address in a word; adds one to the next word if the first changes
  find_copy       // calls the routine that finds the thread's own copy of the counters
};

/// An indirect jump or call as it is in the input.
struct IndirectJump {
  const Instruction* instruction = nullptr;
  std::span<const uint8_t> bytes;
};

/// Where counters are, if only words of the image hold their address: word i holds the address of
/// the first counter plus i times Probes::base_distance().
struct CounterBases {
  uint64_t words = 0;      // address of the first word
  uint64_t counters = 0;   // address of the first counter, in terms of ProbeOperands::counter
  unsigned word_size = 4;  // bytes: 4 or 8
};

struct ProbeOperands {
  uint64_t counter = 0;        // address of the word, a multiple of 8; find_copy: of the routine
  std::optional<uint64_t> gp;  // value of the global pointer register; nullopt: not known
  bool keep_flags = false;     // some of Abi::flags is live
  bool own_copy = false;       // counts in the thread's copy of the word
  std::optional<CounterBases> bases = {};  // where base_distance() is not 0
  std::span<const Register> free;          // to overwrite; at least Probes::registers()
  unsigned lowered = 0;                    // bytes by which save() has lowered the stack pointer
  IndirectJump jump = {};                  // record_target: the jump or call after the probe
};

/// Instructions. Where kHasReference is set, `immediate` is an index of `references`.
struct ProbeCode {
  std::vector<Instruction> code;
  std::vector<Instruction> retry;  // follows `code`; ends in a conditional branch to its own start,
                                   // taken when another processor interfered
  std::vector<Reference> references;
};

/// What the reader of probes has to know about the output.
struct ProbeSurroundings {
  std::optional<uint64_t> gp;                  // of the procedure
  std::optional<CounterBases> bases = {};      // where base_distance() is not 0
  uint64_t base_count = 0, base_distance = 0;  // words; bytes between the places they lead to
};

/// A probe as found in an output.
struct FoundProbe {
  ProbeKind kind = ProbeKind::count;
  uint64_t counter = 0;             // address of the word; find_copy: of the routine
  size_t size = 0;                  // lines of the text
  bool by_gp = false;               // the counter is reached from gp
  bool own_copy = false;            // the copy of the thread counts
  bool keeps_flags = false;         // flags have their old values again
  std::vector<Register> kept = {};  // registers that are changed and restored
  // From line `lowered_from` up to, but not including, line `lowered_to`, the stack pointer is
  // `lowered` bytes lower.
  unsigned lowered = 0;
  size_t lowered_from = 0, lowered_to = 0;
  bool overwrites_red_zone = false;  // memory right below the stack pointer
  // A small probe: adds to the word number `number` of the called routine. The routine takes the
  // number in, and returns by, these registers.
  std::optional<CodeLocation> routine = {};
  int64_t number = 0;
  Register number_register = 0, link = 0;
};

/// A routine that small probes call.
struct FoundRoutine {
  uint64_t counter = 0;  // address of the word with the number 0
  size_t size = 0;       // lines of the text
  bool by_gp = false;
  ProbeKind kind = ProbeKind::count;
  Register number_register = 0, link = 0;
};

class Probes {
 public:
  virtual ~Probes() = default;

  /// Whether a probe may start with the instruction; a quick answer, which may be wrongly true.
  virtual bool may_start(const Instruction& instruction) const = 0;
  /// Reads the probe that starts a text from its instructions alone, whatever produced them. Every
  /// line of a probe is a necessary one; nullopt: the text does not start with a whole probe.
  virtual std::optional<FoundProbe> read(ProbeText& text,
                                         const ProbeSurroundings& surroundings) const = 0;
  /// The same for a routine, which is the whole text.
  virtual std::optional<FoundRoutine> read_routine(
      ProbeText& /*text*/, const ProbeSurroundings& /*surroundings*/) const {
    return std::nullopt;
  }

  /// How many integer registers a probe overwrites; `gp_known`: ProbeOperands::gp has a value.
  virtual unsigned registers(ProbeKind kind, bool gp_known, bool keep_flags) const = 0;
  /// The registers that probes may overwrite, the best first. If these are fewer than registers()
  /// requires, no such probe is possible.
  virtual std::span<const Register> usable(ProbeKind kind, bool keep_flags) const = 0;
  virtual ProbeCode probe(ProbeKind kind, const ProbeOperands& operands) const = 0;

  /// Whether threads may have copies of the counters of a program, at a distance that a register of
  /// the thread holds; if not, there is no find_copy.
  virtual bool has_copies() const { return false; }
  /// Whether an instruction of the input with these bytes uses that register.
  virtual bool uses_copy(std::span<const uint8_t> /*bytes*/) const { return false; }

  /// Bytes between the places to which two neighbouring words of CounterBases lead; 0: counters are
  /// where the image has them, and there are no such words.
  virtual uint64_t base_distance() const { return 0; }
  /// Words that probes of `size` bytes of counters need.
  virtual uint64_t bases_of(uint64_t /*size*/) const { return 0; }

  /// Whether the machine has small probes, which call routines; if not, the functions for these
  /// are never called.
  virtual bool has_routines() const { return false; }
  /// A small probe for code that seldom runs: puts `number`, which is below kRoutineCounters, into
  /// the first of three registers and calls a routine that all probes with these three registers
  /// share. The last instruction is the call; the instrumenter fills in the call's target.
  static constexpr uint32_t kRoutineCounters = 1u << 16;
  static constexpr unsigned kRoutineRegisters = 3;
  virtual std::vector<Instruction> routine_call(uint32_t /*number*/,
                                                std::span<const Register> /*registers*/) const {
    return {};
  }
  /// The routine: adds one to word `number` of the words at `operands.counter`, and returns.
  /// `after` follows `retry`, or `code` when `retry` is empty.
  struct Routine : ProbeCode {
    std::vector<Instruction> after;
  };
  virtual Routine routine(ProbeKind, const ProbeOperands&) const { return {}; }
  /// The register that holds the target of an indirect jump or call; nullopt: the target may be in
  /// memory.
  virtual std::optional<Register> jump_register(const Instruction& jump) const = 0;
  /// Whether a probe can record the target of the jump or call.
  virtual bool can_record(const IndirectJump& jump) const = 0;

  /// save() and restore() keep registers below the stack pointer. The stack pointer is save_frame()
  /// bytes lower from after the first instruction of save() that is not a no-op to before the last
  /// instruction of restore(). `before_call`: a call follows, so nothing is in use below the stack
  /// pointer.
  virtual unsigned save_frame(size_t registers, bool before_call) const = 0;
  virtual std::vector<Instruction> save(std::span<const Register> registers,
                                        bool before_call) const = 0;
  virtual std::vector<Instruction> restore(std::span<const Register> registers,
                                           bool before_call) const = 0;

  /// Bytes of a page: counters are mapped in whole pages.
  virtual uint64_t page_size() const = 0;
};

}  // namespace respike
