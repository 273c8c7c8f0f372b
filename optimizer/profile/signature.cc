// Signatures of procedures.
//
// A profile fits a procedure as long as the flow of control is the same, wherever the code is and
// however blocks are ordered. So the graph is normalised, to remove everything that a layout may
// change:
//
// - Blocks that only continue at another block are skipped. So are blocks that only compute gp:
//   whether the entry has such a block of its own depends on the callers, and linkers drop it
//   elsewhere.
// - A block and its only successor, if that has no other predecessor, are one node.
// - A conditional branch counts as its inverse if the inverse's mnemonic sorts first; the target of
//   the branch that counts is the first successor.
// - The targets of an indirect jump are in the order of the words of data with their addresses,
//   since data never moves. Targets whose addresses only code forms come last, by their mnemonics.
//
// Nodes are numbered depth-first from the entry. Nodes that only other entries reach come after
// them, in the order of the hashes of the graphs there. The signature hashes, node by node, how the
// node ends and which nodes follow; docs/profiles.md has the bytes.
//
// Example: block 0 falls into block 1, which ends in `bne` to block 3; block 2 is a `br` to block
// 3, which returns. Block 2 is skipped. Blocks 0 and 1 are node 0, which ends in `beq` (it sorts
// before `bne`, so the successors change places): both successors are node 1, block 3.

#include "optimizer/profile/signature.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "optimizer/base/bytes.h"
#include "optimizer/base/hash.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/machine/machine.h"
#include "optimizer/profile/node_hash.h"

namespace respike {
namespace {

/// How a node ends. The numbers are hashed.
enum class End : uint8_t { goes_on, conditional, call, jump, leaves };

// Tokens for successors that are not nodes.
constexpr uint32_t kNowhere = 0xfffffffd;   // a return, or no return from a call
constexpr uint32_t kOutside = 0xfffffffc;   // another procedure
constexpr uint32_t kForEver = 0xfffffffb;   // an empty loop
constexpr uint32_t kFirstToken = kForEver;  // lower numbers are blocks

struct Condition {
  std::string mnemonic;  // of the branch or its inverse
  bool inverted = false;
};

/// Facts shared by the Signers of all procedures of a program.
class Context {
 public:
  explicit Context(const Program& program)
      : program_(program), machine_(*program.machine), hasher_(program) {
    for (const CodePointer& pointer : program.code_pointers)
      if (pointer.target.where == CodeLocation::Where::block_start &&
          pointer.target.procedure != kNone)
        words_.push_back({{pointer.target.procedure, pointer.target.block}, pointer.address});
    std::sort(words_.begin(), words_.end());
  }

  const Program& program() const { return program_; }
  const Machine& machine() const { return machine_; }
  NodeHasher& hasher() { return hasher_; }

  /// The address of the first word of data that holds the address of a block; UINT64_MAX: none.
  uint64_t first_word(ProcedureId procedure, BlockId block) const {
    const std::pair key(procedure, block);
    const auto word =
        std::lower_bound(words_.begin(), words_.end(), key,
                         [](const auto& entry, const auto& k) { return entry.first < k; });
    return word != words_.end() && word->first == key ? word->second : UINT64_MAX;
  }

  const Condition& condition(const Instruction& branch) {
    const auto [entry, fresh] = conditions_.try_emplace(key_of(branch));
    if (fresh) {
      entry->second.mnemonic = mnemonic(branch);
      Instruction inverse = branch;
      if (machine_.branches.invert(inverse, {}) && mnemonic(inverse) < entry->second.mnemonic)
        entry->second = {mnemonic(inverse), true};
    }
    return entry->second;
  }

  std::string mnemonic(Instruction instruction) const {
    instruction.flags = 0;
    instruction.immediate = 0;
    const std::string text = machine_.text.print(instruction, 0);
    return text.substr(0, text.find_first_of(" \t"));
  }

 private:
  /// The key of a branch's condition: its opcode and, on machines whose inverted branches keep
  /// their opcode, the fields of registers.
  uint64_t key_of(const Instruction& branch) const {
    Instruction inverse = branch;
    uint32_t registers = 0;
    if (machine_.branches.invert(inverse, {}) && inverse.opcode == branch.opcode)
      std::memcpy(&registers, branch.registers, sizeof registers);
    return uint64_t{branch.opcode} << 32 | registers;
  }

  const Program& program_;
  const Machine& machine_;
  NodeHasher hasher_;
  std::vector<std::pair<std::pair<ProcedureId, BlockId>, uint64_t>> words_;
  std::unordered_map<uint64_t, Condition> conditions_;  // by key_of()
};

class Signer {
 public:
  Signer(Context& context, ProcedureId id)
      : context_(context), id_(id), procedure_(context.program()[id]) {}

  uint64_t sign_graph() {
    const size_t size = procedure_.blocks.size();
    if (size == 0) return 0;
    skips_.assign(size, kNone);
    successors_.resize(size);
    ends_.resize(size);
    for (BlockId b = 0; b < size; ++b) describe(b);
    join_chains();
    number_.assign(size, kNone);
    number_from(skip(0));
    number_others();
    return hash64(text_of_nodes().bytes());
  }

  ProcedureSignature sign() {
    ProcedureSignature signature;
    signature.value = sign_graph();
    signature.node.assign(procedure_.blocks.size(), kNone);
    for (uint32_t node = 0; node < order_.size(); ++node) {
      for (BlockId b = order_[node]; b != kNone; b = chain_[b]) {
        signature.node[b] = node;
        context_.hasher().add(procedure_, block(b));
      }
      signature.nodes.push_back(context_.hasher().take(end_text(end_of_chain(order_[node]))));
    }
    return signature;
  }

 private:
  const BasicBlock& block(BlockId b) const { return procedure_.blocks[b]; }

  const Instruction* last_of(const BasicBlock& block) const {
    for (uint32_t i = block.instructions.size(); i-- > 0;)
      if (!block.instructions[i].is_pseudo()) return &block.instructions[i];
    return nullptr;
  }
  ControlFlow flow_of(const BasicBlock& block) const {
    const Instruction* last = last_of(block);
    return last == nullptr ? ControlFlow::none : context_.machine().facts(*last).flow;
  }

  // ---- empty blocks ----

  /// The successor of an empty block; kNone for a block that is not empty.
  BlockId next_of_empty(BlockId b) const {
    if (block(b).successors.size() != 1) return kNone;
    const Edge& edge = block(b).successors[0];
    if (edge.kind != Edge::Kind::fall_through && edge.kind != Edge::Kind::taken) return kNone;
    const Instruction* last = last_of(block(b));
    for (const Instruction& instruction : block(b).instructions) {
      if (instruction.is_pseudo() || context_.machine().facts(instruction).nop ||
          is_gp_load(procedure_, instruction))
        continue;
      if (&instruction == last && context_.machine().facts(instruction).flow == ControlFlow::branch)
        continue;
      return kNone;
    }
    return edge.target;
  }

  /// The first block from `b` on that is not empty, or kForEver or kOutside.
  uint32_t skip(BlockId b) {
    std::vector<BlockId> path;
    uint32_t result = kNone;
    for (BlockId at = b; result == kNone;) {
      if (skips_[at] == kOpen) {
        result = kForEver;
      } else if (skips_[at] != kNone) {
        result = skips_[at];
      } else if (const BlockId next = next_of_empty(at); next == kNone) {
        result = skips_[at] = at;
      } else {
        skips_[at] = kOpen;
        path.push_back(at);
        at = next;
      }
    }
    // A block that only branches out of the procedure counts as outside.
    if (result < kFirstToken && is_bare_exit(result)) result = kOutside;
    for (const BlockId at : path) skips_[at] = result;
    if (path.empty() && result == kOutside) skips_[b] = kOutside;
    return result;
  }

  /// Whether a block consists only of a branch out of the procedure.
  bool is_bare_exit(BlockId b) const {
    if (b == 0 || !block(b).successors.empty() || flow_of(block(b)) != ControlFlow::branch)
      return false;
    const Instruction* last = last_of(block(b));
    return std::all_of(block(b).instructions.begin(), block(b).instructions.end(),
                       [&](const Instruction& i) {
                         return i.is_pseudo() || &i == last || context_.machine().facts(i).nop;
                       });
  }

  // ---- how blocks end ----

  uint32_t target_of(BlockId b, Edge::Kind kind, uint32_t otherwise) {
    const Edge* edge = block(b).edge(kind);
    return edge == nullptr ? otherwise : skip(edge->target);
  }

  void describe(BlockId b) {
    std::vector<uint32_t>& successors = successors_[b];
    switch (flow_of(block(b))) {
      case ControlFlow::conditional_branch: {
        ends_[b] = End::conditional;
        successors = {target_of(b, Edge::Kind::taken, kOutside),
                      target_of(b, Edge::Kind::fall_through, kNowhere)};
        if (context_.condition(*last_of(block(b))).inverted)
          std::swap(successors[0], successors[1]);
        break;
      }
      case ControlFlow::call:
      case ControlFlow::indirect_call:
        ends_[b] = End::call;
        successors = {target_of(b, Edge::Kind::fall_through, kNowhere),
                      target_of(b, Edge::Kind::landing_pad, kNowhere)};
        break;
      case ControlFlow::indirect_jump:
        ends_[b] = End::jump;
        add_indirect(b);
        break;
      case ControlFlow::branch:
        ends_[b] = End::goes_on;
        successors = {
            target_of(b, Edge::Kind::taken, target_of(b, Edge::Kind::fall_through, kOutside))};
        break;
      case ControlFlow::none:
        ends_[b] = End::goes_on;
        successors = {target_of(b, Edge::Kind::fall_through, kNowhere)};
        break;
      case ControlFlow::return_jump:
      case ControlFlow::stop:
        ends_[b] = End::leaves;
        break;
    }
  }

  void add_indirect(BlockId b) {
    std::vector<std::tuple<uint64_t, uint64_t, BlockId>> targets;
    for (const Edge& edge : block(b).successors) {
      if (edge.kind != Edge::Kind::indirect) continue;
      const uint64_t word = context_.first_word(id_, edge.target);
      targets.emplace_back(word, word == UINT64_MAX ? hash_of(edge.target) : 0, edge.target);
    }
    std::sort(targets.begin(), targets.end());
    for (const auto& [word, hash, target] : targets) successors_[b].push_back(skip(target));
    if (block(b).has(BasicBlock::kMayLeave)) successors_[b].push_back(kOutside);
  }

  /// Hash of the mnemonics of instructions that a layout neither adds nor drops.
  uint64_t hash_of(BlockId b) {
    const auto [entry, fresh] = block_hashes_.try_emplace(b);
    if (!fresh) return entry->second;
    ByteWriter text;
    for (const Instruction& i : block(b).instructions)
      if (!i.is_pseudo() && !context_.machine().facts(i).nop &&
          context_.machine().facts(i).flow == ControlFlow::none)
        text.c_string(context_.mnemonic(i));
    return entry->second = hash64(text.bytes());
  }

  // ---- nodes ----

  /// Sets chain_[b]: the block that follows b in the same node.
  void join_chains() {
    const size_t size = procedure_.blocks.size();
    chain_.assign(size, kNone);
    std::vector<uint32_t> predecessors(size);
    std::vector<bool> reached(size);
    std::vector<BlockId> work;
    const auto reach = [&](uint32_t b) {
      if (b >= kFirstToken || reached[b]) return;
      reached[b] = true;
      work.push_back(b);
    };
    reach(skip(0));
    for (BlockId b = 0; b < size; ++b)
      if (is_entered(b)) reach(skip(b));
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      for (const uint32_t next : successors_[b]) {
        if (next < kFirstToken) ++predecessors[next];
        reach(next);
      }
    }
    const BlockId entry = skip(0);
    for (BlockId b = 0; b < size; ++b) {
      if (!reached[b] || ends_[b] != End::goes_on) continue;
      const uint32_t next = successors_[b][0];
      if (next < kFirstToken && next != b && next != entry && predecessors[next] == 1 &&
          !is_entered(next))
        chain_[b] = next;
    }
  }
  /// Whether the block is an entry of the procedure besides block 0.
  bool is_entered(BlockId b) const { return block(b).has(BasicBlock::kEntry); }

  BlockId end_of_chain(BlockId b) const {
    while (chain_[b] != kNone) b = chain_[b];
    return b;
  }

  /// Numbers, depth-first, the nodes that a block reaches and that have no number yet.
  void number_from(uint32_t first) {
    std::vector<uint32_t> work = {first};
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      if (b >= kFirstToken || number_[b] != kNone) continue;
      number_[b] = static_cast<uint32_t>(order_.size());
      order_.push_back(b);
      const auto& successors = successors_[end_of_chain(b)];
      work.insert(work.end(), successors.rbegin(), successors.rend());
    }
  }

  /// Numbers the nodes that only other entries reach: for each of these entries hashes the graph
  /// that it reaches, and numbers in the order of the hashes.
  void number_others() {
    std::vector<std::pair<uint64_t, BlockId>> others;
    const size_t known = order_.size();
    uint64_t effort = 64 * procedure_.blocks.size();  // nodes to hash, for all entries
    for (BlockId b = 0; b < procedure_.blocks.size(); ++b) {
      if (!is_entered(b) || skip(b) >= kFirstToken || number_[skip(b)] != kNone) continue;
      uint64_t hash = 0;
      if (effort >= procedure_.blocks.size()) {
        number_from(skip(b));
        hash = hash64(text_of_nodes(known).bytes());
        effort -= std::min<uint64_t>(effort, order_.size() - known);
        for (size_t i = known; i < order_.size(); ++i) number_[order_[i]] = kNone;
        order_.resize(known);
      }
      others.emplace_back(hash, skip(b));
    }
    std::sort(others.begin(), others.end());
    for (const auto& [hash, b] : others) number_from(b);
  }

  /// How a node ends, as text for its hashes.
  std::string end_text(BlockId b) const {
    std::string text = {static_cast<char>('0' + static_cast<int>(ends_[b]))};
    if (ends_[b] == End::conditional) text += context_.condition(*last_of(block(b))).mnemonic;
    return text;
  }

  /// The bytes to hash: every node's end, the mnemonic of a conditional branch, and the successors.
  ByteWriter text_of_nodes(size_t first = 0) {
    ByteWriter out;
    for (size_t node = first; node < order_.size(); ++node) {
      const BlockId b = end_of_chain(order_[node]);
      out.write(static_cast<uint8_t>(ends_[b]));
      if (ends_[b] == End::conditional)
        out.c_string(context_.condition(*last_of(block(b))).mnemonic);
      out.uleb128(successors_[b].size());
      for (const uint32_t next : successors_[b])
        out.uleb128(next >= kFirstToken ? next - kFirstToken : number_[next] + 3);
    }
    return out;
  }

  static constexpr uint32_t kOpen = 0xfffffffe;  // skip() is following this block

  Context& context_;
  ProcedureId id_;
  const Procedure& procedure_;
  std::vector<uint32_t> skips_;                    // by block
  std::vector<std::vector<uint32_t>> successors_;  // blocks or tokens
  std::vector<End> ends_;
  std::vector<BlockId> chain_;
  std::vector<uint32_t> number_;  // of nodes, by their first block
  std::vector<BlockId> order_;    // first blocks of nodes
  std::map<BlockId, uint64_t> block_hashes_;
};

}  // namespace

std::vector<uint64_t> sign_graphs(const Program& program) {
  Context context(program);
  std::vector<uint64_t> signatures;
  signatures.reserve(program.procedures.size());
  for (ProcedureId id = 0; id < program.procedures.size(); ++id)
    signatures.push_back(Signer(context, id).sign_graph());
  return signatures;
}

std::vector<ProcedureSignature> sign(const Program& program) {
  Context context(program);
  std::vector<ProcedureSignature> signatures;
  signatures.reserve(program.procedures.size());
  for (ProcedureId id = 0; id < program.procedures.size(); ++id)
    signatures.push_back(Signer(context, id).sign());
  return signatures;
}

}  // namespace respike
