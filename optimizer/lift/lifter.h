#pragma once
// State shared by the steps of lift(); private to this folder. The steps run in the order of the
// functions at the end of this file; each step is a file or a part of a file.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "optimizer/base/diagnostics.h"
#include "optimizer/image/image.h"
#include "optimizer/image/provenance.h"
#include "optimizer/ir/program.h"
#include "optimizer/lift/ocaml.h"
#include "optimizer/machine/machine.h"
#include "optimizer/unwind/unwind.h"

namespace respike {

/// One executable section, decoded. Instructions and marks are numbered as in Program::map, from 0.
struct CodeSection {
  uint32_t section = 0;
  uint64_t start = 0;  // addresses, half-open; start and end are borders of groups
  uint64_t end = 0;
  const CodeMap* map = nullptr;
  uint64_t first = 0;  // number in `map` of the first instruction
  // Where lengths vary and the map has to search: the base of the origins of instructions.
  std::optional<uint64_t> origin_base = std::nullopt;
  Instruction* instructions = nullptr;
  std::vector<uint8_t> marks;
  const std::vector<Relocation>* relocations = nullptr;

  size_t index(uint64_t address) const { return map->index(address) - first; }
  uint64_t address(size_t index) const {
    return origin_base && index < marks.size() ? *origin_base + instructions[index].origin
                                               : map->address(first + index);
  }
};

enum Mark : uint8_t {
  kLeader = 1,      // a block starts here
  kReferenced = 2,  // never taken for padding
  kAddressTakenMark = 4,
  kLandingPadMark = 8,
  kEntryMark = 16,
  kLabelMark = 32,  // the address is kept outside of jump tables
};

/// A reference by an instruction, before blocks exist.
struct FoundReference {
  uint64_t place = 0;   // the instruction
  uint64_t target = 0;  // address referred to; for gp loads the anchor
  uint64_t pair = 0;    // gp loads: address of the upper half
  ReferenceKind kind{};
};

/// An operand that an instruction finds by its distance from the instruction.
struct DistantOperand {
  uint64_t place = 0;   // the instruction
  uint64_t target = 0;  // address of the operand
  bool forms = false;   // the instruction only forms the address, without reading there
};

/// An address of data that an instruction forms. Jump tables are found by these addresses.
struct TableReference {
  uint64_t place = 0;
  uint64_t table = 0;
};

struct Lifter {
  Lifter(const Image& i, const Machine& t, Diagnostics& d)
      : image(i), machine(t), diagnostics(d), ocaml(find_ocaml(i)) {}

  const Image& image;
  const Machine& machine;
  Diagnostics& diagnostics;
  Ocaml ocaml;
  Program program;
  std::vector<CodeSection> code;  // by address
  UnwindInput unwind;
  std::optional<Provenance> provenance;
  AddressRanges unreadable_unwind;
  std::vector<DistantOperand> distant_operands;  // of instructions in procedures, by place
  std::vector<FoundReference> found;             // by place
  std::vector<TableReference> tables;            // by place
  std::vector<uint64_t> table_starts;            // addresses of jump tables, sorted
  bool knows_users_of_tables = false;            // all code that forms their addresses is known
  std::vector<uint64_t> table_words;             // addresses of gp-relative words of data, sorted
  std::vector<uint64_t> held_data;               // addresses of data that words may also count from
  std::vector<uint64_t> label_loads;   // places that load the address of a label in their procedure
  std::vector<ProcedureId> data;       // procedures that are data rather than code, sorted
  std::vector<uint64_t> border_words;  // addresses of words that hold the end of a section
  std::vector<uint64_t> all_gps;       // gps that some procedure may use, the most frequent first
  std::vector<bool> gp_unknown;        // per procedure: its gp can only be guessed
  bool several_gps = false;            // it matters which gp a procedure has
  std::vector<uint64_t> nops_before;   // per range: only no-ops lie from this address to its start
  std::vector<std::vector<uint64_t>> landing_pads;  // per procedure, parallel to call_sites

  const CodeMap& map() const { return program.map; }
  CodeSection* code_at(uint64_t address);
  const CodeSection* code_at(uint64_t address) const {
    return const_cast<Lifter*>(this)->code_at(address);
  }
  /// The decoded instruction at an address, or nullptr when it is not in code.
  const Instruction* instruction_at(uint64_t address) const;
  /// The decoded instructions from an address to the end of its section; empty when it is not in
  /// code.
  std::span<const Instruction> code_from(uint64_t address) const;
  /// The decoded instructions in [start, end), which lie in one section; each knows its origin.
  std::span<const Instruction> code_in(uint64_t start, uint64_t end) const;
  /// Where a direct branch at `place` leads, as decoded.
  uint64_t branch_target(uint64_t place, const Instruction& branch) const {
    return map().group(place) + static_cast<uint64_t>(int64_t{branch.immediate});
  }
  void mark(uint64_t address, unsigned marks);
  uint8_t marks_at(uint64_t address) const;
  /// The bytes of the image from an instruction of the input onwards.
  std::span<const uint8_t> bytes_of(const Instruction& instruction) const;
  /// Whether only padding (no-ops, zero bytes) lies in [start, end).
  bool is_padding(uint64_t start, uint64_t end) const;
  /// Index of the range that holds `address`, or kNone.
  uint32_t range_at(uint64_t address) const { return respike::range_at(program, address); }
  /// Control may come to `address` in a way that is not understood, so the code there stays. If the
  /// address is outside of all procedures, everything up to the next procedure stays, and so does
  /// that procedure.
  void keep_way_from(uint64_t address, const char* reason);
  /// Where control that arrives at `address` goes: to the address itself when it is in a procedure;
  /// to the end of a far branch when it is a stub of the far branch; otherwise to the next
  /// procedure after padding. nullopt when there is no procedure.
  std::optional<uint64_t> resolve_flow(uint64_t address) const;
  bool is_code_symbol(uint32_t symbol) const;
  /// The kept relocation of code at `address` that has a role, or nullptr.
  const Relocation* relocation_at(uint64_t address, RelocationRole role) const;
  /// Whether a gp load based on the procedure value counts from `anchor`, one of several entries.
  bool is_entry_anchor(uint64_t anchor, uint64_t gp_load) const;
  uint64_t symbol_value(uint32_t symbol) const { return image.symbols[symbol].value; }
  void make_opaque(Procedure& procedure, std::string reason);
  /// The same for the procedure that holds `address`, if there is one.
  void make_opaque_at(uint64_t address, std::string reason);
  void pin(Procedure& procedure, std::string reason);
  uint64_t gp_of(const Procedure& procedure) const;
  bool is_gp_unknown(const Procedure& procedure) const {
    return gp_unknown[static_cast<size_t>(&procedure - program.procedures.data())];
  }
  /// Whether the instruction at `address` is a lower half (or, not `low`, an upper half) of a pair.
  bool is_half(uint64_t address, bool low) const {
    const Instruction* instruction = instruction_at(address);
    return instruction != nullptr && (low ? machine.fixups.is_lower_half(*instruction)
                                          : machine.fixups.is_upper_half(*instruction));
  }
};

/// The procedures are cut into this many parts, which threads take.
inline constexpr size_t kParts = 16;

/// Calls work(part, arena, first, last) for the procedures [first, last) of each part, on several
/// threads. `arena` belongs to the program and serves only this part; `work` may write only to the
/// part's procedures.
void for_each_part(Program& program,
                   const std::function<void(size_t, Arena&, ProcedureId, ProcedureId)>& work);

/// Calls f(range index, relocation) for every kept relocation of code inside a procedure.
template <typename F>
void for_each_code_relocation(const Lifter& lifter, F f) {
  uint32_t range = 0;
  const auto& ranges = lifter.program.ranges;
  for (const CodeSection& code : lifter.code)
    for (const Relocation& relocation : *code.relocations) {
      while (range < ranges.size() && ranges[range].end <= relocation.address) ++range;
      if (range == ranges.size()) return;
      if (relocation.address >= ranges[range].start) f(range, relocation);
    }
}

/// The gp of references relative to gp; see gp.cc.
class WordGps {
 public:
  /// Uses Lifter::tables.
  explicit WordGps(Lifter& lifter);

  /// The gp of the word of data at `word`, which holds `offset`; nullopt when it is unknown.
  std::optional<uint64_t> gp_of(uint64_t word, int64_t offset);
  /// Keeps in place the targets that `place` may refer to, by `offset` from an unknown gp.
  void keep_targets(uint64_t place, int64_t offset);
  void keep_target(uint64_t place, uint64_t target);

 private:
  struct User {  // a procedure that forms the address of a table
    uint64_t table;
    uint64_t gp;
    ProcedureId procedure;
    auto operator<=>(const User&) const = default;
  };

  Lifter& lifter_;
  std::vector<User> users_;
  uint64_t effort_ = 100'000'000;  // places that unknown references may lead to, in total
  bool gave_up_ = false;           // effort_ did not suffice: everything is opaque
};

/// The places to which the register of the procedure value points where code computes gp from it,
/// sorted. They are entries of procedures, by the gp that most of these loads agree on.
std::vector<uint64_t> entries_that_load_gp(const Lifter&);

/// Addresses of code that code loads from the global offset table, or that pairs of halves near
/// each other seem to form, sorted. They are needed before it is known which gp is in use where,
/// and which halves belong together.
std::vector<uint64_t> likely_formed_addresses(const Lifter&);

/// The entries that descriptors hold, in order; some may be 0 or addresses outside of code.
std::vector<uint64_t> descriptor_entries(const Lifter&);

void decode_code(Lifter&);
void find_procedures(Lifter&);  // program.procedures, program.ranges
void mark_unwind_places(Lifter&);
void find_gp_values(Lifter&);      // program.gp_values; Procedure::gp or gp_unknown; gp loads
void find_references(Lifter&);     // found, tables, program.code_pointers (unresolved targets)
void keep_referred_gaps(Lifter&);  // program.kept
void mark_branch_targets(Lifter&);
void build_blocks(Lifter&);
void keep_odd_prologs(Lifter&);
void keep_unknown_personalities(Lifter&);
void join_exception_tables(Program&);
void connect_blocks(Lifter&);                 // edges, references, call sites, code pointers
void keep_targets_of_opaque_code(Lifter&);    // pinned procedures, program.kept
void check_landing_pads(Lifter&);             // procedures whose gp depends on a distance
void find_returns(Program&, const Machine&);  // drops the edges after calls that never return
void glue_sequences(Program&, const Machine&);
void glue_epilogs(const Image&, Program&, const Machine&);
void follow_stops(Program&, const Machine&);

}  // namespace respike
