#pragma once
// Code that instrumentation adds: what the instrumenter asks of a machine.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

/// A register in the machine's flat numbering, 0 .. Machine::register_count - 1. Registers that
/// always read as zero are not numbered: they are neither used nor defined.
using Register = uint16_t;

enum class ProbeKind : uint8_t {
  count,         // adds one to a 64-bit word
  count_atomic,  // the same, exact when several threads or processes do it at once
  record_target  // stores an address in a word; adds one to the next word if that changes the first
};

struct ProbeOperands {
  uint64_t counter = 0;            // address of the word, a multiple of 8
  std::optional<uint64_t> gp;      // value of the global pointer register; nullopt: not known
  std::span<const Register> free;  // at least as many as Probes::registers()
  Register target = 0;             // record_target: holds the address
};

/// Instructions in which kHasReference means an index of `references`.
struct ProbeCode {
  std::vector<Instruction> code;
  std::vector<Instruction> retry;  // comes after `code`; ends in a conditional branch to its own
                                   // start, taken when another processor was in between
  std::vector<Reference> references;
};

class Probes {
 public:
  virtual ~Probes() = default;

  /// Integer registers that a probe overwrites, where the global pointer is known or not.
  virtual unsigned registers(ProbeKind kind, bool gp_known) const = 0;
  /// Those that probes may use, the best ones first.
  virtual std::span<const Register> usable() const = 0;
  virtual ProbeCode probe(ProbeKind kind, const ProbeOperands& operands) const = 0;

  /// Whether there are small probes, which call routines.
  virtual bool has_routines() const = 0;
  /// A small probe for code that seldom runs: puts `number`, below kRoutineCounters, into the first
  /// of three registers and calls a routine, which all probes with these registers share. The last
  /// instruction is the call; its target is to be filled in.
  static constexpr uint32_t kRoutineCounters = 1u << 16;
  static constexpr unsigned kRoutineRegisters = 3;
  virtual std::vector<Instruction> routine_call(uint32_t number,
                                                std::span<const Register> registers) const = 0;
  /// The routine: counts in word `number` of those at `operands.counter`, returns. When the code
  /// has a retry, `after` comes behind it, else behind `code`.
  struct Routine : ProbeCode {
    std::vector<Instruction> after;
  };
  virtual Routine routine(ProbeKind kind, const ProbeOperands& operands) const = 0;
  /// The register that holds where an indirect jump or call goes.
  virtual Register jump_register(const Instruction& jump) const = 0;

  /// Saves and restores registers below the stack pointer, which is save_frame(count) bytes lower
  /// from behind the first instruction of save that is not a no-op to before the last of restore.
  virtual unsigned save_frame(size_t registers) const = 0;
  virtual std::vector<Instruction> save(std::span<const Register> registers) const = 0;
  virtual std::vector<Instruction> restore(std::span<const Register> registers) const = 0;

  /// Of counters: whole pages are mapped.
  virtual uint64_t page_size() const = 0;
};

}  // namespace respike
