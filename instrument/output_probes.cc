// Finds the probes of an output, and judges them.
//
// The machine's reader of probes (Probes::read) recognizes a probe from the bytes of the output
// alone. The counter map of the output says what the probe's counter is to count. A probe may stand
// at its place if
//
// - no register or flag that it changes may still be read there, by the analysis of the input;
// - gp, if the probe uses it, holds the procedure's gp there;
// - the unwind tables describe the stack pointer while it is lower;
// - the word to which it adds is the counter of the input's block that control is in, or of an edge
//   over which control has just come, or, if the probe records targets, of the jump or call that
//   follows the probe;
// - no other probe has that word;
// - indirect branches that need a mark (endbr64) still find the mark first.
//
// Example: `inc 0x194908(%rip)` before `test %eax,%eax`. The word 0x194908 is counter 1345 of the
// map, which counts a block of sqlite3_step, and the input has `test` in that block. `inc` changes
// flags, and `test` writes all of these flags before anything reads them. So the probe is harmless.
//
// In addition, control must pass the probe of each block and edge that has a counter, on every path
// out of the block or over the edge. The comparison carries along whether the probe of the current
// block was passed already.
//
// All these conditions are about places of the input. The comparison maps the probes to these
// places (check/added_code.h).

#include "instrument/output_probes.h"

#include <algorithm>

#include <fmt/format.h>

#include "optimizer/image/image.h"
#include "optimizer/machine/machine.h"
#include "optimizer/machine/probe_text.h"

namespace respike {
namespace {

// Bits of `done` in AddedCode::judge(): the block is counted, the target of its jump or call is
// recorded.
constexpr uint8_t kCounted = 1, kRecorded = 2;

/// The unwind state before an instruction, or after the last instruction of a block.
uint32_t state_at(const Program& program, const CodeCursor& at) {
  const BasicBlock& block = program[at.procedure].blocks[at.block];
  uint32_t state = block.cfi_state;
  for (const Instruction& instruction : block.instructions.span().first(at.index))
    if (instruction.is_pseudo()) state = static_cast<uint32_t>(instruction.immediate);
  return state;
}

}  // namespace

OutputProbes::OutputProbes(const Program& before, const CodeFacts& facts, const Program& after,
                           const CountingParts& parts)
    : before_(before),
      facts_(facts),
      after_(after),
      parts_(parts),
      reader_(*after.machine->probes),
      shared_(std::make_shared<Shared>(parts.map.counters)) {
  at_end_.live = RegisterSet::first(before.machine->register_count);
  shared_->numbers = BlockNumbers(after);
  shared_->input = BlockNumbers(before);
  shared_->of_blocks.resize(shared_->input.count());
  shared_->counted.assign(before.procedures.size(), false);
  const auto words_of = [&](const CodeLocation& place, BlockId block) -> BlockWords& {
    shared_->counted[place.procedure] = true;
    return shared_->of_blocks[shared_->input(place.procedure, block)];
  };
  for (const CounterMap::ProcedureMap& mapped : parts.map.procedures) {
    const auto place = block_at(before, mapped.address);
    if (!place || before[place->procedure].blocks.size() != mapped.blocks.size()) continue;
    const FlowGraph& graph = mapped.graph;
    for (uint32_t e = 0; e < graph.edges.size(); ++e) {
      const FlowEdge& edge = graph.edges[e];
      if (edge.counter >= shared_->words.size()) continue;
      Word& word = shared_->words[edge.counter];
      word.procedure = place->procedure;
      if (edge.kind == FlowEdge::Kind::block) {
        word.counts = Word::Counts::block;
        word.block = e;
        words_of(*place, e).block = edge.counter;
        continue;
      }
      word.counts = Word::Counts::edge;
      word.block = graph.block_of(edge.to);
      word.from = graph.block_of(edge.kind == FlowEdge::Kind::call_return ? graph.edges[e - 1].from
                                                                          : edge.from);
      if (std::max(word.block, word.from) >= mapped.blocks.size()) {
        word = {};
        continue;
      }
      BlockWords& words = words_of(*place, word.from);
      (edge.kind == FlowEdge::Kind::taken ? words.taken : words.fall_through) = edge.counter;
    }
    for (const CounterMap::IndirectSite& site : mapped.indirect) {
      if (site.counter + 1 >= shared_->words.size()) continue;
      shared_->words[site.counter] = {Word::Counts::target, place->procedure, kNone, site.block};
      shared_->words[site.counter + 1].counts = Word::Counts::changes;
      words_of(*place, site.block).target = site.counter;
    }
  }
}

std::unique_ptr<AddedCode> OutputProbes::for_another_walk() const {
  auto other = std::unique_ptr<OutputProbes>(new OutputProbes(*this));
  other->passed_.clear();
  return other;
}

/// Registers that the lines write.
RegisterSet OutputProbes::changed_by(ProbeText& text, size_t size) const {
  RegisterSet changed;
  for (size_t i = 0; i < size; ++i) {
    const Operands operands = after_.machine->operands(*text[i]);
    for (uint8_t k = operands.uses; k < operands.size; ++k) changed.add(operands.registers[k]);
  }
  return changed;
}

/// Whether the unwind tables know how deep the stack is at each line.
bool OutputProbes::describes_stack(const FoundProbe& probe, const ProbeText& text) const {
  const auto& states = after_.unwind.states;
  const uint32_t outer = state_at(after_, text.place(0));
  for (size_t i = 0; i < probe.size; ++i) {
    const uint32_t state = state_at(after_, text.place(i));
    const bool is_lower = i >= probe.lowered_from && i < probe.lowered_to;
    if (outer >= states.size() || !is_lower || states[outer].cfa_is_expression ||
        states[outer].cfa_register != after_.machine->abi.stack_pointer) {
      if (state != outer) return false;
      continue;
    }
    if (state >= states.size()) return false;
    CfiState deeper = states[outer];
    deeper.cfa_offset = static_cast<int64_t>(static_cast<uint64_t>(deeper.cfa_offset) +
                                             static_cast<uint64_t>(probe.lowered));
    if (!(states[state] == deeper)) return false;
  }
  return true;
}

/// The routine that small probes call, read once.
bool OutputProbes::add_routine(FoundProbe& probe, RegisterSet& changed,
                               std::optional<uint64_t> gp) {
  const auto [known, fresh] = routines_.try_emplace({probe.routine->procedure, gp});
  Routine& routine = known->second;
  if (fresh) {
    ProbeText text(after_, {probe.routine->procedure, probe.routine->block, 0});
    const ProbeSurroundings surroundings{.gp = gp,
                                         .bases = parts_.bases,
                                         .base_count = parts_.base_count,
                                         .base_distance = parts_.base_distance};
    routine.found = reader_.read_routine(text, surroundings);
    if (routine.found) routine.changed = changed_by(text, routine.found->size);
  }
  if (!routine.found || routine.found->number_register != probe.number_register ||
      routine.found->link != probe.link)
    return false;
  probe.kind = routine.found->kind;
  probe.by_gp = routine.found->by_gp;
  probe.counter = routine.found->counter + 8 * static_cast<uint64_t>(probe.number);
  changed |= routine.changed;
  return true;
}

std::optional<CodeCursor> OutputProbes::pass(const CodeCursor& at) {
  const Procedure& procedure = after_[at.procedure];
  if (!reader_.may_start(procedure.blocks[at.block].instructions[at.index])) return std::nullopt;
  ProbeText text(after_, at);
  auto probe = reader_.read(text, {.gp = procedure.gp,
                                   .bases = parts_.bases,
                                   .base_count = parts_.base_count,
                                   .base_distance = parts_.base_distance});
  if (!probe) return std::nullopt;
  Passed passed{.probe = std::move(*probe), .start = at, .changed = changed_by(text, probe->size)};
  FoundProbe& found = passed.probe;
  if (found.routine && !add_routine(found, passed.changed, procedure.gp)) return std::nullopt;
  if (found.kind == ProbeKind::find_copy) {
    if (found.counter != parts_.find_copy || parts_.find_copy == 0) return std::nullopt;
    passed.changed |= RegisterSet(std::span(after_.machine->abi.flags));
  } else {
    const uint64_t word = (found.counter - parts_.map.counters_address) / 8;
    if (found.counter % 8 != 0 || word >= parts_.map.counters) return std::nullopt;
  }
  if (found.keeps_flags) passed.changed -= RegisterSet(std::span(after_.machine->abi.flags));
  for (const Register kept : found.kept) passed.changed.remove(kept);
  passed.unwinds = describes_stack(found, text);
  const CodeCursor behind = text.behind(found.size - 1);
  passed_.push_back(std::move(passed));
  return behind;
}

const Instruction* OutputProbes::instruction_at(const CodeCursor& at) const {
  const auto& list = before_[at.procedure].blocks[at.block].instructions;
  return at.index < list.size() ? &list[at.index] : nullptr;
}

const PointFacts& OutputProbes::facts_at(const CodeCursor& at) {
  if (instruction_at(at) == nullptr) return at_end_;
  if (points_of_ != std::pair(at.procedure, at.block)) {
    points_ = facts_.points(at.procedure, at.block);
    points_of_ = {at.procedure, at.block};
  }
  return points_[at.index];
}

uint32_t OutputProbes::word_of(const InputEdge& edge) const {
  if (edge.from == kNone) return kNone;
  const BlockWords& words = shared_->of_blocks[shared_->input(edge.procedure, edge.from)];
  if (edge.kind == Edge::Kind::taken) return words.taken;
  return edge.kind == Edge::Kind::fall_through ? words.fall_through : kNone;
}

bool OutputProbes::expects(const InputEdge& edge) const {
  return word_of(edge) != kNone;
}

void OutputProbes::expect(uint32_t word, bool required, uint8_t done) {
  if (word != kNone) expected_.push_back({.word = word, .done = done, .required = required});
}

/// Finds the probes that control has to pass on the way: the counters of the way's edges, of the
/// blocks that it leaves and, if it leaves by a jump or call, of the target. Control may pass the
/// counter of the last block.
void OutputProbes::expect(const InputWay& way, uint8_t& done) {
  expected_.clear();
  for (size_t i = 0; i < way.places.size();) {
    const InputPlace& place = way.places[i];
    if (place.enters) {
      done = 0;
      expect(word_of(place.edge), true);
    }
    for (++i; i < way.places.size() && !way.places[i].enters;) ++i;
    const bool last = i == way.places.size();
    const CodeCursor& at = place.at;
    const BlockWords& words = shared_->of_blocks[shared_->input(at.procedure, at.block)];
    if ((done & kCounted) == 0) expect(words.block, !last || way.leaves, last ? kCounted : 0);
    const size_t size = before_[at.procedure].blocks[at.block].instructions.size();
    if (last && way.leaves && way.places.back().at.index + 1 == size && (done & kRecorded) == 0)
      expect(words.target, true, kRecorded);
  }
}

std::optional<std::string> OutputProbes::judge(const InputWay& way, uint8_t& done) {
  expect(way, done);
  std::optional<std::string> fault;
  for (const Passed& passed : passed_)
    if (!fault) fault = judge(passed, way);
  passed_.clear();
  for (const Expected& expected : expected_) {
    if (expected.passed) done |= expected.done;
    if (!fault && expected.required && !expected.passed)
      fault = no_probe(expected.word, " on a way");
  }
  return fault;
}

std::string OutputProbes::no_probe(uint32_t word, std::string_view where) const {
  const Procedure& procedure = before_[shared_->words[word].procedure];
  return fmt::format("counter {}, at {:#x} in {}, has no probe{}", word,
                     before_.address_of(procedure.blocks[shared_->words[word].block]),
                     procedure.name, where);
}

std::optional<std::string> OutputProbes::judge(const Passed& passed, const InputWay& way) {
  if (way.places.empty()) return "a probe stands where the input has no code";
  if (!passed.unwinds)
    return "the unwind information does not follow the stack pointer through a probe";
  if (auto fault = judge_registers(passed, way.places)) return fault;
  if (auto fault = judge_place(passed, way.places)) return fault;
  return passed.probe.kind == ProbeKind::find_copy ? std::nullopt : judge_counter(passed, way);
}

std::optional<std::string> OutputProbes::judge_registers(const Passed& passed, Places way) {
  // A value that is dead after one place of the way is dead for control that came that way. Where
  // other ways join, as after a jump to another procedure, it may be live.
  RegisterSet lost = passed.changed;
  for (size_t i = way.size(); i-- > 0 && !lost.empty();) lost &= facts_at(way[i].at).live;
  if (!lost.empty()) {
    Register first = 0;
    while (!lost.contains(first)) ++first;
    return fmt::format("a probe changes {}, which may still be read",
                       before_.machine->text.register_name(first));
  }
  // The same for gp.
  if (passed.probe.by_gp && std::ranges::none_of(way, [&](const InputPlace& place) {
        return instruction_at(place.at) != nullptr && facts_at(place.at).gp;
      }))
    return "a probe uses the global pointer where it may hold something else";
  return std::nullopt;
}

/// Marks and the red zone depend on how control comes to the probe in the output. `way`: as judge()
/// has it. If the input has a branch before a mark, a reader does not find the mark there either.
std::optional<std::string> OutputProbes::judge_place(const Passed& passed, Places way) const {
  const CodeCursor &first = way.front().at, &last = way.back().at;
  const Instruction* instruction = instruction_at(last);
  const bool same_block = first.procedure == last.procedure && first.block == last.block;
  const bool marks = same_block && instruction != nullptr && !instruction->is_pseudo() &&
                     instruction->opcode != kInvalid &&
                     before_.machine->facts(*instruction).marks_target;
  if (!marks && !passed.probe.overwrites_red_zone) return std::nullopt;
  const Procedure& procedure = after_[passed.start.procedure];
  const BasicBlock& own = procedure.blocks[passed.start.block];
  bool jumps = false, returns = false;
  for (const BasicBlock& block : procedure.blocks)
    for (const Edge& edge : block.successors) {
      if (edge.target != passed.start.block || edge.kind == Edge::Kind::landing_pad) continue;
      const bool call = !block.instructions.empty() &&
                        is_call(after_.machine->facts(block.instructions.back()).flow);
      (call && edge.kind == Edge::Kind::fall_through ? returns : jumps) = true;
    }
  // The mark of a landing pad is for unwinders, not for returns to that place.
  const bool pad = before_[last.procedure].blocks[last.block].has(BasicBlock::kLandingPad);
  if (marks && ((returns && !pad) || own.has(BasicBlock::kEntry) ||
                own.has(BasicBlock::kAddressTaken) || own.has(BasicBlock::kLandingPad)))
    return "a probe stands in front of the mark that indirect branches have to find first";
  if (passed.probe.overwrites_red_zone && jumps)
    return "a probe overwrites what lies below the stack pointer";
  return std::nullopt;
}

std::optional<std::string> OutputProbes::judge_counter(const Passed& passed, const InputWay& way) {
  const FoundProbe& probe = passed.probe;
  const uint64_t number = (probe.counter - parts_.map.counters_address) / 8;
  const Word& word = shared_->words[number];
  using Counts = Word::Counts;
  if (probe.own_copy != parts_.copied)
    return fmt::format("the probe of counter {} counts in {}", number,
                       probe.own_copy ? "a copy that threads do not have"
                                      : "the first copy of the counters for all threads");
  if (parts_.map.atomic && probe.kind == ProbeKind::count)
    return fmt::format("the probe of counter {} is not exact with threads", number);
  const bool records = probe.kind == ProbeKind::record_target;
  bool is_here = false;
  for (Expected& expected : expected_) {
    if (expected.word != number || records != (word.counts == Counts::target)) continue;
    if (expected.passed && !way.circles)
      return fmt::format("counter {} counts twice on a way", number);
    expected.passed = is_here = true;
  }
  if (!is_here)
    return fmt::format("the probe of counter {} does not stand where the counter counts", number);
  const uint64_t place =
      (uint64_t{shared_->numbers(passed.start.procedure, passed.start.block)} << 32 |
       passed.start.index) +
      1;
  uint64_t known = 0;
  if (!shared_->places[number].compare_exchange_strong(known, place) && known != place)
    return fmt::format("counter {} has two probes", number);
  return std::nullopt;
}

std::optional<std::string> OutputProbes::find_missing(
    const std::function<bool(ProcedureId, BlockId)>& reached) const {
  using Counts = Word::Counts;
  for (size_t i = 0; i < shared_->words.size(); ++i) {
    const Word& word = shared_->words[i];
    if (word.counts == Counts::nothing || word.counts == Counts::changes) continue;
    if (shared_->places[i] != 0 || !reached(word.procedure, word.block)) continue;
    if (word.counts == Counts::edge && !reached(word.procedure, word.from)) continue;
    return no_probe(static_cast<uint32_t>(i), "");
  }
  return std::nullopt;
}

}  // namespace respike
