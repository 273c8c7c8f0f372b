#pragma once
// An image as loaders read it: by its loaded parts, not by sections and symbols. So any image can
// be read, including stripped images and images for machines that Respike does not know.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optimizer/base/machine_id.h"

namespace respike {

/// The machine of a file. Respike may not know the machine.
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
  bool marked_program = false;     // a program although `shared`
  std::string interpreter;         // path of the dynamic linker; empty: none
  std::string soname;              // empty: none
  std::vector<Dependency> needed;  // in file order
  std::optional<std::string> rpath, runpath;
  bool no_default_folders = false;

  /// Whether the image can be started; else it is a library. Static position-independent programs
  /// have no interpreter either; `marked_program` identifies them.
  bool is_program() const { return !shared || !interpreter.empty() || marked_program; }
};

/// Throws Error when the file cannot be read, is not a program or library that Respike reads, or is
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
/// Whether the file begins as a PE image does; it may be another DOS program.
bool is_pe(std::span<const uint8_t> start);
LoaderView view_of(std::span<const uint8_t> bytes, const std::string& name);
/// The offset of the signature "PE" of such a file. A program for DOS of any length precedes it.
uint64_t signature_offset(std::span<const uint8_t> start);
inline constexpr size_t kSignatureAndCoff = 24;  // bytes
/// By kSignatureAndCoff bytes, starting at the signature.
std::optional<FileMachine> machine_behind(std::span<const uint8_t> signature);
}  // namespace pe

}  // namespace respike
