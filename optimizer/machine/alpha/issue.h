#pragma once
// How many cycles the 21164 takes to issue straight code. See issue.cc for rules and sources.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike::alpha {

/// The four pipelines, as bits.
enum Pipeline : uint8_t { kE0 = 1, kE1 = 2, kFA = 4, kFM = 8 };

/// Classes of instructions that issue in the same way (HRM, table 2-3 "Instruction Classes and
/// Slotting").
enum class IssueClass : uint8_t {
  unop,
  load,
  store,
  locked,  // MBX
  integer_branch,
  floating_branch,
  jump,
  call_pal,
  add,
  logic,
  compare,
  shift,
  conditional_move,
  multimedia,
  multiply_long,
  multiply_quad,
  multiply_high,
  floating_add,
  floating_multiply,
  floating_copy,
  divide_single,
  divide_double,
  misc,
};

/// A row of the table of classes: everything that the model knows about a class.
struct ClassRow {
  IssueClass id;
  std::string_view name;
  uint8_t pipelines;  // that can execute the class; 0: takes no pipeline
  uint8_t latency;    // cycles until a dependent instruction can issue
  std::string_view source;
};
std::span<const ClassRow> class_rows();

/// The part of an instruction that matters for its issue.
struct IssueInstruction {
  IssueClass issue_class = IssueClass::unop;
  bool tests = false;  // its first register is only compared with zero: branch, conditional move
  uint8_t used = 0;    // number of registers read
  std::array<uint8_t, 3> uses{};
  uint8_t def = kNoRegister;

  static constexpr uint8_t kNoRegister = 0xff;
};

/// The numbers of references do not matter.
std::vector<IssueInstruction> read_for_issue(std::span<const Instruction> code);
/// Reads machine code, four bytes an instruction.
std::vector<IssueInstruction> read_for_issue(std::span<const uint8_t> code);

/// Results in flight after an instruction issued. Cycles count from its issue cycle.
class IssueState {
 public:
  /// Issues `code`, which is at `address`. Returns how many cycles after the previous instruction,
  /// or after the start, the last instruction of `code` issues: 0 if all fit into the same cycle.
  uint32_t issue(std::span<const IssueInstruction> code, uint64_t address);

 private:
  static constexpr unsigned kRegisters = 64;  // as machine/alpha/meaning.h numbers them
  static constexpr uint64_t kNoGroup = ~uint64_t{0};

  bool slot(const IssueInstruction& instruction, uint64_t group, bool only_e0_follows);
  uint32_t cycle_of(const IssueInstruction& instruction, uint32_t earliest) const;
  void start(const IssueInstruction& instruction, uint32_t cycle);
  void rebase(uint32_t cycle);

  // The set of instructions that slotting sent forward together.
  uint64_t group_ = kNoGroup;  // address / 16
  uint8_t taken_ = 0;          // pipelines
  uint8_t pipeline_ = 0;       // of the last instruction
  bool has_load_ = false;
  bool has_store_ = false;

  std::array<uint8_t, kRegisters> in_file_{};  // cycle when the file has the result
  uint64_t tested_early_ = 0;                  // registers that a test can read a cycle earlier
  uint8_t multiplier_free_ = 0;
  uint8_t divider_free_ = 0;
  uint8_t e0_reserved_ = 0;  // the cycle in which a multiplication needs E0; 0: none
  uint8_t fa_reserved_ = 0;  // the cycle in which a division needs FA
};

/// See IssueModel::cycles.
uint32_t issue_cycles(std::span<const Instruction> before, std::span<const Instruction> code,
                      uint64_t address);

}  // namespace respike::alpha
