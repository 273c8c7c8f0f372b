#pragma once
// The intermediate representation: Program > Procedure > BasicBlock > Instruction.
//
// An instruction is a machine instruction, 16 bytes. Its references to code are symbolic, so code
// moves freely: branches inside a procedure name their target by an edge of their block, all other
// references to code by a Reference in the procedure's side table. References to data keep the
// number they were linked with, because data never moves.
//
// Invariants (checked by check/invariants.h):
//  - Block 0 of a procedure is its entry. Block numbers are stable; within a CodeRange they are in
//    the order of the input's addresses. The order in the output is a Layout, not this vector.
//  - A block ends at the first instruction that changes the flow of control, calls included. Only
//    the last instruction of a block has a control flow other than `none`.
//  - An explicit unconditional branch may end a block whose successor is its `taken` edge. Emission
//    drops the branch when the successor follows, and adds one when a fall-through successor does
//    not follow.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "optimizer/base/arena.h"
#include "optimizer/ir/code_map.h"
#include "optimizer/ir/unwind.h"

namespace respike {

class Image;
struct Machine;

using ProcedureId = uint32_t;
using BlockId = uint32_t;  // within its procedure
inline constexpr uint32_t kNone = 0xffffffff;

/// Opcodes that every machine shares; a machine's own opcodes start at kFirstMachineOpcode.
/// kInvalid holds an undecodable unit of code, its bits in `immediate`. kCfiState is a
/// pseudo-instruction: from here on the unwind state is `immediate` (an index of
/// UnwindTables::states, or -1 for "not described").
enum : uint16_t { kInvalid = 0, kCfiState = 1, kFirstMachineOpcode = 2 };

struct Instruction {
  enum Flags : uint8_t {
    kHasReference = 1,  // `immediate` is an index of Procedure::references
  };

  uint16_t opcode = kInvalid;
  uint8_t predicate = 0;  // qualifying predicate register; 0 is "always"
  uint8_t flags = 0;
  uint8_t registers[4] = {};  // meaning: the machine's row for the opcode
  int32_t immediate = 0;
  uint32_t origin = kNone;  // address in the input minus Program::origin_base; kNone: synthesized

  bool has_reference() const { return (flags & kHasReference) != 0; }
  bool is_pseudo() const { return opcode == kCfiState; }
  bool operator==(const Instruction&) const = default;
};
static_assert(sizeof(Instruction) == 16);

/// How a field of an instruction or a word of data depends on an address.
enum class ReferenceKind : uint8_t {
  branch,            // displacement of a direct branch or call
  branch_hint,       // predicted target of an indirect jump or call; never affects behaviour
  gp_high,           // upper half of target - gp
  gp_low,            // lower half of target - gp
  gp_load_high,      // upper half of gp - anchor; the base register holds the anchor
  gp_load_low,       // lower half of the same; shares the Reference of its upper half
  gp_offset,         // target - gp; both parts of a long instruction refer to it
  pc_high,           // upper half of target - place; the base register holds place
  pc_low,            // lower half of the same, in the next instruction
  address_high,      // upper half of target
  address_low,       // lower half of the same
  address64,         // data: target
  address32,         // data, and numbers in instructions: target, 32 bits
  gp_relative32,     // data: target - gp
  pc_relative32,     // data, and distances in instructions: target - place
  pc_relative64,     // data: target - place
  table_relative32,  // data: target - address of the jump table that holds the word
};

/// A place in the program or, with `procedure` == kNone, in a section that emission may move.
struct CodeLocation {
  enum class Where : uint8_t {
    block_start,      // the first instruction of the block
    return_point,     // the address after the last instruction of the block (a call or branch)
    address,          // `address` of the input, not in a movable procedure
    enclosure_start,  // of Program::enclosure, or `address` while the enclosed code stays
    enclosure_end,
  };
  Where where = Where::block_start;
  ProcedureId procedure = kNone;
  BlockId block = kNone;
  uint64_t address = 0;  // Where::address only

  bool operator==(const CodeLocation&) const = default;
};

/// Whether the place belongs to a block of a procedure.
inline bool names_block(const CodeLocation& location) {
  return location.where == CodeLocation::Where::block_start ||
         location.where == CodeLocation::Where::return_point;
}

struct Reference {
  ReferenceKind kind;
  CodeLocation target;

  bool operator==(const Reference&) const = default;
};

/// A word of data that holds, in the form `kind`, the address of code.
struct CodePointer {
  uint64_t address;  // of the word
  ReferenceKind kind;
  CodeLocation target;
  uint64_t base = 0;  // gp_relative32: gp; table_relative32: the address of the table
};

struct Edge {
  enum class Kind : uint8_t {
    fall_through,  // the next block when no branch is taken, and the return of a call
    taken,         // a direct branch
    indirect,      // an entry of a jump table, or a label whose address is taken
    landing_pad,   // an exception thrown by the call that ends the block
  };
  BlockId target = kNone;  // in the same procedure
  Kind kind = Kind::fall_through;
  uint64_t count = 0;
};

struct BasicBlock {
  enum Flags : uint32_t {
    kGluedToNext = 1,   // its fall-through successor must follow it in memory
    kAddressTaken = 2,  // a code pointer or another procedure refers to it
    kLandingPad = 4,
    kEntry = 8,      // control enters the procedure here
    kMayLeave = 16,  // its indirect jump may lead out of the procedure
    kHotCopy = 32,   // of a procedure that hot-cold optimization split: in the hot part, or a stub
  };
  static constexpr uint32_t kLargest = (1u << 24) - 1;  // of origin_size

  ArenaList<Instruction> instructions;
  ArenaList<Edge> successors;
  uint32_t origin = kNone;        // of its first unit of code, see Instruction::origin
  uint32_t cfi_state = kNone;     // unwind state at its start, an index of UnwindTables::states
  uint32_t call_site = kNone;     // index of Procedure::call_sites; kNone: no LSDA applies
  uint32_t origin_size : 24 = 0;  // bytes it had in the input
  uint32_t flags : 8 = 0;
  uint64_t count = 0;

  bool has(Flags flag) const { return (flags & flag) != 0; }
  /// The first edge of a kind, or nullptr.
  const Edge* edge(Edge::Kind kind) const {
    for (const Edge& candidate : successors)
      if (candidate.kind == kind) return &candidate;
    return nullptr;
  }
};

static_assert(sizeof(BasicBlock) == 56);  // images have millions

/// What the C++ runtime does when the call of a block throws (an LSDA call-site record).
struct CallSite {
  uint32_t lsda = 0;            // index of UnwindTables::lsdas
  BlockId landing_pad = kNone;  // kNone: no landing pad, unwinding continues
  uint64_t action = 0;     // the record's action field: 0, or 1 + an offset of the action table
  bool terminate = false;  // no record covers the call: std::terminate

  bool operator==(const CallSite&) const = default;
};

struct JumpTable {
  uint64_t address = 0;  // of its first entry
  uint32_t entries = 0;
  /// The block that ends in the only jump that uses the table; that jump uses no table that other
  /// jumps may use. kNone: not certain.
  BlockId jump = kNone;
};

struct Procedure {
  enum class State : uint8_t {
    movable,
    pinned,  // understood, but stays at its address, such as start-up code; not counted as opaque
    opaque,  // not understood: stays; only fields that refer to moved code change
  };

  std::string name;
  uint64_t address = 0;
  uint64_t size = 0;  // bytes in the input, of all its ranges
  std::optional<uint64_t> gp;
  State state = State::movable;
  bool returns = true;  // false: no call of it ever returns
  /// It follows no calling standard, and a call in it may continue at other places than after the
  /// call. Example: OCaml's code.
  bool nonstandard = false;
  bool enclosed = false;  // it is a part of Program::enclosure
  std::string reason;     // why it is pinned or opaque: a clause for reports
  std::vector<BasicBlock> blocks;
  std::vector<Reference> references;
  std::vector<CallSite> call_sites;
  std::vector<JumpTable> jump_tables;
  std::vector<uint32_t> symbols;  // indices of Image::symbols that name it or a place in it

  bool movable() const { return state == State::movable; }
};

/// A contiguous range of input code: blocks [first_block, end_block) of a procedure. A procedure
/// has several ranges when the compiler or an earlier rewriting split it.
struct CodeRange {
  uint64_t start = 0;  // addresses, half-open
  uint64_t end = 0;
  ProcedureId procedure = kNone;
  BlockId first_block = 0;
  BlockId end_block = 0;

  bool operator==(const CodeRange&) const = default;
};

/// Finds ranges by address in about constant time. The code is cut into equal pieces, a few for
/// each range; the index knows where the ranges of each piece begin.
class RangeIndex {
 public:
  RangeIndex() = default;  // searches all ranges
  explicit RangeIndex(std::span<const CodeRange> ranges);

  /// How many of the ranges start at `address` or before. `ranges` must be those of the index.
  size_t starts_up_to(std::span<const CodeRange> ranges, uint64_t address) const;

 private:
  uint64_t start_ = 0;           // of the first range
  unsigned shift_ = 0;           // a piece has 2^shift_ bytes
  std::vector<uint32_t> first_;  // per piece, and after the last: how many ranges start before it
};

/// The last callee of an indirect call, in a profiled run.
struct ObservedCall {
  ProcedureId procedure = kNone;
  BlockId block = kNone;
  ProcedureId callee = kNone;

  bool operator==(const ObservedCall&) const = default;
};

/// Code that the program finds by its two ends, which words of data hold. Nothing else may be
/// between the ends, and no part of the code elsewhere. So its procedures move together, or not at
/// all.
struct Enclosure {
  uint64_t start = 0, end = 0;  // addresses of the input, half-open; equal: no enclosure

  bool holds(uint64_t address) const { return address >= start && address < end; }
};

struct Program {
  const Image* image = nullptr;
  const Machine* machine = nullptr;
  CodeMap map;                             // where the input's instructions are
  uint64_t origin_base = 0;                // lowest address of executable code
  std::vector<Procedure> procedures;       // in the order of their entries' addresses
  std::vector<CodeRange> ranges;           // in address order
  RangeIndex range_index;                  // of `ranges`, once these are fixed
  std::vector<CodePointer> code_pointers;  // in address order
  std::vector<std::pair<ProcedureId, ProcedureId>> falls_into;  // control falls from the end of the
                                                                // first into the second; sorted
  /// The first has a branch to the second that reaches only near targets; sorted.
  std::vector<std::pair<ProcedureId, ProcedureId>> near_branches;
  /// Addresses outside of all procedures, half-open, whose bytes stay: data that something refers
  /// to, and bytes that code that is not understood may run through.
  std::vector<std::pair<uint64_t, uint64_t>> kept;
  Enclosure enclosure;
  std::vector<uint64_t> gp_values;
  std::vector<ObservedCall> observed_calls;  // by procedure, block; at most one per block
  UnwindTables unwind;
  std::vector<Fde> foreign_fdes;  // opaque, or of code in no procedure; their code never moves
  std::optional<uint64_t> unreadable_fde;  // address of code whose unwind information would be lost
  std::unique_ptr<Arena> arena = std::make_unique<Arena>();

  uint64_t address_of(const BasicBlock& block) const { return origin_base + block.origin; }
  Procedure& operator[](ProcedureId id) { return procedures[id]; }
  const Procedure& operator[](ProcedureId id) const { return procedures[id]; }
};

/// Whether there is enclosed code that may move.
bool encloses_moving(const Program& program);

/// The entries of a jump table: indices of Program::code_pointers, half-open. Fewer than
/// `table.entries` where not all words of the table are code pointers in a row. Binary search.
std::pair<size_t, size_t> entries_of(const Program& program, const JumpTable& table);

/// Pins code that control falls into, or reaches by a short branch, from code that stays in place.
/// Also pins the enclosure, if a part of it stays. Call this once it is known which code stays.
void pin_followers(Program& program);

/// The range that holds an address, an index of Program::ranges, or kNone.
uint32_t range_at(const Program& program, uint64_t address);

/// The block that starts at an address of the input, or nullopt. Binary search in its range.
std::optional<CodeLocation> block_at(const Program& program, uint64_t address);

/// Where code may start: at addresses that are `phase` modulo `alignment`.
struct Start {
  uint32_t alignment = 4;  // bytes, a power of two
  uint32_t phase = 0;      // bytes, whole groups

  /// The first such address at or after `at`.
  uint64_t from(uint64_t at) const { return at + ((phase - at) & (uint64_t{alignment} - 1)); }
};

/// The order of code in the output. Fragments are placed in the order of the vector; the blocks of
/// a fragment are contiguous. Every block of every movable procedure is in exactly one fragment;
/// pinned and opaque procedures are not listed. The first fragment that holds block 0 has the
/// procedure's name; the other fragments are named after the procedure.
struct Layout {
  struct Fragment {
    ProcedureId procedure = kNone;
    std::vector<BlockId> blocks;
    Start start = {};
  };
  std::vector<Fragment> fragments;
};

}  // namespace respike
