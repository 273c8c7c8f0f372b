// Computations with addresses of code.
//
// Problem: assemblers resolve the distance between two places of one section, so data may hold
// distances of code without relocations. A program adds such a distance to the address of a
// procedure. Nothing distinguishes the distances from other numbers.
//
// Idea: look for the sum. Where an address of code that an instruction forms, or loads from a known
// word, is added to anything, the procedure at this address stays as it is. All code to which the
// sum may lead stays as well: the words of all data that the adding procedure refers to are tried
// as distances. Compilers hardly ever add to addresses of procedures.
//
// A jump to a sum other than a table's address and an entry makes its procedure opaque (see
// jump_sources.cc), if the procedure has a place to which the sum may lead: a label whose address
// is kept, or code to which nothing known leads. A label whose address is kept in data also makes
// its procedure opaque, if no jump of the procedure can have loaded the address from there: the
// kernel may know the label, or the label is data. A jump can have loaded it if the jump loads from
// an address in a register, and if the procedure refers to the row of the word.
//
// Example: LuaJIT keeps the places of its operations as 16-bit distances from lj_vm_asm_begin, and
// adds them in C: "lea lj_vm_asm_begin(%rip),%rcx; movzwl (%rax),%edx; add %rcx,%rdx".
//
// Limits: an address of code is followed neither through memory nor into callees. The result of or,
// and, xor or a multiplication counts as no address. Distances are tried where the adding procedure
// refers to them, or up to 512 bytes from there. Sums without an address that the procedure forms,
// or loads from a known word, only count at jumps.

#include "optimizer/lift/sums.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/lift/jump_sources.h"

namespace respike {
namespace {

constexpr const char* kMayLead = "a sum with an address of code may lead to it";

/// Half-open.
struct Extent {
  uint64_t start = 0, end = 0;

  bool holds(uint64_t address) const { return address >= start && address < end; }
};

/// A word of data that holds the address of a place inside of a procedure.
struct Label {
  uint64_t target = 0, word = 0;
  auto operator<=>(const Label&) const = default;
};

/// The words of data that hold addresses of code, and the objects that symbols name.
struct KnownData {
  explicit KnownData(const Lifter& lifter) {
    for (const CodePointer& pointer : lifter.program.code_pointers) {
      if (pointer.kind == ReferenceKind::table_relative32) {
        bases.push_back(pointer.base);
        entries.push_back({pointer.base, pointer.target.address});
      } else if (pointer.target.where == CodeLocation::Where::address &&
                 lifter.range_at(pointer.target.address) != kNone &&
                 (lifter.marks_at(pointer.target.address) & kEntryMark) == 0) {
        labels.push_back({pointer.target.address, pointer.address});
      }
    }
    std::ranges::sort(bases);
    bases.erase(std::unique(bases.begin(), bases.end()), bases.end());
    std::ranges::sort(labels);
    std::ranges::sort(entries);
    for (const Symbol& symbol : lifter.image.symbols)
      if (symbol.type == Symbol::Type::object && symbol.size != 0 && symbol.defined_in_section())
        objects.push_back({symbol.value, symbol.value + symbol.size});
    std::ranges::sort(objects, {}, &Extent::start);
  }

  /// The object that a symbol with a size names.
  std::optional<Extent> extent_of(uint64_t address) const {
    const auto behind = std::ranges::upper_bound(objects, address, {}, &Extent::start);
    if (behind == objects.begin() || !(behind - 1)->holds(address)) return std::nullopt;
    return *(behind - 1);
  }

  /// Whether an entry of the table leads to the address.
  bool leads_to(uint64_t table, uint64_t target) const {
    return std::ranges::binary_search(entries, std::pair(table, target));
  }

  std::vector<uint64_t> bases;                         // of tables of distances, sorted
  std::vector<std::pair<uint64_t, uint64_t>> entries;  // table and target, sorted
  std::vector<Label> labels;                           // sorted
  std::vector<Extent> objects;                         // sorted
};

/// The sums that one procedure makes.
struct Sums {
  struct Sum {
    uint64_t base = 0;   // the address of code
    uint64_t place = 0;  // the code that adds to it
  };
  std::vector<Sum> sums;
  std::vector<uint64_t> referred;  // the data to which the procedure refers, sorted
};

/// Finds the sums of procedures. Writes only to the procedures that it checks.
class SumFinder {
 public:
  SumFinder(Lifter& lifter, const KnownData& known, const Effort& effort)
      : lifter_(lifter),
        program_(lifter.program),
        whole_(*lifter.machine.whole),
        known_(known),
        effort_(effort) {}

  void check(ProcedureId id, std::span<const uint32_t> ranges) {
    if (std::ranges::binary_search(lifter_.data, id)) return;
    referred_.clear();
    tables_.clear();
    check_jumps(id, ranges);
    find_sums(id);
    if (sums_.empty()) return;
    find_referred(ranges);
    found_.push_back({std::move(sums_), referred_});
    sums_.clear();
  }

  const std::vector<Sums>& found() const { return found_; }

 private:
  struct Place {
    BlockId block;
    uint32_t index;
    Register value;
    auto operator<=>(const Place&) const = default;
  };

  uint64_t address_of(const Instruction& instruction) const {
    return program_.origin_base + instruction.origin;
  }

  /// Finds the data that the procedure refers to.
  void find_referred(std::span<const uint32_t> ranges) {
    if (!referred_.empty()) return;
    for (const uint32_t range : ranges) {
      const auto& [start, end, procedure, first_block, end_block] = program_.ranges[range];
      for (const Instruction& instruction : lifter_.code_in(start, end))
        if (!instruction.has_reference())
          if (const auto relative = whole_.relative(instruction))
            referred_.push_back(program_.origin_base + static_cast<uint64_t>(*relative));
      const CodeSection& code = *lifter_.code_at(start);
      const auto contents = lifter_.image.sections[code.section].contents;
      const auto& relocations = *code.relocations;
      for (auto each = std::ranges::lower_bound(relocations, start, {}, &Relocation::address);
           each != relocations.end() && each->address < end; ++each) {
        const bool wide = each->role == RelocationRole::address64;
        if (!wide && each->role != RelocationRole::address32) continue;
        const auto number = contents.subspan(each->address - code.start);
        if (number.size() >= (wide ? 8 : 4))
          referred_.push_back(wide ? load<uint64_t>(number.data()) : load<uint32_t>(number.data()));
      }
    }
    std::ranges::sort(referred_);
    referred_.erase(std::unique(referred_.begin(), referred_.end()), referred_.end());
  }

  // ---- jumps and labels ----

  void check_jumps(ProcedureId id, std::span<const uint32_t> ranges) {
    Procedure& procedure = program_[id];
    if (procedure.state == Procedure::State::opaque) return;
    JumpSources jumps(lifter_, id, known_.bases, effort_);
    bool from_memory = false, checked = false;
    std::vector<uint64_t> words;
    for (BlockId block = 0; block < procedure.blocks.size(); ++block) {
      const Instruction& last = procedure.blocks[block].instructions.back();
      if (last.origin == kNone || lifter_.machine.facts(last).flow != ControlFlow::indirect_jump)
        continue;
      const JumpSources::Sources sources = jumps.of(block);
      from_memory |= sources.memory;
      words.insert(words.end(), sources.words.begin(), sources.words.end());
      if (!sources.tables.empty()) tables_[block] = sources.tables;
      if (!sources.unknown_sum || std::exchange(checked, true) || !has_unknown_label(id, ranges))
        continue;
      lifter_.make_opaque(
          procedure, fmt::format("the address of the jump at {:#x} is computed", address_of(last)));
      note_words_as_bases(ranges);
    }
    const std::vector<uint64_t> more = jumps.words_at_labels();
    words.insert(words.end(), more.begin(), more.end());
    std::ranges::sort(words);
    for (const uint32_t index : ranges) {
      const CodeRange& range = program_.ranges[index];
      const auto first = std::ranges::lower_bound(known_.labels, range.start, {}, &Label::target);
      for (auto label = first; label != known_.labels.end() && label->target < range.end; ++label) {
        if (label->target == procedure.address || std::ranges::binary_search(words, label->word))
          continue;
        if (from_memory && is_referred(*label, ranges)) continue;
        return lifter_.make_opaque(
            procedure, fmt::format("the address {:#x} inside of it is kept, but nothing in it "
                                   "jumps there",
                                   label->target));
      }
    }
  }

  /// Whether a jump to a sum may lead to a place of the procedure: a place whose address is kept,
  /// or code to which nothing known leads.
  bool has_unknown_label(ProcedureId id, std::span<const uint32_t> ranges) {
    for (const uint32_t range : ranges) {
      const auto first =
          std::ranges::lower_bound(known_.labels, program_.ranges[range].start, {}, &Label::target);
      if (first != known_.labels.end() && first->target < program_.ranges[range].end) return true;
    }
    const Procedure& procedure = program_[id];
    std::vector<bool> reached(procedure.blocks.size());
    for (const BasicBlock& block : procedure.blocks)
      for (const Edge& edge : block.successors)
        if (edge.kind != Edge::Kind::indirect) reached[edge.target] = true;
    for (BlockId block = 0; block < procedure.blocks.size(); ++block) {
      const BasicBlock& candidate = procedure.blocks[block];
      if (candidate.origin == kNone) continue;
      const uint8_t marks = lifter_.marks_at(program_.address_of(candidate));
      const bool padding = std::ranges::all_of(
          candidate.instructions.span(),
          [&](const Instruction& i) { return i.is_pseudo() || lifter_.machine.facts(i).nop; });
      if (!reached[block] && !padding && (marks & kReferenced) == 0) return true;
    }
    return false;
  }

  /// Where a jump goes to a sum, any address of code that the procedure loads may be a part of the
  /// sum.
  void note_words_as_bases(std::span<const uint32_t> ranges) {
    find_referred(ranges);
    for (const uint64_t address : referred_)
      if (const auto target = held_address(address)) note_sum(*target, address);
  }

  /// The address of code in the word of data at `address`.
  std::optional<uint64_t> held_address(uint64_t address) const {
    const CodePointer* pointer = pointer_at(program_, address);
    if (pointer == nullptr || pointer->kind != ReferenceKind::address64 ||
        pointer->target.where != CodeLocation::Where::address ||
        lifter_.range_at(pointer->target.address) == kNone)
      return std::nullopt;
    return pointer->target.address;
  }

  /// Whether the procedure refers to the object that holds the label's word, or to the row of
  /// addresses of labels around the word.
  bool is_referred(const Label& label, std::span<const uint32_t> ranges) {
    find_referred(ranges);
    Extent row = known_.extent_of(label.word).value_or(Extent{label.word, label.word + 1});
    if (row.end == label.word + 1) {
      const auto& pointers = program_.code_pointers;
      const auto word = std::ranges::lower_bound(pointers, label.word, {}, &CodePointer::address);
      const unsigned size = pointer_size(word->kind);
      const auto is_label = [&](const CodePointer& pointer) {
        const uint32_t range = lifter_.range_at(pointer.target.address);
        return pointer.kind == word->kind && std::ranges::find(ranges, range) != ranges.end();
      };
      for (auto each = word; each != pointers.begin(); --each, row.start -= size)
        if (!is_label(*(each - 1)) || (each - 1)->address + size != each->address) break;
    }
    const auto first = std::ranges::lower_bound(referred_, row.start);
    return first != referred_.end() && *first < row.end;
  }

  // ---- sums ----

  /// Follows all addresses of code that the procedure forms or loads to the places where they are
  /// added.
  void find_sums(ProcedureId id) {
    const Procedure& procedure = program_[id];
    for (BlockId block = 0; block < procedure.blocks.size(); ++block) {
      const auto& list = procedure.blocks[block].instructions;
      for (uint32_t i = 0; i < list.size(); ++i) {
        const auto address = code_address(procedure, list[i]);
        if (!address) continue;
        const Operands operands = lifter_.machine.operands(list[i]);
        const bool sum = adds(list[i]) && has_plain(operands, true) && has_plain(operands, false);
        if (sum || is_added(procedure, block, i, operands)) note_sum(*address, address_of(list[i]));
      }
    }
  }

  /// The address of code that the instruction forms, or loads from a word that holds it.
  std::optional<uint64_t> code_address(const Procedure& procedure, const Instruction& i) const {
    if (i.is_pseudo() || i.origin == kNone || lifter_.machine.facts(i).flow != ControlFlow::none)
      return std::nullopt;
    if (const Reference* reference = reference_of(procedure, i)) {
      if (reference->kind == ReferenceKind::pc_relative32 && !whole_.forms_address(i))
        return std::nullopt;
      const CodeLocation& target = reference->target;
      if (target.where != CodeLocation::Where::block_start) return std::nullopt;
      return program_.address_of(program_[target.procedure].blocks[target.block]);
    }
    const auto word = whole_.relative(i);
    if (!word || lifter_.machine.facts(i).source != ValueSource::loaded) return std::nullopt;
    return held_address(program_.origin_base + static_cast<uint64_t>(*word));
  }

  bool is_plain(Register r) const { return r != lifter_.machine.abi.stack_pointer && !is_flag(r); }
  bool is_flag(Register r) const {
    return std::ranges::find(lifter_.machine.abi.flags, r) != lifter_.machine.abi.flags.end();
  }
  bool has_plain(const Operands& operands, bool uses) const {
    const auto all = std::span(operands.registers).first(operands.size);
    return std::ranges::any_of(uses ? all.first(operands.uses) : all.subspan(operands.uses),
                               [&](Register r) { return is_plain(r); });
  }

  /// Whether the value that instruction `index` defines is added to something.
  bool is_added(const Procedure& procedure, BlockId block, uint32_t index,
                const Operands& operands) {
    std::vector<Place> work;
    std::set<Place> seen;
    const auto visit = [&](const Place& place) {
      if (seen.insert(place).second) work.push_back(place);
    };
    const auto visit_defs = [&](const Operands& of, BlockId at, uint32_t behind) {
      for (unsigned d = of.uses; d < of.size; ++d)
        if (is_plain(of.registers[d])) visit({at, behind, of.registers[d]});
    };
    visit_defs(operands, block, index + 1);
    while (!work.empty()) {
      const Place place = work.back();
      work.pop_back();
      const auto& list = procedure.blocks[place.block].instructions;
      if (!Effort::spend(effort_.instructions, list.size() - place.index + 16)) return true;
      bool open = true;
      for (uint32_t i = place.index; open && i < list.size(); ++i) {
        if (list[i].is_pseudo()) continue;
        const Operands each = lifter_.machine.operands(list[i]);
        const auto all = std::span(each.registers).first(each.size);
        const auto uses = all.first(each.uses), defs = all.subspan(each.uses);
        const InstructionFacts facts = lifter_.machine.facts(list[i]);
        if (facts.flow == ControlFlow::none && std::ranges::find(uses, place.value) != uses.end()) {
          if (facts.source == ValueSource::copied || facts.source == ValueSource::selected)
            visit_defs(each, place.block, i + 1);
          else if (adds(list[i]) && has_plain(each, false))
            return true;
        }
        open = std::ranges::find(defs, place.value) == defs.end();
      }
      if (!open) continue;
      const bool call = is_call(lifter_.machine.facts(list.back()).flow);
      const auto& preserved = lifter_.machine.abi.preserved;
      if (call && std::ranges::find(preserved, place.value) == preserved.end()) continue;
      for (const Edge& edge : procedure.blocks[place.block].successors)
        if (is_way(procedure, place.block, edge)) visit({edge.target, 0, place.value});
    }
    return false;
  }

  /// Whether the call continues unwinding, as its relocation says.
  bool resumes(const Instruction& call) const {
    if (call.origin == kNone) return false;
    const uint64_t place = address_of(call), end = lifter_.map().group_end(place);
    const auto& relocations = *lifter_.code_at(place)->relocations;
    const auto found = std::ranges::lower_bound(relocations, place, {}, &Relocation::address);
    if (found == relocations.end() || found->address >= end ||
        found->symbol >= lifter_.image.symbols.size())
      return false;
    // _Unwind_Resume_or_Rethrow returns where no frame catches the exception.
    const std::string_view name = lifter_.image.symbols[found->symbol].name;
    return name.substr(0, name.find('@')) == "_Unwind_Resume";
  }

  /// Whether control may take the edge with values in registers. A call does not return to a
  /// landing pad, which takes the values that the unwinder leaves in registers, and _Unwind_Resume
  /// never returns: the code after such calls is other code, for which registers have other values.
  /// Example: Rust keeps the address of a procedure in rbx, and its clean-up code after such a call
  /// adds to the value that rbx holds by then. All indirect jumps of a procedure have edges to all
  /// entries of all of its tables; where a jump's own tables are known, edges to entries of other
  /// tables are not taken.
  bool is_way(const Procedure& procedure, BlockId from, const Edge& edge) const {
    const Instruction& last = procedure.blocks[from].instructions.back();
    if (edge.kind == Edge::Kind::fall_through && is_call(lifter_.machine.facts(last).flow) &&
        (procedure.blocks[edge.target].has(BasicBlock::kLandingPad) || resumes(last)))
      return false;
    const auto known = tables_.find(from);
    if (edge.kind != Edge::Kind::indirect || known == tables_.end()) return true;
    const BasicBlock& target = procedure.blocks[edge.target];
    return target.origin == kNone || std::ranges::any_of(known->second, [&](uint64_t table) {
             return known_.leads_to(table, program_.address_of(target));
           });
  }

  /// Whether the instruction makes a sum. Masks are not sums: clang forms "cond ? f : -1" by or,
  /// and the C library mangles addresses by xor.
  bool adds(const Instruction& instruction) const {
    return whole_.adds(instruction) &&
           lifter_.machine.facts(instruction).source == ValueSource::computed;
  }

  void note_sum(uint64_t base, uint64_t place) { sums_.push_back({base, place}); }

  Lifter& lifter_;
  Program& program_;
  const WholeAddresses& whole_;
  const KnownData& known_;
  Effort effort_;
  std::vector<Sums> found_;
  std::vector<uint64_t> referred_;                   // of the procedure, see Sums
  std::map<BlockId, std::vector<uint64_t>> tables_;  // for jumps with no other sources
  std::vector<Sums::Sum> sums_;                      // of the procedure
};

/// Keeps the code to which sums may lead in place.
class SumKeeper {
 public:
  SumKeeper(Lifter& lifter, const KnownData& known, Effort& effort)
      : lifter_(lifter), known_(known), effort_(effort) {
    for (const CodePointer& pointer : lifter.program.code_pointers)
      relocated_.push_back(pointer.address);
  }

  void keep(const Sums& found) {
    std::vector<uint64_t> bases;
    for (const auto& [base, place] : found.sums) {
      lifter_.make_opaque_at(base, fmt::format("the code at {:#x} adds to its address", place));
      bases.push_back(base);
    }
    std::ranges::sort(bases);
    bases.erase(std::unique(bases.begin(), bases.end()), bases.end());
    for (const uint64_t base : bases) keep_ways_from(base, found.referred);
  }

 private:
  /// Tries the words of the data that the procedure refers to: all words of objects with a name,
  /// and the words around other addresses.
  void keep_ways_from(uint64_t base, const std::vector<uint64_t>& referred) {
    constexpr uint64_t kAround = 512;  // bytes
    for (const uint64_t address : referred) {
      if (lifter_.code_at(address) != nullptr) continue;
      const auto named = known_.extent_of(address);
      Extent tried = named.value_or(Extent{address, address});
      if (!named || named->start != address)
        tried = {std::min(tried.start, address - kAround), std::max(tried.end, address + kAround)};
      for (const Section& section : lifter_.image.sections) {
        const uint64_t end = section.address + section.contents.size();
        if (!section.allocated() || section.executable() || is_unwind_section(section.name) ||
            tried.end <= section.address || tried.start >= end)
          continue;
        const Extent part = {std::max(tried.start, section.address), std::min(tried.end, end)};
        if (!Effort::spend(effort_.instructions, 4 * (part.end - part.start))) return give_up();
        keep_ways_from_words<int64_t>(section, part, base);
        keep_ways_from_words<int32_t>(section, part, base);
        keep_ways_from_words<int16_t>(section, part, base);
        keep_ways_from_words<uint16_t>(section, part, base);
        keep_ways_from_words<int8_t>(section, part, base);
        keep_ways_from_words<uint8_t>(section, part, base);
      }
    }
  }

  void give_up() {
    for (Procedure& procedure : lifter_.program.procedures)
      lifter_.make_opaque(procedure, "too much is added to addresses of code");
  }

  /// The code to which a number leads stays even if no instruction starts there: in the output, one
  /// may.
  template <typename Word>
  void keep_ways_from_words(const Section& section, const Extent& part, uint64_t base) {
    constexpr uint64_t kSize = sizeof(Word);
    for (uint64_t at = align_up(part.start, kSize); at + kSize <= part.end; at += kSize) {
      const auto word = load<Word>(section.contents.data() + (at - section.address));
      const uint64_t target = base + static_cast<uint64_t>(int64_t{word});
      if (lifter_.code_at(target) == nullptr) continue;
      const auto relocated = std::ranges::lower_bound(relocated_, at);
      if (relocated == relocated_.end() || *relocated >= at + kSize)
        lifter_.keep_way_from(target, kMayLead);
    }
  }

  Lifter& lifter_;
  const KnownData& known_;
  Effort& effort_;
  std::vector<uint64_t> relocated_;  // words that emission writes, sorted: they are no distances
};

}  // namespace

void check_sums(Lifter& lifter, std::span<const std::vector<uint32_t>> ranges_of, Effort& effort) {
  if (!lifter.machine.evidence.labels_are_words) return;
  const KnownData known(lifter);
  std::vector<std::vector<Sums>> parts(kParts);
  for_each_part(lifter.program, [&](size_t part, Arena&, ProcedureId first, ProcedureId last) {
    SumFinder finder(lifter, known, effort.share_of_part());
    for (ProcedureId id = first; id < last; ++id) finder.check(id, ranges_of[id]);
    parts[part] = finder.found();
  });
  SumKeeper keeper(lifter, known, effort);
  for (const std::vector<Sums>& part : parts)
    for (const Sums& found : part) keeper.keep(found);
}

}  // namespace respike
