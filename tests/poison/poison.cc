// Overwrites registers that hold nothing, to test the analyses that say so.
//
//   poison [--share PERCENT] [--seed N] [--until N] [--wrong] IN OUT
//   poison --gp-loads [--until N] [--wrong] IN OUT
//
// In front of a random share of all instructions (default 10 %) a random half of the registers that
// RegisterFlow calls dead there get a random value. Where GpValidity says that gp is known, some of
// the places compute gp from the program counter and add the difference to the stack pointer; the
// program survives only if the difference is 0. Odd seeds do this, even seeds overwrite gp where it
// is dead. The image must behave as before. --wrong overwrites registers that are live, so that a
// test can see whether it would notice.
//
// --gp-loads overwrites nothing, but computes gp in this way in front of every load of gp that is
// called needless; with --wrong, in front of all other loads after calls.
//
// To find the fault if the image behaves differently: --until makes only the first N of all changes
// and prints the last of them, so halving N leads to the culprit.
//
// This program shares only the analyses with the instrumenter's probes. A block with any part of a
// sequence that must not change is left out from there on, a glued block as a whole. The stack
// pointer is always live; the lock flag and the floating-point control register are not data.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "optimizer/analysis/call_graph.h"
#include "optimizer/analysis/gp_validity.h"
#include "optimizer/analysis/needless_gp_loads.h"
#include "optimizer/analysis/register_flow.h"
#include "optimizer/base/diagnostics.h"
#include "optimizer/base/error.h"
#include "optimizer/check/invariants.h"
#include "optimizer/emit/emit.h"
#include "optimizer/image/image.h"
#include "optimizer/layout/orders.h"
#include "optimizer/lift/lift.h"
#include "optimizer/machine/machine.h"

namespace respike {
namespace {

struct Options {
  std::string in, out;
  double share = 0.1;
  uint64_t seed = 1;
  uint64_t until = UINT64_MAX;
  bool wrong = false;
  bool gp_loads = false;
};

class Poisoner {
 public:
  Poisoner(Program& program, const Options& options)
      : program_(program),
        machine_(*program.machine),
        options_(options),
        random_(options.seed),
        checks_gp_(options.seed % 2 != 0),
        calls_(program),
        registers_(program, calls_),
        gp_(program, calls_),
        needless_loads_(find_needless_gp_loads(program)) {
    for (Register r = 0; r < machine_.register_count; ++r) {
      const std::string name = machine_.text.register_name(r);
      floating_.push_back(name.starts_with("$f"));
      data_.push_back(name != "fpcr" && name != "lock" && r != machine_.abi.stack_pointer &&
                      !(checks_gp_ && r == machine_.global_pointer()));
    }
  }

  void run() {
    // All facts are about the program before the changes, so blocks are only changed at the end.
    struct Changed {
      ProcedureId procedure;
      BlockId block;
      std::vector<Instruction> instructions;
    };
    std::vector<Changed> changed;
    for (ProcedureId p = 0; p < program_.procedures.size(); ++p) {
      if (!program_[p].movable()) continue;
      const std::vector<bool> closed = closed_blocks(program_[p]);
      for (BlockId b = 0; b < closed.size(); ++b)
        if (!closed[b]) changed.push_back({p, b, options_.gp_loads ? check(p, b) : poison(p, b)});
    }
    for (const Changed& c : changed)
      program_[c.procedure].blocks[c.block].instructions.assign(*program_.arena, c.instructions);
  }

  uint64_t changes = 0;
  std::string last;  // change

 private:
  bool happens(double probability) { return std::bernoulli_distribution(probability)(random_); }

  /// Where a sequence may run into a block or out of it.
  static std::vector<bool> closed_blocks(const Procedure& procedure) {
    std::vector<bool> closed(procedure.blocks.size());
    for (BlockId b = 0; b < closed.size(); ++b)
      if (procedure.blocks[b].has(BasicBlock::kGluedToNext)) {
        closed[b] = true;
        closed[procedure.blocks[b].edge(Edge::Kind::fall_through)->target] = true;
      }
    return closed;
  }

  std::vector<Instruction> poison(ProcedureId p, BlockId b) {
    const BasicBlock& block = program_[p].blocks[b];
    const std::vector<RegisterSet> live = registers_.live_points(p, b);
    const std::vector<bool> gp = gp_.valid_points(p, b);
    std::vector<Instruction> result;
    bool open = true;
    for (uint32_t i = 0; i < block.instructions.size(); ++i) {
      const Instruction& instruction = block.instructions[i];
      if (open && happens(options_.share)) {
        place_ = {p, b, i};
        if (checks_gp_ && gp[i] && happens(0.3)) check_gp(program_[p], live[i], result);
        overwrite(live[i], result);
      }
      open &= instruction.is_pseudo() || machine_.facts(instruction).role == SequenceRole::none;
      result.push_back(instruction);
    }
    return result;
  }

  /// Checks gp in front of loads after calls.
  std::vector<Instruction> check(ProcedureId p, BlockId b) {
    const BasicBlock& block = program_[p].blocks[b];
    const std::vector<RegisterSet> live = registers_.live_points(p, b);
    std::vector<Instruction> result;
    bool open = true;
    for (uint32_t i = 0; i < block.instructions.size(); ++i) {
      const Instruction& instruction = block.instructions[i];
      place_ = {p, b, i};
      if (open && is_load_behind_call(program_[p], instruction) && is_needless() != options_.wrong)
        check_gp(program_[p], live[i], result);
      open &= instruction.is_pseudo() || machine_.facts(instruction).role == SequenceRole::none;
      result.push_back(instruction);
    }
    return result;
  }

  bool is_load_behind_call(const Procedure& procedure, const Instruction& instruction) const {
    if (instruction.is_pseudo() || !instruction.has_reference() ||
        !machine_.fixups.is_upper_half(instruction))
      return false;
    const Reference& reference = procedure.references[instruction.immediate];
    return reference.kind == ReferenceKind::gp_load_high &&
           reference.target.where == CodeLocation::Where::return_point;
  }

  bool is_needless() const {
    return std::any_of(needless_loads_.begin(), needless_loads_.end(), [&](const GpLoad& load) {
      return std::tie(load.procedure, load.block, load.upper) == place_;
    });
  }

  void overwrite(const RegisterSet& live, std::vector<Instruction>& code) {
    for (Register r = 0; r < data_.size(); ++r) {
      if (!data_[r] || live.contains(r) != options_.wrong || happens(0.5)) continue;
      const std::string name = machine_.text.register_name(r);
      const uint64_t value = random_();
      if (!is_due("overwrites", name)) continue;
      if (floating_[r])  // 2.0 or -2.0
        add(code, fmt::format("cmpteq $f31,$f31,{}", name));
      else  // odd: no address of anything but a byte
        add(code, fmt::format("lda {},{}(zero)", name, static_cast<int>(value & 0x7ffe) - 0x3fff));
      if (floating_[r] && value % 2 != 0) add(code, fmt::format("cpysn {0},{0},{0}", name));
    }
  }

  /// sp += (gp as computed from the program counter) - gp
  void check_gp(Procedure& procedure, const RegisterSet& live, std::vector<Instruction>& code) {
    Register free = 0;
    while (free < data_.size() && (!data_[free] || floating_[free] || live.contains(free))) ++free;
    if (free == data_.size()) return;
    const std::string r = machine_.text.register_name(free);
    if (!is_due("checks gp by", r)) return;
    add(code, fmt::format("br {},0x4", r));
    refer(procedure, ReferenceKind::pc_high, add(code, fmt::format("ldah {0},0({0})", r)));
    refer(procedure, ReferenceKind::pc_low, add(code, fmt::format("lda {0},0({0})", r)));
    add(code, fmt::format("subq {0},gp,{0}", r));
    add(code, fmt::format("addq sp,{},sp", r));
  }

  bool is_due(std::string_view what, std::string_view name) {
    if (++changes > options_.until) return false;
    const auto& [p, b, i] = place_;
    const Procedure& procedure = program_[p];
    last = fmt::format("{} {} in front of instruction {} of block {} ({:#x}) of {}", what, name, i,
                       b, program_.address_of(procedure.blocks[b]), procedure.name);
    return true;
  }

  Instruction& add(std::vector<Instruction>& code, const std::string& text) {
    code.push_back(machine_.text.parse(text, 0));
    return code.back();
  }

  void refer(Procedure& procedure, ReferenceKind kind, Instruction& instruction) {
    instruction.flags |= Instruction::kHasReference;
    instruction.immediate = static_cast<int32_t>(procedure.references.size());
    procedure.references.push_back(
        {kind, {.where = CodeLocation::Where::address, .address = *procedure.gp}});
  }

  Program& program_;
  const Machine& machine_;
  const Options& options_;
  std::mt19937_64 random_;
  const bool checks_gp_;
  std::tuple<ProcedureId, BlockId, uint32_t> place_{};  // in front of this instruction
  const CallGraph calls_;
  const RegisterFlow registers_;
  const GpValidity gp_;
  const std::vector<GpLoad> needless_loads_;
  std::vector<bool> floating_, data_;  // by register
};

void run(const Options& options) {
  Diagnostics diagnostics;
  const Image image = read_image(std::filesystem::path(options.in));
  require_rewritable(image);
  Program program = lift(image, diagnostics);
  Layout layout = original_layout(program);
  Poisoner poisoner(program, options);
  poisoner.run();
  if (const auto violation = find_violation(program)) throw Error(*violation, options.in);
  Provenance note;
  note.options = "poison";
  const auto bytes = emit(program, std::move(layout), std::move(note), diagnostics);
  write_file(options.out, bytes, options.in);
  fmt::print("{} changes; the last one {}\n", std::min(poisoner.changes, options.until),
             poisoner.last);
}

}  // namespace
}  // namespace respike

int main(int argc, char** argv) {
  respike::Options options;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--share" && i + 1 < argc)
      options.share = std::atof(argv[++i]) / 100;
    else if (argument == "--seed" && i + 1 < argc)
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    else if (argument == "--until" && i + 1 < argc)
      options.until = std::strtoull(argv[++i], nullptr, 10);
    else if (argument == "--gp-loads")
      options.gp_loads = true;
    else if (argument == "--wrong")
      options.wrong = true;
    else
      files.emplace_back(argument);
  }
  if (files.size() != 2) {
    std::fputs("poison [--share PERCENT] [--seed N] [--gp-loads] [--until N] [--wrong] IN OUT\n",
               stderr);
    return 2;
  }
  options.in = files[0];
  options.out = files[1];
  try {
    respike::run(options);
  } catch (const respike::Error& error) {
    fmt::print(stderr, "poison: {}\n", error.what());
    return 1;
  }
  return 0;
}
