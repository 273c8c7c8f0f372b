#pragma once
// Identifies the optimized version of an application by its images.

#include <string>
#include <vector>

#include "tas/private_mounts.h"

namespace respike {

/// As FaultRow::images.
std::string images_text(const std::vector<Substitution>& optimized);
std::string images_text(std::vector<std::string> content_hashes);
/// The same as a word of constant length, for start tables.
std::string images_word(const std::string& images);

}  // namespace respike
