// Inserts probes into code.
//
// All places and registers are chosen on the program as it was lifted; then the program is edited.
// A probe in a block goes where the registers that it needs are free, gp is known and flags are
// dead, if there is such a place, else where it costs least. A probe on an edge gets a block of its
// own. Where control falls through, that block follows the source block. Where control jumps, it
// precedes the target if control does not fall into the target there; otherwise it goes to the
// nearest place that control does not fall into.
//
// A block with a probe that retries (an atomic probe) is split into three pieces: the code before,
// the loop, and the code after. The first piece keeps the block's number, so references to its
// start stay right. The last piece gets the edges of the block, and return points move to it.
//
// Code may grow by 30%. Where probes in place need more, the probes that are expected to run least
// become calls of routines, one routine for each set of registers. Example: 100 probes add 4
// instructions each, and 40 of them find the same three registers free. As calls of one routine,
// these 40 probes add 2 instructions each.
//
// Where no register is free, registers are saved below the stack pointer, and CFI states with a
// deeper frame describe this to unwinders.

#include "instrument/probes.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "instrument/probe_places.h"
#include "instrument/prolog_places.h"
#include "optimizer/image/image.h"

namespace respike {
namespace {

/// Whether control also comes to the block from other blocks of its procedure.
bool is_successor(const Procedure& procedure, BlockId block) {
  return std::ranges::any_of(procedure.blocks, [&](const BasicBlock& from) {
    return std::ranges::any_of(from.successors,
                               [&](const Edge& edge) { return edge.target == block; });
  });
}

}  // namespace

ProbeInserter::ProbeInserter(Program& program, const CodeFacts& facts, uint64_t counters,
                             Counters how, std::optional<CounterBases> bases)
    : program_(program),
      facts_(facts),
      machine_(*program.machine),
      code_(*program.machine->probes),
      flags_(std::span(program.machine->abi.flags)),
      counters_(counters),
      how_(how),
      bases_(bases),
      keeps_prologs_(reads_prologs(program)),
      by_procedure_(program.procedures.size()) {}

const std::vector<PointFacts>& ProbeInserter::facts_of(ProcedureId procedure, BlockId block) {
  if (point_facts_of_ != std::pair(procedure, block)) {
    point_facts_ = facts_.points(procedure, block);
    point_facts_of_ = {procedure, block};
  }
  return point_facts_;
}

std::vector<bool> ProbeInserter::open_places_of(ProcedureId procedure, BlockId block) {
  if (glued_before_of_ != procedure) {
    glued_before_ = glued_before(machine_, program_[procedure]);
    glued_before_of_ = procedure;
  }
  const BasicBlock& code = program_[procedure].blocks[block];
  std::vector<bool> open = open_places(machine_, code, glued_before_[block]);
  if (keeps_prologs_) close_prologs(program_, program_[procedure], code, open);
  return open;
}

/// Takes free registers first, then others, which have to be saved; never `keep`. False when no
/// probe is possible at this place.
bool ProbeInserter::choose_registers(Probe& probe, const PointFacts& facts,
                                     std::optional<Register> keep) const {
  probe.keep_flags = !(facts.live & flags_).empty();
  const unsigned needed = code_.registers(probe.kind, facts.gp, probe.keep_flags);
  unsigned found = 0;
  probe.saved = 0;
  probe.gp_known = facts.gp;
  for (const bool free : {true, false})
    for (const Register r : code_.usable(probe.kind, probe.keep_flags)) {
      if (r == keep || facts.live.contains(r) == free) continue;
      if (found < needed) {
        probe.registers[found++] = r;
        if (!free) ++probe.saved;
      } else if (found < std::size(probe.registers) && free) {
        probe.registers[found++] = r;
      }
    }
  probe.small = code_.has_routines() && probe.kind != ProbeKind::record_target &&
                probe.saved == 0 && found >= Probes::kRoutineRegisters;
  return found >= needed;
}

void ProbeInserter::keep(ProcedureId procedure, const Probe& probe) {
  ++statistics_.probes;
  if (probe.saved != 0) ++statistics_.saved_registers;
  if (machine_.gp != nullptr && !probe.gp_known) ++statistics_.without_gp;
  by_procedure_[procedure].push_back(probe);
}

void ProbeInserter::count_block(ProcedureId id, BlockId block_id, uint64_t counter, double weight) {
  const std::vector<bool> open = open_places_of(id, block_id);
  const std::vector<PointFacts>& facts = facts_of(id, block_id);
  const bool needs_gp = machine_.gp != nullptr;
  Probe best{};
  int best_cost = 1000;
  for (uint32_t i = 0; i < open.size() && best_cost != 0; ++i) {
    if (!open[i]) continue;
    Probe probe{.block = block_id,
                .index = i,
                .where = Where::in_block,
                .kind = counting(),
                .counter = counter};
    if (!choose_registers(probe, facts[i])) continue;
    const int cost = (needs_gp && !probe.gp_known ? 2 : 0) + (probe.keep_flags ? 2 : 0) +
                     (probe.saved != 0 ? 2 + 2 * probe.saved : 0);
    if (cost >= best_cost) continue;
    best = probe;
    best_cost = cost;
  }
  best.weight = weight;
  keep(id, best);
}

void ProbeInserter::count_edge(ProcedureId id, BlockId from, BlockId to, Where where,
                               uint64_t counter, double weight) {
  Probe probe{.block = from, .index = 0, .where = where, .kind = counting(), .counter = counter};
  probe.weight = weight;
  choose_registers(probe, facts_of(id, to).front());
  keep(id, probe);
}

void ProbeInserter::count(ProcedureId id, const CounterPlacement& placement, uint32_t first_counter,
                          double calls) {
  const FlowGraph& graph = placement.graph;
  for (uint32_t i = 0; i < placement.probes.size(); ++i) {
    const uint64_t counter = counters_ + 8 * (uint64_t{first_counter} + i);
    const double weight = placement.weights[i] * calls;
    const uint32_t e = placement.probes[i];
    const FlowEdge& edge = graph.edges[e];
    switch (edge.kind) {
      case FlowEdge::Kind::block:
        count_block(id, e, counter, weight);
        break;
      case FlowEdge::Kind::fall_through:
        count_edge(id, graph.block_of(edge.from), graph.block_of(edge.to), Where::after_block,
                   counter, weight);
        break;
      case FlowEdge::Kind::call_return:
        count_edge(id, graph.block_of(graph.edges[e - 1].from), graph.block_of(edge.to),
                   Where::after_block, counter, weight);
        break;
      default:
        assert(edge.kind == FlowEdge::Kind::taken);
        count_edge(id, graph.block_of(edge.from), graph.block_of(edge.to), Where::on_taken, counter,
                   weight);
    }
  }
}

bool ProbeInserter::record_target(ProcedureId id, BlockId block_id, uint32_t counter) {
  const BasicBlock& block = program_[id].blocks[block_id];
  const uint32_t last = block.instructions.size() - 1;
  if (!open_places_of(id, block_id)[last]) return false;
  Probe probe{.block = block_id,
              .index = last,
              .where = Where::in_block,
              .kind = ProbeKind::record_target,
              .counter = counters_ + 8 * uint64_t{counter}};
  const Instruction& jump = block.instructions.back();
  if (!code_.can_record({&jump, input_bytes(program_, jump)}) ||
      !choose_registers(probe, facts_of(id, block_id)[last], code_.jump_register(jump)))
    return false;
  if (keeps_prologs_ && probe.saved != 0) return false;  // after the call the frame would be deeper
  keep(id, probe);
  return true;
}

/// Calls the routine at an entry. The call changes flags, so there is none where flags are live.
void ProbeInserter::find_copy_at_entry(ProcedureId id, BlockId block, uint64_t address) {
  const std::vector<bool> open = open_places_of(id, block);
  const auto first = std::ranges::find(open, true) - open.begin();
  if (first == std::ssize(open)) return find_copy_behind(id, block, address);
  const auto index = static_cast<uint32_t>(first);
  if (!(facts_of(id, block)[index].live & flags_).empty()) return;
  ++statistics_.probes;
  // Where the procedure itself also comes here, its red zone may be in use. The call goes before
  // all counts of the place.
  by_procedure_[id].insert(by_procedure_[id].begin(),
                           Probe{.block = block,
                                 .index = index,
                                 .where = Where::in_block,
                                 .kind = ProbeKind::find_copy,
                                 .counter = address,
                                 .lowers = is_successor(program_[id], block)});
}

/// Between the block and the block that it falls through to.
void ProbeInserter::find_copy_behind(ProcedureId id, BlockId block, uint64_t address) {
  const Edge* next = program_[id].blocks[block].edge(Edge::Kind::fall_through);
  if (next == nullptr || !(facts_of(id, next->target).front().live & flags_).empty()) return;
  ++statistics_.probes;
  // Among the probes between two blocks, the probe that is inserted last comes first.
  by_procedure_[id].push_back(Probe{.block = block,
                                    .index = 0,
                                    .where = Where::after_block,
                                    .kind = ProbeKind::find_copy,
                                    .counter = address});
}

void ProbeInserter::find_copies(uint64_t address,
                                std::span<const std::pair<ProcedureId, BlockId>> forks) {
  for (ProcedureId id = 0; id < by_procedure_.size(); ++id) {
    const Procedure& procedure = program_[id];
    // OCaml's runtime recognizes a stack overflow by code of OCaml that touches the stack, so such
    // code must not call for a copy. A thread gets there from code that has called.
    if (!procedure.movable() || procedure.nonstandard) continue;
    for (const BlockId block : facts_.calls().outside_entries_of(id))
      if (!procedure.blocks[block].has(BasicBlock::kLandingPad) &&
          (block == 0 || procedure.blocks[block].has(BasicBlock::kEntry)))
        find_copy_at_entry(id, block, address);
  }
  for (const auto& [id, block] : forks)
    if (!program_[id].nonstandard) find_copy_behind(id, block, address);
}

// ---- small probes ----

ProbeInserter::Routine ProbeInserter::routine_of(ProcedureId id, const Probe& probe) const {
  Routine routine{{},
                  probe.gp_known ? program_[id].gp : std::nullopt,
                  (probe.counter - counters_) / 8 / Probes::kRoutineCounters};
  std::copy_n(probe.registers, routine.registers.size(), routine.registers.begin());
  return routine;
}

/// Whether a call follows a probe.
bool ProbeInserter::before_call(ProcedureId id, const Probe& probe) const {
  return probe.kind == ProbeKind::record_target &&
         is_call(machine_, program_[id].blocks[probe.block]);
}

/// The code of a probe in place, without the code that saves registers.
ProbeCode ProbeInserter::code_of(ProcedureId id, const Probe& probe) const {
  ProbeOperands operands{
      .counter = probe.counter,
      .gp = probe.gp_known ? program_[id].gp : std::nullopt,
      .keep_flags = probe.keep_flags,
      .own_copy = how_ == Counters::threads,
      .bases = bases_,
      .free = {probe.registers, code_.registers(probe.kind, probe.gp_known, probe.keep_flags)},
      .lowered = probe.saved == 0 ? 0 : code_.save_frame(probe.saved, before_call(id, probe))};
  if (probe.kind == ProbeKind::record_target) {
    operands.jump.instruction = &program_[id].blocks[probe.block].instructions.back();
    operands.jump.bytes = input_bytes(program_, *operands.jump.instruction);
  }
  return code_.probe(probe.kind, operands);
}

/// Bytes that a probe in place adds.
unsigned ProbeInserter::size_of(ProcedureId id, const Probe& probe) const {
  const ProbeCode code = code_of(id, probe);
  size_t instructions = code.code.size() + code.retry.size();
  if (probe.saved != 0) instructions += 2 + 2 * size_t{probe.saved};
  if (probe.where == Where::on_taken) ++instructions;
  return static_cast<unsigned>(instructions) * machine_.codec.groups.alignment();
}

/// Turns probes into calls of routines, least run first, until code grows no more than allowed.
void ProbeInserter::shrink() {
  if (!code_.has_routines()) return;
  constexpr double kGrowth = 0.30;
  constexpr uint32_t kFewest = 8;  // probes for which a routine is worth its size
  struct Candidate {
    Probe* probe;
    uint32_t routine;  // in the order of `uses`
    unsigned saving;   // bytes
  };
  uint64_t size = 0, added = 0;
  std::map<Routine, std::pair<uint32_t, uint32_t>> uses;  // routine -> its number, its probes
  std::vector<Candidate> candidates;
  for (ProcedureId id = 0; id < by_procedure_.size(); ++id) {
    for (const BasicBlock& block : program_[id].blocks)  // code that stays may not be instructions
      size += program_[id].movable() ? machine_.codec.size(block.instructions.span())
                                     : block.origin_size;
    for (Probe& probe : by_procedure_[id]) {
      const unsigned own = size_of(id, probe);
      added += own;
      if (!probe.small) continue;
      auto& [number, count] =
          uses.try_emplace(routine_of(id, probe), static_cast<uint32_t>(uses.size()), 0)
              .first->second;
      ++count;
      const unsigned call = 2 * machine_.codec.groups.alignment();
      const unsigned branch =
          probe.where == Where::on_taken ? machine_.codec.groups.alignment() : 0;
      candidates.push_back({&probe, number, own - std::min(own, call + branch)});
    }
  }
  // Calls of far routines would go through stubs, which cost more than the calls save. Routines are
  // in the middle of the text; code that does not fit into the text is after all memory of the
  // image.
  const uint64_t start = program_.ranges.front().start;
  const uint64_t middle = (start + program_.ranges.back().end) / 2;
  const uint64_t end = std::max(program_.ranges.back().end, counters_) + added + (added >> 2);
  if (std::max(middle - start, end - middle) > machine_.branches.reach / 10 * 9) return;
  const auto most = static_cast<uint64_t>(kGrowth * static_cast<double>(size));
  std::vector<bool> worthwhile(uses.size());
  std::vector<uint32_t> index(uses.size(), kNone);
  for (const auto& [routine, use] : uses) worthwhile[use.first] = use.second >= kFewest;
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.probe->weight < b.probe->weight; });
  std::vector<Routine> by_number(uses.size());
  for (const auto& [routine, use] : uses) by_number[use.first] = routine;
  for (const Candidate& candidate : candidates) {
    if (added <= most) break;
    if (!worthwhile[candidate.routine]) continue;
    uint32_t& routine = index[candidate.routine];
    if (routine == kNone) {
      routine = static_cast<uint32_t>(routines_.size());
      routines_.push_back(by_number[candidate.routine]);
      added += 10 * machine_.codec.groups.alignment();
    }
    candidate.probe->routine = routine;
    added -= candidate.saving;
    ++statistics_.small;
  }
  statistics_.routines = routines_.size();
}

/// The unwind state of a routine that keeps its return address in `link` and has no frame; kNone
/// when no tables describe any code.
uint32_t ProbeInserter::routine_state(Register link) {
  UnwindTables& unwind = program_.unwind;
  for (uint32_t c = 0; c < unwind.cies.size(); ++c) {
    const uint32_t initial = unwind.cies[c].initial_state;
    if (initial >= unwind.states.size()) continue;
    CfiState state = unwind.states[initial];
    if (state.cfa_is_expression || state.cfa_register != machine_.abi.stack_pointer ||
        state.cfa_offset != 0 || !state.rules.empty())
      continue;
    Cie cie = unwind.cies[c];
    cie.augmentation = "zR";
    cie.return_register = link;
    cie.lsda_encoding = cie.personality_encoding = Cie{}.personality_encoding;
    cie.personality = 0;
    cie.signal_frame = false;
    cie.initial_state = static_cast<uint32_t>(unwind.states.size());
    state.cie = static_cast<uint32_t>(unwind.cies.size());
    unwind.cies.push_back(std::move(cie));
    unwind.states.push_back(std::move(state));
    return unwind.cies.back().initial_state;
  }
  return kNone;
}

/// Adds the routines as procedures, in the middle of the text.
void ProbeInserter::add_routines(Layout& layout) {
  const auto middle = static_cast<ptrdiff_t>(layout.fragments.size() / 2);
  std::map<Register, uint32_t> states;  // by the register of the return address
  for (size_t i = 0; i < routines_.size(); ++i) {
    const Routine& routine = routines_[i];
    const auto id = static_cast<ProcedureId>(program_.procedures.size());
    Procedure& procedure = program_.procedures.emplace_back();
    procedure.name = fmt::format("respike.count.{}", i);
    procedure.address = program_.ranges.back().end;
    procedure.gp = routine.gp;
    const ProbeOperands operands{
        .counter = counters_ + 8 * routine.window * Probes::kRoutineCounters,
        .gp = routine.gp,
        .bases = bases_,
        .free = routine.registers};
    Probes::Routine code = code_.routine(counting(), operands);
    procedure.references = code.references;
    std::vector<Piece> pieces(1);
    pieces.back().instructions = code.code;
    if (!code.retry.empty()) {
      pieces.push_back({.instructions = code.retry, .retry = true});
      pieces.emplace_back();
    }
    auto& last = pieces.back().instructions;
    last.insert(last.end(), code.after.begin(), code.after.end());
    const Operands call = machine_.operands(code_.routine_call(0, routine.registers).back());
    const Register link = call.registers[call.uses];
    const auto [state, fresh] = states.try_emplace(link, kNone);
    if (fresh) state->second = routine_state(link);
    const std::vector<BlockId> blocks =
        add_blocks(id, BasicBlock{}, state->second, std::move(pieces), 0);
    program_[id].blocks[0].flags |= BasicBlock::kEntry | BasicBlock::kAddressTaken;
    layout.fragments.insert(layout.fragments.begin() + middle,
                            {.procedure = id, .blocks = blocks, .start = {.alignment = 16}});
  }
}

// ---- editing ----

/// The result of editing one procedure, for the layout and references.
struct ProbeInserter::Edited {
  std::vector<std::vector<BlockId>> before;  // by block of the input: new blocks before it
  std::vector<std::vector<BlockId>> behind;  // by block of the input: new blocks after it
  std::vector<std::vector<BlockId>> beyond;  // the same, after those; control does not fall in
  std::vector<BlockId> trailing;             // new blocks for the procedure's end
  std::vector<BlockId> end_of;               // by block of the input: the block with its end
};

/// Appends a probe to the last of `pieces`; `state` is the unwind state at the probe.
void ProbeInserter::write(ProcedureId id, const Probe& probe, uint32_t state,
                          std::vector<Piece>& pieces) {
  Procedure& procedure = program_[id];
  if (probe.routine != kNone) {
    const uint64_t number = (probe.counter - counters_) / 8 % Probes::kRoutineCounters;
    auto call =
        code_.routine_call(static_cast<uint32_t>(number), routines_[probe.routine].registers);
    call.back().flags |= Instruction::kHasReference;
    call.back().immediate = static_cast<int32_t>(procedure.references.size());
    procedure.references.push_back(
        {ReferenceKind::branch, {.procedure = first_routine_ + probe.routine, .block = 0}});
    auto& out = pieces.back().instructions;
    out.insert(out.end(), call.begin(), call.end());
    pieces.back().call = true;
    pieces.emplace_back();
    return;
  }
  const unsigned used = code_.registers(probe.kind, probe.gp_known, probe.keep_flags);
  const std::span<const Register> saved(probe.registers + used - probe.saved, probe.saved);
  const ProbeCode code = code_of(id, probe);
  const bool calls = before_call(id, probe);
  const auto append = [&](Instruction instruction) {
    if (instruction.has_reference()) {
      procedure.references.push_back(code.references[static_cast<size_t>(instruction.immediate)]);
      instruction.immediate = static_cast<int32_t>(procedure.references.size() - 1);
    }
    pieces.back().instructions.push_back(instruction);
  };
  const auto set_state = [&](uint32_t s) {
    pieces.back().instructions.push_back(
        {.opcode = kCfiState, .immediate = static_cast<int32_t>(s)});
  };
  const bool lowers = !saved.empty() || probe.lowers;
  const uint32_t deep =
      !lowers ? state
              : deeper_.find(program_.unwind.states, state, machine_.abi.stack_pointer,
                             code_.save_frame(saved.size(), calls));
  if (lowers) {
    bool lowered = deep == state;
    for (const Instruction& instruction : code_.save(saved, calls)) {
      append(instruction);
      if (lowered || machine_.facts(instruction).nop) continue;
      set_state(deep);
      lowered = true;
    }
  }
  for (const Instruction& instruction : code.code) append(instruction);
  if (probe.kind == ProbeKind::find_copy) {
    pieces.back().call = true;
    pieces.emplace_back();
  }
  if (!code.retry.empty()) {
    if (pieces.back().instructions.empty()) append(machine_.codec.nop);  // no block is empty
    pieces.push_back({.retry = true});
    for (const Instruction& instruction : code.retry) append(instruction);
    pieces.emplace_back();
  }
  if (lowers) {
    for (const Instruction& instruction : code_.restore(saved, calls)) append(instruction);
    if (deep != state) set_state(state);
  }
}

/// A call site in the LSDA of call site `like` that lets exceptions pass.
uint32_t ProbeInserter::call_site_that_unwinds(Procedure& procedure, uint32_t like) {
  if (like == kNone) return kNone;
  const CallSite wanted{.lsda = procedure.call_sites[like].lsda};
  auto& sites = procedure.call_sites;
  const auto known = std::find(sites.begin(), sites.end(), wanted);
  if (known != sites.end()) return static_cast<uint32_t>(known - sites.begin());
  sites.push_back(wanted);
  return static_cast<uint32_t>(sites.size() - 1);
}

/// Makes blocks of pieces[first ..], each falling through to the next; the last block gets no edge.
/// `like` has to be a copy, since adding blocks moves blocks.
std::vector<BlockId> ProbeInserter::add_blocks(ProcedureId id, const BasicBlock& like,
                                               uint32_t state, std::vector<Piece> pieces,
                                               size_t first) {
  Procedure& procedure = program_[id];
  std::vector<BlockId> ids;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (i >= first) {
      BasicBlock block;
      block.cfi_state = state;
      block.call_site =
          pieces[i].call ? call_site_that_unwinds(procedure, like.call_site) : like.call_site;
      block.instructions.assign(*program_.arena, pieces[i].instructions);
      const auto own = static_cast<BlockId>(procedure.blocks.size());
      if (pieces[i].retry)
        block.successors.push_back(*program_.arena, Edge{.target = own, .kind = Edge::Kind::taken});
      if (i + 1 < pieces.size())
        block.successors.push_back(*program_.arena,
                                   Edge{.target = own + 1, .kind = Edge::Kind::fall_through});
      procedure.blocks.push_back(block);
      ids.push_back(own);
    }
    for (const Instruction& instruction : pieces[i].instructions)
      if (instruction.is_pseudo()) state = static_cast<uint32_t>(instruction.immediate);
  }
  statistics_.added_blocks += ids.size();
  return ids;
}

/// Puts the probes of one block, in the order of their places, into the block.
void ProbeInserter::edit_block(ProcedureId id, std::span<const Probe> probes, Edited& edited) {
  const BlockId block_id = probes.front().block;
  const BasicBlock before = program_[id].blocks[block_id];
  std::vector<Piece> pieces(1);
  uint32_t state = before.cfi_state;
  const Probe* next = probes.data();
  const Probe* const end = next + probes.size();
  for (uint32_t i = 0; i < before.instructions.size(); ++i) {
    for (; next != end && next->index == i; ++next) write(id, *next, state, pieces);
    const Instruction& instruction = before.instructions[i];
    if (instruction.is_pseudo()) state = static_cast<uint32_t>(instruction.immediate);
    pieces.back().instructions.push_back(instruction);
  }
  const std::vector<BlockId> added = add_blocks(id, before, before.cfi_state, pieces, 1);
  BasicBlock& block = program_[id].blocks[block_id];
  block.instructions.assign(*program_.arena, pieces.front().instructions);
  if (added.empty()) return;
  BasicBlock& last = program_[id].blocks[added.back()];
  last.successors = before.successors;
  last.flags = before.flags & (BasicBlock::kGluedToNext | BasicBlock::kMayLeave);
  block.flags &= ~last.flags;
  if (pieces.front().call) block.call_site = call_site_that_unwinds(program_[id], before.call_site);
  block.successors = {};
  block.successors.push_back(*program_.arena,
                             Edge{.target = added.front(), .kind = Edge::Kind::fall_through});
  edited.end_of[block_id] = added.back();
  auto& behind = edited.behind[block_id];
  behind.insert(behind.begin(), added.begin(), added.end());
}

void ProbeInserter::split_edge(ProcedureId id, const Probe& probe, Edited& edited) {
  const BlockId from = edited.end_of[probe.block];
  const Edge::Kind kind =
      probe.where == Where::after_block ? Edge::Kind::fall_through : Edge::Kind::taken;
  const BasicBlock source = program_[id].blocks[from];
  const BlockId to = source.edge(kind)->target;
  const uint32_t state = program_[id].blocks[to].cfi_state;
  std::vector<Piece> pieces(1);
  write(id, probe, state, pieces);
  if (pieces.back().instructions.empty()) pieces.pop_back();
  const std::vector<BlockId> added = add_blocks(id, source, state, pieces, 0);
  Procedure& procedure = program_[id];
  procedure.blocks[added.back()].successors.push_back(
      *program_.arena, Edge{.target = to, .kind = Edge::Kind::fall_through});
  auto& successors = procedure.blocks[from].successors;
  successors.assign(*program_.arena, source.successors.span());  // the old list may be shared
  for (Edge& edge : successors)
    if (edge.kind == kind) edge.target = added.front();
  const auto put = [&](std::vector<BlockId>& place) {
    place.insert(place.end(), added.begin(), added.end());
  };
  if (probe.where == Where::after_block) {
    auto& behind = edited.behind[probe.block];
    const auto source_at = std::ranges::find(behind, from);
    const auto place = source_at == behind.end() ? behind.begin() : source_at + 1;
    behind.insert(place, added.begin(), added.end());
    return;
  }
  if (gaps_[id].before[to]) {
    gaps_[id].before[to] = false;
    return put(edited.before[to]);
  }
  const BlockId near = gaps_[id].near[probe.block];
  put(near == kNone ? edited.trailing : edited.beyond[near]);
}

/// Finds the places in the layout where control does not fall from block to block. A probe on a
/// branch stands before the branch's target if that is such a place, and then needs no branch of
/// its own; otherwise it stands at the nearest such place, where short branches reach it.
void ProbeInserter::find_gaps(const Layout& layout) {
  for (const Procedure& procedure : program_.procedures)
    gaps_.push_back({std::vector<bool>(procedure.blocks.size()),
                     std::vector<BlockId>(procedure.blocks.size(), kNone)});
  for (const Layout::Fragment& fragment : layout.fragments) {
    const Procedure& procedure = program_[fragment.procedure];
    Gaps& gaps = gaps_[fragment.procedure];
    const auto& blocks = fragment.blocks;
    std::vector<size_t> places;  // of blocks that do not fall through
    for (size_t i = 0; i < blocks.size(); ++i) {
      const BasicBlock& block = procedure.blocks[blocks[i]];
      const Edge* next = block.edge(Edge::Kind::fall_through);
      const bool last = i + 1 == blocks.size();
      if (block.has(BasicBlock::kGluedToNext) ||
          (next != nullptr && !last && next->target == blocks[i + 1]))
        continue;
      if (!last) gaps.before[blocks[i + 1]] = true;
      if (next == nullptr) places.push_back(i);
    }
    size_t place = 0;
    for (size_t i = 0; i < blocks.size() && !places.empty(); ++i) {
      while (place + 1 < places.size() && places[place] < i) ++place;
      const bool earlier = place > 0 && i - places[place - 1] < places[place] - i;
      gaps.near[blocks[i]] = blocks[places[earlier ? place - 1 : place]];
    }
  }
}

void ProbeInserter::edit(ProcedureId id, std::vector<Probe>& probes, Edited& edited) {
  const auto blocks = static_cast<BlockId>(program_[id].blocks.size());
  edited.before.resize(blocks);
  edited.behind.resize(blocks);
  edited.beyond.resize(blocks);
  for (BlockId b = 0; b < blocks; ++b) edited.end_of.push_back(b);
  std::stable_sort(probes.begin(), probes.end(), [](const Probe& a, const Probe& b) {
    return std::tuple(a.where, a.block, a.index) < std::tuple(b.where, b.block, b.index);
  });
  size_t i = 0;
  for (; i < probes.size() && probes[i].where == Where::in_block;) {
    size_t end = i;
    while (end < probes.size() && probes[end].where == Where::in_block &&
           probes[end].block == probes[i].block)
      ++end;
    edit_block(id, {&probes[i], end - i}, edited);
    i = end;
  }
  for (; i < probes.size(); ++i) split_edge(id, probes[i], edited);
}

/// When the block of a call was cut, its return point belongs to the part with the call.
void ProbeInserter::follow_cut_blocks(const std::vector<Edited>& edits) {
  const auto follow = [&](ProcedureId id, BlockId& block) {
    if (block < edits[id].end_of.size()) block = edits[id].end_of[block];
  };
  const auto moved = [&](CodeLocation& location) {
    if (location.where == CodeLocation::Where::return_point)
      follow(location.procedure, location.block);
  };
  for (Procedure& procedure : program_.procedures)
    for (Reference& reference : procedure.references) moved(reference.target);
  for (CodePointer& pointer : program_.code_pointers) moved(pointer.target);
  for (ProcedureId id = 0; id < by_procedure_.size(); ++id)
    for (JumpTable& table : program_[id].jump_tables) follow(id, table.jump);
}

/// The blocks of a fragment and the blocks that were added to its procedure.
std::vector<BlockId> ProbeInserter::with_added(const std::vector<BlockId>& blocks,
                                               const Edited& edited) {
  std::vector<BlockId> result;
  for (const BlockId block : blocks) {
    const auto add = [&](const std::vector<std::vector<BlockId>>& added) {
      if (block < added.size())
        result.insert(result.end(), added[block].begin(), added[block].end());
    };
    add(edited.before);
    result.push_back(block);
    add(edited.behind);
    add(edited.beyond);
  }
  return result;
}

void ProbeInserter::insert(Layout& layout) {
  shrink();
  find_gaps(layout);
  first_routine_ = static_cast<ProcedureId>(program_.procedures.size());
  std::vector<Edited> edits(program_.procedures.size());
  for (ProcedureId id = 0; id < by_procedure_.size(); ++id)
    if (!by_procedure_[id].empty()) edit(id, by_procedure_[id], edits[id]);
  follow_cut_blocks(edits);
  std::vector<Layout::Fragment*> last(program_.procedures.size());  // of each procedure
  for (Layout::Fragment& fragment : layout.fragments) {
    last[fragment.procedure] = &fragment;
    const Edited& edited = edits[fragment.procedure];
    if (!edited.behind.empty()) fragment.blocks = with_added(fragment.blocks, edited);
  }
  for (ProcedureId id = 0; id < edits.size(); ++id)
    if (last[id] != nullptr)
      last[id]->blocks.insert(last[id]->blocks.end(), edits[id].trailing.begin(),
                              edits[id].trailing.end());
  add_routines(layout);
}

}  // namespace respike
