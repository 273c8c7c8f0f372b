#pragma once
// What is checked about files before work on them begins.

#include <string>
#include <vector>

#include "optimizer/image/image.h"

namespace respike {

/// Throws Error when the file `written` is one of `others`, which are read or written, too. Empty
/// names are no files.
void refuse_overwriting(const std::string& written, const std::vector<std::string>& others);

/// Throws Error when the image is for a machine that cannot be rewritten. Called before other
/// checks, so that nobody gets advice on how to link an image for such a machine.
void require_machine(const Image& image);

}  // namespace respike
