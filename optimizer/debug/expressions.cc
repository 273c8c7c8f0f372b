// LLVM's DWARFExpression (22) stops at the typed operations of DWARF 5 and of GNU, which gcc writes
// for floating-point values. It also takes the contents of an entry value for operations of the
// current frame.
//
// Example: "bregx 33 -8; deref_type 8, <double>" needs register 33 and memory.

#include "optimizer/debug/expressions.h"

#include <llvm/BinaryFormat/Dwarf.h>

#include <algorithm>

#include "optimizer/base/bytes.h"

namespace respike::debug {
namespace {

namespace dwarf = llvm::dwarf;

/// Operations that LLVM has no names for.
enum : uint8_t {
  kConstType = 0xa4,
  kRegvalType = 0xa5,
  kDerefType = 0xa6,
  kXderefType = 0xa7,
  kReinterpret = 0xa9,
  kGnuUninit = 0xf0,
  kGnuImplicitPointer = 0xf2,
  kGnuConstType = 0xf4,
  kGnuRegvalType = 0xf5,
  kGnuDerefType = 0xf6,
  kGnuConvert = 0xf7,
  kGnuReinterpret = 0xf9,
  kGnuParameterRef = 0xfa,
  kGnuVariableValue = 0xfd,
};

/// An operation; `number` is its first operand where that is a ULEB128.
struct Operation {
  uint8_t code = 0;
  uint64_t number = 0;
  size_t operands = 0;  // where they begin
};

/// Reads the operands of `operation`, whose code is already read. Returns false for unknown codes.
bool read_operands(ByteReader& reader, unsigned offset_size, Operation& operation) {
  const uint8_t code = operation.code;
  const auto number = [&] { operation.number = reader.uleb128(); };
  if (code >= dwarf::DW_OP_lit0 && code <= dwarf::DW_OP_reg31) return true;
  if (code >= dwarf::DW_OP_breg0 && code <= dwarf::DW_OP_breg31) return reader.sleb128(), true;
  switch (code) {
    case dwarf::DW_OP_const1u:
    case dwarf::DW_OP_const1s:
    case dwarf::DW_OP_pick:
    case dwarf::DW_OP_deref_size:
    case dwarf::DW_OP_xderef_size:
      reader.skip(1);
      return true;
    case dwarf::DW_OP_const2u:
    case dwarf::DW_OP_const2s:
    case dwarf::DW_OP_skip:
    case dwarf::DW_OP_bra:
    case dwarf::DW_OP_call2:
      reader.skip(2);
      return true;
    case dwarf::DW_OP_const4u:
    case dwarf::DW_OP_const4s:
    case dwarf::DW_OP_call4:
    case kGnuParameterRef:
      reader.skip(4);
      return true;
    case dwarf::DW_OP_addr:
    case dwarf::DW_OP_const8u:
    case dwarf::DW_OP_const8s:
      reader.skip(8);
      return true;
    case dwarf::DW_OP_call_ref:
    case kGnuVariableValue:
      reader.skip(offset_size);
      return true;
    case dwarf::DW_OP_implicit_pointer:
    case kGnuImplicitPointer:
      reader.skip(offset_size);
      reader.sleb128();
      return true;
    case dwarf::DW_OP_consts:
    case dwarf::DW_OP_fbreg:
      reader.sleb128();
      return true;
    case dwarf::DW_OP_constu:
    case dwarf::DW_OP_plus_uconst:
    case dwarf::DW_OP_regx:
    case dwarf::DW_OP_piece:
    case dwarf::DW_OP_addrx:
    case dwarf::DW_OP_constx:
    case dwarf::DW_OP_GNU_addr_index:
    case dwarf::DW_OP_GNU_const_index:
    case dwarf::DW_OP_convert:
    case kReinterpret:
    case kGnuConvert:
    case kGnuReinterpret:
      number();
      return true;
    case dwarf::DW_OP_bregx:
      number();
      reader.sleb128();
      return true;
    case dwarf::DW_OP_bit_piece:
    case kRegvalType:
    case kGnuRegvalType:
      number();
      reader.uleb128();
      return true;
    case kDerefType:
    case kXderefType:
    case kGnuDerefType:
      reader.skip(1);
      reader.uleb128();
      return true;
    case dwarf::DW_OP_implicit_value:
    case dwarf::DW_OP_entry_value:
    case dwarf::DW_OP_GNU_entry_value:
      number();
      reader.skip(operation.number);
      return true;
    case kConstType:
    case kGnuConstType:
      number();
      reader.skip(reader.read<uint8_t>());
      return true;
    case dwarf::DW_OP_nop:
    case dwarf::DW_OP_push_object_address:
    case dwarf::DW_OP_form_tls_address:
    case dwarf::DW_OP_call_frame_cfa:
    case dwarf::DW_OP_stack_value:
    case dwarf::DW_OP_GNU_push_tls_address:
    case kGnuUninit:
      return true;
    default:  // of the stack: dup to xderef, abs to plus, shl to xor, eq to ne
      return code == dwarf::DW_OP_deref || (code >= dwarf::DW_OP_dup && code <= dwarf::DW_OP_xor) ||
             (code >= dwarf::DW_OP_eq && code <= dwarf::DW_OP_ne);
  }
}

/// Calls f(operation) for each operation, until f returns true. Returns whether f did, or an
/// operation is unknown or truncated.
template <typename F>
bool any_operation(std::span<const uint8_t> expression, unsigned offset_size, F f) {
  ByteReader reader(expression, "an expression");
  try {
    while (!reader.at_end()) {
      Operation operation;
      operation.code = reader.read<uint8_t>();
      operation.operands = reader.position();
      if (!read_operands(reader, offset_size, operation) || f(operation)) return true;
    }
  } catch (const Error&) {
    return true;
  }
  return false;
}

}  // namespace

bool needs_any(const StaleValues& stale, std::span<const uint8_t> expression,
               unsigned offset_size) {
  return any_operation(expression, offset_size, [&](const Operation& operation) {
    const uint8_t code = operation.code;
    if (code >= dwarf::DW_OP_reg0 && code <= dwarf::DW_OP_reg31)
      return stale.has(code - dwarf::DW_OP_reg0);
    if (code >= dwarf::DW_OP_breg0 && code <= dwarf::DW_OP_breg31)
      return stale.has(code - dwarf::DW_OP_breg0) || stale.has_memory();
    switch (code) {
      case dwarf::DW_OP_fbreg:
      case dwarf::DW_OP_call_frame_cfa:
        return stale.has_memory();
      case dwarf::DW_OP_bregx:
        return stale.has(operation.number) || stale.has_memory();
      case dwarf::DW_OP_regx:
      case kRegvalType:
      case kGnuRegvalType:
        return stale.has(operation.number);
      default:
        return false;
    }
  });
}

void move_addresses(const AddressMap& map, std::span<uint8_t> expression, unsigned offset_size) {
  if (expression.size() < 9 || std::ranges::find(expression, dwarf::DW_OP_addr) == expression.end())
    return;
  any_operation(expression, offset_size, [&](const Operation& operation) {
    if (operation.code != dwarf::DW_OP_addr) return false;
    uint8_t* field = expression.data() + operation.operands;
    const auto address = load<uint64_t>(field);
    if (map.is_moved(address)) store(field, map.find(address).value_or(address));
    return false;
  });
}

}  // namespace respike::debug
