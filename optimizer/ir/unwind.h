#pragma once
// Unwind information, independent of where code is.
//
// DWARF describes how to unwind from each address by a program of state changes in address order.
// Blocks change their order, so the IR holds states, not changes. Every distinct state is stored
// once; blocks name the state at their start, and kCfiState pseudo-instructions name the states
// after changes inside. Emission computes the differences between neighbouring states again.
// Sources: DWARF 5 section 6.4; Linux Standard Base 5, sections 10.6 (.eh_frame) and the Itanium
// C++ ABI's exception handling tables (LSDA) as GCC writes them.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace respike {

/// The facts that all FDEs of one CIE share, apart from the CIE's own addresses.
struct Cie {
  std::string augmentation;  // as in the input: "zR", "zPLR", "zRS", ...
  uint8_t version = 1;
  uint64_t code_alignment = 1;
  int64_t data_alignment = 1;
  uint64_t return_register = 0;
  uint8_t address_encoding = 0;  // DW_EH_PE_* of 'R'
  uint8_t lsda_encoding = 0xff;  // of 'L'
  uint8_t personality_encoding = 0xff;
  uint64_t personality = 0;   // address that the encoded pointer yields before an indirection
  bool signal_frame = false;  // 'S'
  std::vector<uint8_t> initial_instructions;  // as in the input
  uint32_t initial_state = 0;                 // the state after them

  /// Whether `personality` is the routine itself, not a word of data with its address.
  bool has_direct_personality() const { return (personality_encoding & 0x80) == 0; }

  bool operator==(const Cie&) const = default;
};

struct CfiRule {
  enum class Kind : uint8_t {
    undefined,
    same_value,
    offset,
    val_offset,
    in_register,
    expression,
    val_expression
  };
  Kind kind = Kind::undefined;
  int64_t value = 0;  // offset in bytes, or register number
  std::vector<uint8_t> expression;

  bool operator==(const CfiRule&) const = default;
};

struct CfiState {
  uint32_t cie = 0;
  bool cfa_is_expression = false;
  uint64_t cfa_register = 0;
  int64_t cfa_offset = 0;  // bytes
  std::vector<uint8_t> cfa_expression;
  // The whole FDE is not understood: `cfa_expression` holds its bytes, to be written back.
  bool opaque = false;
  uint64_t args_size = 0;                           // DW_CFA_GNU_args_size
  std::vector<std::pair<uint32_t, CfiRule>> rules;  // sorted by register; no rule: unspecified

  bool operator==(const CfiState&) const = default;
};

/// The part of a language-specific data area that is independent of code addresses.
struct Lsda {
  uint8_t type_encoding = 0xff;  // DW_EH_PE_* of the type table; 0xff: there is none
  std::vector<uint8_t> actions;  // the action table, byte for byte
  std::vector<uint64_t> types;   // type table: types[i] is entry i+1; the address the encoded
                                 // pointer yields before an indirection, 0 for catch (...)
  std::vector<uint8_t> specifications;  // exception specifications after the type table

  bool has_type_table() const { return type_encoding != 0xff; }

  bool operator==(const Lsda&) const = default;
};

/// One FDE of the input.
struct Fde {
  uint64_t start = 0;  // addresses
  uint64_t end = 0;
  uint32_t lsda = 0xffffffff;  // index of UnwindTables::lsdas, or kNone

  // An exception table that is not understood stays in its place, as its code does: the FDE then
  // has an opaque state.
  uint64_t kept_lsda = 0;          // address of such a table; 0: none
  bool pads_elsewhere = false;     // its landing pads may be outside of the FDE's code ...
  uint64_t landing_pad_start = 0;  // ... from here on; 0: not known

  struct Row {
    uint64_t address = 0;  // from here on ...
    uint32_t state = 0;    // ... this index of UnwindTables::states
  };
  std::vector<Row> rows;  // sorted; the first is at `start`; an opaque state is alone

  struct CallSite {
    uint64_t start = 0;  // addresses, half-open
    uint64_t end = 0;
    uint64_t landing_pad = 0;  // 0: none
    uint64_t action = 0;
  };
  std::vector<CallSite> call_sites;  // sorted by start
};

struct UnwindTables {
  std::vector<Cie> cies;
  std::vector<CfiState> states;
  std::vector<Lsda> lsdas;
};

inline bool is_opaque(const UnwindTables& tables, const Fde& fde) {
  return !fde.rows.empty() && tables.states[fde.rows.front().state].opaque;
}

/// States that differ from other states only by a deeper frame, each made once.
class DeeperStates {
 public:
  /// The index of the state that equals `state` with a stack that is `bytes` deeper; the state is
  /// added to `states` if necessary. Returns the same index where the frame is not found by the
  /// stack pointer, or where nothing is described.
  uint32_t find(std::vector<CfiState>& states, uint32_t state, uint64_t stack_pointer,
                int64_t bytes);

 private:
  std::map<std::pair<uint32_t, int64_t>, uint32_t> known_;  // by state and bytes
};

}  // namespace respike
