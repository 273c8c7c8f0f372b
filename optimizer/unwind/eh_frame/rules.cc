// What libgcc's unwinders assume of .eh_frame and its search table (GCC 12).
//
// Unwinders look for the description of a return address by binary search, or walk a list up to its
// end; neither way checks its result. Example: a search table that is not sorted hides half of its
// entries, and an exception that passes through these frames ends the program.

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/unwind/eh_frame/eh_frame.h"
#include "optimizer/unwind/eh_frame/frame_reader.h"
#include "optimizer/unwind/lsda/pointer_encoding.h"

namespace respike {
namespace {

using Violation = std::optional<std::string>;

constexpr const char* kFrames = ".eh_frame";
constexpr const char* kFrameHeader = ".eh_frame_hdr";
constexpr uint8_t kPcRelative32 = eh_pe::kPcRelative | eh_pe::kSdata4;
constexpr uint8_t kHeaderRelative32 = eh_pe::kDataRelative | eh_pe::kSdata4;
/// The first bytes of a header with a search table: version 1, the address of .eh_frame, a count, a
/// table relative to the header.
constexpr std::array<uint8_t, 4> kForm = {1, kPcRelative32, eh_pe::kUdata4, kHeaderRelative32};

/// libgcc unwind-dw2-fde.c (linear_search_fdes, init_object): a list of frames that start-up code
/// registers (crtstuff.c, frame_dummy, in static images) ends with a zero word.
Violation frames_are_terminated(const Image& image) {
  const Section* frames = image.section_named(kFrames);
  if (frames == nullptr || frames->contents.empty()) return std::nullopt;
  const auto bytes = frames->contents;
  for (size_t at = 0; at + 4 <= bytes.size();) {
    const uint64_t length = load<uint32_t>(&bytes[at]);
    if (length == 0) return std::nullopt;
    at += 4 + length;
  }
  return "the list of frames in .eh_frame does not end with a zero word";
}

/// libgcc unwind-dw2-fde-dip.c, _Unwind_IteratePhdrCallback: a table of pairs of 32 bits, relative
/// to the header and aligned, is searched by bisection.
Violation frame_table_is_sorted(const Image& image) {
  const Section* header = image.section_named(kFrameHeader);
  if (header == nullptr) return std::nullopt;
  const auto bytes = header->contents;
  if (bytes.size() < 12 || !std::equal(kForm.begin(), kForm.end(), bytes.begin()))
    return "the header of .eh_frame has no table that unwinders can search";
  if (header->address % 4 != 0) return "the header of .eh_frame is not aligned";
  const uint64_t count = load<uint32_t>(&bytes[8]);
  if (count > (bytes.size() - 12) / 8) return "the table of .eh_frame_hdr is too short";
  for (uint64_t i = 1; i < count; ++i)
    if (load<int32_t>(&bytes[12 + 8 * i]) <= load<int32_t>(&bytes[4 + 8 * i]))
      return fmt::format("entry {} of the table in .eh_frame_hdr is out of order", i);
  return std::nullopt;
}

/// libgcc unwind-dw2.c, execute_cfa_program: DW_CFA_restore forgets a register, and does not bring
/// back its rule in the CIE.
Violation cie_rules_are_not_restored(const Image& image) {
  if (!restores_cie_rules(image)) return std::nullopt;
  return "a frame in .eh_frame restores a rule of its CIE, which libgcc forgets instead";
}

constexpr ImageRule kRules[] = {
    {"frames_are_terminated", frames_are_terminated},
    {"frame_table_is_sorted", frame_table_is_sorted},
    {"cie_rules_are_not_restored", cie_rules_are_not_restored},
};

/// The FDEs of an .eh_frame section whose addresses are 32 bits, relative to their place: for each
/// the address at which its code starts and the address of the FDE. Nullopt when the section is not
/// that simple.
std::optional<std::vector<std::pair<uint64_t, uint64_t>>> fdes_of(const Section& section) {
  std::vector<std::pair<uint64_t, uint64_t>> fdes;
  const auto bytes = section.contents;
  for (size_t at = 0; at + 4 <= bytes.size();) {
    const auto length = load<uint32_t>(&bytes[at]);
    if (length == 0) break;
    if (length < 8 || length > bytes.size() - at - 4) return std::nullopt;
    const uint64_t address = section.address + at;
    if (load<uint32_t>(&bytes[at + 4]) != 0)
      fdes.emplace_back(address + 8 + static_cast<uint64_t>(int64_t{load<int32_t>(&bytes[at + 8])}),
                        address);
    at += 4 + size_t{length};
  }
  std::sort(fdes.begin(), fdes.end());
  return fdes;
}

}  // namespace

std::span<const ImageRule> eh_frame_rules() {
  return kRules;
}

/// The search table of .eh_frame_hdr has to list exactly the FDEs of .eh_frame: unwinders trust it.
std::optional<std::string> search_table_fault(const Image& before, const Image& after,
                                              const UnwindTables& tables) {
  const Section* header = after.section_named(kFrameHeader);
  const Section* frames = after.section_named(kFrames);
  if (header == nullptr || frames == nullptr) {
    if (before.section_named(kFrameHeader) == nullptr) return std::nullopt;
    return "the section .eh_frame_hdr is missing";
  }
  const auto fdes = fdes_of(*frames);
  const bool simple = std::ranges::all_of(
      tables.cies, [](const Cie& cie) { return cie.address_encoding == kPcRelative32; });
  if (!fdes || !simple) return std::nullopt;
  const auto bytes = header->contents;
  const auto word = [&](size_t at) {
    return static_cast<uint64_t>(int64_t{load<int32_t>(&bytes[at])});
  };
  if (bytes.size() != 12 + 8 * fdes->size() ||
      !std::equal(kForm.begin(), kForm.end(), bytes.begin()) ||
      header->address + 4 + word(4) != frames->address || word(8) != fdes->size())
    return ".eh_frame_hdr does not describe .eh_frame";
  for (size_t i = 0; i < fdes->size(); ++i)
    if (header->address + word(12 + 8 * i) != (*fdes)[i].first ||
        header->address + word(16 + 8 * i) != (*fdes)[i].second)
      return fmt::format("the search table of .eh_frame_hdr does not list the FDE of {:#x}",
                         (*fdes)[i].first);
  return std::nullopt;
}

}  // namespace respike
