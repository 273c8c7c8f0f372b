#pragma once
// The bases of data words that hold distances of code. Private to this folder; see tables.cc.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "optimizer/lift/lifter.h"

namespace respike {

/// The words of data of a machine whose instructions hold whole addresses.
class Tables {
 public:
  /// Uses Lifter::tables and Lifter::held_data as find_whole_addresses() leaves them.
  explicit Tables(Lifter& lifter);

  /// Whether the relocation of a word of data says that the word holds a distance.
  static bool is_distance(RelocationRole role);
  /// Adds the words of one section that hold distances of code to the code pointers. Code to which
  /// other words may lead becomes opaque.
  void find_distances(std::span<const Relocation> relocations);
  /// The address to which the word at `word` refers, which holds the address `target` in 8 bytes.
  /// Words must come in the order of their addresses.
  uint64_t target_at(uint64_t word, uint64_t target);
  /// The relocation is not understood: its word may lead to the code that the relocation means, and
  /// to the code before that, since the word need not count from its own place. Throws Error if the
  /// relocation means unwind tables, since they move.
  void keep_unknown(const Relocation& relocation);
  /// Makes the code opaque to which words that were not understood may lead; must be called last.
  void settle();

 private:
  /// A word that holds a distance of code.
  struct Word {
    const Relocation* relocation = nullptr;
    unsigned size = 0;
    uint64_t distance = 0;
    std::optional<uint64_t> named;  // the procedure's entry, if the relocation names one

    uint64_t place() const { return relocation->address; }
    uint64_t end() const { return place() + size; }
    /// Where the word leads if it counts from its own place.
    uint64_t from_here() const { return place() + distance; }
    /// The base for which the word points at the relocation's symbol.
    uint64_t named_base() const { return place() - static_cast<uint64_t>(relocation->addend); }
  };
  using Words = std::span<const Word>;
  using Users = std::span<const TableReference>;

  std::optional<Word> word_of(const Relocation& relocation);
  void find_row(Words row);
  void find_named(Words row);
  void find_table(Words words, Words row);
  bool all_in_table(Words words, uint64_t base, Users users);
  bool may_count_from_elsewhere(Words words);
  void add_from_here(const Word& word, uint64_t target);
  void add_from(uint64_t base, const Word& word, uint64_t target);
  void give_up(const Word& word, Words row);
  void give_up(uint64_t place, uint64_t target, uint64_t row_start, uint64_t row_end);
  bool is_known(uint64_t address) const;
  Users users(uint64_t base) const;
  ProcedureId owner(uint64_t address) const;
  bool is_entry(uint64_t address) const;
  bool is_unused(uint64_t target, const TableReference& table);
  bool jumps(uint32_t range);
  bool is_empty_part(ProcedureId procedure, uint64_t address) const;
  uint64_t checked_target(uint64_t base, uint64_t target);

  Lifter& lifter_;
  std::vector<uint64_t> known_;  // addresses from which words may count, sorted
  std::vector<std::pair<uint64_t, std::string_view>> empty_parts_;  // with their procedure; sorted
  std::unordered_map<uint32_t, bool> jumps_;                        // by range, see jumps()
  uint64_t next_ = 0;             // end of the word of the last target_at()
  std::optional<uint64_t> base_;  // start of the table of that word
  struct Stretch {                // code to which a word may lead
    uint64_t start;
    uint64_t end;
    uint64_t word;
  };
  std::vector<Stretch> may_lead_to_;
};

}  // namespace respike
