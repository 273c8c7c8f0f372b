#pragma once
// The source lines of the code of a procedure.

#include <cstdint>
#include <string>
#include <vector>

#include "views/code_view.h"
#include "views/source_lines.h"

namespace respike {

/// A line of a file; line 0: none.
struct SourcePlace {
  uint32_t file = 0;  // index of CodeSources::files
  uint32_t line = 0;

  bool known() const { return line != 0; }
  bool operator==(const SourcePlace&) const = default;
};

struct CodeSources {
  std::vector<std::string> files;                // paths as in SourceLines
  std::vector<std::vector<SourcePlace>> places;  // by block, by line of the block's code

  bool empty() const { return files.empty(); }
  /// The place of an instruction; without a line when there is no such instruction.
  SourcePlace of(BlockId block, size_t instruction) const;
  /// The place of the first instruction of the block that has a line.
  SourcePlace of(BlockId block) const;
};

/// `lines` belong to the image whose addresses `view` shows: the original, or an output whose debug
/// information was updated with the code.
CodeSources sources_of(const CodeView& view, const SourceLines& lines);

/// For an output without line tables: by the original blocks that its blocks run. All code of a
/// block gets the line with which the original block begins.
CodeSources sources_of(const CodeView& output, const CodeView& original, const SourceLines& lines);

/// "main.c:12"; empty: no line.
std::string place_text(const CodeSources& sources, const SourcePlace& place);
/// The same for an address of an image.
std::string place_text(const SourceLines& lines, uint64_t address);
/// "main.c:12-15, list.h:40": all lines of a block. Of more than three files, only the first three.
std::string lines_text(const CodeSources& sources, BlockId block);

}  // namespace respike
