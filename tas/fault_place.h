#pragma once
// Where a program dies of a fault.

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
  std::optional<uint64_t> accessed;  // the address that SIGSEGV or SIGBUS is about
  std::vector<std::pair<std::string, uint64_t>> registers;  // the instruction's address first
  std::filesystem::path file;  // that holds the instruction; empty: memory without a file
  uint64_t offset = 0;         // of the instruction in the file
};

/// Runs a program of the host's machine as start() does, watched by this process, until it ends or
/// is about to die of a fault; then it dies. What it prints goes to stderr. nullopt: it ended
/// otherwise. Children of the program are not watched. Throws Error when the program cannot be
/// started or watched.
std::optional<FaultPlace> run_to_fault(const Launch& launch);

}  // namespace respike
