// Code to which opaque code may lead stays in place.
//
// Problem: code that is not understood stays as it is, byte for byte. So all code to which it leads
// by a distance has to stay as well, unless a kept relocation says which field holds the distance.
// Where instructions have various lengths, they may have been decoded from wrong starts: none of
// the decoded instructions is certain.
//
// Idea: an instruction may start at any byte of opaque code. The code to which a direct branch, or
// an operand relative to its instruction, would lead from there stays in place. So does the code
// after the opaque code, into which control may run. Few distances lead into code by accident.
//
// Data in the text may be a table of distances of code, which assemblers leave without relocations
// as well. The code to which the table's words lead stays, counted from each address at which the
// table may begin. And an address right after a procedure may be formed to measure or copy that
// procedure.
//
// Example: clang's -fsanitize=function puts `jmp .+8` and six bytes of data before a function. The
// data reads like the start of an instruction that swallows the function's first bytes.

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/lift/lifter.h"

namespace respike {
namespace {

constexpr uint64_t kLongestSmall = 1024;  // bytes of a table of short words
constexpr size_t kMostPairs = 1'000'000;  // of data in the text and addresses of code
constexpr const char* kMayLead = "code that is not understood, or data, may lead to it";

class OpaqueCode {
 public:
  explicit OpaqueCode(Lifter& lifter)
      : lifter_(lifter), program_(lifter.program), codec_(lifter.machine.codec) {}

  void run() {
    pin_unproven_targets();
    if (lifter_.machine.evidence.words_are_distances) keep_what_addresses_tell();
    for (const CodeRange& range : program_.ranges) {
      const Procedure& procedure = program_[range.procedure];
      if (procedure.state != Procedure::State::opaque || range.first_block == range.end_block)
        continue;
      if (!codec_.groups.fixed())
        keep_ways_from_bytes(range);
      else if (std::ranges::binary_search(lifter_.data, range.procedure))
        keep_ways_from_data(range);
    }
  }

 private:
  /// A word that reads like a branch may be data. Where no relocation says that it is a branch, its
  /// target stays in place, so the word can stay unchanged.
  void pin_unproven_targets() {
    for (Procedure& procedure : program_.procedures) {
      if (procedure.state != Procedure::State::opaque) continue;
      for (BasicBlock& block : procedure.blocks) {
        const Instruction& last = block.instructions.back();
        const Reference* reference = branch_of(procedure, last);
        const uint64_t place = program_.origin_base + last.origin;
        if (reference == nullptr || last.origin == kNone ||
            reference->target.where != CodeLocation::Where::block_start ||
            lifter_.relocation_at(place, RelocationRole::branch))
          continue;
        lifter_.pin(program_[reference->target.procedure], kMayLead);
        if (codec_.groups.fixed()) continue;
        const auto target = branch_target(place);
        if (!target || lifter_.range_at(*target) != kNone) continue;
        lifter_.keep_way_from(*target, kMayLead);  // through padding
        procedure.references[static_cast<uint32_t>(last.immediate)].target = {
            .where = CodeLocation::Where::address, .address = *target};
      }
    }
  }

  /// The instruction whose bytes start at `at`, in code.
  Instruction decode(uint64_t at) const {
    const auto bytes = bytes_from(at);
    Instruction instruction;
    codec_.decode(bytes.first(codec_.length(bytes)),
                  static_cast<uint32_t>(at - program_.origin_base), &instruction);
    return instruction;
  }

  std::span<const uint8_t> bytes_from(uint64_t at) const {
    const Section& section = lifter_.image.sections[lifter_.code_at(at)->section];
    return section.contents.subspan(at - section.address);
  }

  /// Where a direct branch whose bytes start at `at` leads; nullopt: no branch starts there.
  std::optional<uint64_t> branch_target(uint64_t at) const {
    const Instruction instruction = decode(at);
    if (!is_direct(lifter_.machine.facts(instruction).flow)) return std::nullopt;
    return at + static_cast<uint64_t>(int64_t{instruction.immediate});
  }

  /// Where the instruction whose bytes start at `at` leads, or the address to which it is relative.
  std::optional<uint64_t> target_at(uint64_t at, bool in_data) const {
    const Instruction instruction = decode(at);
    std::optional<uint64_t> target;
    if (is_direct(lifter_.machine.facts(instruction).flow))
      target = at + static_cast<uint64_t>(int64_t{instruction.immediate});
    else if (const auto relative = lifter_.machine.relative_address(instruction))
      target = program_.origin_base + static_cast<uint64_t>(*relative);
    // A reference covers the instruction, unless the instruction did not fit the relocation, or is
    // in what may be data, whose words are not changed.
    if (target && !in_data && lifter_.map().starts_group(at) && has_relocation(at))
      return std::nullopt;
    return target;
  }

  /// Whether a relocation says that the instruction at `at` holds a distance.
  bool has_relocation(uint64_t at) const {
    if (!codec_.relocates_fields()) return false;
    const auto& relocations = *lifter_.code_at(at)->relocations;
    const auto bytes = bytes_from(at);
    const uint64_t end = at + codec_.length(bytes);
    const auto each = std::ranges::lower_bound(relocations, at, {}, &Relocation::address);
    return std::any_of(each, std::ranges::lower_bound(relocations, end, {}, &Relocation::address),
                       [&](const Relocation& relocation) {
                         using Field = Codec::Field;
                         const Field field =
                             codec_.field_at(bytes, static_cast<unsigned>(relocation.address - at));
                         return relocation.role != RelocationRole::ignored &&
                                (field == Field::branch || field == Field::distance);
                       });
  }

  /// Calls f(address, range, forms) for each address that a word of data holds (range: kNone) or to
  /// which an instruction is relative (range: the instruction's). `forms`: the instruction only
  /// forms the address.
  template <typename F>
  void for_each_address(F f) {
    for (const RelocationTable& table : lifter_.image.relocations)
      for (const Relocation& relocation : table.relocations)
        if ((relocation.role == RelocationRole::address64 ||
             relocation.role == RelocationRole::address32) &&
            relocation.symbol < lifter_.image.symbols.size()) {
          const uint64_t address =
              lifter_.symbol_value(relocation.symbol) + static_cast<uint64_t>(relocation.addend);
          if (!is_known(relocation.address, address)) f(address, kNone, true);
        }
    uint32_t range = 0;
    for (const auto& [place, target, forms] : lifter_.distant_operands) {
      while (program_.ranges[range].end <= place) ++range;
      f(target, range, forms);
    }
  }

  /// Whether it is known that the word of data is a return address, the end of an enclosure, or an
  /// entry of a jump table that is never used, for whose `address` something else stands
  /// (tables.h).
  bool is_known(uint64_t word, uint64_t address) const {
    const CodePointer* found = pointer_at(program_, word);
    return found != nullptr &&
           (found->target.where != CodeLocation::Where::address ||
            (lifter_.range_at(address) == kNone && found->target.address != address));
  }

  /// Tables begin at an address in the data, or at its end, that is formed or held. Or they begin
  /// at an address of code that is formed by a procedure which refers to the data as well. Words
  /// have 1, 2 or 4 bytes.
  void keep_what_addresses_tell() {
    std::vector<uint32_t> tables;  // to which the range being walked refers
    std::vector<uint64_t> code;    // addresses of code that the range forms
    uint32_t walked = kNone;
    size_t pairs = 0;
    const auto leave_range = [&] {
      sort_out(tables);
      sort_out(code);
      gave_up_ |= tables.size() * code.size() > kMostPairs - pairs;
      if (!gave_up_) {
        pairs += tables.size() * code.size();
        for (const uint32_t table : tables)
          for (const uint64_t base : code) bases_.emplace_back(table, base);
      }
      tables.clear();
      code.clear();
    };
    for_each_address([&](uint64_t address, uint32_t range, bool forms) {
      if (range != walked) leave_range();
      walked = range;
      if (lifter_.code_at(address) == nullptr) return;
      const uint32_t to = lifter_.range_at(address);
      const bool data = to != kNone && is_data(to);
      if (data && range != kNone) tables.push_back(to);
      if (!forms) return;
      if (to == kNone) pin_code_before(address);
      if (to != kNone && !data && range != kNone) code.push_back(address);
      add_bases(address);
    });
    leave_range();
    sort_out(bases_);
    for (const auto& [range, base] : bases_) {
      if (gave_up_) break;
      keep_ways_from_words<int32_t>(program_.ranges[range], base, ~uint64_t{0});
      keep_ways_from_words<int16_t>(program_.ranges[range], base, kLongestSmall);
      keep_ways_from_words<uint8_t>(program_.ranges[range], base, kLongestSmall);
    }
    if (!gave_up_) return;
    for (Procedure& procedure : program_.procedures)
      lifter_.make_opaque(procedure, "too much data in the text may lead to it");
  }

  template <typename T>
  static void sort_out(std::vector<T>& list) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }

  /// `longest`: bytes of the table, from its base on, if the base is in the data.
  template <typename Word>
  void keep_ways_from_words(const CodeRange& data, uint64_t base, uint64_t longest) {
    const bool inside = base >= data.start && base <= data.end;
    const auto bytes = bytes_from(data.start).first(data.end - data.start);
    size_t at = inside ? (base - data.start) % sizeof(Word) : 0, end = bytes.size();
    if (longest < end && inside && base < data.end) {
      at = base - data.start;
      end = std::min(end, at + longest);
    }
    for (; at + sizeof(Word) <= end; at += sizeof(Word)) {
      if (effort_ == 0) {
        gave_up_ = true;
        return;
      }
      --effort_;
      const uint64_t target = base + static_cast<uint64_t>(int64_t{load<Word>(bytes.data() + at)});
      if (lifter_.code_at(target) != nullptr && lifter_.map().starts_group(target))
        lifter_.keep_way_from(target, kMayLead);
    }
  }

  /// Notes the data that holds the address, and the data that ends there.
  void add_bases(uint64_t address) {
    const auto& ranges = program_.ranges;
    const auto behind = std::ranges::upper_bound(ranges, address, {}, &CodeRange::start);
    for (auto i = static_cast<uint32_t>(behind - ranges.begin());
         i > 0 && ranges[i - 1].end >= address; --i)
      if (is_data(i - 1)) bases_.emplace_back(i - 1, address);
  }

  bool is_data(uint32_t range) const {
    return std::ranges::binary_search(lifter_.data, program_.ranges[range].procedure);
  }

  /// `address`: in the text, in no procedure.
  void pin_code_before(uint64_t address) {
    const auto behind = std::ranges::lower_bound(program_.ranges, address, {}, &CodeRange::start);
    if (behind == program_.ranges.begin()) return;
    const CodeRange& before = *(behind - 1);
    if (before.start >= lifter_.code_at(address)->start)
      lifter_.pin(program_[before.procedure],
                  fmt::format("the address {:#x}, of its end, is kept or formed", address));
  }

  void keep_ways_from_bytes(const CodeRange& range) {
    const bool in_data = std::ranges::binary_search(lifter_.data, range.procedure);
    for (uint64_t at = range.start; at < range.end; ++at) {
      const auto target = target_at(at, in_data);
      if (!target || lifter_.code_at(*target) == nullptr) continue;
      const uint32_t other = lifter_.range_at(*target);
      if (other == kNone || program_.ranges[other].procedure != range.procedure)
        lifter_.keep_way_from(*target, kMayLead);
    }
    lifter_.keep_way_from(range.end, "control may run into it from code that is not understood");
  }

  /// Control may leave a range that may be data by a branch, or by running off its end.
  void keep_ways_from_data(const CodeRange& range) {
    const Procedure& procedure = program_[range.procedure];
    for (BlockId id = range.first_block; id < range.end_block; ++id) {
      const Instruction& last = procedure.blocks[id].instructions.back();
      if (!is_direct(lifter_.machine.facts(last).flow)) continue;
      const uint64_t target = lifter_.branch_target(program_.origin_base + last.origin, last);
      const uint32_t other = lifter_.range_at(target);
      if (other == kNone || program_.ranges[other].procedure != range.procedure)
        lifter_.keep_way_from(target, kMayLead);
    }
    const Instruction& last = procedure.blocks[range.end_block - 1].instructions.back();
    if (last.opcode != kInvalid && lifter_.machine.facts(last).falls_through)
      lifter_.keep_way_from(range.end, "control may run into it from what may be data");
  }

  Lifter& lifter_;
  Program& program_;
  const Codec& codec_;
  std::vector<std::pair<uint32_t, uint64_t>> bases_;  // ranges of data, and bases of their words
  uint64_t effort_ = 20'000'000;                      // words of tables
  bool gave_up_ = false;  // hostile: there are too many words or bases; everything is opaque
};

}  // namespace

void keep_targets_of_opaque_code(Lifter& lifter) {
  OpaqueCode(lifter).run();
}

}  // namespace respike
