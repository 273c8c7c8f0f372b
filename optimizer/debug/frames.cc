// Each description of code is cut into the pieces that its code has now (DWARF 5, section 6.4).
//
// The state of a frame is kept as the list of operations that lead to it, including those of the
// common entry; an operation that a later one overrides leaves the list. So two places with the
// same list have the same state, and states are described by operations as the compiler wrote them.
//
// Example: at a block after the prologue "push %rbx; push %rbp" the list is "def_cfa_offset 24,
// offset rbx, offset rbp". When the block moves away, it gets a description that starts with this
// list.

#include "optimizer/debug/frames.h"

#include <fmt/format.h>
#include <llvm/BinaryFormat/Dwarf.h>

#include <algorithm>
#include <map>
#include <optional>

#include "optimizer/base/bytes.h"

namespace respike::debug {
namespace {

namespace dwarf = llvm::dwarf;

struct Operation {
  std::span<const uint8_t> bytes;
  /// Operations with the same subject override each other.
  enum class Subject : uint8_t { cfa, cfa_register, cfa_offset, register_rule, arguments } subject;
  uint64_t number = 0;  // of the register

  bool operator==(const Operation& other) const { return std::ranges::equal(bytes, other.bytes); }
};
using State = std::vector<Operation>;

struct Row {
  uint64_t address = 0;
  State state;
};

struct Common {
  uint64_t new_offset = 0;
  uint64_t code_alignment = 1;
  State state;
};

bool is_of_cfa(const Operation& operation) {
  using Subject = Operation::Subject;
  return operation.subject == Subject::cfa || operation.subject == Subject::cfa_register ||
         operation.subject == Subject::cfa_offset;
}

bool overrides(const Operation& later, const Operation& earlier) {
  if (later.subject == Operation::Subject::cfa) return is_of_cfa(earlier);
  return later.subject == earlier.subject && later.number == earlier.number;
}

/// Executes the operations of a description.
class Machine {
 public:
  Machine(std::span<const uint8_t> operations, uint64_t start, const Common& common, Budget& budget)
      : reader_(operations, ".debug_frame"),
        code_alignment_(common.code_alignment),
        budget_(budget) {
    budget.spend(common.state.size());
    rows_.push_back({start, common.state});
    while (!reader_.at_end()) step();
  }

  std::vector<Row> take_rows() { return std::move(rows_); }

 private:
  void advance(uint64_t count) { go_to(rows_.back().address + count * code_alignment_); }

  void go_to(uint64_t address) {
    if (address == rows_.back().address) return;
    if (address < rows_.back().address) throw Error(".debug_frame goes back inside of a procedure");
    budget_.spend(rows_.back().state.size() + 1);
    rows_.push_back({address, rows_.back().state});
  }

  void step() {
    const size_t start = reader_.position();
    const auto byte = reader_.read<uint8_t>();
    using Subject = Operation::Subject;
    const auto add = [&](Subject subject, uint64_t number = 0) {
      const size_t end = reader_.position();
      reader_.seek(start);
      const Operation made{reader_.take(end - start), subject, number};
      State& state = rows_.back().state;
      budget_.spend(1 + state.size() / 4);
      std::erase_if(state, [&](const Operation& other) { return overrides(made, other); });
      state.push_back(made);
    };
    const auto with_number = [&](auto read_rest) {
      const uint64_t number = reader_.uleb128();
      read_rest();
      add(Subject::register_rule, number);
    };
    const auto uleb = [&] { reader_.uleb128(); };
    const auto block = [&] { reader_.skip(reader_.uleb128()); };
    switch (byte & 0xc0) {
      case dwarf::DW_CFA_advance_loc:
        return advance(byte & 0x3f);
      case dwarf::DW_CFA_offset:
        reader_.uleb128();
        return add(Subject::register_rule, byte & 0x3f);
      case dwarf::DW_CFA_restore:
        return add(Subject::register_rule, byte & 0x3f);
      default:
        break;
    }
    switch (byte) {
      case dwarf::DW_CFA_nop:
        return;
      case dwarf::DW_CFA_set_loc:
        return go_to(reader_.read<uint64_t>());
      case dwarf::DW_CFA_advance_loc1:
        return advance(reader_.read<uint8_t>());
      case dwarf::DW_CFA_advance_loc2:
        return advance(reader_.read<uint16_t>());
      case dwarf::DW_CFA_advance_loc4:
        return advance(reader_.read<uint32_t>());
      case dwarf::DW_CFA_remember_state:
        if (remembered_.size() > 64) throw Error(".debug_frame remembers too many states");
        remembered_.push_back(rows_.back().state);
        return;
      case dwarf::DW_CFA_restore_state:
        if (remembered_.empty()) throw Error(".debug_frame restores a state that is not there");
        rows_.back().state = std::move(remembered_.back());
        remembered_.pop_back();
        return;
      case dwarf::DW_CFA_def_cfa:
      case dwarf::DW_CFA_def_cfa_sf:
        uleb();
        uleb();
        return add(Subject::cfa);
      case dwarf::DW_CFA_def_cfa_expression:
        block();
        return add(Subject::cfa);
      case dwarf::DW_CFA_def_cfa_register:
        uleb();
        return add(Subject::cfa_register);
      case dwarf::DW_CFA_def_cfa_offset:
      case dwarf::DW_CFA_def_cfa_offset_sf:
        uleb();
        return add(Subject::cfa_offset);
      case dwarf::DW_CFA_GNU_args_size:
        uleb();
        return add(Subject::arguments);
      case dwarf::DW_CFA_restore_extended:
      case dwarf::DW_CFA_undefined:
      case dwarf::DW_CFA_same_value:
        return with_number([] {});
      case dwarf::DW_CFA_offset_extended:
      case dwarf::DW_CFA_offset_extended_sf:
      case dwarf::DW_CFA_register:
      case dwarf::DW_CFA_val_offset:
      case dwarf::DW_CFA_val_offset_sf:
      case 0x2f:  // DW_CFA_GNU_negative_offset_extended
        return with_number(uleb);
      case dwarf::DW_CFA_expression:
      case dwarf::DW_CFA_val_expression:
        return with_number(block);
      default:
        throw Error(fmt::format(".debug_frame has the operation {:#x}, which is not known", byte));
    }
  }

  ByteReader reader_;
  uint64_t code_alignment_;
  std::vector<Row> rows_;
  std::vector<State> remembered_;
  Budget& budget_;
};

/// Writes the new descriptions.
class FrameMover {
 public:
  FrameMover(std::span<const uint8_t> section, const AddressMap& map, Budget& budget)
      : section_(section), map_(map), budget_(budget) {}

  std::vector<uint8_t> run() {
    ByteReader reader(section_, ".debug_frame");
    while (!reader.at_end()) {
      const uint64_t offset = reader.position();
      uint64_t length = reader.read<uint32_t>();
      is64_ = length == dwarf::DW_LENGTH_DWARF64;
      if (is64_) length = reader.read<uint64_t>();
      const auto entry = reader.take(length);
      if (entry.size() < 8) continue;  // padding between objects
      ByteReader fields(entry, ".debug_frame");
      const uint64_t id = is64_ ? fields.read<uint64_t>() : fields.read<uint32_t>();
      if (id == (is64_ ? ~uint64_t{0} : uint64_t{0xffffffff}))
        read_common(offset, section_.subspan(offset, reader.position() - offset), fields);
      else
        move(find_common(id), fields);
    }
    return std::move(out_.bytes());
  }

 private:
  void read_common(uint64_t offset, std::span<const uint8_t> bytes, ByteReader& fields) {
    const auto version = fields.read<uint8_t>();
    const std::string_view augmentation = fields.c_string();
    if ((version != 1 && version != 3 && version != 4) ||
        (!augmentation.empty() && augmentation != "S"))  // S marks signal frames: no data follows
      throw Error(".debug_frame has an entry of a kind that is not known");
    if (version == 4 && (fields.read<uint8_t>() != 8 || fields.read<uint8_t>() != 0))
      throw Error(".debug_frame has addresses of a size that is not known");
    Common common;
    common.new_offset = out_.size();
    common.code_alignment = fields.uleb128();
    fields.sleb128();
    if (version == 1)
      fields.read<uint8_t>();
    else
      fields.uleb128();
    if (common.code_alignment == 0) throw Error(".debug_frame counts code in steps of 0 bytes");
    common.state =
        Machine(fields.take(fields.remaining()), 0, common, budget_).take_rows().back().state;
    commons_[offset] = std::move(common);
    out_.append(bytes);
  }

  const Common& find_common(uint64_t offset) const {
    const auto found = commons_.find(offset);
    if (found == commons_.end())
      throw Error(
          fmt::format(".debug_frame refers to an entry at {:#x} that is not there", offset));
    return found->second;
  }

  void move(const Common& common, ByteReader& fields) {
    const auto start = fields.read<uint64_t>();
    const auto size = fields.read<uint64_t>();
    const auto operations = fields.take(fields.remaining());
    if (size == 0 || start + size < start) return;
    const std::vector<Row> rows = Machine(operations, start, common, budget_).take_rows();
    if (!map_.is_code(start)) {  // of code that the linker removed
      parts_.assign(1, {start, start + size, start, UINT32_MAX});
    } else {
      map_.find_parts(start, start + size, parts_);
      budget_.spend(parts_.size());
      // Hot parts of split procedures have their own frames.
      std::erase_if(parts_, [&](const MovedPart& part) {
        return !part.stays() && map_.pieces()[part.piece].hot;
      });
    }
    const State* state = nullptr;  // at the end of the last part
    const MovedPart* last = nullptr;
    for (const MovedPart& part : parts_) {
      auto row = std::ranges::upper_bound(rows, part.old_start, {}, &Row::address);
      if (row != rows.begin()) --row;  // a piece may begin before the procedure
      const bool goes_on = last != nullptr && last->new_end == part.new_start &&
                           std::ranges::equal(*state, row->state);
      if (!goes_on) {
        finish(last);
        begin(common, part.new_start);
        at_ = part.new_start;
        change(common.state, row->state);
      }
      state = &row->state;
      const uint64_t length = part.new_end - part.new_start;
      for (++row; row != rows.end() && row->address - part.old_start < length; ++row) {
        advance(common, part.new_start + (row->address - part.old_start));
        change(*state, row->state);
        state = &row->state;
      }
      last = &part;
    }
    finish(last);
  }

  void begin(const Common& common, uint64_t start) {
    body_ = {};
    if (is64_)
      body_.write<uint64_t>(common.new_offset);
    else
      body_.write(static_cast<uint32_t>(common.new_offset));
    body_.write(start);
    range_ = body_.size();
    body_.write<uint64_t>(0);
    start_ = start;
  }

  void finish(const MovedPart* last) {
    if (last == nullptr) return;
    body_.patch<uint64_t>(range_, last->new_end - start_);
    const size_t lead = is64_ ? 12 : 4;
    while ((body_.size() + lead) % 8 != 0) body_.write<uint8_t>(dwarf::DW_CFA_nop);
    if (is64_) {
      out_.write<uint32_t>(dwarf::DW_LENGTH_DWARF64);
      out_.write<uint64_t>(body_.size());
    } else {
      out_.write(static_cast<uint32_t>(body_.size()));
    }
    out_.append(body_.bytes());
  }

  void advance(const Common& common, uint64_t to) {
    const uint64_t bytes = to - at_;
    if (bytes % common.code_alignment != 0)
      throw Error(".debug_frame counts in larger steps than the code has");
    const uint64_t count = bytes / common.code_alignment;
    if (count < 0x40) {
      body_.write(static_cast<uint8_t>(dwarf::DW_CFA_advance_loc | count));
    } else if (count < 0x100) {
      body_.write<uint8_t>(dwarf::DW_CFA_advance_loc1);
      body_.write(static_cast<uint8_t>(count));
    } else {
      body_.write<uint8_t>(dwarf::DW_CFA_advance_loc4);
      body_.write(static_cast<uint32_t>(count));
    }
    at_ = to;
  }

  /// Appends the operations that lead from one state to another.
  void change(const State& from, const State& to) {
    budget_.spend(1 + to.size() * (1 + from.size() / 4));
    const auto cfa_of = [](const State& state) {
      State result;
      std::ranges::copy_if(state, std::back_inserter(result), is_of_cfa);
      return result;
    };
    const State cfa = cfa_of(to);
    if (!std::ranges::equal(cfa, cfa_of(from)))
      for (const Operation& operation : cfa) body_.append(operation.bytes);
    const auto states = [](const State& state, const Operation& rule) {
      return std::ranges::any_of(state, [&](const Operation& other) {
        return other.subject == rule.subject && other.number == rule.number;
      });
    };
    for (const Operation& rule : from) {
      if (rule.subject != Operation::Subject::register_rule || states(to, rule)) continue;
      body_.write<uint8_t>(dwarf::DW_CFA_restore_extended);  // the rule of the common entry
      body_.uleb128(rule.number);
    }
    for (const Operation& rule : to)
      if (!is_of_cfa(rule) && std::ranges::find(from, rule) == from.end()) body_.append(rule.bytes);
  }

  std::span<const uint8_t> section_;
  const AddressMap& map_;
  Budget& budget_;
  bool is64_ = false;
  std::map<uint64_t, Common> commons_;
  ByteWriter out_, body_;
  size_t range_ = 0;
  uint64_t start_ = 0;
  uint64_t at_ = 0;
  std::vector<MovedPart> parts_;
};

}  // namespace

std::vector<uint8_t> move_frames(std::span<const uint8_t> section, const AddressMap& map,
                                 Budget& budget) {
  return FrameMover(section, map, budget).run();
}

}  // namespace respike::debug
