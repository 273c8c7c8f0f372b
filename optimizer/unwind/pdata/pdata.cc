// The function table: which code is a procedure, and where its prolog ends.
//
// Windows NT's unwinders for RISC machines have no description of frames. They read the code of the
// prolog and undo its instructions, the last one first. So the unwind state at a place is the list
// of the prolog's instructions that have run: none at the entry, one after the first instruction,
// all of them after the prolog. States are lists of words. Instructions that do not concern the
// frame, which compilers move into prologs, are left out.
//
//   f: lda sp,-16(sp)     state {}
//      stq ra,0(sp)       state {lda}
//      bsr ra,g           state {lda, stq}, from here on
//
// Each contiguous piece of the output gets an entry of its own. The piece with the procedure's
// entry has the prolog; each other piece gets a copy of the prolog before it
// (transform/prolog_copies.h). A copy is never executed; only unwinders read it. So every entry is
// an ordinary one. (The calling standard has secondary entries for parts of procedures; their
// encoding was not at hand.)
//
// An entry may name an exception handler, and data for the handler: usually a scope table, the
// ranges of __try. Ranges would be taken apart, so the procedure stays, and its handler stays; the
// filters may move. The handler is the personality of the entry's CIE, and the address of the data
// is in the CIE's initial instructions.
//
// Entries with other data for a handler, or with flags in the lowest bits of addresses, are opaque:
// their procedures stay, and so do the entries.
//
// Sources: PE/COFF specification of 2000, section 6.5; Windows NT for Alpha Systems Calling
// Standard, sections 3.2.6 and 8.1; an object of Microsoft's compiler of 1996, in which the end of
// the prolog is the first instruction after it.

#include "optimizer/unwind/pdata/pdata.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/unwind/pdata/entries.h"

namespace respike {
namespace {

using pdata::Entry;
using pdata::kInstruction;
using Words = std::vector<uint8_t>;  // of instructions, 4 bytes each

bool owns_section(std::string_view name) {
  return name == pdata::kSection;
}

bool is_used_by(const Image& image) {
  return image.calling_standard == CallingStandard::windows &&
         image.section_named(pdata::kSection) != nullptr;
}

/// Whether an instruction of a prolog concerns the frame: a store, or an instruction that reads or
/// writes the stack pointer, the frame pointer or the return address. Compilers move other
/// instructions into prologs, among them halves of addresses, which change when code moves.
bool concerns_frame(uint32_t word) {
  constexpr uint32_t kFramePointer = 15, kReturnAddress = 26, kStackPointer = 30;
  const uint32_t opcode = word >> 26, a = word >> 21 & 31, b = word >> 16 & 31, c = word & 31;
  const auto is_of_frame = [](uint32_t r) { return r == kFramePointer || r == kStackPointer; };
  const bool adds = opcode == 0x08 || opcode == 0x09;  // lda, ldah
  const bool memory = (opcode >= 0x0a && opcode <= 0x0f) || (opcode >= 0x20 && opcode <= 0x2f);
  const bool store = opcode == 0x0d || opcode == 0x0e || opcode == 0x0f || (opcode & 0x34) == 0x24;
  const bool integer_operation = opcode >= 0x10 && opcode <= 0x13;
  const bool has_literal = (word >> 12 & 1) != 0;
  if (adds) return is_of_frame(b) || a == kStackPointer;
  if (memory) return store || is_of_frame(b);
  if (!integer_operation) return false;
  return is_of_frame(a) || a == kReturnAddress || is_of_frame(c) ||
         (!has_literal && (is_of_frame(b) || b == kReturnAddress));
}

class Reader {
 public:
  explicit Reader(const Image& image) : image_(image) {
    input_.tables.cies.emplace_back();
    state({}, 0);
  }

  UnwindInput read(AddressRanges* unreadable) {
    uint64_t end = 0;
    std::vector<Entry> entries = pdata::read_entries(image_);
    for (size_t i = 0; i < entries.size(); ++i) {
      const Entry& entry = entries[i];
      const Section* section = image_.section_at(entry.first());
      const bool in_code = section != nullptr && section->executable() &&
                           entry.last() > entry.first() &&
                           entry.last() - section->address <= section->contents.size();
      if (!in_code)
        throw Error(
            fmt::format("the function table has an entry for {:#x}, which is no code", entry.begin),
            image_.path);
      if (entry.first() < end)
        throw Error(fmt::format("two entries of the function table are for {:#x}", entry.begin),
                    image_.path);
      end = entry.last();
      add(entry);
    }
    (void)unreadable;  // descriptions that are not understood are opaque states
    return std::move(input_);
  }

 private:
  uint32_t state(const Words& words, uint32_t cie) {
    const auto [known, fresh] = states_.try_emplace(
        std::pair(cie, words), static_cast<uint32_t>(input_.tables.states.size()));
    if (!fresh) return known->second;
    CfiState& made = input_.tables.states.emplace_back();
    made.cie = cie;
    made.cfa_is_expression = true;
    made.cfa_expression = words;
    return known->second;
  }

  /// The CIE of an entry's handler; the first CIE stands for no handler.
  uint32_t cie_of(const Entry& entry) {
    if (entry.handler == 0 && entry.handler_data == 0) return 0;
    const auto [known, fresh] = cies_.try_emplace(std::pair(entry.handler, entry.handler_data),
                                                  static_cast<uint32_t>(input_.tables.cies.size()));
    if (!fresh) return known->second;
    Cie& made = input_.tables.cies.emplace_back();
    made.initial_instructions.resize(sizeof entry.handler_data);
    store(made.initial_instructions.data(), entry.handler_data);
    const uint64_t handler = entry.handler & ~(kInstruction - 1);
    if (handler == 0) return known->second;
    made.personality_encoding = 0;  // an address
    made.personality = handler;
    return known->second;
  }

  void add(const Entry& entry) {
    constexpr uint64_t kLongestProlog = 256;  // bytes
    Fde fde{.start = entry.first(), .end = entry.last(), .rows = {}, .call_sites = {}};
    const uint32_t cie = cie_of(entry);
    const bool understood = entry.has_plain_frame() &&
                            entry.prolog_end - entry.begin <= kLongestProlog &&
                            (cie == 0 || pdata::has_scope_table(image_, entry));
    if (!understood) {
      Entry kept = entry;
      kept.handler &= kInstruction - 1;  // the CIE has the address
      CfiState& opaque = input_.tables.states.emplace_back();
      opaque.opaque = true;
      opaque.cie = cie;
      opaque.cfa_expression = pdata::write_entries({&kept, 1}, 8);
      fde.rows.push_back({fde.start, static_cast<uint32_t>(input_.tables.states.size() - 1)});
      input_.fdes.push_back(std::move(fde));
      return;
    }
    Words words;
    fde.rows.push_back({entry.begin, state(words, cie)});
    const auto code = image_.bytes_at(entry.begin, entry.prolog_end - entry.begin);
    for (uint64_t at = entry.begin; at < entry.prolog_end; at += kInstruction) {
      const auto word = load<uint32_t>(&(*code)[at - entry.begin]);
      if (!concerns_frame(word)) continue;
      words.resize(words.size() + kInstruction);
      store(&words[words.size() - kInstruction], word);
      fde.rows.push_back({at + kInstruction, state(words, cie)});
    }
    if (fde.rows.back().address == entry.end) fde.rows.pop_back();
    input_.fdes.push_back(std::move(fde));
  }

  const Image& image_;
  UnwindInput input_;
  std::map<std::pair<uint32_t, Words>, uint32_t> states_;   // by CIE and instructions
  std::map<std::pair<uint64_t, uint64_t>, uint32_t> cies_;  // by handler and its data
};

UnwindInput read(const Image& image, AddressRanges* unreadable) {
  return Reader(image).read(unreadable);
}

/// Makes entries of ranges, which are given by address.
class EntryMaker {
 public:
  explicit EntryMaker(const UnwindRequest& request)
      : request_(request), old_(pdata::read_entries(request.image)) {}

  std::vector<Entry> make() {
    for (const UnwindRange& range : request_.ranges) add(range);
    return std::move(entries_);
  }

 private:
  const Words& words_of(const UnwindRange& range) const {
    return request_.tables.states[range.state].cfa_expression;
  }

  void add(const UnwindRange& range) {
    if (range.stays) return keep(range);
    const CfiState& state = request_.tables.states[range.state];
    const Words& words = state.cfa_expression;
    if (goes_on(range, words)) {
      entries_.back().end = range.end;
      owner_ = range.owner;
      return;
    }
    if (!words.empty())
      throw Error(fmt::format("internal error: the code at {:#x} has no prolog", range.start),
                  request_.image.path);
    push({range.start, range.end, 0, 0, range.start});
    is_open_ = true;
    owner_ = range.owner;
    prolog_ = words;
  }

  /// Whether the range belongs to the last entry. Notes the end of that entry's prolog.
  bool goes_on(const UnwindRange& range, const Words& words) {
    if (!is_open_ || range.owner != owner_) return false;
    Entry& last = entries_.back();
    if (words == prolog_) return range.start == last.end;
    const bool longer = range.start == last.end && words.size() == prolog_.size() + kInstruction &&
                        std::equal(prolog_.begin(), prolog_.end(), words.begin());
    if (!longer) return false;
    prolog_ = words;
    last.prolog_end = range.start;
    return true;
  }

  /// Code that stays keeps its entries, even opaque ones, as far as no other code follows.
  void keep(const UnwindRange& range) {
    auto entry = std::ranges::upper_bound(old_, range.start, {}, &Entry::first);
    if (entry != old_.begin()) --entry;
    for (; entry != old_.end() && entry->first() < range.end; ++entry) {
      if (entry->last() <= range.start || entry->begin == kept_) continue;
      kept_ = entry->begin;
      Entry kept = *entry;
      // The handler may have moved.
      const uint64_t flags = kept.handler % kInstruction;
      const uint32_t cie = request_.tables.states[range.state].cie;
      if (kept.handler != flags) kept.handler = request_.tables.cies[cie].personality | flags;
      push(kept);
      is_open_ = false;
    }
  }

  void push(const Entry& entry) {
    if (!entries_.empty()) {
      Entry& last = entries_.back();
      if (last.last() > entry.first()) {
        last.end = entry.begin;
        last.prolog_end = std::min(last.prolog_end, last.end);
      }
    }
    entries_.push_back(entry);
  }

  const UnwindRequest& request_;
  std::vector<Entry> old_;
  std::vector<Entry> entries_;
  uint64_t kept_ = UINT64_MAX;  // the start of the last entry that was kept
  bool is_open_ = false;        // the last entry may continue
  uint32_t owner_ = 0;          // of the last entry
  Words prolog_;                // of the last entry, as far as it is known
};

std::vector<NewUnwindTable> write(const UnwindRequest& request) {
  const Section* section = request.image.section_named(pdata::kSection);
  const uint64_t field = pdata::field_size(request.image);
  const std::vector<Entry> entries = EntryMaker(request).make();
  NewUnwindTable table{.section = section,
                       .address = align_up(request.address, request.image.section_alignment),
                       .contents = pdata::write_entries(entries, field),
                       .fixups = {}};
  if (table.contents.size() <= section->contents.size()) {
    table.address = section->address;
    table.contents.resize(section->contents.size());
  }
  const auto refer = [&](uint64_t place, uint64_t value) {
    if (value != 0)
      table.fixups.push_back({place, value & ~(kInstruction - 1),
                              field == 8 ? RelocationRole::address64 : RelocationRole::address32});
  };
  uint64_t place = table.address;
  for (const Entry& entry : entries)
    for (const uint64_t value :
         {entry.begin, entry.end, entry.handler, entry.handler_data, entry.prolog_end}) {
      refer(place, value);
      place += field;
    }
  std::vector<NewUnwindTable> tables;
  tables.push_back(std::move(table));
  return tables;
}

}  // namespace

constinit const UnwindFormat kFunctionTableFormat = {
    .is_used_by = is_used_by,
    .owns_section = owns_section,
    .read = read,
    .write = write,
    .return_regions = nullptr,
    .reads_prologs = true,
    .contradiction = nullptr,
    .rules = [] { return std::span<const ImageRule>(); },
};

}  // namespace respike
