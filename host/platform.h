#pragma once
// How programs of a machine run on this host: natively or under an emulator, and where their
// dynamic linker looks for libraries. No other table says this; code that runs programs asks here.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/base/machine_id.h"

namespace respike {

struct Platform {
  MachineId machine{};
  std::string_view name;          // used in messages
  std::string_view key;           // equal to Machine::name for a Unix system
  bool windows = false;           // for Windows NT, whose images are PE files
  std::string_view emulator;      // empty: the host runs its programs itself
  bool emulator_is_ours = false;  // it is in the command's folder
  // The emulator that drives a model of the machine's processors; empty: `emulator` does.
  std::string_view model_emulator;
  std::string_view sysroot;  // where its dynamic linker and libraries are; empty: /

  // How the emulator spells its options; each takes a word, except the last. Empty: no such option.
  std::string_view sysroot_option, argv0_option;
  std::string_view variable_option;   // sets a variable of the program's environment
  std::string_view model_option;      // drives a machine model; if empty, a plugin does
  std::string_view places_option;     // with model_option: also locates its events
  std::string_view opened_option;     // notes opened files in a folder; if empty, a module does
  std::string_view attendant_option;  // with opened_option: the process to ask for versions
  std::string_view quiet_option;      // prints nothing when a signal ends the program
  // Names the table of versions of images (tas/windows_versions.h); if empty, mounts put versions
  // in place.
  std::string_view versions_option;

  // Compiled into its dynamic linker (glibc as Debian configures it).
  std::vector<std::string_view> library_folders;     // searched last
  std::vector<std::string_view> library_subfolders;  // tried first in every folder, in order
  uint32_t cache_flags = 0;                          // of its libraries in /etc/ld.so.cache
  std::string_view lib_token;                        // $LIB
  std::string_view platform_token;  // $PLATFORM; empty: names with it cannot be expanded

  bool native() const { return emulator.empty(); }
};

std::span<const Platform> platforms();
const Platform& platform_of(MachineId machine, bool windows = false);
/// Looks a platform up by Platform::key; null when no machine has this key.
const Platform* find_platform(std::string_view key);

/// The path of a part of Respike: in the folder of the running command, as in a build, or where the
/// installation puts commands (bin) and their parts (libexec/respike). If the part does not exist,
/// the path beside the running command. Throws Error when that path is not known.
std::filesystem::path own_part(std::string_view name);

/// The path of a command: own_part() if `beside` and the part exists, else found in PATH. Empty
/// when there is no such command.
std::filesystem::path find_command(std::string_view name, bool beside);

/// The emulator's path: beside the running command if it is ours, else found in PATH. Throws Error
/// when it is not installed. `why`: a clause that says what needs it.
std::filesystem::path find_emulator(const Platform& platform, std::string_view why);

/// The folder that stands for / when its programs open files: $QEMU_LD_PREFIX, else the table's
/// folder; empty on a native platform.
std::string sysroot_of(const Platform& platform);

/// The words before a program's own: the emulator's name, its sysroot, and `argv0` for the program.
/// The program's path comes next.
std::vector<std::string> emulator_words(const Platform& platform, const std::string& argv0);

}  // namespace respike
