#pragma once
// Damages images of Windows NT in the places that matter: the part of image_mutator.h for PE.

#include <cstdint>
#include <span>
#include <vector>

#include "tests/fuzz/image_mutator.h"

namespace respike {

bool is_pe(std::span<const uint8_t> bytes);

/// Makes one change of an image for which is_pe().
void mutate_pe(std::vector<uint8_t>& bytes, FuzzRandom& random);

}  // namespace respike
