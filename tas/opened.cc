// Respike's half of noting which libraries a program opens; the other half, in the program's
// process, is runtime/opened.c or an emulator that makes the notes itself.
//
// A note is a symbolic link in the application's folder of notes, one for each path of a library,
// e.g. `8c3a...e1 -> /usr/lib/libplugin.so`. Notes stay: a library that was opened once is part of
// the application until the user removes it.

#include "tas/opened.h"

#include <algorithm>
#include <string>

#include "optimizer/base/error.h"
#include "optimizer/base/files.h"
#include "optimizer/image/image.h"
#include "tas/runtime/audit_module.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModule = "opened.so";

/// Whether the file has these contents; it may be damaged or of another Respike.
bool holds(const fs::path& file, std::span<const uint8_t> bytes) {
  std::error_code error;
  if (fs::file_size(file, error) != bytes.size() || error) return false;
  return std::ranges::equal(read_file(file), bytes);
}

}  // namespace

Notes prepare_notes(const fs::path& folder, const Platform& platform) {
  const std::span<const uint8_t> bytes = audit_module(platform.machine);
  if (bytes.empty() && platform.opened_option.empty()) return {};
  Notes notes;
  notes.folder = fs::absolute(folder);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error("the folder for notes cannot be made: " + error.message(), folder);
  if (!platform.opened_option.empty()) return notes;
  notes.audit_module = notes.folder / kModule;
  if (!holds(notes.audit_module, bytes)) write_file(notes.audit_module, bytes, {});
  return notes;
}

std::vector<fs::path> read_notes(const fs::path& folder, const Platform& platform) {
  std::vector<fs::path> libraries;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::error_code unreadable;
    if (!entry.is_symlink(unreadable)) continue;
    const fs::path noted = fs::read_symlink(entry.path(), unreadable);
    if (unreadable || !noted.is_absolute() || noted.native().starts_with("/proc/")) continue;
    const fs::path file = host_path(noted, sysroot_of(platform));
    if (fs::is_regular_file(file, unreadable)) libraries.push_back(file);
  }
  std::sort(libraries.begin(), libraries.end());
  return libraries;
}

}  // namespace respike
