#pragma once
// The libraries that the dynamic linker loads together with a program or with another library,
// found without running anything.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/platform.h"
#include "optimizer/image/loader_view.h"

namespace respike {

/// A program or a library, with the path by which it is started or loaded.
struct ProgramImage {
  std::filesystem::path path;  // absolute, with symbolic links as given
  const Platform* platform = nullptr;
  LoaderView view;
};

/// The platform of an image's file, which must be for a known machine.
const Platform& platform_of(const FileMachine& machine);
/// Whether programs of the platform can load images like the file.
bool is_for(const FileMachine& machine, const Platform& platform);

/// Reads a program. Throws Error when the file does not exist, cannot be read, is not a program, or
/// is for an unknown machine.
ProgramImage read_program(const std::filesystem::path& path);
/// The same for a program or a library.
ProgramImage read_program_or_library(const std::filesystem::path& path);

struct LoadedLibrary {
  std::string name;            // name by which another image needs the library
  std::filesystem::path path;  // the file on this host that the dynamic linker or its emulator
                               // opens; absolute, below the sysroot if the emulator finds it there
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

/// The file that a program opens under the name `path`: below the sysroot (empty: none) if it
/// exists there, else `path`.
std::filesystem::path host_path(const std::filesystem::path& path, const std::string& sysroot);

struct LibrarySearch {
  std::string library_path;  // LD_LIBRARY_PATH
  std::string sysroot;  // the folder that the emulator takes for / for files in it; empty: none
  std::filesystem::path staged_tree;  // what will have been copied to / when the program starts
  std::filesystem::path cache = "/etc/ld.so.cache";
};

/// The search of a program that starts now, in the environment of this process.
LibrarySearch present_search(const Platform& platform);

/// Folders where the dynamic linker looks for libraries of an image, or for a library that the
/// image names with a path: only those that depend on the image's own folder (`origin`). When the
/// image moves, these folders have to move as well. Without "..".
std::vector<std::filesystem::path> folders_by_origin(const LoaderView& view,
                                                     const std::filesystem::path& origin,
                                                     const Platform& platform);

/// The variables, NAME=VALUE, with which a program finds its libraries although it is not in the
/// folder of `original`, another version of the program, which finds them by $ORIGIN. Empty when
/// the program finds all its libraries. Example: an optimized image in the store, and /app/bin/prog
/// with the search path $ORIGIN/../lib, give LD_LIBRARY_PATH=/app/lib. Throws the errors of
/// read_program().
std::vector<std::string> variables_to_find_libraries(const std::filesystem::path& program,
                                                     const std::filesystem::path& original);

/// All libraries that the program needs, that these libraries need, and so on. A static program has
/// none. For a library: the libraries that it finds without a program. Its $ORIGIN is the folder of
/// its file, and the search paths of the program that will load it are not known.
Libraries find_libraries(const ProgramImage& program, const LibrarySearch& search);

}  // namespace respike
