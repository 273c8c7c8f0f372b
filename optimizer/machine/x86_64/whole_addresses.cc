// Operands and fields that hold whole addresses: the target of a memory operand relative to rip,
// the kind of a relocation's field, and whether two instructions are the same except for addresses.
//
// Example: the four bytes after the opcode of call are a branch's distance; those of lea
// 0x10(%rip),%rax are a distance to data; the last four of mov $0x601040,%edi are an address.

#include <algorithm>
#include <cstring>

#include "optimizer/machine/x86_64/instruction.h"
#include "optimizer/machine/x86_64/meaning.h"

namespace respike::x86_64 {
namespace {

std::optional<int64_t> relative(const Instruction& instruction) {
  if (form_number(instruction) == 0 || is_direct(forms().forms[form_number(instruction)]))
    return {};
  uint32_t fields;
  std::memcpy(&fields, instruction.registers, sizeof fields);
  const bool memory = (fields >> 23 & 1) != 0;
  if (!memory || (fields >> 5 & 31) != kRip) return {};
  return instruction.immediate;
}

bool forms_address(const Instruction& instruction) {
  return forms().forms[form_number(instruction)].name == "lea";
}

bool adds(const Instruction& instruction) {
  const std::string_view name = forms().forms[form_number(instruction)].name;
  return name == "add sub" || name == "adc sbb" || name == "inc dec" || name == "xadd" ||
         name == "lea";
}

}  // namespace

Codec::Field field_at(std::span<const uint8_t> code, unsigned offset) {
  using Field = Codec::Field;
  const Decoded d = decode_unit(code);
  if (!d.valid() || offset == 0) return Field::none;
  if (offset == d.immediate_at) {
    if (is_direct(form_of(d))) return Field::branch;
    return d.immediate_size == 4 ? Field::address : Field::number;
  }
  if (offset != d.displacement_at) return Field::none;
  if (d.is_rip_relative()) return Field::distance;
  // mov %fs:0,%rax: the remains of a call of __tls_get_addr. System V ABI, AMD64 supplement, 11.1.2
  constexpr uint8_t kLoad[] = {0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0};
  const bool loads =
      offset == d.length - 4u && d.length >= std::size(kLoad) &&
      std::ranges::equal(code.subspan(d.length - std::size(kLoad), std::size(kLoad)), kLoad);
  return loads ? Field::thread : Field::number;
}

bool same(const Codec::Code& before, const Codec::Code& after,
          std::optional<ReferenceKind> reference) {
  const Decoded x = decode_unit(before.bytes), y = decode_unit(after.bytes);
  if (!x.valid() || x.length != y.length) return false;
  uint8_t a[kLongest], b[kLongest];
  std::memcpy(a, before.bytes.data(), x.length);
  std::memcpy(b, after.bytes.data(), x.length);
  const auto mask = [&](unsigned at, unsigned size) {
    std::memset(a + at, 0, size);
    std::memset(b + at, 0, size);
  };
  if (is_direct(form_of(x)) || reference == ReferenceKind::address32)
    mask(x.immediate_at, x.immediate_size);
  if (x.is_rip_relative()) {
    const auto target = [](const Decoded& d, const Codec::Code& code) {
      return code.address + d.length +
             static_cast<uint64_t>(
                 read_signed(code.bytes.data() + d.displacement_at, d.displacement_size));
    };
    if (reference != ReferenceKind::pc_relative32 && target(x, before) != target(y, after))
      return false;
    mask(x.displacement_at, x.displacement_size);
  }
  return std::memcmp(a, b, x.length) == 0;
}

constinit const WholeAddresses kWholeAddresses = {
    .relative = relative, .forms_address = forms_address, .adds = adds};

}  // namespace respike::x86_64
