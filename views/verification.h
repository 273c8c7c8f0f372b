#pragma once
// Proving that a rewritten image runs the same code as its original.

#include <filesystem>
#include <string>

#include "optimizer/base/diagnostics.h"
#include "optimizer/base/steps.h"

namespace respike {

/// Lifts both files and compares. Returns how much was compared: "812 of its 820 basic blocks were
/// compared". Throws Error with the first difference, or when less than half of the blocks could be
/// compared. `progress` may end the work by throwing an exception.
std::string verify_files(const std::filesystem::path& original,
                         const std::filesystem::path& rewritten, Diagnostics& diagnostics,
                         const Progress& progress = {});

}  // namespace respike
