// Loads, stores, semaphores and moves between the register files, in full.
//
// Speculation. A speculative load gives a NaT instead of a fault if its address is NaT or not
// readable (all deferrable exceptions are deferred, as Linux sets DCR). An advanced load records in
// the ALAT the bytes it read; chk.a compares the entry with memory (cpu.h says why this is as good
// as watching stores). The table has one entry for each register number. An entry of a stacked
// register names its frame; a check in another frame is a miss, which the architecture always
// allows. Example: `ld8.s r8 = [r0]` gives a NaT, and `chk.s` of r8 branches to the recovery code;
// `ld8 r8 = [r0]` is a SIGSEGV.
//
// Semaphores are the host's atomic operations; misaligned semaphores raise SIGBUS, as on the
// machine.
//
// Source: SDM 1, section 4.4; SDM 3, each instruction's page.

#include <emmintrin.h>

#include <array>
#include <csignal>
#include <utility>

#include "emulators/ia64/handlers.h"
#include "emulators/ia64/memory_access.h"

namespace respike::emulator::ia64 {

namespace {

using respike::ia64::Op;
using respike::ia64::Slot;

enum LoadType { kPlain = 0, kSpeculative = 1, kAdvanced = 2, kSpeculativeAdvanced = 3 };

[[noreturn]] void nat_consumption(Cpu& cpu) {
  raise_fault(cpu, {SIGILL, ILL_ILLOPN, 0});
}

uint64_t address_of(Cpu& cpu, const Slot& s) {
  if (nat_of(cpu, s.c)) nat_consumption(cpu);
  return general(cpu, s.c);
}

/// The value that is added to the base register after the access.
enum class Update : uint8_t { none, by_register, by_immediate };

void update_base(Cpu& cpu, const Slot& s, Update update) {
  if (update == Update::by_register) {
    const bool nat = nat_of(cpu, s.c) || nat_of(cpu, s.b);
    general(cpu, s.c) += general(cpu, s.b);
    set_nat(cpu, s.c, nat);
  } else if (update == Update::by_immediate) {
    general(cpu, s.c) += static_cast<uint64_t>(s.immediate);
  }
}

uint64_t load_sized(Cpu& cpu, uint64_t address, unsigned size) {
  switch (size) {
    case 0:
      return load_guest<uint8_t>(cpu, address);
    case 1:
      return load_guest<uint16_t>(cpu, address);
    case 2:
      return load_guest<uint32_t>(cpu, address);
    default:
      return load_guest<uint64_t>(cpu, address);
  }
}

void store_sized(Cpu& cpu, uint64_t address, unsigned size, uint64_t value) {
  switch (size) {
    case 0:
      return store_guest<uint8_t>(cpu, address, static_cast<uint8_t>(value));
    case 1:
      return store_guest<uint16_t>(cpu, address, static_cast<uint16_t>(value));
    case 2:
      return store_guest<uint32_t>(cpu, address, static_cast<uint32_t>(value));
    default:
      return store_guest<uint64_t>(cpu, address, value);
  }
}

/// Whether a speculative access has to be deferred.
bool deferred(Cpu& cpu, const Slot& s, uint64_t size) {
  return nat_of(cpu, s.c) || !cpu.memory->allows(general(cpu, s.c), size, PROT_READ);
}

void load(Cpu& cpu, const Slot& s, Update update) {
  const unsigned size = s.d >> 2 & 3, type = s.d >> 4;
  const bool speculative = type == kSpeculative || type == kSpeculativeAdvanced;
  AdvancedLoad& entry = cpu.alat_general[s.a];
  if (speculative && deferred(cpu, s, uint64_t{1} << size)) {
    entry.size = 0;
    general(cpu, s.a) = 0;
    set_nat(cpu, s.a, true);
  } else {
    const uint64_t address = address_of(cpu, s);
    const uint64_t value = load_sized(cpu, address, size);
    if (type == kAdvanced || type == kSpeculativeAdvanced) {
      entry = {address, value, 0, static_cast<uint8_t>(1u << size), s.a < 32 ? nullptr : cpu.frame};
    }
    general(cpu, s.a) = value;
    set_nat(cpu, s.a, false);
  }
  update_base(cpu, s, update);
}

void fill(Cpu& cpu, const Slot& s, Update update) {
  const uint64_t address = address_of(cpu, s);
  const auto value = load_guest<uint64_t>(cpu, address);
  general(cpu, s.a) = value;
  set_nat(cpu, s.a, cpu.unat >> (address >> 3 & 63) & 1);
  update_base(cpu, s, update);
}

void spill(Cpu& cpu, const Slot& s, Update update) {
  const uint64_t address = address_of(cpu, s);
  store_guest<uint64_t>(cpu, address, general(cpu, s.b));
  const uint64_t bit = uint64_t{1} << (address >> 3 & 63);
  cpu.unat = nat_of(cpu, s.b) ? cpu.unat | bit : cpu.unat & ~bit;
  update_base(cpu, s, update);
}

/// Executes lfetch, which fetches nothing; .fault and .fault.excl fault like a load.
void prefetch(Cpu& cpu, const Slot& s, Update update) {
  constexpr unsigned kFault = 8;
  if ((s.d & kFault) != 0) {
    [[maybe_unused]] const volatile uint8_t touched = load_guest<uint8_t>(cpu, address_of(cpu, s));
  }
  update_base(cpu, s, update);
}

void store(Cpu& cpu, const Slot& s, Update update) {
  const uint64_t address = address_of(cpu, s);
  if (nat_of(cpu, s.b)) nat_consumption(cpu);
  store_sized(cpu, address, s.d >> 2 & 3, general(cpu, s.b));
  update_base(cpu, s, update);
}

// --- floating-point ------------------------------------------------------------------------------

constexpr unsigned kFloatingSizes[4] = {10, 8, 4, 8};  // e 8 s d

FloatingRegister load_format(Cpu& cpu, uint64_t address, unsigned format) {
  switch (format) {
    case 0: {
      struct [[gnu::packed]] Extended {
        uint64_t low;
        uint16_t high;
      };
      const auto value = load_guest<Extended>(cpu, address);
      return from_extended(value.low, value.high);
    }
    case 1:
      return from_integer(load_guest<uint64_t>(cpu, address));
    case 2:
      return from_single(load_guest<uint32_t>(cpu, address));
    default:
      return from_double(load_guest<uint64_t>(cpu, address));
  }
}

/// The entry that chk.a compares with memory after an advanced load of `size` bytes.
AdvancedLoad remember(Cpu& cpu, uint64_t address, unsigned size) {
  AdvancedLoad entry = {address, 0, 0, static_cast<uint8_t>(size)};
  const char* host = host_address(cpu, address);
  std::memcpy(&entry.low, host, size < 8 ? size : 8);
  if (size > 8) std::memcpy(&entry.high, host + 8, size - 8);
  return entry;
}

void load_floating(Cpu& cpu, const Slot& s, Update update) {
  const unsigned format = s.d >> 2 & 3, type = s.d >> 4, size = kFloatingSizes[format];
  AdvancedLoad& entry = cpu.alat_floating[s.a];
  if ((type & kSpeculative) && type <= 3 && deferred(cpu, s, size)) {
    entry.size = 0;
    cpu.fr[s.a] = kNatVal;
  } else {
    const uint64_t address = address_of(cpu, s);
    const FloatingRegister value = load_format(cpu, address, format);
    if (type == kAdvanced || type == kSpeculativeAdvanced) entry = remember(cpu, address, size);
    cpu.fr[s.a] = value;
  }
  update_base(cpu, s, update);
}

void load_pair(Cpu& cpu, const Slot& s, Update update) {
  const unsigned format = s.d >> 2 & 3, type = s.d >> 4, size = kFloatingSizes[format];
  if ((type & kSpeculative) && type <= 3 && deferred(cpu, s, 2 * size)) {
    cpu.alat_floating[s.a].size = 0;
    cpu.fr[s.a] = cpu.fr[s.b] = kNatVal;
  } else {
    const uint64_t address = address_of(cpu, s);
    const FloatingRegister first = load_format(cpu, address, format);
    const FloatingRegister second = load_format(cpu, address + size, format);
    if (type == kAdvanced || type == kSpeculativeAdvanced) {
      cpu.alat_floating[s.a] = remember(cpu, address, 2 * size);
    }
    cpu.fr[s.a] = first;
    cpu.fr[s.b] = second;
  }
  if (update == Update::by_immediate) general(cpu, s.c) += 2 * size;
}

void store_floating(Cpu& cpu, const Slot& s, Update update) {
  const uint64_t address = address_of(cpu, s);
  const FloatingRegister& value = cpu.fr[s.b];
  if (is_nat(value)) nat_consumption(cpu);
  switch (s.d >> 2 & 3) {
    case 0: {
      struct [[gnu::packed]] Extended {
        uint64_t low;
        uint16_t high;
      };
      store_guest<Extended>(cpu, address, {value.significand, to_extended_high(value)});
      break;
    }
    case 1:
      store_guest<uint64_t>(cpu, address, value.significand);
      break;
    case 2:
      store_guest<uint32_t>(cpu, address, to_single(value));
      break;
    default:
      store_guest<uint64_t>(cpu, address, to_double(value));
      break;
  }
  update_base(cpu, s, update);
}

void fill_floating(Cpu& cpu, const Slot& s, Update update) {
  const auto words = load_guest<FloatingRegister>(cpu, address_of(cpu, s));
  cpu.fr[s.a] = from_spill(words.significand, words.sign_exponent);
  update_base(cpu, s, update);
}

void spill_floating(Cpu& cpu, const Slot& s, Update update) {
  store_guest(cpu, address_of(cpu, s), cpu.fr[s.b]);
  update_base(cpu, s, update);
}

// --- semaphores ----------------------------------------------------------------------------------

template <typename T>
T* semaphore(Cpu& cpu, uint64_t address, size_t alignment = sizeof(T)) {
  if (address % alignment != 0) raise_fault(cpu, {SIGBUS, BUS_ADRALN, address});
  asm volatile("" ::: "memory");
  return reinterpret_cast<T*>(host_address(cpu, address));
}

template <typename T>
uint64_t compare_exchange(Cpu& cpu, uint64_t address, uint64_t value) {
  T expected = static_cast<T>(cpu.ccv);
  // A comparison wider than the operand never holds: ccv is compared in full (SDM 3, cmpxchg).
  if (expected != cpu.ccv) return __atomic_load_n(semaphore<T>(cpu, address), __ATOMIC_SEQ_CST);
  __atomic_compare_exchange_n(semaphore<T>(cpu, address), &expected, static_cast<T>(value), false,
                              __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}

template <typename T>
uint64_t exchange(Cpu& cpu, uint64_t address, uint64_t value) {
  return __atomic_exchange_n(semaphore<T>(cpu, address), static_cast<T>(value), __ATOMIC_SEQ_CST);
}

template <typename T>
uint64_t fetch_add(Cpu& cpu, uint64_t address, int64_t increment) {
  return __atomic_fetch_add(semaphore<T>(cpu, address), static_cast<T>(increment),
                            __ATOMIC_SEQ_CST);
}

/// cmp8xchg16: compares the addressed half, stores both.
uint64_t compare_exchange_16(Cpu& cpu, uint64_t address, uint64_t value) {
  if (address % 8 != 0) raise_fault(cpu, {SIGBUS, BUS_ADRALN, address});
  auto* words = semaphore<unsigned __int128>(cpu, address & ~uint64_t{15});
  const auto fresh = static_cast<unsigned __int128>(cpu.csd) << 64 | value;
  unsigned __int128 seen = 0;
  asm volatile("" ::: "memory");
  std::memcpy(&seen, words, 16);
  for (;;) {
    const auto half = static_cast<uint64_t>(address & 8 ? seen >> 64 : seen);
    if (half != cpu.ccv) return half;
    uint64_t low = static_cast<uint64_t>(seen), high = static_cast<uint64_t>(seen >> 64);
    bool stored;
    asm volatile("lock cmpxchg16b %1"
                 : "=@ccz"(stored), "+m"(*words), "+a"(low), "+d"(high)
                 : "b"(static_cast<uint64_t>(fresh)), "c"(static_cast<uint64_t>(fresh >> 64))
                 : "memory");
    if (stored) return half;
    seen = static_cast<unsigned __int128>(high) << 64 | low;
  }
}

uint64_t semaphore_of(Cpu& cpu, const Slot& s, uint64_t address, uint64_t value) {
  const unsigned size = s.d >> 2 & 3;
  switch (s.op) {
    case Op::cmpxchg:
      if (size == 0) return compare_exchange<uint8_t>(cpu, address, value);
      if (size == 1) return compare_exchange<uint16_t>(cpu, address, value);
      if (size == 2) return compare_exchange<uint32_t>(cpu, address, value);
      return compare_exchange<uint64_t>(cpu, address, value);
    case Op::xchg:
      if (size == 0) return exchange<uint8_t>(cpu, address, value);
      if (size == 1) return exchange<uint16_t>(cpu, address, value);
      if (size == 2) return exchange<uint32_t>(cpu, address, value);
      return exchange<uint64_t>(cpu, address, value);
    case Op::fetchadd4_acq:
    case Op::fetchadd4_rel:
      return fetch_add<uint32_t>(cpu, address, s.immediate);
    case Op::fetchadd8_acq:
    case Op::fetchadd8_rel:
      return fetch_add<uint64_t>(cpu, address, s.immediate);
    default:
      return compare_exchange_16(cpu, address, value);
  }
}

void execute_semaphore(Cpu& cpu, const Slot& s, Update) {
  const bool has_value = s.op == Op::cmpxchg || s.op == Op::xchg || s.op == Op::cmp8xchg16_acq ||
                         s.op == Op::cmp8xchg16_rel;
  const uint64_t address = address_of(cpu, s);
  if (has_value && nat_of(cpu, s.b)) nat_consumption(cpu);
  const uint64_t old = semaphore_of(cpu, s, address, has_value ? general(cpu, s.b) : 0);
  general(cpu, s.a) = old;
  set_nat(cpu, s.a, false);
}

// Atomic accesses of 16 bytes: x86-64 processors with AVX access 16 aligned bytes atomically (Intel
// SDM 3, guaranteed atomic operations; AMD APM 2, access atomicity). cmpxchg16b would need write
// permission.

void load_16(Cpu& cpu, const Slot& s, Update) {
  const auto* words = semaphore<__m128i>(cpu, address_of(cpu, s));
  __m128i value;
  asm volatile("movdqa %1, %0" : "=x"(value) : "m"(*words));
  uint64_t halves[2];
  std::memcpy(halves, &value, sizeof value);
  general(cpu, s.a) = halves[0];
  set_nat(cpu, s.a, false);
  cpu.csd = halves[1];
}

void store_16(Cpu& cpu, const Slot& s, Update) {
  const uint64_t address = address_of(cpu, s);
  if (nat_of(cpu, s.b)) nat_consumption(cpu);
  const uint64_t halves[2] = {general(cpu, s.b), cpu.csd};
  __m128i value;
  std::memcpy(&value, halves, sizeof value);
  asm volatile("movdqa %1, %0" : "=m"(*semaphore<__m128i>(cpu, address)) : "x"(value));
}

// --- between register files ----------------------------------------------------------------------

void set_floating(Cpu& cpu, const Slot& s, Update) {
  const uint64_t value = general(cpu, s.b);
  FloatingRegister& target = cpu.fr[s.a];
  if (nat_of(cpu, s.b))
    target = kNatVal;
  else if (s.op == Op::setf_sig)
    target = from_integer(value);
  else if (s.op == Op::setf_exp)
    target = from_exponent(value);
  else if (s.op == Op::setf_s)
    target = from_single(static_cast<uint32_t>(value));
  else
    target = from_double(value);
}

void get_floating(Cpu& cpu, const Slot& s, Update) {
  const FloatingRegister& value = cpu.fr[s.b];
  uint64_t result;
  if (s.op == Op::getf_sig)
    result = value.significand;
  else if (s.op == Op::getf_exp)
    result = to_exponent(value);
  else if (s.op == Op::getf_s)
    result = to_single(value);
  else
    result = to_double(value);
  general(cpu, s.a) = result;
  set_nat(cpu, s.a, is_nat(value));
}

// --- probes --------------------------------------------------------------------------------------

/// Executes probe. Privilege levels are all 3 here. Linux answers probes of unmapped pages with 0.
void probe(Cpu& cpu, const Slot& s, Update) {
  const bool write = s.op == Op::probe_w || s.op == Op::probe_w_imm2;
  if ((s.op == Op::probe_r || s.op == Op::probe_w) && nat_of(cpu, s.b)) nat_consumption(cpu);
  const bool allowed = cpu.memory->allows(address_of(cpu, s), 1, write ? PROT_WRITE : PROT_READ);
  general(cpu, s.a) = allowed;
  set_nat(cpu, s.a, false);
}

void probe_fault(Cpu& cpu, const Slot& s, Update) {
  int rights = PROT_READ | PROT_WRITE;
  if (s.op == Op::probe_r_fault) rights = PROT_READ;
  if (s.op == Op::probe_w_fault) rights = PROT_WRITE;
  const uint64_t address = address_of(cpu, s);
  if (cpu.memory->allows(address, 1, rights)) return;
  raise_fault(cpu, {SIGSEGV, cpu.memory->find(address) ? SEGV_ACCERR : SEGV_MAPERR, address});
}

void invalidate_all(Cpu& cpu, const Slot&, Update) {
  for (AdvancedLoad& entry : cpu.alat_general) entry.size = 0;
  for (AdvancedLoad& entry : cpu.alat_floating) entry.size = 0;
}
void invalidate_general(Cpu& cpu, const Slot& s, Update) {
  cpu.alat_general[s.a].size = 0;
}
void invalidate_floating(Cpu& cpu, const Slot& s, Update) {
  cpu.alat_floating[s.a].size = 0;
}

void nothing(Cpu&, const Slot&, Update) {}

struct MemoryRow {
  void (*run)(Cpu& cpu, const Slot& s, Update update) = nullptr;
  Update update = Update::none;
};

/// By Op.
constexpr auto kMemoryRows = [] {
  using enum Update;
  constexpr std::pair<Op, MemoryRow> kRows[] = {
      {Op::ld, {load, none}},
      {Op::ld_reg, {load, by_register}},
      {Op::ld_imm, {load, by_immediate}},
      {Op::ld8_fill, {fill, none}},
      {Op::ld8_fill_reg, {fill, by_register}},
      {Op::ld8_fill_imm, {fill, by_immediate}},
      {Op::ld16, {load_16, none}},
      {Op::ld16_acq, {load_16, none}},
      {Op::st, {store, none}},
      {Op::st_imm, {store, by_immediate}},
      {Op::st8_spill, {spill, none}},
      {Op::st8_spill_imm, {spill, by_immediate}},
      {Op::st16, {store_16, none}},
      {Op::st16_rel, {store_16, none}},
      {Op::ldf, {load_floating, none}},
      {Op::ldf_reg, {load_floating, by_register}},
      {Op::ldf_imm, {load_floating, by_immediate}},
      {Op::ldf_fill, {fill_floating, none}},
      {Op::ldf_fill_reg, {fill_floating, by_register}},
      {Op::ldf_fill_imm, {fill_floating, by_immediate}},
      {Op::ldfp, {load_pair, none}},
      {Op::ldfp_imm, {load_pair, by_immediate}},
      {Op::stf, {store_floating, none}},
      {Op::stf_imm, {store_floating, by_immediate}},
      {Op::stf_spill, {spill_floating, none}},
      {Op::stf_spill_imm, {spill_floating, by_immediate}},
      {Op::lfetch_count, {nothing, none}},
      {Op::lfetch, {prefetch, none}},
      {Op::lfetch_reg, {prefetch, by_register}},
      {Op::lfetch_imm, {prefetch, by_immediate}},
      {Op::cmpxchg, {execute_semaphore, none}},
      {Op::xchg, {execute_semaphore, none}},
      {Op::cmp8xchg16_acq, {execute_semaphore, none}},
      {Op::cmp8xchg16_rel, {execute_semaphore, none}},
      {Op::fetchadd4_acq, {execute_semaphore, none}},
      {Op::fetchadd8_acq, {execute_semaphore, none}},
      {Op::fetchadd4_rel, {execute_semaphore, none}},
      {Op::fetchadd8_rel, {execute_semaphore, none}},
      {Op::setf_sig, {set_floating, none}},
      {Op::setf_exp, {set_floating, none}},
      {Op::setf_s, {set_floating, none}},
      {Op::setf_d, {set_floating, none}},
      {Op::getf_sig, {get_floating, none}},
      {Op::getf_exp, {get_floating, none}},
      {Op::getf_s, {get_floating, none}},
      {Op::getf_d, {get_floating, none}},
      {Op::probe_r, {probe, none}},
      {Op::probe_w, {probe, none}},
      {Op::probe_r_imm2, {probe, none}},
      {Op::probe_w_imm2, {probe, none}},
      {Op::probe_rw_fault, {probe_fault, none}},
      {Op::probe_r_fault, {probe_fault, none}},
      {Op::probe_w_fault, {probe_fault, none}},
      {Op::invala, {invalidate_all, none}},
      {Op::invala_e, {invalidate_general, none}},
      {Op::invala_e_f, {invalidate_floating, none}},
  };
  std::array<MemoryRow, respike::ia64::kOpCount> rows = {};
  for (const auto& [op, row] : kRows) rows[static_cast<size_t>(op)] = row;
  return rows;
}();

}  // namespace

void raise_unmappable(Cpu& cpu, uint64_t address) {
  raise_fault(cpu, {SIGSEGV, SEGV_MAPERR, address});
}

void execute_memory(Cpu& cpu, const GeneralInstruction& instruction) {
  const Slot& s = instruction.slot;
  const MemoryRow& row = kMemoryRows[static_cast<size_t>(s.op)];
  if (row.run == nullptr) raise_fault(cpu, {SIGILL, ILL_PRVOPC, 0});
  row.run(cpu, s, row.update);
}

}  // namespace respike::emulator::ia64
