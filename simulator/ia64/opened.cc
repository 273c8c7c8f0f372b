// Notes which libraries a program opens while it runs, for users who collect profiles of these
// libraries.
//
// On real machines a module of the dynamic linker makes such notes (tas/runtime/opened.c). An
// emulator sees libraries anyhow: a library is a file that the dynamic linker maps for execution.
// Libraries that are mapped before the program is entered belong to the program; libraries that are
// mapped later have been opened. The note is the same as the module's: a symbolic link in a folder,
// whose target is the library's path and whose name is the hash of that path. A link is made in one
// step and outlives every end of the process. The path is a path of the host, with symbolic links
// followed. Example: dlopen("libz.so.1") leaves a link 0123456789abcdef ->
// /SYSROOT/lib/libz.so.1.3.
//
// Programs that the program executes do not inherit the option: they are other programs, with
// libraries of their own.

#include "simulator/ia64/opened.h"

#include <fmt/format.h>
#include <unistd.h>

#include "simulator/ia64/elf_loader.h"

namespace respike::simulator::ia64 {

void note_mapped(const Process& process, const std::string& path) {
  const std::string& folder = process.options.opened;
  if (folder.empty() || !process.entered || !path.starts_with("/") || !is_guest_program(path))
    return;
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char byte : path) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
  // A link that exists already stays.
  [[maybe_unused]] const int result =
      symlink(path.c_str(), fmt::format("{}/{:016x}", folder, hash).c_str());
}

}  // namespace respike::simulator::ia64
