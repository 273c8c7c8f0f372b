#pragma once
// Damages images in ECOFF in the places that matter: the part of image_mutator.h for ECOFF.

#include <cstdint>
#include <span>
#include <vector>

#include "tests/fuzz/image_mutator.h"

namespace respike {

bool is_ecoff(std::span<const uint8_t> bytes);

/// Makes one change of an image for which is_ecoff().
void mutate_ecoff(std::vector<uint8_t>& bytes, FuzzRandom& random);

}  // namespace respike
