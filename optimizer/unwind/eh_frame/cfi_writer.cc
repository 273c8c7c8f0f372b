// The difference of two states as call frame instructions (DWARF 5, section 6.4.2).
//
// DW_CFA_restore removes the rule of a register that has no rule in the CIE, in one byte; every
// other rule is stated. The body of a procedure continues after each epilogue: the body's state
// recurs, and stating it again costs two bytes per saved register. remember_state and restore_state
// take two bytes for any state, but pairs of them nest. So among all pairs of a row and the next
// row with the same state, a set of pairs that do not cross is chosen. Rows are visited once, and a
// pair is taken at its second row, unless it hides a row with which the pair that ends at the next
// row would save more: epilogue rows usually equal the row of the entry, and such a pair would hide
// the body. Linear, and as short as GCC's output.
//
// Example: entry, body, epilogue, body. Stating the last row costs two bytes per saved register;
// with remember_state in the second row and restore_state in the last it costs two in all.

#include "optimizer/unwind/eh_frame/cfi_writer.h"

#include "optimizer/unwind/eh_frame/cfi_operations.h"

namespace respike {
namespace {

constexpr size_t kMaxDepth = 4;  // of remembered states: valgrind 3.19 reads no more (N_RR_STACK)

/// The factor of a factored offset.
int64_t factor_of(int64_t value, const Cie& cie) {
  if (value % cie.data_alignment != 0)
    throw Error("an unwind rule has an offset that its CIE cannot express");
  return value / cie.data_alignment;
}

void write_register_operation(uint8_t operation, uint64_t number, ByteWriter& out) {
  out.write(operation);
  out.uleb128(number);
}

void write_block(const std::vector<uint8_t>& bytes, ByteWriter& out) {
  out.uleb128(bytes.size());
  out.append(bytes);
}

/// `factored`, or `factored_sf` if only that can express the sign.
void write_offset(uint8_t factored, uint8_t factored_sf, uint32_t number, int64_t factor,
                  ByteWriter& out) {
  if (factor < 0) {
    write_register_operation(factored_sf, number, out);
    out.sleb128(factor);
  } else if (factored == cfa::kOffsetExtended && number <= cfa::kLowMask) {
    out.write<uint8_t>(cfa::kOffset | number);
    out.uleb128(factor);
  } else {
    write_register_operation(factored, number, out);
    out.uleb128(factor);
  }
}

void write_rule(uint32_t number, const CfiRule& rule, const Cie& cie, ByteWriter& out) {
  switch (rule.kind) {
    case CfiRule::Kind::undefined:
      return write_register_operation(cfa::kUndefined, number, out);
    case CfiRule::Kind::same_value:
      return write_register_operation(cfa::kSameValue, number, out);
    case CfiRule::Kind::offset:
      return write_offset(cfa::kOffsetExtended, cfa::kOffsetExtendedSf, number,
                          factor_of(rule.value, cie), out);
    case CfiRule::Kind::val_offset:
      return write_offset(cfa::kValOffset, cfa::kValOffsetSf, number, factor_of(rule.value, cie),
                          out);
    case CfiRule::Kind::in_register:
      write_register_operation(cfa::kRegister, number, out);
      out.uleb128(rule.value);
      return;
    case CfiRule::Kind::expression:
      write_register_operation(cfa::kExpression, number, out);
      return write_block(rule.expression, out);
    case CfiRule::Kind::val_expression:
      write_register_operation(cfa::kValExpression, number, out);
      return write_block(rule.expression, out);
  }
}

void write_restore(uint32_t number, ByteWriter& out) {
  if (number <= cfa::kLowMask)
    out.write<uint8_t>(cfa::kRestore | number);
  else
    write_register_operation(cfa::kRestoreExtended, number, out);
}

void write_cfa(const CfiState& from, const CfiState& to, const Cie& cie, ByteWriter& out) {
  if (to.cfa_is_expression) {
    if (from.cfa_is_expression && from.cfa_expression == to.cfa_expression) return;
    out.write<uint8_t>(cfa::kDefCfaExpression);
    return write_block(to.cfa_expression, out);
  }
  const bool new_register = from.cfa_is_expression || from.cfa_register != to.cfa_register;
  const bool new_offset = from.cfa_is_expression || from.cfa_offset != to.cfa_offset;
  if (!new_register && !new_offset) return;
  if (!new_offset) return write_register_operation(cfa::kDefCfaRegister, to.cfa_register, out);
  const bool negative = to.cfa_offset < 0;
  if (new_register)
    write_register_operation(negative ? cfa::kDefCfaSf : cfa::kDefCfa, to.cfa_register, out);
  else
    out.write<uint8_t>(negative ? cfa::kDefCfaOffsetSf : cfa::kDefCfaOffset);
  if (negative)
    out.sleb128(factor_of(to.cfa_offset, cie));
  else
    out.uleb128(to.cfa_offset);
}

void write_args_size(const CfiState& from, const CfiState& to, ByteWriter& out) {
  if (from.args_size != to.args_size)
    write_register_operation(cfa::kGnuArgsSize, to.args_size, out);
}

/// DW_CFA_restore is used only for registers without a rule in the CIE: for others libgcc does not
/// return to the CIE's rule, as DWARF demands, but forgets the register (execute_cfa_program,
/// REG_UNSAVED).
void write_difference(const CfiState& from, const CfiState& to, const Cie& cie, ByteWriter& out) {
  write_cfa(from, to, cie, out);
  auto now = from.rules.begin();
  for (const auto& [number, rule] : to.rules) {
    for (; now != from.rules.end() && now->first < number; ++now) write_restore(now->first, out);
    const bool is_known = now != from.rules.end() && now->first == number;
    const bool is_equal = is_known && now->second == rule;
    if (is_known) ++now;
    if (is_equal) continue;
    write_rule(number, rule, cie, out);
  }
  for (; now != from.rules.end(); ++now) write_restore(now->first, out);
  write_args_size(from, to, out);
}

/// Throws Error if the state lacks a rule that the CIE has: no instruction makes a register
/// "unspecified" again.
void check_expressible(const CfiState& state, const CfiState& initial) {
  auto rule = state.rules.begin();
  for (const auto& [number, unused] : initial.rules) {
    while (rule != state.rules.end() && rule->first < number) ++rule;
    if (rule == state.rules.end() || rule->first != number)
      throw Error("an unwind state lacks a rule that its CIE has");
  }
}

void write_advance(uint64_t distance, const Cie& cie, ByteWriter& out) {
  if (distance % cie.code_alignment != 0)
    throw Error("unwind states change inside of an instruction");
  uint64_t units = distance / cie.code_alignment;
  for (; units > UINT32_MAX; units -= UINT32_MAX) {
    out.write<uint8_t>(cfa::kAdvanceLoc4);
    out.write<uint32_t>(UINT32_MAX);
  }
  if (units <= cfa::kLowMask) {
    out.write<uint8_t>(cfa::kAdvanceLoc | units);
  } else if (units <= UINT8_MAX) {
    out.write<uint8_t>(cfa::kAdvanceLoc1);
    out.write<uint8_t>(units);
  } else if (units <= UINT16_MAX) {
    out.write<uint8_t>(cfa::kAdvanceLoc2);
    out.write<uint16_t>(units);
  } else {
    out.write<uint8_t>(cfa::kAdvanceLoc4);
    out.write<uint32_t>(units);
  }
}

}  // namespace

void CfiWriter::write(std::span<const CfiRow> rows, ByteWriter& out) {
  const Cie& cie = tables_.cies[tables_.states[rows[0].state].cie];
  const CfiState& initial = tables_.states[cie.initial_state];
  choose_remembered(rows);
  open_.clear();  // from here on: the rows that are remembered
  for (size_t i = 0; i < rows.size(); ++i) {
    const CfiState& to = tables_.states[rows[i].state];
    const CfiState& from = i == 0 ? initial : tables_.states[rows[i - 1].state];
    check_expressible(to, initial);
    if (i != 0) write_advance(rows[i].address - rows[i - 1].address, cie, out);
    if (!open_.empty() && recurs_[open_.back()] == i) {
      open_.pop_back();
      out.write<uint8_t>(cfa::kRestoreState);
      write_args_size(from, to, out);  // restore_state does not restore it
    } else {
      write_difference(from, to, cie, out);
    }
    if (recurs_[i] != 0 && open_.size() < kMaxDepth) {
      out.write<uint8_t>(cfa::kRememberState);
      open_.push_back(static_cast<uint32_t>(i));
    }
  }
}

/// Bytes of the difference between a row and the previous row.
size_t CfiWriter::cost(std::span<const CfiRow> rows, size_t row) {
  const CfiState& to = tables_.states[rows[row].state];
  const Cie& cie = tables_.cies[to.cie];
  scratch_.bytes().clear();
  write_difference(tables_.states[rows[row - 1].state], to, cie, scratch_);
  return scratch_.size();
}

void CfiWriter::choose_remembered(std::span<const CfiRow> rows) {
  constexpr size_t kPairCost = 2;
  recurs_.assign(rows.size(), 0);
  if (rows.size() < 3) return;
  // open_ holds, ascending, the rows outside of all chosen pairs: the open rows. last_row_ gives,
  // for each state, its last open row.
  open_.clear();
  for (size_t j = 0; j < rows.size(); ++j) {
    uint32_t& last = last_row_[rows[j].state];
    if (last != 0 && cost(rows, j) > kPairCost) {
      const uint32_t i = last - 1;
      bool better_follows = false;
      if (j + 1 < rows.size()) {
        const uint32_t next = last_row_[rows[j + 1].state];
        better_follows = next != 0 && next - 1 > i && cost(rows, j + 1) > cost(rows, j);
      }
      if (!better_follows) {
        recurs_[i] = static_cast<uint32_t>(j);
        for (; open_.back() != i; open_.pop_back()) last_row_[rows[open_.back()].state] = 0;
      }
    }
    open_.push_back(static_cast<uint32_t>(j));
    // Not row 0: gdb forgets a state remembered before the first advance.
    if (j != 0) last = static_cast<uint32_t>(j + 1);
  }
  for (const CfiRow& row : rows) last_row_[row.state] = 0;
}

}  // namespace respike
