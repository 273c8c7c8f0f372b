#pragma once
// The check of an instrumented image: it does what its input does, and counts.

#include <optional>
#include <string>

#include "instrument/code_facts.h"
#include "optimizer/base/diagnostics.h"
#include "optimizer/base/steps.h"
#include "optimizer/check/same_program.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/program.h"

namespace respike {

/// Compares an instrumented image with the lifted input, of which `facts` are. Lifts the image; its
/// probes are found and judged anew (output_probes.h), and so is its start code. Returns the first
/// fault in one sentence, or nullopt. Throws Error when a part of the image that only instrumented
/// images have cannot be read.
std::optional<std::string> find_counting_fault(const Program& before, const CodeFacts& facts,
                                               const Image& counting,
                                               CompareCounts* counts = nullptr);

/// The same of two images: lifts both. Rules of loaders and unwinders that `counting` alone breaks
/// are faults, too.
std::optional<std::string> verify_counting_image(const Image& before, const Image& counting,
                                                 Diagnostics& diagnostics,
                                                 CompareCounts* counts = nullptr,
                                                 const Progress& progress = {});

}  // namespace respike
