#pragma once
// Two hashes of the code of a node (docs/profiles.md).

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "optimizer/image/image.h"
#include "optimizer/ir/program.h"
#include "optimizer/profile/profile.h"

namespace respike {

/// Hashes of straight-line code. They depend neither on the order of instructions, no-ops and
/// addresses, nor on how a linker relaxed references to data.
class NodeHasher {
 public:
  /// The program must outlive the hasher.
  explicit NodeHasher(const Program& program);

  /// Adds a block to the current node. take() returns the hash of the node and starts the next
  /// node.
  void add(const Procedure& procedure, const BasicBlock& block);
  /// `end`: a text for the end of the node, which must not depend on the layout.
  NodeHash take(std::string_view end);

 private:
  /// The relocations of one section of code.
  using Relocations = std::span<const Relocation>;

  using Range = std::pair<uint64_t, uint64_t>;  // of addresses; the second is outside

  Range range_of(const Instruction& instruction) const;
  static Relocations relocations_in(Range range, Relocations section);
  bool add_relocated(const Instruction& instruction);
  void add_name(std::string_view name);
  void add_target(const Procedure& procedure, const Instruction& instruction);
  uint64_t mnemonic(uint16_t opcode);

  const Program& program_;
  std::vector<Relocations> relocations_;
  Relocations section_;              // of the previous instruction, most likely also of the next
  std::vector<uint64_t> mnemonics_;  // by opcode: hash64; 0: not computed yet
  uint64_t strict_ = 0, loose_ = 0;
};

}  // namespace respike
