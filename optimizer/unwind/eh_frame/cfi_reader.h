#pragma once
// Executes call frame instructions into rows of distinct states.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/ir/unwind.h"
#include "optimizer/unwind/lsda/pointers.h"
#include "optimizer/unwind/state_table.h"

namespace respike {

class CfiReader {
 public:
  CfiReader(StateTable& table, const std::vector<CfiState>& states, PointerReader& pointers)
      : table_(table), states_(states), pointers_(pointers) {}

  /// Executes the initial instructions of `cie` and cuts the padding off them. Does not set `cie`
  /// of the result.
  CfiState initial_state(Cie& cie);

  /// Appends the rows of `fde`, whose `program` is at address `program_address`. Throws Error for
  /// operations that are not understood.
  void read_rows(const Cie& cie, std::span<const uint8_t> program, uint64_t program_address,
                 Fde& fde);

  /// Whether some FDE had DW_CFA_restore for a register that has a rule in the CIE.
  bool restored_cie_rules() const { return restored_cie_rules_; }
  /// Whether the program of the last FDE that was read holds addresses (DW_CFA_set_loc).
  bool held_addresses() const { return held_addresses_; }

 private:
  /// Executes up to the next change of location and returns the distance; 0 at the end.
  uint64_t run(const Cie& cie, ByteReader& reader);
  void execute(const Cie& cie, ByteReader& reader, uint8_t operation);
  void define_cfa(uint64_t register_number, int64_t offset);
  void define_cfa_offset(int64_t offset);
  void define_cfa_expression(std::span<const uint8_t> expression);
  void set_rule(uint64_t register_number, CfiRule::Kind kind, int64_t value);
  void set_expression(uint64_t register_number, CfiRule::Kind kind,
                      std::span<const uint8_t> expression);
  void restore_rule(uint64_t register_number);
  void remember();
  void recall();
  CfiRule& rule_of(uint64_t register_number);

  StateTable& table_;
  const std::vector<CfiState>& states_;
  PointerReader& pointers_;

  CfiState current_;
  int64_t cfa_offset_ = 0;                   // as last defined, also where the CFA is an expression
  const CfiState* initial_ = nullptr;        // null while the initial instructions run
  std::vector<CfiState> remembered_;         // storage is reused; depth_ are in use
  std::vector<int64_t> remembered_offsets_;  // parallel
  size_t depth_ = 0;
  uint64_t program_address_ = 0;
  uint64_t location_ = 0;
  bool restored_cie_rules_ = false;
  bool held_addresses_ = false;
  size_t useful_ = 0;  // after the last operation that is not padding
};

}  // namespace respike
