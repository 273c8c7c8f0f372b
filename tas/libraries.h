#pragma once
// The libraries that the dynamic linker loads together with a program, found without running it.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/platform.h"
#include "tas/loader_view.h"

namespace respike {

/// A program as it is started.
struct ProgramImage {
  std::filesystem::path path;  // absolute, with symbolic links as given
  const Platform* platform = nullptr;
  LoaderView view;
};

/// Throws Error when there is none, it cannot be read, is no program, or is for a machine that is
/// not known.
ProgramImage read_program(const std::filesystem::path& path);

struct LoadedLibrary {
  std::string name;            // as the image that needs it calls it
  std::filesystem::path path;  // as the dynamic linker opens it, but on this host: below a sysroot
                               // where the emulator finds it there; absolute
  LoaderView view;
};

struct MissingLibrary {
  std::string name;
  std::filesystem::path needed_by;
};

struct Libraries {
  std::vector<LoadedLibrary> loaded;  // in the order of loading, the dynamic linker itself included
  std::vector<MissingLibrary> missing;
};

/// The file that a program opens when it opens `path`: below its sysroot (empty: none) where there
/// is one, else `path`.
std::filesystem::path host_path(const std::filesystem::path& path, const std::string& sysroot);

struct LibrarySearch {
  std::string library_path;  // LD_LIBRARY_PATH
  std::string sysroot;       // what the emulator takes for / where it has the file; empty: none
  std::filesystem::path cache = "/etc/ld.so.cache";
};

/// The search as programs started now do it: by the present environment.
LibrarySearch present_search(const Platform& platform);

/// The folders where the dynamic linker looks for libraries of an image, or for a library that the
/// image names with a path, as far as they depend on where the image itself is (`origin`): these go
/// along when the image moves. Without "..".
std::vector<std::filesystem::path> folders_by_origin(const LoaderView& view,
                                                     const std::filesystem::path& origin,
                                                     const Platform& platform);

/// All libraries linked implicitly: those needed, those that these need, and so on. A static
/// program has none.
Libraries find_libraries(const ProgramImage& program, const LibrarySearch& search);

}  // namespace respike
