#pragma once
// What tells the optimized versions of an application apart.

#include <string>
#include <vector>

#include "tas/private_mounts.h"

namespace respike {

/// As FaultRow::images.
std::string images_text(const std::vector<Substitution>& optimized);
std::string images_text(std::vector<std::string> content_hashes);
/// The same in a word of constant length, for start tables.
std::string images_word(const std::string& images);

}  // namespace respike
