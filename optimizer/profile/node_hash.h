#pragma once
// What the code of a block looks like: two hashes, docs/profiles.md.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "optimizer/image/image.h"
#include "optimizer/ir/program.h"
#include "optimizer/profile/profile.h"

namespace respike {

/// Hashes of straight-line code. They depend neither on the order of instructions nor on no-ops,
/// addresses, and what linkers make of references to data.
class NodeHasher {
 public:
  /// The program must outlive the hasher.
  explicit NodeHasher(const Program& program);

  /// Adds one block after the other to a node, then takes its hash.
  void add(const Procedure& procedure, const BasicBlock& block);
  /// `end`: how the node ends, a text that is the same in any layout.
  NodeHash take(std::string_view end);

 private:
  /// The relocations of one section of code.
  using Relocations = std::span<const Relocation>;

  bool add_relocated(const Instruction& instruction);
  void add_name(std::string_view name);
  void add_target(const Procedure& procedure, const Instruction& instruction);
  uint64_t mnemonic(uint16_t opcode);

  const Program& program_;
  std::vector<Relocations> relocations_;
  Relocations section_;              // of the instruction before: most are near it
  std::vector<uint64_t> mnemonics_;  // by opcode: hash64; 0: not asked for yet
  uint64_t strict_ = 0, loose_ = 0;
};

}  // namespace respike
