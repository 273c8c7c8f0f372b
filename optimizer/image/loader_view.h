#pragma once
// An image as loaders read it: by what is loaded, not by sections and symbols. So any image can be
// read, also a stripped one and one for a machine that Respike does not know.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optimizer/base/machine_id.h"

namespace respike {

/// The machine of a file, which need not be one that Respike knows.
struct FileMachine {
  std::optional<MachineId> known;
  uint16_t raw = 0;      // the container's number
  bool windows = false;  // for Windows, not for a Unix system

  bool operator==(const FileMachine&) const = default;
};

struct LoaderView {
  struct Dependency {
    std::string name;
    bool optional = false;  // may be missing
    bool operator==(const Dependency&) const = default;
  };

  FileMachine machine;
  bool shared = false;             // a library or a position-independent executable
  bool dynamic = false;            // has a dynamic section
  bool marked_program = false;     // a program, though `shared`
  std::string interpreter;         // path of the dynamic linker; empty: none
  std::string soname;              // empty: none
  std::vector<Dependency> needed;  // in file order
  std::optional<std::string> rpath, runpath;
  bool no_default_folders = false;

  /// Whether the image can be started; else it is a library. Neither do static position-independent
  /// programs have an interpreter, but they have the mark.
  bool is_program() const { return !shared || !interpreter.empty() || marked_program; }
};

/// Throws Error when the file cannot be read, is no program or library that Respike reads, or is
/// damaged where a loader looks.
LoaderView read_loader_view(const std::filesystem::path& path);
/// The same from memory; `name` stands for the path in errors.
LoaderView view_of(std::span<const uint8_t> bytes, const std::string& name);

/// The machine of a file, by its headers alone; nullopt when the file cannot be read or
/// read_loader_view() would refuse it.
std::optional<FileMachine> file_machine_of(const std::filesystem::path& path);

namespace elf {
LoaderView view_of(std::span<const uint8_t> bytes, const std::string& name);
/// By the first kFileStartSize bytes.
std::optional<FileMachine> file_machine_of(std::span<const uint8_t> start);
}  // namespace elf
namespace pe {
/// Whether the file begins as a PE image does; it may be another program of DOS's.
bool is_pe(std::span<const uint8_t> start);
LoaderView view_of(std::span<const uint8_t> bytes, const std::string& name);
/// Where the signature "PE" of such a file is, which a program for DOS of any length precedes.
uint64_t signature_offset(std::span<const uint8_t> start);
inline constexpr size_t kSignatureAndCoff = 24;  // bytes
/// By so many bytes from the signature on.
std::optional<FileMachine> machine_behind(std::span<const uint8_t> signature);
}  // namespace pe

}  // namespace respike
