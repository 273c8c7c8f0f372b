// Whole addresses in single instructions: as a number, or as the distance from the instruction.
//
// The instruction's bytes say where an operand is. A relocation of its field only says whether the
// number is an address at all, and whether it means code or the data next to the code. Distances
// count as references even without relocations: assemblers resolve distances within a section.
//
// Code may form addresses of procedures. Code may also compute with an address inside of a
// procedure that an instruction forms, so such a procedure is opaque. Labels whose addresses are
// kept in data are not computed with.
//
// Where code forms an address of data, a table may start: see tables.cc. In "movslq
// table+12(%rip),%rax" the operand is read, so no table starts there. Nor does "lea
// .LC7+6(%rip),%rdx" start a table: it forms the end of the string "%H:%M", where a table may
// happen to start. But words of data may count from this address.

#include "optimizer/lift/addresses.h"

#include <algorithm>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/base/parallel.h"
#include "optimizer/lift/references.h"

namespace respike {
namespace {

using Field = Codec::Field;

class AddressFinder {
 public:
  explicit AddressFinder(Lifter& lifter) : lifter_(lifter), whole_(*lifter.machine.whole) {}

  void run() {
    find_operands();
    auto holder = lifter_.program.ranges.begin();
    for (const DistantOperand& operand : lifter_.distant_operands) {
      while (holder->end <= operand.place) ++holder;
      find_distance(*holder, operand);
    }
    for_each_code_relocation(lifter_, [&](uint32_t range, const Relocation& relocation) {
      find_relocated(lifter_.program.ranges[range], relocation);
    });
    std::sort(lifter_.tables.begin(), lifter_.tables.end(),
              [](const auto& a, const auto& b) { return a.table < b.table; });
  }

 private:
  void find_operands() {
    constexpr size_t kPart = 256;  // ranges
    const auto& ranges = lifter_.program.ranges;
    std::vector<std::vector<DistantOperand>> parts((ranges.size() + kPart - 1) / kPart);
    parallel_for(parts.size(), [&](size_t part) {
      const size_t end = std::min(ranges.size(), (part + 1) * kPart);
      for (size_t i = part * kPart; i < end; ++i)
        for (const Instruction& instruction : lifter_.code_in(ranges[i].start, ranges[i].end))
          if (const auto target = whole_.relative(instruction))
            parts[part].push_back({lifter_.program.origin_base + instruction.origin,
                                   lifter_.program.origin_base + static_cast<uint64_t>(*target),
                                   whole_.forms_address(instruction)});
    });
    for (const std::vector<DistantOperand>& part : parts)
      lifter_.distant_operands.insert(lifter_.distant_operands.end(), part.begin(), part.end());
  }

  Procedure& procedure_of(const CodeRange& range) { return lifter_.program[range.procedure]; }

  std::span<const uint8_t> bytes_from(uint64_t address) const {
    const Section& section = lifter_.image.sections[lifter_.code_at(address)->section];
    return section.contents.subspan(address - section.address);
  }

  /// Whether the symbol belongs to data. Without a symbol the address decides.
  bool means_data(uint32_t symbol) const {
    if (symbol == 0 || symbol >= lifter_.image.symbols.size()) return false;
    return lifter_.image.symbols[symbol].defined_in_section() && !refers_to_moving(lifter_, symbol);
  }

  /// The relocation of the distance in the instruction at `place`, or nullptr.
  const Relocation* relocation_of(uint64_t place) const {
    const auto& relocations = *lifter_.code_at(place)->relocations;
    const uint64_t end = lifter_.map().group_end(place);
    auto each = std::ranges::lower_bound(relocations, place, {}, &Relocation::address);
    for (; each != relocations.end() && each->address < end; ++each)
      if (lifter_.machine.codec.field_at(
              bytes_from(place), static_cast<unsigned>(each->address - place)) == Field::distance &&
          each->role != RelocationRole::ignored)
        return &*each;
    return nullptr;
  }

  /// Notes that the instruction at `place` forms the address `target` of data, where a table may
  /// start. No table starts at `target` if the relocation names a symbol that starts before it. A
  /// table's relocation names its section or the table's own symbol.
  void add_table(uint64_t place, uint64_t target, const Relocation* relocation) {
    if (relocation != nullptr && relocation->symbol < lifter_.image.symbols.size()) {
      const Symbol& symbol = lifter_.image.symbols[relocation->symbol];
      if (symbol.defined_in_section() && symbol.type != Symbol::Type::section &&
          symbol.value < target) {
        lifter_.held_data.push_back(target);
        return;
      }
    }
    lifter_.tables.push_back({place, target});
  }

  void find_distance(const CodeRange& range, const DistantOperand& operand) {
    const auto& [place, target, forms] = operand;
    if (!is_code_or_moves(target)) {
      if (forms) add_table(place, target, relocation_of(place));
      return;
    }
    const Relocation* relocation = relocation_of(place);
    // Only distances within a section have no relocation; this distance leads to data in the text.
    if (relocation == nullptr && lifter_.range_at(target) == kNone) return;
    if (relocation != nullptr &&
        (means_data(relocation->symbol) || is_border(lifter_, relocation->symbol, target))) {
      if (forms) add_table(place, target, relocation);
      return;
    }
    if (!forms) lifter_.make_opaque_at(target, fmt::format("the code at {:#x} reads it", place));
    if (relocation != nullptr && is_absolute(lifter_, relocation->symbol))
      keep_absolute(lifter_, place, target);
    add(range, place, target, ReferenceKind::pc_relative32);
  }

  bool is_code_or_moves(uint64_t address) const {
    if (lifter_.range_at(address) != kNone) return true;
    const Section* section = lifter_.image.section_at(address);
    return section != nullptr && is_unwind_section(section->name);
  }

  void add(const CodeRange& range, uint64_t place, uint64_t target, ReferenceKind kind) {
    if (forms_ocaml_handler(lifter_, place, target)) lifter_.mark(target, kEntryMark);
    if (lifter_.range_at(target) != kNone && !is_entry(target))
      lifter_.make_opaque_at(
          target,
          fmt::format("the code at {:#x} forms the address {:#x} inside of it", place, target));
    add_formed_address(lifter_, procedure_of(range), place, target, kind);
  }

  bool is_entry(uint64_t address) const {
    return lifter_.map().starts_group(address) && (lifter_.marks_at(address) & kEntryMark) != 0;
  }

  void find_relocated(const CodeRange& range, const Relocation& relocation) {
    const uint64_t place = lifter_.map().group(relocation.address);
    const Field field = lifter_.machine.codec.field_at(
        bytes_from(place), static_cast<unsigned>(relocation.address - place));
    switch (relocation.role) {
      case RelocationRole::ignored:
        return;
      case RelocationRole::branch:  // decoded
        // Also stands at the rest of a call of the dynamic linker.
        if (field != Field::branch && field != Field::thread && relocation.symbol != 0 &&
            refers_to_moving(lifter_, relocation.symbol))
          refuse(range, relocation);
        return;
      case RelocationRole::pc_relative32:
        if (field != Field::branch && field != Field::distance) refuse(range, relocation);
        return;
      case RelocationRole::address32:
        return find_number(range, place, relocation, field);
      case RelocationRole::got_load:  // linkers may have replaced the load by the address itself
        if (field == Field::address) return find_number(range, place, relocation, field);
        if (field != Field::distance) return refuse(range, relocation);
        if (!whole_.forms_address(*lifter_.instruction_at(place)))
          find_slot(place, relocation.symbol);
        return;
      case RelocationRole::address64:
        if (means_data(relocation.symbol)) return;
        if (const auto number = bytes_from(relocation.address); number.size() >= 8)
          lifter_.make_opaque_at(load<uint64_t>(number.data()),
                                 fmt::format("the code at {:#x} holds its address", place));
        return refuse(range, relocation);
      default:
        return refuse(range, relocation);
    }
  }

  /// Keeps the code with the relocation and the code to which the relocation may refer in place.
  void refuse(const CodeRange& range, const Relocation& relocation) {
    if (relocation.symbol != 0 && refers_to_moving(lifter_, relocation.symbol)) {
      const uint64_t value = lifter_.symbol_value(relocation.symbol);
      std::vector<uint64_t> targets = {value, value + static_cast<uint64_t>(relocation.addend)};
      // A distance counts from the end of the instruction: an immediate operand may come after the
      // distance.
      if (const auto word = bytes_from(relocation.address); word.size() >= 4)
        for (const uint64_t behind : {4, 5, 6, 8})
          targets.push_back(relocation.address + behind +
                            static_cast<uint64_t>(int64_t{load<int32_t>(word.data())}));
      for (const uint64_t target : targets)
        lifter_.make_opaque_at(target, fmt::format("the relocation of type {} at {:#x}, which may "
                                                   "refer to it, is not understood",
                                                   relocation.raw, relocation.address));
    }
    lifter_.make_opaque(procedure_of(range),
                        fmt::format("the relocation of type {} at {:#x} does not fit its "
                                    "instruction",
                                    relocation.raw, relocation.address));
  }

  /// Handles a 32-bit number in the instruction at `place` that is an address.
  void find_number(const CodeRange& range, uint64_t place, const Relocation& relocation,
                   Field field) {
    const auto number = bytes_from(relocation.address);
    if (number.size() < 4) return refuse(range, relocation);
    const uint64_t target = load<uint32_t>(number.data());
    if (means_data(relocation.symbol) || !is_code_or_moves(target) ||
        is_border(lifter_, relocation.symbol, target)) {
      add_table(place, target, &relocation);
      return;
    }
    if (field != Field::address) {
      lifter_.make_opaque_at(target,
                             fmt::format("the code at {:#x} computes with its address", place));
      return refuse(range, relocation);
    }
    if (is_absolute(lifter_, relocation.symbol)) keep_absolute(lifter_, place, target);
    add(range, place, target, ReferenceKind::address32);
  }

  /// Slots of the global offset table have no kept relocations; the instructions that load from the
  /// slots have relocations.
  void find_slot(uint64_t place, uint32_t symbol) {
    const auto operand = whole_.relative(*lifter_.instruction_at(place));
    if (operand && means_data(symbol)) lifter_.held_data.push_back(lifter_.symbol_value(symbol));
    if (!operand || !refers_to_moving(lifter_, symbol)) return;
    const uint64_t slot = lifter_.program.origin_base + static_cast<uint64_t>(*operand);
    const auto bytes = lifter_.image.bytes_at(slot, 8);
    const uint64_t word = bytes ? load<uint64_t>(bytes->data()) : 0;
    if (word == 0) return;  // the dynamic linker fills it in
    if (is_border(lifter_, symbol, word))
      lifter_.border_words.push_back(slot);
    else
      add_code_pointer(lifter_, slot, ReferenceKind::address64, word, 0);
  }

  Lifter& lifter_;
  const WholeAddresses& whole_;
};

}  // namespace

void find_whole_addresses(Lifter& lifter) {
  if (lifter.machine.whole != nullptr) AddressFinder(lifter).run();
}

}  // namespace respike
