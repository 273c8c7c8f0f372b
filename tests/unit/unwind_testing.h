#pragma once
// Helpers for the tests of unwind tables: text forms, images made of a few sections, and the way
// from FDEs back to the ranges that they describe.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "optimizer/base/bytes.h"
#include "optimizer/ir/program.h"
#include "optimizer/unwind/eh_frame/frame_writer.h"
#include "optimizer/unwind/unwind.h"

namespace respike::unwind_testing {

using Bytes = std::vector<uint8_t>;
using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;

// ---- Text forms, to compare with

inline std::string rule_text(const CfiRule& rule) {
  switch (rule.kind) {
    case CfiRule::Kind::undefined:
      return "u";
    case CfiRule::Kind::same_value:
      return "s";
    case CfiRule::Kind::offset:
      return fmt::format("c{:+}", rule.value);
    case CfiRule::Kind::val_offset:
      return fmt::format("v{:+}", rule.value);
    case CfiRule::Kind::in_register:
      return fmt::format("r{}", rule.value);
    case CfiRule::Kind::expression:
      return "exp" + std::string(rule.expression.begin(), rule.expression.end());
    case CfiRule::Kind::val_expression:
      return "vexp" + std::string(rule.expression.begin(), rule.expression.end());
  }
  return "?";
}

inline std::string cfa_text(const CfiState& state) {
  if (state.cfa_is_expression)
    return "exp" + std::string(state.cfa_expression.begin(), state.cfa_expression.end());
  return fmt::format("r{}{:+}", state.cfa_register, state.cfa_offset);
}

inline std::string state_text(const CfiState& state) {
  std::string text = cfa_text(state);
  for (const auto& [number, rule] : state.rules)
    text += fmt::format(" r{}={}", number, rule_text(rule));
  if (state.args_size != 0) text += fmt::format(" args={}", state.args_size);
  return text;
}

inline std::string cie_text(const Cie& cie) {
  return fmt::format("{} {} {} {} {} {:x} {:x} {:x} {:x} {} {:x}", cie.augmentation, cie.version,
                     cie.code_alignment, cie.data_alignment, cie.return_register,
                     cie.address_encoding, cie.lsda_encoding, cie.personality_encoding,
                     cie.personality, cie.signal_frame, fmt::join(cie.initial_instructions, ","));
}

/// Call-site records with the meaning of `fde`'s: neighbours with equal landing pads and actions
/// are joined.
inline std::string sites_text(const Fde& fde) {
  std::string text;
  for (size_t i = 0; i < fde.call_sites.size(); ++i) {
    const Fde::CallSite& site = fde.call_sites[i];
    uint64_t end = site.end;
    while (i + 1 < fde.call_sites.size() && fde.call_sites[i + 1].start == end &&
           fde.call_sites[i + 1].landing_pad == site.landing_pad &&
           fde.call_sites[i + 1].action == site.action)
      end = fde.call_sites[++i].end;
    text += fmt::format("[{:x},{:x})->{:x}/{} ", site.start, end, site.landing_pad, site.action);
  }
  return text;
}

// ---- Images without a file

/// Sections at fixed addresses, whose contents may be anything.
struct TestImage {
  static inline constexpr uint64_t kText = 0x120000000, kFrame = 0x128000000, kExcept = 0x129000000;
  Bytes text = Bytes(0x10000), frame, except;

  Image image() const {
    Image result;
    result.sections.emplace_back();
    add(result, ".text", kText, text, Section::kAllocated | Section::kExecutable);
    add(result, ".eh_frame", kFrame, frame);
    add(result, ".gcc_except_table", kExcept, except);
    result.index_sections();
    return result;
  }

  static void add(Image& image, const char* name, uint64_t address,
                  std::span<const uint8_t> contents, uint8_t properties = Section::kAllocated) {
    Section section;
    section.name = name;
    section.properties = properties;
    section.address = address;
    section.size = contents.size();
    section.contents = contents;
    image.sections.push_back(section);
  }
};

/// The image with other unwind tables.
inline Image with_tables(const Image& image, const FrameSections& tables, uint64_t address) {
  Image result;
  for (const Section& section : image.sections)
    if (section.name != ".eh_frame" && section.name != ".gcc_except_table" &&
        section.name != ".eh_frame_hdr")
      result.sections.push_back(section);
  TestImage::add(result, ".eh_frame", address, tables.eh_frame);
  TestImage::add(result, ".gcc_except_table", tables.lsda_address, tables.lsda);
  result.index_sections();
  return result;
}

/// An address where new sections can be.
inline uint64_t address_behind(const Image& image) {
  uint64_t address = 0;
  for (const Section& section : image.sections)
    address = std::max(address, section.address + section.size);
  return align_up(address, 0x10000);
}

/// Appends entries of .eh_frame.
struct FrameBuilder {
  ByteWriter out;

  size_t entry(uint32_t id, const Bytes& body) {
    const size_t offset = out.size();
    out.write<uint32_t>(4 + body.size());
    out.write<uint32_t>(id);
    out.append(body);
    return offset;
  }
  /// Code alignment 4, data alignment -8, return register 26.
  size_t cie(const std::string& augmentation, const Bytes& data, const Bytes& program) {
    ByteWriter body;
    body.write<uint8_t>(1);
    body.c_string(augmentation);
    body.append(Bytes{4, 0x78, 26});
    if (!augmentation.empty()) body.uleb128(data.size());
    body.append(data);
    body.append(program);
    return entry(0, body.bytes());
  }
  /// Appends an FDE with 32-bit pc-relative addresses. It has an LSDA pointer, maybe null, unless
  /// `lsda` is kNone.
  size_t fde(size_t cie, uint64_t start, uint32_t size, const Bytes& program,
             uint64_t lsda = kNone) {
    ByteWriter body;
    body.write<uint32_t>(start - (TestImage::kFrame + out.size() + 8));
    body.write<uint32_t>(size);
    body.uleb128(lsda == kNone ? 0 : 4);
    if (lsda == 0) body.write<uint32_t>(0);
    if (lsda != 0 && lsda != kNone)
      body.write<uint32_t>(lsda - (TestImage::kFrame + out.size() + 17));
    body.append(program);
    return entry(out.size() + 4 - cie, body.bytes());
  }
};

inline constexpr uint64_t kText = TestImage::kText;

// ---- From tables that were read to tables that are written

/// Appends the ranges of an FDE in its place; `owner` distinguishes FDEs.
inline void append_ranges(const Fde& fde, uint32_t owner, std::vector<UnwindRange>& ranges) {
  size_t row = 0, site = 0;
  for (uint64_t start = fde.start; start < fde.end;) {
    while (row + 1 < fde.rows.size() && fde.rows[row + 1].address <= start) ++row;
    while (site < fde.call_sites.size() && fde.call_sites[site].end <= start) ++site;
    UnwindRange range;
    range.start = start;
    range.end = row + 1 < fde.rows.size() ? fde.rows[row + 1].address : fde.end;
    range.owner = owner;
    range.state = fde.rows[row].state;
    range.lsda = fde.lsda;
    if (fde.lsda != kNone) {
      const bool covered = site < fde.call_sites.size() && fde.call_sites[site].start <= start;
      range.terminate = !covered;
      if (covered) {
        range.landing_pad = fde.call_sites[site].landing_pad;
        range.action = fde.call_sites[site].action;
        range.end = std::min(range.end, fde.call_sites[site].end);
      } else if (site < fde.call_sites.size()) {
        range.end = std::min(range.end, fde.call_sites[site].start);
      }
    }
    start = range.end;
    ranges.push_back(range);
  }
}

inline std::vector<UnwindRange> all_ranges(const UnwindInput& input) {
  std::vector<UnwindRange> ranges;
  for (uint32_t i = 0; i < input.fdes.size(); ++i) append_ranges(input.fdes[i], i, ranges);
  return ranges;
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
      ASSERT_EQ(x.rows[row].address, y.rows[row].address);
      ASSERT_EQ(state_text(s), state_text(t)) << fmt::format("{:x}", x.rows[row].address);
      ASSERT_EQ(cie_text(a.tables.cies[s.cie]), cie_text(b.tables.cies[t.cie]));
    }
    ASSERT_EQ(x.lsda == kNone, y.lsda == kNone);
    ASSERT_EQ(sites_text(x), sites_text(y));
    if (x.lsda != kNone) {
      ASSERT_EQ(a.tables.lsdas[x.lsda], b.tables.lsdas[y.lsda]);
    }
  }
}

}  // namespace respike::unwind_testing
