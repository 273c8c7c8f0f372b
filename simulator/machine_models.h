#pragma once
// The models by name, and what runs programs for them.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/machine_model.h"

namespace respike::simulator {

struct ModelInfo {
  std::string_view name;
  std::string_view machine;                 // as a message calls it
  uint16_t elf_machine;                     // e_machine of its programs
  std::string_view emulator;                // looked up in PATH
  std::string_view sysroot;                 // where its dynamic linker and libraries are
  std::unique_ptr<MachineModel> (*make)();  // null: there is none yet
};

/// The first one is the default.
const std::vector<ModelInfo>& models();
/// Null when no model has the name.
const ModelInfo* find_model(std::string_view name);

}  // namespace respike::simulator
