// Reports a fault that ends the program: a line with the place and the fault, and the registers.

#include "emulators/ia64/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

#include "emulators/ia64/signals.h"
#include "optimizer/machine/ia64/codec.h"
#include "optimizer/machine/ia64/text.h"

namespace respike::emulator::ia64 {

namespace {

/// The file that holds an address, and the offset in the file.
std::string place(const GuestMemory& memory, uint64_t ip) {
  const auto found = memory.find(ip);
  if (!found || found->second.file.empty()) return "";
  const Mapping& mapping = found->second;
  return fmt::format(" in {} (offset 0x{:x})", mapping.file,
                     (ip & ~uint64_t{15}) - found->first + mapping.offset);
}

std::string registers(Cpu& cpu) {
  const FrameMarker marker{cpu.cfm};
  std::string text =
      fmt::format("  cfm sof {} sol {} sor {} rrb {} {} {}  bsp 0x{:x}  pr 0x{:x}\n", marker.sof(),
                  marker.sol(), marker.sor(), marker.rrb_gr(), marker.rrb_fr(), marker.rrb_pr(),
                  cpu.stack.bsp(cpu), predicates(cpu));
  text += fmt::format("  pfs 0x{:x}  lc 0x{:x}  ec {}  unat 0x{:x}  fpsr 0x{:x}  rsc 0x{:x}\n",
                      cpu.pfs, cpu.lc, cpu.ec, cpu.unat, cpu.fpsr, cpu.rsc);
  for (unsigned b = 0; b < 8; ++b)
    text +=
        fmt::format("{} b{} 0x{:016x}{}", b % 4 ? "" : " ", b, cpu.br[b], b % 4 == 3 ? "\n" : " ");
  for (unsigned r = 1; r < 32 + marker.sof(); ++r) {
    const unsigned physical = marker.general(r);
    text += fmt::format("{} {:>4} 0x{:016x}{}", r % 4 == 1 ? " " : "", fmt::format("r{}", r),
                        general(cpu, physical), nat_of(cpu, physical) ? "*" : " ");
    if (r % 4 == 0) text += "\n";
  }
  return text.ends_with("\n") ? text : text + "\n";
}

}  // namespace

std::string instruction_text(const GuestMemory& memory, uint64_t ip) {
  const uint64_t bundle = ip & ~uint64_t{15};
  uint8_t bytes[16];
  {
    std::lock_guard guard(const_cast<GuestMemory&>(memory).lock());
    if (!memory.allows(bundle, 16, PROT_EXEC)) return "no code there";
    std::memcpy(bytes, memory.host(bundle), 16);
  }
  Instruction instructions[3];
  respike::ia64::decode_bundle(bytes, 0, instructions);
  unsigned slot = ip & 3;
  if (slot > 2) return "no such slot";
  if (slot == 1 && respike::ia64::op_of(instructions[1]) == respike::ia64::Op::long_half) slot = 2;
  return respike::ia64::print(instructions[slot], instructions[slot == 0 ? 0 : slot - 1], bundle);
}

void report_fault(Thread& thread, const GuestFault& fault) {
  if (thread.process.options.quiet) return;
  Cpu& cpu = thread.cpu;
  const bool at_data = fault.signal == SIGSEGV || fault.signal == SIGBUS;
  std::string text = fmt::format(
      "respike-ia64: {}: SIG{} at 0x{:x} slot {}{}: {}", thread.process.program,
      sigabbrev_np(fault.signal), cpu.ip & ~uint64_t{15}, cpu.ip & 3,
      place(thread.process.memory, cpu.ip), instruction_text(thread.process.memory, cpu.ip));
  if (at_data) text += fmt::format(", address 0x{:x}", fault.address);
  text += "\n";
  if (!thread.process.options.brief) text += registers(cpu);
  if (write(2, text.data(), text.size()) < 0) return;
}

}  // namespace respike::emulator::ia64
