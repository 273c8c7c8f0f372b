#pragma once
// Counts of a profile by source line, through the image's debug information.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "optimizer/image/image.h"
#include "optimizer/ir/program.h"
#include "optimizer/profile/profile.h"
#include "views/source_lines.h"

namespace respike {

struct SourceLine {
  uint64_t count = 0;         // count of the most frequent block with code of the line
  uint64_t instructions = 0;  // executed, at most 2^64 - 1
};

struct SourceFile {
  std::string path;  // as the compiler wrote it, made absolute by the compiler's folder
  std::map<uint32_t, SourceLine> lines;  // by line number; line 0: code without a line
  uint64_t instructions = 0;             // executed
};

/// The source files of the blocks of `profile`, a profile of `image`; the file that executed most
/// comes first. Code without a line is in a file without a name. `procedures`: names as in
/// hottest_first(); empty: all. `debug`: the image's debug file, if that file has the line tables.
/// Throws Error when there are no line tables.
std::vector<SourceFile> counts_by_source(const Image& image, const Profile& profile,
                                         const std::vector<std::string>& procedures,
                                         const std::string& profile_path,
                                         const Image* debug = nullptr);

/// The same for an image that was lifted, with its line tables, which may be empty.
std::vector<SourceFile> counts_by_source(const SourceLines& lines, const Program& program,
                                         const Profile& profile,
                                         const std::vector<std::string>& procedures,
                                         const std::string& profile_path);

}  // namespace respike
