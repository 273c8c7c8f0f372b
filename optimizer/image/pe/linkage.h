#pragma once
// How a PE image is bound to others: the libraries that it imports from, immediately and with
// delay, and its exports.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace respike::pe {

struct ImportedLibrary {
  std::string name;        // as the image spells it
  uint32_t functions = 0;  // and variables
  uint32_t by_number = 0;  // of these, how many have a number instead of a name
  bool delayed = false;    // it is loaded when the first function is called
};

struct Linkage {
  std::vector<ImportedLibrary> libraries;  // in file order, delayed ones last
  uint32_t exports = 0;                    // functions and variables
  uint32_t forwarders = 0;                 // exports that other libraries implement
  bool thread_data = false;                // each thread has a copy of some of its data
};

/// Throws Error when the file is damaged where a loader looks.
Linkage read_linkage(std::span<const uint8_t> file, const std::string& name);

/// The image with other names for libraries that it imports from, by the names that the image has.
/// A new block of import descriptors and the new names are in a section after all others; slots
/// stay where code finds them. Throws Error when there is no room for the section.
std::vector<uint8_t> with_renamed_libraries(std::span<const uint8_t> file, const std::string& name,
                                            const std::map<std::string, std::string>& names);

}  // namespace respike::pe
