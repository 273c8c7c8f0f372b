#pragma once
// The facts about an instruction in the model of the Itanium 2: ports, operands, and its place in
// the tables of latencies. See instruction.cc for the rules.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/itanium2/latency.h"

namespace respike::measure::itanium2 {

/// The ports to which an instruction can be dispersed.
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
  no_branch  // nop.b and brp: like branch, but the bundle need not end its cycle
};

/// An operand: a register in the numbering of instruction.cc.
struct Operand {
  uint16_t number = 0;
  Use use = Use::other;
  IssueClass writer = IssueClass::nop;  // of a result: the class for its latency
};

constexpr uint16_t kGeneralRegister = 0, kFloatingRegister = 128, kPredicateRegister = 256,
                   kBranchRegister = 320, kApplicationRegister = 328, kAllPredicates = 456;

/// The part of an instruction that matters for issue.
struct IssueInstruction {
  IssueClass issue_class = IssueClass::nop;
  Ports ports = Ports::m;
  uint8_t slot = 0;
  bool first = false;         // first of its bundle
  bool stop = false;          // a stop follows
  bool ends_cycle = false;    // split issue after it
  bool begins_cycle = false;  // split issue before it: mf
  bool is_fwb = false, reads_bsp = false;
  bool three_b = false;  // part of a BBB bundle
  uint8_t use_count = 0, result_count = 0;
  std::array<Operand, 7> uses{};
  std::array<Operand, 4> results{};
  KindSet kinds = 0;  // kinds in pair_rows()
};

/// The instructions from place `begin` up to place `end`; a place is a bundle's address plus a
/// slot. `code` begins with the bundle of `begin`. An instruction of two slots belongs to its first
/// slot.
std::vector<IssueInstruction> read_for_issue(uint64_t begin, uint64_t end,
                                             std::span<const uint8_t> code);

}  // namespace respike::measure::itanium2
