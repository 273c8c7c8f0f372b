// Packing decides how blocks end, given the block that follows, which blocks are packed together,
// and how large blocks therefore are.
//
// Problem: where a group (ir/code_map.h) holds several instructions, a block that starts a group
// leaves slots of the previous group empty. Idea: only a block to which a branch leads needs an
// address of its own. A block that control enters only from the block before, such as the block
// after a conditional branch, goes on in the same group. Blocks that are packed together are a run.
//
// Example (Itanium, three slots): block 1 is `add; (p6) br A`, and only block 1 leads to block 2,
// `br B`. As a run they are one bundle (add, br, br), otherwise two.
//
// Packing must not create dependences that the machine forbids within an instruction group. The
// input has the stops that its own order needs. So two blocks are joined only if the input had them
// in this order, or if the second depends on nothing. Unwind tables describe whole groups of one
// owner: a block with another handler or exception table starts a group.
//
// A run has at most 16 blocks, so finding a block's part of its run is cheap.
//
// Where branches have two lengths, all branches along edges are short at first. Placement, which
// knows distances, makes branches longer until all branches reach. References to other procedures
// are always long.

#include "optimizer/analysis/packing.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "optimizer/image/image.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/unwind/unwind.h"

namespace respike {

namespace {

constexpr uint64_t kUsual = 16, kPage = 4096;

/// The largest alignment that entries in the section at `address` keep.
uint64_t kept_alignment(const Program& program, uint64_t address) {
  const Section* section = program.image == nullptr ? nullptr : program.image->section_at(address);
  if (section == nullptr || section->alignment <= program.image->section_alignment) return kUsual;
  return std::clamp(std::bit_floor(section->alignment), kUsual, kPage);
}

}  // namespace

uint32_t alignment_of_entry(const Program& program, const BasicBlock& block) {
  if (!block.has(BasicBlock::kEntry) || block.origin == kNone) return 0;
  const uint64_t address = program.address_of(block);
  // More than the usual is kept where the section asks for it: a program may keep numbers in the
  // low bits of addresses. Chance aligns few other procedures.
  const uint64_t most = kept_alignment(program, address);
  return static_cast<uint32_t>(address == 0 ? most : std::min(address & (~address + 1), most));
}

uint64_t alignment_of_code(const Program& program) {
  uint64_t alignment = kUsual;
  for (const CodeRange& range : program.ranges)
    if (program[range.procedure].movable())
      alignment = std::max(alignment, kept_alignment(program, range.start));
  return alignment;
}

Packing::Packing(const Program& program)
    : program_(program),
      machine_(*program.machine),
      numbers_(program),
      has_regions_(program.image != nullptr && looks_up_return_addresses(*program.image)),
      has_opposites_(program.procedures.size()) {
  sizes_.reserve(numbers_.count());
  run_.reserve(numbers_.count());
  for (const Procedure& procedure : program.procedures)
    for (BlockId id = 0; id < procedure.blocks.size(); ++id) {
      sizes_.push_back(procedure.blocks[id].origin_size);  // until pack()
      run_.push_back(id);
    }
  ends_.assign(sizes_.size(), BlockEnd::kept);
  next_.assign(sizes_.size(), kNone);
  long_.resize(sizes_.size());
  find_joinable();
}

void Packing::pack(ProcedureId id, std::span<const BlockId> blocks, BlockRun& run) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    ends_[index(id, blocks[i])] =
        choose_end(id, blocks[i], i + 1 < blocks.size() ? blocks[i + 1] : kNone);
    long_[index(id, blocks[i])] = {};
  }
  join(id, blocks);
  for (const BlockId block : blocks)
    if (!is_joined(id, block)) measure(id, block, run);
}

// ---- ends ----

/// Whether one entry of the unwind table can describe block `id` and the following block `next`: an
/// entry has one owner, one CIE and one LSDA.
bool Packing::shares_region(const Procedure& procedure, BlockId id, BlockId next) const {
  const auto cie_of = [&](uint32_t s) {
    return s < program_.unwind.states.size() ? program_.unwind.states[s].cie : kNone;
  };
  const auto lsda_of = [&](const BasicBlock& b) {
    return b.call_site == kNone ? kNone : procedure.call_sites[b.call_site].lsda;
  };
  const BasicBlock& block = procedure.blocks[id];
  const BasicBlock& follower = procedure.blocks[next];
  return next != 0 && cie_of(state_at_end(block)) == cie_of(follower.cfi_state) &&
         lsda_of(block) == lsda_of(follower);
}

/// Whether a call that does not return needs code of the caller after it: unwinders look up the
/// region of the return address itself. The block that followed in the input serves, if it is in
/// the same region.
bool Packing::needs_padding(const Procedure& procedure, BlockId id, BlockId next) const {
  const BasicBlock& block = procedure.blocks[id];
  if (!has_regions_ || !is_call(machine_.facts(block.instructions.back()).flow) ||
      block.edge(Edge::Kind::fall_through) != nullptr)
    return false;
  if (next == kNone || block.origin == kNone) return true;
  const BasicBlock& follower = procedure.blocks[next];
  const bool same = follower.origin == block.origin + block.origin_size;
  return !same || !shares_region(procedure, id, next) ||
         std::all_of(follower.instructions.begin(), follower.instructions.end(),
                     [&](const Instruction& i) { return i.is_pseudo() || machine_.facts(i).nop; });
}

/// Whether branches of the procedure may be inverted: no instruction defers faults, after which
/// neither a condition nor its opposite holds.
bool Packing::has_opposites(ProcedureId id) {
  std::atomic<Opposites>& known = has_opposites_[id];
  if (known == Opposites::unknown) {
    const bool found = std::ranges::none_of(program_[id].blocks, [&](const BasicBlock& block) {
      return std::ranges::any_of(block.instructions, [&](const Instruction& instruction) {
        return !instruction.is_pseudo() && machine_.facts(instruction).defers_faults;
      });
    });
    known = found ? Opposites::yes : Opposites::no;
  }
  return known == Opposites::yes;
}

/// Whether the conditional branch at the end of a block can be inverted.
bool Packing::has_inverse(ProcedureId procedure, const BasicBlock& block) {
  Instruction inverse = block.instructions.back();
  const auto before = block.instructions.span().first(block.instructions.size() - 1);
  return has_opposites(procedure) && machine_.branches.invert(inverse, before);
}

BlockEnd Packing::choose_end(ProcedureId procedure, BlockId id, BlockId next) {
  const BasicBlock& block = program_[procedure].blocks[id];
  const Edge* taken = block.edge(Edge::Kind::taken);
  const Edge* fall = block.edge(Edge::Kind::fall_through);
  if (fall != nullptr && fall->target != next) {
    const bool follows = taken != nullptr && taken->target == next;
    // An appended branch is executed only when the conditional branch is not taken, so the rarer
    // side should be appended.
    const bool turns = follows || (taken != nullptr && taken->count < fall->count);
    if (!turns || !has_inverse(procedure, block)) return BlockEnd::branch_appended;
    return follows ? BlockEnd::inverted : BlockEnd::inverted_and_appended;
  }
  if (fall != nullptr && has_regions_ && is_call(machine_.facts(block.instructions.back()).flow) &&
      !shares_region(program_[procedure], id, next))
    return BlockEnd::branch_appended;  // so that the return point is in the call's region
  if (fall == nullptr && taken != nullptr && taken->target == next) return BlockEnd::branch_dropped;
  return needs_padding(program_[procedure], id, next) ? BlockEnd::padded : BlockEnd::kept;
}

// ---- runs ----

/// Finds blocks that only the fall-through from one block enters: where a group holds several
/// instructions, such blocks need not start a group.
void Packing::find_joinable() {
  joinable_.assign(run_.size(), false);
  if (machine_.codec.groups.slots == 1) return;
  std::vector<uint32_t> entries;  // of the blocks of a procedure
  for (ProcedureId id = 0; id < program_.procedures.size(); ++id) {
    const Procedure& procedure = program_[id];
    entries.assign(procedure.blocks.size(), 0);
    for (const BasicBlock& block : procedure.blocks)
      for (const Edge& edge : block.successors)
        entries[edge.target] += edge.kind == Edge::Kind::fall_through ? 1 : 2;
    for (const Reference& reference : procedure.references)
      if (reference.target.procedure == id) entries[reference.target.block] += 2;
    for (const uint32_t symbol : procedure.symbols)
      if (const auto named = block_at(program_, program_.image->symbols[symbol].value))
        if (named->procedure == id) entries[named->block] += 2;
    constexpr unsigned kNamed =
        BasicBlock::kAddressTaken | BasicBlock::kLandingPad | BasicBlock::kEntry;
    for (BlockId block = 1; block < entries.size(); ++block)
      joinable_[index(id, block)] =
          entries[block] == 1 && (procedure.blocks[block].flags & kNamed) == 0;
  }
}

/// Whether `next` may go on in the group of the block before. The only stop between the two is the
/// stop of the input, so the input must have had them in this order, or `next` must depend on
/// nothing.
bool Packing::may_join(ProcedureId id, BlockId block_id, BlockId next) const {
  const Procedure& procedure = program_[id];
  const BasicBlock& block = procedure.blocks[block_id];
  const BasicBlock& follower = procedure.blocks[next];
  const Edge* fall = block.edge(Edge::Kind::fall_through);
  if (!joinable_[index(id, next)] || end(id, block_id) != BlockEnd::kept || fall == nullptr ||
      fall->target != next || is_call(machine_.facts(block.instructions.back()).flow))
    return false;
  // Unwind tables describe whole groups.
  if (!shares_region(procedure, block_id, next)) return false;
  const Instruction& first = follower.instructions.front();
  const bool independent = follower.instructions.size() == 1 && !first.is_pseudo() &&
                           machine_.facts(first).flow == ControlFlow::branch;
  return independent ||
         (block.origin != kNone && follower.origin == block.origin + block.origin_size);
}

bool Packing::continues(ProcedureId id, BlockId block_id, BlockId next) const {
  const BasicBlock& block = program_[id].blocks[block_id];
  const BasicBlock& follower = program_[id].blocks[next];
  const Edge* fall = block.edge(Edge::Kind::fall_through);
  return end(id, block_id) == BlockEnd::kept && fall != nullptr && fall->target == next &&
         block.origin != kNone && follower.origin == block.origin + block.origin_size;
}

void Packing::join(ProcedureId id, std::span<const BlockId> blocks) {
  constexpr size_t kLongest = 16;  // blocks of a run
  size_t length = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const BlockId block = blocks[i];
    next_[index(id, block)] = kNone;
    const bool joins = i != 0 && length < kLongest && may_join(id, blocks[i - 1], block);
    length = joins ? length + 1 : 1;
    run_[index(id, block)] = joins ? run_[index(id, blocks[i - 1])] : block;
    if (joins) next_[index(id, blocks[i - 1])] = block;
  }
}

/// Finds the sizes of a run's blocks.
void Packing::measure(ProcedureId id, BlockId first, BlockRun& run) {
  const BlockEnd how = end(id, first);
  if (next_[index(id, first)] == kNone && machine_.branches.set_length == nullptr &&
      (how == BlockEnd::kept || how == BlockEnd::inverted)) {
    const auto code = program_[id].blocks[first].instructions.span();
    sizes_[index(id, first)] = static_cast<uint32_t>(machine_.codec.size(code));
    return;
  }
  arrange_run(id, first, run);
  const auto start = [&](size_t block) {
    if (block == 0) return 0u;  // the first instruction may not be in the first slot
    const size_t place = block < run.blocks.size() ? run.blocks[block].second : SIZE_MAX;
    return place < run.places.size() ? run.places[place] : static_cast<uint32_t>(run.size);
  };
  for (size_t i = 0; i < run.blocks.size(); ++i)
    sizes_[index(id, run.blocks[i].first)] = start(i + 1) - start(i);
}

// ---- code ----

void Packing::append_code(ProcedureId procedure, BlockId id, std::vector<Instruction>& code) const {
  const size_t start = code.size();
  const auto list = program_[procedure].blocks[id].instructions.span();
  std::ranges::copy_if(list, std::back_inserter(code),
                       [](const Instruction& i) { return !i.is_pseudo(); });
  const BlockEnd how = end(procedure, id);
  if (how == BlockEnd::branch_dropped) {
    code.pop_back();
    if (code.size() > start && machine_.facts(code.back()).prefix) code.pop_back();
  }
  const auto set_length = machine_.branches.set_length;
  const Branches is_long = long_[index(procedure, id)];
  if (set_length != nullptr && code.size() > start)
    set_length(code.back(), !ends_in_own_branch(procedure, id) || is_long.own);
  if (appends_branch(how)) {
    code.push_back(machine_.branches.branch);
    if (set_length != nullptr) set_length(code.back(), is_long.appended);
  }
  if (how == BlockEnd::padded) code.push_back(machine_.branches.stop);
}

/// Whether the block's own branch along an edge is written.
bool Packing::ends_in_own_branch(ProcedureId procedure, BlockId id) const {
  return program_[procedure].blocks[id].edge(Edge::Kind::taken) != nullptr &&
         end(procedure, id) != BlockEnd::branch_dropped;
}

Packing::Branches Packing::short_branches(ProcedureId procedure, BlockId id) const {
  const Branches is_long = long_[index(procedure, id)];
  return {.own = !is_long.own && ends_in_own_branch(procedure, id),
          .appended = !is_long.appended && appends_branch(end(procedure, id))};
}

void Packing::lengthen(ProcedureId procedure, BlockId id, Branches branches) {
  Branches& is_long = long_[index(procedure, id)];
  is_long.own |= branches.own;
  is_long.appended |= branches.appended;
  measure(procedure, run_[index(procedure, id)], measured_);
}

void Packing::arrange_run(ProcedureId procedure, BlockId first, BlockRun& run) const {
  run.code.clear();
  run.blocks.clear();
  for (BlockId id = first; id != kNone; id = next_[index(procedure, id)]) {
    run.blocks.emplace_back(id, run.code.size());
    append_code(procedure, id, run.code);
  }
  run.places.resize(run.code.size());
  run.size = machine_.codec.arrange(run.code, run.places.data());
}

void Packing::arrange(ProcedureId procedure, BlockId id, BlockRun& run) const {
  const uint32_t at = index(procedure, id);
  arrange_run(procedure, run_[at], run);
  if (run.blocks.size() == 1) return;
  size_t begin = 0, end = run.code.size();
  for (const auto& [block, first] : run.blocks) {
    if (block == id) begin = first;
    if (block == next_[at]) end = first;
  }
  const uint32_t base = begin == 0                  ? 0
                        : begin < run.places.size() ? run.places[begin]
                                                    : static_cast<uint32_t>(run.size);
  run.code.assign(run.code.begin() + static_cast<ptrdiff_t>(begin),
                  run.code.begin() + static_cast<ptrdiff_t>(end));
  run.places.assign(run.places.begin() + static_cast<ptrdiff_t>(begin),
                    run.places.begin() + static_cast<ptrdiff_t>(end));
  for (uint32_t& place : run.places) place -= base;
  run.size = sizes_[at];
  run.blocks.assign({{id, 0}});
}

}  // namespace respike
