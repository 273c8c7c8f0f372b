#pragma once
// The parts of a PE file that a loader puts into memory, and the tables of imports in them.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/image/pe/headers.h"

namespace respike::pe {

/// The loaded parts of a file, by places relative to the base. Throws Error where the file is
/// damaged: "WHAT are damaged".
class LoadedFile {
 public:
  LoadedFile(std::span<const uint8_t> file, const std::string& name);

  /// Tables may overlap, so a small file could have many entries. A proper file has no more
  /// entries, nor letters in names, than bytes.
  void spend(uint64_t amount, const char* what);
  [[noreturn]] void fail(const char* what) const;

  /// The offset in the file of a place.
  uint64_t offset(uint64_t place, uint64_t size, const char* what) const;
  uint32_t word(uint64_t place, const char* what) const;
  /// A word of the size of an address.
  uint64_t address(uint64_t place, const char* what) const;
  size_t address_size() const { return headers.wide ? 8 : 4; }
  /// A text that ends in a zero.
  std::string_view text(uint64_t place, const char* what);

  Headers headers;

 private:
  std::span<const uint8_t> file_;
  const std::string& name_;
  uint64_t budget_;
};

inline constexpr const char* kImportsOf = "the import tables";

/// The fields of an import descriptor, one word each, in order.
struct ImportDescriptor {
  enum Field : size_t { kNames, kDate, kForwarders, kLibraryName, kSlots, kFieldCount };
  static constexpr size_t kSize = 4 * kFieldCount;  // bytes

  uint32_t fields[kFieldCount] = {};

  /// The place of the names: some linkers leave out the table of names, since slots hold the same.
  uint32_t names() const { return fields[kNames] != 0 ? fields[kNames] : fields[kSlots]; }
};

/// The import descriptors in file order, without the end.
std::vector<ImportDescriptor> import_descriptors(const LoadedFile& file);

/// Calls visit(i, by_number, name) for each function of a table of names. `name` is the number, or
/// the place of two bytes before the name.
void for_each_import(
    LoadedFile& file, uint64_t names, const char* what,
    const std::function<void(uint64_t index, bool by_number, uint64_t name)>& visit);

}  // namespace respike::pe
