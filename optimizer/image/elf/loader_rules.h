#pragma once
// What the kernel and the dynamic linker assume of an ELF image.

#include <span>

#include "optimizer/image/image_rules.h"

namespace respike::elf {

std::span<const ImageRule> loader_rules();

}  // namespace respike::elf
