// Comparing two programs: the walk over their code.
//
// An optimizer that moves every block of a program needs a judge that does not share its errors.
// The comparison lifts the original and the written image anew, trusts no map from one to the
// other, and proves by bisimulation that they do the same (Park 1981; Milner 1989): a relation of
// code places in which related places hold the same instruction and lead to related places, and
// which contains all pairs of entries.
//
// The relation is built by a worklist, starting with the entries that same_program_data.cc finds.
// From a pair of places both programs advance together. Code that a layout may add or drop does not
// count: each program, independently of the other, passes over no-ops, fall-throughs and
// unconditional branches, so blocks may be cut differently. Then the two instructions must be the
// same except for their displacements, or be a conditional branch and its inverse. The targets of
// branches and references are new pairs, the unwind states must be equal in content, and call sites
// must cover calls in the same way.
//
// Example: the input has "beq x" before y, the output "bne y'" before x'. The branches are inverse,
// so (x, x') and (y, y') are new pairs.
//
// A layout may also drop a load of gp that does nothing. The walk passes over both halves of such a
// load only if the analysis of the input (needless_gp_loads.h), which the optimizer may have made
// already, proves that the register holds the same value before the load. Up to the load both
// programs did the same, so the register holds that value in the output as well.
//
// A pair is remembered when the input's side enters a block. Every infinite walk enters blocks
// again and again, so the walk ends. Nearly every block has one partner, which is kept in a flat
// array; a hash set keeps further partners. Time and memory are linear in the size of the programs;
// the price is cache misses, about five for a block of either side.
//
// Large programs are walked on several threads. Each thread owns a share of the input's procedures
// and remembers the pairs of their blocks. A pair that another thread owns is sent to that thread.
// The union of the pairs that the threads remember is the same relation that one thread finds.
//
// Between a load-locked and its store-conditional, and in the shadow of a trap, not even a branch
// may be inserted: such a sequence is followed a second time, only over fall-throughs.
//
// An instrumented output has code that the input does not have: probes. The walk passes over them
// in the output, where an AddedCode (added_code.h) recognizes them. The AddedCode also says whether
// the probes do no harm on the way that the walk has come in the input, and whether the way has all
// the probes that it should have. The probes of a block that control has passed are part of a pair:
// a block whose probe stands on one way into it and not on another way is walked twice, and the
// second walk finds that no probe was passed. So all edges of the input are walked, including edges
// between known pairs.
//
// Limits: code that no entry leads to is only counted, not compared. A code address that is
// computed without a relocation is unknown to both lifted programs.

#include "optimizer/check/same_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <iterator>
#include <tuple>
#include <utility>

#include "optimizer/analysis/import_stubs.h"
#include "optimizer/check/same_program_internal.h"
#include "optimizer/check/shared_walk.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/machine/imports.h"

namespace respike {
namespace {

constexpr uint64_t kNoPartner = ~uint64_t{0};
constexpr size_t kMostPartners = 1'000'000;  // besides 8 per block; nearly all blocks have one

/// A place of the output, and how much of the input's block is done (AddedCode::judge()).
uint64_t partner_of(uint32_t block, uint32_t index, uint8_t done) {
  return uint64_t{block} << 32 | uint64_t{done} << 30 | index;
}
constexpr uint32_t kPartnerIndex = (1u << 30) - 1;

/// Equal flags, except for flags that say how the instructions are placed in memory.
bool same_flags(const Machine& machine, const Instruction& a, const Instruction& b) {
  return ((a.flags ^ b.flags) & ~machine.codec.standing_flags) == 0;
}

/// Whether the number in an instruction is part of a branch's displacement: targets are compared
/// instead.
bool is_part_of_branch(const Machine& machine, std::span<const Instruction> list, uint32_t index) {
  return machine.facts(list[index]).prefix && index + 1 < list.size() &&
         machine.facts(list[index + 1]).flow != ControlFlow::none;
}

/// Same operation on the same registers.
bool same_operation(const Instruction& a, const Instruction& b) {
  return a.opcode == b.opcode && a.predicate == b.predicate &&
         std::memcmp(a.registers, b.registers, sizeof a.registers) == 0;
}

/// The same branch, except for its hint.
bool same_branch(const Machine& machine, Instruction a, Instruction b) {
  if (const auto predict = machine.branches.predict) predict(a, 0, 0), predict(b, 0, 0);
  return same_operation(a, b);
}

}  // namespace

Comparison::Cursor Comparison::cursor_at(const ComparedProgram& side, const CodeCursor& at) const {
  Cursor cursor;
  enter(side, cursor, at.procedure, at.block);
  cursor.at.index = at.index;
  if (at.index == 0) return cursor;
  cursor.entered = kNone;  // the walk starts inside a block
  for (const Instruction& instruction : cursor.block->instructions.span().first(at.index))
    if (instruction.is_pseudo()) cursor.state = side.state_class(instruction.immediate);
  return cursor;
}

void Comparison::enter(const ComparedProgram& side, Cursor& cursor, ProcedureId procedure,
                       BlockId block) const {
  cursor.at = {procedure, block, 0};
  cursor.procedure = &side.program[procedure];
  cursor.block = &cursor.procedure->blocks[block];
  cursor.state = side.state_class(cursor.block->cfi_state);
  cursor.entered = side.numbers(procedure, block);
}

/// Moves the cursor to the next instruction that does something. Brent's method finds cycles of
/// empty blocks and branches: a marker moves to the current block at every power of two steps.
/// `remembers`: a rest that was found before may be reused; the way then lacks the places before
/// that rest.
Comparison::Rest Comparison::settle(const ComparedProgram& side, Cursor& cursor, bool remembers) {
  constexpr uint32_t kLong = 64;  // blocks and no-ops
  auto& known = &side == &before_ ? before_rests_ : after_rests_;
  auto* const way = &side == &before_ && added_ != nullptr ? &way_ : nullptr;
  AddedCode* const added = &side == &after_ ? added_ : nullptr;
  std::vector<uint32_t>& path = path_;  // blocks entered at their start
  path.clear();
  if (way != nullptr) way->clear(), way_is_cut_ = false;
  uint32_t cost = 0;
  const auto rest = [&](Rest result) {
    // A later walk into the cycle has to pass the code in it as well.
    if (cost > kLong && (added_ == nullptr || result != Rest::spin))
      for (const uint32_t block : path) known.try_emplace(block, cursor, result);
    return result;
  };
  InputEdge edge;  // over which control comes to the cursor
  uint32_t marker = kNone, steps = 0, limit = 2;
  for (;;) {
    if (&side == &before_ && cursor.entered != kNone) reached_[cursor.entered] = true;
    if (cursor.entered != kNone && cursor.at.index == 0) {
      const auto before = remembers ? known.find(cursor.entered) : known.end();
      if (before != known.end()) {
        way_is_cut_ |= way != nullptr;
        cursor = before->second.first;
        return rest(before->second.second);
      }
      path.push_back(cursor.entered);
      // A later walk through here has to come the whole way.
      if (way != nullptr && added_->expects(cursor.at.procedure)) path.clear();
    }
    ++cost;
    if (way != nullptr)
      way->push_back({cursor.at, cursor.entered != kNone && cursor.at.index == 0, edge});
    auto list = cursor.block->instructions.span();
    CodeLocation next;
    edge = {cursor.at.procedure, cursor.at.block, Edge::Kind::taken};
    for (; cursor.at.index < list.size(); ++cursor.at.index) {
      const Instruction& instruction = list[cursor.at.index];
      if (instruction.is_pseudo()) {
        cursor.state = side.state_class(instruction.immediate);
        continue;
      }
      if (instruction.opcode == kInvalid || is_inline_pointer(side, cursor))
        return rest(Rest::instruction);
      if (side.machine.facts(instruction).nop) {
        ++cost;
        continue;
      }
      if (const auto behind = added != nullptr ? added->pass(cursor.at) : std::nullopt) {
        passed_ = true;
        path.clear();  // a later walk through here has to pass the code as well
        cursor = cursor_at(side, *behind);
        list = cursor.block->instructions.span();
        --cursor.at.index;
        continue;
      }
      if (cursor.at.index + 1 != list.size() ||
          side.machine.facts(instruction).flow != ControlFlow::branch)
        return rest(Rest::instruction);
      next = branch_target(*cursor.procedure, cursor.at.procedure, *cursor.block, instruction);
      if (is_absent(next)) return rest(Rest::instruction);
      break;
    }
    if (is_absent(next)) {
      edge.kind = Edge::Kind::fall_through;
      next = successor(cursor.at, *cursor.block, edge.kind);
    }
    if (is_absent(next)) return rest(Rest::nothing);
    if (next.where == CodeLocation::Where::address) {
      cursor.outside = next.address;
      return rest(Rest::outside);
    }
    enter(side, cursor, next.procedure, next.block);
    if (cursor.entered == marker) return rest(Rest::spin);
    if (++steps == limit) {
      marker = cursor.entered;
      limit *= 2;
      steps = 0;
    }
  }
}

/// Whether control leaves the block of `x`, where the walk rests, right after that place.
bool Comparison::leaves_block(const Cursor& x, Rest rest) const {
  const auto list = x.block->instructions.span();
  return rest != Rest::instruction ||
         (x.at.index + 1 == list.size() && list[x.at.index].opcode != kInvalid &&
          before_.machine.facts(list[x.at.index]).flow != ControlFlow::none);
}

/// Asks whether the code that the output has on its way to `y` does no harm on the way to `x`, and
/// whether it is all the code that the way should have.
void Comparison::judge_added_code(const Cursor& x, const Cursor& y, Rest rest, uint8_t& done) {
  if (way_.empty() || way_.back().at != x.at) way_.push_back({x.at, false, {}});
  const InputWay way{way_, leaves_block(x, rest), rest == Rest::spin};
  if (!passed_ && !way.leaves && way_.size() == 1 && !way_.front().enters) return;
  passed_ = false;
  const auto fault = added_->judge(way, done);
  if (!fault) return;
  // Where other code replaced added code, the message should be about that code.
  if (rest == Rest::instruction && y.at.index < y.block->instructions.size()) {
    const Instruction &i = x.block->instructions[x.at.index],
                      &j = y.block->instructions[y.at.index];
    if (before_.machine.facts(i).flow == ControlFlow::none && !same_operation(i, j))
      return differ(x, y, "the instructions differ");
  }
  differ(x, y, *fault);
}

/// Remembers the pair. False when it was visited before.
bool Comparison::visit(uint32_t before, const CodeCursor& after, uint8_t done) {
  const uint64_t place =
      partner_of(after_.numbers(after.procedure, after.block), after.index, done);
  if (partner_[before] == place) return false;
  if (partner_[before] == kNoPartner) {
    partner_[before] = place;
    return true;
  }
  if (more_partners_.size() > kMostPartners + 8 * partner_.size())
    return differ("the same code appears at too many places"), false;
  return more_partners_.insert({before, place}).second;
}

void Comparison::walk(const Item& item) {
  Cursor x = cursor_at(before_, item.before);
  Cursor y = cursor_at(after_, item.after);
  if (item.entered != kNone) x.entered = item.entered;
  open_sequences_ = 0;
  dropped_load_ = -1;
  InputEdge from = item.from;
  uint8_t done = item.done;
  bool enters = item.entered == kNone && item.before.index == 0;
  do {
    const Cursor start = x;
    const Rest rest = settle(before_, x);
    const Rest after_rest = settle(after_, y);
    if (added_ != nullptr) {
      if (passed_ && way_is_cut_) settle(before_, x = start, false);
      if (!way_.empty()) way_.front().enters = enters, way_.front().edge = from;
      judge_added_code(x, y, rest, done);
      enters = false;
    }
    if (rest != after_rest) return differ_in_code(x, y, "code ends in one place only");
    if (rest == Rest::outside && !same_outside(x.outside, y.outside))
      return differ(x, y, "branches lead to different places");
    if (rest != Rest::instruction) return;
    if (x.entered != kNone) {
      if (!visit(x.entered, y.at, done)) return;
      if (!is_own(x.at.procedure)) return add({x.at, y.at, x.entered, {}, done});
    }
    x.entered = kNone;
  } while (step(x, y));
}

/// Whether an instruction lies in the enclosure (Program::enclosure). Instructions that a pass made
/// count like the instructions around them.
bool Comparison::is_enclosed(const ComparedProgram& side, const Instruction& instruction) {
  const Program& program = side.program;
  return instruction.origin != kNone &&
         program.enclosure.holds(program.origin_base + instruction.origin);
}

/// Compares the two instructions. True when both walks go on after them.
bool Comparison::step(Cursor& x, Cursor& y) {
  const auto x_list = x.block->instructions.span(), y_list = y.block->instructions.span();
  const Instruction &i = x_list[x.at.index], &j = y_list[y.at.index];
  if (is_inline_pointer(before_, x)) return step_over_pointer(x), false;
  if (is_dropped(x, y)) return ++x.at.index, true;
  ++compared_;
  if (x.state != y.state) return differ(x, y, "the unwind information differs"), false;
  if (i.origin != kNone && j.origin != kNone && is_enclosed(before_, i) != is_enclosed(after_, j))
    return differ(x, y, "only one of them lies between two ends that the program knows"), false;
  const auto flow_of = [](const ComparedProgram& side, const auto& list, uint32_t index) {
    return index + 1 == list.size() && list[index].opcode != kInvalid
               ? side.machine.facts(list[index]).flow
               : ControlFlow::none;
  };
  const ControlFlow flow = flow_of(before_, x_list, x.at.index);
  const ControlFlow after_flow = flow_of(after_, y_list, y.at.index);
  if (is_call(flow) && after_flow == ControlFlow::indirect_call && call_same_pointer(x, y))
    return call_behind(x, y), false;
  if (flow != after_flow) return differ_in_code(x, y, "the instructions differ"), false;
  if (flow == ControlFlow::conditional_branch) return conditional_branch(x, y), false;
  if (!same_operation(i, j)) return differ_in_code(x, y, "the instructions differ"), false;

  if (!same_bytes(x, y)) return differ(x, y, "the bytes differ"), false;

  switch (flow) {
    case ControlFlow::none: {
      const bool partial = is_part_of_branch(before_.machine, x_list, x.at.index) &&
                           is_part_of_branch(after_.machine, y_list, y.at.index);
      if (!partial && (!same_flags(before_.machine, i, j) ||
                       (!i.has_reference() && i.immediate != j.immediate)))
        return differ_in_code(x, y, "the operands differ"), false;
      if (i.has_reference() && !partial) references(x, y);
      const SequenceRole role = before_.machine.facts(i).role;
      if (role != SequenceRole::none) sequence(x, y, role);
      if (x.at.index + 1 == x_list.size() && y.at.index + 1 == y_list.size() &&
          before_.machine.facts(i).get_pc)
        remember_call(x, y);
      ++x.at.index;
      ++y.at.index;
      return !difference_;
    }
    case ControlFlow::branch:  // its target is unknown: settle() follows all other branches
      if (i.immediate != j.immediate) differ(x, y, "the operands differ");
      return false;
    case ControlFlow::call:
    case ControlFlow::indirect_call:
      call(x, y);
      return false;
    case ControlFlow::indirect_jump:
      indirect_jump(x, y);
      way_past(x, y);
      return false;
    default:
      if (!i.has_reference() && !j.has_reference() && i.immediate != j.immediate)
        differ(x, y, "the operands differ");
      way_past(x, y);
      return false;
  }
}

/// Where instructions of various lengths are not understood, the two images may be decoded from
/// different places, since the code after data may have moved. Equal bytes decide, see
/// has_same_bytes().
void Comparison::differ_in_code(const Cursor& x, const Cursor& y, std::string_view what) {
  const bool may_be_misread =
      x.procedure->state == Procedure::State::opaque && !before_.program.map.groups().fixed();
  if (!may_be_misread || !has_same_bytes(x.at.procedure)) differ(x, y, what);
}

/// Where instructions stand for bytes of their images, the bytes have to be the same as well.
bool Comparison::same_bytes(const Cursor& x, const Cursor& y) const {
  const Codec& codec = before_.machine.codec;
  const Instruction& i = x.block->instructions[x.at.index];
  const Instruction& j = y.block->instructions[y.at.index];
  if (codec.same == nullptr || i.opcode == kInvalid || i.origin == kNone || j.origin == kNone)
    return true;
  const auto code_of = [](const ComparedProgram& side, const Instruction& instruction) {
    const uint64_t address = side.program.origin_base + instruction.origin;
    return Codec::Code{side.bytes_from(address), address};
  };
  const Codec::Code before = code_of(before_, i), after = code_of(after_, j);
  if (!i.has_reference() && !before_.machine.relative_address(i)) {  // nearly always equal
    const size_t size = before_.program.map.largest_group();
    if (before.bytes.size() >= size && after.bytes.size() >= size &&
        std::memcmp(before.bytes.data(), after.bytes.data(), size) == 0)
      return true;
  }
  const Reference* reference = reference_of(*x.procedure, i);
  if (codec.same(before, after,
                 reference != nullptr ? std::optional(reference->kind) : std::nullopt))
    return true;
  // Words in opaque code that the dynamic linker fills may have no contents in the input.
  if (x.procedure->state != Procedure::State::opaque) return false;
  const uint64_t size = before_.program.map.group_end(before.address) - before.address;
  if (before.bytes.size() < size || after.bytes.size() < size) return false;
  for (uint64_t k = 0; k < size; ++k)
    if (before.bytes[k] != after.bytes[k] && !is_code_pointer(before.address + k)) return false;
  return true;
}

/// Data between the code of an opaque procedure is lifted as instructions. Whether the instruction
/// overlaps a code pointer, which code_pointers() compares.
bool Comparison::is_inline_pointer(const ComparedProgram& side, const Cursor& cursor) const {
  const Instruction& instruction = cursor.block->instructions[cursor.at.index];
  return cursor.procedure->state == Procedure::State::opaque && !instruction.is_pseudo() &&
         is_code_pointer(side.program.origin_base + instruction.origin);
}

/// Goes on after the code pointer. The instruction lifted from it may end a block on either side;
/// but opaque code stays, so the next place has the same address in both programs.
void Comparison::step_over_pointer(const Cursor& x) {
  const uint64_t place = before_.program.origin_base + x.block->instructions[x.at.index].origin;
  const uint64_t next = before_.program.map.next(place);
  const auto from = before_.find(next), to = after_.find(next);
  if (from && to && from->procedure == x.at.procedure)
    add({.before = *from, .after = *to, .from = {}});
}

/// Whether the instruction of the input is half of a needless gp load that the output lacks. Both
/// halves are in one block, and control does not leave the block between them.
bool Comparison::is_dropped(const Cursor& x, const Cursor& y) {
  const Instruction& i = x.block->instructions[x.at.index];
  const Reference* load = reference_of(*x.procedure, i);
  if (load == nullptr ||
      (load->kind != ReferenceKind::gp_load_high && load->kind != ReferenceKind::gp_load_low))
    return false;
  if (!before_.machine.fixups.is_upper_half(i)) {
    if (i.immediate != dropped_load_) return false;
    dropped_load_ = -1;
    return true;
  }
  const Instruction& j = y.block->instructions[y.at.index];
  const Reference* other = reference_of(*y.procedure, j);
  const bool kept = other != nullptr && other->kind == load->kind && same_operation(i, j) &&
                    (other->target.where != load->target.where ||
                     load->target.where != CodeLocation::Where::return_point ||
                     same_call(load->target, other->target));
  if (kept || !is_needless(x.at)) return false;
  dropped_load_ = i.immediate;
  return true;
}

bool Comparison::is_needless(const CodeCursor& at) {
  if (needless_loads_ == nullptr) {
    found_loads_ = find_needless_gp_loads(before_.program);
    needless_loads_ = &found_loads_;
  }
  const auto place = std::tie(at.procedure, at.block, at.index);
  const auto load = std::lower_bound(
      needless_loads_->begin(), needless_loads_->end(), place,
      [](const GpLoad& l, const auto& p) { return std::tie(l.procedure, l.block, l.upper) < p; });
  return load != needless_loads_->end() &&
         std::tie(load->procedure, load->block, load->upper) == place;
}

void Comparison::conditional_branch(const Cursor& x, const Cursor& y) {
  const Instruction& i = x.block->instructions[x.at.index];
  const Instruction& j = y.block->instructions[y.at.index];
  CodeLocation x_taken = branch_target(*x.procedure, x.at.procedure, *x.block, i);
  CodeLocation y_taken = branch_target(*y.procedure, y.at.procedure, *y.block, j);
  CodeLocation x_next = successor(x.at, *x.block, Edge::Kind::fall_through);
  CodeLocation y_next = successor(y.at, *y.block, Edge::Kind::fall_through);
  if (!same_branch(before_.machine, i, j)) {
    Instruction inverse = j;
    const auto before_branch = y.block->instructions.span().first(y.at.index);
    if (!after_.machine.branches.invert(inverse, before_branch) ||
        !same_branch(before_.machine, i, inverse))
      return differ(x, y, "the instructions differ");
    std::swap(y_taken, y_next);
  }
  if (is_absent(x_taken) && is_absent(y_taken) && i.immediate != j.immediate)
    return differ(x, y, "the operands differ");
  pair(x_taken, y_taken, x, y, "the branch", Edge::Kind::taken);
  pair(x_next, y_next, x, y, "the way past the branch", Edge::Kind::fall_through);
}

/// The entries of the jump table are compared as code pointers. The number of blocks to which they
/// lead may differ: a block that holds only a branch vanishes when its target follows.
void Comparison::indirect_jump(const Cursor& x, const Cursor& y) {
  const Instruction& i = x.block->instructions[x.at.index];
  const Instruction& j = y.block->instructions[y.at.index];
  if (!i.has_reference() && !j.has_reference() && i.immediate != j.immediate)
    return differ(x, y, "the operands differ");
}

/// Pairs the places to which control goes when a predicate skips a jump, or a handler skips a stop.
void Comparison::way_past(const Cursor& x, const Cursor& y) {
  const CodeLocation past = successor(x.at, *x.block, Edge::Kind::fall_through);
  // Where no code of the procedure follows a stop, control never goes on: a layout may put any code
  // there.
  const ControlFlow flow = before_.machine.facts(x.block->instructions.back()).flow;
  if (flow == ControlFlow::stop && is_absent(past)) return;
  pair(past, successor(y.at, *y.block, Edge::Kind::fall_through), x, y,
       "the way past the jump or stop", Edge::Kind::fall_through);
}

void Comparison::references(const Cursor& x, const Cursor& y) {
  const Reference* before = reference_of(*x.procedure, x.block->instructions[x.at.index]);
  const Reference* after = reference_of(*y.procedure, y.block->instructions[y.at.index]);
  if (before == nullptr || after == nullptr || before->kind != after->kind)
    return differ(x, y, "the kinds of the references differ");
  if (x.procedure->gp && y.procedure->gp && *x.procedure->gp != *y.procedure->gp)
    return differ(x, y, "gp differs");
  const bool behind = after->target.where == CodeLocation::Where::return_point;
  const CodeLocation anchor = behind ? behind_call(before->target) : before->target;
  if ((anchor.where == CodeLocation::Where::return_point) !=
      (after->target.where == CodeLocation::Where::return_point))
    return differ(x, y, "the references have different anchors");
  if (anchor.where != CodeLocation::Where::return_point)
    return pair(anchor, after->target, x, y, "the reference");
  // Most such references come right after their call, which was compared just now.
  const uint32_t call = before_.numbers(anchor.procedure, anchor.block);
  const uint32_t partner = after_.numbers(after->target.procedure, after->target.block);
  if (call_partner_[call] != partner) expected_calls_.emplace_back(call, partner);
}

/// The input runs through an untouchable sequence only over fall-through edges; so must the output.
/// Sequences that run into a call or never end are not untouchable.
void Comparison::sequence(const Cursor& x, const Cursor& y, SequenceRole role) {
  const bool reservation =
      role == SequenceRole::reservation_begin || role == SequenceRole::reservation_end;
  const unsigned bit = reservation ? 1 : 2;
  if (role == SequenceRole::reservation_end || role == SequenceRole::shadow_end) {
    open_sequences_ &= ~bit;
    return;
  }
  if ((open_sequences_ & bit) != 0 && !reservation) return;  // inside a sequence that was checked
  open_sequences_ |= bit;
  const SequenceRole end = reservation ? SequenceRole::reservation_end : SequenceRole::shadow_end;

  constexpr unsigned kLongest = 16;  // blocks
  CodeCursor a = x.at, b = y.at;
  unsigned a_blocks = 1, b_blocks = 1;
  // Moves to the next instruction that does something, only over fall-throughs.
  const auto advance = [](const ComparedProgram& side, CodeCursor& at, unsigned& blocks) {
    for (++at.index;; ++at.index) {
      const BasicBlock* block = &side.block(at);
      while (at.index >= block->instructions.size()) {
        const Edge* edge = block->edge(Edge::Kind::fall_through);
        if (edge == nullptr || ++blocks > kLongest) return false;
        at.block = edge->target;
        at.index = 0;
        block = &side.block(at);
      }
      const Instruction& instruction = block->instructions[at.index];
      if (instruction.opcode == kInvalid) return false;
      if (!instruction.is_pseudo() && !side.machine.facts(instruction).nop) return true;
    }
  };
  std::vector<CodeCursor> path;
  for (;;) {
    if (!advance(before_, a, a_blocks)) return;
    const Instruction& instruction = before_.block(a).instructions[a.index];
    const ControlFlow flow = before_.machine.facts(instruction).flow;
    if (flow != ControlFlow::none && flow != ControlFlow::conditional_branch) return;
    path.push_back(a);
    if (before_.machine.facts(instruction).role == role && reservation) return;
    if (before_.machine.facts(instruction).role == end) break;
  }
  for (const CodeCursor& at : path)
    if (!advance(after_, b, b_blocks) || !same_operation(before_.block(at).instructions[at.index],
                                                         after_.block(b).instructions[b.index]))
      return differ(x, y, "a sequence that must stay contiguous is interrupted");
}

/// A gp load after a call computes gp from the return address. So where a load of the input refers
/// to one call and the load of the output to another call, the two calls must be partners.
void Comparison::expected_calls() {
  for (const auto& [before, after] : expected_calls_) {
    if (call_partner_[before] == kNone) continue;  // nothing leads to the call or past it
    if (call_partner_[before] == after || more_call_partners_.contains({before, after})) continue;
    const auto [procedure, block] = before_.numbers.at(before);
    const CodeCursor call{procedure, block, 0};
    return differ(
        fmt::format("gp is loaded as if a call had returned that is not the one in the "
                    "block at {}",
                    before_.describe(call)));
  }
}

/// Adds a pair of places that must behave in the same way. `edge`: of the block of `x`, which leads
/// there.
void Comparison::pair(const CodeLocation& before, const CodeLocation& after, const Cursor& x,
                      const Cursor& y, std::string_view what, std::optional<Edge::Kind> edge) {
  const auto outside = [](const CodeLocation& location) {
    return location.where == CodeLocation::Where::address;
  };
  const InputEdge way_in = edge ? InputEdge{x.at.procedure, x.at.block, *edge} : InputEdge{};
  if (is_absent(before) && is_absent(after)) return;
  if (is_absent(before) || is_absent(after))
    return differ(x, y, fmt::format("{} leads on in one of them only", what));
  if (!outside(before) && !outside(after)) {
    if (partner_[before_.numbers(before.procedure, before.block)] !=
            partner_of(after_.numbers(after.procedure, after.block), 0, 0) ||
        (added_ != nullptr && added_->expects(way_in)))
      add({.before = {before.procedure, before.block, 0},
           .after = {after.procedure, after.block, 0},
           .from = way_in});
    return;
  }
  // A branch may lead outside through another branch.
  const auto resolve = [&](const ComparedProgram& side, const CodeLocation& location) {
    if (outside(location)) return std::optional(location.address);
    Cursor cursor = cursor_at(side, {location.procedure, location.block, 0});
    return settle(side, cursor) == Rest::outside ? std::optional(cursor.outside) : std::nullopt;
  };
  way_.clear();
  const auto from = resolve(before_, before), to = resolve(after_, after);
  if (!from || !to || !same_outside(*from, *to))
    return differ(x, y, fmt::format("{} leads to different places", what));
  if (added_ == nullptr) return;
  if (!way_.empty()) way_.front().edge = way_in;
  uint8_t done = 0;
  passed_ = false;
  if (const auto fault = added_->judge({.places = way_, .leaves = true}, done))
    differ(x, y, *fault);
}

/// Addresses without blocks must be equal, unless the input's address lies in a section that moved:
/// then the output's address is the start of the moved section. (Static images register their
/// unwind tables from the end of the first object's tables; registering all tables does the same.)
bool Comparison::same_outside(uint64_t before, uint64_t after) const {
  const Image *old_image = before_.program.image, *new_image = after_.program.image;
  if (old_image == nullptr || new_image == nullptr) return before == after;
  const Section* from = old_image->section_at(before);
  const Section* moved = nullptr;
  if (from != nullptr) {
    const auto [known, fresh] = sections_.try_emplace(from, nullptr);
    if (fresh) known->second = new_image->section_named(from->name);
    moved = known->second;
  }
  if (moved == nullptr || moved->address == from->address) return before == after;
  return after == moved_table_address(before, *from, moved->address, moved->size);
}

void Comparison::differ(const Cursor& x, const Cursor& y, std::string_view what) {
  if (difference_) return;
  difference_ =
      fmt::format("{}: input {}, output {}", what, before_.describe(x.at), after_.describe(y.at));
}

/// The worker that walks from the procedure. Neighbours call each other often.
size_t Comparison::owner(ProcedureId before) const {
  constexpr ProcedureId kNeighbours = 64;
  return shared_ == nullptr ? worker_ : before / kNeighbours % shared_->workers();
}

/// Every worker finds all entries of the image; each further pair it sends to the owner once.
void Comparison::add(const Item& item) {
  const size_t to = owner(item.before.procedure);
  if (to == worker_) return work_.push_back(item);
  if (!walking_) return;
  if (item.entered == kNone && item.before.index == 0 &&
      !visit(before_.numbers(item.before.procedure, item.before.block), item.after))
    return;
  for_others_[to].push_back(item);
  constexpr size_t kMany = 1024;
  if (for_others_[to].size() == kMany) shared_->send(to, for_others_[to]);
}

/// The next pair to walk from, which another worker may have found; nullopt at the end.
std::optional<Comparison::Item> Comparison::take() {
  if (work_.empty() && shared_ != nullptr) {
    for (size_t to = 0; to < for_others_.size(); ++to) shared_->send(to, for_others_[to]);
    shared_->receive(worker_, work_);
  }
  if (work_.empty()) return std::nullopt;
  const Item item = work_.back();
  work_.pop_back();
  return item;
}

void Comparison::run() {
  partner_.assign(before_.numbers.count(), kNoPartner);
  call_partner_.assign(before_.numbers.count(), kNone);
  reached_.assign(before_.numbers.count(), false);
  find_entries();
  std::reverse(work_.begin(), work_.end());  // walk in the order of the input
  if (shared_ != nullptr) for_others_.resize(shared_->workers());
  walking_ = true;
  while (!difference_) {
    const auto item = take();
    if (!item) return;
    walk(*item);
  }
  if (shared_ != nullptr) shared_->stop();
}

void Comparison::join(const Comparison& other) {
  if (!difference_) difference_ = other.difference_;
  compared_ += other.compared_;
  for (size_t i = 0; i < reached_.size(); ++i)
    if (other.reached_[i]) reached_[i] = true;
  // About blocks of other workers a worker only knows what it has sent.
  const auto belongs_to_other = [&](const Visit& v) {
    return other.is_own(before_.numbers.at(v.before).first);
  };
  std::erase_if(more_partners_, belongs_to_other);
  std::ranges::copy_if(other.more_partners_, std::inserter(more_partners_, more_partners_.end()),
                       belongs_to_other);
  more_call_partners_.insert(other.more_call_partners_.begin(), other.more_call_partners_.end());
  expected_calls_.insert(expected_calls_.end(), other.expected_calls_.begin(),
                         other.expected_calls_.end());
  for (ProcedureId id = 0; id < before_.program.procedures.size(); ++id) {
    if (!other.is_own(id)) continue;
    const uint32_t first = before_.numbers(id, 0);
    for (uint32_t b = first; b < first + before_.program[id].blocks.size(); ++b) {
      partner_[b] = other.partner_[b];
      call_partner_[b] = other.call_partner_[b];
    }
  }
}

/// The work that added code should do but does not.
void Comparison::missing_code() {
  if (added_ == nullptr) return;
  const auto reached = [&](ProcedureId procedure, BlockId block) -> bool {
    return reached_[before_.numbers(procedure, block)];
  };
  if (auto missing = added_->find_missing(reached)) differ(std::move(*missing));
}

CompareCounts Comparison::counts() const {
  return {
      .instructions = compared_,
      .blocks = before_.numbers.count(),
      .blocks_reached = static_cast<uint64_t>(std::count(reached_.begin(), reached_.end(), true))};
}

std::vector<BlockPair> Comparison::pairs() const {
  std::vector<Visit> visits(more_partners_.begin(), more_partners_.end());
  for (uint32_t before = 0; before < partner_.size(); ++before)
    if (partner_[before] != kNoPartner) visits.push_back({before, partner_[before]});
  std::ranges::sort(visits, {}, [](const Visit& v) { return std::pair(v.before, v.after); });
  std::vector<BlockPair> pairs;
  pairs.reserve(visits.size());
  for (const Visit& visit : visits) {
    const auto [procedure, block] = before_.numbers.at(visit.before);
    const auto [after_procedure, after_block] =
        after_.numbers.at(static_cast<uint32_t>(visit.after >> 32));
    pairs.push_back({.procedure = procedure,
                     .block = block,
                     .after_procedure = after_procedure,
                     .after_block = after_block,
                     .after_index = static_cast<uint32_t>(visit.after) & kPartnerIndex});
  }
  return pairs;
}

std::optional<std::string> find_difference(const Program& before, const Program& after,
                                           CompareCounts* counts,
                                           const std::vector<GpLoad>* needless,
                                           std::vector<BlockPair>* pairs, AddedCode* added) {
  const auto finish = [&](Comparison& comparison) {
    if (!comparison.difference()) comparison.expected_calls();
    if (!comparison.difference()) comparison.listed_calls();
    if (!comparison.difference()) comparison.missing_code();
    if (counts != nullptr) *counts = comparison.counts();
    if (pairs != nullptr) *pairs = comparison.pairs();
    return comparison.difference();
  };
  // Which of several differences comes first depends on the threads, so then one thread walks
  // again.
  if (const size_t workers = walkers_for(before); workers > 1)
    if (const auto walked = walk_together(before, after, needless, added, workers))
      if (!walked->difference() && !finish(*walked)) return std::nullopt;
  const auto fresh = added != nullptr ? added->for_another_walk() : nullptr;
  Comparison comparison(before, after, needless, fresh.get());
  comparison.run();
  return finish(comparison);
}

}  // namespace respike
