#pragma once
// What the model of the Itanium 2 knows of an instruction: ports, operands, and what it is in the
// tables of latencies. See instruction.cc for the rules.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "simulator/itanium2/latency.h"

namespace respike::simulator::itanium2 {

/// Which ports an instruction can be dispersed to.
enum class Ports : uint8_t {
  m,         // M0 to M3
  load,      // M0 or M1
  store,     // M2 or M3
  m0,        // M0
  m2,        // M2
  i,         // I0 or I1
  i0,        // I0
  i_or_m,    // type A in an I slot: I0 or I1, else a free M port
  f,         // F0 or F1, by its bundle
  long_i,    // the I port and the F port of its bundle
  branch,    // the B port of its slot
  no_branch  // nop.b and brp: the same, but the bundle need not be the last of its cycle
};

/// An operand: a register in the numbering of instruction.cc.
struct Operand {
  uint16_t number = 0;
  Use use = Use::other;
  IssueClass writer = IssueClass::nop;  // of a result: whose latency it has
};

constexpr uint16_t kGeneralRegister = 0, kFloatingRegister = 128, kPredicateRegister = 256,
                   kBranchRegister = 320, kApplicationRegister = 328, kAllPredicates = 456;

/// An instruction, as far as issuing it goes.
struct IssueInstruction {
  IssueClass issue_class = IssueClass::nop;
  Ports ports = Ports::m;
  uint8_t slot = 0;
  bool first = false;         // of its bundle
  bool stop = false;          // a stop behind it
  bool ends_cycle = false;    // split issue behind it
  bool begins_cycle = false;  // split issue before it: mf
  bool is_fwb = false, reads_bsp = false;
  bool three_b = false;  // of a BBB bundle
  uint8_t use_count = 0, result_count = 0;
  std::array<Operand, 7> uses{};
  std::array<Operand, 4> results{};
  KindSet kinds = 0;  // as what it takes part in pair_rows()
};

/// Instructions from a place (bundle's address and slot) to another, out of the bundles of `code`,
/// the first of which holds the first place. An instruction of two slots belongs to its first.
std::vector<IssueInstruction> read_for_issue(uint64_t begin, uint64_t end,
                                             std::span<const uint8_t> code);

}  // namespace respike::simulator::itanium2
