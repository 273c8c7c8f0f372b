// Call frame instructions: a small program per FDE that changes a table row as it walks through the
// code's addresses (DWARF 5, section 6.4.2). Each program is executed once, into rows whose states
// are shared: an image with a million rows has some thousand distinct states.
//
// Example: "advance_loc 8; def_cfa_offset 32; offset r26 -32" ends the row of the entry's state at
// the 8th byte and starts a row whose CFA is sp + 32, with r26 saved at the CFA - 32.
//
// Where DWARF and libgcc's unwinder (unwind-dw2.c, execute_cfa_program) disagree, libgcc is right,
// because it is what runs: restore_state does not bring back the GNU args size, and where the CFA
// is an expression, an offset changes nothing yet, while a register ends the expression and uses
// the offset that was defined last (libgcrypt's and OpenSSL's assembly relies on that).
//
// The file is not trusted. Registers, nesting, expression bytes and the number of stored rules have
// limits far above what compilers write, which bounds time by a constant per input byte.

#include "optimizer/unwind/eh_frame/cfi_reader.h"

#include <algorithm>

#include "optimizer/unwind/eh_frame/cfi_operations.h"
#include "optimizer/unwind/lsda/pointer_encoding.h"

namespace respike {
namespace {

constexpr uint64_t kMaxRegister = 256;
constexpr size_t kMaxRemembered = 64;

int64_t scaled(int64_t factor, int64_t alignment) {
  int64_t result;
  if (__builtin_mul_overflow(factor, alignment, &result))
    throw Error("an offset in call frame instructions is too large");
  return result;
}

int64_t as_signed(uint64_t value) {
  if (value > INT64_MAX) throw Error("an offset in call frame instructions is too large");
  return static_cast<int64_t>(value);
}

std::span<const uint8_t> block(ByteReader& reader) {
  return reader.take(reader.uleb128());
}

}  // namespace

CfiState CfiReader::initial_state(Cie& cie) {
  current_ = CfiState{};
  cfa_offset_ = 0;
  initial_ = nullptr;
  depth_ = 0;
  useful_ = 0;
  ByteReader reader(cie.initial_instructions, "a CIE");
  if (run(cie, reader) != 0) throw Error("a CIE changes the location");
  cie.initial_instructions.resize(useful_);
  return current_;
}

void CfiReader::read_rows(const Cie& cie, std::span<const uint8_t> program,
                          uint64_t program_address, Fde& fde) {
  initial_ = &states_[cie.initial_state];
  current_ = *initial_;
  cfa_offset_ = current_.cfa_offset;
  depth_ = 0;
  program_address_ = program_address;
  location_ = fde.start;
  held_addresses_ = false;
  ByteReader reader(program, "an FDE");
  for (;;) {
    const uint64_t distance = run(cie, reader);
    const uint32_t state = table_.index_of(current_);
    // The table of states may have moved in memory.
    initial_ = &states_[cie.initial_state];
    if (fde.rows.empty() || fde.rows.back().state != state) fde.rows.push_back({location_, state});
    // Compilers describe the code up to its end; rows beyond the end describe nothing.
    if (distance == 0 || distance >= fde.end - location_) return;
    location_ += distance;
  }
}

uint64_t CfiReader::run(const Cie& cie, ByteReader& reader) {
  while (!reader.at_end()) {
    const uint8_t operation = reader.read<uint8_t>();
    uint64_t advance = 0;
    switch (operation) {
      case cfa::kNop:
        continue;
      case cfa::kSetLoc: {
        held_addresses_ = true;
        const uint64_t place = program_address_ + reader.position();
        const uint64_t target = pointers_.read(reader, cie.address_encoding, place);
        if ((cie.address_encoding & eh_pe::kIndirect) != 0 || target < location_)
          throw Error("call frame instructions go backwards");
        if (target != location_) return target - location_;
        continue;
      }
      case cfa::kAdvanceLoc1:
        advance = reader.read<uint8_t>();
        break;
      case cfa::kAdvanceLoc2:
        advance = reader.read<uint16_t>();
        break;
      case cfa::kAdvanceLoc4:
        advance = reader.read<uint32_t>();
        break;
      default:
        if ((operation & cfa::kHighMask) != cfa::kAdvanceLoc) {
          execute(cie, reader, operation);
          useful_ = reader.position();
          continue;
        }
        advance = operation & cfa::kLowMask;
    }
    if (advance != 0) return advance * cie.code_alignment;  // at most 2^32 * 2^16
  }
  return 0;
}

void CfiReader::execute(const Cie& cie, ByteReader& reader, uint8_t operation) {
  using Kind = CfiRule::Kind;
  const int64_t alignment = cie.data_alignment;
  const uint8_t low = operation & cfa::kLowMask;
  // Reads operands in order; the order of evaluation would not guarantee this.
  const auto factored = [&] { return scaled(as_signed(reader.uleb128()), alignment); };
  const auto factored_signed = [&] { return scaled(reader.sleb128(), alignment); };
  switch (operation & cfa::kHighMask) {
    case cfa::kOffset:
      return set_rule(low, Kind::offset, factored());
    case cfa::kRestore:
      return restore_rule(low);
  }
  if (operation == cfa::kRememberState) return remember();
  if (operation == cfa::kRestoreState) return recall();
  if (operation == cfa::kDefCfaExpression) return define_cfa_expression(block(reader));
  // All other operations start with a number.
  if (operation == cfa::kDefCfaOffsetSf) return define_cfa_offset(factored_signed());
  const uint64_t first = reader.uleb128();
  switch (operation) {
    case cfa::kOffsetExtended:
      return set_rule(first, Kind::offset, factored());
    case cfa::kOffsetExtendedSf:
      return set_rule(first, Kind::offset, factored_signed());
    case cfa::kGnuNegativeOffsetExtended:
      return set_rule(first, Kind::offset, scaled(factored(), -1));
    case cfa::kValOffset:
      return set_rule(first, Kind::val_offset, factored());
    case cfa::kValOffsetSf:
      return set_rule(first, Kind::val_offset, factored_signed());
    case cfa::kRestoreExtended:
      return restore_rule(first);
    case cfa::kUndefined:
      return set_rule(first, Kind::undefined, 0);
    case cfa::kSameValue:
      return set_rule(first, Kind::same_value, 0);
    case cfa::kRegister:
      return set_rule(first, Kind::in_register, as_signed(reader.uleb128()));
    case cfa::kExpression:
      return set_expression(first, Kind::expression, block(reader));
    case cfa::kValExpression:
      return set_expression(first, Kind::val_expression, block(reader));
    case cfa::kDefCfa:
      return define_cfa(first, as_signed(reader.uleb128()));
    case cfa::kDefCfaSf:
      return define_cfa(first, factored_signed());
    case cfa::kDefCfaRegister:
      return define_cfa(first, cfa_offset_);
    case cfa::kDefCfaOffset:
      return define_cfa_offset(as_signed(first));
    case cfa::kGnuArgsSize:
      current_.args_size = first;
      return;
    default:  // saves of register windows among them
      throw Error("unknown call frame instruction");
  }
}

void CfiReader::define_cfa(uint64_t register_number, int64_t offset) {
  if (register_number >= kMaxRegister) throw Error("register number out of range in unwind tables");
  current_.cfa_is_expression = false;
  current_.cfa_expression.clear();
  current_.cfa_register = register_number;
  current_.cfa_offset = cfa_offset_ = offset;
}

void CfiReader::define_cfa_offset(int64_t offset) {
  cfa_offset_ = offset;
  if (!current_.cfa_is_expression) current_.cfa_offset = offset;
}

void CfiReader::define_cfa_expression(std::span<const uint8_t> expression) {
  if (expression.size() > kMaxExpressionBytes)
    throw Error("expressions in unwind tables are too long");
  current_.cfa_is_expression = true;
  current_.cfa_register = 0;
  current_.cfa_offset = 0;
  current_.cfa_expression.assign(expression.begin(), expression.end());
}

CfiRule& CfiReader::rule_of(uint64_t register_number) {
  if (register_number >= kMaxRegister) throw Error("register number out of range in unwind tables");
  auto& rules = current_.rules;
  const auto place =
      std::lower_bound(rules.begin(), rules.end(), register_number,
                       [](const auto& rule, uint64_t number) { return rule.first < number; });
  if (place != rules.end() && place->first == register_number) return place->second;
  return rules.insert(place, {static_cast<uint32_t>(register_number), CfiRule{}})->second;
}

void CfiReader::set_rule(uint64_t register_number, CfiRule::Kind kind, int64_t value) {
  CfiRule& rule = rule_of(register_number);
  rule.kind = kind;
  rule.value = value;
  rule.expression.clear();
}

void CfiReader::set_expression(uint64_t register_number, CfiRule::Kind kind,
                               std::span<const uint8_t> expression) {
  if (expression.size() > kMaxExpressionBytes)
    throw Error("expressions in unwind tables are too long");
  CfiRule& rule = rule_of(register_number);
  rule.kind = kind;
  rule.value = 0;
  rule.expression.assign(expression.begin(), expression.end());
  if (expression_bytes(current_) > kMaxExpressionBytes)
    throw Error("expressions in unwind tables are too long");
}

void CfiReader::restore_rule(uint64_t register_number) {
  if (initial_ == nullptr) throw Error("a CIE restores a rule");
  const auto less = [](const auto& rule, uint64_t number) { return rule.first < number; };
  const auto& rules = initial_->rules;
  const auto old = std::lower_bound(rules.begin(), rules.end(), register_number, less);
  if (old != rules.end() && old->first == register_number) {
    rule_of(register_number) = old->second;
    restored_cie_rules_ = true;
    return;
  }
  auto& now = current_.rules;
  const auto place = std::lower_bound(now.begin(), now.end(), register_number, less);
  if (place != now.end() && place->first == register_number) now.erase(place);
}

void CfiReader::remember() {
  if (depth_ == kMaxRemembered) throw Error("call frame instructions remember too many states");
  if (depth_ == remembered_.size()) {
    remembered_.emplace_back();
    remembered_offsets_.emplace_back();
  }
  remembered_offsets_[depth_] = cfa_offset_;
  remembered_[depth_++] = current_;
}

void CfiReader::recall() {
  if (depth_ == 0) throw Error("call frame instructions restore a state that was not remembered");
  const uint64_t args_size = current_.args_size;
  std::swap(current_, remembered_[--depth_]);
  cfa_offset_ = remembered_offsets_[depth_];
  current_.args_size = args_size;
}

}  // namespace respike
