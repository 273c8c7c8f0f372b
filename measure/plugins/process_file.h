#pragma once
// A file for each process of a run, mapped into memory: plugins write their results there directly.
// The kernel keeps the file however the process ends: exit, a deadly signal, exec.

#include <cstddef>
#include <string>

namespace respike::measure {

/// Ends the process with status 125 and one sentence on stderr, since incomplete results are
/// worthless. `program` is the plugin's name.
[[noreturn, gnu::format(printf, 2, 3)]] void fail(const char* program, const char* format, ...);

/// Maps the file of a process, PATH.PID.N, where N is the first free number: `size` bytes, all 0. A
/// forked child replaces its parent's file by passing the address of the mapping as `where`. Ends
/// the process by fail() on errors.
void* map_process_file(const char* program, const std::string& path, size_t size,
                       void* where = nullptr);

/// Makes sure that the file system has room for [memory, memory + size) of such a file, which is
/// mostly a hole; a write into a hole that cannot be filled would be SIGBUS in the program. Ends
/// the process by fail() when there is no room. (Kernels before Linux 5.14 do not report this.)
void reserve_room(const char* program, void* memory, size_t size);

/// Makes `path` absolute, since the program may change its folder and fork.
std::string absolute_path(std::string path);

}  // namespace respike::measure
