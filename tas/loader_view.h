#pragma once
// An image as the dynamic linker reads it: by segments, not by sections. So any image can be read,
// also a stripped one and one for a machine that Respike does not know.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace respike {

struct LoaderView {
  struct Dependency {
    std::string name;
    bool optional = false;  // DT_AUXILIARY: may be missing; DT_NEEDED and DT_FILTER may not
    bool operator==(const Dependency&) const = default;
  };

  uint16_t elf_machine = 0;
  bool shared = false;             // ET_DYN: a library or a position-independent executable
  bool dynamic = false;            // has a dynamic section
  bool marked_program = false;     // DF_1_PIE: a program, though `shared`
  std::string interpreter;         // path of the dynamic linker; empty: none
  std::string soname;              // empty: none
  std::vector<Dependency> needed;  // in file order
  std::optional<std::string> rpath, runpath;
  bool no_default_folders = false;  // DF_1_NODEFLIB
};

/// Throws Error when the file cannot be read, is not a 64-bit little-endian ELF program or library,
/// or is damaged where the dynamic linker looks.
LoaderView read_loader_view(const std::filesystem::path& path);
/// The same from memory; `name` stands for the path in errors.
LoaderView view_of(std::span<const uint8_t> bytes, const std::string& name);

/// The machine of a file (e_machine), by its first bytes alone; nullopt when the file cannot be
/// read or read_loader_view() would refuse it.
std::optional<uint16_t> elf_machine_of(const std::filesystem::path& path);

}  // namespace respike
