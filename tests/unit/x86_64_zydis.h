#pragma once
// Zydis' facts about an x86-64 instruction, in the words of machine/x86_64.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "optimizer/machine/x86_64/meaning.h"

namespace respike {

struct ZydisInstruction {
  unsigned length = 0;
  unsigned displacement_at = 0, displacement_size = 0;
  unsigned immediate_at = 0, immediate_size = 0;
  x86_64::Flow flow = x86_64::Flow::none;
  std::optional<int64_t> distance;  // of a direct branch
  x86_64::Effects effects;
  std::string name;
};

/// nullopt when Zydis does not decode the code.
std::optional<ZydisInstruction> ask_zydis(std::span<const uint8_t> code);
/// The length alone; 0 when Zydis does not decode the code.
unsigned zydis_length(std::span<const uint8_t> code);

/// How Respike and Zydis differ on the instruction at the start of `code`; empty when they agree.
/// Begins with "decodes", "decodes-not", "length", or with the name of the instruction.
std::string difference_from_zydis(std::span<const uint8_t> code);

}  // namespace respike
