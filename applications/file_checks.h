#pragma once
// Checks of files before work on them begins.

#include <string>
#include <vector>

#include "optimizer/image/image.h"

namespace respike {

/// Throws Error when the file `written` is one of `others`, which are also read or written. Empty
/// names are no files.
void refuse_overwriting(const std::string& written, const std::vector<std::string>& others);

/// Throws Error when the image is for a machine that cannot be rewritten. Called before other
/// checks, so that there is no advice on how to link an image for such a machine.
void require_machine(const Image& image);

}  // namespace respike
