// The bases of data words that hold distances of code, where instructions hold whole addresses.
//
// Problem: a 32-bit word with a relocation against code holds a distance of code, but the
// relocation does not give the base of the distance. "target - table" and "target - ." get
// relocations of one type. Jump tables of position-independent code count from their own start, and
// so do virtual tables with relative entries; rows of pointers to procedures often count from each
// word itself.
//
// A relocation that names the entry of a procedure gives the base by its addend. The base has to be
// confirmed, since the addend may also mean a place inside of the procedure. It is confirmed by an
// address that is formed or kept somewhere, or by another word of the row with the same base.
//
// Other words are judged in rows. Where code forms an address in a row, a table starts; it goes on
// to the next start, or to the end of the row. The words count from the start of the table if,
// counted so, all of them lead into the procedures that form its address, or to entries. They count
// from their own places if, counted so, all of them lead to entries. If both or neither holds, the
// base is unknown but near the row. Then a word may lead anywhere from its target counted from the
// nearest formed address before the row, up to its target counted from the end of the row; all code
// between these two targets becomes opaque.
//
// Jumps use the tables of their procedure, see jumps.cc; the lifter needs to know no sequence of
// instructions.
//
// Example: "lea table(%rip),%rdx; movslq (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax". The lea
// forms the address of the first of seven words with relocations against .text. Counted from the
// table, all words lead into the procedure of the lea. Counted from their own places, the second
// word leads 4 bytes past its label, into the middle of an instruction. So they are a jump table.

#include "optimizer/lift/tables.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/base/equal_span.h"
#include "optimizer/lift/references.h"

namespace respike {

namespace {

constexpr uint64_t kFarthestBase = 0x10000;  // before a row
constexpr std::string_view kColdSuffix = ".cold";

}  // namespace

Tables::Tables(Lifter& lifter) : lifter_(lifter) {
  if (!lifter.machine.evidence.words_are_distances) return;
  const Image& image = lifter.image;
  for (const TableReference& table : lifter.tables) known_.push_back(table.table);
  known_.insert(known_.end(), lifter.held_data.begin(), lifter.held_data.end());
  for (const RelocationTable& table : image.relocations)
    for (const Relocation& relocation : table.relocations)
      if ((relocation.role == RelocationRole::address64 ||
           relocation.role == RelocationRole::address32) &&
          relocation.symbol < image.symbols.size() && !refers_to_moving(lifter, relocation.symbol))
        known_.push_back(lifter.symbol_value(relocation.symbol) +
                         static_cast<uint64_t>(relocation.addend));
  std::ranges::sort(known_);
  known_.erase(std::unique(known_.begin(), known_.end()), known_.end());
  for (const Symbol& symbol : image.symbols)
    if (symbol.size == 0 && symbol.defined_in_section() && symbol.name.ends_with(kColdSuffix))
      empty_parts_.emplace_back(symbol.value,
                                symbol.name.substr(0, symbol.name.size() - kColdSuffix.size()));
  std::ranges::sort(empty_parts_);
}

bool Tables::is_distance(RelocationRole role) {
  // On a word, unlike on an instruction, `branch` only says that a stub may stand for the target.
  return role == RelocationRole::pc_relative32 || role == RelocationRole::pc_relative64 ||
         role == RelocationRole::branch;
}

/// The word of a relocation, if it holds a distance of code.
std::optional<Tables::Word> Tables::word_of(const Relocation& relocation) {
  if (!is_distance(relocation.role)) return std::nullopt;
  const bool absolute = is_absolute(lifter_, relocation.symbol);
  if (!absolute && !refers_to_moving(lifter_, relocation.symbol)) return std::nullopt;
  Word word{.relocation = &relocation,
            .size = relocation.role == RelocationRole::pc_relative64 ? 8u : 4u,
            .named = std::nullopt};
  const auto bytes = lifter_.image.bytes_at(relocation.address, word.size);
  if (!bytes) return std::nullopt;
  word.distance = word.size == 8 ? load<uint64_t>(bytes->data())
                                 : static_cast<uint64_t>(int64_t{load<int32_t>(bytes->data())});
  const uint64_t target = word.from_here();
  if (absolute) {
    keep_absolute(lifter_, relocation.address, target);
    return std::nullopt;
  }
  if (is_border(lifter_, relocation.symbol, target)) {
    lifter_.border_words.push_back(relocation.address);
    return std::nullopt;
  }
  if (!lifter_.is_code_symbol(relocation.symbol)) {  // unwind tables
    add_from_here(word, target);
    return std::nullopt;
  }
  const Symbol& symbol = lifter_.image.symbols[relocation.symbol];
  const uint64_t meant = symbol.value + static_cast<uint64_t>(relocation.addend);
  // A linker may have put another address there, such as the address of a stub.
  if (symbol.type != Symbol::Type::section && meant == target && is_entry(symbol.value))
    word.named = symbol.value;
  return word;
}

void Tables::find_distances(std::span<const Relocation> relocations) {
  std::vector<Word> row;
  for (const Relocation& relocation : relocations) {
    if (!row.empty() && relocation.address == row.back().place()) continue;
    const auto word = word_of(relocation);
    if (!word) continue;
    if (!row.empty() && (row.back().end() != word->place() || row.back().size != word->size)) {
      find_row(row);
      row.clear();
    }
    row.push_back(*word);
  }
  if (!row.empty()) find_row(row);
}

/// `row`: words without gaps between them.
void Tables::find_row(Words row) {
  find_named(row);
  size_t start = 0;
  for (size_t i = 1; i <= row.size(); ++i)
    if (i == row.size() || !users(row[i].place()).empty()) {
      find_table(row.subspan(start, i - start), row);
      start = i;
    }
}

/// Adds the words whose relocations name their targets.
void Tables::find_named(Words row) {
  std::vector<uint64_t> bases;
  for (const Word& word : row)
    if (word.named) bases.push_back(word.named_base());
  std::ranges::sort(bases);
  for (const Word& word : row) {
    if (!word.named) continue;
    const uint64_t base = word.named_base();
    if (base == word.place())
      add_from_here(word, *word.named);
    else if (word.size == 4 &&
             (is_known(base) || equal_span(bases, base, std::identity()).size() > 1))
      add_from(base, word, *word.named);
    else
      give_up(word, row);
  }
}

/// Classifies the other words of a table, or of the start of a row before its first table.
void Tables::find_table(Words words, Words row) {
  const uint64_t start = words.front().place();
  const bool from_start = words.front().size == 4 && !users(start).empty() &&
                          all_in_table(words, start, users(start)) &&
                          !may_count_from_elsewhere(words);
  const bool from_words = std::ranges::all_of(
      words, [&](const Word& word) { return word.named || is_entry(word.from_here()); });
  const bool contradict = from_start && from_words && words.size() > 1;
  for (const Word& word : words) {
    if (word.named) continue;
    if (contradict || (!from_start && !from_words))
      give_up(word, row);
    else if (from_start)
      add_from(start, word, checked_target(start, start + word.distance));
    else
      add_from_here(word, word.from_here());
  }
}

/// Whether all words lead where a table at `base` may lead.
bool Tables::all_in_table(Words words, uint64_t base, Users users) {
  return std::ranges::all_of(words, [&](const Word& word) {
    const uint64_t target = base + word.distance;
    return word.named || is_entry(target) ||
           std::ranges::any_of(users, [&](const TableReference& each) {
             const ProcedureId user = owner(each.place);
             return user != kNone &&
                    ((owner(target) == user && lifter_.map().starts_group(target)) ||
                     is_unused(target, each));
           });
  });
}

/// Whether the words of a table may count from an address in its middle as well.
bool Tables::may_count_from_elsewhere(Words words) {
  constexpr int kMostAddresses = 64;
  const uint64_t start = words.front().place();
  const auto behind = std::ranges::lower_bound(known_, words.back().end());
  auto each = std::ranges::upper_bound(known_, start);
  if (behind - each > kMostAddresses) return true;
  return std::any_of(each, behind, [&](uint64_t base) {
    const uint64_t first = (base - start + words.front().size - 1) / words.front().size;
    return first < words.size() && all_in_table(words.subspan(first), base, users(start));
  });
}

void Tables::add_from_here(const Word& word, uint64_t target) {
  add_code_pointer(lifter_, word.place(),
                   word.size == 8 ? ReferenceKind::pc_relative64 : ReferenceKind::pc_relative32,
                   target, 0);
}

void Tables::add_from(uint64_t base, const Word& word, uint64_t target) {
  add_code_pointer(lifter_, word.place(), ReferenceKind::table_relative32, target, base);
}

void Tables::give_up(const Word& word, Words row) {
  if (word.named)
    lifter_.make_opaque_at(*word.named, fmt::format("the word at {:#x} names it, but may count "
                                                    "from elsewhere",
                                                    word.place()));
  give_up(word.place(), word.from_here(), row.front().place(), row.back().end());
}

/// Notes the code to which the word at `place` may lead; it leads to `target` if it counts from its
/// place.
void Tables::give_up(uint64_t place, uint64_t target, uint64_t row_start, uint64_t row_end) {
  uint64_t base = row_start;  // the first possible base
  const auto behind = std::ranges::upper_bound(known_, row_start);
  if (behind != known_.begin() && row_start - *(behind - 1) <= kFarthestBase) base = *(behind - 1);
  const uint64_t start = target - std::min(target, place - base);
  may_lead_to_.push_back({start, target + (row_end - place) + 1, place});
}

void Tables::keep_unknown(const Relocation& relocation) {
  if (!refers_to_moving(lifter_, relocation.symbol)) return;
  if (!lifter_.is_code_symbol(relocation.symbol))
    throw Error(fmt::format("the relocation of type {} at {:#x}, which refers to unwind tables, is "
                            "not understood",
                            relocation.raw, relocation.address),
                lifter_.image.path);
  const Symbol& symbol = lifter_.image.symbols[relocation.symbol];
  if (symbol.type != Symbol::Type::section)
    lifter_.make_opaque_at(symbol.value,
                           fmt::format("the relocation of type {} at {:#x} is not understood",
                                       relocation.raw, relocation.address));
  give_up(relocation.address, symbol.value + static_cast<uint64_t>(relocation.addend),
          relocation.address, relocation.address + 8);
}

void Tables::settle() {
  std::ranges::sort(may_lead_to_, {}, &Stretch::start);
  const auto& ranges = lifter_.program.ranges;
  uint64_t done = 0;  // everything before it is looked at
  for (const Stretch& stretch : may_lead_to_) {
    const uint64_t start = std::max(stretch.start, done);
    auto range = std::ranges::upper_bound(ranges, start, {}, &CodeRange::start);
    // The word may mean the end of a procedure, too.
    if (range != ranges.begin() && (range - 1)->end >= start) --range;
    for (; range != ranges.end() && range->start < stretch.end; ++range)
      lifter_.make_opaque(lifter_.program[range->procedure],
                          fmt::format("the word at {:#x}, which holds a distance from an address "
                                      "that is not known, may lead to it",
                                      stretch.word));
    done = std::max(done, stretch.end);
  }
  may_lead_to_.clear();
}

uint64_t Tables::target_at(uint64_t word, uint64_t target) {
  if (!users(word).empty())
    base_ = word;
  else if (word != next_)
    base_.reset();
  next_ = word + 8;
  if (!base_ || owner(target) != kNone) return target;
  for (const TableReference& each : users(*base_))
    if (is_unused(target, each)) return lifter_.program[owner(each.place)].address;
  return target;
}

bool Tables::is_known(uint64_t address) const {
  return std::ranges::binary_search(known_, address);
}

/// The instructions that form the address of a table.
Tables::Users Tables::users(uint64_t base) const {
  return equal_span(lifter_.tables, base, &TableReference::table);
}

ProcedureId Tables::owner(uint64_t address) const {
  const uint32_t range = lifter_.range_at(address);
  return range == kNone ? kNone : lifter_.program.ranges[range].procedure;
}

bool Tables::is_entry(uint64_t address) const {
  const ProcedureId procedure = owner(address);
  return procedure != kNone && lifter_.map().starts_group(address) &&
         (lifter_.program[procedure].address == address ||
          (lifter_.marks_at(address) & kEntryMark) != 0);
}

/// Whether `target`, an entry of a jump table, is at the end of the procedure that forms the table's
/// address, or at its empty cold part. Some compilers write these addresses for entries that are
/// never used; layouts may place other code there. But code that does not jump may compare something
/// with its own end, which it finds in a list.
bool Tables::is_unused(uint64_t target, const TableReference& table) {
  const ProcedureId user = owner(table.place);
  if (user == kNone) return false;
  const uint32_t range = lifter_.range_at(target);
  return (range == kNone || lifter_.program.ranges[range].start == target) &&
         (owner(target - 1) == user || is_empty_part(user, target)) &&
         jumps(lifter_.range_at(table.place));
}

/// Whether an indirect jump is in a range.
bool Tables::jumps(uint32_t range) {
  const auto [known, fresh] = jumps_.try_emplace(range, false);
  if (fresh) {
    const CodeRange& code = lifter_.program.ranges[range];
    known->second = std::ranges::any_of(
        lifter_.code_in(code.start, code.end), [&](const Instruction& instruction) {
          return lifter_.machine.facts(instruction).flow == ControlFlow::indirect_jump;
        });
  }
  return known->second;
}

/// Whether an empty part that the compiler split off the procedure starts at the address.
bool Tables::is_empty_part(ProcedureId procedure, uint64_t address) const {
  const std::string& name = lifter_.program[procedure].name;
  return std::ranges::binary_search(empty_parts_, std::pair(address, std::string_view(name)));
}

/// The address that stands for the target of an entry of a table. Only a procedure that forms the
/// table's address may jump into its own middle by the table. The entry of a procedure stands for
/// itself, used or not; the procedure's own entry stands for any other target that is not used.
uint64_t Tables::checked_target(uint64_t base, uint64_t target) {
  if (is_entry(target)) return target;
  std::optional<uint64_t> unused;  // what stands for the target
  for (const TableReference& each : users(base)) {
    const ProcedureId user = owner(each.place);
    if (owner(target) == user) continue;
    if (is_unused(target, each)) {
      unused = lifter_.program[user].address;
      continue;
    }
    for (const uint64_t place : {each.place, target})
      lifter_.make_opaque_at(place,
                             fmt::format("the jump table at {:#x} leads out of the procedure that "
                                         "uses it",
                                         base));
  }
  return unused.value_or(target);
}

}  // namespace respike
