#pragma once
// From an image to the IR.

#include "optimizer/base/diagnostics.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/program.h"

namespace respike {

/// Lifts every procedure of `image`, which must outlive the result. A procedure that is not
/// understood becomes opaque, with a reason. Throws Error only for a damaged file.
Program lift(const Image& image, Diagnostics& diagnostics);
/// The same for a machine that machines.h does not know.
Program lift(const Image& image, const Machine& machine, Diagnostics& diagnostics);

}  // namespace respike
