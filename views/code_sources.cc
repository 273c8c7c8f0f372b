// Example: block 1 of `main` has two instructions of main.c:7 and one of list.h:40, which was
// inlined: the block's lines are "main.c:7, list.h:40", and it starts at main.c:7.

#include "views/code_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

namespace respike {
namespace {

/// Numbers the files of one procedure.
class Places {
 public:
  Places(const SourceLines& lines, CodeSources& sources) : lines_(lines), sources_(sources) {}

  SourcePlace at(uint64_t address) {
    const LineRange* range = address == CodeLine::kAdded ? nullptr : lines_.find(address);
    if (range == nullptr || range->line == 0) return {};
    const auto [known, is_new] =
        numbers_.emplace(range->file, static_cast<uint32_t>(sources_.files.size()));
    if (is_new) sources_.files.push_back(lines_.files()[range->file]);
    return {known->second, range->line};
  }

 private:
  const SourceLines& lines_;
  CodeSources& sources_;
  std::unordered_map<uint32_t, uint32_t> numbers_;
};

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

}  // namespace

SourcePlace CodeSources::of(BlockId block, size_t instruction) const {
  if (block >= places.size() || instruction >= places[block].size()) return {};
  return places[block][instruction];
}

SourcePlace CodeSources::of(BlockId block) const {
  if (block >= places.size()) return {};
  const auto first = std::ranges::find_if(places[block], &SourcePlace::known);
  return first == places[block].end() ? SourcePlace() : *first;
}

CodeSources sources_of(const CodeView& view, const SourceLines& lines) {
  CodeSources sources;
  Places places(lines, sources);
  for (const CodeBlock& block : view.blocks) {
    auto& of_block = sources.places.emplace_back();
    for (const CodeLine& line : block.lines) of_block.push_back(places.at(line.address));
  }
  return sources;
}

CodeSources sources_of(const CodeView& output, const CodeView& original, const SourceLines& lines) {
  CodeSources before = sources_of(original, lines), sources;
  for (const CodeBlock& block : output.blocks) {
    SourcePlace place;
    for (const BlockId id : block.originals)
      if (!place.known()) place = before.of(id);
    sources.places.emplace_back(block.lines.size(), place);
  }
  sources.files = std::move(before.files);
  return sources;
}

std::string place_text(const CodeSources& sources, const SourcePlace& place) {
  if (!place.known()) return {};
  return fmt::format("{}:{}", file_name(sources.files[place.file]), place.line);
}

std::string place_text(const SourceLines& lines, uint64_t address) {
  const LineRange* range = lines.find(address);
  if (range == nullptr || range->line == 0) return {};
  return fmt::format("{}:{}", file_name(lines.files()[range->file]), range->line);
}

std::string lines_text(const CodeSources& sources, BlockId block) {
  struct Span {
    uint32_t file, first, last;
  };
  std::vector<Span> spans;
  if (block >= sources.places.size()) return {};
  for (const SourcePlace& place : sources.places[block]) {
    if (!place.known()) continue;
    const auto known = std::ranges::find(spans, place.file, &Span::file);
    if (known == spans.end()) {
      spans.push_back({place.file, place.line, place.line});
    } else {
      known->first = std::min(known->first, place.line);
      known->last = std::max(known->last, place.line);
    }
  }
  constexpr size_t kMostFiles = 3;
  std::string text;
  for (size_t i = 0; i < std::min(spans.size(), kMostFiles); ++i) {
    const Span& span = spans[i];
    text +=
        fmt::format("{}{}:{}", i == 0 ? "" : ", ", file_name(sources.files[span.file]), span.first);
    if (span.last != span.first) text += fmt::format("-{}", span.last);
  }
  if (spans.size() > kMostFiles) text += ", ...";
  return text;
}

}  // namespace respike
