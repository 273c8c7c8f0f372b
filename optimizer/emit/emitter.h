#pragma once
// State of one emission; private to this folder. Methods are called in the order of emit().

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optimizer/debug/address_map.h"
#include "optimizer/emit/emit.h"
#include "optimizer/emit/placement.h"
#include "optimizer/image/provenance.h"
#include "optimizer/unwind/unwind.h"

namespace respike {

class Emitter {
 public:
  Emitter(const Program& program, const Layout& layout, const Placement& placement,
          const AddedSegment& segment, Diagnostics& diagnostics,
          std::vector<PlacedInstruction>* places = nullptr, const DebugFile* debug = nullptr);

  void write_unwind_tables();
  void write_code();
  void write_code_pointers();
  void write_symbols(bool dynamic_fragments);
  void write_relocations();
  void write_dynamic_section();
  void inject(const Injection& injection);
  void write_provenance(Provenance provenance, NoteType type);
  /// The last use of what write_code() noted.
  void write_debug_sections();

  const NewImage& output() const { return out_; }
  /// Both end the emission.
  NewImage take_output() { return std::move(out_); }
  NewDebugFile take_debug_file() { return {std::move(debug_sections_), std::move(debug_symbols_)}; }
  EmitStatistics statistics() const;

 private:
  class CodeWriter;

  /// A kept relocation on its way to the output; `symbol` still indexes the input.
  struct MovedRelocation {
    uint64_t address;
    const Relocation* relocation;
    uint64_t target;      // what the field refers to now; 0: symbol and addend stay
    uint64_t pair;        // gp loads: index of gp_load_lows_, + 1; else 0
    uint64_t behind = 0;  // bytes from the field to the place from which its distance counts
  };

  std::optional<uint64_t> new_address(uint64_t old_code_address) const;
  uint64_t resolve(const CodeLocation& location) const;
  /// Bytes of the output at a code address, in place or in the added section.
  uint8_t* code_bytes(uint64_t address, uint64_t size);
  uint8_t* data_bytes(uint64_t address, uint64_t size);
  void fill_free_ranges();
  void write_pinned(ProcedureId id);
  void write_far_stubs();
  void note_far_stubs();
  void put(uint64_t address, const Instruction& instruction);
  CodePlace place_at(uint64_t address, std::span<const Instruction> following) const;
  Instruction resolved(ProcedureId id, const Instruction& instruction, uint64_t place);
  uint64_t& gp_load_low(ProcedureId id, uint32_t reference);

  void close_gaps(std::vector<UnwindRange>& ranges) const;
  void move_table(NewUnwindTable table);
  std::vector<UnwindRange> unwind_ranges();
  void add_unwind_ranges(std::vector<UnwindRange>& ranges, ProcedureId id, BlockId block);
  void add_foreign_ranges(std::vector<UnwindRange>& ranges, const Fde& fde);
  void add_stub_ranges(std::vector<UnwindRange>& ranges);

  void index_sections();
  uint64_t end_of_fragment(ProcedureId procedure, uint64_t address) const;
  bool names_code(const Symbol& symbol) const;
  void add_dead_ends(const Layout::Fragment& fragment, const std::vector<uint64_t>& known,
                     std::vector<uint64_t>& dead_ends) const;
  void move_symbol(Symbol& symbol) const;
  /// A symbol of a fragment that does not start with its procedure's entry.
  struct FragmentSymbol {
    Symbol symbol;
    ProcedureId procedure = kNone;
    uint32_t number = 0;  // among the procedure's fragments
  };
  uint64_t start_of_code(const Layout::Fragment& fragment, const PlacedFragment& placed) const;
  std::vector<FragmentSymbol> fragment_symbols();
  std::string_view name_fragment(std::string_view procedure, uint32_t number);
  std::vector<Symbol> with_fragments(std::vector<Symbol> symbols,
                                     std::span<const FragmentSymbol> fragments) const;
  std::vector<Symbol> dynamic_fragment_symbols(std::span<const FragmentSymbol> fragments);
  void add_dynamic_symbols(std::vector<Symbol> added);
  void move_debug_symbols(std::span<const FragmentSymbol> fragments);
  uint32_t section_of(uint64_t address) const;  // in the output; added sections last
  uint32_t section_symbol(uint32_t section) const;
  uint32_t new_symbol_index(uint32_t symbol) const;
  void add_unwind_relocations(std::vector<RelocationTable>& tables);
  void follow_word(Relocation& relocation) const;
  void follow_half(Relocation& relocation, const CodeRange& range) const;
  RelocationTable& table_for(std::vector<RelocationTable>& tables, uint32_t section) const;

  const Program& program_;
  const Layout& layout_;
  const Placement& placement_;
  const AddedSegment& segment_;
  const Image& image_;
  const Machine& machine_;
  Diagnostics& diagnostics_;
  NewImage out_;
  uint32_t unwind_owner_ = 0;  // the owner of the unwind ranges that are being added
  UnwindTables unwind_;        // the program's, and states of stubs
  std::vector<std::pair<uint32_t, std::vector<UnwindFixup>>> unwind_fixups_;  // by section
  uint32_t added_text_ = kNone;                                               // index in out_.added
  std::vector<MovedRelocation> carried_;
  std::vector<uint64_t> gp_load_lows_;      // output address of the lower half
  std::vector<uint32_t> first_reference_;   // by procedure: number of its first reference
  std::vector<CodeRange> fragment_ranges_;  // fragments with code in the output, by address
  std::vector<uint64_t> sized_symbols_;     // addresses of sized procedures of the input
  std::vector<std::pair<uint64_t, uint32_t>> section_order_;  // output sections by address
  std::vector<uint32_t> section_symbols_;  // symbol (input index) of an output section, or kNone
  uint32_t inserted_symbols_ = 0;          // before the first global symbol
  uint32_t first_global_ = 0;
  DeeperStates deeper_;  // unwind states of stubs
  BlockRun run_;         // the block whose unwind ranges are added
  std::vector<const std::vector<Relocation>*> relocations_of_;  // by section
  std::vector<MovedPiece> pieces_;                              // for debug information
  std::map<StaleValues, uint32_t> stale_values_;                // likewise, with their numbers
  std::vector<PlacedInstruction>* places_;                      // may be null
  bool notes_pieces_ = false;
  const DebugFile* debug_;   // may be null
  NewImage debug_sections_;  // of the debug file
  std::vector<Symbol> debug_symbols_;
};

}  // namespace respike
