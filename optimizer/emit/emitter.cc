// Code and data of the output. See emit.cc.
//
// Fragments are written on several threads. For each run of blocks, references become numbers, the
// instructions are encoded, and kept relocations follow their instructions. Pinned code stays in
// place; only its references to moved code change. Words of data get the new addresses of code.
//
// Example: "bsr g" in f moves by 0x4000 and g stays, so the displacement shrinks by 0x1000 words.
// The relocation of the bsr moves by 0x4000 as well.

#include "optimizer/emit/emitter.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/base/parallel.h"
#include "optimizer/debug/debug.h"
#include "optimizer/emit/stale_values.h"
#include "optimizer/image/provenance.h"
#include "optimizer/ir/lookup.h"

namespace respike {
Emitter::Emitter(const Program& program, const Layout& layout, const Placement& placement,
                 const AddedSegment& segment, Diagnostics& diagnostics,
                 std::vector<PlacedInstruction>* places, const DebugFile* debug)
    : program_(program),
      layout_(layout),
      placement_(placement),
      segment_(segment),
      image_(*program.image),
      machine_(*program.machine),
      diagnostics_(diagnostics),
      unwind_(program.unwind),
      places_(places),
      notes_pieces_(has_debug_sections(*program.image) ||
                    (debug != nullptr && has_debug_sections(debug->input))),
      debug_(debug) {
  // A personality routine to which no word of data leads moves with the other code.
  for (Cie& cie : unwind_.cies)
    if (cie.has_direct_personality())
      cie.personality = new_address(cie.personality).value_or(cie.personality);
  const auto loaded = image_.file.first(image_.loaded_end);
  out_.contents.assign(loaded.begin(), loaded.end());
  if (placement.added_end() > placement.added_start()) {
    added_text_ = static_cast<uint32_t>(out_.added.size());
    NewImage::AddedSection& text = out_.added.emplace_back();
    text.name = ".text.respike";
    text.properties = Section::kAllocated | Section::kExecutable;
    text.address = placement.added_start();
    text.alignment = alignment_of_code(program);
    text.contents.resize(placement.added_end() - placement.added_start());
  }
  uint32_t references = 0;
  for (const Procedure& procedure : program.procedures) {
    first_reference_.push_back(references);
    references += static_cast<uint32_t>(procedure.references.size());
  }
  gp_load_lows_.resize(references);
  relocations_of_.resize(image_.sections.size());
  for (const RelocationTable& table : image_.relocations)
    relocations_of_[table.target] = &table.relocations;
}

EmitStatistics Emitter::statistics() const {
  EmitStatistics result;
  for (const PlacedFragment& placed : placement_.fragments())
    (placed.address >= placement_.added_start() ? result.added_text_bytes : result.text_bytes) +=
        placed.size;
  result.fragments = placement_.fragments().size();
  result.far_stubs = placement_.stubs().size();
  return result;
}

std::optional<uint64_t> Emitter::new_address(uint64_t old) const {
  const auto location = block_at(program_, old);
  if (!location) return std::nullopt;
  return placement_.address(location->procedure, location->block);
}

uint64_t Emitter::resolve(const CodeLocation& location) const {
  if (location.where != CodeLocation::Where::address) return placement_.resolve(location);
  const auto find = [&](auto is_in) -> std::optional<uint64_t> {
    for (const NewImage::MovedSection& moved : out_.moved) {
      const Section& old = image_.sections[moved.section];
      if (is_in(old))
        return moved_table_address(location.address, old, moved.address, moved.contents.size());
    }
    return std::nullopt;
  };
  // The end of one table may be the start of the next.
  if (const auto inside = find([&](const Section& s) { return s.contains(location.address); }))
    return *inside;
  if (const auto end =
          find([&](const Section& s) { return location.address == s.address + s.size; }))
    return *end;
  return location.address;
}

uint8_t* Emitter::data_bytes(uint64_t address, uint64_t size) {
  const auto offset = image_.offset_of(address);
  if (!offset || *offset > out_.contents.size() || size > out_.contents.size() - *offset)
    throw Error(fmt::format("no file contents at address {:#x}", address), image_.path);
  return out_.contents.data() + *offset;
}

uint8_t* Emitter::code_bytes(uint64_t address, uint64_t size) {
  const uint64_t start = placement_.added_start();
  if (added_text_ == kNone || address < start) return data_bytes(address, size);
  std::vector<uint8_t>& added = out_.added[added_text_].contents;
  if (address - start > added.size() || size > added.size() - (address - start))
    return data_bytes(address, size);
  return added.data() + (address - start);
}

void Emitter::put(uint64_t address, const Instruction& instruction) {
  const CodeMap& map = program_.map;
  const uint64_t start = map.group(address), size = map.group_end(address) - start;
  if (machine_.codec.replace != nullptr)
    return machine_.codec.replace({code_bytes(start, size), size}, map.slot(address), instruction);
  std::vector<uint8_t> bytes;
  machine_.codec.encode_at({&instruction, 1}, place_at(address, {}), bytes);
  if (bytes.size() != size)
    throw Error("internal error: code is not as large as it was measured", image_.path);
  std::copy(bytes.begin(), bytes.end(), code_bytes(address, size));
}

CodePlace Emitter::place_at(uint64_t address, std::span<const Instruction> following) const {
  return {.following = following,
          .address = address,
          .input = &image_,
          .origin_base = program_.origin_base};
}

void Emitter::fill_free_ranges() {
  const auto fill = [&](uint64_t start, uint64_t end) {
    const unsigned unit = machine_.codec.groups.alignment();
    const uint64_t size = (end - start) / unit * unit;
    machine_.codec.fill({code_bytes(start, end - start), size});
  };
  for (const auto& [start, end] : placement_.free_ranges()) fill(start, end);
  if (added_text_ != kNone) fill(placement_.added_start(), placement_.added_end());
}

uint64_t& Emitter::gp_load_low(ProcedureId id, uint32_t reference) {
  return gp_load_lows_[first_reference_[id] + reference];
}

/// The instruction with its reference turned into a number.
Instruction Emitter::resolved(ProcedureId id, const Instruction& instruction, uint64_t place) {
  if (!instruction.has_reference()) return instruction;
  const Procedure& procedure = program_[id];
  const auto index = static_cast<uint32_t>(instruction.immediate);
  const Reference& reference = procedure.references[index];
  Instruction result = instruction;
  result.flags &= static_cast<uint8_t>(~Instruction::kHasReference);
  result.immediate = 0;
  ReferenceKind kind = reference.kind;
  uint64_t to = resolve(reference.target);
  if (kind == ReferenceKind::branch)
    to = placement_.branch_target(place, instruction, reference.target);
  if (kind == ReferenceKind::gp_load_high && !machine_.fixups.is_upper_half(instruction)) {
    kind = ReferenceKind::gp_load_low;
    gp_load_low(id, index) = place;
  }
  if (!machine_.fixups.apply(result, kind, place, to, procedure.gp.value_or(0)))
    throw Error(fmt::format("{} cannot refer to {:#x} from {:#x}", procedure.name, to, place),
                image_.path);
  return result;
}

/// Writes the code of fragments: each thread has a writer. A writer writes only those parts of the
/// output and of the emitter's lists that belong to its own blocks.
class Emitter::CodeWriter {
 public:
  explicit CodeWriter(Emitter& emitter)
      : emitter_(emitter),
        program_(emitter.program_),
        placement_(emitter.placement_),
        image_(emitter.image_),
        machine_(emitter.machine_) {}

  void write_fragment(const Layout::Fragment& fragment, uint32_t number);
  std::vector<MovedRelocation> take_relocations() { return std::move(carried_); }
  std::vector<MovedPiece> take_pieces() { return std::move(pieces_); }
  std::map<StaleValues, uint32_t> take_stale_values() { return std::move(stale_values_); }
  std::vector<PlacedInstruction> take_places() { return std::move(places_); }

 private:
  void note_places(ProcedureId id);
  void note_block(ProcedureId id, BlockId block, size_t begin, size_t end);
  std::vector<StaleFlow::Step> stale_steps(ProcedureId id, BlockId block);
  uint32_t stale_number(const StaleValues& values);
  std::optional<std::pair<uint64_t, uint64_t>> way_out(const Procedure& procedure,
                                                       BlockId block) const;
  void write_run(ProcedureId id, BlockId first, BlockId next);
  void find_relocations(const BasicBlock& block);
  void go_to(uint64_t address);
  void finish_block(ProcedureId id, BlockId block, size_t begin, size_t end);
  void carry_relocations(ProcedureId id, const Instruction& instruction, uint64_t place,
                         uint64_t branch_target);
  void carry_field_relocations(const Instruction& instruction, uint64_t place, ReferenceKind kind,
                               uint64_t target);

  Emitter& emitter_;
  const Program& program_;
  const Placement& placement_;
  const Image& image_;
  const Machine& machine_;
  BlockRun run_;  // the blocks being written
  std::vector<uint8_t> bytes_;
  std::vector<MovedRelocation> carried_;
  const std::vector<Relocation>* block_relocations_ = nullptr;
  size_t next_relocation_ = 0;
  std::vector<MovedPiece> pieces_;
  std::map<StaleValues, uint32_t> stale_values_;  // with their numbers
  std::optional<StaleFlow> stale_flow_;
  ProcedureId stale_flow_of_ = kNone;  // the procedure of stale_flow_
  std::vector<PlacedInstruction> places_;
  std::optional<PieceBuilder> builder_;  // of the fragment
};

void Emitter::CodeWriter::write_fragment(const Layout::Fragment& fragment, uint32_t number) {
  builder_.reset();
  if (emitter_.notes_pieces_) builder_.emplace(pieces_, number);
  std::vector<BlockId> runs;
  for (const BlockId block : fragment.blocks)
    if (!placement_.packing().is_joined(fragment.procedure, block)) runs.push_back(block);
  for (size_t i = 0; i < runs.size(); ++i)
    write_run(fragment.procedure, runs[i], i + 1 < runs.size() ? runs[i + 1] : kNone);
}

/// Carries the input's relocations of this instruction to the output, in a walk along the block. If
/// the instruction's origin lies before the previous instruction's, the walk starts again from its
/// origin.
void Emitter::CodeWriter::carry_relocations(ProcedureId id, const Instruction& instruction,
                                            uint64_t place, uint64_t branch_target) {
  if (block_relocations_ == nullptr || instruction.origin == kNone) return;
  const uint64_t old = program_.origin_base + instruction.origin;
  const auto& relocations = *block_relocations_;
  if (next_relocation_ != 0 && relocations[next_relocation_ - 1].address >= old) go_to(old);
  while (next_relocation_ < relocations.size() && relocations[next_relocation_].address < old)
    ++next_relocation_;
  for (; next_relocation_ < relocations.size() && relocations[next_relocation_].address == old;
       ++next_relocation_) {
    const Relocation& relocation = relocations[next_relocation_];
    MovedRelocation moved{place, &relocation, 0, 0};
    const RelocationRole role = relocation.role;
    if (role == RelocationRole::branch || role == RelocationRole::address_high)
      moved.target = branch_target;
    if (role == RelocationRole::gp_load && instruction.has_reference())
      moved.pair = emitter_.first_reference_[id] + static_cast<uint32_t>(instruction.immediate) + 1;
    carried_.push_back(moved);
  }
}

/// The same where relocations are at fields within instructions. `instruction`: as written at
/// `place`; `kind`, `target`: what its branch or its reference leads to now, or a target of 0.
/// Linkers count distances from the field, instructions count from their end: the addend makes up
/// for the difference.
void Emitter::CodeWriter::carry_field_relocations(const Instruction& instruction, uint64_t place,
                                                  ReferenceKind kind, uint64_t target) {
  if (block_relocations_ == nullptr || instruction.origin == kNone) return;
  const uint64_t old = program_.origin_base + instruction.origin;
  const auto& relocations = *block_relocations_;
  if (next_relocation_ != 0 && relocations[next_relocation_ - 1].address >= old) go_to(old);
  while (next_relocation_ < relocations.size() && relocations[next_relocation_].address < old)
    ++next_relocation_;
  if (next_relocation_ == relocations.size() ||
      relocations[next_relocation_].address - old > program_.map.largest_group())
    return;
  const uint64_t end = program_.map.group_end(old);
  // A short branch has no field for a relocation.
  const bool has_fields = machine_.codec.size({&instruction, 1}) == end - old;
  for (; next_relocation_ < relocations.size() && relocations[next_relocation_].address < end;
       ++next_relocation_) {
    if (!has_fields) continue;
    const Relocation& relocation = relocations[next_relocation_];
    const bool is_absolute = relocation.role == RelocationRole::address32;
    const bool is_distance = relocation.role == RelocationRole::branch ||
                             relocation.role == RelocationRole::pc_relative32;
    MovedRelocation moved{place + (relocation.address - old), &relocation, 0, 0};
    if (kind == ReferenceKind::address32 ? is_absolute : is_distance) moved.target = target;
    if (is_distance) moved.behind = end - relocation.address;
    carried_.push_back(moved);
  }
}

/// Writes a run of blocks that are packed together; `next` follows the run in the fragment.
void Emitter::CodeWriter::write_run(ProcedureId id, BlockId first, BlockId next) {
  placement_.packing().arrange_run(id, first, run_);
  for (size_t i = 0; i < run_.blocks.size(); ++i)
    finish_block(id, run_.blocks[i].first, run_.blocks[i].second,
                 i + 1 < run_.blocks.size() ? run_.blocks[i + 1].second : run_.code.size());
  bytes_.clear();
  std::span<const Instruction> following;
  // The code after the run must be what was packed: the block `next`, with its branch.
  if (next != kNone && placement_.packing().continues(id, run_.blocks.back().first, next) &&
      placement_.packing().end(id, next) != BlockEnd::branch_dropped)
    following = program_[id].blocks[next].instructions.span();
  machine_.codec.encode_at(run_.code, emitter_.place_at(placement_.address(id, first), following),
                           bytes_);
  if (bytes_.size() != run_.size)
    throw Error("internal error: code is not as large as it was measured", image_.path);
  std::copy(bytes_.begin(), bytes_.end(),
            emitter_.code_bytes(placement_.address(id, first), bytes_.size()));
  if (builder_ || emitter_.places_ != nullptr) note_places(id);
}

/// Notes where the instructions of the run are now.
void Emitter::CodeWriter::note_places(ProcedureId id) {
  for (size_t i = 0; i < run_.blocks.size(); ++i) {
    const size_t end = i + 1 < run_.blocks.size() ? run_.blocks[i + 1].second : run_.code.size();
    note_block(id, run_.blocks[i].first, run_.blocks[i].second, end);
  }
}

void Emitter::CodeWriter::note_block(ProcedureId id, BlockId block_id, size_t begin, size_t end) {
  const Procedure& procedure = program_[id];
  const BasicBlock& block = procedure.blocks[block_id];
  const uint64_t start = placement_.address(id, run_.blocks.front().first);
  const auto place = [&](size_t i) {
    return start + (i < run_.code.size() ? run_.places[i] : run_.size);
  };
  // Free slots next to an instruction belong to it.
  const CodeGroups groups = machine_.codec.groups;
  const auto begin_of = [&](size_t i) {
    if (groups.slots == 1) return place(i);
    const bool starts_group = i == 0 || place(i) / groups.bytes != place(i - 1) / groups.bytes;
    return starts_group ? place(i) / groups.bytes * groups.bytes : place(i);
  };
  const auto end_in_input = [&](uint64_t old, const Instruction& instruction) {
    const bool returns_behind = groups.slots > 1 && is_call(machine_.facts(instruction).flow);
    return returns_behind ? program_.map.group_end(old) : program_.map.next(old);
  };
  const auto old_block =
      block.origin == kNone ? std::nullopt : std::optional(program_.address_of(block));
  bool is_copy = false;
  if (old_block) {
    const auto original = block_at(program_, *old_block);
    is_copy = !original || original->procedure != id || original->block != block_id;
  }
  const std::vector<StaleFlow::Step> steps =
      builder_ ? stale_steps(id, block_id) : std::vector<StaleFlow::Step>();
  auto step = steps.begin();
  if (builder_) builder_->start_block(old_block, is_copy, block.has(BasicBlock::kHotCopy));
  for (size_t i = begin; i < end; ++i) {
    if (place(i) == place(i + 1)) continue;  // takes no room, so it does not exist
    const uint32_t origin = run_.code[i].origin;
    const uint64_t old = program_.origin_base + origin;
    if (emitter_.places_ != nullptr)
      places_.push_back(
          origin == kNone
              ? PlacedInstruction{.address = place(i), .kind = PlacedInstruction::Kind::added}
              : PlacedInstruction{.address = place(i), .old_address = old});
    if (!builder_) continue;
    if (origin == kNone) {
      builder_->add_in_front(begin_of(i));
      continue;
    }
    const auto known = std::ranges::find(step, steps.end(), old, &StaleFlow::Step::old_address);
    if (known != steps.end()) {
      builder_->set_stale(stale_number(known->before));
      step = known;
    }
    builder_->add(begin_of(i), begin_of(i + 1), old, end_in_input(old, run_.code[i]));
  }
  if (!steps.empty()) builder_->set_stale(stale_number(steps.back().before));
  if (builder_) builder_->end_block(begin_of(end), way_out(procedure, block_id));
}

/// The stale values at the instructions of a block; empty unless its procedure was split.
std::vector<StaleFlow::Step> Emitter::CodeWriter::stale_steps(ProcedureId id, BlockId block) {
  if (std::exchange(stale_flow_of_, id) != id) {
    stale_flow_.reset();
    if (std::ranges::any_of(program_[id].blocks,
                            [](const BasicBlock& b) { return b.has(BasicBlock::kHotCopy); }))
      stale_flow_.emplace(image_, program_, id);
  }
  return stale_flow_ ? stale_flow_->steps(block) : std::vector<StaleFlow::Step>();
}

uint32_t Emitter::CodeWriter::stale_number(const StaleValues& values) {
  if (values.none()) return MovedPiece::kExact;
  return stale_values_.try_emplace(values, static_cast<uint32_t>(stale_values_.size()))
      .first->second;
}

/// The first instruction of the input after the block, if control can go only one way.
std::optional<std::pair<uint64_t, uint64_t>> Emitter::CodeWriter::way_out(
    const Procedure& procedure, BlockId block_id) const {
  const BasicBlock& block = procedure.blocks[block_id];
  const BlockEnd how = placement_.packing().end(
      static_cast<ProcedureId>(&procedure - program_.procedures.data()), block_id);
  const Edge* edge = block.successors.size() == 1 ? &block.successors[0] : nullptr;
  if (appends_branch(how)) edge = block.edge(side_of_appended_branch(how));
  if (edge == nullptr) return std::nullopt;
  const BasicBlock& next = procedure.blocks[edge->target];
  if (next.origin == kNone) return std::nullopt;
  const uint64_t old = program_.address_of(next);
  return std::pair(old, program_.map.next(old));
}

/// Finds where the walk along the kept relocations of the input begins for a block. A block without
/// an origin may hold instructions of the input: the code after a probe that calls a routine.
void Emitter::CodeWriter::find_relocations(const BasicBlock& block) {
  block_relocations_ = nullptr;
  const auto first = std::ranges::find_if(block.instructions, [](const Instruction& instruction) {
    return !instruction.is_pseudo() && instruction.origin != kNone;
  });
  if (block.origin == kNone && first == block.instructions.end()) return;
  const uint64_t old =
      block.origin != kNone ? program_.address_of(block) : program_.origin_base + first->origin;
  if (const Section* section = image_.section_at(old))
    block_relocations_ =
        emitter_.relocations_of_[static_cast<size_t>(section - image_.sections.data())];
  if (block_relocations_ != nullptr) go_to(old);
}

void Emitter::CodeWriter::go_to(uint64_t address) {
  next_relocation_ = static_cast<size_t>(
      std::lower_bound(block_relocations_->begin(), block_relocations_->end(), address,
                       [](const Relocation& r, uint64_t a) { return r.address < a; }) -
      block_relocations_->begin());
}

/// Turns references and edges of a block, which is [begin, end) of the run, into numbers.
void Emitter::CodeWriter::finish_block(ProcedureId id, BlockId block_id, size_t begin, size_t end) {
  const Procedure& procedure = program_[id];
  const BasicBlock& block = procedure.blocks[block_id];
  const BlockEnd how = placement_.packing().end(id, block_id);
  const bool has_branch = block.edge(Edge::Kind::taken) != nullptr;
  find_relocations(block);
  std::vector<Instruction>& code = run_.code;
  const uint64_t start = placement_.address(id, run_.blocks.front().first);
  const bool longer = appends_branch(how) || how == BlockEnd::padded;
  const size_t own_end = end - (longer ? 1 : 0);
  const bool ends_in_branch =
      own_end != begin && machine_.facts(code[own_end - 1]).flow != ControlFlow::none;
  const auto branch_along = [&](size_t index, Edge::Kind side) {
    const uint64_t place = start + run_.places[index];
    const CodeLocation location{.procedure = id, .block = block.edge(side)->target};
    if (!machine_.fixups.apply(code[index], ReferenceKind::branch, place,
                               placement_.branch_target(place, code[index], location), 0))
      throw Error(fmt::format("{} has a branch that does not reach", procedure.name), image_.path);
    return placement_.resolve(location);
  };
  const auto finish_own_branch = [&](size_t index) {
    if (is_inverted(how))
      machine_.branches.invert(code[index], std::span(code).subspan(begin, index - begin));
    return branch_along(index, side_of_own_branch(how));
  };
  for (size_t i = begin; i < own_end; ++i) {
    const Instruction instruction = code[i];
    const uint64_t place = start + run_.places[i];
    // Part of the branch at the end, which may have two parts.
    const bool last = ends_in_branch &&
                      (i + 1 == own_end || (i + 2 == own_end && machine_.facts(code[i]).prefix));
    code[i] = emitter_.resolved(id, instruction, place);
    const Reference* reference = reference_of(procedure, instruction);
    const bool fields = machine_.codec.relocates_fields();
    const auto names_target = [&] {  // the relocation, which may name another symbol for it
      return fields ? reference->target.where != CodeLocation::Where::address
                    : last || reference->kind == ReferenceKind::address_high;
    };
    uint64_t target = 0;
    if (reference != nullptr && names_target()) target = emitter_.resolve(reference->target);
    if (last && has_branch) target = finish_own_branch(i);
    if (fields)
      carry_field_relocations(
          code[i], place, reference != nullptr ? reference->kind : ReferenceKind::branch, target);
    else
      carry_relocations(id, instruction, place, target);
  }
  if (appends_branch(how)) branch_along(own_end, side_of_appended_branch(how));
}

/// Everything stays in place, except fields that refer to code elsewhere: they follow that code.
void Emitter::write_pinned(ProcedureId id) {
  const Procedure& procedure = program_[id];
  for (const BasicBlock& block : procedure.blocks)
    for (const Instruction& instruction : block.instructions) {
      if (!instruction.has_reference() || instruction.origin == kNone) continue;
      const Reference& reference = *reference_of(procedure, instruction);
      // The target is unknown or does not move: the field is right as it is.
      if (reference.kind == ReferenceKind::gp_load_high) continue;
      if (reference.target.where == CodeLocation::Where::address &&
          resolve(reference.target) == reference.target.address)
        continue;
      const uint64_t place = program_.origin_base + instruction.origin;
      put(place, resolved(id, instruction, place));
    }
}

void Emitter::write_far_stubs() {
  for (const FarStub& stub : placement_.stubs()) {
    if (!stub.live) continue;
    const auto bytes = stub.departure ? machine_.stubs->departure(stub.address, stub.leads_to)
                                      : machine_.stubs->landing(stub.address, stub.leads_to);
    std::copy(bytes.begin(), bytes.end(), code_bytes(stub.address, bytes.size()));
  }
}

void Emitter::write_code() {
  fill_free_ranges();
  for (ProcedureId id = 0; id < program_.procedures.size(); ++id)
    if (!program_[id].movable()) write_pinned(id);
  constexpr size_t kPart = 1024;  // fragments that a thread writes
  const auto& fragments = placement_.fragments();
  std::vector<std::vector<MovedRelocation>> parts((fragments.size() + kPart - 1) / kPart);
  std::vector<std::vector<MovedPiece>> pieces(parts.size());
  std::vector<std::vector<PlacedInstruction>> places(parts.size());
  std::vector<std::map<StaleValues, uint32_t>> stale(parts.size());
  parallel_for(parts.size(), [&](size_t part) {
    CodeWriter writer(*this);
    for (size_t i = part * kPart; i < std::min(fragments.size(), (part + 1) * kPart); ++i)
      writer.write_fragment(layout_.fragments[fragments[i].fragment], static_cast<uint32_t>(i));
    parts[part] = writer.take_relocations();
    pieces[part] = writer.take_pieces();
    places[part] = writer.take_places();
    stale[part] = writer.take_stale_values();
  });
  size_t count = 0;
  for (const std::vector<MovedRelocation>& part : parts) count += part.size();
  carried_.reserve(count);
  for (std::vector<MovedRelocation>& part : parts) {
    carried_.insert(carried_.end(), part.begin(), part.end());
    part = {};
  }
  for (size_t part = 0; part < parts.size(); ++part) {
    std::vector<uint32_t> numbers(stale[part].size());
    for (const auto& [values, number] : stale[part])
      numbers[number] =
          stale_values_.try_emplace(values, static_cast<uint32_t>(stale_values_.size()))
              .first->second;
    for (MovedPiece& piece : pieces[part])
      if (piece.stale != MovedPiece::kExact) piece.stale = numbers[piece.stale];
    pieces_.insert(pieces_.end(), pieces[part].begin(), pieces[part].end());
  }
  if (places_ != nullptr)
    for (const std::vector<PlacedInstruction>& part : places)
      places_->insert(places_->end(), part.begin(), part.end());
  write_far_stubs();
  if (notes_pieces_ || places_ != nullptr) note_far_stubs();
}

void Emitter::write_code_pointers() {
  for (const CodePointer& pointer : program_.code_pointers) {
    const uint64_t to = resolve(pointer.target);
    const unsigned size = pointer_size(pointer.kind);
    uint64_t value = to;
    if (pointer.kind == ReferenceKind::gp_relative32 ||
        pointer.kind == ReferenceKind::table_relative32)
      value -= pointer.base;
    if (pointer.kind == ReferenceKind::pc_relative32 ||
        pointer.kind == ReferenceKind::pc_relative64)
      value -= pointer.address;
    const bool fits = size == 8 || (pointer.kind == ReferenceKind::address32
                                        ? value >> 32 == 0
                                        : fits_signed(static_cast<int64_t>(value), 32));
    if (!fits)
      throw Error(fmt::format("the word at {:#x} cannot refer to {:#x}", pointer.address, to),
                  image_.path);
    uint8_t* bytes = data_bytes(pointer.address, size);
    if (size == 8)
      store(bytes, value);
    else
      store(bytes, static_cast<uint32_t>(value));
  }
}

}  // namespace respike
