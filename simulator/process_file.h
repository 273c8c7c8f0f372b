#pragma once
// What plugins share: a file for each process of a run, mapped into memory, where results lie at
// every moment. The kernel keeps them whatever becomes of the process: exit, a deadly signal, exec.

#include <cstddef>
#include <string>

namespace respike::simulator {

/// Results are worthless once something is missing, so the process ends: one sentence to stderr,
/// status 125. `program` is the plugin's name.
[[noreturn, gnu::format(printf, 2, 3)]] void fail(const char* program, const char* format, ...);

/// The file of a process: PATH.PID.N, where N is the first number that is free; `size` bytes, all
/// 0. A forked child replaces its parent's by passing where that is mapped. Fails by fail().
void* map_process_file(const char* program, const std::string& path, size_t size,
                       void* where = nullptr);

/// Absolute: the program may change its folder and fork.
std::string absolute_path(std::string path);

}  // namespace respike::simulator
