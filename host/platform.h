#pragma once
// How programs of a machine run on this host: natively or under an emulator, and where their
// dynamic linker looks for libraries. The one table that knows; what runs programs asks it.

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
  std::string_view name;          // as a message calls it
  std::string_view key;           // as Machine::name has it, if it is for a Unix system
  bool windows = false;           // for Windows NT, whose images are PE files
  std::string_view emulator;      // empty: the host runs its programs itself
  bool emulator_is_ours = false;  // it lies beside the command
  // Under which a model of its processors is driven; empty: `emulator` does that.
  std::string_view model_emulator;
  std::string_view sysroot;  // where its dynamic linker and libraries are; empty: /

  // How the emulator spells its options; each takes a word, but for the last. Empty: it has none.
  std::string_view sysroot_option, argv0_option;
  std::string_view variable_option;   // sets a variable of the program's environment
  std::string_view model_option;      // drives a machine model; without it, a plugin does
  std::string_view places_option;     // with model_option: also where its events happen
  std::string_view opened_option;     // notes what is opened in a folder; without it, a module does
  std::string_view attendant_option;  // with opened_option: who is asked for versions of it
  std::string_view quiet_option;      // says nothing when a signal ends the program
  // Names the table of versions of images (tas/windows_versions.h); without it, mounts put versions
  // in their places.
  std::string_view versions_option;

  // What is built into its dynamic linker (glibc as Debian configures it).
  std::vector<std::string_view> library_folders;     // searched last
  std::vector<std::string_view> library_subfolders;  // tried first in every folder, in order
  uint32_t cache_flags = 0;                          // of its libraries in /etc/ld.so.cache
  std::string_view lib_token;                        // $LIB
  std::string_view platform_token;  // $PLATFORM; empty: names with it cannot be expanded

  bool native() const { return emulator.empty(); }
};

std::span<const Platform> platforms();
const Platform& platform_of(MachineId machine, bool windows = false);
/// By Platform::key; null when no machine has it.
const Platform* find_platform(std::string_view key);

/// The path of a part of Respike: in the folder of the running command, as in a build, or where the
/// installation puts commands (bin) and what commands start or load (libexec/respike). Where there
/// is none, the path beside the running command. Throws Error when that is not known.
std::filesystem::path own_part(std::string_view name);

/// The path of a command: own_part() if `beside` and there is one, else by PATH.
/// Empty when there is none.
std::filesystem::path find_command(std::string_view name, bool beside);

/// The emulator's path, beside the running command if it is ours, else by PATH; throws Error when
/// it is not installed. `why`: why it is needed, a clause.
std::filesystem::path find_emulator(const Platform& platform, std::string_view why);

/// The folder that stands for / when its programs open files: $QEMU_LD_PREFIX or that of the table;
/// empty on a native platform.
std::string sysroot_of(const Platform& platform);

/// The words before those of a program: the emulator's name, its sysroot, and `argv0` for the
/// program. The program's path comes next.
std::vector<std::string> emulator_words(const Platform& platform, const std::string& argv0);

}  // namespace respike
