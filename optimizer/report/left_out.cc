// A procedure that is not understood costs nothing, unless the program spends its time there.
// Before the program is counted, it is unknown where that is, but the loops of interpreters, the
// usual case, are among the biggest procedures of their programs. Start-up code runs once, so it
// does not matter, however big a part of a small program it is.

#include "optimizer/report/left_out.h"

#include <fmt/format.h>

#include <algorithm>

#include "optimizer/image/image.h"
#include "optimizer/machine/machine.h"

namespace respike {

namespace {

bool does_nothing(const Program& program, const Procedure& procedure) {
  return std::ranges::all_of(procedure.blocks, [&](const BasicBlock& block) {
    return std::ranges::all_of(block.instructions.span(), [&](const Instruction& i) {
      return i.is_pseudo() || (i.opcode != kInvalid && program.machine->facts(i).nop);
    });
  });
}

}  // namespace

std::optional<std::string> describe_left_out(std::vector<LeftOut> left_out,
                                             std::span<const uint64_t> others,
                                             std::string_view fate) {
  constexpr double kMuch = 0.01;
  constexpr size_t kBiggest = 10, kNamed = 3;
  if (left_out.empty()) return std::nullopt;
  std::stable_sort(left_out.begin(), left_out.end(),
                   [](const LeftOut& a, const LeftOut& b) { return a.bytes > b.bytes; });
  uint64_t bytes = 0, all = 0;
  for (const LeftOut& procedure : left_out) bytes += procedure.bytes;
  for (const uint64_t size : others) all += size;
  all += bytes;
  const auto bigger = std::count_if(others.begin(), others.end(),
                                    [&](uint64_t size) { return size > left_out.front().bytes; });
  const double share = all == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(all);
  if (bytes == 0 || (share < kMuch && bigger >= static_cast<ptrdiff_t>(kBiggest)))
    return std::nullopt;

  std::string names;
  for (size_t i = 0; i < std::min(kNamed, left_out.size()); ++i)
    names +=
        fmt::format("{}{} ({} bytes)", i == 0 ? "" : ", ", left_out[i].name, left_out[i].bytes);
  if (left_out.size() > kNamed) names += fmt::format(" and {} more", left_out.size() - kNamed);
  return fmt::format("{:.2f}% of the code {}: {}", 100 * share, fate, names);
}

bool runs_once(const Program& program, const Procedure& procedure) {
  if (program.image == nullptr || program.image->entry != procedure.address) return false;
  for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
    const BasicBlock& block = procedure.blocks[b];
    const bool jumps =
        !block.instructions.empty() &&
        program.machine->facts(block.instructions.back()).flow == ControlFlow::indirect_jump;
    if (jumps ||
        std::ranges::any_of(block.successors, [&](const Edge& edge) { return edge.target <= b; }))
      return false;
  }
  return true;
}

bool is_worth_telling(const Program& program, const Procedure& procedure) {
  return procedure.state == Procedure::State::opaque && !runs_once(program, procedure) &&
         !does_nothing(program, procedure);
}

}  // namespace respike
