#pragma once
// The place at which a program dies of a fault.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tas/session.h"

namespace respike {

struct FaultPlace {
  int signal = 0;
  std::optional<uint64_t> accessed;  // the address whose access caused SIGSEGV or SIGBUS
  std::vector<std::pair<std::string, uint64_t>> registers;  // the instruction's address first
  std::filesystem::path file;  // file that holds the instruction; empty: memory without a file
  uint64_t offset = 0;         // offset of the instruction in the file
};

/// Runs a program of the host's machine as start() does, watched by this process, until it ends or
/// a fault is about to kill it; then lets it die. The program's output goes to stderr. nullopt: the
/// program did not die of a fault. Children of the program are not watched. Throws Error when the
/// program cannot be started or watched.
std::optional<FaultPlace> run_to_fault(const Launch& launch);

}  // namespace respike
