// Random code in a sandbox: a process without system calls in which any fault ends the thread.
//
// The oracle is the emulator's second way to execute everything. Runs are cut after a number of
// blocks, which is not the same number of instructions for both ways, so only those that end by a
// fault in both are compared, register by register.

#include "tests/fuzz/emulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "optimizer/target/ia64/codec.h"
#include "simulator/ia64/handlers.h"
#include "simulator/ia64/process.h"
#include "simulator/ia64/signals.h"

namespace respike::fuzz {

namespace {

namespace emulator = simulator::ia64;

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

Outcome run(std::span<const uint8_t> code, bool general_only) {
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
  emulator::run(*thread);

  Outcome outcome;
  outcome.faulted = thread->ended;
  outcome.fault = thread->fault;
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
  outcome.data.assign(memory.host(kData), memory.host(kData) + kSize);
  return outcome;
}

std::string difference(const Outcome& a, const Outcome& b) {
  if (a.ip != b.ip) return fmt::format("ip {:x} {:x}", a.ip, b.ip);
  if (a.fault.signal != b.fault.signal || a.fault.code != b.fault.code ||
      a.fault.address != b.fault.address) {
    return fmt::format("at {:x}: fault {} {} {:x}, {} {} {:x}", a.ip, a.fault.signal, a.fault.code,
                       a.fault.address, b.fault.signal, b.fault.code, b.fault.address);
  }
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

}  // namespace

std::string run_random_code(std::span<const uint8_t> code) {
  const Outcome fast = run(code, false), general = run(code, true);
  return fast.faulted && general.faulted ? difference(fast, general) : "";
}

std::vector<uint8_t> make_random_code(uint64_t seed) {
  using namespace respike::ia64;
  std::mt19937_64 random(seed);
  std::vector<uint8_t> code;
  const size_t bundles = 4 + random() % 60;
  while (code.size() < bundles * kBundleSize) {
    uint8_t bytes[kBundleSize];
    const Template& shape = kTemplates[random() % 32];
    Instruction slots[3] = {};
    for (unsigned i = 0; i < 3; ++i) {
      // Any instruction that the slot can hold; most with small register numbers, so that they
      // meet.
      Op op = Op::invalid;
      for (int tries = 0; tries < 200; ++tries) {
        op = static_cast<Op>(kFirstRow + random() % kRowCount);
        const bool privileged = emulator::family_of(op) == emulator::Family::none;
        if (fits_unit(op, shape.units[i]) && (!privileged || random() % 200 == 0)) break;
      }
      if (shape.units[i] == Unit::l) op = Op::long_half;
      slots[i].opcode = opcode(op);
      slots[i].predicate = random() % 4 == 0 ? static_cast<uint8_t>(random() % 64) : 0;
      for (auto& field : slots[i].registers) {
        const uint64_t r = random();
        field = static_cast<uint8_t>(r % 3 == 0   ? r >> 8 & 0x7f
                                     : r % 3 == 1 ? r >> 8 & 0x0f
                                                  : 32 + (r >> 8 & 0x1f));
      }
      slots[i].immediate = static_cast<int32_t>(random() % 2 ? random() % 64 : random());
      if (encoding_of(slots[i]).type() == 'B')
        slots[i].immediate = static_cast<int32_t>(random() % 40) * 16 - 160;
      set_unit(slots[i], shape.units[i]);
      set_stop(slots[i], shape.stops[i]);
    }
    if (!encode_bundle(slots, bytes)) {
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    }
    code.insert(code.end(), bytes, bytes + kBundleSize);
  }
  return code;
}

}  // namespace respike::fuzz
