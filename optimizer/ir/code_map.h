#pragma once
// Where instructions are in memory. Code that needs the instruction before, after or at an address
// asks the map, instead of doing arithmetic on addresses.

#include <cstdint>
#include <span>
#include <vector>

namespace respike {

/// How a machine places instructions in memory. A group is what a branch can lead to: a word, a
/// bundle, or an instruction of variable length. Groups of a fixed size start at multiples of that
/// size and hold `slots` instructions each; the address of an instruction is its group's address
/// plus its number in the group.
struct CodeGroups {
  unsigned bytes = 4;  // 0: each instruction is a group of its own length
  unsigned slots = 1;

  constexpr bool fixed() const { return bytes != 0; }
  /// Sizes and addresses of groups are multiples of this.
  constexpr unsigned alignment() const { return fixed() ? bytes : 1; }
  bool operator==(const CodeGroups&) const = default;
};

/// Finds instructions by address. Instructions are numbered in the order of their addresses; only
/// differences of numbers are meaningful. With groups of a fixed size the map takes no memory,
/// computes all answers, and answers for every address. With variable length it holds one bit for
/// each byte of the sections, and answers for addresses inside them; next() and previous() also
/// answer for their ends.
///
/// Example: lengths 1, 5, 2 at 0x1000: holds(0x1001), next(0x1001) == 0x1006,
/// previous(0x1006) == 0x1001, index(0x1006) - index(0x1000) == 2.
class CodeMap {
 public:
  CodeMap() = default;
  explicit CodeMap(CodeGroups groups) : groups_(groups) {}

  /// For variable length: the decoded lengths, in bytes, of all instructions of a section.
  struct Lengths {
    uint64_t start = 0;
    std::span<const uint8_t> lengths;
  };
  /// `sections` in the order of their addresses. Linear in their bytes.
  explicit CodeMap(std::span<const Lengths> sections);

  /// Whether an instruction starts at `address`.
  bool holds(uint64_t address) const {
    return fixed() ? address % groups_.bytes < groups_.slots : starts_instruction(address);
  }
  /// Whether a group starts there.
  bool starts_group(uint64_t address) const {
    return fixed() ? address % groups_.bytes == 0 : starts_instruction(address);
  }

  /// The start of the group that holds `address`, and the start of the group after it.
  uint64_t group(uint64_t address) const {
    return fixed() ? address - address % groups_.bytes : variable_start(address);
  }
  uint64_t group_end(uint64_t address) const {
    return fixed() ? group(address) + groups_.bytes : next(address);
  }
  /// The start of the group that ends at `group`, the start of a group or the end of code.
  uint64_t previous_group(uint64_t group) const {
    return fixed() ? group - groups_.bytes : previous(group);
  }
  /// The number, within its group, of the instruction at `address`.
  unsigned slot(uint64_t address) const {
    return fixed() ? static_cast<unsigned>(address % groups_.bytes) : 0;
  }

  /// The number of the instruction at `address`, and back. Rounds down.
  uint64_t index(uint64_t address) const {
    if (!fixed()) return variable_index(address);
    const uint64_t slot = address % groups_.bytes;
    return address / groups_.bytes * groups_.slots +
           (slot < groups_.slots ? slot : groups_.slots - 1);
  }
  uint64_t address(uint64_t index) const {
    return fixed() ? index / groups_.slots * groups_.bytes + index % groups_.slots
                   : variable_address(index);
  }
  /// The address of the instruction after, or before, the instruction at `address`.
  uint64_t next(uint64_t address) const {
    return fixed() ? this->address(index(address) + 1) : variable_next(address);
  }
  uint64_t previous(uint64_t address) const {
    return fixed() ? this->address(index(address) - 1) : variable_previous(address);
  }

  const CodeGroups& groups() const { return groups_; }
  /// Bytes of the largest group.
  unsigned largest_group() const { return fixed() ? groups_.bytes : largest_; }

 private:
  /// A section with variable length: bit b of words[w] says that an instruction starts at byte 64 *
  /// w + b. The end of a section counts as an instruction, so it has a number of its own.
  struct Section {
    uint64_t start = 0;
    uint64_t end = 0;
    uint64_t first = 0;           // number of the first instruction
    std::vector<uint64_t> words;  // including the end
    std::vector<uint32_t> ranks;  // of each word: bits set in the words before it
  };

  bool fixed() const { return groups_.fixed(); }
  const Section* section_at(uint64_t address) const;  // the last section that starts at or before
                                                      // it
  bool starts_instruction(uint64_t address) const;
  uint64_t variable_index(uint64_t address) const;
  uint64_t variable_address(uint64_t index) const;
  uint64_t variable_start(uint64_t address) const;
  uint64_t variable_next(uint64_t address) const;
  uint64_t variable_previous(uint64_t address) const;

  CodeGroups groups_;
  unsigned largest_ = 0;
  std::vector<Section> sections_;
};

}  // namespace respike
