#pragma once
// Helpers for the tests of unwind regions: states as text; an oracle for the meaning of descriptors
// (readelf's listing, from which the rules of the conventions give the state at one slot at a
// time); and the conversion of tables as read into tables as written, and back.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "optimizer/base/bytes.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/program.h"
#include "optimizer/ir/unwind.h"
#include "optimizer/unwind/ia64/region_encoding.h"
#include "optimizer/unwind/ia64/region_table.h"
#include "optimizer/unwind/ia64/regions_reader.h"
#include "optimizer/unwind/ia64/regions_writer.h"
#include "tests/unit/command.h"
#include "tests/unit/unwind_testing.h"

namespace respike::unwind_regions_testing {

using Bytes = std::vector<uint8_t>;
using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;

inline std::string output_of(const std::string& command) {
  return run_command(command + " 2>/dev/null").output;
}

// ---- States as text: "cfa=sp+32 b1=r40 f2=c-16 lc=s+8 rp=r33", sorted by name

using Names = std::map<std::string, std::string>;

inline std::string text_of(const Names& names) {
  std::string text;
  for (const auto& [name, value] : names) text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

inline std::string name_of(uint64_t number) {
  static const std::map<uint64_t, std::string> special = {
      {320, "rp"},   {345, "bsp"}, {346, "bspstore"}, {347, "rnat"}, {364, "unat"},
      {368, "fpsr"}, {392, "pfs"}, {393, "lc"},       {458, "pr"},   {459, "priunat"}};
  if (const auto found = special.find(number); found != special.end()) return found->second;
  if (number < 128) return fmt::format("r{}", number);
  if (number < 256) return fmt::format("f{}", number - 128);
  return fmt::format("b{}", number - 320);
}

/// The text, such as "s+8", of the expression for the place at the stack pointer + 8.
inline std::string stack_place_text(const std::vector<uint8_t>& expression) {
  ByteReader reader(expression);
  if (reader.read<uint8_t>() != 0x7c) return "?";
  return fmt::format("s{:+}", reader.sleb128());
}

inline std::string text_of(const CfiState& state) {
  if (state.opaque) return fmt::format("opaque {:02x}", fmt::join(state.cfa_expression, " "));
  Names names;
  if (state.cfa_is_expression)
    names["cfa"] = stack_place_text(state.cfa_expression);
  else if (state.cfa_register == 12)
    names["cfa"] = fmt::format("sp{:+}", state.cfa_offset);
  else
    names["cfa"] = fmt::format("r{}", state.cfa_register);
  for (const auto& [number, rule] : state.rules) {
    std::string& text = names[name_of(number)];
    if (rule.kind == CfiRule::Kind::offset) text = fmt::format("c{:+}", rule.value);
    if (rule.kind == CfiRule::Kind::expression) text = stack_place_text(rule.expression);
    if (rule.kind == CfiRule::Kind::in_register)
      text = rule.value == 320 ? "b0" : name_of(static_cast<uint64_t>(rule.value));
  }
  return text_of(names);
}

// ---- readelf's listing

struct ListedDescriptor {
  std::string name;  // "pfs_when"
  std::map<std::string, std::string> operands;
  std::vector<std::string> list;  // the text in brackets

  int64_t number(const std::string& operand) const {
    const auto found = operands.find(operand);
    return found == operands.end() ? 0 : std::stoll(found->second, nullptr, 0);
  }
};

struct ListedRegion {
  bool body = false;
  int64_t length = 0;
  std::vector<ListedDescriptor> descriptors;  // the first is the header itself
};

struct ListedEntry {
  uint64_t start = 0, end = 0;
  bool handlers = false;
  std::vector<ListedRegion> regions;
};

inline ListedDescriptor parse_descriptor(std::string text) {
  ListedDescriptor result;
  for (size_t open; (open = text.find('[')) != std::string::npos;) {
    const size_t close = text.find(']', open);
    std::istringstream items(text.substr(open + 1, close - open - 1));
    for (std::string item; std::getline(items, item, ',');) result.list.push_back(item);
    text.replace(open, close + 1 - open, "-");
  }
  const size_t open = text.find('(');
  result.name = text.substr(text.find(':') + 1, open - text.find(':') - 1);
  std::istringstream items(text.substr(open + 1, text.rfind(')') - open - 1));
  for (std::string item; std::getline(items, item, ',');)
    if (const size_t equal = item.find('='); equal != std::string::npos)
      result.operands[item.substr(0, equal)] = item.substr(equal + 1);
    else
      result.operands["reg"] = item;
  return result;
}

inline std::vector<ListedEntry> parse_listing(const std::string& listing) {
  std::vector<ListedEntry> entries;
  std::istringstream lines(listing);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("<") && line.find("info at") != std::string::npos) {
      const size_t range = line.rfind("[0x");
      entries.push_back({std::stoull(line.substr(range + 1), nullptr, 16),
                         std::stoull(line.substr(line.rfind("-0x") + 1), nullptr, 16),
                         false,
                         {}});
    } else if (line.starts_with("  v")) {
      entries.back().handlers = line.find("handler") != std::string::npos;
    } else if (line.starts_with("    R")) {
      const ListedDescriptor header = parse_descriptor(line.substr(4));
      entries.back().regions.push_back({header.name == "body", header.number("rlen"), {header}});
    } else if (line.starts_with("\t")) {
      entries.back().regions.back().descriptors.push_back(parse_descriptor(line.substr(1)));
    }
  }
  return entries;
}

// ---- The state at one slot

/// As chapter 11.4.2.3 of the conventions and libgcc's uw_frame_state_for define the state.
class ListedState {
 public:
  /// The text of the state before the instruction at `slot` is executed.
  static std::string at(const ListedEntry& entry, int64_t slot) {
    return ListedState(entry, slot).text();
  }

 private:
  struct Save {
    int64_t when = kNever;
    std::string where;  // as in text_of, "s+8"; "home"; "next"; "": nowhere
  };
  using Saves = std::map<std::string, Save>;
  static constexpr int64_t kNever = int64_t{1} << 60;

  ListedState(const ListedEntry& entry, int64_t slot) : slot_(slot) {
    for (size_t i = 0; i < entry.regions.size(); ++i) {
      region_ = &entry.regions[i];
      if (i != 0) start_ += entry.regions[i - 1].length;
      if (i != 0 && start_ > slot) break;
      for (; pops_ != 0; --pops_) {
        saves_ = stack_.back();
        stack_.pop_back();
      }
      epilogue_ = kNever;
      if (!region_->body) stack_.push_back(saves_);
      next_ = 32;
      spill_base_ = 16;
      spills_.clear();
      for (const ListedDescriptor& descriptor : region_->descriptors) execute(descriptor);
      if (!region_->body) finish();
    }
  }

  int64_t last() const { return start_ + region_->length - 1; }
  int64_t clamp(int64_t time) const { return std::min(start_ + time, last()); }
  static bool ends(const std::string& text, const char* end) { return text.ends_with(end); }
  static std::string base(const std::string& text) { return text.substr(0, text.find('_')); }
  static std::string plain(const std::string& name) {
    return name.starts_with("ar.") ? name.substr(3) : name;
  }

  void save(const std::string& name, const std::string& where) {
    Save& save = saves_[name];
    save.where = where;
    if (save.when == kNever) save.when = last();
  }
  static std::string psp(const ListedDescriptor& d) {  // "0x10-0x20"
    const std::string text = d.operands.at("pspoff");
    return fmt::format("c{:+}", 16 - std::stoll(text.substr(text.find('-') + 1), nullptr, 16));
  }
  static std::string stack(const ListedDescriptor& d) {
    return fmt::format("s{:+}", d.number("spoff"));
  }

  void execute(const ListedDescriptor& d) {
    const std::string& name = d.name;
    if (name == "prologue" || name == "body") return;
    if (name == "prologue_gr") {
      int64_t general = std::stoll(d.operands.at("grsave").substr(1));
      for (const std::string& item : d.list) save(plain(item), fmt::format("r{}", general++));
      next_ = general;
    } else if (name == "mem_stack_f") {
      saves_["psp"].where = fmt::format("sp{:+}", d.number("size"));
      if (saves_["psp"].when == kNever) saves_["psp"].when = clamp(d.number("t"));
    } else if (name == "mem_stack_v") {
      saves_["psp"].when = clamp(d.number("t"));
    } else if (name.find("_when") != std::string::npos) {
      Save& save = saves_[base(name)];
      if (save.where.empty()) save.where = "next";
      save.when = clamp(d.number("t"));
    } else if (name == "rp_br") {
      return_branch_ = d.operands.at("reg");
    } else if (name == "gr_gr" || name == "br_gr") {
      int64_t general = std::stoll(d.operands.at("reg").substr(1));
      for (const std::string& item : d.list) save(item, fmt::format("r{}", general++));
    } else if (ends(name, "_mem")) {
      for (const std::string& item : d.list) save(item, "home");
    } else if (name == "spill_base") {
      const std::string text = psp(d);
      spill_base_ = std::stoll(text.substr(1));
    } else if (name == "spill_mask") {
      for (const std::string& item : d.list) spills_ += item;
    } else if (name == "spill_psprel" || name == "spill_sprel" || name == "spill_reg" ||
               name == "restore") {
      if (slot_ <= clamp(d.number("t"))) return;
      saves_[plain(d.operands.at("reg"))] = {clamp(d.number("t")),
                                             name == "spill_psprel"  ? psp(d)
                                             : name == "spill_sprel" ? stack(d)
                                             : name == "spill_reg"   ? d.operands.at("treg")
                                                                     : ""};
    } else if (name == "epilogue") {
      epilogue_ = last() - d.number("t");
      pops_ = d.number("ecount") + 1;
    } else if (name == "label_state") {
      labels_[d.operands.at("label")] = {saves_, stack_};
    } else if (name == "copy_state") {
      std::tie(saves_, stack_) = labels_.at(d.operands.at("label"));
    } else if (ends(name, "_gr")) {
      save(base(name), d.operands.at("reg"));
    } else if (ends(name, "_psprel")) {
      save(base(name), psp(d));
    } else if (ends(name, "_sprel")) {
      save(base(name), stack(d));
    } else {
      throw std::runtime_error("unknown in readelf's listing: " + name);
    }
  }

  void finish() {
    for (const char* name : {"rp", "pfs", "psp", "pr", "unat", "lc", "fpsr", "priunat"})
      if (const auto found = saves_.find(name); found != saves_.end())
        if (found->second.where == "next") found->second.where = fmt::format("r{}", next_++);
    std::map<char, std::vector<Save*>> homes;
    for (const char kind : {'f', 'b', 'r'})
      for (int n = 0; n < 32; ++n)
        if (const auto found = saves_.find(fmt::format("{}{}", kind, n));
            found != saves_.end() && found->second.where == "home")
          homes[kind].push_back(&found->second);
    std::map<char, size_t> used;
    for (size_t i = 0; i < spills_.size(); ++i)
      if (spills_[i] != '-')
        homes[spills_[i]].at(used[spills_[i]]++)->when = start_ + static_cast<int64_t>(i);
    int64_t offset = spill_base_;
    for (const char kind : {'f', 'b', 'r'})
      for (size_t i = homes[kind].size(); i-- > 0;) {
        offset -= kind == 'f' ? 16 : 8;
        homes[kind][i]->where = fmt::format("c{:+}", offset);
      }
  }

  std::string text() {
    const bool left = slot_ > epilogue_;
    Names names;
    names["cfa"] = "sp+0";
    if (const auto frame = saves_.find("psp"); frame != saves_.end() &&
                                               frame->second.when < slot_ && !left &&
                                               !frame->second.where.empty())
      names["cfa"] = frame->second.where;
    const bool fixed = names["cfa"].starts_with("sp");
    for (const auto& [name, save] : saves_) {
      if (name == "psp" || save.when >= slot_ || save.where.empty()) continue;
      std::string where = save.where;
      const int64_t offset = where[0] == 'c' || where[0] == 's' ? std::stoll(where.substr(1)) : 0;
      if (left && (where[0] == 's' || (where[0] == 'c' && offset >= 0 && offset <= 16))) continue;
      if (where[0] == 's' && fixed)
        where = fmt::format("c{:+}", offset - std::stoll(names["cfa"].substr(2)));
      names[name] = where;
    }
    if (!names.contains("rp")) names["rp"] = return_branch_;
    if (names["rp"] == "b0") names.erase("rp");
    return text_of(names);
  }

  int64_t slot_;
  const ListedRegion* region_ = nullptr;
  int64_t start_ = 0, epilogue_ = kNever, pops_ = 0, next_ = 32, spill_base_ = 16;
  std::string spills_, return_branch_ = "b0";
  Saves saves_;
  std::vector<Saves> stack_;
  std::map<std::string, std::pair<Saves, std::vector<Saves>>> labels_;
};

// ---- From tables that were read to tables that are written, and back

using unwind_testing::all_ranges;
using unwind_testing::sites_text;

/// An image with other tables, which lie after the image's own memory.
struct Rewritten {
  Rewritten(const Image& original, const RegionSections& tables, uint64_t address)
      : bytes(original.file.begin(), original.file.end()) {
    bytes.resize(align_up(bytes.size(), 16));
    const uint64_t offset = bytes.size();
    bytes.insert(bytes.end(), tables.information.begin(), tables.information.end());
    bytes.resize(offset + (tables.table_address - address));
    bytes.insert(bytes.end(), tables.table.begin(), tables.table.end());
    image.machine = original.machine;
    image.file = bytes;
    image.sections = original.sections;
    image.segments = original.segments;
    image.loader_entries = original.loader_entries;
    const uint64_t size = bytes.size() - offset;
    for (Segment& segment : image.segments)
      if (segment.unwind_table()) {
        segment.address = tables.table_address;
        segment.memory_size = tables.table.size();
      }
    image.segments.push_back({.kind = Segment::Kind::loaded,
                              .offset = offset,
                              .address = address,
                              .file_size = size,
                              .memory_size = size});
    Section section;
    section.name = "new";
    section.properties = Section::kAllocated;
    section.address = address;
    section.size = size;
    section.contents = std::span(bytes).subspan(offset);
    image.sections.push_back(section);
    image.index_sections();
  }
  std::vector<uint8_t> bytes;
  Image image;
};

inline uint64_t address_behind(const Image& image) {
  uint64_t end = 0;
  for (const Segment& segment : image.segments)
    if (segment.loaded()) end = std::max(end, segment.address + segment.memory_size);
  return align_up(end, 0x10000);
}

inline void expect_equal(const UnwindInput& a, const UnwindInput& b) {
  ASSERT_EQ(a.fdes.size(), b.fdes.size());
  for (size_t i = 0; i < a.fdes.size(); ++i) {
    const Fde &x = a.fdes[i], &y = b.fdes[i];
    ASSERT_EQ(x.start, y.start);
    ASSERT_EQ(x.end, y.end);
    ASSERT_EQ(x.rows.size(), y.rows.size()) << fmt::format("{:x}", x.start);
    for (size_t row = 0; row < x.rows.size(); ++row) {
      const CfiState& s = a.tables.states[x.rows[row].state];
      const CfiState& t = b.tables.states[y.rows[row].state];
      ASSERT_EQ(x.rows[row].address, y.rows[row].address) << fmt::format("{:x}", x.start);
      ASSERT_EQ(text_of(s), text_of(t)) << fmt::format("{:x}", x.rows[row].address);
      const Cie &c = a.tables.cies[s.cie], &d = b.tables.cies[t.cie];
      if (x.lsda != kNone) {
        ASSERT_EQ(c.augmentation, d.augmentation);
        ASSERT_EQ(c.personality, d.personality);
      }
    }
    ASSERT_EQ(x.lsda == kNone, y.lsda == kNone);
    ASSERT_EQ(sites_text(x), sites_text(y));
    if (x.lsda == kNone) continue;
    const Lsda &l = a.tables.lsdas[x.lsda], &m = b.tables.lsdas[y.lsda];
    const bool has_actions =
        std::any_of(x.call_sites.begin(), x.call_sites.end(),
                    [](const Fde::CallSite& site) { return site.action != 0; });
    if (has_actions) {
      ASSERT_EQ(l, m);
    }
  }
}

/// The slots of a procedure to compare: all slots of a short procedure; of a long procedure the
/// slots where our state changes, the slots before these, and some others.
inline std::set<int64_t> asked_slots(const Fde& fde) {
  constexpr int64_t kAll = 100, kStep = 37;
  const int64_t count = static_cast<int64_t>((fde.end - fde.start) / 16 * 3);
  std::set<int64_t> slots = {count - 1};
  for (int64_t slot = 0; slot < count; slot += count <= kAll ? 1 : kStep) slots.insert(slot);
  for (const Fde::Row& row : fde.rows) {
    const auto slot =
        static_cast<int64_t>(regions::slot_number(row.address) - regions::slot_number(fde.start));
    slots.insert(slot);
    if (slot != 0) slots.insert(slot - 1);
  }
  return slots;
}

/// Expects that the slots of each entry that was read are in the state that readelf's listing
/// gives; returns the number of these slots. The last FDEs are entries that were not read.
inline size_t expect_listed(const std::string& path, const UnwindInput& input) {
  const auto entries = parse_listing(output_of("ia64-linux-gnu-readelf -u '" + path + "'"));
  EXPECT_GE(entries.size(), input.fdes.size());
  if (entries.size() < input.fdes.size()) return 0;
  size_t slots = 0, different = 0;
  for (size_t i = 0; i < input.fdes.size(); ++i) {
    const Fde& fde = input.fdes[i];
    EXPECT_EQ(fde.start, entries[i].start);
    EXPECT_EQ(fde.end, entries[i].end);
    EXPECT_EQ(fde.lsda != kNone, entries[i].handlers);
    size_t row = 0;
    for (const int64_t slot : asked_slots(fde)) {
      const uint64_t address =
          regions::slot_address(regions::slot_number(fde.start) + static_cast<uint64_t>(slot));
      while (row + 1 < fde.rows.size() && fde.rows[row + 1].address <= address) ++row;
      const std::string ours = text_of(input.tables.states[fde.rows[row].state]);
      const std::string theirs = ListedState::at(entries[i], slot);
      EXPECT_EQ(ours, theirs) << fmt::format("{:x} slot {} of {:x}", address, slot, fde.start);
      ++slots;
      if (ours != theirs && ++different == 10) return slots;
    }
  }
  return slots;
}

}  // namespace respike::unwind_regions_testing
