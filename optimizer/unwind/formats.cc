// The list of formats, and questions that the format of an image answers.
//
// The image shows which format it uses; its machine does not. Itanium's conventions have a program
// header for their table; without that header, .eh_frame counts, if it exists. A new format gets a
// folder of its own and a place in kFormats. Example: images for Windows NT with a section .pdata
// have a function table.

#include <algorithm>

#include "optimizer/unwind/eh_frame/eh_frame.h"
#include "optimizer/unwind/ia64/regions.h"
#include "optimizer/unwind/pdata/pdata.h"
#include "optimizer/unwind/unwind.h"

namespace respike {
namespace {

constexpr const UnwindFormat* kFormats[] = {&kRegionsFormat, &kEhFrameFormat,
                                            &kFunctionTableFormat};

}  // namespace

std::span<const UnwindFormat* const> unwind_formats() {
  return kFormats;
}

const UnwindFormat* unwind_format_of(const Image& image) {
  for (const UnwindFormat* format : kFormats)
    if (format->is_used_by(image)) return format;
  return nullptr;
}

bool is_unwind_section(std::string_view name) {
  return std::ranges::any_of(kFormats,
                             [&](const UnwindFormat* each) { return each->owns_section(name); });
}

UnwindInput read_unwind(const Image& image, AddressRanges* unreadable) {
  if (unreadable != nullptr) unreadable->clear();
  const UnwindFormat* format = unwind_format_of(image);
  return format != nullptr ? format->read(image, unreadable) : UnwindInput{};
}

bool looks_up_return_addresses(const Image& image) {
  const UnwindFormat* format = unwind_format_of(image);
  return format != nullptr && format->return_regions != nullptr;
}

ReturnRegions::ReturnRegions(const Image& image) {
  if (!looks_up_return_addresses(image)) return;
  try {
    regions_ = unwind_format_of(image)->return_regions(image);
  } catch (const Error&) {
    return;  // lifting reports it
  }
  std::ranges::sort(regions_, {}, &AddressRanges::value_type::first);
}

std::optional<uint64_t> ReturnRegions::start_of(uint64_t address) const {
  const auto next =
      std::ranges::upper_bound(regions_, address, {}, &AddressRanges::value_type::first);
  if (next == regions_.begin() || address >= (next - 1)->second) return std::nullopt;
  return (next - 1)->first;
}

}  // namespace respike
