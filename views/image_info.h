#pragma once
// What an image holds, and which parts of it are left alone.

#include <optional>
#include <string>

#include "optimizer/image/pe/linkage.h"
#include "optimizer/ir/program.h"
#include "optimizer/report/summary.h"

namespace respike {

struct ImageInfo {
  std::string format;    // "ELF64"
  std::string kind;      // "shared library"
  std::string machine;   // "alpha"
  std::string build_id;  // lower-case hex; empty: the image has none
  ProgramSummary summary;
  std::optional<pe::Linkage> linkage;  // of a PE image
};

/// `program` is a lifted image.
ImageInfo describe_image(const Program& program);

}  // namespace respike
