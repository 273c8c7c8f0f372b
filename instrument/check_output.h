#pragma once
// The check of an instrumented image: it does what its input does, and it counts.

#include <optional>
#include <string>

#include "instrument/code_facts.h"
#include "optimizer/base/diagnostics.h"
#include "optimizer/base/steps.h"
#include "optimizer/check/same_program.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/program.h"

namespace respike {

/// Compares an instrumented image with the lifted input; `facts` are the input's. Lifts the image,
/// finds and judges its probes anew (output_probes.h), and checks its start code. Returns the first
/// fault as one sentence, or nullopt. Throws Error when a part that only instrumented images have
/// cannot be read.
std::optional<std::string> find_counting_fault(const Program& before, const CodeFacts& facts,
                                               const Image& counting,
                                               CompareCounts* counts = nullptr);

/// The same for two images: lifts both. Rules of loaders and unwinders that only `counting` breaks
/// are faults as well.
std::optional<std::string> verify_counting_image(const Image& before, const Image& counting,
                                                 Diagnostics& diagnostics,
                                                 CompareCounts* counts = nullptr,
                                                 const Progress& progress = {});

}  // namespace respike
