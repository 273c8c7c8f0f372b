#pragma once
// Itanium code from text, for tests of the model of the Itanium 2.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/itanium2/issue.h"
#include "optimizer/machine/ia64/codec.h"
#include "optimizer/machine/ia64/text.h"

namespace respike::measure::itanium2 {

/// Appends a bundle, with the slots in the text form of the disassembler; ";;" at the end of a slot
/// is a stop. `units`: such as "MII". A long instruction is the text of slot 1; slot 2 is then
/// empty.
inline void append_bundle(std::vector<uint8_t>& code, const std::string& units,
                          const std::vector<std::string>& slots) {
  using respike::ia64::Unit;
  Instruction bundle[3];
  for (unsigned i = 0; i < 3; ++i) {
    if (units == "MLX" && i == 2) break;
    const respike::ia64::Parsed parsed = respike::ia64::parse(slots[i], 0);
    if (units == "MLX" && i == 1) {
      bundle[1] = parsed.high;
      bundle[2] = parsed.instruction;
      set_unit(bundle[1], Unit::l);
      set_unit(bundle[2], Unit::x);
      break;
    }
    bundle[i] = parsed.instruction;
    const char letter = units[i];
    set_unit(bundle[i], letter == 'M'   ? Unit::m
                        : letter == 'I' ? Unit::i
                        : letter == 'F' ? Unit::f
                                        : Unit::b);
  }
  code.resize(code.size() + 16);
  ASSERT_TRUE(respike::ia64::encode_bundle(bundle, &code[code.size() - 16]))
      << units << " " << slots[0];
}

/// The no-op of a unit.
inline std::string nop_of(char unit) {
  return unit == 'M'   ? "nop.m 0x0"
         : unit == 'I' ? "nop.i 0x0"
         : unit == 'F' ? "nop.f 0x0"
                       : "nop.b 0x0";
}

/// Appends a bundle with one instruction and two no-ops.
inline void append_alone(std::vector<uint8_t>& code, const std::string& text, bool stop) {
  const char type = respike::ia64::encoding_of(respike::ia64::parse(text, 0).instruction).type();
  const std::string end = stop ? ";;" : "";
  if (type == 'X') return append_bundle(code, "MLX", {nop_of('M'), text + end});
  // With these units, two bundles of this kind find ports for all their instructions.
  const std::string units = type == 'F' ? "MMF" : type == 'B' ? "MMB" : "MMI";
  const unsigned place = type == 'F' || type == 'B' || type == 'I' ? 2 : 0;
  std::vector<std::string> slots;
  for (unsigned i = 0; i < 3; ++i)
    slots.push_back((i == place ? text : nop_of(units[i])) + (i == 2 ? end : ""));
  append_bundle(code, units, slots);
}

inline std::vector<IssueInstruction> read_all(const std::vector<uint8_t>& code) {
  return read_for_issue(0x4000, 0x4000 + code.size(), code);
}

inline IssueCycles issue_all(const std::vector<uint8_t>& code) {
  IssueState state;
  return state.issue(read_all(code), false);
}

inline uint32_t bubbles_of(const std::vector<uint8_t>& code) {
  const IssueCycles cycles = issue_all(code);
  return cycles.total() - cycles.groups;
}

}  // namespace respike::measure::itanium2
