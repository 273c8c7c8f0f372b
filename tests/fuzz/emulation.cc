// Random code in a sandbox: a process without system calls in which any fault ends the thread.
//
// The oracle is the emulator's second way to execute everything: general handlers instead of
// specialised handlers. A run is cut after a number of blocks, and blocks of both ways have
// different numbers of instructions. So only programs that end by a fault in both ways are
// compared, register by register.

#include "tests/fuzz/emulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "emulators/ia64/handlers.h"
#include "emulators/ia64/process.h"
#include "emulators/ia64/signals.h"
#include "optimizer/machine/ia64/codec.h"
#include "optimizer/machine/ia64/meaning.h"

namespace respike::fuzz {

namespace {

namespace emulator = respike::emulator::ia64;

constexpr uint64_t kCode = emulator::region_base(2) + 0x10000;
constexpr uint64_t kData = emulator::region_base(3) + 0x10000;
constexpr uint64_t kBackingStore = emulator::region_base(3) + 0x100000;
constexpr uint64_t kSize = 4 * emulator::kPage;
constexpr uint64_t kSteps = 300;

emulator::Process& sandbox() {
  static emulator::Process* process = [] {
    auto* made = new emulator::Process;
    made->options.sandbox_steps = kSteps;
    const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    made->memory.map(kCode, kSize, PROT_READ | PROT_WRITE | PROT_EXEC, anonymous, -1, 0);
    made->memory.map(kData, kSize, PROT_READ | PROT_WRITE, anonymous, -1, 0);
    made->memory.map(kBackingStore, kSize, PROT_READ | PROT_WRITE, anonymous, -1, 0);
    emulator::start_signals(*made);
    return made;
  }();
  return *process;
}

struct Outcome {
  bool faulted = false;
  emulator::GuestFault fault;
  uint64_t ip = 0, cfm = 0, predicates = 0, bsp = 0;
  uint64_t general[128] = {}, branch[8] = {}, application[6] = {};
  emulator::FloatingRegister floating[128] = {};
  std::vector<char> data;
};

/// The state of a thread that has stopped.
Outcome state_of(emulator::Thread& thread) {
  emulator::Cpu& cpu = thread.cpu;
  Outcome outcome;
  outcome.faulted = thread.ended;
  outcome.fault = thread.fault;
  outcome.ip = cpu.ip;
  outcome.cfm = cpu.cfm;
  outcome.predicates = emulator::predicates(cpu);
  outcome.bsp = cpu.stack.bsp(cpu);
  const emulator::FrameMarker marker{cpu.cfm};
  for (unsigned r = 0; r < 32 + marker.sof(); ++r) {
    outcome.general[r] = emulator::nat_of(cpu, r) ? 0x4e6154 : emulator::general(cpu, r);
  }
  std::copy_n(cpu.br, 8, outcome.branch);
  std::copy_n(cpu.fr, 128, outcome.floating);
  const uint64_t application[6] = {cpu.lc, cpu.ec, cpu.pfs, cpu.unat, cpu.fpsr, cpu.ccv};
  std::copy_n(application, 6, outcome.application);
  const char* data = thread.process.memory.host(kData);
  outcome.data.assign(data, data + kSize);
  return outcome;
}

/// Runs the code; returns the states before and after the run.
std::pair<Outcome, Outcome> run(std::span<const uint8_t> code, bool general_only) {
  emulator::Process& process = sandbox();
  process.options.general_only = general_only;
  auto& memory = process.memory;
  std::memset(memory.host(kCode), 0, kSize);
  std::memcpy(memory.host(kCode), code.data(), std::min<size_t>(code.size(), kSize));
  std::memset(memory.host(kBackingStore), 0, kSize);
  for (uint64_t i = 0; i < kSize; ++i) memory.host(kData)[i] = static_cast<char>(i * 37 >> 3);
  memory.code_changed();

  auto thread = std::make_unique<emulator::Thread>(process);
  emulator::Cpu& cpu = thread->cpu;
  cpu.stack.start(cpu, kBackingStore + kSize / 2);
  cpu.ip = kCode;
  cpu.cfm = emulator::FrameMarker::of(96, 48, 16).bits;
  for (unsigned r = 1; r < 128; ++r) emulator::general(cpu, r) = r % 3 == 0 ? r : kData + r * 96;
  for (unsigned b = 0; b < 8; ++b) cpu.br[b] = kCode + b * 64;
  for (unsigned f = 2; f < 128; ++f)
    cpu.fr[f] = emulator::from_double(0x3ff0000000000000 + f * 0x1000000000);
  for (unsigned p = 1; p < 64; p += 2) cpu.pr[p] = 1;
  cpu.pfs = emulator::make_pfs(emulator::FrameMarker::of(20, 10, 0).bits, 2);
  cpu.lc = 5;
  cpu.ec = 3;
  Outcome before = state_of(*thread);
  emulator::run(*thread);
  return {std::move(before), state_of(*thread)};
}

std::string different_ends(const Outcome& a, const Outcome& b) {
  if (a.ip != b.ip) return fmt::format("ip {:x} {:x}", a.ip, b.ip);
  if (a.fault.signal != b.fault.signal || a.fault.code != b.fault.code ||
      a.fault.address != b.fault.address) {
    return fmt::format("at {:x}: fault {} {} {:x}, {} {} {:x}", a.ip, a.fault.signal, a.fault.code,
                       a.fault.address, b.fault.signal, b.fault.code, b.fault.address);
  }
  return "";
}

std::string different_contents(const Outcome& a, const Outcome& b) {
  if (a.cfm != b.cfm) return fmt::format("at {:x}: cfm {:x} {:x}", a.ip, a.cfm, b.cfm);
  if (a.predicates != b.predicates)
    return fmt::format("at {:x}: pr {:x} {:x}", a.ip, a.predicates, b.predicates);
  if (a.bsp != b.bsp) return fmt::format("at {:x}: bsp {:x} {:x}", a.ip, a.bsp, b.bsp);
  for (unsigned r = 0; r < 128; ++r) {
    if (a.general[r] != b.general[r])
      return fmt::format("at {:x}: r{} {:x} {:x}", a.ip, r, a.general[r], b.general[r]);
    if (!(a.floating[r] == b.floating[r])) return fmt::format("at {:x}: f{}", a.ip, r);
  }
  for (unsigned i = 0; i < 8; ++i) {
    if (a.branch[i] != b.branch[i])
      return fmt::format("at {:x}: b{} {:x} {:x}", a.ip, i, a.branch[i], b.branch[i]);
  }
  for (unsigned i = 0; i < 6; ++i) {
    if (a.application[i] != b.application[i])
      return fmt::format("at {:x}: application register {}", a.ip, i);
  }
  return a.data == b.data ? "" : fmt::format("at {:x}: memory", a.ip);
}

/// Any instruction that the slot can hold. Most have small register numbers, so they use each
/// other's results.
Instruction random_instruction(std::mt19937_64& random, ia64::Unit unit) {
  using namespace respike::ia64;
  Op op = Op::invalid;
  for (int tries = 0; tries < 200; ++tries) {
    op = static_cast<Op>(kFirstRow + random() % kRowCount);
    const bool privileged = emulator::family_of(op) == emulator::Family::none;
    if (fits_unit(op, unit) && (!privileged || random() % 200 == 0)) break;
  }
  if (unit == Unit::l) op = Op::long_half;
  Instruction result;
  result.opcode = opcode(op);
  result.predicate = random() % 4 == 0 ? static_cast<uint8_t>(random() % 64) : 0;
  for (auto& field : result.registers) {
    const uint64_t r = random();
    field = static_cast<uint8_t>(r % 3 == 0   ? r >> 8 & 0x7f
                                 : r % 3 == 1 ? r >> 8 & 0x0f
                                              : 32 + (r >> 8 & 0x1f));
  }
  result.immediate = static_cast<int32_t>(random() % 2 ? random() % 64 : random());
  if (encoding_of(result).type() == 'B')
    result.immediate = static_cast<int32_t>(random() % 40) * 16 - 160;
  return result;
}

/// Changes parts that would end most runs after a few instructions: targets that do not exist,
/// addresses in registers of unknown value, loop branches in the middle of a bundle, frames that
/// are too small for the following code.
void make_legal(Instruction& instruction, unsigned slot, std::mt19937_64& random) {
  using namespace respike::ia64;
  const Op op = op_of(instruction);
  if (op < Op{kFirstRow}) return;
  const auto below = [&](unsigned first, unsigned count) {
    return static_cast<uint8_t>(first + random() % count);
  };
  const Encoding& encoding = encoding_of(instruction);
  const bool memory = emulator::family_of(op) == emulator::Family::memory;
  constexpr uint8_t kOfMemoryUnit[] = {25, 32, 36, 40}, kOfIntegerUnit[] = {64, 65, 66};
  for (unsigned i = 0; i < encoding.operand_count; ++i) {
    const OperandRole& role = encoding.operands[i];
    if (role.field > 3) continue;
    uint8_t& number = instruction.registers[role.field];
    // Only registers from 64 on whose number is 64 plus a multiple of 3 hold addresses; no target
    // is 64 or more.
    if (role.kind == 'R' && memory && role.field == 2)
      number = static_cast<uint8_t>(64 + random() % 21 * 3);
    else if (role.kind == 'R' && role.writes)
      number = below(1, 63);
    else if (role.kind == 'F' && role.writes)
      number = below(2, 126);
    else if (role.kind == 'P' && role.writes)
      number = static_cast<uint8_t>(random() % 31 * 2 + (role.field == 3 ? 2 : 1));
    else if (role.kind == 'A')
      number = encoding.type() == 'M' ? kOfMemoryUnit[random() % 4] : kOfIntegerUnit[random() % 3];
  }
  if (op == Op::alloc) {
    instruction.registers[1] = 96;
    instruction.registers[2] = 48;
    instruction.registers[3] = 2;
  }
  if ((op == Op::ldfp || op == Op::ldfp_imm) &&
      instruction.registers[0] % 2 == instruction.registers[1] % 2)
    instruction.registers[1] ^= 1;
  const bool loops = frame_effect(instruction) == FrameEffect::rotate || op == Op::br_cloop;
  if ((loops && slot != 2) || op == Op::br_ia) instruction = {.opcode = opcode(Op::nop_b)};
  if (loops && op != Op::br_wtop && op != Op::br_wexit) instruction.predicate = 0;
}

/// Says whether a slot holds no instruction, since a field has a reserved value.
bool has_reserved_fields(const uint8_t* bundle) {
  Instruction decoded[3];
  ia64::decode_bundle(bundle, 0, decoded);
  return std::ranges::any_of(decoded,
                             [](const auto& i) { return ia64::op_of(i) == ia64::Op::invalid; });
}

}  // namespace

EmulationRun run_random_code(std::span<const uint8_t> code) {
  const auto [start, fast] = run(code, false);
  const auto [same_start, general] = run(code, true);
  EmulationRun result;
  result.compared = fast.faulted && general.faulted;
  if (!result.compared) return result;
  result.difference = different_ends(fast, general);
  if (result.difference.empty()) result.difference = different_contents(fast, general);
  result.changed = !different_contents(start, fast).empty();
  return result;
}

std::vector<uint8_t> make_random_code(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> code;
  const size_t bundles = 4 + random() % 60;
  const bool tame = seed % 4 != 0;
  while (code.size() < bundles * ia64::kBundleSize) {
    uint8_t bytes[ia64::kBundleSize];
    const ia64::Template& shape = ia64::kTemplates[random() % 32];
    if (tame && shape.units[0] == ia64::Unit::none) continue;
    Instruction slots[3] = {};
    for (unsigned i = 0; i < 3; ++i) {
      slots[i] = random_instruction(random, shape.units[i]);
      if (tame && random() % 64 != 0) make_legal(slots[i], i, random);
      ia64::set_unit(slots[i], shape.units[i]);
      ia64::set_stop(slots[i], shape.stops[i]);
    }
    const bool encoded = ia64::encode_bundle(slots, bytes);
    if (tame && (!encoded || has_reserved_fields(bytes))) continue;
    if (!encoded) {
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    }
    code.insert(code.end(), bytes, bytes + ia64::kBundleSize);
  }
  return code;
}

}  // namespace respike::fuzz
