#pragma once
// Addresses that single instructions hold whole. Private to this folder; see addresses.cc.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "optimizer/lift/lifter.h"

namespace respike {

/// Finds what instructions refer to, on machines whose instructions hold whole addresses. Adds to
/// Lifter::found, and words of the global offset table to the code pointers; Lifter::tables gets
/// every address outside of code that an instruction forms, by address.
void find_whole_addresses(Lifter& lifter);

/// The addresses of the jump tables to which words of data may belong.
class TableBases {
 public:
  /// Uses Lifter::tables as find_whole_addresses() leaves it.
  explicit TableBases(Lifter& lifter) : lifter_(lifter) {}

  struct Entry {
    uint64_t base = 0;  // the address of the table
    uint64_t target = 0;
  };
  /// The entry of a table that the word at `word` is, which holds `distance`; nullopt: the word is
  /// in no table. Words come in the order of their addresses. Code that does not fit the table
  /// becomes opaque.
  std::optional<Entry> entry_at(uint64_t word, int64_t distance);
  /// What the word at `word` refers to, which holds the address `target` in 8 bytes. Words come in
  /// the order of their addresses.
  uint64_t target_at(uint64_t word, uint64_t target);

 private:
  void go_to(uint64_t word, unsigned size);
  std::span<const TableReference> users() const;
  ProcedureId owner(uint64_t address) const;
  bool is_unused(uint64_t target, ProcedureId user) const;
  uint64_t checked_target(uint64_t target);

  Lifter& lifter_;
  uint64_t next_ = 0;             // behind the word before
  std::optional<uint64_t> base_;  // of the word before
};

}  // namespace respike
