// Notes which libraries a program opens while it runs, for who collects profiles of them.
//
// On real machines a module of the dynamic linker has to do that (tas/runtime/opened.c); an
// emulator sees it anyhow: a library is a file that the dynamic linker maps to be executed. What it
// maps before it enters the program belongs to the program; what comes later has been opened. A
// note is the same as the module's: a symbolic link in a folder, whose target is the library's path
// and whose name is the hash of that, so that it is made in one step and outlives every end of the
// process. The path is that of the host, symbolic links followed.
//
// The option is not handed on to programs that the program executes: they are other programs, with
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
  // One that is there already stays.
  [[maybe_unused]] const int result =
      symlink(path.c_str(), fmt::format("{}/{:016x}", folder, hash).c_str());
}

}  // namespace respike::simulator::ia64
