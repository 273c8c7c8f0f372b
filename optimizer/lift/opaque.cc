// What opaque code may lead to stays in place.
//
// Problem: code that is not understood stays as it is, byte for byte, so everything that it leads
// to by a distance has to stay, too, unless a kept relocation says which field holds the distance.
// Where instructions have various lengths they may have been read from wrong places: nothing that
// was decoded is certain, neither the starts of instructions nor the last one.
//
// Idea: an instruction may start at any byte of opaque code. Whatever a direct branch or an operand
// that is relative to its instruction would lead to from there stays in place, and so does the code
// behind the opaque code, into which control may run. Few distances lead into code by accident.
//
// Example: clang's -fsanitize=function puts `jmp .+8` and six bytes of data in front of a function.
// The data reads like the start of an instruction that swallows the function's first bytes.

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/lift/lifter.h"

namespace respike {
namespace {

constexpr uint64_t kLongestSmall = 1024;  // bytes of a table of short words
constexpr const char* kMayLead = "code that is not understood, or data, may lead to it";

class OpaqueCode {
 public:
  explicit OpaqueCode(Lifter& lifter)
      : lifter_(lifter), program_(lifter.program), codec_(lifter.machine.codec) {}

  void run() {
    pin_unproven_targets();
    if (whole_ != nullptr) {
      pin_measured_procedures();
      keep_ways_from_tables();
    }
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
  /// target stays in place, so that the word can stay as it is.
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
        lifter_.keep_way_from(*target, kMayLead);  // by way of padding
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

  /// Where a direct branch leads whose bytes start at `at`; nullopt: there is none.
  std::optional<uint64_t> branch_target(uint64_t at) const {
    const Instruction instruction = decode(at);
    if (!is_direct(lifter_.machine.facts(instruction).flow)) return std::nullopt;
    return at + static_cast<uint64_t>(int64_t{instruction.immediate});
  }

  /// Where the instruction whose bytes start at `at` leads, or which address it is relative to.
  std::optional<uint64_t> target_at(uint64_t at) const {
    const Instruction instruction = decode(at);
    std::optional<uint64_t> target;
    if (is_direct(lifter_.machine.facts(instruction).flow))
      target = at + static_cast<uint64_t>(int64_t{instruction.immediate});
    else if (whole_ != nullptr)
      if (const auto relative = whole_->relative(instruction))
        target = program_.origin_base + static_cast<uint64_t>(*relative);
    // Elsewhere the instruction that the map has there did not fit the relocation.
    if (target && lifter_.map().starts_group(at) && has_relocation(at)) return std::nullopt;
    return target;
  }

  /// Whether a relocation says that the instruction at `at` holds a distance.
  bool has_relocation(uint64_t at) const {
    if (whole_ == nullptr) return false;
    const auto& relocations = *lifter_.code_at(at)->relocations;
    const auto bytes = bytes_from(at);
    const uint64_t end = at + codec_.length(bytes);
    const auto each = std::ranges::lower_bound(relocations, at, {}, &Relocation::address);
    return std::any_of(each, std::ranges::lower_bound(relocations, end, {}, &Relocation::address),
                       [&](const Relocation& relocation) {
                         using Field = WholeAddresses::Field;
                         const Field field = whole_->field_at(
                             bytes, static_cast<unsigned>(relocation.address - at));
                         return relocation.role != RelocationRole::ignored &&
                                (field == Field::branch || field == Field::distance);
                       });
  }

  /// Data in the text may be a table of distances of code, to which assemblers leave no
  /// relocations: from an address in the data, or at its end, that code or data forms; or from an
  /// address of code that a procedure forms which refers to the data, too. Words have 1, 2 or 4
  /// bytes.
  void keep_ways_from_tables() {
    if (lifter_.data.empty()) return;
    find_bases();
    std::ranges::sort(bases_);
    bases_.erase(std::unique(bases_.begin(), bases_.end()), bases_.end());
    for (const auto& [range, base] : bases_) {
      keep_ways_from_words<int32_t>(program_.ranges[range], base, ~uint64_t{0});
      keep_ways_from_words<int16_t>(program_.ranges[range], base, kLongestSmall);
      keep_ways_from_words<uint8_t>(program_.ranges[range], base, kLongestSmall);
    }
  }

  /// `longest`: bytes of the table, from its base on.
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
      if (effort_ == 0) return;
      --effort_;
      const uint64_t target = base + static_cast<uint64_t>(int64_t{load<Word>(bytes.data() + at)});
      if (lifter_.code_at(target) != nullptr && lifter_.map().starts_group(target))
        lifter_.keep_way_from(target, kMayLead);
    }
  }

  void find_bases() {
    for (const RelocationTable& table : lifter_.image.relocations)
      for (const Relocation& relocation : table.relocations)
        if ((relocation.role == RelocationRole::address64 ||
             relocation.role == RelocationRole::address32) &&
            relocation.symbol < lifter_.image.symbols.size())
          add_base(lifter_.symbol_value(relocation.symbol) +
                   static_cast<uint64_t>(relocation.addend));
    std::vector<uint32_t> data;
    std::vector<uint64_t> code;
    for (const CodeRange& range : program_.ranges) {
      data.clear();
      code.clear();
      for (uint64_t at = range.start; at < range.end; at = lifter_.map().next(at)) {
        const auto relative = whole_->relative(decode(at));  // as it is in the input
        if (!relative) continue;
        const uint64_t address = program_.origin_base + static_cast<uint64_t>(*relative);
        const uint32_t to = lifter_.range_at(address);
        if (to != kNone && is_data(to)) data.push_back(to);
        if (!whole_->forms_address(*lifter_.instruction_at(at))) continue;
        add_base(address);
        if (to != kNone && !is_data(to)) code.push_back(address);
      }
      for (const uint32_t table : data)
        for (const uint64_t base : code) bases_.emplace_back(table, base);
    }
  }

  void add_base(uint64_t address) {
    const CodeSection* code = lifter_.code_at(address);
    if (code == nullptr) return;
    const auto& ranges = program_.ranges;
    const auto behind = std::ranges::upper_bound(ranges, address, {}, &CodeRange::start);
    // The range with the address, and the range that ends there.
    for (auto each = behind; each != ranges.begin() && (--each)->end >= address;)
      if (is_data(static_cast<uint32_t>(each - ranges.begin())))
        bases_.emplace_back(static_cast<uint32_t>(each - ranges.begin()), address);
  }

  bool is_data(uint32_t range) const {
    return std::ranges::binary_search(lifter_.data, program_.ranges[range].procedure);
  }

  /// An address behind a procedure and in no other may be there to measure or copy the procedure.
  void pin_measured_procedures() {
    const auto pin = [&](uint64_t address) {
      const CodeSection* code = lifter_.code_at(address);
      if (code == nullptr || lifter_.range_at(address) != kNone) return;
      const auto behind = std::ranges::lower_bound(program_.ranges, address, {}, &CodeRange::start);
      if (behind == program_.ranges.begin() || (behind - 1)->start < code->start) return;
      lifter_.pin(program_[(behind - 1)->procedure],
                  fmt::format("the address {:#x}, of its end, is kept or formed", address));
    };
    for (const RelocationTable& table : lifter_.image.relocations)
      for (const Relocation& relocation : table.relocations)
        if ((relocation.role == RelocationRole::address64 ||
             relocation.role == RelocationRole::address32) &&
            relocation.symbol < lifter_.image.symbols.size())
          pin(lifter_.symbol_value(relocation.symbol) + static_cast<uint64_t>(relocation.addend));
    for (const CodeRange& range : program_.ranges)
      for (uint64_t at = range.start; at < range.end; at = lifter_.map().next(at))
        if (whole_->forms_address(*lifter_.instruction_at(at)))
          if (const auto relative = whole_->relative(decode(at)))
            pin(program_.origin_base + static_cast<uint64_t>(*relative));
  }

  void keep_ways_from_bytes(const CodeRange& range) {
    for (uint64_t at = range.start; at < range.end; ++at) {
      const auto target = target_at(at);
      if (!target || lifter_.code_at(*target) == nullptr) continue;
      const uint32_t other = lifter_.range_at(*target);
      if (other == kNone || program_.ranges[other].procedure != range.procedure)
        lifter_.keep_way_from(*target, kMayLead);
    }
    lifter_.keep_way_from(range.end, "control may run into it from code that is not understood");
  }

  /// Control may leave what may be data by a branch, or by running off its end.
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
  const WholeAddresses* const whole_ = lifter_.machine.whole;
  std::vector<std::pair<uint32_t, uint64_t>> bases_;  // ranges of data, and from where words count
  uint64_t effort_ = 100'000'000;                     // words of tables
};

}  // namespace

void keep_targets_of_opaque_code(Lifter& lifter) {
  OpaqueCode(lifter).run();
}

}  // namespace respike
