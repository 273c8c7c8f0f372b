// Line tables are read by LLVM. A row of a table is the line of all instructions up to the next
// row; each executed block gives its count to the lines of its instructions.
//
// Example: a loop "for (...) sum += a[i];" of one line has a block that ran 4 times and a block that
// ran 1,000 times: the line's count is 1,000.

#include "environment/source_counts.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/DebugInfo/DWARF/DWARFDebugLine.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>
#include <unordered_map>

#include "environment/profile_figures.h"
#include "optimizer/base/saturating.h"
#include "optimizer/lift/lift.h"

namespace respike {
namespace {

using FileKind = llvm::DILineInfoSpecifier::FileLineInfoKind;

/// Code of one line, up to the next row.
struct LineRange {
  uint64_t start = 0, end = 0;
  uint32_t file = 0, line = 0;  // index of the files
};

class LineReader {
 public:
  LineReader(const Image& image) {
    llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> sections;
    std::vector<std::vector<uint8_t>> storage;
    for (const Section& section : image.sections) {
      if (section.allocated() || !section.name.starts_with(".debug_")) continue;
      const auto contents = unpacked_contents(image, section, storage.emplace_back());
      sections[section.name.substr(1)] = llvm::MemoryBuffer::getMemBufferCopy(
          {reinterpret_cast<const char*>(contents.data()), contents.size()});
    }
    const auto context = llvm::DWARFContext::create(
        sections, 8, /*isLittleEndian=*/true, [](llvm::Error error) { ignore(std::move(error)); },
        [](llvm::Error error) { ignore(std::move(error)); });
    for (const auto& unit : context->compile_units())
      if (const auto* table = context->getLineTableForUnit(unit.get()))
        add(*table, unit->getCompilationDir());
    std::ranges::sort(ranges_, {}, &LineRange::start);
  }

  const std::vector<LineRange>& ranges() const { return ranges_; }
  const std::vector<std::string>& files() const { return files_; }

 private:
  static void ignore(llvm::Error error) { llvm::consumeError(std::move(error)); }

  void add(const llvm::DWARFDebugLine::LineTable& table, const char* folder) {
    std::unordered_map<uint64_t, uint32_t> numbers;
    const auto file_of = [&](uint64_t number) {
      const auto [known, is_new] = numbers.emplace(number, 0);
      if (is_new) {
        std::string path;
        table.getFileNameByIndex(number, folder == nullptr ? "" : folder,
                                 FileKind::AbsoluteFilePath, path);
        known->second = number_of(path);
      }
      return known->second;
    };
    for (size_t i = 0; i + 1 < table.Rows.size(); ++i) {
      const auto& row = table.Rows[i];
      const auto& next = table.Rows[i + 1];
      if (row.EndSequence || next.Address.Address <= row.Address.Address) continue;
      ranges_.push_back(
          {row.Address.Address, next.Address.Address, file_of(row.File), row.Line});
    }
  }

  uint32_t number_of(const std::string& path) {
    const auto [known, is_new] = paths_.emplace(path, static_cast<uint32_t>(files_.size()));
    if (is_new) files_.push_back(path);
    return known->second;
  }

  std::vector<LineRange> ranges_;
  std::vector<std::string> files_;
  std::unordered_map<std::string, uint32_t> paths_;
};

}  // namespace

std::vector<SourceFile> counts_by_source(const Image& image, const Profile& profile,
                                         const std::vector<std::string>& procedures,
                                         const std::string& profile_path) {
  const LineReader reader(image);
  if (reader.ranges().empty())
    throw Error("the image has no line tables: compile with -g", image.path);
  Diagnostics ignored;
  const Program program = lift(image, ignored);
  std::vector<SourceFile> files(reader.files().size() + 1);
  for (size_t i = 0; i < reader.files().size(); ++i) files[i].path = reader.files()[i];
  const auto count = [&](uint32_t file, uint32_t line, uint64_t times, uint64_t start,
                         uint64_t end) {
    const uint64_t executed =
        saturating_multiply(times, program.map.index(end) - program.map.index(start));
    SourceLine& counted = files[file].lines[line];
    counted.count = std::max(counted.count, times);
    counted.instructions = saturating_add(counted.instructions, executed);
    files[file].instructions = saturating_add(files[file].instructions, executed);
  };
  const auto& ranges = reader.ranges();
  for (const ProcedureProfile* procedure : hottest_first(profile, procedures, profile_path))
    for (const auto& block : procedure->blocks) {
      const uint64_t end = block.address + block.size;
      auto range = std::ranges::upper_bound(ranges, block.address, {}, &LineRange::start);
      if (range != ranges.begin()) --range;
      uint64_t at = block.address;
      for (; at < end && range != ranges.end() && range->start < end; ++range) {
        if (range->end <= at) continue;
        if (range->start > at)
          count(static_cast<uint32_t>(reader.files().size()), 0, block.count, at, range->start);
        const uint64_t from = std::max(at, range->start);
        at = std::min(end, range->end);
        count(range->file, range->line, block.count, from, at);
      }
      if (at < end)
        count(static_cast<uint32_t>(reader.files().size()), 0, block.count, at, end);
    }
  std::erase_if(files, [](const SourceFile& file) { return file.lines.empty(); });
  std::ranges::stable_sort(files, std::greater<>(), &SourceFile::instructions);
  return files;
}

}  // namespace respike
