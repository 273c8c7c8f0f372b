// A row of a line table gives the line of all instructions up to the next row (source_lines.h).
// Each executed block adds its count to the lines of its instructions.
//
// Example: the loop "for (...) sum += a[i];" on one line has a block that ran 4 times and a block
// that ran 1,000 times: the line's count is 1,000.

#include "views/source_counts.h"

#include <fmt/format.h>

#include <algorithm>

#include "optimizer/base/saturating.h"
#include "optimizer/debug/debug_file.h"
#include "optimizer/lift/lift.h"
#include "views/profile_figures.h"

namespace respike {

std::vector<SourceFile> counts_by_source(const Image& image, const Profile& profile,
                                         const std::vector<std::string>& procedures,
                                         const std::string& profile_path, const Image* debug) {
  const SourceLines lines(debug != nullptr ? *debug : image);
  if (lines.empty()) {
    const bool is_apart =
        debug == nullptr &&
        std::ranges::any_of(image.sections, [](const Section& s) { return s.name == kDebugLink; });
    if (is_apart)
      throw Error("the image's line tables are in a file of their own: name it with --debug-file",
                  image.path);
    throw Error("the image has no line tables: compile with -g",
                debug != nullptr ? debug->path : image.path);
  }
  Diagnostics ignored;
  return counts_by_source(lines, lift(image, ignored), profile, procedures, profile_path);
}

std::vector<SourceFile> counts_by_source(const SourceLines& lines, const Program& program,
                                         const Profile& profile,
                                         const std::vector<std::string>& procedures,
                                         const std::string& profile_path) {
  const auto nameless = static_cast<uint32_t>(lines.files().size());
  std::vector<SourceFile> files(nameless + 1);
  for (size_t i = 0; i < lines.files().size(); ++i) files[i].path = lines.files()[i];
  const auto count = [&](uint32_t file, uint32_t line, uint64_t times, uint64_t start,
                         uint64_t end) {
    const uint64_t executed =
        saturating_multiply(times, program.map.index(end) - program.map.index(start));
    SourceLine& counted = files[file].lines[line];
    counted.count = std::max(counted.count, times);
    counted.instructions = saturating_add(counted.instructions, executed);
    files[file].instructions = saturating_add(files[file].instructions, executed);
  };
  const auto& ranges = lines.ranges();
  for (const ProcedureProfile* procedure : hottest_first(profile, procedures, profile_path))
    for (const auto& block : procedure->blocks) {
      const uint64_t end = block.address + block.size;
      if (block.size == 0) continue;
      const uint32_t code = range_at(program, block.address);
      if (code == kNone || end < block.address || end > program.ranges[code].end)
        throw Error(fmt::format("its block at {:#x} is no code of the image", block.address),
                    profile_path);
      auto range = std::ranges::upper_bound(ranges, block.address, {}, &LineRange::start);
      if (range != ranges.begin()) --range;
      uint64_t at = block.address;
      for (; at < end && range != ranges.end() && range->start < end; ++range) {
        if (range->end <= at) continue;
        if (range->start > at) count(nameless, 0, block.count, at, range->start);
        const uint64_t from = std::max(at, range->start);
        at = std::min(end, range->end);
        count(range->file, range->line, block.count, from, at);
      }
      if (at < end) count(nameless, 0, block.count, at, end);
    }
  std::erase_if(files, [](const SourceFile& file) { return file.lines.empty(); });
  std::ranges::stable_sort(files, std::greater<>(), &SourceFile::instructions);
  return files;
}

}  // namespace respike
