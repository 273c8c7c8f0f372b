// The sections of an image that belong to .eh_frame, and the places of their new contents:
// .eh_frame first, then the LSDAs, the header last. An image that lacks .eh_frame or the header
// does not get it. Where an LSDA is not understood, the section that holds it stays as it is, and
// the new LSDAs get a section of their own.
//
// Unwinders look up the address before a return address, which belongs to the call, so nothing has
// to follow a call.

#include "optimizer/unwind/eh_frame/eh_frame.h"

#include <algorithm>

#include "optimizer/unwind/eh_frame/frame_reader.h"
#include "optimizer/unwind/eh_frame/frame_writer.h"

namespace respike {
namespace {

constexpr std::string_view kFrames = ".eh_frame";
constexpr std::string_view kHeader = ".eh_frame_hdr";
constexpr std::string_view kExceptionTables = ".gcc_except_table";
constexpr std::string_view kAddedExceptionTables = ".gcc_except_table.respike";

bool is_used_by(const Image& image) {
  return image.section_named(kFrames) != nullptr;
}

bool owns_section(std::string_view name) {
  return name == kFrames || name == kHeader || name == kExceptionTables ||
         name == kAddedExceptionTables;
}

/// The section whose contents the new LSDAs replace, or nullptr.
const Section* replaced_exception_tables(const UnwindRequest& request) {
  for (const std::string_view name : {kExceptionTables, kAddedExceptionTables}) {
    const Section* section = request.image.section_named(name);
    if (section != nullptr && std::ranges::none_of(request.ranges, [&](const UnwindRange& range) {
          return range.kept_lsda != 0 && section->contains(range.kept_lsda);
        }))
      return section;
  }
  return nullptr;
}

std::vector<NewUnwindTable> write(const UnwindRequest& request) {
  if (request.tables.cies.empty()) return {};
  const Section* frames = request.image.section_named(kFrames);
  const Section* header = request.image.section_named(kHeader);
  FrameSections written =
      write_frames(request.tables, request.ranges, request.address, header != nullptr);
  std::vector<NewUnwindTable> tables;
  tables.push_back(
      {frames, request.address, std::move(written.eh_frame), std::move(written.eh_frame_fixups)});
  if (!written.lsda.empty())
    tables.push_back({replaced_exception_tables(request), written.lsda_address,
                      std::move(written.lsda), std::move(written.lsda_fixups),
                      std::string(kAddedExceptionTables)});
  if (header != nullptr)
    tables.push_back({header, written.header_address, std::move(written.header), {}});
  return tables;
}

}  // namespace

constinit const UnwindFormat kEhFrameFormat = {
    .is_used_by = is_used_by,
    .owns_section = owns_section,
    .read = read_frames,
    .write = write,
    .return_regions = nullptr,
    .contradiction = search_table_fault,
    .rules = eh_frame_rules,
};

}  // namespace respike
