#pragma once
// Where the events of a run happened: by image, and by procedure.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "measure/run.h"

namespace respike::measure {

/// The events of one image, or of one procedure of it.
struct Share {
  std::string image;      // path; empty: memory without a file
  std::string procedure;  // empty: the whole image
  Events events{};
  uint64_t cycles = 0;
};

/// The name of the procedure to which the code at an offset of an image belongs; never empty.
using NameOfCode = std::function<std::string(const std::string& image, uint64_t offset)>;

/// The parts of a measurement that has places, most cycles first. Their events and their cycles add
/// up to those of the measurement.
std::vector<Share> shares_by_image(const ModelInfo& model, const Measurement& measurement);
std::vector<Share> shares_by_procedure(const ModelInfo& model, const Measurement& measurement,
                                       const NameOfCode& name_of_code);

}  // namespace respike::measure
