// Reads the code of a piece into the facts that the model needs.
//
// Micro-ops are counted as the decoders make them, in the fused domain, by three rules; an exact
// table would have a row for each of 1,300 forms and each processor, and would change few figures.
// An instruction is one micro-op; an instruction that both reads and writes memory has the
// processor's number of micro-ops (processors.h); a comparison or a simple arithmetic instruction
// together with the conditional branch after it is one micro-op. Example: `add %eax,(%rdi); cmp
// %ecx,%edx; jne` is two micro-ops on Zen 3 and three on Golden Cove.
//
// Which instructions fuse: cmp, test, add, sub, inc, dec, and, or, xor on Zen 3 (Software
// Optimization Guide, from memory); Intel's processors fuse fewer conditions, and or and xor not
// (Optimization Reference Manual, from memory), which the model leaves out.
//
// Instructions that can neither fault nor be interrupted are counted together with the next
// instruction that can (Piece::counted_at), which makes counting cheaper and leaves the counts
// exact.
//
// QEMU ends a block before an instruction that crosses a page, but shows the plugin the bytes of
// this instruction up to the page's end: bytes that do not decode after other instructions are not
// part of the piece. (If they are an instruction that the decoder does not know, the model sees
// control leave the piece before its end.)

#include "models/x86_64/piece.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>

#include "optimizer/machine/x86_64/codec.h"
#include "optimizer/machine/x86_64/meaning.h"

namespace respike::measure::x86 {
namespace {

using namespace ::respike::x86_64;

/// Names are those of rows of the instruction tables; a row stands for several instructions.
bool fuses(const Form& form) {
  constexpr std::string_view kFusing[] = {"cmp", "test", "add sub", "inc dec", "or and xor"};
  return form.space == Space::legacy && std::ranges::find(kFusing, form.name) != std::end(kFusing);
}

/// Whether the instruction, once begun, cannot be stopped: no memory, no trap.
bool runs_through(const Form& form, const Effects& effects) {
  return form.flow == Flow::none && !form.any && !form.x87 && effects.described &&
         std::ranges::all_of(effects.memory_list(),
                             [](const MemoryOperand& m) { return m.access == kNoAccess; }) &&
         form.name != "div idiv";
}

bool reads_and_writes_memory(const Effects& effects) {
  return std::ranges::any_of(effects.memory_list(), [](const MemoryOperand& m) {
    return !m.stack && (m.access & kRead) != 0 && (m.access & kWrite) != 0;
  });
}

Transfer transfer_of(const Form& form, const Decoded& decoded) {
  const bool direct = is_direct(form);
  switch (form.flow) {
    case Flow::branch:
      return Transfer::conditional;
    case Flow::jump:
      return direct ? Transfer::direct : Transfer::indirect;
    case Flow::call:
      return direct ? Transfer::direct_call : Transfer::indirect_call;
    case Flow::ret:
      return Transfer::returns;
    default:
      break;
  }
  const bool repeated = (decoded.prefixes & (Decoded::kRepeat | Decoded::kRepeatNot)) != 0;
  return form.repeats && repeated ? Transfer::repeats : Transfer::none;
}

/// Cuts the code into parts while it is read.
class Cutter {
 public:
  explicit Cutter(unsigned entry_ops) : entry_ops_(entry_ops) {}

  /// `joins`: the instruction is fused with the previous one, and stays with it.
  void add(uint64_t address, size_t length, unsigned micro_ops, bool joins) {
    if (!joins && (fetches_.empty() || fetches_.back().micro_ops + micro_ops > entry_ops_ ||
                   fetches_.back().window() != address >> kWindowShift))
      fetches_.push_back({address, 0, 0});
    Fetch& fetch = fetches_.back();
    fetch.micro_ops += uint8_t(micro_ops);
    fetch.end = uint8_t(std::min<uint64_t>(address + length - (fetch.window() << kWindowShift),
                                           std::numeric_limits<uint8_t>::max()));
  }

  void put_into(X86Piece& piece) const {
    for (const Fetch& fetch : fetches_) {
      const X86Piece::Part part{uint16_t(fetch.start - piece.address), fetch.end, fetch.micro_ops};
      if (piece.near_parts < X86Piece::kNear)
        piece.near[piece.near_parts++] = part;
      else
        piece.far.push_back(part);
    }
  }

 private:
  std::vector<Fetch> fetches_;
  const unsigned entry_ops_;
};

}  // namespace

std::unique_ptr<X86Piece> read_piece(uint64_t address, std::span<const uint8_t> code,
                                     const Fetching& fetching) {
  auto piece = std::make_unique<X86Piece>();
  piece->address = address;
  piece->length = uint32_t(code.size());
  Cutter cutter(fetching.entry_ops);
  bool can_fuse = false;
  uint8_t uncounted = 0;
  const auto count_here = [&] {
    if (uncounted > 0) piece->counted_at[piece->counted_at.size() - uncounted] = uncounted;
    uncounted = 0;
  };
  for (size_t at = 0; at < code.size();) {
    const auto rest = code.subspan(at);
    const Decoded decoded = decode(rest);
    if (!decoded.valid() && at > 0) {  // see above
      piece->length = uint32_t(at);
      break;
    }
    const size_t length = decoded.valid() ? decoded.length : rest.size();
    unsigned micro_ops = 1;
    bool fused = false, through = false;
    if (decoded.valid()) {
      const Form& form = form_of(decoded);
      const Effects effects = effects_of(decoded, rest.data());
      through = runs_through(form, effects);
      fused = can_fuse && form.flow == Flow::branch && form.condition;
      can_fuse = fuses(form);
      if (fused)
        micro_ops = 0;
      else if (reads_and_writes_memory(effects))
        micro_ops = fetching.read_write_ops;
      piece->transfer = transfer_of(form, decoded);
      if (is_direct(form))
        piece->target = address + at + length + uint64_t(branch_distance(decoded, rest.data()));
    }
    cutter.add(address + at, length, micro_ops, fused);
    piece->micro_ops += uint16_t(micro_ops);
    piece->last_at = uint16_t(at);
    ++piece->instructions;
    ++uncounted;
    piece->counted_at.push_back(0);
    if (!through) count_here();
    at += length;
  }
  count_here();
  cutter.put_into(*piece);
  return piece;
}

std::vector<Fetch> X86Piece::fetches() const {
  std::vector<Fetch> result;
  for (unsigned i = 0; i < near_parts; ++i) result.push_back(fetch(near[i]));
  for (const Part& part : far) result.push_back(fetch(part));
  return result;
}

}  // namespace respike::measure::x86
