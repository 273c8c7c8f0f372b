// Which procedures with landing pads may be split, depending on who reads their exception tables.
//
// The table of a fragment has an LPStart when landing pads lie in another fragment, or at the start
// of the same fragment (unwind/lsda/lsda_writer.cc). The personality routines of GCC's languages
// and of Rust read the LPStart. LDC's run-time library ends at an LPStart that is relative to its
// place, and compiler-rt's routine for C skips it. Procedures with unknown routines stay: their
// tables then need no LPStart, as in the input.
//
// Example: D compiled by LDC calls _d_eh_personality, so a procedure with `try` is left in place.
//
// Finding the routine: the linker's word for it may be filled by the dynamic linker, or have a
// symbol DW.ref.NAME. Or the CIE may lead to a stub of the procedure linkage table, which an
// undefined symbol with an address names. Where no symbol names the routine, all routines that the
// image names must be known.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/lift/lifter.h"

namespace respike {
namespace {

constexpr std::string_view kReadsStarts[] = {
    "__gxx_personality_v0",  "__gcc_personality_v0",      "__gnat_personality_v0",
    "__gdc_personality_v0",  "__gccgo_personality_v0",    "__gcj_personality_v0",
    "__gm2_personality_v0",  "__gnu_objc_personality_v0", "__gnat_eh_personality",
    "__gxx_personality_sj0", "rust_eh_personality"};
constexpr std::string_view kReference = "DW.ref.";

bool may_be_personality(std::string_view name) {
  return name.find("personality") != std::string_view::npos && !name.starts_with("_Z") &&
         name != "personality" && name != "__personality";  // a system call
}

class Personalities {
 public:
  explicit Personalities(const Lifter& lifter) : image_(lifter.image) {
    for (const Cie& cie : lifter.unwind.tables.cies) wanted_.insert(cie.personality);
    for (const auto& table : image_.dynamic_relocations)
      for (const Relocation& relocation : table.relocations)
        if (wanted_.contains(relocation.address)) relocations_[relocation.address] = &relocation;
    for (const auto& [address, relocation] : relocations_)
      wanted_.insert(static_cast<uint64_t>(relocation->addend));
    for (const uint64_t address : std::set(wanted_))
      if (const auto word = image_.bytes_at(address, sizeof(uint64_t)))
        wanted_.insert(load<uint64_t>(word->data()));
    wanted_.erase(0);
    look_at_symbols();
  }

  /// The name of a routine that may not read an LPStart; "" when there is none.
  std::string unknown(const Cie& cie) const {
    const std::string_view name = name_of(cie);
    if (name.empty()) return all_known_ && !has_own_c_routine_ ? "" : "of unknown name";
    return reads_starts(name) ? "" : std::string(name);
  }

 private:
  void look_at_symbols() {
    // This is compiler-rt's routine; libgcc's is in unwind-c.c, and has a helper of this name.
    bool defines = false, from_other_file = false, has_helper = false;
    for (const auto* table : {&image_.symbols, &image_.dynamic_symbols})
      for (const Symbol& symbol : *table) {
        defines |= symbol.name == "__gcc_personality_v0" && symbol.defined_in_section();
        from_other_file |=
            symbol.type == Symbol::Type::file && symbol.name.starts_with("gcc_personality_v0.c");
        has_helper |= symbol.name.starts_with("read_encoded_value_with_base");
        // An undefined symbol with a value is a stub of the procedure linkage table.
        if (symbol.type != Symbol::Type::section && symbol.type != Symbol::Type::file &&
            !symbol.name.empty() && wanted_.contains(symbol.value)) {
          // Of several names, a known name is the most useful.
          const auto [named, fresh] = names_.try_emplace(symbol.value, symbol.name);
          if (!fresh && is_listed(symbol.name)) named->second = symbol.name;
        }
      }
    has_own_c_routine_ = defines && (from_other_file || !has_helper);
    for (const auto* table : {&image_.symbols, &image_.dynamic_symbols})
      for (const Symbol& symbol : *table)
        if (symbol.type != Symbol::Type::file && may_be_personality(symbol.name) &&
            !reads_starts(symbol.name))
          all_known_ = false;
  }

  static std::string_view without_reference(std::string_view name) {
    if (name.starts_with(kReference)) name.remove_prefix(kReference.size());
    return name;
  }

  static bool is_listed(std::string_view name) {
    return std::ranges::find(kReadsStarts, name) != std::end(kReadsStarts);
  }

  bool reads_starts(std::string_view name) const {
    name = without_reference(name.substr(0, name.find('@')));
    if (name == "__gcc_personality_v0" && has_own_c_routine_) return false;
    return is_listed(name);
  }

  std::string_view symbol_at(uint64_t address) const {
    const auto found = names_.find(address);
    return found == names_.end() ? std::string_view() : without_reference(found->second);
  }

  std::string_view name_of(const Cie& cie) const {
    if (const auto name = symbol_at(cie.personality); !name.empty()) return name;
    if (cie.has_direct_personality()) return {};
    if (const auto found = relocations_.find(cie.personality); found != relocations_.end()) {
      const Relocation& relocation = *found->second;
      if (relocation.symbol != 0 && relocation.symbol < image_.dynamic_symbols.size())
        return image_.dynamic_symbols[relocation.symbol].name;
      return symbol_at(static_cast<uint64_t>(relocation.addend));
    }
    const auto word = image_.bytes_at(cie.personality, sizeof(uint64_t));
    return word ? symbol_at(load<uint64_t>(word->data())) : std::string_view();
  }

  const Image& image_;
  std::set<uint64_t> wanted_;  // addresses whose names matter
  std::map<uint64_t, const Relocation*> relocations_;
  std::map<uint64_t, std::string_view> names_;
  bool all_known_ = true;
  bool has_own_c_routine_ = false;
};

}  // namespace

void keep_unknown_personalities(Lifter& lifter) {
  const auto& tables = lifter.unwind.tables;
  std::vector<std::string> unknown;  // by CIE
  const Personalities personalities(lifter);
  for (const Cie& cie : tables.cies)
    unknown.push_back(cie.augmentation.find('P') == std::string::npos ? ""
                                                                      : personalities.unknown(cie));
  for (const Fde& fde : lifter.unwind.fdes) {
    if (fde.lsda == kNone || fde.rows.empty()) continue;
    const std::string& routine = unknown[tables.states[fde.rows.front().state].cie];
    const auto has_pad = [](const Fde::CallSite& site) { return site.landing_pad != 0; };
    if (routine.empty() || std::ranges::none_of(fde.call_sites, has_pad)) continue;
    if (const uint32_t range = lifter.range_at(fde.start); range != kNone)
      lifter.pin(lifter.program[lifter.program.ranges[range].procedure],
                 fmt::format("its exception handler, {}, may not read tables of split procedures",
                             routine));
  }
}

}  // namespace respike
