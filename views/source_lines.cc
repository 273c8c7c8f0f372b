// Line tables are read by LLVM. A row of a table gives the line of all instructions up to the next
// row. Example: the rows "0x1040: main.c:3" and "0x1048: main.c:4" make the range [0x1040, 0x1048)
// of line 3.
//
// Linkers that drop a procedure leave its rows in the table, mostly at address 0. Sequences of rows
// that start outside executable sections are left out: they would claim code of other procedures.

#include "views/source_lines.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/DebugInfo/DWARF/DWARFDebugLine.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

namespace respike {
namespace {

using FileKind = llvm::DILineInfoSpecifier::FileLineInfoKind;

class LineReader {
 public:
  LineReader(const Image& image, std::vector<LineRange>& ranges, std::vector<std::string>& files)
      : image_(image), ranges_(ranges), files_(files) {}

  void read() {
    llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> sections;
    std::vector<std::vector<uint8_t>> storage;
    for (const Section& section : image_.sections) {
      if (section.allocated() || !section.name.starts_with(".debug_")) continue;
      const auto contents = unpacked_contents(image_, section, storage.emplace_back());
      sections[section.name.substr(1)] = llvm::MemoryBuffer::getMemBufferCopy(
          {reinterpret_cast<const char*>(contents.data()), contents.size()});
    }
    const auto context = llvm::DWARFContext::create(
        sections, 8, /*isLittleEndian=*/true, [](llvm::Error error) { ignore(std::move(error)); },
        [](llvm::Error error) { ignore(std::move(error)); });
    for (const auto& unit : context->compile_units())
      if (const auto* table = context->getLineTableForUnit(unit.get()))
        add(*table, unit->getCompilationDir());
    std::ranges::stable_sort(ranges_, {}, &LineRange::start);
  }

 private:
  static void ignore(llvm::Error error) { llvm::consumeError(std::move(error)); }

  bool is_code(uint64_t address) const {
    return std::ranges::any_of(image_.sections, [&](const Section& section) {
      return section.allocated() && section.executable() && section.contains(address);
    });
  }

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
    bool starts = true, kept = false;
    for (size_t i = 0; i + 1 < table.Rows.size(); ++i) {
      const auto& row = table.Rows[i];
      const auto& next = table.Rows[i + 1];
      if (std::exchange(starts, row.EndSequence)) kept = is_code(row.Address.Address);
      if (!kept || row.EndSequence || next.Address.Address <= row.Address.Address) continue;
      ranges_.push_back({row.Address.Address, next.Address.Address, file_of(row.File), row.Line});
    }
  }

  uint32_t number_of(const std::string& path) {
    const auto [known, is_new] = paths_.emplace(path, static_cast<uint32_t>(files_.size()));
    if (is_new) files_.push_back(path);
    return known->second;
  }

  const Image& image_;
  std::vector<LineRange>& ranges_;
  std::vector<std::string>& files_;
  std::unordered_map<std::string, uint32_t> paths_;
};

}  // namespace

SourceLines::SourceLines(const Image& image) {
  LineReader(image, ranges_, files_).read();
}

const LineRange* SourceLines::find(uint64_t address) const {
  const auto behind = std::ranges::upper_bound(ranges_, address, {}, &LineRange::start);
  if (behind == ranges_.begin()) return nullptr;
  const LineRange& range = *(behind - 1);
  return address < range.end ? &range : nullptr;
}

}  // namespace respike
